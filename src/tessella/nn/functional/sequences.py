"""Records of whole recurrent layers: all states of a sequence, and the slopes along it.

Each has a flat result that holds several tensors, one after the other, as launch/recurrent.h says:
`parts_of_states` and `parts_of_slopes` give views of them. They have no rules of their own:
recurrent.py records a layer as one operation whose gradients are made of the slopes, and
differentiates its composite where those are differentiated again.
"""

from __future__ import annotations

from typing import NamedTuple

from tessella import _core, errors
from tessella._core import Tensor
from tessella.arguments import to_bool
from tessella.declarations import case
from tessella.dtypes import DType, float32, float64
from tessella.hints import Any, Sequence
from tessella.ops.matmul import need_ndim
from tessella.ops.movement import reshape
from tessella.records import Op
from tessella.tensors import clone

CODES: dict[str, int] = {name: i for i, name in enumerate(_core.cell_names())}
GATES = {"rnn_tanh": 1, "rnn_relu": 1, "lstm": 4, "gru": 3}  # rows of weights for each unit


class Sequences(Op):
    """Steps of a recurrent cell, one after the other."""

    def __init__(self, name: str, cell: str, operands: Sequence[str], **record: Any) -> None:
        self.cell, self.code = cell, CODES[cell]
        self.operands = tuple(operands if cell == "lstm" else operands[:-1])  # the last is about c
        super().__init__(
            f"{cell}_{name}", home="nn.functional", is_function=False, is_method=False,
            no_gradient="a layer is recorded whole", tested="tests/test_recurrent.py", **record,
        )  # fmt: skip

    def shapes(self, inputs: list[Tensor]) -> list[tuple[int, ...]]:
        """Give the shapes that the operands must have."""
        raise NotImplementedError(self.name)

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Require floats of one dtype and shapes that fit; the kernels want them contiguous."""
        inputs, params = super().prepare(inputs, params)
        for name, x in zip(self.operands, inputs, strict=True):
            if x.dtype not in (float32, float64):
                raise errors.no_kernel(x.dtype, "defined for float32 and float64")
            if x.dtype is not inputs[0].dtype:
                raise errors.wrong_value(f"{name}.dtype", x.dtype, f"{inputs[0].dtype}")
        for name, x, shape in zip(self.operands, inputs, self.shapes(inputs), strict=True):
            if x.shape != shape:
                raise errors.wrong_value(f"{name}.shape", x.shape, str(shape))
        inputs = [x if x.is_contiguous else clone(x) for x in inputs]
        return inputs, {name: to_bool(name, value) for name, value in params.items()}


class States(Sequences):
    """All states, from products of the inputs with their weight, and the first state.

    `keeps`: with all that the slopes need.
    """

    params = {"is_reversed": False, "keeps": True}

    def shapes(self, inputs: list[Tensor]) -> list[tuple[int, ...]]:
        """Fit all to the gates (steps, batch, gates) and the weight (gates, hidden)."""
        need_ndim("gates", inputs[0], 3)
        need_ndim("weight", inputs[1], 2)
        steps, batch, _ = inputs[0].shape
        hidden = inputs[1].shape[1]
        gates, state = GATES[self.cell] * hidden, (batch, hidden)
        shapes = [(steps, batch, gates), (gates, hidden), (gates,), (gates,), state, state]
        return shapes[: len(inputs)]

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Ask the core for the size."""
        steps, batch, _ = inputs[0].shape
        size = _core.states_size(self.code, steps, batch, inputs[1].shape[1], params["keeps"])
        return (size,), inputs[0].dtype

    def run(self, out: Tensor, inputs: list[Any], params: dict[str, Any]) -> None:
        """Walk through time."""
        gates, weight, bias_ih, bias_hh, h, c = [*inputs, None][:6]
        _core.recurrent_states(self.code, out, gates, weight, bias_ih, bias_hh, h, c, **params)


