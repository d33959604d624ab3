"""What is published of the benchmarks is what was measured, and bars are judged as they read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bench.cases import Row, ahead, steady
from bench.page import page
from bench.plots import pictures
from bench.programs.steps import PROGRAMS
from bench.report import LATEST, ROOT, readme_with
from bench.rows import ROWS
from bench.verdict import judge_row

Json = dict[str, Any]


@pytest.fixture(scope="module")
def results() -> Json:
    found: Json = json.loads(LATEST.read_text(encoding="utf-8"))
    return found


def case(name: str, speed: float, ratio: float = 1.0) -> Json:
    """Give a timed case as it is stored."""
    measured = {"default": {"contenders": {"tessella": {"amount_per_s": speed}}}}
    return {"name": name, "ratios": {"torch": ratio}, "measured": measured, "bars": []}


def test_the_readme_has_the_table_of_the_stored_results(results: Json) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme_with(text, results) == text


def test_the_page_is_that_of_the_stored_results(results: Json) -> None:
    assert (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8") == page(results)


def test_the_page_lists_every_case_in_which_a_peer_is_faster(results: Json) -> None:
    lost = page(results).split("## Where it loses")[1].split("## Rows")[0].splitlines()
    behind = [
        f"{row['name']}, {one['name']}"
        for row in results["rows"]
        for one in row["cases"]
        if one.get("best_peer") and one["best_peer"] < 1
    ]
    assert behind
    for name in behind:
        assert any(line.startswith("- ") and line.endswith(f": {name}") for line in lost), name


def test_every_timed_ladder_is_in_a_picture_of_the_page() -> None:
    ladders = [row for row in ROWS if row.is_ladder and row.cases]
    assert len(ladders) >= 19 and all(row.picture for row in ladders)
    rows = [judge_row(row, [case("1", 1.0), case("8", 1.0)]) for row in ladders]
    drawn = pictures({"rows": rows})
    assert sorted(row["name"] for part in drawn.values() for row in part) == sorted(
        row.name for row in ladders
    )
    assert [row["name"] for row in drawn["steps"]] == [f"growth-{name}" for name in PROGRAMS]


def test_a_steady_row_is_judged_by_its_steepest_fall() -> None:
    row = Row("growth-x", "", bars=(steady(0.8),))
    speeds = {"1": 10.0, "8": 30.0, "64": 21.0}
    judged = judge_row(row, [case(name, speed) for name, speed in speeds.items()])
    assert judged["bars"] == [
        {
            "text": "speed at a size ≥ 0.8 of that at the size before",
            "limit": 0.8,
            "value": pytest.approx(0.7),
            "met": False,
        }
    ]


def test_a_bar_of_a_row_is_judged_by_the_geometric_mean() -> None:
    row = Row("x", "", bars=(ahead(2, "torch"),))
    judged = judge_row(row, [case("a", 1.0, 1.0), case("b", 1.0, 4.0)])
    (bar,) = judged["bars"]
    assert (bar["value"], bar["met"]) == (pytest.approx(2.0), True)
    assert bar["text"] == "ahead of torch by 2, geometric mean"


def test_a_row_with_a_failed_case_misses_its_bars() -> None:
    row = Row("x", "", bars=(ahead(1, "torch"), steady(0.5)))
    judged = judge_row(row, [case("a", 1.0), case("b", 1.0) | {"error": "ValueError: no"}])
    assert [(bar["value"], bar["met"]) for bar in judged["bars"]] == [(None, False)] * 2
