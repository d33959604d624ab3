"""Memory shared with NumPy and the buffer protocol: nothing is copied, and nothing dangles."""

from __future__ import annotations

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
from tessella import _core, nn
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


def test_elements_that_share_memory_are_exported_read_only() -> None:
    x = ts.tensor([1.0, 2.0])
    for view in (x.broadcast_to(3, 2), ts.arange(5.0).unfold(0, 3, 1)):
        array = view.numpy()
        assert array.tolist() == view.tolist() and not array.flags.writeable
        assert memoryview(view).readonly
    array = x.broadcast_to(3, 2).numpy()
    x[0] = 5.0
    assert array[2, 0] == 5.0


def test_memory_of_numpy_that_two_tensors_share_is_written_through_a_copy() -> None:
    array = np.arange(5.0)
    x, turned = ts.from_numpy(array), ts.from_numpy(array[::-1])
    x[:] = turned  # another buffer over the same memory
    assert array.tolist() == [4.0, 3.0, 2.0, 1.0, 0.0]
    x.copy_(turned)
    assert array.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    x += turned
    assert array.tolist() == [4.0] * 5
    for shifted in (array[1:], array[:-1]):
        array[:] = [1.0, 2.0, 3.0, 4.0, 5.0]
        target, other = ts.from_numpy(array[1:4]), ts.from_numpy(shifted[:3])
        wanted = (target + other).tolist()
        target += other
        assert target.tolist() == wanted
    square = np.array([[1.0, 1.0], [0.0, 1.0]])
    product, other = ts.from_numpy(square), ts.from_numpy(square)
    ts.matmul_into(product, other, other)
    assert square.tolist() == [[1.0, 2.0], [0.0, 1.0]]


# --- memory that may not be written ---------------------------------------------------------------


def frozen(*shape: int) -> Array:
    """Give zeros that NumPy does not let anybody write."""
    array = np.zeros(shape, np.float32)
    array.flags.writeable = False
    return array


def test_read_only_arrays_stay_read_only() -> None:
    x = ts.from_numpy(frozen(3))
    assert x.is_readonly and not x.numpy().flags.writeable
    assert memoryview(x).readonly and not (x + 1).is_readonly
    assert x[1:].is_readonly and x.detach().is_readonly and not x.clone().is_readonly


def put(x: ts.Tensor, key: Any) -> None:
    """Assign zero."""
    x[key] = 0


WRITES: dict[str, Callable[[ts.Tensor], Any]] = {
    "a number at a place": lambda x: put(x, (0, 0)),
    "a slice": lambda x: put(x, slice(None)),
    "a mask": lambda x: put(x, x == 0),
    "an index": lambda x: put(x, [1, 0]),
    "through a view": lambda x: put(x[1:].T, 0),
    "in place": lambda x: x.__iadd__(1),
    "in place by a tensor": lambda x: x.__imul__(x),
    "fill_": lambda x: x.fill_(1),
    "copy_": lambda x: x.copy_(ts.zeros(2, 2)),
    "matmul_into": lambda x: ts.matmul_into(x, ts.ones(2, 2), ts.ones(2, 2)),
}


@pytest.mark.parametrize("name", WRITES)
def test_every_write_to_read_only_memory_is_refused(name: str) -> None:
    array = frozen(2, 2)
    with pytest.raises(ValueError, match="is read-only") as caught:
        WRITES[name](ts.from_numpy(array))
    assert isinstance(caught.value, ts.errors.TessellaError)
    assert "hint: write to a copy" in str(caught.value) and not array.any()


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


def test_what_has_no_memory_or_no_format_is_not_exported() -> None:
    half, leaf = ts.zeros(2, dtype=ts.bfloat16), ts.zeros(2, requires_grad=True)
    virtual = _core.empty_virtual((2,), ts.float32.id)
    for x, text in (
        (half, "bfloat16 has no format in the buffer protocol"),
        (leaf, "x requires gradients"),
        (virtual, "a virtual tensor has no memory"),
    ):
        with pytest.raises(BufferError, match=text):
            memoryview(x)
    with pytest.raises(ts.errors.DTypeMismatch, match="NumPy has no bfloat16") as found:
        half.numpy()
    assert "x.astype(ts.float32).numpy() converts" in str(found.value)
    assert "x.view(ts.uint16).numpy() shares the bits" in str(found.value)
    with pytest.raises(ts.errors.IllegalState, match="NumPy would not record them") as caught:
        leaf.numpy()
    assert "x.detach().numpy()" in str(caught.value)
    with pytest.raises(ts.errors.IllegalState, match="a virtual tensor has no values"):
        virtual.numpy()


@pytest.mark.parametrize("read", [np.asarray, np.array, lambda x: np.add(np.asarray(x), 1)])
def test_numpy_asks_and_gets_the_reason(read: Callable[[Any], Any]) -> None:
    """NumPy ignores what the buffer protocol raises, and would read element by element."""
    with pytest.raises(ts.errors.IllegalState, match="NumPy would not record them"):
        read(ts.zeros(2, requires_grad=True))
    with pytest.raises(ts.errors.DTypeMismatch, match="NumPy has no bfloat16"):
        read(ts.zeros(2, dtype=ts.bfloat16))


