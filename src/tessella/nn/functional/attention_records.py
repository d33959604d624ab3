"""The records of attention: its result, and the gradients of queries, keys and values.

Each is one kernel that never holds more than a tile of scores. They have no rules of their own:
attention.py records a call as one operation whose gradients are those of `attention_back`, and
differentiates the composite where those are differentiated again.
"""

from __future__ import annotations

import math

from tessella import errors
from tessella._core import Function, Tensor
from tessella.declarations import case
from tessella.dtypes import DType, boolean, float32, int64
from tessella.fusions import Fused, settled
from tessella.hints import Any
from tessella.kinds import cast
from tessella.nn import sequence_errors
from tessella.nn.functional.attention_composite import (
    batch_of,
    check_lengths,
    check_mask,
    check_operands,
)
from tessella.ops.creation import arange, empty, full
from tessella.ops.elementwise import where
from tessella.tensors import clone, tensor


def computed(dtype: DType) -> DType:
    """Give the dtype that attention is computed in."""
    return float32 if dtype.itemsize < float32.itemsize else dtype


def result_shape(query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool) -> tuple[int, ...]:
    """Give the shape of the result: (…, queries, features of values)."""
    batch = batch_of(query.shape, key.shape, enable_gqa)
    batch = batch_of((*batch, 1, 1), value.shape, enable_gqa)
    return (*batch, query.shape[-2], value.shape[-1])


def kept_heads(query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool) -> tuple[int, ...]:
    """Give the axes of heads of keys and values: a group of heads of queries shares one."""
    batch = result_shape(query, key, value, enable_gqa)[:-2]
    is_shared = all(x.ndim < 3 or x.shape[-3] == 1 for x in (key, value))
    if enable_gqa:
        return (*batch[:-1], key.shape[-3])
    return (*batch[:-1], 1) if batch and is_shared else batch


def _in_rows(x: Tensor) -> Tensor:
    """Give a tensor whose last axis has adjacent elements; the others have any strides."""
    return x if x.shape[-1] < 2 or x.strides[-1] == 1 else clone(x)


def _normal(query: Tensor, key: Tensor, value: Tensor, attn_mask: Any, lengths: Any,
            is_causal: bool, scale: float, enable_gqa: bool,
            keeps: bool = False) -> list[Any]:  # fmt: skip
    """Require sizes that fit, and a mask and lengths that do."""
    check_operands(query, key, value)
    batch = batch_of(query.shape, key.shape, enable_gqa)
    result_shape(query, key, value, enable_gqa)
    if enable_gqa and key.shape[-3] != value.shape[-3]:
        raise sequence_errors.attention_shares(key.shape[-3], value.shape[-3])
    if attn_mask is not None:
        check_mask(attn_mask, query.dtype, (*batch, query.shape[-2], key.shape[-2]))
        if is_causal:
            raise sequence_errors.two_masks()
        if attn_mask.dtype is not boolean:
            attn_mask = cast(attn_mask, computed(query.dtype))
    if lengths is not None:
        check_lengths(lengths, query, key)
        heads = kept_heads(query, key, value, enable_gqa)
        if lengths.ndim and max(query.ndim, key.ndim) == 3 and heads[-1:] != batch[-1:]:
            raise sequence_errors.lengths_of_heads()
        lengths = settled(lengths, int64)
    return [*map(_in_rows, (query, key, value)), attn_mask, lengths]


def _normal_back(dout: Tensor, kept: Tensor, query: Tensor, key: Tensor, value: Tensor,
                 attn_mask: Any, lengths: Any, **params: Any) -> list[Any]:  # fmt: skip
    operands = _normal(query, key, value, attn_mask, lengths, **params)
    shape = result_shape(query, key, value, params["enable_gqa"])
    if dout.shape != shape:
        raise errors.wrong_value("dout.shape", dout.shape, f"that of the result, {shape}")
    size = math.prod(shape[:-1]) * (shape[-1] + 2)
    if kept.shape != (size,):
        raise errors.wrong_value("kept.shape", kept.shape, f"({size},): what attention kept")
    return [_in_rows(cast(dout, query.dtype)), settled(kept, computed(query.dtype)), *operands]


# --- references -----------------------------------------------------------------------------------


