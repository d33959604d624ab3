"""Gradients of leaves: asking for them, computing them, and what is refused.

Written from what PyTorch documents for these names. In-place writes, hooks, modes and custom
functions have files of their own.
"""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import pytest

import tessella as ts
from leaves import grad_of, leaf, slopes
from tessella.errors import (
    DTypeMismatch,
    IllegalState,
    ShapeError,
    TessellaError,
)


def message(call: Callable[[], Any], kind: type[TessellaError]) -> tuple[str, str]:
    """Give the first line and the hint of the error that a call raises."""
    with pytest.raises(kind) as caught:
        call()
    first, *rest = str(caught.value).splitlines()
    hints = [line for line in rest if line.startswith("  hint: ")]
    assert hints, "no cure is named"
    return first, hints[0]


# --- asking for gradients ------------------------------------------------------------------------


def test_tensors_ask_for_no_gradients_by_themselves() -> None:
    x = ts.ones(3)
    assert not x.requires_grad and x.is_leaf and x.grad is None and x.grad_fn is None


@pytest.mark.parametrize("make", [
    lambda: ts.tensor([1.0], requires_grad=True), lambda: ts.ones(1, requires_grad=True),
    lambda: ts.ones(1).requires_grad_(), lambda: ts.ones(1).requires_grad_(True),
    lambda: ts.rand(1, requires_grad=True), lambda: ts.zeros_like(ts.ones(1), requires_grad=True),
])  # fmt: skip
def test_gradients_are_asked_for_in_many_ways(make: Callable[[], ts.Tensor]) -> None:
    x = make()
    assert x.requires_grad and x.is_leaf and x.grad is None and x.grad_fn is None


def test_requires_grad_can_be_set() -> None:
    x = ts.ones(2)
    x.requires_grad = True
    assert x.requires_grad
    x.requires_grad = False
    assert not x.requires_grad
    assert x.requires_grad_(True).requires_grad_(False) is x and not x.requires_grad


def test_results_ask_for_gradients_if_an_operand_does() -> None:
    x, y = leaf(1, 2), ts.tensor([3.0, 4.0], dtype=ts.float64)
    out = x * y
    assert out.requires_grad and not out.is_leaf and out.grad_fn is not None
    assert not (y * y).requires_grad and (y * y).is_leaf


def test_a_result_cannot_stop_asking() -> None:
    out = leaf(1, 2) * 2
    with pytest.raises(IllegalState, match="only leaves"):
        out.requires_grad_(False)
    with pytest.raises(IllegalState, match="only leaves"):
        out.requires_grad = False
    out.requires_grad_(True)  # it does already


@pytest.mark.parametrize("dtype", [ts.int64, ts.uint8, ts.bool], ids=str)
def test_integers_have_no_gradients(dtype: Any) -> None:
    first, hint = message(lambda: ts.zeros(2, dtype=dtype).requires_grad_(), DTypeMismatch)
    assert f"{dtype} tensors have no gradients" in first and "astype" in hint
    with pytest.raises(DTypeMismatch, match="no gradients"):
        ts.zeros(2, dtype=dtype).requires_grad = True
    with pytest.raises(DTypeMismatch, match="no gradients"):
        ts.zeros(2, dtype=dtype, requires_grad=True)


def test_integer_results_are_constants() -> None:
    x = leaf(3, 1, 2)
    for out in (x.argmax(), x > 1, x.astype(ts.int64), ts.argsort(x)):
        assert not out.requires_grad and out.grad_fn is None


# --- backward ------------------------------------------------------------------------------------


def test_backward_fills_the_leaves() -> None:
    x, y = leaf(1, 2, 3), leaf(4, 5, 6)
    out = (x * x * y).sum()
    out.backward()
    assert slopes(x) == [8.0, 20.0, 36.0] and slopes(y) == [1.0, 4.0, 9.0]
    assert not grad_of(x).requires_grad and grad_of(x).is_leaf
    assert grad_of(x).dtype is x.dtype and grad_of(x).shape == x.shape


def test_gradients_accumulate() -> None:
    x = leaf(1, 2)
    for i in range(1, 4):
        (x * 3).sum().backward()
        assert slopes(x) == [3.0 * i, 3.0 * i]


def test_accumulation_changes_no_gradient_that_somebody_holds() -> None:
    x = leaf(1, 2)
    (x * 2).sum().backward()
    held, view = grad_of(x), grad_of(x)[:1]
    (x * 2).sum().backward()
    assert slopes(x) == [4.0, 4.0] and held.tolist() == [2.0, 2.0] and view.tolist() == [2.0]


def test_accumulation_is_in_place_where_nobody_sees_it() -> None:
    x = leaf(1, 2)
    (x * 2).sum().backward()
    place = grad_of(x).data_ptr
    (x * 2).sum().backward()
    assert grad_of(x).data_ptr == place and slopes(x) == [4.0, 4.0]


