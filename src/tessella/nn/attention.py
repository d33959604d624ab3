"""MultiheadAttention: attention with products before and after it, several heads side by side."""

from __future__ import annotations

import math

from tessella import errors, spellings
from tessella._core import Tensor
from tessella.arguments import to_bool, to_count
from tessella.dtypes import boolean
from tessella.hints import TYPE_CHECKING, Any, DeviceLike, DTypeLike
from tessella.kinds import cast
from tessella.nn import functional, init, layer_errors, sequence_errors
from tessella.nn.functional.attention import scaled_dot_product_attention
from tessella.nn.functional.attention_composite import attention_weights, weighted
from tessella.nn.functional.linear import linear
from tessella.nn.linear import Linear
from tessella.nn.modules import Module
from tessella.nn.parameters import Parameter
from tessella.nn.recurrent import check_dtype, show_operands, to_share
from tessella.ops.creation import empty, full, zeros
from tessella.ops.elementwise import logical_not, where
from tessella.ops.joining import concat
from tessella.ops.movement import broadcast_to, permute, reshape, squeeze, unsqueeze
from tessella.ops.padding import pad
from tessella.ops.reduce import mean
from tessella.ops.splitting import chunk

__path__: list[str] = []  # so that imports of names that are not here are explained

if not TYPE_CHECKING:  # which knows what is there
    __getattr__ = spellings.refuser(__name__)


