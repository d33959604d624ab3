"""Questions about dtypes, the constants, and what the namespace tells about itself."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessella as ts
from tessella.dtypes import DTYPES, DType

NATIVE = [dtype for dtype in DTYPES if dtype is not ts.bfloat16]
FLOATS = [dtype for dtype in NATIVE if dtype.is_floating or dtype.is_complex]
INTEGERS = [dtype for dtype in DTYPES if dtype.is_integer]
KINDS = {
    "bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu",
    "real floating": "f", "complex floating": "c", "numeric": "iufc",
}  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_finfo_is_that_of_numpy(dtype: DType) -> None:
    want: Any = np.finfo(dtype.name)
    for each in (dtype, ts.ones(2, dtype=dtype), dtype.name):
        found = ts.finfo(each)
        assert (found.bits, found.dtype.name) == (want.bits, want.dtype.name)
        assert (found.eps, found.max, found.min) == (want.eps, want.max, want.min)
        assert found.smallest_normal == want.smallest_normal
        assert {type(value) for value in found[1:5]} == {float} and type(found.bits) is int


def test_finfo_of_bfloat16_is_what_its_numbers_do() -> None:
    found = ts.finfo(ts.bfloat16)
    one = ts.ones((), dtype=ts.bfloat16)
    assert one + found.eps > one and one + found.eps / 2 == one
    assert found.max < math.inf and ts.full((), found.max, dtype=ts.bfloat16).item() == found.max
    assert ts.full((), found.max * (1 + found.eps), dtype=ts.bfloat16).item() == math.inf
    assert (found.bits, found.min, found.smallest_normal) == (16, -found.max, 2.0**-126)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_iinfo_is_that_of_numpy(dtype: DType) -> None:
    want = np.iinfo(dtype.name)
    for each in (dtype, ts.ones(2, dtype=dtype)):
        assert ts.iinfo(each) == (want.bits, want.max, want.min, dtype)
        assert {type(value) for value in ts.iinfo(each)[:3]} == {int}


@pytest.mark.parametrize("dtype", NATIVE, ids=str)
def test_isdtype_knows_the_kinds(dtype: DType) -> None:
    for kind, letters in KINDS.items():
        assert ts.isdtype(dtype, kind) is (np.dtype(dtype.name).kind in letters)
    for other in DTYPES:
        assert ts.isdtype(dtype, other) is (dtype is other)
    assert ts.isdtype(dtype, ("bool", "numeric")) and not ts.isdtype(dtype, ())
    assert ts.isdtype(dtype, ("bool", dtype))


def test_bfloat16_is_a_real_float() -> None:
    assert ts.isdtype(ts.bfloat16, "real floating") and not ts.isdtype(ts.bfloat16, "integral")


@pytest.mark.parametrize("pair", list(itertools.product(DTYPES, DTYPES)), ids=str)
def test_result_type_is_what_an_operation_gives(pair: tuple[DType, DType]) -> None:
    x, y = (ts.ones((2,), dtype=dtype) for dtype in pair)
    try:
        want = ts.where(ts.tensor([True, False]), x, y).dtype
    except ts.errors.DTypeMismatch:
        with pytest.raises(ts.errors.DTypeMismatch, match=r"result_type: .* have no common dtype"):
            ts.result_type(*pair)
        assert not ts.can_cast(*pair)
        return
    assert ts.result_type(*pair) is ts.result_type(y, pair[0]) is ts.result_type(x, y) is want
    assert ts.can_cast(*pair) is ts.can_cast(x, pair[1]) is (want is pair[1])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_result_type_takes_numbers_by_their_kind(dtype: DType) -> None:
    for number in (True, 1, 1.0, 1j):
        where = ts.where(ts.tensor(True), ts.ones((), dtype=dtype), number)
        assert ts.result_type(number, dtype) is where.dtype


def test_result_type_does_not_depend_on_the_order() -> None:
    for group in itertools.permutations([ts.uint64, ts.int8, ts.float16, ts.bfloat16]):
        assert ts.result_type(*group) is ts.float32


def test_constants_are_python_numbers() -> None:
    assert (ts.e, ts.pi, ts.inf) == (math.e, math.pi, math.inf)
    assert math.isnan(ts.nan) and ts.newaxis is None
    assert {type(x) for x in (ts.e, ts.pi, ts.inf, ts.nan)} == {float}
    assert ts.ones(3)[ts.newaxis].shape == (1, 3)


def test_namespace_tells_what_it_offers() -> None:
    info = ts.__array_namespace_info__()
    assert ts.__array_api_version__ == "2025.12"
    assert info.default_device() in info.devices()
    assert info.capabilities() == {
        "boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64,
    }  # fmt: skip
    ts.zeros((1,) * info.capabilities()["max dimensions"])
    for device in (None, *info.devices()):
        assert info.default_dtypes(device=device) == {
            "real floating": ts.tensor(1.0).dtype, "complex floating": ts.tensor(1j).dtype,
            "integral": ts.tensor(1).dtype, "indexing": ts.argmax(ts.ones(2)).dtype,
        }  # fmt: skip


def test_namespace_tells_the_dtypes_of_the_standard() -> None:
    info = ts.__array_namespace_info__()
    standard = {dtype.name: dtype for dtype in DTYPES if dtype.name[-7:] != "float16"}
    assert info.dtypes() == info.dtypes(device="cpu") == standard
    for kind in KINDS:
        assert info.dtypes(kind=kind) == {
            name: dtype for name, dtype in standard.items() if ts.isdtype(dtype, kind)
        }
    assert set(info.dtypes(kind=("bool", "complex floating"))) == {
        "bool", "complex64", "complex128",
    }  # fmt: skip


ERRORS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "finfo": (lambda: ts.finfo(ts.int8), TypeError, "finfo: not defined for int8"),
    "iinfo": (lambda: ts.iinfo(ts.bool), TypeError, "iinfo: not defined for bool"),
    "type": (lambda: ts.finfo("x"), TypeError, "finfo: dtype must be a Tessella dtype"),
    "kind": (lambda: ts.isdtype(ts.int8, "int"), ValueError, "isdtype: kind is 'int'"),
    "no kind": (lambda: ts.isdtype(ts.int8, (("bool",),)), TypeError, "isdtype: dtype must be"),  # type: ignore[arg-type]
    "no dtype": (lambda: ts.can_cast(ts.int8, "int3"), TypeError, "can_cast: dtype must be"),
    "nothing": (lambda: ts.result_type(), TypeError, "result_type: none of arrays_and_dtypes"),
    "numbers": (lambda: ts.result_type(1, 2.0), TypeError, "is a tensor"),
    "text": (lambda: ts.result_type("int8"), TypeError, r"arrays_and_dtypes\[0\] must be a tensor"),
    "device": (lambda: ts.__array_namespace_info__().dtypes(device="gpu"), ValueError,
               "device is 'gpu'"),
    "info": (lambda: ts.__array_namespace_info__().dtypes(kind="int"), ValueError, "kind is 'int'"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_bad_questions_say_what_is_wrong(name: str) -> None:
    call, base, text = ERRORS[name]
    with pytest.raises(base, match=text) as caught:
        call()
    assert isinstance(caught.value, ts.errors.TessellaError) and caught.value.hint
