"""Holds what was measured against the bars: ratios, shares of peak, met or missed.

A ratio says how many times as long a contender takes as Tessella, both timed in one process. A peer
has a ratio for each thread setting, and the smaller counts: the peer at its better setting.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from bench.cases import PEAK, SUBJECT, Bar, Case, Once, Row
from bench.libraries import RIVALS

Json = dict[str, Any]


def ratios_of(measured: Mapping[str, Json]) -> dict[str, float]:
    """Tessella's speed over each contender's, from the results by setting."""
    found: dict[str, float] = {}
    for setting, result in measured.items():
        speeds = {name: one["amount_per_s"] for name, one in result["contenders"].items()}
        ours = speeds.pop(SUBJECT)
        for name, speed in speeds.items():
            if name == PEAK and setting != "default":
                continue  # the peak has no thread setting
            found[name] = min(found.get(name, math.inf), ours / speed)
    return found


def judge(bar: Bar, value: float | None) -> Json:
    """A bar with its value; what could not be measured is missed."""
    if value is None:
        met = False
    else:
        met = value <= bar.limit if bar.kind in ("at_most", "part_of") else value >= bar.limit
    return {"text": bar.text, "limit": bar.limit, "value": value, "met": met}


def judge_case(case: Case, measured: Mapping[str, Json]) -> Json:
    """A timed case: its measures by setting, ratios and bars."""
    errors = [result["error"] for result in measured.values() if "error" in result]
    ratios = {} if errors else ratios_of(measured)
    bars = [
        judge(bar, None if errors else min(ratios[name] for name in bar.of)) for bar in case.bars
    ]
    found: Json = {"name": case.name, "unit": case.unit, "ratios": ratios, "bars": bars}
    peers = [ratios[name] for name in RIVALS if name in ratios]
    found["best_peer"] = min(peers) if peers else None
    found["measured"] = dict(measured)
    return found | ({"error": errors[0]} if errors else {})


def value_of(bar: Bar, values: Mapping[str, float]) -> float:
    """What a bar on values that were measured once is judged by."""
    ours, theirs = values[SUBJECT], [values[name] for name in bar.of]
    if not theirs:
        return ours
    return min(theirs) / ours if bar.kind == "ahead" else ours / min(theirs)


def judge_once(once: Once) -> Json:
    """A value measured once."""
    bars = [judge(bar, value_of(bar, once.values)) for bar in once.bars]
    return {"name": once.name, "unit": once.unit, "values": dict(once.values), "bars": bars}


def geometric_mean(bar: Bar, cases: list[Json]) -> float | None:
    """Over a row's cases, of the ratio to the best contender the bar names."""
    if any("error" in case for case in cases):
        return None
    logs = [math.log(min(case["ratios"][name] for name in bar.of)) for case in cases]
    return math.exp(sum(logs) / len(logs))


def speeds_of(case: Json) -> dict[str, float]:
    """Tessella's speed at default threads, and each peer's at its better setting."""
    measured = case["measured"]
    found = {SUBJECT: float(measured["default"]["contenders"][SUBJECT]["amount_per_s"])}
    for name in RIVALS:
        races = [result["contenders"].get(name) for result in measured.values()]
        speeds = [float(race["amount_per_s"]) for race in races if race]
        if speeds:
            found[name] = max(speeds)
    return found


def kept(before: Mapping[str, float], after: Mapping[str, float]) -> float:
    """The part of its speed that Tessella keeps, or that over the fastest peer's, if larger."""
    ours = after[SUBJECT] / before[SUBJECT]
    peers = [name for name in after if name != SUBJECT and name in before]
    if not peers:
        return ours
    best = max(peers, key=after.__getitem__)
    return max(ours, ours * before[best] / after[best])


def steadiness(cases: list[Json]) -> float | None:
    """The least that is kept from a size to the next."""
    if any("error" in case for case in cases):
        return None
    return min(kept(before, after) for before, after in pairwise(map(speeds_of, cases)))


def judge_row(row: Row, cases: list[Json]) -> Json:
    """A row with its cases and the bars on all of them."""
    bars = []
    for bar in row.bars:
        if bar.kind == "steady":
            bars.append(judge(bar, steadiness(cases)))
        else:
            found = judge(bar, geometric_mean(bar, cases))
            bars.append(found | {"text": f"{found['text']}, geometric mean"})
    return {
        "name": row.name,
        "what": row.what,
        "is_ladder": row.is_ladder,
        "picture": row.picture,
        "cases": cases,
        "bars": bars,
    }


def all_bars(rows: list[Json]) -> list[Json]:
    """Every bar of the given results."""
    return [
        bar
        for row in rows
        for bar in row["bars"] + [one for case in row["cases"] for one in case["bars"]]
    ]
