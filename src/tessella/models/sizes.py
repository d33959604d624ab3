"""Sizes: what of a configuration decides about memory, checked, as files may say anything."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tessella.models import model_errors
from tessella.models.entries import check_parts
from tessella.models.gpt import GPTConfig
from tessella.models.llama import LlamaConfig

Config = GPTConfig | LlamaConfig

_NAMES = (
    "vocab_size", "n_positions", "n_embd", "n_layer", "n_head", "n_inner", "hidden_size",
    "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads",
    "head_dim", "max_position_embeddings", "sliding_window",
)  # fmt: skip
_ABOVE_ZERO = ("layer_norm_epsilon", "rms_norm_eps", "rope_theta")
_TRUTHS = ("tie_word_embeddings", "attention_bias", "mlp_bias")
MOST = 2**31 - 1  # of any size; what files say beyond is no size of a model
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


def sizes_of(config: Config, keys: dict[str, str] | None = None) -> Sizes:
    """Give the sizes of a configuration, which must be sizes: files say them.

    `keys` are the names that a file has for them, by those of the configuration.
    """
    shown = keys or {}
    for name, value in vars(config).items():
        is_size = type(value) is int and 0 < value <= MOST
        if name in _NAMES and not is_size and not (name in _OPTIONAL and value is None):
            raise model_errors.wrong_size(shown.get(name, name), value, MOST)
        if name in _ABOVE_ZERO and not (type(value) in (int, float) and 0 < value < math.inf):
            raise model_errors.wrong_entry(shown.get(name, name), value, "a number above 0")
        if name in _TRUTHS and type(value) is not bool:
            raise model_errors.wrong_entry(name, value, "true or false")
    if isinstance(config, GPTConfig):
        check_parts(config, "n_embd", "n_head", shown)
        return Sizes(
            config.n_layer, config.n_embd, config.inner, config.n_head, config.n_head,
            config.n_embd // config.n_head, config.vocab_size, config.n_positions, None, False,
        )  # fmt: skip
    heads = config.num_attention_heads
    check_parts(config, "num_attention_heads", "num_key_value_heads", shown)
    return Sizes(
        config.num_hidden_layers, config.hidden_size, config.intermediate_size,
        heads, config.kv_heads, config.features, config.vocab_size,
        config.max_position_embeddings, config.sliding_window, True,
    )  # fmt: skip
