"""Attention in plain operations: the reference of the fused one, and what that does not do.

Halves are computed in float32 and rounded at the end. What operands must be like stands here, too.
"""

from __future__ import annotations

import math

from tessella import _core, errors
from tessella._core import Tensor
from tessella.dtypes import DType, boolean, float32
from tessella.hints import Sequence
from tessella.kinds import cast
from tessella.limits import limited
from tessella.nn import sequence_errors
from tessella.nn.functional.dropout import dropout
from tessella.ops.composite import tril
from tessella.ops.creation import arange, ones
from tessella.ops.elementwise import equal, less, logical_not, where
from tessella.ops.fused import softmax
from tessella.ops.matmul import matmul
from tessella.ops.movement import reshape, transpose, unsqueeze
from tessella.ops.reduce import all

# --- operands -------------------------------------------------------------------------------------


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


def batch_of(query: Sequence[int], key: Sequence[int], is_grouped: bool) -> tuple[int, ...]:
    """Give the axes before the matrices, from two shapes; grouped, the query's heads are more."""
    if not is_grouped:
        batch = tuple(query[:-2])
        try:
            return batch if batch == key[:-2] else tuple(_core.broadcast_shapes(batch, key[:-2]))
        except errors.TessellaError as error:
            has_heads = len(query) > 2 and len(key) > 2 and query[-3] > key[-3] > 1
            if has_heads and query[-3] % key[-3] == 0:
                error.hint = sequence_errors.GROUPED
            raise
    for name, shape in (("query", query), ("key", key)):
        if len(shape) < 3:
            rule = "at least 3: (…, heads, places, features)"
            raise errors.wrong_value(f"{name}.ndim", len(shape), rule)
    heads, shared = query[-3], key[-3]
    if shared == 0 or heads % shared:
        raise sequence_errors.attention_heads(heads, shared)
    return (*_core.broadcast_shapes(query[:-3], key[:-3]), heads)


def check_mask(mask: Tensor, dtype: DType, logits: tuple[int, ...]) -> None:
    """Require bools, or floats that fit queries of a dtype; they broadcast to the logits."""
    if mask.dtype not in (boolean, float32, dtype):
        raise sequence_errors.mask_dtype(mask.dtype, dtype)
    try:
        is_fitting = tuple(_core.broadcast_shapes(mask.shape, logits)) == logits
    except errors.TessellaError:
        is_fitting = False
    if not is_fitting:
        raise sequence_errors.mask_shape(mask.shape, logits)


def check_lengths(lengths: Tensor, query: Tensor, key: Tensor) -> None:
    """Require integers: one, or one for each row of the batch."""
    if not lengths.dtype.is_integer:
        raise sequence_errors.lengths_dtype(lengths.dtype)
    ndim = max(query.ndim, key.ndim)
    batch = max(x.shape[0] if x.ndim == ndim else 1 for x in (query, key)) if ndim > 2 else 0
    if lengths.ndim and lengths.shape != (batch,):
        raise sequence_errors.lengths_shape(lengths.shape, batch)


def limited_lengths(lengths: Tensor, query: Tensor, key: Tensor) -> Tensor:
    """Give lengths as int64; raise for one that is no length."""
    check_lengths(lengths, query, key)
    places = key.shape[-2]
    return limited(lengths, 0, places, lambda n: sequence_errors.wrong_length(n, places))


def scale_of(query: Tensor, scale: float | None) -> float:
    """Give what products are multiplied by: 1 / sqrt(features), unless it is given."""
    if scale is not None:
        return float(scale)
    return 1 / math.sqrt(query.shape[-1]) if query.shape[-1] else 1.0


# --- parts ----------------------------------------------------------------------------------------


