"""Counts the machine instructions that the core spends on small operations, under callgrind.

    instructions.py            prints them beside the stored ones
    instructions.py --store    stores them in tests/instructions.json

Only instructions inside the core's shared object count, so that a number depends on Tessella's code
and on what compiled it, not on the interpreter or the machine. AVX2 is pinned: valgrind knows no
AVX-512. One run does all operations: os.getppid() marks where one ends and the next begins.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import installed
from tessella import _core

ROOT = Path(__file__).resolve().parent.parent
STORED = ROOT / "tests" / "instructions.json"
ROUNDS = 500

OPERATIONS = {
    "a + b": "a + b",
    "a + b, gradient recorded": "w + b",
    "x.T": "x.T",
    "x.sum()": "x.sum()",
    "ten operations and backward": "chain().backward()",
    "compiled xor step": "step(inputs, wanted)",
}
PROGRAM = """
import os
import tessella as ts
a, b, x = ts.ones(8), ts.ones(8), ts.ones(4, 4)
w = ts.ones(8, requires_grad=True)


def chain():
    w.grad = None
    y = w
    for _ in range(9):
        y = y * b
    return y.sum()


network = ts.nn.Sequential(ts.nn.Linear(2, 16), ts.nn.Tanh(), ts.nn.Linear(16, 1))
optimizer = ts.optim.Adam(network.parameters(), lr=0.01)
inputs = ts.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
wanted = ts.tensor([[0.0], [1.0], [1.0], [0.0]])


@ts.compile
def step(x, y):
    optimizer.zero_grad()
    loss = (network(x) - y).square().mean()
    loss.backward()
    optimizer.step()
    return loss.detach()
"""
# Twenty rounds before the mark fill what is filled once.
PHASE = """
for _ in range(20): {0}
os.getppid()
for _ in range({1}): {0}
os.getppid()
"""


def find_valgrind() -> str | None:
    """Give valgrind's path where it is installed."""
    return shutil.which("valgrind")


def built_with() -> str:
    """Give what the counts depend on besides the sources: the compiler and Python's headers."""
    found = re.search(rb"GCC: \([^)]*\) (\d+)", Path(_core.__file__).read_bytes())
    compiler = f"GCC {found[1].decode()}" if found else "an unknown compiler"
    return f"{compiler}, CPython {'.'.join(platform.python_version_tuple()[:2])}"


def core_instructions(profile: str) -> int:
    """Add up the instructions inside the core's shared object in callgrind's output."""
    names: dict[str, str] = {}
    total, is_core, is_call = 0, False, False
    for line in profile.splitlines():
        if line.startswith("ob="):
            number, _, name = line[3:].partition(" ")
            is_core = "_core" in names.setdefault(number, name)
        elif line.startswith("cob="):
            number, _, name = line[4:].partition(" ")
            names.setdefault(number, name)
        elif line.startswith("calls="):
            is_call = True  # the next line is the cost of what was called, which counts by itself
        elif line[:1] in "0123456789+-*" and line:
            if is_core and not is_call:
                total += int(line.split()[1])
            is_call = False
    return total


def count() -> dict[str, int]:
    """Give the instructions that each operation takes once."""
    program = PROGRAM + "".join(PHASE.format(code, ROUNDS) for code in OPERATIONS.values())
    with tempfile.TemporaryDirectory() as folder:
        environment = installed.lay_out(Path(folder))
        environment |= {"TESSELLA_ISA": "avx2", "PYTHONHASHSEED": "0"}
        command = [find_valgrind() or "valgrind", "--tool=callgrind", "--dump-before=getppid",
                   f"--callgrind-out-file={folder}/out",
                   sys.executable, "-S", "-c", program]  # fmt: skip
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        parts = [Path(f"{folder}/out.{number + 1}") for number in range(2 * len(OPERATIONS))]
        # Every first of two profiles holds what came before an operation's mark.
        totals = [core_instructions(path.read_text()) for path in parts[1::2]]
    return {name: total // ROUNDS for name, total in zip(OPERATIONS, totals, strict=True)}


def stored() -> dict[str, Any]:
    """Read the stored counts and what they were built with."""
    found: dict[str, Any] = json.loads(STORED.read_text())
    return found


def main() -> None:
    """Print the counts, or store them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--store", action="store_true", help="write tests/instructions.json")
    arguments = parser.parse_args()
    if find_valgrind() is None:
        sys.exit("needs valgrind (Debian: valgrind)")
    counts = count()
    before = stored()["counts"] if STORED.is_file() else {}
    print(f"{'instructions':<28}{'now':>8}{'stored':>8}   ({built_with()})")
    for name, number in counts.items():
        print(f"{name:<28}{number:>8}{before.get(name, '-'):>8}")
    if arguments.store:
        content = {"built with": built_with(), "counts": counts}
        STORED.write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main()
