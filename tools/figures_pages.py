"""Runs the pages of tests/pages that have a `run` with PyTorch and stores what they give.

    python tools/figures_pages.py

Run it where PyTorch is installed: the benchmark environment. It writes tests/figures/pages.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent / "tests"
PAGES = ("dcgan", "gpt", "vae")


def figures(name: str) -> dict[str, Any]:
    """Run a page."""
    page: dict[str, Any] = {}
    exec((TESTS / "pages" / f"{name}.txt").read_text(), page)
    found: dict[str, Any] = page["run"]()
    return found


if __name__ == "__main__":
    text = json.dumps({name: figures(name) for name in PAGES})
    (TESTS / "figures" / "pages.json").write_text(text + "\n")
