"""The graph drawn: DOT, SVG and HTML, the files they are saved in, and where boxes stand."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st

import tessella as ts
from recordings import leaf, run, step
from tessella.diagrams import Graph, layers

SVG = "{http://www.w3.org/2000/svg}"
STRANGE = '<b>&amp;"\\ \n\x00\ud800é漢'


DOT = r"""digraph {
  graph [label="graph of %1: 1 operation, 1 leaf\lsaved for backward: 12 B in 1 buffer; the leaves' own memory: 12 B\l", labelloc="t", labeljust="l", fontname="monospace"];
  node [shape="box", fontname="monospace", fontsize="10"];
  edge [fontname="monospace", fontsize="9"];
  b0 [label="w\lfloat32 (3,) 12 B\l", style="filled,rounded", fillcolor="#d5ead8"];
  b1 [label="%1 exp\lfloat32 (3,)\lsaves out float32 (3,) 12 B\ltrain.py:1\l", style="filled", fillcolor="#fdecc8", penwidth="3"];
  b0 -> b1 [label="x"];
}
"""  # noqa: E501 - as it is printed


def strange() -> Graph:
    w = leaf(3)
    found = run("y = w.exp()", w=w)
    return ts.graph(found["y"], names={STRANGE: w})


def test_dot_is_what_graphviz_reads() -> None:
    w = leaf(3)
    assert ts.graph(run("y = w.exp()", w=w)["y"], names={"w": w}).dot() == DOT


def test_dot_escapes_what_has_a_meaning() -> None:
    label = r'b0 [label="<b>&amp;amp;\"\\ \\n\\x00\\ud800é漢\lfloat32'
    assert label in strange().dot()


@pytest.mark.parametrize("make", [step, strange])
def test_dot_has_statements_of_ids_and_quoted_attributes_only(make: Callable[[], Graph]) -> None:
    quoted = r'"(?:[^"\\]|\\.)*"'
    attributes = rf"\[\w+={quoted}(?:, \w+={quoted})*\]"
    statement = re.compile(rf"  (?:graph|node|edge|b\d+|b\d+ -> b\d+) {attributes};")
    first, *lines, last = make().dot().splitlines()
    assert (first, last) == ("digraph {", "}")
    assert [line for line in lines if not statement.fullmatch(line)] == []


def test_svg_is_xml_with_the_text_of_every_box() -> None:
    found = step()
    root = ElementTree.fromstring(found.svg())
    texts = {text.text for text in root.iter(f"{SVG}text")}
    assert {*found.head, "h tanh", "saves out float32 (4, 8) 128 B", "train.py:2"} <= texts
    assert {"leaf", "operation", "saves for backward", "not shown", "output"} <= texts
    tips = [title.text or "" for title in root.iter(f"{SVG}title")]
    assert len(tips) == 1 + len(found.boxes)
    assert "%1 = matmul((4, 3), w1)\nfloat32 (4, 8)\nsaves a float32 (4, 3) 48 B" in tips[2]
    assert tips[2].endswith("/home/me/train.py:1")


def test_svg_keeps_strange_names_as_text() -> None:
    root = ElementTree.fromstring(strange().svg())
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert '<b>&amp;"\\ \\n\\x00\\ud800é漢' in texts
    assert not list(root.iter(f"{SVG}b"))


def rectangles(svg: str) -> list[tuple[float, float, float, float]]:
    """Give left, top, right and bottom of each box."""
    found = []
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        if group.find(f"{SVG}title") is not None:
            rect = group.find(f"{SVG}rect")
            assert rect is not None
            x, y, width, height = (float(rect.get(k, "")) for k in ("x", "y", "width", "height"))
            found.append((x, y, x + width, y + height))
    return found


def test_boxes_do_not_touch_and_stand_inside_the_drawing() -> None:
    w, u = leaf(4, 4), leaf(4, 4)
    h = ts.ones(2, 4)
    kept = []
    for _ in range(6):
        h = (h @ w + ts.ones(2, 4) @ u).tanh()
        kept.append(h)
    svg = ts.graph([ts.concat(kept).sum(), h.mean()]).svg()
    boxes = rectangles(svg)
    root = ElementTree.fromstring(svg)
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    for i, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0 and top >= 0 and right < width and bottom < height
        for other in boxes[:i]:
            apart = other[2] < left or right < other[0] or other[3] < top or bottom < other[1]
            assert apart, (boxes[i], other)


class Balance(HTMLParser):
    """Checks that every tag is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not any(name.startswith("on") or name in ("href", "src") for name, _ in attrs)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("make", [step, strange])
