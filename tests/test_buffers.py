"""The buffer protocol: tensors as buffers, and any buffer as a tensor. NumPy: test_exchange.py."""

from __future__ import annotations

import array as arrays
import ctypes
import io
import mmap
from typing import Any

import numpy as np
import pytest

import tessella as ts
from tessella import _core
from tessella.dtypes import DType

WRITABLE, C_CONTIGUOUS, F_CONTIGUOUS = 0x01, 0x38, 0x58  # requests of the protocol


def request(x: ts.Tensor, flags: int) -> None:
    """Ask for a buffer as C code does, and give it back."""
    view = ctypes.create_string_buffer(128)  # more than a Py_buffer
    ask = ctypes.pythonapi.PyObject_GetBuffer
    ask.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
    ask(x, view, flags)
    ctypes.pythonapi.PyBuffer_Release(view)


# --- tensors as buffers ---------------------------------------------------------------------------


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


@pytest.mark.parametrize("x", [ts.ones(2, 3), ts.ones(2, 3).T, ts.ones(4, 4)[::2, ::2]])
def test_requests_for_contiguous_memory_are_answered_by_the_layout(x: ts.Tensor) -> None:
    assert memoryview(x).contiguous == (x.is_contiguous or x.T.is_contiguous)
    for flags, is_given in ((C_CONTIGUOUS, x.is_contiguous), (F_CONTIGUOUS, x.T.is_contiguous)):
        if is_given:
            request(x, flags)
        else:
            with pytest.raises(BufferError, match="x is not contiguous"):
                request(x, flags)


def test_writable_buffers_of_read_only_tensors_are_refused() -> None:
    x = ts.asarray(b"abcd")
    with pytest.raises(BufferError, match="x is read-only"):
        request(x, WRITABLE)
    with pytest.raises(TypeError, match="read-write bytes-like object"):
        io.BytesIO(b"wxyz").readinto(x)
    assert bytes(x) == b"abcd"
    request(x.clone(), WRITABLE)


def test_files_are_read_into_tensors() -> None:
    x = ts.zeros(2, 2, dtype=ts.uint8)
    assert io.BytesIO(b"wxyz").readinto(x) == 4 and bytes(x) == b"wxyz"


# --- any object with a buffer ---------------------------------------------------------------------


def matrix_of_ctypes() -> Any:
    """Give a 2 x 3 array of C integers."""
    row = ctypes.c_int32 * 3
    return (row * 2)(row(1, 2, 3), row(4, 5, 6))


BUFFERS: dict[str, tuple[Any, DType, Any, bool]] = {
    "bytes": (b"ab", ts.uint8, [97, 98], True),
    "bytearray": (bytearray(b"ab"), ts.uint8, [97, 98], False),
    "array of doubles": (arrays.array("d", [1.5, 2.5]), ts.float64, [1.5, 2.5], False),
    "array of long": (arrays.array("l", [-1, 2]), ts.int64, [-1, 2], False),
    "array of long long": (arrays.array("q", [-1, 2]), ts.int64, [-1, 2], False),
    "array of unsigned": (arrays.array("H", [1, 65535]), ts.uint16, [1, 65535], False),
    "memoryview": (memoryview(bytearray(b"abcd"))[::-2], ts.uint8, [100, 98], False),
    "cast": (memoryview(bytes(8)).cast("f", (1, 2)), ts.float32, [[0.0, 0.0]], True),
    "bools": (memoryview(b"\1\0").cast("?"), ts.bool, [True, False], True),
    "ctypes": (matrix_of_ctypes(), ts.int32, [[1, 2, 3], [4, 5, 6]], False),
    "C number": (ctypes.c_double(2.5), ts.float64, 2.5, False),
    "nothing": (b"", ts.uint8, [], False),
}


@pytest.mark.parametrize("name", BUFFERS)
def test_any_buffer_is_taken_with_its_dtype_and_its_right_to_write(name: str) -> None:
    source, dtype, values, is_readonly = BUFFERS[name]
    x = ts.asarray(source)
    assert (x.dtype, x.tolist(), x.is_readonly) == (dtype, values, is_readonly)
    if not is_readonly and x.size:
        x.fill_(7)
        assert x.tolist() == np.asarray(source).tolist()


def test_a_mapped_file_is_a_tensor(tmp_path: Any) -> None:
    path = tmp_path / "numbers"
    path.write_bytes(np.arange(4, dtype="float32").tobytes())
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        x = ts.asarray(mapped).view(ts.float32)
        x[1] = 9.0
        with pytest.raises(BufferError, match="exported pointers exist"):
            mapped.close()
        del x
        mapped.flush()
    assert np.fromfile(path, "float32").tolist() == [0.0, 9.0, 2.0, 3.0]


def test_a_bytearray_cannot_be_resized_while_a_tensor_looks_at_it() -> None:
    data = bytearray(b"abc")
    x = ts.asarray(data)
    with pytest.raises(BufferError):
        data.append(1)
    del x
    data.append(1)


class Pair(ctypes.Structure):
    """A record of C."""

    _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_int)]


NO_DTYPE: dict[str, Any] = {
    "characters": memoryview(b"ab").cast("c"),
    "pointers": memoryview(bytes(8)).cast("P"),
    "text": np.array(["ab"]),
    "bytes": np.array([b"ab"]),
    "nothing": np.zeros(2, "V4"),
    "records": np.zeros(2, [("a", "i4"), ("b", "f4")]),
    "C records": (Pair * 2)(),
    "C pointers": (ctypes.c_void_p * 2)(),
    "long doubles": np.zeros(2, "g"),
    "complex long doubles": np.zeros(2, "G"),
    "objects": np.array([None]),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_DTYPE)
def test_items_of_no_dtype_are_refused(name: str) -> None:
    for function in (ts.asarray, ts.tensor):
        with pytest.raises(BufferError, match=r"are of no dtype|dtype is .*, which no tensor has"):
            function(NO_DTYPE[name])
    with pytest.raises(BufferError, match=r"items of format .* are of no dtype"):
        _core.from_buffer(NO_DTYPE[name], True)


SWAPPED = {
    "NumPy": np.array([1, -2], ">i4"),
    "NumPy's complex": np.array([1 + 2j, -3j], ">c8"),
    "NumPy's strided": np.arange(12, dtype=">f8").reshape(3, 4).T[::-2],
    "C": (ctypes.c_int16.__ctype_be__ * 2)(1, -2),
}


@pytest.mark.parametrize("name", SWAPPED)
def test_other_byte_orders_are_converted_by_a_copy(name: str) -> None:
    source = SWAPPED[name]
    assert ts.asarray(source).tolist() == np.asarray(source).tolist()
    with pytest.raises(ValueError, match="bytes are in the order of another kind of machine"):
        ts.asarray(source, copy=False)
