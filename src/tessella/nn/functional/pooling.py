"""Pools: the largest, the mean, or a norm of each window, by PyTorch's names and arguments."""

from __future__ import annotations

import math
from functools import partial

from tessella import errors
from tessella._core import Tensor
from tessella.composites import Ints, composite
from tessella.declarations import case
from tessella.dtypes import float32
from tessella.hints import Any
from tessella.kinds import cast
from tessella.nn import layer_errors
from tessella.nn.functional import references
from tessella.nn.functional.chosen import choose, pick
from tessella.nn.functional.correlations import convolve
from tessella.nn.functional.geometry import batched, reach, spread, unbatched
from tessella.ops.activation import relu
from tessella.ops.creation import arange, ones
from tessella.ops.elementwise import abs, maximum, minimum, mul, pow, sign
from tessella.ops.movement import reshape, unsqueeze

_DECLARED: dict[str, Any] = {"home": "nn.functional", "is_method": False}


class Windows:
    """The windows of a pool: for each axis their size, steps, padding and number."""

    def __init__(self, x: Tensor, axes: int, kernel_size: Any, stride: Any, padding: Any,
                 dilation: Any, ceil_mode: bool) -> None:  # fmt: skip
        self.window = spread("kernel_size", kernel_size, axes)
        self.stride = self.window if stride is None else spread("stride", stride, axes)
        self.pad = spread("padding", padding, axes, 0)
        self.dilation = spread("dilation", dilation, axes)
        self.spans = tuple([reach(*each) for each in zip(self.window, self.dilation, strict=True)])
        for pad, span in zip(self.pad, self.spans, strict=True):
            if 2 * pad > span:
                raise errors.wrong_value("padding", pad, f"at most half of the window: {span // 2}")
        sizes = zip(x.shape[2:], self.spans, self.stride, self.pad, strict=True)
        self.size = tuple([self.count(*each, ceil_mode) for each in sizes])

    @staticmethod
    def count(size: int, span: int, stride: int, pad: int, ceil_mode: bool) -> int:
        """Count the windows of one axis; with ceil_mode the last may hang over, but must begin."""
        room = size + 2 * pad - span
        out = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
        if ceil_mode and (out - 1) * stride >= size + pad:
            out -= 1
        if out < 1:
            raise layer_errors.large_window(span, size + 2 * pad, size)
        return out


# --- the largest ----------------------------------------------------------------------------------


def _max_pool(axes: int, x: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
              ceil_mode: bool, return_indices: bool) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
    x, is_added = batched(x, axes)
    it = Windows(x, axes, kernel_size, stride, padding, dilation, ceil_mode)
    places = choose(x, size=it.size, window=it.window, stride=it.stride, pad=it.pad,
                    dilation=it.dilation)  # fmt: skip
    return picked(x, places, is_added, return_indices)


def picked(
    x: Tensor, places: Tensor, is_added: bool, return_indices: bool
) -> Tensor | tuple[Tensor, Tensor]:
    """Give the elements at the places, and the places if they are asked for."""
    out = unbatched(pick(x, places=places), is_added)
    return (out, unbatched(places, is_added)) if return_indices else out


_MAX: dict[str, Any] = {**_DECLARED, "ulps": 0, "distinct": True}


