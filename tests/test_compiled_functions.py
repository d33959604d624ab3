"""Every declared function, compiled: the bits of eager, call after call, with all results held.

The calls are those of the declarations. Each is made five times with other values, once eagerly and
once compiled; what the caller holds from earlier calls must stay as it was.
"""

from __future__ import annotations

from typing import Any

import pytest

import tessella as ts
from calls import DECLARED, Call, calls_of
from reference import assert_same_tensors
from tessella.trees import flatten
from worlds import attempt

ROUNDS = 5
UNSET = ("empty", "empty_like", "new_empty")  # the elements are whatever was there


def moved(call: Call, steps: int) -> Call:
    """Give the call with the elements of its tensors moved on: other values of the same kind."""

    def move(x: ts.Tensor) -> ts.Tensor:
        return x.clone() if x.size < 2 else ts.roll(x.reshape(-1), steps).reshape(x.shape)

    return call.changed(move)


def tensors_in(value: Any) -> list[Any]:
    """Give the leaves of a result."""
    return flatten(value)[0] if isinstance(value, tuple | list | dict) else [value]


def check(got: Any, want: Any, is_unset: bool = False) -> None:
    """Compare two results, bit by bit."""
    for x, y in zip(tensors_in(got), tensors_in(want), strict=True):
        if isinstance(y, ts.Tensor):
            if not is_unset:
                assert_same_tensors(x.detach().clone(), y.detach().clone())
            assert (x.shape, x.dtype, x.strides) == (y.shape, y.dtype, y.strides)
        else:
            assert x == y or x is y


def check_rounds(eager: Call, compiled: Call) -> None:
    """Call both with changing values; compare what they give, and what they leave of arguments.

    A tensor that is captured is changed between the calls.
    """
    captured = ts.zeros(3)
    function = ts.compile(lambda *args, **named: (compiled.function(*args, **named), -captured))
    held: list[tuple[Any, Any]] = []
    for steps in range(ROUNDS):
        captured.fill_(steps)
        mine, other = moved(eager, steps), moved(compiled, steps)
        # What the values are refused for, they are refused for by both.
        want = attempt(lambda given=mine: (given(), -captured))
        got = attempt(lambda given=other: function(*given.args, **given.named))
        for x, y in zip(other.tensors(), mine.tensors(), strict=True):
            assert_same_tensors(x, y)
        held.append((got, want))
        for earlier in held:
            check(*earlier, is_unset=compiled.name in UNSET)


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_compiled_function_gives_the_bits_of_eager(name: str) -> None:
    refused = 0
    for eager, compiled in zip(calls_of(name), calls_of(name), strict=True):
        try:
            check_rounds(eager, compiled)
        except ts.errors.CaptureError:
            refused += 1
    assert (refused > 0) == bool(DECLARED[name].no_capture)


# --- gradients -----------------------------------------------------------------------------------

FLOATS = (ts.float32, ts.float64, ts.complex64, ts.complex128)


def gradients_of(call: Call, leaves: list[ts.Tensor], scale: ts.Tensor) -> Any:
    """Do what a training step does: the gradients of a sum over all results."""
    for leaf in leaves:
        leaf.grad = None
    parts = [x for x in tensors_in(call()) if isinstance(x, ts.Tensor) and x.requires_grad]
    total = sum(((x * scale).abs() if x.dtype.is_complex else x * scale).sum() for x in parts)
    if isinstance(total, ts.Tensor):
        total.backward()
    return total


def leaves_of(call: Call) -> list[ts.Tensor]:
    """Make the float operands of a call leaves."""
    return [x.requires_grad_() for x in call.tensors() if x.dtype in FLOATS]


def check_gradients(eager: Call, compiled: Call) -> None:
    """Take gradients five times in both ways, with other values in the leaves."""
    eager, compiled = moved(eager, 0), moved(compiled, 0)
    mine, others = leaves_of(eager), leaves_of(compiled)
    step = ts.compile(lambda scale: gradients_of(compiled, others, scale))
    held: list[tuple[Any, Any]] = []
    for i in range(ROUNDS):
        scale = ts.tensor(1.0 + i)
        want, got = gradients_of(eager, mine, scale), step(scale)
        held.append(([got], [want]))
        for earlier in held:
            check(*earlier)
        for x, y in zip(others, mine, strict=True):
            assert (x.grad is None) == (y.grad is None)
            check([x.grad], [y.grad])
        with ts.no_grad():
            for x in [*mine, *others]:
                x.copy_(ts.roll(x.reshape(-1), 1).reshape(x.shape))


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_gradients_inside_of_a_compiled_step_are_those_of_eager(name: str) -> None:
    if DECLARED[name].no_capture or name in UNSET:
        return
    for eager, compiled, tried in zip(*[calls_of(name) for _ in range(3)], strict=True):
        tried = moved(tried, 0)
        try:
            gradients_of(tried, leaves_of(tried), ts.tensor(1.0))
        except (ts.errors.InplaceError, ts.errors.InvalidArgument):
            continue  # it writes into an operand, which cannot be a leaf
        check_gradients(eager, compiled)
