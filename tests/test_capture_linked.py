"""Compiled functions and what tensors are linked with: the tensor that a view is one of, hooks,
who holds the memory of a gradient, and results that other results are made of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessella as ts
from leaves import grad_of
from tessella import nn
from tessella.errors import CaptureError
from worlds import Wrap, attempt, same, some

CALLS = 7
# The warning has tests of its own.
pytestmark = pytest.mark.filterwarnings("ignore:.* was recorded at each:RuntimeWarning")


def weights(i: int = 1, *shape: int) -> ts.Tensor:
    return some(i, *(shape or (6,))).requires_grad_()


# --- the memory of gradients ----------------------------------------------------------------------


GRADIENTS: dict[str, Callable[[Any], Any]] = {
    "read-only": lambda array: ts.from_numpy(np.frombuffer(array.tobytes(), "f4")),
    "foreign": ts.from_numpy,
    "parameter": lambda array: nn.Parameter(ts.tensor(array), requires_grad=False),
    "strided": lambda array: ts.tensor(np.repeat(array, 2))[::2],
    "held": ts.tensor,
}


@pytest.mark.parametrize("how", GRADIENTS)
@pytest.mark.parametrize("where", ["captured", "argument"])
@pytest.mark.parametrize("clear", ["never", "none", "zeros"])
def test_a_gradient_is_written_only_where_nobody_else_can_see_it(
    how: str, where: str, clear: str
) -> None:
    def play(wrap: Wrap) -> Any:
        w, seen = weights(1), []

        def f(x: ts.Tensor, w: ts.Tensor) -> None:
            if clear == "none":
                w.grad = None
            if clear == "zeros" and w.grad is not None:
                w.grad.zero_()
            (w * x).sum().backward()

        call = wrap(lambda x: f(x, w)) if where == "captured" else wrap(f)
        for i in range(3 * CALLS):
            if i % CALLS > 4 and not (clear == "zeros" and how == "read-only"):
                given = GRADIENTS[how](np.arange(6, dtype="f4"))
                w.grad = given
                seen.append(given)
            call(some(i, 6)) if where == "captured" else call(some(i, 6), w)
            seen.append(grad_of(w).clone())
        return seen, type(w.grad)

    same(play)


# --- results that others are made of --------------------------------------------------------------


def pair(x: ts.Tensor, w: ts.Tensor) -> tuple[ts.Tensor, ts.Tensor]:
    h = x * w
    return h, h.exp().sum()


LOOKS: dict[str, Callable[[ts.Tensor, ts.Tensor], Any]] = {
    "retain_grad": lambda h, y: h.retain_grad(),
    "hook": lambda h, y: h.register_hook(lambda g: g * 2),
    "grad": lambda h, y: ts.autograd.grad(y, h, allow_unused=True),
    "inputs": lambda h, y: y.backward(inputs=[h]),
}


@pytest.mark.parametrize("how", LOOKS)
def test_who_looks_at_gradients_between_two_results_is_refused(how: str) -> None:
    w = weights(1)
    call = ts.compile(lambda x: pair(x, w))
    for i in range(CALLS):
        h, y = call(some(i, 6))
    with pytest.raises(CaptureError) as caught:
        LOOKS[how](h, y)
    what, *_, hint = str(caught.value).splitlines()
    assert "others of the results of a compiled call are made of x" in what
    assert hint == "  hint: return x alone, or call the function itself: f.__wrapped__(…)"


def test_gradients_of_results_that_others_are_made_of_flow_as_in_eager() -> None:
    def play(wrap: Wrap) -> Any:
        w, found = weights(1), []
        call = wrap(lambda x: pair(x, w))
        for i in range(CALLS):
            h, y = call(some(i, 6))
            y.retain_grad()
            y.register_hook(lambda g: g * 3)
            (y + h.sum()).backward()
            found.append((h, y, y.grad, grad_of(w).clone()))
        return found

    same(play)


def test_the_graph_of_a_result_that_is_used_up_inside() -> None:
    def play(wrap: Wrap) -> Any:
        w = weights(1)

        def f(x: ts.Tensor) -> ts.Tensor:
            h = x * w
            h.exp().sum().backward()
            return h.sin()

        call = wrap(f)
        found = [call(some(i, 6)) for i in range(CALLS)]
        return found, w.grad, attempt(lambda: found[0].sum().backward())

    same(play)


# --- results that are views -----------------------------------------------------------------------

VIEWS: dict[str, Callable[[ts.Tensor, ts.Tensor], Any]] = {
    "argument": lambda x, c: x[:2],
    "reshaped argument": lambda x, c: x.reshape(-1),
    "captured": lambda x, c: c[:2],
    "alias of an argument": lambda x, c: x.detach()[:2],
    "alias of a captured one": lambda x, c: (c.detach()[:2], c[1:]),
    "made": lambda x, c: (x * 2)[:2],
    "parts": lambda x, c: (x * 2).chunk(2),
    "whole and part": lambda x, c: (lambda h: (h, h[:2]))(x * 2),
    "part and whole": lambda x, c: (lambda h: (h[1:3], h.exp(), h))(x * 2),
    "alias and its part": lambda x, c: (lambda v: (v, v[1:]))(x.detach()),
    "part of a part": lambda x, c: (x * 2)[1:][:2],
}
WRITES: dict[str, Callable[[ts.Tensor, ts.Tensor], Any]] = {
    "leaf": lambda y, p: y.mul_(p),
    "number": lambda y, p: y.mul_(3),
    "detach_": lambda y, p: y.detach_(),
    "requires_grad_": lambda y, p: y.requires_grad_(),
}


@pytest.mark.parametrize("kind", VIEWS)
@pytest.mark.parametrize("how", WRITES)
@pytest.mark.parametrize("is_recorded", [True, False])
@pytest.mark.parametrize("needs", [(), ("x",), ("c",)])
def test_results_that_are_views_are_written_as_in_eager(
    kind: str, how: str, is_recorded: bool, needs: tuple[str, ...]
) -> None:
    def play(wrap: Wrap) -> Any:
        found: list[Any] = []
        c = some(9, 6).requires_grad_("c" in needs)

        def f(x: ts.Tensor) -> Any:
            with ts.set_grad_enabled(is_recorded and not needs):
                return VIEWS[kind](x, c)

        call = wrap(f)
        for i in range(CALLS):
            x = some(i, 6).requires_grad_("x" in needs)
            outs = call(x)
            outs = outs if isinstance(outs, tuple | list) else [outs]
            p = weights(2, 1)
            result = attempt(WRITES[how], outs[0], p)
            asks = [each.requires_grad for each in outs]
            if any(asks):
                total = ts.cat([each.reshape(-1) for each in outs]).sum()
                attempt(total.backward)  # which a graph that goes on from call to call refuses
            found.append((result, list(outs), asks, x, x.requires_grad, c, p.grad))
        return found

    same(play)


def test_a_view_of_an_argument_becomes_a_leaf_inside() -> None:
    def play(wrap: Wrap) -> Any:
        w, found = weights(1), []

        def f(v: ts.Tensor) -> None:
            v.requires_grad_(True)
            v.requires_grad_(False)

        call = wrap(f)
        for i in range(CALLS):
            buffer = some(i, 6)
            v = buffer[:3]
            call(v)
            v.mul_(w[:3])
            found.append((buffer, buffer.requires_grad, v))
        return found

    same(play)


# --- arguments that are views ---------------------------------------------------------------------


def plain(i: int, w: ts.Tensor) -> ts.Tensor:
    return some(i, 6)[:3]


def outdated(i: int, w: ts.Tensor) -> ts.Tensor:
    buffer = some(i, 6)
    v = buffer[:3]
    buffer[:3] = w[:3]
    return v


def blind(i: int, w: ts.Tensor) -> ts.Tensor:
    with ts.no_grad():
        return w[:3]


def blind_result(i: int, w: ts.Tensor) -> ts.Tensor:
    h = w * 2
    with ts.no_grad():
        return h[:3]


@pytest.mark.parametrize("make", [outdated, blind, blind_result])
@pytest.mark.parametrize("writes", [False, True])
def test_views_among_arguments_know_what_they_are_views_of(
    make: Callable[[int, ts.Tensor], ts.Tensor], writes: bool
) -> None:
    def play(wrap: Wrap) -> Any:
        w, found = weights(1), []
        call = wrap(lambda v: v.mul_(2) if writes else v * 2)
        for i in range(3 * CALLS):
            v = (make if CALLS <= i < 2 * CALLS else plain)(i, w)
            y = attempt(call, v)
            asks = getattr(y, "requires_grad", None)
            if asks:
                y.sum().backward()
            found.append((y, asks, v, w.grad))
        return found, w

    same(play)


# --- tensors that begin to ask for gradients ------------------------------------------------------


@pytest.mark.parametrize("kind", ["view", "blind view", "alias of an argument"])
def test_a_captured_tensor_begins_to_ask_for_gradients(kind: str) -> None:
    def play(wrap: Wrap) -> Any:
        buffer, found = some(1, 6), []
        with ts.set_grad_enabled(kind != "blind view"):
            v = buffer[:3] if "view" in kind else buffer.detach()
        call = wrap(lambda x: x * v)
        for i in range(2 * CALLS):
            if i == CALLS:
                v.requires_grad_()
            y = call(buffer if kind == "alias of an argument" else some(i, 3))
            if y.requires_grad:
                y.sum().backward()
            found.append((y, y.requires_grad, v.grad))
        return found

    same(play)


# --- hooks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["grad", "checkpoint", "outside"])
def test_hooks_of_arguments_are_called(way: str) -> None:
    def play(wrap: Wrap) -> Any:
        def f(x: ts.Tensor) -> Any:
            if way == "grad":
                return ts.autograd.grad((x * x).sum(), x)[0]
            if way == "checkpoint":
                return ts.checkpoint(lambda x: (x * x).sum(), x).backward()
            return (x * x).sum()

        call, found = wrap(f), []
        for i in range(3 * CALLS):
            x = weights(i)
            if i % CALLS > 4:
                x.register_hook(lambda g: g * 10)
            y = call(x)
            if way == "outside":
                y.backward()
            found.append((y if way == "grad" else None, x.grad))
        return found

    same(play)


def test_a_checkpoint_calls_the_hook_of_a_leaf_once() -> None:
    x = weights(1)
    seen: list[ts.Tensor] = []
    x.register_hook(seen.append)
    (ts.checkpoint(lambda x: (x * x).sum(), x) + x.sum()).backward()
    assert len(seen) == 1 and ts.array_equal(seen[0], grad_of(x))
    assert ts.allclose(grad_of(x), 2 * x.detach() + 1)


def test_what_a_function_reads_of_the_graph_in_python() -> None:
    def play(wrap: Wrap) -> Any:
        w = weights(1)

        def f(h: ts.Tensor) -> ts.Tensor:
            made = h.grad_fn
            return h.detach() * (2 if made is not None and made.name == "exp" else 3)

        call = wrap(f)
        return [call(w.exp() if i < CALLS else w * 2) for i in range(2 * CALLS)]

    same(play)


# --- check= ---------------------------------------------------------------------------------------


def test_a_checked_call_leaves_alone_what_it_does_not_write() -> None:
    w = weights(1)
    f = ts.compile(lambda x, y: x * y, check=1)
    for i in range(CALLS):
        x, spread = some(i, 6), ts.ones(1).expand(6)
        outer = (x * w).sum()  # which has saved x
        f(x, spread)
        outer.backward()
