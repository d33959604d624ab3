"""What goes into dynamic arrays: values as tensors of items, of the array's dtype and shape.

Python's numbers have no width and fit where their kind does, tuples are items of users' dtypes;
everything that has a dtype, a NumPy scalar too, must have the array's. Nothing broadcasts. Values
that lie in memory are not copied here.
"""

from __future__ import annotations

from types import TracebackType

from tessella import _core, dynamic_errors, errors
from tessella._core import AllocatorHandle, Tensor
from tessella.arguments import NUMBERS, is_scalar
from tessella.dtypes import _ORDER, DEFAULTS, DType, UserDType
from tessella.exchange import is_shareable, share
from tessella.hints import Any
from tessella.inplace import check_source

Sizes = tuple[int, ...]


class OnHeap:
    """A scope for what is gone when a call returns: it takes no room in the user's allocator."""

    def __enter__(self) -> None:
        self.before: AllocatorHandle | None = _core.swap_allocator(None)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _core.swap_allocator(self.before)


def has_memory(value: Any) -> bool:
    """Tell whether a value has a dtype and memory, and is no scalar."""
    return isinstance(value, Tensor) or is_shareable(value)


def is_list(value: Any, dtype: DType) -> bool:
    """Tell whether a value is a sequence of items, and not one of a user's dtype."""
    return isinstance(value, list) or (isinstance(value, tuple) and not dtype.is_user)


def in_memory(value: Any, dtype: DType) -> Tensor:
    """Give a tensor over a value's memory; its dtype must be the array's."""
    x = value if isinstance(value, Tensor) else share(value, True)
    if x.dtype is not dtype:
        raise dynamic_errors.item_dtype(x.dtype, dtype)
    if x.is_virtual:
        raise errors.virtual_value("items")
    check_source(x)
    return x


def to_plain(value: Any, dtype: DType) -> Any:
    """Give the number that a NumPy scalar of the array's dtype stands for; others as they are."""
    if not is_scalar(value):
        return value
    if value.dtype.name != dtype.name:
        raise dynamic_errors.scalar_dtype(value.dtype.name, dtype)
    return value.item()


def to_element(value: Any, dtype: DType) -> Tensor:
    """Give a number, or an item of a user's dtype, as a 0-d tensor."""
    out = _core.empty((), dtype.id)
    if isinstance(dtype, UserDType):
        _core.fill(out, dtype.pack(value))
        return out
    if not isinstance(value, NUMBERS):
        raise errors.wrong_type("value", value, "a number")
    if not _core.fill(out, value):
        raise refused(value, dtype)
    return out


def refused(value: Any, dtype: DType) -> errors.TessellaError:
    """Explain why a number does not fit: its kind, or its size."""
    kind = DEFAULTS[next(each for each in NUMBERS if isinstance(value, each))].kind
    if _ORDER[kind] > _ORDER[dtype.kind]:
        return dynamic_errors.number_kind(value, dtype)
    return errors.scalar_does_not_fit(value, dtype)


def to_item(value: Any, dtype: DType, shape: Sizes) -> Tensor:
    """Give one item as a tensor of the item's shape."""
    value = to_plain(value, dtype)
    if has_memory(value):
        x = in_memory(value, dtype)
    elif shape and is_list(value, dtype):
        x = to_items(value, dtype, shape[1:])
    else:
        x = to_element(value, dtype)
    if x.shape != shape:
        raise dynamic_errors.item_shape(x.shape, shape)
    return x


def to_items(values: Any, dtype: DType, shape: Sizes) -> Tensor:
    """Give items as a tensor (n, *shape); goes through iterables, which may run any code."""
    if has_memory(values):
        x = in_memory(values, dtype)
        if x.ndim != len(shape) + 1 or x.shape[1:] != shape:
            raise dynamic_errors.items_shape(x.shape, shape)
        return x
    try:
        rows = list(values)
    except TypeError as error:
        if hasattr(values, "__iter__"):
            raise
        raise dynamic_errors.not_items(values) from error
    with OnHeap():
        out = _core.empty((len(rows), *shape), dtype.id)
        if shape or not _core.fill_from_list(out, rows, plain=True):
            for i, value in enumerate(rows):
                _core.copy(out[i], to_item(value, dtype, shape), False)
    return out
