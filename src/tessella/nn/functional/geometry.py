"""Sizes of windows over one or two axes: what convolutions, pools and unfold have in common."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_ints
from tessella.hints import Any
from tessella.nn import layer_errors
from tessella.ops.movement import squeeze, unsqueeze

FEW_BITS = 60  # of strides, widths and reaches, so that sums of some of them fit an integer


def spread(name: str, value: Any, axes: int, least: int = 1) -> tuple[int, ...]:
    """Give a number for each axis: one stands for all of them."""
    numbers = to_ints(name, value)
    if len(numbers) not in (1, axes):
        raise errors.wrong_value(name, value, f"one integer, or {axes}")
    numbers = numbers * axes if len(numbers) == 1 else numbers
    for number in numbers:
        if number < least:
            raise errors.wrong_value(name, number, f"at least {least}")
        if number >> FEW_BITS:
            raise errors.integer_too_large(name, number, FEW_BITS)
    return numbers


def reach(window: int, dilation: int) -> int:
    """Give how many elements a window spans."""
    span = dilation * (window - 1) + 1
    if span >> FEW_BITS:
        raise errors.integer_too_large("the reach of the window", span, FEW_BITS)
    return span


def windows(size: int, pads: tuple[int, int], span: int, stride: int) -> int:
    """Give how many windows lie in a padded axis."""
    padded = size + sum(pads)
    if padded < span:
        raise layer_errors.large_window(span, padded, size)
    return (padded - span) // stride + 1


def batched(x: Tensor, axes: int) -> tuple[Tensor, bool]:
    """Give x with a first axis for the batch, and whether that was added."""
    if x.ndim not in (axes + 1, axes + 2):
        shape = "(n, channels, length)" if axes == 1 else "(n, channels, height, width)"
        raise errors.wrong_value("x.ndim", x.ndim, f"{axes + 2}: {shape}, or one less without n")
    return (unsqueeze(x, 0), True) if x.ndim == axes + 1 else (x, False)


def unbatched(x: Tensor, is_added: bool) -> Tensor:
    """Take the axis away that was added."""
    return squeeze(x, 0) if is_added else x
