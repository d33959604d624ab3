"""Composites over the records of selection.py: gather, scatter, index_add and their kin."""

from __future__ import annotations

from tessella import _core, errors, inplace
from tessella._core import Tensor
from tessella.composites import Number, Operand, composite
from tessella.declarations import case
from tessella.dtypes import boolean, int64
from tessella.hints import Any, Literal
from tessella.indexing import Gathering
from tessella.kinds import cast, scalar_tensor
from tessella.limits import limited
from tessella.ops.creation import arange, full, ones, zeros
from tessella.ops.elementwise import add, floor_divide, mul, where
from tessella.ops.index import (
    need_integers,
    put_axes,
    scatter_axes,
    take,
    take_along_axis,
    write_axes,
)
from tessella.ops.masks import by_counts, count_true
from tessella.ops.movement import broadcast_to, normal_axes, reshape
from tessella.ops.selection import join_axes

At = tuple[tuple[int, ...], tuple[Tensor, ...], int]  # axes, indices, place


def _along(x: Tensor, axis: int, index: Tensor) -> At:
    """Give the indices of x[…, index[…, k, …], …]: those of every axis but one count."""
    places, place = need_integers(index), normal_axes(x, axis)[0]
    if places.ndim != x.ndim:
        raise errors.index_count(places.ndim, x.ndim)
    every = []
    for i, size in enumerate(places.shape):
        if i != place and size > x.shape[i]:
            wanted = f"at most {x.shape} beside axis {place}"
            raise errors.wrong_value("index.shape", places.shape, wanted)
        column = (1,) * i + (size,) + (1,) * (x.ndim - i - 1)
        every.append(places if i == place else reshape(arange(size), column))
    return tuple(range(x.ndim)), tuple(every), 0


def _one_axis(x: Tensor, axis: int, index: Tensor) -> At:
    """Give the indices of whole slices along an axis."""
    places, place = need_integers(index), normal_axes(x, axis)[0]
    if places.ndim > 1:
        raise errors.wrong_value("index.ndim", places.ndim, "1")
    return (place,), (reshape(places, (-1,)),), place


def _source(src: Operand, index: Tensor, x: Tensor) -> Tensor:
    """Give the part of src that the index covers; a number everywhere."""
    if not isinstance(src, Tensor):
        return broadcast_to(cast(scalar_tensor(src, [src]), x.dtype), index.shape)
    if src.ndim != index.ndim or any(a < b for a, b in zip(src.shape, index.shape, strict=True)):
        raise errors.wrong_value("src.shape", src.shape, f"at least {index.shape}, as index has")
    return src if src.shape == index.shape else src[tuple(slice(n) for n in index.shape)]


_INDEX = zeros((2, 3), dtype=int64)


@composite(
    ref=lambda np, x, axis, index: np.take_along_axis(
        x[tuple(slice(None) if i == axis % x.ndim else slice(n)
                for i, n in enumerate(index.shape))], index, axis), ulps=0,
    samples=[case((3, 4), 1, reshape(arange(3), (3, 1))), case((3, 4), 0, _INDEX),
             case((4,), -1, arange(3))],
    errors=[case((3, 4), 0, arange(3), match="1 index for 2 axes"),
            case((3,), 0, arange(4), match="index 3 is out of bounds"),
            case((1, 3), 1, _INDEX, match="index.shape is"),
            case((3,), 0, zeros(3), match="an index tensor is float32")],
)  # fmt: skip
def gather(x: Tensor, axis: int, index: Tensor) -> Tensor:
    """Give x[…, index[…, k, …], …] for each position of the index, which is no larger than x.

    >>> ts.gather(ts.tensor([[1, 2], [3, 4]]), 1, ts.tensor([[1], [0]])).tolist()
    [[2], [3]]
    """
    return x[_along(x, axis, index)[1]]


