"""x.view(dtype): the same bits as another dtype, with NumPy's rules for items of another size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts
from tessella import _core
from tessella.dtypes import DTYPES, DType

NUMBERS = [dtype for dtype in DTYPES if dtype is not ts.bool]
NUMPY = [dtype for dtype in NUMBERS if dtype is not ts.bfloat16]


@pytest.mark.parametrize("to", NUMPY, ids=str)
@pytest.mark.parametrize("dtype", [*NUMPY, ts.bool], ids=str)
def test_bits_are_those_of_numpy(dtype: DType, to: DType) -> None:
    array: Any = np.arange(96, dtype=np.uint8).view("u1" if dtype is ts.bool else dtype.name)
    array = (array % 2).astype(bool) if dtype is ts.bool else array
    array = array.reshape(3, -1)
    x = ts.from_numpy(array)
    found = x.view(to)
    assert found.dtype is to and found.data_ptr == x.data_ptr and found.strides[-1] == 1
    assert found.numpy().tobytes() == array.view(to.name).tobytes()
    assert found.shape == array.view(to.name).shape


@given(st.data())
def test_layouts_allow_what_numpy_allows(data: st.DataObject) -> None:
    array = np.arange(256, dtype=np.int16).reshape(4, 8, 8)
    bound, step = st.none() | st.integers(-8, 8), st.sampled_from([1, 2, -1, 4])
    key = tuple(slice(data.draw(bound), data.draw(bound), data.draw(step)) for _ in range(3))
    part = array[key]
    x, to = ts.from_numpy(array)[key], data.draw(st.sampled_from(NUMPY))
    try:
        expected = part.view(to.name)
    except ValueError:
        with pytest.raises(ts.errors.ShapeError, match="cannot be seen as items of"):
            x.view(to)
        return
    try:
        found = x.view(to)
    except ts.errors.ShapeError:
        # Strides count items: NumPy also takes views that begin or step within one.
        address = part.__array_interface__["data"][0]
        assert any(place % to.itemsize for place in (address, *part.strides[:-1]))
        return
    assert found.shape == expected.shape and found.numpy().tobytes() == expected.tobytes()


def test_bits_are_shared() -> None:
    x: Any = ts.tensor([1.0, -2.0])
    bits = x.view(ts.int32)
    bits[0] = 0x40400000
    assert x.tolist() == [3.0, -2.0] and x.version == bits.version == 1
    assert x.view(dtype="uint32").at(1) == 0xC0000000
    assert x.view(np.dtype("uint8")).shape == (8,) and x.view(np.uint16).shape == (4,)
    assert ts.zeros(2, 2).view(ts.complex64).shape == (2, 1)
    assert ts.zeros(3, dtype=ts.bfloat16).view(ts.uint16).dtype is ts.uint16
    assert ts.ones(2, dtype=ts.bool).view(ts.uint8).tolist() == [1, 1]
    assert ts.tensor(1.0).view(ts.int32).item() == 0x3F800000


def test_the_own_dtype_and_shapes_are_views_as_before() -> None:
    x, four = ts.ones(2, 3, requires_grad=True), np.int64(4)
    assert x.view(ts.float32).shape == (2, 3) and x.view(ts.float32).grad_fn is not None
    assert x.view(3, 2).shape == x.view((3, 2)).shape == x.view(3, -1).shape == (3, 2)
    assert x.T.view(ts.float32).strides == (1, 3)
    assert ts.ones(4).view(four).shape == (4,)  # type: ignore[call-overload]


@pytest.mark.parametrize("shape", [(0,), (0, 4), (2, 0, 4)])
def test_empty_tensors_change_their_last_axis(shape: tuple[int, ...]) -> None:
    x = ts.zeros(shape)
    assert x.view(ts.uint8).shape == (*shape[:-1], 4 * shape[-1])
    assert x.view(ts.float64).shape == (*shape[:-1], shape[-1] // 2)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ts.zeros(3).view(ts.float64), ValueError, "does not divide into whole items"),
        (lambda: ts.tensor(1.0).view(ts.uint8), ValueError, "a 0-d tensor has no axis"),
        (lambda: ts.zeros(2, 4).T.view(ts.uint8), ValueError, "do not lie side by side"),
        (lambda: ts.zeros(8)[::2].view(ts.float64), ValueError, "do not lie side by side"),
        (lambda: ts.zeros(9)[1:].view(ts.float64), ValueError, "do not lie side by side"),
        (lambda: ts.zeros(2, 5)[:, :4].view(ts.float64), ValueError, "do not lie side by side"),
        (lambda: ts.zeros(2).view(ts.bool), TypeError, "need not be those of bools"),
        (lambda: ts.zeros(2, requires_grad=True).view(ts.int32), RuntimeError, "have none"),
        (lambda: ts.zeros(2).view((2,), ts.int32), ValueError, "one of the two"),
        (lambda: ts.zeros(2).view(), ValueError, "one of the two"),
        (lambda: ts.zeros(2).view("float33"), TypeError, "must be a Tessella dtype"),
    ],
)
def test_what_cannot_be_seen_says_why(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        call()
    assert isinstance(caught.value, ts.errors.TessellaError)
    assert str(caught.value).startswith("view: ") and "  hint: " in str(caught.value)


def test_foreign_memory_must_be_aligned_for_the_new_dtype() -> None:
    raw = np.zeros(9, np.uint8)
    x = ts.from_numpy(raw[1:] if raw.ctypes.data % 8 == 0 else raw[:8])
    with pytest.raises(ValueError, match="the memory is not aligned for float64"):
        x.view(ts.float64)
    assert x.clone().view(ts.float64).item() == 0.0


def test_virtual_tensors_and_no_grad_are_seen_too() -> None:
    virtual = _core.empty_virtual((2, 4), ts.float32.id)
    assert virtual.view(ts.float64).shape == (2, 2) and virtual.view(ts.float64).is_virtual
    _core.set_grad_enabled(False)
    try:
        assert ts.zeros(2, requires_grad=True).view(ts.int32).shape == (2,)
    finally:
        _core.set_grad_enabled(True)
