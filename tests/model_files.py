"""Folders of small models: sizes, and weights that follow from the names of tensors."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

SMALL: dict[str, Any] = {
    "vocab_size": 40, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5, "tie_word_embeddings": False,
}  # fmt: skip
LLAMA3 = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}  # fmt: skip
SMALL_GPT: dict[str, Any] = {
    "vocab_size": 40, "n_positions": 64, "n_embd": 32, "n_layer": 2, "n_head": 4,
    "activation_function": "gelu_new",
}  # fmt: skip
CONFIGS: dict[str, dict[str, Any]] = {
    "llama": {"model_type": "llama", **SMALL},
    "tied": {"model_type": "llama", **SMALL, "tie_word_embeddings": True},
    "multi-head": {"model_type": "llama", **SMALL, "num_key_value_heads": 4},
    "multi-query": {"model_type": "llama", **SMALL, "num_key_value_heads": 1},
    "wide heads": {"model_type": "llama", **SMALL, "head_dim": 12},
    "biases": {"model_type": "llama", **SMALL, "attention_bias": True, "mlp_bias": True},
    "base": {"model_type": "llama", **SMALL, "rope_theta": 500000.0},
    "llama3": {"model_type": "llama", **SMALL, "rope_theta": 5e5, "rope_scaling": LLAMA3},
    "linear": {
        "model_type": "llama",
        **SMALL,
        "rope_scaling": {"rope_type": "linear", "factor": 4.0},
    },
    "mistral": {"model_type": "mistral", **SMALL, "sliding_window": 5},
    "qwen2": {"model_type": "qwen2", **SMALL, "tie_word_embeddings": True},
    "gpt2": {"model_type": "gpt2", **SMALL_GPT},
    "gpt2 wide": {"model_type": "gpt2", **SMALL_GPT, "n_inner": 40, "layer_norm_epsilon": 1e-3},
}


def weight(name: str, shape: Sequence[int]) -> Array:
    """Draw a tensor from the seed of its name: near 1 for norms, and small for all others."""
    drawn = np.random.RandomState(zlib.crc32(name.encode())).normal(0, 1, tuple(shape))
    is_norm = ("norm" in name or ".ln_" in name) and name.endswith("weight")
    return (1 + 0.2 * drawn if is_norm else 0.2 * drawn).astype(np.float32)


def tokens(rows: int, places: int) -> Array:
    """Draw rows of tokens."""
    return np.random.RandomState(rows * 1000 + places).randint(0, 40, (rows, places))


def write_config(folder: Path, config: dict[str, Any]) -> None:
    """Write config.json."""
    (folder / "config.json").write_text(json.dumps(config))
