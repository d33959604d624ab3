"""DataLoader: the same batches at any number of workers, resumed anywhere; no thread is left."""

from __future__ import annotations

import gc
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tessella as ts
from nested import listed
from tessella import data


class Rows(data.Dataset[Any]):
    """Samples that are slow in an order of their own."""

    def __init__(self, count: int, wait: float = 0.0) -> None:
        self.count = count
        self.wait = wait

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> tuple[ts.Tensor, int]:
        if self.wait:
            time.sleep(self.wait * (i * 7 % 5))
        return ts.full((2,), float(i)), i


class Stream(data.IterableDataset[int]):
    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.count))


def tensors(count: int) -> data.TensorDataset:
    x = ts.arange(count * 3, dtype=ts.float32).reshape(count, 3)
    return data.TensorDataset(x, ts.arange(count))


def numbers(batches: Any) -> list[Any]:
    return [batch[1].tolist() for batch in batches]


def workers() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name.startswith("tessella.data")]


# --- batches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [tensors, Rows, lambda n: data.Subset(tensors(n + 3), range(n))])
@pytest.mark.parametrize("drop_last", [False, True])
def test_batches_hold_the_samples_in_order(make: Callable[[int], Any], drop_last: bool) -> None:
    loader = data.DataLoader(make(7), batch_size=3, drop_last=drop_last)
    expected = [[0, 1, 2], [3, 4, 5], [6]][: 2 if drop_last else 3]
    assert numbers(loader) == expected and len(loader) == len(expected)
    x, y = next(iter(loader))
    assert isinstance(next(iter(loader)), list)
    assert x.shape[0] == 3 and y.dtype is ts.int64


def test_a_batch_of_tensors_is_a_copy() -> None:
    dataset = tensors(4)
    for shuffle in (False, True):
        x, _ = next(iter(data.DataLoader(dataset, batch_size=4, shuffle=shuffle)))
        x.fill_(-1)
    assert dataset.tensors[0][1].tolist() == [3.0, 4.0, 5.0]


def test_whole_batches_are_those_that_samples_give() -> None:
    dataset = tensors(50)
    whole = data.DataLoader(dataset, 8, shuffle=True, generator=ts.Generator(4))
    single = data.DataLoader(
        dataset, 8, shuffle=True, generator=ts.Generator(4), collate_fn=data.default_collate
    )
    for one, other in zip(whole, single, strict=True):
        assert [x.tolist() for x in one] == [x.tolist() for x in other]


def test_a_loader_without_batches_gives_samples() -> None:
    loader = data.DataLoader(tensors(3), batch_size=None, shuffle=True)
    assert sorted(sample[1].item() for sample in loader) == [0, 1, 2]
    assert len(loader) == 3
    assert list(data.DataLoader(Stream(3), batch_size=None)) == [0, 1, 2]


def test_samplers_and_batch_samplers_decide_the_order() -> None:
    dataset = tensors(6)
    assert numbers(data.DataLoader(dataset, 2, sampler=[5, 0, 3])) == [[5, 0], [3]]
    batches = [[0, 1, 2], [5], [2, 2]]
    assert numbers(data.DataLoader(dataset, batch_sampler=batches)) == batches
    assert numbers(data.DataLoader(Rows(6), batch_sampler=batches)) == batches
    parts = data.DataLoader(dataset, batch_sampler=[[slice(0, 2), slice(2, 4)]])  # type: ignore[arg-type, list-item]
    assert numbers(parts) == [[[0, 1], [2, 3]]]


def test_datasets_that_give_lists_of_samples_are_asked_for_them() -> None:
    class Many(Rows):
        def __getitems__(self, indices: list[int]) -> list[Any]:
            assert type(indices) is list
            return [-i for i in indices]

    loader = data.DataLoader(Many(4), batch_size=2)
    assert [batch.tolist() for batch in loader] == [[0, -1], [-2, -3]]  # type: ignore[attr-defined]


