"""What compiled functions say when a call fails, or is not what an earlier one was."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessella as ts
from tessella.compiler import run
from tessella.errors import CaptureError

written = ts.zeros(3)


def text_of(kind: type[Exception], call: Callable[[], Any]) -> str:
    """Give the text of the error of a kind that a call raises."""
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def line_of(function: Any, down: int) -> str:
    """Give the place of a line of a function, counted from its first."""
    return f"test_capture_texts.py:{function.__code__.co_firstlineno + down}"


# --- failures in repeated calls -------------------------------------------------------------------


def write_and_take(x: ts.Tensor, rows: ts.Tensor) -> ts.Tensor:
    written.add_(1)
    return ts.take(x, rows, axis=0)


def write_and_place(x: ts.Tensor, rows: ts.Tensor) -> Any:
    written.add_(1)
    return {"sum": (x * 2).index_add(0, rows, x[:1])}


FAILING: dict[str, tuple[Callable[..., Any], str, list[str]]] = {
    "read": (write_and_take, "gather", [
        "    argument 0     float32 (4, 2)",
        "    argument 1     int64 (1,)",
        "    into result 0  float32 (1, 2)",
    ]),
    "written": (write_and_place, "scatter_add", [
        "    argument 0         float32 (1, 2)",
        "    argument 1         int64 (1,)",
        "    into intermediate  float32 (4, 2)",
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILING)
@pytest.mark.parametrize("passes_keywords", [False, True])
def test_a_failure_after_a_write_names_the_instruction_its_operands_and_its_line(
    name: str, passes_keywords: bool
) -> None:
    function, operation, operands = FAILING[name]
    compiled = ts.compile(function)
    x = ts.ones(4, 2)

    def call(row: int) -> Any:
        rows = ts.tensor([row])
        return compiled(x, rows=rows) if passes_keywords else compiled(x, rows)

    for row in range(3):
        call(row)
    before = written.tolist()
    lines = text_of(ts.errors.IndexOutOfBounds, lambda: call(4)).splitlines()
    assert written.tolist() == [value + 1 for value in before]  # as the function leaves it
    assert lines[0] == f"{operation}: index 4 is out of bounds for axis 0 of size 4"
    assert lines[1:4] == operands
    assert lines[4].startswith("  in the call at test_capture_texts.py:")
    assert lines[5].startswith(f"  at {line_of(function, 2)}: return ")
    assert lines[6:] == ["  hint: valid indices run from -4 to 3"]
    call(3)  # it goes on


# --- arguments and results ------------------------------------------------------------------------


def nested(depth: int) -> list[Any]:
    """Give a list in a list in a list …"""
    out: list[Any] = []
    for _ in range(depth):
        out = [out]
    return out


def looped() -> list[Any]:
    """Give a list that holds itself."""
    out: list[Any] = []
    out.append(out)
    return out


def takes_anything(x: ts.Tensor, extra: Any) -> ts.Tensor:
    return x * 2


def gives_a_loop(x: ts.Tensor) -> Any:
    return [x * 2, looped()]


@pytest.mark.parametrize("given", [nested(100_000), looped()], ids=["deep", "loop"])
def test_arguments_that_cannot_be_walked_through_are_named(given: Any) -> None:
    for name, call in [
        ("takes_anything: its", lambda: ts.compile(takes_anything)(ts.ones(2), given)),
        ("takes_anything: its", lambda: ts.compile(takes_anything)(ts.ones(2), extra=given)),
        ("takes_anything: its", lambda: ts.compile(takes_anything).profile(ts.ones(2), given)),
        ("plan: the", lambda: ts.compile(takes_anything).plan(ts.ones(2), given)),
    ]:
        text = text_of(CaptureError, call)
        assert text.startswith(f"{name} arguments are nested too deeply, or in themselves\n")
        assert "\n  at test_capture_texts.py:" in text
        assert "\n  hint: use containers of a few levels, none of which holds itself" in text


def test_results_that_cannot_be_walked_through_are_named() -> None:
    text = text_of(CaptureError, lambda: ts.compile(gives_a_loop)(ts.ones(2)))
    assert text.startswith("gives_a_loop: its results are nested too deeply, or in themselves\n")
    assert "\n  in the call at test_capture_texts.py:" in text
    assert f"\n  at {line_of(gives_a_loop, 0)}: def gives_a_loop(x: ts.Tensor) -> Any:\n" in text


@pytest.mark.parametrize("what", ["arguments", "results"])
def test_containers_at_any_depth_work_or_are_named(what: str) -> None:
    """Each walk has a depth of its own that it gets to: none may end in Python's error."""
    outcomes = set()
    for depth in range(100, 600, 3):
        given = nested(depth)
        try:
            if what == "arguments":
                ts.compile(takes_anything)(ts.ones(2), given)
            else:
                ts.compile(lambda x, given=given: (x * 2, given))(ts.ones(2))
            outcomes.add("")
        except CaptureError as error:
            outcomes.add(error.what)
    assert outcomes == {"", f"its {what} are nested too deeply, or in themselves"}


