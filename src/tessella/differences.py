"""Derivatives along random directions, by differences and by reverse mode: what check_grads does.

For a function of tensors, a direction v and a cotangent g, <g, J v> by central differences must be
<vjp(g), v>. The function that gives vjp(g) is one of tensors too, so that any order can be asked.
"""

from __future__ import annotations

from tessella import check_errors
from tessella._core import Tensor
from tessella.autograd import grad
from tessella.dtypes import complex128, float64
from tessella.hints import Any, Callable, Iterator, Sequence
from tessella.ops.complexes import complex as complex_of
from tessella.ops.creation import zeros_like
from tessella.ops.elementwise import abs as magnitude, conj, isnan, real, where
from tessella.ops.random import Generator, randn
from tessella.ops.types import finfo
from tessella.trees import flatten, too_nested

Call = Callable[..., list[Tensor]]

_SEED = 5  # of directions and cotangents: the same at every check
# The third derivatives of a function of ordinary size make differences wrong by this part.
_CURVED = 1e-6
# A second difference is about the square of the step; where it is so many times more, look again.
_BEND = 100
_ROUNDINGS = 8  # units in the last place that f and a difference of its values are off by


class Allowed:
    """The step, and how much a gradient may be off: as the caller says, or by the dtypes."""

    def __init__(self, eps: float | None, rtol: float | None, atol: float | None) -> None:
        self.eps = eps
        self.rtol = rtol
        self.atol = atol

    def step(self, unit: float) -> float:
        """Balance rounding, unit / h, against the third derivative, h ** 2."""
        return self.eps or unit ** (1 / 3)

    def difference(self, step: float, size: float) -> float:
        """Give the difference that a sum of terms of a size may have."""
        curved = 10 * step**2 + _CURVED
        rtol = curved if self.rtol is None else self.rtol
        atol = curved if self.atol is None else self.atol
        return atol + rtol * size


def check_orders(
    f: Callable[..., Any], args: Any, kwargs: dict[str, Any], order: int, allowed: Allowed
) -> None:
    """Check the gradients of f, then of the function that gives them, and so on."""

    values, rebuild = flatten(args)

    def call(*tensors: Tensor) -> list[Tensor]:
        left = iter(tensors)
        result = f(*rebuild([next(left) if has_gradients(x) else x for x in values]), **kwargs)
        return [x for _, x in tensors_of(result, "result") if has_gradients(x)]

    named = [(path, x.detach()) for path, x in tensors_of(args, "args") if has_gradients(x)]
    generator = Generator(_SEED)
    for level in range(1, order + 1):
        check = _Order(call, named, level, allowed, generator)
        for i in range(len(named)):
            check.compare(i)
        call = _gradient_of(call, len(named))
        drawn = [_draw(x, generator) for x in check.here]
        named = [*named, *((f"the cotangent of result {i}", g) for i, g in enumerate(drawn))]


def _gradient_of(call: Call, count: int) -> Call:
    """Give the function of the arguments of `call`, and cotangents, that gives its gradients."""

    def gradients(*tensors: Tensor) -> list[Tensor]:
        leaves, cotangents = tensors[:count], tensors[count:]
        return _pull(call(*leaves), leaves, cotangents, create_graph=True)

    return gradients


def _pull(
    results: Sequence[Tensor], leaves: Sequence[Tensor], cotangents: Sequence[Tensor], **how: bool
) -> list[Tensor]:
    """Give the gradients of the leaves; zeros where the results do not depend on them."""
    pairs = [(x, g) for x, g in zip(results, cotangents, strict=True) if x.requires_grad]
    if not pairs:
        return [zeros_like(x.detach()) for x in leaves]
    outputs, grad_outputs = zip(*pairs, strict=True)
    found: Any = grad(outputs, leaves, grad_outputs, materialize_grads=True, **how)
    return list(found)