@composite(
    ref=lambda np, x, indices, axis=None: np.take_along_axis(x, indices, axis), ulps=0,
    samples=[case((3, 4), reshape(arange(3), (3, 1)), 1), case((3, 4), arange(5))],
    errors=[case((3, 4), arange(3), 0, match="1 index for 2 axes")],
)  # fmt: skip
def take_along_dim(x: Tensor, indices: Tensor, axis: int | None = None) -> Tensor:
    """Give, for each position of indices, the element at that index along the axis.

    Other axes broadcast; without an axis, both are taken flat.

    >>> ts.take_along_dim(ts.tensor([[1, 2], [3, 4]]), ts.tensor([[1], [0]]), 1).tolist()
    [[2], [3]]
    """
    if axis is None:
        return gather(reshape(x, (-1,)), 0, reshape(indices, (-1,)))
    return take_along_axis(x, indices, axis)


@composite(
    ref=lambda np, x, axis, index: np.take(x, index, axis), ulps=0,
    samples=[case((3, 4), 1, arange(2)), case((3, 4), 0, full((4,), 2))],
    errors=[case((3, 4), 0, _INDEX, match="index.ndim is 2"),
            case((3,), 0, arange(4), match="index 3 is out of bounds")],
)  # fmt: skip
def index_select(x: Tensor, axis: int, index: Tensor) -> Tensor:
    """Give the slices of an axis at a vector of indices.

    >>> ts.index_select(ts.tensor([[1, 2], [3, 4]]), 1, ts.tensor([1])).tolist()
    [[2], [4]]
    """
    (place,), (places,), _ = _one_axis(x, axis, index)
    return take(x, places, place)


# --- put -----------------------------------------------------------------------------------------


def _scatter_ref(np: Any, x: Any, axis: int, index: Any, src: Any) -> Any:
    out = x.copy()
    head = tuple(slice(n) for n in index.shape)
    whole = tuple(slice(None) if i == axis % x.ndim else part for i, part in enumerate(head))
    np.put_along_axis(out[whole], index, src[head] if np.ndim(src) else src, axis)
    return out


_SCATTER_ERRORS = [
    case((3, 4), 0, arange(3), (3,), match="1 index for 2 axes"),
    case((3, 4), 0, full((1, 2), 3), (1, 2), match="index 3 is out of bounds"),
    case((3, 4), 0, _INDEX, (1, 3), match="src.shape is"),
]


@composite(
    ref=_scatter_ref, ulps=0, errors=_SCATTER_ERRORS, keywords={"value": "src"},
    writes=lambda x, axis, index, src: write_axes(x, _source(src, index, x),
                                                  *_along(x, axis, index)),
    samples=[case((3, 4), 0, full((2, 3), 2), (3, 3)),
             case((3, 4), 1, reshape(arange(3), (3, 1)), True)],
)  # fmt: skip
def scatter(x: Tensor, axis: int, index: Tensor, src: Operand) -> Tensor:
    """Give a copy with src at x[…, index[…, k, …], …]; of equal indices the last one is put.

    >>> ts.scatter(ts.zeros(1, 3), 1, ts.tensor([[2, 0]]), 1.0).tolist()
    [[1.0, 0.0, 1.0]]
    """
    return put_axes(x, _source(src, index, x), *_along(x, axis, index))


@composite(
    ref=lambda np, x, axis, index, source: _copy_ref(np, x, axis, index, source), ulps=0,
    writes=lambda x, axis, index, source: write_axes(x, source, *_one_axis(x, axis, index)),
    samples=[case((3, 4), 1, arange(2), (3, 2))],
    errors=[case((3, 4), 1, arange(2), (4, 2), match="cannot become 3"),
            case((3, 4), 1, arange(3, 5), (3, 2), match="index 4 is out of bounds")],
    keywords={"tensor": "source"},
)  # fmt: skip
def index_copy(x: Tensor, axis: int, index: Tensor, source: Tensor) -> Tensor:
    """Give a copy with the slices of source at a vector of indices along an axis.

    >>> ts.index_copy(ts.zeros(3), 0, ts.tensor([2, 0]), ts.tensor([5.0, 6.0])).tolist()
    [6.0, 0.0, 5.0]
    """
    return put_axes(x, source, *_one_axis(x, axis, index))


