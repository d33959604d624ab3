"""Row `import`: what importing costs over a bare interpreter, in new processes.

Uses the installed packages: `-I` keeps the working directory and the environment out of it.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from bench.cases import SUBJECT, Once, Row, at_most
from bench.fresh import run_python, seconds_of

# The slow ones need fewer rounds: their noise is small beside their time.
ROUNDS = {"bare": 15, SUBJECT: 15, "numpy": 15, "torch": 4, "jax": 4}


def seconds(module: str) -> float:
    """The wall time of a process that imports the module."""
    return seconds_of("pass" if module == "bare" else f"import {module}")


def measure() -> Iterator[Once]:
    """Interleaved; a first, unmeasured round fills the file cache and writes byte code."""
    times: dict[str, list[float]] = {module: [] for module in ROUNDS}
    for turn in range(-1, max(ROUNDS.values())):
        for module, rounds in ROUNDS.items():
            if turn < rounds:
                taken = seconds(module)
                times[module] += [taken] if turn >= 0 else []
    bare = statistics.median(times.pop("bare"))
    over = {module: statistics.median(taken) - bare for module, taken in times.items()}
    milliseconds = {module: taken * 1000 for module, taken in over.items()}
    yield Once("import, over bare Python", milliseconds, "ms", (at_most(50, "ms"),))

    loaded = run_python(f"import sys, {SUBJECT}; print(int('numpy' in sys.modules))")
    yield Once("NumPy loaded by it", {SUBJECT: float(loaded)}, "", (at_most(0, ""),))


ROW = Row("import", "importing the installed wheel", once=measure)
