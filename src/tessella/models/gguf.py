"""Models in GGUF files: Llama, Mistral, Qwen2 and GPT-2, quantised or not.

The file says in its metadata what the model is. Weights stay in mapped memory; quantised ones are
computed with as they are, and halves become float32, in which all of these models compute.
"""

from __future__ import annotations

import math
import re

from tessella._core import Tensor
from tessella.dtypes import DType, float32
from tessella.hints import Any, File
from tessella.io import GGUFFile, open_gguf
from tessella.located import located
from tessella.models import model_errors
from tessella.models.gpt import GPT, GPTConfig
from tessella.models.llama import Llama, LlamaConfig
from tessella.models.paths import to_file
from tessella.models.sizes import Config, sizes_of
from tessella.models.weights import Stored

Model = GPT | Llama
METADATA = "the metadata of the file"

# Names of layers in GGUF files, by the ends of paths here; those inside of layers follow "blk.N".
_LLAMA = {
    "embed_tokens": "token_embd", "norm": "output_norm", "lm_head": "output",
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}  # fmt: skip
_GPT = {
    "wte": "token_embd", "wpe": "position_embd", "ln_f": "output_norm", "lm_head": "output",
    "ln_1": "attn_norm", "ln_2": "ffn_norm", "attn.c_attn": "attn_qkv",
    "attn.c_proj": "attn_output", "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down",
}  # fmt: skip
NAMES = {"llama": _LLAMA, "qwen2": _LLAMA, "gpt2": _GPT}
# Keys of metadata, behind the architecture, by the names of configurations; some may be missing.
_LLAMA_KEYS = {
    "hidden_size": "embedding_length", "intermediate_size": "feed_forward_length",
    "num_hidden_layers": "block_count", "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv", "head_dim": "attention.key_length",
    "max_position_embeddings": "context_length",
    "rms_norm_eps": "attention.layer_norm_rms_epsilon", "rope_theta": "rope.freq_base",
    "sliding_window": "attention.sliding_window",
}  # fmt: skip
_GPT_KEYS = {
    "n_positions": "context_length", "n_embd": "embedding_length", "n_layer": "block_count",
    "n_head": "attention.head_count", "n_inner": "feed_forward_length",
    "layer_norm_epsilon": "attention.layer_norm_epsilon",
}  # fmt: skip
KEYS = {"llama": _LLAMA_KEYS, "qwen2": _LLAMA_KEYS, "gpt2": _GPT_KEYS}
_OPTIONAL = ("num_key_value_heads", "head_dim", "rope_theta", "sliding_window")
FACTORS = "rope_freqs.weight"


def gguf_name(architecture: str, path: str) -> str:
    """Give the name that a GGUF file has for the tensor at a path of a model."""
    found = re.fullmatch(r"(?:(?:layers|h)\.(\d+)\.)?(.+)\.(\w+)", path)
    layer, end, kind = found.groups() if found else (None, "", "")
    name = NAMES[architecture].get(end)
    if name is None or (name, kind) == ("output", "bias"):
        raise model_errors.no_gguf_name(path)
    return f"{name}.{kind}" if layer is None else f"blk.{layer}.{name}.{kind}"


@located("models.load_gguf")
def load_gguf(path: File) -> Model:
    """Load a model from a GGUF file.

    >>> config = ts.models.LlamaConfig(vocab_size=8, hidden_size=32, intermediate_size=32,
    ...                                num_hidden_layers=1, num_attention_heads=2)
    >>> ts.models.save_gguf(ts.models.Llama(config), "small.gguf", format="q8_0")
    >>> ts.models.load_gguf("small.gguf")(ts.tensor([[1, 2]])).shape
    (1, 2, 8)
    """
    return model_of(open_gguf(to_file(path)))


def model_of(file: GGUFFile) -> Model:
    """Make a model over the tensors of an open file."""
    said = Said(file)
    tensors, formats = {}, {}
    for name, entry in file.tensors.items():
        tensors[name] = _settled(file.get_tensor(name))
        if not isinstance(entry.format, DType):
            formats[name] = entry.format
    weights = Stored(tensors, lambda path: gguf_name(said.architecture, path), formats, METADATA)
    config = config_of(said, tensors.get(FACTORS))
    made = Llama(config, weights) if isinstance(config, LlamaConfig) else GPT(config, weights)
    unused = [name for name in weights.unused() if name != FACTORS]
    if unused:
        raise model_errors.unused_tensors(unused, METADATA)
    return made


def config_of(said: Said, factors: Tensor | None) -> Config:
    """Give what a file says about its model."""
    return gpt_config(said) if said.architecture == "gpt2" else llama_config(said, factors)


