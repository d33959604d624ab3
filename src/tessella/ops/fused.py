"""Operations with a kernel of their own although they could be composed, because it is faster.

Each keeps its composite as the reference that its tests compare with.
"""

from __future__ import annotations

from tessella import _core, errors
from tessella._core import Tensor
from tessella.arguments import to_int
from tessella.declarations import case
from tessella.dtypes import DType, as_dtype, float32
from tessella.fusions import Fused, need_float
from tessella.hints import Any, Sequence
from tessella.kinds import Straight, cast
from tessella.ops.elementwise import exp
from tessella.ops.movement import normal_axes
from tessella.ops.reduce import sum

_NAMES: dict[str, int] = {name: i for i, name in enumerate(_core.rows_names())}


class Rows(Straight):
    """Whole lines along one axis to whole lines; `dtype` is what they are computed in."""

    fast = "rows"
    params = {"axis": -1, "dtype": None}

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
        wanted = params["dtype"]
        dtype = as_dtype(wanted) if wanted is not None else x.dtype
        if wanted is not None and not dtype.is_floating:
            raise errors.no_kernel(dtype, "defined for floats")
        x = cast(x, dtype if dtype.is_floating else float32)
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


def _softmax_ref(np: Any, x: Any, axis: int = -1) -> Any:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _log_softmax_ref(np: Any, x: Any, axis: int = -1) -> Any:
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


_SAMPLES = [
    case((3, 5)),
    case((3, 5), axis=0),
    case((2, 3, 4), axis=1),
    case((1000,)),
    case((3, 1)),
    case(()),
]
_ERRORS = [case((2, 3), axis=2, match="axis 2 is out of range"),
           case((2, 3), axis=None, match="axis must be an integer, got NoneType"),
           case((2,), dtype="complex64", match="not defined for complex64")]  # fmt: skip

# --- gradients -----------------------------------------------------------------------------------


def _like_result(dy: Tensor, y: Tensor, axis: int) -> list[Tensor]:
    """Require a gradient of the result's shape."""
    need_float("y", y)
    if dy.shape != y.shape:
        raise errors.wrong_value("dy.shape", dy.shape, f"that of y, {y.shape}")
    normal_axes(y, axis)
    return [cast(dy, y.dtype), y]


_BACK: dict[str, Any] = {
    "operands": ("dy", "y"), "params": ("axis",), "normal": _like_result, "domain": (-4, 0),
    "samples": [case((3, 5), (3, 5), axis=1), case((3, 5), (3, 5), axis=0),
                case((2, 3, 4), (2, 3, 4), axis=1), case((3, 1), (3, 1), axis=-1),
                case((70, 130), (70, 130), axis=1)],
    "errors": [case((2, 3), (2, 3), axis=2, match="axis 2 is out of range"),
               case((3,), (2, 3), axis=0, match=r"dy.shape is \(3,\)"),
               case((2,), (2,), axis=0, dtype="int64", match="not defined for int64")],
}  # fmt: skip

softmax_back = Fused(
    "softmax_back", **_BACK,
    vjp=(lambda g, y, axis: softmax_back(g, y, axis),
         lambda g, dy, y, axis: g * (dy - sum(dy * y, axis=axis, keepdims=True))
                                - dy * sum(g * y, axis=axis, keepdims=True)),
    doc="The gradient of softmax: y * (dy - sum(dy * y)), of its result y and that one's gradient.",
    ref=lambda np, dy, y, axis: (dy - (dy * y).sum(axis=axis, keepdims=True)) * y,
).function  # fmt: skip
log_softmax_back = Fused(
    "log_softmax_back", **_BACK,
    vjp=(lambda g, y, axis: g - sum(g * exp(y), axis=axis, keepdims=True),
         lambda g, dy, y, axis: -(g * exp(y)) * sum(dy, axis=axis, keepdims=True)),
    doc="The gradient of log_softmax: dy - e ** y * sum(dy), of its result y.",
    ref=lambda np, dy, y, axis: dy - np.exp(y) * dy.sum(axis=axis, keepdims=True),
).function  # fmt: skip


# --- softmax -------------------------------------------------------------------------------------

softmax = Rows(
    "softmax", domain=(-4, 4),
    vjp=lambda g, out, axis: softmax_back(g, out, axis) if out.ndim else (g - g * out) * out,
    doc="e ** x, divided by its sum along an axis; given a dtype, x is converted first.",
    ref=_softmax_ref, samples=_SAMPLES,
    example=">>> ts.softmax(ts.tensor([[0.0, 0.0], [1.0, 3.0]]), axis=1)\n"
            "tensor float32 (2, 2)\n[[0.5000, 0.5000],\n [0.1192, 0.8808]]",
    errors=_ERRORS).function  # fmt: skip
log_softmax = Rows(
    "log_softmax", domain=(-4, 4),
    vjp=lambda g, out, axis: log_softmax_back(g, out, axis) if out.ndim else g - g * exp(out),
    doc="The logarithm of softmax, without overflow; given a dtype, x is converted first.",
    ref=_log_softmax_ref, samples=_SAMPLES,
    example=">>> ts.log_softmax(ts.tensor([[0.0, 0.0], [1.0, 3.0]]), axis=1)\n"
            "tensor float32 (2, 2)\n[[-0.6931, -0.6931],\n [-2.1269, -0.1269]]",
    errors=_ERRORS).function  # fmt: skip
