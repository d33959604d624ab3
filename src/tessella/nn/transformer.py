"""Transformers: layers of attention and two products, encoders and decoders made of them.

Vaswani and others, 2017; `norm_first` as in Xiong and others, 2020.
"""

from __future__ import annotations

import copy
import math

from tessella._core import Tensor
from tessella.arguments import to_bool, to_count, to_word
from tessella.hints import Any, Callable, DeviceLike, DTypeLike
from tessella.nn import functional, init, sequence_errors
from tessella.nn.attention import MultiheadAttention
from tessella.nn.containers import ModuleList
from tessella.nn.dropout import Dropout
from tessella.nn.linear import Linear
from tessella.nn.modules import Module
from tessella.nn.normalization import LayerNorm
from tessella.ops.composite import triu
from tessella.ops.creation import full

Activation = Callable[[Tensor], Tensor]


def to_activation(value: Any) -> Activation:
    """Require a function, or the name of one of the two usual ones."""
    if callable(value):
        found: Activation = value
        return found
    word = to_word("activation", value, ["relu", "gelu"])
    return functional.relu if word == "relu" else functional.gelu


class TransformerLayer(Module):
    """What both layers do: attention of all places to each other, and the two products."""

    self_attn: MultiheadAttention
    linear1: Linear
    linear2: Linear
    dropout: Dropout
    dropout1: Dropout
    activation: Activation

    def _attend(self, x: Tensor, mask: Any, padding: Any, is_causal: bool) -> Tensor:
        out, _ = self.self_attn(x, x, x, padding, False, mask, is_causal=is_causal)
        dropped: Tensor = self.dropout1(out)
        return dropped

    def _feed(self, x: Tensor) -> Tensor:
        hidden = self.dropout(self.activation(self.linear1(x)))
        out: Tensor = self.linear2(hidden)
        return out


class TransformerEncoderLayer(TransformerLayer):
    """x + attention(x), normalised; then that plus two products with an activation between.

    There are `d_model` features, `nhead` heads, and `dim_feedforward` features between the two
    products. `dropout` is the share of attention's weights, of hidden features and of what each
    part adds that training sets to 0. `activation` is "relu", "gelu" or a function. With
    `norm_first` each part normalises what goes in, and not the sum; `layer_norm_eps` is the norms'
    eps. With `batch_first` operands are (batch, places, features), in place of (places, batch,
    features).

    >>> nn.TransformerEncoderLayer(8, 2, 16)(ts.ones(5, 3, 8)).shape
    (5, 3, 8)
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        options: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout, batch_first=batch_first, **options
        )
        self.linear1 = Linear(d_model, dim_feedforward, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **options)
        self.norm_first = to_bool("norm_first", norm_first)
        self.norm1 = LayerNorm(d_model, layer_norm_eps, **options)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, **options)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = to_activation(activation)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Give what all places become; masks are those of MultiheadAttention."""
        x = src
        masks = (src_mask, src_key_padding_mask, is_causal)
        if self.norm_first:
            x = x + self._attend(self.norm1(x), *masks)
            return x + self.dropout2(self._feed(self.norm2(x)))
        x = self.norm1(x + self._attend(x, *masks))
        out: Tensor = self.norm2(x + self.dropout2(self._feed(x)))
        return out


class TransformerDecoderLayer(TransformerLayer):
    """As an encoder's layer, and between its two parts attention to what an encoder gave.

    There are `d_model` features, `nhead` heads, and `dim_feedforward` features between the two
    products. `dropout` is the share of attention's weights, of hidden features and of what each
    part adds that training sets to 0. `activation` is "relu", "gelu" or a function. With
    `norm_first` each part normalises what goes in, and not the sum; `layer_norm_eps` is the norms'
    eps. With `batch_first` operands are (batch, places, features), in place of (places, batch,
    features).

    >>> nn.TransformerDecoderLayer(8, 2, 16)(ts.ones(4, 3, 8), ts.ones(5, 3, 8)).shape
    (4, 3, 8)
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        options: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        heads = {"dropout": dropout, "batch_first": batch_first, **options}
        self.self_attn = MultiheadAttention(d_model, nhead, **heads)
        self.multihead_attn = MultiheadAttention(d_model, nhead, **heads)
        self.linear1 = Linear(d_model, dim_feedforward, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **options)
        self.norm_first = to_bool("norm_first", norm_first)
        self.norm1 = LayerNorm(d_model, layer_norm_eps, **options)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, **options)
        self.norm3 = LayerNorm(d_model, layer_norm_eps, **options)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = to_activation(activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Give what all places become; masks are those of MultiheadAttention."""
        x = tgt
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        given = (memory_mask, memory_key_padding_mask, memory_is_causal)
        if self.norm_first:
            x = x + self._attend(self.norm1(x), *own)
            x = x + self._consult(self.norm2(x), memory, *given)
            return x + self.dropout3(self._feed(self.norm3(x)))
        x = self.norm1(x + self._attend(x, *own))
        x = self.norm2(x + self._consult(x, memory, *given))
        out: Tensor = self.norm3(x + self.dropout3(self._feed(x)))
        return out

    def _consult(
        self, x: Tensor, memory: Tensor, mask: Any, padding: Any, is_causal: bool
    ) -> Tensor:
        out, _ = self.multihead_attn(x, memory, memory, padding, False, mask, is_causal=is_causal)
        dropped: Tensor = self.dropout2(out)
        return dropped


