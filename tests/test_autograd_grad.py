"""autograd.grad and autograd.backward: several outputs, unused inputs, graphs of gradients."""

from __future__ import annotations

from typing import Any, cast

import pytest

import tessella as ts
from leaves import leaf, slopes
from tessella.autograd import backward, grad
from tessella.errors import IllegalState, ShapeError, TessellaError


def lists(found: Any) -> Any:
    """Give tensors as lists."""
    return [None if g is None else g.tolist() for g in found]


def test_gradients_come_as_a_tuple_and_not_in_grad() -> None:
    x, y = leaf(1, 2), leaf(3, 4)
    found = grad((x * y).sum(), (x, y))
    assert isinstance(found, tuple) and lists(found) == [[3.0, 4.0], [1.0, 2.0]]
    assert x.grad is None and y.grad is None
    assert not found[0].requires_grad


@pytest.mark.parametrize("many", [tuple, list])
def test_one_input_or_many_in_tuples_or_lists(many: Any) -> None:
    x, y = leaf(1, 2), leaf(3, 4)
    assert lists(grad((x * 2).sum(), x)) == [[2.0, 2.0]]
    assert lists(grad(many([(x * 2).sum()]), many([x]))) == [[2.0, 2.0]]
    assert lists(grad(many([(x * y).sum()]), many([y, x]))) == [[1.0, 2.0], [3.0, 4.0]]


def test_several_outputs_add_up() -> None:
    x = leaf(1, 2)
    found = grad([(x * x).sum(), (x * 5).sum()], x)
    assert lists(found) == [[7.0, 9.0]]


def test_grad_outputs_weigh_the_outputs() -> None:
    x = leaf(1, 2)
    w = ts.tensor([10.0, 100.0], dtype=ts.float64)
    assert lists(grad(x * x, x, w)) == [[20.0, 400.0]]
    assert lists(grad([x * x, (x * 5).sum()], x, [w, None])) == [[25.0, 405.0]]
    assert lists(grad([x * x, x * 5], x, grad_outputs=(w, w))) == [[70.0, 900.0]]


def test_grad_outputs_fit_the_outputs() -> None:
    x = leaf(1, 2)
    with pytest.raises(ShapeError, match=r"grad: .*\(2,\)"):
        grad(x * x, x, ts.ones(3, dtype=ts.float64))
    with pytest.raises(ShapeError):
        grad(x * x, x)
    with pytest.raises(TessellaError, match="grad: "):
        grad([x * x, x * 2], x, [ts.ones(2, dtype=ts.float64)])
    assert x.grad is None


def test_an_unused_input_is_refused_unless_allowed() -> None:
    x, y = leaf(1, 2), leaf(3, 4)
    with pytest.raises(TessellaError, match=r"grad: .*not.*used|grad: .*depend") as caught:
        grad((x * 2).sum(), (x, y))
    assert "allow_unused=True" in str(caught.value) and "inputs[1]" in str(caught.value)
    assert lists(grad((x * 2).sum(), (x, y), allow_unused=True)) == [[2.0, 2.0], None]
    found = grad((x * 2).sum(), (x, y), materialize_grads=True)
    assert lists(found) == [[2.0, 2.0], [0.0, 0.0]] and found[1].dtype is ts.float64


def test_inputs_may_be_results() -> None:
    x = leaf(1, 2)
    h = x * 3
    out = (h * h).sum()
    assert lists(grad(out, (h, x), retain_graph=True)) == [[6.0, 12.0], [18.0, 36.0]]
    assert lists(grad(out, h)) == [[6.0, 12.0]]


def test_the_output_may_be_the_input() -> None:
    x = leaf(1, 2)
    w = ts.tensor([5.0, 6.0], dtype=ts.float64)
    assert lists(grad(x, x, w)) == [[5.0, 6.0]]
    h = x * 2
    assert lists(grad(h, (h, x), w)) == [[5.0, 6.0], [10.0, 12.0]]


def test_an_input_given_twice_gets_its_gradient_twice() -> None:
    x = leaf(1, 2)
    assert lists(grad((x * 2).sum(), (x, x))) == [[2.0, 2.0], [2.0, 2.0]]


def test_only_what_leads_to_the_inputs_is_computed() -> None:
    x, y, seen = leaf(1), leaf(2), []
    a, b = x * 2, y * 3
    b.register_hook(lambda g: seen.append("b"))
    assert lists(grad((a * b).sum(), x)) == [[12.0]]
    assert seen == [] and y.grad is None


def test_inputs_that_ask_for_nothing_are_refused() -> None:
    x, c = leaf(1, 2), ts.ones(2, dtype=ts.float64)
    with pytest.raises(IllegalState, match=r"grad: .*require"):
        grad((x * c).sum(), c)
    with pytest.raises(IllegalState, match=r"grad: .*require"):
        grad((c * 2).sum(), x)
    with pytest.raises(TypeError):
        grad(cast(Any, 3.0), x)
    with pytest.raises(TypeError):
        grad((x * 2).sum(), cast(Any, "x"))


def test_the_graph_is_freed_unless_retained() -> None:
    x = leaf(1, 2)
    out = (x * x).sum()
    grad(out, x, retain_graph=True)
    grad(out, x)
    with pytest.raises(IllegalState, match="was freed"):
        grad(out, x)


def test_gradients_of_gradients() -> None:
    x = leaf(2, 3)
    (g,) = grad((x**4).sum(), x, create_graph=True)
    (h,) = grad(g.sum(), x, create_graph=True)
    (t,) = grad(h.sum(), x, create_graph=True)
    (f,) = grad(t.sum(), x)
    assert lists((g, h, t, f)) == [[32.0, 108.0], [48.0, 108.0], [48.0, 72.0], [24.0, 24.0]]


def test_gradients_flow_to_grad_outputs() -> None:
    x, w = leaf(2, 3), leaf(1, 1)
    (g,) = grad(x * x, x, w, create_graph=True)
    assert lists(grad(g, w, ts.ones(2, dtype=ts.float64))) == [[4.0, 6.0]]


def test_a_gradient_penalty_trains() -> None:
    """The mixed second derivative: d/dw of |d/dx f|²."""
    x, w = leaf(1, 2), leaf(3, 4)
    (g,) = grad((x * x * w).sum(), x, create_graph=True)
    (g * g).sum().backward()
    assert slopes(w) == [24.0, 128.0]  # 8 x² w
    assert slopes(x) == [72.0, 256.0]  # 8 x w²


def test_recording_may_be_off_outside() -> None:
    x = leaf(1, 2)
    out = (x * x).sum()
    with ts.no_grad():
        (g,) = grad(out, x, create_graph=True)
        assert g.requires_grad and not ts.is_grad_enabled()


def test_backward_of_several_tensors() -> None:
    x, y = leaf(1, 2), leaf(3, 4)
    w = ts.tensor([10.0, 100.0], dtype=ts.float64)
    backward([(x * y).sum(), x * x], [None, w])
    assert slopes(x) == [23.0, 404.0] and slopes(y) == [1.0, 2.0]
    backward((x * 2).sum())
    assert slopes(x) == [25.0, 406.0]


def test_backward_of_one_tensor_twice_counts_twice() -> None:
    x = leaf(1, 2)
    out = (x * 2).sum()
    backward([out, out])
    assert slopes(x) == [4.0, 4.0]


def test_views_of_one_result_are_outputs_of_their_own() -> None:
    x = leaf(1, 2, 3)
    h = x * 2
    assert lists(grad([h[0], h[1:].sum()], x)) == [[2.0, 2.0, 2.0]]
