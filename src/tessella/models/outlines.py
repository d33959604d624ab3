"""Outlines: what the headers of a model's files say about its memory; no weight is read.

A folder is mapped, as for its use; of a GGUF file the header is read, which tells the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tessella.blocks import FORMATS
from tessella.dtypes import DType, float32
from tessella.hints import Any
from tessella.io import GGUFFile, open_gguf
from tessella.models.folders import folder_model
from tessella.models.gguf import FACTORS, Said, config_of
from tessella.models.paths import to_file, to_path
from tessella.models.sizes import Config, Sizes, sizes_of

_TABLES = ("embed_tokens.weight", "wte.weight", "token_embd.weight")


@dataclass(frozen=True)
class Outline:
    """A model by its headers.

    `mapped` are bytes of weights that stay in the file, `owned` those in memory of their own:
    halves of GGUF files, which become float32, and frequencies. `formats` are those of matrices
    in layers, `tables` those outside: dtypes, or names of block formats. `dtype` is what the model
    computes in. Weights of
    products that are `is_turned` lie as (inputs, outputs).
    """

    config: Config = field(compare=False)
    sizes: Sizes
    mapped: int
    owned: int
    formats: tuple[DType | str, ...]
    tables: tuple[DType | str, ...]
    dtype: DType
    is_turned: bool = False


def outline(path: Any) -> Outline:
    """Read the headers of a folder or a GGUF file."""
    found = to_path(path)
    if found.is_dir():
        return _of_folder(found)
    with open_gguf(to_file(found)) as file:
        return _of_file(file)


def _of_folder(folder: Path) -> Outline:
    model = folder_model(folder)
    sizes, weights = sizes_of(model.config), dict(model.named_parameters())
    dtype = next(x.dtype for name, x in weights.items() if name in _TABLES)
    mapped = sum(x.nbytes for x in weights.values())  # those that are tied come once
    return Outline(
        model.config,
        sizes,
        mapped,
        _frequencies(sizes),
        (dtype,),
        (dtype,),
        dtype,
        not sizes.is_gated,
    )


def _of_file(file: GGUFFile) -> Outline:
    said = Said(file)
    config = config_of(said, None)
    sizes = sizes_of(config)
    mapped, owned = 0, _frequencies(sizes)
    formats: set[DType | str] = set()
    tables: set[DType | str] = set()
    for name, entry in file.tensors.items():
        if name == FACTORS:  # read, and not kept
            continue
        format = entry.format
        if isinstance(format, DType) and format.is_floating and format is not float32:
            owned += entry.nbytes // format.itemsize * float32.itemsize
            format = float32
        else:
            mapped += entry.nbytes
        is_known = format is float32 or format in FORMATS
        if len(entry.shape) > 1 and is_known:
            (formats if name.startswith("blk.") else tables).add(format)
    return Outline(config, sizes, mapped, owned, tuple(formats), tuple(tables), float32)


def _frequencies(sizes: Sizes) -> int:
    """Count the angles of rotary places: float64, one for each pair of features."""
    return sizes.features // 2 * 8 if sizes.is_gated else 0
