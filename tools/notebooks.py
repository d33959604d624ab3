"""Runs notebooks without a kernel: their cells in order, in one namespace, as Jupyter would.

``python tools/notebooks.py`` runs those of examples/ in a temporary folder and stores what their
cells show, without counts of executions. Tags of cells: `varies` if what is shown is not the same
on every machine, `live` if it is too large to be stored.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import linecache
import os
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "examples"

Cell = dict[str, Any]
Output = dict[str, Any]


def read(path: Path) -> dict[str, Any]:
    """Give a notebook."""
    notebook: dict[str, Any] = json.loads(path.read_text())
    return notebook


def code_cells(notebook: dict[str, Any]) -> list[Cell]:
    """Give the cells that are run."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def has_tag(cell: Cell, tag: str) -> bool:
    """Tell whether a cell has a tag."""
    return tag in cell["metadata"].get("tags", [])


def run(notebook: dict[str, Any], space: dict[str, Any]) -> list[list[Output]]:
    """Run all code in a namespace; give what each cell shows."""
    cells = code_cells(notebook)
    return [run_cell("".join(cell["source"]), i, space) for i, cell in enumerate(cells, 1)]


def run_cell(source: str, number: int, space: dict[str, Any]) -> list[Output]:
    """Run one cell; its last expression is shown, if it is not None."""
    name = f"cell {number}"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    body = ast.parse(source, name).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), name, "exec"), space)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), space)
    outputs: list[Output] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines(printed)})
    if value is not None:
        shown = {"data": bundle(value), "execution_count": None, "metadata": {}}
        outputs.append({**shown, "output_type": "execute_result"})
    return outputs


def bundle(value: Any) -> dict[str, list[str]]:
    """Give a value as text, and as a picture or else as HTML if it can be either."""
    found = {"text/plain": lines(repr(value))}
    for kind, method in (("image/svg+xml", "_repr_svg_"), ("text/html", "_repr_html_")):
        made = getattr(value, method, lambda: None)()
        if made is not None:
            return {kind: lines(made), **found}
    return found


def lines(text: str | io.StringIO) -> list[str]:
    """Write a text as notebooks store it."""
    whole = text if isinstance(text, str) else text.getvalue()
    return whole.splitlines(keepends=True)


def store(path: Path) -> None:
    """Run a notebook and keep what its cells show."""
    notebook = read(path)
    for cell, outputs in zip(code_cells(notebook), run(notebook, {}), strict=True):
        cell["outputs"] = [] if has_tag(cell, "live") else outputs
        cell["execution_count"] = None
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n")


def main() -> None:
    """Store what all notebooks show."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for path in sorted(FOLDER.glob("*.ipynb")):
            store(path)
            print(f"written: {path.name}")


if __name__ == "__main__":
    main()
