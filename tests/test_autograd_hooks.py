"""Hooks: functions that see gradients on their way, in the order of PyTorch's."""

from __future__ import annotations

import gc
import weakref
from functools import partial
from typing import Any, cast

import pytest

import tessella as ts
from leaves import grad_of, leaf, slopes
from tessella.errors import IllegalState, TessellaError


def test_a_hook_sees_the_gradient_of_a_leaf() -> None:
    x, seen = leaf(1, 2), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    (x * 3).sum().backward()
    assert seen == [[3.0, 3.0]] and slopes(x) == [3.0, 3.0]


def test_a_hook_on_a_leaf_is_called_once_with_the_sum() -> None:
    x, seen = leaf(1, 2), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    (x * 3 + x * 4 + x[1]).sum().backward()
    assert seen == [[7.0, 9.0]]


def test_a_hook_sees_this_backward_only() -> None:
    x, seen = leaf(1, 2), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    for _ in range(2):
        (x * 3).sum().backward()
    assert seen == [[3.0, 3.0]] * 2 and slopes(x) == [6.0, 6.0]


def test_a_hook_on_a_result_is_called_once_with_the_sum() -> None:
    x, seen = leaf(1, 2), []
    h = x * 2
    h.register_hook(lambda g: seen.append(g.tolist()))
    (h * h + h).sum().backward()
    assert seen == [[5.0, 9.0]] and slopes(x) == [10.0, 18.0]


def test_a_hook_may_replace_the_gradient() -> None:
    x = leaf(1, 2)
    x.register_hook(lambda g: g * 10)
    (x * 3).sum().backward()
    assert slopes(x) == [30.0, 30.0]
    y = leaf(1, 2)
    h = y * 2
    h.retain_grad()
    h.register_hook(lambda g: g * 10)
    h.sum().backward()
    assert slopes(y) == [20.0, 20.0]


def test_hooks_are_called_in_the_order_of_their_registration() -> None:
    x, seen = leaf(1), []

    def scale(by: float) -> Any:
        def hook(g: ts.Tensor) -> ts.Tensor:
            seen.append((by, g.item()))
            return g * by

        return hook

    for by in (2, 3, 5):
        x.register_hook(scale(by))
    x.sum().backward()
    assert seen == [(2, 1.0), (3, 2.0), (5, 6.0)] and slopes(x) == [30.0]


def test_a_retained_gradient_is_that_after_the_hooks() -> None:
    x = leaf(1, 2)
    h = x * 2
    h.retain_grad()
    h.register_hook(lambda g: g * 10)
    h.sum().backward()
    assert slopes(h) == [10.0, 10.0]


def test_a_removed_hook_is_not_called() -> None:
    x, seen = leaf(1), []
    first = x.register_hook(lambda g: seen.append("first"))
    x.register_hook(lambda g: seen.append("second"))
    first.remove()
    first.remove()  # again is harmless
    x.sum().backward()
    assert seen == ["second"]


def test_a_hook_may_remove_itself() -> None:
    x, seen = leaf(1), []

    def once(g: ts.Tensor) -> None:
        seen.append(1)
        handle.remove()

    handle = x.register_hook(once)
    for _ in range(3):
        x.sum().backward()
    assert seen == [1]


def test_a_handle_is_a_context() -> None:
    x, seen = leaf(1), []
    with x.register_hook(lambda g: seen.append(1)):
        x.sum().backward()
    x.sum().backward()
    assert seen == [1]


def test_hooks_of_results_go_from_the_end_to_the_beginning() -> None:
    x, seen = leaf(1), []
    a = x * 2
    b = a * 3
    c = b * 5
    for name, t in (("x", x), ("a", a), ("b", b), ("c", c)):
        t.register_hook(partial(lambda name, g: seen.append((name, g.item())), name))
    c.sum().backward()
    assert seen == [("c", 1.0), ("b", 5.0), ("a", 15.0), ("x", 30.0)]


def test_a_hook_registered_by_a_hook_further_up_counts() -> None:
    x, seen = leaf(1), []
    h = x * 2
    h.register_hook(lambda g: (x.register_hook(lambda g: seen.append(g.item())), None)[1])
    h.sum().backward()
    assert seen == [2.0]


