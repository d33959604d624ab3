"""Runs everything at full counts and prints a summary: what `make proof` does.

    proof.py              every step
    proof.py maths lint   the steps whose names hold one of these words

Each step is a command; a step that cannot run here says why and does not count as passed. Steps go
on after a failure, so that one run shows all of them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from native import find_qemu
from tessella import _core

ROOT = Path(__file__).resolve().parent.parent
OLD_PROCESSOR = "Nehalem"  # x86-64-v2, no AVX


@dataclass
class Step:
    """A command with its environment, and why it cannot run here where it cannot."""

    name: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    missing: str = ""


def steps() -> list[Step]:
    """Give every step."""
    python = sys.executable
    pytest = [python, "-m", "pytest", "-n", "2", "--dist", "worksteal"]
    found = [Step("lint", ["make", "lint"])]
    found.append(Step("tests, full counts", pytest, {"TESSELLA_TEST_FULL": "1"}))
    # Instruction sets differ in kernels, which a sample of the cases reaches. Full counts are those
    # of the set that is chosen here.
    found += [
        Step(f"tests, {isa}", pytest, {"TESSELLA_ISA": isa})
        for isa in _core.supported_isas()
        if isa != _core.isa()
    ]
    found.append(Step("sanitizers", ["make", "sanitize"]))
    found.append(Step("maths", [python, "tools/maths.py"]))
    found.append(arm())
    found.append(old_processor(python))
    return found


def arm() -> Step:
    """Give the step that compiles for ARM and runs the C++ tests emulated."""
    has_compiler = shutil.which("aarch64-linux-gnu-g++")
    missing = "" if has_compiler else "no compiler for ARM (Debian: g++-aarch64-linux-gnu)"
    command = [sys.executable, "tools/native.py", "cross"]
    return Step("64-bit ARM, emulated", command, missing=missing)


def old_processor(python: str) -> Step:
    """Give the step that emulates a processor without AVX: the tour and the capabilities."""
    qemu = find_qemu("qemu-x86_64")
    command = [qemu or "", "-cpu", OLD_PROCESSOR, python, "-m", "pytest", "-p", "no:xdist",
               "tests/test_tiny.py", *map(str, sorted(ROOT.glob("tests/test_capabilities*.py"))),
               "-k", "not seconds and not demo"]  # fmt: skip
    missing = "" if qemu else "no qemu-x86_64 (Debian: qemu-user)"
    # NumPy's BLAS asks the processor itself, which the emulator lets through.
    environment = {"OPENBLAS_CORETYPE": OLD_PROCESSOR}
    return Step(f"{OLD_PROCESSOR}, emulated", command, environment, missing)


def run(step: Step) -> tuple[str, float]:
    """Run a step; give what to report, and how long it took."""
    if step.missing:
        return f"NOT RUN: {step.missing}", 0.0
    print(f"=== {step.name}", flush=True)
    start = time.perf_counter()
    done = subprocess.run(step.command, cwd=ROOT, env={**os.environ, **step.environment})
    return "passed" if done.returncode == 0 else "FAILED", time.perf_counter() - start


def main() -> int:
    """Run the steps; 0 if there were some and all passed."""
    words = sys.argv[1:]
    chosen = [step for step in steps() if not words or any(word in step.name for word in words)]
    rows = [(step.name, *run(step)) for step in chosen]
    print("\nproof")
    for name, outcome, seconds in rows:
        print(f"  {name:<24}{seconds:>6.0f} s   {outcome}")
    return 0 if rows and all(outcome == "passed" for _, outcome, _ in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
