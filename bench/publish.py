"""Brings what was measured into the README and docs/benchmarks.md, at the end of each run.

What was measured earlier is judged anew, by the bars of today; `python -m bench.publish` does only
that.
"""

from __future__ import annotations

import json
from dataclasses import replace

from bench.cases import Bar, Case, Row
from bench.page import page
from bench.plots import draw_all
from bench.readme import readme_with
from bench.report import LATEST, ROOT, Json, with_shares
from bench.rows import ROWS
from bench.verdict import judge_case, judge_row


def judged_case(case: Case, stored: Json) -> Json:
    """A timed case by the bars of today, on those of their contenders that took part."""
    if "error" in stored:
        return judge_case(case, stored["measured"])
    there = {name for result in stored["measured"].values() for name in result["contenders"]}

    def narrowed(bar: Bar) -> Bar:
        return replace(bar, of=tuple(name for name in bar.of if name in there))

    bars = tuple(bar for bar in map(narrowed, case.bars) if bar.of)
    return judge_case(replace(case, bars=bars), stored["measured"])


def judged_row(row: Row, stored: Json) -> Json:
    """A row by the bars of today; cases that are gone, or were measured once, stay as they are."""
    known = {case.name: case for case in row.cases}
    cases = [
        judged_case(known[case["name"]], case) if case["name"] in known else case
        for case in stored["cases"]
    ]
    return stored | judge_row(row, cases)


def stored_results() -> Json:
    """What was measured last, judged anew."""
    results: Json = json.loads(LATEST.read_text(encoding="utf-8"))
    known = {row.name: row for row in ROWS}
    rows = [
        judged_row(known[row["name"]], row) if row["name"] in known else row
        for row in results["rows"]
    ]
    return with_shares(results | {"rows": rows})


def publish() -> None:
    """Rewrites the README's table, the page and its pictures."""
    results = stored_results()
    readme = ROOT / "README.md"
    readme.write_text(readme_with(readme.read_text(encoding="utf-8"), results), encoding="utf-8")
    docs = ROOT / "docs"
    draw_all(results, docs / "benchmarks")
    (docs / "benchmarks.md").write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    publish()
