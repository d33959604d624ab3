"""What a compiled function tells about its program: why steps end, times, costs, the page."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessella as ts
from tessella import nn
from tessella.compiler import Compiled, costs, explain, fuse, profile
from tessella.compiler.program import Program
from test_compiled_programs import MODELS, programs_of

CaptureError = ts.errors.CaptureError


def compiled_of(function: Callable[..., Any], *args: Any) -> Compiled:
    """Give a function that was called often enough to have a program."""
    compiled: Compiled = ts.compile(function)
    for _ in range(3):
        compiled(*args)
    return compiled


def program_of(function: Callable[..., Any], *args: Any) -> Program:
    program = compiled_of(function, *args).program
    assert program is not None
    return program


def reasons(function: Callable[..., Any], *args: Any) -> list[str]:
    return [row.reason for row in compiled_of(function, *args).explain().rows]


# --- explain --------------------------------------------------------------------------------------


def test_explain_says_why_each_step_ends() -> None:
    def f(x: ts.Tensor, w: ts.Tensor) -> Any:
        h = (x * 2 + 1) @ w
        return h.exp().sum(axis=0).sqrt()

    text = str(compiled_of(f, ts.ones(4, 3), ts.ones(3, 2)).explain())
    line = f.__code__.co_firstlineno + 1
    assert text == (
        "compiled f: 6 instructions in 4 steps\n"
        f"    0  mul, add (4, 3)     test_compile_reports.py:{line}\n"
        "       ends before matmul: matmul begins a step\n"
        f"    1  matmul, exp (4, 2)  test_compile_reports.py:{line}, {line + 1}\n"
        "       ends before sum: sum runs alone: it does not reduce the last axes\n"
        f"    2  sum (2,)            test_compile_reports.py:{line + 1}\n"
        "       ends before sqrt: sum runs alone: it does not reduce the last axes\n"
        f"    3  sqrt (2,)           test_compile_reports.py:{line + 1}"
    )


def test_explain_gives_rows() -> None:
    first, last = compiled_of(lambda x: (x * 2) @ x, ts.ones(3)).explain().rows
    assert (first.step, first.title, first.before) == (0, "mul (3,)", "matmul")
    assert (last.step, last.before, last.reason) == (1, "", "")


def written_transposed(x: ts.Tensor) -> ts.Tensor:
    y = x * 2
    return y * y.T


REASONS: dict[str, tuple[Callable[..., Any], list[ts.Tensor], str]] = {
    "shape": (lambda x, y: (x * 2, y * 2), [ts.ones(2, 3), ts.ones(5)],
              "its shape (5,) is not (2, 3)"),
    "layout": (written_transposed, [ts.ones(3, 3)], "mul sees m1 in another layout"),
    "complex": (lambda x: (x + 1).sum(), [ts.ones(3, dtype=ts.complex64)],
                "sum runs alone: it reduces complex numbers"),
    "rows": (lambda x: ((x + 1).sum(axis=-1), (x + 2).sum()), [ts.ones(3, 4)],
             "its rows have 12 elements, not 4"),
    "reduced": (lambda x, y: (x + 1, y.sum()), [ts.ones(3, 4), ts.ones(5)],
                "it reduces (5,), not (3, 4)"),
    "thin": (lambda x: (x[:, :3] @ x[:3] + 1), [ts.ones(200, 200)],
             "matmul is too thin for more"),
    "order": (lambda x: (x + 1, x.T.sum(axis=-1)), [ts.ones(3, 3)],
              "it reads elements of a0 in another order"),
    "strides": (lambda x, y: (x.T.copy_(y), x * 2)[1], [ts.ones(2, 3), ts.ones(3, 2)],
                "copy runs alone: what it writes is not contiguous"),
}  # fmt: skip


@pytest.mark.parametrize("name", REASONS)
def test_reasons_name_what_is_in_the_way(name: str) -> None:
    function, args, reason = REASONS[name]
    assert reasons(function, *args)[0] == reason


def test_as_many_instructions_as_a_step_may_have_are_a_reason() -> None:
    def f(x: ts.Tensor) -> ts.Tensor:
        for _ in range(fuse.MOST + 1):
            x = x + 1
        return x

    assert reasons(f, ts.ones(3)) == ["64 instructions are the most", ""]


def test_memories_that_overlap_are_a_reason() -> None:
    array = np.ones(4, "float32")
    x, y = ts.asarray(array), ts.asarray(array)
    found = compiled_of(lambda: (x * 2 + 1) * y).explain()
    assert [row.reason for row in found.rows][:-1] == ["memories from outside overlap"] * 2


def test_what_writes_across_rows_runs_alone() -> None:
    x = ts.ones(4, 4)

    def f(y: ts.Tensor) -> ts.Tensor:
        x[:, :2].mul_(y)
        return y + 1

    assert reasons(f, ts.ones(4, 2))[0] == "mul runs alone: what it writes is not contiguous"


@pytest.mark.parametrize("name", MODELS)
def test_every_step_but_the_last_has_a_reason(name: str) -> None:
    for program in programs_of(name):
        found = explain.ends_of(program)
        assert [bool(row.reason) for row in found] == [True] * (len(found) - 1) + [False]


def test_titles_and_lines_are_shortened() -> None:
    def f(x: ts.Tensor) -> Any:
        y = (x * 2 + 1).sin()
        y = y.cos()
        y = y.exp()
        return y.tanh()

    (row,) = compiled_of(f, ts.ones(2)).explain().rows
    line = f.__code__.co_firstlineno
    assert row.title == "mul, add, sin, cos, 2 more (2,)"
    assert row.lines == f"test_compile_reports.py:{line + 1}, {line + 2}, {line + 3} …"


# --- costs ----------------------------------------------------------------------------------------


def step_costs(function: Callable[..., Any], *args: Any) -> list[tuple[int, int]]:
    program = program_of(function, *args)
    return [(costs.bytes_of(program, s), costs.operations_of(s)) for s in program.steps]


def test_bytes_are_those_that_memory_moves() -> None:
    x, y = ts.ones(8, 16), ts.ones(16)
    size = 8 * 16 * 4
    assert step_costs(lambda x: x * 2, x) == [(2 * size, 0)]
    assert step_costs(lambda x, y: x * y, x, y) == [(2 * size + 64, 0)]
    assert step_costs(lambda x: (x * 2 + x) * x, x) == [(2 * size, 0)]  # x once, and no tiles
    spread = step_costs(lambda x, y: x + y.expand(8, 16), x, y)
    assert spread == [(2 * size + 64, 0)]
    assert step_costs(lambda x: x.mul_(2), ts.ones(8, 16)) == [(2 * size, 0)]
    assert step_costs(lambda x: x[:, ::2] * 2, x) == [(size, 0)]
    assert step_costs(lambda x: x * x.T, ts.ones(8, 8)) == [(2 * 8 * 8 * 4, 0)]


def test_bytes_of_indexed_operands_are_those_that_are_reached() -> None:
    table, rows = ts.ones(1000, 4), ts.tensor([3, 7])
    moved = 2 * (2 * 4 * 4) + 2 * 8
    assert step_costs(lambda t, i: t[i], table, rows)[0] == (moved, 0)
    assert step_costs(lambda t, i: nn.functional.embedding(i, t), table, rows)[0] == (moved, 0)


def test_bytes_of_updates_count_what_they_read_and_write() -> None:
    weight = nn.Parameter(ts.ones(256))
    optimizer = ts.optim.SGD([weight], lr=0.1)

    def step(g: ts.Tensor) -> None:
        weight.grad = g * 1
        optimizer.step()

    program = program_of(step, ts.ones(256))
    (update,) = (s for s in program.steps if s[0].name.startswith("update"))
    assert 3 * 1024 <= costs.bytes_of(program, update) < 3 * 1024 + 64


def test_operations_are_those_of_products() -> None:
    def only(function: Callable[..., Any], *args: Any) -> int:
        return sum(found for _, found in step_costs(function, *args))

    a, b = ts.ones(5, 3, 4), ts.ones(4, 7)
    assert only(lambda a, b: a @ b, a, b) == 2 * 5 * 3 * 4 * 7
    assert only(lambda a: a @ a, ts.ones(6)) == 2 * 6
    z = ts.ones(3, 3, dtype=ts.complex64)
    assert only(lambda z: z @ z, z) == 8 * 27
    with ts.no_grad():
        layer, grouped = nn.Linear(4, 7), nn.Conv2d(4, 6, 3, padding=1, groups=2)
        assert only(layer, ts.ones(5, 4)) == 2 * 5 * 4 * 7
        assert only(grouped, ts.ones(2, 4, 8, 8)) == 2 * (2 * 6 * 8 * 8) * (2 * 3 * 3)


def test_operations_of_a_gradient_are_those_of_its_two_products() -> None:
    layer = nn.Conv2d(3, 5, 2, bias=False)

    def step(x: ts.Tensor) -> Any:
        layer.zero_grad()
        y = layer(x)
        y.sum().backward()
        return y.detach()

    products = 2 * (2 * 5 * 7 * 7) * (3 * 2 * 2)
    assert sum(found for _, found in step_costs(step, ts.ones(2, 3, 8, 8))) == 2 * products


def test_operations_of_attention_are_those_of_its_products() -> None:
    q, k, v = ts.ones(2, 5, 8), ts.ones(2, 7, 8), ts.ones(2, 7, 3)
    attend: Any = nn.functional.scaled_dot_product_attention

    def step(q: ts.Tensor) -> Any:
        x = q.clone().requires_grad_()
        attend(x, k, v).sum().backward()
        return x.grad

    scores = 2 * 5 * 7
    assert sum(found for _, found in step_costs(attend, q, k, v)) == 2 * scores * (8 + 3)
    back = 3 * 8 + 2 * 3  # scores again, of keys and queries; of values and weights
    assert sum(found for _, found in step_costs(step, q)) == 2 * scores * (8 + 3 + back)


def test_operations_of_recurrent_layers_are_those_of_their_weights() -> None:
    layer = nn.GRU(3, 4).requires_grad_(False)
    found = sum(n for _, n in step_costs(lambda x: layer(x)[0], ts.ones(5, 2, 3)))
    assert found == 2 * (5 * 2) * (3 * 4) * (3 + 4)  # of the inputs, and of the states


# --- profile --------------------------------------------------------------------------------------


def test_profile_is_a_table_of_steps() -> None:
    args = ts.ones(64, 64), ts.ones(64, 64)
    compiled = compiled_of(lambda x, w: ((x @ w) @ w * 2 + 1).sum(axis=0).exp(), *args)
    found = compiled.profile(*args, repeats=5)
    assert found.calls == 5 and found.result[0].item() == math.inf
    titles = ["matmul (64, 64)", "matmul, mul, add (64, 64)", "sum (64,)", "exp (64,)"]
    assert [row.title for row in found.rows] == titles
    product, _, total, _ = found.rows
    assert product.operations == 2 * 64**3 and total.operations == 0
    assert product.gigaflops_per_second == pytest.approx(2 * 64**3 / product.seconds / 1e9)
    assert total.gigabytes_per_second == pytest.approx(65 * 64 * 4 / total.seconds / 1e9)
    assert found.seconds == sum(row.seconds for row in found.rows) > 0
    first, head, *lines = str(found).splitlines()
    assert re.fullmatch(
        r"compiled <lambda>: [\d.,]+ [mµn]?s in 4 steps, the median of 5 calls", first
    )
    assert head.split() == ["step", "time", "share", "rate", "lines"]
    pattern = r" +\d+  \S.*\(.*\) +[\d.,]+ [mµn]?s +\d+% +[\d.,]+ (GFLOP|GB)/s  test_compile_.*:\d+"
    assert len(lines) == 4 and all(re.fullmatch(pattern, line) for line in lines)
    assert "GFLOP/s" in lines[0] and "GFLOP/s" in lines[1] and "GB/s" in lines[2]


def test_profile_calls_as_a_call_does() -> None:
    def play(call: Callable[[Any, ts.Tensor], Any]) -> list[Any]:
        ts.manual_seed(1)
        layer = nn.Linear(3, 2)
        optimizer = ts.optim.SGD(layer.parameters(), lr=0.01, momentum=0.9)

        def step(x: ts.Tensor) -> Any:
            optimizer.zero_grad()
            loss = (layer(x) * ts.rand(2)).square().sum()
            loss.backward()
            optimizer.step()
            return loss.detach()

        x = ts.ones(4, 3)  # elsewhere, a call may be recorded first
        compiled = compiled_of(step, x)
        results = [call(compiled, x).item() for _ in range(3)]
        assert layer.weight.grad is not None
        return [results, layer.weight.tolist(), layer.weight.grad.tolist(), ts.rand(1).item()]

    def profiled(compiled: Any, x: ts.Tensor) -> Any:
        return compiled.profile(x).result

    assert play(profiled) == play(lambda compiled, x: compiled(x))


def test_profile_repeats_as_often_as_it_is_told() -> None:
    count = ts.zeros(())
    one = ts.ones(())
    compiled = compiled_of(lambda x: count.add_(x), one)
    compiled.profile(one, repeats=7)
    assert count.item() == 3 + 7


def test_profile_of_what_gradients_flow_through_gives_a_result_with_its_graph() -> None:
    layer = nn.Linear(3, 2)
    compiled = compiled_of(lambda x: layer(x).tanh(), ts.ones(4, 3))
    found = compiled.profile(ts.ones(4, 3))
    assert len(found.rows) == len(compiled.program.steps)  # type: ignore[union-attr]
    found.result.sum().backward()
    assert layer.weight.grad is not None and layer.weight.grad.shape == (2, 3)


def test_profile_of_a_method_knows_its_object() -> None:
    class Scaled:
        def __init__(self) -> None:
            self.by = ts.full((3,), 5.0)

        @ts.compile
        def call(self, x: ts.Tensor) -> ts.Tensor:
            return x * self.by

    scaled = Scaled()
    for _ in range(3):
        scaled.call(ts.ones(3))
    assert scaled.call.profile(ts.ones(3)).result.tolist() == [5.0, 5.0, 5.0]


def test_profile_makes_the_program_if_there_is_none() -> None:
    count = ts.zeros(())
    compiled = ts.compile(lambda x: count.add_(x))
    assert compiled.profile(ts.ones(())).calls == 1
    assert count.item() == 2 + 1
    assert compiled.profile(ts.ones((1,))[0], repeats=2).calls == 2  # which lies elsewhere


def test_profile_refuses_calls_that_are_never_repeated() -> None:
    layer = nn.Linear(3, 2)
    both = ts.compile(lambda x: ts.split(layer(x).tanh(), 1, axis=1))
    with pytest.raises(CaptureError, match="profile: such a call is run as it is written"):
        both.profile(ts.ones(4, 3))


def test_profile_ends_where_calls_change_what_the_function_does() -> None:
    factors = [2.0]

    def f(x: ts.Tensor) -> ts.Tensor:
        return x * factors[0]

    compiled = compiled_of(f, ts.ones(3))
    accepts = [True, True, False]
    (kind,) = compiled._compiled_kinds.values()
    (runnable,) = kind.programs
    runnable.accepts = lambda tensors: accepts.pop(0)  # type: ignore[method-assign]
    assert compiled.profile(ts.ones(3), repeats=9).calls == 2


def test_profile_checks_its_arguments() -> None:
    compiled = compiled_of(lambda x: x * 2, ts.ones(3))
    with pytest.raises(ts.errors.InvalidArgument, match="profile: repeats is 0"):
        compiled.profile(ts.ones(3), repeats=0)
    with pytest.raises(ts.errors.ArgumentError, match="profile: repeats must be an integer"):
        compiled.profile(ts.ones(3), repeats="2")  # type: ignore[arg-type]


def test_profile_is_refused_where_programs_are_not_run() -> None:
    inner = compiled_of(lambda x: x * 2, ts.ones(3))
    with pytest.raises(CaptureError, match="programs are not run inside of a compiled call"):
        ts.compile(lambda x: inner.profile(x).result)(ts.ones(3))


def test_a_call_after_a_profile_is_not_measured() -> None:
    compiled = compiled_of(lambda x: x * 2, ts.ones(3))
    compiled.profile(ts.ones(3))
    kinds = compiled._compiled_kinds.values()
    assert [each.times for kind in kinds for each in kind.programs] == [None]


@pytest.mark.parametrize(
    "seconds, text",
    [
        (2.5e-8, "25.0 ns"),
        (1e-7, "100 ns"),
        (1.5e-6, "1.50 µs"),
        (0.0123, "12.3 ms"),
        (75, "75.0 s"),
    ],
)
def test_times_are_written_as_people_read_them(seconds: float, text: str) -> None:
    assert profile.to_text(seconds) == text


# --- the page -------------------------------------------------------------------------------------


class Page(HTMLParser):
    """All elements of a page with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in ("meta", "line", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("line", "rect"):
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def having(self, class_: str) -> list[dict[str, str]]:
        return [found for _, found in self.elements if class_ in found.get("class", "").split()]


@pytest.mark.parametrize("name", MODELS)
def test_page_is_whole_and_has_every_instruction_and_buffer(name: str, tmp_path: Path) -> None:
    ts.manual_seed(0)
    function, arguments = MODELS[name]()
    compiled: Compiled = ts.compile(function)
    for i in range(5):
        compiled(*arguments(i))
    compiled.show(tmp_path / "page.html")
    page = Page((tmp_path / "page.html").read_text("utf-8"))
    program = compiled.program
    assert program is not None and not program.pulls
    assert len(page.having("buffer")) == len(compiled.memory().rows)
    assert len(page.having("instruction")) == len(program.instructions)
    assert len(page.having("step")) == len(program.steps)
    assert len(page.having("group")) == sum(len(step) > 1 for step in program.steps)
    for each in program.instructions:
        assert program.show_instruction(each) in page.text
    assert str(program).splitlines()[-1] in page.text


def test_memory_of_no_elements_is_shown(tmp_path: Path) -> None:
    compiled = compiled_of(lambda x: (ts.empty(0, 3) @ x).sum(axis=0) + x.sum(), ts.ones(3, 2))
    assert compiled.memory().rows[0][1:3] == ((0, 3), 0)
    compiled.show(tmp_path / "page.html")
    assert len(compiled.profile(ts.ones(3, 2)).rows) == 4


def test_page_names_no_other_file(tmp_path: Path) -> None:
    compiled_of(lambda x: x @ x @ x, ts.ones(3, 3)).show(str(tmp_path / "page.html"))
    text = (tmp_path / "page.html").read_text("utf-8")
    page = Page(text)
    assert not re.search(r"https?:|url\(|@import|src=", text)
    assert not any({"src", "href", "onclick"} & found.keys() for _, found in page.elements)
    assert {tag for tag, _ in page.elements}.isdisjoint({"link", "img", "iframe", "object"})


def test_page_is_replaced_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "page.html"
    compiled = compiled_of(lambda x: x @ x @ x, ts.ones(3, 3))
    compiled.show(path)
    compiled.show(path)
    before = path.read_bytes()
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "disk full")))
    with pytest.raises(OSError, match="disk full"):
        compiled.show(path)
    assert path.read_bytes() == before and [each.name for each in tmp_path.iterdir()] == [path.name]


def test_page_needs_a_program_and_a_path(tmp_path: Path) -> None:
    compiled = ts.compile(lambda x: x @ x @ x)
    with pytest.raises(CaptureError, match="no call was repeated yet"):
        compiled.show(tmp_path / "page.html")
    for report in (compiled.explain, compiled.memory):
        with pytest.raises(CaptureError, match="call the function twice with arguments of the"):
            report()
    for _ in range(2):
        compiled(ts.ones(3, 3))
    with pytest.raises(ts.errors.ArgumentError, match="show: path must be a path"):
        compiled.show(3)  # type: ignore[arg-type]
    with pytest.raises(ts.errors.InvalidArgument, match="is a folder"):
        compiled.show(tmp_path)
    with pytest.raises(FileNotFoundError, match="nothing"):
        compiled.show(tmp_path / "nothing" / "page.html")
