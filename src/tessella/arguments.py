"""Checks of single arguments: each gives the value in its normal form, or says what it must be."""

from __future__ import annotations

import operator
from typing import Any

from tessella import errors


def to_int(name: str, value: Any, bits: int = 63) -> int:
    """Check an integer parameter, of a sign and so many bits; bool is not one."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise errors.wrong_type(name, value, "an integer")
    try:
        number = operator.index(value)
    except errors.TessellaError:
        raise
    except TypeError:  # a NumPy array has __index__, and refuses it
        raise errors.wrong_type(name, value, "an integer") from None
    if not -(1 << bits) <= number < 1 << bits:
        raise errors.integer_too_large(name, number, bits)
    return number


def to_ints(name: str, value: Any) -> tuple[int, ...]:
    """Check a tuple of integers; one integer stands for a tuple of one."""
    if isinstance(value, list | tuple):
        return tuple(to_int(name, item) for item in value)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise errors.wrong_type(name, value, "an integer or a tuple of integers")
    return (to_int(name, value),)


def to_bool(name: str, value: Any) -> bool:
    """Check a boolean parameter."""
    if not isinstance(value, bool):
        raise errors.wrong_type(name, value, "True or False")
    return value


def to_float(name: str, value: Any) -> float:
    """Check a real number; bool is not one."""
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise errors.wrong_type(name, value, "a real number")
    try:
        return float(value)
    except errors.TessellaError:
        raise
    except (TypeError, ValueError, OverflowError):
        raise errors.wrong_type(name, value, "a real number") from None


def to_word(name: str, value: Any, words: list[str]) -> str:
    """Check a parameter that is one of some words."""
    if not isinstance(value, str) or value not in words:
        raise errors.wrong_value(name, value, " or ".join(map(repr, words)))
    return value
