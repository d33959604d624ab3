"""The machine's measured peaks as contenders: read, copy, multiply-add and chains, by hand.

Compiles peaks.cpp once into build/bench/ and wraps its functions as Work, so that a peak is timed
in the same rounds as what is held against it.
"""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from bench.cases import PEAK, Case, Work
from bench.libraries import Libraries, cores

SOURCE = Path(__file__).with_name("peaks.cpp")
BUILD = SOURCE.parent.parent / "build" / "bench"
FLAGS = ("-std=c++20", "-O3", "-march=native", "-ffp-contract=fast", "-Wall", "-Wextra", "-Werror")


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
    loaded.peak_fma.argtypes = (count, threads)
    loaded.peak_fma_flops.restype = count
    return loaded


def read(array: Any, threads: int | None = None) -> Work:
    """A hand-written sum of the array; the amount is bytes."""
    times = max(1, 2**24 // array.nbytes)
    names = {
        "peak_read": library().peak_read,
        "x": array.ctypes.data,
        "size": array.size,
        "times": times,
        "threads": threads or cores(),
        "keep": array,
    }
    return Work("peak_read(x, size, times, threads)", names, array.nbytes * times)


def copy(target: Any, source: Any) -> Work:
    """A copy by all threads; the amount is bytes read and written."""
    names = {
        "peak_copy": library().peak_copy,
        "y": target.ctypes.data,
        "x": source.ctypes.data,
        "size": source.size,
        "threads": cores(),
        "keep": (target, source),
    }
    return Work("peak_copy(y, x, size, 1, threads)", names, 2.0 * source.nbytes)


def chain(target: Any, source: Any, operations: int) -> Work:
    """The row `chain` by hand, in one thread; the amount is operations on elements."""
    times = 64
    names = {
        "peak_chain": library().peak_chain,
        "y": target.ctypes.data,
        "x": source.ctypes.data,
        "size": source.size,
        "operations": operations,
        "times": times,
        "keep": (target, source),
    }
    amount = float(source.size * operations * times)
    return Work("peak_chain(y, x, size, operations, times)", names, amount)


def fma(threads: int | None = None) -> Work:
    """Multiply-adds in registers only; the amount is floating-point operations."""
    threads = threads or cores()
    iterations = 2**19
    names = {
        "peak_fma": library().peak_fma,
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
