"""Tensors as bytes in row-major order, a block at a time: what is written to files.

A contiguous tensor is given as it lies; others are copied in blocks, so that a save needs a few
megabytes beside the tensors, however large they are.
"""

from __future__ import annotations

from tessella import _core
from tessella._core import Tensor
from tessella.dtypes import uint8
from tessella.hints import TYPE_CHECKING, Iterator
from tessella.io import file_errors
from tessella.ops.creation import copy_of

if TYPE_CHECKING:
    from typing import BinaryIO

BLOCK = 1 << 22  # bytes of a copy: larger than the caches, small beside the tensors
STEP = 1 << 24  # bytes between two chances for Ctrl-C


def write_tensor(file: BinaryIO, x: Tensor) -> None:
    """Write the elements of a tensor, row-major."""
    for block in blocks(x.detach()):
        write_all(file, block)


def write_all(file: BinaryIO, data: bytes | memoryview) -> None:
    """Write all bytes: a file without a buffer may take a part of them."""
    view = memoryview(data)
    while view:
        part = view[:STEP]
        count = file.write(part)
        if count == 0:
            raise file_errors.takes_nothing(file)
        # Files of other libraries may give nothing back.
        view = view[len(part) if count is None else count :]


def blocks(x: Tensor) -> Iterator[memoryview]:
    """Give the bytes of a tensor that asks for no gradients."""
    if not x.size:
        return
    for part in _parts(x):
        yield memoryview(_core.bitcast(part.reshape(-1), uint8.id))


def _parts(x: Tensor) -> Iterator[Tensor]:
    """Give contiguous tensors that follow one another in row-major order."""
    if x.is_contiguous:
        yield x
    elif x.nbytes <= BLOCK:
        yield _copied(x)
    elif x.nbytes // x.shape[0] > BLOCK:
        for i in range(x.shape[0]):
            yield from _parts(x[i])
    else:
        rows = BLOCK // (x.nbytes // x.shape[0])
        for start in range(0, x.shape[0], rows):
            yield _copied(x[start : start + rows])


def _copied(x: Tensor) -> Tensor:
    """Copy on the heap: the scope's allocator is the user's, and may be full."""
    scope = _core.swap_allocator(None)
    try:
        return copy_of(x)
    finally:
        _core.swap_allocator(scope)
