"""The record that joins values with elements by index tensors: `join_axes` multiplies them, or
takes the greater or smaller. The one that puts values there is `put_axes` in ops/index.py.
"""

from __future__ import annotations

from tessella import _core, errors
from tessella._core import Tensor
from tessella.declarations import REQUIRED, case
from tessella.dtypes import float32, int64, uint64
from tessella.hints import Any
from tessella.ops.creation import ones
from tessella.ops.elementwise import where
from tessella.ops.index import PUT_ERRORS, PUT_SAMPLES, Put, gather_axes, scatter_axes

JOINS = ("prod", "amax", "amin")


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


def _join_ref(np: Any, x: Any, values: Any, axes: Any, indices: Any, place: int = 0,
              join: str = "prod") -> Any:  # fmt: skip
    out = x.copy()
    count = np.broadcast(*indices).ndim
    target = np.moveaxis(out, axes, range(len(axes)))
    moved = np.moveaxis(values, range(place, place + count), range(count))
    {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}[join].at(
        target, tuple(indices), moved)  # fmt: skip
    return out


join_axes = Join(
    "join_axes", is_function=False, is_method=False, domain=(-1.4, 1.4), away=0.3,
    vjp=(_join_x, _join_values),
    doc="A copy joined with values at index tensors over some axes.", ref=_join_ref,
    samples=[case(*sample.shapes, **sample.params, join=join)
             for sample in PUT_SAMPLES for join in JOINS],
    errors=PUT_ERRORS,
).function  # fmt: skip
