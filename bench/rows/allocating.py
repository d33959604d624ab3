"""Rows `eager-scopes` and `allocators`: what scopes cost, and what each allocator is good for.

In `eager-scopes` the statement of eager-small runs with a limit set, under track() and inside
scopes, against torch and NumPy, which have none. In `allocators` Tessella uses the allocator that
the docs recommend for a pattern, and `heap` is Tessella without it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from bench.cases import Bar, Case, Row, Work, ahead
from bench.libraries import Libraries

REPEATS = 1000

Scope = Callable[[Any], AbstractContextManager[Any]]  # made of ts.memory


# --- one small operation, inside a scope ----------------------------------------------------------


def add_often(a: Any, b: Any, scope: AbstractContextManager[Any]) -> None:
    """Add two tensors again and again."""
    with scope as used:
        for _ in range(REPEATS):
            a + b
        if hasattr(used, "reset"):
            used.reset()


SCOPES: dict[str, Scope] = {
    "no scope": lambda memory: nullcontext(),
    "a limit": lambda memory: memory.limit("4GB"),
    "track()": lambda memory: memory.track(),
    "an arena": lambda memory: memory.use(memory.Arena("1MiB")),
    "a pool": lambda memory: memory.use(memory.Pool(64, 16)),
    "a slab": lambda memory: memory.use(memory.Slab(64, 256)),
}


def build_scope(libs: Libraries, name: str) -> dict[str, Work]:
    """The same additions for everybody; only Tessella's are in the scope."""
    works = {}
    for library, x in libs.copies(libs.normal(8)).items():
        if library == "jax":
            continue
        scope = SCOPES[name](libs.ts.memory) if library == "tessella" else nullcontext()
        names = {"run": add_often, "a": x, "b": x, "scope": scope}
        works[library] = Work("run(a, b, scope)", names, REPEATS)
    return works


SCOPED = Row(
    "eager-scopes",
    "`a + b` of 8 floats, 1000 times inside scopes of memory",
    tuple(
        Case(
            name, partial(build_scope, name=name), (ahead(6, "torch"), ahead(1, "numpy")), "", None
        )
        for name in SCOPES
    ),
)


# --- patterns -------------------------------------------------------------------------------------


def fill_and_drop(empty: Any, uint8: Any, sizes: list[int], allocator: Any) -> None:
    """A batch of tensors that die together."""
    held = [empty(size, dtype=uint8) for size in sizes]
    if allocator is not None:
        allocator.reset()
    held.clear()


def come_and_go(empty: Any, uint8: Any, sizes: list[int], _: Any) -> None:
    """Tensors that replace each other in no order: the oldest places are taken at random."""
    held: list[Any] = [None] * 64
    for i, size in enumerate(sizes):
        held[size * 7 + i * 13 & 63] = empty(size, dtype=uint8)


def within_scope(body: Callable[..., None], ts: Any, sizes: list[int], allocator: Any) -> None:
    """Run a pattern in an allocator, or on the heap."""
    with nullcontext() if allocator is None else ts.memory.use(allocator):
        body(ts.empty, ts.uint8, sizes, allocator)


def drawn(choices: list[int], count: int) -> list[int]:
    """Sizes in an order that is the same every time."""
    return random.Random(1).choices(choices, k=count)


SMALL, LARGE = list(range(64, 4096, 64)), [1 << 20, 3 << 18, 5 << 18, 1 << 21]
Pattern = tuple[Callable[..., None], list[int], Callable[[Any], Any], tuple[Bar, ...]]
PATTERNS: dict[str, Pattern] = {
    "arena: 500 small tensors that die together": (
        fill_and_drop, drawn(SMALL, 500), lambda m: m.Arena("4MiB"), (ahead(0.9, "heap"),)),
    "arena: 20 tensors of 1 MB that die together": (
        fill_and_drop, drawn(LARGE, 20), lambda m: m.Arena("32MiB"), (ahead(0.9, "heap"),)),
    "pool: equal sizes that come and go": (
        come_and_go, [1024] * 500, lambda m: m.Pool(1024, 65), (ahead(0.9, "heap"),)),
    "pool: equal sizes of 64 KiB": (
        come_and_go, [1 << 16] * 500, lambda m: m.Pool(1 << 16, 65), (ahead(0.9, "heap"),)),
    "slab: a few sizes that come and go": (
        come_and_go, drawn([256, 1024, 65536], 500), lambda m: m.Slab(256, 1024, 65536),
        (ahead(0.9, "heap"),)),
    "buddy: large sizes that come and go": (
        come_and_go, drawn(LARGE, 100), lambda m: m.Buddy("256MiB", min_block="64KiB"),
        (ahead(0.9, "heap"),)),
}  # fmt: skip


def build_pattern(libs: Libraries, name: str) -> dict[str, Work]:
    """The recommended allocator against the heap, and torch's own."""
    body, sizes, make, _ = PATTERNS[name]
    works = {}
    for contender, allocator in (("tessella", make(libs.ts.memory)), ("heap", None)):
        names = {"run": within_scope, "body": body, "ts": libs.ts, "sizes": sizes, "a": allocator}
        works[contender] = Work("run(body, ts, sizes, a)", names, len(sizes))
    names = {"body": body, "torch": libs.torch, "sizes": sizes}
    works["torch"] = Work("body(torch.empty, torch.uint8, sizes, None)", names, len(sizes))
    return works


ALLOCATORS = Row(
    "allocators",
    "making and dropping tensors, without touching them, by pattern",
    tuple(
        Case(name, partial(build_pattern, name=name), bars, "", None)
        for name, (_, _, _, bars) in PATTERNS.items()
    ),
)
