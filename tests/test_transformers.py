"""Transformers: torch's figures, masks, copies of layers, modes, and errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tessella as ts
from cases import to_array
from figures import check_module_figure, figures_of, module_label
from reference import assert_same_tensors
from tessella import nn


@pytest.mark.parametrize("figure", figures_of("transformers"), ids=module_label)
def test_layers_give_what_torch_gives(figure: dict[str, Any]) -> None:
    check_module_figure(figure, rtol=5e-5, atol=2e-5)


def draw(*shape: int, dtype: Any = ts.float32) -> ts.Tensor:
    """Draw operands from the seed of the shape."""
    return ts.tensor(np.random.default_rng(shape).normal(size=shape), dtype=dtype)


def test_encoder_is_its_layers_one_after_the_other() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
    encoder = nn.TransformerEncoder(layer, 3, nn.LayerNorm(8))
    x = draw(5, 2, 8)
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    want = x
    for _ in range(3):
        want = layer(want, mask)
    assert_same_tensors(encoder(x, mask, is_causal=True).detach(), nn.LayerNorm(8)(want).detach())
    firsts = [each.get_parameter("linear1.weight") for each in encoder.layers]
    assert len({id(x) for x in firsts}) == 3  # copies that begin alike, and part in training
    assert list(encoder.state_dict())[:2] == [
        "layers.0.self_attn.in_proj_weight",
        "layers.0.self_attn.in_proj_bias",
    ]


def test_later_places_do_not_change_earlier_ones_under_a_causal_mask() -> None:
    model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    x, other = draw(2, 5, 8), draw(2, 5, 8)
    other[:, 3:] = 7.0
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    a, b = (model(each, mask)[:, :3] for each in (x, other))
    assert_same_tensors(a.detach(), b.detach())


def test_hidden_keys_do_not_matter() -> None:
    model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True).eval()
    x = draw(2, 5, 8)
    padding = ts.tensor([[False] * 5, [False, False, False, True, True]])
    whole = model(x, src_key_padding_mask=padding)
    part = model(x[1:, :3])
    ts.testing.assert_close(whole[1:, :3], part, rtol=1e-5, atol=1e-5)


def test_dropout_is_for_training_and_repeats_with_the_seed() -> None:
    model = nn.Transformer(8, 2, 1, 1, 16, dropout=0.5)
    src, tgt = draw(5, 2, 8), draw(4, 2, 8)
    ts.manual_seed(1)
    first = model(src, tgt).detach()
    assert (first != model(src, tgt).detach()).any()
    ts.manual_seed(1)
    assert_same_tensors(first, model(src, tgt).detach())
    model.eval()
    assert_same_tensors(model(src, tgt).detach(), model(src, tgt).detach())


def test_weights_begin_as_glorot_says() -> None:
    ts.manual_seed(0)
    model = nn.Transformer(32, 4, 1, 1, 64)
    for name, x in model.named_parameters():
        if x.ndim > 1:
            bound = math.sqrt(6 / sum(x.shape))
            assert 0.9 * bound < np.abs(to_array(x)).max() <= bound, name


@pytest.mark.parametrize("activation", ["relu", "gelu", ts.tanh], ids=str)
def test_activation_is_a_word_or_a_function(activation: Any) -> None:
    layer = nn.TransformerEncoderLayer(4, 2, 8, 0.0, activation, norm_first=True).double()
    x = draw(3, 1, 4, dtype=ts.float64)
    functions: dict[Any, Any] = {"relu": ts.relu, "gelu": ts.gelu}
    active = functions.get(activation, activation)
    inner = layer.norm1(x)
    x_1 = x + layer.self_attn(inner, inner, inner)[0]
    want = x_1 + layer.linear2(active(layer.linear1(layer.norm2(x_1))))
    ts.testing.assert_close(layer(x), want, rtol=1e-12, atol=1e-12)


def test_gradients_of_both_orders() -> None:
    layer = nn.TransformerDecoderLayer(4, 2, 6, 0.0, "gelu", dtype="float64")
    tgt, memory = draw(2, 2, 4, dtype=ts.float64), draw(3, 2, 4, dtype=ts.float64)
    ts.testing.check_grads(layer, (tgt, memory), order=2)


WRONG: dict[str, tuple[Any, str, str]] = {
    "activation": (lambda: nn.TransformerEncoderLayer(8, 2, activation="tanhh"),
                   "TransformerEncoderLayer: activation is 'tanhh'", "'relu' or 'gelu'"),
    "heads": (lambda: nn.TransformerDecoderLayer(8, 3), "num_heads is 3", "a divisor"),
    "layer": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer, 2),  # type: ignore
              "TransformerEncoder: a layer must be a module", "nn.TransformerEncoderLayer("),
    "count": (lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2), -1),
              "TransformerDecoder: num_layers is -1", "at least 0"),
    "features": (lambda: nn.TransformerEncoderLayer(8, 2)(ts.zeros(3, 2, 7)),
                 "query has 7 features", "must be 8"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_error_says_what_is_wrong_and_what_to_do(name: str) -> None:
    call, what, hint = WRONG[name]
    with pytest.raises(ts.errors.TessellaError) as caught:
        call()
    text = str(caught.value)
    assert what in text.splitlines()[0]
    assert any(line.startswith("  hint: ") and hint in line for line in text.splitlines()), text


def test_error_names_the_module_inside() -> None:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 2)
    with pytest.raises(ts.errors.ShapeError) as caught:
        model(ts.zeros(3, 2, 8), ts.zeros(3, 4))
    assert "attn_mask is (3, 4)" in str(caught.value)
    assert "in model.layers.0.self_attn" in str(caught.value)