def _copy_ref(np: Any, x: Any, axis: int, index: Any, source: Any) -> Any:
    out = x.copy()
    np.moveaxis(out, axis, 0)[index] = np.moveaxis(source, axis, 0) if np.ndim(source) else source
    return out


@composite(
    ref=lambda np, x, axis, index, value: _copy_ref(np, x, axis, index, value), ulps=0,
    writes=lambda x, axis, index, value: write_axes(x, _number(x, value),
                                                    *_one_axis(x, axis, index)),
    samples=[case((3, 4), 1, arange(2), True)],
    errors=[case((3, 4), 1, arange(3, 5), 1, match="index 4 is out of bounds")],
)  # fmt: skip
def index_fill(x: Tensor, axis: int, index: Tensor, value: Number) -> Tensor:
    """Give a copy with one value at a vector of indices along an axis.

    >>> ts.index_fill(ts.zeros(3), 0, ts.tensor([2, 0]), 7).tolist()
    [7.0, 0.0, 7.0]
    """
    return put_axes(x, _number(x, value), *_one_axis(x, axis, index))


def _number(x: Tensor, value: Number) -> Tensor:
    return cast(scalar_tensor(value, [value]), x.dtype)


@composite(
    no_capture="the size of its result depends on values",
    ref=lambda np, x, mask: x[np.broadcast_to(mask, np.broadcast_shapes(x.shape, mask.shape))]
    if x.ndim >= mask.ndim else np.broadcast_to(x, mask.shape)[mask], ulps=0,
    samples=[case((3, 4), (3, 4)), case((3, 4), (4,)), case((4,), (3, 4))],
    errors=[case((3,), (4,), match="do not broadcast"),
            case((3,), zeros(3), match="mask.dtype is float32")],
)  # fmt: skip
def masked_select(x: Tensor, mask: Tensor) -> Tensor:
    """Give the elements where the mask is true, in row-major order.

    >>> ts.masked_select(ts.arange(3), ts.tensor([True, False, True])).tolist()
    [0, 2]
    """
    _need_mask(mask)
    shape = _core.broadcast_shapes(x.shape, mask.shape)
    return broadcast_to(x, shape)[broadcast_to(mask, shape)]


def _need_mask(mask: Tensor) -> None:
    if mask.dtype is not boolean:
        raise errors.wrong_value("mask.dtype", mask.dtype, "bool: compare, as in x != 0")


