"""tools/timed.py, which holds the clean build to its limit: codes pass on, and work is counted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TIMED = Path(__file__).resolve().parent.parent / "tools" / "timed.py"
WORK = "import time\nwhile time.process_time() < 0.5: pass"


def timed(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the tool."""
    return subprocess.run([sys.executable, str(TIMED), *arguments], capture_output=True, text=True)


@pytest.mark.parametrize("code", [0, 3])
def test_the_exit_code_is_passed_on(code: int) -> None:
    done = timed("--most", "240", "a task", sys.executable, "-c", f"raise SystemExit({code})")
    assert done.returncode == code and done.stdout.startswith("a task: ")


def test_work_above_the_limit_fails() -> None:
    done = timed("--most", "0.2", "a task", sys.executable, "-c", WORK)
    assert done.returncode == 1
    assert done.stderr == "a task: more than 0.2 s of each of 2 cores\n"
    assert timed("a task", sys.executable, "-c", WORK).returncode == 0


def test_work_of_grandchildren_counts() -> None:
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {WORK!r}])"
    assert timed("--most", "0.2", "a task", sys.executable, "-c", child).returncode == 1


def test_waiting_is_no_work() -> None:
    wait = "import time; time.sleep(1)"
    assert timed("--most", "0.4", "a task", sys.executable, "-c", wait).returncode == 0


def test_the_clean_build_has_the_limit_that_is_promised() -> None:
    root = TIMED.parent.parent
    assert 'timed.py --most 240 "clean build"' in (root / "Makefile").read_text()
    assert "at most 4 minutes on 2 cores" in (root / "docs" / "promises" / "tiny.md").read_text()
