"""What compiled functions say when a call fails, or is not what an earlier one was."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessella as ts
from tessella import nn
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
    before: Any = written.tolist()
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
    for depth in range(100, 1100, 5):
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
    text = text_of(ts.errors.ArgumentError, lambda: ts.compile(np.float32(3)))  # type: ignore[call-overload]
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


# --- functions that do not do the same ------------------------------------------------------------


calls = [0]
others = [ts.ones(2) * i for i in range(9)]
chances = [ts.Generator(i) for i in range(9)]
leaves = [ts.ones(2).requires_grad_() for _ in range(9)]
sharing = [others[0].detach().requires_grad_() for _ in range(9)]


def turn() -> int:
    """Give another number at each call, and hide that."""
    hidden = calls
    hidden[0] += 1
    return hidden[0]


def other_number(x: ts.Tensor) -> Any:
    return x * turn()


def other_operation(x: ts.Tensor) -> Any:
    return (x.sin, x.cos, x.exp)[turn() % 3]()


def other_size(x: ts.Tensor) -> Any:
    return ts.ones(turn(), 2) * x


def other_operand(x: ts.Tensor) -> Any:
    y = x.exp()
    return y * (x, y, others[0])[turn() % 3]


def other_tensor(x: ts.Tensor) -> Any:
    return x * others[turn() % 9]


def tensor_of_a_thread(x: ts.Tensor) -> Any:
    made: list[Any] = []
    thread = threading.Thread(target=lambda: made.append(ts.ones(2)))
    thread.start()
    thread.join()
    return x * made[0]


def other_place(x: ts.Tensor) -> Any:
    start = turn() % 3
    return x[start : start + 2] * 2


def more_operations(x: ts.Tensor) -> Any:
    for _ in range(turn()):
        x = x * 2
    return x


def fewer_operations(x: ts.Tensor) -> Any:
    for _ in range(20 - turn()):
        x = x * 2
    return x


def other_generator(x: ts.Tensor) -> Any:
    return x * ts.rand(2, generator=chances[turn() % 9])


def other_numbers_of_a_generator(x: ts.Tensor) -> Any:
    order = ((0, 1, 0), (0, 0, 1), (0, 1, 1))[turn() % 3]
    return [x * ts.rand(2, generator=chances[i]) for i in order]


def more_results(x: ts.Tensor) -> Any:
    return [x * 2, *range(turn())]


def other_form(x: ts.Tensor) -> Any:
    return {turn(): x * 2}


def other_value(x: ts.Tensor) -> Any:
    return x * 2, turn()


def other_result(x: ts.Tensor) -> Any:
    y = x * 2
    return (x, y, others[0])[turn() % 3]


def other_kept_tensor(x: ts.Tensor) -> Any:
    return others[turn() % 9]


def other_gradient(x: ts.Tensor) -> Any:
    leaves[turn() % 9].grad = None


def other_new_gradient(x: ts.Tensor) -> Any:
    number = turn() % 3
    for i, leaf in enumerate(leaves[:3]):
        leaf.grad = x * 2 if i == number else None


def other_gradient_taken(x: ts.Tensor) -> Any:
    number = turn() % 3
    assert all(leaf.grad is not None for leaf in leaves[:3])
    leaves[number].grad = None


def other_flow(x: ts.Tensor) -> Any:
    y = leaves[0] * x
    number = turn() % 3
    return [part if number == i else part.detach() for i, part in enumerate([y, y + 1, y + 2])]


def flow_to_another(x: ts.Tensor) -> Any:
    return sharing[turn() % 9] * x


def other_backward(x: ts.Tensor) -> Any:
    a, b = leaves[0], leaves[0].detach()
    one, two, three = ((b, b, a), (a, a, a), (a, b, b))[turn() % 3]
    return one * two * three


UNSTEADY: dict[Any, tuple[str, int]] = {
    other_number: ("mul(float32 2.0@1), then mul(float32 3.0@1)", 1),
    other_operation: ("exp(float32), then sin(float32)", 1),
    other_size: ("what fill writes is float32 (2, 2), then float32 (3, 2)", 1),
    other_operand: (
        "operand 1 of mul, float32 (2,), is a tensor from outside, then argument 0", 2),
    other_tensor: ("operand 1 of mul, float32 (2,), is a tensor from outside, then another", 1),
    tensor_of_a_thread: (
        "operand 1 of mul, float32 (2,), is a tensor from outside, then another", 5),
    other_place: (
        "operand 0 of mul, float32 (2,), begins at byte 8 of its memory with strides (1,), "
        "then at byte 0 with (1,)", 2),
    more_operations: ("2 operations, then 3: mul is new", 2),
    fewer_operations: ("18 operations, then 17: mul is missing", 2),
    other_generator: ("random draws from one generator, then from another", 1),
    other_numbers_of_a_generator: (
        "random draws from another generator, or from elsewhere in its numbers", 2),
    more_results: ("3 results, then 4", 0),
    other_form: ("the form of its results is {2: 0}, then {3: 0}", 0),
    other_value: ("result 1 is 2, then 3", 0),
    other_result: ("result 0 is float32 (2,), then argument 0", 0),
    other_kept_tensor: ("result 0 is float32 (2,), then another", 0),
    other_gradient: ("a tensor whose gradient it uses is float32 (2,), then another", 0),
    other_new_gradient: (
        "the gradient of float32 (2,) is left as it is, then set to float32 (2,), a result of mul",
        0),
    other_gradient_taken: (
        "the gradient of float32 (2,) is left as it is, then taken away", 0),
    other_flow: ("gradients flow into the results [2], then [0]", 0),
    flow_to_another: ("what gradients flow to is float32 (2,), then another", 0),
    other_backward: (
        "in the gradient of its results, 2 operations, then 1: mul is missing", 0),
}  # fmt: skip


@pytest.mark.parametrize("function", UNSTEADY, ids=lambda function: function.__name__)
def test_a_function_that_does_not_do_the_same_is_told_what_differs(function: Any) -> None:
    what, down = UNSTEADY[function]
    calls[0] = 0
    compiled = ts.compile(function)
    x = ts.arange(6.0) if function is other_place else ts.ones(2)
    with pytest.raises(CaptureError) as caught:
        for _ in range(3):
            for leaf in leaves:
                leaf.grad = ts.ones(2) if function is other_gradient_taken else None
            compiled(x)
    text = str(caught.value)
    start = f"{function.__name__}: the function does not do the same at each call: "
    assert text.splitlines()[0] == start + what
    assert text.splitlines()[1].startswith("  in the call at test_capture_texts.py:")
    assert text.splitlines()[2].startswith(f"  at {line_of(function, down)}: ")
    hint = "  hint: what changes must be a tensor that is updated in place, or an argument"
    assert text.splitlines()[3:] == [hint]


def test_a_replaced_parameter_is_named_with_the_line_that_reads_it() -> None:
    class Scale(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(ts.ones(2))

        def forward(self, x: ts.Tensor) -> ts.Tensor:
            return x * self.weight

    model = Scale()
    compiled = ts.compile(model)
    held = []
    with pytest.raises(CaptureError) as caught:
        for _ in range(3):
            held.append(model.weight)  # so that its memory is not used again
            compiled(ts.ones(2))
            model.weight = nn.Parameter(ts.ones(2))
    text = str(caught.value)
    assert "operand 1 of mul, float32 (2,), is a tensor from outside, then another\n" in text
    assert f"\n  at {line_of(Scale.forward, 1)}: return x * self.weight\n" in text
