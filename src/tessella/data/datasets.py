"""Data sets: samples by number (Dataset), or one after another (IterableDataset).

The names are PyTorch's. A set that can give a whole batch at once says so by `__getbatch__(index)`,
which takes an index tensor: a batch of a TensorDataset is one gather for each tensor.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, Protocol, TypeVar

from tessella import data_errors, errors
from tessella._core import Tensor
from tessella.arguments import is_iterable, to_float, to_int, to_list
from tessella.dtypes import int64
from tessella.errors import brief
from tessella.hints import Key
from tessella.items import OnHeap
from tessella.located import located
from tessella.ops.random import Generator, randperm
from tessella.sizes import counted, described
from tessella.tensors import tensor

T = TypeVar("T", covariant=True)
S = TypeVar("S")


class Samples(Protocol[T]):
    """What has samples by number: a Dataset, a list, a range."""

    def __getitem__(self, index: int, /) -> T: ...


def length_of(name: str, dataset: Any) -> int:
    """Give the number of samples of what has some, by number."""
    kind = type(dataset)  # a class has the methods of its instances as attributes, and no samples
    if not hasattr(kind, "__len__") or not hasattr(kind, "__getitem__"):
        raise data_errors.not_dataset(name, dataset)
    try:
        return len(dataset)
    except TypeError as error:  # of a 0-d array
        raise data_errors.not_dataset(name, dataset) from error


def samples_of(dataset: Any) -> str:
    """Say how many samples there are; "": that is not known, or not yet."""
    try:
        return counted(len(dataset), "sample")
    except Exception:  # of a user's __len__, too: whoever prints an object is looking for an error
        return ""


class Dataset(Generic[T]):
    """Samples that are asked for by number: derive from it, define __getitem__ and __len__.

    >>> class Squares(ts.data.Dataset):
    ...     def __len__(self):
    ...         return 5
    ...     def __getitem__(self, i):
    ...         return i * i
    >>> [batch.tolist() for batch in ts.data.DataLoader(Squares(), batch_size=2)]
    [[0, 1], [4, 9], [16]]
    """

    def __getitem__(self, index: int, /) -> T:
        raise NotImplementedError("a Dataset defines __getitem__(index)")

    def __repr__(self) -> str:
        return described(self, samples_of(self))

    def __add__(self, other: Dataset[S]) -> ConcatDataset[T | S]:
        parts: list[Any] = [self, other]
        return ConcatDataset(parts)


class IterableDataset(Dataset[T]):
    """Samples that come one after another: derive from it and define __iter__.

    >>> class Count(ts.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(5))
    >>> [batch.tolist() for batch in ts.data.DataLoader(Count(), batch_size=3)]
    [[0, 1, 2], [3, 4]]
    """

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError("an IterableDataset defines __iter__()")

    def __getitem__(self, index: int, /) -> T:
        wrong = data_errors.stream_in_sequence("an index")
        raise wrong.locate(f"data.{type(self).__name__}", [])

    def __add__(  # type: ignore[override]  # streams chain
        self, other: Dataset[S]
    ) -> ChainDataset[T | S]:
        parts: list[Any] = [self, other]
        return ChainDataset(parts)


class ChainDataset(IterableDataset[T]):
    """Streams, one after the other.

    >>> class Count(ts.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(2))
    >>> list(ts.data.ChainDataset([Count(), Count()]))
    [0, 1, 0, 1]
    """

    def __init__(self, datasets: Iterable[Iterable[T]]) -> None:
        try:
            self.datasets: list[Iterable[T]] = to_list("datasets", datasets, "a list of streams")
            for i, each in enumerate(self.datasets):
                if not is_iterable(each):
                    raise errors.wrong_type(f"datasets[{i}]", each, "a stream: it has __iter__")
        except errors.TessellaError as error:
            raise error.relocate("data.ChainDataset", []) from None

    def __iter__(self) -> Iterator[T]:
        return itertools.chain.from_iterable(self.datasets)

    def __len__(self) -> int:
        sized = [each for each in self.datasets if isinstance(each, Sized)]
        if len(sized) < len(self.datasets):
            raise data_errors.no_length().locate("len(ChainDataset)", [])
        return sum(map(len, sized))


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors of as many rows each: sample i is row i of every one.

    >>> x, y = ts.arange(6.0).reshape(3, 2), ts.tensor([0, 1, 0])
    >>> sample = ts.data.TensorDataset(x, y)[1]
    >>> [part.tolist() for part in sample]
    [[2.0, 3.0], 1]
    """

    def __init__(self, *tensors: Tensor) -> None:
        try:
            if not tensors:
                raise data_errors.no_tensors()
            for i, x in enumerate(tensors):
                if not isinstance(x, Tensor):
                    raise errors.not_tensor(f"tensors[{i}]", x, "a tensor")
                rows, first = (t.shape[0] if t.ndim else 0 for t in (x, tensors[0]))
                if x.ndim == 0 or rows != first:
                    raise data_errors.rows_differ(i, rows, first)
        except errors.TessellaError as error:
            raise error.locate("data.TensorDataset", []) from None
        self.tensors = tensors

    def __getitem__(self, index: Key, /) -> tuple[Tensor, ...]:
        return tuple([x[index] for x in self.tensors])

    def __getbatch__(self, index: Tensor) -> list[Tensor]:
        return [x[index] for x in self.tensors]

    def __repr__(self) -> str:
        return described(self, samples_of(self), *(f"{x.dtype} {x.shape}" for x in self.tensors))

    def __len__(self) -> int:
        return self.tensors[0].shape[0]


