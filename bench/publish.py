"""Brings what was measured into the README and docs/benchmarks.md: `python -m bench.publish`."""

from __future__ import annotations

import json

from bench.page import page
from bench.plots import draw_all
from bench.report import LATEST, ROOT, readme_with


def main() -> None:
    """Rewrites the README's table, the page and its pictures."""
    results = json.loads(LATEST.read_text(encoding="utf-8"))
    readme = ROOT / "README.md"
    readme.write_text(readme_with(readme.read_text(encoding="utf-8"), results), encoding="utf-8")
    docs = ROOT / "docs"
    draw_all(results, docs / "benchmarks")
    (docs / "benchmarks.md").write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
