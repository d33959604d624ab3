"""Outlines: what the headers of a model's files say about its memory; no weight is read.

A folder is mapped, as for its use; of a GGUF file the header is read, which tells the same.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tessella import errors
from tessella.blocks import FORMATS
from tessella.dtypes import DType, float32
from tessella.hints import Any
from tessella.io import GGUFFile, open_gguf
from tessella.models.folders import load_folder
from tessella.models.gguf import Said, gpt_config, llama_config
from tessella.models.sizes import Sizes, sizes_of

_TABLES = ("embed_tokens.weight", "wte.weight", "token_embd.weight")


@dataclass(frozen=True)
class Outline:
    """A model by its headers.

    `mapped` are bytes of weights that stay in the file, `owned` those in memory of their own:
    halves of GGUF files, which become float32, and frequencies. `format` is that of most weights:
    a dtype, or the name of a block format; `dtype` is what the model computes in. Weights of
    products that are `is_turned` lie as (inputs, outputs).
    """

    sizes: Sizes
    mapped: int
    owned: int
    format: DType | str
    dtype: DType
    is_turned: bool = False


def outline(path: Any) -> Outline:
    """Read the headers of a folder or a GGUF file."""
    if not isinstance(path, str | os.PathLike):
        raise errors.wrong_type("path", path, "a path")
    folder = Path(path)
    if folder.is_dir():
        return _of_folder(folder)
    with open_gguf(path) as file:
        return _of_file(file)


def _of_folder(folder: Path) -> Outline:
    model = load_folder(folder)
    sizes, weights = sizes_of(model.config), dict(model.named_parameters())
    dtype = next(x.dtype for name, x in weights.items() if name in _TABLES)
    mapped = sum(x.nbytes for x in weights.values())  # those that are tied come once
    return Outline(sizes, mapped, _frequencies(sizes), dtype, dtype, not sizes.is_gated)


def _of_file(file: GGUFFile) -> Outline:
    said = Said(file)
    is_gpt = said.architecture == "gpt2"
    is_tied = is_gpt or "output.weight" not in file.tensors
    sizes = sizes_of(gpt_config(said) if is_gpt else llama_config(said, is_tied, None))
    # What stands in the file beside the weights of layers.
    unused = {"rope_freqs.weight"} | ({"output.weight"} if is_tied else set())
    mapped, owned = 0, _frequencies(sizes)
    by_format: dict[DType | str, int] = {}
    for name, entry in file.tensors.items():
        if name in unused:
            continue
        format = entry.format
        if isinstance(format, DType) and format.is_floating and format is not float32:
            owned += entry.nbytes // format.itemsize * float32.itemsize
            format = float32
        else:
            mapped += entry.nbytes
        by_format[format] = by_format.get(format, 0) + entry.nbytes
    most = max(by_format, key=lambda format: by_format[format], default=float32)
    is_known = isinstance(most, DType) or most in FORMATS
    return Outline(sizes, mapped, owned, most if is_known else float32, float32)


def _frequencies(sizes: Sizes) -> int:
    """Count the angles of rotary places: float64, one for each pair of features."""
    return sizes.features // 2 * 8 if sizes.is_gated else 0
