"""Llama: a decoder of rotary attention and gated layers; Mistral and Qwen2 with other numbers.

Tokens (B, T) go in, and logits (B, T, vocabulary) of the next tokens come out. Keys and values of
former places are kept in a cache, if one is given. Names of layers are those of the files that
models are published in.
"""

from __future__ import annotations

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
from tessella.nn import Module, ModuleList, RotaryEmbedding, SwiGLU
from tessella.nn.functional import scaled_dot_product_attention

if TYPE_CHECKING:
    from typing import Unpack

    from tessella.models.caches import CacheOptions

KINDS = ("llama", "mistral", "qwen2")


@dataclass(frozen=True)
class LlamaConfig:
    """The sizes of a model, by the names that config.json gives them.

    >>> config = ts.models.LlamaConfig(hidden_size=64, num_attention_heads=4, num_key_value_heads=2)
    >>> config.features, config.kv_heads
    (16, 2)
    """

    vocab_size: int = 32000
    hidden_size: int = 4096
    intermediate_size: int = 11008
    num_hidden_layers: int = 32
    num_attention_heads: int = 32
    num_key_value_heads: int | None = None
    head_dim: int | None = None
    max_position_embeddings: int = 2048
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10000.0
    rope_scaling: Mapping[str, object] | None = None
    tie_word_embeddings: bool = False
    attention_bias: bool = False
    output_bias: bool = False  # of o_proj
    mlp_bias: bool = False
    sliding_window: int | None = None
    interleaved: bool = False  # pairs that are turned lie side by side, as in GGUF files of Llama

    @property
    def kv_heads(self) -> int:
        """How many heads of keys and values there are."""
        return self.num_key_value_heads or self.num_attention_heads

    @property
    def features(self) -> int:
        """How many features a head has."""
        return self.head_dim or self.hidden_size // self.num_attention_heads

    @classmethod
    def from_dict(cls, given: Mapping[str, object]) -> LlamaConfig:
        """Take what config.json says.

        >>> ts.models.LlamaConfig.from_dict({"model_type": "qwen2"}).attention_bias
        True
        """
        kind = given.get("model_type", "llama")
        if kind not in KINDS:
            raise model_errors.unknown_kind(kind, KINDS)
        entries.check_entries(given, entries.LLAMA)
        found = entries.published(cls, given, ("interleaved", "output_bias"))
        found["rope_theta"], found["rope_scaling"] = entries.rope_of(given, cls.rope_theta)
        found["output_bias"] = bool(given.get("attention_bias"))
        if kind == "qwen2":
            found |= {"attention_bias": True, "output_bias": False}
        layers = given.get("num_hidden_layers", cls.num_hidden_layers)
        found["sliding_window"] = entries.window_of(kind, given, layers)
        return cls(**found)


class LlamaAttention(Module):
    """Attention with rotary places; several heads of queries share one of keys and values."""

    def __init__(self, config: LlamaConfig, weights: Drawn, path: str, layer: int) -> None:
        super().__init__()
        self.layer, self.heads, self.features = layer, config.num_attention_heads, config.features
        width, kv_width = self.heads * self.features, config.kv_heads * self.features
        inputs, bias = config.hidden_size, config.attention_bias
        self.q_proj = weights.linear(f"{path}.q_proj", inputs, width, bias)
        self.k_proj = weights.linear(f"{path}.k_proj", inputs, kv_width, bias)
        self.v_proj = weights.linear(f"{path}.v_proj", inputs, kv_width, bias)
        self.o_proj = weights.linear(f"{path}.o_proj", width, inputs, config.output_bias)

    def forward(self, x: Tensor, places: Places) -> Tensor:
        """Let each place look at those before it: (B, T, width) to (B, T, width)."""
        q, k, v = (self._split(part(x)) for part in (self.q_proj, self.k_proj, self.v_proj))
        q, k = places.turn(q), places.turn(k)
        k, v = places.keep(self.layer, k, v)
        found = scaled_dot_product_attention(
            q, k, v, places.mask, is_causal=places.mask is None, enable_gqa=True,
            lengths=places.lengths,
        )  # fmt: skip
        out: Tensor = self.o_proj(found.transpose(1, 2).reshape(*x.shape[:2], -1))
        return out

    def _split(self, x: Tensor) -> Tensor:
        """Make (B, T, H * D) to (B, H, T, D)."""
        return x.reshape(*x.shape[:2], -1, self.features).transpose(1, 2)


