"""The messages about operands that do not fit a layer."""

from __future__ import annotations

from tessella.errors import ArgumentError, InvalidArgument, ShapeError
from tessella.hints import Sequence


def wrong_features(given: int, taken: int, name: str = "x") -> ShapeError:
    """A last axis of another length than weights have."""
    return ShapeError(
        f"{name} has {given} features, and weight takes {taken}",
        f"the last axis of {name} must be {taken}",
    )


def wrong_vector(name: str, shape: Sequence[int], size: int) -> ShapeError:
    """Weights of another length than what they belong to."""
    return ShapeError(f"{name} has shape {tuple(shape)}", f"{name} must be ({size},)")


def vector_shape(name: str, shape: Sequence[int], wanted: Sequence[int]) -> ShapeError:
    """Weights of another shape than what they belong to."""
    return ShapeError(f"{name} has shape {tuple(shape)}", f"{name} must be {tuple(wanted)}")


def normalized_shape(shape: Sequence[int], wanted: Sequence[int]) -> ShapeError:
    """An input whose last axes are not those that a layer normalises."""
    return ShapeError(
        f"x has shape {tuple(shape)}, and {tuple(wanted)} is normalised",
        "the last axes of x must be normalized_shape",
    )


def one_value(shape: Sequence[int]) -> InvalidArgument:
    """Statistics of one value."""
    return InvalidArgument(
        f"x has shape {tuple(shape)}: one value for each channel has no variance",
        "train with more than one, or call model.eval() to use the running statistics",
    )


def no_statistics(name: str) -> InvalidArgument:
    """Running statistics that are needed and not given."""
    return InvalidArgument(
        f"{name} is None, and not training uses it", "give both, or pass training=True"
    )


def no_sparse_gradients() -> ArgumentError:
    """Gradients of a table that hold its used rows only."""
    return ArgumentError(
        "sparse gradients are not there", "leave sparse out: the gradient is a whole table"
    )
