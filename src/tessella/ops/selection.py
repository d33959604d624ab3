"""Gathers and scatters by PyTorch's names: elements chosen, put or joined by index tensors.

Two records do the writing: `put_axes` replaces elements of a copy, `join_axes` multiplies them or
takes the greater or smaller. Of equal indices the last one is put, in row-major order.
"""

from __future__ import annotations

import math

from tessella import _core, errors, inplace
from tessella._core import Tensor
from tessella.declarations import REQUIRED, case
from tessella.dtypes import DType, float32, int64, uint64
from tessella.hints import Any, Sequence
from tessella.kinds import cast
from tessella.ops.creation import arange, full, ones, zeros
from tessella.ops.elementwise import where
from tessella.ops.index import gather_axes, scatter_axes
from tessella.ops.movement import broadcast_to, reshape
from tessella.records import Op

_PARAMS = {"axes": REQUIRED, "indices": REQUIRED, "place": 0}
JOINS = ("prod", "amax", "amin")


def index_shape(indices: Sequence[Tensor]) -> tuple[int, ...]:
    """Give the shape that index tensors broadcast to."""
    shape: tuple[int, ...] = ()
    for index in indices:
        shape = _core.broadcast_shapes(shape, index.shape)
    return shape


class Put(Op):
    """A copy of x with values at the indices over some axes."""

    items = "moved"
    operands = ("x", "values")
    params = _PARAMS

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Spread the values over what is indexed, in the dtype of x."""
        (x, values), params = super().prepare(inputs, params)
        inplace.check_kinds(x, values)
        place = params["place"]
        rest = [size for i, size in enumerate(x.shape) if i not in params["axes"]]
        target = (*rest[:place], *index_shape(params["indices"]), *rest[place:])
        return [x, broadcast_to(cast(values, x.dtype), target)], params

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Keep shape and dtype of x."""
        return inputs[0].shape, inputs[0].dtype

    def run(self, out: Tensor, inputs: list[Any], params: dict[str, Any]) -> None:
        """Copy x, then write."""
        _core.copy(out, inputs[0], True)
        _core.scatter(inputs[1], out, params["axes"], params["indices"], params["place"])


