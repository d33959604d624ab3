"""Tensors with a border: of one value, or of what lies inside."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.composites import Ints, Number, composite
from tessella.declarations import case
from tessella.dtypes import boolean
from tessella.hints import Any, Literal
from tessella.ops.creation import arange, full
from tessella.ops.elementwise import abs, clip, remainder
from tessella.ops.index import take
from tessella.ops.joining import concat
from tessella.ops.movement import embed, owned


def _pad_ref(np: Any, x: Any, pad: Any, mode: str = "constant", value: Any = 0) -> Any:
    widths = [(0, 0)] * (x.ndim - len(pad) // 2)
    widths += [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]
    inside = tuple(
        slice(max(0, -a), n - max(0, -b)) for (a, b), n in zip(widths, x.shape, strict=True)
    )
    widths = [(max(0, a), max(0, b)) for a, b in widths]
    names = {"replicate": "edge", "circular": "wrap"}
    options = {"constant_values": np.asarray(value).astype(x.dtype)} if mode == "constant" else {}
    return np.pad(x[inside], widths, names.get(mode, mode), **options)


@composite(
    ref=_pad_ref, ulps=0,
    samples=[case((2, 3), pad=(1, 2)), case((2, 3), pad=(1, 0, 2, 1), value=True),
             case((4, 5), pad=(-1, 2, 0, -2)), case((2, 4), pad=(3, 2), mode="reflect"),
             case((3, 2), pad=(1, 2, 2, 0), mode="replicate"), case((0, 2), pad=(0, 0, 1, 1)),
             case((3, 4), pad=(4, 1, 2, 3), mode="circular"), case((2, 3), pad=())],
    errors=[case((3,), pad=(1,), match="pad is"), case((3,), pad=(1, 1, 1, 1), match="pad is"),
            case((3,), pad=(-2, -2), match="pad is"), case((3,), pad=(1, 1), mode="edge",
                                                          match="mode is 'edge'"),
            case((3,), pad=(3, 0), mode="reflect", match="pad is 3"),
            case((3,), pad=(0, 4), mode="circular", match="pad is 4"),
            case((0,), pad=(1, 0), mode="replicate", match="pad is 1"),
            case((3,), pad=(-1, 0), mode="reflect", match="pad is -1")],
)  # fmt: skip
def pad(
    x: Tensor,
    pad: Ints,
    mode: Literal["constant", "reflect", "replicate", "circular"] = "constant",
    value: Number | None = None,
) -> Tensor:
    """Put a border around a tensor.

    `pad` holds how much before and after, the last axis first: (left, right, top, bottom). The
    border is `value` (0), or what the mode finds inside: the reflection at the edge element, the
    edge element itself, or the other end. A negative width of a constant border cuts off.

    >>> ts.pad(ts.arange(3), (1, 2)).tolist()
    [0, 0, 1, 2, 0, 0]
    >>> ts.pad(ts.arange(3), (2, 1), mode="reflect").tolist()
    [2, 1, 0, 1, 2, 1]
    """
    widths = _widths(x, pad)
    if mode == "constant":
        return owned(_with_value(x, widths, False if value is None else value), x)
    out = x
    for axis, (before, after) in enumerate(widths):
        if before or after:
            out = take(out, _places(out.shape[axis], before, after, mode), axis)
    return owned(out, x)


def _widths(x: Tensor, pad: Any) -> list[tuple[int, int]]:
    """Give the widths before and after each axis, in the order of the axes."""
    if len(pad) % 2 or len(pad) > 2 * x.ndim:
        raise errors.wrong_value("pad", pad, f"pairs, the last axis first, at most {x.ndim}")
    pairs = [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]
    return [(0, 0)] * (x.ndim - len(pairs)) + pairs


def _with_value(x: Tensor, widths: list[tuple[int, int]], value: Any) -> Tensor:
    for (before, after), size in zip(widths, x.shape, strict=True):
        if size + before + after < 0:
            raise errors.wrong_value("pad", (before, after), f"at least -{size} together")
    cut = tuple(
        slice(max(0, -a), n - max(0, -b)) for (a, b), n in zip(widths, x.shape, strict=True)
    )
    x = x[cut]
    widths = [(max(0, a), max(0, b)) for a, b in widths]
    if value == 0 and x.dtype is not boolean:
        shape = [n + a + b for (a, b), n in zip(widths, x.shape, strict=True)]
        key = tuple(slice(a, a + n) for (a, _), n in zip(widths, x.shape, strict=True))
        return embed(x, tuple(shape), "getitem", (key,))
    for axis, (before, after) in enumerate(widths):
        if before or after:
            sizes = ((*x.shape[:axis], n, *x.shape[axis + 1 :]) for n in (before, after))
            first, last = (full(shape, value, dtype=x.dtype) for shape in sizes)
            x = concat([first, x, last], axis)
    return x


def _places(size: int, before: int, after: int, mode: str) -> Tensor:
    """Give, for each place of the padded axis, the place inside that it repeats."""
    most = {"reflect": size - 1, "replicate": 1 << 62 if size else 0, "circular": size}[mode]
    for width in (before, after):
        if not 0 <= width <= most:
            raise errors.wrong_value("pad", width, f"between 0 and {most} for an axis of {size}")
    places = arange(-before, size + after)
    if mode == "replicate":
        return clip(places, 0, size - 1)
    if mode == "circular":
        return remainder(places, size)
    return (size - 1) - abs((size - 1) - abs(places))
