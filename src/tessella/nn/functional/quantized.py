"""Quantised weights: numbers as blocks that share a scale, and products with such weights.

A matrix of (rows, n) numbers is a tensor of uint8 (blocks.py): what files of language models hold,
mapped or read. Products are computed on the blocks, which are never expanded but for a tile.
"""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.composites import DTypeLike, composite
from tessella.declarations import case
from tessella.dtypes import float32, float64
from tessella.fusions import need_float
from tessella.hints import Any
from tessella.kinds import cast
from tessella.limits import limited
from tessella.nn import layer_errors, quantized_errors
from tessella.nn.functional.block_records import (
    block_product,
    dequantize_blocks,
    features_of,
    quantize_blocks,
    sampled,
)
from tessella.nn.functional.embedding import NO_PADDING, embed
from tessella.tensors import tensor

_DECLARED: dict[str, Any] = {"home": "nn.functional", "is_method": False,
                             "tested": "tests/test_quantized.py"}  # fmt: skip
_ROWS = sampled("q5_k", 5, 1)


@composite(**_DECLARED, samples=[case((3, 64), "q8_0"), case((32,), "q4_0")])
def quantize(x: Tensor, format: Any) -> Tensor:
    """Give x as blocks of a format, "q8_0" or "q4_0": uint8, a row of blocks for each of x.

    The last axis of x must fill whole blocks, which hold 32 numbers.

    >>> ts.nn.functional.quantize(ts.ones(2, 64), "q8_0").shape
    (2, 68)
    """
    return quantize_blocks(x, format)


@composite(**_DECLARED, samples=[case(_ROWS, "q5_k"), case(_ROWS, "q5_k", float64)])
def dequantize(blocks: Tensor, format: Any, dtype: DTypeLike = float32) -> Tensor:
    """Give the numbers that blocks stand for.

    >>> blocks = ts.nn.functional.quantize(ts.full((32,), 0.5), "q4_0")
    >>> ts.nn.functional.dequantize(blocks, "q4_0").max().item()
    0.5
    """
    if not dtype.is_floating:
        raise errors.no_kernel(dtype, "numbers of blocks are floats: dtype=ts.float32")
    return dequantize_blocks(blocks, format, dtype.id)


@composite(**_DECLARED, samples=[case((3, 256), _ROWS, (5,), format="q5_k"),
                                 case((256,), _ROWS, format="q5_k")])  # fmt: skip
def quantized_linear(x: Tensor, blocks: Tensor, bias: Tensor | None = None, *,
                     format: Any) -> Tensor:  # fmt: skip
    """Give x @ w.T + bias, where the rows of w are blocks of a format.

    Rows of x are made int8 first, each with a scale for every block of w, and multiplied with the
    blocks as integers; float64 is multiplied as it is, with w in float64. The gradient of x is that
    of the product with the numbers that the blocks stand for.

    >>> blocks = ts.nn.functional.quantize(ts.ones(3, 32), "q8_0")
    >>> ts.nn.functional.quantized_linear(ts.ones(2, 32), blocks, format="q8_0").shape
    (2, 3)
    """
    dtype = need_float("x", x)
    if dtype.itemsize >= 4:
        return block_product(x, blocks, bias, format, False)
    return cast(block_product(cast(x, float32), blocks, bias, format, False), dtype)


@composite(**_DECLARED, samples=[case(tensor([[4, 0], [1, 1]]), _ROWS, format="q5_k")])
def quantized_embedding(indices: Tensor, blocks: Tensor, *, format: Any) -> Tensor:
    """Give the rows of blocks at integers, as float32.

    >>> blocks = ts.nn.functional.quantize(ts.ones(3, 32), "q8_0")
    >>> ts.nn.functional.quantized_embedding(ts.tensor([2, 0]), blocks, format="q8_0").shape
    (2, 32)
    """
    if not indices.dtype.is_integer:
        raise layer_errors.not_indices("indices", indices.dtype)
    features_of(blocks, format)
    if blocks.ndim != 2:
        raise quantized_errors.not_matrix(blocks.ndim)
    rows = blocks.shape[0]
    indices = limited(indices, 0, rows - 1, lambda index: layer_errors.no_row(index, rows))
    return dequantize_blocks(embed(blocks, indices, NO_PADDING, False), format, float32.id)


del _ROWS  # tensors of samples alone
