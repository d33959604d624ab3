"""One counter of changes to what networks and optimizers are made of.

A module that gets or loses a part, changes its mode or its hooks, and a parameter group that is
changed, bump it. Whoever keeps something that was derived from their structure compares the count.
"""

from __future__ import annotations

from tessella import _core


def bump() -> None:
    """Tell that the structure of something has changed."""
    _core.bump_changes()


def count() -> int:
    """Give the number of changes so far."""
    return _core.count_changes()
