"""What notebooks show: the HTML of tensors, dynamic arrays, tables, modules, compiled functions."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts
from arrays import POINT
from scripts import DTYPES, LAYOUTS, Spec
from tessella import _core, data, memory, nn
from tessella.dtypes import DTYPES as KNOWN, UserDType
from tessella.nn import walks

STRANGE = '<b>&amp;"\\ \n\x00\ud800é漢</b>'
LONE = {"input", "br", "hr", "img"}
PLAIN = [dtype for dtype in KNOWN if not isinstance(dtype, UserDType)]


class Shown(HTMLParser):
    """HTML that was read: its tags are closed in order, its tables are rows of texts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        html.encode()  # what is sent to a browser
        self.html = html
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: dict[str, list[str]] = {}  # by the tag that they stand in
        self.tables: list[list[list[str]]] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in LONE
        self.open.append(tag)
        self.tags.append(tag)
        self.attributes += attrs
        self.texts.setdefault(tag, []).append("")
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        assert self.open, "text outside of all tags"
        self.texts[self.open[-1]][-1] += data
        if self.open[-1] in ("td", "th"):
            self.tables[-1][-1][-1] += data

    @property
    def title(self) -> str:
        """What the thing is."""
        return self.texts["code"][0]

    @property
    def facts(self) -> str:
        """What is said of it besides."""
        return self.texts["small"][0]

    @property
    def values(self) -> list[str]:
        """The cells that are not labels, or what stands in their place."""
        if not self.tables:
            return numbers("".join(self.texts.get("pre", [])))
        return [cell for cell in self.texts["td"] if cell != "…"]


def shown(thing: Any) -> Shown:
    """Read what a notebook shows of a thing."""
    return Shown(thing._repr_html_())


def numbers(text: str) -> list[str]:
    """Give the elements in what repr gives."""
    return [each for each in re.split(r"[\[\],\s]+", text) if each not in ("", "...")]


# --- tensors --------------------------------------------------------------------------------------


def test_matrix_is_a_table_with_numbered_rows_and_columns() -> None:
    x = ts.tensor([[1.0, 2.5], [-3.0, 4.0]])
    found = shown(x)
    assert found.title == "tensor float32 (2, 2)" and found.facts == "16 B in heap"
    assert found.tables == [[["", "0", "1"], ["0", "1.0000", "2.5000"], ["1", "-3.0000", "4.0000"]]]


def test_vector_is_a_row_below_its_indices() -> None:
    assert shown(ts.arange(3)).tables == [[["0", "1", "2"], ["0", "1", "2"]]]


def test_higher_ranks_are_their_last_matrices_with_their_places() -> None:
    found = shown(ts.arange(12).reshape(2, 1, 3, 2))
    assert found.texts["caption"] == ["[0, 0]", "[1, 0]"]
    assert found.tables[1] == [["", "0", "1"], ["0", "6", "7"], ["1", "8", "9"], ["2", "10", "11"]]


@pytest.mark.parametrize("shape", [(13, 2, 2), (2, 2, 2, 2, 2, 2), (1000, 1, 1)])
def test_of_many_matrices_there_is_the_text(shape: tuple[int, ...]) -> None:
    x = ts.zeros(shape)
    found = shown(x)
    assert found.tables == []
    assert repr(x).endswith("".join(found.texts["pre"]))


def test_long_axes_are_shortened_as_repr_shortens_them() -> None:
    found = shown(ts.arange(5000).reshape(50, 100))
    rows = found.tables[0]
    assert rows[0] == ["", "0", "1", "2", "…", "97", "98", "99"]
    assert [row[0] for row in rows] == ["", "0", "1", "2", "…", "47", "48", "49"]
    assert rows[4] == ["…"] * 8 and rows[1] == ["0", "0", "1", "2", "…", "97", "98", "99"]
    assert rows[-1] == ["49", "4900", "4901", "4902", "…", "4997", "4998", "4999"]
    assert len(shown(ts.zeros(999)).values) == 999


def test_long_leading_axes_are_shortened_too() -> None:
    found = shown(ts.zeros(40, 6, 6))
    assert found.texts["caption"] == [f"[{i}]" for i in (0, 1, 2, 37, 38, 39)]
    assert found.texts["span"] == ["…"]


@pytest.mark.parametrize(
    "make, values",
    [
        (lambda: ts.tensor(2.5), ["2.5000"]),
        (lambda: ts.tensor(7), ["7"]),
        (lambda: ts.zeros(0), []),
        (lambda: ts.zeros(2, 0, 3), []),
        (lambda: ts.zeros(1 << 40, 0), []),
        (lambda: ts.tensor([True, False]), ["True", "False"]),
        (lambda: ts.tensor([1 + 2j, float("nan")]), ["1+2j", "nan+0j"]),
        (lambda: ts.tensor([float("inf"), -0.0, 1e20]), ["inf", "-0.0000e+00", "1.0000e+20"]),
        (lambda: ts.zeros(()).broadcast_to(1 << 50), ["0."] * 6),
        (lambda: ts.from_numpy(np.arange(3)), ["0", "1", "2"]),
        (lambda: ts.tensor([(1, 2), (-3, 4)], dtype=POINT), ["(1, 2)", "(-3, 4)"]),
    ],
)  # fmt: skip
def test_values_of_corner_cases(make: Any, values: list[str]) -> None:
    assert shown(make()).values == values


