"""One counter of changes to what networks and optimizers are made of.

A module that gets or loses a part, changes its mode or its hooks, and a parameter group that is
changed, bump it. Whoever keeps something that was derived from their structure compares the count.
"""

from __future__ import annotations

from tessella import _core
from tessella.hints import Any


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