def copies(layer: Any, count: Any) -> ModuleList:
    """Give copies of a layer, which begin alike."""
    if not isinstance(layer, Module):
        raise sequence_errors.not_layer(layer)
    return ModuleList([copy.deepcopy(layer) for _ in range(to_count("num_layers", count, 0))])


class TransformerEncoder(Module):
    """Several copies of a layer, one after the other.

    There are `num_layers` copies of `encoder_layer`, and `norm` after the last.
    `enable_nested_tensor` and `mask_check` change nothing.

    >>> layer = nn.TransformerEncoderLayer(8, 2, 16)
    >>> nn.TransformerEncoder(layer, 2)(ts.ones(5, 3, 8)).shape
    (5, 3, 8)
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = copies(encoder_layer, num_layers)
        self.num_layers = len(self.layers)
        self.norm = norm

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Go through all layers, each with the same masks."""
        x = src
        for layer in self.layers:
            x = layer(x, mask, src_key_padding_mask, bool(is_causal))
        out: Tensor = x if self.norm is None else self.norm(x)
        return out


class TransformerDecoder(Module):
    """Several copies of a decoder's layer, one after the other.

    There are `num_layers` copies of `decoder_layer`, and `norm` after the last.

    >>> layer = nn.TransformerDecoderLayer(8, 2, 16)
    >>> nn.TransformerDecoder(layer, 2)(ts.ones(4, 3, 8), ts.ones(5, 3, 8)).shape
    (4, 3, 8)
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = copies(decoder_layer, num_layers)
        self.num_layers = len(self.layers)
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Go through all layers, each with the same masks."""
        x = tgt
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        for layer in self.layers:
            x = layer(x, memory, *masks, bool(tgt_is_causal), memory_is_causal)
        out: Tensor = x if self.norm is None else self.norm(x)
        return out


class Transformer(Module):
    """An encoder, and a decoder that attends to what it gives.

    Weights of two and more axes begin as Glorot's.

    `num_encoder_layers` and `num_decoder_layers` are made as TransformerEncoderLayer and
    TransformerDecoderLayer say, with `d_model` features, `nhead` heads, `dim_feedforward`,
    `dropout`, `activation`, `layer_norm_eps`, `batch_first` and `norm_first`; after the last of
    either is a norm. `custom_encoder` and `custom_decoder` stand in their place.

    >>> model = nn.Transformer(8, 2, 1, 1, 16)
    >>> model(ts.ones(5, 3, 8), ts.ones(4, 3, 8)).shape
    (4, 3, 8)
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = "relu",
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        options: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        sizes = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
                 norm_first)  # fmt: skip
        self.encoder: Module
        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            layer = TransformerEncoderLayer(*sizes, **options)
            norm = LayerNorm(d_model, layer_norm_eps, **options)
            self.encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        self.decoder: Module
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            last = TransformerDecoderLayer(*sizes, **options)
            norm = LayerNorm(d_model, layer_norm_eps, **options)
            self.decoder = TransformerDecoder(last, num_decoder_layers, norm)
        self.d_model, self.nhead = d_model, nhead
        self.batch_first = to_bool("batch_first", batch_first)
        for x in self.parameters():
            if x.ndim > 1:
                init.xavier_uniform_(x)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Encode src, and decode tgt with it."""
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        out: Tensor = self.decoder(tgt, memory, *masks, tgt_is_causal, memory_is_causal)
        return out

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: DeviceLike | None = None, dtype: DTypeLike | None = None
    ) -> Tensor:
        """Give a mask that hides from each place those after it: minus infinity, and 0.

        >>> nn.Transformer.generate_square_subsequent_mask(2).tolist()
        [[0.0, -inf], [0.0, 0.0]]
        """
        return triu(full((sz, sz), -math.inf, dtype=dtype, device=device), 1)
