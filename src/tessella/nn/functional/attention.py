"""Attention: means of values, weighted by how well queries fit keys.

A composite. Halves are computed in float32 and rounded at the end.
"""

from __future__ import annotations

import math

from tessella import _core, errors
from tessella._core import Tensor
from tessella.composites import composite
from tessella.declarations import case
from tessella.dtypes import boolean, float32
from tessella.hints import Any
from tessella.kinds import cast
from tessella.nn import sequence_errors
from tessella.nn.functional.dropout import dropout
from tessella.ops.composite import tril
from tessella.ops.creation import ones
from tessella.ops.elementwise import equal, logical_not, where
from tessella.ops.fused import softmax
from tessella.ops.matmul import matmul
from tessella.ops.movement import reshape, transpose, unsqueeze
from tessella.ops.reduce import all


def _attention_ref(np: Any, q: Any, k: Any, v: Any, attn_mask: Any = None, dropout_p: float = 0.0,
                   is_causal: bool = False, scale: float | None = None,
                   enable_gqa: bool = False) -> Any:  # fmt: skip
    if enable_gqa:
        k, v = (np.repeat(x, q.shape[-3] // x.shape[-3], axis=-3) for x in (k, v))
    logits = q @ np.swapaxes(k, -1, -2) * (1 / np.sqrt(q.shape[-1]) if scale is None else scale)
    if is_causal:
        logits = np.where(np.tri(*logits.shape[-2:], dtype=bool), logits, -np.inf)
    if attn_mask is not None:
        logits = logits + attn_mask
    e = np.exp(logits - logits.max(axis=-1, keepdims=True, initial=-1e30))
    return e / e.sum(axis=-1, keepdims=True) @ v


_Q, _K, _V = (2, 3, 4), (2, 5, 4), (2, 5, 6)


@composite(
    home="nn.functional", is_method=False, ref=_attention_ref, ulps=32,
    samples=[case(_Q, _K, _V), case((3, 4), (5, 4), (5, 6)), case(_Q, _K, _V, is_causal=True),
             case(_Q, _K, _V, (3, 5)), case(_Q, _K, _V, (2, 1, 5), scale=0.5),
             case((2, 4, 3, 4), (2, 2, 5, 4), (2, 2, 5, 6), enable_gqa=True),
             case((2, 3, 3, 4), (3, 5, 4), (5, 6)), case((2, 0, 4), _K, _V)],
    errors=[case((4,), _K, _V, match="query.ndim is 1"),
            case((2, 3, 7), _K, _V, match="query has 7 features, and key 4"),
            case(_Q, _K, (2, 4, 6), match="key has 5 places, and value 4"),
            case(_Q, (3, 5, 4), _V, match="do not broadcast"),
            case(_Q, _K, _V, (4, 5), match=r"attn_mask is \(4, 5\)"),
            case(_Q, _K, _V, (7, 3, 5), match=r"attn_mask is \(7, 3, 5\)"),
            case(_Q, _K, _V, (3, 5), is_causal=True, match="attn_mask and is_causal"),
            case(_Q, _K, _V, dropout_p=1.5, match="dropout_p is 1.5"),
            case((3, 4), (5, 4), (5, 6), enable_gqa=True, match="query.ndim is 2"),
            case((2, 4, 3, 4), (2, 3, 5, 4), (2, 3, 5, 6), enable_gqa=True,
                 match="4 heads of queries cannot share 3 of keys"),
            case(_Q, _K, _V, dtype="int64", match="not defined for int64")],
)  # fmt: skip
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Give softmax(query @ key.T * scale + mask) @ value over the last two axes.

    A mask of bools is True where a query may look, one of floats is added to the products; both
    broadcast to (…, queries, keys). A query that may look nowhere gets zeros. `is_causal` lets
    query i look at keys up to i. `scale` is 1 / sqrt(features) unless it is given. `enable_gqa`
    lets several heads of queries (axis -3) share one of keys and values. Dropout is applied
    whatever the mode of a module.

    >>> q, k = ts.zeros(1, 2), ts.zeros(2, 2)
    >>> nn.functional.scaled_dot_product_attention(q, k, ts.tensor([[1.0], [3.0]])).tolist()
    [[2.0]]
    """
    check_operands(query, key, value)
    if not 0 <= dropout_p <= 1:
        raise errors.wrong_value("dropout_p", dropout_p, "from 0 to 1")
    weights = attention_weights(query, key, attn_mask, is_causal, scale, enable_gqa)
    return weighted(dropout(weights, dropout_p), value, enable_gqa)


def check_operands(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Require floats of one dtype, and sizes that fit."""
    for name, x in (("query", query), ("key", key), ("value", value)):
        if not x.dtype.is_floating:
            raise errors.no_kernel(x.dtype, f"{name} must hold floats: {name}.astype(ts.float32)")
        if x.dtype is not query.dtype:
            raise sequence_errors.attention_dtypes(name, x.dtype, query.dtype)
        if x.ndim < 2:
            raise errors.wrong_value(f"{name}.ndim", x.ndim, "at least 2: (…, places, features)")
    if query.shape[-1] != key.shape[-1]:
        raise sequence_errors.attention_features(query.shape[-1], key.shape[-1])
    if key.shape[-2] != value.shape[-2]:
        raise sequence_errors.attention_places(key.shape[-2], value.shape[-2])


def attention_weights(
    query: Tensor,
    key: Tensor,
    mask: Tensor | None,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool = False,
) -> Tensor:
    """Give the weights (…, queries, keys), which sum to 1; 0 where a query may look nowhere.

    They are float32 for halves.
    """
    if query.dtype.itemsize < float32.itemsize:
        query, key = cast(query, float32), cast(key, float32)
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1]) if query.shape[-1] else 1.0
    logits = _products(query * scale, transpose(key, -1, -2), enable_gqa)
    if is_causal:
        if mask is not None:
            raise sequence_errors.two_masks()
        mask = tril(ones(logits.shape[-2:], dtype=boolean))
        return softmax(where(mask, logits, -math.inf), axis=-1)
    if mask is None:
        return softmax(logits, axis=-1)
    _check_mask(mask, query, logits)
    # A row without any place is computed without the mask, so that it has no NaN to pass on.
    if mask.dtype is boolean:
        is_lost = all(logical_not(mask), axis=-1, keepdims=True)
        logits = where(mask | is_lost, logits, -math.inf)
    else:
        is_lost = all(equal(mask, -math.inf), axis=-1, keepdims=True)
        logits = logits + where(is_lost, 0, mask)
    return where(is_lost, 0, softmax(logits, axis=-1))


