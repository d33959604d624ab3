"""The order of a DynamicArray: clearing, copying, reversing, sorting, searching, comparing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tessella as ts
from arrays import array, contents
from nested import listed
from tessella.dtypes import DTYPES

NAN = float("nan")


# --- D5: order, search, comparison ----------------------------------------------------------------


def test_clear_keeps_the_capacity_and_zeroes_the_bytes() -> None:
    a = array([1, 2, 3], capacity=5)
    view = a[:]
    a.pop()
    a.clear()
    assert (len(a), a.capacity, view.tolist()) == (0, 5, [0, 0, 0])


def test_copies_live_where_the_array_does_or_where_they_are_told() -> None:
    pool = ts.memory.Pool("1KiB", 2)
    a = array([1, 2], capacity=4, allocator=pool)
    same, other = a.copy(), a.copy(allocator=ts.memory.heap)
    a[0] = 9
    for b, allocator in ((same, pool), (other, ts.memory.heap)):
        assert (list(b), b.capacity, b.growth, b.allocator) == ([1, 2], 4, True, allocator)


@pytest.mark.parametrize("shape", [(), (3,), (5, 2)])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reverse_turns_items_around(dtype: ts.DType, shape: tuple[int, ...]) -> None:
    for length in (0, 1, 2, 7):
        size = length * int(np.prod(shape))
        items = ts.arange(size).reshape(length, *shape).astype(dtype)
        a = array(items, dtype, item_shape=shape)
        a.reverse()
        assert contents(a) == listed(items)[::-1]


ORDERED = [dtype for dtype in DTYPES if not dtype.is_complex]


@pytest.mark.parametrize("length", [0, 1, 2, 100, 3000])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", ORDERED, ids=str)
def test_sort_is_that_of_python_with_nan_last(
    dtype: ts.DType, descending: bool, length: int
) -> None:
    items = ts.randint(0, 100, (length,)).astype(dtype)
    if dtype.is_floating and length > 2:
        items[1:-1:7] = NAN
        items[0] = -0.0
    a = array(items, dtype)
    a.sort(descending=descending)
    numbers = [x for x in listed(items) if x == x]
    wanted = sorted(numbers, reverse=descending)
    assert repr(contents(a)[: len(wanted)]) == repr(wanted)
    assert all(x != x for x in contents(a)[len(wanted) :])


def test_sort_takes_keys_and_comparators() -> None:
    a = array([3, -1, 2, -3])
    a.sort(key=abs)
    assert list(a) == [-1, 2, 3, -3]
    a.sort(compare=lambda x, y: y - x)
    assert list(a) == [3, 2, -1, -3]
    a.sort(key=[2, 0, 1, 0])
    assert list(a) == [2, -3, -1, 3]
    a.sort(key=ts.tensor([1.0, NAN, 3.0, 2.0]), descending=True)
    assert list(a) == [-1, 3, 2, -3]
    a.sort(key=np.array([0, 0, 1, 1]), descending=True)  # type: ignore[arg-type]
    assert list(a) == [2, -3, -1, 3]
    a.sort(key=lambda x: NAN if x < 0 else x, descending=True, stable=True)
    assert list(a) == [3, 2, -3, -1]


def test_rows_and_complex_numbers_are_sorted_by_keys_only() -> None:
    rows = array([[3, 1], [1, 2], [2, 3]], item_shape=(2,))
    for a in (rows, array([1j, 1], ts.complex64)):
        with pytest.raises(ts.errors.InvalidArgument, match=r"sort: items of .* have no order"):
            a.sort()
    rows.sort(key=lambda row: -row[1].item())
    assert contents(rows) == [[2, 3], [1, 2], [3, 1]]
    rows.sort(key=rows.as_tensor()[:, 0])
    assert contents(rows) == [[1, 2], [2, 3], [3, 1]]
    rows.sort(key=lambda row: row[1])
    assert contents(rows) == [[3, 1], [1, 2], [2, 3]]
    numbers = array([3, 1j, -2], ts.complex64)
    numbers.sort(key=abs)
    assert list(numbers) == [1j, -2, 3]


def test_sorting_keeps_the_order_of_equal_items() -> None:
    rows = array([[i % 3, i] for i in range(1000)], item_shape=(2,))
    for key in (lambda row: row[0].item(), rows.as_tensor()[:, 0]):
        for descending in (False, True):
            a = rows.copy()
            a.sort(key=key, descending=descending)
            assert contents(a) == sorted(contents(rows), key=lambda row: row[0], reverse=descending)


def test_linear_search_gives_the_first_place() -> None:
    a = array([5, 7, 7])
    assert (a.find(7), a.find(8), a.index(7)) == (1, None, 1)
    assert (a.find(7.0), a.find(7.5), a.find(7 + 0j), a.find(7 + 1j), a.find(1 << 80)) == (
        1, None, 1, None, None)  # fmt: skip
    assert 5 in a and 6 not in a and ts.tensor(7) in a
    floats = array([0.1, NAN, -0.0], ts.float32)
    assert (floats.find(0.1), floats.find(NAN), floats.find(0)) == (0, None, 2)
    rows = array([[1, 2], [3, 4], [3, 5]], item_shape=(2,))
    assert (rows.find([3, 5]), rows.find([3, 6])) == (2, None)  # type: ignore[arg-type]
    assert array([True, False], ts.bool).find(0) == 1 and array([True], ts.bool).find(2) is None
    long = array(range(200_000))
    assert (long.find(199_999), long.find(150_000), long.find(-1)) == (199_999, 150_000, None)


def test_binary_search_and_brackets() -> None:
    a = array([1, 3, 3, 8])
    assert [a.binary_search(x) for x in (1, 2, 3, 3.0, 8, 9)] == [0, None, 1, 1, 3, None]
    assert [a.bracket(x) for x in (0, 1, 2, 3, 7.5, 8, 9)] == [
        (None, 0), (0, 0), (0, 1), (1, 1), (2, 3), (3, 3), (3, None)]  # fmt: skip
    a.reverse()
    assert a.binary_search(3, descending=True) == 1
    assert a.bracket(2, descending=True) == (2, 3)
    assert ts.DynamicArray(ts.int64).bracket(1) == (None, None)
    floats = array([0.1, 0.5, NAN], ts.float32)
    assert floats.binary_search(0.1) == 0 and floats.bracket(9) == (1, 2)
    assert floats.binary_search(NAN) == 2
    rows = array([[1, 9], [4, 5]], item_shape=(2,))
    assert rows.binary_search(4, key=lambda row: row[0].item()) == 1
    with pytest.raises(
        ts.errors.InvalidArgument, match=r"bracket: items of int64 .* have no order"
    ):
        rows.bracket(4)


def test_a_search_for_what_has_no_order_is_refused() -> None:
    a, z = array([1, 3, 3, 8]), array([1j, 2j], ts.complex64)
    with pytest.raises(ts.errors.ArgumentError, match=r"^binary_search: int and str have no order"):
        a.binary_search("a")
    wrong: list[tuple[Any, Any, Any]] = [(a, None, None), (a, 1j, None), (z, 1j, None), (a, 3, str)]
    for items, value, key in wrong:
        with pytest.raises(ts.errors.ArgumentError, match=r"^bracket: .* have no order"):
            items.bracket(value, key=key)
    assert a.bracket("3", key=str) == (1, 1)


@pytest.mark.parametrize("dtype, whole", [(ts.float64, 2**53), (ts.float32, 2**24),
                         (ts.float16, 2**11), (ts.bfloat16, 2**8)])  # fmt: skip
def test_integers_are_searched_for_exactly(dtype: ts.DType, whole: int) -> None:
    a = array([1, whole, whole * 2], dtype)
    for value in (whole + 1, whole * 2 - 1, whole * 2 + 1, 10**400, -(10**400)):
        assert a.find(value) is None and value not in a and a.binary_search(value) is None
    assert (a.find(whole), a.index(whole * 2), a.binary_search(whole), True in a) == (1, 2, 1, True)
    assert (a.bracket(whole + 1), a.bracket(10**400)) == ((1, 2), (2, None))
    assert a.bracket(-(10**400)) == (None, 0)


def test_integers_are_searched_for_exactly_among_complex_numbers() -> None:
    a = array([2**24, 2**24 + 2j], ts.complex64)
    assert (a.find(2**24), a.find(2**24 + 1), a.find(2**24 + 2j)) == (0, None, 1)


def test_floats_are_rounded_before_they_are_searched_for() -> None:
    a = array([0.1, 0.5], ts.float32)
    for value in (0.1, 0.1000000001, np.float32(0.1), np.float64(0.1)):
        assert (a.find(value), a.index(value), a.binary_search(value)) == (0, 0, 0)  # type: ignore[arg-type]
        assert value in a
    assert a.find(0.10001) is None and array([0.1], ts.float64).find(0.1000000001) is None


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_searches_take_no_room_in_the_scope(dtype: ts.DType) -> None:
    a = array([False, True], dtype)
    pool = ts.memory.Pool(64, 1)
    with ts.memory.use(pool):
        full = ts.ones(2)
        assert (a.find(True), a.index(1), 1.0 in a) == (1, 1, True)
        if not dtype.is_complex:
            assert (a.binary_search(1.0), a.bracket(1)) == (1, (1, 1))
            assert a.bracket(0.5) in {(0, 1), (0, 0)}
        assert pool.free == 0 and full.shape == (2,)


def test_equality_with_and_without_tolerance() -> None:
    a, b = array([1.0, 2.0], ts.float64), array([1.0, 2.001], ts.float64)
    assert a == a.copy() and a != b and not a.equals(b)
    assert a.equals(b, atol=0.01) and a.equals(b, rtol=0.001) and not a.equals(b, atol=1e-4)
    assert a != array([1.0], ts.float64) and a != array([1.0, 2.0], ts.float32)
    assert a != [1.0, 2.0]
    assert not array([NAN], ts.float32).equals(array([NAN], ts.float32))
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)


def test_extremes_and_sums() -> None:
    a = array([3, 1, 2], ts.int8)
    assert (a.min(), a.max(), a.sum()) == (1, 3, 6)
    rows = array([[1.5, 2], [0, 4]], ts.float32, item_shape=(2,))
    assert (rows.min(), rows.max(), rows.sum()) == (0.0, 4.0, 7.5)


def test_tensors_are_sorted_and_reversed_flat_in_place() -> None:
    x = ts.tensor([[3.0, NAN, 1.0], [0.0, 2.0, -1.0]])
    turned = x.T
    assert turned.flat_sort_(descending=True) is turned
    assert repr(turned.tolist()) == "[[3.0, 2.0], [1.0, 0.0], [-1.0, nan]]"
    assert turned.flat_reverse_() is turned
    assert repr(x.tolist()) == "[[nan, 0.0, 2.0], [-1.0, 1.0, 3.0]]"
    for function in (ts.flat_sort, ts.flat_reverse, ts.Tensor.flat_sort, ts.Tensor.flat_reverse):
        assert "one flat line" in (function.__doc__ or "")
