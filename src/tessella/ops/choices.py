"""Random numbers in the shape of another tensor, into one, and random indices by weights."""

from __future__ import annotations

import math

from tessella import _core, errors, inplace
from tessella._core import Tensor
from tessella.composites import Device, DTypeLike, Operand, composite
from tessella.dtypes import boolean, float64, int64, uint8
from tessella.hints import Any
from tessella.kinds import cast
from tessella.limits import limited, require
from tessella.ops.creation import zeros
from tessella.ops.elementwise import clip, log1p, where
from tessella.ops.index import take_along_axis
from tessella.ops.ordering import topk
from tessella.ops.random import (
    DRAWS,
    NORMAL,
    UNIFORM,
    Generator,
    bernoulli,
    draw,
    drawing,
    normal,
    randint,
)
from tessella.ops.reduce import all, cumulative_sum, min, sum
from tessella.ops.types import finfo

# --- tensors drawn after another -----------------------------------------------------------------


@composite(**DRAWS)
def rand_like(x: Tensor, *, dtype: DTypeLike | None = None, device: Device | None = None,
              generator: Generator | None = None,
              requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Draw uniformly from [0, 1), in the shape and dtype of x.

    >>> ts.rand_like(ts.zeros(2, 3)).shape
    (2, 3)
    """
    return draw(x.shape, dtype or x.dtype, UNIFORM, generator, requires_grad)


@composite(**DRAWS)
def randn_like(x: Tensor, *, dtype: DTypeLike | None = None, device: Device | None = None,
               generator: Generator | None = None,
               requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Draw from the normal distribution of mean 0 and variance 1, in the shape and dtype of x.

    >>> ts.randn_like(ts.zeros(2, 3)).shape
    (2, 3)
    """
    return draw(x.shape, dtype or x.dtype, NORMAL, generator, requires_grad)


@composite(**DRAWS)
def randint_like(x: Tensor, low: Any, high: Any = None, *, dtype: DTypeLike | None = None,
                 device: Device | None = None,
                 generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Draw integers from [low, high), or from [0, low), in the shape and dtype of x.

    >>> ts.randint_like(ts.zeros(2, 3), 10).dtype
    float32
    """
    kind = dtype or x.dtype
    drawn = kind if kind.is_integer else int64
    with drawing(generator):
        return cast(randint(low, high, x.shape, dtype=drawn, generator=generator), kind)


# --- drawing into a tensor -----------------------------------------------------------------------

# What is given is x itself.
_REDRAWS: dict[str, Any] = {
    "is_function": False, "gives": "view", "tested": "tests/test_random.py"
}  # fmt: skip


@composite(**_REDRAWS)
def normal_(x: Tensor, mean: float = 0.0, std: float = 1.0, *,
            generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Fill x from the normal distribution of a mean and a deviation.

    >>> ts.zeros(2).normal_(5.0, 0.0).tolist()
    [5.0, 5.0]
    """
    inplace.check_target(x)
    if not std >= 0:
        raise errors.wrong_value("std", std, "at least 0")
    with drawing(generator):
        inplace.write(x, normal(mean, std, x.shape, dtype=x.dtype, generator=generator))
    return x


@composite(**_REDRAWS, keywords={"from": "low", "to": "high", "a": "low", "b": "high"})
def uniform_(x: Tensor, low: float = 0.0, high: float = 1.0, *,
             generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Fill x uniformly from [low, high).

    >>> x = ts.zeros(100).uniform_(2, 3)
    >>> bool(((x >= 2) & (x < 3)).all())
    True
    """
    inplace.check_target(x)
    if not low <= high or not math.isfinite(high - low):
        raise errors.wrong_value("high", high, f"finite, and at least low, which is {low}")
    with drawing(generator):
        drawn = draw(x.shape, x.dtype, UNIFORM, generator) * (high - low) + low
        inplace.write(x, where(drawn < high, drawn, low))  # the sum may be rounded up to high
    return x


@composite(**_REDRAWS, keywords={"from": "low", "to": "high"})
def random_(x: Tensor, low: Any = None, high: Any = None, *,
            generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Fill x with integers from [low, high), or from [0, low).

    Without limits they are from 0 to the largest that x's dtype holds; for floats, up to which it
    holds every integer.

    >>> int(ts.zeros(100, dtype=ts.int8).random_(3).max()) < 3
    True
    """
    inplace.check_target(x)
    if x.dtype.is_complex:
        raise errors.no_kernel(x.dtype, "random_ draws integers")
    kind = x.dtype if x.dtype.is_integer else uint8 if x.dtype is boolean else int64
    largest = round(2 / finfo(x.dtype).eps) if x.dtype.is_floating else int(x.dtype.highest)
    low, high = (0, largest + 1) if low is None else (low, high)
    with drawing(generator):
        drawn = randint(low, high, x.shape, dtype=kind, generator=generator)
        inplace.write(x, cast(drawn, x.dtype))
    return x


@composite(**_REDRAWS)
def bernoulli_(x: Tensor, p: Operand = 0.5, *,
               generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Fill x with 1 where a draw of probability p happens, else 0; p may be a tensor.

    >>> ts.zeros(2).bernoulli_(ts.tensor([0.0, 1.0])).tolist()
    [0.0, 1.0]
    """
    inplace.check_target(x)
    if isinstance(p, Tensor):
        shape = _core.broadcast_shapes(p.shape, x.shape)
        if shape != x.shape:
            raise errors.inplace_shape(shape, x.shape)
    with drawing(generator):
        inplace.write(x, bernoulli(p, x.shape, dtype=boolean, generator=generator))
    return x


# --- drawing by weights --------------------------------------------------------------------------


@composite(tested="tests/test_placing.py")
def multinomial(x: Tensor, num_samples: int, replacement: bool = False, *,
                generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Draw indices of the weights in a vector, or in each row of a matrix.

    An index is drawn as often as its weight is of the sum of the weights, which need not be 1.
    Without replacement no index is drawn twice; they stand in the order in which they were drawn.

    >>> ts.multinomial(ts.tensor([0.0, 3.0, 0.0]), 2, replacement=True).tolist()
    [1, 1]
    >>> sorted(ts.multinomial(ts.tensor([1.0, 0.0, 5.0]), 2).tolist())
    [0, 2]
    """
    if not x.dtype.is_floating:
        raise errors.no_kernel(x.dtype, "weights are floats; convert with astype")
    if x.ndim not in (1, 2):
        raise errors.wrong_value("x.ndim", x.ndim, "1 or 2: weights, or rows of them")
    if num_samples < 1:
        raise errors.wrong_value("num_samples", num_samples, "at least 1")
    weights = x.detach().astype(float64)
    require(
        all((weights >= 0) & (weights < math.inf)),
        lambda: errors.wrong_value("x", "not a weight everywhere", "0 or more, and finite"),
    )  # fmt: skip
    what, least = "the number of positive weights", 1 if replacement else num_samples
    limited(
        _fewest(weights > 0), least, x.shape[-1],
        lambda fewest: errors.wrong_value(what, fewest, f"{least} or more"),
    )  # fmt: skip
    choose = _draw_again if replacement else _draw_apart
    with drawing(generator):
        return choose(weights, num_samples, generator)


def _fewest(positive: Tensor) -> Tensor:
    """Give the least number of true elements of a row; of no rows, nothing."""
    counts = sum(positive, axis=-1)
    return min(counts) if counts.size else counts


def _draw_apart(weights: Tensor, count: int, generator: Generator | None) -> Tensor:
    """Draw without replacement: the events that happen first, if each happens at its rate."""
    waiting = -log1p(-draw(weights.shape, float64, UNIFORM, generator))
    never = where(weights > 0, waiting / where(weights > 0, weights, 1), math.inf)
    return topk(never, count, largest=False).indices


def _draw_again(weights: Tensor, count: int, generator: Generator | None) -> Tensor:
    """Draw with replacement: find where running sums go beyond a part of the whole sum.

    A weight of 0 does not raise the sum, so that no search ends there.
    """
    sums = cumulative_sum(weights, -1)
    level = draw((*weights.shape[:-1], count), float64, UNIFORM, generator) * sums[..., -1:]
    size = weights.shape[-1]
    place = zeros(level.shape, dtype=int64)
    step = 1 << (size - 1).bit_length()
    while step := step // 2:
        ahead = place + step
        is_below = take_along_axis(sums, clip(ahead - 1, None, size - 1)) <= level
        place = where(is_below & (ahead < size), ahead, place)
    return place
