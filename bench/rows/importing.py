"""Row `import`: what importing costs over a bare interpreter, in new processes.

Uses the installed packages: `-I` keeps the working directory and the environment out of it.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from bench.cases import SUBJECT, Once, Row, at_most

# The slow ones need fewer rounds: their noise is small beside their time.
ROUNDS = {"bare": 15, SUBJECT: 15, "numpy": 15, "torch": 4, "jax": 4}


def run_python(code: str) -> str:
    """What a new interpreter prints."""
    command = [sys.executable, "-I", "-c", code]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
    return done.stdout.strip()


def seconds(module: str) -> float:
    """The wall time of a process that imports the module."""
    start = time.perf_counter()
    run_python("pass" if module == "bare" else f"import {module}")
    return time.perf_counter() - start


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
