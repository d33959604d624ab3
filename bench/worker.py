"""One process of the benchmark: times the cases of the given rows at one thread setting.

Started by `python -m bench`, never by hand. A case that fails is written down with its error, and
the others go on.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from bench import peaks, timing
from bench.cases import PEAK, Case
from bench.libraries import SETTINGS, Libraries
from bench.rows import ROWS


def run_case(case: Case, libraries: Libraries) -> dict[str, Any]:
    """The measured numbers, or the error."""
    try:
        return timing.measure(case, libraries)
    except Exception as error:
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {error}"}


def machine_peaks(libraries: Libraries) -> dict[str, float]:
    """Units per second of each peak."""
    return {
        name: timing.measure(case, libraries)["contenders"][PEAK]["amount_per_s"]
        for name, case in peaks.machine_cases().items()
    }


def run(setting: str, names: list[str]) -> dict[str, Any]:
    """All timed rows among `names`: case results by row and case."""
    libraries = Libraries(setting)
    found: dict[str, Any] = {
        "peaks": machine_peaks(libraries),
        "empty_loop_s": timing.empty_loop(),
        "rows": {},
    }
    for row in ROWS:
        if row.name in names and row.cases:
            start = time.perf_counter()
            cases = [case for case in row.cases if setting in case.settings]
            found["rows"][row.name] = {case.name: run_case(case, libraries) for case in cases}
            taken = time.perf_counter() - start
            print(f"  {row.name}, threads {setting}: {taken:.0f} s", file=sys.stderr, flush=True)
    return found


def main() -> None:
    """Runs the rows and writes what was found as JSON."""
    parser = argparse.ArgumentParser(prog="bench.worker")
    parser.add_argument("--setting", choices=SETTINGS, required=True)
    parser.add_argument("--rows", required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    found = run(options.setting, options.rows.split(","))
    options.out.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
