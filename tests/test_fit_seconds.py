"""fit: the seconds of an epoch are those of fetching its batches and of its steps."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from time import sleep
from typing import Any

import tessella as ts
from tessella import nn
from tessella.nn import functional as F


def parts() -> tuple[nn.Module, ts.optim.Optimizer]:
    """Give a model and its optimizer."""
    model = nn.Linear(3, 1)
    return model, ts.optim.SGD(model.parameters(), lr=0.01)


class Slow:
    """Batches that take their time; a Ctrl-C comes with one of them."""

    def __init__(self, pause: float, stop: int | None = None) -> None:
        self.pause, self.stop = pause, stop

    def __iter__(self) -> Iterator[Any]:
        for i in range(3):
            sleep(self.pause)
            if i == self.stop:
                signal.raise_signal(signal.SIGINT)
            yield ts.ones(4, 3), ts.ones(4, 1)


def test_seconds_are_those_of_fetching_and_of_steps() -> None:
    model, optimizer = parts()
    history = ts.fit(
        model, Slow(0.05), F.mse_loss, optimizer, epochs=2, validation=Slow(0.4), progress=False
    )
    for row in history.rows:
        assert 0.15 <= row["seconds"] < 1.2, "the data are slow; the validation does not count"
        assert row["samples/s"] == 12 / row["seconds"]


def test_seconds_of_a_resumed_epoch_add_up(tmp_path: Path) -> None:
    for stop in (1, None):  # two of the three batches, and what is left of them
        model, optimizer = parts()
        history = ts.fit(
            model, Slow(0.1, stop), F.mse_loss, optimizer, checkpoint=tmp_path / "run.ts",
            resume=True, progress=False,
        )  # fmt: skip
    assert len(history) == 1 and history["seconds"][0] >= 0.5, "a list is walked from its start"
    assert history["samples/s"][0] == 12 / history["seconds"][0]
