"""Rows `step-eager`, `step-conv`, `step-lstm` and `anomaly`: training steps without a compiler.

The first three race PyTorch's eager mode with its fused optimizer. In `anomaly` Tessella watches
for NaN and infinities, and `unwatched` is Tessella without.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from bench.cases import Case, Row, Work, ahead, within
from bench.libraries import Libraries
from bench.programs import images, sequences
from bench.programs.training import TASKS, Step, tessella_step, torch_step

TRAIN = "step()"


def build_step(libs: Libraries, name: str) -> dict[str, Work]:
    """The same network, examples and optimizer for both."""
    return {
        "tessella": Work(TRAIN, {"step": tessella_step(libs.ts, libs.np, TASKS[name])}),
        "torch": Work(TRAIN, {"step": torch_step(libs.torch, libs.np, TASKS[name])}),
    }


def build_images(libs: Libraries) -> dict[str, Work]:
    """The same convolutional network for both."""
    return {
        "tessella": Work(TRAIN, {"step": images.tessella_step(libs.ts, libs.np)}),
        "torch": Work(TRAIN, {"step": images.torch_step(libs.torch, libs.np)}),
    }


def build_sequences(libs: Libraries) -> dict[str, Work]:
    """The same LSTM for both."""
    return {
        "tessella": Work(TRAIN, {"step": sequences.step(libs.ts, libs.np)}),
        "torch": Work(TRAIN, {"step": sequences.step(libs.torch, libs.np, fused=True)}),
    }


def watched(ts: Any, step: Step) -> Step:
    """Train once under the watch, entering and leaving it."""

    def train() -> Any:
        with ts.autograd.detect_anomaly():
            return step()

    return train


def build_watched(libs: Libraries, name: str) -> dict[str, Work]:
    """Two trainings that begin alike."""
    steps = [tessella_step(libs.ts, libs.np, TASKS[name]) for _ in range(2)]
    return {
        "tessella": Work(TRAIN, {"step": watched(libs.ts, steps[0])}),
        "unwatched": Work(TRAIN, {"step": steps[1]}),
    }


AHEAD = {"xor": 3, "digits": 3, "mnist": 1}
WATCHED = {"xor": 2, "mnist": 1.15}

EAGER = Row(
    "step-eager",
    "training steps with Adam, without compile",
    tuple(
        Case(name, partial(build_step, name=name), (ahead(bar, "torch"),))
        for name, bar in AHEAD.items()
    ),
)
CONV = Row(
    "step-conv",
    "a training step of a small convolutional network, Adam, without compile",
    (Case("28x28", build_images, (ahead(1, "torch"),)),),
)
LSTM = Row(
    "step-lstm",
    "a training step of an LSTM over 64 steps of 32 sequences, Adam, without compile",
    (Case("128 wide", build_sequences, (ahead(1, "torch"),)),),
)
ANOMALY = Row(
    "anomaly",
    "the same steps under detect_anomaly",
    tuple(
        Case(name, partial(build_watched, name=name), (within(bar, "unwatched"),), "", 0.0)
        for name, bar in WATCHED.items()
    ),
)
