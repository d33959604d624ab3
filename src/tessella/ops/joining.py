"""Operations over a list of tensors, and those that repeat or shift: they copy."""

from __future__ import annotations

import itertools

from tessella import _core, errors
from tessella._core import Layout, Tensor
from tessella.arguments import LISTS, to_int, to_ints
from tessella.composites import Axes, Ints, composite
from tessella.declarations import case
from tessella.dtypes import DType, int64, promote
from tessella.hints import Any, Sequence
from tessella.kinds import Straight, cast
from tessella.ops.movement import broadcast_to, normal_axes, owned, reshape, unsqueeze


class Concat(Straight):
    """Joins along an existing axis."""

    fast = "concat"
    items = "moved"
    operands = ("xs",)
    params = {"axis": 0}

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Promote to one dtype and check the shapes."""
        (xs,) = inputs
        if not isinstance(xs, LISTS):
            raise errors.not_tensors("xs", xs)
        if not xs:
            raise errors.wrong_value("xs", xs, "at least one tensor")
        for i, x in enumerate(xs):
            if not isinstance(x, Tensor):
                raise errors.not_tensor(f"xs[{i}]", x)
        if params["axis"] is None:
            xs, axis = [reshape(x, (-1,)) for x in xs], 0
        else:
            axis = normal_axes(xs[0], to_int("axis", params["axis"]))[0]
        dtype = xs[0].dtype
        for i, x in enumerate(xs):
            dtype = promote(dtype, x.dtype)
            first = xs[0].shape
            if (
                x.ndim != len(first)
                or x.shape[:axis] + x.shape[axis + 1 :] != first[:axis] + first[axis + 1 :]
            ):
                raise errors.concat_shapes(first, i, x.shape, axis)
        return [cast(x, dtype) for x in xs], {"axis": axis}

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Add the sizes along the axis."""
        axis = params["axis"]
        shape = list(inputs[0].shape)
        shape[axis] = sum(x.shape[axis] for x in inputs)
        return shape, inputs[0].dtype

    def compute(
        self, out: Tensor, inputs: list[Any], params: dict[str, Any], interruptible: bool
    ) -> None:
        """Copy each into its place."""
        axis, start = params["axis"], 0
        layout = _core.layout_of(out)
        for x in inputs:
            size = x.shape[axis]
            part = _core.view(out, layout.slice(axis, start, start + size))
            _core.copy(part, x, interruptible)
            start += size


def _split_gradient(g: Tensor, x_shapes: Sequence[Sequence[int]], axis: int) -> list[Tensor]:
    """Give the parts of g, one for each operand."""
    parts, start = [], 0
    for shape in x_shapes:
        parts.append(g[(slice(None),) * axis + (slice(start, start + shape[axis]),)])
        start += shape[axis]
    return parts


concat = Concat(
    "concat", ulps=0, aliases=["cat", "concatenate"], is_method=False,
    vjp=_split_gradient, doc="Tensors joined along an axis; None flattens them first.",
    ref=lambda np, xs, axis=0: np.concatenate(xs, axis),
    samples=[case([(2, 3), (4, 3)]), case([(2, 3), (2, 1)], axis=-1),
             case([(2, 2), (3,)], axis=None), case([(0, 2), (1, 2)])],
    errors=[case([(2, 3), (2, 4)], match=r"xs\[1\] has shape \(2, 4\)"),
            case([], match="xs is"), case([(2, 3)], axis=2, match="axis 2 is out of range")],
).function  # fmt: skip


