"""Proves the vector maths, for each instruction set that the processor has: what `make proof` does.

    maths.py                    every float32 value (but see SPARSE), and in float64 the points of
                                maths_points.py
    maths.py exp pow            these functions only
    maths.py --share 256        one block in 256 of the float32 values: seconds in place of minutes

Errors are in units in the last place of the exact value. AVX2 and AVX-512 must agree in every bit.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import resource
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from maths_points import Array, by_mpmath, by_numpy, is_special, points
from native import TESTS, build_maths, run, supported_isas

MOST_ULP = 2.0
CHUNK = 4000  # points for one task of a process
PARTS = 4  # of a function's float32 values, for one process each
# Of functions whose reference is a series or an iteration in long double, one block in so many.
SPARSE = {"erfinv": 64, "ndtri": 64, "i0": 64, "i1": 64}
# These go through 0, where max(x, y) and the logarithm added to it cancel. To be right in
# every place there they would need exp and log to twice the precision, though half an ulp of either
# operand moves the result by more than the error. So errors count in ulp of max(x, y) / 8 there.
SHARE_OF_TOP = {"logaddexp": 1 / 8, "logaddexp2": 1 / 8}
FORMATS = {"float32": (23, -126, 128), "float64": (52, -1022, 1024)}  # digits, exponents

Worst = dict[str, float]  # by instruction set


def functions(kind: str) -> list[str]:
    """Read from the table which functions of one (UNARY) or two (BINARY) arguments there are."""
    text = (TESTS / "maths_table.h").read_text()
    block = re.search(rf"#define MATHS_{kind}\(F\)((?:.*\\\n)*.*)", text)
    assert block
    return re.findall(r"F\((\w+)\)", block[1])


def disagreement(got: dict[str, Array]) -> int:
    """Count the results in which AVX2 and AVX-512 differ; NaN equals NaN."""
    if not {"avx2", "avx512"} <= set(got):
        return 0
    first, second = got["avx2"], got["avx512"]
    same = (first.view(f"u{first.itemsize}") == second.view(f"u{first.itemsize}")) | (
        np.isnan(first) & np.isnan(second)
    )
    return int((~same).sum())


# --- points against mpmath -----------------------------------------------------------------------


def errors_in_ulp(got: Array, exact: Array, least: Array, dtype: str) -> Array:
    """Give the error of each result; infinite where NaN or the sign of a zero is wrong.

    It counts in ulp of the exact value, or of `least` where that is larger. Past the largest number
    the spacing goes on as if there were one more binade, whose first number is infinity.
    """
    digits, lowest, highest = FORMATS[dtype]
    top = np.ldexp(np.longdouble(1), highest)
    near = np.clip(exact, -top, top)
    exponent = np.frexp(np.maximum(np.abs(near), least))[1] - 1
    distance = np.abs(np.clip(got.astype(np.longdouble), -top, top) - near)
    found = np.ldexp(distance, digits - np.clip(exponent, lowest, highest - 1))
    is_wrong = np.isnan(got) ^ np.isnan(exact)
    is_wrong |= (got == 0) & (np.signbit(got) ^ np.signbit(exact)) & (np.abs(exact) >= least)
    return np.where(is_wrong, np.inf, np.where(np.isnan(got), 0, found)).astype(float)


def exact_values(name: str, operands: list[Array], pool: multiprocessing.pool.Pool) -> Array:
    """Give a function's values: mpmath's, and the C library's for special operands."""
    special = is_special(name, operands)
    plain = [x[~special] for x in operands]
    starts = range(0, len(plain[0]), CHUNK)
    tasks = [(name, [x[start : start + CHUNK] for x in plain]) for start in starts]
    values = by_numpy(name, operands).astype(np.longdouble)
    values[~special] = np.concatenate(pool.map(by_mpmath, tasks, chunksize=1))
    return values


