"""What users see of compile: refusals with their texts, tables, the bounded cache, checks."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessella as ts
from tessella import nn
from tessella.compiler import check, run

CaptureError = ts.errors.CaptureError


def refusal_of(call: Callable[[], Any]) -> str:
    """Give the text of the error that a call raises."""
    with pytest.raises(CaptureError) as caught:
        call()
    assert "test_compile_interface.py:" in str(caught.value)
    return str(caught.value)


kept: list[Any] = []
numbers = iter(range(100))
chance = random.Random(0)
leaf = ts.ones(3).requires_grad_()
outside = ts.ones(3)
twins = ts.Generator(5), ts.Generator(5)
moved = ts.Generator(6)


def keep(x: ts.Tensor) -> ts.Tensor:
    y = x * 2
    kept.append(y)
    return y + 1


def give_gradient(x: ts.Tensor) -> ts.Tensor:
    leaf.grad = outside
    return x * 2


def seed(x: ts.Tensor) -> ts.Tensor:
    ts.manual_seed(3)
    return x * ts.rand(3)


def move_on(x: ts.Tensor) -> ts.Tensor:
    y = x * ts.rand(3, generator=moved)
    moved.counter = 8
    return y


def draw_from_both(x: ts.Tensor) -> ts.Tensor:
    return x * ts.rand(3, generator=twins[0]) + ts.rand(3, generator=twins[1])


REFUSED: dict[str, tuple[Callable[[ts.Tensor], Any], str, str]] = {
    "item": (lambda x: x * x.sum().item(),
             "item() cannot be part of a compiled function",
             "return the tensor and read it outside; to choose by its value, use where(…)"),
    "bool": (lambda x: x if x.sum() > 0 else -x,
             "bool() cannot be part of a compiled function", "use where(…)"),
    "list": (lambda x: ts.tensor(x.tolist()),
             "reading elements cannot be part of a compiled function",
             "do it outside of the function, and pass or return tensors"),
    "numpy": (lambda x: x.numpy().sum(),
              "memory that is given to others cannot be part of a compiled function",
              "do it outside of the function"),
    "array": (lambda x: x + ts.asarray(np.ones(3, "float32")),
              "memory of others cannot be part of a compiled function",
              "do it outside of the function"),
    "mask": (lambda x: x[x > 0],
             "a result whose size depends on values cannot be part of a compiled function",
             "use where(mask, x, 0) or multiply by the mask, which keep the shape"),
    "seed": (seed, "seeding a generator cannot be part of a compiled function",
             "do it outside of the function"),
    "moved": (move_on, "a generator was moved by something else than drawing from it",
              "seed it outside of the function"),
    "result": (lambda x: object(), "a result is of type object",
               "return tensors, numbers, text, None, or tuples, lists and dicts of them"),
    "kept": (keep, "is kept where a repeated call would not put it",
             "return it; or write it into a tensor that is there: state.copy_(x)"),
    "gradient": (give_gradient, "a gradient was set to a tensor that the function did not make",
                 "set it outside of the function, or to a copy: p.grad = g.clone()"),
    "twins": (draw_from_both, "two generators have the same seed and stand at the same place",
              "seed them differently: which of the two an operation drew from cannot be told"),
    "iterator": (lambda x: x * next(numbers), "numbers is an iterator, which gives something else",
                 "take its items outside of the function, and pass them as arguments"),
    "clock": (lambda x: x * time.perf_counter(), "time.perf_counter gives something else",
              "read it outside of the function and pass what it gives; draw by ts.rand"),
    "chance": (lambda x: x * chance.random(), "chance gives something else at each call",
               "read it outside of the function"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_repeated_is_refused_with_the_way_out(name: str) -> None:
    function, what, cure = REFUSED[name]
    text = refusal_of(lambda: ts.compile(function)(ts.ones(3)))
    assert what in text and cure in text
    leaf.grad = None


def give_object(x: ts.Tensor) -> Any:
    return object()


class Odd(nn.Module):
    """A module whose result is no tensor."""

    def forward(self, x: ts.Tensor) -> Any:
        return {1, 2}


FOUND_LATE: dict[str, tuple[Callable[[ts.Tensor], Any], Any, int]] = {
    "kept": (keep, keep, 1),
    "gradient": (give_gradient, give_gradient, 1),
    "result": (give_object, give_object, 0),
    "module": (Odd(), Odd.forward, 0),
}


@pytest.mark.parametrize("name", FOUND_LATE)
def test_what_is_found_after_the_call_names_the_line_inside_and_the_call(name: str) -> None:
    function, body, down = FOUND_LATE[name]
    text = refusal_of(lambda: ts.compile(function)(ts.ones(3)))
    assert f"\n  at test_compile_interface.py:{body.__code__.co_firstlineno + down}" in text
    assert "\n  in the call at test_compile_interface.py:" in text
    leaf.grad = None


def test_a_function_that_never_does_the_same_is_refused_with_both_values() -> None:
    count = [0.0]

    def unsteady(x: ts.Tensor) -> ts.Tensor:
        count[0] += 1
        return x * count[0]

    compiled = ts.compile(unsteady)
    compiled(ts.ones(2))
    compiled(ts.ones(2))
    text = refusal_of(lambda: compiled(ts.ones(2)))
    assert "the function does not do the same at each call: mul(float32 2.0@1), then mul(" in text
    assert "what changes must be a tensor that is updated in place, or an argument" in text


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(ts.errors.ArgumentError, match="must be a function or a module, got int"):
        ts.compile(3)  # type: ignore[call-overload]
    with pytest.raises(ts.errors.InvalidArgument, match="check is -1"):
        ts.compile(lambda x: x, check=-1)


def test_gradients_of_gradients_are_refused() -> None:
    cube = ts.compile(lambda x: (x * x * x).sum())
    for _ in range(3):
        x = ts.ones(2).requires_grad_()
        value = cube(x)
    text = refusal_of(lambda: ts.autograd.grad(value, [x], create_graph=True))
    assert "the gradient of a compiled function has no gradient of its own" in text
    assert "compile the function that takes both, or call the function itself" in text


def test_memory_is_a_table_of_what_lies_in_the_arena() -> None:
    layer = nn.Linear(4, 8)
    with ts.no_grad():
        forward = ts.compile(lambda x: layer(x).relu().sum(axis=0) @ layer.weight)
        assert "no call was repeated yet" in refusal_of(forward.memory)
        for _ in range(2):
            forward(ts.ones(16, 4))
    table = forward.memory()
    assert table.peak == forward.program.arena_bytes == 16 * 8 * 4 + 64  # type: ignore[union-attr]
    lines = str(table).splitlines()
    assert lines[0].startswith("compiled <lambda>: peak 576 B in 1 arena, 3 buffers (without")
    assert lines[1].split() == ["buffer", "shape", "bytes", "born", "dies", "offset"]
    assert len(lines) == 2 + len(table.rows) == 5
    assert [row[-1] for row in table.rows] == [0, 0, 512]  # relu lies where its operand lay


def test_the_arena_is_counted_as_memory_of_programs() -> None:
    before = ts.memory.stats().kinds["programs"]
    double = ts.compile(lambda x: (x @ x) @ x)
    for _ in range(3):
        double(ts.ones(64, 64))
    held = ts.memory.stats().kinds["programs"] - before
    assert held >= double.program.arena_bytes == 64 * 64 * 4  # type: ignore[union-attr]
    del double
    assert ts.memory.stats().kinds["programs"] == before


def test_the_cache_is_bounded_and_tells_what_changes() -> None:
    plus = ts.compile(lambda x, k: x + k)
    with pytest.warns(RuntimeWarning, match=r"16 kinds of calls; argument 1: 14, then 15"):
        for k in range(run.WARN_EACH):
            for _ in range(2):
                plus(ts.ones(2), k)
    assert len(plus.programs) == run.WARN_EACH
    with pytest.warns(RuntimeWarning):
        for k in range(run.MOST_KINDS + 1):
            plus(ts.ones(3), k)
    assert len(plus._compiled_kinds) <= run.MOST_KINDS


def test_a_check_calls_the_function_too_and_compares() -> None:
    def play(wrap: Any) -> list[Any]:
        ts.manual_seed(1)
        layer = nn.Linear(3, 2)
        optimizer = ts.optim.SGD(layer.parameters(), lr=0.01, momentum=0.9)

        def step(x: ts.Tensor) -> ts.Tensor:
            optimizer.zero_grad()
            loss = (layer(x) * ts.rand(2)).square().sum()
            loss.backward()
            optimizer.step()
            return loss

        call = wrap(step)
        losses = [call(ts.ones(4, 3) * i).item() for i in range(8)]
        return [losses, layer.weight.tolist(), ts.rand(1).item()]

    want = play(lambda step: step)
    assert play(ts.compile(check=1)) == play(ts.compile(check=3)) == want


def test_a_check_finds_other_bits() -> None:
    compiled = ts.compile(lambda x: x * sys.getrecursionlimit(), check=1)
    limit = sys.getrecursionlimit()
    for _ in range(4):
        compiled(ts.ones(2))
    try:
        sys.setrecursionlimit(limit + 1)
        text = refusal_of(lambda: compiled(ts.ones(2)))
    finally:
        sys.setrecursionlimit(limit)
    assert "result 0 of the compiled call has other bits than the function's own" in text


def test_bits_are_compared_as_promised() -> None:
    nan = ts.tensor([float("nan"), 1.0])
    assert check.same_bits(nan, -nan * ts.tensor([1.0, -1.0]))
    assert not check.same_bits(ts.tensor([0.0]), ts.tensor([-0.0]))
    assert not check.same_bits(ts.ones(2), ts.ones(1, 2))
    assert not check.same_bits(ts.tensor([1]), ts.tensor([2])) and check.same_bits(None, None)


def test_a_module_is_compiled_with_what_it_has() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
    compiled = ts.compile(model)
    for i in range(4):
        x = ts.ones(5, 2) * i
        assert compiled(x).tolist() == model(x).tolist()
    assert list(compiled.parameters()) == list(model.parameters())
    assert compiled.train(False) is model and not model.training  # type: ignore[comparison-overlap]


def test_another_function_may_be_put_in_place_of_the_first() -> None:
    def double(x: ts.Tensor) -> ts.Tensor:
        return x * 2

    compiled = ts.compile(lambda x: x + 1)
    for _ in range(4):
        compiled(ts.ones(3))
    compiled.function = double
    assert [compiled(ts.ones(3)).tolist()[0] for _ in range(4)] == [2.0] * 4
    assert compiled.__name__ == "double" and len(compiled.programs) == 1