def test_html_is_a_page_of_its_own_without_scripts(make: Callable[[], Graph]) -> None:
    page = Balance()
    page.feed(make().html())
    page.close()
    assert page.open == [] and "script" not in page.seen and "b" not in page.seen
    assert {"html", "svg", "details", "pre", "title"} <= page.seen


def test_notebooks_show_the_drawing() -> None:
    found = step()
    assert found._repr_svg_() == found.svg()
    assert found._repr_html_() == f'<div style="overflow: auto">{found.svg()}</div>'


# --- files ---------------------------------------------------------------------------------------


def test_save_writes_the_format_of_the_name(tmp_path: Path) -> None:
    found = step()
    wanted = {"a.txt": f"{found}\n", "b.dot": found.dot(), "c.SVG": found.svg()}
    for name, text in (wanted | {"d.html": found.html()}).items():
        found.save(tmp_path / name)
        found.save(str(tmp_path / name))
        assert (tmp_path / name).read_text(encoding="utf-8") == text
    assert len(list(tmp_path.iterdir())) == 4


def test_a_failed_save_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("before")

    def fail(*args: object) -> None:
        raise OSError("disk is full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk is full"):
        step().save(path)
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "path, message",
    [
        ("a.png", "'a.png' says no format"),
        ("", "'' says no format"),
        (3, "path must be the name of a file, got int"),
        (b"a.txt", "path must be the name of a file, got bytes"),
    ],
)
def test_save_refuses_what_names_no_format(path: Any, message: str) -> None:
    with pytest.raises(ts.errors.TessellaError) as caught:
        step().save(path)
    assert str(caught.value).startswith(f"Graph.save: {message}\n")
    if isinstance(path, str):
        assert caught.value.hint == "the name must end with .txt, .dot, .svg, .html"


# --- where boxes stand ---------------------------------------------------------------------------


@st.composite
def dags(draw: st.DrawFn) -> list[list[int]]:
    """Give the sources of each box: any boxes before it, some of them twice."""
    count = draw(st.integers(1, 25))
    return [
        draw(st.lists(st.integers(0, i - 1), max_size=4)) if i else [] for i in range(count)
    ]  # fmt: skip


@given(dags(), st.randoms(use_true_random=False))
def test_layers_put_sources_above_and_nothing_on_another(
    sources: list[list[int]], random: Random
) -> None:
    sizes = [(random.uniform(20, 200), random.uniform(20, 90)) for _ in sources]
    plan = layers.arrange(sizes, sources)
    for target, own in enumerate(sources):
        for source in own:
            assert plan.bottoms[plan.cells[source].level] < plan.tops[plan.cells[target].level]
        assert all(
            plan.cells[i].level == plan.cells[target].level - 1 for i in plan.entries[target]
        )
    assert sorted(i for layer in plan.layers for i in layer) == list(range(len(plan.cells)))
    for level, layer in enumerate(plan.layers):
        assert layer and all(plan.cells[i].level == level for i in layer)
        for i, j in pairwise(layer):
            left, right = plan.cells[i], plan.cells[j]
            room = (left.width + right.width) / 2 + layers.GAP
            assert right.x - left.x > room - 1e-6


def test_boxes_without_users_stay_high_and_others_near_their_first_user() -> None:
    sources = [[], [0], [1], [2], [], [3, 4], []]  # 4 waits for 5; nobody uses 6
    assert layers.levels_of(sources) == [0, 1, 2, 3, 3, 4, 0]


def test_a_box_used_in_every_layer_has_one_trunk() -> None:
    sources = [[], *([i, 0] for i in range(100))]
    plan = layers.arrange([(50.0, 20.0)] * 101, sources)
    assert len(plan.cells) == 101 + 99


def test_sweeps_remove_crossings_that_need_not_be() -> None:
    sources = [[], [], [], [2], [1], [0]]
    plan = layers.arrange([(50.0, 20.0)] * 6, sources)
    assert layers.crossings(plan.cells, plan.layers) == 0
    straight = [plan.cells[i].x - plan.cells[5 - i].x for i in range(3)]
    assert straight == pytest.approx([0.0] * 3)


def test_positions_are_the_nearest_that_are_apart() -> None:
    cells = [layers.Cell(0, 10.0, 1.0) for _ in range(4)]
    wishes = {id(cell): x for cell, x in zip(cells, (0.0, 0.0, 500.0, 300.0), strict=True)}
    layers.settle(cells, [0, 1, 2, 3], lambda cell: wishes[id(cell)])
    step = 10.0 + layers.GAP
    assert [cell.x for cell in cells] == [-step / 2, step / 2, 400 - step / 2, 400 + step / 2]
