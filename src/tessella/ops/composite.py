"""Operations composed of others: plain functions without kernels or gradients of their own."""

from __future__ import annotations

import math

from tessella import _core, errors
from tessella._core import Tensor
from tessella.arguments import to_ints
from tessella.composites import Axes, Ints, Offset, Operand, composite
from tessella.declarations import case
from tessella.dtypes import boolean, float32, float64, int64
from tessella.hints import Any, Literal
from tessella.kinds import scalar_tensor
from tessella.ops.creation import arange, zeros
from tessella.ops.elementwise import abs, equal, exp, isinf, isnan, less_equal, log, where
from tessella.ops.index import nonzero, take
from tessella.ops.joining import concat, stack
from tessella.ops.movement import (
    broadcast_to,
    normal_axes,
    owned,
    permute,
    reshape,
    transpose,
    unsqueeze,
)
from tessella.ops.reduce import all, max, sum
from tessella.tensors import clone


@composite(
    aliases=["make_contiguous"], ref="ascontiguousarray", ulps=0, gives="view",
    samples=[case((3, 4)), case((2, 0))],
)  # fmt: skip
def contiguous(x: Tensor) -> Tensor:
    """Give x itself if its elements lie in row-major order, else a copy that does.

    >>> ts.ones(2, 3).T.contiguous().strides
    (2, 1)
    """
    if x.is_contiguous:
        return x
    return clone(x)


@composite(
    ref="matrix_transpose", ulps=0, gives="view", is_method=False,
    samples=[case((5, 2, 3)), case((0, 2))],
    errors=[case((3,), match="axis -2 is out of range")],
)  # fmt: skip
def matrix_transpose(x: Tensor) -> Tensor:
    """Exchange the last two axes.

    >>> ts.matrix_transpose(ts.ones(5, 2, 3)).shape
    (5, 3, 2)
    """
    return transpose(x, -1, -2)


