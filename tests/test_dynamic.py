"""Making, filling, emptying and growing a DynamicArray; the texts of its errors.

Reading it, and what it says of itself, is in test_dynamic_access.py, sorting and searching in
test_dynamic_order.py. Random sequences of operations are in test_dynamic_model.py; what happens
when memory fails, moves or is taken back in test_dynamic_memory.py, and when other code interferes
in test_dynamic_interference.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessella as ts
from arrays import array, check, contents, state
from nested import listed
from tessella.dtypes import DTYPES

# --- D1: making one -------------------------------------------------------------------------------


def test_an_array_has_a_length_a_capacity_and_a_growth() -> None:
    a = ts.DynamicArray(ts.float32, 4)
    assert (len(a), a.length, a.capacity, a.growth, a.dtype) == (0, 0, 4, True, ts.float32)
    assert not ts.DynamicArray("int8", 0, False).growth
    assert ts.DynamicArray(float).dtype is ts.float32


def test_only_live_items_can_be_reached() -> None:
    a = array([1, 2], capacity=8)
    assert a[:].shape == (2,) and a[-1] == 2
    for reach in (lambda: a[2], lambda: a.get(2), lambda: a.set(2, 0), lambda: a.pop(2),
                  lambda: a.__setitem__(2, 0), lambda: a[-3]):  # fmt: skip
        with pytest.raises(ts.errors.IndexOutOfBounds):
            reach()
    assert contents(a) == [1, 2]


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,), (2, 0, 1), (1,) * 63])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_items_may_have_any_dtype_and_shape(dtype: ts.DType, shape: tuple[int, ...]) -> None:
    a = ts.DynamicArray(dtype, item_shape=shape)
    rows = ts.ones(5, *shape, dtype=dtype)
    a.append(rows[0])
    a.extend(rows)
    a.push_front(rows[0].tolist())
    check(a, listed(ts.ones(7, *shape, dtype=dtype)))
    popped = a.pop()
    assert (popped.tolist() if shape else popped) == rows[0].tolist()


def test_item_shape_makes_a_cache_of_keys_and_values() -> None:
    heads, steps, width = 4, 10, 8
    cache = ts.DynamicArray(ts.float32, item_shape=(2, heads, width))
    made = [ts.rand(2, heads, width) for _ in range(steps)]
    for step in made:
        cache.append(step)
    keys, values = cache.as_tensor().unbind(1)
    assert keys.shape == (steps, heads, width)
    assert values.tolist() == ts.stack(made)[:, 1].tolist()


@pytest.mark.parametrize(
    "arguments, error, text",
    [
        ((ts.int8, -1), ts.errors.InvalidArgument, "DynamicArray: capacity is -1"),
        ((ts.int8, 1.5), ts.errors.ArgumentError, "capacity must be an integer"),
        ((ts.int8, 0, 1), ts.errors.ArgumentError, "growth must be True or False"),
        (("text",), ts.errors.ArgumentError, "dtype must be a Tessella dtype"),
        ((ts.int8, 0, True, 3), ts.errors.ArgumentError, "allocator must be one of ts.memory"),
        ((ts.int8, 0, True, None, (-1,)), ts.errors.InvalidArgument, "negative size in shape"),
        ((ts.int8, 0, True, None, (1,) * 64), ts.errors.ShapeError, "65 axes are too many"),
        ((ts.float64, 1 << 60), ts.errors.LengthOverflow, "(1152921504606846976,) has more"),
        ((ts.int8, 16, True, None, (1 << 59,)), ts.errors.LengthOverflow, "can be counted"),
        ((ts.int8, 0, True, None, (1 << 62, 4)), ts.errors.LengthOverflow, "more elements than"),
    ],
)  # fmt: skip
def test_what_is_no_array_is_refused(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        ts.DynamicArray(*arguments)
    assert text in str(caught.value) and "DynamicArray" in str(caught.value)


# --- D2: adding and taking out --------------------------------------------------------------------


def test_items_are_added_at_either_end_and_between() -> None:
    a = ts.DynamicArray(ts.int64)
    a.push_back(2)
    a.append(4)
    a.push_front(1)
    a.insert(2, 3)
    a.insert(4, 5)
    a.insert(0, 0)
    assert list(a) == [0, 1, 2, 3, 4, 5]


def test_arrays_are_extended_by_anything_with_items() -> None:
    a = ts.DynamicArray(ts.int64)
    a.extend([1, 2])
    a.concat((3,))
    a.extend(iter([4]))
    a.extend(ts.tensor([9, 5, 9, 6])[1::2])
    a.extend(np.array([7, 8]))
    a.extend(array([9]))
    a += range(10, 12)
    assert list(a) == list(range(1, 12))
    wide = ts.DynamicArray(ts.float32, item_shape=(2,))
    wide.extend([[1, 2], ts.tensor([3.0, 4.0]), np.array([5, 6], "f4")])
    wide.extend(np.array([[7, 8]], "f4"))
    assert contents(wide) == [[1, 2], [3, 4], [5, 6], [7, 8]]
    data = ts.DynamicArray(ts.uint8)
    data.extend(b"bytes")
    data.extend(bytearray(b"!"))
    assert bytes(memoryview(data)) == b"bytes!"


def test_an_array_is_extended_by_itself_and_its_parts() -> None:
    a = array([1, 2, 3])
    a.extend(a)
    a.extend(a[::-2])
    a.extend(np.asarray(a)[:1].copy())
    a.extend(item for item in listed(a[:2]))
    assert list(a) == [1, 2, 3, 1, 2, 3, 3, 1, 2, 1, 1, 2]


def test_extending_moves_the_memory_at_most_once() -> None:
    pool = ts.memory.Heap()
    a = ts.DynamicArray(ts.float64, 1, allocator=pool)
    a.append(0.5)
    for items in (list(range(3000)), a, ts.ones(5000, dtype=ts.float64)):
        before = pool.allocations
        a.extend(items)
        assert pool.allocations - before <= 1


def test_items_are_taken_out_anywhere() -> None:
    a = array([0, 1, 2, 3, 4, 5, 6])
    taken = (a.pop(), a.pop_back(), a.pop_front(), a.pop_at(1), a.pop(-2), list(a))
    assert taken == (6, 5, 0, 2, 3, [1, 4])
    del a[0]
    assert list(a) == [4]
    a = array(range(10))
    del a[1:8:3], a[-2:], a[::-4]
    assert list(a) == [2, 3, 5]


def test_a_scalar_item_comes_out_as_a_python_scalar() -> None:
    kinds = {ts.bool: bool, ts.uint8: int, ts.bfloat16: float, ts.complex64: complex}
    for dtype, kind in kinds.items():
        a = array([1 > 0], dtype)
        assert type(a[0]) is type(a.get(0)) is type(a.pop()) is kind
    rows = array([[1, 2]], item_shape=(2,))
    assert type(rows.get(1)) is int
    row = rows.pop()
    assert isinstance(row, ts.Tensor) and row.tolist() == [1, 2]


def test_a_popped_row_is_a_copy() -> None:
    rows = array([[1, 2], [3, 4]], item_shape=(2,))
    row = rows.pop()
    rows.append([5, 6])
    assert row.tolist() == [3, 4]


REFUSALS: list[tuple[str, Any, type[Exception], str]] = [
    ("append", lambda a: a.append(1.5), ts.errors.DTypeMismatch,
     "append: 1.5 is of type float, the array holds int16"),
    ("append", lambda a: a.append(1j), ts.errors.DTypeMismatch, "1j is of type complex"),
    ("append", lambda a: a.append(ts.tensor(1)), ts.errors.DTypeMismatch,
     "append: the items are int64, the array holds int16"),
    ("append", lambda a: a.append(ts.tensor([1], dtype=ts.int16)), ts.errors.ShapeError,
     "append: the item has shape (1,), the array's items have ()"),
    ("append", lambda a: a.append(1 << 20), ts.errors.InvalidArgument, "1048576 does not fit"),
    ("append", lambda a: a.append(None), ts.errors.ArgumentError, "value must be a number"),
    ("push_front", lambda a: a.push_front(0.5), ts.errors.DTypeMismatch, "push_front: 0.5 is of"),
    ("insert", lambda a: a.insert(0, 0.5), ts.errors.DTypeMismatch, "insert: 0.5 is of type float"),
    ("insert", lambda a: a.insert(4, 0), ts.errors.IndexOutOfBounds,
     "insert: index 4 is no place in an array of 3 items"),
    ("insert", lambda a: a.insert(-1, 0), ts.errors.IndexOutOfBounds, "index -1 is no place"),
    ("extend", lambda a: a.extend([1, 0.5]), ts.errors.DTypeMismatch, "extend: 0.5 is of type"),
    ("extend", lambda a: a.extend(np.array([1.5])), ts.errors.DTypeMismatch,
     "extend: the items are float64, the array holds int16"),
    ("extend", lambda a: a.extend(ts.zeros(2, 1, dtype=ts.int16)), ts.errors.ShapeError,
     "extend: the items have shape (2, 1), (n,) is taken"),
    ("extend", lambda a: a.extend(3), ts.errors.ArgumentError, "extend: items must be a"),
    ("extend", lambda a: a.extend("ab"), ts.errors.ArgumentError, "value must be a number"),
    ("pop", lambda a: a.pop(3), ts.errors.IndexOutOfBounds,
     "pop: index 3 is out of bounds for 3 items"),
    ("pop", lambda a: a.pop(0.0), ts.errors.ArgumentError, "pop: index must be an integer"),
    ("pop", lambda a: a.pop_at(-4), ts.errors.IndexOutOfBounds, "index -4 is out of bounds"),
    ("set", lambda a: a.set(0, 0.5), ts.errors.DTypeMismatch, "set: 0.5 is of type float"),
    ("set", lambda a: a.set(0, 1, dtype=ts.int32), ts.errors.DTypeMismatch,
     "set: int32 was asked for, the array holds int16"),
    ("get", lambda a: a.get(0, dtype=ts.float32), ts.errors.DTypeMismatch,
     "get: float32 was asked for, the array holds int16"),
    ("get", lambda a: a.get(3), ts.errors.IndexOutOfBounds, "get: index 3 is out of bounds"),
    ("assign", lambda a: a.__setitem__(0, 0.5), ts.errors.DTypeMismatch, "0.5 is of type float"),
    ("assign", lambda a: a.__setitem__(slice(2), ts.ones(2)), ts.errors.DTypeMismatch,
     "the items are float32, the array holds int16"),
    ("assign", lambda a: a.__setitem__(slice(2), [1, 2, 3]), ts.errors.ShapeError,
     "the item has shape (3,), the array's items have (2,)"),
    ("remove", lambda a: a.__delitem__(3), ts.errors.IndexOutOfBounds, "index 3 is out of bounds"),
    ("reserve", lambda a: a.reserve(1 << 62), ts.errors.LengthOverflow,
     "reserve: shape (4611686018427387904,) has more"),
    ("reserve", lambda a: a.reserve(-1), ts.errors.InvalidArgument, "reserve: capacity is -1"),
    ("index", lambda a: a.index(9), ts.errors.InvalidArgument, "index: 9 is not in the array"),
    ("find", lambda a: a.find("x"), ts.errors.ArgumentError, "find: value must be a number"),
    ("contains", lambda a: "x" in a, ts.errors.ArgumentError, "contains: value must be a number"),
    ("equals", lambda a: a.equals([1]), ts.errors.ArgumentError, "equals: other must be a Dynamic"),
    ("sort", lambda a: a.sort(key=abs, compare=int), ts.errors.ArgumentError,
     "sort: both key= and compare= were given"),
    ("sort", lambda a: a.sort(key=3), ts.errors.ArgumentError, "sort: key must be a function of"),
    ("sort", lambda a: a.sort(compare=3), ts.errors.ArgumentError, "sort: compare must be a"),
    ("sort", lambda a: a.sort(key=[1]), ts.errors.ShapeError, "sort: 1 keys for 3 items"),
    ("sort", lambda a: a.sort(key=ts.ones(2)), ts.errors.ShapeError, "sort: 2 keys for 3 items"),
    ("sort", lambda a: a.sort(descending=1), ts.errors.ArgumentError, "descending must be True or"),
    ("copy", lambda a: a.copy("heap"), ts.errors.ArgumentError, "allocator must be one of"),
]  # fmt: skip


@pytest.mark.parametrize("name, act, error, text", REFUSALS)
def test_wrong_calls_are_refused_and_change_nothing(
    name: str, act: Any, error: type[Exception], text: str
) -> None:
    a = array([1, 2, 3], ts.int16, capacity=3)
    before = state(a)
    with pytest.raises(error) as caught:
        act(a)
    assert state(a) == before
    shown = str(caught.value)
    assert text in shown and "DynamicArray int16 (3,) capacity 3" in shown and "hint: " in shown
    assert "test_dynamic.py" in shown and shown.startswith(name)


def test_an_empty_array_has_nothing_to_pop() -> None:
    for a in (ts.DynamicArray(ts.int64, 4), ts.DynamicArray(ts.int64, 4, item_shape=(2,))):
        for pop in (a.pop, a.pop_back, a.pop_front, lambda a=a: a.pop_at(0)):
            with pytest.raises(ts.errors.Empty, match="pop: there is no item to pop"):
                pop()
        for choose in (a.min, a.max):
            with pytest.raises(ts.errors.Empty, match="there is no item to choose"):
                choose()
        assert a.sum() == 0 and len(a) == 0


def test_a_full_array_without_growth_refuses() -> None:
    a = array([1, 2], capacity=2, growth=False)
    before = state(a)
    acts: list[Callable[[], Any]] = [
        lambda: a.append(3), lambda: a.push_front(3), lambda: a.insert(1, 3),
        lambda: a.extend([3]), lambda: a.extend(a), lambda: a.reserve(3)]  # fmt: skip
    for act in acts:
        with pytest.raises(
            ts.errors.CapacityOverflow, match=r"room for . items is needed"
        ) as caught:
            act()
        assert isinstance(caught.value, MemoryError) and "growth=True" in str(caught.value)
        assert state(a) == before
    a.extend([])
    a.pop()
    a.append(3)
    assert list(a) == [1, 3]


def test_lengths_that_cannot_be_counted_are_refused() -> None:
    most = (1 << 51) - 1  # elements of a tensor, of which a user's may have 4,096 bytes
    a = array([1], ts.uint8)
    before = state(a)
    with pytest.raises(ts.errors.LengthOverflow, match=r"extend: shape .* has more elements"):
        a.extend(ts.zeros(1, dtype=ts.uint8).broadcast_to(most))
    assert state(a) == before
    nothing = ts.DynamicArray(ts.int8, item_shape=(0,))
    nothing.extend(ts.zeros(1, 0, dtype=ts.int8).broadcast_to(most, 0))
    with pytest.raises(ts.errors.LengthOverflow):
        nothing.extend(nothing)
    assert len(nothing) == most


# --- D3: growth -----------------------------------------------------------------------------------


def tier(capacity: int) -> int:
    """Give the capacity after the next growth."""
    if capacity < 1024:
        return capacity * 2
    return capacity + (capacity // 2 if capacity < 8192 else capacity // 4)


@pytest.mark.parametrize("shape", [(), (2,)])
@pytest.mark.parametrize(
    "capacity", [1, 2, 3, 512, 1023, 1024, 1025, 8191, 8192, 65535, 65536, 100_000_000]
)
def test_growth_follows_the_tiers(capacity: int, shape: tuple[int, ...]) -> None:
    if shape and capacity > 1 << 20:
        capacity = 10_000_000
    a = ts.DynamicArray(ts.uint8, capacity, item_shape=shape)
    a.extend(ts.zeros(1, dtype=ts.uint8).broadcast_to(capacity, *shape))
    assert a.is_full and a.capacity == capacity
    a.append(ts.ones(shape, dtype=ts.uint8))
    assert a.capacity == tier(capacity) and len(a) == capacity + 1
    assert a.as_tensor()[-1].sum().item() == (2 if shape else 1)


def test_a_capacity_of_nothing_grows() -> None:
    a = ts.DynamicArray(ts.int64, 0)
    sizes = []
    for i in range(9):
        a.append(i)
        sizes.append(a.capacity)
    assert sizes == [1, 2, 4, 4, 8, 8, 8, 8, 16]


def test_appends_move_the_array_a_logarithmic_number_of_times() -> None:
    heap = ts.memory.Heap()
    a = ts.DynamicArray(ts.int32, 0, allocator=heap)
    capacities = {0}
    for i in range(300_000):
        a.append(i)
        capacities.add(a.capacity)
    assert heap.allocations == len(capacities) == 33
    # The items that were moved, for each that was added.
    assert sum(capacities - {a.capacity}) < 5 * len(a)
    assert a.as_tensor().tolist() == list(range(300_000))


def test_what_is_needed_comes_before_the_tier() -> None:
    a = array([1, 2])
    a.extend(range(100))
    assert a.capacity == 102
