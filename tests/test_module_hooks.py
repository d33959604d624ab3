"""Hooks of modules, and module paths in errors."""

from __future__ import annotations

import re
from typing import Any

import pytest

import tessella as ts
from tessella import errors, nn

# --- forward --------------------------------------------------------------------------------------


def test_hooks_see_and_replace_arguments_and_results() -> None:
    layer = nn.Identity()
    seen: list[Any] = []
    layer.register_forward_pre_hook(lambda module, args: seen.append(("before", args)))
    layer.register_forward_pre_hook(lambda module, args: args[0] + 1)
    layer.register_forward_hook(lambda module, args, out: out * 10)
    layer.register_forward_hook(lambda module, args, out: seen.append(("after", args, out)))
    assert layer(2) == 30  # type: ignore[arg-type]
    assert seen == [("before", (2,)), ("after", (3,), 30)]


def test_hooks_take_keywords_where_asked() -> None:
    class Scaled(nn.Module):
        def forward(self, x: float, scale: float = 1.0) -> float:
            return x * scale

    layer = Scaled()
    layer.register_forward_pre_hook(
        lambda module, args, keywords: (args, {"scale": keywords["scale"] + 1}), with_kwargs=True
    )
    layer.register_forward_hook(
        lambda module, args, keywords, out: (out, keywords["scale"]), with_kwargs=True
    )
    assert layer(2, scale=3) == (8, 4)  # type: ignore[comparison-overlap]


def test_hooks_are_called_in_order_and_removed() -> None:
    layer = nn.Identity()
    seen: list[int] = []
    layer.register_forward_hook(lambda *call: seen.append(1))
    second = layer.register_forward_hook(lambda *call: seen.append(2))
    layer.register_forward_hook(lambda *call: seen.append(0), prepend=True)
    layer(1)  # type: ignore[arg-type]
    assert seen == [0, 1, 2]
    second.remove()
    second.remove()
    with layer.register_forward_hook(lambda *call: seen.append(3)):
        layer(1)  # type: ignore[arg-type]
    layer(1)  # type: ignore[arg-type]
    assert seen == [0, 1, 2, 0, 1, 3, 0, 1]


def test_hooks_that_are_always_called_see_a_failure() -> None:
    class Failing(nn.Module):
        def forward(self, x: Any) -> Any:
            raise ZeroDivisionError

    layer, seen = Failing(), []
    layer.register_forward_hook(lambda *call: seen.append(1))
    layer.register_forward_hook(lambda *call: seen.append(2), always_call=True)
    with pytest.raises(ZeroDivisionError):
        layer(1)
    assert seen == [2]


# --- backward -------------------------------------------------------------------------------------


def test_backward_hooks_see_and_replace_gradients() -> None:
    layer = nn.Linear(2, 1, bias=False)
    with ts.no_grad():
        layer.weight.copy_(ts.tensor([[3.0, 5.0]]))
    seen: list[Any] = []

    def after(module: nn.Module, inputs: Any, outputs: Any) -> Any:
        seen.append((inputs[0].tolist(), outputs[0].tolist()))
        return (inputs[0] * 10,)

    layer.register_full_backward_pre_hook(lambda module, outputs: (outputs[0] * 2,))
    layer.register_full_backward_hook(after)
    x = ts.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    assert seen == [([[6.0, 10.0]], [[2.0]])]
    assert x.grad is not None and x.grad.tolist() == [[60.0, 100.0]]
    assert layer.weight.grad is not None and layer.weight.grad.tolist() == [[2.0, 2.0]]


