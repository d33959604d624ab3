"""Blocks of quantised numbers by their definitions, in NumPy: what the tests compare with."""

from __future__ import annotations

from tessella.blocks import FORMATS
from tessella.dtypes import DTYPES, float32
from tessella.hints import Any

_FIVE = 16  # what the fifth bit of a code counts
_TWO_BITS = 3


def _halves(np: Any, bytes: Any) -> Any:
    """Give pairs of bytes as float16, in float32."""
    return np.ascontiguousarray(bytes).view(np.float16).astype(np.float32)


def _nibbles(np: Any, bytes: Any) -> Any:
    """Give the low halves of bytes, and behind them the high ones."""
    return np.concatenate([bytes & 15, bytes >> 4], axis=-1).astype(np.int32)


def _small(np: Any, b: Any, format: str) -> Any:
    """Give the numbers of blocks (n, bytes) of 32."""
    d = _halves(np, b[:, :2])
    if format == "q8_0":
        return d * b[:, 2:].view(np.int8).astype(np.float32)
    q = _nibbles(np, b[:, -16:])
    if format in ("q5_0", "q5_1"):
        bits = np.unpackbits(b[:, -20:-16], axis=-1, bitorder="little")
        q = q + _FIVE * bits
    if format in ("q4_1", "q5_1"):
        return d * q.astype(np.float32) + _halves(np, b[:, 2:4])
    return d * (q - (8 if format == "q4_0" else 16)).astype(np.float32)


def _factors(np: Any, bytes: Any) -> tuple[Any, Any]:
    """Unpack 12 bytes: eight factors and eight weights of six bits."""
    first, second, third = bytes[:, :4], bytes[:, 4:8], bytes[:, 8:]
    factors = [first & 63, (third & 15) | (first >> 6 << 4)]
    weights = [second & 63, (third >> 4) | (second >> 6 << 4)]
    return (np.concatenate(factors, 1).astype(np.float32),
            np.concatenate(weights, 1).astype(np.float32))  # fmt: skip


def _large(np: Any, b: Any, format: str) -> Any:
    """Give the numbers of blocks (n, bytes) of 256."""
    n = len(b)
    if format == "q6_k":
        low, high = b[:, :128].reshape(n, 2, 2, 32), b[:, 128:192].reshape(n, 2, 32)
        low = np.concatenate([low & 15, low >> 4], axis=2).astype(np.int32)
        parts = [(high >> shift) & _TWO_BITS for shift in (0, 2, 4, 6)]
        q = low + 16 * np.stack(parts, axis=2).astype(np.int32) - 32
        scale = _halves(np, b[:, 208:]) * b[:, 192:208].view(np.int8).astype(np.float32)
        return (scale[..., None] * q.reshape(n, 16, 16).astype(np.float32)).reshape(n, 256)
    factors, weights = _factors(np, b[:, 4:16])
    q = b[:, -128:].reshape(n, 4, 1, 32)
    q = np.concatenate([q & 15, q >> 4], axis=2).reshape(n, 8, 32).astype(np.int32)
    if format == "q5_k":
        q = q + _FIVE * ((b[:, None, 16:48] >> np.arange(8, dtype=np.uint8)[:, None]) & 1)
    scale, minimum = _halves(np, b[:, :2]) * factors, _halves(np, b[:, 2:4]) * weights
    return (scale[..., None] * q.astype(np.float32) - minimum[..., None]).reshape(n, 256)


def dequantize(np: Any, blocks: Any, format: str, to: int = float32.id) -> Any:
    """Give the numbers of rows of blocks."""
    of = FORMATS[format]
    rows = np.ascontiguousarray(blocks.astype(np.uint8)).reshape(-1, of.bytes)
    found = (_small if of.elements == 32 else _large)(np, rows, format)
    size = blocks.shape[-1] // of.bytes * of.elements
    kept = DTYPES[to].name
    held = found.reshape(*blocks.shape[:-1], size)
    return held if kept == "bfloat16" else held.astype(kept)


def quantize(np: Any, x: Any, format: str) -> Any:
    """Give rows of blocks."""
    x32 = x.astype(np.float32).reshape(-1, 32)
    if format == "q8_0":
        d = np.abs(x32).max(1, keepdims=True, initial=0) / np.float32(127)
        size = np.abs(x32) * np.where(d == 0, 0, 1 / d).astype(np.float32)
        q = np.sign(x32) * (np.floor(size) + np.floor(2 * (size - np.floor(size))))
        codes = q.astype(np.int8).view(np.uint8)
    else:
        places = np.abs(x32).argmax(1)[:, None]
        d = np.take_along_axis(x32, places, 1) / np.float32(-8)
        inverse = np.where(d == 0, 0, 1 / d).astype(np.float32)
        q = (x32.astype(np.float64) * inverse.astype(np.float64) + 8.5).astype(np.float32)
        q = np.minimum(q.astype(np.int32), 15).astype(np.uint8)
        codes = q[:, :16] | q[:, 16:] << 4
    out = np.concatenate([d.astype(np.float16).view(np.uint8), codes], axis=1)
    size = x.shape[-1] // FORMATS[format].elements * FORMATS[format].bytes
    return out.reshape(*x.shape[:-1], size)


def coded(np: Any, x: Any, elements: int) -> tuple[Any, Any]:
    """Give rows of x as products take them: codes (…, blocks, elements), scales (…, blocks)."""
    x = x.astype(np.float32).reshape(*x.shape[:-1], x.shape[-1] // elements, elements)
    scale = np.abs(x).max(-1, initial=0) / np.float32(127)
    least = np.finfo(np.float32).tiny
    is_small = scale < least
    inverse = np.where(is_small, 0, 1 / np.where(is_small, 1, scale)).astype(np.float32)
    return np.rint(x * inverse[..., None]).astype(np.int32), scale


def block_product(np: Any, x: Any, blocks: Any, bias: Any, format: str, is_exact: bool,
                  inside: Any = None) -> Any:  # fmt: skip
    """Give x @ w.T + bias, where float32 is made int8 first."""
    w = dequantize(np, blocks, format).astype(x.dtype)
    if inside is float32 and not is_exact:
        codes, scale = coded(np, x, FORMATS[format].elements)
        x = (codes * scale[..., None].astype(x.dtype)).reshape(x.shape)
    out = x @ w.T
    return out if bias is None else out + bias


def block_product_back(np: Any, dout: Any, blocks: Any, format: str) -> Any:
    """Give dout @ w."""
    return dout @ dequantize(np, blocks, format).astype(dout.dtype)