def attention_composite(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    lengths: Tensor | None,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
    dropout_p: float = 0.0,
) -> Tensor:
    """Compose attention of its parts; lengths have been checked."""
    seen = None
    if lengths is not None:
        if lengths.ndim:
            lengths = reshape(lengths, (-1,) + (1,) * (max(query.ndim, key.ndim) - 1))
        seen = seen_keys(lengths, query.shape[-2], key.shape[-2], is_causal)
        key, value = within(lengths, key, value, _core.needs_node(query, key, value))
        if is_causal and attn_mask is not None:
            raise sequence_errors.two_masks()
        is_causal = False
    weights = attention_weights(query, key, attn_mask, is_causal, scale, enable_gqa, seen)
    return weighted(dropout(weights, dropout_p), value, enable_gqa)


def seen_keys(lengths: Tensor, queries: int, keys: int, is_causal: bool) -> Tensor:
    """Tell which keys count, (…, 1, keys), or for causal attention (…, queries, keys)."""
    if is_causal and queries != 1:  # the only query is the last, and looks at all
        lengths = lengths - queries + 1 + unsqueeze(arange(queries), -1)
    return less(arange(keys), lengths)


def within(
    lengths: Tensor, key: Tensor, value: Tensor, needs_gradient: bool
) -> tuple[Tensor, Tensor]:
    """Put zeros behind the lengths: a weight of 0 would not hide NaN there.

    Products of keys are hidden, but by their gradients keys are multiplied once more.
    """
    is_inside = less(unsqueeze(arange(key.shape[-2]), -1), lengths)
    return where(is_inside, key, 0) if needs_gradient else key, where(is_inside, value, 0)


def attention_weights(
    query: Tensor,
    key: Tensor,
    mask: Tensor | None,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool = False,
    seen: Tensor | None = None,
) -> Tensor:
    """Give the weights (…, queries, keys), which sum to 1; 0 where a query may look nowhere.

    They are float32 for halves. What is not seen is hidden beside what the mask hides.
    """
    dtype = query.dtype
    if dtype.itemsize < float32.itemsize:
        query, key = cast(query, float32), cast(key, float32)
    logits = _products(query * scale_of(query, scale), transpose(key, -1, -2), enable_gqa)
    if is_causal:
        if mask is not None:
            raise sequence_errors.two_masks()
        mask = tril(ones(logits.shape[-2:], dtype=boolean))
        return softmax(where(mask, logits, -math.inf), axis=-1)
    if mask is not None:
        check_mask(mask, dtype, logits.shape)
    if seen is not None:
        mask = seen if mask is None else _joined(mask, seen)
    if mask is None:
        return softmax(logits, axis=-1)
    # A row without any place is computed without the mask, so that it has no NaN to pass on.
    if mask.dtype is boolean:
        is_lost = all(logical_not(mask), axis=-1, keepdims=True)
        logits = where(mask | is_lost, logits, -math.inf)
    else:
        is_lost = all(equal(mask, -math.inf), axis=-1, keepdims=True)
        logits = logits + where(is_lost, 0, mask)
    return where(is_lost, 0, softmax(logits, axis=-1))


def _joined(mask: Tensor, seen: Tensor) -> Tensor:
    return mask & seen if mask.dtype is boolean else where(seen, mask, -math.inf)


def weighted(weights: Tensor, value: Tensor, enable_gqa: bool = False) -> Tensor:
    """Give the means of values (…, places, features) by their weights, in the dtype of values."""
    return cast(_products(weights, cast(value, weights.dtype), enable_gqa), value.dtype)


def _products(x: Tensor, y: Tensor, is_grouped: bool) -> Tensor:
    """Multiply matrices; grouped, several heads of x (axis -3) have one of y in common."""
    if not is_grouped:
        return matmul(x, y)
    batch_of(x.shape, y.shape, is_grouped)
    heads, shared = x.shape[-3], y.shape[-3]
    groups = reshape(x, (*x.shape[:-3], shared, heads // shared, *x.shape[-2:]))
    out = matmul(groups, unsqueeze(y, -3))
    return reshape(out, (*out.shape[:-4], heads, *out.shape[-2:]))
