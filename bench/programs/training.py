"""Whole training steps of small networks: forward, backward and Adam's update.

The network and its loss are written twice, with each library's shortest way to the same arithmetic,
and begin with the same numbers. The optimizer is each library's own, in one pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

Step = Callable[[], Any]  # trains once, gives the loss

RATE, DECAY, SQUARE_DECAY, EPSILON = 1e-3, 0.9, 0.999, 1e-8


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


def step_of(run: Step, optimizer: Any) -> Step:
    """Give a function that trains once: the same for both libraries."""

    def step() -> Any:
        optimizer.zero_grad()
        loss = run()
        loss.backward()
        optimizer.step()
        return loss

    return step


# --- Tessella -------------------------------------------------------------------------------------


def tessella_loss(ts: Any, task: Task, parameters: Sequence[Any], x: Any, y: Any) -> Any:
    """Run the network forward; y are the numbers to fit, or the places of the right classes."""
    activate = ts.tanh if task.is_binary else ts.relu
    *hidden, w, b = parameters
    for i in range(0, len(hidden), 2):
        x = activate(x @ hidden[i] + hidden[i + 1])
    x = x @ w + b
    if task.is_binary:
        return (x - y).square().mean()
    return -ts.log_softmax(x)[y].mean()


def tessella_step(ts: Any, np: Any, task: Task) -> Step:
    """Give a function that trains once."""
    parameters = [ts.tensor(array, requires_grad=True) for array in start(np, task)]
    inputs, wanted = (ts.tensor(array) for array in examples(np, task))
    key = wanted if task.is_binary else (ts.arange(task.batch), wanted)
    run = partial(tessella_loss, ts, task, parameters, inputs, key)
    optimizer = ts.optim.Adam(parameters, lr=RATE, betas=(DECAY, SQUARE_DECAY), eps=EPSILON)
    return step_of(run, optimizer)


# --- PyTorch --------------------------------------------------------------------------------------


def torch_loss(torch: Any, task: Task, parameters: Sequence[Any], x: Any, y: Any) -> Any:
    """Run the network forward; its layers, too, are single operations."""
    activate = torch.tanh if task.is_binary else torch.relu
    *hidden, w, b = parameters
    for i in range(0, len(hidden), 2):
        x = activate(torch.addmm(hidden[i + 1], x, hidden[i]))
    x = torch.addmm(b, x, w)
    losses = torch.nn.functional
    return losses.mse_loss(x, y) if task.is_binary else losses.cross_entropy(x, y)


def torch_step(torch: Any, np: Any, task: Task) -> Step:
    """Give a function that trains once."""
    parameters = [torch.tensor(array, requires_grad=True) for array in start(np, task)]
    inputs, wanted = (torch.tensor(array) for array in examples(np, task))
    betas = (DECAY, SQUARE_DECAY)
    optimizer = torch.optim.Adam(parameters, lr=RATE, betas=betas, eps=EPSILON, fused=True)
    return step_of(partial(torch_loss, torch, task, parameters, inputs, wanted), optimizer)
