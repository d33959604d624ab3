"""Integers that must lie between limits: checked by the core at every call, a compiled one too.

Nothing is read into Python, so that a function which checks its operands can be recorded. A
repeated call whose values are outside raises before it writes anything that can be seen.
"""

from __future__ import annotations

from tessella import _core, errors
from tessella._core import Tensor
from tessella.dtypes import int64
from tessella.hints import Callable
from tessella.kinds import cast


def limited(
    x: Tensor, low: int, high: int, what: str, fail: Callable[[int], errors.TessellaError]
) -> Tensor:
    """Give integers as int64; raise fail(value) for the first that is not from low to high.

    `what` names them where a repeated call has written before, and cannot be explained by another.
    """
    given = cast(x, int64).detach()
    if given.is_virtual:
        return given
    out = _core.empty(given.shape, int64.id)
    try:
        _core.limit(out, given, low, high, what)
    except errors.IndexOutOfBounds:
        value = _core.find_outside(given, low, high)
        assert value is not None, what
        raise fail(value) from None
    return out


def require(condition: Tensor, what: str, fail: Callable[[], errors.TessellaError]) -> None:
    """Raise fail() unless a bool tensor is true everywhere."""
    limited(condition, 1, 1, what, lambda _: fail())