class Slopes(Sequences):
    """Gradients of the gates and of the first state, from those of all h and of the last c."""

    params = {"is_reversed": False}

    def shapes(self, inputs: list[Tensor]) -> list[tuple[int, ...]]:
        """Fit all to the gradient (steps, batch, hidden)."""
        need_ndim("g", inputs[0], 3)
        steps, batch, hidden = inputs[0].shape
        size = _core.states_size(self.code, steps, batch, hidden, True)
        weight = (GATES[self.cell] * hidden, hidden)
        shapes = [(steps, batch, hidden), (size,), weight, (batch, hidden)]
        return shapes[: len(inputs)]

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Ask the core for the size."""
        return (_core.slopes_size(self.code, *inputs[0].shape),), inputs[0].dtype

    def run(self, out: Tensor, inputs: list[Any], params: dict[str, Any]) -> None:
        """Walk back through time."""
        g, states, weight, g_c = [*inputs, None][:4]
        _core.recurrent_slopes(self.code, out, g, states, weight, g_c, **params)


_SIZES = [(3, 2, 5), (2, 9, 17), (4, 1, 1), (1, 0, 2), (0, 2, 3)]  # steps, batch, hidden


def _state_samples(cell: str) -> list[Any]:
    found = []
    for i, (steps, batch, hidden) in enumerate(_SIZES):
        gates, states = GATES[cell] * hidden, [(batch, hidden)] * (2 if cell == "lstm" else 1)
        shapes = [(steps, batch, gates), (gates, hidden), (gates,), (gates,), *states]
        found.append(case(*shapes, is_reversed=i % 2 == 1, keeps=True))
        found.append(case(*shapes, is_reversed=i % 2 == 0, keeps=False))
    return found


def _slope_samples(cell: str) -> list[Any]:
    found = []
    for i, (steps, batch, hidden) in enumerate(_SIZES):
        gates, states = GATES[cell] * hidden, [(batch, hidden)] * (1 if cell == "lstm" else 0)
        size = _core.states_size(CODES[cell], steps, batch, hidden, True)
        shapes = [(steps, batch, hidden), (size,), (gates, hidden), *states]
        found.append(case(*shapes, is_reversed=i % 2 == 1))
    return found


STATES = {
    cell: States(
        "states", cell, ("gates", "weight", "bias_ih", "bias_hh", "h", "c"),
        doc="All states of a recurrent layer, in one flat tensor.", samples=_state_samples(cell),
        errors=[case((3, 2), *_state_samples(cell)[0].shapes[1:], match="gates.ndim is 2"),
                case((3, 2, 7), *_state_samples(cell)[0].shapes[1:],
                     match=r"gates.shape is \(3, 2, 7\)")],
    ).function
    for cell in CODES
}  # fmt: skip
SLOPES = {
    cell: Slopes(
        "slopes", cell, ("g", "states", "weight", "g_c"),
        doc="Gradients of the gates and the first state of a recurrent layer, in one flat tensor.",
        samples=_slope_samples(cell),
        errors=[case((3, 2, 5), (7,), *_slope_samples(cell)[0].shapes[2:],
                     match=r"states.shape is \(7,\)")],
    ).function
    for cell in CODES
}  # fmt: skip


class StateParts(NamedTuple):
    """Views of what a layer's states hold."""

    h: Tensor  # (steps, batch, hidden)
    before: Tensor  # the same one step earlier: the first state included, the last left out
    c: Tensor | None  # (batch, hidden): the last one, of an LSTM


def parts_of_states(
    states: Tensor, cell: str, shape: Sequence[int], is_reversed: bool, keeps: bool
) -> StateParts:
    """Part the states of a layer; shape is (steps, batch, hidden)."""
    steps, batch, hidden = shape
    plane = batch * hidden
    end = (steps + 1) * plane
    rows = reshape(states[:end], (steps + 1, batch, hidden))
    h, before = (rows[:-1], rows[1:]) if is_reversed else (rows[1:], rows[:-1])
    if cell != "lstm":
        return StateParts(h, before, None)
    last = end if is_reversed or not keeps else end + steps * plane
    return StateParts(h, before, reshape(states[last : last + plane], (batch, hidden)))


class SlopeParts(NamedTuple):
    """Views of what the slopes along a layer hold."""

    gates: Tensor  # (steps * batch, gates): of the products of the inputs
    product: Tensor  # the same of the products of the states
    h: Tensor  # (batch, hidden): of the first state
    c: Tensor | None


def parts_of_slopes(slopes: Tensor, cell: str, shape: Sequence[int]) -> SlopeParts:
    """Part the slopes of a layer; shape is (steps, batch, hidden)."""
    steps, batch, hidden = shape
    rows, width, plane = steps * batch, GATES[cell] * hidden, batch * hidden
    size = rows * width
    gates = reshape(slopes[:size], (rows, width))
    product = reshape(slopes[size : 2 * size], (rows, width)) if cell == "gru" else gates
    start = 2 * size if cell == "gru" else size
    h = reshape(slopes[start : start + plane], (batch, hidden))
    c = reshape(slopes[start + plane :], (batch, hidden)) if cell == "lstm" else None
    return SlopeParts(gates, product, h, c)
