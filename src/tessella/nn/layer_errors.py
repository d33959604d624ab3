"""The messages about operands that do not fit a layer."""

from __future__ import annotations

import math

from tessella.errors import DTypeMismatch, IndexOutOfBounds, InvalidArgument, ShapeError
from tessella.hints import Sequence
from tessella.sizes import counted


def wrong_features(given: int, taken: int, name: str = "x") -> ShapeError:
    """A last axis of another length than weights have."""
    return ShapeError(
        f"{name} has {counted(given, 'feature')}, and weight takes {taken}",
        f"the last axis of {name} must be {taken}",
    )


def not_indices(name: str, dtype: object) -> DTypeMismatch:
    """Something else than integers, where rows are named."""
    return DTypeMismatch(f"{name} is {dtype}", f"integers name rows: {name}.long()")


def no_row(index: int, rows: int, what: str = "rows") -> IndexOutOfBounds:
    """A number that is that of no row."""
    return IndexOutOfBounds(
        f"index {index} is out of range for {rows} {what}",
        f"indices go from 0 to {rows - 1}" if rows else f"there are no {what}",
    )


def wrong_channels(name: str, given: int, taken: int, groups: int) -> ShapeError:
    """An axis of channels of another length than weights have."""
    shared = f" in {groups} groups" if groups > 1 else ""
    return ShapeError(
        f"{name} has {counted(given, 'channel')}, and weight takes {taken}{shared}",
        f"axis 1 of {name} (0 without a batch) holds the channels and must be {taken}",
    )


def wrong_groups(groups: int, channels: int, name: str) -> ShapeError:
    """Channels that cannot be shared out."""
    return ShapeError(
        f"groups is {groups}, and {name} has {counted(channels, 'channel')}",
        "groups must divide the channels that go in and those that come out",
    )


def wrong_bias(shape: tuple[int, ...], channels: int) -> ShapeError:
    """A bias that is not one number for each channel."""
    return ShapeError(
        f"bias has the shape {shape}, and the layer {counted(channels, 'channel')}",
        f"bias must have the shape ({channels},)",
    )


def large_window(span: int, padded: int, size: int) -> ShapeError:
    """A window that does not fit once into its axis."""
    added = "" if padded == size else f", with its padding {padded}"
    return ShapeError(
        f"a window of {span} is longer than the axis of {size}{added}",
        "use a smaller window or dilation, or more padding",
    )


def place_outside(size: tuple[int, ...]) -> ShapeError:
    """An index of a pool that its input does not have."""
    return ShapeError(
        f"a place is outside of planes of {size}",
        f"places count the elements of a plane, from 0 to {math.prod(size) - 1}",
    )


def wrong_rows(given: int, window: tuple[int, ...]) -> ShapeError:
    """Columns whose length is no multiple of a window."""
    each = math.prod(window)
    return ShapeError(
        f"x has {counted(given, 'row')}, and a window of {window} has {each} elements",
        f"the last axis but one must be channels * {each}",
    )


def wrong_columns(given: int, places: tuple[int, ...]) -> ShapeError:
    """Another number of columns than there are windows."""
    count = math.prod(places)
    return ShapeError(
        f"x has {counted(given, 'column')}, and there are {count} windows, {places}",
        f"the last axis must be {count}; output_size is that of the whole image",
    )


def wrong_vector(name: str, shape: Sequence[int], size: int) -> ShapeError:
    """Weights of another length than what they belong to."""
    return ShapeError(f"{name} has shape {tuple(shape)}", f"{name} must be ({size},)")


def other_channels(name: str, shape: Sequence[int], size: int) -> ShapeError:
    """An input with other channels than a layer has statistics of."""
    return ShapeError(
        f"{name} has shape {tuple(shape)}, and x {size} channels, on axis 1",
        f"a layer for this input has num_features={size}",
    )


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


def trained_statistics() -> InvalidArgument:
    """Gradients asked of running statistics."""
    return InvalidArgument(
        "running statistics require gradients, and have none",
        "they are buffers: pass running_mean.detach() and running_var.detach()",
    )
