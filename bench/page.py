"""Writes docs/benchmarks.md from results/latest.json: how, where, what is lost, growth, every row.

The pictures of it are drawn by `plots`. Nothing is measured here.
"""

from __future__ import annotations

import math
import re

from bench.aims import judged_aims
from bench.libraries import RIVALS
from bench.plots import PREFIX, pictures
from bench.report import (
    Json,
    bar_text,
    case_line,
    digits,
    kept_columns,
    machine_text,
    short_system,
    what_of,
)
from bench.rows import ROWS

HEAD = """\
# Benchmarks

Made by `make bench` (all rows, at most 30 minutes) from what it measured; `make bench ROWS=gemm`
repeats some rows, and `make bench CHECK=1` fails on a missed bar. The peers are installed first,
into an environment of their own.

## How it is measured

One process for each thread setting times all contenders on the same numbers, interleaved: rounds
of A B C, B C A, …, each a block of calls, the cost of an empty loop taken off, and the medians
compared. Before that their results are held against each other, but for those named below:
contenders that do not compute the same are an error. A peer is timed with its default threads and
with one, and the better of the two counts; Tessella runs as it comes. The peers of `import`,
`memory`, `cold` and `compile-time`, which are measured in new processes, have their default only;
in `decode` and `prompt` both have the same number of threads. `best peer` is the time of the
fastest peer over Tessella's in the same process, the two that are printed: above 1, Tessella is
faster. PyTorch has its fused optimizers, JAX its donated buffers. `of peak` is the share of what
the machine can do: bytes by a large copy or a hand-written sum, operations by multiply-adds of
float32 that stay in registers, by as many threads as there are cores, each on its own, in the best
of its blocks. It is that of the process with default threads, and `speed` that of the time beside
it. Some cases are timed beside a yardstick of their own, others are held against the machine's: of
that, what stays in a cache may reach more than all. `rows` and `layers` count no bytes. Machines
wobble: a second run moves a figure by a tenth, at times by more, above all where other things run;
the load at the beginning of each run is told below.
"""

# The rows with cases that have no tolerance, and why.
UNCOMPARED = {
    "threads": "Tessella stands beside itself, each time with numbers of its own",
    "eager-scopes": "its sums are those of `eager-small`",
    "allocators": "nothing is computed",
    "layers": "dropout alone, whose numbers are random",
    "index": "`set rows` alone: some rows are set twice, in no given order",
    "decode": "compared by the logits, since a near tie may be decided either way",
    "prompt": "compared as `decode` is",
    "growth-dropout": "its numbers are random",
}

FAVOURS = """\
## What favours whom

llama.cpp is the wheel that pip installs, built for AVX2; one built for this processor may be
faster. Products of bfloat16 have no bar beside torch, which takes the processor's dot products of
bfloat16 pairs: those take subnormal numbers for zero, and are not to be had with AVX2, whose bits
Tessella's are to equal; their times are in the table, and among what is lost. torch multiplies by
MKL, which is made for Intel's processors, NumPy by OpenBLAS. Tessella keeps the blocks it frees and
writes into results that were dropped, where a peer may ask the system for fresh pages in each call:
that is part of eager operations over large arrays, not of products into a given output. JAX draws
dropout's numbers by its default generator; others that it offers are not measured. Operations in
`rows` and `layers` are Tessella's eager ones, torch's eager and compiled, and JAX's compiled; the
rows `cold` and `busy` and the ladders of growth have no torch.compile: its compiler would take
minutes more.
"""


def uncompared_lines() -> list[str]:
    """The rows whose results are not held against each other."""
    once = ", ".join(f"`{row.name}`" for row in ROWS if row.once)
    return [
        "Whose results are not held against each other:",
        "",
        *(f"- `{name}`: {reason}" for name, reason in UNCOMPARED.items()),
        f"- {once}: measured in processes of their own, or of Tessella alone",
        "",
    ]


def machine_lines(results: Json) -> list[str]:
    """Where it was measured, and with what."""
    machine, peaks = results["machine"], results["peaks"]
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    memory = machine["memory_bytes"] / 2**30
    system = short_system(machine["system"])
    lines = [
        f"{machine_text(machine)}, {memory:.0f} GiB, {system};",
        f"{versions}.",
    ]
    if peaks:
        lines.append(
            f"Copy {digits(peaks['copy'] / 1e9)} GB/s (read and written), read "
            f"{digits(peaks['read'] / 1e9)} GB/s, multiply-add {digits(peaks['fma'] / 1e9)} "
            f"GFLOP/s, {digits(peaks['fma, one thread'] / 1e9)} on one core."
        )
    return ["## Machine and versions", "", *lines, "", *run_lines(results), ""]


def run_text(run: Json) -> str:
    """A run in a few words, as far as it is known."""
    minutes = f"{run['seconds'] / 60:.0f} minutes" if run.get("seconds") else ""
    commit = f"commit {run['commit']}" if run.get("commit") else ""
    told = (run["date"], commit, f"load {run['load_average']:.1f}", minutes, f"`{run['command']}`")
    return ", ".join(filter(None, told))


def rows_text(text: str, names: list[str]) -> str:
    """The rows of a run, unless its command names just these."""
    asked = re.search(r"--rows ([\w,-]+)", text)
    return "its rows" if asked and set(asked[1].split(",")) == set(names) else ", ".join(names)


