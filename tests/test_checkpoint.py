"""checkpoint: computing again in place of keeping."""

from __future__ import annotations

import gc
import weakref
from typing import Any, cast

import pytest

import tessella as ts
from leaves import grad_of
from tessella.errors import TessellaError


def block(x: ts.Tensor, w: ts.Tensor) -> ts.Tensor:
    """Do a few operations that keep much."""
    h = ts.tanh(x @ w)
    for _ in range(4):
        h = ts.sin(h) * ts.exp(-h) + h
    return h


def inputs(n: int = 6) -> tuple[ts.Tensor, ts.Tensor]:
    """Give leaves."""
    generator = ts.Generator(3)
    x, w = (ts.randn(n, n, dtype=ts.float64, generator=generator) for _ in range(2))
    return x.requires_grad_(), w.requires_grad_()


def bits(x: ts.Tensor) -> bytes:
    """Give the bytes of a tensor."""
    return bytes(memoryview(x.detach().clone()).cast("B"))


def test_the_result_and_the_gradients_have_the_same_bits() -> None:
    x, w = inputs()
    plain = block(x, w)
    plain.sum().backward()
    wanted = [bits(plain), bits(grad_of(x)), bits(grad_of(w))]
    x.grad = w.grad = None
    out = ts.checkpoint(block, x, w)
    assert out.requires_grad
    out.sum().backward()
    assert [bits(out), bits(grad_of(x)), bits(grad_of(w))] == wanted


def test_the_function_runs_again_in_backward() -> None:
    calls: list[bool] = []

    def f(x: ts.Tensor) -> ts.Tensor:
        calls.append(ts.is_grad_enabled())
        return x.exp().exp()

    x = inputs()[0]
    out = ts.checkpoint(f, x)
    assert calls == [False] or calls == [True]
    out.sum().backward()
    assert len(calls) == 2 and calls[1]


def test_random_numbers_are_the_same_again() -> None:
    def noisy(x: ts.Tensor) -> ts.Tensor:
        keep = ts.rand(x.shape, dtype=ts.float64) > 0.5
        return ts.where(keep, x.exp(), 0.0)

    x = inputs()[0]
    ts.manual_seed(11)
    noisy(x).sum().backward()
    after = ts.rand(1).item()
    wanted, x.grad = grad_of(x), None
    ts.manual_seed(11)
    out = ts.checkpoint(noisy, x)
    assert ts.rand(1).item() == after
    between = ts.rand(3)
    out.sum().backward()
    assert bits(grad_of(x)) == bits(wanted)
    ts.manual_seed(11)
    ts.rand(x.shape, dtype=ts.float64)
    ts.rand(1)
    assert ts.rand(3).tolist() == between.tolist()


def test_the_generator_goes_on_after_backward_as_if_nothing_had_run_again() -> None:
    x = inputs()[0]
    ts.manual_seed(5)
    out = ts.checkpoint(lambda x: x * ts.rand(x.shape, dtype=ts.float64), x)
    first = ts.rand(1).item()
    out.sum().backward()
    second = ts.rand(1).item()
    ts.manual_seed(5)
    ts.rand(x.shape, dtype=ts.float64)
    assert [ts.rand(1).item(), ts.rand(1).item()] == [first, second]


def test_less_memory_is_kept() -> None:
    x, w = inputs(64)

    def kept(checkpointed: bool) -> int:
        with ts.memory.track() as m:
            h = x
            for _ in range(6):
                h = ts.checkpoint(block, h, w) if checkpointed else block(h, w)
            del h
            h = x
            held = []
            for _ in range(6):
                h = ts.checkpoint(block, h, w) if checkpointed else block(h, w)
                held.append(h)
            return m.live

    plain, less = kept(False), kept(True)
    one = x.size * 8
    assert less <= 7 * one < plain / 3


def test_captured_parameters_get_gradients() -> None:
    x, w = inputs()
    constant = x.detach()
    ts.checkpoint(lambda x: block(x, w), constant).sum().backward()
    found, w.grad = grad_of(w), None
    block(constant, w).sum().backward()
    assert bits(found) == bits(grad_of(w))


def test_captured_results_get_gradients() -> None:
    """What leads to the captured tensor is outside, and goes on from there."""
    x, w = inputs()
    h = w * 2
    ts.checkpoint(lambda x: block(x, h), x).sum().backward()
    found = [bits(grad_of(x)), bits(grad_of(w))]
    x.grad = w.grad = None
    block(x, w * 2).sum().backward()
    assert found == [bits(grad_of(x)), bits(grad_of(w))]


