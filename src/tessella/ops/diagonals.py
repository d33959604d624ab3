"""Diagonals and triangles: reading them, and matrices made of them."""

from __future__ import annotations

import builtins

from tessella import _core, errors
from tessella._core import Tensor
from tessella.composites import DTypeLike, composite
from tessella.declarations import case
from tessella.dtypes import as_dtype, boolean, int64, uint8
from tessella.hints import Any
from tessella.kinds import cast
from tessella.ops.casting import astype
from tessella.ops.creation import arange, ones_like, zeros
from tessella.ops.elementwise import (
    floor_divide,
    greater_equal,
    less_equal,
    logical_not,
    remainder,
)
from tessella.ops.index import nonzero
from tessella.ops.joining import concat, stack
from tessella.ops.movement import diagonal, embed, normal_axes, permute, reshape, unsqueeze
from tessella.ops.ordering import argsort
from tessella.ops.reduce import sum


@composite(
    ref="trace", samples=[case((3, 3)), case((3, 4), offset=1), case((2, 3), offset=-5)],
    errors=[case((3,), match="x.ndim is 1"), case((2, 3, 3), match="x.ndim is 3")],
)  # fmt: skip
def trace(x: Tensor, offset: int = 0, *, dtype: DTypeLike | None = None) -> Tensor:
    """Sum the diagonal of a matrix; integers are summed in 64 bits.

    >>> ts.trace(ts.eye(3)).item()
    3.0
    """
    if x.ndim != 2:
        raise errors.wrong_value("x.ndim", x.ndim, "2; ts.linalg.trace takes batches of matrices")
    return sum(diagonal(x, offset), dtype=dtype)


def _diag_embed_ref(np: Any, x: Any, offset: int = 0, a: int = -2, b: int = -1) -> Any:
    size = x.shape[-1] + abs(offset)
    out = np.zeros((*x.shape[:-1], size, size), x.dtype)
    first = np.arange(x.shape[-1])
    out[..., first + max(0, -offset), first + max(0, offset)] = x
    return np.moveaxis(out, (-2, -1), (a, b))


@composite(
    ref=_diag_embed_ref, ulps=0, keywords={"dim1": "a", "dim2": "b"},
    samples=[case((3,)), case((2, 3)), case((2, 3), offset=1), case((2, 3), -2, 0, 2), case((0,))],
    errors=[case((), match="x.ndim is 0"), case((3,), a=0, b=0, match="repeated axis 0"),
            case((3,), a=2, match="axis 2 is out of range"),
            case((3,), 2**63 - 1, match="more elements than can be counted")],
)  # fmt: skip
def diag_embed(x: Tensor, offset: int = 0, a: int = -2, b: int = -1) -> Tensor:
    """Put the last axis on a diagonal of two new axes, a and b of the result; zeros elsewhere.

    >>> ts.diag_embed(ts.tensor([[1, 2]])).tolist()
    [[[1, 0], [0, 2]]]
    """
    if x.ndim == 0:
        raise errors.wrong_value("x.ndim", 0, "at least 1")
    if x.dtype is boolean:  # what is embedded is added, and bool has no sum
        return cast(diag_embed(cast(x, uint8), offset, a, b), boolean)
    size = x.shape[-1] + abs(offset)
    shape = (*x.shape[:-1], size, size)
    last = len(shape) - 1
    out = embed(x, shape, "diagonal", (offset, last - 1, last))
    first, second = normal_axes(out, a)[0], normal_axes(out, b)[0]
    if first == second:
        raise errors.axis_repeated(first)
    order = list(range(last - 1))
    for place, axis in sorted(((first, last - 1), (second, last))):
        order.insert(place, axis)
    return permute(out, order)


@composite(
    ref="diag", ulps=0, keywords={"diagonal": "k"},
    samples=[case((3,)), case((3, 4), k=1), case((2,), k=-1), case((3, 2), -4), case((0,))],
    errors=[case((), match="x.ndim is 0"), case((2, 3, 3), match="x.ndim is 3")],
)  # fmt: skip
def diag(x: Tensor, k: int = 0) -> Tensor:
    """Make a matrix with a vector on its k-th diagonal, or copy that diagonal of a matrix.

    >>> ts.diag(ts.tensor([1, 2])).tolist()
    [[1, 0], [0, 2]]
    """
    if x.ndim not in (1, 2):
        raise errors.wrong_value("x.ndim", x.ndim, "1 or 2: ts.diagonal and ts.diag_embed do more")
    return diag_embed(x, k) if x.ndim == 1 else astype(diagonal(x, k), x.dtype)


