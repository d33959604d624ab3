"""Data sets, samplers and collation: what they give, and what they refuse."""

from __future__ import annotations

import math
import pickle
from collections import Counter, namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts
from nested import listed
from tessella import data

# --- sets ----------------------------------------------------------------------------------------


def test_a_tensor_dataset_has_the_rows_of_its_tensors() -> None:
    x, y = ts.arange(6).reshape(3, 2), ts.tensor([5, 6, 7])
    dataset = data.TensorDataset(x, y)
    assert len(dataset) == 3
    assert [part.tolist() for part in dataset[-1]] == [[4, 5], 7]
    assert [part.tolist() for part in dataset[1:]] == [[[2, 3], [4, 5]], [6, 7]]
    assert [part.tolist() for part in dataset[[2, 0]]] == [[[4, 5], [0, 1]], [7, 5]]
    assert len(pickle.loads(pickle.dumps(dataset))) == 3


@pytest.mark.parametrize(
    "tensors, match",
    [
        ((), "no tensor was given"),
        ((ts.ones(2), ts.ones(3)), r"tensors\[1\] has 3 rows, tensors\[0\] has 2"),
        ((ts.tensor(1.0),), r"tensors\[0\] has 0 rows"),
        (([1, 2],), r"tensors\[0\] must be a tensor, got list"),
    ],
)
def test_tensors_that_make_no_set_are_refused(tensors: Any, match: str) -> None:
    with pytest.raises(ts.errors.TessellaError, match=f"data.TensorDataset: {match}"):
        data.TensorDataset(*tensors)


def test_sets_are_joined_and_cut() -> None:
    both = data.ConcatDataset(["ab", "", "cde"])
    assert [both[i] for i in range(len(both))] == list("abcde")
    assert both[-1] == "e" and both.cumulative_sizes == [2, 2, 5]
    with pytest.raises(IndexError, match="sample 5 is out of bounds for a dataset of 5"):
        both[5]
    first = data.TensorDataset(ts.arange(3))
    assert len(first + first) == 6
    assert len(data.Subset(first, ts.tensor([2, 1]))) == 2
    assert data.Subset(first, [2, 1])[0][0].item() == 2
    assert [x.tolist() for x in data.Subset(first, [2, 1])[[1, 0]]] == [[1, 2]]  # type: ignore[index]
    with pytest.raises(ValueError, match="datasets is"):
        data.ConcatDataset([])


def test_sets_of_subsets_give_whole_batches() -> None:
    inner = data.Subset(data.TensorDataset(ts.arange(10) * 10), [9, 7, 5, 3, 1])
    outer = data.Subset(inner, [4, 0])
    assert hasattr(outer, "__getbatch__")
    assert [b[0].tolist() for b in data.DataLoader(outer, 2)] == [[10, 90]]
    assert not hasattr(data.Subset("abc", [1]), "__getbatch__")
    assert len(data.DataLoader(data.Subset(inner, []), 2)) == 0


@given(st.integers(0, 50), st.lists(st.integers(0, 20), min_size=1, max_size=4), st.integers(0, 99))
def test_random_parts_hold_each_sample_once(count: int, lengths: list[int], seed: int) -> None:
    lengths = [*lengths, max(0, count - sum(lengths))]
    count = sum(lengths)
    parts = data.random_split(range(count), lengths, generator=ts.Generator(seed))
    assert [len(part) for part in parts] == lengths
    assert sorted(i for part in parts for i in part.indices) == list(range(count))
    again = data.random_split(range(count), lengths, generator=ts.Generator(seed))
    assert [part.indices for part in again] == [part.indices for part in parts]


def test_random_parts_by_fractions_are_those_of_pytorch() -> None:
    for count, fractions, expected in [
        (10, [0.5, 0.5], [5, 5]), (10, [0.3, 0.3, 0.4], [3, 3, 4]), (3, [0.5, 0.5], [2, 1]),
        (7, [0.1, 0.2, 0.7], [1, 2, 4]), (103, [0.33, 0.33, 0.34], [34, 34, 35]),
    ]:  # fmt: skip
        assert [len(part) for part in data.random_split(range(count), fractions)] == expected


