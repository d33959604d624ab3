"""The messages about blocks of quantised numbers."""

from __future__ import annotations

from tessella.errors import ArgumentError, DTypeMismatch, InvalidArgument, ShapeError, brief
from tessella.hints import Sequence


def unknown_format(value: object, known: Sequence[str]) -> ArgumentError:
    """Something that names no block format."""
    return ArgumentError(f"format is {brief(value)}", f"format must be one of {', '.join(known)}")


def not_made(name: str, made: Sequence[str]) -> InvalidArgument:
    """A format that is read and not written."""
    return InvalidArgument(
        f"{name} cannot be made, only read", f"quantize to one of {', '.join(made)}"
    )


def not_blocks(dtype: object) -> DTypeMismatch:
    """Something else than bytes where blocks are."""
    return DTypeMismatch(
        f"not defined for blocks of {dtype}",
        "blocks are bytes, uint8: quantize(x, format) makes them",
    )


def no_axis(name: str) -> ShapeError:
    """A single number where rows are."""
    return ShapeError(f"{name}.ndim is 0", f"{name} must have an axis: its last one is cut up")


def not_matrix(ndim: int) -> ShapeError:
    """Blocks that are not rows of a matrix."""
    return ShapeError(f"blocks.ndim is {ndim}", "blocks must have two axes: (rows, bytes of a row)")


def broken_row(size: int, name: str, each: int) -> ShapeError:
    """Bytes that are no whole number of blocks."""
    return ShapeError(
        f"blocks has rows of {size} bytes, and a block of {name} has {each}",
        f"the last axis of blocks must be a multiple of {each}: is it another format?",
    )


def broken_numbers(name: str, size: int, format: str, each: int) -> ShapeError:
    """Numbers that are no whole number of blocks."""
    return ShapeError(
        f"{name} is {size}, and a block of {format} holds {each} numbers",
        f"{name} must be a multiple of {each}",
    )
