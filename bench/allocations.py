"""Counts the allocations that Tessella's core makes in a block of a process started for it.

`preloaded()` is the environment of such a process: allocations.cpp, compiled once into
build/bench/, stands before malloc there. Inside, `count_allocations(run)` gives the number.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

SOURCE = Path(__file__).with_name("allocations.cpp")
BUILD = SOURCE.parent.parent / "build" / "bench"
FLAGS = ("-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")


def library() -> Path:
    """The compiled counter; processes that build it at the same time do not disturb each other."""
    path = BUILD / "allocations.so"
    if path.exists() and path.stat().st_mtime >= SOURCE.stat().st_mtime:
        return path
    BUILD.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        built = f"{folder}/allocations.so"
        compiler = os.environ.get("CXX", "g++")
        subprocess.run([compiler, *FLAGS, str(SOURCE), "-o", built], check=True)
        os.replace(built, path)
    return path


def preloaded(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment whose processes can count."""
    return {**environment, "LD_PRELOAD": str(library())}


def count_allocations(run: Callable[[], object], times: int) -> int:
    """Call a function some times; give how often the core allocated."""
    counter = ctypes.CDLL(None)
    counter.allocations_begin.restype = None
    counter.allocations_end.restype = ctypes.c_long
    counter.allocations_begin()
    for _ in range(times):
        run()
    found: int = counter.allocations_end()
    return found
