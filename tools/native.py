"""Builds and runs the C++ tests and checks that need no Python.

    native.py tests BUILD [--sanitize address,undefined]   tests/cpp/*_test.cpp on a build's objects
    native.py threads       the pool's test under ThreadSanitizer
    native.py maths         every float32 and many doubles, for each instruction set; takes long
    native.py cross         the kernels for 64-bit ARM, compiled only

BUILD is a folder that CMake has built in: its objects without Python are linked, so that what is
tested is what is shipped. Programs are kept in build/native.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "src" / "core"
TESTS = ROOT / "tests" / "cpp"
OUT = ROOT / "build" / "native"

FLAGS = ["-std=c++20", "-O3", "-Wall", "-Wextra", "-Werror", "-fno-math-errno", "-ffp-contract=off",
         "-fno-trapping-math", "-Wno-unused-function", "-pthread", f"-I{CORE}"]  # fmt: skip
ISAS = {
    "baseline": ["-march=x86-64-v2"],
    "avx2": ["-march=haswell"],
    "avx512": ["-march=skylake-avx512", "-mprefer-vector-width=512"],
}
MOST_ULP = 2.0
POINTS = 200_000  # doubles for each function
# Parts that contain Python.
WITH_PYTHON = ("/tensor/", "/bind/", "nanobind")


def run(command: list[str], **environment: str) -> str:
    """Run a command and give what it prints; leave with its output if it fails."""
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}
    )
    if done.returncode != 0:
        output = f"{done.stdout[-4000:]}{done.stderr[-8000:]}"
        sys.exit(f"FAILED with {done.returncode}: {' '.join(command[-4:])}\n{output}")
    return done.stdout


def compiler() -> str:
    """Give the C++ compiler."""
    return os.environ.get("CXX", "g++")


def sanitizing(names: str) -> list[str]:
    """Give the flags for sanitizers; a finding ends the program."""
    if not names:
        return []
    return [
        f"-fsanitize={names}",
        "-fno-sanitize-recover=undefined",
        "-fno-omit-frame-pointer",
        "-g1",
    ]


def objects_of(build: Path) -> list[str]:
    """Give the objects of a build that need no Python."""
    found = [str(path) for path in build.glob("CMakeFiles/*.dir/src/**/*.o")]
    return sorted(path for path in found if not any(part in path for part in WITH_PYTHON))


def run_tests(build: Path, sanitizers: str) -> None:
    """Build every test against the objects of a build, and run it on each instruction set."""
    OUT.mkdir(parents=True, exist_ok=True)
    archive = OUT / f"core-{build.name}.a"
    archive.unlink(missing_ok=True)
    # An archive: a test may bring its own version of a part, which then takes precedence.
    run(["ar", "rcs", str(archive), *objects_of(build)])
    for source in sorted(TESTS.glob("*_test.cpp")):
        program = OUT / f"{source.stem}-{build.name}"
        run([compiler(), *FLAGS, *sanitizing(sanitizers), str(source), str(archive), "-ldl",
             "-o", str(program)])  # fmt: skip
        for isa in supported_isas():
            print(f"{source.stem} ({isa}): {last_line(run([str(program)], TESSELLA_ISA=isa))}")


def last_line(text: str) -> str:
    """Give the last line of an output, or `passed` where there is none."""
    return (text.strip().splitlines() or ["passed"])[-1]


def supported_isas() -> list[str]:
    """Give the instruction sets that this processor can run."""
    info = Path("/proc/cpuinfo")
    flags = set(info.read_text().split()) if info.is_file() else set()
    needed = {
        "baseline": set(),
        "avx2": {"avx2", "fma", "f16c"},
        "avx512": {"avx512bw", "avx512vl"},
    }
    return [isa for isa in ISAS if needed[isa] <= flags]


def run_threads() -> None:
    """Run the pool's test under ThreadSanitizer."""
    OUT.mkdir(parents=True, exist_ok=True)
    program = OUT / "threads_test-tsan"
    sources = [TESTS / "threads_test.cpp", CORE / "threads.cpp", CORE / "cpus.cpp"]
    run([compiler(), *FLAGS, "-g1", "-fsanitize=thread", *map(str, sources), "-o", str(program)])
    print(f"threads_test (TSan): {last_line(run([str(program)], TSAN_OPTIONS='halt_on_error=1'))}")


# --- maths ---------------------------------------------------------------------------------------


