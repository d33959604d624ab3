"""Small language models with their tokenizers, as files: GGUF, and folders of Hugging Face."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as Other, decoders, models as coders, pre_tokenizers

import tessella as ts
from tessella import models
from tessella.models import GPT, GPTConfig, Llama, LlamaConfig
from tessella.text.byte_level import ALPHABET
from vocabularies import byte_level, pieces

TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"
MERGES = ["t h", "th e", "\u0120 the"]
SPECIALS = ["<s>", "<|im_end|>"]
TURNED = ("c_attn.weight", "c_proj.weight", "c_fc.weight")
TOKENS = 256 + len(MERGES) + len(SPECIALS)


def llama_config(vocabulary: int, **options: Any) -> dict[str, Any]:
    """Give what config.json says of a small Llama."""
    return {
        "model_type": "llama", "vocab_size": vocabulary, "hidden_size": 64,
        "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 128, **options,
    }  # fmt: skip


def gpt_config(vocabulary: int, **options: Any) -> dict[str, Any]:
    """Give what config.json says of a small GPT-2."""
    return {
        "model_type": "gpt2", "vocab_size": vocabulary, "n_positions": 128, "n_embd": 64,
        "n_layer": 2, "n_head": 4, **options,
    }  # fmt: skip


def made(config: dict[str, Any], seed: int = 3) -> GPT | Llama:
    """Make a model whose tokens differ from each other."""
    ts.manual_seed(seed)
    is_gpt = config["model_type"] == "gpt2"
    model = GPT(GPTConfig.from_dict(config)) if is_gpt else Llama(LlamaConfig.from_dict(config))
    for x in model.parameters():
        if x.ndim > 1:
            ts.nn.init.normal_(x, std=0.3)
    return model


def save_gguf(path: Path, config: dict[str, Any], metadata: dict[str, Any], **options: Any) -> Path:
    """Write a model with a tokenizer as a GGUF file."""
    models.save_gguf(made(config), path, metadata, **options)
    return path


def byte_gguf(path: Path, **options: Any) -> Path:
    """Write a Llama with a byte-level tokenizer."""
    metadata = byte_level(MERGES, SPECIALS, bos_token_id=259, eos_token_id=260)
    metadata["tokenizer.chat_template"] = TEMPLATE
    return save_gguf(path, llama_config(TOKENS), metadata, **options)


def piece_gguf(path: Path) -> Path:
    """Write a GPT-2 with a tokenizer of pieces."""
    words = ["\u2581the", "the", "he", "\u2581t", "t", "h", "e"]
    metadata = pieces(words, bos_token_id=1, eos_token_id=2)
    return save_gguf(path, gpt_config(260 + len(words)), metadata)


def save_folder(
    folder: Path, config: dict[str, Any], dtype: Any = ts.float32, **beside: dict[str, Any]
) -> Path:
    """Write the folder of a model: its weights, its tokenizer, and further files of JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    is_gpt = config["model_type"] == "gpt2"
    is_tied = config.get("tie_word_embeddings", is_gpt)
    tensors = {}
    for name, x in made(config).state_dict().items():
        if not (is_tied and name == "lm_head.weight"):
            turned = x.mT.contiguous() if is_gpt and name.endswith(TURNED) else x
            tensors[name] = turned.detach().astype(dtype)
    ts.io.save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config))
    save_tokenizer(folder)
    for name, content in beside.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def save_tokenizer(folder: Path) -> None:
    """Write a byte-level tokenizer.json, and what is said beside it."""
    vocabulary = {char: place for place, char in enumerate(ALPHABET.values())}
    vocabulary |= {"th": 256, "the": 257, "\u0120the": 258}
    other = Other(coders.BPE(vocabulary, [("t", "h"), ("th", "e"), ("\u0120", "the")]))
    other.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    other.decoder = decoders.ByteLevel()
    other.add_special_tokens(SPECIALS)
    other.save(str(folder / "tokenizer.json"))
    config = {"bos_token": "<s>", "eos_token": "<|im_end|>", "chat_template": TEMPLATE}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
