"""Steps and layers of recurrent networks, with PyTorch's gates and their order.

A layer multiplies all inputs by their weight at once; the walk through time is a record
(sequences.py), recorded as one operation together with those products. Its definition is
`layer_composite`, step by step: the tests compare with it, and gradients of gradients are its own.
Halves are computed in float32 and rounded at the end.
"""

from __future__ import annotations

from typing import NamedTuple

from tessella import _core
from tessella._core import Tensor
from tessella.dtypes import float32
from tessella.functions import Function
from tessella.hints import Any
from tessella.kinds import cast
from tessella.nn.functional.linear import linear
from tessella.nn.functional.recomposed import pull
from tessella.nn.functional.sequences import (
    SLOPES,
    STATES,
    parts_of_slopes,
    parts_of_states,
)
from tessella.ops.activation import relu
from tessella.ops.creation import zeros
from tessella.ops.elementwise import sigmoid, tanh
from tessella.ops.joining import stack
from tessella.ops.matmul import matmul
from tessella.ops.movement import permute, reshape
from tessella.ops.reduce import sum
from tessella.ops.splitting import chunk


class Weights(NamedTuple):
    """The parameters of one layer in one direction, in PyTorch's order."""

    weight_ih: Tensor  # (gates * hidden, inputs)
    weight_hh: Tensor  # (gates * hidden, outputs)
    bias_ih: Tensor | None = None  # (gates * hidden)
    bias_hh: Tensor | None = None
    weight_hr: Tensor | None = None  # (outputs, hidden): of an LSTM with a projection


# --- one step ------------------------------------------------------------------------------------


def step(
    cell: str, gates: Tensor, h: Tensor, c: Tensor | None, weights: Weights
) -> tuple[Tensor, Tensor | None]:
    """Give the state after one step; gates (batch, gates * hidden) come from the input."""
    state = linear(h, weights.weight_hh, weights.bias_hh)
    if cell == "lstm":
        assert c is not None
        return lstm_step(gates + state, c, weights.weight_hr)
    if cell == "gru":
        return gru_step(gates, state, h), None
    return (relu if cell == "rnn_relu" else tanh)(gates + state), None


def lstm_step(gates: Tensor, c: Tensor, weight_hr: Tensor | None) -> tuple[Tensor, Tensor]:
    """Forget, take in, and show: Hochreiter and Schmidhuber, 1997; Gers and others, 2000."""
    i, f, g, o = chunk(gates, 4, axis=-1)
    c = sigmoid(f) * c + sigmoid(i) * tanh(g)
    h = sigmoid(o) * tanh(c)
    return h if weight_hr is None else linear(h, weight_hr), c


def gru_step(gates: Tensor, state: Tensor, h: Tensor) -> Tensor:
    """Mix the state and a fresh one: Cho and others, 2014, with the product before the reset."""
    (x_r, x_z, x_n), (h_r, h_z, h_n) = chunk(gates, 3, axis=-1), chunk(state, 3, axis=-1)
    r, z = sigmoid(x_r + h_r), sigmoid(x_z + h_z)
    n = tanh(x_n + r * h_n)
    return (h - n) * z + n


# --- a layer in one direction --------------------------------------------------------------------


def layer_composite(
    cell: str, is_reversed: bool, x: Tensor, h: Tensor, c: Tensor | None, weights: Weights
) -> tuple[Tensor, Tensor | None]:
    """Give all outputs (steps, batch, outputs) and the last c, step by step."""
    gates = linear(x, weights.weight_ih, weights.bias_ih)
    outs = []
    order = range(x.shape[0])
    for t in reversed(order) if is_reversed else order:
        h, c = step(cell, gates[t], h, c, weights)
        outs.append(h)
    return stack(outs[::-1] if is_reversed else outs), c


def layer(
    cell: str, is_reversed: bool, x: Tensor, h: Tensor, c: Tensor | None, weights: Weights
) -> tuple[Tensor, Tensor | None]:
    """Give all outputs (steps, batch, outputs) and the last c; x is (steps, batch, inputs)."""
    dtype = x.dtype
    if dtype.itemsize < float32.itemsize:
        wide: Any = [None if v is None else cast(v, float32) for v in (x, h, c, *weights)]
        out, c = layer(cell, is_reversed, wide[0], wide[1], wide[2], Weights(*wide[3:]))
        return cast(out, dtype), c if c is None else cast(c, dtype)
    if weights.weight_hr is not None or x.shape[0] == 1:  # one step does not pay for the record
        return layer_composite(cell, is_reversed, x, h, c, weights)
    found = Recurrence.apply(cell, is_reversed, x, h, c, *weights[:4])
    return found if cell == "lstm" else (found, None)


class Recurrence(Function):
    """A recurrent layer with the slopes of sequences.py for gradients."""

    @staticmethod
    def forward(
        ctx: Any,
        cell: str,
        is_reversed: bool,
        x: Tensor,
        h: Tensor,
        c: Tensor | None,
        *weights: Any,
    ) -> Any:
        """Multiply all inputs, then walk through time."""
        weight_ih, weight_hh, bias_ih, bias_hh = weights
        steps, batch, inputs = x.shape
        gates = matmul(reshape(x, (steps * batch, inputs)), permute(weight_ih, (1, 0)))
        gates = reshape(gates, (steps, batch, weight_ih.shape[0]))
        none = zeros(weight_ih.shape[0], dtype=x.dtype) if bias_ih is None else None
        keeps = any(ctx.needs_input_grad)
        operands = (gates, weight_hh, none if bias_ih is None else bias_ih,
                    none if bias_hh is None else bias_hh, h, c)  # fmt: skip
        states = STATES[cell](*operands[: 5 + (c is not None)],
                              is_reversed=is_reversed, keeps=keeps)  # fmt: skip
        parts = parts_of_states(states, cell, (steps, *h.shape), is_reversed, keeps)
        ctx.cell, ctx.is_reversed = cell, is_reversed
        ctx.save_for_backward(states, x, h, c, *weights)
        h = parts.h.detach()  # no views of the states, so that they can be written into
        return h if parts.c is None else (h, parts.c.detach())

    @staticmethod
    def backward(ctx: Any, g: Tensor, g_c: Tensor | None = None) -> Any:
        """Walk back through time, then give each operand what it takes part in."""
        cell, is_reversed = ctx.cell, ctx.is_reversed
        states, x, h, c, *weights = ctx.saved_tensors
        if _core.is_grad_enabled():
            return None, None, *pull(
                lambda x, h, c, *rest: layer_composite(cell, is_reversed, x, h, c, Weights(*rest)),
                (g, g_c), x, h, c, *weights,
            )  # fmt: skip
        weight_ih, weight_hh, *_ = weights
        steps, batch, inputs = x.shape
        rows, shape = steps * batch, (steps, *h.shape)
        operands = (g, states, weight_hh, g_c)[: 4 if cell == "lstm" else 3]
        of = parts_of_slopes(SLOPES[cell](*operands, is_reversed=is_reversed), cell, shape)
        before = parts_of_states(states, cell, shape, is_reversed, True).before
        needs = ctx.needs_input_grad[2:]
        return (
            None,
            None,
            reshape(matmul(of.gates, weight_ih), x.shape) if needs[0] else None,
            of.h,
            of.c,
            matmul(permute(of.gates, (1, 0)), reshape(x, (rows, inputs))) if needs[3] else None,
            matmul(permute(of.product, (1, 0)), reshape(before, (rows, h.shape[1])))
            if needs[4] else None,
            sum(of.gates, axis=0) if needs[5] else None,
            sum(of.product, axis=0) if needs[6] else None,
        )  # fmt: skip
