"""page: a program as one HTML file that needs no other: its arena over time, and its steps.

Python writes what is to be seen, and marks what belongs together: `data-slot` is a memory,
`data-uses` are the memories of an instruction. page.js lights up what the reader points at.
"""

from __future__ import annotations

import linecache
import os
from html import escape
from pathlib import Path

from tessella.compiler.costs import operations_of
from tessella.compiler.explain import ends_of
from tessella.compiler.plan import MemoryTable, lifetimes, live_bytes
from tessella.compiler.program import Instruction, Operand, Program
from tessella.dtypes import DTYPES
from tessella.io.file_errors import calling
from tessella.io.replacements import replacing
from tessella.sizes import to_text

HEIGHT = 300.0  # pixels from 0 bytes to the peak
ROOM = 22.0  # above it, for the mark of the peak
LOWEST = 2.0  # pixels of a small buffer
LABEL, TWO_LABELS = 15.0, 32.0  # pixels that a buffer needs for its name, and for its bytes too
COLUMN = 3  # pixels of a step at least: longer programs are scrolled
TICKS = 12  # of steps, about
LEGEND = {"product": "products", "tiled": "elementwise", "other": "others"}
HINT = "Point at a buffer or an instruction to see what belongs to it; click to keep it lit."


def save_page(path: str | os.PathLike[str], name: str, program: Program) -> None:
    """Write the page of a program: the file is replaced as a whole, or stays as it was."""
    with calling("show"), replacing(path) as file:
        file.write(page_of(name, program).encode("utf-8", "backslashreplace"))


def page_of(name: str, program: Program) -> str:
    """Give the page of a program; that of its gradient follows on it."""
    articles = [_article("", program)]
    for pull in program.pulls:
        for choice, second in pull.programs.items():
            results = ", ".join(str(pull.opened[k]) for k in choice)
            is_only = len(program.pulls) == len(pull.opened) == 1
            part = "" if is_only else f", of results {results}"
            articles.append(_article(f"Gradient: the second program{part}", second))
    folder = Path(__file__).parent
    style, script = ((folder / file).read_text("utf-8") for file in ("page.css", "page.js"))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(name)}: compiled</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<h1>{escape(name)}</h1>\n{''.join(articles)}<script>\n{script}</script>\n"
        "</body>\n</html>\n"
    )


def framed_page(name: str, program: Program) -> str:
    """Give the page as a part of another one, whose style it neither sees nor changes."""
    page = escape(page_of(name, program).encode("utf-8", "backslashreplace").decode())
    return f'<iframe srcdoc="{page}" style="width:100%;height:40em;border:0"></iframe>'


def _article(title: str, program: Program) -> str:
    table = MemoryTable("", program)
    heading = f"<h2>{escape(title)}</h2>\n" if title else ""
    return (
        f"<article>\n{heading}{_figures(program, table)}{_arena(program, table)}"
        f"{_steps(program)}</article>\n"
    )


def _figures(program: Program, table: MemoryTable) -> str:
    """Write the totals."""
    fused = sum(len(step) for step in program.steps if len(step) > 1)
    figures = [
        ("peak of the arena", to_text(table.peak), f"{to_text(table.without_reuse)} without reuse"),
        ("buffers", f"{len(table.rows):,}", "in the arena"),
        ("instructions", f"{len(program.instructions):,}", f"{fused:,} of them in tiles"),
        ("steps", f"{len(program.steps):,}", "of one instruction or more"),
    ]
    shown = [
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd><dd>{escape(more)}</dd></div>"
        for name, value, more in figures
    ]
    return f'<dl class="figures">{"".join(shown)}</dl>\n'


# --- the arena ------------------------------------------------------------------------------------


def kind_of(step: list[Instruction]) -> str:
    """Give what a step is for the eye: a key of LEGEND."""
    if operations_of(step):
        return "product"
    return "tiled" if step[0].form else "other"


