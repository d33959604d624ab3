"""autograd.Function: operations with a gradient that the user writes."""

from __future__ import annotations

import gc
import weakref
from typing import Any, cast

import pytest

import tessella as ts
from leaves import grad_of, leaf, slopes
from tessella.autograd import Function, grad
from tessella.errors import IllegalState, InplaceError, TessellaError


class Exp(Function):
    """As PyTorch's documentation has it."""

    @staticmethod
    def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
        assert not ts.is_grad_enabled()
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Any, g: ts.Tensor) -> ts.Tensor:
        result: ts.Tensor = ctx.saved_tensors[0]
        return g * result


class Scale(Function):
    """Takes a number beside a tensor."""

    @staticmethod
    def forward(ctx: Any, x: ts.Tensor, by: float, name: str = "") -> ts.Tensor:
        ctx.by = by
        return x * by

    @staticmethod
    def backward(ctx: Any, g: ts.Tensor) -> tuple[ts.Tensor, None, None]:
        return g * ctx.by, None, None


class Both(Function):
    """Two inputs, two outputs."""

    @staticmethod
    def forward(ctx: Any, x: ts.Tensor, y: ts.Tensor) -> tuple[ts.Tensor, ts.Tensor]:
        ctx.save_for_backward(x, y)
        return x + y, x * y

    @staticmethod
    def backward(ctx: Any, gs: Any, gp: Any) -> tuple[ts.Tensor, ts.Tensor]:
        x, y = ctx.saved_tensors
        return gs + gp * y, gs + gp * x


def test_a_function_has_the_gradient_that_it_says() -> None:
    x = leaf(0, 1)
    out = Exp.apply(x)
    assert out.requires_grad and not out.is_leaf and out.grad_fn is not None
    ts.testing.assert_close(out, x.exp())
    (out * 2).sum().backward()
    ts.testing.assert_close(grad_of(x), 2 * x.detach().exp())


def test_both_orders_of_a_function_are_right() -> None:
    x, y = ts.randn(2, 3, dtype=ts.float64), ts.randn(2, 3, dtype=ts.float64)
    ts.testing.check_grads(Exp.apply, (x,))
    ts.testing.check_grads(Both.apply, (x, y))
    ts.testing.check_grads(lambda x: Scale.apply(x, 3.0), (x.T,))


def test_arguments_that_are_no_tensors_pass_through() -> None:
    x = leaf(1, 2)
    Scale.apply(x, 3.0, "name").sum().backward()
    assert slopes(x) == [3.0, 3.0]


def test_a_node_of_a_function_is_named_after_it() -> None:
    assert "Exp" in Exp.apply(leaf(1)).grad_fn.name  # type: ignore[union-attr]


def test_outputs_that_are_not_used_get_zeros() -> None:
    x, y = leaf(2, 3), leaf(5, 7)
    total, product = Both.apply(x, y)
    assert total.requires_grad and product.requires_grad
    product.sum().backward()
    assert slopes(x) == [5.0, 7.0] and slopes(y) == [2.0, 3.0]


def test_outputs_that_are_not_used_get_none_if_so_wished() -> None:
    seen: list[Any] = []

    class Pair(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> tuple[ts.Tensor, ts.Tensor]:
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, a: Any, b: Any) -> Any:
            seen.append((a, b))
            return b * 3 if a is None else a * 2

    x = leaf(1)
    Pair.apply(x)[1].sum().backward()
    assert seen[0][0] is None and seen[0][1].tolist() == [1.0] and slopes(x) == [3.0]


def test_needs_input_grad_tells_who_wants_gradients() -> None:
    seen: list[Any] = []

    class Mul(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor, y: ts.Tensor, k: int) -> ts.Tensor:
            seen.append(ctx.needs_input_grad)
            ctx.save_for_backward(x, y)
            return x * y * k

        @staticmethod
        def backward(ctx: Any, g: ts.Tensor) -> Any:
            seen.append(ctx.needs_input_grad)
            _, y = ctx.saved_tensors
            return g * y if ctx.needs_input_grad[0] else None, None, None

    x, c = leaf(1, 2), ts.ones(2, dtype=ts.float64)
    Mul.apply(x, c, 1).sum().backward()
    assert [tuple(each) for each in seen] == [(True, False, False)] * 2
    assert slopes(x) == [1.0, 1.0]


