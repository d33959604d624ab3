"""What objects of data, schedules, generators, nodes and compiled functions print as: one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

import tessella as ts
from tessella import data
from tessella.optim import lr_scheduler as schedules


class Squares(data.Dataset[int]):
    """A set of a user, without a repr of its own."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int, /) -> int:
        return index * index


class Count(data.IterableDataset[int]):
    """A stream without a length."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(5))


def drawn() -> ts.Generator:
    """Give a generator that was used."""
    source = ts.Generator(7)
    ts.rand(3, generator=source)
    return source


PAIRS = data.TensorDataset(ts.zeros(1442, 2), ts.zeros(1442, dtype=ts.int64))
OPTIMIZER = ts.optim.SGD([ts.ones(2, requires_grad=True)], lr=0.5)
STEP = schedules.StepLR(OPTIMIZER, 2, gamma=0.5)
SHOWN: list[tuple[Any, str]] = [
    (PAIRS, "TensorDataset(1,442 samples, float32 (1442, 2), int64 (1442,))"),
    (Squares(1), "Squares(1 sample)"),
    (Squares.__new__(Squares), "Squares()"),
    (Count(), "Count()"),
    (data.Subset(Squares(9), [2, 0]), "Subset(2 samples, of Squares(9 samples))"),
    (data.ConcatDataset([Squares(2), Squares(3)]), "ConcatDataset(5 samples)"),
    (data.ChainDataset([Count(), Count()]), "ChainDataset()"),
    (data.SequentialSampler("abc"), "SequentialSampler(3 samples)"),
    (data.RandomSampler("abc"), "RandomSampler(3 samples, replacement=False)"),
    (data.SubsetRandomSampler([3, 1]), "SubsetRandomSampler(2 samples)"),
    (data.WeightedRandomSampler([1.0], 2), "WeightedRandomSampler(2 samples, replacement=True)"),
    (data.BatchSampler(range(5), 2), "BatchSampler(range(0, 5), batch_size=2, drop_last=False)"),
    (data.DataLoader(PAIRS, 64, shuffle=True),
     "DataLoader(1,442 samples, batch_size=64, shuffle=True)"),
    (data.DataLoader(PAIRS, drop_last=True, num_workers=2),
     "DataLoader(1,442 samples, batch_size=1, drop_last=True, num_workers=2)"),
    (data.DataLoader(Count(), 3), "DataLoader(Count(), batch_size=3)"),
    (data.DataLoader(range(4), 2, sampler=[3, 1]),
     "DataLoader(4 samples, batch_size=2, sampler=[3, 1])"),
    (data.DataLoader(range(4), batch_sampler=[[3, 1]]),
     "DataLoader(4 samples, batch_sampler=[[3, 1]])"),
    (data.Standardize(), "Standardize(not fitted)"),
    (data.standardize(ts.ones(4, 2)), "Standardize(fitted to samples of (2,))"),
    (data.MinMax(-1, 1), "MinMax(not fitted, low=-1.0, high=1.0)"),
    (data.OneHot(), "OneHot(not fitted, unknown='error')"),
    (data.one_hot(["b", "a"]), "OneHot(2 categories, unknown='error')"),
    (STEP, "StepLR(step_size=2, gamma=0.5)"),
    (schedules.ReduceLROnPlateau(OPTIMIZER),
     "ReduceLROnPlateau(mode='min', factor=0.1, patience=10, threshold=0.0001, "
     "threshold_mode='rel', cooldown=0, eps=1e-08)"),
    (schedules.SequentialLR(OPTIMIZER, [STEP, schedules.ExponentialLR(OPTIMIZER, 0.5)], [4]),
     "SequentialLR(StepLR(step_size=2, gamma=0.5), ExponentialLR(gamma=0.5), milestones=[4])"),
    (schedules.ChainedScheduler([STEP]), "ChainedScheduler(StepLR(step_size=2, gamma=0.5))"),
    (ts.Generator(0), "Generator(seed=0)"),
    (drawn(), "Generator(seed=7, counter=16)"),
    (ts.models.Sampler(0.5, seed=3),
     "Sampler(temperature=0.5, top_p=1.0, repetition_penalty=1.0, generator=Generator(seed=3))"),
    (ts.Tensor.add_, "<operation add_>"),
    ((ts.ones(2, requires_grad=True) * 2).grad_fn, "<Node mul>"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), SHOWN, ids=lambda each: str(each)[:20])
def test_objects_say_in_a_line_what_they_are(value: Any, text: str) -> None:
    assert repr(value) == text


def test_schedules_print_inside_compiled_steps() -> None:
    texts = []

    @ts.compile
    def step(x: ts.Tensor) -> ts.Tensor:
        texts.append(repr(STEP))
        return x * 2

    step(ts.ones(2))
    assert texts == ["StepLR(step_size=2, gamma=0.5)"]


class Scaled:
    """Has a method that is compiled."""

    @ts.compile
    def times(self, x: ts.Tensor) -> ts.Tensor:
        return (x @ x) @ x


def test_compiled_functions_tell_of_their_programs() -> None:
    @ts.compile
    def step(x: ts.Tensor) -> ts.Tensor:
        return (x @ x) @ x

    assert repr(step) == "compiled step: no program yet"
    for size in (16, 16, 8, 8):
        step(ts.ones(size, size))
    assert repr(step) == "compiled step: 2 programs, arena 1,024 B"
    assert repr(Scaled().times) == "compiled times: no program yet"
    assert repr(ts.compile(ts.nn.Linear(2, 3))) == "compiled Linear: no program yet"


def test_tables_of_memory_keep_their_columns() -> None:
    step = ts.compile(lambda x, y: ((x @ x) @ x).sum() + ((y @ y) @ y).sum())
    table = str(step.plan(ts.spec((16, 128, 32, 32)), ts.spec((2, 2)))).splitlines()
    head, *rows = (line for line in table if line.startswith("  ") and " B:" not in line)
    start = head.index("bytes")
    assert any("(16, 128, 32, 32)" in row for row in rows)
    for row in rows:
        assert row[start - 1] == " " and re.match(r"[\d,]+ ", row[start:]), row
        assert len(row) == len(head)


def test_histories_are_tables_in_notebooks() -> None:
    history = ts.History([{"epoch": 1, "loss": 0.5}, {"epoch": 2, "<b>": 0.25}])
    history.reason = "interrupted in epoch 3"
    html = history._repr_html_()
    assert html.count("<tr>") == 3 and "<td>0.5</td>" in html and "&lt;b&gt;" in html
    assert "interrupted in epoch 3" in html
