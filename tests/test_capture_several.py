"""Compiled functions with several results that gradients flow into."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

import tessella as ts
from leaves import grad_of
from tessella import nn
from tessella.compiler.program import RESULT
from worlds import Wrap, attempt, network, same, some


def weights(i: int, *shape: int) -> ts.Tensor:
    return some(i, *shape).requires_grad_()


# Each takes (x, w, v) and gives results; x is an argument, the others are captured.
Several = Callable[[ts.Tensor, ts.Tensor, ts.Tensor], Any]


def trunk(x: ts.Tensor, w: ts.Tensor, v: ts.Tensor) -> Any:
    h = (x * w).tanh()
    return (h * v).exp(), h.sin() * w


def chain(x: ts.Tensor, w: ts.Tensor, v: ts.Tensor) -> Any:
    a = (x * w).exp()
    b = a * v
    return a, b, (b * x + a).sum()


def crossing(x: ts.Tensor, w: ts.Tensor, v: ts.Tensor) -> Any:
    a = (x * w).exp()
    b = (x * v).sin() * 0.1
    return {"a": a * 0.3 + x / 3, "b": b + x * 0.7 + w}


def apart(x: ts.Tensor, w: ts.Tensor, v: ts.Tensor) -> Any:
    a = (x * w).exp() * w
    return a, ((x / 3 * v).tanh() + x).sum(axis=-1)


def four(x: ts.Tensor, w: ts.Tensor, v: ts.Tensor) -> Any:
    h = x * w
    return [h.exp(), h.sin(), h * v, h.sum()]


def mixed(x: ts.Tensor, w: ts.Tensor, v: ts.Tensor) -> Any:
    h = x * w
    y = h.exp()
    return y, y, h.detach(), 3, (h.cos() * v, ts.argmax(h)), x


def halves(x: ts.Tensor, w: ts.Tensor, v: ts.Tensor) -> Any:
    h = (x * w).astype(ts.float16)
    return h.exp(), (h * v.astype(ts.float16)).sum()


SEVERAL: list[Several] = [trunk, chain, crossing, apart, four, mixed, halves]


def opened(out: Any) -> list[ts.Tensor]:
    """Give the results that gradients flow into, each once."""
    found: dict[int, ts.Tensor] = {}
    for x in ts.trees.flatten(out)[0]:
        if isinstance(x, ts.Tensor) and x.grad_fn is not None:
            found[id(x)] = x
    return list(found.values())


def states(*tensors: ts.Tensor) -> list[Any]:
    """Give copies of gradients."""
    return [None if x.grad is None else x.grad.clone() for x in tensors]


@pytest.mark.parametrize("function", SEVERAL, ids=lambda f: f.__name__)
@pytest.mark.parametrize("is_leaf", [True, False])
def test_gradients_into_any_of_several_results(function: Several, is_leaf: bool) -> None:
    def play(wrap: Wrap) -> Any:
        w, v, seen = weights(1, 4, 3), weights(2, 4, 3), []
        call = wrap(lambda x: function(x, w, v))
        first = weights(0, 4, 3)
        count = len(opened(function(first if is_leaf else first * 2, w, v)))
        choices = [c for c in product([False, True], repeat=count) if any(c)]
        for i, choice in enumerate([choices[-1]] * 3 + choices + choices[::-1]):
            leaf = weights(i, 4, 3)
            out = call(leaf if is_leaf else leaf * 2)
            used = [x for x, is_used in zip(opened(out), choice, strict=True) if is_used]
            sum([(x * (k + 0.3)).sum() for k, x in enumerate(used)], ts.zeros(())).backward()
            seen.append((out, leaf, states(leaf, w, v)))
            if i % 2:
                w.grad = v.grad = None
        return seen, w, v

    same(play)


# Of crossing sums one node is made, whose second backward raises where eager's does not: see below.
ONE_BY_ONE = [(f, r) for f in SEVERAL for r in (False, True) if r or f is not crossing]


@pytest.mark.parametrize(("function", "retains"), ONE_BY_ONE)
def test_one_backward_after_the_other(function: Several, retains: bool) -> None:
    def play(wrap: Wrap) -> Any:
        w, v, seen = weights(1, 4, 3), weights(2, 4, 3), []
        call = wrap(lambda x: function(x, w, v))
        for i in range(8):
            x = weights(i, 4, 3)
            outs = opened(call(x))
            outs = outs[::-1] if i % 2 else outs
            for y in [*outs, outs[0]]:
                seen.append(attempt(lambda y=y: y.sum().backward(retain_graph=retains)))
                seen.append(states(x, w, v))
        return seen

    same(play)


def test_results_whose_sums_cross_are_one_node() -> None:
    w, v = weights(1, 4, 3), weights(2, 4, 3)
    call = ts.compile(lambda x: crossing(x, w, v))
    for i in range(3):
        out = call(weights(i, 4, 3))
    assert [pull.opened for pull in call.program.pulls] == [[0, 1]]  # type: ignore[union-attr]
    out["a"].sum().backward()
    with pytest.raises(ts.errors.TessellaError, match="the graph was freed"):
        out["b"].sum().backward()


def test_what_nobody_used_adds_nothing() -> None:
    def play(wrap: Wrap) -> Any:
        """0 times infinity would be NaN, and -0.0 + 0.0 is 0.0."""
        w, seen = weights(1, 3), []
        call = wrap(lambda x: next((h * -0.0, h.log(), 1 / h) for h in [x * w]))
        for i in range(9):
            x = ts.tensor([0.0, -0.0, 1.0]).requires_grad_()
            call(x)[0 if i < 5 else i % 3].sum().backward()
            seen.append((x, states(x, w)))
            w.grad = None
        return seen

    same(play)


def test_grad_of_several_results_with_strided_cotangents() -> None:
    def play(wrap: Wrap) -> Any:
        w, v, seen = weights(1, 4, 3), weights(2, 4, 3), []
        call = wrap(lambda x: trunk(x, w, v))
        for i in range(8):
            x = weights(i, 4, 3)
            a, b = call(x)
            gs = [some(i, 3, 4).T, ts.ones(1).expand(4, 3)]
            found = ts.autograd.grad([a, b], [x, w, v], gs, retain_graph=True)
            again = ts.autograd.grad([b], [x, v], gs[1:], retain_graph=True, allow_unused=True)
            seen.append((a, b, found, again, ts.autograd.grad([a], [w], gs[:1])))
        return seen

    same(play)


def test_results_that_are_written_before_backward() -> None:
    def play(wrap: Wrap) -> Any:
        w, v, seen = weights(1, 4, 3), weights(2, 4, 3), []
        call = wrap(lambda x: chain(x, w, v))
        for i in range(8):
            x = weights(i, 4, 3)
            out = call(x)
            with ts.no_grad():
                [out[1], x, w, v][i % 4].mul_(2)
            seen.append(attempt(out[0].sum().backward))
            seen.append(states(x, w, v))
        return seen

    same(play)


def test_results_go_into_other_compiled_functions() -> None:
    def play(wrap: Wrap) -> Any:
        w, v, seen = weights(1, 4, 3), weights(2, 4, 3), []
        first, second = wrap(lambda x: trunk(x, w, v)), wrap(lambda x, y: (x * y, y.sin() + x))
        for i in range(8):
            x = weights(i, 4, 3)
            a, b = first(x)
            c, d = second(a, b)
            e, f = second(b, c)
            (e.sum() + d.sum() + (a.sum() if i % 2 else f.sum())).backward()
            seen.append((a, b, c, d, e, f, states(x, w, v)))
        return seen

    same(play)


def test_a_recurrent_network_with_dropout() -> None:
    def play(wrap: Wrap) -> Any:
        layers, seen = nn.LSTM(3, 4, num_layers=2, dropout=0.5), []
        call = wrap(layers)
        for i in range(8):
            x = weights(i, 5, 2, 3)
            out, (h, c) = call(x)
            [out.sum() + h.sum(), c.sum(), out.sum() + h.sum() + c.sum()][i % 3].backward()
            seen.append((out, h, c, x, states(*layers.parameters())))
        return seen, layers

    same(play)


def test_programs_are_made_when_they_are_needed() -> None:
    w, v = weights(1, 4, 3), weights(2, 4, 3)
    call = ts.compile(lambda x: trunk(x, w, v))
    for i in range(4):
        out = call(weights(i, 4, 3))
    (pull,) = call.program.pulls  # type: ignore[union-attr]
    assert pull.opened == [0, 1] and pull.programs == {}
    out[1].sum().backward()
    assert list(pull.programs) == [(1,)]
    a, b = call(weights(9, 4, 3))
    (a.sum() + b.sum()).backward()
    assert list(pull.programs) == [(1,), (0, 1)]
    for program in pull.programs.values():
        program.verify()


def test_results_of_parts_that_share_nothing_are_nodes_of_their_own() -> None:
    w, v = weights(1, 4, 3), weights(2, 4, 3)
    call = ts.compile(lambda x: apart(x, w, v))
    for i in range(3):
        a, b = call(weights(i, 4, 3))
    assert [pull.opened for pull in call.program.pulls] == [[0], [1]]  # type: ignore[union-attr]
    assert a.grad_fn is not b.grad_fn


def test_cotangents_of_recordings_are_let_go() -> None:
    call = ts.compile(lambda x: trunk(x, x, x))
    before = ts.memory.stats().kinds["tensors"]
    for _ in range(4):
        call(weights(1, 1000))
    kept = sum(m.bytes for m in call.program.memories.values() if m.source == RESULT)  # type: ignore[misc, union-attr]
    # Results and what is saved lie where they will be written again.
    assert ts.memory.stats().kinds["tensors"] - before == kept


def test_more_results_than_programs_are_made_for() -> None:
    def play(wrap: Wrap) -> Any:
        w, seen = weights(1, 3), []
        call = wrap(
            lambda x: [(x * w).exp() * k for h in [x * w] for k in range(3)] + [x * w, w * x]
        )
        many = wrap(lambda x: [h.exp() * k for h in [x * w] for k in range(6)])
        for i in range(6):
            x = weights(i, 3)
            outs = [*call(x), *many(x)]
            outs[i].sum().backward()
            seen.append((outs, states(x, w)))
        return seen

    same(play)


def test_views_of_one_result_are_written() -> None:
    def play(wrap: Wrap) -> Any:
        w, seen = weights(1, 4), []
        call = wrap(lambda x: next((h[:2], h[2:], h) for h in [(x * w) + 1]))
        for i in range(6):
            x = weights(i, 4)
            a, b, h = call(x)
            a.mul_(2)
            (a.sum() + b.sum() + h.sum()).backward()
            seen.append((a, b, h, states(x, w)))
        return seen

    same(play)


@pytest.mark.parametrize("kind", ["new leaf", "a leaf", "with a gradient"])
def test_results_that_are_leaves(kind: str) -> None:
    def play(wrap: Wrap) -> Any:
        w, model, seen = weights(1, 3), network(), []

        def f(x: ts.Tensor) -> Any:
            y = (x * 2).detach()
            if kind == "new leaf":
                y.requires_grad_()
            if kind == "with a gradient":
                y.requires_grad_()
                (y * w).sum().backward()
            return (w if kind == "a leaf" else y), model(x)

        call = wrap(f)
        for i in range(6):
            y, out = call(some(i, 3))
            (y.sum() + out.sum()).backward()
            seen.append((y, out, grad_of(y).clone()))
        return seen, model

    same(play)
