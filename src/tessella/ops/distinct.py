"""Different elements or slices by PyTorch's names: `unique`, in order, and `unique_consecutive`.

NaNs are different from each other, so a slice with a NaN differs from every other slice.
"""

from __future__ import annotations

from tessella._core import Tensor
from tessella.composites import composite
from tessella.declarations import case, refusal
from tessella.dtypes import boolean, int64
from tessella.hints import Any
from tessella.kinds import cast
from tessella.ops.creation import arange, full, ones, zeros
from tessella.ops.elementwise import imag, not_equal, real
from tessella.ops.index import nonzero, take, take_along_axis
from tessella.ops.joining import concat, stack
from tessella.ops.movement import normal_axes, permute, reshape
from tessella.ops.ordering import argsort
from tessella.ops.reduce import any, cumulative_sum
from tessella.ops.sets import SIZED_BY_VALUES, unique_all, unique_values


def _columns(x: Tensor, axis: int) -> Tensor:
    """Give what slices along an axis consist of: a row for each place in them, real numbers."""
    count = x.shape[axis]
    order = (*(i for i in range(x.ndim) if i != axis), axis)
    rows = reshape(permute(x.detach(), order), (x.size // count if count else 0, count))
    if not x.dtype.is_complex:
        return rows
    return reshape(stack([real(rows), imag(rows)], 1), (2 * rows.shape[0], count))


def _ranks(rows: Tensor) -> Tensor:
    """Number the elements of each row in their order, equal ones equally, from 0 on."""
    order = argsort(rows)
    values = take_along_axis(rows, order)
    steps = concat([zeros((rows.shape[0], 1), dtype=boolean), values[:, 1:] != values[:, :-1]], 1)
    out = zeros(rows.shape, dtype=int64)
    out[reshape(arange(rows.shape[0]), (-1, 1)), order] = cumulative_sum(cast(steps, int64), 1)
    return out


def _slice_ranks(x: Tensor, axis: int) -> Tensor:
    """Number the slices along an axis in their lexicographic order, equal ones equally.

    Neighbouring rows of ranks are joined to one, high digit and low digit, until one is left: the
    logarithm of the size of a slice in rounds, each of which sorts half as much as the one before.
    """
    count = x.shape[axis]
    rows = _columns(x, axis)
    if not rows.size:
        return zeros((count,), dtype=int64)
    ranks = _ranks(rows)
    while ranks.shape[0] > 1:
        even = ranks.shape[0] // 2 * 2
        joint = ranks[0:even:2] * count + ranks[1:even:2]
        ranks = concat([_ranks(joint), ranks[even:]], 0)
    return ranks[0]


def _chosen(parts: list[Tensor | None]) -> Any:
    """Give the parts that were asked for: one alone, several as a tuple."""
    found = tuple(part for part in parts if part is not None)
    return found[0] if len(found) == 1 else found


def _unique_ref(np: Any, x: Any, sorted: bool = True, return_inverse: bool = False,
                return_counts: bool = False, axis: Any = None) -> Any:  # fmt: skip
    found = np.unique(x, return_inverse=True, return_counts=True, axis=axis, equal_nan=False)
    inverse = found[1].reshape(x.shape if axis is None else -1)
    parts = [found[0], inverse if return_inverse else None, found[2] if return_counts else None]
    return _chosen(parts)


_FLAGS: dict[str, Any] = {"return_inverse": True, "return_counts": True}


@composite(
    **SIZED_BY_VALUES,
    ref=_unique_ref, ulps=0, step=True, domain=(-1, 1),
    samples=[case((7,)), case((5, 9), sorted=False), case((0,)), case((), **_FLAGS),
             case((3, 4), return_inverse=True), case((30,), return_counts=True),
             case((40, 2), axis=0, **_FLAGS), case((2, 30), axis=-1, **_FLAGS),
             case((2, 9, 1), axis=1), case((3, 2, 2), axis=0, return_counts=True),
             case((6,), axis=0, **_FLAGS), case((0, 2), axis=0, **_FLAGS)],
    errors=[case((2, 3), axis=2, match="axis 2 is out of range"),
            case((2,), return_counts=1, match="return_counts must be True or False"),
            case((2,), True, match="in PyTorch")],
    refuses=[refusal("torch.unique(x, True)", "ts.unique(x, sorted=True)",
                     "sorts; in NumPy it gives where each element is first",
                     lambda args, keywords: len(args) > 1)],
)  # fmt: skip
def unique(x: Tensor, *, sorted: bool = True, return_inverse: bool = False,
           return_counts: bool = False, axis: int | None = None) -> Any:  # fmt: skip
    """Give the different elements, or the different slices along an axis, in order.

    With return_inverse, which of them each element or slice is; with return_counts, how often each
    occurs: then the result is a tuple. They stand in order, whatever `sorted` says. NaNs are
    different from each other, as in PyTorch and the standard; NumPy takes them for one.

    >>> ts.unique(ts.tensor([[3, 1], [1, 2]])).tolist()
    [1, 2, 3]
    >>> rows, counts = ts.unique(ts.tensor([[1, 2], [0, 9], [1, 2]]), axis=0, return_counts=True)
    >>> rows.tolist(), counts.tolist()
    ([[0, 9], [1, 2]], [1, 2])
    """
    if axis is None:
        if not return_inverse and not return_counts:
            return unique_values(x)
        found = unique_all(x)
        values = found.values
    else:
        place = normal_axes(x, axis)[0]
        found = unique_all(_slice_ranks(x, place))
        values = take(x, found.indices, place)
    inverse = found.inverse_indices if return_inverse else None
    return _chosen([values, inverse, found.counts if return_counts else None])


def _consecutive_ref(np: Any, x: Any, return_inverse: bool = False, return_counts: bool = False,
                     axis: Any = None) -> Any:  # fmt: skip
    flat = x.reshape(-1) if axis is None else np.moveaxis(x, axis, 0)
    differs = (flat[1:] != flat[:-1]).any(axis=tuple(range(1, flat.ndim)))
    is_first = np.concatenate([[True], differs])[: len(flat)]
    starts, inverse = np.nonzero(is_first)[0], np.cumsum(is_first) - 1
    values = flat[is_first] if axis is None else np.moveaxis(flat[is_first], 0, axis)
    counts = np.diff(np.append(starts, len(flat))[: len(starts) + 1])
    inverse = inverse.reshape(x.shape) if axis is None else inverse
    return _chosen([values, inverse if return_inverse else None, counts if return_counts else None])


@composite(
    **SIZED_BY_VALUES,
    ref=_consecutive_ref, ulps=0, step=True, domain=(-1, 1),
    samples=[case((17,)), case((5, 9), **_FLAGS), case((0,), **_FLAGS), case(()),
             case((30, 1), axis=0, **_FLAGS), case((2, 20), axis=-1, return_counts=True),
             case((4, 0), axis=0, **_FLAGS)],
    errors=[case((2, 3), axis=2, match="axis 2 is out of range"),
            case((2,), 1, match="return_inverse must be True or False")],
)  # fmt: skip
def unique_consecutive(x: Tensor, return_inverse: bool = False, return_counts: bool = False,
                       axis: int | None = None) -> Any:  # fmt: skip
    """Give the elements, or the slices along an axis, that differ from those before them.

    With return_inverse, which of them each element or slice is; with return_counts, how often each
    is repeated: then the result is a tuple.

    >>> ts.unique_consecutive(ts.tensor([1, 1, 2, 2, 1])).tolist()
    [1, 2, 1]
    """
    values, place = (reshape(x, (-1,)), 0) if axis is None else (x, normal_axes(x, axis)[0])
    count = values.shape[place]
    head = (slice(None),) * place
    differs = not_equal(values[(*head, slice(1, None))], values[(*head, slice(None, -1))])
    differs = any(differs, axis=tuple(i for i in range(values.ndim) if i != place))
    is_first = concat([ones((min(count, 1),), dtype=boolean), differs], 0)
    starts = nonzero(is_first)[0]
    inverse = counts = None
    if return_inverse:
        inverse = cumulative_sum(cast(is_first, int64)) - 1
        inverse = reshape(inverse, x.shape) if axis is None else inverse
    if return_counts:
        counts = concat([starts[1:], full((min(count, 1),), count)], 0) - starts
    return _chosen([take(values, starts, place), inverse, counts])
