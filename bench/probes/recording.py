"""Prints the seconds that the recorded calls of a compiled step take over as many eager ones.

For Tessella that includes importing the compiler, so nothing but Tessella is loaded before. For JAX
it is the first call of a jitted step over a later one.
"""

from __future__ import annotations

import importlib
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

RECORDED = 3


def clock(step: Callable[[], object]) -> float:
    """Give the seconds of a call."""
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def measure_tessella(name: str) -> float:
    """Give the time of the import and of the calls that are recorded, less that of eager ones."""
    ts = importlib.import_module("tessella")
    modules = ts.nn, ts.optim
    start = time.perf_counter()
    compile = ts.compile
    taken = time.perf_counter() - start
    program = importlib.import_module("bench.probes.plain")
    eager, step = program.step(ts, name), program.step(ts, name, compile)
    times = sorted(clock(eager) for _ in range(8))
    taken += sum(clock(step) for _ in range(RECORDED)) - RECORDED * times[len(times) // 2]
    if step.func.program is None or not modules:
        raise RuntimeError(f"{name} is not compiled after {RECORDED} calls")
    return float(taken)


def measure_jax(name: str) -> float:
    """Give the time of the first call, less that of a later one."""
    jax, np = importlib.import_module("jax"), importlib.import_module("numpy")
    program = importlib.import_module("bench.programs.steps").PROGRAMS[name]
    step = program.jax_step(jax, np)
    first = clock(step)
    times = sorted(clock(step) for _ in range(5))
    return float(first - times[2])


if __name__ == "__main__":
    print({"tessella": measure_tessella, "jax": measure_jax}[sys.argv[1]](sys.argv[2]))
