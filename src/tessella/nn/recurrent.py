"""Recurrent networks: RNN, LSTM and GRU over sequences, with PyTorch's names and gates.

What they compute stands in functional/recurrent.py. Single steps are in cells.py.
"""

from __future__ import annotations

import math

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_count, to_float, to_word
from tessella.hints import Any, DeviceLike, DTypeLike
from tessella.located import warn
from tessella.nn import functional, init, sequence_errors
from tessella.nn.functional.recurrent import Weights, layer
from tessella.nn.functional.sequences import GATES
from tessella.nn.modules import Module
from tessella.nn.parameters import Parameter
from tessella.ops.creation import empty, zeros
from tessella.ops.joining import concat, stack
from tessella.ops.movement import permute, squeeze, unsqueeze

_BATCHED = "(layers * directions, batch, size)"
_UNBATCHED = "(layers * directions, size)"


class Recurrent(Module):
    """What networks and their single steps share: weights begin in ±1 / sqrt(hidden_size)."""

    hidden_size: int

    def reset_parameters(self) -> None:
        """Draw the weights anew."""
        bound = 1 / math.sqrt(self.hidden_size)
        for x in self.parameters():
            init.uniform_(x, -bound, bound)


class RNNBase(Recurrent):
    """What RNN, LSTM and GRU share: layers, parameters, the form of inputs and states."""

    weight_ih_l0: Parameter  # every network has; the others are known by their names only

    def __init__(
        self,
        cell: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.input_size = to_count("input_size", input_size)
        self.hidden_size = to_count("hidden_size", hidden_size)
        self.num_layers = to_count("num_layers", num_layers)
        self.proj_size = to_count("proj_size", proj_size, 0)
        self.bias = to_bool("bias", bias)
        self.batch_first = to_bool("batch_first", batch_first)
        self.bidirectional = to_bool("bidirectional", bidirectional)
        self.dropout = to_share("dropout", dropout)
        if self.proj_size >= self.hidden_size:
            rule = f"below hidden_size, which is {self.hidden_size}"
            raise errors.wrong_value("proj_size", self.proj_size, rule)
        if self.dropout > 0 and self.num_layers == 1:
            text = f"dropout={self.dropout} has no effect: it stands between layers, and there is 1"
            warn(text, UserWarning)
        self._cell = cell
        self._make_parameters({"device": device, "dtype": dtype})
        self.reset_parameters()

    def _make_parameters(self, options: dict[str, Any]) -> None:
        gates, outputs = GATES[self._cell] * self.hidden_size, self.proj_size or self.hidden_size
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (), "weight_hh": (gates, outputs)}
        if self.bias:
            shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        for i in range(self.num_layers):
            inputs = self.input_size if i == 0 else outputs * self._directions
            for suffix in self._suffixes(i):
                for name, shape in {**shapes, "weight_ih": (gates, inputs)}.items():
                    setattr(self, name + suffix, Parameter(empty(shape, **options)))

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    def _suffixes(self, i: int) -> list[str]:
        """Give the ends of the names of a layer's parameters, for each direction."""
        return [f"_l{i}", f"_l{i}_reverse"][: self._directions]

    def _weights(self, suffix: str) -> Weights:
        has = {"bias_ih": self.bias, "bias_hh": self.bias, "weight_hr": self.proj_size > 0}
        names = [name for name in Weights._fields if has.get(name, True)]
        return Weights(**{name: getattr(self, name + suffix) for name in names})

    @property
    def all_weights(self) -> list[list[Tensor]]:
        """Give the parameters, in a list for each layer and direction."""
        suffixes = [suffix for i in range(self.num_layers) for suffix in self._suffixes(i)]
        return [[x for x in self._weights(suffix) if x is not None] for suffix in suffixes]

    def flatten_parameters(self) -> None:
        """Do nothing: parameters need not lie side by side here."""

    # --- the forms of inputs and states ---

    def _check_input(self, x: Any) -> None:
        """Require a sequence that fits the weights."""
        if not isinstance(x, Tensor):
            raise errors.not_tensor("x", x, "a tensor; packed sequences are not known here")
        if x.ndim not in (2, 3):
            order = "batch, steps" if self.batch_first else "steps, batch"
            rule = f"3: ({order}, features), or 2 without a batch: (steps, features)"
            raise errors.wrong_value("x.ndim", x.ndim, rule)
        if x.shape[-1] != self.input_size:
            raise sequence_errors.wrong_input_size(x.shape[-1], self.input_size)
        if x.shape[1 if self.batch_first and x.ndim == 3 else 0] == 0:
            raise sequence_errors.no_steps()
        check_dtype("x", x, self.weight_ih_l0)

    def _state(self, name: str, state: Any, x: Tensor, size: int, is_batched: bool) -> Tensor:
        """Give a state (layers * directions, batch, size) for an input (steps, batch, features)."""
        count, batch = self.num_layers * self._directions, x.shape[1]
        if state is None:
            return zeros((count, batch, size), dtype=x.dtype)
        if not isinstance(state, Tensor):
            raise errors.not_tensor(name, state, "a tensor")
        wanted = (count, batch, size) if is_batched else (count, size)
        if state.shape != wanted:
            axes = _BATCHED if is_batched else _UNBATCHED
            raise sequence_errors.wrong_state(name, state.shape, wanted, axes)
        check_dtype(name, state, x)
        return state if is_batched else unsqueeze(state, 1)

    def _enter(self, x: Any, h: Any, c: Any) -> tuple[Tensor, Tensor, Tensor | None]:
        """Bring an input and its states into the form (steps, batch, features)."""
        self._check_input(x)
        is_batched = x.ndim == 3
        if not is_batched:
            x = unsqueeze(x, 1)
        elif self.batch_first:
            x = permute(x, (1, 0, 2))
        state = self._state("h_0", h, x, self.proj_size or self.hidden_size, is_batched)
        if self._cell != "lstm":
            return x, state, None
        return x, state, self._state("c_0", c, x, self.hidden_size, is_batched)

    def _leave(self, x: Tensor, is_batched: bool) -> Tensor:
        """Bring the outputs into the form of the input."""
        if not is_batched:
            return squeeze(x, 1)
        return permute(x, (1, 0, 2)) if self.batch_first else x

    # --- all layers ---

    def _walk(
        self, x: Tensor, h: Tensor, c: Tensor | None
    ) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        """Give the outputs of the last layer, and the last states of all."""
        last_h: list[Tensor] = []
        last_c: list[Tensor] = []
        for i in range(self.num_layers):
            outs = []
            for is_reversed, suffix in enumerate(self._suffixes(i)):
                k = len(last_h)
                begin = None if c is None else c[k]
                weights = self._weights(suffix)
                out, end = layer(self._cell, bool(is_reversed), x, h[k], begin, weights)
                outs.append(out)
                last_h.append(out[0 if is_reversed else -1])
                last_c += [] if end is None else [end]
            x = outs[0] if len(outs) == 1 else concat(outs, axis=-1)
            if i < self.num_layers - 1:
                x = functional.dropout(x, self.dropout, self.training)
        return x, last_h, last_c

    def _run(self, x: Any, h: Any, c: Any) -> tuple[Tensor, Tensor, Tensor | None]:
        """Compute outputs and last states; an error names the module and its operands."""
        try:
            steps, h_0, c_0 = self._enter(x, h, c)
        except errors.TessellaError as error:
            raise error.locate(type(self).__name__, show_operands(x=x, h_0=h, c_0=c)) from None
        out, last_h, last_c = self._walk(steps, h_0, c_0)
        is_batched = x.ndim == 3
        h_n, c_n = (stack(each) if each else None for each in (last_h, last_c))
        assert h_n is not None
        if not is_batched:
            h_n, c_n = squeeze(h_n, 1), None if c_n is None else squeeze(c_n, 1)
        return self._leave(out, is_batched), h_n, c_n

    def extra_repr(self) -> str:
        """Show the sizes, and what is not as it is by default."""
        shown = [str(self.input_size), str(self.hidden_size)]
        defaults = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False,
                    "dropout": 0.0, "bidirectional": False}  # fmt: skip
        values = {name: getattr(self, name) for name in defaults}
        return ", ".join(shown + [f"{k}={v}" for k, v in values.items() if v != defaults[k]])