def test_nothing_is_recorded_for_constants() -> None:
    out = Exp.apply(ts.ones(2))
    assert not out.requires_grad and out.grad_fn is None
    with ts.no_grad():
        assert not Exp.apply(leaf(1)).requires_grad


def test_none_means_no_gradient() -> None:
    class Stop(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
            return x + y

        @staticmethod
        def backward(ctx: Any, g: ts.Tensor) -> Any:
            return g, None

    x, y = leaf(1), leaf(2)
    Stop.apply(x, y).sum().backward()
    assert slopes(x) == [1.0] and y.grad is None


def test_outputs_may_be_marked_as_constants() -> None:
    class SortLike(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> tuple[ts.Tensor, ts.Tensor, ts.Tensor]:
            places, steps = ts.argsort(x), ts.floor(x)
            ctx.mark_non_differentiable(places, steps)
            ctx.save_for_backward(places)
            return x[places], places, steps

        @staticmethod
        def backward(ctx: Any, g: ts.Tensor, _places: Any, _steps: Any) -> ts.Tensor:
            (places,) = ctx.saved_tensors
            return g[ts.argsort(places)]

    x = leaf(3, 1, 2)
    values, places, steps = SortLike.apply(x)
    assert values.requires_grad and not places.requires_grad and not steps.requires_grad
    (values * ts.tensor([1.0, 10.0, 100.0], dtype=ts.float64)).sum().backward()
    assert slopes(x) == [100.0, 1.0, 10.0]


def test_integer_outputs_are_constants() -> None:
    class Places(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> tuple[ts.Tensor, ts.Tensor]:
            return x * 2, ts.argsort(x)

        @staticmethod
        def backward(ctx: Any, g: ts.Tensor, _: Any) -> ts.Tensor:
            return g * 2

    x = leaf(3, 1)
    doubled, places = Places.apply(x)
    assert doubled.requires_grad and not places.requires_grad
    doubled.sum().backward()
    assert slopes(x) == [2.0, 2.0]


def test_a_function_may_write_its_input_if_it_says_so() -> None:
    class AddOne(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            x.add_(1)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx: Any, g: ts.Tensor) -> ts.Tensor:
            return g * 10

    x = leaf(1, 2)
    h = x * 2
    out = AddOne.apply(h)
    assert out is h and h.tolist() == [3.0, 5.0]
    (h * 1).sum().backward()
    assert slopes(x) == [20.0, 20.0]
    with pytest.raises(InplaceError):
        AddOne.apply(leaf(1))


def test_a_written_input_that_others_saved_is_noticed() -> None:
    class AddOne(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            ctx.mark_dirty(x)
            return x.add_(1)

        @staticmethod
        def backward(ctx: Any, g: ts.Tensor) -> ts.Tensor:
            return g

    x = leaf(1, 2)
    h = x * 2
    square = h * h
    AddOne.apply(h)
    with pytest.raises(InplaceError, match="overwritten"):
        square.sum().backward()


def test_an_input_returned_as_it_is_does_not_alias_its_gradient() -> None:
    class Straight(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            return x

        @staticmethod
        def backward(ctx: Any, g: ts.Tensor) -> ts.Tensor:
            return g * 5

    x = leaf(1, 2)
    out = Straight.apply(x)
    assert out.tolist() == [1.0, 2.0]
    out.sum().backward()
    assert slopes(x) == [5.0, 5.0]


def test_saved_tensors_are_checked_for_changes() -> None:
    x = leaf(1, 2)
    out = Exp.apply(x)
    out.detach().mul_(2)
    with pytest.raises(InplaceError, match="overwritten"):
        out.sum().backward()


def test_saved_tensors_end_with_the_graph() -> None:
    kept: list[Any] = []

    class Keep(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            kept.append(ctx)
            ctx.save_for_backward(x, None)
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: ts.Tensor) -> ts.Tensor:
            assert ctx.saved_tensors[1] is None
            return g

    x = leaf(1)
    Keep.apply(x).sum().backward()
    with pytest.raises(IllegalState, match="freed"):
        kept[0].saved_tensors  # noqa: B018 - to ask is the mistake


@pytest.mark.parametrize("given", [
    lambda g: (g, g), lambda g: (), lambda g: ts.ones(3, dtype=ts.float64), lambda g: 1.0,
    lambda g: g.astype(ts.complex128)[:1],
], ids=["too many", "too few", "shape", "type", "dtype"])  # fmt: skip
def test_wrong_gradients_name_the_function_and_what_was_expected(given: Any) -> None:
    class Wrong(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: ts.Tensor) -> Any:
            return given(g)

    x = leaf(1, 2)
    with pytest.raises(TessellaError, match="Wrong") as caught:
        Wrong.apply(x).sum().backward()
    assert "  hint: " in str(caught.value)
    assert x.grad is None


def test_results_that_are_no_tensors_pass_through() -> None:
    class Named(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> Any:
            return "name", x * 2, 3

        @staticmethod
        def backward(ctx: Any, _name: Any, g: ts.Tensor, _number: Any) -> Any:
            assert _name is None and _number is None
            return g * 2

    x = leaf(1)
    name, out, number = Named.apply(x)
    assert (name, number) == ("name", 3)
    out.sum().backward()
    assert slopes(x) == [2.0]


def test_a_function_without_its_methods_says_so() -> None:
    class Empty(Function):
        pass

    class OnlyForward(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            return x * 2

    with pytest.raises(ts.errors.InvalidArgument, match="Empty has no static method forward"):
        Empty.apply(leaf(1))  # type: ignore[call-overload, misc]
    x = leaf(1)
    with pytest.raises(
        ts.errors.InvalidArgument, match="OnlyForward has no static method backward"
    ):
        OnlyForward.apply(x).sum().backward()
    with pytest.raises((TessellaError, TypeError)):
        cast(Any, Exp())(leaf(1))


def test_errors_of_a_users_backward_come_out_as_they_are() -> None:
    class Fails(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: ts.Tensor) -> Any:
            raise KeyError("mine")

    x, y = leaf(1), leaf(2)
    with pytest.raises(KeyError, match="mine"):
        (Fails.apply(x) * y).sum().backward()
    assert x.grad is None and y.grad is None


def test_the_second_order_follows_the_operations_of_backward() -> None:
    x = leaf(0.5)
    (g,) = grad(Exp.apply(x * x).sum(), x, create_graph=True)
    (h,) = grad(g.sum(), x)
    value = x.detach()
    ts.testing.assert_close(h, (2 + 4 * value * value) * (value * value).exp())


def test_a_function_inside_a_backward() -> None:
    class Outer(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            ctx.save_for_backward(x)
            return x.exp().exp()

        @staticmethod
        def backward(ctx: Any, g: ts.Tensor) -> ts.Tensor:
            (x,) = ctx.saved_tensors
            slope: ts.Tensor = Exp.apply(x) * Exp.apply(Exp.apply(x))
            return g * slope

    ts.testing.check_grads(Outer.apply, (ts.tensor([0.1, -0.5], dtype=ts.float64),))


def test_the_context_goes_with_the_graph() -> None:
    seen: list[Any] = []

    class Watched(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            seen.append(weakref.ref(x))
            out = x * 2
            ctx.save_for_backward(x, out)
            return out

        @staticmethod
        def backward(ctx: Any, g: ts.Tensor) -> ts.Tensor:
            return g * 2

    gc.collect()
    x = leaf(1)
    h = x * 1
    out = Watched.apply(h)
    del h
    inner = weakref.ref(out)
    out.sum().backward()
    del out
    assert inner() is None, "the collector is off: reference counts must do"
