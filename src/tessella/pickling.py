"""Pickles and copies: only the elements in view, in memory of their own.

Views that share memory become independent. A leaf keeps `requires_grad`; a result of recorded
operations is refused, as what made it cannot come along.
"""

from __future__ import annotations

from tessella import _core, errors, exchange_errors
from tessella._core import Tensor
from tessella.dtypes import DType, uint8
from tessella.hints import Any
from tessella.ops.creation import copy_of, with_grad


def _check_leaf(x: Tensor, operation: str) -> None:
    if x.requires_grad and x.grad_fn is not None:
        raise exchange_errors.pickle_of_graph().locate(operation, [f"x  {x.dtype} {x.shape}"])
    if x.is_virtual:
        raise errors.virtual_value(operation)


def reduced(self: Tensor, protocol: Any = 2) -> tuple[object, ...]:
    """Give what rebuilds the tensor; from protocol 5 on its bytes may travel out of band."""
    _check_leaf(self, "pickle")
    plain = self.detach()
    flat = _bytes_of(plain if plain.is_contiguous else copy_of(plain))
    data: Any = bytes(flat)
    if protocol >= 5:
        from pickle import PickleBuffer

        data = PickleBuffer(flat)
    parts = (data, self.dtype, self.shape, self.requires_grad)
    if type(self) is Tensor:
        return rebuild, parts
    return rebuild_subclass, (type(self), *parts), vars(self) or None


def _bytes_of(x: Tensor) -> Tensor:
    """View a contiguous tensor as its bytes."""
    return _core.bitcast(x.reshape(-1), uint8.id)


def rebuild(data: Any, dtype: DType, shape: tuple[int, ...], requires_grad: bool) -> Tensor:
    """Make a tensor of its bytes; memory that came out of band is shared."""
    if isinstance(data, bytes | bytearray):
        out = _core.empty(shape, dtype.id)
        memoryview(_bytes_of(out))[:] = data
    else:
        flat = _core.from_buffer(data, True)
        if flat.size and not dtype.is_user and flat.data_ptr % dtype.itemsize:
            flat = copy_of(flat)
        out = _core.bitcast(flat, dtype.id).reshape(shape)
    return with_grad(out, requires_grad)


def rebuild_subclass(
    kind: type[Tensor], data: Any, dtype: DType, shape: tuple[int, ...], requires_grad: bool
) -> Tensor:
    """Make an instance of a subclass; its attributes follow as its state."""
    plain = rebuild(data, dtype, shape, False)
    return with_grad(Tensor.__new__(kind, plain), requires_grad)


def _copy_beside(x: Tensor) -> Tensor:
    """Copy a tensor into the allocator that it lives in; into the scope's, if it has none."""
    handle = _core.allocator_of(x)
    if handle is None:
        return copy_of(x)
    scope = _core.swap_allocator(handle)
    try:
        return copy_of(x)
    finally:
        _core.swap_allocator(scope)


def copied(self: Tensor) -> Tensor:
    """Answer copy.copy(x): other memory, as for a list of numbers; attributes are shared."""
    _check_leaf(self, "copy")
    out = _copy_beside(self)
    if type(self) is not Tensor:
        out = Tensor.__new__(type(self), out)
        vars(out).update(vars(self))
    return with_grad(out, self.requires_grad)


def deep_copied(self: Tensor, memo: dict[int, object]) -> Tensor:
    """Answer copy.deepcopy(x)."""
    from copy import deepcopy

    out = copied(self)
    memo[id(self)] = out
    if type(self) is not Tensor:
        vars(out).update(deepcopy(vars(self), memo))
    return out
