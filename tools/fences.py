"""An extension of Griffe for the documentation site: examples of docstrings are set as code."""

from __future__ import annotations

from typing import Any

import griffe


def fenced(text: str) -> str:
    """Put fences around examples: lines from `>>>` to the next empty one."""
    lines: list[str] = []
    is_inside = False
    for line in [*text.splitlines(), ""]:
        if line.startswith(">>>") and not is_inside:
            lines.append("```pycon")
            is_inside = True
        elif is_inside and not line.strip():
            lines.append("```")
            is_inside = False
        lines.append(line)
    return "\n".join(lines)


class Fences(griffe.Extension):
    """Changes docstrings as they are read."""

    def on_object(self, *, obj: griffe.Object, **found: Any) -> None:
        """Set the examples of one docstring as code."""
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)