def functions(kind: str) -> list[str]:
    """Read from the check which functions of one (UNARY) or two (BINARY) arguments it knows."""
    text = (TESTS / "maths_check.cpp").read_text()
    block = re.search(rf"#define {kind}\(F\)((?:.*\\\n)*.*)", text)
    assert block
    return re.findall(r"F\((\w+)\)", block[1])


def write_points(path: Path, seed: int) -> str:
    """Write doubles: moderate ones, any bits, range ends, multiples of pi / 2."""
    generator = random.Random(seed)
    ends = (0.0, 0.5, 1.0, 1.5, 20.0, 27.3, math.log(sys.float_info.max), 745.2, 1024.0, 1075.0)
    points = []
    for place in range(POINTS):
        if place % 4 == 0:
            x = generator.uniform(-20, 20)
        elif place % 4 == 1:
            x = struct.unpack("d", generator.randbytes(8))[0]
        else:
            x = (
                generator.choice(ends)
                if place % 4 == 2
                else generator.randrange(9999) * math.pi / 2
            )
            x = math.copysign(
                x + generator.randrange(-50, 50) * math.ulp(x), generator.random() - 0.5
            )
        points.append(x)
    path.write_bytes(struct.pack(f"{POINTS}d", *points))
    return str(path)


def maths_jobs(isa: str) -> Iterator[tuple[str, list[str]]]:
    """Give the commands: every float32 value, in parts, and the points in float64."""
    parts = os.cpu_count() or 1
    program = OUT / f"maths_check-{isa}"
    run([compiler(), *FLAGS, *ISAS[isa], f"-DTS_ISA={isa}", str(TESTS / "maths_check.cpp"),
         "-o", str(program)])  # fmt: skip
    x, y = write_points(OUT / "x.bin", 1), write_points(OUT / "y.bin", 2)
    for function in functions("UNARY"):
        yield f"{function} float64", [str(program), "points64", function, x]
        for part in range(parts):
            yield f"{function} float32", [str(program), "all32", function, str(part), str(parts)]
    for function in functions("BINARY"):
        yield f"{function} float64", [str(program), "points64", function, x, y]


def worst_ulp(output: str) -> float:
    """Read the largest error from the check's output; infinite where a value is plainly wrong."""
    found = re.search(r"max_ulp (\S+) .*wrong (\d+)", output)
    assert found, output
    return math.inf if int(found[2]) else float(found[1])


def run_maths() -> None:
    """Check every float32 value and many doubles of every function, for each instruction set."""
    OUT.mkdir(parents=True, exist_ok=True)
    is_right = True
    for isa in supported_isas():
        jobs = list(maths_jobs(isa))
        with ThreadPoolExecutor() as pool:
            outputs = list(pool.map(lambda job: run(job[1]), jobs))
        worst: dict[str, float] = {}
        for (function, _), output in zip(jobs, outputs, strict=True):
            worst[function] = max(worst.get(function, 0.0), worst_ulp(output))
        for function, ulp in worst.items():
            is_right &= ulp <= MOST_ULP
            print(f"{function} ({isa}): {ulp:.3f} ulp{'' if ulp <= MOST_ULP else '  TOO MUCH'}")
    if not is_right:
        sys.exit(f"FAILED: an error above {MOST_ULP} ulp")


def run_cross() -> None:
    """Compile the kernels for 64-bit ARM, where its compiler is installed."""
    cross = shutil.which("aarch64-linux-gnu-g++")
    if cross is None:
        print("no compiler for ARM (Debian: g++-aarch64-linux-gnu)")
        return
    for source in sorted((CORE / "kernels").glob("*.cpp")):
        run([cross, *FLAGS, "-DTS_ISA=baseline", "-fsyntax-only", str(source)])
    print("kernels compile for 64-bit ARM")


def main() -> None:
    """Do what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=["tests", "threads", "maths", "cross"])
    parser.add_argument("build", type=Path, nargs="?", help="a folder that CMake has built in")
    parser.add_argument("--sanitize", default="", help="as for -fsanitize=")
    arguments = parser.parse_args()
    if arguments.what == "tests":
        if arguments.build is None:
            parser.error("tests needs a build folder")
        run_tests(arguments.build, arguments.sanitize)
    else:
        {"threads": run_threads, "maths": run_maths, "cross": run_cross}[arguments.what]()


if __name__ == "__main__":
    main()
