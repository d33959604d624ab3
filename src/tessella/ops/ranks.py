"""Order statistics: elements chosen by their rank along axes, and what lies between them."""

from __future__ import annotations

import builtins
import math

from tessella import errors
from tessella._core import Tensor
from tessella.composites import Axes, Operand, composite
from tessella.declarations import Refusal, case, has_torch_axis, refusal, torch_axis
from tessella.dtypes import boolean, float32, float64, int64
from tessella.hints import Any, Literal
from tessella.kinds import cast
from tessella.ops.creation import arange, ones, zeros
from tessella.ops.elementwise import ceil, clip, floor, isnan, logical_not, round, where
from tessella.ops.index import scatter_axes, take_along_axis
from tessella.ops.joining import concat, stack
from tessella.ops.movement import broadcast_to, permute, reshape, squeeze, unsqueeze
from tessella.ops.ordering import Ordered, argsort, first_few, smallest, sorted_axis
from tessella.ops.reduce import any, argmax, cumulative_sum, reduced_axes, sum
from tessella.tensors import tensor


@composite(
    ref=lambda np, x, k, axis=-1, keepdims=False: tuple(
        np.take(each, [k - 1] if keepdims else k - 1, axis)
        for each in (np.sort(x, axis=axis), np.argsort(x, axis=axis, stable=True))
    ),
    ulps=0,
    samples=[case((7,), k=3), case((3, 5), k=1, axis=0), case((3, 5), k=5, keepdims=True)],
    errors=[case((2, 3), k=0, match="k is 0"), case((2, 3), k=4, match="k is 4"),
            case((), k=1, match="x.ndim is 0")],
)  # fmt: skip
def kthvalue(x: Tensor, k: int, axis: int = -1, keepdims: bool = False) -> Ordered:
    """Give the k-th smallest element along an axis, from 1 on, and where it is.

    >>> ts.kthvalue(ts.tensor([30, 10, 20]), 2).values.item()
    20
    """
    place = sorted_axis(x, axis)
    if not 1 <= k <= x.shape[place]:
        raise errors.wrong_value("k", k, f"1 to {x.shape[place]}, the size of the axis")
    found = first_few(x, k, place)
    last = (slice(None),) * place + (slice(k - 1, k),)
    parts = [each[last] for each in found]
    return Ordered(*(parts if keepdims else [squeeze(each, place) for each in parts]))


def _mode_ref(np: Any, x: Any, axis: int = -1, keepdims: bool = False) -> Any:
    def of_line(line: Any) -> Any:
        values, counts = np.unique(line, return_counts=True)
        return np.flatnonzero(line == values[np.argmax(counts)])[-1]

    index = np.apply_along_axis(of_line, axis, x)
    kept = np.expand_dims(index, axis)
    values = np.take_along_axis(x, kept, axis)
    return (values, kept) if keepdims else (np.squeeze(values, axis), index)


