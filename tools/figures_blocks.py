"""Figures of the package gguf: what blocks of every format stand for, and blocks of numbers.

Needs that package: pip install gguf, then python tools/figures_blocks.py
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, quants

Array = np.ndarray[Any, Any]

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "figures"
# Zeros, subnormal halves, the least normal one, 1, the largest, infinities, NaN.
SCALES = (0x0000, 0x8000, 0x0001, 0x03FF, 0x8001, 0x0400, 0x3C00, 0xB800, 0x2C11, 0x7BFF, 0xFBFF,
          0x7C00, 0xFC00, 0x7E00)  # fmt: skip
# The formats, and at which bytes of a block its halves are.
FORMATS = {"Q8_0": (0,), "Q4_0": (0,), "Q4_1": (0, 2), "Q5_0": (0,), "Q5_1": (0, 2),
           "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,)}  # fmt: skip


def stored(x: Array) -> str:
    """Give the bytes of an array as text."""
    return base64.b64encode(np.ascontiguousarray(x).tobytes()).decode()


def blocks_of(format: str, rng: np.random.Generator) -> Array:
    """Draw a block for each scale, and again with the minima in another order."""
    kind = GGMLQuantizationType[format]
    size = GGML_QUANT_SIZES[kind][1]
    blocks = rng.integers(0, 256, (2 * len(SCALES), size)).astype(np.uint8)
    for turn, place in enumerate(FORMATS[format]):
        scales = np.array([*SCALES, *SCALES], np.uint16)
        scales[len(SCALES) :] = np.roll(scales[: len(SCALES)], 5 * turn)
        blocks[:, place : place + 2] = scales[:, None].view(np.uint8)
    return blocks


def numbers(rng: np.random.Generator) -> Array:
    """Draw numbers of many sizes; zeros, ties, and equal magnitudes of both signs."""
    drawn = [rng.standard_normal((3, 32)) * 10.0**power for power in (-6, -3, -1, 0, 2, 4, 7)]
    ties = np.arange(32) - 15.5
    ties[0] = 127.0
    eighths = (np.arange(32) - 16) / 2
    signs = np.where(np.arange(32) % 2, 1.0, -1.0)
    rows = [np.zeros(32), ties, -ties, eighths, signs, -signs, np.full(32, 3e38), np.eye(32)[5]]
    return np.concatenate([*drawn, np.array(rows)]).astype(np.float32)


def main() -> None:
    """Write the file."""
    rng = np.random.default_rng(20)
    found: dict[str, Any] = {"dequantized": {}, "quantized": {}}
    with np.errstate(all="ignore"):
        for format in FORMATS:
            blocks = blocks_of(format, rng)
            values = quants.dequantize(blocks, GGMLQuantizationType[format])
            found["dequantized"][format.lower()] = [stored(blocks), stored(values)]
        x = numbers(rng)
        for format in ("Q8_0", "Q4_0"):
            made = quants.quantize(x, GGMLQuantizationType[format])
            found["quantized"][format.lower()] = [stored(x), stored(made)]
    (FOLDER / "blocks.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
