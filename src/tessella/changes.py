"""One counter of changes to what networks and optimizers are made of.

A module that gets or loses a part, changes its mode or its hooks, a parameter group that is
changed, and a schedule, sampler or cache whose attributes are set, bump it. Whoever keeps something
that was derived from their structure compares the count.
"""

from __future__ import annotations

from tessella import _core
from tessella.hints import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self


def bump(owner: Any = None) -> None:
    """Tell that the structure of something has changed; of `owner`, if calls read it there."""
    _core.bump_changes()


def born(owner: Any) -> None:
    """Tell that there is something new: its changes are nobody else's as long as it is made."""
    _core.bump_changes()


def switch(owner: Any, is_on: bool) -> None:
    """Tell that the other one of two states of something was chosen: going back undoes it."""
    step = hash((id(owner), "switch")) % 2**64
    _core.bump_changes(step if is_on else 2**64 - step)


def count() -> int:
    """Give the number of changes so far."""
    return _core.count_changes()


class Counted:
    """An object whose attributes stay what they are: setting one is a change of structure."""

    def __new__(cls, *args: object, **keywords: object) -> Self:
        """Make one; what its constructor sets is nobody else's."""
        made = super().__new__(cls)
        born(made)
        return made

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute; a tensor that was written in place is the one that was there."""
        if not isinstance(value, _core.Tensor) or self.__dict__.get(name) is not value:
            bump(self)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        """Delete an attribute."""
        bump(self)
        object.__delattr__(self, name)
