"""Images of other sizes: by the nearest element, by lines between elements, or by moving channels.

Axes are done one after another: along each, a result is one element, or a mean of two.
"""

from __future__ import annotations

import math

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import LISTS, to_float, to_int
from tessella.composites import composite
from tessella.declarations import case
from tessella.dtypes import float32, float64, int64
from tessella.hints import Any, Literal
from tessella.kinds import cast
from tessella.nn.functional import references
from tessella.ops.creation import arange
from tessella.ops.elementwise import clip, floor, maximum, minimum
from tessella.ops.index import take
from tessella.ops.movement import owned, permute, reshape

_DECLARED: dict[str, Any] = {"home": "nn.functional", "is_method": False}
_LINES = {"linear": 1, "bilinear": 2, "trilinear": 3}  # how many axes of space each is for


@composite(
    **_DECLARED, ref=references.interpolate, ulps=16, domain=(-1, 1),
    samples=[case((2, 3, 4), scale_factor=2), case((1, 2, 3, 5), size=(5, 4)),
             case((2, 1, 4, 3), scale_factor=1.7, mode="bilinear"),
             case((2, 1, 4, 3), size=(7, 2), mode="bilinear", align_corners=True),
             case((1, 2, 5), size=3, mode="linear"), case((1, 2, 5), size=8, mode="nearest-exact"),
             case((1, 1, 2, 3, 2), size=(3, 2, 4), mode="trilinear")],
    errors=[case((2, 3), size=2, match="x.ndim is 2"), case((1, 2, 3), match="size is None"),
            case((1, 2, 3), size=2, scale_factor=2, match="scale_factor is 2"),
            case((1, 2, 3), size=(2, 2), match=r"size is \(2, 2\)"),
            case((1, 2, 3), size=0, match="size is 0"),
            case((1, 2, 3), scale_factor=math.inf, match="scale_factor is inf"),
            case((1, 2, 3), size=2, mode="bilinear", match="mode is 'bilinear'"),
            case((1, 2, 3), size=2, align_corners=True, match="align_corners is True"),
            case((1, 2, 3), size=2, antialias=True, match="antialias is True")],
)  # fmt: skip
def interpolate(
    x: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: Literal["nearest", "nearest-exact", "linear", "bilinear", "trilinear"] = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Give images (n, channels, …) another size, or one that is `scale_factor` times as large.

    `align_corners` lays the middles of the outermost elements on each other, in place of the edges.

    >>> ts.nn.functional.interpolate(ts.tensor([[[0.0, 2.0]]]), size=3, mode="linear").tolist()
    [[[0.0, 1.0, 2.0]]]
    """
    axes = x.ndim - 2
    if axes < 1:
        raise errors.wrong_value("x.ndim", x.ndim, "at least 3: (n, channels, …)")
    if antialias:
        raise errors.wrong_value("antialias", antialias, "False: smooth before, by avg_pool2d")
    if _LINES.get(mode, axes) != axes:
        raise errors.wrong_value("mode", mode, f"one that is for {axes} axes of space")
    if align_corners and mode not in _LINES:
        raise errors.wrong_value("align_corners", align_corners, 'for mode="bilinear" and its kin')
    sizes, steps = _sizes(x, size, scale_factor, bool(recompute_scale_factor))
    for axis, (n, step) in enumerate(zip(sizes, steps, strict=True), start=2):
        if mode in _LINES:
            x = _between(x, axis, n, step, bool(align_corners))
        else:
            x = _nearest(x, axis, n, step, 0.5 if mode == "nearest-exact" else 0.0)
    return x


def _sizes(x: Tensor, size: Any, scale: Any, is_exact: bool) -> tuple[list[int], list[float]]:
    """Give the new sizes, and how many elements one step is."""
    name, given = ("size", size) if scale is None else ("scale_factor", scale)
    if given is None or (size is not None and scale is not None):
        raise errors.wrong_value(name, given, "given, or scale_factor is: one of the two")
    old = x.shape[2:]
    parts = list(given) if isinstance(given, LISTS) else [given] * len(old)
    if len(parts) != len(old):
        raise errors.wrong_value(name, given, f"one number, or {len(old)}")
    if scale is None:
        new = [to_int(name, n) for n in parts]
    else:
        parts = [to_float(name, n) for n in parts]
        if not all(0 < part < math.inf for part in parts):
            raise errors.wrong_value(name, given, "a number above 0")
        new = [math.floor(n * part) for n, part in zip(old, parts, strict=True)]
    if min(new) < 1 or min(old) < 1:
        raise errors.wrong_value(name, given, "so that no axis is empty, before or after")
    if scale is None or is_exact:
        return new, [a / b for a, b in zip(old, new, strict=True)]
    return new, [1 / part for part in parts]


def _nearest(x: Tensor, axis: int, n: int, step: float, middle: float) -> Tensor:
    """Take the element whose place is nearest, counted in float32 as PyTorch does."""
    places = floor((arange(n, dtype=float32) + middle) * step)
    return take(x, clip(cast(places, int64), 0, x.shape[axis] - 1), axis)


def _between(x: Tensor, axis: int, n: int, step: float, is_aligned: bool) -> Tensor:
    """Take the means of the two elements that a place is between."""
    last = x.shape[axis] - 1
    x = x if x.dtype.is_floating or x.dtype.is_complex else cast(x, float32)
    count = arange(n, dtype=float64 if x.dtype.itemsize >= 8 else float32)
    if is_aligned:
        places = count * (last / (n - 1) if n > 1 else 0.0)
    else:
        places = maximum((count + 0.5) * step - 0.5, 0)
    before = minimum(floor(places), last)
    shape = (n,) + (1,) * (x.ndim - axis - 1)
    share = cast(reshape(places - before, shape), x.dtype)
    low = cast(before, int64)
    first, second = take(x, low, axis), take(x, minimum(low + 1, last), axis)
    return first + (second - first) * share


# --- channels and places --------------------------------------------------------------------------


@composite(
    **_DECLARED, ref=references.pixel_shuffle, ulps=0,
    samples=[case((2, 8, 2, 3), 2), case((9, 1, 2), 3), case((3, 2, 4), upscale_factor=1)],
    errors=[case((2, 6, 2, 3), 2, match=r"x.shape\[-3\] is 6"),
            case((4, 4), 2, match="x.ndim is 2"), case((4, 4, 4), 0, match="upscale_factor is 0")],
)  # fmt: skip
def pixel_shuffle(x: Tensor, upscale_factor: int) -> Tensor:
    """Make images (…, channels * r², height, width) r times as high and wide, of fewer channels.

    >>> ts.nn.functional.pixel_shuffle(ts.reshape(ts.arange(4), (4, 1, 1)), 2).tolist()
    [[[0, 1], [2, 3]]]
    """
    r = upscale_factor
    if x.ndim < 3:
        raise errors.wrong_value("x.ndim", x.ndim, "at least 3: (…, channels, height, width)")
    if r < 1:
        raise errors.wrong_value("upscale_factor", r, "at least 1")
    *batch, channels, height, width = x.shape
    if channels % (r * r):
        raise errors.wrong_value("x.shape[-3]", channels, f"a multiple of {r * r}")
    k = len(batch)
    out = reshape(x, (*batch, channels // (r * r), r, r, height, width))
    out = permute(out, (*range(k), k, k + 3, k + 1, k + 4, k + 2))
    return owned(reshape(out, (*batch, channels // (r * r), height * r, width * r)), x)
