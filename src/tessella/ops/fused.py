"""Operations with a kernel of their own although they could be composed, because it is faster.

Each keeps its composite as the reference that its tests compare with.
"""

from __future__ import annotations

from tessella import _core, errors
from tessella._core import Tensor
from tessella.arguments import to_int
from tessella.declarations import case
from tessella.dtypes import DType, float32
from tessella.hints import Any, Sequence
from tessella.kinds import Straight, cast
from tessella.ops.elementwise import exp, log
from tessella.ops.movement import normal_axes
from tessella.ops.reduce import max, sum

_NAMES: dict[str, int] = {name: i for i, name in enumerate(_core.rows_names())}


class Rows(Straight):
    """Whole lines along one axis to whole lines."""

    fast = "rows"
    params = {"axis": -1}

    def __init__(self, name: str, **record: Any) -> None:
        self.code = _NAMES[name]
        super().__init__(name, opcode=self.code, **record)

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Floats only; integers become float32."""
        inputs, params = super().prepare(inputs, params)
        (x,) = inputs
        if x.dtype.is_complex:
            raise errors.no_kernel(x.dtype, "defined for floats")
        if not x.dtype.is_floating:
            x = cast(x, float32)
        axis = to_int("axis", params["axis"])
        return [x], {"axis": normal_axes(x, axis)[0] if x.ndim else 0}

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Keep shape and dtype."""
        return inputs[0].shape, inputs[0].dtype

    def compute(
        self, out: Tensor, inputs: list[Any], params: dict[str, Any], interruptible: bool
    ) -> None:
        """Call the driver."""
        _core.rows(self.code, out, inputs[0], params["axis"], interruptible)


def softmax_composite(x: Tensor, axis: int = -1) -> Tensor:
    """Compose softmax of its parts: the reference of the fused one."""
    e = exp(x - max(x, axis=axis, keepdims=True))
    return e / sum(e, axis=axis, keepdims=True)


def log_softmax_composite(x: Tensor, axis: int = -1) -> Tensor:
    """Compose log_softmax of its parts: the reference of the fused one."""
    shifted = x - max(x, axis=axis, keepdims=True)
    return shifted - log(sum(exp(shifted), axis=axis, keepdims=True))


def _softmax_ref(np: Any, x: Any, axis: int = -1) -> Any:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _log_softmax_ref(np: Any, x: Any, axis: int = -1) -> Any:
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def _along(x: Tensor, axis: int) -> Tensor:
    """Sum along an axis; a 0-d tensor is its own sum."""
    return sum(x, axis=axis, keepdims=True) if x.ndim else x


_SAMPLES = [
    case((3, 5)),
    case((3, 5), axis=0),
    case((2, 3, 4), axis=1),
    case((1000,)),
    case((3, 1)),
]
_ERRORS = [case((2, 3), axis=2, match="axis 2 is out of range"),
           case((2, 3), axis=None, match="axis must be an integer, got NoneType"),
           case((2,), dtype="complex64", match="not defined for complex64")]  # fmt: skip

softmax = Rows(
    "softmax", domain=(-4, 4),
    vjp=lambda g, out, axis: (g - _along(g * out, axis)) * out,
    doc="e ** x, divided by its sum along an axis.", ref=_softmax_ref, samples=_SAMPLES,
    errors=_ERRORS).function  # fmt: skip
log_softmax = Rows(
    "log_softmax", domain=(-4, 4),
    vjp=lambda g, out, axis: g - exp(out) * _along(g, axis),
    doc="The logarithm of softmax, without overflow.", ref=_log_softmax_ref, samples=_SAMPLES,
    errors=_ERRORS).function  # fmt: skip
