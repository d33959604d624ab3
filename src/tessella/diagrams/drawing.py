"""Diagrams as SVG and HTML, written by hand: no dependency, no script, no style that leaks.

Boxes bring their own light ground, and what stands outside of them is grey, so that a drawing can
be read on white and on black. Widths are those of a font in which all characters are alike.
"""

from __future__ import annotations

from html import escape
from unicodedata import combining, east_asian_width

from tessella.diagrams.layers import Cell, Plan, arrange
from tessella.diagrams.parts import Box
from tessella.diagrams.texts import FILLS, lines_of, style_of
from tessella.hints import Sequence

FONT = 12  # pixels
LETTER = 0.61 * FONT  # the widest of the usual fonts: DejaVu Sans Mono has 0.602
LINE = 16.0
PAD = 9.0
MARGIN = 16.0
MOST_SAVED = 6  # lines in a box; a tooltip has all
ARROW = 7.0

INK, FAINT, GREY = "#1b1f24", "#59636e", "#808080"
LEGEND = {
    "leaf": "leaf", "operation": "operation", "saves": "saves for backward", "hidden": "not shown"
}  # fmt: skip


def svg(head: Sequence[str], boxes: Sequence[Box]) -> str:
    """Draw the diagram: the head and a legend, then the boxes from the leaves down."""
    texts = [shown_lines(box) for box in boxes]
    plan = arrange([size_of(lines) for lines in texts], [sources_of(box) for box in boxes])
    tops = drawn_head(head)
    above = (len(head) + 2) * LINE + MARGIN
    wide = max((cell.x + cell.width / 2 for cell in plan.cells), default=0.0)
    widest_text = max(*(width_of(line) for line in head), legend_width())
    width = round(2 * MARGIN + max(wide, widest_text))
    height = round(above + plan.bottoms[-1] + MARGIN)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="ui-monospace, Menlo, Consolas, '
        f'\'DejaVu Sans Mono\', monospace" font-size="{FONT}">',
        f"<title>{escape(head[0])}</title>",
        *tops,
        f'<g transform="translate({number(MARGIN)} {number(above)})">',
        *drawn_edges(boxes, plan),
        *(
            drawn_box(box, lines, cell)
            for box, lines, cell in zip(boxes, texts, plan.cells, strict=False)
        ),
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def html(head: Sequence[str], boxes: Sequence[Box], text: str) -> str:
    """Write a page with the drawing, and the text below it."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(head[0])}</title>\n"
        "<style>:root { color-scheme: light dark; } body { margin: 1em; } "
        "main { overflow: auto; }</style>\n</head>\n<body>\n"
        f"<main>\n{svg(head, boxes)}</main>\n"
        f"<details>\n<summary>as text</summary>\n<pre>{escape(text)}</pre>\n</details>\n"
        "</body>\n</html>\n"
    )


# --- text and its size ----------------------------------------------------------------------------


def width_of(text: str) -> float:
    """Give the width of a text: characters of East Asia take two places, accents none."""
    places = 0
    for c in text:
        places += 0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1
    return places * LETTER


def shown_lines(box: Box) -> list[str]:
    """Give the lines of a box, without all that a long list holds."""
    lines = lines_of(box)
    more = len(box.saved) - MOST_SAVED
    if more > 0:
        lines[2 + MOST_SAVED : 2 + len(box.saved)] = [f"saves {more:,} more"]
    return lines


def size_of(lines: Sequence[str]) -> tuple[float, float]:
    """Give width and height of the box around some lines."""
    return max(map(width_of, lines)) + 2 * PAD, len(lines) * LINE + 2 * PAD


def number(value: float) -> str:
    """Write a coordinate."""
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")  # + 0.0: no minus before 0


def text_at(x: float, y: float, text: str, look: str) -> str:
    """Write one line; `y` is that of its base line."""
    return f'<text x="{number(x)}" y="{number(y)}" {look}>{escape(text)}</text>'


# --- head, boxes, edges ---------------------------------------------------------------------------


def drawn_head(head: Sequence[str]) -> list[str]:
    """Write the head, and what the colours mean."""
    look = f'fill="{GREY}" xml:space="preserve"'
    parts = [text_at(MARGIN, MARGIN + (i + 1) * LINE, line, look) for i, line in enumerate(head)]
    x, y = MARGIN, MARGIN + len(head) * LINE + LINE / 2
    for style, meaning in LEGEND.items():
        parts.append(framed(x, y + 2, LINE - 4, LINE - 4, style, 1))
        parts.append(text_at(x + LINE, y + LINE - 4, meaning, look))
        x += LINE + width_of(meaning) + 2 * PAD
    parts.append(framed(x, y + 2, LINE - 4, LINE - 4, "operation", 3))
    parts.append(text_at(x + LINE, y + LINE - 4, "output", look))
    return parts


def legend_width() -> float:
    """Give the width of the line that says what the colours mean."""
    return sum(LINE + width_of(meaning) + 2 * PAD for meaning in (*LEGEND.values(), "output"))


def framed(x: float, y: float, width: float, height: float, style: str, border: int) -> str:
    """Draw the frame of a box."""
    look = ' rx="8"' if style == "leaf" else ' stroke-dasharray="4 3"' if style == "hidden" else ""
    return (
        f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" '
        f'height="{number(height)}" fill="{FILLS[style]}" stroke="{GREY}" '
        f'stroke-width="{border}"{look}/>'
    )


def drawn_box(box: Box, lines: Sequence[str], cell: Cell) -> str:
    """Draw one box; its tooltip has what was too long for it."""
    left = cell.x - cell.width / 2
    border = 3 if box.is_output else 1
    parts = [f"<g><title>{escape(tooltip(box))}</title>"]
    parts.append(framed(left, cell.top, cell.width, cell.height, style_of(box), border))
    for i, line in enumerate(lines):
        look = f'fill="{FAINT}"' if line == box.place else f'fill="{INK}"'
        if i == 0:
            look += ' font-weight="bold"'
        parts.append(text_at(left + PAD, cell.top + PAD + (i + 1) * LINE - 4, line, look))
    return "".join([*parts, "</g>"])


def tooltip(box: Box) -> str:
    """Give all that is known about a box."""
    lines = [f"{box.name} = {box.call}" if box.kind == "operation" else box.name, box.gives]
    lines += [f"saves {saved}" for saved in box.saved]
    lines.append(f"{box.site[0]}:{box.site[1]}" if box.site else "")
    return "\n".join(line for line in (lines if box.kind != "hidden" else [box.operation]) if line)


def sources_of(box: Box) -> list[int]:
    """Give the boxes that edges come from, one for each operand that takes a gradient."""
    return [link.source for link in box.links if link.source >= 0]


def drawn_edges(boxes: Sequence[Box], plan: Plan) -> list[str]:
    """Draw the trunks, then every edge's last piece with its arrow and its operand's name."""
    parts = [f'<g fill="none" stroke="{GREY}">']
    arrows = [f'<g fill="{GREY}">']
    for cell in plan.cells[len(boxes) :]:  # an edge that passes a layer
        upper = plan.cells[cell.above[0]]
        end = plan.bottoms[cell.level]
        parts.append(f'<path d="{curve(plan, upper, cell.x, cell.level)} V {number(end)}"/>')
    for box, cell, entries in zip(boxes, plan.cells, plan.entries, strict=False):
        links = [link for link in box.links if link.source >= 0]
        ports = sorted(range(len(links)), key=lambda i: plan.cells[entries[i]].x)
        for rank, i in enumerate(ports):
            x = cell.x + cell.width * ((rank + 1) / (len(links) + 1) - 0.5)
            way = curve(plan, plan.cells[entries[i]], x, cell.level)
            parts.append(f'<path d="{way} V {number(cell.top - ARROW)}"/>')
            arrows.append(f'<path d="M {number(x)} {number(cell.top)} l -4 -{ARROW:g} h 8 z"/>')
            if len(links) > 1 and cell.width / (len(links) + 1) > width_of(links[i].operand) + 6:
                arrows.append(text_at(x + 6, cell.top - 3, links[i].operand, 'font-size="9"'))
    return [*parts, "</g>", *arrows, "</g>"]


def curve(plan: Plan, upper: Cell, x: float, level: int) -> str:
    """Run from a cell's bottom to its layer's, and from there to the top of the next layer."""
    start, end = plan.bottoms[upper.level], plan.tops[level]
    if upper.height:
        begin = f"M {number(upper.x)} {number(upper.top + upper.height)} V {number(start)}"
    else:
        begin = f"M {number(upper.x)} {number(start)}"
    half = number((start + end) / 2)
    bend = f"C {number(upper.x)} {half} {number(x)} {half} {number(x)} {number(end - ARROW)}"
    return f"{begin} {bend}"
