"""Normalisation: torch's figures, batch norm over steps, accuracy, bits, what is saved, errors.

Values against NumPy, gradients of both orders, layouts and dtypes are tested for every declaration
in test_composites.py, test_records.py and test_gradients.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessella as ts
from cases import to_array
from figures import check_figure, compare, figures_of, label, tensor_of
from leaves import grad_of
from reference import assert_same, assert_same_tensors
from tessella import _core, memory, nn

F: Any = nn.functional  # calls are made in more ways than stubs tell


@pytest.mark.parametrize("figure", figures_of("norms"), ids=label)
def test_values_and_gradients_are_those_of_torch(figure: dict[str, Any]) -> None:
    check_figure(figure, rtol=1e-4, atol=2e-6)


def steps_label(figure: dict[str, Any]) -> str:
    """Name the figures of a module."""
    return f"{figure['name']} {figure['options']}"


@pytest.mark.parametrize("figure", figures_of("batch_norms"), ids=steps_label)
def test_running_statistics_are_those_of_torch(figure: dict[str, Any]) -> None:
    module = getattr(nn, figure["name"])(figure["features"], **figure["options"])
    steps = zip(figure["inputs"], figure["outputs"], figure["states"], strict=True)
    buffers = [id(x) for x in module.buffers()]
    for i, (x, out, state) in enumerate(steps):
        module.train(i < 3)
        compare(module(tensor_of(x)), out, 1e-5, 1e-6)
        own = module.state_dict()
        assert list(own) == list(state)
        for name, value in state.items():
            compare(own[name], value, 1e-5, 1e-6)
    assert [id(x) for x in module.buffers()] == buffers, "state is updated in place"


# --- accuracy and bits ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64], ids=str)
def test_a_large_mean_does_not_drown_the_variance(dtype: Any) -> None:
    x = ts.tensor([[1e4 + i for i in range(64)]], dtype=dtype)
    want = (np.arange(64) - 31.5) / np.std(np.arange(64))
    np.testing.assert_allclose(to_array(F.layer_norm(x, 64, eps=0.0))[0], want, rtol=1e-5)
    columns = F.batch_norm(x.T, None, None, training=True, eps=0.0)
    np.testing.assert_allclose(to_array(columns)[:, 0], want, rtol=1e-5)


def gradients(call: Callable[..., ts.Tensor], *operands: ts.Tensor) -> list[Any]:
    """Give the result of a call and the gradients of its operands, as arrays."""
    leaves = [x.detach().requires_grad_() for x in operands]
    out = call(*leaves)
    g = ts.randn(out.shape, generator=ts.Generator(9)).astype(out.dtype)
    return [to_array(x) for x in (out, *ts.autograd.grad(out, leaves, g))]


CALLS: dict[str, tuple[Callable[..., ts.Tensor], tuple[int, ...]]] = {
    "layer_norm": (lambda x, w, b: F.layer_norm(x, x.shape[-1], w, b), (1000, 130)),
    "rms_norm": (lambda x, w, b: F.rms_norm(x, x.shape[-1], w) + b, (70, 5000)),
    "batch_norm": (lambda x, w, b: F.batch_norm(x, None, None, w, b, True), (3000, 130)),
    "batch_norm 2d": (lambda x, w, b: F.batch_norm(x, None, None, w, b, True), (16, 130, 9, 11)),
    "group_norm": (lambda x, w, b: F.group_norm(x, 13, w, b), (16, 130, 9, 11)),
}


@pytest.mark.parametrize("dtype", [ts.float32, ts.bfloat16], ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_threads_and_layouts_give_the_same_bits(name: str, dtype: Any) -> None:
    call, shape = CALLS[name]
    width = shape[-1] if name in ("layer_norm", "rms_norm") else shape[1]
    x, w, b = (ts.randn(size, generator=ts.Generator(k)).astype(dtype)
               for k, size in enumerate((shape, (width,), (width,))))  # fmt: skip
    found = []
    for layout in (x, x.transpose(0, 1).clone().transpose(0, 1)):
        for threads in (1, 3):
            with ts.num_threads(threads):
                found.append(gradients(call, layout, w, b))
    for other in found[1:]:
        for got, want in zip(other, found[0], strict=True):
            assert_same(got, want)


# --- what is saved, and the fast path ------------------------------------------------------------


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm", "batch_norm"])
def test_normalisation_saves_its_input_and_no_more(name: str) -> None:
    h, w = ts.randn(64, 32).requires_grad_() * 1.0, ts.ones(32).requires_grad_()
    before = memory.stats().kinds["saved"]
    args = {"layer_norm": (32, w, w), "rms_norm": (32, w)}.get(name, (None, None, w, w, True))
    out = getattr(F, name)(h, *args)
    assert memory.stats().kinds["saved"] - before == 64 * 32 * 4
    out.backward(ts.ones(64, 32))


def test_gradients_have_memory_of_their_own() -> None:
    x, w, b = (ts.randn(*shape).requires_grad_() for shape in ((64, 32), (32,), (32,)))
    F.layer_norm(x, 32, w, b).backward(ts.ones(64, 32))
    kept = [grad_of(each) for each in (x, w, b)]
    assert not any(_core.may_overlap(a, c) for a in kept for c in kept if a is not c)
    before = grad_of(w).tolist()
    grad_of(x).fill_(7.0)
    assert grad_of(w).tolist() == before


@pytest.mark.parametrize("call", [
    lambda x, w: F.layer_norm(x, 6, w, w), lambda x, w: F.rms_norm(x, (6,), w, 1e-5),
    lambda x, w: F.batch_norm(x, None, None, w, w, True), lambda x, w: nn.LayerNorm(6)(x),
    lambda x, w: F.dropout(x, 0.5),
])  # fmt: skip
def test_everyday_calls_take_the_fast_path(call: Callable[..., ts.Tensor]) -> None:
    x, w = ts.randn(8, 6).requires_grad_(), ts.ones(6).requires_grad_()
    before = _core.fast_path_counts()[1]
    call(x, w).backward(ts.ones(8, 6))
    assert _core.fast_path_counts()[1] == before


# --- modules and errors --------------------------------------------------------------------------


def test_modules_begin_as_those_of_torch() -> None:
    modules: tuple[Any, ...] = (nn.LayerNorm((2, 3)), nn.GroupNorm(2, 4), nn.BatchNorm2d(5))
    for module in modules:
        assert (to_array(module.weight) == 1).all() and (to_array(module.bias) == 0).all()
    assert list(nn.LayerNorm(3, bias=False).state_dict()) == ["weight"]
    assert list(nn.LayerNorm(3, elementwise_affine=False).state_dict()) == []
    assert list(nn.RMSNorm(3).state_dict()) == ["weight"]
    assert list(nn.BatchNorm1d(3).state_dict()) == [
        "weight", "bias", "running_mean", "running_var", "num_batches_tracked"]  # fmt: skip
    assert nn.BatchNorm1d(3).state_dict()["num_batches_tracked"].dtype is ts.int64
    assert repr(nn.LayerNorm(4)) == "LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)"
    assert repr(nn.GroupNorm(2, 4)) == "GroupNorm(2, 4, eps=1e-05, affine=True, bias=True)"
    assert repr(nn.BatchNorm2d(4)) == (
        "BatchNorm2d(4, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)"
    )


def test_states_without_the_number_of_batches_load() -> None:
    batch: Any = nn.BatchNorm1d(3)
    batch(ts.randn(4, 3))
    old = {name: x.clone() for name, x in batch.state_dict().items() if "num_" not in name}
    fresh: Any = nn.Sequential(nn.BatchNorm1d(3))
    assert not fresh.load_state_dict({f"0.{name}": x for name, x in old.items()}).missing_keys
    assert fresh[0].running_mean.tolist() == batch.running_mean.tolist()
    assert fresh[0].num_batches_tracked.item() == 0
    with pytest.raises(ts.errors.TessellaError, match="running_var"):
        fresh.load_state_dict({f"0.{name}": x for name, x in old.items() if name[-3:] != "var"})


def test_nothing_in_a_batch_moves_nothing() -> None:
    layers: list[Any] = [nn.BatchNorm1d(3), nn.BatchNorm2d(3, eps=0.0)]
    for layer, shape in zip(layers, ((0, 3), (0, 3, 2, 2)), strict=True):
        x = ts.zeros(shape, requires_grad=True)
        layer(x).sum().backward()
        assert grad_of(layer.weight).tolist() == grad_of(layer.bias).tolist() == [0.0] * 3
        assert grad_of(x).shape == shape and layer.running_mean.tolist() == [0.0] * 3


def test_instance_norm_without_momentum_leaves_its_statistics() -> None:
    layer: Any = nn.InstanceNorm1d(2, momentum=None, track_running_stats=True)
    layer(ts.randn(3, 2, 5))
    assert layer.running_mean.tolist() == [0.0, 0.0] and layer.running_var.tolist() == [1.0, 1.0]


def test_running_statistics_can_begin_anew() -> None:
    module: Any = nn.BatchNorm1d(3)
    module(ts.randn(8, 3))
    module.reset_running_stats()
    assert module.running_mean.tolist() == [0, 0, 0] and module.running_var.tolist() == [1, 1, 1]
    assert module.num_batches_tracked.item() == 0


def test_evaluation_leaves_the_statistics_and_has_gradients() -> None:
    module: Any = nn.BatchNorm1d(3).eval()
    x = ts.randn(1, 3).requires_grad_()
    module(x).sum().backward()
    np.testing.assert_allclose(to_array(grad_of(x)), 1 / np.sqrt(1 + 1e-5), rtol=1e-6)
    assert module.num_batches_tracked.item() == 0


def error_of(call: Callable[[], Any]) -> str:
    """Make a call that must fail, and give its text."""
    with pytest.raises(ts.errors.TessellaError) as caught:
        call()
    return str(caught.value)


def test_errors_say_what_to_do() -> None:
    text = error_of(lambda: nn.BatchNorm1d(3)(ts.ones(1, 3)))
    assert "x has shape (1, 3): one value for each channel has no variance" in text
    assert "call model.eval() to use the running statistics" in text
    text = error_of(lambda: nn.BatchNorm2d(3)(ts.ones(2, 3)))
    assert text.startswith("BatchNorm2d: x.ndim is 2") and "4: (N, C, H, W)" in text
    text = error_of(lambda: nn.LayerNorm(5)(ts.ones(2, 3)))
    assert "layer_norm: x has shape (2, 3), and (5,) is normalised" in text
    text = error_of(lambda: nn.GroupNorm(3, 4))
    assert text.startswith("GroupNorm: num_groups is 3")
    text = error_of(lambda: F.batch_norm(ts.ones(2, 3), None, None))
    assert "running_mean is None, and not training uses it" in text


def test_a_batch_that_is_refused_leaves_the_statistics_and_names_the_module() -> None:
    model = nn.Sequential(nn.BatchNorm1d(3))
    with pytest.raises(ts.errors.InvalidArgument) as caught:
        model(ts.ones(1, 3))
    text = str(caught.value)
    assert text.startswith("BatchNorm1d: x has shape (1, 3): one value for each channel")
    assert "in model.0: BatchNorm1d" in text and "hint: " in text
    assert model[0].num_batches_tracked.item() == 0
    assert model[0].running_mean.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("width", [1024, 1000])
def test_results_beyond_the_caches_have_the_bits_of_smaller_ones(width: int) -> None:
    """Large results are written past the caches, where rows begin as vectors do."""
    rng = np.random.default_rng(width)
    x, g = (ts.tensor(rng.normal(size=(4400, width)), dtype=ts.float32) for _ in range(2))
    weight = ts.tensor(rng.normal(size=width), dtype=ts.float32)

    def both(x: ts.Tensor, g: ts.Tensor) -> tuple[ts.Tensor, ts.Tensor]:
        leaf = x.detach().requires_grad_()
        out = F.layer_norm(leaf, (width,), weight)
        return out.detach(), ts.autograd.grad(out, [leaf], g)[0]

    whole = both(x, g)
    parts = [both(x[a:b], g[a:b]) for a, b in ((0, 2200), (2200, 4400))]
    for large, small in zip(whole, zip(*parts, strict=True), strict=True):
        assert_same_tensors(large, ts.concat(list(small)))
