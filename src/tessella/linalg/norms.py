"""Norms of vectors and matrices, and condition numbers."""

from __future__ import annotations

import math

from tessella import errors
from tessella._core import Tensor
from tessella.composites import Axes, composite
from tessella.declarations import case
from tessella.hints import Any
from tessella.linalg.factors import svdvals
from tessella.linalg.inverses import det, inv
from tessella.linalg.shapes import need_matrices, need_square
from tessella.ops.composite import moveaxis
from tessella.ops.creation import eye
from tessella.ops.elementwise import abs, where
from tessella.ops.movement import unsqueeze
from tessella.ops.norms import to_order, vector_norm as norm_over, widened
from tessella.ops.reduce import max, min, reduced_axes, sum

_WORDS = ("fro", "nuc")
_ORDERS = (1.0, -1.0, 2.0, -2.0, math.inf, -math.inf)


@composite(
    home="linalg", ref="linalg.vector_norm",
    samples=[case((3, 4)), case((3, 4), axis=0, ord=1), case((2, 3), axis=(0, 1), ord=math.inf),
             case((3, 4), axis=-1, keepdims=True, ord=3), case((5,), ord=0), case((0, 2), axis=0)],
    errors=[case((2, 3), axis=2, match="axis 2 is out of range"),
            case((2, 3), ord="fro", match="ord must be a real number")],
)  # fmt: skip
def vector_norm(x: Tensor, *, axis: Axes = None, keepdims: bool = False, ord: Any = 2) -> Tensor:
    """Give (sum |x| ** ord) ** (1 / ord) over axes; an infinity gives the greatest or smallest |x|.

    >>> ts.linalg.vector_norm(ts.tensor([3.0, 4.0])).item()
    5.0
    """
    return norm_over(x, reduced_axes(x, axis), to_order("ord", ord), keepdims)


def _check_order(ord: Any) -> str | float:
    """Require an order that matrices have a norm of."""
    order = ord if isinstance(ord, str) else to_order("ord", ord)
    if order not in (*_WORDS, *_ORDERS):
        raise errors.wrong_value("ord", ord, '"fro", "nuc", 1, -1, 2, -2, inf or -inf')
    return order


def _extreme(x: Tensor, axis: int, is_greatest: bool) -> Tensor:
    """Give the greatest or smallest along an axis, which stays; the greatest of nothing is 0."""
    if is_greatest and x.shape[axis] == 0:
        return sum(x, axis=axis, keepdims=True)
    return (max if is_greatest else min)(x, axis=axis, keepdims=True)


@composite(
    no_capture="NumPy computes it",
    home="linalg", ref="linalg.matrix_norm", matrices="regular",
    samples=[case((3, 4)), *(case((2, 3, 4), ord=order) for order in (*_WORDS, *_ORDERS)),
             case((3, 3), ord=2, keepdims=True), case((0, 3), ord=1)],
    errors=[case((3,), match="x.ndim is 1"), case((2, 2), ord=3, match="ord is 3"),
            case((2, 2), ord="l2", match="ord is 'l2'")],
)  # fmt: skip
def matrix_norm(x: Tensor, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """Give a norm of each matrix.

    "fro" is the root of the sum of squares, "nuc" the sum of singular values, 2 and -2 the largest
    and smallest of them, 1 and -1 sums of |x| over columns, inf and -inf over rows.

    >>> ts.linalg.matrix_norm(ts.tensor([[1.0, -2.0], [3.0, 4.0]]), ord=1).item()
    6.0
    """
    need_matrices(x)
    order = _check_order(ord)
    if order == "fro":
        out = norm_over(x, (-2, -1), 2.0, True)
    elif order in ("nuc", 2, -2):
        values = unsqueeze(svdvals(x), -2)
        out = sum(values, axis=-1, keepdims=True) if order == "nuc" else _extreme(
            values, -1, order == 2)  # fmt: skip
    else:
        assert isinstance(order, float)
        lines = -2 if math.isfinite(order) else -1
        sums = sum(abs(widened(x)), axis=lines, keepdims=True)
        out = _extreme(sums, -3 - lines, order > 0)
    return out if keepdims else out[..., 0, 0]


@composite(
    no_capture="NumPy computes it",
    home="linalg", ref="linalg.norm", distinct=True,
    samples=[case((2, 3, 4)), case((5,), 3), case((3, 4), "fro"), case((3, 4), "nuc"),
             case((3, 4), 1), case((3, 4), 2, axis=1), case((2, 3, 4), math.inf, axis=(0, 2)),
             case((2, 3, 4), axis=(2, 1), keepdims=True), case((2, 3), keepdims=True)],
    errors=[case((2, 3, 4), 1, match="x.ndim is 3"), case((2, 3), 3, match="ord is 3"),
            case((2, 3, 4), 1, axis=(0, 1, 2), match="axis is"),
            case((2, 3), axis=(0, 0), match="repeated axis 0"),
            case((3,), "fro", match="ord must be a real number")],
)  # fmt: skip
def norm(x: Tensor, ord: Any = None, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Give the norm of vectors (one axis) or matrices (two axes), or of all elements.

    Without an axis, ord means a norm of x as it is: a vector or a matrix.

    >>> ts.linalg.norm(ts.tensor([[3.0, 0.0], [0.0, 4.0]]), 2).item()
    4.0
    """
    axes = reduced_axes(x, axis)
    if ord is None:
        return norm_over(x, axes, 2.0, keepdims)
    if axis is None and x.ndim not in (1, 2):
        raise errors.wrong_value("x.ndim", x.ndim, "1 or 2 where axis is not given")
    if len(axes) == 1:
        return norm_over(x, axes, to_order("ord", ord), keepdims)
    if len(axes) != 2:
        raise errors.wrong_value("axis", axis, "one axis for vectors, two for matrices")
    order = _check_order(ord)
    out = matrix_norm(moveaxis(x, axes, (-2, -1)), ord=order, keepdims=keepdims)
    return moveaxis(out, (-2, -1), axes) if keepdims else out


@composite(
    no_capture="NumPy computes it",
    home="linalg", matrices="regular",
    ref=lambda np, x, p=None: np.linalg.cond(x, p), ulps=64,  # products of two norms of inverses
    samples=[case((3, 3)), case((2, 4, 3)), case((2, 3, 3), 1), case((3, 3), "fro"),
             case((2, 2), p=-2)],
    errors=[case((3,), match="x.ndim is 1"), case((2, 3), 1, match=r"x.shape is \(2, 3\)")],
)  # fmt: skip
def cond(x: Tensor, p: Any = None) -> Tensor:
    """Give the condition number in a norm: |x| |x^-1|; the quotient of singular values for 2.

    >>> ts.linalg.cond(ts.tensor([[4.0, 0.0], [0.0, 1.0]])).item()
    4.0
    """
    need_matrices(x)
    order = 2.0 if p is None else _check_order(p)
    if order in (2, -2):
        values = svdvals(x)
        ends = values[..., 0], values[..., -1]
        return ends[1] / ends[0] if order == -2 else ends[0] / ends[1]
    size = need_square(x)
    is_singular = unsqueeze(det(x.detach()) == 0, (-2, -1))
    regular = where(is_singular, eye(size, dtype=x.dtype), x)
    found = matrix_norm(x, ord=order) * matrix_norm(inv(regular), ord=order)
    return where(is_singular[..., 0, 0], math.inf, found)
