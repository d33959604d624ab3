"""Prints the most bytes that a compiled gpt step of so many texts holds, the model's included."""

from __future__ import annotations

import sys

import tessella as ts
from bench.programs import transformer
from bench.programs.stepping import adam, step_of

CALLS = 5


def measure(texts: int) -> int:
    """Give the peak of the account from before the model is made."""
    functional, letters = ts.nn.functional, transformer.LETTERS
    with ts.memory.track() as found:
        module = transformer.network(ts)
        x = ts.randint(0, letters, (texts, transformer.CONTEXT))
        y = ts.randint(0, letters, (texts * transformer.CONTEXT,))

        def loss_of(x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
            return functional.cross_entropy(module(x), y)

        step = step_of(loss_of, adam(ts, module.parameters(), "AdamW"), [x, y], ts.compile)
        for _ in range(CALLS):
            step()
    return found.peak


if __name__ == "__main__":
    print(measure(int(sys.argv[1])))
