"""DataLoader: batches of a dataset, in an order that can be repeated and taken up again.

The arguments are PyTorch's. Workers are threads: nothing is pickled, and a dataset is shared by
them. They gain where samples wait for files or for work that lets go of the interpreter's lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice, repeat
from threading import TIMEOUT_MAX
from typing import Any

from tessella import data_errors, errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_count, to_float, to_int
from tessella.data.collation import default_collate, default_convert
from tessella.data.datasets import IterableDataset, Samples, samples_of
from tessella.data.positions import Position, State, generator_state, state_of
from tessella.data.samplers import (
    BatchSampler,
    OrderedSampler,
    RandomSampler,
    SequentialSampler,
    check_sampler,
    to_generator,
)
from tessella.data.streams import END, Stream
from tessella.data.workers import Inline, WorkerInfo, Workers
from tessella.errors import brief
from tessella.hints import TYPE_CHECKING, Generic, Sequence, StateDict, TypeVar, overload
from tessella.items import OnHeap
from tessella.located import located_init
from tessella.ops.random import Generator, default_generator
from tessella.sizes import described
from tessella.tensors import tensor

if TYPE_CHECKING:
    from typing import TypedDict, Unpack

    class Options(TypedDict, total=False):
        """What a loader may be told by keyword, whatever its batches are."""

        sampler: Iterable[int] | None
        batch_sampler: Iterable[Sequence[int]] | None
        num_workers: int
        pin_memory: bool
        drop_last: bool
        timeout: float
        worker_init_fn: Callable[[int], object] | None
        multiprocessing_context: None
        generator: Generator | None
        prefetch_factor: int | None
        persistent_workers: bool
        pin_memory_device: str
        in_order: bool


B = TypeVar("B", default=list[Tensor])
S = TypeVar("S")

_AHEAD = 2  # batches that each worker prepares, if prefetch_factor does not say
_SEEDS = 1 << 63
_MOST_WORKERS = 4096


class DataLoader(Generic[B]):
    """Batches of a dataset: shuffled, fetched ahead by threads, and resumed where they were left.

    `state_dict()` says which batches were given, in the middle of an epoch too; after
    `load_state_dict(state)` the next iteration gives those that are left. The order is a function
    of the generator alone (without one, of the default generator), never of num_workers.

    >>> x, y = ts.arange(10.0).reshape(5, 2), ts.arange(5)
    >>> loader = ts.data.DataLoader(ts.data.TensorDataset(x, y), batch_size=2)
    >>> [rows.tolist() for _, rows in loader]
    [[0, 1], [2, 3], [4]]
    """

    # What default_collate makes of samples, or what another function does.
    @overload
    def __init__(
        self: DataLoader[S], dataset: Samples[S], batch_size: None, shuffle: bool | None = None,
        **options: Unpack[Options],
    ) -> None: ...  # fmt: skip
    @overload
    def __init__(
        self: DataLoader[Tensor], dataset: Samples[Tensor | float], batch_size: int = 1,
        shuffle: bool | None = None, **options: Unpack[Options],
    ) -> None: ...  # fmt: skip
    @overload
    def __init__(
        self: DataLoader[list[Tensor]], dataset: Samples[tuple[Tensor | float, ...]],
        batch_size: int = 1, shuffle: bool | None = None, **options: Unpack[Options],
    ) -> None: ...  # fmt: skip
    @overload
    def __init__(
        self: DataLoader[dict[str, Tensor]], dataset: Samples[Mapping[str, Tensor | float]],
        batch_size: int = 1, shuffle: bool | None = None, **options: Unpack[Options],
    ) -> None: ...  # fmt: skip
    @overload
    def __init__(
        self, dataset: Samples[S], batch_size: int | None = 1, shuffle: bool | None = None, *,
        collate_fn: Callable[[list[S]], B], **options: Unpack[Options],
    ) -> None: ...  # fmt: skip
    @overload
    def __init__(
        self: DataLoader[object], dataset: Samples[object], batch_size: int = 1,
        shuffle: bool | None = None, **options: Unpack[Options],
    ) -> None: ...  # fmt: skip
    @located_init
    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], object] | None = None,
        multiprocessing_context: None = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        try:
            self.dataset = dataset
            self._is_stream = isinstance(dataset, IterableDataset)
            self.drop_last = to_bool("drop_last", drop_last)
            self.generator = to_generator(generator)
            is_mixed = shuffle is not None and to_bool("shuffle", shuffle)
            self._set_order(batch_size, is_mixed, sampler, batch_sampler)
            self._set_workers(num_workers, prefetch_factor, timeout, worker_init_fn)
            # All memory is the host's, threads cost too little to be kept, and the order is always
            # that of the sampler: these change nothing.
            self.pin_memory = to_bool("pin_memory", pin_memory)
            self.pin_memory_device = pin_memory_device
            self.in_order = to_bool("in_order", in_order)
            self.persistent_workers = to_bool("persistent_workers", persistent_workers)
            if self.persistent_workers and not self.num_workers:
                raise data_errors.needs_workers("persistent_workers")
            if multiprocessing_context is not None:
                raise data_errors.no_processes(multiprocessing_context)
            self.multiprocessing_context = None
            if collate_fn is not None and not callable(collate_fn):
                raise errors.wrong_type("collate_fn", collate_fn, "a function or None")
        except errors.TessellaError as error:
            raise error.locate("data.DataLoader", []) from None
        is_single = self.batch_size is None and self.batch_sampler is None
        self._is_default = collate_fn is None
        self.collate_fn: Callable[..., object] = collate_fn or (
            default_convert if is_single else default_collate
        )
        self._position = Position()
        self._epochs = 0

    def __repr__(self) -> str:
        values: dict[str, object] = {"batch_size": self.batch_size}
        if isinstance(self.sampler, RandomSampler):
            values["shuffle"] = True
        elif self.sampler is not None and not isinstance(self.sampler, SequentialSampler):
            values["sampler"] = self.sampler
        elif self.batch_size is None and self.batch_sampler is not None:
            values = {"batch_sampler": self.batch_sampler}
        options = ("drop_last", "num_workers", "generator")
        values |= {name: value for name in options if (value := getattr(self, name))}
        return described(self, samples_of(self.dataset) or brief(self.dataset), **values)

    # --- arguments -------------------------------------------------------------------------------

    def _set_order(self, batch_size: Any, shuffle: bool, sampler: Any, batch_sampler: Any) -> None:
        if self._is_stream:
            for name, is_given in (("shuffle", shuffle), ("sampler", sampler is not None),
                                   ("batch_sampler", batch_sampler is not None)):  # fmt: skip
                if is_given:
                    raise data_errors.stream_in_sequence(f"{name}=")
        elif not hasattr(type(self.dataset), "__getitem__"):
            raise data_errors.not_dataset("dataset", self.dataset)
        for name, value in (("sampler", sampler), ("batch_sampler", batch_sampler)):
            if value is not None:
                check_sampler(name, value)
        batch_size = None if batch_size is None else to_count("batch_size", batch_size)
        if sampler is not None and shuffle:
            raise data_errors.excluded("sampler", "shuffle", "a sampler decides the order")
        if batch_sampler is not None and (
            batch_size != 1 or shuffle or sampler is not None or self.drop_last
        ):
            why = "a batch sampler decides batch_size, shuffle, sampler and drop_last"
            raise data_errors.excluded("batch_sampler", "one of these", why)
        if batch_sampler is not None:
            batch_size = None
        elif batch_size is None and self.drop_last:
            why = "without batches there is none to drop"
            raise data_errors.excluded("drop_last", "batch_size=None", why)
        self.batch_size = batch_size
        if sampler is None and not self._is_stream and batch_sampler is None:
            if shuffle:
                sampler = RandomSampler(self.dataset, generator=self.generator)
            else:
                sampler = SequentialSampler(self.dataset)
        if self.batch_size is not None and not self._is_stream:
            batch_sampler = BatchSampler(sampler, self.batch_size, self.drop_last)
        self.sampler = sampler
        self.batch_sampler = batch_sampler

    def _set_workers(self, num_workers: Any, factor: Any, timeout: Any, init: Any) -> None:
        self.num_workers = to_int("num_workers", num_workers)
        if not 0 <= self.num_workers <= _MOST_WORKERS:
            rule = f"from 0 to {_MOST_WORKERS}: each is a thread"
            raise errors.wrong_value("num_workers", num_workers, rule)
        if factor is not None and not self.num_workers:
            raise data_errors.needs_workers("prefetch_factor")
        self.prefetch_factor = None if factor is None else to_count("prefetch_factor", factor)
        if self.prefetch_factor is None and self.num_workers:
            self.prefetch_factor = _AHEAD
        self.timeout = to_float("timeout", timeout)
        if not 0 <= self.timeout <= TIMEOUT_MAX:
            raise errors.wrong_value("timeout", timeout, "0 or more seconds; 0 for no limit")
        if init is not None and not callable(init):
            raise errors.wrong_type("worker_init_fn", init, "a function or None")
        self.worker_init_fn = init

    # --- iteration -------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[B]:
        position = self._position = self._position.next()
        self._epochs += 1
        if self._is_stream:
            return self._run_stream(position)
        return self._run(position, self._indices(position), self._fetcher())

    def __len__(self) -> int:
        if not self._is_stream:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        if not hasattr(self.dataset, "__len__"):
            raise data_errors.no_length().locate("len(DataLoader)", [])
        count, size = len(self.dataset), self.batch_size or 1
        return count // size if self.drop_last else -(-count // size)

    def _run(self, position: Position, whats: Iterator[Any], fetch: Any) -> Iterator[Any]:
        """Give the batches, and count those that were given."""
        with self._workers(fetch) as workers:
            for batch in workers.results(whats, position.batches):
                position.batches += 1
                yield batch
        position.is_over = True

    def _run_stream(self, position: Position) -> Iterator[Any]:
        stream = Stream(
            self.dataset,
            self.batch_size,
            self.drop_last,
            self.collate_fn,
            position.batches,
            position.stream,
        )
        with self._workers(stream.fetch) as workers:
            for batch, state in workers.results(repeat(None), position.batches):
                if batch is END:
                    break
                position.batches += 1
                position.stream = state
                yield batch
        position.is_over = True

    def _workers(self, fetch: Any) -> Workers | Inline:
        if not self.num_workers:
            return Inline(fetch)
        # A stream has one reader.
        count = 1 if self._is_stream else self.num_workers
        source = self.generator or default_generator
        # The epoch makes it another seed where nothing was drawn since the last one.
        base = source.seed + source.counter * 0x9E3779B97F4A7C15 + self._epochs
        infos = [WorkerInfo(i, count, (base + i) % _SEEDS, self.dataset) for i in range(count)]
        ahead = self.num_workers * (self.prefetch_factor or _AHEAD)
        return Workers(infos, ahead, fetch, self.worker_init_fn, self.timeout)

    # --- samples by number -----------------------------------------------------------------------

    def _indices(self, position: Position) -> Iterator[Any]:
        """Give the numbers of the samples of each batch that is left in the epoch."""
        batches = self.sampler if self.batch_sampler is None else self.batch_sampler
        is_cut = type(batches) is BatchSampler
        sampler = batches.sampler if is_cut else batches
        if not isinstance(sampler, OrderedSampler):
            return islice(self._again(position, batches), position.batches, None)
        with OnHeap():
            order = sampler.order(position.source_of(sampler))
        if not is_cut:
            left: Any = order[position.batches :].tolist()
            return iter(left)
        stop = order.shape[0]
        if batches.drop_last:
            stop -= stop % batches.batch_size
        first = position.batches * batches.batch_size
        return _slices(order, first, stop, batches.batch_size)

    def _again(self, position: Position, batches: Iterable[Any]) -> Iterator[Any]:
        """Begin an order that only its iterator knows; what it draws is the loader's to repeat."""
        position.rewind(self.generator)
        return iter(batches)

    def _fetcher(self) -> Any:
        """Choose how a batch is fetched: at once, by a list of numbers, or one by one."""
        if self.batch_sampler is None:
            return self._fetch_one
        if hasattr(self.dataset, "__getbatch__") and self._is_default:
            return self._fetch_batch
        return self._fetch_samples

    def _fetch_batch(self, index: Any) -> Any:
        if type(index) is not Tensor:
            index = list(index)
            if not index or not all(type(i) is int for i in index):
                return self._fetch_samples(index)  # the dataset knows what such indices mean
            index = tensor(index)
        try:
            return self.dataset.__getbatch__(index)
        except BaseException as error:
            data_errors.placed(error, f"a batch of {type(self.dataset).__name__}: {index.tolist()}")
            raise

    def _fetch_samples(self, indices: Any) -> Any:
        numbers: Any = indices.tolist() if isinstance(indices, Tensor) else indices
        dataset = self.dataset
        if hasattr(dataset, "__getitems__"):
            return self._collate(dataset.__getitems__(list(numbers)), numbers)
        samples = []
        i = None
        try:
            for i in numbers:
                samples.append(dataset[i])
        except BaseException as error:
            data_errors.placed(error, f"sample {i} of {type(dataset).__name__}")
            raise
        return self._collate(samples, numbers)

    def _collate(self, samples: list[Any], numbers: Any) -> Any:
        try:
            return self.collate_fn(samples)
        except BaseException as error:
            data_errors.placed(error, f"the batch of samples {errors.brief(list(numbers))}")
            raise

    def _fetch_one(self, index: Any) -> Any:
        try:
            return self.collate_fn(self.dataset[index])
        except BaseException as error:
            data_errors.placed(error, f"sample {index} of {type(self.dataset).__name__}")
            raise

    # --- the position ----------------------------------------------------------------------------

    def state_dict(self) -> dict[str, object]:
        """Give the position in the epoch as a dict of numbers.

        >>> loader = ts.data.DataLoader(range(4), shuffle=True, generator=ts.Generator(0))
        >>> batches = iter(loader)
        >>> first, state = next(batches).item(), loader.state_dict()
        >>> left = [batch.item() for batch in batches]
        >>> again = ts.data.DataLoader(range(4), shuffle=True, generator=ts.Generator(0))
        >>> again.load_state_dict(state)
        >>> [batch.item() for batch in again] == left
        True
        """
        return {
            **self._position.state(),
            "generator": state_of(self._drawn_from()),
            **self._settings(),
        }

    def load_state_dict(self, state: StateDict) -> None:
        """Go on where a loader over the same data with the same settings was.

        The next iteration gives the batches that were left of its epoch; where that was over, a
        whole new epoch.

        >>> loader = ts.data.DataLoader(range(4))
        >>> loader.load_state_dict({**loader.state_dict(), "batches": 3})
        >>> [batch.item() for batch in loader]
        [3]
        """
        try:
            position, generator = self._read_state(state)
        except errors.TessellaError as error:
            raise error.locate("data.DataLoader.load_state_dict", []) from None
        self._position = position
        own = self._drawn_from()
        if own is not None and generator is not None:
            own.load_state_dict(generator)

    def _read_state(self, state: Any) -> tuple[Position, State | None]:
        if not isinstance(state, dict):
            raise errors.wrong_type("state", state, "a dict")
        expected = {*Position().state(), *self._settings(), "generator"}
        if expected - state.keys():
            raise data_errors.wrong_state(f"{sorted(expected - state.keys())[0]!r} is missing")
        for name, value in self._settings().items():
            if state[name] != value:
                raise data_errors.wrong_state(f"{name} was {state[name]!r} and is {value!r}")
        return Position.from_state(state), generator_state(state, "generator")

    def _settings(self) -> dict[str, Any]:
        """Give what the batches depend on beside the order, as far as it is known."""
        length = len(self.dataset) if hasattr(self.dataset, "__len__") else None
        return {"batch_size": self.batch_size, "drop_last": self.drop_last, "length": length}

    def _drawn_from(self) -> Generator | None:
        """Give the generator that orders are drawn from; None for the default one."""
        for sampler in (self.sampler, getattr(self.batch_sampler, "sampler", None)):
            if isinstance(sampler, OrderedSampler) and sampler.generator is not None:
                return sampler.generator
        return self.generator


def _slices(order: Tensor, first: int, stop: int, size: int) -> Iterator[Tensor]:
    for start in range(first, stop, size):
        yield order[start : min(start + size, stop)]