def test_a_gradient_that_somebody_holds_is_not_that_of_another_leaf() -> None:
    """x + y passes one gradient to both: a sum in place must not change the other's."""
    x, y = leaf(1, 2), leaf(3, 4)
    g = ts.ones(2, dtype=ts.float64)
    (x + y).backward(g)
    (x * 5).sum().backward()
    assert slopes(x) == [6.0, 6.0] and slopes(y) == [1.0, 1.0] and g.tolist() == [1.0, 1.0]


def test_the_given_gradient_is_not_kept() -> None:
    x, g = leaf(1, 2), ts.ones(2, dtype=ts.float64)
    (x + 0).backward(g)
    g.fill_(100)
    assert slopes(x) == [1.0, 1.0]
    grad_of(x).fill_(7)
    assert g.tolist() == [100.0, 100.0]


def test_backward_of_a_leaf_gives_ones() -> None:
    x = leaf(5).sum().detach().requires_grad_()
    x.backward()
    assert x.grad is not None and grad_of(x).item() == 1.0
    y = leaf(1, 2)
    y.backward(ts.tensor([3.0, 4.0], dtype=ts.float64))
    assert slopes(y) == [3.0, 4.0]


def test_one_element_needs_no_gradient() -> None:
    x = ts.ones(1, 1, requires_grad=True)
    (x * 2).backward()
    assert slopes(x) == [[2.0]]


@pytest.mark.parametrize("shape", [(3,), (2, 2), (0,)])
def test_several_elements_need_a_gradient(shape: tuple[int, ...]) -> None:
    out = ts.ones(shape, requires_grad=True) * 2
    first, hint = message(out.backward, ShapeError)
    assert first == f"backward: x has {out.size} elements, and no gradient was given for them"
    assert "x.sum()" in hint and f"a gradient of shape {shape}" in hint


def test_the_gradient_has_the_shape_of_the_tensor() -> None:
    x = leaf(1, 2, 3)
    for wrong in (ts.ones(2, dtype=ts.float64), ts.ones(1, 3, dtype=ts.float64),
                  ts.ones((), dtype=ts.float64)):  # fmt: skip
        first, _ = message(partial((x * 2).backward, wrong), ShapeError)
        assert first.startswith("backward: ") and str(wrong.shape) in first and "(3,)" in first
    with pytest.raises(TessellaError):
        (x * 2).backward(cast(Any, [1.0, 1.0, 1.0]))
    assert x.grad is None


def test_what_has_no_graph_has_no_backward() -> None:
    first, hint = message(ts.ones(2).sum().backward, IllegalState)
    assert first.startswith("backward: ") and "require" in first and "requires_grad" in hint


def test_a_second_backward_is_refused() -> None:
    x = leaf(1, 2)
    out = (x * x).sum()
    out.backward()
    first, hint = message(out.backward, IllegalState)
    assert first.startswith("backward: ") and "was freed" in first and "retain_graph=True" in hint
    assert slopes(x) == [2.0, 4.0], "a failed backward leaves gradients as they were"


def test_a_second_backward_is_refused_even_if_nothing_was_saved() -> None:
    x = leaf(1, 2)
    out = (x + 1).sum()
    out.backward()
    with pytest.raises(IllegalState, match="was freed"):
        out.backward()
    assert slopes(x) == [1.0, 1.0]


def test_a_shared_part_is_freed_by_the_first_backward() -> None:
    x = leaf(1, 2)
    h = x.exp()
    h.sum().backward()
    with pytest.raises(IllegalState, match="was freed"):
        (h * 2).sum().backward()


def test_a_retained_graph_can_be_used_again() -> None:
    x = leaf(1, 2)
    out = (x * x).sum()
    for i in range(1, 4):
        out.backward(retain_graph=True)
        assert slopes(x) == [2.0 * i, 4.0 * i]
    out.backward()
    with pytest.raises(IllegalState, match="was freed"):
        out.backward()


def test_create_graph_retains_and_records() -> None:
    x = leaf(2, 3)
    (x**3).sum().backward(create_graph=True)
    assert grad_of(x).requires_grad and slopes(x) == [12.0, 27.0]
    g, x.grad = grad_of(x), None
    g.sum().backward()
    assert slopes(x) == [12.0, 18.0]


def test_backward_for_chosen_inputs_leaves_the_others_alone() -> None:
    x, y = leaf(1, 2), leaf(3, 4)
    (x * y).sum().backward(inputs=[x])
    assert slopes(x) == [3.0, 4.0] and y.grad is None
    (x * y).sum().backward(inputs=y)
    assert slopes(y) == [1.0, 2.0] and slopes(x) == [3.0, 4.0]


def test_inputs_may_be_results() -> None:
    x = leaf(1, 2)
    h = x * 3
    (h * h).sum().backward(inputs=[h])
    assert x.grad is None and h.grad is not None and slopes(h) == [6.0, 12.0]


def test_constants_get_no_gradient() -> None:
    x, c = leaf(1, 2), ts.ones(2, dtype=ts.float64)
    (x * c).sum().backward()
    assert c.grad is None