@composite(
    ref="stack", ulps=0, is_method=False,
    samples=[case([(2, 3), (2, 3)]), case([(2,), (2,)], axis=-1), case([()])],
    errors=[case([(2,), (3,)], match=r"xs\[1\] has shape \(3,\)"), case([], match="xs is"),
            case([(2,)], axis=2, match="axis 2 is out of range")],
)  # fmt: skip
def stack(xs: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Join tensors of one shape along a new axis.

    >>> ts.stack([ts.zeros(2), ts.ones(2)]).tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    """
    shapes = [x.shape for x in xs]
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise errors.stack_shapes(shapes[0], i, shape)
    place = axis + len(shapes[0]) + 1 if axis < 0 and shapes else axis
    if not shapes or not 0 <= place < len(shapes[0]):
        return concat([unsqueeze(x, axis) for x in xs], axis)
    # Joined along the axis that stands there now, the parts follow one another as they shall.
    whole = concat(xs, place)
    return reshape(whole, (*shapes[0][:place], len(shapes), *shapes[0][place:]))


_STACKED = {"ulps": 0, "is_method": False}


@composite(
    **_STACKED, ref="hstack",
    samples=[case([(2,), (3,)]), case([(2, 1), (2, 3)]), case([(), ()])],
    errors=[case([(2, 3), (3, 3)], match=r"xs\[1\] has shape \(3, 3\)"), case([], match="xs is")],
)  # fmt: skip
def hstack(xs: Sequence[Tensor]) -> Tensor:
    """Join tensors along the second axis, vectors along their only one.

    >>> ts.hstack([ts.zeros(1), ts.ones(2)]).tolist()
    [0.0, 1.0, 1.0]
    """
    wide = [reshape(x, (1,)) if x.ndim == 0 else x for x in xs]
    return concat(wide, 0 if wide and wide[0].ndim == 1 else 1)


@composite(
    **_STACKED, ref="vstack", aliases=["row_stack"],
    samples=[case([(2,), (2,)]), case([(1, 3), (2, 3)]), case([(), ()])],
    errors=[case([(2, 3), (2, 2)], match=r"xs\[1\] has shape \(2, 2\)"), case([], match="xs is")],
)  # fmt: skip
def vstack(xs: Sequence[Tensor]) -> Tensor:
    """Join tensors along the first axis; vectors become rows.

    >>> ts.vstack([ts.zeros(2), ts.ones(2)]).tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    """
    return concat([reshape(x, (1, -1)) if x.ndim < 2 else x for x in xs], 0)


@composite(
    **_STACKED, ref="dstack", samples=[case([(2,), (2,)]), case([(1, 3), (1, 3)])],
    errors=[case([(2,), (3,)], match=r"xs\[1\] has shape \(1, 3, 1\)"), case([], match="xs is")],
)  # fmt: skip
def dstack(xs: Sequence[Tensor]) -> Tensor:
    """Join tensors along the third axis; matrices become (m, n, 1), vectors (1, n, 1).

    >>> ts.dstack([ts.zeros(2), ts.ones(2)]).tolist()
    [[[0.0, 1.0], [0.0, 1.0]]]
    """
    flat = [reshape(x, (1, -1)) if x.ndim < 2 else x for x in xs]
    return concat([unsqueeze(x, 2) if x.ndim < 3 else x for x in flat], 2)


@composite(
    **_STACKED, ref="column_stack", samples=[case([(2,), (2,)]), case([(2,), (2, 3)])],
    errors=[case([(2,), (3,)], match=r"xs\[1\] has shape \(3, 1\)"), case([], match="xs is")],
)  # fmt: skip
def column_stack(xs: Sequence[Tensor]) -> Tensor:
    """Join tensors along the second axis; vectors become columns.

    >>> ts.column_stack([ts.zeros(2), ts.ones(2)]).tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    """
    return concat([reshape(x, (-1, 1)) if x.ndim < 2 else x for x in xs], 1)


@composite(
    ref="roll", ulps=0,
    samples=[case((5,), 2), case((3, 4), 1), case((3, 4), -1, axis=1), case((0, 3), 1, axis=0),
             case((3, 4), shift=(1, 2), axis=(0, 1)), case((3, 4), shift=(), axis=())],
    errors=[case((3,), 1, axis=1, match="axis 1 is out of range"),
            case((3, 4), shift=(1, 2), axis=0, match="shift is")],
)  # fmt: skip
def roll(x: Tensor, shift: Ints, axis: Axes = None) -> Tensor:
    """Shift elements along axes; what leaves at one end comes in at the other.

    >>> ts.roll(ts.arange(4), 1).tolist()
    [3, 0, 1, 2]
    """
    amounts = to_ints("shift", shift)
    if axis is None:
        return reshape(_roll(reshape(x, (-1,)), sum(amounts), 0), x.shape)
    axes = normal_axes(x, axis)
    if len(amounts) == 1:
        amounts = amounts * len(axes)
    if len(amounts) != len(axes):
        raise errors.wrong_value("shift", shift, f"one integer, or {len(axes)} as axis has")
    out = x
    for amount, one in zip(amounts, axes, strict=True):
        out = _roll(out, amount, one)
    return owned(out, x)


def _roll(x: Tensor, shift: int, axis: int) -> Tensor:
    size = x.shape[axis]
    if size == 0:
        return x
    cut = (size - shift) % size
    head = (slice(None),) * axis
    return concat([x[(*head, slice(cut, None))], x[(*head, slice(None, cut))]], axis)


@composite(
    ref="diff",
    samples=[case((5,)), case((3, 4), 2, 0), case((3,), n=3), case((3,), n=5), case((2, 0)),
             case((3,), n=0)],
    errors=[case((3,), axis=1, match="axis 1 is out of range"), case((3,), n=-1, match="n is -1"),
            case((3,), prepend=1, match="prepend must be a tensor, got int")],
)  # fmt: skip
def diff(x: Tensor, n: int = 1, axis: int = -1, *, prepend: Tensor | None = None,
         append: Tensor | None = None) -> Tensor:  # fmt: skip
    """Give differences of neighbours along an axis, n times over; put tensors before and after x.

    >>> ts.diff(ts.tensor([1, 4, 9])).tolist()
    [3, 5]
    """
    if n < 0:
        raise errors.wrong_value("n", n, "at least 0")
    place = normal_axes(x, axis)[0]
    parts = [part for part in (prepend, x, append) if part is not None]
    if len(parts) > 1:
        x = concat(parts, place)
    head = (slice(None),) * place
    out = x
    for _ in range(min(n, max(1, x.shape[place]))):  # it is empty then, and stays so
        out = out[(*head, slice(1, None))] - out[(*head, slice(None, -1))]
    return owned(out, x)


def _need_counts(name: str, values: Ints) -> tuple[int, ...]:
    counts = to_ints(name, values)
    if any(n < 0 for n in counts):
        raise errors.wrong_value(name, values, "at least 0")
    return counts


@composite(
    ref="tile", ulps=0, variadic="repetitions", keywords={"dims": "repetitions"},
    samples=[case((2,), repetitions=(2, 2)), case((2, 3), 2), case((2, 3), repetitions=(2, 1, 1)),
             case((2, 3), 1), case((1, 4), repetitions=(3, 1))],
    errors=[case((2,), -1, match="repetitions is")],
)  # fmt: skip
def tile(x: Tensor, repetitions: Ints) -> Tensor:
    """Repeat the whole tensor along its axes, as NumPy's tile does.

    >>> ts.tile(ts.arange(2), (2, 2)).tolist()
    [[0, 1, 0, 1], [0, 1, 0, 1]]
    """
    times = _need_counts("repetitions", repetitions)
    ndim = max(len(times), x.ndim)
    shape = (1,) * (ndim - x.ndim) + x.shape
    times = (1,) * (ndim - len(times)) + times
    # (a, b) tiled (p, q): view as (1, a, 1, b), broadcast to (p, a, q, b), merge pairs.
    apart = [n for size in shape for n in (1, size)]
    spread = [n for pair in zip(times, shape, strict=True) for n in pair]
    joined = [n * size for n, size in zip(times, shape, strict=True)]
    return owned(reshape(broadcast_to(reshape(x, apart), spread), joined), x)


@composite(
    ref="repeat", ulps=0, aliases=["repeat_interleave"],
    samples=[case((3,), 2), case((2, 3), 2, axis=1), case((3, 2), repeats=[1, 0, 2], axis=0),
             case((3,), 1), case((1, 4), 3, axis=0)],
    errors=[case((3,), -1, match="repeats is -1"), case((3,), repeats=[1, 2], match="repeats is"),
            case((3,), 2, axis=1, match="axis 1 is out of range")],
)  # fmt: skip
def repeat(x: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    """Repeat each element, along an axis or of the flattened tensor.

    >>> ts.repeat(ts.arange(3), 2).tolist()
    [0, 0, 1, 1, 2, 2]
    """
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    axis = normal_axes(x, axis)[0]
    given: Any = repeats.tolist() if isinstance(repeats, Tensor) else repeats
    counts = _need_counts("repeats", given)
    if len(counts) not in (1, x.shape[axis]):
        raise errors.wrong_value("repeats", repeats, f"one integer, or {x.shape[axis]}")
    if len(counts) == 1:
        wide = [*x.shape[: axis + 1], counts[0], *x.shape[axis + 1 :]]
        joined = [*x.shape[:axis], x.shape[axis] * counts[0], *x.shape[axis + 1 :]]
        return owned(reshape(broadcast_to(unsqueeze(x, axis + 1), wide), joined), x)
    if not counts:
        return owned(x, x)
    ends = list(itertools.accumulate(counts))
    index = _core.empty(ends[-1:], int64.id)  # all of it at once: it is refused before it is filled
    for i, (n, end) in enumerate(zip(counts, ends, strict=True)):
        _core.fill(_core.view(index, Layout((n,), (1,), end - n)), i)
    return x[(slice(None),) * axis + (index,)]
