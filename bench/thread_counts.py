"""Tessella at its default number of threads beside itself at every smaller number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from bench.cases import SUBJECT, Work
from bench.libraries import Libraries, cores


def smaller() -> dict[str, int]:
    """The contenders that are Tessella at a smaller number of threads than its default."""
    return {f"at {n}": n for n in range(1, cores())}


def at_counts(libs: Libraries, make: Callable[[], Work]) -> dict[str, Work]:
    """The same work for everybody, each with what it writes of its own; the default is plain."""
    counted = {
        name: replace(make(), around=partial(libs.ts.num_threads, count))
        for name, count in smaller().items()
    }
    return {SUBJECT: make(), **counted}