def _settled(x: Tensor) -> Tensor:
    """Give halves as float32."""
    return x.astype(float32) if x.dtype.is_floating and x.dtype is not float32 else x


class Said:
    """The metadata of a file, asked by the short names of one architecture."""

    def __init__(self, file: GGUFFile) -> None:
        self.metadata, self.tensors = file.metadata, file.tensors
        found = file.metadata.get("general.architecture")
        if not isinstance(found, str) or found not in NAMES:
            raise model_errors.unknown_kind(found, tuple(NAMES), "general.architecture")
        self.architecture: str = found
        self.keys = {name: f"{found}.{key}" for name, key in KEYS[found].items()}
        table = file.tensors.get("token_embd.weight")
        self.rows = table.shape[0] if table is not None else 0

    def number(self, name: str, default: Any = None) -> Any:
        """Give a number, which must be there unless there is a default."""
        key = f"{self.architecture}.{name}"
        value = self.metadata.get(key, default)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if (value is not default and not is_number) or (value is None and default is None):
            raise model_errors.wrong_metadata(key, value)
        return value

    def optional(self, name: str) -> Any:
        """Give a number, or None if there is none."""
        key = f"{self.architecture}.{name}"
        return self.number(name) if key in self.metadata else None

    def numbers(self) -> dict[str, Any]:
        """Give the numbers of a configuration, by its names."""
        return {
            name: self.number(key)
            for name, key in KEYS[self.architecture].items()
            if name not in _OPTIONAL or self.keys[name] in self.metadata
            if name != "sliding_window" or self.metadata.get(self.keys[name]) != 0  # it says: none
        }

    def must_be(self, name: str, wanted: float) -> None:
        """Refuse a number that is there and is another: the model would compute otherwise."""
        value = self.optional(name)
        if value is not None and value != wanted:
            raise model_errors.other_number(f"{self.architecture}.{name}", value, wanted)

    def has(self, path: str) -> bool:
        """Tell whether the file has a tensor, by its path in a model."""
        return gguf_name(self.architecture, path) in self.tensors


def scaling_of(said: Said, factors: Tensor | None) -> dict[str, Any] | None:
    """Give how frequencies are stretched: all by one factor, each by its own, or both."""
    key = f"{said.architecture}.rope.scaling.type"
    kind = said.metadata.get(key, "linear")
    if kind not in ("none", "linear"):
        raise model_errors.unknown_scaling(key, kind)
    old = said.optional("rope.scale_linear")
    default = None if key in said.metadata and old is None else old or 1.0
    factor = said.number("rope.scaling.factor", default) if kind == "linear" else 1.0
    factor = factor or 1.0  # 0 says that there is none
    if not 0 < factor < math.inf:
        name = f"{said.architecture}.rope.scaling.factor"
        raise model_errors.wrong_entry(name, factor, "a number above 0")
    if factors is not None:
        if factors.ndim != 1 or not factors.dtype.is_floating:
            found = f"{factors.dtype} {factors.shape}"
            raise model_errors.wrong_entry(FACTORS, found, "a row of floats")
        divisors: Any = factors.tolist()
        return {"rope_type": "factors", "factors": [factor * by for by in divisors]}
    return None if factor == 1 else {"rope_type": "linear", "factor": factor}


def llama_config(said: Said, factors: Tensor | None) -> LlamaConfig:
    """Give the sizes of a Llama, Mistral or Qwen2."""
    is_qwen = said.architecture == "qwen2"
    made = LlamaConfig(
        **said.numbers(),
        vocab_size=said.rows,
        rope_scaling=scaling_of(said, factors),
        tie_word_embeddings=not said.has("lm_head.weight"),
        attention_bias=is_qwen or said.has("layers.0.self_attn.q_proj.bias"),
        output_bias=said.has("layers.0.self_attn.o_proj.bias"),
        mlp_bias=said.has("layers.0.mlp.up_proj.bias"),
        interleaved=not is_qwen,
    )
    sizes_of(made, said.keys)  # refuses what are no sizes
    said.must_be("expert_count", 0)
    said.must_be("rope.dimension_count", made.features)
    said.must_be("attention.value_length", made.features)
    return made


def gpt_config(said: Said) -> GPTConfig:
    """Give the sizes of a GPT-2."""
    made = GPTConfig(
        **said.numbers(),
        vocab_size=said.rows,
        tie_word_embeddings=not said.has("lm_head.weight"),
    )
    sizes_of(made, said.keys)  # refuses what are no sizes
    return made
