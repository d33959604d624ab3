"""Reading and writing a DynamicArray, what it says of itself, and the protocols that it follows."""

from __future__ import annotations

import copy
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

import tessella as ts
from arrays import ALLOCATORS, POINT, array, contents

# --- D4: reading and writing ----------------------------------------------------------------------


def test_a_flat_index_counts_through_rows() -> None:
    a = array([[1, 2, 3], [4, 5, 6]], item_shape=(3,))
    assert [a.get(i) for i in range(-6, 6)] == [1, 2, 3, 4, 5, 6] * 2
    a.set(4, 50)
    a.set(-6, np.int64(10))  # type: ignore[arg-type]
    assert contents(a) == [[10, 2, 3], [4, 50, 6]]


def test_an_index_gives_a_number_or_a_row() -> None:
    a = array([5, 6, 7])
    assert (a[0], a[-1], a[np.int64(1)], a[ts.tensor(1)].item()) == (5, 7, 6, 6)  # type: ignore[comparison-overlap]
    a[0], a[np.int8(-1)] = 8, 9
    assert list(a) == [8, 6, 9]
    rows = array([[1, 2], [3, 4]], item_shape=(2,))
    rows[0][1] = 9
    rows[1] = [7, 8]
    assert rows[1].tolist() == [7, 8] and contents(rows) == [[1, 9], [7, 8]]
    assert rows[0, 1].item() == 9


def test_a_slice_is_a_tensor_over_the_same_memory() -> None:
    a = array(range(6))
    view = a[1:5:2]
    assert isinstance(view, ts.Tensor) and view.tolist() == [1, 3]
    view[0] = 10
    a[3] = 30
    assert (list(a), view.tolist()) == ([0, 10, 2, 30, 4, 5], [10, 30])
    assert a[a.as_tensor() > 4].tolist() == [10, 30, 5]


def test_slices_are_assigned_without_changing_the_length() -> None:
    a = array(range(5))
    a[1:3] = [7, 8]
    a[3:] = 9
    a[::-2] = ts.tensor([1, 2, 3])
    assert list(a) == [3, 7, 2, 9, 1]
    a[1:] = a[:-1]
    assert list(a) == [3, 3, 7, 2, 9]


def test_slice_copies_into_an_array_that_does_not_grow() -> None:
    heap = ts.memory.Heap()
    a = array([1, 2, 3, 4], allocator=heap)
    b = a.slice(1, 3)
    a[1] = 20
    assert (list(b), b.capacity, b.growth, b.allocator) == ([2, 3], 2, False, heap)
    assert (list(a.slice()), list(a.slice(-1)), list(a.slice(9))) == ([1, 20, 3, 4], [4], [])


# --- D6: what it is -------------------------------------------------------------------------------


def test_an_array_describes_itself() -> None:
    a = array([[[1, 2, 3]] * 2] * 4, ts.int32, capacity=8, item_shape=(2, 3))
    assert (len(a), a.size, a.capacity, a.itemsize, a.nbytes) == (4, 24, 8, 4, 96)
    assert (a.ndim, a.shape, a.strides, a.dtype) == (3, (4, 2, 3), (6, 3, 1), ts.int32)
    assert (a.is_empty, a.is_full, a.shape_text, a.item_shape) == (
        False,
        False,
        "(4, 2, 3)",
        (2, 3),
    )
    assert bool(a) and not ts.DynamicArray(ts.int8)


def test_owns_tells_the_addresses_of_live_elements() -> None:
    a = array([[1, 2], [3, 4]], ts.int32, capacity=4, item_shape=(2,))
    start = a.data_ptr
    owned = [place for place in range(start - 8, start + 40) if a.owns(place)]
    assert owned == [start, start + 4, start + 8, start + 12]
    assert not a.owns(0) and not a.owns(-1) and not a.owns(1 << 100)
    view = a[1:]
    assert a.owns(view.data_ptr)
    a.pop()
    assert not a.owns(view.data_ptr)


def test_arrays_print_their_state_and_items() -> None:
    assert repr(array([1, 2], capacity=4)) == "DynamicArray int64 (2,) capacity 4 [1, 2]"
    assert repr(array([[1, 2]], item_shape=(2,))) == "DynamicArray int64 (1, 2) capacity 1 [[1, 2]]"
    assert "..." in repr(array(range(10_000)))


# --- D7 and protocols -----------------------------------------------------------------------------


def test_as_tensor_shares_the_live_part() -> None:
    a = array([1, 2, 3], capacity=9)
    live = _live()
    x = a.as_tensor()
    assert _live() == live and x.shape == (3,) and x.data_ptr == a.data_ptr
    x += 1
    assert list(a) == [2, 3, 4]


def _live() -> int:
    return ts.memory.stats().live