@pytest.mark.parametrize("dtype", PLAIN, ids=str)
def test_every_dtype_is_shown(dtype: Any) -> None:
    x = ts.tensor([[0, 1], [1, 0]]).astype(dtype)
    found = shown(x)
    assert found.title == f"tensor {dtype} (2, 2)"
    assert found.values == numbers(repr(x).removeprefix(found.title)) and len(found.values) == 4


def test_what_is_known_of_gradients_is_shown() -> None:
    x = ts.ones(2, requires_grad=True)
    y = x * 2
    assert shown(x).title == repr(x).partition(" [")[0] == "tensor float32 (2,) requires_grad"
    assert shown(y).title == "tensor float32 (2,) from mul" and "grad" not in shown(x).facts
    y.sum().backward()
    assert shown(x).facts == "8 B in heap, has grad"
    assert x.grad is not None and shown(x.grad).values == ["2.", "2."]


def test_memory_is_shown() -> None:
    arena = memory.Arena("1MB", name="<step>")
    x = ts.zeros(300, 4, allocator=arena)
    assert shown(x).facts == "4.7 KiB in <step>" and "&lt;step&gt;" in x._repr_html_()
    assert shown(x.T).facts == "4.7 KiB in <step>, strides (1, 4)"
    assert shown(ts.from_numpy(np.zeros(2))).facts == "16 B"
    arena.reset()
    found = shown(x)
    assert found.title == "tensor float32 (300, 4) freed" and not found.values


def test_virtual_tensor_is_shown_without_values() -> None:
    found = shown(_core.empty_virtual((1 << 20, 1 << 20), ts.float32.id))
    assert found.title == "tensor float32 (1048576, 1048576) virtual" and not found.values


def test_parameter_is_called_one() -> None:
    assert shown(nn.Parameter(ts.zeros(2))).title == "Parameter float32 (2,) requires_grad"


@given(
    shape=st.lists(st.sampled_from([0, 1, 1, 2, 2, 3, 7, 40]), max_size=4).map(tuple),
    dtype=st.sampled_from(DTYPES),
    layout=st.sampled_from(LAYOUTS),
    i=st.integers(0, 99),
)
def test_html_has_the_values_of_repr(
    shape: tuple[int, ...], dtype: str, layout: str, i: int
) -> None:
    x = Spec(shape, dtype, layout).make(i, is_odd=True)
    found = shown(x)
    head = f"tensor {dtype} {shape}"
    assert found.title == head
    assert found.values == numbers(repr(x).removeprefix(head))


def test_nothing_names_a_colour_or_loads_anything() -> None:
    things = [ts.zeros(3, 3), ts.zeros(50, 50, 50), nn.Linear(2, 3), data.Table({"a": [1]})]
    for thing in things:
        found = shown(thing)
        assert {name for name, _ in found.attributes} <= {"style", "open"}
        assert not re.search(r"color|background|url|#[0-9a-f]{3}", found.html)


def test_showing_leaves_no_trace() -> None:
    x = ts.ones(3, requires_grad=True)
    y = x.exp()
    before = y.version, memory.stats().live
    shown(y)
    assert (y.version, memory.stats().live) == before
    y.sum().backward()


# --- what holds tensors ---------------------------------------------------------------------------


def test_dynamic_array_is_shown_with_its_capacity() -> None:
    arena = memory.Arena("1MB")
    a = ts.DynamicArray(ts.int64, 4, item_shape=(2,), allocator=arena)
    a.extend([[1, 2], [3, 4]])
    found = shown(a)
    assert found.title == "DynamicArray int64 (2, 2) capacity 4" and found.facts.startswith("32 B")
    assert found.values == ["1", "2", "3", "4"]
    arena.reset()
    assert shown(a).title == "DynamicArray int64 (2, 2) capacity 4 freed"


def test_table_is_one() -> None:
    found = shown(data.Table({STRANGE: [1.5, 2.0], "kind": ["<i>", None]}))
    safe = STRANGE.encode("utf-8", "backslashreplace").decode()
    assert found.title == "Table 2 rows x 2 columns" and "<i>" not in found.html
    assert found.tables == [[[safe, "kind"], ["1.5", "<i>"], ["2", ""]]]
    long = shown(data.Table({"a": range(1000)}))
    assert long.tables == [[["a"], *([str(i)] for i in range(5)), ["…"]]]
    assert shown(data.Table({})).tables == [[]]


# --- modules --------------------------------------------------------------------------------------


