"""Random numbers: counter-based generators, and tensors drawn from them.

A generator is a seed and a counter. Each call uses numbers from its counter on and advances it by
an amount that depends on the call's shape and dtype alone, so the same seed gives the same numbers
at any thread count.
"""

from __future__ import annotations

import os
from typing import Any

from tessella import _core, errors
from tessella._core import Tensor
from tessella.arguments import to_int
from tessella.declarations import describe
from tessella.dtypes import DType, as_dtype, boolean, float32, int64
from tessella.ops.creation import to_shape, with_grad
from tessella.ops.elementwise import add, mul

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


def manual_seed(seed: int) -> Generator:
    """Seed the default generator.

    >>> _ = ts.manual_seed(0)
    >>> first = ts.rand(3).tolist()
    >>> _ = ts.manual_seed(0)
    >>> ts.rand(3).tolist() == first
    True
    """
    return default_generator.manual_seed(seed)


def _generator(generator: Generator | None) -> Generator:
    if generator is None:
        return default_generator
    if not isinstance(generator, Generator):
        raise errors.wrong_type("generator", generator, "a ts.Generator or None")
    return generator


def _draw(name: str, shape: tuple[Any, ...], dtype: DType, distribution: int,
          generator: Generator | None, requires_grad: bool = False,
          **limits: Any) -> Tensor:  # fmt: skip
    try:
        source = _generator(generator)
        if not _core.has_random(distribution, dtype.id):
            raise errors.no_kernel(dtype, "draw in another dtype and convert with astype")
        out = _core.empty(to_shape(shape), dtype.id)
        return with_grad(source.draw(out, distribution, **limits), requires_grad)
    except errors.TessellaError as error:
        raise error.locate(name, [f"shape  {errors.brief(shape)}"]) from None


def rand(*shape: Any, dtype: Any = None, generator: Generator | None = None,
         requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Draw uniformly from [0, 1).

    >>> ts.rand(2, 3).shape
    (2, 3)
    """
    kind = float32 if dtype is None else as_dtype(dtype)
    return _draw("rand", shape, kind, _UNIFORM, generator, requires_grad)


def randn(*shape: Any, dtype: Any = None, generator: Generator | None = None,
          requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Draw from the normal distribution of mean 0 and variance 1.

    >>> ts.randn(2, 3).shape
    (2, 3)
    """
    kind = float32 if dtype is None else as_dtype(dtype)
    return _draw("randn", shape, kind, _NORMAL, generator, requires_grad)


def randint(low: int, high: int | None = None, size: Any = None, *, dtype: Any = None,
            generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Draw integers from [low, high), or from [0, low) if high is left out.

    >>> ts.randint(0, 10, (2, 2)).shape
    (2, 2)
    """
    try:
        if size is None and isinstance(high, list | tuple):
            low, high, size = 0, low, high
        kind = int64 if dtype is None else as_dtype(dtype)
        first, last = (0, low) if high is None else (low, high)
        first, last = to_int("low", first, bits=64), to_int("high", last, bits=65)
        if not kind.is_integer:
            raise errors.no_kernel(kind, "randint draws integers")
        if first >= last:
            raise errors.wrong_value("high", last, f"more than low, which is {first}")
        for value in (first, last - 1):
            if not _core.scalar_fits(value, kind.id):
                raise errors.scalar_does_not_fit(value, kind)
    except errors.TessellaError as error:
        raise error.locate(
            "randint", [f"low   {errors.brief(low)}", f"high  {errors.brief(high)}"]
        ) from None
    shape = (() if size is None else size,)
    return _draw("randint", shape, kind, _INTEGERS, generator, low=first, range_=last - first)


def randperm(n: int, *, generator: Generator | None = None) -> Tensor:
    """Draw a permutation of 0 … n-1.

    >>> sorted(ts.randperm(4).tolist())
    [0, 1, 2, 3]
    """
    try:
        source = _generator(generator)
        return source.permute(_core.empty((to_int("n", n),), int64.id))
    except errors.TessellaError as error:
        raise error.locate("randperm", [f"n  {errors.brief(n)}"]) from None


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, dtype: Any = None,
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
    if dtype is None:
        dtype = tensors[0].dtype if tensors else float32
    drawn = _draw("normal", (size,), as_dtype(dtype), _NORMAL, generator)
    return add(mul(drawn, std), mean)


def bernoulli(p: Any, size: Any = None, *, dtype: Any = None,
              generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Draw True with probability p: a number, or a tensor of probabilities.

    >>> ts.bernoulli(1.0, (2,)).tolist()
    [True, True]
    """
    kind = boolean if dtype is None else as_dtype(dtype)
    if isinstance(p, Tensor):
        drawn = (
            _draw("bernoulli", (p.shape if size is None else size,), p.dtype, _UNIFORM, generator)
            < p
        )
        return drawn if kind is boolean else drawn.astype(kind)
    if isinstance(p, bool) or not isinstance(p, int | float):
        raise errors.wrong_type("p", p, "a probability").locate("bernoulli", [])
    if not 0 <= p <= 1:
        raise errors.wrong_value("p", p, "between 0 and 1").locate(
            "bernoulli", [f"p  {describe(p)}"]
        )
    shape = (() if size is None else size,)
    drawn = _draw("bernoulli", shape, boolean, _BERNOULLI, generator, p=float(p))
    return drawn if kind is boolean else drawn.astype(kind)