def test_inputs_without_gradients_are_none_in_backward_hooks() -> None:
    class Product(nn.Module):
        def forward(self, x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
            return x * y

    layer, seen = Product(), []
    layer.register_full_backward_hook(lambda module, inputs, outputs: seen.append(inputs))
    layer(ts.ones(2), ts.ones(2, requires_grad=True)).sum().backward()
    assert seen[0][0] is None and seen[0][1].tolist() == [1.0, 1.0]
    with ts.no_grad():
        layer(ts.ones(2), ts.ones(2))
    assert len(seen) == 1


def test_backward_hooks_of_a_first_layer_are_called() -> None:
    layer, seen = nn.Linear(2, 1), list[Any]()
    layer.register_full_backward_hook(
        lambda module, inputs, outputs: seen.append((inputs, outputs))
    )
    layer(ts.ones(3, 2)).sum().backward()
    [(inputs, outputs)] = seen
    assert inputs == (None,) and outputs[0].tolist() == [[1.0]] * 3
    table = nn.Embedding(4, 2)
    table.register_full_backward_hook(lambda module, inputs, outputs: (None,))
    table(ts.tensor([1, 2])).sum().backward()
    table.register_full_backward_hook(lambda module, inputs, outputs: (ts.ones(2),))
    with pytest.raises(errors.ArgumentError, match="gave tuple"):  # there is nothing to replace
        table(ts.tensor([1, 2])).sum().backward()


def test_a_backward_hook_that_gives_nonsense_is_named() -> None:
    layer = nn.ReLU()
    layer.register_full_backward_hook(lambda module, inputs, outputs: (1, 2, 3))
    with pytest.raises(errors.ArgumentError, match="gave tuple"):
        layer(ts.ones(2, requires_grad=True)).sum().backward()
    with pytest.raises(errors.ArgumentError, match="hook must be a function, got int"):
        layer.register_forward_hook(3)  # type: ignore[arg-type]


# --- errors know the module -----------------------------------------------------------------------


class Net(nn.Module):
    """An encoder, and a head that does not fit it."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, 18), nn.ReLU())
        self.head = nn.Linear(19, 56)

    def forward(self, x: ts.Tensor) -> Any:
        """Compute."""
        return self.head(self.encoder(x))


def test_an_error_names_the_module_its_weights_and_whose_output_it_got() -> None:
    model = Net()
    with pytest.raises(errors.ShapeError) as caught:
        model(ts.ones(2, 4))
    text = re.sub(r"py:\d+", "py:1", str(caught.value))
    assert text == (
        "linear: x has 18 features, and weight takes 19\n"
        "    x       float32 (2, 18)  output of model.encoder\n"
        "    weight  float32 (56, 19)  model.head.weight\n"
        "    bias    float32 (56,)  model.head.bias\n"
        "  in model.head: Linear(in_features=19, out_features=56, bias=True)\n"
        "  at test_module_hooks.py:1: return self.head(self.encoder(x))\n"
        "  hint: the last axis of x must be 19"
    )


def test_a_module_that_has_no_name_is_named_by_its_type() -> None:
    with pytest.raises(errors.ShapeError, match=r"in Sequential\.0: Linear\(in_features=3"):
        nn.Sequential(nn.Linear(3, 1))(ts.ones(2))


def test_a_model_that_is_an_attribute_is_named_so() -> None:
    class Trainer:
        def __init__(self) -> None:
            self.model = nn.Sequential(nn.Linear(3, 1))

        def run(self) -> None:
            self.model(ts.ones(2))

    with pytest.raises(errors.ShapeError, match=r"in self\.model\.0: Linear"):
        Trainer().run()


def test_errors_outside_of_networks_name_none() -> None:
    with pytest.raises(errors.ShapeError) as caught:
        ts.ones(2) @ ts.ones(3)
    assert "\n  in " not in str(caught.value)


def test_out_of_memory_names_the_module() -> None:
    model = nn.Sequential(nn.Linear(10, 1000))
    x = ts.ones(1000, 10)
    live = ts.memory.stats().live
    with (
        ts.memory.limit(live + 1_000_000),
        pytest.raises(errors.OutOfMemory, match=r"in model\.0: Linear"),
    ):
        model(x)


class Broken(nn.Module):
    """The square root of nothing."""

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        """Compute."""
        return (x * 0).sqrt()


def test_an_anomaly_names_the_module_forward_and_backward() -> None:
    model = nn.Sequential(nn.Linear(2, 2), Broken())
    with ts.autograd.detect_anomaly():
        loss = model(ts.ones(1, 2)).sum()
        with pytest.raises(errors.AnomalyError, match=r"the gradient of sqrt.*, in Sequential\.1"):
            loss.backward()
        with ts.no_grad():
            model[0].weight.fill_(3e38)
        with pytest.raises(errors.AnomalyError, match=r"in model\.0: Linear"):
            model(ts.ones(1, 2))


# --- summaries ------------------------------------------------------------------------------------


def test_a_summary_tells_shapes_parameters_bytes_and_times() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    model[2].requires_grad_(False)
    found = nn.summary(model, ts.ones(4, 2))
    assert (found.parameters, found.trainable, found.parameter_bytes) == (13, 9, 52)
    assert found.output_bytes == 4 * (3 + 3 + 1) * 4 and found.seconds > 0
    lines = repr(found).splitlines()
    assert lines[0].split() == ["module", "output", "parameters", "bytes", "output", "bytes", "ms"]
    assert lines[2].split()[:6] == ["0:", "Linear", "(4,", "3)", "9", "36"]
    assert lines[-1].startswith("13 parameters (9 trained), 52 B; buffers 0 B; outputs 112 B; ")
    assert model.training and model._hooks is not None and not model._hooks.before


def test_a_summary_counts_what_is_shared_once_and_says_what_was_not_called() -> None:
    layer = nn.Linear(2, 2)
    model = nn.Sequential(layer, layer)
    model.add_module("spare", None)
    assert nn.summary(model, ts.ones(1, 2)).parameters == 6
    assert "(2 calls)" in repr(nn.summary(model, ts.ones(1, 2)))

    class Half(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.spare = nn.ReLU(), nn.ReLU()

        def forward(self, x: ts.Tensor) -> Any:
            return self.used(x)

    assert "not called" in repr(nn.summary(Half(), ts.ones(1)))


def test_a_summary_that_fails_leaves_the_model_as_it_was() -> None:
    model = nn.Sequential(nn.Linear(2, 3))
    with pytest.raises(errors.ShapeError, match=r"in model\.0"):
        nn.summary(model, ts.ones(4, 7))
    assert model.training and model._hooks is not None and not model._hooks.after
    with pytest.raises(errors.ArgumentError, match=r"nn\.summary: model must be a module"):
        nn.summary(3, ts.ones(1))  # type: ignore[arg-type]
