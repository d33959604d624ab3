"""Parameter and Buffer: tensors that belong to modules."""

from __future__ import annotations

from tessella import _core, errors
from tessella._core import Tensor
from tessella.arguments import to_bool
from tessella.declarations import describe
from tessella.hints import Any
from tessella.ops.creation import empty, with_grad


def _shared(kind: type[Tensor], data: Any, name: str) -> Tensor:
    """Make an instance of a subclass over the memory of a tensor; None is an empty one."""
    if data is None:
        data = empty(0)
    if not isinstance(data, Tensor):
        error = errors.not_tensor("data", data, "a tensor")
        raise error.locate(name, [f"data  {errors.brief(data)}"])
    return Tensor.__new__(kind, data)


class Parameter(Tensor):
    """A tensor that modules list among their parameters; it asks for gradients.

    It shares the memory of `data`, and is a leaf whatever `data` was computed from.

    >>> nn.Parameter(ts.zeros(2)).requires_grad
    True
    """

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        """Share the memory of `data`."""
        out = _shared(cls, data, "Parameter")
        try:
            with_grad(out, requires_grad)
        except errors.TessellaError as error:
            raise error.locate("Parameter", [f"data  {describe(out)}"]) from None
        assert isinstance(out, Parameter)
        _core.mark_kind(out, "weights")
        return out

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None: ...

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


class Buffer(Tensor):
    """A tensor that a module keeps without training it: running statistics, masks, tables.

    >>> nn.Buffer(ts.zeros(2), persistent=False).requires_grad
    False
    """

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        """Share the memory of `data`."""
        out = _shared(cls, data, "Buffer")
        assert isinstance(out, Buffer)
        out.persistent = to_bool("persistent", persistent)
        return out

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None: ...