def run_lines(results: Json) -> list[str]:
    """When and how the rows were measured, and what the machine did besides before."""
    runs: dict[str, list[str]] = {}
    for row in results["rows"]:
        runs.setdefault(run_text(row["run"]), []).append(row["name"])
    most = max(runs.values(), key=len)
    others = f"{'all' if len(runs) == 1 else 'the other'} {len(most)} rows"
    return [
        "Runs, each with the commit that was measured (`-dirty` where files differed from it), the",
        "mean number of processes that wanted a core in the minute before it, how long it took,",
        "and its command, as far as these are known:",
        "",
        *(
            f"- {text}: {others if names is most else rows_text(text, names)}"
            for text, names in sorted(runs.items())
        ),
    ]


def favour_lines(results: Json) -> list[str]:
    """What the comparison leaves to one side or the other, and what is not among its peers."""
    slower = [
        1 / case["ratios"]["list"]
        for row in results["rows"]
        if row["name"] == "append"
        for case in row["cases"]
        if "list" in case.get("ratios", {})
    ]
    lines = [FAVOURS]
    if slower:
        lines += [
            "Not counted as peers: Python's own list and array. Appending to a DynamicArray",
            f"takes {digits(min(slower))} to {digits(max(slower))} times as long as to a list, "
            "which keeps a pointer and converts nothing.",
            "",
        ]
    return lines


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


def aim_lines(results: Json) -> list[str]:
    """How many aims are met, and those that are not, by row."""
    aims = list(judged_aims(results))
    open_ones: dict[str, list[str]] = {}
    for aim in aims:
        if not aim["met"]:
            value = "not measured" if aim["value"] is None else digits(aim["value"])
            texts = open_ones.setdefault(f"{aim['row']}, {aim['text']}", [])
            texts.append(f"{aim['case']} ({value})")
    met = sum(aim["met"] for aim in aims)
    return [
        "## What it aims for",
        "",
        f"Beyond the bars there are aims, by which no run fails: {met} of {len(aims)} are met, and",
        "these are not yet:",
        "",
        *(f"- {aim}: {'; '.join(texts)}" for aim, texts in open_ones.items()),
        "",
    ]


def ratio_summary(row: Json) -> str:
    """A timed row in a few words: the geometric mean and the range over its cases."""
    found = [(case["best_peer"], case["name"]) for case in row["cases"] if case.get("best_peer")]
    if not found:
        return "no peer"
    mean = math.exp(sum(math.log(ratio) for ratio, _ in found) / len(found))
    (low, lowest), (high, highest) = min(found), max(found)
    ends = f"{digits(low)} {lowest} … {digits(high)} {highest}"
    return f"{digits(mean)} (geometric mean of {len(found)}; {ends})"


def short_lines(row: Json) -> list[str]:
    """A row of values, or of few cases, line by line; a longer one as one line."""
    bars = row["bars"] + [bar for case in row["cases"] for bar in case["bars"]]
    met = f"{sum(bar['met'] for bar in bars)} of {len(bars)}" if bars else ""
    if len(row["cases"]) > 3:
        return [f"| {row['name']} | {what_of(row)} | {ratio_summary(row)} | | {met} |"]
    lines = []
    for case in row["cases"]:
        cells = case_line(case)
        ours, theirs = cells[1], cells[2 : 2 + len(RIVALS)]
        peers = ", ".join(
            f"{name} {cell}" for name, cell in zip(RIVALS, theirs, strict=True) if cell
        )
        good = f"{sum(bar['met'] for bar in case['bars'])} of {len(case['bars'])}"
        lines.append(f"| {row['name']} | {case['name']} | {ours} | {peers} | {good} |")
    return lines


def short_table(results: Json) -> list[str]:
    """Every row that is no ladder, in a line or a few."""
    rows = [row for row in results["rows"] if not row.get("is_ladder")]
    return [
        "## Rows in short",
        "",
        "A number without a unit is the best peer's time over Tessella's.",
        "",
        "| row | what | Tessella, or its speed over the best peer | peers | bars met |",
        "| --- | --- | --- | --- | --- |",
        *(line for row in rows for line in short_lines(row)),
        "",
    ]


def sentence(text: str) -> str:
    """A text that begins with a capital letter; names in it keep theirs."""
    return text[:1].upper() + text[1:]


def cell_text(cell: str) -> str:
    """A cell that Markdown takes as it is."""
    return cell.replace("|", "\\|")


def table(row: Json) -> list[str]:
    """A row as a table of its cases, and the bars on all of them."""
    head, *lines = kept_columns(row)
    shown = [head, ["---"] * len(head), *lines]
    text = [f"### {row['name']}", "", f"{sentence(what_of(row))}.", ""]
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
    parts = [
        HEAD,
        *uncompared_lines(),
        *favour_lines(results),
        *machine_lines(results),
        *losses(results),
    ]
    parts += aim_lines(results) + short_table(results)
    parts += ["## Rows", "", *tables]
    if any(row.get("is_ladder") for row in results["rows"]):
        parts += growth_lines(results)
    return "\n".join(parts).rstrip() + "\n"