class MultiheadAttention(Module):
    """Attention of num_heads heads over embed_dim / num_heads features each.

    Queries, keys and values are multiplied by in_proj_weight (query, key and value, one below the
    other), the heads' results side by side by out_proj. Masks are True where nobody may look, or
    are added. Gives the output, and the weights: their mean over the heads, or each head's.

    `dropout` is the share of weights that training sets to 0. `kdim` and `vdim` are the features of
    keys and values, where they are others than embed_dim. `add_bias_kv` adds a learned key and
    value that every query may look at, `add_zero_attn` one of zeros. With `batch_first` operands
    are (batch, places, features), in place of (places, batch, features).

    >>> output, weights = nn.MultiheadAttention(8, 2)(*[ts.ones(5, 3, 8)] * 3)
    >>> output.shape, weights.shape
    ((5, 3, 8), (3, 5, 5))
    """

    in_proj_weight: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.embed_dim = to_count("embed_dim", embed_dim)
        self.num_heads = to_count("num_heads", num_heads)
        self.kdim = self.embed_dim if kdim is None else to_count("kdim", kdim)
        self.vdim = self.embed_dim if vdim is None else to_count("vdim", vdim)
        self.dropout = to_share("dropout", dropout)
        self.batch_first = to_bool("batch_first", batch_first)
        self.add_zero_attn = to_bool("add_zero_attn", add_zero_attn)
        if self.embed_dim % self.num_heads:
            rule = f"a divisor of embed_dim, which is {self.embed_dim}"
            raise errors.wrong_value("num_heads", self.num_heads, rule)
        self.head_dim = self.embed_dim // self.num_heads
        self._make_parameters(to_bool("bias", bias), to_bool("add_bias_kv", add_bias_kv),
                              {"device": device, "dtype": dtype})  # fmt: skip
        self.reset_parameters()

    def _make_parameters(self, bias: bool, add_bias_kv: bool, options: dict[str, Any]) -> None:
        size = self.embed_dim

        def make(is_wanted: bool, *shape: int) -> Parameter | None:
            return Parameter(empty(shape, **options)) if is_wanted else None

        is_joint = self.kdim == self.vdim == size
        self.in_proj_weight = make(is_joint, 3 * size, size)
        self.q_proj_weight = make(not is_joint, size, size)
        self.k_proj_weight = make(not is_joint, size, self.kdim)
        self.v_proj_weight = make(not is_joint, size, self.vdim)
        self.in_proj_bias = make(bias, 3 * size)
        self.bias_k = make(add_bias_kv, 1, 1, size)
        self.bias_v = make(add_bias_kv, 1, 1, size)
        self.out_proj = Linear(size, size, bias, **options)

    def reset_parameters(self) -> None:
        """Draw the weights anew: Glorot's for the products before, zeros for their biases."""
        for x in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if x is not None:
                init.xavier_uniform_(x)
        for x in (self.bias_k, self.bias_v):
            if x is not None:
                init.xavier_normal_(x)
        self.out_proj.reset_parameters()
        for x in (self.in_proj_bias, self.out_proj.bias):
            if x is not None:
                init.zeros_(x)

    # --- what comes in ---

    def _check(self, query: Any, key: Any, value: Any) -> None:
        sizes = {"query": self.embed_dim, "key": self.kdim, "value": self.vdim}
        given = dict(zip(sizes, (query, key, value), strict=True))
        for name, x in given.items():
            if not isinstance(x, Tensor):
                raise errors.not_tensor(name, x, "a tensor")
            if x.ndim not in (2, 3) or x.ndim != query.ndim:
                order = "batch, places" if self.batch_first else "places, batch"
                rule = f"3: ({order}, features), or 2 without a batch, for all three"
                raise errors.wrong_value(f"{name}.ndim", x.ndim, rule)
            if x.shape[-1] != sizes[name]:
                raise layer_errors.wrong_features(x.shape[-1], sizes[name], name)
            check_dtype(name, x, self.out_proj.weight)
        axis = 0 if self.batch_first else 1
        if key.shape[:-1] != value.shape[:-1]:
            raise errors.wrong_value("value.shape", value.shape, "as key's but for the features")
        if query.ndim == 3 and query.shape[axis] != key.shape[axis]:
            raise sequence_errors.other_batch("key", key.shape[axis], query.shape[axis])

    def _enter(self, x: Tensor) -> Tensor:
        """Bring an operand into the form (batch, places, features)."""
        if x.ndim == 2:
            return unsqueeze(x, 0)
        return x if self.batch_first else permute(x, (1, 0, 2))

    def _leave(self, x: Tensor, is_batched: bool) -> Tensor:
        """Bring (batch, places, features) into the form of the queries."""
        if not is_batched:
            return squeeze(x, 0)
        return x if self.batch_first else permute(x, (1, 0, 2))

    # --- products ---

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> list[Tensor]:
        """Multiply all three by their weights; one product where they are one tensor."""
        biases: Any = [None] * 3
        if self.in_proj_bias is not None:
            biases = chunk(self.in_proj_bias, 3)
        if self.in_proj_weight is None:
            weights: Any = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        elif query is key and key is value:
            return list(chunk(linear(query, self.in_proj_weight, self.in_proj_bias), 3, axis=-1))
        else:
            weights = chunk(self.in_proj_weight, 3)
        operands = zip((query, key, value), weights, biases, strict=True)
        return [linear(x, weight, bias) for x, weight, bias in operands]

    def _heads(self, x: Tensor) -> Tensor:
        """Part (batch, places, embed_dim) into (batch, heads, places, head_dim)."""
        batch, places, _ = x.shape
        return permute(reshape(x, (batch, places, self.num_heads, self.head_dim)), (0, 2, 1, 3))

    def _lengthen(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add the places that every query may look at: learned ones, and one of zeros."""
        batch, _, size = key.shape
        more_keys, more_values = [], []
        if self.bias_k is not None and self.bias_v is not None:
            more_keys.append(broadcast_to(self.bias_k, (batch, 1, size)))
            more_values.append(broadcast_to(self.bias_v, (batch, 1, size)))
        if self.add_zero_attn:
            none = zeros((batch, 1, size), dtype=key.dtype)
            more_keys.append(none)
            more_values.append(none)
        if not more_keys:
            return key, value
        return concat([key, *more_keys], axis=1), concat([value, *more_values], axis=1)

    # --- masks ---

    def _mask(self, padding: Any, attn_mask: Any, q: Tensor, keys: int, is_batched: bool) -> Any:
        """Join the masks into one (…, queries, keys) that says, or adds, where queries look."""
        batch, queries, _ = q.shape
        masks = []
        if attn_mask is not None:
            shapes: Any = [(queries, keys), (batch * self.num_heads, queries, keys)]
            check_mask("attn_mask", attn_mask, shapes, q)
            if attn_mask.ndim == 3:
                attn_mask = reshape(attn_mask, (batch, self.num_heads, queries, keys))
            masks.append(attn_mask)
        if padding is not None:
            check_mask("key_padding_mask", padding, [(batch, keys) if is_batched else (keys,)], q)
            masks.append(reshape(padding, (batch, 1, 1, keys)))
        if len(masks) == 2 and masks[0].dtype is not masks[1].dtype:
            masks = [_to_added(mask, q) for mask in masks]
        if len(masks) == 2:
            masks = [masks[0] | masks[1] if masks[0].dtype is boolean else masks[0] + masks[1]]
        if not masks:
            return None
        added = (self.bias_k is not None) + self.add_zero_attn  # places that nobody hides
        mask = pad(masks[0], (0, added)) if added else masks[0]
        return logical_not(mask) if mask.dtype is boolean else mask

    # --- all together ---

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend: `key_padding_mask` (batch, keys) hides keys, `attn_mask` keys from queries.

        `is_causal` is a hint that attn_mask hides later places, and changes nothing. A query that
        may look nowhere gets zeros.
        """
        try:
            self._check(query, key, value)
            if is_causal and attn_mask is None:
                raise sequence_errors.causal_hint()
            is_batched = query.ndim == 3
            q, k, v = self._project(*self._entered(query, key, value))
            mask = self._mask(key_padding_mask, attn_mask, q, k.shape[1], is_batched)
        except errors.TessellaError as error:
            shown = show_operands(query=query, key=key, value=value, attn_mask=attn_mask,
                                  key_padding_mask=key_padding_mask)  # fmt: skip
            raise error.locate(type(self).__name__, shown) from None
        q, k, v = map(self._heads, (q, *self._lengthen(k, v)))
        share = self.dropout if self.training else 0.0
        weights = None
        if need_weights:
            weights = functional.dropout(attention_weights(q, k, mask, False, None), share)
            out = weighted(weights, v)
        else:
            out = scaled_dot_product_attention(q, k, v, mask, share)
        out = reshape(permute(out, (0, 2, 1, 3)), (q.shape[0], q.shape[2], self.embed_dim))
        out = self._leave(self.out_proj(out), is_batched)
        if weights is None:
            return out, None
        weights = cast(mean(weights, axis=1) if average_attn_weights else weights, q.dtype)
        return out, weights if is_batched else squeeze(weights, 0)

    def _entered(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Bring all three into one form; one tensor stays one."""
        q = self._enter(query)
        k = q if key is query else self._enter(key)
        v = q if value is query else k if value is key else self._enter(value)
        return q, k, v


def check_mask(name: str, mask: Any, shapes: list[tuple[int, ...]], query: Tensor) -> None:
    """Require a mask of bools, or of floats as the queries are, of one of some shapes."""
    if not isinstance(mask, Tensor):
        raise errors.not_tensor(name, mask, "a tensor or None")
    if mask.dtype not in (boolean, query.dtype):
        raise sequence_errors.hiding_dtype(name, mask.dtype, query.dtype)
    if mask.shape not in shapes:
        raise sequence_errors.hiding_shape(name, mask.shape, " or ".join(map(str, shapes)))


def _to_added(mask: Tensor, query: Tensor) -> Tensor:
    """Give a mask as numbers that are added: minus infinity where bools hide."""
    if mask.dtype is not boolean:
        return mask
    return where(mask, full((), -math.inf, dtype=query.dtype), 0)
