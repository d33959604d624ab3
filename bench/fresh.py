"""Starts new processes: probes, which print what they measured, and pieces of Python."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from bench.libraries import environment

ROOT = Path(__file__).parents[1]
PROBES = Path(__file__).with_name("probes")


def run_python(code: str) -> str:
    """What a new interpreter prints; `-I` leaves it the installed packages only."""
    command = [sys.executable, "-I", "-c", code]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
    return done.stdout.strip()


def seconds_of(code: str) -> float:
    """The wall time of a new interpreter that runs the code."""
    start = time.perf_counter()
    run_python(code)
    return time.perf_counter() - start


def probe(name: str, *arguments: str, variables: Mapping[str, str] | None = None) -> float:
    """The number that a probe prints.

    It is run as a file, at the default setting: `python -m` would load modules before it begins.
    """
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, str(PROBES / f"{name}.py"), *arguments],
        capture_output=True,
        text=True,
        env={**environment("default"), "PYTHONPATH": paths, **(variables or {})},
    )
    if done.returncode != 0:
        raise RuntimeError(f"{name} {' '.join(arguments)}: {done.stderr[-2000:]}")
    return float(done.stdout.split()[-1])


def median_probe(times: int, name: str, *arguments: str) -> float:
    """The median of several processes."""
    return statistics.median(probe(name, *arguments) for _ in range(times))
