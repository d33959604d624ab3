"""Rows of blocks of quantised numbers, and numbers, drawn for the tests."""

from __future__ import annotations

import numpy as np

from cases import Array, generator
from tessella.blocks import FORMATS


def halves_of(name: str) -> tuple[int, ...]:
    """Say at which bytes of a block its scale is, and its minimum if it has one."""
    return (208,) if name == "q6_k" else (0, 2) if name[-1] in "1k" else (0,)


def drawn(name: str, rows: int, k: int) -> Array:
    """Draw rows of blocks whose numbers are of the size of weights."""
    of, rng = FORMATS[name], generator("blocks", name, rows, k)
    blocks = rng.integers(0, 256, (rows, k // of.elements, of.bytes)).astype(np.uint8)
    for place in halves_of(name):
        scale = (rng.standard_normal((*blocks.shape[:2], 1)) * 0.01).astype(np.float16)
        blocks[..., place : place + 2] = scale.view(np.uint8)
    return blocks.reshape(rows, -1)


def numbers(*shape: int) -> Array:
    """Draw numbers."""
    return generator("numbers", shape).standard_normal(shape).astype(np.float32)


def same(found: Array, want: Array) -> bool:
    """Tell whether every bit agrees; NaN equals NaN."""
    bits = found.view(np.uint32) == want.view(np.uint32)
    return bool((bits | (np.isnan(found) & np.isnan(want))).all())
