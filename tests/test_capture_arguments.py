"""Compiled functions that give their arguments gradients inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tessella as ts
from leaves import grad_of
from tessella import nn
from worlds import Wrap, network, same, some


def weights(i: int, *shape: int) -> ts.Tensor:
    return some(i, *shape).requires_grad_()


def double(x: ts.Tensor) -> None:
    (x * x * 2).sum().backward()


@pytest.mark.parametrize("clear", ["none", "zeros", "never", "held"])
def test_an_argument_gets_a_gradient_inside(clear: str) -> None:
    def play(wrap: Wrap) -> Any:
        w, seen = weights(1, 3), []

        def f(x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
            if clear == "none":
                x.grad = None
            if clear == "zeros" and x.grad is not None:
                x.grad.zero_()
            loss = ((x * w).exp() * y).sum()
            loss.backward()
            return loss.detach()

        call, held = wrap(f), []
        for i in range(5):
            x = weights(i, 3)
            for k in range(4):
                seen.append((call(x, some(k, 3)), x, grad_of(x).clone(), grad_of(w).clone()))
                if clear == "held":
                    held.append(x.grad)
        return seen, held, w

    same(play)


def test_such_a_call_is_repeated_and_holds_no_argument() -> None:
    call = ts.compile(double)
    before = ts.memory.stats().kinds["tensors"]
    for i in range(5):
        x = weights(i, 1000)
        call(x)
        assert grad_of(x).tolist() == (x.detach() * 4).tolist()
    assert len(call.programs) == 1
    del x
    assert ts.memory.stats().kinds["tensors"] - before <= 4000


def test_a_gradient_that_is_a_result_and_one_that_is_set() -> None:
    def play(wrap: Wrap) -> Any:
        seen = []

        def f(x: ts.Tensor) -> Any:
            double(x)
            return x.grad, x

        def g(x: ts.Tensor) -> None:
            x.grad = x.detach() * 3

        call, put = wrap(f), wrap(g)
        for i in range(6):
            x = weights(i, 3)
            out, same_one = call(x)
            assert out is x.grad and same_one is x
            y = some(i, 3).requires_grad_(i % 2 == 0)
            put(y)
            seen.append((grad_of(x).clone(), x, y, grad_of(y)))
        return seen

    same(play)


def test_an_argument_that_is_also_known_by_name() -> None:
    def play(wrap: Wrap) -> Any:
        w, seen = weights(1, 3), []
        call = wrap(lambda x: (x * w).sum().backward())
        twin = w.detach().requires_grad_()
        for i, x in enumerate([w, w, w, twin, twin, w, weights(5, 3), w, twin, weights(6, 3)]):
            call(x)
            seen.append((i, grad_of(x).clone(), w.grad if w.grad is None else w.grad.clone()))
            w.grad = twin.grad = None
        return seen

    same(play)


@pytest.mark.filterwarnings("ignore:.* was recorded at each:RuntimeWarning")
def test_one_argument_twice_and_twins_over_one_memory() -> None:
    def play(wrap: Wrap) -> Any:
        seen = []
        call = wrap(lambda x, y: (x * y * y).sum().backward())
        for i in range(12):
            array = np.full(3, i + 1, "float32")
            x = ts.asarray(array).requires_grad_()
            y = [x, x.detach().requires_grad_(), ts.asarray(array).requires_grad_()][i // 2 % 3]
            call(x, y)
            seen.append((x, y, grad_of(x), grad_of(y)))
        return seen

    same(play)


def test_arguments_with_hooks_and_ones_that_are_no_leaves() -> None:
    def play(wrap: Wrap) -> Any:
        seen: list[Any] = []
        call = wrap(double)
        hooked = weights(1, 3)
        hooked.register_hook(lambda g: g * 3)
        told = weights(2, 3)
        told.register_post_accumulate_grad_hook(lambda x: seen.append("told"))
        for i in range(16):
            leaf = weights(i, 3)
            x = [leaf, leaf, leaf, hooked, told, leaf * 2][i % 6]
            if i % 6 == 5:
                x.retain_grad()
            call(x)
            seen.append((leaf, x, grad_of(x).clone()))
        return seen

    same(play)


def test_gradients_inside_and_results_that_gradients_flow_into() -> None:
    def play(wrap: Wrap) -> Any:
        w, seen = weights(1, 3), []

        def f(x: ts.Tensor) -> Any:
            (x * w).exp().sum().backward()
            return x * w, (x + w).tanh()

        call = wrap(f)
        for i in range(8):
            x = weights(i, 3)
            a, b = call(x)
            (a.sum() if i % 3 else a.sum() + b.sum()).backward()
            seen.append((a, b, x, grad_of(x).clone(), grad_of(w).clone()))
        return seen

    same(play)


def test_an_attack_by_gradients_of_its_input() -> None:
    def play(wrap: Wrap) -> Any:
        model, seen = network(nn.Dropout(0.5)), []

        def attack(x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
            x.grad = None
            ((model(x) - y) ** 2).sum().backward()
            with ts.no_grad():
                x.add_(grad_of(x).sign() * 0.1)
            return x.detach().clone()

        call = wrap(attack)
        for i in range(4):
            x = weights(i, 5, 3)
            seen.append([call(x, some(i, 5, 2)) for _ in range(3)])
            seen.append([x, grad_of(x)])
        return seen, model

    same(play)


def test_checks_compare_gradients_of_arguments() -> None:
    call = ts.compile(double, check=1)
    for i in range(5):
        x = weights(i, 3)
        call(x)
        assert grad_of(x).tolist() == (x.detach() * 4).tolist()