def _arena(program: Program, table: MemoryTable) -> str:
    """Draw the buffers: steps from left to right, bytes from the bottom up."""
    if not table.peak:
        return '<p class="detail">No buffer lies in the arena.</p>\n'
    legend = "".join(f'<li class="{kind}">{escape(text)}</li>' for kind, text in LEGEND.items())
    slots = {program.name(slot): slot for slot in lifetimes(program)}
    buffers = [_buffer(program, slots[row[0]], row, table.peak) for row in table.rows]
    count = len(program.steps)
    every = max(1, -(-count // TICKS))
    steps = "".join(
        f'<span style="left:{(at + 0.5) / count:.4%}">{at}</span>' for at in range(0, count, every)
    )
    return (
        f'<section class="arena">\n<header><h3>Arena</h3><ul>{legend}</ul></header>\n'
        f'<div class="chart"><div class="bytes">{_byte_ticks(table.peak)}</div>'
        f'<div class="scroll"><div style="min-width:{count * COLUMN}px">'
        f'<svg class="plot" height="{ROOM + HEIGHT:g}" data-steps="{count}" role="img" '
        f'aria-label="buffers in the arena over the steps">\n{_grid(table.peak)}'
        f'<rect class="cursor" y="{ROOM:g}" width="{1 / count:.4%}" height="{HEIGHT:g}"/>\n'
        f"{''.join(buffers)}{_peak(program, table)}</svg>"
        f'<div class="numbers">{steps}</div></div></div></div>\n'
        f'<p class="detail" aria-live="polite">{escape(HINT)}</p>\n</section>\n'
    )


def _buffer(program: Program, slot: int, row: tuple[str, tuple[int, ...], int, int, int, int],
            peak: int) -> str:  # fmt: skip
    """Draw a buffer: a rectangle from its first step to its last."""
    name, shape, size, born, dies, offset = row
    count = len(program.steps)
    height = max(LOWEST, HEIGHT * size / peak)
    top = ROOM + min(HEIGHT * (1 - (offset + size) / peak), HEIGHT - height)
    maker, operand = next(
        (each, operand)
        for each in program.steps[born]
        for operand in each.operands
        if operand.slot == slot
    )
    tip = (
        f"{name}  {DTYPES[operand.dtype].name} {shape}\n{to_text(size)} ({size:,} B) at offset "
        f"{offset:,}\nborn at step {born}, dies at step {dies}\nmade by {maker.name}"
        + (f" at {maker.line}" if maker.line else "")
    )
    texts = f'<text x="5" y="12">{escape(name)}</text>' if height >= LABEL else ""
    if height >= TWO_LABELS:
        texts += f'<text x="5" y="26">{escape(to_text(size))}</text>'
    return (
        f'<svg class="buffer {kind_of(program.steps[born])}" data-slot="{slot}" tabindex="0" '
        f'x="{born / count:.4%}" y="{top:.2f}" width="{(dies - born + 1) / count:.4%}" '
        f'height="{height:.2f}"><title>{escape(tip)}</title>'
        f'<rect width="100%" height="100%"/>{texts}</svg>\n'
    )


def _ticks(peak: int) -> range:
    """Give bytes to write at the side: four to eight round numbers."""
    step = 1 << max(0, (peak // 5).bit_length())
    return range(0, peak, step)


def _height_of(size: int, peak: int) -> float:
    return ROOM + HEIGHT * (1 - size / peak)


def _byte_ticks(peak: int) -> str:
    marks = "".join(
        f'<span style="top:{_height_of(size, peak):.2f}px">{to_text(size) if size else "0"}</span>'
        for size in _ticks(peak)
        if peak - size > peak / 20  # where the peak's own number stands
    )
    return f'{marks}<span class="top" style="top:{ROOM:g}px">{to_text(peak)}</span>'


def _grid(peak: int) -> str:
    return "".join(
        f'<line class="grid" x2="100%" y1="{y:.2f}" y2="{y:.2f}"/>'
        for y in (_height_of(size, peak) for size in _ticks(peak))
    )


def _peak(program: Program, table: MemoryTable) -> str:
    """Mark how high the arena is, and the step at which most of it is in use."""
    used = live_bytes(program)
    most = max(used)
    at = used.index(most)
    left = (at + 0.5) / len(used)
    side = "end" if left > 0.5 else "start"
    return (
        f'<g class="peak"><line x2="100%" y1="{ROOM:g}" y2="{ROOM:g}"/>'
        f'<line class="at" x1="{left:.4%}" x2="{left:.4%}" y1="{ROOM - 6:g}" '
        f'y2="{ROOM + HEIGHT:g}"/><text x="{left:.4%}" y="{ROOM - 9:g}" text-anchor="{side}">'
        f"peak {escape(to_text(table.peak))}: step {at} uses {escape(to_text(most))}</text></g>\n"
    )


# --- the program ----------------------------------------------------------------------------------


def _steps(program: Program) -> str:
    """Write the instructions, those of one step in one frame, beside the user's lines."""
    ends = ends_of(program)
    parts = ['<section class="program">\n<h3>Program</h3>\n<ol class="steps">\n']
    shown = ""  # the line above
    for at, step in enumerate(program.steps):
        tip = f"ends before {ends[at].before}: {ends[at].reason}" if ends[at].before else ""
        head = f"{len(step)} in tiles over {step[0].operands[0].shape}" if len(step) > 1 else ""
        parts.append(
            f'<li class="step {kind_of(step)}{" group" if len(step) > 1 else ""}" data-step="{at}">'
            f'<div class="head" title="{escape(tip)}"><b>{at}</b> {escape(head)}</div>\n<ol>\n'
        )
        for each in step:
            parts.append(_instruction(program, each, at, each.line if each.line != shown else ""))
            shown = each.line
        parts.append("</ol></li>\n")
    lines = [f"grad {leaf} = {program.show(operand)}" for leaf, operand in program.gradients]
    lines += [f"grad {leaf} = None" for leaf in program.removals]
    lines.append(f"return {', '.join(map(program.show_output, program.outputs))}")
    parts += [f'<li class="last"><code>{escape(line)}</code></li>\n' for line in lines]
    return "".join([*parts, "</ol>\n</section>\n"])


def _instruction(program: Program, each: Instruction, at: int, line: str) -> str:
    """Write an instruction, whose memories can be pointed at, and where it stands in user code."""
    uses = dict.fromkeys(operand.slot for operand in each.operands)
    left, right = (
        ", ".join(_operand(program, operand) for operand in operands)
        for operands in (each.writes(), each.reads())
    )
    code = f"{left} = <b>{escape(each.name)}</b>({right})<i>{escape(program.show_params(each))}</i>"
    place = ""
    if line:
        source = linecache.getline(*program.recording.site_of(each.index)).strip()
        place = f'<span class="line">{escape(line)}</span> <code>{escape(source)}</code>'
    return (
        f'<li class="instruction" data-step="{at}" data-uses="{" ".join(map(str, uses))}" '
        f'tabindex="0"><code>{code}</code><span class="place">{place}</span></li>\n'
    )


def _operand(program: Program, operand: Operand) -> str:
    name = program.name(operand.slot)
    rest = program.show(operand).removeprefix(name)
    return f'<a data-slot="{operand.slot}">{escape(name)}</a><i>{escape(rest)}</i>'
