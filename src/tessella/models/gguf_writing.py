"""Models written as GGUF files, quantised on the way if asked."""

from __future__ import annotations

import dataclasses

from tessella import errors, io
from tessella._core import Tensor
from tessella.dtypes import float32
from tessella.hints import Any, File, Mapping, Value
from tessella.kinds import cast
from tessella.located import located
from tessella.models import model_errors
from tessella.models.gguf import FACTORS, KEYS, gguf_name
from tessella.models.gpt import GPT
from tessella.models.llama import Llama
from tessella.models.sizes import Config
from tessella.nn import LoRA, QuantizedEmbedding, QuantizedLinear
from tessella.nn.functional import quantize
from tessella.nn.rotary import rotary_frequencies
from tessella.ops.movement import reshape, transpose


@located("models.save_gguf")
def save_gguf(
    model: GPT | Llama, path: File, metadata: Mapping[str, Value] | None = None, *,
    format: str | None = None, types: dict[str, str] | None = None,
) -> None:  # fmt: skip
    """Write a model as a GGUF file; matrices become blocks of `format`, if one is given.

    `metadata` is added to what the file says about the model, such as its tokenizer, with `types`
    as in io.save_gguf. Rows that do not fill whole blocks stay as they are, and so do vectors.

    >>> config = ts.models.GPTConfig(vocab_size=8, n_positions=8, n_embd=32, n_layer=1, n_head=2)
    >>> ts.models.save_gguf(ts.models.GPT(config), "small.gguf", format="q4_0")
    >>> ts.io.open_gguf("small.gguf").tensors["token_embd.weight"].format
    'q4_0'
    """
    if not isinstance(model, GPT | Llama):
        raise errors.wrong_type("model", model, "a model of ts.models: GPT or Llama")
    architecture, said = _metadata(model)
    formats, tensors = _formats(model), _factors(model)
    _check_layers(model)
    for name, x in model.state_dict().items():
        stored: Any = x
        if name == "lm_head.weight" and _is_tied(model):
            continue
        x = _side_by_side(model, name, x) if architecture == "llama" else x
        if name in formats:
            stored = (x, formats[name])
        else:
            is_whole = x.ndim == 2 and x.shape[-1] % 32 == 0
            stored = (quantize(x, format), format) if format is not None and is_whole else x
        tensors[gguf_name(architecture, name)] = stored
    values = {"general.architecture": architecture, **said, **(metadata or {})}
    io.save_gguf(tensors, path, values, types)


def _is_tied(model: GPT | Llama) -> bool:
    """Tell whether the head is the table, whatever it was when the model was made."""
    table: Any = model.wte if isinstance(model, GPT) else model.embed_tokens
    head: Any = model.lm_head
    x, y = head.weight, table.weight
    return (x.data_ptr, x.shape, x.strides) == (y.data_ptr, y.shape, y.strides)


def _check_layers(model: GPT | Llama) -> None:
    """Refuse layers that are not of the kinds that a model is loaded with."""
    for path, part in model.named_modules():
        if isinstance(part, LoRA):
            raise model_errors.lora_in_file(path)


def _factors(model: GPT | Llama) -> dict[str, Any]:
    """Give the numbers that frequencies are divided by, where each has its own."""
    if isinstance(model, GPT) or _linear_factor(model) is not None:
        return {}
    config = model.config
    plain = rotary_frequencies(config.features, config.rope_theta)
    scaled = rotary_frequencies(config.features, config.rope_theta, config.rope_scaling)
    return {FACTORS: cast(plain / scaled, float32)}


def _linear_factor(model: Llama) -> float | None:
    """Give the number that all frequencies are divided by, if it is one."""
    scaling: Mapping[str, Any] = model.config.rope_scaling or {}
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    return {"default": 1.0, "linear": float(scaling.get("factor", 1))}.get(kind)


def _metadata(model: GPT | Llama) -> tuple[str, dict[str, Any]]:
    """Name the kind, and say its sizes. Qwen2 has biases, and pairs that are half a head apart."""
    if isinstance(model, GPT):
        return "gpt2", _gpt_metadata(model)
    config = model.config
    is_turned = config.output_bias or config.mlp_bias or config.interleaved
    name = "qwen2" if config.attention_bias and not is_turned else "llama"
    return name, _llama_metadata(model, name)


def _formats(model: GPT | Llama) -> dict[str, str]:
    """Give the formats of weights that are quantised already, by their names."""
    kinds = (QuantizedLinear, QuantizedEmbedding)
    parts = [(path, part) for path, part in model.named_modules() if isinstance(part, kinds)]
    return {f"{path}.weight": part.format for path, part in parts}


def _side_by_side(model: Any, name: str, x: Tensor) -> Tensor:
    """Bring features of queries and keys into the order in which pairs lie side by side."""
    if model.config.interleaved or not name.endswith(
        ("q_proj.weight", "k_proj.weight", "q_proj.bias", "k_proj.bias")
    ):
        return x
    halves = reshape(x, (-1, 2, model.config.features // 2, *x.shape[1:]))
    return reshape(transpose(halves, 1, 2), x.shape)


def _numbers(config: Config, architecture: str) -> dict[str, Any]:
    """Give the numbers of a configuration, those that may be fractions as floats."""
    fields = {each.name for each in dataclasses.fields(config) if each.type == "float"}
    values = {name: getattr(config, name) for name in KEYS[architecture]}
    return {
        KEYS[architecture][name]: float(value) if name in fields else value
        for name, value in values.items()
    }


def _llama_metadata(model: Llama, architecture: str) -> dict[str, Any]:
    config, factor = model.config, _linear_factor(model)
    said = _numbers(config, architecture) | {
        "attention.head_count_kv": config.kv_heads, "attention.key_length": config.features,
        "attention.value_length": config.features, "rope.dimension_count": config.features,
        "vocab_size": config.vocab_size,
    }  # fmt: skip
    if factor not in (None, 1):
        said |= {"rope.scaling.type": "linear", "rope.scaling.factor": factor}
    return {f"{architecture}.{key}": value for key, value in said.items() if value is not None}


def _gpt_metadata(model: GPT) -> dict[str, Any]:
    said = _numbers(model.config, "gpt2")
    said["feed_forward_length"] = model.config.inner
    return {f"gpt2.{key}": value for key, value in said.items()}