@pytest.mark.parametrize(
    ("value", "name", "cure"),
    [
        (np.float32(3), "numpy.float32", "return a number of Python's own: float(x) or int(x)"),
        (np.ones(3), "numpy.ndarray", "return a tensor: ts.tensor(a)"),
        (object(), "object", "return tensors, numbers, text, None, or tuples, lists and dicts"),
        ({1}, "set", "return tensors, numbers, text, None, or tuples, lists and dicts"),
    ],
)
def test_a_result_of_another_type_is_named_with_its_cure(value: Any, name: str, cure: str) -> None:
    def gives(x: ts.Tensor) -> Any:
        return value

    text = text_of(CaptureError, lambda: ts.compile(gives)(ts.ones(2)))
    assert text.startswith(f"gives: a result is of type {name}\n") and f"\n  hint: {cure}" in text


def test_what_is_no_function_is_named_by_its_type() -> None:
    text = text_of(ts.errors.ArgumentError, lambda: ts.compile(np.float32(3)))  # type: ignore[arg-type]
    assert text.startswith("compile: what is compiled must be a function or a module, got numpy.fl")


def test_the_warning_about_many_kinds_of_calls_names_keywords_and_items() -> None:
    def scaled(x: Any, scale: Any = 1, *, parts: Any = ()) -> Any:
        return x

    def warning_of(call: Callable[[Any, int], Any]) -> str:
        compiled = ts.compile(scaled)
        with pytest.warns(RuntimeWarning) as caught:
            for k in range(run.WARN_EACH):
                call(compiled, k)
        assert caught[0].filename == __file__
        return str(caught[0].message)

    x = ts.ones(2)
    start = "scaled was compiled for 16 kinds of calls; "
    assert warning_of(lambda f, k: f(x, k)) == f"{start}argument 1: 14, then 15"
    assert warning_of(lambda f, k: f(x, scale=k)) == f"{start}scale: 14, then 15"
    assert warning_of(lambda f, k: f(x, parts=[x, k])) == f"{start}parts, item 1: 14, then 15"
    text = warning_of(lambda f, k: f(ts.ones(k + 1), scale=3))
    assert text == f"{start}argument 0: float32 (15,), then float32 (16,)"
    text = warning_of(lambda f, k: f(x, parts=k * [x]))
    assert text == f"{start}how many arguments there are, or items in them, changed"
    text = warning_of(lambda f, k: f(ts.zeros(2, 40)[:, :: k + 1][:, :2]))
    assert text.startswith(f"{start}strides, shared memory, requires_grad, forms of containers or")


# --- files, and what a program does not see -------------------------------------------------------


def test_a_function_may_write_into_files() -> None:
    sink = io.StringIO()

    def tells(x: ts.Tensor) -> ts.Tensor:
        print("to a file", file=sink)
        print("to the screen", file=sys.stderr)
        return x * 2

    compiled = ts.compile(tells)
    for i in range(4):
        assert compiled(ts.ones(2) * i).tolist() == [2 * i, 2 * i]
    assert sink.getvalue() == 2 * "to a file\n"  # as it is recorded, not as it is repeated


def test_a_file_that_is_only_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "numbers").write_text("1\n2\n")
    with open(tmp_path / "numbers") as source:
        text = text_of(
            CaptureError, lambda: ts.compile(lambda x: x * int(next(source)))(ts.ones(2))
        )
    assert "source is an iterator, which gives something else at each call" in text


def test_a_check_that_fails_names_values_that_a_program_does_not_see() -> None:
    compiled = ts.compile(lambda x: x * sys.getrecursionlimit(), check=1)
    limit = sys.getrecursionlimit()
    for _ in range(3):
        compiled(ts.ones(2))
    try:
        sys.setrecursionlimit(limit + 1)
        text = text_of(CaptureError, lambda: compiled(ts.ones(2)))
    finally:
        sys.setrecursionlimit(limit)
    hint = text.splitlines()[-1]
    assert hint.startswith(
        "  hint: it may read a value in Python that a program does not see (docs"
    )
    assert "pass that as an argument, or keep it in a tensor; if there is none, please repo" in hint
