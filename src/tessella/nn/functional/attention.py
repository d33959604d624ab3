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
from tessella.limits import limited
from tessella.nn import sequence_errors
from tessella.nn.functional.dropout import dropout
from tessella.ops.composite import tril
from tessella.ops.creation import arange, full, ones
from tessella.ops.elementwise import equal, less, logical_not, where
from tessella.ops.fused import softmax
from tessella.ops.matmul import matmul
from tessella.ops.movement import reshape, transpose, unsqueeze
from tessella.ops.reduce import all


def _attention_ref(np: Any, q: Any, k: Any, v: Any, attn_mask: Any = None, dropout_p: float = 0.0,
                   is_causal: bool = False, scale: float | None = None,
                   enable_gqa: bool = False, lengths: Any = None) -> Any:  # fmt: skip
    if lengths is not None:
        return _lengths_ref(np, q, k, v, attn_mask, is_causal, scale, enable_gqa, lengths)
    if enable_gqa:
        k, v = (np.repeat(x, q.shape[-3] // x.shape[-3], axis=-3) for x in (k, v))
    logits = q @ np.swapaxes(k, -1, -2) * (1 / np.sqrt(q.shape[-1]) if scale is None else scale)
    if is_causal:
        logits = np.where(np.tri(*logits.shape[-2:], dtype=bool), logits, -np.inf)
    if attn_mask is not None:
        logits = logits + attn_mask
    e = np.exp(logits - logits.max(axis=-1, keepdims=True, initial=-1e30))
    return e / e.sum(axis=-1, keepdims=True) @ v


def _lengths_ref(np: Any, q: Any, k: Any, v: Any, mask: Any, is_causal: bool, scale: Any,
                 enable_gqa: bool, lengths: Any) -> Any:  # fmt: skip
    """Attention over keys and values that are cut off, one row of the batch at a time."""
    if np.ndim(lengths):
        rows = [_lengths_ref(np, *row[:3], mask, is_causal, scale, enable_gqa, row[3])
                for row in zip(q, k, v, lengths, strict=True)]  # fmt: skip
        return np.stack(rows)
    n, t = int(lengths), q.shape[-2]
    k, v = k[..., :n, :], v[..., :n, :]
    mask = None if mask is None else mask[..., :n]
    if is_causal:
        mask = np.where(np.arange(n) < np.arange(n - t + 1, n + 1)[:, None], 0, -np.inf)
    return _attention_ref(np, q, k, v, mask, 0.0, False, scale, enable_gqa)


_Q, _K, _V = (2, 3, 4), (2, 5, 4), (2, 5, 6)


@composite(
    home="nn.functional", is_method=False, ref=_attention_ref, ulps=32,
    samples=[case(_Q, _K, _V), case((3, 4), (5, 4), (5, 6)), case(_Q, _K, _V, is_causal=True),
             case(_Q, _K, _V, (3, 5)), case(_Q, _K, _V, (2, 1, 5), scale=0.5),
             case((2, 4, 3, 4), (2, 2, 5, 4), (2, 2, 5, 6), enable_gqa=True),
             case((2, 3, 3, 4), (3, 5, 4), (5, 6)), case((2, 0, 4), _K, _V),
             case(_Q, _K, _V, lengths=full((), 4)), case(_Q, _K, _V, lengths=arange(3, 5)),
             case(_Q, _K, _V, is_causal=True, lengths=arange(3, 5)),
             case(_Q, _K, _V, (3, 5), lengths=full((), 2)),
             case((2, 4, 1, 4), (2, 2, 5, 4), (2, 2, 5, 6), enable_gqa=True, is_causal=True,
                  lengths=arange(1, 3))],
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
            case(_Q, _K, _V, lengths=full((), 6), match="a length is 6, of 5 places"),
            case(_Q, _K, _V, lengths=arange(-1, 1), match="a length is -1, of 5 places"),
            case(_Q, _K, _V, lengths=arange(3), match=r"lengths is \(3,\)"),
            case((3, 4), (5, 4), (5, 6), lengths=arange(1), match=r"lengths is \(1,\)"),
            case(_Q, _K, _V, lengths=ones(()), match="lengths is float32"),
            case(_Q, _K, _V, (3, 5), is_causal=True, lengths=full((), 2), match="attn_mask and is"),
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
    lengths: Tensor | None = None,
) -> Tensor:
    """Give softmax(query @ key.T * scale + mask) @ value over the last two axes.

    A mask of bools is True where a query may look, one of floats is added to the products; both
    broadcast to (…, queries, keys). A query that may look nowhere gets zeros. `is_causal` lets
    query i look at keys up to i. `scale` is 1 / sqrt(features) unless it is given. `enable_gqa`
    lets several heads of queries (axis -3) share one of keys and values. Dropout is applied
    whatever the mode of a module.

    `lengths` says how many keys and values there are, where their tensors have room for more: an
    integer tensor, 0-d or with a number for each row of the batch (the first axis). What lies
    behind does not count, whatever it is, and with no key at all a query gets zeros. `is_causal`
    then takes the queries for the last ones: of T, query i looks at the first n - T + i + 1 keys.
    Key and value cut to their lengths give the same but for last bits.

    >>> q, k = ts.zeros(1, 2), ts.zeros(2, 2)
    >>> nn.functional.scaled_dot_product_attention(q, k, ts.tensor([[1.0], [3.0]])).tolist()
    [[2.0]]
    >>> room, n = ts.tensor([[1.0], [3.0], [9.0], [9.0]]), ts.tensor(2)
    >>> nn.functional.scaled_dot_product_attention(q, ts.zeros(4, 2), room, lengths=n).tolist()
    [[2.0]]
    """
    check_operands(query, key, value)
    if not 0 <= dropout_p <= 1:
        raise errors.wrong_value("dropout_p", dropout_p, "from 0 to 1")
    seen = None
    if lengths is not None:
        lengths = spread_lengths(lengths, query, key)
        seen = seen_keys(lengths, query.shape[-2], key.shape[-2], is_causal)
        key, value = within(lengths, key, value, _core.needs_node(query, key, value))
        if is_causal and attn_mask is not None:
            raise sequence_errors.two_masks()
        is_causal = False
    weights = attention_weights(query, key, attn_mask, is_causal, scale, enable_gqa, seen)
    return weighted(dropout(weights, dropout_p), value, enable_gqa)


def spread_lengths(lengths: Tensor, query: Tensor, key: Tensor) -> Tensor:
    """Give lengths as int64 over (batch, …, 1, 1), or 0-d; raise for one that is no length."""
    if not lengths.dtype.is_integer:
        raise sequence_errors.lengths_dtype(lengths.dtype)
    ndim, places = max(query.ndim, key.ndim), key.shape[-2]
    batch = max(x.shape[0] if x.ndim == ndim else 1 for x in (query, key)) if ndim > 2 else 0
    if lengths.ndim and lengths.shape != (batch,):
        raise sequence_errors.lengths_shape(lengths.shape, batch)
    checked = limited(lengths, 0, places, lambda n: sequence_errors.wrong_length(n, places))
    return reshape(checked, (batch,) + (1,) * (ndim - 1)) if lengths.ndim else checked


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
    seen: Tensor | None = None,
) -> Tensor:
    """Give the weights (…, queries, keys), which sum to 1; 0 where a query may look nowhere.

    They are float32 for halves. What is not seen is hidden beside what the mask hides.
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
    if mask is not None:
        _check_mask(mask, query, logits)
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
