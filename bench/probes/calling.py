"""Prints the nanoseconds of a call of a compiled function, whose tensors have 8 floats.

`arguments 4`: one addition, and four arguments, which it need not all use. `instructions sum 33`:
one argument, and 33 instructions of the kind in a row.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from typing import Any

import tessella as ts
from bench.cases import Work
from bench.timing import calls_per_block, compile_loop, empty_loop, time_block

ROUNDS = 21
FUNCTIONS: dict[int, Callable[..., Any]] = {
    1: lambda a: a + a,
    2: lambda a, b: a + b,
    4: lambda a, b, c, d: a + b,
}
# Elementwise instructions in a row become one step of tiles; sums stay steps of their own.
KINDS: dict[str, Callable[[Any], Any]] = {
    "add": lambda x: x + 1,
    "sum": lambda x: x.sum(axis=0, keepdims=True),
}


def chain(kind: str, count: int) -> Callable[[Any], Any]:
    """Give a function of so many instructions."""
    one = KINDS[kind]

    def run(x: Any) -> Any:
        for _ in range(count):
            x = one(x)
        return x

    return run


def nanoseconds(function: Callable[..., Any], given: list[Any]) -> float:
    """Time a function once it is compiled."""
    compiled = ts.compile(function)
    for _ in range(3):
        compiled(*given)
    names = {f"x{i}": x for i, x in enumerate(given)}
    loop = compile_loop(Work(f"f({', '.join(names)})", {"f": compiled, **names}))
    calls = calls_per_block(loop)
    times = [time_block(loop, calls) / calls for _ in range(ROUNDS)]
    return (statistics.median(times) - empty_loop()) * 1e9


if __name__ == "__main__":
    if sys.argv[1] == "arguments":
        count = int(sys.argv[2])
        print(nanoseconds(FUNCTIONS[count], [ts.ones(8) for _ in range(count)]))
    else:
        print(nanoseconds(chain(sys.argv[2], int(sys.argv[3])), [ts.ones(8)]))