class LlamaMLP(SwiGLU):
    """Two layers on each place, with a gate."""

    def __init__(self, config: LlamaConfig, weights: Drawn, path: str) -> None:
        Module.__init__(self)
        outer, inner, bias = config.hidden_size, config.intermediate_size, config.mlp_bias
        self.gate_proj = weights.linear(f"{path}.gate_proj", outer, inner, bias)
        self.up_proj = weights.linear(f"{path}.up_proj", outer, inner, bias)
        self.down_proj = weights.linear(f"{path}.down_proj", inner, outer, bias)


class LlamaLayer(Module):
    """Attention, then the gated layers; each adds to what it gets."""

    def __init__(self, config: LlamaConfig, weights: Drawn, layer: int) -> None:
        super().__init__()
        path, width, eps = f"layers.{layer}", config.hidden_size, config.rms_norm_eps
        self.input_layernorm = weights.rms_norm(f"{path}.input_layernorm", width, eps)
        self.self_attn = LlamaAttention(config, weights, f"{path}.self_attn", layer)
        second = f"{path}.post_attention_layernorm"
        self.post_attention_layernorm = weights.rms_norm(second, width, eps)
        self.mlp = LlamaMLP(config, weights, f"{path}.mlp")

    def forward(self, x: Tensor, places: Places) -> Tensor:
        """Give x and what was found."""
        x = x + self.self_attn(self.input_layernorm(x), places)
        out: Tensor = x + self.mlp(self.post_attention_layernorm(x))
        return out


class Llama(Module):
    """The whole model; weights are drawn unless they come from a file.

    >>> config = ts.models.LlamaConfig(vocab_size=10, hidden_size=16, intermediate_size=32,
    ...                                num_hidden_layers=2, num_attention_heads=2)
    >>> ts.models.Llama(config)(ts.tensor([[1, 2, 3]])).shape
    (1, 3, 10)
    """

    def __init__(self, config: LlamaConfig, weights: Drawn | None = None) -> None:
        super().__init__()
        if not isinstance(config, LlamaConfig):
            raise errors.wrong_type("config", config, "a LlamaConfig")
        for name in ("vocab_size", "hidden_size", "num_attention_heads"):
            to_count(name, getattr(config, name))
        if not config.head_dim:
            entries.check_parts(config, "hidden_size", "num_attention_heads", {})
        entries.check_parts(config, "num_attention_heads", "num_key_value_heads", {})
        self.config, weights = config, weights or Drawn()
        width, vocabulary = config.hidden_size, config.vocab_size
        self.embed_tokens = weights.embedding("embed_tokens", vocabulary, width)
        layers = [LlamaLayer(config, weights, i) for i in range(config.num_hidden_layers)]
        self.layers = ModuleList(layers)
        self.norm = weights.rms_norm("norm", width, config.rms_norm_eps)
        if config.tie_word_embeddings:
            self.lm_head = weights.tied("lm_head", self.embed_tokens)
        else:
            self.lm_head = weights.linear("lm_head", width, vocabulary, False)
        self.rotary = RotaryEmbedding(
            config.features, config.rope_theta, config.rope_scaling, config.interleaved
        )

    @located("Llama")
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
        places = Places(tokens, cache, padding, self.config.sliding_window, self.rotary)
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x, places)
        places.end()
        out: Tensor = self.lm_head(self.norm(x[:, -1:] if last else x))
        return out

    def cache(self, capacity: int, batch: int = 1, **options: Unpack[CacheOptions]) -> KVCache:
        """Make a cache for so many places; options are those of KVCache."""
        sizes = (self.config.kv_heads, capacity, self.config.features)
        return KVCache(self.config.num_hidden_layers, batch, *sizes, **options)