@composite(
    **_MAX, ref=partial(references.max_pool, 1),
    samples=[case((2, 3, 9), 2), case((3, 9), kernel_size=3, stride=2, padding=1),
             case((2, 3, 8), 3, stride=2, ceil_mode=True), case((1, 2, 9), 2, dilation=3)],
    errors=[case((2, 3, 9), 0, match="kernel_size is 0"),
            case((2, 3, 3), 4, match="a window of 4 is longer than the axis of 3"),
            case((2, 3, 9), 2, padding=2, match="padding is 2"),
            case((9,), 2, match="x.ndim is 1"), case((2, 3, 9), 2, stride=0, match="stride is 0"),
            case((2, 3, 9), 2, dtype="int64", match="not defined for int64"),
            case((2, 3, 9), 2, dilation=1 << 60, match="dilation is")],
)  # fmt: skip
def max_pool1d(x: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
               dilation: Ints = 1, ceil_mode: bool = False,
               return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
    """Give the largest element of each window; with return_indices also where it is.

    The first of equal elements is chosen; a NaN is the largest of all.

    >>> ts.nn.functional.max_pool1d(ts.tensor([[1.0, 3.0, 2.0, 4.0]]), 2).tolist()
    [[3.0, 4.0]]
    """
    options = (kernel_size, stride, padding, dilation, ceil_mode, return_indices)
    return _max_pool(1, x, *options)


@composite(
    **_MAX, ref=partial(references.max_pool, 2),
    samples=[case((2, 3, 6, 7), 2), case((3, 6, 7), kernel_size=(3, 2), stride=(2, 1), padding=1),
             case((2, 3, 7, 8), 3, stride=2, ceil_mode=True),
             case((1, 2, 7, 9), 2, dilation=(3, 2)),
             case((0, 2, 4, 4), 2)],
    errors=[case((2, 3, 9, 9), 0, match="kernel_size is 0"),
            case((2, 3, 3, 9), 4, match="a window of 4 is longer than the axis of 3"),
            case((2, 3, 9, 9), 3, padding=2, match="padding is 2"),
            case((2, 9), 2, match="x.ndim is 2"),
            case((2, 3, 9, 9), kernel_size=(2, 2, 2), match="kernel_size is")],
)  # fmt: skip
def max_pool2d(x: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
               dilation: Ints = 1, ceil_mode: bool = False,
               return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
    """Give the largest element of each window; with return_indices also its place in the plane.

    >>> x = ts.reshape(ts.arange(16.0), (1, 4, 4))
    >>> ts.nn.functional.max_pool2d(x, 2).tolist()
    [[[5.0, 7.0], [13.0, 15.0]]]
    """
    options = (kernel_size, stride, padding, dilation, ceil_mode, return_indices)
    return _max_pool(2, x, *options)


# --- means ----------------------------------------------------------------------------------------


def _window_sums(x: Tensor, it: Windows) -> Tensor:
    """Add up each window: a convolution with ones; halves in float32."""
    if not x.dtype.is_floating:
        raise errors.no_kernel(x.dtype, "defined for floats; convert with astype")
    wide = cast(x, float32) if x.dtype.itemsize == 2 else x
    planes = reshape(wide, (x.shape[0] * x.shape[1], 1, *x.shape[2:]))
    kernel = ones((1, 1, *it.window), dtype=wide.dtype)
    out = convolve(planes, kernel, size=it.size, stride=it.stride, pad=it.pad,
                   dilation=it.dilation, groups=1)  # fmt: skip
    return reshape(out, (*x.shape[:2], *it.size))


def _covered(size: int, count: int, window: int, stride: int, pad: int, with_pad: bool) -> Any:
    """Give how much of an axis each window covers: a number, or a tensor where they differ."""
    last = (count - 1) * stride - pad + window
    if last <= size + (pad if with_pad else 0) and (with_pad or pad == 0):
        return window
    starts = arange(count) * stride - pad
    ends = minimum(starts + window, size + pad)
    return ends - starts if with_pad else minimum(ends, size) - maximum(starts, 0)


def _avg_pool(axes: int, x: Tensor, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
              count_include_pad: bool, divisor: int | None) -> Tensor:  # fmt: skip
    x, is_added = batched(x, axes)
    it = Windows(x, axes, kernel_size, stride, padding, 1, ceil_mode)
    if divisor == 0:
        raise errors.wrong_value("divisor_override", 0, "other than 0")
    sums = _window_sums(x, it)
    if divisor is None:
        sizes = zip(x.shape[2:], it.size, it.window, it.stride, it.pad, strict=True)
        counts = [_covered(*each, count_include_pad) for each in sizes]
        below = counts[0] if axes == 1 else _crossed(*counts)
    else:
        below = divisor
    return unbatched(cast(sums / below, x.dtype), is_added)


def _crossed(rows: Any, columns: Any) -> Any:
    return (unsqueeze(rows, 1) if isinstance(rows, Tensor) else rows) * columns


@composite(
    **_DECLARED, ref=partial(references.avg_pool, 1),
    samples=[case((2, 3, 9), 2), case((3, 9), kernel_size=3, stride=2, padding=1),
             case((2, 3, 8), 3, stride=2, ceil_mode=True),
             case((2, 3, 8), 3, padding=1, count_include_pad=False)],
    errors=[case((2, 3, 3), 4, match="a window of 4 is longer"),
            case((2, 3, 9), 2, padding=2, match="padding is 2"),
            case((2, 3, 9), 2, dtype="int64", match="not defined for int64")],
)  # fmt: skip
def avg_pool1d(x: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
               ceil_mode: bool = False, count_include_pad: bool = True) -> Tensor:  # fmt: skip
    """Give the mean of each window; zeros of the padding count, unless told otherwise.

    >>> ts.nn.functional.avg_pool1d(ts.tensor([[1.0, 3.0, 2.0, 4.0]]), 2).tolist()
    [[2.0, 3.0]]
    """
    options = (kernel_size, stride, padding, ceil_mode, count_include_pad)
    return _avg_pool(1, x, *options, None)


@composite(
    **_DECLARED, ref=partial(references.avg_pool, 2),
    samples=[case((2, 3, 6, 7), 2), case((3, 6, 7), kernel_size=(3, 2), stride=(2, 1), padding=1),
             case((2, 3, 7, 8), 3, stride=2, padding=1, ceil_mode=True, count_include_pad=False),
             case((2, 3, 7, 8), 3, stride=2, ceil_mode=True),
             case((1, 1, 4, 4), 3, divisor_override=2),
             case((0, 2, 4, 4), 2)],
    errors=[case((2, 3, 3, 9), 4, match="a window of 4 is longer"),
            case((2, 3, 9, 9), 3, padding=2, match="padding is 2"),
            case((2, 3, 9, 9), 3, divisor_override=0, match="divisor_override is 0")],
)  # fmt: skip
def avg_pool2d(x: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
               ceil_mode: bool = False, count_include_pad: bool = True,
               divisor_override: int | None = None) -> Tensor:  # fmt: skip
    """Give the mean of each window, or its sum divided by divisor_override.

    >>> ts.nn.functional.avg_pool2d(ts.ones(1, 2, 2), 2, padding=1).tolist()
    [[[0.25, 0.25], [0.25, 0.25]]]
    """
    options = (kernel_size, stride, padding, ceil_mode, count_include_pad)
    return _avg_pool(2, x, *options, divisor_override)


# --- norms ----------------------------------------------------------------------------------------


def _lp_pool(axes: int, x: Tensor, p: float, kernel_size: Any, stride: Any, ceil_mode: bool) -> Any:
    if p == 0:
        raise errors.wrong_value("norm_type", p, "other than 0")
    if p in (float("inf"), -float("inf")):
        sized = abs(x) if p > 0 else -abs(x)
        out = _max_pool(axes, sized, kernel_size, stride, 0, 1, ceil_mode, False)
        return out if p > 0 else -out  # type: ignore[operator]  # without indices, a tensor
    count = math.prod(spread("kernel_size", kernel_size, axes))
    means = _avg_pool(axes, pow(x, p), kernel_size, stride, 0, ceil_mode, True, None)
    return pow(mul(sign(means) * relu(abs(means)), count), 1 / p)


@composite(
    **_DECLARED, ref=partial(references.lp_pool, 1), domain=(0.5, 3),
    samples=[case((2, 3, 9), 2.0, 2), case((3, 9), 3.0, 3, stride=2, ceil_mode=True)],
    errors=[case((2, 3, 9), 0.0, 2, match="norm_type is 0")],
)  # fmt: skip
def lp_pool1d(x: Tensor, norm_type: float, kernel_size: Ints, stride: Ints | None = None,
              ceil_mode: bool = False) -> Tensor:  # fmt: skip
    """Give (sum of x ** p) ** (1 / p) of each window, where p is norm_type.

    >>> ts.nn.functional.lp_pool1d(ts.tensor([[3.0, 4.0]]), 2, 2).tolist()
    [[5.0]]
    """
    out: Tensor = _lp_pool(1, x, norm_type, kernel_size, stride, ceil_mode)
    return out


@composite(
    **_DECLARED, ref=partial(references.lp_pool, 2), domain=(0.5, 3),
    samples=[case((2, 3, 6, 7), 2.0, 2), case((3, 6, 7), 3.0, kernel_size=(3, 2), stride=1)],
    errors=[case((2, 3, 9, 9), 0.0, 2, match="norm_type is 0")],
)  # fmt: skip
def lp_pool2d(x: Tensor, norm_type: float, kernel_size: Ints, stride: Ints | None = None,
              ceil_mode: bool = False) -> Tensor:  # fmt: skip
    """Give (sum of x ** p) ** (1 / p) of each window, where p is norm_type.

    >>> ts.nn.functional.lp_pool2d(ts.tensor([[[3.0, 4.0]]]), 2, (1, 2)).tolist()
    [[[5.0]]]
    """
    out: Tensor = _lp_pool(2, x, norm_type, kernel_size, stride, ceil_mode)
    return out