@composite(ref="diagflat", ulps=0, samples=[case((2, 2)), case((3,), k=1), case(()), case((0, 2))])
def diagflat(x: Tensor, k: int = 0) -> Tensor:
    """Make a matrix with all elements on its k-th diagonal, in row-major order.

    >>> ts.diagflat(ts.ones(1, 2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return diag_embed(reshape(x, (-1,)), k)


def _block_diag_ref(np: Any, *xs: Any) -> Any:
    blocks = [np.atleast_2d(x) for x in xs]
    out = np.zeros(np.sum([x.shape for x in blocks], 0), np.result_type(*blocks))
    row = column = 0
    for x in blocks:
        out[row : row + x.shape[0], column : column + x.shape[1]] = x
        row, column = row + x.shape[0], column + x.shape[1]
    return out


@composite(
    ref=_block_diag_ref, ulps=0, is_method=False,
    samples=[case((2, 3), (1, 2)), case((), (2,), (2, 2)), case((2, 2)), case((0, 2), (1, 1))],
    errors=[case((1, 1), (1, 1, 1), match=r"xs\[1\].ndim is 3")],
)  # fmt: skip
def block_diag(*xs: Tensor) -> Tensor:
    """Make a matrix with matrices along its diagonal; vectors are rows, numbers 1 x 1.

    >>> ts.block_diag(ts.ones(1, 2), ts.tensor(5.0)).tolist()
    [[1.0, 1.0, 0.0], [0.0, 0.0, 5.0]]
    """
    for i, x in enumerate(xs):
        if x.ndim > 2:
            raise errors.wrong_value(f"xs[{i}].ndim", x.ndim, "at most 2")
    if not xs:
        return zeros((0, 0))
    blocks = [reshape(x, (1,) * (2 - x.ndim) + x.shape) for x in xs]
    width = 0
    for x in blocks:
        width += x.shape[1]
    rows, start = [], 0
    for x in blocks:
        before, after = (
            zeros((x.shape[0], n), dtype=x.dtype) for n in (start, width - start - x.shape[1])
        )
        rows.append(concat([before, x, after], 1))
        start += x.shape[1]
    return concat(rows)


def _indices(row: int, col: int, offset: int, dtype: DTypeLike | None, lower: bool) -> Tensor:
    """Give the coordinates of a triangle, row by row, as the two rows of a tensor."""
    for name, value in (("row", row), ("col", col)):
        if value < 0:
            raise errors.wrong_value(name, value, "at least 0")
    compare = less_equal if lower else greater_equal
    inside = compare(arange(col), unsqueeze(arange(row), 1) + offset)
    wanted = int64 if dtype is None else as_dtype(dtype)
    if not _core.is_recording():
        return cast(stack(nonzero(inside)), wanted)
    # In a program, as many as are known to be inside come first in an order that keeps theirs.
    before = [min(max(i + offset + lower, 0), col) for i in range(row)]
    count = builtins.sum(before) if lower else row * col - builtins.sum(before)
    places = argsort(logical_not(reshape(inside, (-1,))))[:count]
    return cast(stack([floor_divide(places, col), remainder(places, col)]), wanted)


_MANY = 1000  # columns, from which on a matrix of powers may be too large
_INDICES = {
    "is_method": False,
    "samples": [case(3, 4), case(2, 2, offset=1), case(3, 2, -1), case(0, 3), case(2, 3, 9)],
    "errors": [case(-1, 2, match="row is -1"), case(2, 2.5, match="col must be an integer")],
}


@composite(
    ref=lambda np, row, col, offset=0: np.stack(np.tril_indices(row, offset, col)),
           **_INDICES)  # fmt: skip
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: DTypeLike | None = None) -> Tensor:
    """Give the coordinates of the lower triangle of a matrix: row numbers, and column numbers.

    >>> ts.tril_indices(2, 2).tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    return _indices(row, col, offset, dtype, True)


@composite(
    ref=lambda np, row, col, offset=0: np.stack(np.triu_indices(row, offset, col)),
           **_INDICES)  # fmt: skip
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: DTypeLike | None = None) -> Tensor:
    """Give the coordinates of the upper triangle of a matrix: row numbers, and column numbers.

    >>> ts.triu_indices(2, 2).tolist()
    [[0, 0, 1], [0, 1, 1]]
    """
    return _indices(row, col, offset, dtype, False)


@composite(
    ref="vander", is_method=False,
    samples=[case((3,)), case((3,), 2), case((2,), 4, increasing=True), case((0,), 2),
             case((3,), N=0)],
    errors=[case((2, 2), match="x.ndim is 2"), case((2,), -1, match="N is -1")],
)  # fmt: skip
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:  # noqa: N803
    """Make the matrix of the powers of a vector, one column for each, the highest first.

    >>> ts.vander(ts.tensor([1, 2, 3])).tolist()
    [[1, 1, 1], [4, 2, 1], [9, 3, 1]]
    """
    if x.ndim != 1:
        raise errors.wrong_value("x.ndim", x.ndim, "1")
    count = x.shape[0] if N is None else N
    if count < 0:
        raise errors.wrong_value("N", N, "at least 0")
    if x.dtype is boolean:
        x = cast(x, int64)
    if not count:
        return zeros((x.shape[0], 0), dtype=x.dtype)
    if count > _MANY:  # it is refused before it is computed
        _core.empty((x.shape[0], count), x.dtype.id)
    powers = [ones_like(x)]
    while len(powers) < count:
        powers.append(powers[-1] * x)  # a product for each: x ** n has no slope at 0 for n = 0
    return stack(powers if increasing else powers[::-1], 1)
