"""The machine's measured peaks as contenders: read, copy, multiply-add and chains, by hand.

Compiles peaks.cpp once into build/bench/ and wraps its functions as Work, so that a peak is timed
in the same rounds as what is held against it. A call repeats its work for 20 ms, beside which
waking threads is nothing, and the best block counts: a yardstick is what the machine can do.
"""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from bench.cases import PEAK, Case, Work
from bench.libraries import Libraries, cores

SOURCE = Path(__file__).with_name("peaks.cpp")
BUILD = SOURCE.parent.parent / "build" / "bench"
FLAGS = (
    *("-std=c++20", "-O3", "-march=native", "-ffp-contract=fast", "-fno-math-errno"),
    *("-Wall", "-Wextra", "-Werror"),
)
CALL_SECONDS = 0.02
FEWEST_ITERATIONS = 1 << 16


@cache
def library() -> ctypes.CDLL:
    """The compiled peaks; its name holds a hash of what it was made from."""
    made_from = SOURCE.read_bytes() + " ".join(FLAGS).encode()
    path = BUILD / f"peaks-{hashlib.sha256(made_from).hexdigest()[:12]}.so"
    if not path.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        command = ["g++", *FLAGS, "-shared", "-fPIC", "-pthread", str(SOURCE), "-o", str(path)]
        subprocess.run(command, check=True)
    loaded = ctypes.CDLL(str(path))
    pointer, count, threads = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int
    loaded.peak_read.argtypes = (pointer, count, count, threads)
    loaded.peak_copy.argtypes = (pointer, pointer, count, count, threads)
    loaded.peak_chain.argtypes = (pointer, pointer, count, count, count)
    loaded.peak_mixed.argtypes = (pointer, pointer, pointer, count, count, count)
    loaded.peak_fma.argtypes = (count, threads)
    loaded.peak_fma_flops.restype = count
    return loaded


def repeats(call: Callable[[int], Any]) -> int:
    """How often a call repeats its work to take CALL_SECONDS."""
    times = 1
    while True:
        start = time.perf_counter()
        call(times)
        seconds = time.perf_counter() - start
        if seconds >= CALL_SECONDS:
            return times
        times = max(2 * times, min(16 * times, round(1.2 * times * CALL_SECONDS / seconds)))


def read(array: Any, threads: int | None = None) -> Work:
    """A hand-written sum of the array; the amount is bytes."""
    threads = threads or cores()
    peak_read, x, size = library().peak_read, array.ctypes.data, array.size
    times = repeats(lambda times: peak_read(x, size, times, threads))
    names = {
        "peak_read": peak_read,
        "x": x,
        "size": size,
        "times": times,
        "threads": threads,
        "keep": array,
    }
    return Work("peak_read(x, size, times, threads)", names, float(array.nbytes * times))


def copy(target: Any, source: Any) -> Work:
    """A copy by all threads; the amount is bytes read and written."""
    peak_copy, y, x = library().peak_copy, target.ctypes.data, source.ctypes.data
    size, threads = source.size, cores()
    times = repeats(lambda times: peak_copy(y, x, size, times, threads))
    names = {
        "peak_copy": peak_copy,
        "y": y,
        "x": x,
        "size": size,
        "times": times,
        "threads": threads,
        "keep": (target, source),
    }
    return Work("peak_copy(y, x, size, times, threads)", names, 2.0 * source.nbytes * times)


def chain(target: Any, source: Any, operations: int) -> Work:
    """The row `chain` by hand, in one thread; the amount is operations on elements."""
    peak_chain, y, x = library().peak_chain, target.ctypes.data, source.ctypes.data
    size = source.size
    times = repeats(lambda times: peak_chain(y, x, size, operations, times))
    names = {
        "peak_chain": peak_chain,
        "y": y,
        "x": x,
        "size": size,
        "operations": operations,
        "times": times,
        "keep": (target, source),
    }
    amount = float(size * operations * times)
    return Work("peak_chain(y, x, size, operations, times)", names, amount)


def mixed(target: Any, x: Any, y: Any, which: int, operations: int) -> Work:
    """The mixed operations of the row `chain` by hand, in one thread; the amount as there."""
    peak_mixed, size = library().peak_mixed, x.size
    pointers = [array.ctypes.data for array in (target, x, y)]
    times = repeats(lambda times: peak_mixed(*pointers, size, which, times))
    names = {
        "peak_mixed": peak_mixed,
        "pointers": pointers,
        "size": size,
        "which": which,
        "times": times,
        "keep": (target, x, y),
    }
    amount = float(size * operations * times)
    return Work("peak_mixed(*pointers, size, which, times)", names, amount)


def fma(threads: int | None = None) -> Work:
    """Multiply-adds in registers only; the amount is floating-point operations."""
    threads = threads or cores()
    peak_fma = library().peak_fma
    iterations = repeats(lambda times: peak_fma(times * FEWEST_ITERATIONS, threads))
    iterations *= FEWEST_ITERATIONS
    names = {
        "peak_fma": peak_fma,
        "iterations": iterations,
        "threads": threads,
    }
    flops = library().peak_fma_flops() * iterations * threads
    return Work("peak_fma(iterations, threads)", names, float(flops))


def machine_cases() -> dict[str, Case]:
    """The peaks for their own sake, for the head of the report."""
    side = 4096

    def build_copy(libs: Libraries) -> dict[str, Work]:
        return {PEAK: copy(libs.aligned(side, side), libs.normal(side, side))}

    return {
        "copy": Case("copy", build_copy, unit="byte", tolerance=None),
        "read": Case(
            "read", lambda libs: {PEAK: read(libs.normal(side, side))}, unit="byte", tolerance=None
        ),
        "fma": Case("fma", lambda libs: {PEAK: fma()}, unit="flop", tolerance=None),
        "fma, one thread": Case(
            "fma, one thread", lambda libs: {PEAK: fma(1)}, unit="flop", tolerance=None
        ),
    }