def _scores(np: Any, query: Any, key: Any, mask: Any, lengths: Any, is_causal: bool, scale: float,
            enable_gqa: bool) -> Any:  # fmt: skip
    """Give the scores, -infinity where a query may not look."""
    if enable_gqa:
        key = np.repeat(key, query.shape[-3] // key.shape[-3], axis=-3)
    scores = query @ np.swapaxes(key, -1, -2) * scale
    (queries, keys), n = scores.shape[-2:], key.shape[-2]
    if lengths is not None:
        n = np.reshape(lengths, (-1,) + (1,) * (scores.ndim - 1)) if np.ndim(lengths) else lengths
        scores = np.where(np.arange(keys) < n, scores, -np.inf)
    if is_causal:
        last = np.arange(queries)[:, None] + (0 if lengths is None else n - queries)
        scores = np.where(np.arange(keys) <= last, scores, -np.inf)
    if mask is not None:
        mask = np.asarray(mask)
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    return scores


def attention_ref(np: Any, query: Any, key: Any, value: Any, attn_mask: Any, lengths: Any,
                  is_causal: bool, scale: float, enable_gqa: bool, keeps: bool) -> Any:  # fmt: skip
    """Give attention with NumPy, for the tests."""
    scores = _scores(np, query, key, attn_mask, lengths, is_causal, scale, enable_gqa)
    value = np.repeat(value, query.shape[-3] // value.shape[-3], axis=-3) if enable_gqa else value
    most = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    most = np.where(np.isneginf(most), 1e30, most)  # a query that may look nowhere
    weights = np.exp(scores - most)
    total = weights.sum(axis=-1, keepdims=True)
    inverse = np.where(total == 0, 0, 1 / np.where(total == 0, 1, total))
    out = weights * inverse @ value
    if not keeps:
        return out
    spread = [np.broadcast_to(x, (*out.shape[:-1], 1)) for x in (most, inverse)]
    return np.concatenate([x.reshape(-1) for x in (out, *spread)])


def _back_ref(np: Any, dout: Any, kept: Any, query: Any, key: Any, value: Any, attn_mask: Any,
              lengths: Any, is_causal: bool, scale: float, enable_gqa: bool) -> Any:  # fmt: skip
    one = (*dout.shape[:-1], 1)
    parts = np.split(kept, [dout.size, dout.size + math.prod(one)])
    out, most, inverse = (
        x.reshape(to) for x, to in zip(parts, (dout.shape, one, one), strict=True)
    )
    scores = _scores(np, query, key, attn_mask, lengths, is_causal, scale, enable_gqa)
    weights = np.exp(scores - most) * inverse
    heads = key.shape[-3] if key.ndim > 2 else 1
    shares = heads == 1 and (value.ndim < 3 or value.shape[-3] == 1)
    if enable_gqa:
        key, value = (np.repeat(x, query.shape[-3] // heads, axis=-3) for x in (key, value))
    back = dout @ np.swapaxes(value, -1, -2)
    back = weights * (back - (dout * out).sum(axis=-1, keepdims=True)) * scale
    found = [back @ key, np.swapaxes(back, -1, -2) @ query, np.swapaxes(weights, -1, -2) @ dout]
    if len(shape := dout.shape) > 2 and (enable_gqa or shares):
        group = shape[-3] // heads
        found[1:] = (x.reshape(*x.shape[:-3], -1, group, *x.shape[-2:]).sum(-3) for x in found[1:])
    return np.concatenate([x.reshape(-1) for x in found])


# --- samples --------------------------------------------------------------------------------------


def _options(is_causal: bool = False, scale: float = 0.5, enable_gqa: bool = False,
             **more: Any) -> dict[str, Any]:  # fmt: skip
    return {"is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa, **more}


_Q, _K, _V = (2, 3, 4), (2, 5, 4), (2, 5, 6)
_LONG, _KEYS, _VALUES = (2, 70, 9), (2, 200, 9), (2, 200, 5)  # more than a tile, odd sizes
_HIDDEN = tensor([[True, True, False, True, False], [True] * 5, [False, True, False, True, True]])
_ADDED = where(_HIDDEN, tensor([0.5, -1.0, 0.25, 2.0, 0.0]), -math.inf)

_CALLS: list[tuple[list[Any], dict[str, Any]]] = [
    ([_Q, _K, _V, None, None], _options()),
    ([(3, 4), (5, 4), (5, 6), None, None], _options(scale=-0.25)),
    ([_Q, _K, _V, None, None], _options(is_causal=True)),
    ([_Q, _K, _V, _HIDDEN, None], _options()), ([_Q, _K, _V, _ADDED, None], _options()),
    ([_Q, _K, _V, (2, 1, 5), None], _options()),
    ([_Q, _K, _V, None, full((), 4)], _options()),
    ([_Q, _K, _V, None, arange(3, 5)], _options(is_causal=True)),
    ([_Q, _K, _V, (3, 1), arange(2, 4)], _options()),
    ([(2, 4, 3, 4), (2, 2, 5, 4), (2, 2, 5, 6), None, None], _options(enable_gqa=True)),
    ([(2, 4, 1, 4), (2, 2, 5, 4), (2, 2, 5, 6), None, arange(1, 3)],
     _options(enable_gqa=True, is_causal=True)),
    ([_LONG, _KEYS, _VALUES, None, None], _options(is_causal=True)),
    ([_LONG, _KEYS, _VALUES, (70, 200), full((), 150)], _options()),
    ([(4, 130, 33), (2, 130, 33), (2, 130, 17), None, None],
     _options(enable_gqa=True, is_causal=True)),
    ([(3, 70, 1), (1, 70, 1), (1, 70, 1), (3, 1, 70), None], _options()),
    ([(2, 0, 4), _K, _V, None, None], _options()),
    ([_Q, (2, 5, 4), (2, 5, 0), None, None], _options()),
]  # fmt: skip


def _pulled(call: tuple[list[Any], dict[str, Any]]) -> tuple[Any, Any, list[Any], dict[str, Any]]:
    """Give the shapes of a gradient and of what was kept, before those of the call."""
    operands, params = call
    query, key, value = (empty(shape) for shape in operands[:3])
    shape = result_shape(query, key, value, params["enable_gqa"])
    return shape, (math.prod(shape[:-1]) * (shape[-1] + 2),), operands, params


_WRONG: list[Any] = [
    case((4,), _K, _V, None, None, **_options(keeps=False), match="query.ndim is 1"),
    case((2, 3, 7), _K, _V, None, None, **_options(keeps=False), match="query has 7 features"),
    case(_Q, _K, (2, 4, 6), None, None, **_options(keeps=False), match="key has 5 places"),
    case(_Q, _K, (3, 5, 6), None, None, **_options(keeps=False), match="do not broadcast"),
    case(_Q, _K, _V, (4, 5), None, **_options(keeps=False), match=r"attn_mask is \(4, 5\)"),
    case(_Q, _K, _V, _HIDDEN, None, **_options(is_causal=True, keeps=False), match="both given"),
    case(_Q, _K, _V, None, arange(3), **_options(keeps=False), match=r"lengths is \(3,\)"),
    case(_Q, _K, _V, None, (2,), **_options(keeps=False), match="lengths is float32"),
    case((4, 3, 4), (1, 5, 4), (1, 5, 6), None, arange(4), **_options(keeps=False),
         match="lengths are given for heads that share keys"),
    case((4, 3, 4), (3, 5, 4), (3, 5, 6), None, None, **_options(enable_gqa=True, keeps=False),
         match="4 heads of queries cannot share 3"),
    case((4, 3, 4), (2, 5, 4), (4, 5, 6), None, None, **_options(enable_gqa=True, keeps=False),
         match="key has 2 heads, and value 4"),
    case(_Q, _K, _V, None, None, **_options(keeps=False), dtype="int64", match="not defined for"),
]  # fmt: skip

_OPERANDS = ("query", "key", "value", "attn_mask", "lengths")

attention: Function = Fused(
    "attention", operands=_OPERANDS, optional=_OPERANDS[3:],
    params=("is_causal", "scale", "enable_gqa", "keeps"), normal=_normal, ulps=32,
    domain=(-1, 1),  # rounding a score of 50 moves its exponential by more than 32 ulps
    no_gradient="a call is recorded whole",
    doc="Means of values, weighted by softmax(query @ key.T * scale). If keeps, flat: behind them "
        "stand for each query its greatest score, then 1 / the sum of exponentials.",
    ref=attention_ref,
    samples=[
        *[case(*operands, **params, keeps=False) for operands, params in _CALLS],
        *[case(*operands, **params, keeps=True) for operands, params in _CALLS[::3]],
        # One query that looks at many keys, which are parted; and one that looks nowhere.
        case((1, 3), (1500, 3), (1500, 2), None, None, **_options(), keeps=True),
        case((3, 1, 3), (1, 1500, 3), (1, 1500, 2), None, full((), 700), **_options(), keeps=False),
        case(_Q, _K, _V, tensor([[False], [True], [True]]), None, **_options(), keeps=False),
        case(_Q, (2, 0, 4), (2, 0, 6), None, None, **_options(), keeps=False),
    ],
    errors=_WRONG,
).function  # fmt: skip

_BACK = [([dout, kept, *operands], params) for dout, kept, operands, params in map(_pulled, _CALLS)]

attention_back: Function = Fused(
    "attention_back", operands=("dout", "kept", *_OPERANDS), optional=_OPERANDS[3:],
    params=("is_causal", "scale", "enable_gqa"), normal=_normal_back, domain=(-1, 1), ulps=32,
    no_gradient="a call is recorded whole",
    doc="The gradients of attention, from that of its result and what it kept: those of query, key "
        "and value, one behind the other, of each head of keys that there is.",
    ref=_back_ref, samples=[case(*operands, **params) for operands, params in _BACK],
    errors=[case((3,), (48,), _Q, _K, _V, None, None, **_options(), match=r"dout.shape is \(3,\)"),
            case((2, 3, 6), (36,), _Q, _K, _V, None, None, **_options(), match=r"kept.shape is"),
            case((2, 3, 6), (48,), _Q, (2, 5, 3), _V, None, None, **_options(),
                 match="query has 4 features")],
).function  # fmt: skip

del _HIDDEN, _ADDED, _CALLS, _BACK  # tensors of samples alone