def test_gradients_of_mixed_dtypes_have_the_dtype_of_their_leaf() -> None:
    x = ts.ones(3, dtype=ts.float16, requires_grad=True)
    y = ts.ones(3, dtype=ts.float32, requires_grad=True)
    z = ts.ones(3, dtype=ts.complex64, requires_grad=True)
    ts.abs(x * y * z * (1 + 1j)).sum().backward()
    assert [grad_of(t).dtype for t in (x, y, z)] == [ts.float16, ts.float32, ts.complex64]


def test_complex_gradients_point_uphill() -> None:
    """As in PyTorch: the gradient of a real function of z is its derivative by conj(z), twice."""
    z = ts.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    (ts.abs(z) ** 2).sum().backward()
    ts.testing.assert_close(grad_of(z), 2 * z.detach())
    w = ts.tensor(2 + 1j, requires_grad=True)
    ts.real(w * w).backward()
    assert complex(grad_of(w).item()) == 4 - 2j


def test_a_complex_result_needs_its_gradient() -> None:
    z = ts.tensor(1 + 2j, requires_grad=True)
    with pytest.raises(TessellaError, match=r"backward: .*complex"):
        (z * z).backward()


# --- the gradient as an attribute ----------------------------------------------------------------


def test_grad_can_be_set_and_cleared() -> None:
    x = leaf(1, 2)
    x.grad = ts.tensor([5.0, 6.0], dtype=ts.float64)
    (x * 2).sum().backward()
    assert slopes(x) == [7.0, 8.0]
    x.grad = None
    assert x.grad is None
    (x * 2).sum().backward()
    assert slopes(x) == [2.0, 2.0]


def test_a_wrong_grad_is_refused() -> None:
    x = leaf(1, 2)
    with pytest.raises(ShapeError):
        x.grad = ts.ones(3, dtype=ts.float64)
    with pytest.raises(DTypeMismatch):
        x.grad = ts.ones(2, dtype=ts.float32)
    with pytest.raises(TypeError):
        setattr(x, "grad", [1.0, 2.0])  # noqa: B010 - mypy refuses it too
    assert x.grad is None


def test_zero_grad_forgets_the_gradient() -> None:
    x = leaf(1, 2)
    (x * 2).sum().backward()
    x.zero_grad()
    assert x.grad is None or slopes(x) == [0.0, 0.0]
    (x * 3).sum().backward()
    assert slopes(x) == [3.0, 3.0]


def test_results_keep_no_gradient_unless_told() -> None:
    x = leaf(1, 2)
    h = x * 3
    kept = h * 2
    kept.retain_grad()
    assert kept.retains_grad and not h.retains_grad and not x.retains_grad
    (kept * kept).sum().backward()
    assert h.grad is None and slopes(kept) == [12.0, 24.0]
    assert slopes(x) == [72.0, 144.0]


def test_retain_grad_of_a_leaf_changes_nothing() -> None:
    x = leaf(1, 2)
    x.retain_grad()
    assert not x.retains_grad
    (x * 2).sum().backward()
    assert slopes(x) == [2.0, 2.0]
    with pytest.raises(TessellaError):
        ts.ones(2).retain_grad()


def test_retained_gradients_accumulate() -> None:
    x = leaf(1, 2)
    h = x * 3
    h.retain_grad()
    out = h.sum()
    out.backward(retain_graph=True)
    out.backward()
    assert slopes(h) == [2.0, 2.0]


# --- detach --------------------------------------------------------------------------------------


def test_detach_shares_memory_outside_the_graph() -> None:
    x = leaf(1, 2)
    h = x * 2
    d = h.detach()
    assert not d.requires_grad and d.is_leaf and d.grad_fn is None
    d[0] = 9
    assert h.tolist() == [9.0, 4.0]
    (x * h.detach()).sum().backward()
    assert slopes(x) == [9.0, 4.0]


def test_detach_in_place_makes_a_leaf() -> None:
    x = leaf(1, 2)
    h = x * 2
    assert h.detach_() is h and h.is_leaf and not h.requires_grad and h.grad_fn is None
    assert not (h * 2).requires_grad
    y = leaf(1, 2).detach_()
    assert not y.requires_grad


def test_copies_of_leaves_are_leaves() -> None:
    x = leaf(1, 2)
    (x * 2).sum().backward()
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert y.requires_grad and y.is_leaf and y.tolist() == [1.0, 2.0]


# --- numbers that are not finite -----------------------------------------------------------------


def test_gradients_may_be_infinite() -> None:
    x = leaf(0, 1)
    x.sqrt().sum().backward()
    assert slopes(x) == [math.inf, 0.5]


def test_where_does_not_pass_the_gradient_of_the_other_branch() -> None:
    x = leaf(-1, 4)
    ts.where(x > 0, x, 0.0).sum().backward()
    assert slopes(x) == [0.0, 1.0]


def test_flags_are_checked() -> None:
    out = leaf(1) * 2
    wrong: list[dict[str, Any]] = [{"retain_graph": "yes"}, {"create_graph": 2}]
    for flags in wrong:
        with pytest.raises(TypeError):
            out.backward(**flags)
    with pytest.raises(TessellaError):
        out.backward(inputs=[])
    out.backward()
