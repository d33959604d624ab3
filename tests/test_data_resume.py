"""Loaders that stop and go on: the batches that were left, and no others, from any position."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import tessella as ts
from tessella import data


class Stream(data.IterableDataset[int]):
    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.count))


class Counter(data.IterableDataset[int]):
    """A stream that knows where it is."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.at = 0

    def __iter__(self) -> Iterator[int]:
        while self.at < self.count:
            self.at += 1
            yield self.at - 1
        self.at = 0

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


def tensors(count: int) -> data.TensorDataset:
    return data.TensorDataset(ts.arange(count) * 0.5, ts.arange(count))


def numbers(batches: Any) -> list[Any]:
    return [batch[1].tolist() for batch in batches]


@given(
    count=st.integers(0, 23),
    batch_size=st.integers(1, 6),
    shuffle=st.booleans(),
    drop_last=st.booleans(),
    has_generator=st.booleans(),
    num_workers=st.sampled_from([0, 0, 0, 2]),
    seed=st.integers(0, 1 << 40),
    fraction=st.floats(0, 1),
)
def test_a_loader_goes_on_from_any_position(
    count: int, batch_size: int, shuffle: bool, drop_last: bool, has_generator: bool,
    num_workers: int, seed: int, fraction: float,
) -> None:  # fmt: skip
    def make() -> data.DataLoader:
        generator = ts.Generator(seed) if has_generator else None
        return data.DataLoader(tensors(count), batch_size, shuffle, drop_last=drop_last,
                               num_workers=num_workers, generator=generator)  # fmt: skip

    ts.manual_seed(seed)
    loader = make()
    expected = [numbers(loader) for _ in range(3)]
    length = len(loader)

    ts.manual_seed(seed)
    stopped = make()
    assert numbers(stopped) == expected[0]
    batches = iter(stopped)
    given_out = [next(batches)[1].tolist() for _ in range(round(fraction * length))]
    state = stopped.state_dict()
    del batches

    resumed = make()
    resumed.load_state_dict(state)
    assert resumed.state_dict() == state
    assert given_out + numbers(resumed) == expected[1]
    assert numbers(resumed) == expected[2]


def test_a_shared_generator_is_where_it_was_after_resuming() -> None:
    generator = ts.Generator(3)
    loader = data.DataLoader(tensors(10), 2, shuffle=True, generator=generator)
    batches = iter(loader)
    first = [next(batches)[1].tolist()]
    ts.rand(5, generator=generator)  # somebody else draws, too
    state = loader.state_dict()
    left = numbers(batches)
    after = (generator.seed, generator.counter)

    other = ts.Generator(0)
    again = data.DataLoader(tensors(10), 2, shuffle=True, generator=other)
    again.load_state_dict(state)
    assert numbers(again) == left and len(first + left) == 5
    assert (other.seed, other.counter) == after


def test_the_state_behind_the_last_batch_leaves_none_and_behind_the_end_a_new_epoch() -> None:
    loader = data.DataLoader(tensors(4), 2)
    states = []
    for _ in loader:
        states.append(loader.state_dict())
    states.append(loader.state_dict())
    left = []
    for state in states:
        other = data.DataLoader(tensors(4), 2)
        other.load_state_dict(state)
        left.append(numbers(other))
    assert left == [[[2, 3]], [], [[0, 1], [2, 3]]]


def test_a_loop_that_was_broken_off_can_be_gone_on_with() -> None:
    loader = data.DataLoader(tensors(6), 2)
    for _ in loader:
        break
    state = loader.state_dict()
    assert numbers(loader) == [[0, 1], [2, 3], [4, 5]]  # a new loop begins anew
    loader.load_state_dict(state)
    assert numbers(loader) == [[2, 3], [4, 5]]


@pytest.mark.parametrize("num_workers", [0, 2])
@pytest.mark.parametrize("make", [Stream, Counter])
@pytest.mark.parametrize("taken", range(4))
def test_streams_go_on_where_they_were(
    make: Callable[[int], Any], taken: int, num_workers: int
) -> None:
    loader = data.DataLoader(make(7), 2, num_workers=num_workers)
    batches = iter(loader)
    given_out = [next(batches).tolist() for _ in range(taken)]
    state = loader.state_dict()
    other = data.DataLoader(make(7), 2, num_workers=num_workers)
    other.load_state_dict(state)
    assert given_out + [batch.tolist() for batch in other] == [[0, 1], [2, 3], [4, 5], [6]]


def test_samplers_of_users_are_gone_through_again() -> None:
    generator = ts.Generator(2)

    class Pairs(data.Sampler[list[int]]):
        def __iter__(self) -> Iterator[list[int]]:
            for i in range(5):
                yield [i, int(ts.randint(0, 5, (), generator=generator).item())]

    def make() -> data.DataLoader:
        return data.DataLoader(tensors(5), batch_sampler=Pairs(), generator=generator)

    batches = iter(loader := make())
    next(batches), next(batches)
    state = loader.state_dict()
    left = numbers(batches)
    again = make()
    again.load_state_dict(state)
    assert numbers(again) == left and len(left) == 3


@pytest.mark.parametrize(
    "change, match",
    [
        ({"batch_size": 3}, "batch_size was 3 and is 2"),
        ({"length": 7}, "length was 7 and is 6"),
        ({"batches": -1}, "batches is -1"),
        ({"start": {"seed": 1}}, "start: state_dict must be a dict of seed and counter"),
        ({"generator": {"seed": -1, "counter": 0}}, "generator: seed is -1"),
    ],
)
def test_states_of_other_loaders_are_refused(change: dict[str, Any], match: str) -> None:
    loader = data.DataLoader(tensors(6), 2)
    with pytest.raises(ts.errors.InvalidArgument, match=match):
        loader.load_state_dict({**loader.state_dict(), **change})
    with pytest.raises(ts.errors.InvalidArgument, match="'batch_size' is missing"):
        loader.load_state_dict({"batches": 0, "is_over": False, "start": None, "generator": None,
                                "drop_last": False, "length": 6})  # fmt: skip
    assert numbers(loader) == [[0, 1], [2, 3], [4, 5]]


def test_checkpoints_hold_the_position_of_a_loader_and_what_prepares_its_data(
    tmp_path: Path,
) -> None:
    def make() -> data.DataLoader:
        return data.DataLoader(tensors(20), 3, shuffle=True)

    ts.manual_seed(4)
    loader, scale, code = make(), data.standardize(ts.arange(6.0)), data.one_hot(["b", "a"])
    batches = iter(loader)
    next(batches), next(batches)
    ts.io.save_checkpoint(tmp_path / "run", loader=loader, scale=scale, code=code)
    left = [numbers(batches), numbers(loader)]

    ts.manual_seed(5)
    again, other, codes = make(), data.Standardize(), data.OneHot()
    ts.io.load_checkpoint(tmp_path / "run", loader=again, scale=other, code=codes)
    assert [numbers(again), numbers(again)] == left
    assert other(ts.ones(2)).tolist() == scale(ts.ones(2)).tolist()
    assert codes.categories == ["a", "b"]