def test_checkpoints_nest() -> None:
    x, w = inputs()

    def inner(x: ts.Tensor) -> Any:
        return ts.checkpoint(block, x, w)

    def outer(x: ts.Tensor) -> Any:
        return inner(inner(x))

    ts.checkpoint(outer, x).sum().backward()
    found = [bits(grad_of(x)), bits(grad_of(w))]
    x.grad = w.grad = None
    block(block(x, w), w).sum().backward()
    assert found == [bits(grad_of(x)), bits(grad_of(w))]


def test_several_results_and_nested_ones() -> None:
    x, w = inputs()

    def f(x: ts.Tensor, scale: float = 1.0) -> Any:
        return {"a": (x * w, x.detach() + 1), "n": 3, "b": [ts.sin(x) * scale]}

    out = ts.checkpoint(f, x, scale=2.0)
    assert out["n"] == 3 and not out["a"][1].requires_grad
    (out["a"][0] + out["b"][0]).sum().backward()
    ts.testing.assert_close(grad_of(x), w.detach() + 2 * ts.cos(x.detach()))
    ts.testing.assert_close(grad_of(w), x.detach())


def test_one_of_several_results_may_be_used() -> None:
    x, w = inputs()
    first, _ = ts.checkpoint(lambda x: (x * w, ts.sin(x)), x)
    first.sum().backward()
    ts.testing.assert_close(grad_of(x), w.detach())


def test_nothing_is_recorded_for_constants() -> None:
    out = ts.checkpoint(ts.exp, ts.ones(2))
    assert not out.requires_grad
    x = inputs()[0]
    with ts.no_grad():
        assert not ts.checkpoint(ts.exp, x).requires_grad


def test_second_order_goes_through() -> None:
    x = ts.tensor([0.3, -0.7], dtype=ts.float64)
    ts.testing.check_grads(lambda x: ts.checkpoint(lambda x: ts.sin(x) * x.exp(), x), (x,))


def test_a_second_backward_needs_the_graph() -> None:
    x = inputs()[0]
    out = ts.checkpoint(ts.exp, x).sum()
    out.backward(retain_graph=True)
    first = grad_of(x).clone()
    out.backward()
    assert bits(grad_of(x)) == bits(first * 2)
    with pytest.raises(TessellaError, match="was freed"):
        out.backward()


def test_autograd_grad_goes_through() -> None:
    x, w = inputs()
    found = ts.autograd.grad(ts.checkpoint(block, x, w).sum(), (x, w))
    wanted = ts.autograd.grad(block(x, w).sum(), (x, w))
    assert [bits(g) for g in found] == [bits(g) for g in wanted]
    assert x.grad is None and w.grad is None


def test_errors_come_out() -> None:
    def fails(x: ts.Tensor) -> ts.Tensor:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ts.checkpoint(fails, ts.ones(2))
    with pytest.raises(TypeError):
        ts.checkpoint(cast(Any, 3), ts.ones(2))


def test_a_function_that_does_otherwise_the_second_time_is_refused() -> None:
    shapes = [2, 3]

    def changing(x: ts.Tensor) -> ts.Tensor:
        return x[: shapes.pop(0)].exp()

    x = ts.ones(4, requires_grad=True)
    out = ts.checkpoint(changing, x)
    with pytest.raises(TessellaError, match="checkpoint"):
        out.sum().backward()
    assert x.grad is None


def test_a_changed_argument_is_noticed() -> None:
    x = ts.ones(4, requires_grad=True)
    h = x * 1
    out = ts.checkpoint(lambda h: h.exp(), h)
    h.detach().mul_(2)
    with pytest.raises(TessellaError, match="overwritten"):
        out.sum().backward()


def test_arguments_and_function_go_with_the_graph() -> None:
    class Body:
        def __call__(self, x: ts.Tensor) -> ts.Tensor:
            return x.exp()

    gc.collect()
    body, x = Body(), inputs()[0]
    seen = weakref.ref(body)
    out = ts.checkpoint(body, x)
    del body
    out.sum().backward()
    assert seen() is None or out is not None
    del out
    assert seen() is None, "the collector is off: reference counts must do"
