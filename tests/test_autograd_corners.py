"""Corners of the engine: what hooks, threads, signals and users' functions may do to it."""

from __future__ import annotations

import signal
import threading
from typing import Any

import numpy as np
import pytest

import tessella as ts
from tessella.autograd import Function


def leaf(*values: float) -> ts.Tensor:
    return ts.tensor([float(v) for v in values], dtype=ts.float64).requires_grad_()


def slopes(x: ts.Tensor) -> Any:
    assert x.grad is not None
    return x.grad.tolist()


# --- writes --------------------------------------------------------------------------------------


def test_copy_of_a_leaf_passes_its_gradient_on() -> None:
    w, y = leaf(1, 1), ts.zeros(2, dtype=ts.float64)
    y.copy_(w)
    (y * 3).sum().backward()
    assert slopes(w) == [3, 3] and not y.is_leaf and y.grad is None


def test_view_follows_a_copy_of_a_value_that_is_older_than_the_view() -> None:
    a, x = leaf(1, 1), leaf(1, 1)
    y, value = a * 1, x * 5
    view = y[0]
    y.copy_(value)
    view.backward()
    assert slopes(x) == [5, 0]


@pytest.mark.parametrize(
    "write",
    [lambda v, x: v.mul_(x[1] * 3), lambda v, x: v.fill_(0), lambda v, x: v.copy_(x[1])],
    ids=["mul_", "fill_", "copy_"],
)
def test_write_through_a_view_made_inside_no_grad_is_refused(write: Any) -> None:
    x = leaf(1, 1)
    y = x * 2
    with ts.no_grad():
        view = y[0]
    assert not view.requires_grad and not (view * 1).requires_grad
    with pytest.raises(ts.errors.InplaceError, match="made inside no_grad"):
        write(view, x)
    with ts.no_grad():
        write(view, x)


def test_assignment_through_a_view_made_inside_no_grad_is_refused() -> None:
    x, y = leaf(1, 1), ts.zeros(2, 2, dtype=ts.float64)
    with ts.no_grad():
        view = y[0]
    with pytest.raises(ts.errors.InplaceError, match="made inside no_grad"):
        view[0] = x[0]
    assert y.tolist() == [[0, 0], [0, 0]]
    view[0] = 1.0
    assert y.tolist() == [[1, 0], [0, 0]]


# --- functions of users --------------------------------------------------------------------------


class Triple(Function):
    """x * 3, written into x."""

    @staticmethod
    def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
        x.mul_(3)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx: Any, g: ts.Tensor) -> ts.Tensor:
        return g * 3


class Same(Function):
    """x itself, or a part of it."""

    @staticmethod
    def forward(ctx: Any, x: ts.Tensor, key: Any) -> ts.Tensor:
        ctx.key, ctx.shape = key, x.shape
        return x if key is None else x[key]

    @staticmethod
    def backward(ctx: Any, g: ts.Tensor) -> tuple[ts.Tensor, None]:
        out = ts.zeros(ctx.shape, dtype=g.dtype)
        out[... if ctx.key is None else ctx.key] = g
        return out, None


class Twice(Function):
    """One tensor, given twice."""

    @staticmethod
    def forward(ctx: Any, x: ts.Tensor) -> tuple[ts.Tensor, ts.Tensor]:
        y = x * 1
        return y, y

    @staticmethod
    def backward(ctx: Any, g: ts.Tensor, h: ts.Tensor) -> ts.Tensor:
        return g * 2 + h * 3


def test_dirty_view_changes_the_history_of_its_base() -> None:
    x = leaf(1, 1)
    y = x * 1
    Triple.apply(y[0])
    assert y.tolist() == [3, 1]
    y.sum().backward()
    assert slopes(x) == [3, 1]


def test_dirty_leaf_is_refused() -> None:
    with pytest.raises(ts.errors.InplaceError, match="x requires gradients"):
        Triple.apply(leaf(1, 1))


@pytest.mark.parametrize("key", [None, 0])
def test_result_that_is_an_input_has_memory_of_its_own(key: Any) -> None:
    x = leaf(1, 1)
    y = x * 1
    out = Same.apply(y, key)
    out.mul_(7)
    assert y.tolist() == [1, 1]
    y.sum().backward(retain_graph=True)
    assert slopes(x) == [1, 1]
    out.sum().backward()
    assert slopes(x) == ([8, 8] if key is None else [8, 1])


def test_one_tensor_given_twice_has_a_gradient_for_each() -> None:
    x = leaf(1)
    first, second = Twice.apply(x)
    (first * 10 + second).sum().backward()
    assert slopes(x) == [23]


def test_gradients_are_not_added_into_memory_of_others() -> None:
    array = np.ones(2)

    class Shared(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: ts.Tensor) -> ts.Tensor:
            return ts.asarray(array, copy=False)

    x = leaf(1, 1)
    h = x * 1
    (h * 5 + Shared.apply(h)).sum().backward()
    assert array.tolist() == [1, 1] and slopes(x) == [6, 6]


