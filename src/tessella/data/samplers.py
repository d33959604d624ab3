"""Samplers: in which order the samples of a set come, and how they make batches.

What a sampler draws it draws at the start of an epoch, as one index tensor, so that the order is a
function of the seed alone, whatever reads the samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

from tessella import data_errors, errors
from tessella._core import Tensor
from tessella.arguments import is_iterable, to_bool, to_count
from tessella.data.datasets import length_of, samples_of
from tessella.dtypes import float64, int64
from tessella.errors import brief
from tessella.items import OnHeap
from tessella.ops.choices import multinomial
from tessella.ops.creation import arange
from tessella.ops.joining import concat
from tessella.ops.random import Generator, randint, randperm
from tessella.sizes import described
from tessella.tensors import asarray

T = TypeVar("T", covariant=True)


class Sampler(Generic[T]):
    """Numbers of samples, or lists of them, in an order: derive from it and define __iter__.

    >>> class Backwards(ts.data.Sampler):
    ...     def __iter__(self):
    ...         return iter([2, 1, 0])
    >>> list(ts.data.DataLoader(["a", "b", "c"], batch_size=3, sampler=Backwards()))
    [['c', 'b', 'a']]
    """

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError("a Sampler defines __iter__()")

    def __repr__(self) -> str:
        shown = ("replacement", "batch_size", "drop_last")
        values = {name: getattr(self, name) for name in shown if hasattr(self, name)}
        inner = getattr(self, "sampler", None)
        first = samples_of(self) if inner is None else brief(inner)
        return described(self, first, **values)


class OrderedSampler(Sampler[int]):
    """A sampler that knows its whole order when an epoch begins; order() gives it."""

    generator: Generator | None = None

    def source(self) -> Generator | None:
        """Give the generator that the next order is drawn from; None if nothing is drawn."""
        if self.generator is not None:
            return self.generator
        with OnHeap():
            return Generator(int(randint(0, (1 << 63) - 1).item()))

    def order(self, source: Generator | None) -> Tensor:
        """Draw the order of an epoch."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[int]:
        with OnHeap():
            order: Any = self.order(self.source()).tolist()
            return iter(order)


class SequentialSampler(OrderedSampler):
    """All samples in their order.

    >>> list(ts.data.SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        try:
            length_of("data_source", data_source)
        except errors.TessellaError as error:
            raise error.locate("data.SequentialSampler", []) from None
        self.data_source = data_source

    def source(self) -> None:
        """Nothing is drawn."""
        return None

    def order(self, source: Generator | None) -> Tensor:
        """Give 0, 1, 2, …"""
        return arange(len(self), dtype=int64)

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(OrderedSampler):
    """Samples in random order: each once, or drawn with replacement.

    With num_samples and no replacement, whole permutations follow each other as far as needed.
    Without a generator, each epoch is seeded by the default one.

    >>> sampler = ts.data.RandomSampler(range(5), generator=ts.Generator(0))
    >>> sorted(sampler)
    [0, 1, 2, 3, 4]
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        try:
            length_of("data_source", data_source)
            self.replacement = to_bool("replacement", replacement)
            self._num_samples = (
                None if num_samples is None else to_count("num_samples", num_samples)
            )
            self.generator = to_generator(generator)
        except errors.TessellaError as error:
            raise error.locate("data.RandomSampler", []) from None

    @property
    def num_samples(self) -> int:
        """How many numbers an epoch has."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def order(self, source: Generator | None) -> Tensor:
        """Draw the order of an epoch."""
        count, size = self.num_samples, len(self.data_source)
        if size == 0 or count == 0:
            return arange(0, dtype=int64)
        if self.replacement:
            return randint(0, size, (count,), generator=source)
        rounds = [randperm(size, generator=source) for _ in range(-(-count // size))]
        return (rounds[0] if len(rounds) == 1 else concat(rounds, axis=0))[:count]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(OrderedSampler):
    """The given numbers of samples in random order.

    >>> sorted(ts.data.SubsetRandomSampler([7, 3, 5]))
    [3, 5, 7]
    """

    def __init__(self, indices: Sequence[int] | Tensor, generator: Generator | None = None) -> None:
        self.indices = indices
        try:
            with OnHeap():
                self._numbers = asarray(indices, dtype=int64)
            if self._numbers.ndim != 1:
                shape = self._numbers.shape
                raise errors.wrong_value("indices.shape", shape, "that of a vector: (n,)")
            self.generator = to_generator(generator)
        except errors.TessellaError as error:
            raise error.relocate("data.SubsetRandomSampler", []) from None

    def order(self, source: Generator | None) -> Tensor:
        """Draw the order of an epoch."""
        return self._numbers[randperm(len(self), generator=source)]

    def __len__(self) -> int:
        return self._numbers.shape[0]


class WeightedRandomSampler(OrderedSampler):
    """Numbers drawn as often as their weights say, which need not sum to 1.

    >>> list(ts.data.WeightedRandomSampler([0.0, 3.0, 0.0], 2))
    [1, 1]
    """

    def __init__(
        self,
        weights: Sequence[float] | Tensor,
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        try:
            with OnHeap():
                self.weights = asarray(weights, dtype=float64)
            self.num_samples = to_count("num_samples", num_samples)
            self.replacement = to_bool("replacement", replacement)
            if self.weights.ndim != 1:
                shape = self.weights.shape
                raise errors.wrong_value("weights.shape", shape, "that of a vector: (n,)")
            self.generator = to_generator(generator)
        except errors.TessellaError as error:
            raise error.relocate("data.WeightedRandomSampler", []) from None

    def order(self, source: Generator | None) -> Tensor:
        """Draw the order of an epoch."""
        return multinomial(self.weights, self.num_samples, self.replacement, generator=source)

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of batch_size numbers of another sampler; the last one may be shorter.

    >>> list(ts.data.BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool = False) -> None:
        self.sampler = sampler
        try:
            check_sampler("sampler", sampler)
            self.batch_size = to_count("batch_size", batch_size)
            self.drop_last = to_bool("drop_last", drop_last)
        except errors.TessellaError as error:
            raise error.locate("data.BatchSampler", []) from None

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        if not hasattr(type(self.sampler), "__len__"):
            raise data_errors.no_length().locate("len(BatchSampler)", [])
        count = len(self.sampler)  # type: ignore[arg-type]  # asked for above
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


def check_sampler(name: str, value: Any) -> None:
    """Require what gives numbers of samples, or lists of them, one after another."""
    if not isinstance(value, Sampler) and not is_iterable(value):
        raise errors.wrong_type(name, value, "a sampler: it has __iter__")


def to_generator(value: Any) -> Generator | None:
    """Check a source of random numbers."""
    if value is not None and not isinstance(value, Generator):
        raise errors.wrong_type("generator", value, "a ts.Generator or None")
    return value
