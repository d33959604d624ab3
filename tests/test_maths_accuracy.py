"""The vector maths against NumPy's correctly rounded tables, for each instruction set by itself.

maths_check.cpp holds every instruction set, outside the library. The tables hold hard arguments of
float32 and float64; results must be within 2 ulp of them, and AVX2 and AVX-512 must agree bit for
bit. Of the float32 values a sample is checked here, all of them by ``make proof`` (tools/maths.py).
"""

import csv
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maths
import native
from conftest import SEED

TABLES = Path(np.__file__).parent / "_core" / "tests" / "data"
NAMES = {path.stem.rpartition("-")[2]: path for path in TABLES.glob("umath-validation-set-*.csv")}
FUNCTIONS = sorted(NAMES)
assert FUNCTIONS, TABLES


@pytest.fixture(scope="module")
def program() -> Path:
    """Give the program that holds every instruction set."""
    if shutil.which(native.compiler()) is None:
        pytest.skip("needs a C++ compiler")
    return native.build_maths()


def rows(path: Path, dtype: str) -> Iterator[tuple[int, int]]:
    for row in csv.reader(path.read_text().splitlines()):
        if row and row[0] == f"np.{dtype}":
            yield int(row[1], 16), int(row[2], 16)


def ordered(values: Any, bits: str) -> Any:
    """Integers in the order of the floats, one apart for neighbours; both zeros are 0."""
    whole = values.view(bits).astype(object)
    return np.where(np.signbit(values), -(whole + 2 ** (8 * values.itemsize - 1)), whole)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_tables_within_two_ulp(program: Path, name: str, dtype: str) -> None:
    bits = {"float32": "uint32", "float64": "uint64"}[dtype]
    pairs = np.array(list(rows(NAMES[name], dtype)), dtype=bits)
    assert len(pairs) > 0
    x, want = (np.ascontiguousarray(pairs[:, i]).view(dtype) for i in (0, 1))
    signed = {"float32": "int32", "float64": "int64"}[dtype]
    results = {}
    for isa in native.supported_isas():
        got = results[isa] = maths.evaluate(program, isa, name.replace("arc", "a"), [x], dtype)
        assert np.array_equal(np.isnan(got), np.isnan(want)), isa
        valid = ~np.isnan(want)
        gap = np.abs(ordered(got[valid], signed) - ordered(want[valid], signed))
        worst = int(np.argmax(gap)) if len(gap) else 0
        assert not len(gap) or gap[worst] <= maths.MOST_ULP, (
            isa,
            x[valid][worst],
            got[valid][worst],
        )
    if "avx2" in results and "avx512" in results:
        np.testing.assert_array_equal(results["avx2"], results["avx512"])


@pytest.mark.parametrize("name", maths.functions("UNARY"))
def test_a_sample_of_all_floats_within_two_ulp(program: Path, name: str) -> None:
    worst, differences = maths.check_part(program, name, SEED % 2048, 2048)
    assert max(worst.values()) <= maths.MOST_ULP and set(worst) == set(native.supported_isas())
    assert differences == 0


def test_the_check_sees_an_error() -> None:
    """A wrong place, a lost NaN, a lost sign and an overflow that should be none."""
    exact = np.array([1.0, np.nan, -0.0, 1.7e308, np.inf, 5e-324], np.longdouble)
    got = np.array([1 + 3 * 2.0**-52, 1.0, 0.0, np.inf, np.inf, 1e-323])
    found = maths.errors_in_ulp(got, exact, np.zeros(6), "float64")
    assert found[[0, 4, 5]].tolist() == [3.0, 0.0, 1.0]
    assert np.isinf(found[[1, 2]]).all() and found[3] > 1e10
