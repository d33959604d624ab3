"""DynamicArray: items of one dtype and shape, in memory that grows.

The core's type does the everyday: append, pop, single items, views, iteration. Here is the rest,
and what the core declines. Whatever fails leaves the array as it was: iterables are gone through
before anything is written.
"""

from __future__ import annotations

from typing import Any, Self, SupportsIndex, TypedDict, Unpack

from tessella import _core, dynamic_errors, errors
from tessella._core import AllocatorHandle, Tensor
from tessella.allocators import Allocator, wrap
from tessella.arguments import to_bool, to_count, to_int, to_ints
from tessella.dtypes import as_dtype
from tessella.dynamic_order import OrderedArray
from tessella.dynamic_shape import I, explained
from tessella.hints import Array, CapsuleType, DTypeLike, Element, Ints, Real, overload
from tessella.items import (
    OnHeap,
    has_memory,
    in_memory,
    is_list,
    to_element,
    to_item,
    to_items,
    to_plain,
)


class Options(TypedDict, total=False):
    """What DLPack asks for."""

    stream: object
    max_version: tuple[int, int] | None
    dl_device: tuple[int, int] | None
    copy: bool | None


def handle_of(allocator: Allocator | None) -> AllocatorHandle:
    """Give the core's name of an allocator; the current scope's for None."""
    if allocator is None:
        return _core.current_allocator()
    if not isinstance(allocator, Allocator):
        raise dynamic_errors.not_allocator(allocator)
    return allocator.handle


