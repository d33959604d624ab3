"""The messages about losses: shapes, targets, and arguments that PyTorch has given up."""

from __future__ import annotations

import math

from tessella.errors import (
    ArgumentError,
    BroadcastError,
    DTypeMismatch,
    InvalidArgument,
    ShapeError,
)
from tessella.hints import Sequence
from tessella.sizes import counted

Shape = Sequence[int]


def would_broadcast(names: tuple[str, str], shapes: tuple[Shape, Shape], together: Shape,
                    ) -> BroadcastError:  # fmt: skip
    """Two operands of a loss whose shapes differ and broadcast."""
    (first, second), (x, y) = names, shapes
    cures = [*_cures(second, y, first, x), *_cures(first, x, second, y)]
    cures = [cure for cure in cures if cure] or [f"{second}.reshape({first}.shape)"]
    error = BroadcastError(
        "shapes differ and would broadcast",
        f"{', or '.join(cures)}; to broadcast on purpose, expand first",
    )
    terms = min(math.prod(x), math.prod(y))
    error.note = (
        second, f"together {together}: {math.prod(together)} terms in place of {terms}"
    )  # fmt: skip
    return error


def _cures(name: str, shape: Shape, other_name: str, other: Shape) -> list[str]:
    """Give what makes one shape the other: an axis of size 1 more here, or fewer there."""
    if len(shape) >= len(other):
        return []
    for axis in range(len(other)):
        if other[axis] == 1 and tuple(other[:axis]) + tuple(other[axis + 1 :]) == tuple(shape):
            return [f"{name}.unsqueeze({axis})", f"{other_name}.squeeze({axis})"]
    return []


def shapes_differ(names: tuple[str, str], shapes: tuple[Shape, Shape]) -> ShapeError:
    """Two operands of a loss whose shapes do not even broadcast."""
    (first, second), (x, y) = names, shapes
    return ShapeError(
        f"{first} has shape {tuple(x)}, {second} {tuple(y)}", "their shapes must be equal"
    )


def class_shape(target: Shape, wanted: Shape, x: Shape) -> ShapeError:
    """Classes for other lines than x has."""
    hint = f"x is (N, C, …), or (C,), and target has its axes but C: {wanted}"
    if tuple(target) == tuple(x[:-1]):
        hint = f"where classes stand last: x.flatten(0, -2), target.flatten(); {hint}"
    for axis, size in enumerate(target):
        if size == 1 and (*target[:axis], *target[axis + 1 :]) == tuple(wanted):
            hint = f"target.squeeze({axis}); {hint}"
            break
    return ShapeError(f"target has shape {tuple(target)}, x {tuple(x)}", hint)


def class_dtype(dtype: object, shape: Shape) -> DTypeMismatch:
    """Classes that are no integers."""
    return DTypeMismatch(
        f"target is {dtype}: classes are integers",
        f"target.astype(ts.int64); probabilities are floats of the shape of x, {tuple(shape)}",
    )


def probability_dtype(dtype: object) -> DTypeMismatch:
    """Probabilities that are no floats."""
    return DTypeMismatch(
        f"target has the shape of x and is {dtype}: probabilities are floats",
        "target.astype(x.dtype); classes have no axis for the classes",
    )


def class_weights(shape: Shape, classes: int) -> ShapeError:
    """Other than one weight for each class."""
    return ShapeError(
        f"weight has shape {tuple(shape)}, x {counted(classes, 'class')}",
        f"weight must be ({classes},)",
    )


def spread_weights(name: str, shape: Shape, pred: Shape) -> ShapeError:
    """Weights or variances that do not spread over the predictions."""
    return ShapeError(
        f"{name} has shape {tuple(shape)}, pred {tuple(pred)}",
        f"{name} must have the shape of pred, or spread over it without making it larger",
    )


def ignored_probabilities(index: int) -> InvalidArgument:
    """A class to be ignored, where targets are probabilities."""
    return InvalidArgument(
        f"ignore_index is {index}, and target holds probabilities",
        "probabilities have no class to ignore: leave ignore_index out",
    )


def given_up(name: str) -> ArgumentError:
    """An argument that `reduction` has replaced."""
    return ArgumentError(
        f"{name} is not taken: PyTorch replaced it by reduction long ago",
        'reduction="mean", "sum" or "none"',
    )


def made_with_operands(name: str) -> ArgumentError:
    """A module of a loss that is called as if it were the function."""
    return ArgumentError(
        "a tensor is given where the loss is made, before it is called",
        f"nn.{name}()(pred, target)",
    )


def too_few_axes(name: str, ndim: int, wanted: str) -> ShapeError:
    """An operand with fewer axes than a loss needs."""
    return ShapeError(f"{name} has {counted(ndim, 'axis')}", f"{name} must have {wanted}")


def not_parameters(what: str) -> ArgumentError:
    """Something that a penalty cannot be taken of."""
    return ArgumentError(
        f"parameters must be a tensor, or several, got {what}", "pass model.parameters()"
    )
