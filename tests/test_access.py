"""x.read and x.write: one element, as the dtype that the caller names, or an error."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import tessella as ts
from tessella.dtypes import DTYPES, DType

ITEM = ts.dtypes.register("access_item", fmt="<hB")

VALUES: dict[str, list[Any]] = {
    "bool": [False, True],
    "signed integer": [-3, 5],
    "unsigned integer": [0, 5],
    "real floating": [0.5, -2, math.inf],
    "complex floating": [1 + 2j, 0.5, 3],
    "user": [(1, 2), (-1, 0)],
}
ALL = [*DTYPES, ITEM]


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_values_of_its_kind_go_in_and_out(dtype: DType) -> None:
    x = ts.zeros(3, 4, dtype=dtype).T[::-1]
    for value in VALUES[dtype.kind]:
        version = x.version
        assert x.write(-1, 2, value=value, dtype=dtype) is None  # type: ignore[func-returns-value]
        assert x.read(3, 2, dtype=dtype.name) == value == x.at(3, 2) and x.version == version + 1
    assert (x != ts.zeros_like(x)).tolist() == [[False] * 3] * 3 + [[False, False, True]]
    one = ts.zeros((), dtype=dtype)
    one.write(value=VALUES[dtype.kind][0], dtype=dtype)
    assert one.read(dtype=dtype) == VALUES[dtype.kind][0]


@pytest.mark.parametrize(("dtype", "named"), list(itertools.permutations(ALL, 2)), ids=str)
def test_another_dtype_raises_before_a_byte_is_touched(dtype: DType, named: DType) -> None:
    x = ts.zeros(2, dtype=dtype)
    text = f"x is {dtype}, and is accessed as {named}"
    with pytest.raises(ts.errors.DTypeMismatch, match=f"read: {text}\n    x      {dtype}"):
        x.read(0, dtype=named)
    for value in VALUES[named.kind]:
        with pytest.raises(ts.errors.DTypeMismatch, match=f"write: {text}"):
            x.write(0, value=value, dtype=named)
    assert ts.array_equal(x, ts.zeros(2, dtype=dtype)) and x.version == 0


REFUSED: dict[str, list[Any]] = {
    "bool": [1, 0.0, None, "a", (True,), np.bool_(True)],
    "signed integer": [True, 1.0, 1j, None, "1", np.int64(1), ts.tensor(1)],
    "unsigned integer": [False, 1.0, 1j, None, (1,)],
    "real floating": [True, 1j, None, "1.0", (1.0,), np.float32(1)],
    "complex floating": [True, None, "1j", (1.0, 2.0)],
    "user": [1, True, None, [1, 2], "ab", 1.5],
}


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_values_of_another_kind_are_refused(dtype: DType) -> None:
    x = ts.zeros(2, dtype=dtype)
    for value in REFUSED[dtype.kind]:
        with pytest.raises(ts.errors.DTypeMismatch, match=f"is no value of {dtype}\n"):
            x.write(0, value=value, dtype=dtype)
    assert ts.array_equal(x, ts.zeros(2, dtype=dtype)) and x.version == 0


ERRORS: dict[str, tuple[Any, type[Exception], str]] = {
    "range": (lambda x: x.write(0, 0, value=128, dtype=ts.int8), ts.errors.InvalidArgument,
              "write: 128 does not fit int8"),
    "few": (lambda x: x.read(0, dtype=ts.int8), ts.errors.IndexOutOfBounds,
            "read: 1 index for 2 axes"),
    "bounds": (lambda x: x.write(0, 3, value=1, dtype=ts.int8), ts.errors.IndexOutOfBounds,
               "write: index 3 is out of bounds for axis 1 of size 3"),
    "slice": (lambda x: x.read(0, slice(1), dtype=ts.int8), ts.errors.ArgumentError,
              "read: index must be an integer"),
    "dtype": (lambda x: x.read(0, 0, dtype="int9"), ts.errors.ArgumentError,
              "read: dtype must be a Tessella dtype"),
    "kind": (lambda x: x.write(0, 0, value=1.0, dtype=ts.int8), ts.errors.DTypeMismatch,
             "write: 1.0 is no value of int8\n(.*\n)*  hint: int8 takes an int"),
    "spread": (lambda x: x[:1].broadcast_to(2, 3).write(0, 0, value=1, dtype=ts.int8),
               ts.errors.InvalidArgument, "write: x has elements that share memory"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors_name_the_access(name: str) -> None:
    x = ts.zeros(2, 3, dtype=ts.int8)
    call, kind, text = ERRORS[name]
    with pytest.raises(kind, match=text):
        call(x)
    assert x.tolist() == [[0] * 3] * 2


def test_leaves_and_readonly_memory_are_not_written() -> None:
    with pytest.raises(ts.errors.InplaceError, match="write: x requires gradients"):
        ts.zeros(2, requires_grad=True).write(0, value=1.0, dtype=ts.float32)
    with pytest.raises(ts.errors.InvalidArgument, match="write: x is read-only"):
        ts.asarray(memoryview(b"ab")).write(0, value=1, dtype=ts.uint8)
