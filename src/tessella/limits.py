"""Integers that must lie between limits: checked by the core at every call, a compiled one too.

Nothing is read into Python, so that a function which checks its operands can be recorded. A
repeated call whose values are outside is explained by calling the function itself; or, if it has
written before, by the text that is made here when it is recorded.
"""

from __future__ import annotations

from tessella import _core, errors
from tessella._core import Tensor
from tessella.dtypes import int64
from tessella.exceptions import unraised
from tessella.hints import Callable
from tessella.kinds import cast

Failure = Callable[[int], errors.TessellaError]

_ANY = 987654321  # stands for the value, in the text of an error that may come; a size too


def limited(x: Tensor, low: int, high: int, fail: Failure) -> Tensor:
    """Give integers as int64; raise fail(value) for the first that is not from low to high."""
    given = cast(x, int64).detach()
    if given.is_virtual:
        return given
    out = _core.empty(given.shape, int64.id)
    text = _text_of(unraised(lambda: fail(_ANY))) if _core.is_recording() else (0, "", "")
    try:
        _core.limit(out, given, low, high, *text)
    except errors.TessellaError:
        value = _core.find_outside(given, low, high)
        if value is None:
            raise
        raise fail(value) from None
    return out


def require(condition: Tensor, fail: Callable[[], errors.TessellaError]) -> None:
    """Raise fail() unless a bool tensor is true everywhere."""
    limited(condition, 1, 1, lambda _: fail())


def _text_of(error: errors.TessellaError) -> tuple[int, str, str]:
    """Give an error as the core has it: its code, what is wrong, the hint."""
    what, hint = (part.replace(str(_ANY), "{}") for part in (error.what, error.hint))
    return errors.CORE_CLASSES.index(type(error)), what, hint
