"""Whole training steps of small networks: forward, backward and Adam's update.

The network and its loss are written with each library's shortest way to the same arithmetic, and
begin with the same numbers. The optimizer is each library's own, in one pass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from bench.programs.stepping import Compiler, Step, adam, jax_cross_entropy, jitted_step, step_of


@dataclass(frozen=True)
class Task:
    """A network by its widths, and numbers to fit: 0 and 1, or which of ten classes."""

    widths: tuple[int, ...]
    batch: int

    @property
    def is_binary(self) -> bool:
        """Whether it fits numbers: tanh and the mean square; else relu and cross entropy."""
        return self.widths[-1] == 1


TASKS = {
    "xor": Task((2, 16, 1), 4),
    "digits": Task((64, 128, 64, 10), 64),
    "mnist": Task((784, 512, 512, 10), 128),
}


def start(np: Any, task: Task) -> list[Any]:
    """Weights (inputs, outputs) and biases in turn, the same every time."""
    random, arrays = np.random.default_rng(0), []
    for inputs, outputs in zip(task.widths, task.widths[1:], strict=False):
        weights = random.standard_normal((inputs, outputs)) / math.sqrt(inputs)
        arrays += [weights.astype(np.float32), np.zeros(outputs, np.float32)]
    return arrays


def examples(np: Any, task: Task) -> tuple[Any, Any]:
    """What goes in and what should come out."""
    if task.is_binary:
        inputs = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
        return inputs, (inputs.sum(axis=1, keepdims=True) == 1).astype(np.float32)
    random = np.random.default_rng(1)
    inputs = random.standard_normal((task.batch, task.widths[0])).astype(np.float32)
    return inputs, random.integers(0, 10, task.batch)


# --- Tessella -------------------------------------------------------------------------------------


def tessella_loss(
    ts: Any, functional: Any, task: Task, parameters: Sequence[Any], x: Any, y: Any
) -> Any:
    """Run the network forward; y are the numbers to fit, or the right classes."""
    activate = ts.tanh if task.is_binary else ts.relu
    *hidden, w, b = parameters
    for i in range(0, len(hidden), 2):
        x = activate(x @ hidden[i] + hidden[i + 1])
    x = x @ w + b
    if task.is_binary:
        return (x - y).square().mean()
    return functional.cross_entropy(x, y)


# --- PyTorch --------------------------------------------------------------------------------------


def torch_loss(
    torch: Any, functional: Any, task: Task, parameters: Sequence[Any], x: Any, y: Any
) -> Any:
    """Run the network forward; its layers, too, are single operations."""
    activate = torch.tanh if task.is_binary else torch.relu
    *hidden, w, b = parameters
    for i in range(0, len(hidden), 2):
        x = activate(torch.addmm(hidden[i + 1], x, hidden[i]))
    x = torch.addmm(b, x, w)
    return functional.mse_loss(x, y) if task.is_binary else functional.cross_entropy(x, y)


LOSSES = {"tessella": tessella_loss, "torch": torch_loss}


def step(library: Any, np: Any, compile: Compiler = None, *, task: Task, **options: Any) -> Step:
    """Give a function that trains once, in Tessella or PyTorch."""
    parameters = [library.tensor(array, requires_grad=True) for array in start(np, task)]
    batch = [library.tensor(array) for array in examples(np, task)]
    loss = LOSSES[library.__name__]
    loss_of = partial(loss, library, library.nn.functional, task, parameters)
    return step_of(loss_of, adam(library, parameters, **options), batch, compile)


# --- JAX ------------------------------------------------------------------------------------------


def jax_loss(jax: Any, task: Task, parameters: Sequence[Any], x: Any, y: Any) -> Any:
    """Run the network forward."""
    activate = jax.numpy.tanh if task.is_binary else jax.nn.relu
    *hidden, w, b = parameters
    for i in range(0, len(hidden), 2):
        x = activate(x @ hidden[i] + hidden[i + 1])
    x = x @ w + b
    return ((x - y) ** 2).mean() if task.is_binary else jax_cross_entropy(jax, x, y)


def jax_step(jax: Any, np: Any, *, task: Task) -> Step:
    """Give a function that trains once."""
    return jitted_step(jax, partial(jax_loss, jax, task), start(np, task), examples(np, task))
