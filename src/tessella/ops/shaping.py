"""Shapes by other names: expanded, parted axes, axes turned, any strides.

The records that they are composed of stand in movement.py; nothing here copies where it need not.
"""

from __future__ import annotations

import math

from tessella import _core, errors
from tessella._core import Layout, Tensor
from tessella.arguments import to_int, to_ints
from tessella.composites import Ints, composite
from tessella.declarations import REQUIRED, case
from tessella.hints import Any, Callable
from tessella.kinds import View
from tessella.ops.creation import arange, full
from tessella.ops.index import scatter_axes
from tessella.ops.movement import broadcast_to, flip, normal_axes, reshape, transpose, unsqueeze

# --- sizes ---------------------------------------------------------------------------------------


def _expand_params(x: Tensor, shape: Any) -> dict[str, Any]:
    sizes = to_ints("shape", shape)
    added = len(sizes) - x.ndim
    kept = [x.shape[i - added] if size == -1 and i >= added else size
            for i, size in enumerate(sizes)]  # fmt: skip
    return {"shape": tuple(kept)}


expand = View(
    "expand", layout=Layout.broadcast_to, params={"shape": REQUIRED}, variadic="shape",
    normalise=_expand_params, vjp=lambda g: g,
    doc="Like broadcast_to; -1 keeps the size of an axis.",
    ref=lambda np, x, shape: np.broadcast_to(
        x, [n if n != -1 else x.shape[i - len(shape) + x.ndim] for i, n in enumerate(shape)]),
    samples=[case((3, 1), shape=(2, 3, 4)), case((3, 1), shape=(-1, 4)), case((), shape=(2,))],
    errors=[case((2, 3), shape=(-1, 4), match="axis -1 is 3 and cannot become 4"),
            case((3,), shape=(-1, 3), match="negative size")],
).function  # fmt: skip


@composite(
    ref=lambda np, x, y: np.broadcast_to(x, y.shape), ulps=0, gives="view", is_function=False,
    samples=[case((3, 1), (2, 3, 4))], errors=[case((2,), (3,), match="cannot become 3")],
)  # fmt: skip
def expand_as(x: Tensor, y: Tensor) -> Tensor:
    """Broadcast x to the shape of y, without a copy.

    >>> ts.ones(3, 1).expand_as(ts.ones(3, 4)).shape
    (3, 4)
    """
    return broadcast_to(x, y.shape)


_AS = {"ref": lambda np, x, y: x.reshape(y.shape), "ulps": 0, "is_function": False,
       "gives": "view"}  # fmt: skip


@composite(**_AS, samples=[case((2, 3), (6,), layouts="contiguous")],
           errors=[case((2,), (3,), match="cannot reshape")])  # fmt: skip
def view_as(x: Tensor, y: Tensor) -> Tensor:
    """View x with the shape of y: never a copy.

    >>> ts.ones(2, 3).view_as(ts.ones(6)).shape
    (6,)
    """
    return x.view(y.shape)


@composite(**_AS, samples=[case((2, 3), (6,))], errors=[case((2,), (3,), match="cannot reshape")])
def reshape_as(x: Tensor, y: Tensor) -> Tensor:
    """Give x with the shape of y.

    >>> ts.ones(2, 3).reshape_as(ts.ones(6)).shape
    (6,)
    """
    return reshape(x, y.shape)


@composite(ref="ravel", ulps=0, gives="view", samples=[case((2, 3)), case(()), case((0, 2))])
def ravel(x: Tensor) -> Tensor:
    """Give the elements along one axis, in row-major order.

    >>> ts.ravel(ts.ones(2, 3)).shape
    (6,)
    """
    return reshape(x, (-1,))


