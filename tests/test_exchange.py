"""Memory shared with NumPy and the buffer protocol: nothing is copied, and nothing dangles."""

from __future__ import annotations

import array as arrays
import gc
import pickle
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts
from tessella import _core
from tessella.dtypes import DTYPES, DType

Array = np.ndarray[Any, Any]
SHARED = [dtype for dtype in DTYPES if dtype is not ts.bfloat16]


@pytest.mark.parametrize("dtype", SHARED, ids=str)
def test_every_dtype_is_shared_both_ways(dtype: DType) -> None:
    array: Array = np.arange(6).astype(dtype.name).reshape(2, 3)
    live = _core.memory_counts()[0]
    x = ts.from_numpy(array)
    assert x.dtype is dtype and x.shape == (2, 3) and x.data_ptr == array.ctypes.data
    array[1, 2] = 1
    assert x.at(1, 2) == 1
    x[0, 0] = True
    assert array[0, 0] == 1
    back = x.numpy()
    assert back.dtype == array.dtype and np.shares_memory(back, array)
    assert _core.memory_counts()[0] - live <= 64  # the header of a buffer, and no element


@given(st.data())
def test_any_layout_is_shared_as_it_is(data: st.DataObject) -> None:
    array: Array = np.arange(120, dtype=np.int32).reshape(4, 5, 6)
    bound, step = st.none() | st.integers(-6, 6), st.sampled_from([1, 2, -1, -3])
    key = tuple(slice(data.draw(bound), data.draw(bound), data.draw(step)) for _ in range(3))
    part = array[key].transpose(data.draw(st.permutations(range(3))))
    x = ts.from_numpy(part)
    assert x.shape == part.shape and x.tolist() == part.tolist()
    if part.size:
        assert x.data_ptr == part.__array_interface__["data"][0]
        x.fill_(-1)
        assert (part == -1).all() and (array == -1).sum() == part.size
    back = x.numpy()
    assert back.shape == part.shape and np.array_equal(back, part)


@given(st.data())
def test_views_are_exported_with_their_strides(data: st.DataObject) -> None:
    x = ts.arange(24, dtype=ts.float64).reshape(2, 3, 4)
    view = x.permute(tuple(data.draw(st.permutations(range(3))))).flip(data.draw(st.integers(0, 2)))
    array = view.numpy()
    assert array.strides == view.byte_strides and array.tolist() == view.tolist()
    assert array.__array_interface__["data"][0] == view.data_ptr
    array += 1
    assert x.sum().item() == 24 * 25 / 2


def test_a_broadcast_view_is_exported_read_only_or_whole() -> None:
    x = ts.tensor([1.0, 2.0])
    array = x.broadcast_to(3, 2).numpy()
    assert array.tolist() == [[1.0, 2.0]] * 3
    x[0] = 5.0
    assert array[2, 0] == 5.0


def test_read_only_arrays_stay_read_only() -> None:
    array = np.zeros(3)
    array.flags.writeable = False
    x = ts.from_numpy(array)
    assert x.is_readonly and not x.numpy().flags.writeable
    assert memoryview(x).readonly and not (x + 1).is_readonly
    with pytest.raises(ValueError, match="x is read-only"):
        x[0] = 1


# --- lifetimes ------------------------------------------------------------------------------------


def test_a_tensor_keeps_the_array_alive() -> None:
    class Owner(np.ndarray[Any, Any]):
        """An array that can be watched."""

    array = np.arange(1000).view(Owner)
    watch, x = weakref.ref(array), ts.from_numpy(array)
    view = x[10:20]
    del array, x
    gc.collect()
    assert watch() is not None and view.tolist() == list(range(10, 20))
    del view
    gc.collect()
    assert watch() is None


def test_an_array_keeps_the_memory_alive() -> None:
    x = ts.arange(1000)
    live = _core.memory_counts()[0]
    array = x.numpy()[500:]
    del x
    gc.collect()
    assert _core.memory_counts()[0] == live and array[0] == 500
    del array
    assert _core.memory_counts()[0] < live