def to_share(name: str, value: Any) -> float:
    """Require a number from 0 to 1."""
    share = to_float(name, value)
    if not 0 <= share <= 1:
        raise errors.wrong_value(name, share, "from 0 to 1")
    return share


def check_dtype(name: str, x: Tensor, weight: Tensor) -> None:
    """Require the dtype of the weights."""
    if x.dtype is not weight.dtype:
        raise sequence_errors.other_dtype(name, x.dtype, weight.dtype)


def show_operands(**operands: Any) -> list[str]:
    """List operands for an error, those that were given."""
    from tessella.declarations import describe

    width = max(map(len, operands))
    return [f"{k:<{width}}  {describe(v)}" for k, v in operands.items() if v is not None]


class OneState(RNNBase):
    """What RNN and GRU share: one state."""

    def forward(self, x: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Walk through the sequence, from the state hx or from zeros."""
        output, h_n, _ = self._run(x, hx, None)
        return output, h_n


class RNN(OneState):
    """h[t] = tanh(weight_ih @ x[t] + bias_ih + weight_hh @ h[t - 1] + bias_hh), or relu of it.

    Gives the outputs of all steps and the last state.

    Inputs have `input_size` features, states `hidden_size`. `num_layers` lie one above the other,
    with `dropout` between them in training. With `batch_first` sequences are (batch, steps,
    features), in place of (steps, batch, features). `bidirectional` adds layers that walk from the
    end; their outputs stand beside the others. `nonlinearity` is "tanh" or "relu".

    >>> output, h_n = nn.RNN(3, 4)(ts.ones(5, 2, 3))
    >>> output.shape, h_n.shape
    ((5, 2, 4), (1, 2, 4))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        self_nonlinearity = to_nonlinearity(nonlinearity)
        super().__init__(
            f"rnn_{self_nonlinearity}", input_size, hidden_size, num_layers, bias, batch_first,
            dropout, bidirectional, 0, device, dtype,
        )  # fmt: skip
        self.nonlinearity = self_nonlinearity


def to_nonlinearity(value: Any) -> str:
    """Require one of the two functions that a plain cell may have."""
    return to_word("nonlinearity", value, ["tanh", "relu"])


class LSTM(RNNBase):
    """Long short-term memory: gates i, f, g, o in the rows of the weights.

    Gives the outputs of all steps, and the last states (h_n, c_n). proj_size > 0 makes outputs
    smaller than the memory, by a product of their own.

    Inputs have `input_size` features, states `hidden_size`. `num_layers` lie one above the other,
    with `dropout` between them in training. With `batch_first` sequences are (batch, steps,
    features), in place of (steps, batch, features). `bidirectional` adds layers that walk from the
    end; their outputs stand beside the others.

    >>> output, (h_n, c_n) = nn.LSTM(3, 4, batch_first=True)(ts.ones(2, 5, 3))
    >>> output.shape, h_n.shape, c_n.shape
    ((2, 5, 4), (1, 2, 4), (1, 2, 4))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(
            "lstm", input_size, hidden_size, num_layers, bias, batch_first, dropout,
            bidirectional, proj_size, device, dtype,
        )  # fmt: skip

    def forward(
        self, x: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Walk through the sequence, from the states hx = (h_0, c_0) or from zeros."""
        h, c = to_pair("LSTM", x, hx)
        output, h_n, c_n = self._run(x, h, c)
        assert c_n is not None
        return output, (h_n, c_n)


def to_pair(owner: str, x: Any, hx: Any) -> tuple[Any, Any]:
    """Require a pair of states, or None."""
    if hx is None:
        return None, None
    if not isinstance(hx, tuple | list) or len(hx) != 2:
        raise sequence_errors.not_pair(hx).locate(owner, show_operands(x=x, hx=hx))
    return hx[0], hx[1]


class GRU(OneState):
    """Gated recurrent units: gates r, z, n in the rows of the weights.

    Gives the outputs of all steps and the last state.

    Inputs have `input_size` features, states `hidden_size`. `num_layers` lie one above the other,
    with `dropout` between them in training. With `batch_first` sequences are (batch, steps,
    features), in place of (steps, batch, features). `bidirectional` adds layers that walk from the
    end; their outputs stand beside the others.

    >>> output, h_n = nn.GRU(3, 4, bidirectional=True)(ts.ones(5, 2, 3))
    >>> output.shape, h_n.shape
    ((5, 2, 8), (2, 2, 4))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(
            "gru", input_size, hidden_size, num_layers, bias, batch_first, dropout,
            bidirectional, 0, device, dtype,
        )  # fmt: skip
