"""Norms of vectors, and distances; norms of matrices stand in linalg."""

from __future__ import annotations

import math

from tessella import _core, errors
from tessella._core import Tensor
from tessella.arguments import to_float
from tessella.composites import Axes, DTypeLike, composite
from tessella.declarations import case
from tessella.dtypes import as_dtype, float32
from tessella.hints import Any, Sequence
from tessella.kinds import cast, common_dtype
from tessella.ops.creation import zeros
from tessella.ops.elementwise import abs, conj, pow, real, where
from tessella.ops.joining import concat
from tessella.ops.movement import normal_axes, unsqueeze
from tessella.ops.reduce import max, min, reduced_axes, root, sum

# How many differences of vectors cdist holds at once.
_DIFFERENCES = 1 << 22


def widened(x: Tensor) -> Tensor:
    """Give the tensor to compute a norm of: integers and halves as float32."""
    is_wide = x.dtype.is_complex or (x.dtype.is_floating and x.dtype.itemsize > 2)
    return x if is_wide else cast(x, float32)


def vector_norm(x: Tensor, axes: Sequence[int], order: float, keepdims: bool) -> Tensor:
    """Give (sum |x| ** order) ** (1 / order) over axes, and its limits; of no elements 0.

    Squares and powers are not scaled: they overflow where |x| is beyond the root of the largest
    number (1.8e19 in float32).
    """
    axes, wide = tuple(axes), widened(x)
    if not math.prod(x.shape[a] for a in axes) and order > 0:
        out = sum(abs(wide), axis=axes, keepdims=keepdims)
    elif order == 2:
        squares = real(wide * conj(wide)) if wide.dtype.is_complex else wide * wide
        out = root(sum(squares, axis=axes, keepdims=keepdims))
    elif order == 0:
        out = sum(cast(wide != 0, abs(wide).dtype), axis=axes, keepdims=keepdims)
    elif order == math.inf:
        out = max(abs(wide), axis=axes, keepdims=keepdims)
    elif order == -math.inf:
        out = min(abs(wide), axis=axes, keepdims=keepdims)
    elif order == 1:
        out = sum(abs(wide), axis=axes, keepdims=keepdims)
    else:
        total = sum(_powers(abs(wide), order), axis=axes, keepdims=keepdims)
        out = _powers(total, 1 / order)
    return cast(out, x.dtype) if x.dtype.is_floating else out


def _powers(x: Tensor, order: float) -> Tensor:
    """Give x ** order, with the slope 0 at 0 where it would be infinite."""
    if not x.requires_grad or order >= 1 or order < 0:
        return pow(x, order)
    is_zero = x == 0
    return where(is_zero, 0, pow(where(is_zero, 1, x), order))


def _norm_ref(np: Any, x: Any, p: Any = 2, axis: Any = None, keepdims: bool = False) -> Any:
    order = 2 if p == "fro" else p
    return np.linalg.vector_norm(x, ord=order, axis=axis, keepdims=keepdims)


@composite(
    ref=_norm_ref,
    samples=[case((3, 4)), case((3, 4), 1, axis=0), case((3, 4), math.inf, axis=-1, keepdims=True),
             case((5,), p=-math.inf), case((2, 3, 4), p=0, axis=(0, 2)), case((3, 4), p="fro"),
             case((3, 4), p=3.5), case((), p=2), case((0, 3), axis=0)],
    errors=[case((2, 3), axis=2, match="axis 2 is out of range"),
            case((2, 3), "nuc", match="p is 'nuc'"),
            case((2, 3), math.nan, match="p is nan"),
            case((2, 0), -math.inf, match="no elements to choose from")],
)  # fmt: skip
def norm(
    x: Tensor, p: Any = 2, axis: Axes = None, keepdims: bool = False, *,
    dtype: DTypeLike | None = None,
) -> Tensor:  # fmt: skip
    """Give the p-norm of vectors along axes, or of all elements: (sum |x| ** p) ** (1 / p).

    p is a number, an infinity (the greatest or smallest |x|) or "fro", which is 2 here. Norms of
    matrices are in `ts.linalg.norm`.

    >>> ts.norm(ts.tensor([3.0, 4.0])).item()
    5.0
    """
    if isinstance(p, str) and p != "fro":
        raise errors.wrong_value("p", p, 'a number or "fro"; ts.linalg.norm has norms of matrices')
    order = 2.0 if isinstance(p, str) else to_order("p", p)
    if dtype is not None:
        x = cast(x, as_dtype(dtype))
    return vector_norm(x, reduced_axes(x, axis), order, keepdims)


def to_order(name: str, value: Any) -> float:
    """Check the order of a norm."""
    order = to_float(name, value)
    if math.isnan(order):
        raise errors.wrong_value(name, value, "a number")
    return order


def _cdist_ref(np: Any, a: Any, b: Any, p: float = 2.0) -> Any:
    a, b = (x if x.dtype.kind in "fc" else x.astype("float64") for x in (a, b))
    return np.linalg.vector_norm(a[..., :, None, :] - b[..., None, :, :], ord=p, axis=-1)


