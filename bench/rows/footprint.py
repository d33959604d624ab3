"""Rows `memory` and `allocations`: what compiled steps take from the system."""

from __future__ import annotations

from collections.abc import Iterator

from bench.allocations import preloaded
from bench.cases import SUBJECT, Once, Row, at_most, part_of
from bench.fresh import median_probe, probe
from bench.programs.steps import PROGRAMS


def measure_memory() -> Iterator[Once]:
    """What is resident after the fifth step, and the most until then."""
    for which, text in (("after", "after the fifth step"), ("peak", "at the most until then")):
        values = {
            name: median_probe(3, "resident", name, which) / 1e6
            for name in (SUBJECT, "torch", "jax")
        }
        yield Once(text, values, "MB", (part_of(0.7, "torch"),))


MEMORY = Row(
    "memory",
    "growth of resident memory from the import to the fifth gpt step, compiled",
    once=measure_memory,
)


def measure_allocations() -> Iterator[Once]:
    """The calls of malloc and its kin by the core in five calls of each step."""
    for name in PROGRAMS:
        count = probe("allocating", name, variables=preloaded({}))
        yield Once(name, {SUBJECT: count}, "", (at_most(0, ""),))


ALLOCATIONS = Row(
    "allocations",
    "allocations by the core in calls four to eight of compiled steps",
    once=measure_allocations,
)
