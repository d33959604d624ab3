"""The kind of operations with a kernel of their own over several operands: losses, normalisation.

The core knows what the result of one looks like and how it is computed; it takes calls in their
normal form by a fast path. A record says what is refused, and brings other calls into that form.
Parameters stand behind the operands, and all of them are given by position.
"""

from __future__ import annotations

from tessella import _core, errors
from tessella._core import Tensor
from tessella.declarations import REQUIRED
from tessella.dtypes import DTYPES, DType
from tessella.hints import Any, Callable, Sequence
from tessella.kinds import cast
from tessella.records import Op
from tessella.tensors import clone

CODES: dict[str, int] = {name: i for i, name in enumerate(_core.fused_names())}


class Fused(Op):
    """One result of several operands, of which some may be None."""

    fast = "fused"

    def __init__(self, name: str, *, operands: Sequence[str], params: Sequence[str],
                 normal: Callable[..., list[Any]], optional: Sequence[str] = (),
                 **record: Any) -> None:  # fmt: skip
        self.operands = tuple(operands)
        self.defaults = dict.fromkeys(optional)
        self.params = dict.fromkeys(params, REQUIRED)
        self.normal = normal
        self.code = CODES[name]
        super().__init__(name, opcode=self.code, is_function=False, is_method=False, **record)

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Require tensors, and let the record bring them into their normal form."""
        for name, value in zip(self.operands, inputs, strict=True):
            if value is not None or name not in self.defaults:
                self.check_tensor(name, value)
        inputs = self.normal(*inputs, **params)
        dtype = inputs[0].dtype
        given = {k: settled(v, dtype) if isinstance(v, Tensor) else v for k, v in params.items()}
        return inputs, given

    @staticmethod
    def check_tensor(name: str, value: Any) -> None:
        """Require a tensor."""
        if not isinstance(value, Tensor):
            raise errors.not_tensor(name, value, "a tensor")

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Ask the core."""
        found = _core.fused_outline(self.code, (*inputs, *params.values()))
        assert found is not None, f"{self.name}: not in its normal form"
        shape, dtype = found
        return shape, DTYPES[dtype]

    def run(self, out: Tensor, inputs: list[Any], params: dict[str, Any]) -> None:
        """Call the core."""
        _core.fused(self.code, out, (*inputs, *params.values()))


def need_float(name: str, x: Tensor) -> DType:
    """Require floats; give their dtype."""
    if not x.dtype.is_floating:
        raise errors.no_kernel(x.dtype, f"{name} must hold floats: {name}.astype(ts.float32)")
    return x.dtype


def settled(x: Any, dtype: DType) -> Any:
    """Give an operand in a dtype and contiguous; None as it is."""
    if x is None or (x.dtype is dtype and x.is_contiguous):
        return x
    x = cast(x, dtype)
    return x if x.is_contiguous else clone(x)