# --- checkpoint ----------------------------------------------------------------------------------


def test_checkpoint_of_a_view_whose_base_was_written() -> None:
    w = leaf(1, 1, 1)
    y = w * 1
    view = y[:2]
    y.mul_(2)
    ts.checkpoint(lambda v: (v * v).sum(), view).backward()
    assert slopes(w) == [8, 8, 0]


def test_checkpoint_that_captures_a_view_whose_base_was_written() -> None:
    w = leaf(1, 1, 1)
    y = w * 1
    view = y[:2]
    y.mul_(2)
    ts.checkpoint(lambda q: (view * view * q).sum(), ts.ones(2, dtype=ts.float64)).backward()
    assert slopes(w) == [8, 8, 0]


def test_checkpoint_gives_arguments_back_with_their_history() -> None:
    a, b = leaf(1, 1), leaf(1, 1)
    p, q = ts.checkpoint(lambda a, b: (a, b * 2), a, b)
    (p * 3 + q).sum().backward()
    assert slopes(a) == [3, 3] and slopes(b) == [2, 2]


def test_checkpoint_refuses_to_write_twice() -> None:
    h = leaf(1, 1) * 1
    with pytest.raises(ts.errors.InplaceError, match="checkpoint: the function writes into an arg"):
        ts.checkpoint(lambda h: h.mul_(2) * h, h)


def test_checkpoint_notices_that_a_captured_leaf_was_changed() -> None:
    w, x = leaf(1, 1), leaf(1, 1)
    y = ts.checkpoint(lambda x: (x * w).sin(), x)
    with ts.no_grad():
        w.add_(1)
    with pytest.raises(
        ts.errors.InplaceError, match="backward needs a tensor that was overwritten"
    ):
        y.sum().backward()


def test_checkpoint_notices_that_the_function_does_something_else() -> None:
    a, b = leaf(1, 1), leaf(1, 1)
    chosen = [a]
    y = ts.checkpoint(lambda x: x * chosen[0], leaf(2, 2))
    chosen[0] = b
    with pytest.raises(ts.errors.IllegalState, match="the function gave other results"):
        y.sum().backward()


def test_checkpoint_refuses_more_results_than_a_node_has() -> None:
    with pytest.raises(ts.errors.InvalidArgument, match="300 results of one call have gradients"):
        ts.checkpoint(lambda x: [x * i for i in range(300)], leaf(1))
    outs = ts.checkpoint(lambda x: [x * i for i in range(254)], x := leaf(1))
    outs[253].backward()
    assert slopes(x) == [253]


# --- threads, hooks and signals ------------------------------------------------------------------


def test_threads_that_add_to_one_gradient_lose_nothing() -> None:
    w = ts.ones(300_000, requires_grad=True)
    w.grad = ts.zeros(300_000)

    def work() -> None:
        for _ in range(20):
            (w * 1.0).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert w.grad is not None and bool((w.grad == 40).all())


def test_backward_inside_a_hook_of_another_leaf_counts() -> None:
    a, b = leaf(1), leaf(1)

    def hook(g: ts.Tensor) -> None:
        with ts.enable_grad():
            (a * 10).sum().backward()

    b.register_hook(hook)
    (a + b).sum().backward()
    assert slopes(a) == [11] and slopes(b) == [1]


def test_failed_backward_leaves_retained_gradients_too() -> None:
    x = leaf(1)
    y = x * 2
    y.retain_grad()

    def fail(g: ts.Tensor) -> None:
        raise ArithmeticError

    handle = x.register_hook(fail)
    with pytest.raises(ArithmeticError):
        (y * 3).sum().backward(retain_graph=True)
    assert y.grad is None and x.grad is None
    handle.remove()
    y.sum().backward()
    assert slopes(y) == [1]


def test_root_that_a_signal_writes_into_is_the_one_that_was_asked_for() -> None:
    x = leaf(1)
    chain = x
    for _ in range(200_000):
        chain = chain * 1.0
    root = chain.sum()
    calls: list[int] = []

    def write(*_: Any) -> None:
        if len(calls) < 100:
            calls.append(1)
            root.mul_(2.0)

    before = signal.signal(signal.SIGALRM, write)
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
    try:
        root.backward(retain_graph=True)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert calls and slopes(x)[0] in [2.0**i for i in range(101)]


def test_hooks_of_a_node_are_not_for_setting() -> None:
    y = leaf(1) * 2
    assert y.grad_fn is not None
    with pytest.raises(AttributeError):
        y.grad_fn.hooks = 5  # type: ignore[misc]  # that is the mistake


