"""Random numbers: counter-based generators, and tensors drawn from them.

A generator is a seed and a counter. Each call uses numbers from its counter on and advances it by
an amount that depends on the call's shape and dtype alone, so the same seed gives the same numbers
at any thread count.
"""

from __future__ import annotations

import os
import sys

from tessella import _core, errors
from tessella._core import Tensor
from tessella.arguments import LISTS, to_int, to_ints
from tessella.composites import CHECKS, Device, DTypeLike, Operand, Shape, composite
from tessella.dtypes import DType, boolean, float32, int64, need_numbers, uint8, uint64
from tessella.hints import Any
from tessella.ops.creation import with_grad
from tessella.ops.elementwise import add, mul

_BITS, UNIFORM, NORMAL, _INTEGERS, _BERNOULLI = range(5)
_WORD = (1 << 64) - 1
_OUTSIDE = "read it outside of the function"


class Generator:
    """A source of random numbers.

    >>> ts.Generator(7).seed
    7
    """

    def __init__(self, seed: int = 0) -> None:
        self.manual_seed(seed)

    def __repr__(self) -> str:
        after = f", counter={self.counter}" if self.counter else ""
        return f"Generator(seed={self.seed}{after})"

    def manual_seed(self, seed: int) -> Generator:
        """Begin again from a seed."""
        seed = to_int("seed", seed, bits=64)
        if not -(1 << 63) <= seed <= _WORD:
            raise errors.wrong_value("seed", seed, "an integer of 64 bits").locate(
                "manual_seed", []
            )
        _core.refuse_capture("seeding a generator")
        self.seed = seed & _WORD
        self.counter = 0
        return self

    def state_dict(self) -> dict[str, int]:
        """Give where it stands: the seed and the counter.

        >>> ts.Generator(7).state_dict()
        {'seed': 7, 'counter': 0}
        """
        _core.refuse_capture("the state of a generator", _OUTSIDE)
        return {"seed": self.seed, "counter": self.counter}

    def load_state_dict(self, state_dict: dict[str, int]) -> None:
        """Go on from where another generator stood.

        >>> generator = ts.Generator()
        >>> generator.load_state_dict({"seed": 7, "counter": 12})
        >>> generator.seed
        7
        """
        if not isinstance(state_dict, dict) or state_dict.keys() != {"seed", "counter"}:
            wrong = errors.wrong_type("state_dict", state_dict, "a dict of seed and counter")
            raise wrong.locate("Generator.load_state_dict", [])
        for name, value in state_dict.items():
            if type(value) is not int or not 0 <= value <= _WORD:
                wrong_value = errors.wrong_value(name, value, "an unsigned integer of 64 bits")
                raise wrong_value.locate("Generator.load_state_dict", [])
        _core.refuse_capture("setting a generator")
        self.seed, self.counter = state_dict["seed"], state_dict["counter"]

    def get_state(self) -> Tensor:
        """Give where it stands, as 16 bytes.

        >>> ts.Generator(7).get_state().shape
        (16,)
        """
        _core.refuse_capture("the state of a generator", _OUTSIDE)
        out = _core.empty((2,), uint64.id)
        _core.fill_from_list(out, [self.seed, self.counter])
        return _core.bitcast(out, uint8.id)

    def set_state(self, new_state: Tensor) -> Generator:
        """Go on from a state that `get_state` gave.

        >>> ts.Generator().set_state(ts.Generator(7).get_state()).seed
        7
        """
        is_state = isinstance(new_state, Tensor) and new_state.dtype is uint8
        if not is_state or new_state.shape != (16,):
            wrong = errors.wrong_type("new_state", new_state, "what get_state gives")
            raise wrong.locate("Generator.set_state", [])
        words = bytes(_core.to_list(new_state))
        self.seed = int.from_bytes(words[:8], sys.byteorder)
        self.counter = int.from_bytes(words[8:], sys.byteorder)
        return self

    def draw(
        self, out: Tensor, distribution: int, *, low: int = 0, range_: int = 0, p: float = 0.0
    ) -> Tensor:
        """Fill a fresh tensor and advance."""
        with taking(self, _core.random_counters(out, distribution)) as start:
            _core.random(out, distribution, self.seed, start, low & _WORD, range_ & _WORD, p)
        return out

    def permute(self, out: Tensor) -> Tensor:
        """Fill an int64 tensor with 0 … n-1 in random order and advance."""
        with taking(self, _core.permutation_counters(out.size)) as start:
            _core.permutation(out, self.seed, start)
        return out