class Subset(Dataset[T]):
    """The samples of a set whose numbers are given.

    >>> part = ts.data.Subset(["a", "b", "c"], [2, 0])
    >>> part[0], len(part)
    ('c', 2)
    """

    def __init__(self, dataset: Samples[T], indices: Sequence[int] | Tensor) -> None:
        self._numbers: Tensor | None = None
        try:
            if not hasattr(type(dataset), "__getitem__"):
                raise data_errors.not_dataset("dataset", dataset)
            numbers: Any = indices.tolist() if isinstance(indices, Tensor) else indices
            listed = to_list("indices", numbers, "a list of numbers, or a tensor of them")
            if hasattr(dataset, "__getbatch__"):
                with OnHeap():
                    batch = tensor(listed) if listed else tensor([], int64)
                self._numbers = batch if batch.dtype is int64 else None
        except errors.TessellaError as error:
            raise error.relocate("data.Subset", []) from None
        self.dataset = dataset
        self.indices: Sequence[int] = numbers if hasattr(numbers, "__getitem__") else listed

    def __repr__(self) -> str:
        return described(self, samples_of(self), f"of {brief(self.dataset)}")

    @property
    def __getbatch__(self) -> Callable[[Tensor], object]:
        """Whole batches at once, where the set beneath gives them."""
        if self._numbers is None:
            raise AttributeError("__getbatch__")
        return self._batch

    def _batch(self, index: Tensor) -> Any:
        assert self._numbers is not None
        beneath: Any = self.dataset
        return beneath.__getbatch__(self._numbers[index])

    def __getitem__(self, index: int, /) -> T:
        if isinstance(index, list):
            several: Any = [self._number(i) for i in index]
            return self.dataset[several]
        return self.dataset[self._number(index)]

    def _number(self, index: Any) -> Any:
        try:
            return self.indices[index]
        except IndexError:
            wrong: errors.TessellaError = data_errors.sample_out_of_bounds(index, len(self))
        except TypeError:
            wrong = errors.wrong_type("index", index, "an integer")
        raise wrong.locate("data.Subset", [])

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset[T]):
    """Several sets as one, in their order.

    >>> both = ts.data.ConcatDataset([["a", "b"], ["c"]])
    >>> both[2], both[-3], len(both)
    ('c', 'a', 3)
    """

    def __init__(self, datasets: Iterable[Samples[T]]) -> None:
        try:
            self.datasets: list[Samples[T]] = to_list("datasets", datasets, "a list of datasets")
            if not self.datasets:
                raise errors.wrong_value("datasets", self.datasets, "one dataset or more")
            if any(isinstance(each, IterableDataset) for each in self.datasets):
                raise data_errors.stream_in_sequence("ConcatDataset; ChainDataset takes it")
            lengths = [length_of(f"datasets[{i}]", each) for i, each in enumerate(self.datasets)]
        except errors.TessellaError as error:
            raise error.relocate("data.ConcatDataset", []) from None
        self.cumulative_sizes = list(itertools.accumulate(lengths))

    def __getitem__(self, index: int, /) -> T:
        length = len(self)
        try:
            index = to_int("index", index)
            if not -length <= index < length:
                raise data_errors.sample_out_of_bounds(index, length)
        except errors.TessellaError as error:
            raise error.locate("data.ConcatDataset", []) from None
        index += length if index < 0 else 0
        which = bisect.bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[which - 1] if which else 0
        sample: T = self.datasets[which][index - before]
        return sample

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


@located("data.random_split")
def random_split(
    dataset: Samples[S], lengths: Sequence[int | float], generator: Generator | None = None
) -> list[Subset[S]]:
    """Cut a set into parts of the given lengths, or fractions of its length, at random.

    What fractions leave over by rounding goes to the first parts, one sample each.

    >>> parts = ts.data.random_split(range(10), [0.75, 0.25], generator=ts.Generator(0))
    >>> [len(part) for part in parts]
    [8, 2]
    """
    if isinstance(dataset, IterableDataset):
        raise data_errors.stream_in_sequence("random_split")
    count = length_of("dataset", dataset)
    sizes = _sizes_of(lengths, count)
    if generator is not None and not isinstance(generator, Generator):
        raise errors.wrong_type("generator", generator, "a ts.Generator or None")
    with OnHeap():
        order: Any = randperm(count, generator=generator).tolist()
    ends = itertools.accumulate(sizes)
    return [Subset(dataset, order[end - size : end]) for size, end in zip(sizes, ends, strict=True)]


def _sizes_of(lengths: Any, count: int) -> list[int]:
    lengths = to_list("lengths", lengths, "a list of lengths or fractions")
    total = sum(to_float("lengths", each) for each in lengths)
    if math.isclose(total, 1) and not all(isinstance(x, int) for x in lengths):
        for part in lengths:
            if not 0 <= part <= 1:
                raise errors.wrong_value("lengths", lengths, "fractions from 0 to 1")
        sizes = [math.floor(count * part) for part in lengths]
        for i in range(count - sum(sizes)):
            sizes[i % len(sizes)] += 1
        return sizes
    if any(isinstance(size, float) for size in lengths):
        raise data_errors.fractions_differ(total)
    sizes = [to_int("lengths", size) for size in lengths]
    if sum(sizes) != count:
        raise data_errors.parts_differ(sum(sizes), count)
    if any(size < 0 for size in sizes):
        raise errors.wrong_value("lengths", lengths, "0 or more each")
    return sizes
