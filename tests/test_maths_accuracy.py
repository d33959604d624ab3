"""The vector maths against NumPy's correctly rounded tables, for each instruction set by itself.

maths_check.cpp is compiled once for every instruction set of this machine, outside the library.
The tables hold hard arguments of float32 and float64; results must be within 2 ulp of them, and
AVX2 and AVX-512 must agree bit for bit. Every float32 value is checked by ``make proof``.
"""

import csv
import platform
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
TABLES = Path(np.__file__).parent / "_core" / "tests" / "data"
FLAGS = ["-std=c++20", "-O2", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]
ISAS = {
    "baseline": ("sse4_2", ["-march=x86-64-v2"]),
    "avx2": ("avx2", ["-march=haswell"]),
    "avx512": ("avx512bw", ["-march=skylake-avx512", "-mprefer-vector-width=512"]),
}
NAMES = {path.stem.rpartition("-")[2]: path for path in TABLES.glob("umath-validation-set-*.csv")}
FUNCTIONS = sorted(NAMES)
LARGEST_ULP = 2


def cpu_has(flag: str) -> bool:
    info = Path("/proc/cpuinfo")
    return platform.machine() == "x86_64" and info.exists() and flag in info.read_text().split()


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One maths_check for each instruction set that this machine can run."""
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    folder, built = tmp_path_factory.mktemp("maths"), {}
    for isa, (flag, march) in ISAS.items():
        if cpu_has(flag):
            built[isa] = folder / isa
            source = ROOT / "tests" / "cpp" / "maths_check.cpp"
            words = ["g++", *FLAGS, *march, f"-DTS_ISA={isa}", f"-I{ROOT / 'src' / 'core'}"]
            subprocess.run([*words, str(source), "-o", str(built[isa])], check=True)
    return built


def rows(path: Path, dtype: str) -> Iterator[tuple[int, int]]:
    for row in csv.reader(path.read_text().splitlines()):
        if row and row[0] == f"np.{dtype}":
            yield int(row[1], 16), int(row[2], 16)


def evaluate(program: Path, name: str, dtype: str, x: Any) -> Any:
    folder = program.parent
    x.tofile(folder / "x")
    short = {"float32": "f32", "float64": "f64"}[dtype]
    words = [str(program), "file", name, short, str(folder / "x"), str(folder / "out")]
    subprocess.run(words, check=True)
    return np.fromfile(folder / "out", dtype)


def ordered(values: Any, bits: str) -> Any:
    """Integers in the order of the floats, one apart for neighbours; both zeros are 0."""
    whole = values.view(bits).astype(object)
    return np.where(np.signbit(values), -(whole + 2 ** (8 * values.itemsize - 1)), whole)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_tables_within_two_ulp(programs: dict[str, Path], name: str, dtype: str) -> None:
    bits = {"float32": "uint32", "float64": "uint64"}[dtype]
    pairs = np.array(list(rows(NAMES[name], dtype)), dtype=bits)
    if not len(pairs):
        pytest.skip("the table has no rows of this dtype")
    x, want = (np.ascontiguousarray(pairs[:, i]).view(dtype) for i in (0, 1))
    signed = {"float32": "int32", "float64": "int64"}[dtype]
    results = {}
    for isa, program in programs.items():
        got = results[isa] = evaluate(program, name.replace("arc", "a"), dtype, x)
        assert np.array_equal(np.isnan(got), np.isnan(want)), isa
        valid = ~np.isnan(want)
        gap = np.abs(ordered(got[valid], signed) - ordered(want[valid], signed))
        worst = int(np.argmax(gap)) if len(gap) else 0
        assert not len(gap) or gap[worst] <= LARGEST_ULP, (isa, x[valid][worst], got[valid][worst])
    if "avx2" in results and "avx512" in results:
        np.testing.assert_array_equal(results["avx2"], results["avx512"])