class taking:  # noqa: N801 - used like a function
    """Numbers of a generator for a `with` block: taken before it, as other threads may draw too.

    If the block fails they are given back, unless somebody has drawn meanwhile.
    """

    def __init__(self, generator: Generator, used: int) -> None:
        self.generator = generator
        self.used = used

    def __enter__(self) -> int:
        # No call stands between reading and writing: there a thread would wait for others.
        self.start = start = self.generator.counter
        self.generator.counter = self.end = (start + self.used) & _WORD
        return start

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        if kind is None:
            _core.note_drawing(self.generator, self.generator.seed, self.start, self.used)
        elif self.generator.counter == self.end:
            self.generator.counter = self.start


default_generator = Generator(int.from_bytes(os.urandom(8), "little"))


class drawing:  # noqa: N801 - used like a function
    """A call that draws, and then does more: if it fails, the generator is as it was before."""

    def __init__(self, generator: Generator | None) -> None:
        self.generator = generator or default_generator

    def __enter__(self) -> None:
        self.counter = self.generator.counter

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        if kind is not None:
            self.generator.counter = self.counter


def _check_generator(name: str, value: Any) -> Generator:
    if not isinstance(value, Generator):
        raise errors.wrong_type(name, value, "a ts.Generator or None")
    return value


CHECKS["Generator"] = _check_generator
DRAWS: dict[str, Any] = {"is_method": False, "tested": "tests/test_random.py"}
_SIZED: dict[str, Any] = {**DRAWS, "variadic": "shape"}


@composite(**DRAWS)
def manual_seed(seed: Any) -> Generator:
    """Seed the default generator.

    >>> _ = ts.manual_seed(0)
    >>> first = ts.rand(3).tolist()
    >>> _ = ts.manual_seed(0)
    >>> ts.rand(3).tolist() == first
    True
    """
    return default_generator.manual_seed(seed)


def draw(shape: Any, dtype: DType, distribution: int, generator: Generator | None,
         requires_grad: bool = False, **limits: Any) -> Tensor:  # fmt: skip
    """Draw a tensor from one of the distributions, from the default generator or another."""
    need_numbers(dtype)
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
    return draw(shape, dtype or float32, UNIFORM, generator, requires_grad)


@composite(**_SIZED)
def randn(shape: Shape, *, dtype: DTypeLike | None = None, device: Device | None = None,
          generator: Generator | None = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Draw from the normal distribution of mean 0 and variance 1.

    >>> ts.randn(2, 3).shape
    (2, 3)
    """
    return draw(shape, dtype or float32, NORMAL, generator, requires_grad)


@composite(**DRAWS)
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
    return draw(size, kind, _INTEGERS, generator, low=first, range_=last - first)


@composite(**DRAWS)
def randperm(n: int, *, device: Device | None = None,
             generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Draw a permutation of 0 … n-1.

    >>> sorted(ts.randperm(4).tolist())
    [0, 1, 2, 3]
    """
    return (generator or default_generator).permute(_core.empty((n,), int64.id))


@composite(**DRAWS)
def normal(mean: Operand = 0.0, std: Operand = 1.0, size: Shape | None = None, *,
           dtype: DTypeLike | None = None, device: Device | None = None,
           generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Draw from normal distributions of the given means and deviations.

    >>> ts.normal(0.0, 1.0, (3,)).shape
    (3,)
    """
    tensors = [x for x in (mean, std) if isinstance(x, Tensor)]
    if isinstance(std, int | float) and not std >= 0:
        raise errors.wrong_value("std", std, "at least 0")
    if size is None:
        size = ()
        for x in tensors:
            size = _core.broadcast_shapes(size, x.shape)
    kind = dtype or (tensors[0].dtype if tensors else float32)
    with drawing(generator):
        return add(mul(draw(size, kind, NORMAL, generator), std), mean)


@composite(**DRAWS)
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
        with drawing(generator):
            drawn = draw(p.shape if size is None else size, p.dtype, UNIFORM, generator) < p
            return drawn.astype(dtype or p.dtype, copy=False)
    if isinstance(p, bool | complex):
        raise errors.wrong_type("p", p, "a probability")
    if not 0 <= p <= 1:
        raise errors.wrong_value("p", p, "between 0 and 1")
    with drawing(generator):
        drawn = draw(size or (), boolean, _BERNOULLI, generator, p=float(p))
        return drawn.astype(dtype or boolean, copy=False)
