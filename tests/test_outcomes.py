"""Errors as values: `errors.expected`, Ok and Err, and what type checkers know of them."""

from __future__ import annotations

import copy
import pickle
import weakref
from typing import assert_type

import pytest

import tessella as ts
from tessella.errors import Err, Ok, TessellaError, expected


def halves(x: ts.Tensor, *, parts: int = 2) -> ts.Tensor:
    """Reshape into rows: fails for sizes that are not a multiple."""
    return x.reshape(parts, -1)


def test_expected_gives_the_value_of_a_call() -> None:
    found = expected(halves, ts.zeros(6), parts=3)
    assert_type(found, Ok[ts.Tensor] | Err)
    assert found.is_ok and found and isinstance(found, Ok)
    assert_type(found.value, ts.Tensor)
    assert found.value.shape == found.unwrap().shape == found.unwrap_or(None).shape == (3, 2)
    assert_type(found.map(lambda x: x.ndim), Ok[int])
    assert found.map(lambda x: x.ndim) == Ok(2)


def test_expected_gives_the_error_of_a_call() -> None:
    found = expected(halves, ts.zeros(5))
    assert not found.is_ok and not found and isinstance(found, Err)
    assert_type(found.error, TessellaError)
    assert isinstance(found.error, ts.errors.ShapeError) and found.error.code == "shape"
    assert str(found.error).startswith("reshape: ") and "at test_outcomes.py:" in str(found.error)
    assert found.map(lambda x: x.ndim) is found
    with pytest.raises(ts.errors.ShapeError) as caught:
        found.unwrap()
    assert caught.value is found.error


def test_unwrap_or_gives_the_default_of_an_error() -> None:
    found = expected(ts.zeros(3).item)
    assert found.unwrap_or(7) == 7
    assert_type(expected(halves, ts.zeros(5)).unwrap_or(None), ts.Tensor | None)
    assert expected(ts.tensor([4]).item).unwrap_or(7) == 4


@pytest.mark.parametrize(("size", "text"), [(6, "rows of 3"), (5, "shape")])
def test_outcomes_are_matched(size: int, text: str) -> None:
    match expected(halves, ts.zeros(size)):
        case Ok(x):
            assert_type(x, ts.Tensor)
            assert text == f"rows of {x.shape[1]}"
        case Err(error):
            assert_type(error, TessellaError)
            assert text == error.code


@pytest.mark.parametrize("raised", [ZeroDivisionError, KeyboardInterrupt, ValueError, MemoryError])
def test_other_exceptions_go_on(raised: type[BaseException]) -> None:
    def fail() -> int:
        raise raised

    with pytest.raises(raised):
        expected(fail)


def test_error_keeps_no_tensors() -> None:
    def fail() -> ts.Tensor:
        x = ts.zeros(5)
        seen.append(weakref.ref(x))
        return x.reshape(2, 2)

    seen: list[weakref.ref[ts.Tensor]] = []
    found = expected(fail)
    assert not found.is_ok and seen[0]() is None


def test_outcomes_are_values() -> None:
    error = ts.errors.ShapeError("no")
    for one, other in ((Ok(3), Ok(4)), (Err(error), Err(ts.errors.ShapeError("no")))):
        assert one == copy.copy(one) and one != other and hash(one) == hash(copy.copy(one))
        with pytest.raises(AttributeError, match="cannot be changed"):
            setattr(one, one.__match_args__[0], 5)
        with pytest.raises(AttributeError, match="cannot be changed"):
            delattr(one, one.__match_args__[0])
    assert Ok(1) != Err(error) and repr(Ok(1)) == "Ok(1)" and repr(Err(error)) == f"Err({error!r})"
    assert pickle.loads(pickle.dumps(Ok([1]))) == Ok([1])
    assert pickle.loads(pickle.dumps(Err(error))).error.what == "no"
    assert Ok[int].__origin__ is Ok and Ok[int](3) == Ok(3)  # type: ignore[attr-defined]
