"""Writes the GGUF files that the tests read, with the package gguf: ``pip install gguf`` first.

``python tools/figures_gguf.py`` writes into tests/figures: a file of every type of tensors and
values that we write, one with another alignment and a vocabulary, one of types that we only list,
one whose numbers are big-endian, and, as JSON, what the first three hold, and the sizes of blocks.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGMLQuantizationType, GGUFEndian, GGUFValueType, GGUFWriter
from gguf.constants import GGML_QUANT_SIZES

FIGURES = Path(__file__).resolve().parent.parent / "tests" / "figures"
FLOATS = ("F32", "F16", "F64", "I8", "I16", "I32", "I64")
BLOCKS = (
    "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K",
)  # fmt: skip
OTHERS = ("Q2_K", "Q3_K", "IQ2_XS", "IQ4_NL", "TQ1_0", "MXFP4")  # which can be listed only
# Keys, values, and their types: of what an array holds, too.
VALUES: list[tuple[str, Any, str]] = [
    ("k.uint8", 200, "uint8"), ("k.int8", -100, "int8"), ("k.uint16", 60_000, "uint16"),
    ("k.int16", -30_000, "int16"), ("k.uint32", 4_000_000_000, "uint32"),
    ("k.int32", -2_000_000_000, "int32"), ("k.float32", 0.15625, "float32"),
    ("k.bool", True, "bool"), ("k.string", "text é 🦆\n\0", "string"),
    ("k.uint64", 1 << 63, "uint64"), ("k.int64", -1 << 63, "int64"), ("k.float64", 0.1, "float64"),
    ("k.empty", "", "string"), ("l.uint8", [0, 255], "uint8"), ("l.int8", [-128, 127], "int8"),
    ("l.uint16", [65_535], "uint16"), ("l.int16", [-32_768], "int16"),
    ("l.uint32", [1, 2, 3], "uint32"), ("l.int32", [-1, 1], "int32"),
    ("l.float32", [1.5, -2.25], "float32"), ("l.bool", [True, False, True], "bool"),
    ("l.string", ["a", "", "ключ"], "string"), ("l.uint64", [1 << 40], "uint64"),
    ("l.int64", [-1 << 40], "int64"), ("l.float64", [0.1, 1e300], "float64"),
]  # fmt: skip
WORDS: list[tuple[str, Any, str]] = [
    ("tokenizer.ggml.model", "gpt2", "string"),
    ("tokenizer.ggml.tokens", [f"word{i}" for i in range(50)], "string"),
    ("tokenizer.ggml.scores", [-i / 8 for i in range(50)], "float32"),
    ("tokenizer.ggml.token_type", [1 + i % 6 for i in range(50)], "int32"),
]


def raw_bytes(count: int, seed: int) -> np.ndarray[Any, Any]:
    """Give bytes of all values, in no order that could be an accident."""
    return ((np.arange(count) * 37 + 11 * seed) % 256).astype(np.uint8)


def add_values(writer: Any, values: list[tuple[str, Any, str]]) -> dict[str, Any]:
    """Write values with their types; describe them."""
    for key, value, kind in values:
        number = GGUFValueType[kind.upper()]
        if isinstance(value, list):
            writer.add_key_value(key, value, GGUFValueType.ARRAY, sub_type=number)
        else:
            writer.add_key_value(key, value, number)
    return {key: {"value": value, "type": kind} for key, value, kind in values}


def add_tensors(writer: Any, types: tuple[str, ...]) -> dict[str, Any]:
    """Write a small tensor of each type; describe them."""
    found: dict[str, Any] = {}
    for seed, name in enumerate(types):
        kind = GGMLQuantizationType[name]
        elements, size = GGML_QUANT_SIZES[kind]
        shape = (2, 1, 3)[seed % 3 :] if name in FLOATS else (3, 2 * elements)
        count = int(np.prod(shape)) // elements * size
        raw = raw_bytes(count, seed)
        if name in FLOATS:
            code = {"F": "f", "I": "i"}[name[0]] + str(size)
            writer.add_tensor(name, raw.view(code).reshape(shape))
        else:
            row = shape[-1] // elements * size
            writer.add_tensor(name, raw.reshape(shape[0], row), raw_dtype=kind)
        found[name] = {"type": name, "shape": shape, "bytes": raw.tobytes().hex()}
    return found


def write(name: str, values: list[tuple[str, Any, str]], types: tuple[str, ...],
          alignment: int = 0, order: Any = GGUFEndian.LITTLE) -> dict[str, Any]:  # fmt: skip
    """Write a file; give what it holds."""
    writer = GGUFWriter(FIGURES / f"{name}.gguf", "llama", endianess=order)
    held: dict[str, Any] = {"general.architecture": {"value": "llama", "type": "string"}}
    if alignment:
        writer.add_custom_alignment(alignment)
        held["general.alignment"] = {"value": alignment, "type": "uint32"}
    held |= add_values(writer, values)
    tensors = add_tensors(writer, types)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return {"metadata": held, "tensors": tensors}


def main() -> None:
    """Write all files."""
    figures: dict[str, Any] = {
        "types": {kind.name: [kind.value, *sizes] for kind, sizes in GGML_QUANT_SIZES.items()},
        "gguf_types": write("gguf_types", VALUES, (*FLOATS, *BLOCKS)),
        "gguf_aligned": write("gguf_aligned", WORDS, ("F32", "Q8_0", "F16"), 128),
        "gguf_others": write("gguf_others", [], OTHERS),
    }
    write("gguf_big", WORDS[:1], ("F32",), order=GGUFEndian.BIG)
    (FIGURES / "gguf_files.json").write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
