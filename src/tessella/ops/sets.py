"""Elements as sets: which there are, how often, and where; and searching in sorted ones.

NaNs are different from each other, and from everything else.
"""

from __future__ import annotations

from typing import NamedTuple

from tessella import _core, errors
from tessella._core import Tensor
from tessella.composites import Operand, composite
from tessella.declarations import case
from tessella.dtypes import DType, boolean, int64
from tessella.hints import Any, Literal
from tessella.kinds import cast, common_dtype, fit
from tessella.ops.composite import contiguous
from tessella.ops.creation import arange, full, ones, zeros
from tessella.ops.elementwise import clip, imag, logical_not, real
from tessella.ops.index import need_integers, nonzero, scatter_axes, take
from tessella.ops.joining import concat
from tessella.ops.movement import broadcast_to, reshape
from tessella.ops.ordering import argsort, sort
from tessella.ops.reduce import cumulative_sum, max, min


class UniqueAllResult(NamedTuple):
    """Different elements, where each is first, which of them each element is, and their counts."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCountsResult(NamedTuple):
    """Different elements, and how often each occurs."""

    values: Tensor
    counts: Tensor


class UniqueInverseResult(NamedTuple):
    """Different elements, and which of them each element is."""

    values: Tensor
    inverse_indices: Tensor


# --- different elements --------------------------------------------------------------------------


def _order(flat: Tensor) -> Tensor:
    """Give the stable order; complex numbers by their real parts, then by their imaginary ones."""
    if not flat.dtype.is_complex:
        return argsort(flat)
    order = argsort(imag(flat))
    return take(order, argsort(take(real(flat), order)))


def _is_first(ordered: Tensor) -> Tensor:
    """Tell which elements differ from those before them."""
    head = ones((1,), dtype=boolean)[: ordered.shape[0]]
    return concat([head, ordered[1:] != ordered[:-1]])


def _values(x: Tensor) -> Tensor:
    flat = reshape(x, (-1,))
    ordered = take(flat, _order(flat)) if x.dtype.is_complex else sort(flat)
    return ordered[_is_first(ordered)]


def _all(x: Tensor) -> UniqueAllResult:
    flat = reshape(x, (-1,))
    order = _order(flat)
    ordered = take(flat, order)
    is_first = _is_first(ordered)
    starts = nonzero(is_first)[0]
    ends = concat([starts[1:], full((1,), flat.shape[0], dtype=int64)[: starts.shape[0]]])
    inverse = zeros((flat.shape[0],), dtype=int64)
    inverse[order] = cumulative_sum(cast(is_first, int64)) - 1
    return UniqueAllResult(
        take(ordered, starts), take(order, starts), reshape(inverse, x.shape), ends - starts
    )


def _unique_ref(*wanted: int) -> Any:
    def reference(np: Any, x: Any) -> Any:
        names = ("index", "inverse", "counts")
        found = np.unique(x, **{f"return_{name}": True for name in names}, equal_nan=False)
        parts = (*found[:2], found[2].reshape(x.shape), found[3])
        return tuple(parts[i] for i in wanted) if len(wanted) > 1 else parts[wanted[0]]

    return reference


SIZED_BY_VALUES: dict[str, Any] = {
    "no_capture": "the size of its result depends on values",
    "instead": "call it outside of the function, and pass what it gives",
}
_UNIQUE: dict[str, Any] = {
    **SIZED_BY_VALUES,
    "is_method": False, "ulps": 0, "step": True,
    "samples": [case((7,)), case((5, 9)), case((0,)), case(())],
}  # fmt: skip


@composite(ref=_unique_ref(0), **_UNIQUE)
def unique_values(x: Tensor, /) -> Tensor:
    """Give the different elements, in order.

    >>> ts.unique_values(ts.tensor([[3, 1], [1, 2]])).tolist()
    [1, 2, 3]
    """
    return _values(x)


@composite(ref=_unique_ref(0, 3), **_UNIQUE)
def unique_counts(x: Tensor, /) -> UniqueCountsResult:
    """Give the different elements, in order, and how often each occurs.

    >>> ts.unique_counts(ts.tensor([3, 1, 1])).counts.tolist()
    [2, 1]
    """
    ordered = take(flat := reshape(x, (-1,)), _order(flat))
    starts = nonzero(_is_first(ordered))[0]
    ends = concat([starts[1:], full((1,), x.size, dtype=int64)[: starts.shape[0]]])
    return UniqueCountsResult(take(ordered, starts), ends - starts)


@composite(ref=_unique_ref(0, 2), **_UNIQUE)
def unique_inverse(x: Tensor, /) -> UniqueInverseResult:
    """Give the different elements, in order, and which of them each element is.

    >>> ts.unique_inverse(ts.tensor([3, 1, 1])).inverse_indices.tolist()
    [1, 0, 0]
    """
    found = _all(x)
    return UniqueInverseResult(found.values, found.inverse_indices)


@composite(ref=_unique_ref(0, 1, 2, 3), **_UNIQUE)
def unique_all(x: Tensor, /) -> UniqueAllResult:
    """Give the different elements, in order, where each is first, which of them each element is,
    and how often each occurs.

    >>> ts.unique_all(ts.tensor([3, 1, 1])).indices.tolist()
    [1, 0]
    """
    return _all(x)


# --- searching -----------------------------------------------------------------------------------


def _as_tensor(x: Operand, dtype: DType) -> Tensor:
    return cast(x, dtype) if isinstance(x, Tensor) else full((), fit(x, dtype), dtype=dtype)


def _places(ordered: Tensor, x: Tensor, side: str) -> Tensor:
    """Give the places of elements in an ordered vector of their dtype."""
    out = _core.empty(x.shape, int64.id)
    if out.size:
        _core.search(out, contiguous(ordered.detach()), x.detach(), side == "right")
    return out


@composite(is_method=False, tested="tests/test_sets.py")
def searchsorted(
    x1: Tensor, x2: Operand, /, *, side: Literal["left", "right"] = "left",
    sorter: Tensor | None = None, right: bool = False,
) -> Tensor:  # fmt: skip
    """Give for each element of x2 where it would have to stand in x1, so that x1 stays sorted.

    x1 is a vector in ascending order, or becomes one by the indices in `sorter`. Before its equals
    stands what is put left, behind them what is put right, as `right` says too. A NaN is greater
    than every number.

    >>> ts.searchsorted(ts.tensor([1, 3, 5]), ts.tensor([0, 3, 6])).tolist()
    [0, 1, 3]
    """
    if x1.ndim != 1:
        raise errors.wrong_value("x1.ndim", x1.ndim, "1: a sorted vector")
    dtype = common_dtype(("x1", "x2"), [x1, x2])
    if dtype.is_complex:
        raise errors.no_kernel(dtype, "complex numbers have no order")
    if sorter is not None:
        if sorter.shape != x1.shape:
            raise errors.wrong_value("sorter.shape", sorter.shape, f"that of x1, {x1.shape}")
        x1 = take(x1, need_integers(sorter))
    return _places(cast(x1, dtype), _as_tensor(x2, dtype), "right" if right else side)


_FEW = 8  # elements that are looked for one after the other


@composite(
    ref=lambda np, x1, x2, invert=False: np.isin(x1, x2, invert=invert), is_method=False,
    ulps=0, step=True,
    samples=[case((7,), (3,)), case((3, 40), (20,)), case((5,), (0,)), case((), (30,)),
             case((4, 5), (9,), invert=True), case((3,), 1)],
    errors=[case((3,), None, match="x2 must be a tensor or a number"),
            case((3,), 0.5, dtype="int64", invert=1, match="invert must be True or False")],
)  # fmt: skip
def isin(x1: Operand, x2: Operand, /, *, invert: bool = False) -> Tensor:
    """Tell for each element of x1 whether it is among those of x2; or, inverted, whether it is not.

    >>> ts.isin(ts.tensor([1, 2, 3]), ts.tensor([3, 1])).tolist()
    [True, False, True]
    """
    dtype = common_dtype(("x1", "x2"), [x1, x2])
    x, among = _as_tensor(x1, dtype).detach(), reshape(_as_tensor(x2, dtype).detach(), (-1,))
    n = among.shape[0]
    if n <= _FEW:
        found = zeros(x.shape, dtype=boolean)
        for i in range(n):
            found = found | (x == among[i])
    elif dtype.is_complex:
        ids = unique_inverse(concat([among, reshape(x, (-1,))])).inverse_indices
        is_there = zeros((ids.shape[0],), dtype=boolean)
        is_there[ids[:n]] = True
        found = reshape(take(is_there, ids[n:]), x.shape)
    else:
        ordered = sort(among)
        places = clip(_places(ordered, x, "left"), None, n - 1)
        found = take(ordered, places, axis=0) == x
    return logical_not(found) if invert else found


# --- counting ------------------------------------------------------------------------------------


def _bincount_ref(np: Any, x: Any, weights: Any = None, minlength: int = 0) -> Any:
    if weights is None:
        return np.bincount(x, minlength=minlength)
    dtype = weights.dtype if weights.dtype.kind in "fc" else np.int64
    out = np.zeros(np.bincount(x, minlength=minlength).shape, dtype)
    np.add.at(out, x, weights)
    return out


@composite(
    no_capture="the size of its result depends on values",
    instead="ts.zeros(n).scatter_add(0, x, ts.ones(len(x))) counts up to a number that is known",
    ref=_bincount_ref,
    samples=[case(arange(5)), case(arange(3), minlength=6), case(arange(4), (4,)),
             case(zeros((6,), dtype=int64), (6,), minlength=2)],
    errors=[case((3,), match="x.dtype is float32"), case(arange(-2, 2), match=r"min\(x\) is -2"),
            case(zeros((2, 2), dtype=int64), match="x.ndim is 2"),
            case(arange(3), (2,), match=r"weights.shape is \(2,\)"),
            case(arange(3), minlength=-1, match="minlength is -1")],
)  # fmt: skip
def bincount(x: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Count how often each of 0, 1, 2, … occurs in a vector of integers; or sum weights instead.

    The result has at least `minlength` counts. Sums have the dtype of the weights; those of
    integers are 64 bits wide.

    >>> ts.bincount(ts.tensor([0, 2, 2])).tolist()
    [1, 0, 2]
    """
    if x.ndim != 1:
        raise errors.wrong_value("x.ndim", x.ndim, "1")
    if not x.dtype.is_integer:
        raise errors.wrong_value("x.dtype", x.dtype, "an integer")
    if minlength < 0:
        raise errors.wrong_value("minlength", minlength, "at least 0")
    if weights is not None and weights.shape != x.shape:
        raise errors.wrong_value("weights.shape", weights.shape, f"that of x, {x.shape}")
    least, most = (int(min(x).item()), int(max(x).item())) if x.size else (0, -1)
    if least < 0:
        raise errors.wrong_value("min(x)", least, "at least 0")
    if weights is None:
        weights = broadcast_to(ones((1,), dtype=int64), x.shape)
    elif not weights.dtype.is_floating and not weights.dtype.is_complex:
        weights = cast(weights, int64)
    length = most + 1 if most + 1 > minlength else minlength
    return scatter_axes(weights, (length,), (0,), (need_integers(x),))
