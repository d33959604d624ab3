"""Random numbers: counter-based generators, and tensors drawn from them.

A generator is a seed and a counter. Each call uses numbers from its counter on and advances it by
an amount that depends on the call's shape and dtype alone, so the same seed gives the same numbers
at any thread count.
"""

from __future__ import annotations

import math
import os

from tessella import _core, errors
from tessella._core import Tensor
from tessella.arguments import LISTS, to_int, to_ints
from tessella.composites import CHECKS, Device, DTypeLike, Operand, Shape, composite
<<<<<<< HEAD
from tessella.dtypes import DType, boolean, float32, int64
from tessella.hints import Any
from tessella.ops.creation import with_grad
from tessella.ops.elementwise import add, mul
=======
from tessella.dtypes import DType, boolean, float32, float64, int64
from tessella.kinds import cast
from tessella.ops.creation import with_grad, zeros
from tessella.ops.elementwise import add, clip, log1p, mul, where
from tessella.ops.index import take_along_axis
from tessella.ops.ordering import topk
from tessella.ops.reduce import all, cumulative_sum, min, sum
>>>>>>> 101593f (Running extremes, running sums of exponentials, slopes, histograms, choices, values put into slices)

_BITS, _UNIFORM, _NORMAL, _INTEGERS, _BERNOULLI = range(5)
_WORD = (1 << 64) - 1


class Generator:
    """A source of random numbers.

    >>> ts.Generator(7).seed
    7
    """

    def __init__(self, seed: int = 0) -> None:
        self.manual_seed(seed)

    def manual_seed(self, seed: int) -> Generator:
        """Begin again from a seed."""
        seed = to_int("seed", seed, bits=64)
        if not -(1 << 63) <= seed <= _WORD:
            raise errors.wrong_value("seed", seed, "an integer of 64 bits").locate(
                "manual_seed", []
            )
        self.seed = seed & _WORD
        self.counter = 0
        return self

    def draw(
        self, out: Tensor, distribution: int, *, low: int = 0, range_: int = 0, p: float = 0.0
    ) -> Tensor:
        """Fill a fresh tensor and advance."""
        used = _core.random(
            out, distribution, self.seed, self.counter, low & _WORD, range_ & _WORD, p
        )
        self.counter = (self.counter + used) & _WORD
        return out

    def permute(self, out: Tensor) -> Tensor:
        """Fill an int64 tensor with 0 … n-1 in random order and advance."""
        self.counter = (self.counter + _core.permutation(out, self.seed, self.counter)) & _WORD
        return out


default_generator = Generator(int.from_bytes(os.urandom(8), "little"))


def _check_generator(name: str, value: Any) -> Generator:
    if not isinstance(value, Generator):
        raise errors.wrong_type(name, value, "a ts.Generator or None")
    return value


CHECKS["Generator"] = _check_generator
_DRAWS: dict[str, Any] = {"is_method": False, "tested": "tests/test_random.py"}
_SIZED: dict[str, Any] = {**_DRAWS, "variadic": "shape"}


@composite(**_DRAWS)
def manual_seed(seed: Any) -> Generator:
    """Seed the default generator.

    >>> _ = ts.manual_seed(0)
    >>> first = ts.rand(3).tolist()
    >>> _ = ts.manual_seed(0)
    >>> ts.rand(3).tolist() == first
    True
    """
    return default_generator.manual_seed(seed)


def _draw(shape: Any, dtype: DType, distribution: int, generator: Generator | None,
          requires_grad: bool = False, **limits: Any) -> Tensor:  # fmt: skip
    if not _core.has_random(distribution, dtype.id):
        raise errors.no_kernel(dtype, "draw in another dtype and convert with astype")
    out = (generator or default_generator).draw(
        _core.empty(shape, dtype.id), distribution, **limits
    )
    return with_grad(out, requires_grad)


