"""Models in GGUF files: Llama, Mistral, Qwen2 and GPT-2, quantised or not.

The file says in its metadata what the model is. Weights stay in mapped memory; quantised ones are
computed with as they are, and halves become float32, in which all of these models compute.
"""

from __future__ import annotations

import re

from tessella._core import Tensor
from tessella.dtypes import DType, float32
from tessella.hints import Any
from tessella.io import GGUFFile, open_gguf
from tessella.models import model_errors
from tessella.models.gpt import GPT, GPTConfig
from tessella.models.llama import Llama, LlamaConfig
from tessella.models.sizes import sizes_of
from tessella.models.weights import Stored

Model = GPT | Llama

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
_FACTORS = "rope_freqs.weight"


def gguf_name(architecture: str, path: str) -> str:
    """Give the name that a GGUF file has for the tensor at a path of a model."""
    found = re.fullmatch(r"(?:(?:layers|h)\.(\d+)\.)?(.+)\.(\w+)", path)
    assert found, path
    layer, end, kind = found.groups()
    name = NAMES[architecture][end]
    return f"{name}.{kind}" if layer is None else f"blk.{layer}.{name}.{kind}"


def load_gguf(path: Any) -> Model:
    """Load a model from a GGUF file.

    >>> config = ts.models.LlamaConfig(vocab_size=8, hidden_size=32, intermediate_size=32,
    ...                                num_hidden_layers=1, num_attention_heads=2)
    >>> ts.models.save_gguf(ts.models.Llama(config), "small.gguf", format="q8_0")
    >>> ts.models.load_gguf("small.gguf")(ts.tensor([[1, 2]])).shape
    (1, 2, 8)
    """
    return model_of(open_gguf(path))


def model_of(file: GGUFFile) -> Model:
    """Make a model over the tensors of an open file."""
    said = Said(file)
    tensors, formats = {}, {}
    for name, entry in file.tensors.items():
        tensors[name] = _settled(file.get_tensor(name))
        if not isinstance(entry.format, DType):
            formats[name] = entry.format
    weights = Stored(tensors, lambda path: gguf_name(said.architecture, path), formats)
    is_tied = "output.weight" not in tensors
    made: Model
    if said.architecture == "gpt2":
        plain = gpt_config(said)
        sizes_of(plain)  # refuses what are no sizes
        made, is_tied = GPT(plain, weights), True
    else:
        config = llama_config(said, is_tied, tensors.get(_FACTORS))
        sizes_of(config)
        made = Llama(config, weights)
    known = {_FACTORS, "output.weight"} if is_tied else {_FACTORS}
    unused = [name for name in weights.unused() if name not in known]
    if unused:
        raise model_errors.unused_tensors(unused)
    return made


def _settled(x: Tensor) -> Tensor:
    """Give halves as float32."""
    return x.astype(float32) if x.dtype.is_floating and x.dtype is not float32 else x


class Said:
    """The metadata of a file, asked by the short names of one architecture."""

    def __init__(self, file: GGUFFile) -> None:
        self.metadata = file.metadata
        found = file.metadata.get("general.architecture")
        if found not in NAMES:
            raise model_errors.unknown_kind(found, tuple(NAMES))
        self.architecture: str = found
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


def llama_config(said: Said, is_tied: bool, factors: Tensor | None) -> LlamaConfig:
    """Give the sizes of a Llama, Mistral or Qwen2."""
    heads = said.number("attention.head_count")
    scaling: dict[str, Any] | None = None
    if factors is not None:
        scaling = {"rope_type": "factors", "factors": factors.tolist()}
    elif said.metadata.get(f"{said.architecture}.rope.scaling.type") == "linear":
        scaling = {"rope_type": "linear", "factor": said.number("rope.scaling.factor")}
    return LlamaConfig(
        vocab_size=said.rows,
        hidden_size=said.number("embedding_length"),
        intermediate_size=said.number("feed_forward_length"),
        num_hidden_layers=said.number("block_count"),
        num_attention_heads=heads,
        num_key_value_heads=said.number("attention.head_count_kv", heads),
        head_dim=said.optional("attention.key_length"),
        max_position_embeddings=said.number("context_length"),
        rms_norm_eps=said.number("attention.layer_norm_rms_epsilon"),
        rope_theta=float(said.number("rope.freq_base", 10000.0)),
        rope_scaling=scaling,
        tie_word_embeddings=is_tied,
        attention_bias=said.architecture == "qwen2",
        sliding_window=said.optional("attention.sliding_window"),
        interleaved=said.architecture == "llama",
    )


def gpt_config(said: Said) -> GPTConfig:
    """Give the sizes of a GPT-2."""
    return GPTConfig(
        vocab_size=said.rows,
        n_positions=said.number("context_length"),
        n_embd=said.number("embedding_length"),
        n_layer=said.number("block_count"),
        n_head=said.number("attention.head_count"),
        n_inner=said.number("feed_forward_length"),
        layer_norm_epsilon=said.number("attention.layer_norm_epsilon"),
    )