class Odd(nn.Module):
    """A module with parts of every kind, and strange texts."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.second = self.first
        self.norm = nn.BatchNorm1d(3)
        self.bend = nn.ReLU()
        self.scale = nn.Parameter(ts.ones(5), requires_grad=False)
        self.add_module(STRANGE, nn.Tanh())

    def extra_repr(self) -> str:
        """Say something strange."""
        return STRANGE


def test_module_is_a_tree_with_counts() -> None:
    found = shown(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Sequential(nn.Linear(3, 1))))
    assert found.texts["code"] == [
        "Sequential()",
        "(0): Linear(in_features=2, out_features=3, bias=True)",
        "weight: float32 (3, 2)",
        "bias: float32 (3,)",
        "(1): ReLU()",
        "(2): Sequential()",
        "(0): Linear(in_features=3, out_features=1, bias=True)",
        "weight: float32 (1, 3)",
        "bias: float32 (1,)",
    ]
    assert found.texts["small"] == [
        "13 parameters, 52 B", "9 parameters, 36 B", "4 parameters, 16 B", "4 parameters, 16 B",
    ]  # fmt: skip
    assert found.tags.count("details") == found.tags.count("summary") == 4
    assert [name for name, _ in found.attributes].count("open") == 1


def test_counts_are_those_of_summary() -> None:
    model = nn.Sequential(nn.Linear(64, 128), nn.LayerNorm(128), nn.Linear(128, 10))
    model[0].requires_grad_(False)
    summary = nn.summary(model, ts.zeros(1, 64))
    assert shown(model).facts.startswith(
        f"{summary.parameters:,} parameters, {summary.trainable:,} trained, "
    )


def test_what_is_shared_is_counted_and_unfolded_once() -> None:
    found = shown(Odd())
    assert found.facts == "20 parameters, 15 trained, 80 B, buffers 32 B"
    lines = [each for each in found.texts["small"] if "as above" in each]
    assert lines == ["9 parameters, 36 B, as above"]
    assert found.texts["code"].count("weight: float32 (3, 2)") == 1
    assert "<b>" not in found.html and "&lt;b&gt;" in found.html


def test_what_has_no_parameters_has_no_count() -> None:
    bend = nn.Sequential(nn.ReLU())
    assert shown(nn.Sequential(bend, bend)).texts["small"] == ["as above"]
    assert shown(nn.Linear(1, 1, bias=False)).facts == "1 parameter, 4 B"


def test_modules_that_hold_each_other_or_themselves_end() -> None:
    wide = nn.Sequential(nn.Linear(1, 1))
    for _ in range(60):  # 2 ** 60 paths
        wide = nn.Sequential(wide, wide)
    assert len(shown(wide).html) < 100_000
    own = nn.Sequential(nn.Linear(1, 1))
    own.add_module("own", own)
    assert "as above" in shown(own).html
    deep = nn.Sequential(nn.Linear(1, 1))
    for _ in range(3000):
        deep = nn.Sequential(deep)
    found = shown(deep)
    assert found.tags.count("details") == walks.DEEPEST and found.facts == "2 parameters, 8 B"


def test_module_without_parts_is_a_line() -> None:
    found = shown(nn.ReLU())
    assert found.texts["code"] == ["ReLU()"] and "small" not in found.tags


# --- compiled functions ---------------------------------------------------------------------------


def test_compiled_function_is_its_page_in_a_frame() -> None:
    f = ts.compile(lambda x: (x @ x).sum(axis=0))
    assert f._repr_html_() is None  # there is no program yet: notebooks show the repr
    for _ in range(2):
        f(ts.ones(3, 3))
    found = shown(f)
    page = dict(found.attributes)["srcdoc"]
    assert found.tags == ["iframe"] and page is not None
    assert page.startswith("<!DOCTYPE html>") and "&lt;lambda&gt;" in page and "matmul" in page


def test_compiled_module_is_its_tree_until_it_has_a_program() -> None:
    layer = nn.Linear(2, 3)
    assert ts.compile(layer)._repr_html_() == layer._repr_html_()


def test_reports_of_compiled_functions_have_a_repr() -> None:
    f = ts.compile(lambda x: (x @ x).sum(axis=0))
    for _ in range(2):
        f(ts.ones(3, 3))
    reports = [f.memory(), f.explain(), f.program, f.plan(ts.ones(3, 3)), f.profile(ts.ones(3, 3))]
    for report in reports:
        assert repr(report) == str(report) and re.search("matmul|m1", repr(report))


# --- loading --------------------------------------------------------------------------------------


def test_html_is_loaded_at_its_first_use() -> None:
    code = (
        "import sys, tessella as ts; from tessella import nn\n"
        "def loaded(): return [n for n in sys.modules if n.endswith('notebooks') or n == 'html']\n"
        "print(loaded()); ts.ones(2)._repr_html_(); nn.ReLU()._repr_html_(); print(len(loaded()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n3\n"