@composite(
    ref=lambda np, x, mask, source: _masked_ref(np, x, mask, source), ulps=0, has_twin=True,
    samples=[case((3, 4), (3, 4), (12,)), case((3, 4), (4,), (4, 3))],
    errors=[case((3,), (4,), (4,), match="cannot become 3"),
            case((3,), zeros(3), (3,), match="mask.dtype is float32"),
            case((3,), full((3,), True), (2,), match="source.size is 2")],
)  # fmt: skip
def masked_scatter(x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Give a copy with the elements of source, in their order, where the mask is true.

    >>> ts.masked_scatter(ts.zeros(3), ts.tensor([True, False, True]), ts.arange(2.0)).tolist()
    [0.0, 0.0, 1.0]
    """
    _need_mask(mask)
    spread = broadcast_to(mask, x.shape)
    size = source.size
    limited(count_true(spread), 0, size,
            lambda count: errors.wrong_value("source.size", size, f"{count} or more"))  # fmt: skip
    inplace.check_kinds(x, source)
    return where(spread, by_counts(cast(reshape(source, (-1,)), x.dtype), spread), x)


def _masked_ref(np: Any, x: Any, mask: Any, source: Any) -> Any:
    out = x.copy()
    spread = np.broadcast_to(mask, x.shape)
    out[spread] = source.reshape(-1)[: spread.sum()]
    return out


@composite(
    ref=lambda np, x, indices, values, accumulate=False: _put_ref(np, x, indices, values,
                                                                 accumulate),
    has_twin=True,
    samples=[case((3, 4), indices=(arange(3), full((3,), 1)), values=ones(3)),
             case((3, 4), indices=(full((2,), 1),), values=ones(4), accumulate=True)],
    errors=[case((3,), indices=(arange(4),), values=ones(4), match="index 3 is out of bounds"),
            case((3,), indices=arange(2), values=ones(2), match="indices must be a list or tuple"),
            case((3,), indices=(), values=ones(2), match=r"indices is \(\)")],
)  # fmt: skip
def index_put(x: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Give a copy with x[indices] = values, or with the values added.

    >>> ts.index_put(ts.zeros(3), (ts.tensor([2, 0]),), ts.tensor(1.0)).tolist()
    [1.0, 0.0, 1.0]
    """
    if not isinstance(indices, list | tuple):
        raise errors.wrong_type("indices", indices, "a list or tuple of index tensors")
    if not indices:
        raise errors.wrong_value("indices", indices, "one index tensor or more")
    plan = Gathering(x, tuple(indices))
    if plan.basic is not None or not plan.indices:
        raise errors.wrong_value("indices", indices, "index tensors and masks alone")
    at = tuple(plan.axes), tuple(plan.indices), plan.place
    if not accumulate:
        return put_axes(x, values, *at)
    spread = broadcast_to(cast(values, x.dtype), plan.out_shape)
    return add(x, scatter_axes(spread, x.shape, *at))


def _put_ref(np: Any, x: Any, indices: Any, values: Any, accumulate: bool) -> Any:
    out = x.copy()
    if accumulate:
        np.add.at(out, tuple(indices), values.astype(x.dtype))
    else:
        out[tuple(indices)] = values
    return out


# --- added and joined ----------------------------------------------------------------------------


def _add_ref(np: Any, x: Any, axis: int, index: Any, src: Any) -> Any:
    out = x.copy()
    every = list(np.meshgrid(*map(np.arange, index.shape), indexing="ij"))
    every[axis] = index
    np.add.at(out, tuple(every), src[tuple(slice(n) for n in index.shape)])
    return out


@composite(
    ref=_add_ref, has_twin=True, errors=_SCATTER_ERRORS,
    samples=[case((3, 4), 0, _INDEX, (3, 3)), case((3, 4), -1, reshape(arange(3), (3, 1)), (3, 1))],
)  # fmt: skip
def scatter_add(x: Tensor, axis: int, index: Tensor, src: Tensor) -> Tensor:
    """Give x with src added at x[…, index[…, k, …], …].

    >>> ts.scatter_add(ts.zeros(1, 3), 1, ts.tensor([[2, 2]]), ts.ones(1, 2)).tolist()
    [[0.0, 0.0, 2.0]]
    """
    source = cast(_source(src, index, x), x.dtype)
    return add(x, scatter_axes(source, x.shape, *_along(x, axis, index)))


def _index_add_ref(np: Any, x: Any, axis: int, index: Any, source: Any, alpha: Any = 1) -> Any:
    out = x.copy()
    np.add.at(np.moveaxis(out, axis, 0), index, alpha * np.moveaxis(source, axis, 0))
    return out


@composite(
    ref=_index_add_ref, has_twin=True,
    samples=[case((3, 4), 1, arange(2), (3, 2)), case((3, 4), 0, full((2,), 1), (2, 4), alpha=2)],
    errors=[case((3, 4), 1, arange(2), (3, 3), match="source.shape is"),
            case((3, 4), 1, arange(3, 5), (3, 2), match="index 4 is out of bounds")],
)  # fmt: skip
def index_add(x: Tensor, axis: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
    """Give x with the slices of alpha * source added at a vector of indices along an axis.

    >>> ts.index_add(ts.zeros(3), 0, ts.tensor([2, 2]), ts.ones(2)).tolist()
    [0.0, 0.0, 2.0]
    """
    at = _one_axis(x, axis, index)
    wanted = (*x.shape[: at[2]], at[1][0].shape[0], *x.shape[at[2] + 1 :])
    if source.shape != wanted:
        raise errors.wrong_value("source.shape", source.shape, f"{wanted}")
    scaled = source if alpha == 1 else mul(source, alpha)
    return add(x, scatter_axes(cast(scaled, x.dtype), x.shape, *at))


def _reduce_ref(np: Any, x: Any, axis: int, index: Any, src: Any, reduce: str,
                include_self: bool = True) -> Any:  # fmt: skip
    every = list(np.meshgrid(*map(np.arange, index.shape), indexing="ij"))
    every[axis] = index
    out, at = x.copy(), tuple(every)
    count = np.ones(x.shape) if include_self else np.zeros(x.shape)
    np.add.at(count, at, 1)
    if not include_self:
        out[at] = {"prod": 1, "amax": -np.inf, "amin": np.inf}.get(reduce, 0)
    joins = {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}
    joins.get(reduce, np.add).at(out, at, src)
    if reduce != "mean":
        return out
    count = np.maximum(count, 1)
    return out / count if x.dtype.kind == "f" else out // count.astype(x.dtype)


@composite(
    ref=_reduce_ref, has_twin=True, domain=(-1.4, 1.4),
    samples=[case((3, 4), 0, _INDEX, (2, 3), reduce=reduce, include_self=include)
             for reduce in ("sum", "prod", "mean", "amax", "amin") for include in (True, False)
             if include or reduce in ("sum", "prod")],
    errors=[*(case(*e.shapes, reduce="prod", match=e.match) for e in _SCATTER_ERRORS),
            case((3, 4), 0, _INDEX, (2, 3), reduce="max", match="reduce is 'max'")],
)  # fmt: skip
def scatter_reduce(
    x: Tensor,
    axis: int,
    index: Tensor,
    src: Tensor,
    reduce: Literal["sum", "prod", "mean", "amax", "amin"],
    *,
    include_self: bool = True,
) -> Tensor:
    """Give x with src joined at x[…, index[…, k, …], …]: summed, multiplied, averaged, compared.

    Without include_self what x held at those places does not count.

    >>> x, i = ts.tensor([5.0, 5.0]), ts.tensor([0, 0])
    >>> ts.scatter_reduce(x, 0, i, ts.tensor([1.0, 9.0]), "amax").tolist()
    [9.0, 5.0]
    >>> ts.scatter_reduce(x, 0, i, ts.tensor([1.0, 3.0]), "amax", include_self=False).tolist()
    [3.0, 5.0]
    """
    if x.dtype is boolean or x.dtype.is_complex:
        raise errors.no_kernel(x.dtype, "defined for integers and floats; convert with astype")
    at, source = _along(x, axis, index), cast(_source(src, index, x), x.dtype)
    if not include_self:
        start = {"prod": 1, "amax": x.dtype.lowest, "amin": x.dtype.highest}.get(reduce, 0)
        x = put_axes(x, full((), start, dtype=x.dtype), *at)
    if reduce in ("prod", "amax", "amin"):
        return join_axes(x, source, *at, reduce)
    total = add(x, scatter_axes(source, x.shape, *at))
    if reduce == "sum":
        return total
    number = scatter_axes(ones(index.shape, dtype=int64), x.shape, *at) + int(include_self)
    number = cast(number.clip(1), x.dtype)
    return total / number if x.dtype.is_floating else floor_divide(total, number)


del _INDEX  # tensors of samples alone
