"""The messages about operands that do not fit a layer."""

from __future__ import annotations

from tessella.errors import DTypeMismatch, IndexOutOfBounds, ShapeError


def wrong_features(given: int, taken: int, name: str = "x") -> ShapeError:
    """A last axis of another length than weights have."""
    return ShapeError(
        f"{name} has {given} features, and weight takes {taken}",
        f"the last axis of {name} must be {taken}",
    )


def not_indices(name: str, dtype: object) -> DTypeMismatch:
    """Something else than integers, where rows are named."""
    return DTypeMismatch(f"{name} is {dtype}", f"integers name rows: {name}.long()")


def no_row(index: int, rows: int, what: str = "rows") -> IndexOutOfBounds:
    """A number that is that of no row."""
    return IndexOutOfBounds(
        f"index {index} is out of range for {rows} {what}", f"indices go from 0 to {rows - 1}"
    )
