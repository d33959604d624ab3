"""The page of the tour, docs/design/tour.md: docs/tour.py cut at its headings, comments as text."""

from __future__ import annotations

import re
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "docs" / "tour.py"
HEADING = re.compile(r"^# --- \d+\. (.*?) -+\n((?:# .*\n)*)", re.MULTILINE)

HEAD = """\
# The tour

The idea of Tessella in plain Python, about 220 lines of code, to be read from top to bottom.
`python docs/tour.py` runs it, and the tests do; tools/generate.py makes this page of it.
"""


def fenced(code: str) -> str:
    """Set a part of the program as code."""
    return f"```python\n{code.strip()}\n```\n"


def plain(comment: str) -> str:
    """Give a comment as a paragraph, with an empty line behind it; "" where there is none."""
    lines = [line.removeprefix("# ") for line in comment.splitlines()]
    return "\n".join([*lines, "", ""]) if lines else ""


def tour_page() -> str:
    """Give the page: the docstring, then each part below its heading."""
    _, docstring, rest = SOURCE.read_text().split('"""', 2)
    _, summary = docstring.split("\n\n")
    first, *parts = HEADING.split(rest)
    page = f"{HEAD}\n{summary}\n{fenced(first)}"
    for title, comment, code in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        page += f"\n## {title[0].upper()}{title[1:]}\n\n{plain(comment)}{fenced(code)}"
    return page
