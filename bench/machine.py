"""What numbers depend on beside the code: the machine, versions, the commit, and what else runs."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench import report
from bench.cases import SUBJECT
from bench.libraries import PEERS, cores

CPUINFO = Path("/proc/cpuinfo")
MEASURED = ("src", "bench", "pyproject.toml", "CMakeLists.txt", ":!bench/results")
QUIET_LOAD, MOST_SECONDS = 0.5, 120


def processor() -> dict[str, str]:
    """Its name, then family and model where the system tells: a name may be that of many."""
    said: dict[str, str] = {}
    for line in CPUINFO.read_text().splitlines():
        key, _, value = line.partition(":")
        said.setdefault(key.strip(), value.strip())
    name = said.get("model name") or platform.processor() or platform.machine()
    told = {"family": said.get("cpu family"), "model": said.get("model")}
    return {"processor": name} | {key: value for key, value in told.items() if value}


def describe_machine() -> dict[str, Any]:
    """What the numbers depend on and the reader cannot see."""
    pages, page_size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {
        **processor(),
        "cores": cores(),
        "memory_bytes": pages * page_size,
        "system": report.short_system(f"{platform.system()} {platform.release()}"),
    }


def describe_versions() -> dict[str, str]:
    """The contenders and the interpreter."""
    names = (SUBJECT, *PEERS)
    return {name: version(name) for name in names} | {"python": platform.python_version()}


def git(*arguments: str) -> str:
    """What git says of this tree; nothing where there is no git, or the tree has none."""
    try:
        done = subprocess.run(
            ["git", *arguments], capture_output=True, text=True, cwd=report.ROOT, check=False
        )
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def describe_commit() -> dict[str, str]:
    """The commit, marked where what is measured was changed since; nothing outside git."""
    head = git("rev-parse", "--short", "HEAD")
    if not head:
        return {}
    changed = git("status", "--porcelain", "--", *MEASURED)
    return {"commit": f"{head}-dirty" if changed else head}


def wait_until_quiet() -> None:
    """Waits for what else runs to end, as the load of the last minute tells, but not for long."""
    if os.getloadavg()[0] < QUIET_LOAD:
        return
    print(f"waiting for a load below {QUIET_LOAD}, at most 2 minutes", file=sys.stderr, flush=True)
    deadline = time.monotonic() + MOST_SECONDS
    while os.getloadavg()[0] >= QUIET_LOAD:
        if time.monotonic() > deadline:
            print("warning: the machine is busy; the numbers will wobble", file=sys.stderr)
            return
        time.sleep(1)