@composite(**_SIZED)
def rand(shape: Shape, *, dtype: DTypeLike | None = None, device: Device | None = None,
         generator: Generator | None = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Draw uniformly from [0, 1).

    >>> ts.rand(2, 3).shape
    (2, 3)
    """
    return _draw(shape, dtype or float32, _UNIFORM, generator, requires_grad)


@composite(**_SIZED)
def randn(shape: Shape, *, dtype: DTypeLike | None = None, device: Device | None = None,
          generator: Generator | None = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Draw from the normal distribution of mean 0 and variance 1.

    >>> ts.randn(2, 3).shape
    (2, 3)
    """
    return _draw(shape, dtype or float32, _NORMAL, generator, requires_grad)


@composite(**_DRAWS)
def randint(low: Any, high: Any = None, size: Shape = (), *, dtype: DTypeLike | None = None,
            device: Device | None = None,
            generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Draw integers from [low, high), or from [0, low) if high is left out.

    >>> ts.randint(0, 10, (2, 2)).shape
    (2, 2)
    """
    if isinstance(high, LISTS):  # PyTorch's randint(high, size)
        low, high, size = 0, low, to_ints("size", high)
    kind = dtype or int64
    first, last = (0, low) if high is None else (low, high)
    first, last = to_int("low", first, bits=64), to_int("high", last, bits=65)
    if not kind.is_integer:
        raise errors.no_kernel(kind, "randint draws integers")
    if first >= last:
        raise errors.wrong_value("high", last, f"more than low, which is {first}")
    for value in (first, last - 1):
        if not _core.scalar_fits(value, kind.id):
            raise errors.scalar_does_not_fit(value, kind)
    return _draw(size, kind, _INTEGERS, generator, low=first, range_=last - first)


@composite(**_DRAWS)
def randperm(n: int, *, device: Device | None = None,
             generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Draw a permutation of 0 … n-1.

    >>> sorted(ts.randperm(4).tolist())
    [0, 1, 2, 3]
    """
    return (generator or default_generator).permute(_core.empty((n,), int64.id))


@composite(**_DRAWS)
def normal(mean: Operand = 0.0, std: Operand = 1.0, size: Shape | None = None, *,
           dtype: DTypeLike | None = None, device: Device | None = None,
           generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Draw from normal distributions of the given means and deviations.

    >>> ts.normal(0.0, 1.0, (3,)).shape
    (3,)
    """
    tensors = [x for x in (mean, std) if isinstance(x, Tensor)]
    if size is None:
        size = ()
        for x in tensors:
            size = _core.broadcast_shapes(size, x.shape)
    kind = dtype or (tensors[0].dtype if tensors else float32)
    return add(mul(_draw(size, kind, _NORMAL, generator), std), mean)


@composite(**_DRAWS)
def bernoulli(p: Operand, size: Shape | None = None, *, dtype: DTypeLike | None = None,
              device: Device | None = None,
              generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Draw with probability p: True for a number, 1 in its dtype for a tensor of probabilities.

    >>> ts.bernoulli(1.0, (2,)).tolist()
    [True, True]
    >>> ts.bernoulli(ts.tensor([0.0, 1.0])).tolist()
    [0.0, 1.0]
    """
    if isinstance(p, Tensor):
        shape = p.shape if size is None else size
        drawn = _draw(shape, p.dtype, _UNIFORM, generator) < p
    else:
        if isinstance(p, bool | complex):
            raise errors.wrong_type("p", p, "a probability")
        if not 0 <= p <= 1:
            raise errors.wrong_value("p", p, "between 0 and 1")
        drawn = _draw(size or (), boolean, _BERNOULLI, generator, p=float(p))
    default = p.dtype if isinstance(p, Tensor) else boolean
    return drawn.astype(dtype or default, copy=False)


# --- tensors drawn after another -----------------------------------------------------------------


@composite(**_DRAWS)
def rand_like(x: Tensor, *, dtype: DTypeLike | None = None, device: Device | None = None,
              generator: Generator | None = None,
              requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Draw uniformly from [0, 1), in the shape and dtype of x.

    >>> ts.rand_like(ts.zeros(2, 3)).shape
    (2, 3)
    """
    return _draw(x.shape, dtype or x.dtype, _UNIFORM, generator, requires_grad)


@composite(**_DRAWS)
def randn_like(x: Tensor, *, dtype: DTypeLike | None = None, device: Device | None = None,
               generator: Generator | None = None,
               requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Draw from the normal distribution of mean 0 and variance 1, in the shape and dtype of x.

    >>> ts.randn_like(ts.zeros(2, 3)).shape
    (2, 3)
    """
    return _draw(x.shape, dtype or x.dtype, _NORMAL, generator, requires_grad)


@composite(**_DRAWS)
def randint_like(x: Tensor, low: Any, high: Any = None, *, dtype: DTypeLike | None = None,
                 device: Device | None = None,
                 generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Draw integers from [low, high), or from [0, low), in the shape and dtype of x.

    >>> ts.randint_like(ts.zeros(2, 3), 10).dtype
    float32
    """
    kind = dtype or x.dtype
    drawn = kind if kind.is_integer else int64
    return cast(randint(low, high, x.shape, dtype=drawn, generator=generator), kind)


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
        raise errors.wrong_value("num_samples", num_samples, "1 or more")
    weights = x.detach().astype(float64)
    if not all((weights >= 0) & (weights < math.inf)).item():
        raise errors.wrong_value("x", "not a weight everywhere", "0 or more, and finite")
    positive = sum(weights > 0, axis=-1)
    least = 1 if replacement else num_samples
    if not all(positive >= least).item():
        fewest = int(min(positive).item())
        raise errors.wrong_value("the number of positive weights", fewest, f"{least} or more")
    draw = _draw_again if replacement else _draw_apart
    return draw(weights, num_samples, generator)


def _draw_apart(weights: Tensor, count: int, generator: Generator | None) -> Tensor:
    """Draw without replacement: the events that happen first, if each happens at its rate."""
    waiting = -log1p(-_draw(weights.shape, float64, _UNIFORM, generator))
    never = where(weights > 0, waiting / where(weights > 0, weights, 1), math.inf)
    return topk(never, count, largest=False).indices


def _draw_again(weights: Tensor, count: int, generator: Generator | None) -> Tensor:
    """Draw with replacement: find where running sums go beyond a part of the whole sum.

    A weight of 0 does not raise the sum, so that no search ends there.
    """
    sums = cumulative_sum(weights, -1)
    level = _draw((*weights.shape[:-1], count), float64, _UNIFORM, generator) * sums[..., -1:]
    size = weights.shape[-1]
    place = zeros(level.shape, dtype=int64)
    step = 1 << (size - 1).bit_length()
    while step := step // 2:
        ahead = place + step
        is_below = take_along_axis(sums, clip(ahead - 1, None, size - 1)) <= level
        place = where(is_below & (ahead < size), ahead, place)
    return place
