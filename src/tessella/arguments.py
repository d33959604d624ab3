"""Checks of single arguments: each gives the value in its normal form, or says what it must be."""

from __future__ import annotations

import operator

from tessella import errors
from tessella.hints import Any

# For isinstance; `int | float` would be made anew by every call.
NUMBERS: tuple[type, ...] = (bool, int, float, complex)
LISTS = (list, tuple)

_NEAR = 1 << 62  # integers up to here need no look at how many bits they may have


def is_scalar(value: Any) -> bool:
    """Tell whether a value is a NumPy scalar: a number, with a dtype, that cannot be written."""
    kind = type(value)  # asked of an array itself, the attribute would be made anew
    return hasattr(kind, "__array_interface__") and not hasattr(kind, "__setitem__")


def to_number(value: Any) -> Any:
    """Give the number that a NumPy scalar stands for; anything else is given as it is."""
    return value.item() if is_scalar(value) else value


def to_int(name: str, value: Any, bits: int = 63) -> int:
    """Check an integer parameter, of a sign and so many bits; bool is not one."""
    if type(value) is int and -_NEAR <= value <= _NEAR:
        return value
    number = _index_of(name, value)
    if not -(1 << bits) <= number < 1 << bits:
        raise errors.integer_too_large(name, number, bits)
    return number


def to_count(name: str, value: Any, least: int = 1) -> int:
    """Check how many there are to be."""
    count = to_int(name, value)
    if count < least:
        raise errors.wrong_value(name, value, f"at least {least}")
    return count


def _index_of(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise errors.wrong_type(name, value, "an integer")
    try:
        return operator.index(value)
    except errors.TessellaError:
        raise
    except TypeError:  # a NumPy array has __index__, and refuses it
        raise errors.wrong_type(name, value, "an integer") from None


def to_offset(name: str, value: Any) -> int:
    """Check an integer of any size; beyond 62 bits, far off is far off."""
    return max(-_NEAR, min(_index_of(name, value), _NEAR))


def to_ints(name: str, value: Any) -> tuple[int, ...]:
    """Check a tuple of integers; one integer stands for a tuple of one."""
    if isinstance(value, LISTS):
        for item in value:
            if type(item) is not int or not -_NEAR <= item <= _NEAR:
                return tuple([to_int(name, item) for item in value])
        return tuple(value)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise errors.wrong_type(name, value, "an integer or a tuple of integers")
    return (to_int(name, value),)


def is_iterable(value: Any) -> bool:
    """Tell whether a value can be walked through; a 0-d array has the method, and refuses it."""
    try:
        iter(value)
    except TypeError:
        return False
    return True


def to_list(name: str, value: Any, expected: str) -> list[Any]:
    """Give what can be walked through as a list."""
    if not is_iterable(value):
        raise errors.wrong_type(name, value, expected)
    return list(value)


def to_bool(name: str, value: Any) -> bool:
    """Check a boolean parameter."""
    if not isinstance(value, bool):
        raise errors.not_flag(name, value)
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
