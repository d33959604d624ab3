"""What goes into a DynamicArray: numbers of Python, scalars and arrays of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np
import pytest

import tessella as ts
from arrays import array, state
from tessella.dtypes import DTYPES

SCALARS = [np.bool_(True), np.int64(1), np.uint8(1), np.float16(1), np.float32(1), np.float64(1),
           np.complex64(1), np.complex128(1)]  # fmt: skip
PUTS: dict[str, Callable[[ts.DynamicArray, Any], Any]] = {
    "append": lambda a, x: a.append(x),
    "push_front": lambda a, x: a.push_front(x),
    "insert": lambda a, x: a.insert(1, x),
    "extend": lambda a, x: a.extend([x]),
    "extend by more": lambda a, x: a.extend([True, x]),
    "set": lambda a, x: a.set(0, x),
    "assign": lambda a, x: a.__setitem__(0, x),
    "assign a slice": lambda a, x: a.__setitem__(slice(1), [x]),
    "assign everywhere": lambda a, x: a.__setitem__(slice(1), x),
}


@pytest.mark.parametrize("room", [1, 9], ids=["full", "roomy"])
@pytest.mark.parametrize("scalar", SCALARS, ids=lambda x: str(x.dtype))
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_numpy_scalars_must_have_the_dtype(dtype: ts.DType, scalar: Any, room: int) -> None:
    for put in PUTS.values():
        a = array([False], dtype, capacity=room)
        before = state(a)
        for value in (scalar, np.asarray(scalar)):
            if scalar.dtype.name == dtype.name:
                put(array([False], dtype, capacity=room), value)
                continue
            with pytest.raises(ts.errors.DTypeMismatch):
                put(a, value)
            assert state(a) == before


def test_numpy_scalars_of_another_dtype_are_explained() -> None:
    a = array([1.0], ts.float32)
    text = "append: the item is float64, the array holds float32"
    with pytest.raises(ts.errors.DTypeMismatch, match=text) as caught:
        a.append(np.float64(0.1))
    assert "hint: give a Python number: x.item()" in str(caught.value)
    with pytest.raises(ts.errors.DTypeMismatch, match="the item is str32, the array holds"):
        a.append(np.str_("a"))
    a.append(np.float64(0.5).item())
    assert list(a) == [1.0, 0.5]


def test_what_derives_from_pythons_numbers_is_one() -> None:
    class Level(IntEnum):
        HIGH = 3

    class Length(float):
        pass

    a = array([Level.HIGH, Length(1.5)], ts.float32)
    a.append(Level.HIGH)
    a[0] = Length(2.5)
    assert list(a) == [2.5, 1.5, 3.0]