class DynamicArray(OrderedArray[I]):
    """Items of one dtype and shape in one block of memory, which is replaced when it is full.

    Growth follows tiers: twice as much below 1,024 items, 1.5 times below 8,192, then a quarter
    more, so that an append is amortised O(1) at every size. With `growth=False` a full array
    refuses. Memory comes from `allocator`, or the scope's.

    `a[i]` is a number, or a tensor over row i; `a[i:j]` is a tensor that shares the memory. Growth
    that moves the array leaves such tensors the old memory. Memory that others see (NumPy,
    memoryview, DLPack) does not move: growth then raises IllegalState.

    >>> a = ts.DynamicArray(ts.float32, 2)
    >>> for i in range(3):
    ...     a.append(i / 2)
    >>> a
    DynamicArray float32 (3,) capacity 4 [0.0000, 0.5000, 1.0000]
    >>> rows = ts.DynamicArray(ts.int64, 4, item_shape=(2,))
    >>> rows.extend([[1, 2], [3, 4]])
    >>> rows.as_tensor().sum(axis=0).tolist()
    [4, 6]
    """

    __slots__ = ()

    @overload
    def __new__(
        cls,
        dtype: DTypeLike,
        capacity: int = 0,
        growth: bool = True,
        allocator: Allocator | None = None,
    ) -> DynamicArray[Real]: ...
    @overload
    def __new__(
        cls,
        dtype: DTypeLike,
        capacity: int = 0,
        growth: bool = True,
        allocator: Allocator | None = None,
        *,
        item_shape: Ints,
    ) -> DynamicArray[Tensor]: ...
    @overload
    def __new__(
        cls,
        dtype: DTypeLike,
        capacity: int,
        growth: bool,
        allocator: Allocator | None,
        item_shape: Ints,
    ) -> DynamicArray[Tensor]: ...
    def __new__(
        cls,
        dtype: DTypeLike,
        capacity: int = 0,
        growth: bool = True,
        allocator: Allocator | None = None,
        item_shape: Ints = (),
    ) -> Any:
        """Make an empty array with room for so many items."""
        try:
            room = to_count("capacity", capacity, 0)
            sizes = to_ints("item_shape", item_shape)
            grows = to_bool("growth", growth)
            return super().__new__(
                cls, as_dtype(dtype).id, room, grows, sizes, handle_of(allocator)
            )
        except errors.TessellaError as error:
            raise error.locate("DynamicArray", []) from None

    @property
    def allocator(self) -> Allocator:
        """Where its memory comes from."""
        return wrap(_core.array_allocator(self))

    # --- adding and taking out --------------------------------------------------------------------

    @explained
    def _append(self, value: Any) -> None:
        self._put(None, value)

    def _put(self, index: int | None, value: Any) -> None:
        """Insert an item, at the end for None; a value may run any code on its way."""
        with OnHeap():
            item = to_item(value, self.dtype, self.item_shape)
        if index is None:
            _core.array_extend(self, item.unsqueeze(0))
        else:
            _core.array_insert(self, index, item.unsqueeze(0))

    @explained
    def push_front(self, value: object) -> None:
        """Add an item before the first: O(n).

        >>> a = ts.DynamicArray(int)
        >>> a.push_front(1)
        >>> a.push_front(2)
        >>> list(a)
        [2, 1]
        """
        self._put(0, value)

    @explained
    def insert(self, index: int, value: object) -> None:
        """Add an item before the one at an index, which is 0 to the length.

        >>> a = ts.DynamicArray(int)
        >>> a.extend([1, 3])
        >>> a.insert(1, 2)
        >>> list(a)
        [1, 2, 3]
        """
        place = to_int("index", index)
        if not 0 <= place <= len(self):
            raise dynamic_errors.place_out_of_bounds(place, len(self))
        self._put(place, value)

    @explained
    def extend(self, items: object) -> None:
        """Add the items of a tensor, an array, a buffer, a list or any iterable at the end.

        The memory moves at most once. The array itself is allowed.

        >>> a = ts.DynamicArray(ts.float32)
        >>> a.extend([1, 2])
        >>> a.extend(a)
        >>> list(a)
        [1.0, 2.0, 1.0, 2.0]
        """
        rows = to_items(items, self.dtype, self.item_shape)
        _core.array_extend(self, rows)

    concat = extend

    def __iadd__(self, items: object) -> Self:
        self.extend(items)
        return self

    @explained
    def _pop(self, index: Any = -1) -> Any:
        place = to_int("index", index)
        self._check_item(place)
        _core.array_check_free(self)
        if not self.item_shape:
            return super().pop(place)  # it is there after all, or the index is of another type
        out = _core.empty(self.item_shape, self.dtype.id)
        while not _core.array_take(self, place, out):  # another thread was first
            self._check_item(place)
        return out

    def _check_item(self, place: int) -> None:
        length = len(self)  # once: other threads may pop
        if length == 0:
            raise dynamic_errors.empty("pop")
        if not -length <= place < length:
            raise dynamic_errors.index_out_of_bounds(place, length)

    def _refuse(self, given: int) -> None:
        """Explain what pop takes."""
        error = errors.too_many_arguments(given, 1, "pop(index=-1)")
        raise error.locate("pop", [f"a  {self.summary}"])

    def _item_place(self, index: Any) -> int:
        place, length = to_int("index", index), len(self)
        if not -length <= place < length:
            raise dynamic_errors.index_out_of_bounds(place, length)
        return place % length

    def pop_at(self, index: int) -> I:
        """Take out the item at an index and give it: O(n). A row comes as a copy.

        >>> a = ts.DynamicArray(int)
        >>> a.extend([1, 2, 3])
        >>> a.pop_at(1), list(a)
        (2, [1, 3])
        """
        return self.pop(index)

    def pop_front(self) -> I:
        """Take out the first item and give it: O(n).

        >>> a = ts.DynamicArray(int)
        >>> a.extend([1, 2])
        >>> a.pop_front(), list(a)
        (1, [2])
        """
        return self.pop(0)

    @explained
    def _remove(self, key: Any) -> None:
        """Answer del a[key]."""
        if not isinstance(key, slice):
            return _core.array_remove(self, self._item_place(key), 1)
        gone = range(*key.indices(len(self)))
        gone = gone if gone.step > 0 else gone[::-1]
        if len(gone) == 0 or gone.step == 1:
            return _core.array_remove(self, gone.start, len(gone)) if gone else None
        left = [i for i in range(len(self)) if i not in gone]
        self._reorder([*left, *gone], "written")
        return _core.array_remove(self, len(left), len(gone))

    @explained
    def clear(self) -> None:
        """Take out all items. The capacity stays, and its bytes become 0.

        >>> a = ts.DynamicArray(int, 4)
        >>> a.append(1)
        >>> a.clear()
        >>> a.length, a.capacity
        (0, 4)
        """
        _core.array_clear(self)

    @explained
    def reserve(self, capacity: int) -> None:
        """Make room for so many items in all, so that adding them moves nothing.

        >>> a = ts.DynamicArray(int)
        >>> a.reserve(100)
        >>> a.capacity
        100
        """
        room = to_count("capacity", capacity, 0)
        _core.array_resize(self, max(room, self.capacity))

    @explained
    def shrink_to_fit(self) -> None:
        """Give back the memory that no item uses.

        >>> a = ts.DynamicArray(int, 100)
        >>> a.append(1)
        >>> a.shrink_to_fit()
        >>> a.capacity
        1
        """
        _core.array_resize(self, len(self))

    # --- reading and writing ----------------------------------------------------------------------

    def _flat_place(self, index: Any, dtype: DTypeLike | None) -> int:
        if dtype is not None and as_dtype(dtype) is not self.dtype:
            raise dynamic_errors.expected_dtype(as_dtype(dtype), self.dtype)
        place, size = to_int("index", index), self.size
        if not -size <= place < size:
            raise dynamic_errors.index_out_of_bounds(place, size)
        return place % size

    @explained
    def get(self, index: int, dtype: DTypeLike | None = None) -> Real:
        """Give the element at a flat index, which counts through the items' elements.

        With `dtype`, an array of another dtype is refused.

        >>> a = ts.DynamicArray(int, item_shape=(2,))
        >>> a.extend([[1, 2], [3, 4]])
        >>> a.get(2, dtype=ts.int64)
        3
        """
        return self.as_tensor().item(self._flat_place(index, dtype))

    @explained
    def set(self, index: int, value: Tensor | Element, dtype: DTypeLike | None = None) -> None:
        """Set the element at a flat index, which counts through the items' elements.

        >>> a = ts.DynamicArray(int, item_shape=(2,))
        >>> a.extend([[1, 2], [3, 4]])
        >>> a.set(2, 5)
        >>> a.as_tensor().tolist()
        [[1, 2], [5, 4]]
        """
        place = self._flat_place(index, dtype)
        with OnHeap():
            element = to_item(value, self.dtype, ())
        self.as_tensor().reshape(-1)[place] = element

    @explained
    def _assign(self, key: Any, value: Any) -> None:
        """Answer a[key] = value: what is there is replaced, the length stays."""
        target, value = self.as_tensor(), to_plain(value, self.dtype)
        with OnHeap():
            if has_memory(value):
                source = in_memory(value, self.dtype)
            elif is_list(value, self.dtype):
                source = to_item(value, self.dtype, target[key].shape)
            else:
                source = to_element(value, self.dtype)
        self.as_tensor()[key] = source  # to pack it may have run code that changes the array

    @explained
    def slice(self, start: int = 0, stop: int | None = None) -> Self:
        """Give the items from one index to another as an array of its own.

        It is exactly as large as they are, does not grow, and lives in the same allocator.

        >>> a = ts.DynamicArray(int)
        >>> a.extend([1, 2, 3])
        >>> b = a.slice(1, 3)
        >>> list(b), b.capacity, b.growth
        ([2, 3], 2, False)
        """
        part = self.as_tensor()[start:stop]
        return self._made_of(part, part.shape[0], False, _core.array_allocator(self))

    @explained
    def copy(self, allocator: Allocator | None = None) -> Self:
        """Give an array with the same items and capacity, here or in another allocator.

        >>> a = ts.DynamicArray(int, 4)
        >>> a.append(1)
        >>> b = a.copy()
        >>> b.append(2)
        >>> list(a), list(b)
        ([1], [1, 2])
        """
        where = _core.array_allocator(self) if allocator is None else handle_of(allocator)
        return self._made_of(self.as_tensor(), self.capacity, self.growth, where)

    def _made_of(self, items: Tensor, capacity: int, growth: bool, where: AllocatorHandle) -> Self:
        out = super().__new__(type(self), self.dtype.id, capacity, growth, self.item_shape, where)
        _core.array_extend(out, items)
        return out

    # --- protocols --------------------------------------------------------------------------------

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        return self.as_tensor().__array__(dtype, copy)

    def __dlpack__(self, **options: Unpack[Options]) -> CapsuleType:
        return self.as_tensor().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.as_tensor().__dlpack_device__()

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        out = self.copy()
        memo[id(self)] = out
        return out

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[object, ...]:
        parts = (type(self), self.as_tensor(), self.capacity, self.growth)
        return rebuild, parts, getattr(self, "__dict__", None) or None  # of a subclass


def rebuild(
    kind: type[DynamicArray[I]], items: Tensor, capacity: int, growth: bool
) -> DynamicArray[I]:
    """Make an array of what its pickle holds, in the current scope's allocator."""
    made: Any = DynamicArray.__new__(kind, items.dtype, capacity, growth, None, items.shape[1:])
    _core.array_extend(made, items)
    out: DynamicArray[I] = made
    return out
