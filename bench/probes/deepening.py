"""Prints the seconds that compiling a step of so many linear layers takes over eager steps."""

from __future__ import annotations

import sys
from functools import partial

import tessella as ts
from bench.probes.recording import RECORDED, clock
from bench.programs.stepping import adam, step_of, train_of

WIDTH, BATCH = 16, 8


def measure(layers: int) -> float:
    """Give the time of the calls that are recorded, less that of as many eager ones."""
    module = ts.nn.Sequential(*[ts.nn.Linear(WIDTH, WIDTH) for _ in range(layers)])
    batch = [ts.randn(BATCH, WIDTH), ts.randint(0, WIDTH, (BATCH,))]

    def loss_of(x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
        return ts.nn.functional.cross_entropy(module(x), y)

    compile = ts.compile  # imports the compiler, which is no part of this
    optimizer = adam(ts, module.parameters())
    eager = step_of(loss_of, optimizer, batch)
    times = sorted(clock(eager) for _ in range(8))
    train = compile(train_of(loss_of, optimizer, optimizer.step))
    taken = sum(clock(partial(train, *batch)) for _ in range(RECORDED))
    if train.program is None:
        raise RuntimeError(f"not compiled after {RECORDED} calls")
    return taken - RECORDED * times[len(times) // 2]


if __name__ == "__main__":
    print(measure(int(sys.argv[1])))
