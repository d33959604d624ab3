"""Parts of a tensor along an axis: one slice, some of them, or all in pieces. Views throughout."""

from __future__ import annotations

from itertools import pairwise

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_int, to_ints
from tessella.composites import composite
from tessella.declarations import case
from tessella.hints import Any, Sequence
from tessella.ops.movement import normal_axes


def _part(x: Tensor, axis: int, key: Any) -> Tensor:
    return x[(slice(None),) * axis + (key,)]


@composite(
    ref=lambda np, x, axis, index: np.take(x, index, axis), ulps=0, gives="view",
    samples=[case((2, 3), 1, -1), case((2, 3, 4), 0, 1)],
    errors=[case((2, 3), 1, 3, match="index 3 is out of bounds for axis 1 of size 3")],
)  # fmt: skip
def select(x: Tensor, axis: int, index: int) -> Tensor:
    """Give one slice along an axis, which goes: a view.

    >>> ts.select(ts.tensor([[1, 2], [3, 4]]), 1, 0).tolist()
    [1, 3]
    """
    return _part(x, normal_axes(x, axis)[0], index)


@composite(
    ulps=0, gives="view",
    ref=lambda np, x, axis, start, length: np.take(x, range(start, start + length), axis),
    samples=[case((5, 3), 0, 1, 3), case((2, 4), -1, 0, 4), case((2, 4), 1, 2, 0)],
    errors=[case((5,), 0, 3, 3, match="length is 3"), case((5,), 0, 6, 0, match="start is 6"),
            case((5,), 0, 0, -1, match="length is -1")],
)  # fmt: skip
def narrow(x: Tensor, axis: int, start: int, length: int) -> Tensor:
    """Give `length` elements of an axis from `start` on: a view.

    >>> ts.narrow(ts.arange(5), 0, 1, 3).tolist()
    [1, 2, 3]
    """
    place = normal_axes(x, axis)[0]
    size = x.shape[place]
    if not -size <= start <= size:
        raise errors.wrong_value("start", start, f"between {-size} and {size}")
    first = start + size if start < 0 else start
    if not 0 <= length <= size - first:
        raise errors.wrong_value("length", length, f"between 0 and {size - first}")
    return _part(x, place, slice(first, first + length))


