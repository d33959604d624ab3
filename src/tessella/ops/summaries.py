"""Sums and means of what is not NaN, and two summaries at once: minimum and maximum, mean and
variance.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tessella import errors
from tessella._core import Tensor
from tessella.composites import Axes, DTypeLike, composite
from tessella.declarations import Refusal, case, has_torch_axis, refusal, torch_axis
from tessella.dtypes import float32
from tessella.hints import Any
from tessella.kinds import cast
from tessella.ops.complexes import joined, view_as_real
from tessella.ops.elementwise import clip, isnan, logical_not, where
from tessella.ops.reduce import max, mean, min, reduced_axes, std, sum, var
from tessella.ops.types import finfo
from tessella.tensors import clone


class MinMax(NamedTuple):
    """The smallest and the greatest element."""

    min: Tensor
    max: Tensor


class StdMean(NamedTuple):
    """Standard deviation and mean."""

    std: Tensor
    mean: Tensor


class VarMean(NamedTuple):
    """Variance and mean."""

    var: Tensor
    mean: Tensor


def _can_be_nan(x: Tensor) -> bool:
    return x.dtype.is_floating or x.dtype.is_complex


_OVER_AXES = [
    case((3, 4)),
    case((3, 4), axis=0),
    case((2, 3, 4), axis=(0, 2), keepdims=True),
    case((), axis=None),
]
_NO_AXIS = case((2, 3), axis=2, match="axis 2 is out of range")


# --- what is not NaN -----------------------------------------------------------------------------


def _nansum_ref(np: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.nansum(x, axis=axis, keepdims=keepdims)


@composite(ref=_nansum_ref, samples=[*_OVER_AXES, case((2, 0), axis=1)], errors=[_NO_AXIS])
def nansum(
    x: Tensor, axis: Axes = None, keepdims: bool = False, dtype: DTypeLike | None = None
) -> Tensor:
    """Give the sum over axes of the elements that are not NaN.

    >>> ts.nansum(ts.tensor([1.0, float("nan"), 2.0])).item()
    3.0
    """
    found = where(isnan(x), 0, x) if _can_be_nan(x) else x
    return sum(found, axis=axis, keepdims=keepdims, dtype=dtype)


def _nanmean_ref(np: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.nanmean(x, axis=axis, keepdims=keepdims)


@composite(
    ref=_nanmean_ref, samples=_OVER_AXES,
    errors=[_NO_AXIS, case((2,), dtype="int64", match="not defined for int64")],
)  # fmt: skip
def nanmean(x: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Give the mean over axes of the elements that are not NaN; NaN where all are.

    >>> ts.nanmean(ts.tensor([1.0, float("nan"), 2.0])).item()
    1.5
    """
    if not _can_be_nan(x):
        raise errors.no_kernel(x.dtype, "defined for floats; convert with astype")
    wide = cast(x, float32) if x.dtype.itemsize == 2 else x
    is_number = logical_not(isnan(wide))
    total = sum(where(is_number, wide, 0), axis=axis, keepdims=keepdims)
    count = sum(is_number, axis=axis, keepdims=keepdims)
    return cast(total / cast(count, total.dtype), x.dtype)


def _nan_to_num_ref(np: Any, x: Any, nan: float = 0.0, posinf: Any = None,
                    neginf: Any = None) -> Any:  # fmt: skip
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


@composite(
    ref=_nan_to_num_ref, ulps=0, has_twin=True,
    samples=[case((3, 4)), case((3, 4), 1.5, 2.0, -2.0), case((), neginf=-1.0), case((0, 2))],
    errors=[case((2,), "0", match="nan must be a real number, got str"),
            case((2,), False, match="nan must be a real number, got bool")],
)  # fmt: skip
def nan_to_num(x: Tensor, nan: float | None = None, posinf: float | None = None,
               neginf: float | None = None) -> Tensor:  # fmt: skip
    """Put numbers for NaN (0) and the infinities (the greatest and the lowest of the dtype).

    >>> ts.nan_to_num(ts.tensor([float("nan"), 1.0, float("inf")]), posinf=9.0).tolist()
    [0.0, 1.0, 9.0]
    """
    if x.dtype.is_complex:
        parts = nan_to_num(view_as_real(x), nan, posinf, neginf)
        return joined(parts[..., 0], parts[..., 1])
    if not x.dtype.is_floating:
        return clone(x)
    most = finfo(x.dtype).max
    if posinf is neginf is None:
        out = clip(x, -most, most)
    else:
        out = where(x == math.inf, most if posinf is None else posinf, x)
        out = where(x == -math.inf, -most if neginf is None else neginf, out)
    return where(isnan(x), 0.0 if nan is None else nan, out)


