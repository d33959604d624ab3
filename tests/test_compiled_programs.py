"""The programs of ten small functions, as text: what the compiler makes of them changes knowingly.

The texts are in programs/. After a change that is meant, store them again, and look at the diff:

    TESSELLA_STORE_PROGRAMS=1 .venv/bin/python -m pytest tests/test_compiled_programs.py
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tessella as ts
import tessella.nn.functional as F
from tessella import nn, optim
from tessella.compiler import Compiled
from tessella.compiler.plan import lower_bound
from tessella.compiler.program import Program
from training_steps import TRAININGS
from worlds import some

FOLDER = Path(__file__).parent / "programs"
CALLS = 5
Made = tuple[Callable[..., Any], Callable[[int], tuple[ts.Tensor, ...]]]  # and the arguments

MODELS: dict[str, Callable[[], Made]] = {}


def model(make: Callable[[], Made]) -> Callable[[], Made]:
    MODELS[make.__name__] = make
    return make


def stepping(network: nn.Module, optimizer: Any, loss_of: Callable[..., Any]) -> Any:
    """Give the step of a training."""

    def step(x: ts.Tensor, y: ts.Tensor) -> Any:
        optimizer.zero_grad()
        loss = loss_of(network(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


# --- functions ------------------------------------------------------------------------------------


@model
def scaled_sum() -> Made:
    w = some(1, 8)
    return lambda x: (x * w * 2 + 1).sum(axis=-1), lambda i: (some(i, 16, 8),)


@model
def gelu() -> Made:
    def f(x: ts.Tensor) -> Any:
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        return 0.5 * x * (1 + ts.tanh(inner))

    return f, lambda i: (some(i, 16, 8),)


@model
def softmax() -> Made:
    def f(x: ts.Tensor) -> Any:
        e = ts.exp(x - x.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    return f, lambda i: (some(i, 16, 8),)


@model
def layer_norm() -> Made:
    scale, shift = some(1, 8), some(2, 8)

    def f(x: ts.Tensor) -> Any:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = centred.square().mean(axis=-1, keepdims=True)
        return centred / ts.sqrt(spread + 1e-5) * scale + shift

    return f, lambda i: (some(i, 16, 8),)


@model
def linear_relu() -> Made:
    network = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).requires_grad_(False)
    return network, lambda i: (some(i, 16, 8),)


# --- steps ----------------------------------------------------------------------------------------


@model
def xor_sgd() -> Made:
    network = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    step = stepping(network, optim.SGD(network.parameters(), lr=0.1), F.mse_loss)
    return step, lambda i: (some(i, 4, 2), some(i + 50, 4, 1))


@model
def digits_adam() -> Made:
    network = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    step = stepping(network, optim.Adam(network.parameters()), F.cross_entropy)
    return step, lambda i: (some(i, 16, 64), ts.arange(16) % 10)


@model
def dropout() -> Made:
    network = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.5), nn.ReLU(), nn.Linear(16, 2))
    step = stepping(network, optim.SGD(network.parameters(), lr=0.1), F.mse_loss)
    return step, lambda i: (some(i, 4, 8), some(i + 50, 4, 2))


@model
def batch_norm() -> Made:
    network = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
    return stepping(network, optimizer, F.mse_loss), lambda i: (some(i, 4, 8), some(i + 50, 4, 2))


@model
def attention() -> Made:
    """A head by hand: its gradients, clipped, and no optimizer."""
    weights = [some(i, 8, 8).requires_grad_() for i in range(3)]

    def step(x: ts.Tensor) -> Any:
        for w in weights:
            w.grad = None
        q, k, v = (x @ w for w in weights)
        out = F.softmax(q @ k.mT / math.sqrt(8), -1) @ v
        loss = out.square().mean()
        loss.backward()
        return loss.detach(), nn.utils.clip_grad_norm_(weights, 1.0)

    return step, lambda i: (some(i, 2, 6, 8),)


def programs_of(name: str) -> list[Program]:
    """Give the programs of a model: the repeated one, and its gradient if it has one."""
    ts.manual_seed(0)
    function, arguments = MODELS[name]()
    compiled: Compiled = ts.compile(function)
    for i in range(CALLS):
        compiled(*arguments(i))
    assert compiled.program is not None
    seconds = [each for pull in compiled.program.pulls for each in pull.programs.values()]
    return [compiled.program, *seconds]


def text_of(name: str) -> str:
    return "\n\n".join(map(str, programs_of(name))) + "\n"


@pytest.mark.parametrize("name", MODELS)
def test_program_is_the_stored_one(name: str) -> None:
    path = FOLDER / f"{name}.txt"
    if os.environ.get("TESSELLA_STORE_PROGRAMS") == "1":
        FOLDER.mkdir(exist_ok=True)
        path.write_text(text_of(name))
    assert text_of(name) == path.read_text()


def test_every_stored_program_has_a_model() -> None:
    assert {path.stem for path in FOLDER.glob("*")} == set(MODELS)


def test_texts_are_the_same_in_another_process() -> None:
    code = "import test_compiled_programs as t; print(*map(t.text_of, t.MODELS), sep='', end='')"
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(FOLDER.parent), *sys.path]),
        "PYTHONHASHSEED": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(map(text_of, MODELS))


@pytest.mark.parametrize("name", MODELS)
def test_program_verifies_itself(name: str) -> None:
    for program in programs_of(name):
        program.verify()


@pytest.mark.parametrize("name", MODELS)
def test_arena_is_near_its_lower_bound(name: str) -> None:
    for program in programs_of(name):
        assert lower_bound(program) <= program.arena_bytes <= 1.05 * lower_bound(program)


@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("name", TRAININGS)
def test_arena_of_a_training_step_is_near_its_lower_bound(name: str, recompute: bool) -> None:
    ts.manual_seed(0)
    _, step, batch = TRAININGS[name]()
    compiled: Compiled = ts.compile(step, recompute=recompute)
    for i in range(CALLS):
        compiled(*batch(i))
    for program in compiled.programs:
        assert lower_bound(program) <= program.arena_bytes <= 1.05 * lower_bound(program)
    assert compiled.programs
