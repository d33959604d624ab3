"""Notebooks of examples/ run, cell by cell, and what they store is what their cells show."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import notebooks
from notebooks import FOLDER, Output, code_cells, has_tag, read, run, run_cell

NAMES = sorted(path.name for path in FOLDER.glob("*.ipynb"))
# Of this machine, or of this run: addresses, folders, times. A folder is an absolute path of two
# names or more; tags, addresses of pages and kinds of data have something else before the slash.
FOLDERS = r"(?:(?<![\w<:/.\\])|(?<=\\n))/[\w.-]+/[\w.-]|[A-Z]:\\"
PASSING = re.compile(rf"0x[0-9a-f]{{4}}|{FOLDERS}|\d (?:ms|µs|s|seconds)\b|GFLOP")


def kinds(outputs: list[Output]) -> list[Any]:
    """Tell what sort of outputs there are."""
    return [(each["output_type"], sorted(each.get("data", {}))) for each in outputs]


def texts(outputs: list[Output]) -> str:
    """Give what outputs show as text."""
    parts = [each.get("text") or each["data"]["text/plain"] for each in outputs]
    return "".join(line for lines in parts for line in lines)


def differences(notebook: dict[str, Any], shown: list[list[Output]]) -> list[str]:
    """Give the cells that show other things than they store, as far as their tags bind them."""
    stale = []
    for cell, outputs in zip(code_cells(notebook), shown, strict=True):
        stored = cell["outputs"]
        if has_tag(cell, "live"):
            is_stale = bool(stored) or not outputs
        elif has_tag(cell, "varies"):
            is_stale = kinds(stored) != kinds(outputs)
        else:
            is_stale = stored != outputs
        if is_stale:
            stale.append(f"{cell['id']}\n{texts(stored)}\n--- is now\n{texts(outputs)}")
    return stale


def test_tour_shows_what_it_stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {}
    notebook = read(FOLDER / "tour.ipynb")
    stale = differences(notebook, run(notebook, space))
    assert not stale, "run tools/notebooks.py\n" + "\n".join(stale)
    # What varies from machine to machine is as good on each.
    assert space["history"]["accuracy"][-1] > 0.94
    assert space["losses"][-1].item() < 2.7 < space["losses"][0].item()
    assert space["step"].program is not None and space["learn"].program is not None


def test_every_notebook_is_run() -> None:
    assert NAMES == ["tour.ipynb"]


@pytest.mark.parametrize("name", NAMES)
def test_notebook_is_of_format_4_5(name: str) -> None:
    text = (FOLDER / name).read_text()
    notebook = json.loads(text)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert set(notebook) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert text == json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(ids) == len(set(ids)) and all(re.fullmatch(r"[\w-]{1,64}", each) for each in ids)
    plain = {"cell_type", "id", "metadata", "source"}
    for cell in notebook["cells"]:
        more = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert cell["cell_type"] in ("code", "markdown") and set(cell) == plain | more
        assert cell.get("execution_count") is None and "".join(cell["source"]).strip()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_passing_is_stored(name: str) -> None:
    for cell in code_cells(read(FOLDER / name)):
        assert not PASSING.search(json.dumps(cell["outputs"])), cell["id"]


@pytest.mark.parametrize("text, is_passing", [
    ("/home/me/x.py", True), ("saved in\n/srv/data", True), ("at '/Users/me/x'", True),
    ("C:\\Users\\me", True), ("took 3 ms", True), ("at 0x7f00", True),
    ("<b>x</b>/<i>y</i>", False), ("https://w3.org/2000/svg", False), ("image/svg+xml", False),
    ("1/2/3", False), ("docs/start.md", False), ("a / b", False),
])  # fmt: skip
def test_passing_things_are_known(text: str, is_passing: bool) -> None:
    assert bool(PASSING.search(json.dumps([text]))) == is_passing


# --- the runner -----------------------------------------------------------------------------------


def test_last_expression_is_shown_and_printed_text_before_it() -> None:
    space: dict[str, Any] = {}
    assert run_cell("x = 2", 1, space) == []
    assert run_cell("None", 2, space) == []
    first, second = run_cell("print('a')\nprint('b')\nx * 3", 3, space)
    assert first == {"name": "stdout", "output_type": "stream", "text": ["a\n", "b\n"]}
    assert second["data"] == {"text/plain": ["6"]} and second["output_type"] == "execute_result"


def test_pictures_go_before_html_and_html_before_text() -> None:
    space: dict[str, Any] = {}
    run_cell("import tessella as ts\nw = ts.ones(2, requires_grad=True)", 1, space)
    assert list(run_cell("w", 2, space)[0]["data"]) == ["text/html", "text/plain"]
    drawn = run_cell("ts.graph(w.exp())", 3, space)[0]["data"]
    assert list(drawn) == ["image/svg+xml", "text/plain"]
    assert "cell 3:1" in "".join(drawn["text/plain"])


def test_errors_of_cells_name_their_lines() -> None:
    space: dict[str, Any] = {}
    run_cell("import tessella as ts", 1, space)
    with pytest.raises(ValueError, match=r"at cell 2:2: y = ts\.ones\(2\) @ ts\.ones\(3\)"):
        run_cell("\ny = ts.ones(2) @ ts.ones(3)", 2, space)


def test_stored_outputs_are_those_of_a_run(tmp_path: Path) -> None:
    cells = [("1 + 1", []), ("print('x')", ["varies"]), ("'<html>'", ["live"])]
    notebook = {
        "cells": [
            {"cell_type": "code", "execution_count": 7, "id": str(i), "metadata": {"tags": tags},
             "outputs": ["old"], "source": [source]}
            for i, (source, tags) in enumerate(cells)
        ]
    }  # fmt: skip
    path = tmp_path / "small.ipynb"
    path.write_text(json.dumps(notebook))
    notebooks.store(path)
    found = code_cells(read(path))
    assert [texts(cell["outputs"]) for cell in found] == ["2", "x\n", ""]
    assert [cell["execution_count"] for cell in found] == [None] * 3
    assert differences(read(path), run(read(path), {})) == []
    for cell, source in zip(found, ("1 + 2", "print('y'); 1", "None"), strict=True):
        cell["source"] = [source]
    assert len(differences({"cells": found}, run({"cells": found}, {}))) == 3
