"""Writes docs/benchmarks.md from results/latest.json: how, where, what is lost, growth, every row.

The pictures of it are drawn by `plots`. Nothing is measured here.
"""

from __future__ import annotations

from bench.plots import PREFIX, pictures
from bench.report import Json, bar_text, digits, kept_columns, short_system, what_of

HEAD = """\
# Benchmarks

Made by `make bench` (all rows, at most 30 minutes) from what it measured; `make bench ROWS=gemm`
repeats some rows, and `make bench CHECK=1` fails on a missed bar. The peers are installed first,
into an environment of their own.

## How it is measured

One process for each thread setting times all contenders on the same numbers, interleaved: rounds
of A B C, B C A, …, each a block of calls, the cost of an empty loop taken off, and the medians
compared. Before that all results are held against each other: contenders that do not compute the
same are an error. A peer is timed with its default threads and with one, and the better of the
two counts; Tessella runs as it comes. `best peer` is the time of the fastest peer over
Tessella's in the same process, the two that are printed: above 1, Tessella is faster. PyTorch has
its fused optimizers, JAX its donated buffers. `of peak` is the share of what the machine can do:
bytes by a large copy or a hand-written sum, operations by multiply-adds that stay in registers; it
and `speed` are those of the process with default threads. Machines wobble: a second run moves a
figure by a tenth, at times by more, above all where other things run; the load at the beginning of
each run is told below.
"""


def machine_lines(results: Json) -> list[str]:
    """Where it was measured, and with what."""
    machine, peaks = results["machine"], results["peaks"]
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    memory = machine["memory_bytes"] / 2**30
    system = short_system(machine["system"])
    lines = [
        f"{machine['processor']}, {machine['cores']} cores, {memory:.0f} GiB, {system};",
        f"{versions}.",
    ]
    if peaks:
        lines.append(
            f"Copy {digits(peaks['copy'] / 1e9)} GB/s (read and written), read "
            f"{digits(peaks['read'] / 1e9)} GB/s, multiply-add {digits(peaks['fma'] / 1e9)} "
            f"GFLOP/s, {digits(peaks['fma, one thread'] / 1e9)} on one core."
        )
    return ["## Machine and versions", "", *lines, "", *run_lines(results), ""]


def run_lines(results: Json) -> list[str]:
    """When the rows were measured, and what the machine did besides as each run began."""
    runs: dict[tuple[str, str, float], list[str]] = {}
    for row in results["rows"]:
        run = row["run"]
        key = (run["date"], run["command"], run["load_average"])
        runs.setdefault(key, []).append(row["name"])
    most = max(runs.values(), key=len)
    return [
        "Runs, each with the mean number of processes that wanted a core in the minute before it:",
        "",
        *(
            f"- {date}, load {load:.1f}: "
            f"{f'the other {len(names)} rows' if names is most else ', '.join(names)}"
            for (date, _, load), names in sorted(runs.items())
        ),
    ]


def losses(results: Json) -> list[str]:
    """Every case in which a peer is faster, the worst first, then the bars that were missed."""
    behind = sorted(
        (case["best_peer"], f"{row['name']}, {case['name']}")
        for row in results["rows"]
        for case in row["cases"]
        if case.get("best_peer") and case["best_peer"] < 1
    )
    missed = [
        f"- {row['name']}{f', {name}' if name else ''}: {bar_text(bar)}"
        for row in results["rows"]
        for name, bars in [("", row["bars"]), *((c["name"], c["bars"]) for c in row["cases"])]
        for bar in bars
        if not bar["met"]
    ]
    lines = ["## Where it loses", ""]
    lines += [f"{len(behind)} cases in which a peer is faster (its time over Tessella's):", ""]
    lines += [f"- {digits(ratio)}: {name}" for ratio, name in behind]
    lines += ["", f"{len(missed)} bars that are missed:", "", *missed, ""]
    return lines


def cell_text(cell: str) -> str:
    """A cell that Markdown takes as it is."""
    return cell.replace("|", "\\|")


def table(row: Json) -> list[str]:
    """A row as a table of its cases, and the bars on all of them."""
    head, *lines = kept_columns(row)
    shown = [head, ["---"] * len(head), *lines]
    text = [f"### {row['name']}", "", f"{what_of(row).capitalize()}.", ""]
    text += [f"| {' | '.join(map(cell_text, line))} |" for line in shown]
    text += ["", *(f"{bar_text(bar)}." for bar in row["bars"])]
    return [*text, ""] if row["bars"] else text


def growth_lines(results: Json) -> list[str]:
    """The pictures, then the ladders."""
    lines = [
        "## Growth",
        "",
        "Time against size, both by factors.",
        "",
    ]
    for picture, rows in pictures(results).items():
        names = ", ".join(row["name"].removeprefix(PREFIX) for row in rows)
        lines += [f"![time against size: {names}](benchmarks/{picture}.svg)", ""]
    for row in results["rows"]:
        if row.get("is_ladder"):
            lines += table(row)
    return lines


def page(results: Json) -> str:
    """The whole page."""
    rows = [row for row in results["rows"] if not row.get("is_ladder")]
    tables = [line for row in rows for line in table(row)]
    parts = [HEAD, *machine_lines(results), *losses(results), "## Rows", "", *tables]
    if any(row.get("is_ladder") for row in results["rows"]):
        parts += growth_lines(results)
    return "\n".join(parts).rstrip() + "\n"
