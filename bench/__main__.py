"""The command: picks rows, starts one process for each thread setting, judges, saves, publishes."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import shlex
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from bench import report
from bench.cases import SUBJECT, Row, at_most
from bench.libraries import ONE_THREAD, PEERS, SETTINGS, cores, environment
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


def describe_machine() -> Json:
    """What the numbers depend on and the reader cannot see."""
    processor = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            processor = line.split(":", 1)[1].strip()
            break
    pages, page_size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {
        "processor": processor,
        "cores": cores(),
        "memory_bytes": pages * page_size,
        "system": report.short_system(f"{platform.system()} {platform.release()}"),
    }


def describe_versions() -> dict[str, str]:
    """The contenders and the interpreter."""
    names = (SUBJECT, *PEERS)
    return {name: version(name) for name in names} | {"python": platform.python_version()}


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


def merge(results: Json, path: Path) -> Json:
    """Keeps the rows of an earlier run that this one did not repeat, if the machine is the same."""
    if not path.exists():
        return results
    earlier = json.loads(path.read_text(encoding="utf-8"))
    versions = earlier["versions"].items()  # a contender may have come since
    machine = earlier["machine"]
    machine |= {"system": report.short_system(machine["system"])}
    if machine != results["machine"] or not versions <= results["versions"].items():
        return results
    rows = {row["name"]: row for row in earlier["rows"] + results["rows"]}
    order = [row.name for row in ROWS if row.name in rows]
    peaks = results["peaks"] or earlier["peaks"]
    return results | {"rows": [rows[name] for name in order], "peaks": peaks}


def save(results: Json, path: Path) -> None:
    """Written beside, then renamed: an interrupted run leaves the earlier results whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".tmp")
    beside.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    beside.replace(path)


def run(rows: list[Row]) -> Json:
    """The results of the given rows, each with the command, the load before it and its time."""
    start = time.perf_counter()
    run_details: Json = {
        "command": shlex.join(["python", "-m", "bench", *sys.argv[1:]]),
        "load_average": os.getloadavg()[0],
        "date": time.strftime("%Y-%m-%d"),
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
    if os.getloadavg()[0] > 0.5:
        print("warning: the machine is busy; the numbers will wobble", file=sys.stderr)
    results = run(rows)
    save(merge(results, report.LATEST), report.LATEST)
    report.print_results(results, [row.name for row in rows])
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
