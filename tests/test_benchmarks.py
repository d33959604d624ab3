"""What is published of the benchmarks is what was measured, and bars are judged as they read."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from bench import __main__ as command, machine
from bench.aims import AIMS, EACH, MEAN, judged_aims
from bench.cases import Case, Row, Work, ahead, steady
from bench.libraries import Libraries
from bench.page import UNCOMPARED, page, run_lines
from bench.pairing import needs, paired
from bench.plots import pictures
from bench.programs.steps import PROGRAMS
from bench.publish import judged_row, stored_results
from bench.readme import SHOWN, readme_with, table
from bench.report import ROOT, share_text, with_shares
from bench.rows import ROWS
from bench.timing import check_agreement, compile_loop, run_rounds, summarise
from bench.verdict import judge_row

import tessella as ts

Json = dict[str, Any]


@pytest.fixture(scope="module")
def results() -> Json:
    return stored_results()


def case(name: str, speed: float, ratio: float = 1.0) -> Json:
    """Give a timed case as it is stored."""
    measured = {"default": {"contenders": {"tessella": {"amount_per_s": speed}}}}
    return {"name": name, "ratios": {"torch": ratio}, "measured": measured, "bars": []}


def test_the_readme_has_the_table_of_the_stored_results(results: Json) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme_with(text, results) == text


def test_each_cell_of_the_readme_is_a_time_a_size_or_a_speed(results: Json) -> None:
    lines = table(results).splitlines()[2:]
    shown = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
    assert [cells[0] for cells in shown] == [label for _, _, label in SHOWN]
    for _, ours, peers in shown:
        for text in (ours, *peers.split(", ")):
            assert re.search(r"[\d.,]+ (ns|µs|ms|s|MB|GFLOP/s|tokens/s)$", text), text


def test_the_page_is_that_of_the_stored_results(results: Json) -> None:
    assert (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8") == page(results)


def test_the_page_lists_every_case_in_which_a_peer_is_faster(results: Json) -> None:
    lost = page(results).split("## Where it loses")[1].split("## Rows in short")[0].splitlines()
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
    assert len(ladders) >= 27 and all(row.picture for row in ladders)
    rows = [judge_row(row, [case("1", 1.0), case("8", 1.0)]) for row in ladders]
    drawn = pictures({"rows": rows})
    assert sorted(row["name"] for part in drawn.values() for row in part) == sorted(
        row.name for row in ladders
    )
    assert [row["name"] for row in drawn["steps"]] == [f"growth-{name}" for name in PROGRAMS]


def test_aims_are_of_rows_and_cases_that_there_are(results: Json) -> None:
    there = {row["name"]: {case["name"] for case in row["cases"]} for row in results["rows"]}
    assert AIMS.keys() <= there.keys()
    for row, aims in AIMS.items():
        assert aims.keys() - {EACH, MEAN} <= there[row], row


def test_an_aim_that_is_not_met_is_on_the_page(results: Json) -> None:
    text = page(results).split("## What it aims for")[1].split("## Rows in short")[0]
    for aim in (aim for aim in judged_aims(results) if not aim["met"]):
        (line,) = (each for each in text.splitlines() if f"{aim['row']}, {aim['text']}:" in each)
        assert aim["case"] in line


def test_the_page_names_every_row_whose_results_are_not_compared() -> None:
    assert list(UNCOMPARED) == [
        row.name for row in ROWS if any(case.tolerance is None for case in row.cases)
    ]


def test_what_a_work_says_is_compared_is() -> None:
    def works(*values: float) -> dict[str, Work]:
        return {
            str(v): Work("x.__setitem__(0, v)", {"x": [0], "v": v}, 1, compared="x") for v in values
        }

    job = Case("a", lambda libs: {}, tolerance=0.0)
    check_agreement(job, works(1.0, 1.0), Libraries("default"))
    with pytest.raises(ValueError, match=r"2.0 is off by 1"):
        check_agreement(job, works(1.0, 2.0), Libraries("default"))


def test_a_steady_row_is_judged_by_its_steepest_fall() -> None:
    row = Row("growth-x", "", bars=(steady(0.8),))
    speeds = {"1": 10.0, "8": 30.0, "64": 21.0}
    judged = judge_row(row, [case(name, speed) for name, speed in speeds.items()])
    assert judged["bars"] == [
        {
            "text": "keeps ≥ 0.8 of its speed at the size before, or of what the best peer keeps",
            "limit": 0.8,
            "value": pytest.approx(0.7),
            "met": False,
        }
    ]


def test_a_fall_that_the_fastest_peer_shares_is_met() -> None:
    def raced(name: str, ours: float, **theirs: float) -> Json:
        found = case(name, ours)
        contenders = found["measured"]["default"]["contenders"]
        contenders |= {peer: {"amount_per_s": speed} for peer, speed in theirs.items()}
        return found

    row = Row("growth-x", "", bars=(steady(0.8),))
    sizes = [raced("1", 10.0, torch=8.0, numpy=4.0), raced("8", 4.0, torch=4.0, numpy=1.0)]
    (bar,) = judge_row(row, sizes)["bars"]
    assert (bar["value"], bar["met"]) == (pytest.approx(0.8), True)  # 0.4 over torch's 0.5


def test_stored_results_are_judged_by_the_bars_of_today() -> None:
    def build(libs: Libraries) -> dict[str, Work]:
        raise AssertionError("nothing is measured")

    contenders = {"tessella": {"amount_per_s": 3.0}, "torch": {"amount_per_s": 2.0}}
    peaked = contenders | {"peak": {"amount_per_s": 4.0}}  # a yardstick is timed in one setting
    measured = {"default": {"contenders": peaked}, "one": {"contenders": contenders}}
    stored = case("a", 3.0) | {"measured": measured}
    bars = ahead(2, "torch", "jax"), ahead(1, "jax"), ahead(0.7, "peak")
    row = Row("x", "", (Case("a", build, bars),), bars=())
    judged = judged_row(row, {"name": "x", "cases": [stored], "bars": [], "run": {}})
    found = [(bar["value"], bar["met"]) for bar in judged["cases"][0]["bars"]]
    assert found == [(1.5, False), (0.75, True)]  # jax was not there


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


def test_a_share_far_above_a_peak_is_marked() -> None:
    def text(share: float | None, **ratios: float) -> str:
        return share_text({"share": share, "ratios": ratios})

    assert [text(None), text(1.04, peak=1.04), text(1.43)] == ["", "104%", "143%"]
    assert text(1.43, peak=1.43) == "143%, the yardstick was too slow"


def test_a_speed_is_a_share_of_its_own_peak_or_of_the_machines() -> None:
    own = case("a", 3.0) | {"unit": "flop", "ratios": {"peak": 0.25}}
    cases = [own, *(case(unit, 3.0) | {"unit": unit} for unit in ("flop", "byte", "token"))]
    once = {"name": "b", "unit": "ms", "values": {}}
    peaks = {"fma": 6.0, "copy": 2.0}
    found = with_shares({"peaks": peaks, "rows": [{"cases": [*cases, once]}]})
    assert [one.get("share") for one in found["rows"][0]["cases"]] == [0.25, 0.5, 1.5, None, None]


def test_a_yardstick_counts_by_its_best_block() -> None:
    times, work = [0.5, 0.25, 1.0], Work("pass", {}, 2.0)
    assert summarise(times, 1, work)["amount_per_s"] == 4.0
    assert summarise(times, 1, work, is_yardstick=True)["amount_per_s"] == 8.0


def test_a_block_runs_inside_of_what_is_around_it() -> None:
    entered: list[str] = []
    seen: list[int] = []

    @contextmanager
    def around() -> Iterator[None]:
        entered.append("in")
        yield
        entered.append("out")

    work = Work("seen.append(len(entered))", {"seen": seen, "entered": entered}, 1.0, around)
    run_rounds({"tessella": work}, {"tessella": compile_loop(work)}, {"tessella": 1})
    assert seen and all(count % 2 for count in seen)


def test_pairs_of_steps_wait_for_what_they_need() -> None:
    x, y = ts.ones(4, 4), ts.ones(4, 4)

    @ts.compile
    def products(x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
        a, b = x @ x, y @ y
        return a @ b

    for _ in range(4):
        products(x, y)
    assert products.program is not None
    needed = needs(products.program.steps)
    assert needed == [set(), set(), {0, 1}]
    # Two of 9 µs beside each other take 9 and what it costs to meet, unless sharing is quicker.
    assert paired(needed, [9e-6] * 3, [9e-6, 9e-6, 5e-6]) == pytest.approx(9e-6 + 0.7e-6 + 5e-6)
    assert paired(needed, [9e-6] * 3, [5e-6] * 3) == pytest.approx(14.7e-6)
    assert paired(needed, [9e-6] * 3, [4.5e-6] * 3) == pytest.approx(13.5e-6)


def test_a_missed_bar_fails_after_the_pages_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    missed = {"text": "≤ 1", "limit": 1, "value": 2.0, "met": False}
    run = {"seconds": 1.0, "load_average": 0.0}
    row = {"name": "size", "bars": [missed], "cases": [], "run": run}
    found: Json = {"rows": [row], "peaks": {}}
    monkeypatch.setattr("sys.argv", ["bench", "--rows", "size", "--check"])
    monkeypatch.setattr(command, "require_libraries", lambda: None)
    monkeypatch.setattr(command, "run", lambda rows: found)
    monkeypatch.setattr(command, "earlier_results", lambda path, rows: {})
    monkeypatch.setattr(command, "wait_until_quiet", lambda: None)
    monkeypatch.setattr("bench.report.print_results", lambda results, names: None)
    for name in ("save", "publish"):
        monkeypatch.setattr(command, name, lambda *_, name=name: done.append(name))
    with pytest.raises(SystemExit):
        command.main()
    assert done == ["save", "publish"]


SOME = [row for row in ROWS if row.name == "gemm"]
HERE = {"processor": "one", "family": "6", "cores": 2, "memory_bytes": 1000}


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of results, measured on a machine that told less of itself."""
    machine = {"processor": "one", "cores": 2, "memory_bytes": 1001}
    rows: list[Json] = [{"name": name, "run": {}} for name in ("size", "gemm")]
    path = tmp_path / "latest.json"
    results = {"machine": machine, "versions": {"torch": "2.13"}, "rows": rows, "peaks": {}}
    path.write_text(json.dumps(results), encoding="utf-8")
    monkeypatch.setattr(command, "describe_machine", lambda: HERE)
    monkeypatch.setattr(command, "describe_versions", lambda: {"torch": "2.13", "new": "1"})
    return path


