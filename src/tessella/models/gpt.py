"""GPT-2: a decoder of attention and two layers on each place, with a learned row for each place.

Tokens (B, T) go in, and logits (B, T, vocabulary) of the next tokens come out. Keys and values of
former places are kept in a cache, if one is given. Names of layers are those of the files that
models are published in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_count
from tessella.hints import TYPE_CHECKING, Mapping
from tessella.located import located
from tessella.models import entries, model_errors
from tessella.models.caches import Cache, KVCache
from tessella.models.places import Places
from tessella.models.weights import Drawn
from tessella.nn import Dropout, Module, ModuleList, init
from tessella.nn.functional import gelu, scaled_dot_product_attention
from tessella.ops.splitting import chunk

if TYPE_CHECKING:
    from typing import Unpack

    from tessella.models.caches import CacheOptions


@dataclass(frozen=True)
class GPTConfig:
    """The sizes of a model, by the names that config.json gives them.

    >>> ts.models.GPTConfig(n_embd=64).inner
    256
    """

    vocab_size: int = 50257
    n_positions: int = 1024
    n_embd: int = 768
    n_layer: int = 12
    n_head: int = 12
    n_inner: int | None = None
    layer_norm_epsilon: float = 1e-5
    dropout: float = 0.0
    tie_word_embeddings: bool = True

    @property
    def inner(self) -> int:
        """The width of the layers on each place."""
        return self.n_inner or 4 * self.n_embd

    @classmethod
    def from_dict(cls, given: Mapping[str, object]) -> GPTConfig:
        """Take what config.json says; dropout is for training, and is left at 0.

        >>> ts.models.GPTConfig.from_dict({"model_type": "gpt2", "n_layer": 2}).n_layer
        2
        """
        kind = given.get("model_type", "gpt2")
        if kind != "gpt2":
            raise model_errors.unknown_kind(kind, ("gpt2",))
        entries.check_entries(given, entries.GPT)
        return cls(**entries.published(cls, given, ("dropout",)))


class GPTAttention(Module):
    """Attention of several heads, each place looking at itself and those before it."""

    def __init__(self, config: GPTConfig, weights: Drawn, path: str, layer: int) -> None:
        super().__init__()
        self.layer, self.features = layer, config.n_embd // config.n_head
        self.c_attn = weights.linear(f"{path}.c_attn", config.n_embd, 3 * config.n_embd, True)
        self.c_proj = weights.linear(f"{path}.c_proj", config.n_embd, config.n_embd, True)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, places: Places) -> Tensor:
        """Give what was found: (B, T, width) to (B, T, width)."""
        heads = (*x.shape[:2], -1, self.features)
        parts = chunk(self.c_attn(x), 3, axis=-1)
        q, k, v = (part.reshape(heads).transpose(1, 2) for part in parts)
        k, v = places.keep(self.layer, k, v)
        found = scaled_dot_product_attention(
            q, k, v, places.mask, self.dropout.p if self.training else 0.0,
            is_causal=places.mask is None, lengths=places.lengths,
        )  # fmt: skip
        out: Tensor = self.dropout(self.c_proj(found.transpose(1, 2).reshape(x.shape)))
        return out


class GPTMLP(Module):
    """Two layers on each place."""

    def __init__(self, config: GPTConfig, weights: Drawn, path: str) -> None:
        super().__init__()
        self.c_fc = weights.linear(f"{path}.c_fc", config.n_embd, config.inner, True)
        self.c_proj = weights.linear(f"{path}.c_proj", config.inner, config.n_embd, True)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Widen, bend, and narrow."""
        out: Tensor = self.dropout(self.c_proj(gelu(self.c_fc(x), approximate="tanh")))
        return out


class GPTLayer(Module):
    """Attention, then the layers on each place; both add to what they get."""

    def __init__(self, config: GPTConfig, weights: Drawn, layer: int) -> None:
        super().__init__()
        path, width, eps = f"h.{layer}", config.n_embd, config.layer_norm_epsilon
        self.ln_1 = weights.layer_norm(f"{path}.ln_1", width, eps)
        self.attn = GPTAttention(config, weights, f"{path}.attn", layer)
        self.ln_2 = weights.layer_norm(f"{path}.ln_2", width, eps)
        self.mlp = GPTMLP(config, weights, f"{path}.mlp")

    def forward(self, x: Tensor, places: Places) -> Tensor:
        """Give x and what was found."""
        x = x + self.attn(self.ln_1(x), places)
        out: Tensor = x + self.mlp(self.ln_2(x))
        return out


class GPT(Module):
    """The whole model; weights are drawn unless they come from a file.

    >>> config = ts.models.GPTConfig(vocab_size=10, n_positions=8, n_embd=16, n_layer=2, n_head=2)
    >>> ts.models.GPT(config)(ts.tensor([[1, 2, 3]])).shape
    (1, 3, 10)
    """

    def __init__(self, config: GPTConfig, weights: Drawn | None = None) -> None:
        super().__init__()
        if not isinstance(config, GPTConfig):
            raise errors.wrong_type("config", config, "a GPTConfig")
        for name in ("vocab_size", "n_positions", "n_embd", "n_head"):
            to_count(name, getattr(config, name))
        entries.check_parts(config, "n_embd", "n_head", {})
        self.config, source = config, weights or Drawn()
        self.wte = source.embedding("wte", config.vocab_size, config.n_embd)
        self.wpe = source.embedding("wpe", config.n_positions, config.n_embd)
        self.h = ModuleList([GPTLayer(config, source, i) for i in range(config.n_layer)])
        self.ln_f = source.layer_norm("ln_f", config.n_embd, config.layer_norm_epsilon)
        if config.tie_word_embeddings:
            self.lm_head = source.tied("lm_head", self.wte)
        else:
            self.lm_head = source.linear("lm_head", config.n_embd, config.vocab_size, False)
        self.dropout = Dropout(config.dropout)
        if weights is None:
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weights anew: small, and smaller where layers add to one sum."""
        for name, x in self.named_parameters():
            if name.endswith("bias"):
                init.zeros_(x)
            elif x.ndim > 1:
                is_sum = name.endswith("c_proj.weight")
                init.normal_(x, std=0.02 / (math.sqrt(2 * self.config.n_layer) if is_sum else 1))

    @located("GPT")
    def forward(
        self,
        tokens: Tensor,
        cache: Cache | None = None,
        padding: Tensor | None = None,
        last: bool = False,
    ) -> Tensor:
        """Give logits for all places, or for the last one alone.

        `padding` says how many of each row's first tokens do not count; with a cache, it says that.
        """
        places = Places(tokens, cache, padding, None)
        places.within(self.config.n_positions)
        x = self.dropout(self.wte(tokens) + self.wpe(places.numbers))
        for layer in self.h:
            x = layer(x, places)
        places.end()
        out: Tensor = self.lm_head(self.ln_f(x[:, -1:] if last else x))
        return out

    @located("GPT.cache")
    def cache(self, capacity: int, batch: int = 1, **options: Unpack[CacheOptions]) -> KVCache:
        """Make a cache for so many places; options are those of KVCache."""
        if to_count("capacity", capacity) > self.config.n_positions:
            raise model_errors.context_too_long(capacity, self.config.n_positions)
        heads = self.config.n_head
        sizes = (heads, capacity, self.config.n_embd // heads)
        return KVCache(self.config.n_layer, batch, *sizes, **options)