@composite(
    ref=lambda np, x, sizes, axis=0: np.split(
        x, range(sizes, x.shape[axis], sizes) if isinstance(sizes, int)
        else np.cumsum(sizes)[:-1], axis), ulps=0,
    samples=[case((5, 2), 2), case((5, 2), sizes=[1, 4]), case((2, 6), 3, axis=-1), case((0,), 2)],
    errors=[case((5,), 0, match="sizes is 0"), case((5,), sizes=[1, 3], match=r"sizes is \(1, 3\)"),
            case((5,), sizes=[6, -1], match="sizes is"), case((5,), 1, 1, match="axis 1 is out"),
            case((5,), 1.5, match="sizes must be an integer, got float")],
    keywords={"split_size_or_sections": "sizes", "split_size": "sizes"},
)  # fmt: skip
def split(x: Tensor, sizes: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Part an axis into pieces of a size (the last may be smaller), or of several sizes: views.

    NumPy's split is told how many pieces instead: that is `tensor_split`.

    >>> [part.tolist() for part in ts.split(ts.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    """
    place = normal_axes(x, axis)[0]
    total = x.shape[place]
    if not isinstance(sizes, list | tuple):
        return _pieces(x, place, to_int("sizes", sizes), "sizes")
    given = to_ints("sizes", sizes)
    if sum(given) != total or min(given, default=0) < 0:
        raise errors.wrong_value("sizes", given, f"0 or more, and {total} together")
    return _cut(x, place, given)


def _pieces(x: Tensor, axis: int, size: int, name: str) -> tuple[Tensor, ...]:
    if size <= 0:
        raise errors.wrong_value(name, size, "more than 0")
    total = x.shape[axis]
    return _cut(x, axis, [min(size, total - i) for i in range(0, total, size)] or [0])


def _cut(x: Tensor, axis: int, sizes: Sequence[int]) -> tuple[Tensor, ...]:
    parts, start = [], 0
    for size in sizes:
        parts.append(_part(x, axis, slice(start, start + size)))
        start += size
    return tuple(parts)


@composite(
    ref=lambda np, x, chunks, axis=0: np.split(
        x, range(-(-x.shape[axis] // chunks), x.shape[axis], -(-x.shape[axis] // chunks)), axis),
    ulps=0, samples=[case((5, 2), 2), case((5, 2), 4), case((2, 6), 3, axis=-1)],
    errors=[case((5,), 0, match="chunks is 0"), case((5,), 2, 1, match="axis 1 is out of range")],
)  # fmt: skip
def chunk(x: Tensor, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """Part an axis into at most so many pieces of one size; the last may be smaller: views.

    >>> [part.tolist() for part in ts.chunk(ts.arange(5), 2)]
    [[0, 1, 2], [3, 4]]
    """
    place = normal_axes(x, axis)[0]
    if chunks <= 0:
        raise errors.wrong_value("chunks", chunks, "more than 0")
    return _pieces(x, place, max(1, -(-x.shape[place] // chunks)), "chunks")


MOST_PARTS = 1 << 20  # each is a tensor, empty or not
_TENSOR_SPLIT = {"indices_or_sections": "sections", "indices": "sections"}


@composite(
    ref=lambda np, x, sections, axis=0: np.array_split(x, sections, axis), ulps=0,
    samples=[case((5, 2), 3), case((5, 2), sections=[1, 3]), case((2, 6), 4, axis=-1),
             case((5,), sections=[4, 2, 7])],
    errors=[case((5,), 0, match="sections is 0"), case((5,), 2, 1, match="axis 1 is out of range"),
            case((5,), 1 << 41, match="sections is 2199023255552")],
    keywords=_TENSOR_SPLIT,
)  # fmt: skip
def tensor_split(x: Tensor, sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Part an axis into so many pieces of nearly one size, or before the given indices: views.

    >>> [part.tolist() for part in ts.tensor_split(ts.arange(5), 2)]
    [[0, 1, 2], [3, 4]]
    """
    return _sections(x, sections, normal_axes(x, axis)[0])


def _sections(x: Tensor, sections: Any, axis: int) -> tuple[Tensor, ...]:
    if isinstance(sections, list | tuple):
        borders = (0, *to_ints("sections", sections), x.shape[axis])
        return tuple(_part(x, axis, slice(a, b)) for a, b in pairwise(borders))
    count = to_int("sections", sections)
    if not 0 < count <= MOST_PARTS:
        raise errors.wrong_value("sections", sections, f"from 1 to {MOST_PARTS}")
    size, larger = divmod(x.shape[axis], count)
    return _cut(x, axis, [size + (i < larger) for i in range(count)])


def _even_sections(x: Tensor, sections: Any, axis: int, least: int) -> tuple[Tensor, ...]:
    if x.ndim < least:
        raise errors.wrong_value("x.ndim", x.ndim, f"{least} or more")
    if not isinstance(sections, list | tuple):
        count = to_int("sections", sections)
        if count <= 0 or x.shape[axis] % count:
            raise errors.wrong_value("sections", count, f"a divisor of {x.shape[axis]}")
    return _sections(x, sections, axis)


@composite(
    ref="hsplit", ulps=0, keywords=_TENSOR_SPLIT,
    samples=[case((2, 4), 2), case((4,), sections=[1, 2])],
    errors=[case((2, 4), 3, match="sections is 3"), case((), 1, match="x.ndim is 0")],
)  # fmt: skip
def hsplit(x: Tensor, sections: Any) -> tuple[Tensor, ...]:
    """Part the second axis (the only one of a vector) into equal pieces, or before indices.

    >>> [part.tolist() for part in ts.hsplit(ts.arange(4), 2)]
    [[0, 1], [2, 3]]
    """
    return _even_sections(x, sections, 0 if x.ndim == 1 else 1, 1)


@composite(
    ref="vsplit", ulps=0, keywords=_TENSOR_SPLIT,
    samples=[case((4, 2), 2), case((4, 2), sections=[1, 2])],
    errors=[case((4, 2), 3, match="sections is 3"), case((3,), 1, match="x.ndim is 1")],
)  # fmt: skip
def vsplit(x: Tensor, sections: Any) -> tuple[Tensor, ...]:
    """Part the first axis into equal pieces, or before indices.

    >>> [part.shape for part in ts.vsplit(ts.ones(4, 3), 2)]
    [(2, 3), (2, 3)]
    """
    return _even_sections(x, sections, 0, 2)


@composite(
    ref="dsplit", ulps=0, keywords=_TENSOR_SPLIT,
    samples=[case((1, 2, 4), 2), case((1, 2, 4), sections=[1, 2])],
    errors=[case((1, 2, 4), 3, match="sections is 3"), case((3, 3), 1, match="x.ndim is 2")],
)  # fmt: skip
def dsplit(x: Tensor, sections: Any) -> tuple[Tensor, ...]:
    """Part the third axis into equal pieces, or before indices.

    >>> [part.shape for part in ts.dsplit(ts.ones(1, 2, 4), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    return _even_sections(x, sections, 2, 3)