def _check_mask(mask: Tensor, query: Tensor, logits: Tensor) -> None:
    if mask.dtype not in (boolean, float32, query.dtype):
        raise sequence_errors.mask_dtype(mask.dtype, query.dtype)
    try:
        is_fitting = tuple(_core.broadcast_shapes(mask.shape, logits.shape)) == logits.shape
    except errors.TessellaError:
        is_fitting = False
    if not is_fitting:
        raise sequence_errors.mask_shape(mask.shape, logits.shape)


def weighted(weights: Tensor, value: Tensor, enable_gqa: bool = False) -> Tensor:
    """Give the means of values (…, places, features) by their weights, in the dtype of values."""
    return cast(_products(weights, cast(value, weights.dtype), enable_gqa), value.dtype)


def _products(x: Tensor, y: Tensor, is_grouped: bool) -> Tensor:
    """Multiply matrices; grouped, several heads of x (axis -3) have one of y in common."""
    if not is_grouped:
        return matmul(x, y)
    for name, operand in (("query", x), ("key", y)):
        if operand.ndim < 3:
            rule = "at least 3: (…, heads, places, features)"
            raise errors.wrong_value(f"{name}.ndim", operand.ndim, rule)
    heads, shared = x.shape[-3], y.shape[-3]
    if shared == 0 or heads % shared:
        raise sequence_errors.attention_heads(heads, shared)
    groups = reshape(x, (*x.shape[:-3], shared, heads // shared, *x.shape[-2:]))
    out = matmul(groups, unsqueeze(y, -3))
    return reshape(out, (*out.shape[:-4], heads, *out.shape[-2:]))
