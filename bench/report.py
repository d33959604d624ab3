"""What is printed: the table of a run, and the cells that the README and the page are made of.

Nothing is measured here, and losses are printed like wins.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from bench.cases import PEAK, SUBJECT
from bench.libraries import RIVALS
from bench.rows import ROWS

Json = dict[str, Any]

ROOT = Path(__file__).parents[1]
LATEST = ROOT / "bench" / "results" / "latest.json"

UNITS = {
    "flop": ("GFLOP/s", 1e9),
    "byte": ("GB/s", 1e9),
    "byte read": ("GB/s", 1e9),
    "token": ("tokens/s", 1.0),
}
# What a unit's speeds are a share of where a case has no yardstick of its own.
MACHINE_PEAKS = {"flop": "fma", "byte": "copy", "byte read": "read"}
TRUSTED_SHARE = 1.05  # more than the machine can do, and what two timings differ by
RACERS = (SUBJECT, *RIVALS)
HEAD = ("case", *RACERS, "best peer", "speed", "of peak", "bars")


def time_text(seconds: float) -> str:
    """Three digits and the unit that suits: 56.1 ns, 3.20 ms."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{digits(seconds / size)} {unit}"
    return f"{digits(seconds / 1e-9)} ns"


def digits(value: float) -> str:
    """Three significant digits without an exponent."""
    if value == 0:
        return "0"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{places}f}"


def short_system(text: str) -> str:
    """The operating system and the first two numbers of its version."""
    return re.sub(r"(\d+\.\d+)\S*", r"\1", text)


def machine_text(machine: Json) -> str:
    """The processor, what tells it from others of its name if that is known, and its cores."""
    told = ", ".join(f"{key} {machine[key]}" for key in ("family", "model") if key in machine)
    return f"{machine['processor']}{f' ({told})' if told else ''}, {machine['cores']} cores"


def what_of(row: Json) -> str:
    """What a row measures, as it is said today; a row that is gone says what it said."""
    return next((each.what for each in ROWS if each.name == row["name"]), str(row["what"]))


def bar_text(bar: Json) -> str:
    """A bar, met or missed, with the number it was judged by."""
    value = "not measured" if bar["value"] is None else digits(bar["value"])
    return f"{'met' if bar['met'] else 'MISSED'}: {bar['text']} ({value})"


def bars_text(bars: list[Json]) -> str:
    """All bars of a case or row."""
    return "; ".join(map(bar_text, bars))


def better_setting(case: Json, name: str) -> str | None:
    """The setting in which a contender does best against Tessella: that of its ratio."""
    races = [
        (contenders[SUBJECT]["amount_per_s"] / contenders[name]["amount_per_s"], setting)
        for setting, result in case["measured"].items()
        if name in (contenders := result["contenders"])
    ]
    return min(races)[1] if races else None


def printed_setting(case: Json, name: str) -> str | None:
    """A contender's better setting; for Tessella itself, the one of the best peer.

    So the ratio to the best peer is that of the two times that are printed.
    """
    if name != SUBJECT:
        return better_setting(case, name)
    rivals = [each for each in RIVALS if each in case["ratios"]]
    if not rivals:
        return "default"
    return better_setting(case, min(rivals, key=case["ratios"].__getitem__))


def better_time(case: Json, name: str) -> float | None:
    """A contender's median in the process that is printed."""
    setting = printed_setting(case, name)
    if setting is None:
        return None
    return float(case["measured"][setting]["contenders"][name]["median_s"])


def speed_text(case: Json, name: str) -> str:
    """A contender's speed in the process whose time is printed; nothing if it took no part."""
    setting = printed_setting(case, name)
    if setting is None:
        return ""
    unit, size = UNITS[case["unit"]]
    rate = case["measured"][setting]["contenders"][name]["amount_per_s"]
    return f"{digits(rate / size)} {unit}"


def timed_line(case: Json) -> list[str]:
    """The table's cells of a timed case."""
    times = [better_time(case, name) for name in RACERS]
    cells = ["" if one is None else time_text(one) for one in times]
    best = "" if case["best_peer"] is None else f"x {digits(case['best_peer'])}"
    speed = speed_text(case, SUBJECT) if case["unit"] else ""
    return [*cells, best, speed, share_text(case)]


def with_shares(results: Json) -> Json:
    """Results whose timed cases have Tessella's share of a peak: their own, or the machine's."""

    def share(case: Json) -> float | None:
        if PEAK in case["ratios"]:
            return float(case["ratios"][PEAK])
        peak = results["peaks"].get(MACHINE_PEAKS.get(case["unit"]))
        if peak is None or "error" in case:
            return None
        contenders = case["measured"]["default"]["contenders"]
        return float(contenders[SUBJECT]["amount_per_s"] / peak)

    def shared(case: Json) -> Json:
        return case | {"share": share(case)} if "measured" in case else case

    rows = [row | {"cases": list(map(shared, row["cases"]))} for row in results["rows"]]
    return results | {"rows": rows}


def share_text(case: Json) -> str:
    """A share of a peak; what is far above the case's own tells of the peak."""
    share = case["share"]
    if share is None:
        return ""
    is_doubtful = PEAK in case["ratios"] and share > TRUSTED_SHARE
    return f"{share:.0%}{', the yardstick was too slow' if is_doubtful else ''}"


def case_line(case: Json) -> list[str]:
    """The table's cells of any case."""
    if "error" in case:
        return [
            case["name"],
            f"failed: {case['error']}",
            *[""] * (len(HEAD) - 3),
            bars_text(case["bars"]),
        ]
    if "values" in case:
        values = [case["values"].get(name) for name in RACERS]
        cells = ["" if one is None else f"{digits(one)} {case['unit']}".strip() for one in values]
        return [case["name"], *cells, "", "", "", bars_text(case["bars"])]
    return [case["name"], *timed_line(case), bars_text(case["bars"])]


def kept_columns(row: Json) -> list[list[str]]:
    """The lines of a row's table, the head first, without columns that are empty."""
    lines = [list(HEAD)] + [case_line(case) for case in row["cases"]]
    keep = [i for i in range(len(HEAD)) if any(line[i] for line in lines[1:])]
    return [[line[i] for i in keep] for line in lines]


def print_row(row: Json) -> None:
    """One row as an aligned table."""
    shown = [[cell[:60] for cell in line[:-1]] + line[-1:] for line in kept_columns(row)]
    widths = [
        max(len(line[i]) for line in shown if "failed" not in line[1]) for i in range(len(shown[0]))
    ]
    print(f"\n{row['name']}: {what_of(row)}")
    for line in shown:
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        print("  " + "  ".join(cells).rstrip())
    if row["bars"]:
        print(f"  {bars_text(row['bars'])}")


def print_results(results: Json, names: list[str]) -> None:
    """The machine, the rows of this run, and the count of bars."""
    peaks = results["peaks"]
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    print(f"\n{machine_text(results['machine'])}; {versions}")
    if peaks:
        print(
            f"copy {digits(peaks['copy'] / 1e9)} GB/s (read and written), "
            f"read {digits(peaks['read'] / 1e9)} GB/s, multiply-add "
            f"{digits(peaks['fma'] / 1e9)} GFLOP/s ({digits(peaks['fma, one thread'] / 1e9)} "
            "on one core)"
        )
    print(
        "Peers that are timed at default threads and at one thread are at the better of the two; "
        "`best peer` is its time over ours."
    )
    for row in results["rows"]:
        if row["name"] in names:
            print_row(row)