@pytest.mark.parametrize(
    "dataset, lengths, match",
    [
        (range(5), [2, 2], "the lengths sum to 4, the dataset has 5 samples"),
        (range(5), [6, -1], "lengths is"),
        (range(5), [0.5, 0.4], "the fractions sum to 0.9"),
        (3, [1], "dataset must be a dataset, got int"),
        (data.ChainDataset([]), [1], "no numbered samples for random_split"),
    ],
)
def test_random_parts_that_do_not_fit_are_refused(dataset: Any, lengths: Any, match: str) -> None:
    with pytest.raises(ts.errors.TessellaError, match=f"data.random_split: .*{match}"):
        data.random_split(dataset, lengths)


def test_streams_are_joined() -> None:
    class Letters(data.IterableDataset[str]):
        def __iter__(self) -> Any:
            return iter("ab")

    assert list(Letters() + Letters()) == list("abab")
    with pytest.raises(TypeError, match="ChainDataset takes it"):
        data.ConcatDataset([Letters()])
    with pytest.raises(NotImplementedError):
        data.Dataset()[0]
    with pytest.raises(NotImplementedError):
        iter(data.IterableDataset())
    with pytest.raises(NotImplementedError):
        iter(data.Sampler())


# --- samplers ------------------------------------------------------------------------------------