@composite(
    ref="moveaxis", ulps=0, gives="view", aliases=["movedim"],
    samples=[case((2, 3, 4), 0, -1), case((2, 3, 4), source=(0, 1), destination=(-1, 0))],
    errors=[case((2, 3), 0, destination=(0, 1), match="destination is"),
            case((2, 3), source=(0, 0), destination=(0, 1), match="repeated axis 0"),
            case((2, 3), 5, 0, match="axis 5 is out of range")],
)  # fmt: skip
def moveaxis(x: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Move axes to other places; the rest keep their order.

    >>> ts.moveaxis(ts.ones(2, 3, 4), 0, -1).shape
    (3, 4, 2)
    """
    origin, target = normal_axes(x, source, "source"), normal_axes(x, destination, "destination")
    if len(origin) != len(target):
        raise errors.wrong_value("destination", destination, f"{len(origin)} axes, as source has")
    for axes in (origin, target):
        if len(set(axes)) != len(axes):
            raise errors.axis_repeated(axes[0])
    order = [i for i in range(x.ndim) if i not in origin]
    for place, axis in sorted(zip(target, origin, strict=True)):
        order.insert(place, axis)
    return permute(x, order)


@composite(
    ref=lambda np, x, start=0, stop=-1: np.ravel(x) if start == 0 else x.reshape(x.shape[0], -1),
    ulps=0, gives="view", samples=[case((2, 3, 4)), case((2, 3, 4), 1), case(())],
    keywords={"start_dim": "start", "end_dim": "stop"},
    errors=[case((2, 3), 1, 0, match="stop is 0"), case((2,), 3, match="axis 3 is out of range")],
)  # fmt: skip
def flatten(x: Tensor, start: int = 0, stop: int = -1) -> Tensor:
    """Merge the axes from start to stop into one.

    >>> ts.flatten(ts.ones(2, 3, 4), 1).shape
    (2, 12)
    """
    if x.ndim == 0:
        return reshape(x, (1,))
    first, last = normal_axes(x, start)[0], normal_axes(x, stop)[0]
    if first > last:
        raise errors.wrong_value("stop", stop, f"at or after start, {start}")
    merged = math.prod(x.shape[first : last + 1])
    return reshape(x, (*x.shape[:first], merged, *x.shape[last + 1 :]))


@composite(
    ref="unstack", ulps=0, aliases=["unbind"], samples=[case((2, 3)), case((2, 3), axis=-1)],
    errors=[case((2, 3), axis=2, match="axis 2 is out of range")],
)  # fmt: skip
def unstack(x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
    """Give the slices along an axis, which goes.

    >>> [row.tolist() for row in ts.unstack(ts.eye(2))]
    [[1.0, 0.0], [0.0, 1.0]]
    """
    place = normal_axes(x, axis)[0]
    return tuple(x[(slice(None),) * place + (i,)] for i in range(x.shape[place]))


@composite(
    ref="broadcast_arrays", ulps=0, is_method=False, aliases=["broadcast_arrays"],
    samples=[case((3, 1), (2,)), case((2,))],
    errors=[case((3,), (2,), match="do not broadcast")],
)  # fmt: skip
def broadcast_tensors(*xs: Tensor) -> tuple[Tensor, ...]:
    """Give views of the tensors with their joint shape.

    >>> [x.shape for x in ts.broadcast_tensors(ts.ones(3, 1), ts.ones(2))]
    [(3, 2), (3, 2)]
    """
    shape: Any = ()
    for x in xs:
        shape = _core.broadcast_shapes(shape, x.shape)
    return tuple(broadcast_to(x, shape) for x in xs)


@composite(
    ref=lambda np, *xs, indexing="xy": np.meshgrid(*xs, indexing=indexing), ulps=0,
    is_method=False,
    samples=[case((3,), (2,)), case((3,), (2,), (4,), indexing="ij"), case((3,), (0,), (4,)),
             case((2,)), case((), (3,))],
    errors=[case((3,), (2, 2), match=r"arrays\[1\].ndim is 2"),
            case((3,), indexing="yx", match="indexing is 'yx'")],
)  # fmt: skip
def meshgrid(*arrays: Tensor, indexing: Literal["xy", "ij"] = "xy") -> tuple[Tensor, ...]:
    """Give the coordinates of a grid: views of vectors, each along an axis of its own.

    With "xy" the first two axes change places, so that the first vector runs along the columns.

    >>> [x.tolist() for x in ts.meshgrid(ts.arange(2), ts.arange(3))]
    [[[0, 1], [0, 1], [0, 1]], [[0, 0], [1, 1], [2, 2]]]
    """
    sizes = []
    for i, x in enumerate(arrays):
        if x.ndim > 1:
            raise errors.wrong_value(f"arrays[{i}].ndim", x.ndim, "1")
        sizes.append(x.size)
    places = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        places[:2] = [1, 0]
    shape = [sizes[place] for place in places]
    along = ([-1 if i == place else 1 for i in range(len(arrays))] for place in places)
    return tuple(
        broadcast_to(reshape(x, ones), shape) for x, ones in zip(arrays, along, strict=True)
    )


def _cartesian_ref(np: Any, *xs: Any) -> Any:
    grid = np.stack([part.reshape(-1) for part in np.meshgrid(*xs, indexing="ij")], -1)
    return grid[:, 0] if len(xs) == 1 else grid


@composite(
    ref=_cartesian_ref, ulps=0, is_method=False,
    samples=[case((3,), (2,)), case((2,), (3,), (2,)), case((4,)), case((3,), (0,))],
    errors=[case((3,), (2, 2), match=r"arrays\[1\].ndim is 2")],
)  # fmt: skip
def cartesian_prod(*arrays: Tensor) -> Tensor:
    """Give every choice of one element of each vector, as rows; of one vector, a copy.

    >>> ts.cartesian_prod(ts.tensor([1, 2]), ts.tensor([8, 9])).tolist()
    [[1, 8], [1, 9], [2, 8], [2, 9]]
    """
    if not arrays:
        raise errors.wrong_value("arrays", arrays, "one vector or more")
    for i, x in enumerate(arrays):
        if x.ndim != 1:
            raise errors.wrong_value(f"arrays[{i}].ndim", x.ndim, "1")
    if len(arrays) == 1:
        return owned(arrays[0], arrays[0])
    grid = meshgrid(*arrays, indexing="ij")
    return reshape(stack(grid, -1), (math.prod(x.size for x in arrays), len(arrays)))


def _combinations_ref(np: Any, x: Any, r: int = 2, with_replacement: bool = False) -> Any:
    from itertools import combinations, combinations_with_replacement

    choose = combinations_with_replacement if with_replacement else combinations
    rows = list(choose(range(len(x)), r))
    return x[np.array(rows, int).reshape(len(rows), r)]


@composite(
    no_capture="it counts choices by their values",
    instead="x[places] with places = ts.combinations(ts.arange(len(x)), r), made outside",
    ref=_combinations_ref, ulps=0, is_method=False,
    samples=[case((4,)), case((5,), 3), case((3,), r=2, with_replacement=True), case((3,), 1),
             case((2,), 3), case((0,), 2), case((3,), 0), case((30,), 29), case((4,), 4),
             case((1,), 3, with_replacement=True), case((0,), 2, with_replacement=True)],
    errors=[case((2, 2), match="x.ndim is 2"), case((3,), -1, match="r is -1"),
            case((3,), 1 << 41, with_replacement=True, match="more elements than can be counted"),
            case((900,), 400, match="more elements than can be counted")],
)  # fmt: skip
def combinations(x: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Give every choice of r elements of a vector, as rows, in the order of their places.

    With replacement an element may be chosen more than once.

    >>> ts.combinations(ts.tensor([1, 2, 3])).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    if x.ndim != 1:
        raise errors.wrong_value("x.ndim", x.ndim, "1")
    if r < 0:
        raise errors.wrong_value("r", r, "at least 0")
    n = x.shape[0]
    count = _count_choices(n, r, with_replacement)
    if count * r > _core.memory_totals()["limit"]:
        _core.empty((count, r), x.dtype.id)  # refuses
    if count < 2:
        only = zeros((count, r), dtype=int64)
        return take(x, only + arange(r) if count and not with_replacement else only, 0)
    # The beginnings of choices, each longer by one in every round, and with room for the rest.
    places = zeros((1, 0), dtype=int64)
    for i in range(r):
        last = places[:, -1:] if i else zeros((1, 1), dtype=int64) - 1
        least = last if with_replacement and i else last + 1
        candidate = arange(n if with_replacement else n - r + i + 1)
        row, place = nonzero(candidate >= least)
        places = concat([take(places, row, 0), unsqueeze(place, 1)], 1)
    return take(x, places, 0)


def _count_choices(n: int, r: int, with_replacement: bool) -> int:
    """Count the choices of r of n; 2 ** 62 stands for more than that."""
    of = n + r - 1 if with_replacement else n
    if r == 0 or r > of or of < 1:
        return int(r == 0)
    few = min(r, of - r)
    # (of / few) ** few is a lower bound, and near enough for what is below it to be counted.
    if few and few * math.log2(of / few) > 62:
        return 1 << 62
    return min(math.comb(of, few), 1 << 62)


@composite(is_method=False, tested="tests/test_broadcasting.py")
def broadcast_shapes(*shapes: Ints) -> tuple[int, ...]:
    """Give the joint shape of shapes that broadcast.

    >>> ts.broadcast_shapes((3, 1, 4), (2, 4))
    (3, 2, 4)
    """
    joint: Any = ()
    for shape in shapes:
        joint = _core.broadcast_shapes(joint, to_ints("shapes", shape))
    return tuple(joint)


@composite(
    is_method=False, ref=lambda np, a, b: a.shape == b.shape,
    samples=[case((2,), (2, 1)), case((2, 3), (2, 3))],
)  # fmt: skip
def shape_match(a: Tensor, b: Tensor) -> bool:
    """Tell whether two tensors have the same shape.

    >>> ts.shape_match(ts.ones(2), ts.ones(2, 1))
    False
    """
    return a.shape == b.shape


def _triangle(x: Tensor, k: int, lower: bool) -> Tensor:
    if x.ndim < 2:
        raise errors.wrong_value("x.ndim", x.ndim, "2 or more")
    rows, columns = unsqueeze(arange(x.shape[-2]), 1), arange(x.shape[-1])
    zero = False if x.dtype is boolean else 0
    return where(columns <= rows + k if lower else columns >= rows + k, x, zero)


_TRIANGLES = {
    "ulps": 0,
    "has_twin": True,
    "samples": [case((3, 4)), case((2, 3, 3), k=-1), case((3, 3), 5)],
    "errors": [case((3,), match="x.ndim is 1")],
}


@composite(ref="tril", **_TRIANGLES)
def tril(x: Tensor, k: Offset = 0) -> Tensor:
    """Keep the lower triangle, up to the k-th diagonal; zero above.

    >>> ts.tril(ts.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[1.0, 0.0], [3.0, 4.0]]
    """
    return _triangle(x, k, True)


@composite(ref="triu", **_TRIANGLES)
def triu(x: Tensor, k: Offset = 0) -> Tensor:
    """Keep the upper triangle, from the k-th diagonal on; zero below.

    >>> ts.triu(ts.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[1.0, 2.0], [0.0, 4.0]]
    """
    return _triangle(x, k, False)


def _logsumexp_ref(np: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.log(np.sum(np.exp(x.astype("float64")), axis=axis, keepdims=keepdims))


@composite(
    ref=_logsumexp_ref,
    samples=[case((3, 4)), case((3, 4), axis=0), case((2, 3, 4), axis=(0, 2), keepdims=True)],
    errors=[case((2, 3), axis=2, match="axis 2 is out of range")],
)  # fmt: skip
def logsumexp(x: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Give log(sum(e ** x)) over axes, without overflow.

    >>> round(ts.logsumexp(ts.zeros(4)).item(), 4)
    1.3863
    """
    if x.dtype.is_integer or x.dtype is boolean:
        x = x.astype(float32)  # unsigned integers would wrap below
    highest = max(x, axis=axis, keepdims=True)
    highest = where(isinf(highest), 0, highest).detach()
    out = log(sum(exp(x - highest), axis=axis, keepdims=True)) + highest
    return out if keepdims else reshape(out, sum(out, axis=axis).shape)


_CLOSE = {"samples": [case((3, 4), (3, 4)), case((3, 4), 1.0), case((2, 3), (3,), atol=2.0)]}


def _widened(x: Tensor) -> Tensor:
    """Give floats in which a distance is exact enough, and where unsigned integers cannot wrap."""
    if not (x.dtype.is_floating or x.dtype.is_complex):
        return x.astype(float64)
    return x.astype(float32) if x.dtype.itemsize == 2 else x


@composite(ref="isclose", has_twin=True, **_CLOSE)
def isclose(
    x: Operand, y: Operand, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Tell where |x - y| <= atol + rtol * |y|; equal infinities are close.

    >>> ts.isclose(ts.tensor([1.0, 2.0]), ts.tensor([1.0, 2.1])).tolist()
    [True, False]
    """
    x, y = (v if isinstance(v, Tensor) else scalar_tensor(v, [v]) for v in (x, y))
    wide = [_widened(v) for v in (x, y)]
    near = less_equal(abs(wide[0] - wide[1]), abs(wide[1]) * rtol + atol)
    out = equal(x, y) | (near & ~isinf(wide[1]))
    return out | (isnan(wide[0]) & isnan(wide[1])) if equal_nan else out


@composite(
    no_capture="it gives a bool of Python", instead="(x == y).all() gives a tensor",
    ref=lambda np, x, y: bool(x.shape == np.shape(y) and (x == y).all()),
    samples=[case((3, 4), (3, 4)), case((3,), (3, 1)), case((0,), (0,))],
)  # fmt: skip
def array_equal(x: Tensor, y: Tensor) -> bool:
    """Tell whether two tensors have the same shape and equal elements; NaN equals nothing.

    >>> ts.array_equal(ts.ones(2), ts.tensor([1, 1]))
    True
    """
    return x.shape == y.shape and bool(all(equal(x, y)))


@composite(
    no_capture="it gives a bool of Python", instead="ts.isclose(x, y).all() gives a tensor",
    ref="allclose", **_CLOSE)  # fmt: skip
def allclose(
    x: Operand, y: Operand, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Tell whether all elements are close.

    >>> x = ts.tensor([1.0, 2.0])
    >>> ts.allclose(x, x + 1e-6), ts.allclose(x, x + 1e-2)
    (True, False)
    """
    return bool(all(isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan)))
