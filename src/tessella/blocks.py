"""Block formats: numbers stored in blocks that share scales, as files of language models hold them.

A matrix of (rows, n) numbers is a tensor of uint8, (rows, n / elements * bytes): its rows are blocks
one behind the other. The layouts inside of a block are those of ggml.
"""

from __future__ import annotations

from typing import NamedTuple


class BlockFormat(NamedTuple):
    """How many numbers a block holds, and in how many bytes."""

    name: str
    elements: int
    bytes: int


FORMATS: dict[str, BlockFormat] = {
    name: BlockFormat(name, elements, size)
    for name, elements, size in (
        ("q8_0", 32, 34), ("q4_0", 32, 18), ("q4_1", 32, 20), ("q5_0", 32, 22), ("q5_1", 32, 24),
        ("q4_k", 256, 144), ("q5_k", 256, 176), ("q6_k", 256, 210),
    )
}  # fmt: skip
