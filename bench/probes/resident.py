"""Prints by how many bytes resident memory grows from the import to the fifth gpt step.

The second argument says which: `after` that step, or its `peak` until then.
"""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

from bench.probes import plain
from bench.programs import transformer

FIELDS = {"after": "VmRSS", "peak": "VmHWM"}


def resident(field: str) -> int:
    """Give a figure of this process, in bytes."""
    found = re.search(rf"{field}:\s*(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) * 1024


def step_of(name: str) -> Any:
    """Import a library, and give what builds its step."""
    if name == "jax":
        jax, np = importlib.import_module("jax"), importlib.import_module("numpy")
        return lambda: transformer.jax_step(jax, np)
    library = importlib.import_module(name)
    modules = library.nn, library.optim
    if name == "torch":
        return lambda: plain.step(library, "gpt", fused=bool(modules))
    return lambda: plain.step(library, "gpt", library.compile)


if __name__ == "__main__":
    build = step_of(sys.argv[1])
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    step = build()
    for _ in range(5):
        step()
    print(resident(FIELDS[sys.argv[2]]) - before)