def test_nothing_is_kept_after_the_exchange() -> None:
    array = np.zeros(10)
    before = sys.getrefcount(array)
    for _ in range(100):
        ts.from_numpy(array).numpy()
    assert sys.getrefcount(array) == before


# --- the buffer protocol --------------------------------------------------------------------------


def test_memoryviews_show_shape_strides_and_format() -> None:
    x = ts.zeros(2, 3, dtype=ts.int16)
    view = memoryview(x.T)
    assert (view.shape, view.strides, view.itemsize, view.format) == ((3, 2), (2, 6), 2, "h")
    view[1, 0] = 7
    assert x.at(0, 1) == 7


def test_buffers_that_need_contiguous_memory_get_it_or_an_error() -> None:
    x = ts.arange(4, dtype=ts.uint8)
    assert bytes(x) == b"\x00\x01\x02\x03" and arrays.array("B", bytes(x)).tolist() == [0, 1, 2, 3]
    assert bytes(x[::-1]) == b"\x03\x02\x01\x00"


def test_virtual_and_bfloat16_tensors_are_not_exported() -> None:
    with pytest.raises(ts.errors.DTypeMismatch, match="NumPy has no bfloat16"):
        ts.zeros(2, dtype=ts.bfloat16).numpy()
    with pytest.raises(ts.errors.IllegalState, match="NumPy would not record them"):
        ts.zeros(2, requires_grad=True).numpy()
    virtual = _core.empty_virtual((2,), ts.float32.id)
    with pytest.raises(ts.errors.IllegalState, match="a virtual tensor has no values"):
        virtual.numpy()


# --- what cannot be shared ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.zeros(2, ">f8"), "in the machine's byte order"),
        (np.zeros(2, "M8[s]"), "dtype must be a Tessella dtype"),
        (np.array(["a", "b"]), "dtype must be a Tessella dtype"),
        (np.array([None, 1]), "dtype must be a Tessella dtype"),
        (np.zeros(4, [("a", "i1"), ("b", "f4")])["b"], "multiples of the item size"),
        ([1, 2], "array must be a NumPy array, got list"),
        (None, "array must be a NumPy array, got NoneType"),
    ],
    ids=["byte order", "dates", "text", "objects", "fields", "list", "None"],
)
def test_what_cannot_be_shared_is_refused(array: Any, text: str) -> None:
    with pytest.raises(ts.errors.TessellaError, match="from_numpy: ") as caught:
        ts.from_numpy(array)
    assert text in str(caught.value)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "complex128"])
def test_an_array_off_its_alignment_is_refused(dtype: str) -> None:
    item = np.dtype(dtype)
    array = np.zeros(5 * item.itemsize + 1, dtype=np.uint8)[1:].view(item)
    array[:] = [1, 2, 3, 4, 5]
    for make in (ts.from_numpy, ts.tensor):
        with pytest.raises(ts.errors.InvalidArgument, match="from_numpy: the memory of") as caught:
            make(array)
        assert f"array is not aligned to {min(item.itemsize, 8)} bytes" in str(caught.value)
        assert "hint: use array.copy()" in str(caught.value)
    assert ts.from_numpy(array.copy()).tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "array", [np.float32(2.5), np.zeros((0, 3)), np.array(7), np.zeros((2, 0))]
)
def test_scalars_and_empty_arrays_become_tensors(array: Any) -> None:
    x = ts.from_numpy(array)
    assert x.shape == array.shape and x.tolist() == array.tolist()
    assert x.dtype.name == array.dtype.name


# --- NumPy beside tensors, and pickles ------------------------------------------------------------


def test_operators_with_arrays_say_how_to_convert() -> None:
    x: Any = ts.ones(3)
    array, number = np.ones(3), np.float32(2)
    calls: list[Callable[[], Any]] = [lambda: x + array, lambda: array + x, lambda: x @ array]
    for call in calls:
        with pytest.raises(ts.errors.ArgumentError, match=r"ts\.from_numpy"):
            call()
    assert (x + number).tolist() == [3.0] * 3 == (number + x).tolist()
    assert np.asarray(x).tolist() == [1.0] * 3


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes_survive_pickling(dtype: DType) -> None:
    assert pickle.loads(pickle.dumps(dtype)) is dtype
