"""The class Graph: what was recorded for some outputs, as text, DOT, SVG and HTML."""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape

from tessella import diagram_errors
from tessella.diagrams import drawing, texts
from tessella.diagrams.parts import Box
from tessella.errors import TessellaError, wrong_type
from tessella.sizes import counted, to_text

MOST_DRAWN = 1_000  # boxes
MOST_OUTPUTS = 6  # that the head names


@dataclass(frozen=True, repr=False)
class Graph:
    """What was recorded: its figures, and a box for each leaf and operation that is shown.

    It is plain data: it keeps neither tensors nor memory. `print` shows it as a table; in a
    notebook it is a drawing.

    >>> w = ts.ones(3).requires_grad_()
    >>> g = ts.graph((w * w).sum(), names={"w": w})
    >>> g.operations, g.leaves, g.saved_bytes, g.leaf_bytes
    (2, 1, 0, 12)
    """

    operations: int
    leaves: int
    saved_bytes: int  # of buffers that the operations keep, each counted once; without the leaves'
    saved_buffers: int
    leaf_bytes: int  # of the leaves' own buffers, which live without the graph too
    outputs: tuple[str, ...]
    boxes: tuple[Box, ...]  # in an order in which they can be computed

    @property
    def head(self) -> list[str]:
        """Give the lines that say how large the graph is."""
        named = ", ".join(self.outputs[:MOST_OUTPUTS])
        if len(self.outputs) > MOST_OUTPUTS:
            named += f", … {len(self.outputs) - MOST_OUTPUTS:,} more"
        return [
            f"graph of {named}: {counted(self.operations, 'operation')}, "
            f"{counted(self.leaves, 'leaf')}",
            f"saved for backward: {to_text(self.saved_bytes)} in "
            f"{counted(self.saved_buffers, 'buffer')}; the leaves' own memory: "
            f"{to_text(self.leaf_bytes)}",
        ]

    def __str__(self) -> str:
        return texts.table(self.head, self.boxes)

    __repr__ = __str__

    def dot(self) -> str:
        """Write the graph in the language of Graphviz.

        >>> w = ts.ones(3).requires_grad_()
        >>> print(ts.graph(w.exp()).dot().splitlines()[-2])
          b0 -> b1 [label="x"];
        """
        return texts.dot(self.head, self.boxes)

    def svg(self) -> str:
        """Draw the graph as SVG, which needs nothing else to be shown.

        >>> w = ts.ones(3).requires_grad_()
        >>> ts.graph(w.exp()).svg()[:4]
        '<svg'
        """
        self._check_size("Graph.svg")
        return drawing.svg(self.head, self.boxes)

    def html(self) -> str:
        """Write a page with the drawing and the text.

        >>> w = ts.ones(3).requires_grad_()
        >>> ts.graph(w.exp()).html().splitlines()[0]
        '<!DOCTYPE html>'
        """
        self._check_size("Graph.html")
        return drawing.html(self.head, self.boxes, str(self))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file, of the format that its name ends with: .txt, .dot, .svg or .html.

        It is there as a whole, or as it was before.

        >>> from tempfile import TemporaryDirectory
        >>> w = ts.ones(3).requires_grad_()
        >>> with TemporaryDirectory() as folder:
        ...     ts.graph(w.exp()).save(folder + "/graph.svg")
        """
        formats = {
            ".txt": lambda: f"{self}\n", ".dot": self.dot, ".svg": self.svg, ".html": self.html
        }  # fmt: skip
        try:
            if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
                raise wrong_type("path", path, "the name of a file")
            suffix = os.path.splitext(path)[1].lower()
            if suffix not in formats:
                raise diagram_errors.unknown_suffix(os.fspath(path), tuple(formats))
        except TessellaError as error:
            raise error.locate("Graph.save", []) from None
        replace_file(os.path.realpath(path), formats[suffix]())

    def _check_size(self, operation: str) -> None:
        if len(self.boxes) > MOST_DRAWN + 1:  # one stands for those that are not shown
            found = diagram_errors.too_large_to_draw(len(self.boxes), MOST_DRAWN)
            raise found.locate(operation, [])

    def _repr_svg_(self) -> str | None:
        return self.svg() if len(self.boxes) <= MOST_DRAWN + 1 else None

    def _repr_html_(self) -> str:
        drawn = self._repr_svg_()
        if drawn is None:
            return f"<pre>{escape(str(self))}</pre>"
        return f'<div style="overflow: auto">{drawn}</div>'


def replace_file(path: str, text: str) -> None:
    """Write a file beside the one it is to replace, and put it in its place when it is whole."""
    beside = f"{path}.{os.getpid()}.part"
    try:
        with open(beside, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        if os.path.exists(beside):
            os.remove(beside)
        raise
