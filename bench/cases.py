"""The nouns of the harness: Work (one contender's statement), Case, Once, Bar and Row.

They only describe. `timing` runs a Case, `verdict` holds the numbers against the bars, `report`
prints them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from bench.libraries import SETTINGS, Libraries

SUBJECT = "tessella"
PEAK = "peak"
ONCE = SETTINGS[:1]


@dataclass(frozen=True)
class Work:
    """An expression to time, and the names it uses, which become local variables of the loop.

    `amount` is how much one run of it does, in the unit of its Case: speeds are compared as
    amount per second, so a contender may do the same work several times. `around` gives what a
    block of runs is inside of, such as a number of threads; entering it is not timed. `compared` is
    what is held against the other contenders' where that is not the statement's value: an
    expression of the names and of `value`, evaluated once, after the statement.
    """

    statement: str
    names: Mapping[str, Any]
    amount: float = 1.0
    around: Callable[[], AbstractContextManager[Any]] = nullcontext
    compared: str = ""


@dataclass(frozen=True)
class Bar:
    """What must hold.

    `ahead`: Tessella's speed over that of each contender in `of` is at least `limit`.
    `at_most`: Tessella's value is at most `limit`.
    `part_of`: Tessella's value over that of each contender in `of` is at most `limit`.
    `steady`: at every size Tessella keeps at least `limit` of its speed at the size before, or of
    what the fastest peer keeps of its own.
    A bar of a Row is judged on all of its cases: the first two on their geometric mean.
    """

    kind: str
    limit: float
    of: tuple[str, ...] = ()
    text: str = ""


def named(of: tuple[str, ...]) -> str:
    """How a bar calls the contenders it is held against."""
    return " and ".join(of) if len(of) < 3 else "the best peer"


def ahead(limit: float, *of: str) -> Bar:
    """Each contender in `of` takes at least `limit` times as long as Tessella."""
    if limit == 1:
        return Bar("ahead", limit, of, f"ahead of {named(of)}")
    if limit < 1:
        return Bar("ahead", limit, of, f"≥ {limit:g} of {named(of)}")
    return Bar("ahead", limit, of, f"ahead of {named(of)} by {limit:g}")


def within(limit: float, *of: str) -> Bar:
    """Tessella takes at most `limit` times as long as each contender in `of`."""
    return Bar("ahead", 1 / limit, of, f"within {limit:g} of {' and '.join(of)}'s time")


def at_most(limit: float, unit: str) -> Bar:
    """Tessella's value is at most `limit`."""
    return Bar("at_most", limit, (), f"≤ {limit:g} {unit}".rstrip())


def steady(limit: float) -> Bar:
    """The cases of a row are sizes, and none is slower than this part of the one before.

    Work that leaves a cache falls for everybody: then what the fastest peer keeps is what is asked.
    """
    text = f"keeps ≥ {limit:g} of its speed at the size before, or of what the best peer keeps"
    return Bar("steady", limit, (), text)


def part_of(limit: float, *of: str) -> Bar:
    """Tessella's value is at most this part of each contender's in `of`."""
    return Bar("part_of", limit, of, f"≤ {limit:g} of {' and '.join(of)}'s")


@dataclass(frozen=True)
class Case:
    """One comparison, timed in every thread setting.

    `build` makes each contender's Work when its turn comes, so that only one case's data lives at
    a time. `tolerance` is how far results may be apart, relative to the largest; None for cases
    that cannot be compared, for a reason that `page` gives. A busy case is timed beside a process
    that keeps one core busy. `settings` are the thread settings it is timed in: one where no
    contender minds them.
    """

    name: str
    build: Callable[[Libraries], dict[str, Work]]
    bars: tuple[Bar, ...] = ()
    unit: str = ""
    tolerance: float | None = 1e-4
    is_busy: bool = False
    settings: tuple[str, ...] = SETTINGS


@dataclass(frozen=True)
class Once:
    """A value that does not depend on threads: measured once, by the row itself; less is better."""

    name: str
    values: Mapping[str, float]
    unit: str
    bars: tuple[Bar, ...] = ()


@dataclass(frozen=True)
class Row:
    """A named group of cases. A row has either timed `cases` or a `once` that measures itself.

    The cases of a ladder are one work at growing sizes, whose times are drawn in a picture.
    """

    name: str
    what: str
    cases: tuple[Case, ...] = ()
    once: Callable[[], Iterable[Once]] | None = None
    bars: tuple[Bar, ...] = field(default=())
    is_ladder: bool = False
    picture: str = ""