def test_rows_that_are_not_repeated_are_kept(stored: Path) -> None:
    new: Json = {"rows": [{"name": "gemm", "run": {"commit": "abc"}}], "peaks": {}}
    merged = command.merge(new, command.earlier_results(stored, SOME))
    assert merged["rows"] == [{"name": "size", "run": {}}, *new["rows"]]


def test_rows_of_another_machine_or_version_are_not_mixed(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "describe_versions", lambda: {"torch": "2.14"})
    with pytest.raises(SystemExit, match=r"torch 2.13 is now 2.14\): run all rows first"):
        command.earlier_results(stored, SOME)
    assert command.earlier_results(stored, list(ROWS)) == {}


def test_a_run_is_told_by_its_commit_and_command() -> None:
    run = {"date": "2026-01-02", "load_average": 0.04, "command": "python -m bench"}
    again = run | {"command": "python -m bench --rows size", "commit": "abc", "seconds": 121.0}
    rows: list[Json] = [{"name": name, "run": run} for name in ("import", "gemm")]
    assert run_lines({"rows": [*rows, {"name": "size", "run": again}]})[-2:] == [
        "- 2026-01-02, commit abc, load 0.0, 2 minutes, `python -m bench --rows size`: its rows",
        "- 2026-01-02, load 0.0, `python -m bench`: the other 2 rows",
    ]


def test_a_commit_is_marked_where_files_that_count_were_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.report.ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert machine.describe_commit() == {}
    person = ("-c", "user.name=a", "-c", "user.email=a@b")
    for arguments in (("init", "-q"), (*person, "commit", "-q", "--allow-empty", "-m", "one")):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    (tmp_path / "README.md").touch()
    commit = machine.describe_commit()["commit"]
    assert re.fullmatch("[0-9a-f]+", commit)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").touch()
    assert machine.describe_commit()["commit"] == f"{commit}-dirty"


def test_a_run_waits_until_the_machine_is_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loads = [1.0, 0.9, 0.6, 0.4]
    monkeypatch.setattr("os.getloadavg", lambda: (loads.pop(0), 0.0, 0.0))
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    machine.wait_until_quiet()
    assert not loads and capsys.readouterr().err.count("\n") == 1