def evaluate(program: Path, isa: str, name: str, operands: list[Array], dtype: str) -> Array:
    """Give the vector maths' results of one instruction set."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/x{place}" for place in range(len(operands))]
        for path, x in zip(paths, operands, strict=True):
            x.astype(dtype).tofile(path)
        command = "file" if len(operands) == 1 else "file2"
        short = {"float32": "f32", "float64": "f64"}[dtype]
        run([str(program), command, isa, name, short, *paths, f"{folder}/out"])
        return np.fromfile(f"{folder}/out", dtype)


def check_points(
    program: Path, name: str, dtype: str, pool: multiprocessing.pool.Pool
) -> tuple[Worst, int]:
    """Give the worst errors at a function's points, and how often AVX2 and AVX-512 differ."""
    operands = points(name, dtype)
    exact = exact_values(name, operands, pool)
    got = {isa: evaluate(program, isa, name, operands, dtype) for isa in supported_isas()}
    top = np.abs(np.maximum.reduce(operands))
    least = np.where(np.isfinite(top), top, 0) * SHARE_OF_TOP.get(name, 0.0)
    worst = {}
    for isa, results in got.items():
        found = errors_in_ulp(results, exact, least, dtype)
        place = int(np.argmax(found))
        worst[isa] = float(found[place])
        if worst[isa] > MOST_ULP:
            at = ", ".join(float(x[place]).hex() for x in operands)
            print(f"{name} {dtype} {isa}: {results[place]!r} at {at}, not {exact[place]!r}")
    return worst, disagreement(got)


# --- every float32 -------------------------------------------------------------------------------


def check_part(program: Path, name: str, part: int, parts: int) -> tuple[Worst, int]:
    """Give the worst errors in one part of all float32 values, and how often the two differ."""
    output = run([str(program), "all32", name, str(part), str(parts), *supported_isas()])
    worst = {}
    for isa, ulp, at in re.findall(r"(\w+) max_ulp (\S+) at (\S+)", output):
        worst[isa] = float(ulp)
        if worst[isa] > MOST_ULP:
            print(f"{name} float32 {isa}: {ulp} ulp at {at}")
    differences = re.search(r"differences (\d+)", output)
    assert differences
    return worst, int(differences[1])


def check_all(
    program: Path, names: list[str], share: int, pool: ThreadPoolExecutor
) -> dict[str, tuple[Worst, int]]:
    """Check every float32 value of functions of one argument, or one block in `share`."""
    jobs = [(name, part) for name in names for part in range(PARTS)]
    shares = {name: PARTS * share * SPARSE.get(name, 1) for name in names}
    found = pool.map(lambda job: check_part(program, job[0], job[1], shares[job[0]]), jobs)
    total: dict[str, tuple[Worst, int]] = {}
    for (name, _), (worst, differences) in zip(jobs, found, strict=True):
        before, count = total.get(name, ({}, 0))
        joined = {isa: max(ulp, before.get(isa, 0.0)) for isa, ulp in worst.items()}
        total[name] = joined, count + differences
    return total


# --- the whole -----------------------------------------------------------------------------------


def main() -> int:
    """Check all functions, or those named; 1 if one is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", help="functions; all where none is named")
    parser.add_argument("--share", type=int, default=1, help="one float32 block in so many")
    arguments = parser.parse_args()
    unary, binary = (
        [name for name in functions(kind) if not arguments.names or name in arguments.names]
        for kind in ("UNARY", "BINARY")
    )
    program, isas = build_maths(), supported_isas()
    start = time.perf_counter()
    with multiprocessing.Pool() as processes:
        cases = [(name, "float64") for name in unary + binary] + [(n, "float32") for n in binary]
        rows = {case: check_points(program, *case, processes) for case in cases}
    print(f"points: {time.perf_counter() - start:.0f} s", flush=True)
    start = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for name, row in check_all(program, unary, arguments.share, threads).items():
            rows[name, "float32"] = row
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    print(f"every float32: {time.perf_counter() - start:.0f} s, processors {used:.0f} s in all")
    return report(rows, isas)


def report(rows: dict[tuple[str, str], tuple[Worst, int]], isas: list[str]) -> int:
    """Print the table of worst errors; 1 if one is too large or AVX2 and AVX-512 differ."""
    print(f"{'worst error in ulp':<20}" + "".join(f"{isa:>10}" for isa in isas))
    is_right = True
    for (name, dtype), (worst, differences) in sorted(rows.items()):
        line = f"{name:<11}{dtype:<9}" + "".join(f"{worst[isa]:>10.3f}" for isa in isas)
        is_close = max(worst.values()) <= MOST_ULP
        is_right &= is_close and differences == 0
        if not is_close:
            line += "  TOO MUCH"
        if differences:
            line += f"  AVX2 and AVX-512 differ in {differences}"
        print(line)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