@composite(
    ref=lambda np, x, axis, sizes: x.reshape(
        *x.shape[: axis % x.ndim], *sizes, *x.shape[axis % x.ndim + 1 :]), ulps=0, gives="view",
    samples=[case((2, 6), -1, sizes=(2, 3)), case((6, 2), 0, sizes=(3, 2, 1))],
    errors=[case((2, 5), 1, sizes=(2, 3), match="cannot reshape"),
            case((2,), 1, sizes=(2,), match="axis 1 is out of range")],
    keywords={"unflattened_size": "sizes"},
)  # fmt: skip
def unflatten(x: Tensor, axis: int, sizes: Ints) -> Tensor:
    """Part an axis into several; one size may be -1.

    >>> ts.unflatten(ts.ones(2, 6), 1, (3, -1)).shape
    (2, 3, 2)
    """
    place = normal_axes(x, axis)[0]
    parts = tuple(_core.resolve_reshape((x.shape[place],), to_ints("sizes", sizes)))
    return reshape(x, (*x.shape[:place], *parts, *x.shape[place + 1 :]))


# --- order of axes and elements ------------------------------------------------------------------


@composite(
    ref="transpose", ulps=0, gives="view", samples=[case((2, 3)), case((3,)), case(())],
    errors=[case((2, 3, 4), match="x.ndim is 3")],
)  # fmt: skip
def t(x: Tensor) -> Tensor:
    """Transpose a matrix; vectors and numbers stay themselves.

    >>> ts.t(ts.ones(2, 3)).shape
    (3, 2)
    """
    if x.ndim > 2:
        raise errors.wrong_value("x.ndim", x.ndim, "2 or less; x.mT exchanges the last two axes")
    return transpose(x, 0, 1) if x.ndim == 2 else x


@composite(ref="flipud", ulps=0, gives="view", samples=[case((2, 3)), case((3,))],
           errors=[case((), match="axis 0 is out of range")])  # fmt: skip
def flipud(x: Tensor) -> Tensor:
    """Reverse the first axis.

    >>> ts.flipud(ts.arange(3)).tolist()
    [2, 1, 0]
    """
    return flip(x, 0)


@composite(ref="fliplr", ulps=0, gives="view", samples=[case((2, 3)), case((2, 3, 4))],
           errors=[case((3,), match="axis 1 is out of range")])  # fmt: skip
def fliplr(x: Tensor) -> Tensor:
    """Reverse the second axis.

    >>> ts.fliplr(ts.tensor([[1, 2], [3, 4]])).tolist()
    [[2, 1], [4, 3]]
    """
    return flip(x, 1)


@composite(
    ref="rot90", ulps=0, gives="view",
    samples=[case((2, 3)), case((2, 3), k=2), case((2, 3, 4), k=-1, axes=(1, 2))],
    errors=[case((3,), match="axis 1 is out of range"), case((2, 3), axes=(0,), match="axes is"),
            case((2, 3), axes=(0, 0), match="repeated axis 0")],
    keywords={"dims": "axes"},
)  # fmt: skip
def rot90(x: Tensor, k: int = 1, axes: Ints = (0, 1)) -> Tensor:
    """Turn two axes by k quarters, from the first towards the second.

    >>> ts.rot90(ts.tensor([[1, 2], [3, 4]])).tolist()
    [[2, 4], [1, 3]]
    """
    plane = normal_axes(x, axes, "axes")
    if len(plane) != 2:
        raise errors.wrong_value("axes", axes, "two axes")
    first, second = plane
    if first == second:
        raise errors.axis_repeated(first)
    if k % 4 == 2:
        return flip(x, plane)
    turned = x if k % 4 == 0 else transpose(x, first, second)
    return turned if k % 4 == 0 else flip(turned, first if k % 4 == 1 else second)


@composite(
    ref=lambda np, *xs: np.atleast_1d(*xs), ulps=0, samples=[case(()), case((), (2, 3))],
)  # fmt: skip
def atleast_1d(*xs: Tensor) -> Any:
    """Give tensors with one axis at least; a tuple for several.

    >>> ts.atleast_1d(ts.tensor(3)).tolist()
    [3]
    """
    return _each(xs, lambda x: reshape(x, (1,)) if x.ndim == 0 else x)