# --- two at once ---------------------------------------------------------------------------------


@composite(
    ref=lambda np, x, axis=None, keepdims=False: (
        x.min(axis=axis, keepdims=keepdims), x.max(axis=axis, keepdims=keepdims)),
    ulps=0, samples=_OVER_AXES,
    errors=[_NO_AXIS, case((2, 0), axis=1, match="no elements to choose from"),
            case((2,), dtype="complex64", match="not defined for complex64")],
)  # fmt: skip
def aminmax(x: Tensor, *, axis: Axes = None, keepdims: bool = False) -> MinMax:
    """Give the smallest and the greatest element over axes; NaN if any is NaN.

    >>> low, high = ts.aminmax(ts.tensor([3, 1, 2]))
    >>> low.item(), high.item()
    (1, 3)
    """
    axes = reduced_axes(x, axis)
    return MinMax(min(x, axis=axes, keepdims=keepdims), max(x, axis=axes, keepdims=keepdims))


def _divides_otherwise(name: str) -> list[Refusal]:
    why = "divides by n - 1, std and var here by n: say which"

    def unsaid(axis: str) -> Refusal:
        here = tuple([f"ts.{name}(x{axis}, correction={n})" for n in (1, 0)])
        return refusal(f"torch.{name}(x{axis})", here, why,
                       lambda args, keywords: len(args) > 0 and "correction" not in keywords,
                       lambda args, keywords: unsaid(
                           f", dim={torch_axis(args, keywords)}"
                           if has_torch_axis(args, keywords) else ""))  # fmt: skip

    pair = (f"ts.{name}(x, correction=1)", f"ts.{name}(x, correction=0)")
    return [
        refusal(f"torch.{name}(x, unbiased=False)", pair[1], "divides by n",
                lambda args, keywords: keywords.get("unbiased", 1) in (0, None)),
        refusal(f"torch.{name}(x, unbiased=True)", pair[0], "divides by n - 1",
                lambda args, keywords: "unbiased" in keywords),
        unsaid(""),
    ]  # fmt: skip


_SPREADS: dict[str, Any] = {
    "samples": [case((3, 4), correction=1), case((3, 4), axis=0, correction=0),
                case((2, 3, 4), axis=(0, 2), correction=1, keepdims=True)],
    "errors": [case((2, 3), axis=2, correction=1, match="axis 2 is out of range"),
               case((2,), match="in PyTorch"),
               case((2,), correction=1, dtype="int64", match="not defined for int64")],
}  # fmt: skip


@composite(
    ref=lambda np, x, correction, **rest: (np.std(x, ddof=correction, **rest), x.mean(**rest)),
    refuses=_divides_otherwise("std_mean"), distinct=True, **_SPREADS,
)  # fmt: skip
def std_mean(x: Tensor, axis: Axes = None, *, correction: float, keepdims: bool = False) -> StdMean:
    """Give the standard deviation and the mean over axes.

    `correction` is subtracted from the number of elements: 1 gives the unbiased estimate.

    >>> spread, middle = ts.std_mean(ts.tensor([2.0, 4.0]), correction=0)
    >>> spread.item(), middle.item()
    (1.0, 3.0)
    """
    axes = reduced_axes(x, axis)
    spread = std(x, axis=axes, correction=correction, keepdims=keepdims)
    return StdMean(spread, mean(x, axis=axes, keepdims=keepdims))


@composite(
    ref=lambda np, x, correction, **rest: (np.var(x, ddof=correction, **rest), x.mean(**rest)),
    refuses=_divides_otherwise("var_mean"), **_SPREADS,
)  # fmt: skip
def var_mean(x: Tensor, axis: Axes = None, *, correction: float, keepdims: bool = False) -> VarMean:
    """Give the variance and the mean over axes.

    `correction` is subtracted from the number of elements: 1 gives the unbiased estimate.

    >>> spread, middle = ts.var_mean(ts.tensor([2.0, 4.0]), correction=1)
    >>> spread.item(), middle.item()
    (2.0, 3.0)
    """
    axes = reduced_axes(x, axis)
    spread = var(x, axis=axes, correction=correction, keepdims=keepdims)
    return VarMean(spread, mean(x, axis=axes, keepdims=keepdims))
