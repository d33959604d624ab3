"""Block formats: numbers stored in blocks that share scales, as files of language models hold them.

A matrix of (rows, n) numbers is a tensor of uint8, (rows, n / elements * bytes): its rows are
blocks one behind the other. The layouts inside of a block are those of ggml. The core has the
table.
"""

from __future__ import annotations

from typing import NamedTuple

from tessella import _core


class BlockFormat(NamedTuple):
    """How many numbers a block holds, and in how many bytes."""

    name: str
    elements: int
    bytes: int


FORMATS: dict[str, BlockFormat] = {
    name: BlockFormat(name, elements, size) for name, elements, size, _ in _core.block_formats()
}

# Those that quantisation makes.
MADE: tuple[str, ...] = tuple([name for name, _, _, is_made in _core.block_formats() if is_made])
