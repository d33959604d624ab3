"""Diagrams as text: a table for people, and the language of Graphviz."""

from __future__ import annotations

from tessella.diagrams.parts import Box
from tessella.hints import Sequence

COLUMNS = ("name", "operation", "gives", "at", "saves")


def table(head: Sequence[str], boxes: Sequence[Box]) -> str:
    """Show the head, and one line for each box: what comes first is computed first."""
    rows = [COLUMNS, *(cells(box) for box in boxes)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([*head, "", *(f"  {line}" for line in lines)])


def cells(box: Box) -> tuple[str, ...]:
    """Give the columns of a box."""
    return box.name, box.call, box.gives, box.place, "; ".join(map(str, box.saved))


# --- Graphviz -------------------------------------------------------------------------------------

FILLS = {"leaf": "#d5ead8", "operation": "#eceff1", "saves": "#fdecc8", "hidden": "#f6f6f6"}
SHAPES = {"leaf": "filled,rounded", "hidden": "filled,dashed"}


def dot(head: Sequence[str], boxes: Sequence[Box]) -> str:
    """Write the diagram for Graphviz."""
    lines = [
        "digraph {",
        f'  graph [label="{quoted(head)}", labelloc="t", labeljust="l", fontname="monospace"];',
        '  node [shape="box", fontname="monospace", fontsize="10"];',
        '  edge [fontname="monospace", fontsize="9"];',
    ]
    for i, box in enumerate(boxes):
        style = style_of(box)
        look = f'style="{SHAPES.get(style, "filled")}", fillcolor="{FILLS[style]}"'
        border = ', penwidth="3"' if box.is_output else ""
        lines.append(f'  b{i} [label="{quoted(lines_of(box))}", {look}{border}];')
    for i, box in enumerate(boxes):
        for link in box.links:
            if link.source >= 0:
                lines.append(f'  b{link.source} -> b{i} [label="{escaped(link.operand)}"];')
    return "\n".join([*lines, "}"]) + "\n"


def style_of(box: Box) -> str:
    """Tell how a box is painted: as an operation that saves something, or by its kind."""
    return "saves" if box.saved else box.kind


def lines_of(box: Box) -> list[str]:
    """Give what stands in a box, line by line."""
    params = f"({box.params})" if box.params else ""
    title = f"{box.name} {box.operation}{params}" if box.kind == "operation" else box.name
    lines = [title, box.gives, *(f"saves {saved}" for saved in box.saved), box.place]
    if box.kind == "hidden":
        lines = [box.operation]
    return [line for line in lines if line]


def quoted(lines: Sequence[str]) -> str:
    """Write lines into a label, each from the left."""
    return "".join(f"{escaped(line)}\\l" for line in lines)


def escaped(text: str) -> str:
    """Write out what has a meaning in a label: backslashes, quotes, and entities as in HTML."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
