"""In-place writes and gradients: PyTorch's results, and what is noticed where they would be wrong.

overwriting.py holds the programs, overwriting.json what PyTorch 2.13 gives for them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tessella as ts
from leaves import grad_of, slopes
from overwriting import PROGRAMS, X, Y
from tessella.errors import InplaceError

STORED = json.loads((Path(__file__).parent / "overwriting.json").read_text())


def leaves() -> tuple[ts.Tensor, ts.Tensor]:
    """Give the leaves that the programs begin with."""
    x, y = (ts.tensor(each, dtype=ts.float64, requires_grad=True) for each in (X, Y))
    return x, y


def test_every_program_has_its_numbers() -> None:
    assert list(PROGRAMS) == list(STORED)


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_through_writes_are_those_of_pytorch(name: str) -> None:
    x, y = leaves()
    out = PROGRAMS[name](ts, x, y)
    value, *wanted = STORED[name]
    ts.testing.assert_close(out, value, rtol=1e-12, atol=1e-12)
    assert out.requires_grad == any(g is not None for g in wanted)
    if not out.requires_grad:
        return
    weights = ts.arange(1, out.size + 1).astype(ts.float64).reshape(out.shape)
    found = ts.autograd.grad(out, (x, y), weights, allow_unused=True)
    for g, want in zip(found, wanted, strict=True):
        if want is None:
            assert g is None or not g.any()
        else:
            ts.testing.assert_close(g, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", [
    name for name, (_, *wanted) in STORED.items()
    if any(g is not None for g in wanted) and "outside" not in name and "detached" not in name
])  # fmt: skip
def test_both_orders_through_writes_agree_with_finite_differences(name: str) -> None:
    ts.testing.check_grads(lambda x, y: PROGRAMS[name](ts, x, y), leaves())


def test_a_written_tensor_has_a_node_and_its_views_too() -> None:
    x, y = leaves()
    h = ts.zeros(2, 3, dtype=ts.float64)
    v = h[0]
    assert h.grad_fn is None and v.grad_fn is None
    h.add_(x)
    assert h.requires_grad and v.requires_grad and not h.is_leaf and not v.is_leaf
    before = h.grad_fn
    v.mul_(y)
    assert h.grad_fn is not before and v.grad_fn is not None


def test_a_write_of_constants_is_recorded_too() -> None:
    x, _ = leaves()
    h = x * 2
    before = h.grad_fn
    h[0] = 0
    assert h.grad_fn is not before
    h.sum().backward()
    assert slopes(x) == [[0.0] * 3, [2.0] * 3]


def test_out_takes_no_gradients() -> None:
    """As in PyTorch: out= is for values; what asks for gradients is refused, or would be lost."""
    x, y = leaves()
    with pytest.raises(ts.errors.TessellaError):
        ts.add(x, y, out=ts.zeros(2, 3, dtype=ts.float64))
    with ts.no_grad():
        out = ts.add(x, y, out=ts.zeros(2, 3, dtype=ts.float64))
    assert not out.requires_grad


# --- leaves --------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [
    lambda x: x.mul_(2), lambda x: x.__iadd__(1), lambda x: x.__setitem__(0, 1.0),
    lambda x: x.fill_(1), lambda x: x.zero_(), lambda x: x.copy_(ts.ones(2, 3)),
    lambda x: x[0].add_(1), lambda x: x.T.mul_(2), lambda x: x[0][1:].zero_(),
    lambda x: x.view(6).fill_(1),
])  # fmt: skip
def test_a_leaf_is_not_overwritten(write: Callable[[ts.Tensor], Any]) -> None:
    x, _ = leaves()
    with pytest.raises(InplaceError) as caught:
        write(x)
    first, *rest = str(caught.value).splitlines()
    assert "requires gradients" in first or "leaf" in first
    hint = next(line for line in rest if line.startswith("  hint: "))
    assert "no_grad" in hint or "detach" in hint
    assert any(line.startswith("  at test_autograd_writes.py:") for line in rest)
    assert x.tolist() == X and x.is_leaf


def test_a_leaf_is_written_where_nothing_is_recorded() -> None:
    x, _ = leaves()
    with ts.no_grad():
        x -= 1
        x[0] = 0
    x.detach().mul_(2)
    assert x.tolist() == [[0.0, 0.0, 0.0], [1.0, -1.5, -3.5]] and x.requires_grad and x.is_leaf


# --- saved values that change --------------------------------------------------------------------


def check_overwritten(loss: ts.Tensor, saved: str, changed: str) -> None:
    """Compare the error of a backward with the pattern: who saved, who changed, the cure."""
    with pytest.raises(InplaceError) as caught:
        loss.backward()
    first, *rest = str(caught.value).splitlines()
    assert first == "backward needs a tensor that was overwritten"
    lines = [line.strip() for line in rest]
    savers = [line for line in lines if line.startswith("saved by")]
    changers = [line for line in lines if line.startswith("changed by")]
    assert len(savers) == 1 and saved in savers[0], rest
    assert "test_autograd_writes.py:" in savers[0]
    assert len(changers) == 1 and changed in changers[0], rest
    assert "test_autograd_writes.py:" in changers[0]
    assert any(line.startswith("hint: ") and "clone()" in line for line in lines)


def test_the_error_names_both_places() -> None:
    x, _ = leaves()
    h = x * 2
    out = h.sin()
    h += 1
    check_overwritten(out.sum(), "h.sin()", "h += 1")
    assert x.grad is None


@pytest.mark.parametrize(("use", "write"), [
    (lambda h, y: h.exp(), lambda h, out: out.mul_(2)),
    (lambda h, y: h * y, lambda h, out: h.add_(1)),
    (lambda h, y: h.sin(), lambda h, out: h.__setitem__(0, 1.0)),
    (lambda h, y: h.sin(), lambda h, out: h[0].zero_()),
    (lambda h, y: h[0].sin(), lambda h, out: h.mul_(2)),
    (lambda h, y: h.T.sin(), lambda h, out: h[1, 1:].fill_(3)),
    (lambda h, y: h.sin(), lambda h, out: h.detach().mul_(2)),
    (lambda h, y: h @ h.T, lambda h, out: h.copy_(ts.ones(2, 3, dtype=ts.float64))),
    (lambda h, y: ts.softmax(h, axis=1), lambda h, out: out.zero_()),
])  # fmt: skip
def test_a_change_of_what_was_saved_is_noticed(use: Any, write: Any) -> None:
    x, y = leaves()
    h = x * 2
    out = use(h, y)
    with ts.no_grad():
        write(h, out)
    with pytest.raises(InplaceError, match="overwritten"):
        out.sum().backward()
    assert x.grad is None and y.grad is None


@pytest.mark.parametrize(("use", "write"), [
    (lambda h, y: h + y, lambda h, out: h.mul_(2)),
    (lambda h, y: h.exp(), lambda h, out: h.zero_()),
    (lambda h, y: h.sin(), lambda h, out: out.zero_()),
    (lambda h, y: h.sum(), lambda h, out: h.zero_()),
    (lambda h, y: h[0] * 2, lambda h, out: h.mul_(3)),
])  # fmt: skip
def test_a_change_of_what_was_not_saved_is_fine(use: Any, write: Any) -> None:
    x, y = leaves()
    out = use(x * 2, y)
    wanted = ts.autograd.grad(out.sum(), x)[0]
    h = x * 2
    out = use(h, y)
    with ts.no_grad():
        write(h, out)
    ts.testing.assert_close(ts.autograd.grad(out.sum(), x)[0], wanted)


def test_a_leaf_that_was_stepped_between_is_noticed() -> None:
    x, y = leaves()
    out = (x * y).sum()
    with ts.no_grad():
        y -= 0.1 * y
    check_overwritten(out, "x * y", "y -= 0.1 * y")


def test_a_clone_before_the_write_is_the_cure() -> None:
    x, _ = leaves()
    h = x * 2
    out = h.clone().sin()
    h += 1
    out.sum().backward()
    ts.testing.assert_close(grad_of(x), 2 * ts.cos(x.detach() * 2))


def test_both_operands_of_one_write() -> None:
    """h.mul_(h) needs what it overwrites."""
    x, _ = leaves()
    h = x * 1
    h.mul_(h)
    h.sum().backward()
    ts.testing.assert_close(grad_of(x), 2 * x.detach())


@pytest.mark.parametrize(
    "name", ["exp", "sin", "sqrt", "tanh", "square", "sigmoid", "log", "reciprocal"]
)
def test_a_write_of_what_its_own_rule_needs(name: str) -> None:
    x = ts.tensor([0.5, 1.5], dtype=ts.float64, requires_grad=True)
    h = x * 1
    getattr(h, f"{name}_")()
    h.sum().backward()
    y = x.detach().requires_grad_()
    getattr(y, name)().sum().backward()
    ts.testing.assert_close(grad_of(x), y.grad)


def test_a_second_backward_after_a_write_is_noticed() -> None:
    x, _ = leaves()
    h = x * 2
    out = h.sin().sum()
    out.backward(retain_graph=True)
    h.detach().add_(1)
    with pytest.raises(InplaceError, match="overwritten"):
        out.backward()
    ts.testing.assert_close(grad_of(x), 2 * ts.cos(x.detach() * 2))
