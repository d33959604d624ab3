"""What notebooks show of tensors: a line that says what they are, and their values as tables.

The values are those of `repr`. No colour is named, so that all can be read on white and on black.
"""

from __future__ import annotations

from tessella import printing
from tessella._core import Tensor
from tessella.allocators import allocator_of
from tessella.hints import Any, Iterator
from tessella.sizes import to_text

MOST_MATRICES = 12  # that are drawn one by one; of more there is the text
FAINT = ' style="opacity:0.6"'
TABLE = "display:inline-table;width:auto;margin:0.3em 1em 0.3em 0;text-align:right"


def show(x: Tensor, main: str = "") -> str:
    """Show a tensor; `main` is the line above it, if not what `repr` begins with."""
    noun = "tensor" if type(x) is Tensor else type(x).__name__
    head = f"<div>{line(main or printing.head(x, noun), _facts(x))}</div>"
    if x.is_virtual or x.is_freed:
        return framed(head)
    texts = printing.texts_of(x)
    matrices = list(_matrices(texts, x.shape)) if x.ndim and x.size else []
    if not 0 < len(matrices) <= MOST_MATRICES:
        return framed(f"{head}<pre>{text(printing.lines(texts, x.ndim))}</pre>")
    return framed(head + "".join(matrices))


def _facts(x: Tensor) -> str:
    """Say what `repr` leaves out."""
    owner = allocator_of(x)
    strides = "" if x.is_contiguous else f", strides {x.strides}"
    grad = "" if x.grad is None else ", has grad"
    return to_text(x.nbytes) + (f" in {owner.name}" if owner else "") + strides + grad


def _matrices(texts: Any, shape: tuple[int, ...], place: str = "") -> Iterator[str]:
    """Draw the matrices of the last two axes, each with its place among the others."""
    labels = _labels(shape[0], texts)
    if len(shape) == 1:
        yield table([labels, texts])
    elif len(shape) == 2:
        heads = _labels(shape[1], texts[0])
        rows = [[...] * len(heads) if row is ... else row for row in texts]
        numbered = [[label, *row] for label, row in zip(labels, rows, strict=True)]
        yield table([["", *heads], *numbered], f"[{place[:-2]}]" if place else "", has_labels=True)
    else:
        for label, part in zip(labels, texts, strict=True):
            if part is ...:
                yield f"<span{FAINT}>…</span> "
            else:
                yield from _matrices(part, shape[1:], f"{place}{label}, ")


def _labels(size: int, shown: list[Any]) -> list[Any]:
    """Number what is shown of an axis, from both ends."""
    middle, count = shown.index(...) if ... in shown else size, len(shown)
    return [... if i == middle else i + (size - count) * (i > middle) for i in range(count)]


def text(value: Any) -> str:
    """Write any text, so that it means nothing in HTML and UTF-8 can hold it."""
    from html import escape  # slower to load than all the rest

    shown = "…" if value is ... else str(value).strip(" ")
    return escape(shown.encode("utf-8", "backslashreplace").decode())


def line(main: str, more: str = "") -> str:
    """Write what something is, and fainter what is to be said of it."""
    after = f" <small{FAINT}>{text(more)}</small>" if more else ""
    return f"<code>{text(main)}</code>{after}"


def table(rows: list[list[Any]], caption: str = "", has_labels: bool = False) -> str:
    """Write rows, of which the first is the head; with labels, the first column is one too."""
    lines = []
    for i, row in enumerate(rows):
        cells = [f"<th{FAINT}>{text(value)}</th>" if i == 0 or (has_labels and j == 0)
                 else f"<td>{text(value)}</td>" for j, value in enumerate(row)]  # fmt: skip
        lines.append(f"<tr>{''.join(cells)}</tr>")
    above = f"<caption{FAINT}>{text(caption)}</caption>" if caption else ""
    return f'<table style="{TABLE}">{above}{"".join(lines)}</table>'


def framed(html: str) -> str:
    """Let what is too wide be scrolled."""
    return f'<div style="overflow:auto">{html}</div>'
