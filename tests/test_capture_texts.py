"""What compiled functions say when a call fails, or is not what an earlier one was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tessella as ts

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