class Join(Put):
    """A copy of x, joined with values at the indices over some axes."""

    items = "refused"
    params = {"axes": REQUIRED, "indices": REQUIRED, "place": 0, "join": "prod"}

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Refuse numbers without an order, and bool."""
        inputs, params = super().prepare(inputs, params)
        dtype = inputs[0].dtype
        if dtype.is_complex or dtype.name == "bool":
            raise errors.no_kernel(dtype, "defined for integers and floats; convert with astype")
        return inputs, params

    def run(self, out: Tensor, inputs: list[Any], params: dict[str, Any]) -> None:
        """Join in 64 bits, halves in float32, and round once."""
        x, values = inputs
        dtype = x.dtype
        wide = dtype if dtype.itemsize >= 4 else float32
        if dtype.is_integer:
            wide = int64 if dtype.kind == "signed integer" else uint64
        target, source = (_core.empty(each.shape, wide.id) for each in (x, values))
        _core.copy(target, x, True)
        _core.copy(source, values, True)
        _core.scatter_join(source, target, params["axes"], params["indices"], params["place"],
                           JOINS.index(params["join"]))  # fmt: skip
        _core.copy(out, target, True)


def _is_last(x_shape: Sequence[int], values_shape: Sequence[int], axes: Sequence[int],
             indices: Sequence[Tensor], place: int) -> Tensor:  # fmt: skip
    """Tell for each value whether it stays: whether no later one has the same indices."""
    shape = index_shape(indices)
    order = reshape(arange(math.prod(shape)), shape)
    slots = zeros([x_shape[a] for a in axes], dtype=int64)
    every = tuple(range(len(axes)))
    _core.scatter(order, slots, every, list(indices), 0)
    stays = gather_axes(slots, every, tuple(indices), 0) == order
    after = len(values_shape) - place - len(shape)
    return reshape(stays, (1,) * place + shape + (1,) * after)


def _shared(g: Tensor, x: Tensor, values: Tensor, out: Tensor, at: tuple[Any, ...]) -> Any:
    """Give what each element that is the extremum gets: an equal share of the gradient."""
    hits = values == gather_axes(out, *at)
    own = x == out
    number = own.astype(g.dtype) + scatter_axes(hits.astype(g.dtype), x.shape, *at)
    return own, hits, g / number


def _join_x(g: Tensor, x: Tensor, values: Tensor, out: Tensor, axes: Any, indices: Any,
            place: int, join: str) -> Tensor:  # fmt: skip
    at = (axes, indices, place)
    if join == "prod":
        return g * join_axes(ones(x.shape, dtype=x.dtype), values, *at, "prod")
    own, _, share = _shared(g, x, values, out, at)
    return where(own, share, 0)


def _join_values(g: Tensor, x: Tensor, values: Tensor, out: Tensor, axes: Any, indices: Any,
                 place: int, join: str) -> Tensor:  # fmt: skip
    at = (axes, indices, place)
    if join == "prod":
        return gather_axes(g, *at) * _product_of_others(x, values, at)
    _, hits, share = _shared(g, x, values, out, at)
    return where(hits, gather_axes(share, *at), 0)


def _product_of_others(x: Tensor, values: Tensor, at: tuple[Any, ...]) -> Tensor:
    """For each value, the product of x and the other values of its place: right at zeros too."""
    is_zero = values == 0
    plain = where(is_zero, 1, values)
    product = join_axes(where(x == 0, 1, x), plain, *at, "prod")
    zeros_there = (x == 0).astype(int64) + scatter_axes(is_zero.astype(int64), x.shape, *at)
    others = gather_axes(zeros_there, *at) - is_zero.astype(int64)
    return where(others > 0, 0, gather_axes(product, *at) / plain)


def _put_ref(np: Any, x: Any, values: Any, axes: Any, indices: Any, place: int = 0) -> Any:
    out = x.copy()
    count = np.broadcast(*indices).ndim
    target = np.moveaxis(out, axes, range(len(axes)))
    moved = np.moveaxis(values, range(place, place + count), range(count))
    target[tuple(indices)] = moved
    return out


def _join_ref(np: Any, x: Any, values: Any, axes: Any, indices: Any, place: int = 0,
              join: str = "prod") -> Any:  # fmt: skip
    out = x.copy()
    count = np.broadcast(*indices).ndim
    target = np.moveaxis(out, axes, range(len(axes)))
    moved = np.moveaxis(values, range(place, place + count), range(count))
    {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}[join].at(
        target, tuple(indices), moved)  # fmt: skip
    return out


_FIRST: dict[str, Any] = {"axes": (0,), "indices": (full((3,), 1),)}
_SAMPLES = [
    case((4, 5), (3, 5), axes=(0,), indices=(arange(3),)),
    case((4, 5), (3, 5), **_FIRST),
    case((4, 5), (4, 2), axes=(1,), indices=(arange(2),), place=1),
    case((4, 5), (3,), axes=(0, 1), indices=(arange(3), arange(2, -1, -1))),
]
_OUTSIDE = [case((4, 5), (2, 5), axes=(0,), indices=(arange(3, 5),),
                 match="index 4 is out of bounds")]  # fmt: skip

put_axes = Put(
    "put_axes", ulps=0, is_function=False, is_method=False,
    vjp=(lambda g, values_shape, axes, indices, place: put_axes(
            g, zeros(values_shape, dtype=g.dtype), axes, indices, place),
         lambda g, x_shape, values_shape, axes, indices, place: where(
            _is_last(x_shape, values_shape, axes, indices, place),
            gather_axes(g, axes, indices, place), 0)),
    doc="A copy with values at index tensors over some axes.", ref=_put_ref, samples=_SAMPLES,
    errors=_OUTSIDE,
).function  # fmt: skip
join_axes = Join(
    "join_axes", is_function=False, is_method=False, domain=(-1.4, 1.4), away=0.3,
    vjp=(_join_x, _join_values),
    doc="A copy joined with values at index tensors over some axes.", ref=_join_ref,
    samples=[case(*sample.shapes, **sample.params, join=join)
             for sample in _SAMPLES for join in JOINS],
    errors=_OUTSIDE,
).function  # fmt: skip