@pytest.mark.parametrize("wrong", [3.0, "text", [1.0, 2.0]])
def test_a_hook_gives_a_tensor_or_none(wrong: Any) -> None:
    x = leaf(1, 2)
    x.register_hook(lambda g: wrong)
    with pytest.raises(TypeError):
        x.sum().backward()
    assert x.grad is None


def test_a_replacement_has_the_same_shape_and_dtype() -> None:
    for wrong in (ts.ones(3, dtype=ts.float64), ts.ones(2, dtype=ts.float32)):
        x = leaf(1, 2)
        x.register_hook(partial(lambda wrong, g: wrong, wrong))
        with pytest.raises(TessellaError):
            x.sum().backward()
        assert x.grad is None


def test_an_error_in_a_hook_comes_out_and_changes_no_gradient() -> None:
    x, y = leaf(1), leaf(2)
    x.grad = ts.tensor([5.0], dtype=ts.float64)

    def fail(g: ts.Tensor) -> None:
        raise KeyError("mine")

    h = x * 1
    h.register_hook(fail)
    with pytest.raises(KeyError, match="mine"):
        (h * y).sum().backward()
    assert slopes(x) == [5.0] and y.grad is None


def test_only_what_has_gradients_has_hooks() -> None:
    with pytest.raises(IllegalState, match="require"):
        ts.ones(2).register_hook(lambda g: None)
    with pytest.raises(TypeError):
        leaf(1).register_hook(cast(Any, "no function"))


def test_hooks_record_where_a_graph_is_made() -> None:
    x = leaf(3)
    x.register_hook(lambda g: g * x)
    (x * x).sum().backward(create_graph=True)  # 2 x, times x
    g, x.grad = grad_of(x), None
    assert g.tolist() == [18.0]
    seen = []
    x.register_hook(lambda g: seen.append(g.requires_grad))
    (g * 1).sum().backward()
    assert seen == [False]


def test_hooks_do_not_record_otherwise() -> None:
    x, seen = leaf(3), []
    h = x * 2
    h.register_hook(lambda g: seen.append((ts.is_grad_enabled(), g.requires_grad)))
    h.sum().backward()
    assert seen == [(False, False)]


def test_hooks_are_called_by_autograd_grad_too() -> None:
    x, seen = leaf(1, 2), []
    h = x * 2
    h.register_hook(lambda g: seen.append("h"))
    x.register_hook(lambda g: g * 10)
    assert ts.autograd.grad(h.sum(), x)[0].tolist() == [20.0, 20.0]
    assert seen == ["h"] and x.grad is None


# --- after accumulation --------------------------------------------------------------------------


def test_a_hook_after_accumulation_gets_the_leaf() -> None:
    x, seen = leaf(1, 2), []
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append((leaf is x, slopes(leaf))))
    for _ in range(2):
        (x * 3).sum().backward()
    assert seen == [(True, [3.0, 3.0]), (True, [6.0, 6.0])]


def test_a_hook_after_accumulation_may_step_and_clear() -> None:
    x = leaf(1, 2)

    def step(p: ts.Tensor) -> None:
        with ts.no_grad():
            p -= 0.5 * grad_of(p)
        p.grad = None

    handle = x.register_post_accumulate_grad_hook(step)
    (x * 2).sum().backward()
    assert x.tolist() == [0.0, 1.0] and x.grad is None
    handle.remove()
    (x * 2).sum().backward()
    assert x.tolist() == [0.0, 1.0] and slopes(x) == [2.0, 2.0]


def test_only_leaves_have_hooks_after_accumulation() -> None:
    with pytest.raises(IllegalState, match=r"leaf|leaves"):
        (leaf(1) * 2).register_post_accumulate_grad_hook(lambda p: None)


# --- lifetime ------------------------------------------------------------------------------------


def test_hooks_go_with_their_tensor() -> None:
    class Hook:
        def __call__(self, g: ts.Tensor) -> None:
            pass

    gc.collect()
    kept: list[Any] = []
    for x in (leaf(1), leaf(1) * 2):
        hook = Hook()
        x.register_hook(hook)
        seen = weakref.ref(hook)
        del hook
        assert seen() is not None
        kept.append(seen)
    del x
    assert [seen() for seen in kept] == [None, None], "the collector is off: counts must do"


def test_a_hook_that_names_its_tensor_is_found_by_the_collector() -> None:
    def make() -> Any:
        x = leaf(1)
        x.register_hook(lambda g: x.sum())
        return weakref.ref(x)

    seen = make()
    gc.collect()
    assert seen() is None