def test_bfloat16_is_exchanged_as_its_bits() -> None:
    x = ts.tensor([1.0, -2.5], dtype=ts.bfloat16)
    bits = x.view(ts.uint16).numpy()
    assert bits.ctypes.data == x.data_ptr and bits.tolist() == [0x3F80, 0xC020]
    back = ts.from_numpy(bits).view(ts.bfloat16)
    assert back.tolist() == [1.0, -2.5] and back.data_ptr == x.data_ptr


# --- what cannot be shared ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (
            np.zeros(2, ">f8"),
            "a copy is needed: its bytes are in the order of another kind of machine",
        ),
        (np.zeros(2, "M8[s]"), "the array's dtype is datetime64[s], which no tensor has"),
        (np.array(["a", "b"]), "the array's dtype is <U1, which no tensor has"),
        (np.array([None, 1]), "the array's dtype is object, which no tensor has"),
        (
            np.zeros(4, [("a", "i1"), ("b", "f4")])["b"],
            "a copy is needed: its strides are not multiples of the item size",
        ),
        ([1, 2], "array must be a NumPy array, got list"),
        (None, "array must be a NumPy array, got NoneType"),
    ],
    ids=["byte order", "dates", "text", "objects", "fields", "list", "None"],
)
def test_what_cannot_be_shared_is_refused(array: Any, text: str) -> None:
    with pytest.raises(ts.errors.TessellaError, match="from_numpy: ") as caught:
        ts.from_numpy(array)
    assert text in str(caught.value)


def off_alignment(dtype: str, count: int = 5) -> Array:
    """Give an array one byte off."""
    size = np.dtype(dtype).itemsize
    array = np.zeros(count * size + 1, np.uint8)[1:].view(dtype)
    array[:] = np.arange(count)
    return array


@pytest.mark.parametrize("dtype", ["int16", "float32", "float64", "complex128"])
def test_memory_off_its_alignment_is_copied_or_refused(dtype: str) -> None:
    array = off_alignment(dtype)
    for refused in (ts.from_numpy, lambda a: ts.asarray(a, copy=False)):
        with pytest.raises(ValueError, match="a copy is needed: its memory is not aligned"):
            refused(array)
    x = ts.asarray(array[::-2])
    assert x.tolist() == [4, 2, 0] and x.data_ptr % x.itemsize == 0
    assert (ts.tensor(array) + 1).tolist() == [1, 2, 3, 4, 5]


def test_fields_of_records_are_copied_or_refused() -> None:
    field = np.array([(1, 2.5), (3, 4.5)], [("a", "i1"), ("b", "f4")])["b"]
    assert ts.asarray(field).tolist() == [2.5, 4.5]
    aligned = np.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("b", "f4")])["b"]
    shared = ts.from_numpy(aligned)
    assert shared.data_ptr == aligned.ctypes.data and shared.strides == (2,)


def test_complex_numbers_need_the_alignment_of_their_parts_only() -> None:
    array = np.zeros(9, np.float64)[1:].view(np.complex128)
    assert ts.from_numpy(array).data_ptr == array.ctypes.data


def test_masked_arrays_do_not_lose_their_masks() -> None:
    for function in (ts.from_numpy, ts.asarray, ts.tensor):
        with pytest.raises(BufferError, match=r"would lose its mask(.|\n)*a\.filled\(value\)"):
            function(np.ma.masked_array([1.0, 2.0], [True, False]))


def test_bools_with_other_bytes_than_0_and_1_are_true() -> None:
    odd = np.array([0, 1, 2, 255], np.uint8).view(bool)
    x = ts.from_numpy(odd)
    assert x.tolist() == [False, True, True, True]
    assert x.nonzero()[0].tolist() == [1, 2, 3]
    assert ts.arange(4)[x].tolist() == [1, 2, 3]
    assert ts.where(x, 1, 0).tolist() == [0, 1, 1, 1]
    assert x.any().item() and not x.all().item()


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
        with pytest.raises(ts.errors.ArgumentError, match=r"ts\.asarray"):
            call()
    assert (x + number).tolist() == [3.0] * 3 == (number + x).tolist()
    assert np.asarray(x).tolist() == [1.0] * 3


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes_survive_pickling(dtype: DType) -> None:
    assert pickle.loads(pickle.dumps(dtype)) is dtype


@pytest.mark.parametrize("share", [np.asarray, memoryview], ids=["numpy", "memoryview"])
def test_what_is_shared_outlives_the_tensors_move_to_other_memory(
    share: Callable[[ts.Tensor], Any],
) -> None:
    module = nn.BatchNorm1d(8)
    mean = module.running_mean
    assert mean is not None
    shared = share(mean)
    module.to("float64")
    others = [ts.full((8,), 7.0) for _ in range(64)]  # one of them takes memory that is free
    assert shared.tolist() == [0.0] * 8
    shared[0] = -1
    assert all(x.tolist() == [7.0] * 8 for x in others)
    assert mean.dtype is ts.float64 and mean.tolist() == [0.0] * 8
    live = _core.memory_counts()[0]
    del shared
    assert _core.memory_counts()[0] == live - 32
