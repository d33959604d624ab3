"""Models in the folders that Hugging Face publishes: config.json, and safetensors in shards."""

from __future__ import annotations

import json
from pathlib import Path

from tessella._core import Tensor
from tessella.dtypes import as_dtype
from tessella.hints import Any, DTypeLike, Path as PathLike
from tessella.io import load_file
from tessella.located import located
from tessella.models import model_errors
from tessella.models.gpt import GPT, GPTConfig
from tessella.models.llama import KINDS, Llama, LlamaConfig
from tessella.models.paths import to_folder, to_part
from tessella.models.sizes import Config, sizes_of
from tessella.models.weights import Stored

Model = GPT | Llama

_INDEX, _WHOLE = "model.safetensors.index.json", "model.safetensors"
# GPT-2's files hold the weights of products as (inputs, outputs).
_TURNED = ("c_attn.weight", "c_proj.weight", "c_fc.weight")
# Tables of masks and angles that some files keep, and that follow from the sizes.
_DERIVED = (".attn.bias", ".attn.masked_bias", "rotary_emb.inv_freq")


@located("models.load_folder")
def load_folder(path: PathLike, dtype: DTypeLike | None = None, mmap: bool = True) -> Model:
    """Load GPT-2, Llama, Mistral or Qwen2 from a folder: config.json, and safetensors in shards.

    Weights stay in mapped memory as the files have them, which cannot be written to: train a LoRA,
    or read them into memory of their own with mmap=False. A `dtype` converts them.

    >>> import json, pathlib
    >>> config = {"model_type": "llama", "vocab_size": 4, "hidden_size": 4, "intermediate_size": 8,
    ...           "num_hidden_layers": 1, "num_attention_heads": 2}
    >>> model = ts.models.Llama(ts.models.LlamaConfig.from_dict(config))
    >>> _ = pathlib.Path("config.json").write_text(json.dumps(config))
    >>> ts.io.save_file(model.state_dict(), "model.safetensors")
    >>> ts.models.load_folder(".")(ts.tensor([[1, 2]])).shape
    (1, 2, 4)
    """
    return folder_model(to_folder(path), dtype, mmap)


def folder_model(folder: Path, dtype: DTypeLike | None = None, mmap: bool = True) -> Model:
    """Load a folder, for whoever names itself in the errors."""
    wanted = None if dtype is None else as_dtype(dtype)
    if wanted is not None and not wanted.is_floating:
        raise model_errors.wrong_dtype(wanted)
    config = read_config(folder)
    tensors = {_plain(name): x for name, x in _tensors(folder, mmap).items()}
    if wanted is not None:
        tensors = {name: x.astype(wanted) for name, x in tensors.items()}
    if isinstance(config, LlamaConfig):
        return _made(Llama, config, tensors)
    tensors = {n: x.mT if n.endswith(_TURNED) else x for n, x in tensors.items()}
    return _made(GPT, config, tensors)


def read_config(folder: Path) -> Config:
    """Read config.json: what the model is, and its sizes."""
    given = read_json(to_part(folder, "config.json"))
    kind = given.get("model_type")
    config: Config
    if kind == "gpt2":
        config = GPTConfig.from_dict(given)
    elif kind in KINDS:
        config = LlamaConfig.from_dict(given)
    else:
        raise model_errors.unknown_kind(kind, ("gpt2", *KINDS))
    sizes_of(config)  # refuses what are no sizes
    return config


def _made(model: Any, config: Any, tensors: dict[str, Tensor]) -> Model:
    """Make a model over tensors, all of which it must use."""
    weights = Stored(tensors)
    made: Model = model(config, weights)
    known = (*_DERIVED, "lm_head.weight") if config.tie_word_embeddings else _DERIVED
    unused = [name for name in weights.unused() if not name.endswith(known)]
    if unused:
        raise model_errors.unused_tensors(unused, "config.json")
    return made


def _plain(name: str) -> str:
    """Give a name without what stands around the model in some files."""
    return name.removeprefix("model.").removeprefix("transformer.")


def _tensors(folder: Path, is_mapped: bool) -> dict[str, Tensor]:
    """Load the tensors of one file, or of all shards that the index names."""
    if not (folder / _INDEX).exists():
        if not (folder / _WHOLE).exists():
            raise model_errors.missing_weights(str(folder), _WHOLE, _INDEX)
        return load_file(folder / _WHOLE, is_mapped)
    places = read_json(folder / _INDEX).get("weight_map")
    if not isinstance(places, dict):
        raise model_errors.wrong_index(str(folder / _INDEX))
    found: dict[str, Tensor] = {}
    for shard in sorted(set(places.values())):
        if not isinstance(shard, str) or Path(shard).name != shard:
            raise model_errors.wrong_shard(shard)
        tensors = load_file(to_part(folder, shard), is_mapped)
        found |= {name: x for name, x in tensors.items() if places.get(name) == shard}
    missing = [name for name in places if name not in found]
    if missing:
        raise model_errors.missing_in_shard(missing[0], places[missing[0]])
    return found


def read_json(path: Path) -> dict[str, Any]:
    """Read a file that holds one JSON object."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise model_errors.not_json(str(path), str(error)) from None
    if not isinstance(found, dict):
        raise model_errors.not_json(str(path), f"it holds {type(found).__name__}")
    return found
