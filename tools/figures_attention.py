"""Figures of torch's attention: masks, heads, projections, transformers' layers.

.bench-venv/bin/python tools/figures_attention.py
"""

from __future__ import annotations

import math
from typing import Any

import torch

from torch_figures import figure, module_figure, pattern, save

SDPA = "scaled_dot_product_attention"
Q, K, V = (2, 3, 4), (2, 5, 4), (2, 5, 3)


def drawn(*shapes: tuple[int, ...]) -> list[torch.Tensor]:
    """Give patterns of some shapes, large enough for weights to differ."""
    return [pattern(shape, i + 1) * 4 for i, shape in enumerate(shapes)]


def keep(*shape: int) -> torch.Tensor:
    """Give a mask of bools that is True in about two of three places, the first row nowhere."""
    mask = (torch.arange(torch.Size(shape).numel()) % 3 != 0).reshape(shape)
    mask[..., 0, :] = False
    return mask


def added(*shape: int) -> torch.Tensor:
    """Give a mask of floats, minus infinity where the mask of bools is False."""
    return torch.where(keep(*shape), pattern(shape, 9) * 2, -math.inf)


def functions() -> list[dict[str, Any]]:
    """Attention as a function."""
    q, k, v = drawn(Q, K, V)
    grouped = drawn((2, 4, 3, 2), (2, 2, 5, 2), (2, 2, 5, 3))
    causal: dict[str, Any] = {"is_causal": True}
    return [
        figure(SDPA, q, k, v),
        figure(SDPA, q[0], k[0], v[0], scale=0.25),
        figure(SDPA, q, k, v, **causal),
        figure(SDPA, *drawn((2, 5, 4), (2, 3, 4), (2, 3, 2)), **causal),
        figure(SDPA, q, k, v, attn_mask=keep(3, 5)),
        figure(SDPA, q, k, v, attn_mask=keep(2, 3, 5)),
        figure(SDPA, q, k, v, attn_mask=torch.tensor([True, False, True, True, False])),
        figure(SDPA, q, k, v, attn_mask=torch.tensor([[True], [False], [True]])),
        figure(SDPA, q, k, v, added(3, 5)),
        figure(SDPA, q, k, v, added(2, 3, 5), scale=-0.5),
        figure(SDPA, *grouped, enable_gqa=True),
        figure(SDPA, *grouped, attn_mask=keep(4, 3, 5), enable_gqa=True),
        figure(SDPA, q, k[:1], v[:1]),
    ]


def hidden(*shape: int) -> torch.Tensor:
    """Give a mask of bools that is True in one place of three, and nowhere in the first column."""
    mask = torch.arange(torch.Size(shape).numel()).reshape(shape) % 3 == 1
    mask[..., 0] = False
    return mask


def heads() -> list[dict[str, Any]]:
    """MultiheadAttention."""
    name, sizes = "MultiheadAttention", {"embed_dim": 4, "num_heads": 2}
    q, k, v = (3, 2, 4), (5, 2, 4), (5, 2, 4)
    mask, each = hidden(3, 5), hidden(4, 3, 5)
    numbers = torch.where(mask, -math.inf, pattern((3, 5), 9))
    padding = hidden(2, 5)

    def made(*inputs: Any, options: Any = None, **keywords: Any) -> dict[str, Any]:
        found: dict[str, Any] = module_figure(
            name, {**sizes, **(options or {})}, *inputs, **keywords
        )
        return found

    return [
        made(q, k, v),
        made(q, k, v, need_weights=False, attn_mask=mask),
        made(q, k, v, average_attn_weights=False, attn_mask=numbers),
        made(q, k, v, attn_mask=each, key_padding_mask=padding),
        made(q, k, v, attn_mask=numbers, key_padding_mask=torch.where(padding, -math.inf, 0.0)),
        made((2, 3, 4), (2, 5, 4), (2, 5, 4), options={"batch_first": True, "bias": False},
             key_padding_mask=padding),
        made((3, 4), (5, 4), (5, 4), attn_mask=mask, key_padding_mask=padding[1]),
        made((3, 4), (5, 4), (5, 4), average_attn_weights=False, attn_mask=each[:2]),
        made(q, (5, 2, 3), (5, 2, 2), options={"kdim": 3, "vdim": 2}),
        made(q, k, v, options={"add_bias_kv": True, "add_zero_attn": True}, attn_mask=mask,
             key_padding_mask=padding),
        made(q, k, v, options={"add_zero_attn": True}, attn_mask=numbers, need_weights=False),
    ]  # fmt: skip


def layers() -> list[dict[str, Any]]:
    """Layers of transformers, without dropout."""
    sizes: dict[str, Any] = {"d_model": 4, "nhead": 2, "dim_feedforward": 5, "dropout": 0.0}
    x, mask, padding = (3, 2, 4), hidden(3, 3), hidden(2, 3)
    encoder, decoder = "TransformerEncoderLayer", "TransformerDecoderLayer"
    return [
        module_figure(encoder, sizes, x),
        module_figure(encoder, {**sizes, "norm_first": True, "activation": "gelu"}, x,
                      src_mask=mask, src_key_padding_mask=padding),
        module_figure(encoder, {**sizes, "bias": False, "layer_norm_eps": 0.1, "batch_first": True},
                      (2, 3, 4), src_key_padding_mask=padding),
        module_figure(decoder, sizes, x, (5, 2, 4), tgt_mask=mask, memory_mask=hidden(3, 5)),
        module_figure(decoder, {**sizes, "norm_first": True}, x, (5, 2, 4),
                      tgt_key_padding_mask=padding, memory_key_padding_mask=hidden(2, 5)),
        module_figure("Transformer", {**sizes, "num_encoder_layers": 1, "num_decoder_layers": 1},
                      (5, 2, 4), x, tgt_mask=mask),
    ]  # fmt: skip


if __name__ == "__main__":
    save("attention", functions())
    save("attention_heads", heads())
    save("transformers", layers())