class _Order:
    """The check of one order: the function, the point, and its values there."""

    def __init__(
        self, call: Call, named: list[tuple[str, Tensor]], order: int, allowed: Allowed,
        generator: Generator,
    ) -> None:  # fmt: skip
        self.call = call
        self.names = [name for name, _ in named]
        self.point = [x for _, x in named]
        self.order = order
        self.allowed = allowed
        self.generator = generator
        self.leaves = _leaves(self.point)
        self.results = call(*self.leaves)
        self.here = [x.detach() for x in self.results]
        if not self.here:
            raise check_errors.nothing_differentiable("the result of f")
        if not all(map(is_same, self.here, self._values(self.point))):
            raise check_errors.not_repeatable(order)
        self.unit = max(float(finfo(x.dtype).eps) for x in (*self.point, *self.here))
        self.step = allowed.step(self.unit)

    def _values(self, point: list[Tensor]) -> list[Tensor]:
        return [x.detach() for x in self.call(*_leaves(point))]

    def _moved(self, i: int, v: Tensor, h: float) -> list[Tensor]:
        """Give the values where one argument is moved along a direction."""
        x = self.point[i]
        moved = laid_out_like((widened(x) + h * widened(v)).astype(x.dtype), x)
        values = self._values([*self.point[:i], moved, *self.point[i + 1 :]])
        for at, other in zip(self.here, values, strict=True):
            if at.shape != other.shape:
                raise check_errors.shape_moves(self.order, at.shape, other.shape)
        return values

    def compare(self, i: int) -> None:
        """Compare the gradient of one argument with the differences as it moves."""
        step = self.step
        v = _draw(self.point[i], self.generator)
        slopes, cotangents = self._differ(i, v)
        if any(x.size for x in self.here) and not any(bool((g != 0).any()) for g in cotangents):
            raise check_errors.all_kinks(self.names[i], self.order, step)
        found = _pull(self.results, self.leaves[i : i + 1], cotangents, retain_graph=True)[0]
        wanted = sum(inner(g, slope) for g, slope in zip(cotangents, slopes, strict=True))
        given = inner(found.detach(), v)
        size = sum(terms(g, slope) for g, slope in zip(cotangents, slopes, strict=True))
        most = self.allowed.difference(step, size + terms(found.detach(), v))
        values = sum(terms(g, at) for g, at in zip(cotangents, self.here, strict=True))
        most += _ROUNDINGS * self.unit * values / step
        if not abs(wanted - given) <= most:
            raise check_errors.wrong_gradient(self.names[i], self.order, given, wanted, most, step)

    def _differ(self, i: int, v: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Give the slopes of the results along v, and cotangents: 0 at jumps and kinks."""
        slopes, bends = self._slopes(i, v, self.step)
        sharp = [self._is_sharp(*each) for each in zip(bends, slopes, self.here, strict=True)]
        if any(bool(each.any()) for each in sharp):
            finer, less = self._slopes(i, v, self.step / 2)
            # What is left of the error of both is of the fourth order (Richardson).
            slopes = [(4 * b - a) / 3 for a, b in zip(slopes, finer, strict=True)]
            sharp = [s & ~_is_smooth(*pair) for s, *pair in zip(sharp, bends, less, strict=True)]
        drawn = [_draw(x, self.generator) for x in self.here]
        return slopes, [where(s, zeros_like(g), g) for s, g in zip(sharp, drawn, strict=True)]

    def _slopes(self, i: int, v: Tensor, step: float) -> tuple[list[Tensor], list[Tensor]]:
        """Give first and second differences of the results: the slopes, and how they bend."""
        before, after = ([*map(widened, self._moved(i, v, h))] for h in (-step, step))
        slopes = [(b - a) / (2 * step) for a, b in zip(before, after, strict=True)]
        triples = zip(before, map(widened, self.here), after, strict=True)
        return slopes, [a - 2 * x + b for a, x, b in triples]

    def _is_sharp(self, bend: Tensor, slope: Tensor, at: Tensor) -> Tensor:
        """Tell where the values bend more than those of most smooth functions would."""
        rounding = _ROUNDINGS * self.unit * magnitude(widened(at))
        return magnitude(bend) > _BEND * self.step**2 * (1 + magnitude(slope)) + rounding


def _is_smooth(bend: Tensor, half: Tensor) -> Tensor:
    """Tell where half a step bends a quarter as much: at a kink it is half, or nothing."""
    return magnitude(half - bend / 4) < magnitude(bend) / 16


def _leaves(point: list[Tensor]) -> list[Tensor]:
    """Give the same memory and layouts as leaves of a new graph."""
    return [x.detach().requires_grad_() for x in point]


def _draw(x: Tensor, generator: Generator) -> Tensor:
    """Draw from the normal distribution, in the shape and dtype of a tensor."""
    drawn = randn(x.shape, dtype=float64, generator=generator)
    if x.dtype.is_complex:
        drawn = complex_of(drawn, randn(x.shape, dtype=float64, generator=generator))
    return drawn.astype(x.dtype)


# --- tensors --------------------------------------------------------------------------------------


def has_gradients(x: Any) -> bool:
    """Tell whether a value is a tensor of a kind that gradients flow to."""
    return isinstance(x, Tensor) and (x.dtype.is_floating or x.dtype.is_complex)


def widened(x: Tensor) -> Tensor:
    """Give floats as float64, complex numbers as complex128."""
    return x.astype(complex128 if x.dtype.is_complex else float64)


def inner(x: Tensor, y: Tensor) -> float:
    """Give the real inner product."""
    product = widened(x) * (conj(widened(y)) if y.dtype.is_complex else widened(y))
    return float((real(product) if product.dtype.is_complex else product).sum().item())


def terms(x: Tensor, y: Tensor) -> float:
    """Give the size of the terms of an inner product."""
    return float((magnitude(widened(x)) * magnitude(widened(y))).sum().item())


def is_same(x: Tensor, y: Tensor) -> bool:
    """Tell whether shapes and values are the same; NaN equals NaN."""
    if x.shape != y.shape:
        return False
    return bool(((x == y) | (isnan(x) & isnan(y))).all())


def laid_out_like(value: Tensor, x: Tensor) -> Tensor:
    """Copy a value so that its axes lie in memory in the order and direction of x's."""
    order = sorted(range(x.ndim), key=lambda axis: -abs(x.strides[axis]))
    back = tuple(sorted(range(x.ndim), key=order.__getitem__))
    negative = tuple(axis for axis in range(x.ndim) if x.strides[axis] < 0)
    turned = value.flip(negative) if negative else value
    laid = turned.permute(tuple(order)).clone().permute(back)
    return laid.flip(negative) if negative else laid


def tensors_of(value: Any, path: str) -> list[tuple[str, Tensor]]:
    """Give the tensors in nested tuples, lists and dicts, with where they stand: args[0]['w']."""
    try:
        return list(_tensors_of(value, path))
    except RecursionError:
        raise too_nested() from None


def _tensors_of(value: Any, path: str) -> Iterator[tuple[str, Tensor]]:
    if isinstance(value, Tensor):
        yield path, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _tensors_of(each, f"{path}[{key!r}]")
    elif isinstance(value, tuple | list):
        for i, each in enumerate(value):
            yield from _tensors_of(each, f"{path}[{i}]")