@composite(
    ref=_mode_ref, ulps=0, step=True,
    samples=[case((7,)), case((3, 9), axis=0), case((2, 30), keepdims=True)],
    errors=[case((2, 0), match="no elements to choose from"), case((), match="x.ndim is 0"),
            case((2,), dtype="complex64", match="not defined for complex64")],
)  # fmt: skip
def mode(x: Tensor, axis: int = -1, keepdims: bool = False) -> Ordered:
    """Give the most frequent element along an axis, and where it is last.

    Of several equally frequent ones it is the smallest. NaNs are equal to none, so none of them is
    frequent.

    >>> ts.mode(ts.tensor([3, 1, 3, 2])).values.item()
    3
    """
    place = sorted_axis(x, axis)
    lines = _lines(x, (place,))
    n = lines.shape[-1]
    if n == 0:
        raise errors.empty_reduction(x.shape)
    order = argsort(lines)
    values = take_along_axis(lines.detach(), order)
    is_first = ones((*lines.shape[:-1], 1), dtype=boolean)
    is_new = concat([is_first, values[..., 1:] != values[..., :-1]], -1)
    # Runs of equal elements, numbered within their line, and where each ends.
    number = cumulative_sum(cast(is_new, int64), -1) - 1
    offset = unsqueeze(arange(lines.size // n) * n, -1)
    flat = reshape(reshape(number, (-1, n)) + offset, (-1,))
    one = broadcast_to(ones((1,), dtype=int64), (lines.size,))
    counts = reshape(scatter_axes(one, (lines.size,), (0,), (flat,)), lines.shape)
    ends = cumulative_sum(counts, -1) - 1
    index = take_along_axis(order, take_along_axis(ends, argmax(counts, -1, keepdims=True)))
    found = Ordered(take_along_axis(lines, index), index)
    return Ordered(*(_placed(squeeze(each, -1), (place,), keepdims) for each in found))


# --- quantiles -----------------------------------------------------------------------------------


def _lines(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Bring axes behind the others, as one."""
    kept = [i for i in range(x.ndim) if i not in axes]
    size = math.prod(x.shape[a] for a in axes)
    return reshape(permute(x, (*kept, *axes)), (*(x.shape[i] for i in kept), size))


def _placed(out: Tensor, axes: tuple[int, ...], keepdims: bool, first: int = 0) -> Tensor:
    """Put axes of size 1 where axes were reduced, behind the first so many."""
    return unsqueeze(out, tuple(first + a for a in sorted(axes))) if keepdims else out


def _levels(q: Operand) -> tuple[list[float], tuple[int, ...]]:
    """Give the shares that are asked for, in a list, and their shape."""
    levels: Any = reshape(q, (-1,)).tolist() if isinstance(q, Tensor) else [q]
    for level in levels:
        if not isinstance(level, int | float) or not 0 <= level <= 1:
            raise errors.wrong_value("q", level, "in 0 to 1")
    return levels, q.shape if isinstance(q, Tensor) else ()


def _ranks(place: Any, method: str, down: Any, up: Any, near: Any) -> tuple[Any, Any, Any]:
    """Give the ranks that a place lies between, and how far it is from the first to the second."""
    if method == "nearest":
        return near(place), near(place), 0
    low = down(place) if method != "higher" else up(place)
    high = low if method in ("lower", "higher") else up(place)
    return low, high, {"linear": place - low, "midpoint": (high - low) / 2}.get(method, 0)


def _between(low: Tensor, high: Tensor, share: Any) -> Tensor:
    """Go a share of the way; from an infinity to itself is no way."""
    return where(low == high, low, low + (high - low) * share)


def _quantile(lines: Tensor, level: float, ordered: Tensor, method: str) -> Tensor:
    """Give one quantile of lines without NaN, of which the first elements are in order."""
    place = level * (lines.shape[-1] - 1)
    low, high, share = _ranks(place, method, math.floor, math.ceil, builtins.round)
    return _between(ordered[..., low], ordered[..., high], share)


def _nanquantile(count: Tensor, level: float, ordered: Tensor, method: str) -> Tensor:
    """Give one quantile of the first elements of ordered lines, as many as are counted."""
    place = cast(clip(count - 1, 0), float64) * level
    low, high, share = _ranks(place, method, floor, ceil, round)
    first, second = (
        squeeze(take_along_axis(ordered, unsqueeze(cast(each, int64), -1)), -1)
        for each in (low, high)
    )
    return _between(
        first, second, cast(share, ordered.dtype) if isinstance(share, Tensor) else share
    )


def _quantiles(
    x: Tensor, q: Operand, axis: Axes, method: str, keepdims: bool, skips_nan: bool
) -> Tensor:
    if not x.dtype.is_floating:
        raise errors.no_kernel(x.dtype, "defined for floats; convert with astype")
    levels, shape = _levels(q)
    axes = reduced_axes(x, axis)
    lines = _lines(x, axes)
    n = lines.shape[-1]
    if n == 0:
        raise errors.empty_reduction(x.shape)
    last = n if skips_nan else math.ceil(max(levels, default=0.0) * (n - 1)) + 1
    ordered = smallest(lines, last, lines.ndim - 1)
    wide = cast(ordered, float32) if x.dtype.itemsize == 2 else ordered
    if skips_nan:
        count = sum(cast(logical_not(isnan(lines)), int64), axis=-1)
        parts = [_nanquantile(count, level, wide, method) for level in levels]
    else:
        has_nan = any(isnan(lines), axis=-1)
        parts = [where(has_nan, math.nan, _quantile(lines, level, wide, method))
                 for level in levels]  # fmt: skip
    parts = [cast(_placed(part, axes, keepdims), x.dtype) for part in parts]
    if not shape:
        return parts[0]
    each = _placed(lines[..., 0], axes, keepdims).shape
    return reshape(stack(parts) if parts else zeros((0,), dtype=x.dtype), (*shape, *each))


_WHY = "gives the lower of the two in the middle, and its index"


def _median_along(axis: str, rank: int) -> Refusal:
    def of_call(args: tuple[Any, ...], keywords: dict[str, Any]) -> Refusal:
        x: Any = args[0] if args else keywords.get("input")
        axis = torch_axis(args, keywords)
        try:
            size = x.shape[int(axis)]
        except (AttributeError, IndexError, ValueError):  # the next call tells what is wrong
            size = 1
        return _median_along(axis, (size + 1) // 2)

    pair = (f"x.median(axis={axis})", f"x.kthvalue({rank}, dim={axis})")
    return refusal(f"x.median(dim={axis})", pair, _WHY, has_torch_axis, of_call)


def _nanmedian_along(axis: str) -> Refusal:
    pair = (f"x.nanmedian(axis={axis})", f'x.nanquantile(0.5, axis={axis}, method="lower")')
    return refusal(f"x.nanmedian(dim={axis})", pair, _WHY, has_torch_axis,
                   lambda *call: _nanmedian_along(torch_axis(*call)))  # fmt: skip


_QUANTILES: dict[str, Any] = {
    "no_capture": "a tensor q is read",
    "instead": "give q as a number, or as several calls with one each",
    "keywords": {"interpolation": "method"},
    "samples": [case((7,), q=0.3), case((3, 4), q=0.5, axis=0), case((2, 3, 4), q=1.0, axis=(0, 2)),
                case((3, 6), q=0.4, axis=1, method="nearest", keepdims=True),
                case((3, 6), q=0.25, method="midpoint"), case((9,), q=0.7, method="lower"),
                case((2, 9), q=tensor([0.0, 0.25, 1.0], dtype=float64), axis=1),
                case((5,), q=0.7, method="higher")],
    "errors": [case((3,), q=1.5, match="q is 1.5"),
               case((2, 0), q=0.5, axis=1, match="no elements"),
               case((3,), q=0.5, method="cubic", match="method is 'cubic'"),
               case((3,), q=0.5, dtype="int64", match="not defined for int64"),
               case((2, 3), q=0.5, axis=2, match="axis 2 is out of range")],
}  # fmt: skip
_MEDIANS: dict[str, Any] = {
    "samples": [case((7,)), case((6,)), case((3, 4), axis=0), case((2, 3, 4), axis=(0, 2)),
                case((3, 4), axis=1, keepdims=True), case(())],
    "errors": [case((2, 0), axis=1, match="no elements"), case((2, 3), axis=2, match="axis 2 is"),
               case((3,), dtype="int64", match="not defined for int64")],
}  # fmt: skip


@composite(ref="quantile", **_QUANTILES)
def quantile(
    x: Tensor, q: Operand, axis: Axes = None, *,
    method: Literal["linear", "lower", "higher", "midpoint", "nearest"] = "linear",
    keepdims: bool = False,
) -> Tensor:  # fmt: skip
    """Give the value that a share q of the elements lies below.

    Where that is between two elements, `method` says what is given: a point on the line between
    them, the lower or the higher, the nearer, or the middle. Several shares, in a tensor, give
    several results, along new first axes. A NaN among the elements makes the result NaN.

    >>> ts.quantile(ts.tensor([0.0, 10.0, 20.0]), 0.25).item()
    5.0
    """
    return _quantiles(x, q, axis, method, keepdims, False)


@composite(ref="nanquantile", **_QUANTILES)
def nanquantile(
    x: Tensor, q: Operand, axis: Axes = None, *,
    method: Literal["linear", "lower", "higher", "midpoint", "nearest"] = "linear",
    keepdims: bool = False,
) -> Tensor:  # fmt: skip
    """Give quantiles of the elements that are not NaN; NaN where all are.

    >>> ts.nanquantile(ts.tensor([0.0, float("nan"), 20.0]), 0.25).item()
    5.0
    """
    return _quantiles(x, q, axis, method, keepdims, True)


@composite(ref="median", refuses=[_median_along("1", 2)], **_MEDIANS)
def median(x: Tensor, axis: Axes = None, *, keepdims: bool = False) -> Tensor:
    """Give the element in the middle of the order, or the mean of the two that are there.

    >>> ts.median(ts.tensor([5.0, 1.0, 2.0, 4.0])).item()
    3.0
    """
    return _quantiles(x, 0.5, axis, "linear", keepdims, False)


@composite(ref="nanmedian", refuses=[_nanmedian_along("1")], **_MEDIANS)
def nanmedian(x: Tensor, axis: Axes = None, *, keepdims: bool = False) -> Tensor:
    """Give the median of the elements that are not NaN; NaN where all are.

    >>> ts.nanmedian(ts.tensor([5.0, float("nan"), 2.0, 1.0])).item()
    2.0
    """
    return _quantiles(x, 0.5, axis, "linear", keepdims, True)
