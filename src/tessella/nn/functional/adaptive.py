"""Pools whose windows share an axis evenly, whatever its size."""

from __future__ import annotations

from functools import partial

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import LISTS
from tessella.composites import composite
from tessella.declarations import case
from tessella.dtypes import float32
from tessella.hints import Any
from tessella.kinds import cast
from tessella.nn.functional import references
from tessella.nn.functional.chosen import choose
from tessella.nn.functional.geometry import batched, spread, unbatched
from tessella.nn.functional.pooling import avg_pool1d, avg_pool2d, picked
from tessella.ops.creation import arange
from tessella.ops.elementwise import less, minimum, where
from tessella.ops.index import take
from tessella.ops.movement import unsqueeze
from tessella.ops.reduce import mean, sum
from tessella.ops.splitting import narrow

_DECLARED: dict[str, Any] = {"home": "nn.functional", "is_method": False}


def _wanted(x: Tensor, axes: int, output_size: Any) -> tuple[int, ...]:
    """Give the sizes of the result; None keeps that of x."""
    is_listed = isinstance(output_size, LISTS)
    if output_size is None or (is_listed and any(n is None for n in output_size)):
        listed = [None] * axes if output_size is None else output_size
        if len(listed) != axes:
            raise errors.wrong_value("output_size", output_size, f"one integer, or {axes}")
        pairs = zip(listed, x.shape[2:], strict=True)
        output_size = tuple([size if n is None else n for n, size in pairs])
    wanted = spread("output_size", output_size, axes, 0)
    for axis, size in enumerate(x.shape[2:]):
        if size == 0 and wanted[axis]:
            raise errors.wrong_value("x.shape", x.shape, "without empty axes behind the channels")
    return wanted


def _share_sums(x: Tensor, axis: int, count: int) -> tuple[Tensor, Tensor]:
    """Add up `count` even shares of an axis; and how long each is."""
    size = x.shape[axis]
    starts = arange(count) * size // count
    ends = -(-(arange(count) + 1) * size // count)
    longest = arange(-(-size // count) + 1)
    places = minimum(unsqueeze(starts, 1) + longest, size - 1)
    inside = less(longest, unsqueeze(ends - starts, 1))
    for _ in range(x.ndim - 1 - axis):
        inside = unsqueeze(inside, -1)
    parts = take(x, places, axis=axis)
    return sum(where(inside, parts, 0), axis=axis + 1), ends - starts


def _adaptive_avg(axes: int, x: Tensor, output_size: Any) -> Tensor:
    x, is_added = batched(x, axes)
    wanted = _wanted(x, axes, output_size)
    if not x.dtype.is_floating:
        raise errors.no_kernel(x.dtype, "defined for floats; convert with astype")
    if set(wanted) == {1}:
        return unbatched(mean(x, axis=tuple(range(2, x.ndim)), keepdims=True), is_added)
    if all(n and size % n == 0 for n, size in zip(wanted, x.shape[2:], strict=True)):
        pool = avg_pool1d if axes == 1 else avg_pool2d
        window = tuple([size // n for n, size in zip(wanted, x.shape[2:], strict=True)])
        return unbatched(pool(x, window), is_added)
    out = cast(x, float32) if x.dtype.itemsize == 2 else x
    for axis, count in enumerate(wanted, 2):
        if count == 0:
            out = narrow(out, axis, 0, 0)
            continue
        out, lengths = _share_sums(out, axis, count)
        out = out / (unsqueeze(lengths, 1) if axis == 2 and axes == 2 else lengths)
    return unbatched(cast(out, x.dtype), is_added)


@composite(
    **_DECLARED, ref=partial(references.adaptive_pool, 1, reduce="mean"),
    samples=[case((2, 3, 9), 4), case((3, 9), 3), case((2, 3, 5), 1), case((2, 3, 4), 7),
             case((2, 3, 0), 0)],
    errors=[case((2, 3, 9), -1, match="output_size is -1"), case((9,), 2, match="x.ndim is 1"),
            case((2, 3, 9), 2, dtype="int64", match="not defined for int64"),
            case((2, 3, 0), 2, match="x.shape is")],
)  # fmt: skip
def adaptive_avg_pool1d(x: Tensor, output_size: Any) -> Tensor:
    """Give the means of output_size windows that share the axis evenly.

    >>> ts.nn.functional.adaptive_avg_pool1d(ts.tensor([[1.0, 3.0, 2.0, 4.0]]), 2).tolist()
    [[2.0, 3.0]]
    """
    return _adaptive_avg(1, x, output_size)


@composite(
    **_DECLARED, ref=partial(references.adaptive_pool, 2, reduce="mean"),
    samples=[case((2, 3, 6, 7), output_size=(4, 3)), case((3, 6, 8), 2), case((2, 3, 5, 4), 1),
             case((2, 3, 5, 4), output_size=(None, 6)), case((2, 3, 5, 4), None)],
    errors=[case((2, 3, 9, 9), output_size=(1, 2, 3), match="output_size is"),
            case((2, 3, 9, 9), output_size=(None, 2, 3), match="output_size is"),
            case((2, 9), 2, match="x.ndim is 2")],
)  # fmt: skip
def adaptive_avg_pool2d(x: Tensor, output_size: Any) -> Tensor:
    """Give the means of windows that share both axes evenly; None keeps the size of an axis.

    >>> ts.nn.functional.adaptive_avg_pool2d(ts.ones(2, 3, 5, 7), (1, None)).shape
    (2, 3, 1, 7)
    """
    return _adaptive_avg(2, x, output_size)


def _adaptive_max(
    axes: int, x: Tensor, output_size: Any, return_indices: bool
) -> Tensor | tuple[Tensor, Tensor]:
    x, is_added = batched(x, axes)
    wanted = _wanted(x, axes, output_size)
    one, zero = (1,) * axes, (0,) * axes
    places = choose(x, size=wanted, window=(), stride=one, pad=zero, dilation=one)
    return picked(x, places, is_added, return_indices)


_MAX: dict[str, Any] = {**_DECLARED, "ulps": 0, "distinct": True}


@composite(
    **_MAX, ref=partial(references.adaptive_pool, 1, reduce="max"),
    samples=[case((2, 3, 9), 4), case((3, 9), 3), case((2, 3, 4), 7)],
    errors=[case((2, 3, 9), -1, match="output_size is -1"), case((9,), 2, match="x.ndim is 1")],
)  # fmt: skip
def adaptive_max_pool1d(
    x: Tensor, output_size: Any, return_indices: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """Give the largest elements of output_size windows that share the axis evenly.

    >>> ts.nn.functional.adaptive_max_pool1d(ts.tensor([[1.0, 3.0, 2.0, 4.0]]), 2).tolist()
    [[3.0, 4.0]]
    """
    return _adaptive_max(1, x, output_size, return_indices)


@composite(
    **_MAX, ref=partial(references.adaptive_pool, 2, reduce="max"),
    samples=[case((2, 3, 6, 7), output_size=(4, 3)), case((3, 6, 8), 2),
             case((2, 3, 5, 4), output_size=(None, 6))],
    errors=[case((2, 3, 9, 9), output_size=(1, 2, 3), match="output_size is"),
            case((2, 9), 2, match="x.ndim is 2")],
)  # fmt: skip
def adaptive_max_pool2d(
    x: Tensor, output_size: Any, return_indices: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """Give the largest elements of windows that share both axes evenly.

    >>> ts.nn.functional.adaptive_max_pool2d(ts.ones(2, 3, 5, 7), (1, None)).shape
    (2, 3, 1, 7)
    """
    return _adaptive_max(2, x, output_size, return_indices)