SAMPLERS: dict[str, Callable[[ts.Generator], Any]] = {
    "random": lambda g: data.RandomSampler(range(20), generator=g),
    "random, more": lambda g: data.RandomSampler(range(20), num_samples=50, generator=g),
    "replaced": lambda g: data.RandomSampler(range(20), True, 50, generator=g),
    "subset": lambda g: data.SubsetRandomSampler(range(10, 30), generator=g),
    "weighted": lambda g: data.WeightedRandomSampler([1.0] * 20, 30, generator=g),
    "weighted, once": lambda g: data.WeightedRandomSampler([1.0] * 20, 15, False, generator=g),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_samplers_repeat_by_their_seed_and_go_on(name: str) -> None:
    make = SAMPLERS[name]
    sampler, again = make(ts.Generator(1)), make(ts.Generator(1))
    first, second = list(sampler), list(sampler)
    assert first != second and len(first) == len(sampler)
    assert [first, second] == [list(again), list(again)]
    assert list(make(ts.Generator(2))) != first


def test_random_samplers_give_what_they_say() -> None:
    assert sorted(data.RandomSampler(range(9))) == list(range(9))
    rounds = list(data.RandomSampler(range(4), num_samples=10))
    assert sorted(rounds[:4]) == sorted(rounds[4:8]) == [0, 1, 2, 3] and len(set(rounds[8:])) == 2
    assert list(data.RandomSampler([])) == []
    drawn = Counter(
        data.WeightedRandomSampler(ts.tensor([1.0, 3.0]), 4000, generator=ts.Generator(0))
    )
    assert abs(drawn[1] - 3000) < 5 * math.sqrt(4000 * 0.75 * 0.25)
    once = list(data.WeightedRandomSampler([1, 2, 0, 4], 3, replacement=False))
    assert sorted(once) == [0, 1, 3]


@pytest.mark.parametrize("drop_last, expected", [(False, [[0, 1], [2]]), (True, [[0, 1]])])
def test_batch_samplers_cut_any_sampler(drop_last: bool, expected: list[list[int]]) -> None:
    sampler = data.BatchSampler(data.SequentialSampler("abc"), 2, drop_last)
    assert list(sampler) == expected and len(sampler) == len(expected)


ANY: Any = [["a"]]  # of no type that is asked for


@pytest.mark.parametrize(
    "make, match",
    [
        (lambda: data.RandomSampler(range(3), num_samples=0), "num_samples is 0"),
        (lambda: data.RandomSampler(range(3), ANY), "replacement must be True or False"),
        (lambda: data.RandomSampler(range(3), generator=ANY), "generator must be"),
        (lambda: data.WeightedRandomSampler(ANY, 1), "data.WeightedRandomSampler"),
        (lambda: data.WeightedRandomSampler([1.0], 0), "num_samples is 0"),
        (lambda: data.BatchSampler([0], 0, False), "batch_size is 0"),
        (lambda: data.SubsetRandomSampler(ANY), "data.SubsetRandomSampler"),
        (lambda: data.SubsetRandomSampler(ts.ones(())), r"SubsetRandomSampler: indices.shape is"),
        (lambda: data.SequentialSampler(np.zeros(())), "data_source must be a dataset, got"),
        (lambda: data.BatchSampler(3, 1), "data.BatchSampler: sampler must be a sampler"),  # type: ignore[arg-type]
        (lambda: data.Subset("abc", 3), "data.Subset: indices must be a list"),  # type: ignore[arg-type]
        (lambda: data.Subset("abc", [1])[5], "data.Subset: sample 5 is out of bounds for a dat"),
        (lambda: data.ConcatDataset([3]), r"datasets\[0\] must be a dataset, got int"),  # type: ignore[arg-type]
        (lambda: data.ConcatDataset(["ab"])["x"], "ConcatDataset: index must be an integer"),  # type: ignore[index]
        (lambda: data.ChainDataset([3]), r"ChainDataset: datasets\[0\] must be a stream"),  # type: ignore[arg-type]
        (lambda: data.ChainDataset(["ab"])[0], "ChainDataset: an IterableDataset has no numbered"),
        (lambda: data.random_split(range(3), 3), "random_split: lengths must be a list"),  # type: ignore[arg-type]
        (lambda: data.default_collate([{"a": 1}, 3]), "sample 1 of the batch has keys int"),
        (lambda: data.default_collate([[1], 3]), "sample 1 of the batch has type int"),
        (lambda: data.Table(ANY), "data.Table: columns must be a dict of names and columns"),
        (lambda: data.Text(ts.arange(2), "ab").decode([5]), "Text.decode: a number of ids is 5"),
    ],
)
def test_sets_and_samplers_refuse_what_makes_no_sense(make: Callable[[], Any], match: str) -> None:
    with pytest.raises(ts.errors.TessellaError, match=match):
        make()


# --- collation -----------------------------------------------------------------------------------

Point = namedtuple("Point", "x y")


def test_samples_are_joined_by_their_type() -> None:
    joined = data.default_collate
    assert joined([ts.ones(2), ts.zeros(2)]).tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert joined([1.5, 2.5]).dtype is ts.float64
    assert joined([1, 2]).dtype is ts.int64
    assert joined([True, False]).dtype is ts.bool
    assert joined(["a", "b"]) == ["a", "b"]
    assert joined([b"a"]) == [b"a"]
    assert joined([np.float32(1), np.float32(2)]).dtype is ts.float32  # type: ignore[attr-defined]
    assert joined([np.ones((2, 3)), np.ones((2, 3))]).shape == (2, 2, 3)  # type: ignore[attr-defined]
    parts = joined([{"x": 1, "y": (2.0, "a")}, {"x": 3, "y": (4.0, "b")}])
    assert listed(parts["x"]) == [1, 3]  # type: ignore[index]
    assert listed(parts["y"][0]) == [2.0, 4.0] and parts["y"][1] == ["a", "b"]  # type: ignore[index]
    pair = joined([Point(1, [2, 3]), Point(4, [5, 6])])
    assert isinstance(pair, Point) and [t.tolist() for t in pair.y] == [[2, 5], [3, 6]]


@pytest.mark.parametrize(
    "batch, match",
    [
        ([ts.ones(2), ts.ones(3)], r"sample 1 of the batch has shape \(3,\), sample 0 has \(2,\)"),
        ([ts.ones(2), 3], "sample 1 of the batch has shape int"),
        ([(1, 2), (1,)], "sample 1 of the batch has length 1, sample 0 has 2"),
        ([object()], "samples of type object have no common batch"),
        ([], "the batch has no samples"),
        (3, "batch must be a list of samples, got int"),
    ],
)
def test_samples_that_do_not_fit_are_refused(batch: Any, match: str) -> None:
    with pytest.raises(ts.errors.TessellaError, match=f"data.default_collate: {match}"):
        data.default_collate(batch)


def test_single_samples_are_converted() -> None:
    given = {"a": np.ones(2), "b": [np.zeros(1), "text", None], "p": Point(1, np.ones(1))}
    found = data.default_convert(given)
    assert isinstance(found["a"], ts.Tensor) and isinstance(found["b"][0], ts.Tensor)  # type: ignore[index]
    assert found["b"][1:] == ["text", None] and isinstance(found["p"].y, ts.Tensor)  # type: ignore[index]