def test_gradients_of_gradients_are_freed_in_a_loop() -> None:
    held = ts.ones(1)
    for _ in range(200_000):
        x = ts.ones(1)
        x.grad = held
        held = x
    before = ts.memory.stats().live
    del held, x
    assert before - ts.memory.stats().live >= 200_000 * 4


# --- forms, repeats and dtypes -------------------------------------------------------------------


def test_views_of_another_dtype_refuse_what_they_cannot_follow() -> None:
    x = leaf(1, 1)
    z = ts.complex(x * 1, x * 2)
    parts = ts.view_as_real(z)
    with pytest.raises(ts.errors.InplaceError, match="a view of another dtype"):
        parts.mul_(3.0)
    ts.real(z).sum().backward(retain_graph=True)
    assert slopes(x) == [1, 1]
    z.mul_(3.0)
    with pytest.raises(ts.errors.InplaceError, match="views memory as another dtype"):
        parts.sum()
    ts.view_as_real(z).sum().backward()
    assert slopes(x) == [10, 10]


def test_cotangents_are_matched_by_their_keys() -> None:
    _, pull = ts.vjp(lambda x: {"a": x * x, "b": x + 1}, ts.tensor(2.0))
    assert pull({"b": ts.tensor(1.0), "a": ts.tensor(2.0)})[0].item() == 9
    for wrong in ({"a": ts.tensor(1.0)}, {"a": ts.tensor(1.0), "c": ts.tensor(1.0)}, ts.ones(2)):
        with pytest.raises(ts.errors.ArgumentError, match="cotangents is not of the form"):
            pull(wrong)


def test_backward_into_inputs_counts_each_once() -> None:
    x = leaf(1)
    seen: list[Any] = []
    x.register_post_accumulate_grad_hook(lambda x: seen.append(slopes(x)))
    (x * 2).backward(inputs=[x, x])
    assert slopes(x) == [2] and seen == [[2]]
    y = x * 2
    y.retain_grad()
    (y * 3).backward(inputs=[y])
    assert slopes(y) == [3] and slopes(x) == [2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f, x: ts.grad(f, argnums=(0, 0))(x), r"grad: argnums is \(0, 0\)"),
        (lambda f, x: ts.grad(f)(), "grad: argnums is 0"),  # type: ignore[call-arg]
        (lambda f, x: ts.grad(f, has_aux=True)(x), "grad: <lambda> gave Tensor"),
        (lambda f, x: ts.vjp(f, x, has_aux=True), "vjp: <lambda> gave Tensor"),
        (lambda f, x: ts.jvp(f, 5, (x,)), "jvp: primals must be a tuple"),  # type: ignore[arg-type]
        (lambda f, x: ts.jvp(f, (x,), None), "jvp: tangents is not of the form"),  # type: ignore[arg-type]
    ],
    ids=["repeated", "no argument", "no pair", "no pair of vjp", "no tuple", "no tangents"],
)
def test_transforms_refuse_what_they_cannot_take(call: Any, message: str) -> None:
    with pytest.raises(ts.errors.TessellaError, match=message):
        call(lambda x: x * x, ts.tensor(2.0))


def test_trees_that_hold_themselves_are_refused() -> None:
    tree: list[Any] = []
    tree.append(tree)
    with pytest.raises(ts.errors.InvalidArgument, match="a container is nested too deeply"):
        ts.trees.flatten(tree)


def test_checkpoint_result_that_views_an_argument_has_memory_of_its_own() -> None:
    x = leaf(1, 1)
    h = x * 1
    part = ts.checkpoint(lambda h: h[:1], h)
    part.mul_(5)
    assert h.tolist() == [1, 1]
    (h.sum() + part.sum()).backward()
    assert slopes(x) == [6, 1]


def test_checkpoint_draws_again_from_a_generator_among_its_arguments() -> None:
    x = leaf(1, 1, 1, 1, 1, 1, 1, 1)

    def f(x: ts.Tensor, generator: ts.Generator) -> ts.Tensor:
        return x * ts.rand(8, generator=generator, dtype=ts.float64)

    generator = ts.Generator(3)
    y = ts.checkpoint(f, x, generator)
    counter = generator.counter
    y.sum().backward()
    assert slopes(x) == y.tolist() and generator.counter == counter


def test_checkpoint_notices_another_shape() -> None:
    sizes = [2, 1]
    y = ts.checkpoint(lambda x: x[: sizes.pop(0)] * 2, leaf(1, 1))
    with pytest.raises(ts.errors.IllegalState, match="the function gave other results"):
        y.sum().backward()


def test_dirty_argument_that_is_no_result_is_refused() -> None:
    class Forgets(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            ctx.mark_dirty(x.mul_(2))
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: ts.Tensor) -> ts.Tensor:
            return g * 2

    with pytest.raises(ts.errors.InvalidArgument, match=r"Forgets\.forward marked an input as"):
        Forgets.apply(leaf(1) * 1)
