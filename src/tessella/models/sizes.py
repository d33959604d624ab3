"""Sizes: what of a configuration decides about memory, checked, as files may say anything."""

from __future__ import annotations

from dataclasses import dataclass

from tessella.models import model_errors
from tessella.models.gpt import GPTConfig
from tessella.models.llama import LlamaConfig

Config = GPTConfig | LlamaConfig

_NAMES = (
    "vocab_size", "n_positions", "n_embd", "n_layer", "n_head", "n_inner", "hidden_size",
    "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads",
    "head_dim", "max_position_embeddings", "sliding_window",
)  # fmt: skip
_OPTIONAL = ("n_inner", "num_key_value_heads", "head_dim", "sliding_window")


@dataclass(frozen=True)
class Sizes:
    """What of a configuration decides about memory."""

    layers: int
    width: int
    inner: int
    heads: int
    kv_heads: int
    features: int
    vocabulary: int
    context: int
    window: int | None
    is_gated: bool  # Llama's kin: gated layers, and places that turn features


def sizes_of(config: Config) -> Sizes:
    """Give the sizes of a configuration, which must be sizes: files say them."""
    for name, value in vars(config).items():
        is_size = type(value) is int and value > 0
        if name in _NAMES and not is_size and not (name in _OPTIONAL and value is None):
            raise model_errors.wrong_size(name, value)
    if isinstance(config, GPTConfig):
        return Sizes(
            config.n_layer, config.n_embd, config.inner, config.n_head, config.n_head,
            config.n_embd // config.n_head, config.vocab_size, config.n_positions, None, False,
        )  # fmt: skip
    return Sizes(
        config.num_hidden_layers, config.hidden_size, config.intermediate_size,
        config.num_attention_heads, config.kv_heads, config.features, config.vocab_size,
        config.max_position_embeddings, config.sliding_window, True,
    )  # fmt: skip
