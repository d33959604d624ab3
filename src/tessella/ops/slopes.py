"""Slopes of sampled functions: differences of neighbours, divided by their distance."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.composites import Axes, Operand, composite
from tessella.declarations import Refusal, case, refusal
from tessella.hints import Any
from tessella.kinds import cast
from tessella.ops.creation import arange
from tessella.ops.elementwise import real
from tessella.ops.joining import concat
from tessella.ops.movement import reshape
from tessella.ops.norms import widened
from tessella.ops.reduce import part_of, reduced_axes
from tessella.tensors import tensor

Keywords = dict[str, Any]


def _has_one_dim(args: tuple[Any, ...], keywords: Keywords) -> bool:
    """Tell whether one axis is named as PyTorch's code does."""
    dim = keywords.get("dim")
    return isinstance(dim, int) or (isinstance(dim, list | tuple) and len(dim) == 1)


def _gradient_ref(np: Any, x: Any, *varargs: Any, spacing: Any = None, axis: Any = None,
                  edge_order: int = 1) -> Any:  # fmt: skip
    given = varargs or (spacing if isinstance(spacing, list | tuple) else [spacing or 1])
    x = x if x.dtype.kind in "fc" else x.astype("float64")
    return np.gradient(x, *given, axis=axis, edge_order=edge_order)


_WHY = "gives a tuple of one tensor, in NumPy the tensor"


def _along(axis: int) -> Refusal:
    def of_call(args: tuple[Any, ...], keywords: Keywords) -> Refusal:
        dim = keywords["dim"]
        return _along(dim if isinstance(dim, int) else dim[0])

    return refusal(f"torch.gradient(x, dim={axis})", f"ts.gradient(x, axis={axis})", _WHY,
                   _has_one_dim, of_call)  # fmt: skip


# The body tells this one: NumPy's spacings by position make it clear whose call it is.
_VECTOR = refusal("torch.gradient(v)", "ts.gradient(v, axis=0)", _WHY, lambda *call: False)
_POINTS = tensor([0, 1, 3, 4])


@composite(
    ref=_gradient_ref, is_method=False, ulps=8,
    samples=[case((5,), axis=0), case((3, 4)), case((3, 4), 0.5), case((3, 4), 2, 0.5),
             case((4, 3), axis=0, edge_order=2), case((4, 3), _POINTS, 2, edge_order=2),
             case((4, 3), spacing=[_POINTS, 1.5]), case((2, 4, 3), axis=(2, 1), spacing=0.25),
             case((4, 1, 4), axis=(0, -1), spacing=(_POINTS, _POINTS)), case((5,), 2)],
    errors=[case((3, 4), 1, 2, 3, match="spacing. is 3"), case((3, 4), axis=2, match="axis 2"),
            case((2, 3), edge_order=2, match="size of axis 0 is 2"),
            case((1, 3), match="size of axis 0 is 1"),
            case((3, 4), edge_order=3, match="edge_order is 3"),
            case((3, 4), arange(4), axis=0, match=r"spacing\[0\].shape is \(4,\)"),
            case((3, 4), 1, spacing=1, match="spacing was given twice"),
            case((3, 4), spacing="1", match="spacing must be")],
    refuses=[_along(0), _VECTOR],
)  # fmt: skip
def gradient(x: Tensor, *varargs: Operand, spacing: Any = None, axis: Axes = None,
             edge_order: int = 1) -> Any:  # fmt: skip
    """Estimate the slopes of a sampled function along axes, to second order inside.

    At the ends they are one-sided, of first or second order. The samples are 1 apart; or so far as
    numbers say, given one for all axes or one for each, by position or as `spacing`; or they lie at
    the points that a vector holds. Several axes give a tuple.

    >>> ts.gradient(ts.tensor([1.0, 2.0, 4.0, 7.0]), axis=0).tolist()
    [1.0, 1.5, 2.5, 3.0]
    """
    if edge_order not in (1, 2):
        raise errors.wrong_value("edge_order", edge_order, "1 or 2")
    if x.ndim == 1 and axis is None and not varargs:
        raise _VECTOR.error()
    axes = reduced_axes(x, axis)
    steps = _spacings(varargs, spacing, len(axes))
    slopes = []
    for place, (axis_of, step) in enumerate(zip(axes, steps, strict=True)):
        size = x.shape[axis_of]
        if size <= edge_order:
            name = f"size of axis {axis_of}"
            raise errors.wrong_value(name, size, f"{edge_order + 1} or more, as edge_order asks")
        if isinstance(step, Tensor) and step.shape != (size,):
            raise errors.wrong_value(f"spacing[{place}].shape", step.shape, f"{(size,)}")
        out = _slopes(widened(x), axis_of, step, edge_order)
        is_half = x.dtype.is_floating and x.dtype.itemsize == 2
        slopes.append(cast(out, x.dtype) if is_half else out)
    return slopes[0] if len(slopes) == 1 else tuple(slopes)


