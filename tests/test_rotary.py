"""Rotary embeddings, layers with a gate, and LoRA: figures, identities, errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tessella as ts
from cases import to_array
from tessella import nn


def draw(*shape: int) -> ts.Tensor:
    """Draw from the seed of the shape."""
    return ts.tensor(np.random.default_rng(shape).normal(size=shape), dtype=ts.float64)


# --- rotary embeddings ---------------------------------------------------------------------------


@pytest.mark.parametrize("interleaved", [False, True])
def test_products_depend_on_distances_alone(interleaved: bool) -> None:
    rope = nn.RotaryEmbedding(8, interleaved=interleaved)
    q, k = draw(1, 1, 1, 8), draw(1, 1, 1, 8)

    def product(i: int, j: int) -> float:
        a, b = (rope.turn(x, rope(ts.tensor([n]))) for x, n in ((q, i), (k, j)))
        return float((a * b).sum())

    assert product(7, 3) == pytest.approx(product(104, 100), rel=1e-5)
    assert product(7, 3) != pytest.approx(product(7, 4), rel=1e-3)
    assert product(5, 5) == pytest.approx(float((q * k).sum()), rel=1e-6)


def test_pairs_side_by_side_are_the_same_turned_in_another_order() -> None:
    split, side = nn.RotaryEmbedding(6), nn.RotaryEmbedding(6, interleaved=True)
    x, places = draw(1, 2, 5, 6), ts.arange(5)
    order = ts.tensor([0, 2, 4, 1, 3, 5])
    found = side.turn(x, side(places))[..., order]
    assert (split.turn(x[..., order], split(places)) == found).all()


def test_places_of_each_row() -> None:
    rope, x = nn.RotaryEmbedding(4), draw(2, 3, 5, 4)
    places = ts.tensor([[0, 1, 2, 3, 4], [9, 8, 7, 6, 5]])
    found = rope.turn(x, rope(places))
    for i in range(2):
        assert (found[i : i + 1] == rope.turn(x[i : i + 1], rope(places[i]))).all()


def test_angles_of_far_places_are_exact() -> None:
    place = 1_000_003
    cos, sin = nn.RotaryEmbedding(2)(ts.tensor([place]))
    assert float(cos) == pytest.approx(math.cos(place), abs=1e-7)
    assert float(sin) == pytest.approx(math.sin(place), abs=1e-7)


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16], ids=str)
def test_halves_are_turned_in_float32(dtype: Any) -> None:
    rope = nn.RotaryEmbedding(8)
    x = draw(1, 2, 5, 8).to(dtype)
    angles = rope(ts.arange(5))
    assert (rope.turn(x, angles) == rope.turn(x.float(), angles).to(dtype)).all()


def test_frequencies_are_stretched() -> None:
    plain = to_array(nn.RotaryEmbedding(16, 5e5).frequencies)
    linear = nn.RotaryEmbedding(16, 5e5, {"rope_type": "linear", "factor": 4.0})
    np.testing.assert_allclose(to_array(linear.frequencies), plain / 4, rtol=1e-15)
    scaling = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
               "high_freq_factor": 4.0, "original_max_position_embeddings": 100}  # fmt: skip
    found = to_array(nn.RotaryEmbedding(16, 5e5, scaling).frequencies)
    turns = 100 * plain / (2 * math.pi)
    assert (found[turns > 4] == plain[turns > 4]).all() and (turns > 4).any()
    np.testing.assert_allclose(found[turns < 1], plain[turns < 1] / 8, rtol=1e-15)
    between = (turns > 1) & (turns < 4)
    assert between.any()
    assert (found[between] < plain[between]).all() and (found[between] > plain[between] / 8).all()
    assert (
        nn.RotaryEmbedding(16, 5e5, {"rope_type": "default"}).frequencies == ts.tensor(plain)
    ).all()


@pytest.mark.parametrize(("arguments", "message"), [
    ((7,), "features is 7"), ((0,), "features is 0"), ((4, 0.0), "base is 0"),
    ((4, 1e4, {"rope_type": "yarn"}), "rope_type 'yarn'"),
    ((4, 1e4, {"rope_type": "linear", "factor": -1}), r"scaling\['factor'\] is -1"),
    ((4, 1e4, {"rope_type": "llama3", "factor": 8, "low_freq_factor": 4, "high_freq_factor": 1,
               "original_max_position_embeddings": 8}), "low_freq_factor 4 and high_freq_factor 1"),
], ids=str)  # fmt: skip
def test_angles_that_cannot_be_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ts.errors.InvalidArgument, match=message):
        nn.RotaryEmbedding(*arguments)


# --- gates ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "activation"), [
    (nn.SwiGLU, nn.functional.silu), (nn.GeGLU, nn.functional.gelu)])  # fmt: skip
def test_gates_multiply(kind: Any, activation: Any) -> None:
    layer, x = kind(6, 10, bias=True, dtype=ts.float64), draw(2, 3, 6)
    want = layer.down_proj(activation(layer.gate_proj(x)) * layer.up_proj(x))
    assert (layer(x) == want).all()
    assert len(list(layer.parameters())) == 6
    assert len(list(kind(6, 10).parameters())) == 3
    ts.testing.check_grads(layer, (x,))


# --- LoRA ----------------------------------------------------------------------------------------


def test_changes_of_low_rank() -> None:
    layer = nn.Linear(6, 4, dtype=ts.float64)
    plain = to_array(layer.weight)
    lora = nn.LoRA(layer, rank=2, alpha=3.0)
    nn.init.normal_(lora.lora_b)
    x = draw(5, 6)
    change = 1.5 * to_array(lora.lora_b) @ to_array(lora.lora_a)
    want = to_array(x) @ (plain + change).T + to_array(layer.get_parameter("bias"))
    np.testing.assert_allclose(to_array(lora(x)), want, rtol=1e-12)
    assert lora.merge() is layer
    np.testing.assert_allclose(to_array(layer.weight), plain + change, rtol=1e-12)


def test_only_the_change_is_learned() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    learned = nn.add_lora(model, ["2"], rank=3)
    assert [x.shape for x in learned] == [(3, 8), (2, 3)]
    model(ts.ones(1, 4)).sum().backward()
    assert [name for name, x in model.named_parameters() if x.grad is not None] == [
        "2.lora_a", "2.lora_b"]  # fmt: skip


def test_what_cannot_be_changed_is_refused() -> None:
    errors = ts.errors
    with pytest.raises(errors.ArgumentError, match="ReLU is not a layer with in_features"):
        nn.LoRA(nn.ReLU())
    layer = nn.Linear(2, 2)
    for options, message in (({"rank": 0}, "rank is 0"), ({"dropout": 2.0}, "p is 2.0")):
        with pytest.raises(errors.TessellaError, match=message):
            nn.LoRA(layer, **options)
        assert layer.weight.requires_grad
    model = nn.Sequential(nn.Linear(2, 2))
    with pytest.raises(errors.InvalidArgument, match=r"ends with one of \['q_proj'\]"):
        nn.add_lora(model, ["q_proj"])
    with pytest.raises(errors.InvalidArgument, match="targets is 'q_proj'"):
        nn.add_lora(model, "q_proj")
    with pytest.raises(errors.InvalidArgument, match="merge_lora: model is a LoRA") as caught:
        nn.merge_lora(nn.LoRA(layer))
    assert "layer.merge()" in caught.value.hint
    assert model[0].weight.requires_grad


def test_layers_over_given_weights() -> None:
    weight, bias = draw(3, 2), draw(3)
    layer = nn.Linear.from_weight(weight, bias)
    assert (layer.in_features, layer.out_features) == (2, 3)
    assert (layer(draw(4, 2)) == nn.functional.linear(draw(4, 2), weight, bias)).all()
    weight[0, 0] = 9.0
    assert float(layer.weight[0, 0]) == 9.0
    with pytest.raises(ts.errors.InvalidArgument, match=r"weight is \(2,\)"):
        nn.Linear.from_weight(ts.ones(2))
    with pytest.raises(ts.errors.ShapeError, match=r"bias has shape \(2,\)"):
        nn.Linear.from_weight(weight, ts.ones(2))
