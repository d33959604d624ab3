"""Builds and runs the C++ tests and checks that need no Python.

    native.py tests BUILD [--sanitize address,undefined]   tests/cpp/*_test.cpp on a build's objects
    native.py threads       the pool's test under ThreadSanitizer
    native.py cross         the core without Python for 64-bit ARM, its C++ tests emulated

BUILD is a folder that CMake has built in: its objects without Python are linked, so that what is
tested is what is shipped. Programs are kept in build/native. The check of the vector maths is in
maths.py.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "src" / "core"
SYSTEM = CORE / "system" / "linux.cpp"
TESTS = ROOT / "tests" / "cpp"
OUT = ROOT / "build" / "native"
QEMU = ROOT / "build" / "qemu"


def cmake_words(pattern: str) -> list[str]:
    """Give the words of CMakeLists.txt that a pattern captures."""
    found = re.search(pattern, (ROOT / "CMakeLists.txt").read_text())
    assert found, f"CMakeLists.txt has no {pattern}"
    return found[1].split()


# As the kernels are compiled; what surrounds them throws.
FLAGS = ["-std=c++20", *cmake_words(r"set\(FLAGS ([^)]*)\)"),
         *cmake_words(r"APPEND KERNEL_FLAGS \$\{FLAGS\} ([^)]*)\)"),
         "-fexceptions", "-pthread", f"-I{CORE}"]  # fmt: skip
ISAS = {
    isa: cmake_words(rf"set\(FLAGS_{isa} ([^)]*)\)")
    for isa in cmake_words(r"set\(ISAS (baseline [^)]*)\)")
}
if platform.machine() != "x86_64":
    ISAS = {"baseline": []}
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
    parts = [CORE / f"{name}.cpp" for name in ("threads", "cpus", "cgroup")]
    sources = [TESTS / "threads_test.cpp", *parts, SYSTEM]
    run([compiler(), *FLAGS, "-g1", "-fsanitize=thread", *map(str, sources), "-o", str(program)])
    print(f"threads_test (TSan): {last_line(run([str(program)], TSAN_OPTIONS='halt_on_error=1'))}")


def is_older(program: Path, sources: list[Path]) -> bool:
    """Tell whether a program is missing or older than one of its sources."""
    if not program.is_file():
        return True
    return program.stat().st_mtime < max(path.stat().st_mtime for path in sources)


def build_maths() -> Path:
    """Give the program of maths_check.cpp: the vector maths of every instruction set, as shipped.

    Tests that run side by side may build it at the same time: it is moved into its place when done.
    """
    program = OUT / "maths_check"
    sources = [*TESTS.glob("maths_*"), *CORE.glob("simd/*.h"), ROOT / "CMakeLists.txt"]
    if not is_older(program, sources):
        return program
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=OUT) as folder:
        objects = []
        for isa, march in ISAS.items():
            objects.append(f"{folder}/{isa}.o")
            run([compiler(), *FLAGS, *march, f"-DTS_ISA={isa}", "-c",
                 str(TESTS / "maths_table.cpp"), "-o", objects[-1]])  # fmt: skip
        built = f"{folder}/maths_check"
        run([compiler(), *FLAGS, str(TESTS / "maths_check.cpp"), *objects, "-o", built])
        os.replace(built, program)
    return program


# --- 64-bit ARM ----------------------------------------------------------------------------------


def find_qemu(name: str) -> str | None:
    """Give an emulator: the installed one, or Debian's, unpacked without installing it."""
    unpacked = str(QEMU / "usr" / "bin")
    installed = shutil.which(name) or shutil.which(name, path=unpacked)
    if installed or not shutil.which("apt-get"):
        return installed
    QEMU.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", "qemu-user"], cwd=QEMU, capture_output=True)
    for package in QEMU.glob("*.deb"):
        subprocess.run(["dpkg", "-x", str(package), str(QEMU)], capture_output=True)
    return shutil.which(name, path=unpacked)


def build_cross(cross: str) -> list[Path]:
    """Compile the core without Python for ARM, and link every C++ test with it."""
    folder = OUT / "arm64"
    folder.mkdir(parents=True, exist_ok=True)
    apart = ("tensor", "bind", "system")
    sources = [path for path in CORE.rglob("*.cpp") if path.parent.name not in apart] + [SYSTEM]
    words = [cross, *FLAGS, "-DTS_ISA=baseline"]
    objects = {path: folder / f"{path.parent.name}-{path.stem}.o" for path in sources}
    programs = {path: folder / path.stem for path in TESTS.glob("*_test.cpp")}
    archive = folder / "core.a"
    archive.unlink(missing_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda p: run([*words, "-c", str(p), "-o", str(objects[p])]), sources))
        run(["aarch64-linux-gnu-ar", "rcs", str(archive), *map(str, objects.values())])
        list(pool.map(lambda p: run([*words, "-static", str(p), str(archive), "-o",
                                     str(programs[p])]), programs))  # fmt: skip
    return sorted(programs.values())


def run_cross() -> None:
    """Compile for 64-bit ARM and run the C++ tests emulated; exit with 1 if it cannot."""
    cross, qemu = shutil.which("aarch64-linux-gnu-g++"), find_qemu("qemu-aarch64")
    if cross is None:
        sys.exit("not run: no compiler for ARM (Debian: g++-aarch64-linux-gnu)")
    programs = build_cross(cross)
    print("the core compiles for 64-bit ARM")
    if qemu is None:
        sys.exit("not run: no qemu-aarch64 (Debian: qemu-user)")
    for program in programs:
        output = run(["env", "TESSELLA_EMULATED=1", qemu, str(program)])
        print(f"{program.stem} (ARM, emulated): {last_line(output)}")


def main() -> None:
    """Do what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=["tests", "threads", "cross"])
    parser.add_argument("build", type=Path, nargs="?", help="a folder that CMake has built in")
    parser.add_argument("--sanitize", default="", help="as for -fsanitize=")
    arguments = parser.parse_args()
    if arguments.what == "tests":
        if arguments.build is None:
            parser.error("tests needs a build folder")
        run_tests(arguments.build, arguments.sanitize)
    else:
        {"threads": run_threads, "cross": run_cross}[arguments.what]()


if __name__ == "__main__":
    main()