def test_other_libraries_read_the_memory() -> None:
    a = array([[1, 2], [3, 4]], ts.float32, item_shape=(2,))
    assert np.asarray(a).tolist() == [[1, 2], [3, 4]]
    np.asarray(a)[0, 0] = 9
    assert a.get(0) == 9
    assert np.from_dlpack(a).tolist() == [[9, 2], [3, 4]]
    assert ts.tensor(a).tolist() == ts.asarray(a).tolist() == [[9, 2], [3, 4]]
    assert memoryview(a).shape == (2, 2)
    halves = array([1, 2], ts.bfloat16)
    assert ts.asarray(halves).dtype is ts.bfloat16


def test_arrays_are_iterated_while_they_change() -> None:
    a = array([1, 2, 3])
    seen = []
    for item in a:
        seen.append(item)
        if len(a) < 6:
            a.append(item * 10)
    assert seen == [1, 2, 3, 10, 20, 30] and list(reversed(a)) == [30, 20, 10, 3, 2, 1]
    assert [row.tolist() for row in array([[1], [2]], item_shape=(1,))] == [[1], [2]]


@pytest.mark.parametrize("protocol", range(2, 6))
def test_arrays_are_pickled(protocol: int) -> None:
    a = array([[1, 2], [3, 4]], ts.bfloat16, capacity=7, growth=False, item_shape=(2,))
    b = pickle.loads(pickle.dumps(a, protocol))
    assert b == a and (b.capacity, b.growth, type(b)) == (7, False, ts.DynamicArray)


def test_arrays_are_copied() -> None:
    a = array([1, 2])
    for b in (copy.copy(a), copy.deepcopy(a), copy.deepcopy([a, a])[1]):
        b.append(3)
        assert (list(a), list(b)) == ([1, 2], [1, 2, 3])
    twice = copy.deepcopy([a, a])
    assert twice[0] is twice[1]


class Named(ts.DynamicArray):
    """A subclass with an attribute and a method of its own."""

    name = ""

    def append(self, value: Any) -> None:
        super().append(value)
        super().append(value)


def test_arrays_have_subclasses_and_weak_references() -> None:
    a = Named(ts.int64)
    a.name = "twice"
    a.append(1)
    a.push_back(2)
    assert list(a) == [1, 1, 2] and a.pop() == 2
    again = pickle.loads(pickle.dumps(a))
    assert (type(again), again.name, list(again)) == (Named, "twice", [1, 1])
    assert type(a.copy()) is type(a.slice(0, 1)) is Named
    reference = weakref.ref(a)
    del a
    assert reference() is None


@pytest.mark.parametrize("where", ALLOCATORS)
def test_scopes_direct_the_memory_of_arrays(where: str) -> None:
    allocator = ALLOCATORS[where]()
    with ts.memory.use(allocator):
        a = ts.DynamicArray(ts.int64, 4)
    a.extend(range(9))
    assert a.allocator == allocator and allocator.live == a.capacity * 8
    assert ts.memory.stats().kinds["arrays"] >= allocator.live


# --- S1: dtypes of users --------------------------------------------------------------------------


def test_items_of_a_users_dtype_are_tuples() -> None:
    a = array([(3, 1), (-1, 2)], POINT, capacity=4)
    a.append((2, 3))
    a.push_front((0, 0))
    assert list(a) == contents(a) == [(0, 0), (3, 1), (-1, 2), (2, 3)]
    assert (a.pop(), a.pop_at(1), a[-1], a.get(0)) == ((2, 3), (3, 1), (-1, 2), (0, 0))  # type: ignore[comparison-overlap]
    a[0], a[1:] = (5, 5), [(6, 6)]
    a.set(0, (7, 7))
    assert list(a) == [(7, 7), (6, 6)]
    a[:] = (1, 1)
    assert list(a) == [(1, 1), (1, 1)]
    assert pickle.loads(pickle.dumps(a)) == copy.deepcopy(a) == a.slice() == a


def test_items_of_a_users_dtype_are_sorted_by_key_and_found() -> None:
    a = array([(3, 1), (-1, 2), (2, 3)], POINT)
    a.sort(key=lambda item: item[0])
    assert list(a) == [(-1, 2), (2, 3), (3, 1)]
    assert (a.find((2, 3)), a.find((2, 4)), (3, 1) in a) == (1, None, True)
    assert (a.binary_search((2, 3)), a.bracket((0, 0))) == (1, (0, 1))
    a.sort(compare=lambda x, y: y[1] - x[1])
    assert list(a) == [(2, 3), (-1, 2), (3, 1)]
    a.sort(key=ts.tensor([2, 1, 0]))
    a.reverse()
    assert list(a) == [(2, 3), (-1, 2), (3, 1)]
    with pytest.raises(ts.errors.InvalidArgument, match="sort: items of array_point"):
        a.sort()
    with pytest.raises(ts.errors.DTypeMismatch, match="append: 3 is no item of array_point"):
        a.append(3)
    with pytest.raises(ts.errors.InvalidArgument, match=r"extend: .* does not fit array_point"):
        a.extend([(0, 300)])
    rows = array([[(1, 1), (2, 2)]], POINT, item_shape=(2,))
    rows.append(rows[0])
    assert contents(rows) == [[(1, 1), (2, 2)]] * 2 and rows.get(3) == (2, 2)  # type: ignore[comparison-overlap]
