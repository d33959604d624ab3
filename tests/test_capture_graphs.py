"""Compiled functions and graphs that were there before the call: gone back through, grown, left or
watched by hooks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tessella as ts
from leaves import grad_of
from tessella import nn
from worlds import Wrap, attempt, same, some

CALLS = 7
# The warning has tests of its own.
pytestmark = pytest.mark.filterwarnings("ignore:.* was recorded at each:RuntimeWarning")


def weights(i: int = 1, *shape: int) -> ts.Tensor:
    return some(i, *(shape or (3,))).requires_grad_()


# --- backward inside, through what was recorded outside -------------------------------------------


def back(h: ts.Tensor) -> None:
    h.square().sum().backward()


def back_by_grad(h: ts.Tensor) -> ts.Tensor:
    return ts.autograd.grad(h.square().sum(), h)[0]


@pytest.mark.parametrize("function", [back, back_by_grad])
def test_gradients_go_to_the_leaf_that_an_argument_comes_from(function: Any) -> None:
    def play(wrap: Wrap) -> Any:
        call, a, b = wrap(function), weights(1), weights(2)
        found = [call(a * 2) for _ in range(CALLS)]
        found += [call(b * 2), call(b + 1), call((a * b).exp()), call(a)]
        return found, a.grad, b.grad

    same(play)


def test_two_towers_in_front_of_one_compiled_loss() -> None:
    def play(wrap: Wrap) -> Any:
        ts.manual_seed(0)
        one, other = nn.Linear(3, 2), nn.Linear(3, 2)
        call = wrap(back)
        for i in range(2 * CALLS):
            call((one if i < CALLS else other)(some(i, 4, 3)))
        return [x.grad for x in (*one.parameters(), *other.parameters())]

    same(play)


def grow(h: ts.Tensor, v: ts.Tensor) -> None:
    h.mul_(3)


def mix(h: ts.Tensor, v: ts.Tensor) -> None:
    h.mul_(v)


def use_up(h: ts.Tensor, v: ts.Tensor) -> None:
    h.sum().backward()


def overwrite(h: ts.Tensor, v: ts.Tensor) -> None:
    h.detach().mul_(3)


def retain(h: ts.Tensor, v: ts.Tensor) -> None:
    h.retain_grad()


def watch(h: ts.Tensor, v: ts.Tensor) -> None:
    h.register_hook(lambda g: g * 3)


CHANGES = [grow, mix, use_up, overwrite, retain, watch]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("make", [lambda w: w * 2, ts.exp])
@pytest.mark.parametrize("way", ["backward", "grad"])
def test_the_graph_of_a_captured_result_changes_outside(
    change: Callable[..., None], make: Callable[[ts.Tensor], ts.Tensor], way: str
) -> None:
    def play(wrap: Wrap) -> Any:
        w, v = weights(1), weights(2)
        h = make(w)

        def f(x: ts.Tensor) -> Any:
            loss = (h * x).sum()
            if way == "grad":
                return ts.autograd.grad(loss, w, retain_graph=True)[0]
            return loss.backward(retain_graph=True)

        call = wrap(f)
        found = [call(some(i, 3)) for i in range(CALLS)]
        change(h, v)
        found += [attempt(call, some(i, 3)) for i in range(CALLS)]
        return found, w.grad, v.grad, h.grad

    same(play)


def test_a_leaf_becomes_a_result_outside() -> None:
    def play(wrap: Wrap) -> Any:
        w, v = weights(1), weights(2)
        call = wrap(lambda x: x * w)
        for i in range(CALLS):
            call(some(i, 3)).sum().backward()
        first = w.grad
        w.detach_().mul_(v)
        for i in range(CALLS):
            call(some(i, 3)).sum().backward(retain_graph=True)
        return first, v.grad

    same(play)


# --- a graph from outside that a call lets grow ---------------------------------------------------

GROWTHS: dict[str, Callable[[ts.Tensor, ts.Tensor], Any]] = {
    "add_": lambda total, x: total.add_(x),
    "copy_": lambda total, x: total.copy_(x),
    "item": lambda total, x: total.__setitem__(1, x[0]),
    "mask": lambda total, x: total.__setitem__(total > 0, x.sum()),
    "out": lambda total, x: ts.mul(x, 2, out=total),
    "view": lambda total, x: total[1:].mul_(x[1:]),
    "index_add_": lambda total, x: total.index_add_(0, ts.tensor([0, 2, 2]), x),
}


@pytest.mark.parametrize("how", GROWTHS)
@pytest.mark.parametrize("where", ["captured", "argument", "detached argument"])
def test_gradients_of_all_calls_flow_through_what_they_wrote_into(how: str, where: str) -> None:
    def play(wrap: Wrap) -> Any:
        w, total = weights(1), some(2, 3)

        def captured(x: ts.Tensor) -> Any:
            attempt(GROWTHS[how], total, x * w)
            return x.sum()

        def given(x: ts.Tensor, y: ts.Tensor) -> Any:
            attempt(GROWTHS[how], y if where == "argument" else total, x * w)
            return x.sum()

        call = wrap(captured if where == "captured" else given)
        found = []
        for i in range(CALLS):
            y = total if where == "argument" else total.detach()
            found.append(call(some(i, 3)) if where == "captured" else call(some(i, 3), y))
        if total.requires_grad:
            total.sum().backward()
        return found, total, w.grad

    same(play)


def test_a_cache_that_keeps_its_graph() -> None:
    def play(wrap: Wrap) -> Any:
        layer, cache = nn.Linear(3, 3), ts.zeros(CALLS, 3)
        with ts.no_grad():
            for x in layer.parameters():
                x.fill_(0.5)

        def f(x: ts.Tensor, at: ts.Tensor) -> ts.Tensor:
            cache[at] = layer(x)
            return cache.detach().sum()

        call = wrap(f)
        found = [call(some(i, 3), ts.tensor(i)) for i in range(CALLS)]
        cache.sum().backward()
        return found, grad_of(layer.weight), cache

    same(play)


# --- what else is done to tensors from outside ----------------------------------------------------


def test_a_call_takes_a_tensor_out_of_its_graph() -> None:
    def play(wrap: Wrap) -> Any:
        w, s, found = weights(1), ts.zeros(3), []

        def f(x: ts.Tensor) -> ts.Tensor:
            s.detach_()
            return x * 2

        call = wrap(f)
        for i in range(2 * CALLS):
            if i >= CALLS:
                s.add_(w)
            found.append((call(some(i, 3)), s.requires_grad, s.grad_fn is None))
        return found

    same(play)


def keep(h: ts.Tensor, seen: list[Any]) -> Any:
    h.retain_grad()


def hook(h: ts.Tensor, seen: list[Any]) -> Any:
    return h.register_hook(seen.append)


def tell(h: ts.Tensor, seen: list[Any]) -> Any:
    return h.register_post_accumulate_grad_hook(lambda x: seen.append(1)) if h.is_leaf else None


@pytest.mark.parametrize("do", [keep, hook, tell])
@pytest.mark.parametrize("where", ["captured leaf", "captured result", "argument", "result"])
def test_a_call_has_gradients_watched_or_kept(do: Callable[..., Any], where: str) -> None:
    def play(wrap: Wrap) -> Any:
        w, found = weights(1), []
        held = w if where == "captured leaf" else w * 2
        seen: list[Any] = []

        def f(h: ts.Tensor) -> ts.Tensor:
            y = h * 3
            do(h if where == "argument" else y if where == "result" else held, seen)
            return y.sum()

        call = wrap(f)
        for _ in range(CALLS):
            h = w * 2
            call(h).backward()
            found.append(h.grad)
        held.sum().backward()
        return found, w.grad, held.grad, list(seen)

    same(play)


@pytest.mark.parametrize("what", ["tensor", "module", "optimizer"])
def test_a_call_takes_a_hook_away(what: str) -> None:
    def play(wrap: Wrap) -> Any:
        layer, seen, found = nn.Linear(3, 3), [], []
        handles: list[Any] = []
        optimizer = ts.optim.SGD(layer.parameters(), lr=0.1)

        def register() -> Any:
            if what == "tensor":
                return layer.weight.register_hook(lambda g: seen.append("tensor"))
            if what == "module":
                return layer.register_forward_hook(lambda *_: seen.append("module"))
            return optimizer.register_step_post_hook(lambda *_: seen.append("optimizer"))

        def f(x: ts.Tensor) -> ts.Tensor:
            if handles:
                handles[0].remove()
            return x * 2

        call = wrap(f)
        for i in range(2 * CALLS):
            handles[:] = [register()] if i >= CALLS else []
            found.append(call(some(i, 3)))
            layer(some(i, 3)).sum().backward()
            optimizer.step()
        return found, list(seen)

    same(play)


# --- programs that there still are ----------------------------------------------------------------


def test_a_leaf_that_is_an_argument_and_a_hook_on_what_is_made_inside_stay_programs() -> None:
    w = weights(1)

    def f(x: ts.Tensor) -> ts.Tensor:
        h = x * w
        with h.register_hook(lambda g: g * 2):
            (grad,) = ts.autograd.grad(h.exp().sum(), w)
        return grad

    for function, given in ((f, some(2, 3)), (back, weights(3)), (back_by_grad, weights(4))):
        compiled = ts.compile(function)
        for _ in range(CALLS):
            compiled(given)
        assert compiled.program is not None