@pytest.mark.parametrize("count, expected", [(0, []), (5, [[0, 1], [2, 3], [4]])])
@pytest.mark.parametrize("num_workers", [0, 1, 3])
def test_a_stream_is_read_once_and_in_order(
    count: int, expected: list[list[int]], num_workers: int
) -> None:
    loader = data.DataLoader(Stream(count), batch_size=2, num_workers=num_workers)
    assert [batch.tolist() for batch in loader] == expected
    dropping = data.DataLoader(Stream(count), 2, drop_last=True, num_workers=num_workers)
    assert [batch.tolist() for batch in dropping] == expected[: count // 2]


def test_the_length_of_a_stream_is_that_of_its_dataset() -> None:
    class Sized(Stream):
        def __len__(self) -> int:
            return self.count

    assert len(data.DataLoader(Sized(5), batch_size=2)) == 3
    assert len(data.DataLoader(Sized(5), batch_size=2, drop_last=True)) == 2
    with pytest.raises(TypeError, match="the number of batches is not known"):
        len(data.DataLoader(Stream(5)))


def test_a_batch_takes_a_small_part_of_a_step() -> None:
    """8 µs is a twentieth of a training step on digits; a batch that samples make takes 200."""
    x, y = data.load_digits()
    loader = data.DataLoader(data.TensorDataset(x, y), 64, shuffle=True, drop_last=True)

    def seconds() -> float:
        start = time.process_time()
        for _ in range(20):
            for _ in loader:
                pass
        return (time.process_time() - start) / (20 * len(loader))

    assert min(seconds() for _ in range(15)) < 8e-6


# --- the order -----------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [tensors, lambda n: Rows(n, 0.0005)])
def test_the_order_does_not_depend_on_the_number_of_workers(make: Callable[[int], Any]) -> None:
    epochs = []
    for num_workers in (0, 1, 2, 5):
        loader = data.DataLoader(
            make(41), 4, shuffle=True, num_workers=num_workers, generator=ts.Generator(9)
        )
        epochs.append([numbers(loader), numbers(loader)])
    assert all(epoch == epochs[0] for epoch in epochs)
    first, second = epochs[0]
    assert first != second
    for epoch in (first, second):
        assert sorted(i for batch in epoch for i in batch) == list(range(41))


def test_the_default_generator_seeds_the_order() -> None:
    loader = data.DataLoader(tensors(30), 4, shuffle=True)
    ts.manual_seed(5)
    first = [numbers(loader), numbers(loader)]
    ts.manual_seed(5)
    assert [numbers(loader), numbers(loader)] == first
    assert first[0] != first[1]


def test_a_pass_without_shuffling_draws_nothing() -> None:
    ts.manual_seed(5)
    expected = ts.rand(3).tolist()
    ts.manual_seed(5)
    numbers(data.DataLoader(tensors(5), num_workers=2))
    assert ts.rand(3).tolist() == expected


def test_the_order_outlives_an_arena_that_is_reset() -> None:
    arena = ts.memory.Arena("1MB")
    dataset = tensors(20)
    seen = []
    with ts.memory.use(arena):
        for x, y in data.DataLoader(dataset, 4, shuffle=True):
            assert x.allocator == arena
            seen += listed(y)
            del x, y
            arena.reset()
    assert sorted(seen) == list(range(20))


# --- threads -------------------------------------------------------------------------------------


def test_no_thread_is_left_after_a_loop_or_a_break() -> None:
    loader = data.DataLoader(Rows(40, 0.0002), 2, num_workers=3)
    numbers(loader)
    assert not workers()
    for i, _ in enumerate(loader):
        assert len(workers()) == 3
        if i == 2:
            break
    assert not workers()
    batches = iter(loader)
    next(batches)
    del batches
    gc.collect()
    assert not workers()


def test_no_thread_is_left_after_an_error_in_the_loop() -> None:
    loader = data.DataLoader(Rows(40), 2, num_workers=2)
    with pytest.raises(ZeroDivisionError):
        for _ in loader:
            _ = 1 // 0
    gc.collect()
    assert not workers()


@pytest.mark.parametrize("factor", [1, 3])
def test_workers_fetch_ahead_and_no_further(factor: int) -> None:
    fetched: list[int] = []

    class Seen(Rows):
        def __getitem__(self, i: int) -> Any:
            fetched.append(i)
            return i

    loader = data.DataLoader(Seen(100), num_workers=2, prefetch_factor=factor)
    batches = iter(loader)
    next(batches)
    deadline = time.monotonic() + 5
    while len(fetched) < 2 * factor and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(0.02)
    assert sorted(fetched) == list(range(2 * factor))
    del batches


def test_workers_know_who_they_are_and_are_initialised() -> None:
    begun: list[int] = []

    class Who(Rows):
        def __getitem__(self, i: int) -> Any:
            info = data.get_worker_info()
            assert info is not None and info.dataset is self
            return info.id, info.num_workers, info.seed

    dataset = Who(12)
    loader = data.DataLoader(dataset, 4, num_workers=2, worker_init_fn=begun.append)
    seen = list(loader)
    assert sorted(begun) == [0, 1]
    seeds = {(int(i), int(s)) for ids, _, seeds in seen for i, s in zip(ids, seeds, strict=True)}
    assert {int(n) for _, counts, _ in seen for n in counts} == {2}
    assert len({seed for _, seed in seeds}) == len({i for i, _ in seeds})
    assert data.get_worker_info() is None


def test_a_worker_that_takes_too_long_is_an_error() -> None:
    loader = data.DataLoader(Rows(4, 0.2), num_workers=1, timeout=0.02)
    with pytest.raises(ts.errors.IllegalState, match=r"batch 1 was not there after 0\.02 seconds"):
        numbers(loader)


def test_workers_of_a_forked_process_are_refused() -> None:
    batches = iter(data.DataLoader(Rows(40), num_workers=1))
    next(batches)
    process = os.fork()
    if process == 0:
        try:
            next(batches)
        except ts.errors.IllegalState as error:
            os._exit(0 if "threads of the process that was forked" in str(error) else 1)
        os._exit(2)
    assert os.waitpid(process, 0)[1] == 0


# --- errors --------------------------------------------------------------------------------------


class Broken(Rows):
    def __getitem__(self, i: int) -> Any:
        if i == 5:
            raise KeyError("no such picture")
        return super().__getitem__(i)


@pytest.mark.parametrize("num_workers", [0, 1, 3])
def test_errors_of_samples_come_with_their_index(num_workers: int) -> None:
    loader = data.DataLoader(Broken(10), 2, num_workers=num_workers)
    seen = []
    with pytest.raises(KeyError, match="no such picture") as caught:
        for batch in loader:
            seen.append(batch[1].tolist())
    assert seen == [[0, 1], [2, 3]]
    assert caught.value.__notes__ == ["in sample 5 of Broken"]
    assert loader.state_dict()["batches"] == 2


@pytest.mark.parametrize("num_workers", [0, 2])
def test_errors_of_operations_come_with_their_index(num_workers: int) -> None:
    class Mixed(Rows):
        def __getitem__(self, i: int) -> Any:
            return ts.ones(2) @ ts.ones(3) if i == 2 else i

    with pytest.raises(ts.errors.ShapeError, match="in sample 2 of Mixed"):
        list(data.DataLoader(Mixed(4), num_workers=num_workers))
    dataset = data.TensorDataset(ts.ones(3))
    loader = data.DataLoader(dataset, 2, sampler=[0, 7], num_workers=num_workers)
    with pytest.raises(IndexError, match=r"in a batch of TensorDataset: \[0, 7\]"):
        list(loader)


@pytest.mark.parametrize("num_workers", [0, 2])
def test_errors_of_streams_and_of_collation_say_where(num_workers: int) -> None:
    class Ends(Stream):
        def __iter__(self) -> Iterator[int]:
            yield from range(3)
            raise OSError("the line is dead")

    with pytest.raises(OSError, match="the line is dead") as caught:
        list(data.DataLoader(Ends(9), 2, num_workers=num_workers))
    assert caught.value.__notes__ == ["in the stream of Ends behind 3 samples"]
    ragged = [ts.ones(2), ts.ones(3)]
    with pytest.raises(ts.errors.ShapeError, match=r"in the batch of samples \[0, 1\]"):
        list(data.DataLoader(ragged, 2, num_workers=num_workers))


def test_an_error_of_worker_init_fn_is_raised() -> None:
    def fail(worker: int) -> None:
        raise OSError(f"worker {worker} has no file")

    with pytest.raises(OSError, match="worker 0 has no file"):
        list(data.DataLoader(Rows(3), num_workers=1, worker_init_fn=fail))
    assert not workers()


@pytest.mark.parametrize(
    "arguments, match",
    [
        ({"batch_size": 0}, "batch_size is 0"),
        ({"batch_size": 2.0}, "batch_size must be an integer"),
        ({"num_workers": -1}, "num_workers is -1"),
        ({"shuffle": True, "sampler": [0]}, "both sampler and shuffle were given"),
        ({"batch_sampler": [[0]], "batch_size": 2}, "both batch_sampler and one of these"),
        ({"batch_size": None, "drop_last": True}, "both drop_last and batch_size=None"),
        ({"prefetch_factor": 2}, "prefetch_factor is for workers, and num_workers is 0"),
        ({"persistent_workers": True}, "persistent_workers is for workers"),
        ({"multiprocessing_context": "spawn"}, "multiprocessing_context is 'spawn', and workers"),
        ({"timeout": -1}, "timeout is -1"),
        ({"generator": 3}, "generator must be a ts.Generator or None"),
        ({"collate_fn": 3}, "collate_fn must be a function or None"),
        ({"worker_init_fn": 3}, "worker_init_fn must be a function or None"),
        ({"shuffle": 1}, "shuffle must be True or False"),
        ({"sampler": 3}, "sampler must be a sampler: it has __iter__, got int"),
        ({"num_workers": 1 << 40}, "num_workers is 1099511627776"),
        ({"timeout": math.inf}, "timeout is inf"),
        ({"drop_last": 1}, "drop_last must be True or False"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments: dict[str, Any], match: str) -> None:
    with pytest.raises(ts.errors.TessellaError, match=f"data.DataLoader: {match}"):
        data.DataLoader(tensors(4), **arguments)


@pytest.mark.parametrize("name", ["shuffle", "sampler", "batch_sampler"])
def test_streams_have_no_order_to_choose(name: str) -> None:
    with pytest.raises(TypeError, match=f"no numbered samples for {name}="):
        arguments: dict[str, Any] = {name: [0] if name != "shuffle" else True}
        data.DataLoader(Stream(3), **arguments)
    with pytest.raises(TypeError, match="dataset must be a dataset, got int"):
        data.DataLoader(3)  # type: ignore[call-overload]


def test_arguments_of_processes_that_change_nothing_are_taken() -> None:
    loader = data.DataLoader(tensors(4), 2, pin_memory=True, num_workers=1, persistent_workers=True,
                             in_order=False, pin_memory_device="cuda")  # fmt: skip
    assert numbers(loader) == [[0, 1], [2, 3]]
