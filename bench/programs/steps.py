"""The training steps that are raced, by name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from bench.programs import images, sequences, training, transformer
from bench.programs.stepping import Maker


@dataclass(frozen=True)
class Program:
    """A network with its data: makers of a step in Tessella or PyTorch, and in JAX."""

    what: str
    step: Maker  # of a library and NumPy; then what compiles it, and options of the optimizer
    jax_step: Maker  # of JAX and NumPy


def dense(name: str, what: str) -> Program:
    """Give one of the networks of linear layers."""
    task = training.TASKS[name]
    return Program(what, partial(training.step, task=task), partial(training.jax_step, task=task))


PROGRAMS = {
    "xor": dense("xor", "2-16-1, batch 4, the mean square, Adam"),
    "digits": dense("digits", "64-128-64-10, batch 64, cross entropy, Adam"),
    "mnist": dense("mnist", "784-512-512-10, batch 128, cross entropy, Adam"),
    "gpt": Program(
        "a GPT of 4 layers, 128 wide, 12 texts of 64 letters, AdamW",
        transformer.step,
        transformer.jax_step,
    ),
    "conv": Program(
        "1 to 32 to 64 channels, 64 images of 28x28, Adam", images.step, images.jax_step
    ),
    "lstm": Program(
        "an LSTM, 128 wide, 32 sequences of 64, Adam", sequences.step, sequences.jax_step
    ),
}


def sized(name: str, size: int) -> Program:
    """Give a program with another batch; xor, whose batch is all there is, with another width."""
    options: dict[str, Any] = {"batch": size}
    if name in training.TASKS:
        task = training.TASKS[name]
        if task.is_binary:
            inputs, _, outputs = task.widths
            options = {"task": replace(task, widths=(inputs, size, outputs))}
        else:
            options = {"task": replace(task, batch=size)}
    program = PROGRAMS[name]
    return replace(
        program,
        step=partial(program.step, **options),
        jax_step=partial(program.jax_step, **options),
    )
