"""Covariance, correlation, and integrals by trapezoids."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.composites import composite
from tessella.declarations import case
from tessella.hints import Any
from tessella.kinds import cast
from tessella.ops.creation import arange, ones
from tessella.ops.elementwise import clip, conjugate, imag, maximum, real, sqrt
from tessella.ops.matmul import matmul
from tessella.ops.movement import diagonal, normal_axes, reshape, transpose, unsqueeze
from tessella.ops.norms import widened
from tessella.ops.reduce import cumulative_sum, sum


def _cov_ref(np: Any, x: Any, correction: float = 1.0, **weights: Any) -> Any:
    return np.cov(x, ddof=correction, **weights)


@composite(
    ref=_cov_ref,
    samples=[case((3, 5)), case((4,)), case((1, 4)), case((2, 5), correction=0),
             case((2, 3), fweights=arange(3)),
             case((2, 3), aweights=arange(1, 4), correction=0),
             case((2, 3), fweights=arange(1, 4), aweights=arange(3))],
    errors=[case((2, 3, 4), match="x.ndim is 3"),
            case((2, 3), fweights=arange(4), match=r"fweights.shape is \(4,\)"),
            case((2, 3), fweights=ones(3), match="fweights.dtype is float32")],
)  # fmt: skip
def cov(
    x: Tensor, *, correction: float = 1.0, fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Give the covariances of variables, which are rows of observations; a vector is one variable.

    Of one variable it is one number, without axes.

    `fweights` counts how often each observation was made, `aweights` says what it is worth.
    `correction` is subtracted from the number of observations.

    >>> ts.cov(ts.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    if x.ndim > 2:
        raise errors.wrong_value("x.ndim", x.ndim, "at most 2: variables, observations")
    wide = widened(x)
    rows = reshape(wide, (1, -1)) if x.ndim < 2 else wide
    weights, total = _weights(rows, fweights, aweights)
    if aweights is None:
        count = total - correction
    else:
        count = total - sum(weights * cast(aweights, weights.dtype)) / total * correction
    mean = sum(rows * weights, axis=1, keepdims=True) / total
    distance = rows - mean
    products = matmul(distance * weights, conjugate(transpose(distance, 0, 1)))
    out = products / maximum(count, 0)
    out = reshape(out, ()) if rows.shape[0] == 1 else out  # as NumPy and PyTorch have it
    return cast(out, x.dtype) if x.dtype.is_floating else out


def _weights(
    rows: Tensor, fweights: Tensor | None, aweights: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Give the weight of each observation, and their sum."""
    weights = ones(rows.shape[1], dtype=real(rows).dtype)
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        if given.shape != weights.shape:
            raise errors.wrong_value(f"{name}.shape", given.shape, "one for each observation")
        if name == "fweights" and not given.dtype.is_integer:
            raise errors.wrong_value("fweights.dtype", given.dtype, "an integer: they are counts")
        weights = weights * cast(given, weights.dtype)
    return weights, sum(weights)


@composite(
    ref="corrcoef", distinct=True, samples=[case((3, 5)), case((4,)), case((1, 4)), case((2, 2))],
    errors=[case((2, 3, 4), match="x.ndim is 3")],
)  # fmt: skip
def corrcoef(x: Tensor) -> Tensor:
    """Give the correlations of variables, which are rows of observations: from -1 to 1.

    >>> ts.corrcoef(ts.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    wide = widened(x)
    out = cov(wide)
    if out.ndim == 0:
        return cast(out / out, x.dtype) if x.dtype.is_floating else out / out
    spread = sqrt(real(diagonal(out)))
    out = out / unsqueeze(spread, 1) / spread
    # Rounding may carry them beyond 1.
    if out.dtype.is_complex:
        return clip(real(out), -1.0, 1.0) + clip(imag(out), -1.0, 1.0) * 1j
    out = clip(out, -1.0, 1.0)
    return cast(out, x.dtype) if x.dtype.is_floating else out


def _trapezoid_ref(np: Any, y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    y, x = (v if v is None or v.dtype.kind in "fc" else v.astype("float64") for v in (y, x))
    return np.trapezoid(y, x, dx, axis)


@composite(
    ref=_trapezoid_ref, is_method=False, aliases=["trapz"],
    samples=[case((5,)), case((3, 4), dx=0.5, axis=0), case((3, 4), (4,)), case((2, 3), (2, 3)),
             case((3, 4), (3,), axis=0), case((1,)), case((2, 0))],
    errors=[case((3, 4), (3,), match=r"x.shape is \(3,\)"),
            case((3, 4), axis=2, match="axis 2 is out of range"), case((), match="axis -1")],
)  # fmt: skip
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float = 1.0, axis: int = -1) -> Tensor:
    """Integrate along an axis by trapezoids, over the points x or over points dx apart.

    >>> ts.trapezoid(ts.tensor([1.0, 2.0, 3.0])).item()
    4.0
    """
    out = sum(_areas(y, x, dx, axis), axis=axis)
    return cast(out, y.dtype) if y.dtype.itemsize == 2 and y.dtype.is_floating else out


def _cumulative_ref(np: Any, y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    y, x = (v if v is None or v.dtype.kind in "fc" else v.astype("float64") for v in (y, x))
    lines = np.moveaxis(y, axis, -1)
    points = np.arange(lines.shape[-1]) * dx if x is None else x
    points = np.moveaxis(points, axis, -1) if points.ndim == y.ndim else points
    areas = np.diff(points) * (lines[..., 1:] + lines[..., :-1]) / 2
    return np.moveaxis(np.cumsum(areas, -1), -1, axis)


@composite(
    ref=_cumulative_ref, is_method=False,
    samples=[case((5,)), case((3, 4), dx=0.5, axis=0), case((3, 4), (4,)), case((2, 3), (2, 3)),
             case((3, 4), (3,), axis=0), case((1,))],
    errors=[case((3, 4), (3,), match=r"x.shape is \(3,\)"),
            case((3, 4), axis=2, match="axis 2 is out of range"), case((), match="axis -1")],
)  # fmt: skip
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float = 1.0, axis: int = -1
) -> Tensor:
    """Integrate along an axis by trapezoids up to each point but the first.

    >>> ts.cumulative_trapezoid(ts.tensor([1.0, 2.0, 3.0])).tolist()
    [1.5, 4.0]
    """
    place = normal_axes(y, axis)[0]
    out = cumulative_sum(_areas(y, x, dx, axis), place)
    return cast(out, y.dtype) if y.dtype.itemsize == 2 and y.dtype.is_floating else out


def _areas(y: Tensor, x: Tensor | None, dx: float, axis: int) -> Tensor:
    """Give the areas of the trapezoids between neighbours along an axis."""
    place = normal_axes(y, axis)[0]
    size = y.shape[place]
    step: Any = dx
    if x is not None:
        if x.shape not in (y.shape, (size,)):
            raise errors.wrong_value("x.shape", x.shape, f"{(size,)} or {y.shape}, as y asks")
        step = _neighbours(widened(x), place if x.shape == y.shape else 0, -1)
        if x.ndim < y.ndim:
            step = reshape(step, (-1,) + (1,) * (y.ndim - 1 - place))
    out: Tensor = _neighbours(widened(y), place, 1) / 2 * step
    return out


def _neighbours(x: Tensor, axis: int, sign: int) -> Tensor:
    """Give the sums (sign 1) or differences (sign -1) of neighbours along an axis."""
    head = (slice(None),) * axis
    after, before = x[(*head, slice(1, None))], x[(*head, slice(None, -1))]
    return after + before if sign > 0 else after - before
