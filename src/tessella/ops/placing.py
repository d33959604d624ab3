"""Values put into a part of a tensor: into a slice or a diagonal of a copy, or in place."""

from __future__ import annotations

from tessella import _core, errors
from tessella._core import Tensor
from tessella.composites import Operand, composite
from tessella.declarations import case
from tessella.hints import Any
from tessella.ops.creation import arange, full
from tessella.ops.index import need_integers, put_axes, set
from tessella.ops.movement import broadcast_to, diagonal, normal_axes, reshape, unsqueeze


def _need_shape(src: Tensor, shape: tuple[int, ...]) -> None:
    if src.shape != shape:
        raise errors.wrong_value("src.shape", src.shape, f"{shape}: that of what it replaces")


def _key(ndim: int, axis: int, part: Any) -> tuple[Any, ...]:
    return (*[slice(None)] * (axis % ndim), part)


def _put_ref(np: Any, x: Any, src: Any, key: Any) -> Any:
    out = x.copy()
    out[key] = src
    return out


@composite(
    ref=lambda np, x, src, axis, index: _put_ref(np, x, src, _key(x.ndim, axis, index)), ulps=0,
    samples=[case((3, 4), (4,), 0, 1), case((3, 4), (3,), axis=-1, index=-1), case((5,), (), 0, 2)],
    errors=[case((3, 4), (3,), 0, 1, match=r"src.shape is \(3,\)"),
            case((3, 4), (4,), 0, 3, match="index 3 is out of bounds"),
            case((3, 4), (4,), 2, 0, match="axis 2 is out of range")],
)  # fmt: skip
def select_scatter(x: Tensor, src: Tensor, axis: int, index: int) -> Tensor:
    """Give a copy of x with src at one index of an axis.

    >>> ts.select_scatter(ts.zeros(2, 2), ts.ones(2), 0, 1).tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    """
    place = normal_axes(x, axis)[0]
    _need_shape(src, (*x.shape[:place], *x.shape[place + 1 :]))
    return put_axes(x, unsqueeze(src, place), (place,), (full((1,), index),), place)


def _slice_ref(np: Any, x: Any, src: Any, axis: int = 0, start: Any = None, end: Any = None,
               step: int = 1) -> Any:  # fmt: skip
    return _put_ref(np, x, src, _key(x.ndim, axis, slice(start, end, step)))


@composite(
    ref=_slice_ref, ulps=0,
    samples=[case((4, 3), (2, 3), 0, 1, 3), case((3, 5), (3, 2), axis=1, start=-3, step=2),
             case((3, 4), (3, 4)), case((4,), (0,), start=3, end=1), case((4,), (4,), end=99)],
    errors=[case((4, 3), (3, 3), 0, 1, 3, match=r"src.shape is \(3, 3\)"),
            case((4,), (4,), step=0, match="step is 0"),
            case((4,), (4,), 1, match="axis 1 is out of range")],
)  # fmt: skip
def slice_scatter(x: Tensor, src: Tensor, axis: int = 0, start: int | None = None,
                  end: int | None = None, step: int = 1) -> Tensor:  # fmt: skip
    """Give a copy of x with src at a slice of an axis.

    >>> ts.slice_scatter(ts.zeros(4), ts.ones(2), 0, 1, 3).tolist()
    [0.0, 1.0, 1.0, 0.0]
    """
    if step < 1:
        raise errors.wrong_value("step", step, "at least 1")
    place = normal_axes(x, axis)[0]
    first, last, by = slice(start, end, step).indices(x.shape[place])
    places = arange(first, max(first, last), by)
    _need_shape(src, (*x.shape[:place], places.shape[0], *x.shape[place + 1 :]))
    return put_axes(x, src, (place,), (places,), place)


def _diagonal_ref(np: Any, x: Any, src: Any, offset: int = 0, a: int = 0, b: int = 1) -> Any:
    places = np.arange(x.size).reshape(x.shape).diagonal(offset, a, b)
    out = x.copy()
    out.reshape(-1)[places] = src
    return out


@composite(
    ref=_diagonal_ref, ulps=0, keywords={"dim1": "a", "dim2": "b"},
    samples=[case((3, 4), (3,)), case((3, 4), (2,), -1), case((2, 3, 4), (2, 2), 2, 1, 2),
             case((4, 2, 3), (2, 2), offset=-1, a=-1, b=0), case((2, 2), (0,), 5)],
    errors=[case((3, 4), (4,), match=r"src.shape is \(4,\)"),
            case((3, 4), (3,), a=0, b=0, match="repeated axis 0"),
            case((3,), (3,), match="axis 1 is out of range")],
)  # fmt: skip
def diagonal_scatter(x: Tensor, src: Tensor, offset: int = 0, a: int = 0, b: int = 1) -> Tensor:
    """Give a copy of x with src on the diagonal of two axes, which is the last axis of src.

    >>> ts.diagonal_scatter(ts.zeros(2, 2), ts.ones(2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    shape = diagonal(x.detach(), offset, a, b).shape
    _need_shape(src, shape)
    rows = arange(shape[-1]) + max(0, -offset)
    columns = arange(shape[-1]) + max(0, offset)
    places = normal_axes(x, (a, b))
    # The record takes axes in their order, and puts what is indexed where it is told: last.
    pair = sorted(zip(places, (rows, columns), strict=True), key=lambda each: each[0])
    axes, indices = zip(*pair, strict=True)
    return put_axes(x, src, axes, indices, x.ndim - 2)


@composite(is_method=False, tested="tests/test_placing.py")
def put_along_axis(x: Tensor, indices: Tensor, values: Operand, axis: int | None = -1) -> None:
    """Write values into x, for each position of indices at that index along the axis.

    Other axes broadcast; without an axis, x is taken flat. `ts.scatter` gives a copy instead.

    >>> x = ts.zeros(2, 2)
    >>> ts.put_along_axis(x, ts.tensor([[1], [0]]), 5.0, 1)
    >>> x.tolist()
    [[0.0, 5.0], [5.0, 0.0]]
    """
    if axis is None:
        index = reshape(need_integers(indices), (-1,))
        target = x.view(-1)
        set(target, (index,), values)
        return
    index, place = need_integers(indices), normal_axes(x, axis)[0]
    if index.ndim != x.ndim:
        raise errors.index_count(index.ndim, x.ndim)
    sizes = [n if i == place else x.shape[i] for i, n in enumerate(index.shape)]
    joint = _core.broadcast_shapes(index.shape, sizes)
    every: list[Any] = []
    for i, size in enumerate(joint):
        column = [1] * i + [-1] + [1] * (x.ndim - i - 1)
        every.append(broadcast_to(index, joint) if i == place else reshape(arange(size), column))
    set(x, tuple(every), values)
