"""The records of quantised blocks: to numbers and back, and products with them.

A product makes the rows of x int8 where they are float32: its gradient is that of the product with
the dequantised weights, which float64 computes as it is. What users call is in quantized.py.
"""

from __future__ import annotations

from tessella import errors
from tessella._core import Function, Tensor
from tessella.blocks import FORMATS, MADE, BlockFormat
from tessella.declarations import case
from tessella.dtypes import DType, float16, float32, float64, uint8
from tessella.fusions import Fused, need_float, settled
from tessella.hints import Any
from tessella.nn import layer_errors, quantized_errors
from tessella.nn.functional import block_references as references
from tessella.ops.creation import arange, zeros
from tessella.ops.movement import reshape

# --- checks --------------------------------------------------------------------------------------


def format_of(name: Any) -> BlockFormat:
    """Require the name of a block format."""
    found = FORMATS.get(name) if isinstance(name, str) else None
    if found is None:
        raise quantized_errors.unknown_format(name, tuple(FORMATS))
    return found


def features_of(blocks: Tensor, format: str) -> int:
    """Require rows of whole blocks; give the numbers of a row."""
    of = format_of(format)
    if blocks.dtype is not uint8:
        raise quantized_errors.not_blocks(blocks.dtype)
    if blocks.ndim == 0:
        raise quantized_errors.no_axis("blocks")
    if blocks.shape[-1] % of.bytes:
        raise quantized_errors.broken_row(blocks.shape[-1], of.name, of.bytes)
    return int(blocks.shape[-1] // of.bytes * of.elements)


def need_multiple(name: str, size: int, of: BlockFormat) -> None:
    """Require numbers that fill blocks."""
    if size % of.elements:
        raise quantized_errors.broken_numbers(name, size, of.name, of.elements)


def _need_wide(name: str, x: Tensor) -> DType:
    """Require float32 or float64."""
    dtype = need_float(name, x)
    if dtype.itemsize < 4:
        raise errors.no_kernel(dtype, f"convert {name} with astype(ts.float32)")
    return dtype


def _normal_dequantize(blocks: Tensor, format: str, to: int) -> list[Any]:
    features_of(blocks, format)
    return [settled(blocks, uint8)]


def _normal_quantize(x: Tensor, format: str) -> list[Any]:
    """Require rows of numbers that fill blocks of a format that is made."""
    of = format_of(format)
    if format not in MADE:
        raise quantized_errors.not_made(format, MADE)
    dtype = need_float("x", x)
    if x.ndim == 0:
        raise quantized_errors.no_axis("x")
    need_multiple("the last axis of x", x.shape[-1], of)
    return [settled(x, dtype)]


def _normal_product(x: Tensor, blocks: Tensor, bias: Any, format: str,
                    is_exact: bool) -> list[Any]:  # fmt: skip
    """Require as many features as a row of blocks has, and a bias for each row."""
    dtype = _need_wide("x", x)
    features = features_of(blocks, format)
    if blocks.ndim != 2:
        raise quantized_errors.not_matrix(blocks.ndim)
    if x.ndim == 0:
        raise errors.wrong_value("x.ndim", 0, "at least 1: its last axis holds the features")
    if x.shape[-1] != features:
        raise layer_errors.wrong_features(x.shape[-1], features)
    if bias is not None and bias.shape != blocks.shape[:1]:
        raise layer_errors.wrong_vector("bias", bias.shape, blocks.shape[0])
    return [settled(x, dtype), settled(blocks, uint8), settled(bias, dtype)]


def _normal_back(dout: Tensor, blocks: Tensor, format: str) -> list[Any]:
    dtype = _need_wide("dout", dout)
    features_of(blocks, format)
    if blocks.ndim != 2:
        raise quantized_errors.not_matrix(blocks.ndim)
    if dout.ndim == 0 or dout.shape[-1] != blocks.shape[0]:
        rule = f"(…, {blocks.shape[0]}): a number for each row of blocks"
        raise errors.wrong_value("dout.shape", dout.shape, rule)
    return [settled(dout, dtype), settled(blocks, uint8)]


# --- the records ---------------------------------------------------------------------------------


def sampled(format: str, rows: int, count: int) -> Tensor:
    """Give rows of blocks of all kinds of bytes, whose scales are near 1 / 16."""
    of = FORMATS[format]
    found = (arange(rows * count * of.bytes) * 151 % 256).astype(uint8)
    made = reshape(found, (rows, count, of.bytes)).clone()
    places = (208,) if format == "q6_k" else (0, 2)[: 1 + (format[-1] in "1k")]
    for place in places:
        made[..., place] = reshape(arange(rows * count) * 13 % 256, (rows, count)).astype(uint8)
        made[..., place + 1] = 0x2C
    return reshape(made, (rows, count * of.bytes))


def _params(format: str) -> dict[str, Any]:
    return {"format": format, "is_exact": False}


dequantize_blocks: Function = Fused(
    "dequantize_blocks", operands=("blocks",), params=("format", "to"),
    normal=_normal_dequantize, ulps=0,
    doc="The numbers that blocks stand for.", ref=references.dequantize,
    samples=[*(case((3, 2 * of.bytes), format=of.name, to=float32.id) for of in FORMATS.values()),
             case((2, 18), format="q4_0", to=float64.id),
             case((5, 34), format="q8_0", to=float16.id),
             case((2, 0), format="q6_k", to=float32.id),
             case((2, 3, 20), format="q4_1", to=float32.id)],
    errors=[case((2, 33), format="q8_0", to=float32.id, dtype="uint8", match="rows of 33 bytes"),
            case((2, 34), format="q9", to=float32.id, dtype="uint8", match="format is 'q9'"),
            case((), format="q8_0", to=float32.id, dtype="uint8", match="blocks.ndim is 0"),
            case((2, 34), format="q8_0", to=float32.id, match="blocks of float32")],
).function  # fmt: skip

quantize_blocks: Function = Fused(
    "quantize_blocks", operands=("x",), params=("format",), normal=_normal_quantize, ulps=0,
    doc="Numbers as blocks that share a scale.", ref=references.quantize,
    samples=[case((3, 64), format="q8_0"), case((2, 2, 32), format="q4_0"),
             case((0, 32), format="q4_0"), case((96,), format="q8_0"), case((2, 0), format="q8_0")],
    errors=[case((3, 33), format="q8_0", match="the last axis of x is 33"),
            case((3, 32), format="q4_1", match="q4_1 cannot be made"),
            case((), format="q8_0", match="x.ndim is 0"),
            case((3, 32), format="q8_0", dtype="int64", match="not defined for int64")],
).function  # fmt: skip

block_product: Function = Fused(
    "block_product", operands=("x", "blocks", "bias"), optional=("bias",),
    params=("format", "is_exact"), normal=_normal_product,
    vjp=(lambda g, blocks, format: block_product_back(g, blocks, format), None, lambda g: g),
    doc="x @ w.T + bias, where w is of blocks. float32 is made int8 first unless it is_exact.",
    ref=references.block_product,
    samples=[*(case((3, 2 * of.elements), sampled(of.name, 5, 2), None, **_params(of.name))
               for of in FORMATS.values()),
             case((2, 3, 64), sampled("q8_0", 18, 2), (18,), **_params("q8_0")),
             case((64,), sampled("q4_0", 9, 2), (9,), **_params("q4_0")),
             case((4, 256), sampled("q6_k", 3, 1), (3,), format="q6_k", is_exact=True),
             case((0, 32), sampled("q8_0", 4, 1), None, **_params("q8_0")),
             case((2, 0), zeros((3, 0), dtype=uint8), (3,), **_params("q5_1")),
             case((2, 32), zeros((0, 34), dtype=uint8), None, **_params("q8_0"))],
    errors=[case((3, 64), sampled("q8_0", 5, 1), None, **_params("q8_0"),
                 match="x has 64 features, and weight takes 32"),
            case((3, 32), sampled("q8_0", 5, 1), (4,), **_params("q8_0"),
                 match=r"bias has shape \(4,\)"),
            case((), sampled("q8_0", 5, 1), None, **_params("q8_0"), match="x.ndim is 0"),
            case((3, 32), zeros(34, dtype=uint8), None, **_params("q8_0"),
                 match="blocks.ndim is 1"),
            case((3, 32), zeros((5, 34)), None, **_params("q8_0"), match="blocks of float32"),
            case((3, 32), zeros((5, 35), dtype=uint8), None, **_params("q8_0"),
                 match="rows of 35 bytes, and a block of q8_0 has 34"),
            case((3, 32), sampled("q8_0", 5, 1), None, **_params("Q8_0"),
                 match="format is 'Q8_0'"),
            case((3, 32), sampled("q8_0", 5, 1), None, **_params("q8_0"), dtype="float16",
                 match="not defined for float16")],
).function  # fmt: skip

block_product_back: Function = Fused(
    "block_product_back", operands=("dout", "blocks"), params=("format",), normal=_normal_back,
    vjp=(lambda g, blocks, format: block_product(g, blocks, None, format, True), None),
    doc="dout @ w, where w is of blocks: the gradient of block_product.",
    ref=references.block_product_back,
    samples=[*(case((3, 5), sampled(of.name, 5, 2), format=of.name) for of in FORMATS.values()),
             case((2, 3, 18), sampled("q8_0", 18, 2), format="q8_0"),
             case((9,), sampled("q4_0", 9, 2), format="q4_0"),
             case((2, 0), zeros((0, 34), dtype=uint8), format="q8_0"),
             case((0, 4), sampled("q8_0", 4, 1), format="q8_0"),
             case((2, 3), zeros((3, 0), dtype=uint8), format="q8_0")],
    errors=[case((3, 4), sampled("q8_0", 5, 1), format="q8_0", match=r"dout.shape is \(3, 4\)"),
            case((3, 5), zeros(34, dtype=uint8), format="q8_0", match="blocks.ndim is 1")],
).function  # fmt: skip
