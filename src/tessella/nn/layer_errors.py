"""The messages about operands that do not fit a layer."""

from __future__ import annotations

from tessella.errors import ShapeError


def wrong_features(given: int, taken: int, name: str = "x") -> ShapeError:
    """A last axis of another length than weights have."""
    return ShapeError(
        f"{name} has {given} features, and weight takes {taken}",
        f"the last axis of {name} must be {taken}",
    )