def _spacings(varargs: tuple[Any, ...], spacing: Any, count: int) -> list[Any]:
    """Give one spacing for each axis: a number, or a vector of points."""
    if varargs and spacing is not None:
        raise errors.repeated_argument("spacing", "gradient(x, *varargs, spacing=None, …)")
    given = list(varargs)
    if not given:
        given = list(spacing) if isinstance(spacing, list | tuple) else [spacing]
    given = [1 if each is None else each for each in given]
    for each in given:
        if isinstance(each, bool | complex) or not isinstance(each, Tensor | int | float):
            what = "a number, a vector of points, or one of them for each axis"
            raise errors.wrong_type("spacing", each, what)
    given = [each.item() if isinstance(each, Tensor) and each.ndim == 0 else each for each in given]
    if len(given) == 1 and not isinstance(given[0], Tensor):
        return given * count
    if len(given) != count:
        raise errors.wrong_value("len(spacing)", len(given), f"1, or {count} as there are axes")
    return given


def _slopes(x: Tensor, axis: int, step: Any, edge_order: int) -> Tensor:
    """Give the slopes along an axis for one distance, or for points."""
    if isinstance(step, Tensor):
        kind = step.dtype if step.dtype.is_floating else real(x).dtype
        points = reshape(widened(cast(step, kind)), (-1,) + (1,) * (x.ndim - 1 - axis))
        gaps = points[1:] - points[:-1]
        inner = _inner(x, axis, gaps[:-1], gaps[1:])
        ends: Any = (gaps[:1], gaps[1:2]), (gaps[-1:], gaps[-2:-1])
    else:
        inner = (part_of(x, axis, 2, None) - part_of(x, axis, None, -2)) / (2 * step)
        ends = (step, step), (step, step)
    first = [part_of(x, axis, i, i + 1) for i in range(edge_order + 1)]
    last = [part_of(x, axis, -1 - i, -i or None) for i in range(edge_order + 1)]
    return concat([_end(first, *ends[0]), inner, -_end(last, *ends[1])], axis)


def _inner(x: Tensor, axis: int, before: Tensor, after: Tensor) -> Tensor:
    """Give the slopes in the middle of parabolas through three samples with unequal gaps."""
    both = before + after
    out = part_of(x, axis, 1, -1) * ((after - before) / (before * after))
    out = out - part_of(x, axis, None, -2) * (after / (before * both))
    return out + part_of(x, axis, 2, None) * (before / (after * both))


def _end(samples: list[Tensor], near: Any, far: Any) -> Any:
    """Give the slope at the first of two samples, or of three: that of their parabola."""
    if len(samples) == 2:
        return (samples[1] - samples[0]) / near
    first, second, third = samples
    both = near + far
    inner = second * (both / (near * far)) - third * (near / (far * both))
    return inner - first * ((near + both) / (near * both))


del _POINTS  # tensors of samples alone
