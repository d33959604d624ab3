"""From its fourth call on, a compiled step's core asks the C library for nothing.

Counted in a process of its own, where bench/allocations.cpp stands before malloc. memory.track() in
test_compiled_memory.py sees tensors only; this sees whatever the core allocates.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bench.allocations import preloaded

from tessella import _core
from test_compiled_memory import MODELS

TESTS = Path(__file__).parent
PROGRAM = """
import tessella as ts
from bench.allocations import count_allocations
from test_compiled_memory import MODELS, WARM, step_of
ts.rand(1000, 1000) @ ts.rand(1000, 1000)  # starts the threads, once in a process
make, shape = MODELS[{name!r}]
step, x, y = step_of(make()), ts.rand(*shape), ts.randint(0, 3, shape[:1])
for _ in range(WARM):
    step(x, y)
print(count_allocations(lambda: step(x, y), 5))
print(count_allocations(lambda: ts.ones(123457), 5))
"""


@pytest.mark.parametrize("name", MODELS)
def test_the_core_allocates_nothing_from_the_fourth_call_on(name: str) -> None:
    if platform.libc_ver()[0] != "glibc" or shutil.which(os.environ.get("CXX", "g++")) is None:
        pytest.skip("counts calls of glibc, and needs a C++ compiler")
    package = str(Path(_core.__file__).parents[1])
    paths = os.pathsep.join([package, str(TESTS), str(TESTS.parent), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(name=name)],
        capture_output=True, text=True, env=preloaded({**os.environ, "PYTHONPATH": paths}),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ours, others = map(int, done.stdout.split())
    assert others > 0, "a tensor on the heap is not counted"
    assert ours == 0, done.stderr
