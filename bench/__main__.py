"""The command: picks rows, starts one process for each thread setting, judges, saves, publishes."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench import report
from bench.cases import SUBJECT, Row, at_most
from bench.libraries import ONE_THREAD, PEERS, SETTINGS, environment
from bench.machine import describe_commit, describe_machine, describe_versions, wait_until_quiet
from bench.publish import publish
from bench.rows import ROWS
from bench.verdict import Json, all_bars, judge, judge_case, judge_once, judge_row


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    names = ",".join(row.name for row in ROWS)
    parser.add_argument("--rows", default="", help=f"some of {names}; all when left out")
    parser.add_argument("--check", action="store_true", help="exit with 1 on a missed bar")
    return parser.parse_args()


def pick_rows(text: str) -> list[Row]:
    """The rows named, in the order of the table."""
    names = {name.strip() for name in text.split(",") if name.strip()}
    unknown = names - {row.name for row in ROWS}
    if unknown:
        raise SystemExit(f"no such row: {', '.join(sorted(unknown))}")
    return [row for row in ROWS if row.name in names or not names]


def require_libraries() -> None:
    """Ends the run when a contender is missing."""
    missing = [name for name in (SUBJECT, *PEERS) if importlib.util.find_spec(name) is None]
    if missing:
        raise SystemExit(f"not installed in {sys.prefix}: {', '.join(missing)}; see `make bench`")


def run_worker(setting: str, names: list[str]) -> Json:
    """Everything timed at one thread setting, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "found.json"
        command = [sys.executable, "-m", "bench.worker", "--setting", setting]
        command += ["--rows", ",".join(names), "--out", str(out)]
        subprocess.run(command, check=True, env=environment(setting), cwd=report.ROOT)
        found: Json = json.loads(out.read_text())
    return found


def run_once(row: Row) -> list[Json]:
    """A row that measures itself; an error is a missed bar, and the other rows go on."""
    try:
        return [judge_once(once) for once in row.once()] if row.once else []
    except Exception as error:
        bar = judge(at_most(0, "errors"), None)
        return [{"name": row.name, "error": f"{type(error).__name__}: {error}", "bars": [bar]}]


def judge_rows(rows: list[Row], found: dict[str, Json]) -> list[Json]:
    """Measures what is measured once, and judges everything."""
    judged = []
    for row in rows:
        cases = run_once(row)
        if row.cases:
            cases = [
                judge_case(case, {s: found[s]["rows"][row.name][case.name] for s in case.settings})
                for case in row.cases
            ]
        judged.append(judge_row(row, cases))
    return judged


def is_same(key: str, stored: Any, found: Any) -> bool:
    """Whether it is as it was; how much memory the system keeps for itself varies a little."""
    near = key == "memory_bytes" and found is not None and abs(stored - found) < 0.01 * stored
    return near or bool(stored == found)


def earlier_results(path: Path, rows: list[Row]) -> Json:
    """What is stored of the rows that a run leaves out; ends the run where it would not fit."""
    if len(rows) == len(ROWS) or not path.exists():
        return {}
    earlier: Json = json.loads(path.read_text(encoding="utf-8"))
    now = {"machine": describe_machine(), "versions": describe_versions()}
    changed = [
        f"{key} {value} is now {found[key]}" if key in found else f"{key} {value} is gone"
        for what, found in now.items()
        for key, value in earlier[what].items()  # something may be told today that was not
        if not is_same(key, value, found.get(key))
    ]
    if changed:
        raise SystemExit(
            f"the stored rows are of another machine or other versions ({'; '.join(changed)}): "
            "run all rows first (make bench)"
        )
    return earlier


def merge(results: Json, earlier: Json) -> Json:
    """Keeps the earlier rows that this run did not repeat."""
    rows = {row["name"]: row for row in earlier.get("rows", []) + results["rows"]}
    order = [row.name for row in ROWS if row.name in rows]
    peaks = results["peaks"] or earlier.get("peaks", {})
    return results | {"rows": [rows[name] for name in order], "peaks": peaks}


def save(results: Json, path: Path) -> None:
    """Written beside, then renamed: an interrupted run leaves the earlier results whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".tmp")
    beside.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    beside.replace(path)


def run(rows: list[Row]) -> Json:
    """The results of the given rows, each with the commit, command, load before and time."""
    start = time.perf_counter()
    run_details: Json = {
        "command": shlex.join(["python", "-m", "bench", *sys.argv[1:]]),
        "load_average": os.getloadavg()[0],
        "date": time.strftime("%Y-%m-%d"),
        **describe_commit(),
    }
    timed = [row.name for row in rows if row.cases]
    found = {setting: run_worker(setting, timed) for setting in SETTINGS} if timed else {}
    judged = judge_rows(rows, found)
    run_details["seconds"] = time.perf_counter() - start
    return {
        "machine": describe_machine(),
        "versions": describe_versions(),
        "settings": {"default": {}, "one": ONE_THREAD | {"torch.set_num_threads": "1"}},
        "peaks": found["default"]["peaks"] if found else {},
        "rows": [row | {"run": run_details} for row in judged],
    }


def main() -> None:
    """Runs, saves, prints, publishes; then exits with 1 when asked to check and a bar is missed."""
    options = parse_arguments()
    rows = pick_rows(options.rows)
    require_libraries()
    earlier = earlier_results(report.LATEST, rows)
    wait_until_quiet()
    results = run(rows)
    save(merge(results, earlier), report.LATEST)
    report.print_results(report.with_shares(results), [row.name for row in rows])
    bars = all_bars(results["rows"])
    missed = sum(not bar["met"] for bar in bars)
    details = results["rows"][0]["run"]
    print(
        f"\n{len(bars) - missed} of {len(bars)} bars met, {missed} missed; "
        f"{details['seconds']:.0f} s, load {details['load_average']:.1f} before"
    )
    publish()
    if options.check and missed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
