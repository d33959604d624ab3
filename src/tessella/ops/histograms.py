"""Counts of elements by the interval that they lie in."""

from __future__ import annotations

import math
from typing import NamedTuple

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_float, to_int
from tessella.composites import Operand, composite
from tessella.declarations import case
from tessella.dtypes import float32, float64, int32, int64
from tessella.hints import Any
from tessella.kinds import cast, common_dtype
from tessella.limits import require
from tessella.ops.creation import arange, linspace
from tessella.ops.elementwise import clip, floor, logical_not, where
from tessella.ops.index import scatter_axes
from tessella.ops.movement import reshape
from tessella.ops.reduce import any, max, min, sum
from tessella.ops.sets import searchsorted
from tessella.tensors import tensor


class Histogram(NamedTuple):
    """Counts, and the edges of the intervals: one more than counts."""

    hist: Tensor
    bin_edges: Tensor


def _limits(x: Tensor, low: float, high: float, widen: float) -> tuple[float, float]:
    """Give the ends of the range: those of the elements if none is given, and wider if equal."""
    if low == high and x.size:
        low, high = float(min(x).item()), float(max(x).item())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise errors.wrong_value("the range", (low, high), "finite: give it, or leave NaN out")
    if low > high:
        raise errors.wrong_value("the range", (low, high), "in ascending order")
    return (low - widen, high + widen) if low == high else (low, high)


def _need_bins(bins: int) -> int:
    if bins < 1:
        raise errors.wrong_value("bins", bins, "at least 1")
    return bins


