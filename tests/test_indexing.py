"""Indexing against NumPy: random keys of every kind, read and assigned, on tensors of any layout.

The examples that docs/capabilities.md names are in test_capabilities.py.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import tessella as ts

Array = np.ndarray[Any, Any]
Key = tuple[Any, ...]


@st.composite
def tensors(draw: st.DrawFn, min_ndim: int = 0, min_size: int = 0) -> tuple[ts.Tensor, Array]:
    """Draw a tensor that counts its elements, of a random layout, and its NumPy twin."""
    shape = draw(st.lists(st.integers(min_size, 4), min_size=min_ndim, max_size=4))
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from([1, 1, 2, -1, -2])) for _ in shape]
    whole = np.arange(int(np.prod([n * abs(s) for n, s in zip(shape, steps, strict=True)])))
    spread = whole.reshape([n * abs(s) for n, s in zip(shape, steps, strict=True)])
    twin = spread[tuple(slice(None, None, s) for s in steps)].transpose(order)
    x = ts.tensor(spread)[tuple(slice(None, None, s) for s in steps)].permute(tuple(order))
    return x, np.array(twin)


def index_arrays(size: int, shape: tuple[int, ...]) -> st.SearchStrategy[Array]:
    """Draw integers that index an axis, from either end."""
    count = int(np.prod(shape))
    values = st.integers(-size, size - 1) if size else st.nothing()
    listed = st.lists(values, min_size=count, max_size=count) if count else st.just([])
    return listed.map(lambda v: np.array(v, dtype=np.int64).reshape(shape))


def masks(shape: tuple[int, ...]) -> st.SearchStrategy[Array]:
    """Draw a mask of a shape."""
    count = int(np.prod(shape))
    return st.lists(st.booleans(), min_size=count, max_size=count).map(
        lambda v: np.array(v, dtype=bool).reshape(shape)
    )


bounds = st.none() | st.integers(-6, 6)
slices = st.builds(slice, bounds, bounds, st.none() | st.integers(-3, 3).filter(bool))


@st.composite
def basic_keys(draw: st.DrawFn, shape: tuple[int, ...]) -> Key:
    """Draw a key of integers, slices, `...` and None that fits a shape."""
    items: list[Any] = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        items.append(draw(st.integers(-size, size - 1) if size and draw(st.booleans()) else slices))
    return draw(decorated(items, len(shape)))


@st.composite
def decorated(draw: st.DrawFn, items: list[Any], ndim: int) -> Key:
    """Put `...` at the end or before the last axes, and new axes anywhere."""
    used = sum(item.ndim if getattr(item, "dtype", None) == np.dtype(bool) else 1 for item in items)
    items = list(items)
    if used == ndim and draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), ...)
    elif draw(st.booleans()):
        items.append(...)
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        items.insert(draw(st.integers(0, len(items))), None)
    return tuple(items)


@st.composite
def advanced_keys(draw: st.DrawFn, shape: tuple[int, ...]) -> Key:
    """Draw a key with index arrays of one broadcast shape, and masks, beside the basic items."""
    index_shape = draw(st.sampled_from([(), (1,), (3,), (2, 3), (0,), (2, 1)]))
    items: list[Any] = []
    axis, used = 0, draw(st.integers(0, len(shape)))
    while axis < used:
        kind = draw(st.sampled_from(["array", "array", "slice", "integer", "mask"]))
        if kind == "mask":
            rank = draw(st.integers(0, min(2, used - axis)))
            items.append(draw(masks(shape[axis : axis + rank])))
            axis += rank
            continue
        items.append(draw(one_axis(kind, shape[axis], index_shape)))
        axis += 1
    return draw(decorated(items, len(shape)))


@st.composite
def one_axis(draw: st.DrawFn, kind: str, size: int, index_shape: tuple[int, ...]) -> Any:
    """Draw an item that takes one axis."""
    if kind == "slice" or (kind == "integer" and not size):
        return draw(slices)
    if kind == "integer":
        return draw(st.integers(-size, size - 1))
    shape = index_shape[draw(st.integers(0, len(index_shape))) :]
    return draw(index_arrays(size, shape if size else (0,)))


def any_key(shape: tuple[int, ...]) -> st.SearchStrategy[Key]:
    return basic_keys(shape) | advanced_keys(shape)


def ours(key: Key, kind: str) -> Key:
    """Give a key with its arrays as tensors, lists or as they are."""

    def convert(item: Any) -> Any:
        if not isinstance(item, np.ndarray) or kind == "arrays":
            return item
        if kind == "lists" and item.ndim and item.size:
            return item.tolist()
        return ts.tensor(item)

    return tuple(map(convert, key))


KINDS = st.sampled_from(["tensors", "lists", "arrays"])


def outcome(call: Any) -> Array | None:
    """Give the result, or None where NumPy refuses the key."""
    try:
        return np.asarray(call())
    except (IndexError, ValueError):
        return None


# --- reading --------------------------------------------------------------------------------------


@given(st.data())
def test_basic_keys_give_the_views_of_numpy(data: st.DataObject) -> None:
    x, twin = data.draw(tensors())
    key = data.draw(basic_keys(x.shape))
    found = x[key[0]] if len(key) == 1 and data.draw(st.booleans()) else x[key]
    assert found.shape == twin[key].shape and found.tolist() == twin[key].tolist()
    if found.size:
        first = (0,) * found.ndim
        assert found.data_ptr == x.data_ptr + 8 * (found.flat_index(*first) - x.offset)


@given(st.data())
def test_keys_of_any_kind_read_what_numpy_reads(data: st.DataObject) -> None:
    x, twin = data.draw(tensors())
    key, kind = data.draw(advanced_keys(x.shape)), data.draw(KINDS)
    expected = outcome(lambda: twin[key])
    if expected is None:
        with pytest.raises(ts.errors.TessellaError, match="getitem: "):
            x[ours(key, kind)]
        return
    found = x[ours(key, kind)]
    assert found.shape == expected.shape and found.tolist() == expected.tolist()


@given(st.data())
def test_results_of_index_arrays_are_copies(data: st.DataObject) -> None:
    x, twin = data.draw(tensors(min_ndim=1, min_size=1))
    index = data.draw(index_arrays(x.shape[0], (2,)))
    found = x[ts.tensor(index)]
    found.fill_(-1)
    assert x.tolist() == twin.tolist()


@given(
    st.data(), st.sampled_from(["int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64"])
)
def test_every_integer_dtype_indexes(data: st.DataObject, dtype: str) -> None:
    x, twin = data.draw(tensors(min_ndim=1, min_size=1))
    index = data.draw(index_arrays(x.shape[0], (3,))) % x.shape[0]
    assert x[ts.tensor(index.astype(dtype))].tolist() == twin[index.astype(dtype)].tolist()


@given(st.data())
def test_take_is_that_of_numpy(data: st.DataObject) -> None:
    x, twin = data.draw(tensors(min_ndim=1, min_size=1))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    index = data.draw(index_arrays(x.shape[axis], (2, 2)))
    assert ts.take(x, ts.tensor(index), axis).tolist() == np.take(twin, index, axis).tolist()


@given(st.data())
def test_take_along_axis_is_that_of_numpy(data: st.DataObject) -> None:
    x, twin = data.draw(tensors(min_ndim=1, min_size=1))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    shape = list(x.shape)
    shape[axis] = 3
    index = data.draw(index_arrays(x.shape[axis], tuple(shape)))
    expected = np.take_along_axis(twin, index, axis)
    assert ts.take_along_axis(x, ts.tensor(index), axis).tolist() == expected.tolist()


@given(st.data())
def test_nonzero_is_that_of_numpy(data: st.DataObject) -> None:
    x, twin = data.draw(tensors(min_ndim=1))
    found, expected = ts.nonzero(x % 3), np.nonzero(twin % 3)
    assert [i.tolist() for i in found] == [i.tolist() for i in expected]


# --- assigning ------------------------------------------------------------------------------------


@st.composite
def values_for(draw: st.DrawFn, shape: tuple[int, ...]) -> Array:
    """Draw integers that broadcast to a shape."""
    cut = draw(st.integers(0, len(shape)))
    part = tuple(1 if draw(st.sampled_from([0, 0, 1])) else n for n in shape[cut:])
    return np.arange(100, 100 + int(np.prod(part))).reshape(part)


def repeats(key: Key, twin: Array) -> bool:
    """Tell whether a key names an element twice."""
    places = np.arange(twin.size).reshape(twin.shape)[key]
    return bool(places.size != np.unique(places).size)


@given(st.data())
def test_assignment_writes_what_numpy_writes(data: st.DataObject) -> None:
    x, twin = data.draw(tensors())
    key, kind = data.draw(any_key(x.shape)), data.draw(KINDS)
    place = outcome(lambda: twin[key])
    if place is None:
        with pytest.raises(ts.errors.TessellaError, match="setitem: "):
            x[ours(key, kind)] = 0
        assert x.tolist() == twin.tolist()
        return
    value = data.draw(values_for(place.shape))
    # NumPy does not say which of several values stays; the test of repeated indices below does.
    assume(value.size == 1 or not repeats(key, twin))
    twin[key] = value
    x[ours(key, kind)] = ts.tensor(value) if data.draw(st.booleans()) else value
    assert x.tolist() == twin.tolist()


@given(st.data())
def test_the_last_of_repeated_indices_stays(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 5))
    index = data.draw(index_arrays(size, (12,)))
    x, expected = ts.zeros(size, dtype=ts.int64), [0] * size
    for value, place in enumerate(index.tolist(), 1):
        expected[place] = value
    x[ts.tensor(index)] = ts.arange(1, 13)
    assert x.tolist() == expected


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_the_last_of_many_repeated_indices_stays(threads: int) -> None:
    index = np.arange(600_000) * 7919 % 1000
    x = ts.zeros(1000, dtype=ts.int64)
    with ts.num_threads(threads):
        x[ts.tensor(index)] = ts.arange(600_000)
    last = np.zeros(1000, dtype=np.int64)
    last[index] = np.arange(600_000)
    assert np.array_equal(x.numpy(), last)


@given(st.data())
def test_a_tensor_may_be_assigned_to_its_own_part(data: st.DataObject) -> None:
    x, twin = data.draw(tensors(min_ndim=1, min_size=1))
    target, source = data.draw(slices), data.draw(slices)
    try:
        new = np.broadcast_to(twin[source], twin[target].shape).copy()
    except ValueError:
        with pytest.raises(ts.errors.BroadcastError, match="setitem: "):
            x[target] = x[source]
        return
    twin[target] = new
    x[target] = x[source]
    assert x.tolist() == twin.tolist()


def test_overlapping_assignment_reads_before_it_writes() -> None:
    x = ts.arange(1000)
    x[1:] = x[:-1]
    assert x.tolist() == [0, *range(999)]
    x = ts.arange(1000)
    x[:-1] = x[1:]
    assert x.tolist() == [*range(1, 1000), 999]
    x = ts.arange(9).reshape(3, 3)
    x[:] = x.T
    assert x.tolist() == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]


def test_an_index_may_lie_in_the_tensor_that_it_writes() -> None:
    x = ts.tensor([2, 0, 1])
    x[x] = ts.tensor([10, 20, 30])
    assert x.tolist() == [20, 30, 10]
    x = ts.tensor([True, False, True])
    x[x] = False
    assert x.tolist() == [False, False, False]


# --- dtypes of what is assigned -------------------------------------------------------------------

ORDER = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
DTYPES = ["bool", "int8", "int64", "uint8", "float16", "float32", "float64", "complex64"]
FORMS: dict[str, Any] = {
    "slice": slice(1, 3),
    "integer": 1,
    "list": [0, 2],
    "mask": [True, False, True],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_assigned_values_are_converted_unless_their_kind_is_higher(
    target: str, source: str, form: str
) -> None:
    x, key = ts.zeros(3, dtype=target), FORMS[form]
    value = ts.ones((), dtype=source)
    if ORDER[np.dtype(source).kind] > ORDER[np.dtype(target).kind]:
        with pytest.raises(ts.errors.DTypeMismatch, match=f"is {source}, the target {target}"):
            x[key] = value
        assert x.tolist() == [0, 0, 0]
        return
    x[key] = value
    expected = np.zeros(3, dtype=target)
    expected[key] = 1
    assert x.dtype is ts.dtypes.as_dtype(target) and x.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("dtype", "value"), [("int8", 128), ("uint8", -1), ("int64", 1 << 63), ("int32", 0.5),
                         ("bool", 2), ("float32", 1j), ("int64", float("nan"))],
)  # fmt: skip
@pytest.mark.parametrize("form", FORMS)
def test_numbers_that_do_not_fit_are_refused(form: str, dtype: str, value: Any) -> None:
    x = ts.zeros(3, dtype=dtype)
    with pytest.raises(ts.errors.InvalidArgument, match="does not fit " + dtype):
        x[FORMS[form]] = value
    assert x.tolist() == [0, 0, 0]


# --- errors ---------------------------------------------------------------------------------------

ERRORS: list[tuple[Any, type[Exception], str]] = [
    (3, IndexError, "index 3 is out of bounds for axis 0 of size 3"),
    (-4, IndexError, "index -4 is out of bounds for axis 0 of size 3"),
    ((0, 4), IndexError, "index 4 is out of bounds for axis 1 of size 4"),
    ([0, 3], IndexError, "index 3 is out of bounds for axis 0 of size 3"),
    ((slice(None), [0, -5]), IndexError, "index -5 is out of bounds for axis 1 of size 4"),
    ((0, 0, 0), IndexError, "3 indices for 2 axes"),
    (([0], [0], [0]), IndexError, "3 indices for 2 axes"),
    (([0, 1], [0, 1, 2]), ValueError, "do not broadcast"),
    ([True, False], IndexError, r"a mask of shape \(2,\) indexes axes of shape \(3,\)"),
    ((0, [True] * 3), IndexError, r"a mask of shape \(3,\) indexes axes of shape \(4,\)"),
    ((..., ...), IndexError, r"more than one \.\.\."),
    (slice(None, None, 0), ValueError, "slice step is 0"),
    (slice("a", None), TypeError, "start must be an integer or None, got str"),
    (slice(0, 1.0), TypeError, "stop must be an integer or None, got float"),
    (1.0, TypeError, "1.0 is no index"),
    ("x", TypeError, "'x' is no index"),
    ([0.5], TypeError, "an index tensor is float32"),
    (1 << 64, IndexError, "is out of bounds"),
    ({}, TypeError, "{} is no index"),
]


@pytest.mark.parametrize(("key", "base", "text"), ERRORS)
def test_keys_that_fit_nothing_say_what_is_wrong(
    key: Any, base: type[Exception], text: str
) -> None:
    x = ts.arange(12).reshape(3, 4)
    with pytest.raises(base, match="getitem: .*" + text) as reading:
        x[key]
    with pytest.raises(base, match="setitem: .*" + text) as writing:
        x[key] = 1
    for caught in (reading, writing):
        assert isinstance(caught.value, ts.errors.TessellaError)
        assert "int64 (3, 4)" in str(caught.value) and "test_indexing.py" in str(caught.value)
    assert x.tolist() == np.arange(12).reshape(3, 4).tolist()


def test_a_bad_index_among_many_changes_nothing() -> None:
    x, index = ts.zeros(100_000), ts.arange(100_000)
    index[-1] = 100_000
    with pytest.raises(IndexError, match="index 100000 is out of bounds for axis 0 of size 100000"):
        x[index] = 1.0
    assert x.sum().item() == 0.0


def test_elements_cannot_be_deleted() -> None:
    with pytest.raises(ts.errors.InvalidArgument, match="a tensor keeps its elements"):
        operator.delitem(ts.zeros(3), 0)  # type: ignore[call-overload]


@pytest.mark.parametrize("shape", [(0,), (0, 4), (3, 0), (0, 0)], ids=str)
def test_masks_without_elements_select_nothing(shape: tuple[int, ...]) -> None:
    x = ts.arange(24).reshape(3, 4, 2)
    found = x[ts.zeros(shape, dtype=ts.bool)]
    assert found.shape == (0, *x.shape[len(shape) :])
    before = x.tolist()
    x[ts.zeros(shape, dtype=ts.bool)] = 9
    assert x.tolist() == before


BESIDE_NOTHING: list[Callable[[], object]] = [
    lambda: ts.ones(0, 4)[:, ts.tensor([9])],
    lambda: ts.ones(4, 0)[ts.tensor([9])],
    lambda: ts.take(ts.ones(0, 4), ts.tensor([0, -9]), axis=1),
    lambda: ts.ones(4, 4, 3, 4)[ts.tensor([9]), :, 0, 4:4],
]


@pytest.mark.parametrize("read", BESIDE_NOTHING)
def test_indices_are_checked_where_there_is_nothing_to_read(read: Callable[[], object]) -> None:
    with pytest.raises(IndexError, match=r"index -?9 is out of bounds for axis [01] of size 4"):
        read()
