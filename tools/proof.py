"""Runs everything at full counts and prints a summary: what `make proof` does.

Each step is a command; a step that cannot run here says why and does not count as passed. Steps go
on after a failure, so that one run shows all of them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tessella import _core

ROOT = Path(__file__).resolve().parent.parent
QEMU = ROOT / "build" / "qemu"
OLD_PROCESSOR = "Nehalem"  # x86-64-v2, no AVX

Step = tuple[str, list[str], dict[str, str]]


def steps() -> list[Step]:
    """Give name, command and environment of every step."""
    python, full = sys.executable, {"TESSELLA_TEST_FULL": "1"}
    pytest = [python, "-m", "pytest", "-n", "2"]
    native = [python, "tools/native.py"]
    found: list[Step] = [("lint", ["make", "lint"], {})]
    found += [
        (f"tests, {isa}", pytest, {**full, "TESSELLA_ISA": isa}) for isa in _core.supported_isas()
    ]
    found.append(("sanitizers", ["make", "sanitize"], {}))
    found.append(("maths, every float32", [python, "tools/maths.py"], {}))
    found.append(("64-bit ARM, compiled", [*native, "cross"], {}))
    qemu = find_qemu()
    if qemu is not None:
        old = [qemu, "-cpu", OLD_PROCESSOR, python, "-m", "pytest", "-p", "no:xdist"]
        # Emulated: the tour without its clock, and the capabilities.
        chosen = [
            "tests/test_tiny.py",
            "tests/test_capabilities.py",
            "-k",
            "not seconds and not demo",
        ]
        found.append((f"{OLD_PROCESSOR}, emulated", [*old, *chosen], {}))
    return found


def find_qemu() -> str | None:
    """Give qemu-x86_64: the installed one, or Debian's, unpacked without installing it."""
    installed = shutil.which("qemu-x86_64") or shutil.which(
        "qemu-x86_64", path=str(QEMU / "usr/bin")
    )
    if installed or not shutil.which("apt-get"):
        return installed
    QEMU.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", "qemu-user"], cwd=QEMU, capture_output=True)
    for package in QEMU.glob("*.deb"):
        subprocess.run(["dpkg", "-x", str(package), str(QEMU)], capture_output=True)
    return shutil.which("qemu-x86_64", path=str(QEMU / "usr/bin"))


def main() -> int:
    """Run all steps; 1 if one failed."""
    rows = []
    for name, command, environment in steps():
        print(f"=== {name}", flush=True)
        start = time.perf_counter()
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment})
        rows.append((name, done.returncode == 0, time.perf_counter() - start))
    print("\nproof")
    for name, is_passed, seconds in rows:
        print(f"  {name:<28}{'passed' if is_passed else 'FAILED':<10}{seconds:>8.0f} s")
    if find_qemu() is None:
        print(f"  {OLD_PROCESSOR + ', emulated':<28}not run: no qemu-x86_64 (Debian: qemu-user)")
    return 0 if all(is_passed for _, is_passed, _ in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
