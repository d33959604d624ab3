"""Rows `compile-time` and `call`: what compiling costs, and what a compiled call does."""

from __future__ import annotations

from collections.abc import Iterator

from bench.cases import SUBJECT, Once, Row, at_most
from bench.fresh import median_probe

COMPILE_MILLISECONDS = {"digits": 10, "gpt": 150}


def measure_compile_time() -> Iterator[Once]:
    """Medians over processes; JAX takes seconds, and needs fewer."""
    for name, limit in COMPILE_MILLISECONDS.items():
        values = {
            SUBJECT: median_probe(9, "recording", SUBJECT, name) * 1000,
            "jax": median_probe(2, "recording", "jax", name) * 1000,
        }
        yield Once(name, values, "ms", (at_most(limit, "ms"),))


COMPILE_TIME = Row(
    "compile-time",
    "the recorded calls over as many eager ones, with the compiler's import",
    once=measure_compile_time,
)


FEW, MANY = 1, 33  # instructions


def measure_calls() -> Iterator[Once]:
    """A call by its arguments, then what a further instruction adds."""
    for count in (1, 2, 4):
        value = median_probe(3, "calling", "arguments", str(count))
        yield Once(
            f"arguments: {count}", {SUBJECT: value}, "ns", (at_most(1000 + 50 * count, "ns"),)
        )
    for kind in ("add", "sum"):
        few, many = (
            median_probe(3, "calling", "instructions", kind, str(count)) for count in (FEW, MANY)
        )
        value = (many - few) / (MANY - FEW)
        yield Once(f"each further {kind}", {SUBJECT: value}, "ns", (at_most(30, "ns"),))


CALL = Row("call", "a compiled function of one operation on 8 floats", once=measure_calls)
