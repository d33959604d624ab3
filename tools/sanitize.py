"""Runs the Python tests over a core that was built with ASan and UBSan, and shows what they find.

    sanitize.py BUILD [arguments of pytest]

BUILD is CMake's folder with the core in it. The sanitizers' libraries are loaded before Python, of
which the base interpreter is used: it sees the tools of this environment but not its editable
install, which would come before the core to be tested. pytest captures nothing (-s), because a
process that stops at a finding would take the report along.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What reads sources and objects, times itself, or counts instructions or allocations says nothing
# here; ASan keeps freed memory for a while, so that it does not go back to the system.
LEFT_OUT = ["--ignore=tests/test_structure.py", "--ignore=tests/test_documents.py",
            "--ignore=tests/test_tiny.py", "--ignore=tests/test_typing.py",
            "--ignore=tests/test_instructions.py",
            "--ignore=tests/test_compiled_allocations.py", "-k",
            "not ctrl_c and not resident and not demo_reaches and not small_part_of_a_step"
            " and not breaks_a_long_sequence"]  # fmt: skip
FINDING = re.compile(r"runtime error: |ERROR: AddressSanitizer|SUMMARY: ")


def make_package(build: Path) -> Path:
    """Give a folder with the package as it is and the core of the build."""
    package = build / "package"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "src" / "tessella", package / "tessella",
                    ignore=shutil.ignore_patterns("*.so", "__pycache__"))  # fmt: skip
    for core in build.glob("_core*.so"):
        shutil.copy(core, package / "tessella")
    return package


def library(name: str) -> str:
    """Give the path of a sanitizer's library, where the compiler has it."""
    compiler = os.environ.get("CXX", "g++")
    words = [compiler, f"-print-file-name={name}"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def environment(build: Path) -> dict[str, str]:
    """Give the variables under which Python runs on the core of the build."""
    return {
        **os.environ,
        "LD_PRELOAD": f"{library('libasan.so')} {library('libubsan.so')}",
        "ASAN_OPTIONS": "detect_leaks=0",  # Python keeps memory to its end on purpose
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": f"{make_package(build)}:{sysconfig.get_paths()['purelib']}",
    }


def main() -> int:
    """Run the tests; 1 if one failed or a sanitizer found something."""
    build = Path(sys.argv[1]).resolve()
    python: str = getattr(sys, "_base_executable", sys.executable)
    # -S: packages that the base interpreter may have are not seen.
    command = [
        python,
        "-S",
        "-m",
        "pytest",
        "-s",
        "-n",
        "2",
        "--dist",
        "worksteal",
        *LEFT_OUT,
        *sys.argv[2:],
    ]
    running = subprocess.Popen(command, cwd=ROOT, env=environment(build), stderr=subprocess.PIPE,
                               text=True, errors="replace")  # fmt: skip
    findings = []
    assert running.stderr is not None
    for line in running.stderr:
        sys.stderr.write(line)
        if FINDING.search(line):
            findings.append(line.strip())
    print("\n".join(["", *findings, f"sanitizers: {len(findings)} findings"]))
    return 1 if running.wait() or findings else 0


if __name__ == "__main__":
    sys.exit(main())
