"""Attention: means of values, weighted by how well queries fit keys.

The kernels are those of attention_records.py; what they do not do, dropout and the gradient of a
mask, is the composite's. Halves are computed in float32 and rounded at the end.
"""

from __future__ import annotations

import math

from tessella import _core, errors
from tessella._core import Node, Tensor
from tessella.composites import composite
from tessella.declarations import case
from tessella.hints import Any
from tessella.kinds import cast
from tessella.nn.functional.attention_composite import (
    attention_composite,
    check_operands,
    limited_lengths,
    scale_of,
)
from tessella.nn.functional.attention_records import (
    attention,
    attention_back,
    kept_heads,
    result_shape,
)
from tessella.nn.functional.recomposed import pull
from tessella.ops.creation import arange, full, ones
from tessella.ops.movement import reshape
from tessella.ops.reduce import sum_to_shape


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
                  lengths=arange(1, 3)),
             case((18, 3), (140, 3), (140, 5)), case((70, 3), (70, 3), (70, 3), is_causal=True),
             case((4, 17, 3), (2, 70, 3), (2, 70, 2), (4, 1, 70), enable_gqa=True)],
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

    Products of queries and keys are computed a few at a time, and never held together, nor for
    gradients; but with dropout, and for the gradient of a mask.

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
    if lengths is not None:
        lengths = limited_lengths(lengths, query, key)
    operands = (query, key, value, attn_mask, lengths)
    if dropout_p or not _is_fused(query, key, value, lengths, enable_gqa):
        return attention_composite(*operands, is_causal, scale, enable_gqa, dropout_p)
    params = (is_causal, scale_of(query, scale), enable_gqa)
    leaves = (query, key, value, *([] if attn_mask is None else [attn_mask]))
    if _core.needs_node(*leaves):
        return _recorded(*operands, params)
    return attention(*operands, *params, False)


def _is_fused(
    query: Tensor, key: Tensor, value: Tensor, lengths: Tensor | None, enable_gqa: bool
) -> bool:
    """Tell whether the kernel does what is asked."""
    if (
        enable_gqa
        and min(query.ndim, key.ndim, value.ndim) > 2
        and key.shape[-3] != value.shape[-3]
    ):
        return False
    # Lengths of single heads, which share keys.
    is_headed = lengths is not None and lengths.ndim == 1 and max(query.ndim, key.ndim) == 3
    return not is_headed or query.shape[:-2] == key.shape[:-2]


# --- gradients ------------------------------------------------------------------------------------


class Recorded:
    """The record of calls that gradients flow through: what the engine asks for those."""

    name = "scaled_dot_product_attention"
    operands = ("query", "key", "value", "attn_mask")
    params: dict[str, Any] = {}
    saves = 0

    def __init__(self) -> None:
        self.function = _core.Function(
            self, self.name, "Attention.", "(query, key, value)", "none", 0, 0, True, False, None
        )

    def pull(self, node: Node, gradients: tuple[Any, ...]) -> list[Any]:
        """Give the gradients of query, key and value; and of the mask, if it asks for one."""
        kept, query, key, value, *more = _core.unpack_saved(node)
        said: dict[str, Any] = node.params
        options, params = said["options"], said["params"]
        mask, lengths = (more.pop(0) if is_given else None for is_given in options)
        (g,) = gradients
        if _core.is_grad_enabled() or node.params["is_learned"]:
            masks = [mask] if node.params["is_learned"] else []
            return pull(lambda q, k, v, m=mask: attention_composite(q, k, v, m, lengths, *params),
                        g, query, key, value, *masks)  # fmt: skip
        flat = attention_back(g, kept, query, key, value, mask, lengths, *params)
        heads = kept_heads(query, key, value, params[-1])
        found, start = [], 0
        for x, batch in ((query, g.shape[:-2]), (key, heads), (value, heads)):
            shape = (*batch, *x.shape[-2:])
            end = start + math.prod(shape)
            part = reshape(flat[start:end], shape)
            found.append(cast(part if shape == x.shape else sum_to_shape(part, x.shape), x.dtype))
            start = end
        return found


_RECORDED = Recorded()


def _recorded(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None,
              lengths: Tensor | None, params: tuple[Any, ...]) -> Tensor:  # fmt: skip
    """Compute, keep what the weights can be computed again from, and record the call."""
    kept = attention(query, key, value, mask, lengths, *params, True)
    shape = result_shape(query, key, value, params[-1])
    out = cast(reshape(kept[: math.prod(shape)], shape), query.dtype).detach()
    more = [x for x in (mask, lengths) if x is not None]
    options = (mask is not None, lengths is not None)
    is_learned = mask is not None and _core.needs_node(mask)
    leaves = (query, key, value, *([mask] if is_learned else []))
    _core.record_call((out,), _RECORDED.function, leaves,
                      {"options": options, "params": params, "is_learned": is_learned},
                      (kept, query, key, value, *more))  # fmt: skip
    return out