@composite(
    ref=_cdist_ref, is_method=False,
    samples=[case((3, 2), (4, 2)), case((2, 3, 4), (5, 4), p=1), case((3, 2), (2, 2), p=math.inf),
             case((3, 2), (2, 2), p=3), case((3, 0), (2, 0)), case((0, 2), (3, 2))],
    errors=[case((3, 2), (4, 3), match="axis -1 of a has size 2, of b 3"),
            case((3,), (4, 3), match="a.ndim is 1"), case((3, 2), (4, 2), -1, match="p is -1")],
)  # fmt: skip
def cdist(a: Tensor, b: Tensor, p: float = 2.0) -> Tensor:
    """Give the distances between all rows of a and all rows of b, by the p-norm; batches broadcast.

    Each is computed from the difference of its rows, so that equal rows have the distance 0 and
    near ones lose no digits.

    >>> ts.cdist(ts.zeros(1, 2), ts.tensor([[3.0, 4.0], [0.0, 1.0]])).tolist()
    [[5.0, 1.0]]
    """
    for name, x in (("a", a), ("b", b)):
        if x.ndim < 2:
            raise errors.wrong_value(f"{name}.ndim", x.ndim, "2 or more")
    if a.shape[-1] != b.shape[-1]:
        raise errors.rows_differ(a.shape[-1], b.shape[-1])
    if not p >= 0:
        raise errors.wrong_value("p", p, "at least 0")
    dtype = common_dtype(("a", "b"), [a, b])
    a, b = (widened(cast(x, dtype)) for x in (a, b))
    rows, others = unsqueeze(a, -2), unsqueeze(b, -3)
    batch = _core.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    # A row of a against all of b; as many rows at once as fit.
    step = _DIFFERENCES // (math.prod(batch) * b.shape[-2] * b.shape[-1] or 1) or 1
    parts = [vector_norm(rows[..., i : i + step, :, :] - others, (-1,), p, False)
             for i in range(0, a.shape[-2], step)]  # fmt: skip
    if not parts:
        parts = [zeros((*batch, 0, b.shape[-2]), dtype=abs(a).dtype)]
    out = concat(parts, -2)
    return cast(out, dtype) if dtype.is_floating else out


def _dist_ref(np: Any, x: Any, y: Any, p: float = 2.0) -> Any:
    x, y = (v if v.dtype.kind in "fc" else v.astype("float64") for v in (x, y))
    return np.linalg.vector_norm(x - y, ord=p)


@composite(
    ref=_dist_ref,
    samples=[case((3, 4), (3, 4)), case((3, 1), (4,), 1), case((5,), (5,), p=math.inf),
             case((2, 3), (2, 3), p=3), case((0,), (0,)), case((), ())],
    errors=[case((2,), (3,), match="do not broadcast"), case((2,), (2,), math.nan, match="p is")],
)  # fmt: skip
def dist(x: Tensor, y: Tensor, p: float = 2.0) -> Tensor:
    """Give the p-norm of x - y, taken as one vector.

    >>> ts.dist(ts.tensor([0.0, 0.0]), ts.tensor([3.0, 4.0])).item()
    5.0
    """
    dtype = common_dtype(("x", "y"), [x, y])
    # Differences are taken in the dtype that norms are computed in: unsigned integers would wrap.
    difference = widened(cast(x, dtype)) - widened(cast(y, dtype))
    out = vector_norm(difference, reduced_axes(difference, None), to_order("p", p), False)
    return cast(out, dtype) if dtype.is_floating else out


_NEXT_TO_NOTHING = 1e-7  # what PyTorch adds to a norm before it divides by it


def _renorm_ref(np: Any, x: Any, p: float, axis: int, maxnorm: float) -> Any:
    others = tuple(i for i in range(x.ndim) if i != axis % x.ndim)
    size = np.linalg.vector_norm(x, ord=p, axis=others, keepdims=True)
    return x * np.where(size > maxnorm, maxnorm / (size + _NEXT_TO_NOTHING), 1)


@composite(
    ref=_renorm_ref, has_twin=True,
    samples=[case((3, 4), 2, 0, 2.5), case((3, 4), p=1, axis=-1, maxnorm=4.0),
             case((2, 3, 4), 3, 1, 1.0), case((0, 3), 2, 0, 1.0)],
    errors=[case((2, 3), 2, 2, 1.0, match="axis 2 is out of range"),
            case((2, 3), 0, 0, 1.0, match="p is 0"), case((3,), 2, 0, 1.0, match="x.ndim is 1"),
            case((2, 3), 2, 0, -1.0, match="maxnorm is -1"),
            case((2, 3), 2, 0, 1.0, dtype="int64", match="not defined for int64")],
)  # fmt: skip
def renorm(x: Tensor, p: float, axis: int, maxnorm: float) -> Tensor:
    """Scale the slices along an axis whose p-norm is above maxnorm down to it.

    >>> ts.renorm(ts.tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.30000001192092896, 0.4000000059604645]]
    """
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise errors.no_kernel(x.dtype, "defined for floats and complex numbers; use astype")
    if x.ndim < 2:
        raise errors.wrong_value("x.ndim", x.ndim, "2 or more")
    if not p > 0:
        raise errors.wrong_value("p", p, "more than 0")
    if not maxnorm >= 0:
        raise errors.wrong_value("maxnorm", maxnorm, "at least 0")
    place, wide = normal_axes(x, axis)[0], widened(x)
    others = tuple(i for i in range(x.ndim) if i != place)
    size = vector_norm(wide, others, p, True)
    scale = where(size > maxnorm, maxnorm / (size + _NEXT_TO_NOTHING), 1)
    return cast(wide * scale, x.dtype)
