"""Single steps of recurrent networks: RNNCell, LSTMCell and GRUCell.

They are composites (functional/recurrent.py); whole sequences are faster by the layers of
recurrent.py.
"""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_count
from tessella.hints import Any, DeviceLike, DTypeLike
from tessella.nn import sequence_errors
from tessella.nn.functional.linear import linear
from tessella.nn.functional.recurrent import Weights, step
from tessella.nn.functional.sequences import GATES
from tessella.nn.parameters import Parameter
from tessella.nn.recurrent import Recurrent, check_dtype, show_operands, to_nonlinearity, to_pair
from tessella.ops.creation import empty, zeros


class RNNCellBase(Recurrent):
    """What the three cells share: parameters, and the form of inputs and states."""

    weight_ih: Parameter
    weight_hh: Parameter
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self,
        cell: str,
        input_size: int,
        hidden_size: int,
        bias: bool,
        device: DeviceLike | None,
        dtype: DTypeLike | None,
    ) -> None:
        super().__init__()
        self._cell = cell
        self.input_size = to_count("input_size", input_size)
        self.hidden_size = to_count("hidden_size", hidden_size)
        self.bias = to_bool("bias", bias)
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        gates = GATES[cell] * self.hidden_size
        self.weight_ih = Parameter(empty((gates, self.input_size), **options))
        self.weight_hh = Parameter(empty((gates, self.hidden_size), **options))
        self.bias_ih = Parameter(empty(gates, **options)) if self.bias else None
        self.bias_hh = Parameter(empty(gates, **options)) if self.bias else None
        self.reset_parameters()

    def _check_input(self, x: Any) -> None:
        if not isinstance(x, Tensor):
            raise errors.not_tensor("x", x, "a tensor")
        if x.ndim not in (1, 2):
            raise errors.wrong_value("x.ndim", x.ndim, "2: (batch, features), or 1 without a batch")
        if x.shape[-1] != self.input_size:
            raise sequence_errors.wrong_input_size(x.shape[-1], self.input_size)
        check_dtype("x", x, self.weight_ih)

    def _state(self, name: str, state: Any, x: Tensor) -> Tensor:
        wanted = (*x.shape[:-1], self.hidden_size)
        if state is None:
            return zeros(wanted, dtype=x.dtype)
        if not isinstance(state, Tensor):
            raise errors.not_tensor(name, state, "a tensor")
        if state.shape != wanted:
            axes = "(batch, hidden_size)" if x.ndim == 2 else "(hidden_size,)"
            raise sequence_errors.wrong_state(name, state.shape, wanted, axes)
        check_dtype(name, state, x)
        return state

    def _run(self, x: Any, h: Any, c: Any) -> tuple[Tensor, Tensor | None]:
        """Do one step; an error names the module and its operands."""
        try:
            self._check_input(x)
            h_0 = self._state("h_0", h, x)
            c_0 = self._state("c_0", c, x) if self._cell == "lstm" else None
        except errors.TessellaError as error:
            raise error.locate(type(self).__name__, show_operands(x=x, h_0=h, c_0=c)) from None
        weights = Weights(self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return step(self._cell, linear(x, self.weight_ih, self.bias_ih), h_0, c_0, weights)

    def extra_repr(self) -> str:
        """Show the sizes, and what is not as it is by default."""
        text = f"{self.input_size}, {self.hidden_size}"
        return text if self.bias else f"{text}, bias=False"


class OneStateCell(RNNCellBase):
    """What RNNCell and GRUCell share: one state."""

    def forward(self, x: Tensor, hx: Tensor | None = None) -> Tensor:
        """Give the state after x."""
        return self._run(x, hx, None)[0]


class RNNCell(OneStateCell):
    """tanh(weight_ih @ x + bias_ih + weight_hh @ h + bias_hh), or relu of it.

    Inputs have `input_size` features, states `hidden_size`. `nonlinearity` is "tanh" or "relu".

    >>> nn.RNNCell(3, 4)(ts.ones(2, 3)).shape
    (2, 4)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        word = to_nonlinearity(nonlinearity)
        super().__init__(f"rnn_{word}", input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = word

    def extra_repr(self) -> str:
        """Show the sizes, and what is not as it is by default."""
        text = super().extra_repr()
        return text if self.nonlinearity == "tanh" else f"{text}, nonlinearity={self.nonlinearity}"


class LSTMCell(RNNCellBase):
    """One step of long short-term memory: gives (h, c).

    Inputs have `input_size` features, states `hidden_size`.

    >>> h, c = nn.LSTMCell(3, 4)(ts.ones(2, 3))
    >>> h.shape, c.shape
    ((2, 4), (2, 4))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__("lstm", input_size, hidden_size, bias, device, dtype)

    def forward(self, x: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """Give the states after x, from hx = (h, c) or from zeros."""
        h, c = self._run(x, *to_pair("LSTMCell", x, hx))
        assert c is not None
        return h, c


class GRUCell(OneStateCell):
    """One step of a gated recurrent unit.

    Inputs have `input_size` features, states `hidden_size`.

    >>> nn.GRUCell(3, 4)(ts.ones(2, 3)).shape
    (2, 4)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__("gru", input_size, hidden_size, bias, device, dtype)