def _histc_ref(np: Any, x: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    low, high = (min, max) if min != max or not x.size else (x.min(), x.max())
    low, high = (low - 1, high + 1) if low == high else (low, high)
    return np.histogram(x, bins, (low, high))[0]


@composite(
    no_capture="without limits the elements are read", instead="give min and max",
    ref=_histc_ref,
    samples=[case((40,), 5), case((3, 40), bins=7, min=-1, max=2), case((), 5), case((0,), 3)],
    errors=[case((2,), 0, match="bins is 0"), case((2,), 2, 3, 1, match=r"the range is \(3.0, 1.0"),
            case((2,), 2, 0, math.inf, match="the range is"),
            case((2,), dtype="int64", match="not defined for int64")],
)  # fmt: skip
def histc(x: Tensor, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Tensor:
    """Count the elements in intervals of equal width from min to max, in the dtype of x.

    Where both are equal, the intervals span the elements. The last one holds its end too; what lies
    outside, and NaN, is not counted.

    >>> ts.histc(ts.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=4).tolist()
    [0.0, 2.0, 1.0, 0.0]
    """
    if not x.dtype.is_floating:
        raise errors.no_kernel(x.dtype, "defined for floats; ts.histogram counts integers")
    flat = reshape(x.detach(), (-1,))
    low, high = _limits(flat, min, max, 1.0)
    _need_bins(bins)
    flat = cast(flat, float32) if x.dtype.itemsize == 2 else flat
    is_inside = (flat >= low) & (flat <= high)
    inside = where(is_inside, flat, low)
    places = cast(floor((inside - low) * bins / (high - low)), int64)
    return cast(_summed(places, is_inside, None, bins), x.dtype)


def _summed(places: Tensor, is_inside: Tensor, weights: Tensor | None, bins: int) -> Tensor:
    """Count what lies inside by its interval, or sum its weights."""
    if weights is None:
        weights = cast(is_inside, int64)
    else:
        is_wide = weights.dtype.is_floating or weights.dtype.is_complex
        weights = where(is_inside, weights if is_wide else cast(weights, int64), 0)
    return scatter_axes(weights, (bins,), (0,), (clip(places, 0, bins - 1),))


def _histogram_ref(np: Any, x: Any, bins: Any = 10, **options: Any) -> Any:
    return np.histogram(x.astype("uint8") if x.dtype.kind == "b" else x, bins, **options)


_EDGES = tensor([0, 1, 2, 4])


@composite(
    no_capture="without a range the elements are read", instead="give the range, or edges as bins",
    ref=_histogram_ref, is_method=False, keywords={"weight": "weights"}, ulps=16,
    no_gradient="counts jump, and edges are read from the elements",
    samples=[case((3, 40), range=(-2, 2)), case((30,), bins=4, range=(-1.0, 2.0)),
             case((30,), _EDGES), case((30,), 6, range=(0, 3), density=True), case((0,), 3),
             case((9,), 4),
             case((12,), _EDGES, weights=arange(12)),
             case((4,), 3, range=(0, 1), weights=tensor([0.5, 1.5, 2.0, 0.25]))],
    errors=[case((2,), 0, match="bins is 0"), case((2,), range=(3, 1), match="the range is"),
            case((2,), arange(3, 0, -1), match="bins is"), case((2,), (2, 2), match="bins.ndim is"),
            case((2,), weights=arange(3), match=r"weights.shape is \(3,\)"),
            case((2,), range=1, match="range must be a pair"),
            case((2,), 2.5, match="bins must be an integer"),
            case((2,), dtype="complex64", match="not defined for complex64")],
)  # fmt: skip
def histogram(x: Tensor, bins: Any = 10, range: Any = None, density: bool = False,
              weights: Tensor | None = None) -> Histogram:  # fmt: skip
    """Count the elements by intervals; give the counts and the edges of the intervals.

    `bins` is how many intervals of equal width there are, over the range or from the smallest to
    the greatest element; or a vector of edges in ascending order. The last interval holds its end
    too. Counts are integers, where PyTorch has them in the dtype of x; weights are summed in their
    own dtype. A density is divided by its sum and the widths, so that its integral is 1.

    >>> counts, edges = ts.histogram(ts.tensor([1.0, 2.0, 1.0]), 2)
    >>> counts.tolist(), edges.tolist()
    ([2, 1], [1.0, 1.5, 2.0])
    """
    if x.dtype.is_complex:
        raise errors.no_kernel(x.dtype, "complex numbers have no order")
    if weights is not None and weights.shape != x.shape:
        raise errors.wrong_value("weights.shape", weights.shape, f"that of x, {x.shape}")
    flat = reshape(x.detach(), (-1,))
    edges = _edges(flat, bins, range)
    count = edges.shape[0] - 1
    kind = common_dtype(("x", "bins"), [flat, edges])
    flat, sharp = cast(flat, kind), cast(edges, kind)
    is_inside = (flat >= sharp[0]) & (flat <= sharp[-1])
    places = searchsorted(sharp, flat, side="right") - 1
    hist = _summed(places, is_inside, None if weights is None else reshape(weights, (-1,)), count)
    if density:
        widths = sharp[1:] - sharp[:-1]
        hist = cast(hist, widths.dtype) / sum(hist) / widths
    return Histogram(hist, edges)


def _edges(flat: Tensor, bins: Any, range: Any) -> Tensor:
    """Check or make the edges of the intervals."""
    if isinstance(bins, Tensor):
        if bins.ndim != 1 or bins.size < 2:
            raise errors.wrong_value("bins.ndim", bins.ndim, "1, with 2 edges or more")
        require(
            logical_not(any(bins[1:] < bins[:-1])),
            lambda: errors.wrong_value("bins", "not in order", "edges in ascending order"),
        )  # fmt: skip
        return bins.detach()
    number = _need_bins(to_int("bins", bins))
    if range is not None and not (isinstance(range, list | tuple) and len(range) == 2):
        raise errors.wrong_type("range", range, "a pair of numbers")
    low, high = (0.0, 0.0) if range is None else (to_float("range", each) for each in range)
    if range is None and not flat.size:
        high = 1.0
    if range is not None and low == high:
        low, high = low - 0.5, high + 0.5
    low, high = _limits(flat, low, high, 0.5)
    dtype = flat.dtype if flat.dtype.is_floating else float64  # integers of 32 bits stay exact
    dtype = float32 if dtype.itemsize == 2 else dtype
    return linspace(low, high, number + 1, dtype=dtype)


def _bucketize_ref(np: Any, x: Any, boundaries: Any, out_int32: bool = False,
                   right: bool = False) -> Any:  # fmt: skip
    return np.searchsorted(boundaries, x, side="right" if right else "left")


@composite(
    ref=_bucketize_ref, is_method=False, ulps=0, step=True,
    samples=[case((3, 4), _EDGES), case((30,), _EDGES, right=True), case((0,), _EDGES)],
    errors=[case((2,), (2, 2), match="x1.ndim is 2"),
            case((2,), _EDGES, right=1, match="right must be True or False")],
)  # fmt: skip
def bucketize(x: Operand, boundaries: Tensor, *, out_int32: bool = False,
              right: bool = False) -> Tensor:  # fmt: skip
    """Give the interval that each element lies in, between boundaries in ascending order.

    An element on a boundary lies left of it, or right. Intervals count from 0, below the first
    boundary, to the number of boundaries, above the last.

    >>> ts.bucketize(ts.tensor([0, 3, 9]), ts.tensor([1, 3, 5])).tolist()
    [0, 1, 3]
    """
    found = searchsorted(boundaries, x, side="right" if right else "left")
    return cast(found, int32) if out_int32 else found


del _EDGES  # tensors of samples alone
