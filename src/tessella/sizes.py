"""Sizes of memory: numbers of bytes, and text such as "512MB"; objects and counts as text."""

from __future__ import annotations

from tessella import _core, errors
from tessella.arguments import to_int

_UNITS = {"": 1, "b": 1}
_UNITS |= {f"{letter}b": 1000**power for power, letter in enumerate("kmgt", 1)}
_UNITS |= {f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", 1)}


_PLURALS = {"axis": "axes", "category": "categories", "class": "classes", "leaf": "leaves",
            "module or parameter": "modules or parameters"}  # fmt: skip


def to_bytes(name: str, value: int | str) -> int:
    """Read a size: a number of bytes, or text such as "512MB" (10**6) and "512MiB" (2**20).

    >>> ts.memory.to_bytes("size", "1.5KiB")
    1536
    """
    if not isinstance(value, str):
        size = to_int(name, value)
        if size < 0:
            raise errors.wrong_value(name, value, "0 bytes or more")
        return size
    text = value.strip().lower()
    digits = text.rstrip("bikmgt ")
    factor = _UNITS.get(text[len(digits) :].strip())
    whole, _, part = digits.partition(".")
    number = whole + part
    # In integers, as 2.3 * 10**6 in floats is a byte less than 2,300,000.
    if factor is None or not (number.isascii() and number.isdigit() and len(number) < 40):
        raise errors.wrong_value(name, value, 'a size such as 4096, "512MB" or "1.5GiB"')
    exact: int = int(number) * factor // 10 ** len(part)
    if exact >= 1 << 63:
        raise errors.integer_too_large(name, exact, 63)
    return exact


def to_text(size: int) -> str:
    """Show bytes as people read them.

    >>> ts.memory.to_text(98_304)
    '96.0 KiB'
    """
    return _core.to_text_bytes(to_int("size", size))


def described(x: object, *facts: str, **values: object) -> str:
    """Say in a line what an object is: its class, facts about it, and values that it has."""
    parts = [*facts, *(f"{name}={value!r}" for name, value in values.items())]
    return f"{type(x).__name__}({', '.join(filter(None, parts))})"


def counted(number: int, noun: str) -> str:
    """Show a number of things: 1 leaf, 1,000 leaves."""
    plural = _PLURALS.get(noun, f"{noun}s")
    return f"{number:,} {noun if number == 1 else plural}"