@composite(
    ref=lambda np, *xs: np.atleast_2d(*xs), ulps=0, samples=[case((3,)), case((), (2, 3))],
)  # fmt: skip
def atleast_2d(*xs: Tensor) -> Any:
    """Give tensors with two axes at least, new ones in front; a tuple for several.

    >>> ts.atleast_2d(ts.arange(2)).tolist()
    [[0, 1]]
    """
    return _each(xs, lambda x: reshape(x, (1,) * (2 - x.ndim) + x.shape) if x.ndim < 2 else x)


@composite(
    ref=lambda np, *xs: np.atleast_3d(*xs), ulps=0,
    samples=[case(()), case((3,), (2, 3)), case((1, 2, 3, 4))],
)  # fmt: skip
def atleast_3d(*xs: Tensor) -> Any:
    """Give tensors with three axes at least: (n,) becomes (1, n, 1), (m, n) becomes (m, n, 1).

    >>> ts.atleast_3d(ts.arange(2)).shape
    (1, 2, 1)
    """
    return _each(xs, lambda x: unsqueeze(atleast_2d(x), 2) if x.ndim < 3 else x)


def _each(xs: tuple[Tensor, ...], change: Callable[[Tensor], Tensor]) -> Any:
    return change(xs[0]) if len(xs) == 1 else tuple(change(x) for x in xs)


# --- any strides ---------------------------------------------------------------------------------


def _strided_params(x: Tensor, shape: Any, strides: Any, offset: Any) -> dict[str, Any]:
    sizes, steps = to_ints("shape", shape), to_ints("strides", strides)
    start = 0 if offset is None else to_int("offset", offset, 62) - x.offset
    inside = Layout(sizes, steps, start)
    if _core.needs_node(x):  # its gradient is added to the elements of x alone
        reach = [(n - 1) * step for n, step in zip(sizes, steps, strict=True)]
        first = inside.offset + sum(n for n in reach if n < 0)
        last = inside.offset + sum(n for n in reach if n > 0)
        if not x.is_contiguous or first < 0 or last >= x.size:
            raise errors.strided_gradient()
    return {"shape": sizes, "strides": steps, "offset": start}


def _strided_gradient(
    g: Tensor, x_shape: tuple[int, ...], shape: Any, strides: Any, offset: int
) -> Tensor:
    """Give zeros, with g added at the places that its elements were read from."""
    places = full(shape, offset)
    for axis, (size, step) in enumerate(zip(shape, strides, strict=True)):
        column = (size,) + (1,) * (len(shape) - axis - 1)
        places = places + reshape(arange(size) * step, column)
    flat = scatter_axes(g, (math.prod(x_shape),), (0,), (places,))
    return reshape(flat, x_shape)


as_strided = View(
    "as_strided",
    layout=lambda layout, shape, strides, offset: Layout(shape, strides, layout.offset + offset),
    params={"shape": REQUIRED, "strides": REQUIRED, "offset": None}, normalise=_strided_params,
    keywords={"stride": "strides", "storage_offset": "offset"}, vjp=_strided_gradient,
    doc="Any shape and strides over the buffer of x, within its bounds; strides count elements, "
        "the offset runs from the start of the buffer and is by default that of x.",
    ref=lambda np, x, shape, strides, offset=0: np.lib.stride_tricks.as_strided(
        np.ascontiguousarray(x).reshape(-1)[offset:], shape, [n * x.itemsize for n in strides]),
    samples=[case((2, 3), shape=(3, 2), strides=(1, 2), layouts="contiguous"),
             case((7,), shape=(3, 3), strides=(2, 1), offset=0, layouts="contiguous"),
             case((5,), shape=(2, 2), strides=(0, 1), offset=2, layouts="contiguous")],
    errors=[case((6,), shape=(3, 3), strides=(2, 1), match="reaches elements"),
            case((6,), shape=(2,), strides=(-1,), match="reaches elements"),
            case((6,), shape=(2, 2), strides=(1,), match="strides"),
            case((6,), shape=(), strides=(), offset=-(1 << 63), match="offset is -92233720")],
).function  # fmt: skip
