"""The checks of ts.testing: what they let pass, what they find, and how they say it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import tessella as ts
from tessella.autograd import Function
from tessella.errors import ArgumentError, CheckFailed, DTypeMismatch, InvalidArgument
from tessella.testing import assert_close, check_grads
from test_documents import run_examples

X = ts.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], dtype=ts.float64)
Z = ts.tensor([0.5 + 1j, -1.0 - 0.25j])


def wrong(factor: float) -> Any:
    """Give a function like sin whose gradient is off by a factor."""

    class Wrong(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            ctx.save_for_backward(x)
            return ts.sin(x)

        @staticmethod
        def backward(ctx: Any, g: ts.Tensor) -> ts.Tensor:
            return g * ts.cos(ctx.saved_tensors[0]) * factor

    return Wrong.apply


class FlatAtSecond(Function):
    """Is right at first order, and has no second."""

    @staticmethod
    def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
        ctx.save_for_backward(x)
        return ts.sin(x)

    @staticmethod
    def backward(ctx: Any, g: ts.Tensor) -> ts.Tensor:
        return g * ts.cos(ctx.saved_tensors[0]).detach()


# --- check_grads ---------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [
    ts.sin, lambda x: x.T @ x, lambda x: x[0] * x[1, ::-1], lambda x: (x, x.sum(), x * 0),
    lambda x: {"a": [ts.exp(x)], "b": (x > 0, 3, "text")}, lambda x: ts.ones(2, dtype=ts.float64),
    lambda x: x.detach() * 0 + 1, ts.abs, ts.relu, ts.floor, lambda x: x.max(axis=1),
    lambda x: x.astype(ts.float32), lambda x: x.astype(ts.float16) * 2, lambda x: x * 1e9,
    lambda x: x * x + 1e9, lambda x: x.view(6)[2:4],
])  # fmt: skip
def test_right_gradients_pass(f: Any) -> None:
    check_grads(f, (X,))


@pytest.mark.parametrize("f", [ts.exp, ts.abs, ts.real, lambda z: z * ts.conj(z), ts.angle])
def test_complex_gradients_pass(f: Any) -> None:
    check_grads(f, (Z.astype(ts.complex128),))


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_any_order_can_be_asked(order: int) -> None:
    check_grads(lambda x: ts.sin(x) * x, (X[0],), order=order)


def test_arguments_may_be_nested_and_of_any_kind() -> None:
    Pair = namedtuple("Pair", "w b")

    def f(pair: Any, xs: Any, index: ts.Tensor, by: float, *, shift: float) -> Any:
        return pair.w[index] * by + xs["x"] * pair.b + shift

    args = (Pair(X, X[0]), {"x": X[1], "n": None}, ts.tensor([1, 0, 1]), 2.0)
    check_grads(lambda p, xs, i, by, shift: f(p, xs, i[:1], by, shift=shift), args,
                kwargs={"shift": 3.0})  # fmt: skip


@pytest.mark.parametrize("x", [
    X.T, X[:, ::-1], X[::-1, ::2], ts.broadcast_to(X[:1], (4, 3)), X[0, 0], X[:0], X[:, None],
    ts.zeros((0, 3), dtype=ts.float64), ts.tensor(0.3, dtype=ts.float64),
])  # fmt: skip
def test_layouts_and_shapes_stay_as_they_are(x: ts.Tensor) -> None:
    seen = set()

    def f(x: ts.Tensor) -> ts.Tensor:
        seen.add((x.shape, tuple(s > 0 for s in x.strides)))
        return ts.sin(x) * x

    check_grads(f, (x,))
    is_spread = 0 in x.strides and x.size > 1 and x.shape[0] > 1
    assert len(seen) == 1 or is_spread


def test_views_that_need_a_layout_can_be_taken() -> None:
    check_grads(lambda x: x.permute(1, 0).view(6), (X.T.clone().T,))


def test_leaves_and_results_are_taken_and_left_alone() -> None:
    x = X.clone().requires_grad_()
    check_grads(ts.sin, (x * 2,))
    check_grads(ts.sin, x)
    assert x.grad is None and x.tolist() == X.tolist()
    with ts.no_grad():
        check_grads(ts.sin, (x,))
        assert not ts.is_grad_enabled()


def test_the_global_generator_is_not_touched_and_results_repeat() -> None:
    ts.manual_seed(3)
    first = ts.rand(1).item()
    ts.manual_seed(3)
    texts = set()
    for _ in range(2):
        with pytest.raises(CheckFailed) as caught:
            check_grads(wrong(3.0), (X,))
        texts.add(str(caught.value))
    assert ts.rand(1).item() == first and len(texts) == 1


def message(f: Any, args: Any = (X,), **options: Any) -> list[str]:
    """Give the lines of the error that a check raises."""
    with pytest.raises(CheckFailed) as caught:
        check_grads(f, args, **options)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("check_grads: ") and isinstance(caught.value, AssertionError)
    assert any(line.startswith("  at test_testing.py:") for line in lines)
    return lines


@pytest.mark.parametrize(("f", "why"), [
    (wrong(-1.0), "a sign is wrong"), (wrong(2.0), "a term counts twice"),
    (wrong(0.5), "a factor of 2 or a second path is missing"),
    (wrong(1.1), "a vjp or a Function.backward in f is wrong"),
    (lambda x: x.detach() * 2, "no gradient arrives"),
    (lambda x: ts.tensor(x.tolist(), dtype=ts.float64), "no gradient arrives"),
    (lambda x: ts.log(x), "f gives NaN or infinity"),
    (lambda x: wrong(float("nan"))(x), "the rule divides by zero or overflows"),
])  # fmt: skip
def test_a_wrong_gradient_is_found_and_its_likely_cause_named(f: Any, why: str) -> None:
    lines = message(f)
    assert lines[0].startswith("check_grads: the gradient of args[0] is wrong at order 1: ")
    assert [line.split()[0] for line in lines[1:4]] == ["reverse", "central", "difference"]
    assert "allowed" in lines[3] and "eps=" in lines[3]
    assert lines[-1].startswith(f"  hint: {why}")


def test_a_wrong_second_order_is_found() -> None:
    check_grads(FlatAtSecond.apply, (X,), order=1)
    lines = message(FlatAtSecond.apply)
    assert "args[0] is wrong at order 2" in lines[0]


def test_the_argument_is_named() -> None:
    assert "of args[1]" in message(lambda x, y: x * y.detach(), (X, X + 1))[0]
    assert "of args[0]['w'][1]" in message(
        lambda p: p["w"][0] * p["w"][1].detach(), ({"w": [X, X + 1]},)
    )[0]  # fmt: skip


def test_one_wrong_element_of_many_is_found() -> None:
    def f(x: ts.Tensor) -> ts.Tensor:
        return ts.concat([x[:99], x[99:].detach()])

    message(f, (ts.arange(100).astype(ts.float64),))


def test_random_functions_are_refused() -> None:
    lines = message(lambda x: x * ts.rand(3, dtype=ts.float64))
    assert "other values when it is called again" in lines[0] and "Generator" in lines[-1]


def test_shapes_that_depend_on_values_are_refused() -> None:
    x = ts.tensor([0.0, 1.0], dtype=ts.float64)
    assert "shape" in message(lambda x: x[x > 0] * 2, (x,))[0]


def test_a_function_that_jumps_everywhere_is_refused() -> None:
    assert "kink" in message(ts.floor, (ts.tensor([1.0, 2.0], dtype=ts.float64),))[0]


def test_low_precision_needs_tolerances() -> None:
    for dtype, wide in ((ts.float32, "float64"), (ts.bfloat16, "float64"),
                        (ts.complex64, "complex128")):  # fmt: skip
        with pytest.raises(DTypeMismatch, match=f"check_grads: args.0. is {dtype}") as caught:
            check_grads(ts.sin, (X[0].astype(dtype),))
        assert f"astype(ts.{wide})" in str(caught.value) and "rtol=" in str(caught.value)
    check_grads(ts.sin, (X.astype(ts.float32),), rtol=1e-3)
    check_grads(ts.sin, (X.astype(ts.float16),), rtol=0.1, atol=0.1)


@pytest.mark.parametrize(("options", "kind", "match"), [
    ({"order": 0}, InvalidArgument, "order is 0"), ({"order": 1.5}, ArgumentError, "order"),
    ({"eps": 0}, InvalidArgument, "eps is 0"), ({"rtol": -1}, InvalidArgument, "rtol is -1"),
    ({"atol": float("nan")}, InvalidArgument, "atol is nan"), ({"eps": "x"}, ArgumentError, "eps"),
])  # fmt: skip
def test_options_are_checked(options: Any, kind: Any, match: str) -> None:
    with pytest.raises(kind, match=f"^check_grads: {match}"):
        check_grads(ts.sin, (X,), **options)


def test_something_must_be_differentiable() -> None:
    with pytest.raises(DTypeMismatch, match="args holds no float"):
        check_grads(lambda x: x, (ts.arange(3),))
    with pytest.raises(DTypeMismatch, match="the result of f holds no float"):
        check_grads(lambda x: x > 0, (X,))


def test_errors_of_the_function_come_out_as_they_are() -> None:
    with pytest.raises(ts.errors.ShapeError, match=r"^matmul: "):
        check_grads(lambda x: x @ x, (X,))
    with pytest.raises(KeyError):
        check_grads(lambda x: {}[x], (X,))


# --- assert_close --------------------------------------------------------------------------------


@pytest.mark.parametrize(("x", "y"), [
    (X, X.clone()), (X, X + 1e-9), (X, X.tolist()), (X[0, 0], 0.5), (0.5, X[0, 0]), (1, 1),
    (1.0, 1.0 + 1e-9), (1, 1.0), (True, True), (2j, 2j), ((X, [1]), (X, [1])),
    ({"a": X}, {"a": X}), (ts.arange(3), [0, 1, 2]), (ts.zeros(0), []), (Z, Z * (1 + 1e-7)),
    (ts.tensor([float("inf")]), ts.tensor([float("inf")])), (X.requires_grad_(False), X),
    (None, None), ({"a": None}, {"a": None}), (np.ones(2), np.ones(2)),
    (np.float32(1), np.float32(1)),
    (ts.tensor([True]), [True]), (ts.ones(2, dtype=ts.bfloat16), ts.ones(2, dtype=ts.bfloat16)),
])  # fmt: skip
def test_near_values_pass(x: Any, y: Any) -> None:
    assert_close(x, y)


@pytest.mark.parametrize(("x", "y", "match"), [
    (X, X + 1e-3, r"6 of 6 elements differ, most at \(\d, \d\)"),
    (ts.arange(3), ts.tensor([0, 1, 3]), r"1 of 3 elements differ, most at \(2,\)"),
    (1.0, 1.5, "1 of 1 elements differ$"), (1, 2, "1 of 1 elements differ$"),
    (X, X[0], r"the shape is \(2, 3\), expected \(3,\)"),
    (X, X.astype(ts.float32), "the dtype is float64, expected float32"),
    ([X], [X, X], "the length is 1, expected 2"), ("a", 1, "the type is str, expected int"),
    ({"a": 1}, {"b": 1}, "the set of keys is"), ({"a": [1, X]}, {"a": [1, X + 1]}, r"\['a'\]\[1\]"),
    (ts.tensor([float("nan")]), ts.tensor([float("nan")]), "1 of 1"),
    (ts.tensor([float("inf")]), ts.tensor([1.0]), "1 of 1"),
    (ts.tensor([1 << 62]), ts.tensor([(1 << 62) + 1]), "1 of 1"),
    (X, None, "the type is Tensor, expected NoneType"),
    ({"a": None}, {"a": 0}, r"\['a'\]: the type is NoneType, expected int"),
    (np.ones(2), np.zeros(2), "2 of 2 elements differ"),
    (np.ones(2), np.ones(2, "f"), "the dtype is float64, expected float32"),
])  # fmt: skip
def test_far_values_are_found(x: Any, y: Any, match: str) -> None:
    with pytest.raises(CheckFailed) as caught:
        assert_close(x, y)
    first, *rest = str(caught.value).splitlines()
    assert first.startswith("assert_close: ")
    assert re.search(match, first), first
    assert any(line.startswith("  hint: ") for line in rest)
    assert any(line.startswith("  at test_testing.py:") for line in rest)


@pytest.mark.parametrize("msg", ["mine", lambda text: text.replace("1 of 1", "mine: 1 of 1")])
def test_a_message_of_ones_own_is_said(msg: Any) -> None:
    assert_close(X, X, msg=msg)
    with pytest.raises(CheckFailed, match=r"^assert_close: mine.*\n    actual    1\.0"):
        assert_close(1.0, 2.0, msg=msg)


def test_tolerances_and_flags() -> None:
    assert_close(X, X + 0.5, atol=0.6)
    assert_close(X, X * 1.1, rtol=0.2, atol=0)
    assert_close(X, X.astype(ts.float32), check_dtype=False)
    nan = ts.tensor([float("nan"), 1.0])
    assert_close(nan, nan, equal_nan=True)
    with pytest.raises(CheckFailed):
        assert_close(X, X + 1e-12, rtol=0, atol=0)
    with pytest.raises(ArgumentError, match="assert_close: equal_nan"):
        assert_close(X, X, equal_nan=1)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="rtol is -1"):
        assert_close(X, X, rtol=-1)


def test_the_worst_element_is_shown() -> None:
    y = X.clone()
    y[1, 2] = 10
    y[0, 0] = 1
    with pytest.raises(CheckFailed, match=r"2 of 6 elements differ, most at \(1, 2\)") as caught:
        assert_close(X, y)
    assert "actual    -0.75" in str(caught.value) and "expected  10.0" in str(caught.value)


# --- the module ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ts.testing.__all__)
def test_examples_run(name: str) -> None:
    assert run_examples(name, getattr(ts.testing, name).__doc__) > 0


def test_it_is_loaded_at_first_use_and_without_numpy() -> None:
    code = (
        "import sys, tessella as ts; print('tessella.testing' in sys.modules);"
        "ts.testing.check_grads(ts.sin, (ts.ones(2, dtype=ts.float64),));"
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
