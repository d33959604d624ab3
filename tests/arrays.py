"""What the tests of dynamic arrays share: allocators of every kind, and what must always hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tessella as ts
from nested import listed
from tessella import _core, memory

# Each is made anew, so that what it counts is the array's alone.
ALLOCATORS: dict[str, Callable[[], memory.Allocator]] = {
    "heap": memory.Heap,
    "arena": lambda: memory.Arena("16KiB"),
    "growable arena": lambda: memory.Arena("1KiB", growable=True),
    "pool": lambda: memory.Pool("2KiB", 12),
    "slab": lambda: memory.Slab(64, 256, "1KiB", "4KiB", slab_size="8KiB"),
    "buddy": lambda: memory.Buddy("16KiB"),
}
POINT = ts.dtypes.register("array_point", fmt="<hB")  # of 3 bytes, as a user's may be
FIXED = ("arena", "pool", "slab", "buddy")

Act = Callable[[ts.DynamicArray], Any]
State = tuple[list[Any], int, tuple[int, ...], int]


def array(items: Any, dtype: Any = ts.int64, **options: Any) -> ts.DynamicArray[Any]:
    """Make an array of items."""
    a = ts.DynamicArray(dtype, **options)
    a.extend(items)
    return a


def filled(
    where: str = "heap", shape: tuple[int, ...] = (), **options: Any
) -> ts.DynamicArray[Any]:
    """Make a full array of four items."""
    allocator = ALLOCATORS[where]()
    a = ts.DynamicArray(ts.float32, 4, allocator=allocator, item_shape=shape, **options)
    a.extend(ts.arange(4 * max(1, math.prod(shape))).reshape(4, *shape).astype(ts.float32))
    return a


def contents(a: ts.DynamicArray[Any]) -> list[Any]:
    """Give the items as lists of Python numbers."""
    return list(listed(a.as_tensor()))


def state(a: ts.DynamicArray[Any]) -> State:
    """Give all that an operation which fails must leave as it was."""
    return contents(a), a.capacity, a.shape, a.data_ptr


def item_bytes(a: ts.DynamicArray[Any]) -> int:
    """Give the bytes of one item."""
    return a.item_size * a.itemsize


def check(a: ts.DynamicArray[Any], model: list[Any]) -> None:
    """Compare an array with a list, and everything it says of itself with each other."""
    assert contents(a) == model
    assert len(a) == a.length == len(model) <= a.capacity
    assert a.is_empty == (not model) and a.is_full == (len(model) == a.capacity)
    assert a.shape == (len(model), *a.item_shape) and a.shape_text == str(a.shape)
    tensor = a.as_tensor()
    assert (tensor.shape, tensor.dtype, tensor.size) == (a.shape, a.dtype, a.size)
    assert tensor.strides == a.strides and tensor.nbytes == a.nbytes
    assert (a.ndim, a.itemsize) == (tensor.ndim, tensor.itemsize)
    if a.size:
        assert tensor.data_ptr == a.data_ptr
        assert a.owns(a.data_ptr) and a.owns(a.data_ptr + a.nbytes - a.itemsize)
    assert not a.owns(a.data_ptr + a.nbytes) and not a.owns(a.data_ptr - a.itemsize)


def live_blocks(a: ts.DynamicArray[Any], views: list[ts.Tensor]) -> dict[int, int]:
    """Give the bytes of each block that the array or a view of it keeps, by its name."""
    return {_core.buffer_key(x): _core.buffer_bytes(x) for x in (a.as_tensor(), *views)}
