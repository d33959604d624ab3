"""Recurrent networks: torch's figures, the composite, bits, gradients, memory, and errors."""

from __future__ import annotations

import signal
import time
from typing import Any

import numpy as np
import pytest

import tessella as ts
from cases import to_array
from figures import check_module_figure, figures_of, module_label
from reference import assert_same_tensors
from tessella import _core, memory, nn
from tessella.nn.functional.recurrent import Weights, layer, layer_composite
from tessella.nn.functional.sequences import GATES

CELLS = list(GATES)
NETWORKS: dict[str, Any] = {"RNN": nn.RNN, "LSTM": nn.LSTM, "GRU": nn.GRU}


@pytest.mark.parametrize("figure", figures_of("recurrent"), ids=module_label)
def test_results_and_gradients_are_those_of_torch(figure: dict[str, Any]) -> None:
    check_module_figure(figure)


# --- the layer against its composite -------------------------------------------------------------


def operands(cell: str, steps: int, batch: int, inputs: int, hidden: int, dtype: Any) -> list[Any]:
    """Draw x, the first states and the weights of a layer."""
    rng = np.random.default_rng([steps, batch, inputs, hidden, GATES[cell]])
    gates = GATES[cell] * hidden

    def draw(*shape: int) -> ts.Tensor:
        return ts.tensor(rng.uniform(-0.7, 0.7, shape), dtype=dtype)

    states = [draw(batch, hidden), draw(batch, hidden) if cell == "lstm" else None]
    return [draw(steps, batch, inputs), *states, draw(gates, inputs), draw(gates, hidden),
            draw(gates), draw(gates)]  # fmt: skip


def run(make: Any, cell: str, is_reversed: bool, given: list[Any]) -> list[Any]:
    """Give results, and the gradients of all operands."""
    leaves: Any = [x if x is None else x.clone().requires_grad_() for x in given]
    x, h, c, *weights = leaves
    out, last = make(cell, is_reversed, x, h, c, Weights(*weights))
    loss = (out * out.cos()).sum() if last is None else (out * out.cos()).sum() + (last**3).sum()
    loss.backward()
    return [out.detach(), last if last is None else last.detach(),
            *[x if x is None else x.grad for x in leaves]]  # fmt: skip


SIZES = [(2, 1, 1, 1), (5, 3, 4, 7), (3, 9, 2, 33), (7, 70, 3, 16), (2, 0, 3, 4)]


@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64], ids=str)
@pytest.mark.parametrize("cell", CELLS)
def test_layer_equals_its_composite(
    cell: str, dtype: Any, sizes: tuple[int, int, int, int], is_reversed: bool
) -> None:
    given = operands(cell, *sizes, dtype)
    got = run(layer, cell, is_reversed, given)
    want = run(layer_composite, cell, is_reversed, given)
    eps = float(np.finfo(dtype.name).eps)
    for x, y in zip(got, want, strict=True):
        if x is None or y is None:
            assert x is y
        else:
            scale = float(np.abs(to_array(y)).max(initial=1.0))
            ts.testing.assert_close(x, y, rtol=32 * eps, atol=32 * eps * scale)


@pytest.mark.parametrize("cell", CELLS)
def test_layer_has_the_bits_of_its_composite(cell: str) -> None:
    given = operands(cell, 5, 6, 4, 20, ts.float32)
    got, want = (run(make, cell, False, given) for make in (layer, layer_composite))
    assert_same_tensors(got[0], want[0])


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16], ids=str)
@pytest.mark.parametrize("cell", CELLS)
def test_halves_are_computed_in_float32(cell: str, dtype: Any) -> None:
    given = operands(cell, 9, 3, 4, 5, dtype)
    wide = [x if x is None else x.float() for x in given]
    for x, y in zip(run(layer, cell, False, given), run(layer, cell, False, wide), strict=True):
        if x is not None:
            assert x.dtype is dtype
            eps = 2.0**-10 if dtype is ts.float16 else 2.0**-7
            # The loss itself is computed in halves.
            ts.testing.assert_close(x.float(), y, rtol=8 * eps, atol=16 * eps)


def test_half_outputs_are_those_of_float32_rounded_once() -> None:
    module = nn.LSTM(3, 4, dtype="bfloat16")
    x = ts.randn(6, 2, 3).bfloat16()
    out, (h_n, c_n) = module(x)
    wide = nn.LSTM(3, 4).requires_grad_(False)
    wide.load_state_dict({k: v.float() for k, v in module.state_dict().items()})
    want, (h_wide, c_wide) = wide(x.float())
    assert_same_tensors(out.detach(), want.bfloat16())
    assert_same_tensors(h_n.detach(), h_wide.bfloat16())
    assert_same_tensors(c_n.detach(), c_wide.bfloat16())


# --- the same bits -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NETWORKS)
def test_threads_and_layouts_give_the_same_bits(name: str) -> None:
    module = NETWORKS[name](24, 40, 2, bidirectional=True)
    x = ts.randn(12, 33, 24)
    strided = x.permute(2, 1, 0).contiguous().permute(2, 1, 0)

    def trained(threads: int, given: ts.Tensor) -> list[ts.Tensor]:
        module.zero_grad()
        with ts.num_threads(threads):
            out, last = module(given)
            (out * out).mean().backward()
        states = list(last) if isinstance(last, tuple) else [last]
        return [out.detach(), *[s.detach() for s in states], *[p.grad for p in module.parameters()]]

    first = trained(1, x)
    for other in (trained(2, x), trained(5, x), trained(2, strided)):
        for a, b in zip(first, other, strict=True):
            assert_same_tensors(a, b)


@pytest.mark.parametrize("name", NETWORKS)
def test_recording_does_not_change_bits(name: str) -> None:
    module = NETWORKS[name](5, 6, 2, bidirectional=True)
    for steps in (1, 4):
        x = ts.randn(steps, 3, 5)
        recorded = module(x)
        with ts.no_grad():
            plain = module(x)
        pairs = zip(ts.trees.flatten(recorded)[0], ts.trees.flatten(plain)[0], strict=True)
        for a, b in pairs:
            assert_same_tensors(a.detach(), b)  # type: ignore[arg-type, attr-defined]


def test_a_row_does_not_depend_on_the_others() -> None:
    module = nn.GRU(4, 37)
    x = ts.randn(6, 100, 4)
    with ts.no_grad():
        whole, _ = module(x)
        part, _ = module(x[:, 60:63])
    # The products of the inputs are one matrix product, whose bits depend on its shape.
    ts.testing.assert_close(part, whole[:, 60:63], rtol=1e-5, atol=1e-6)


# --- gradients -----------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True}, {"bias": False}])
@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_of_both_orders(name: str, options: dict[str, Any]) -> None:
    module = NETWORKS[name](2, 3, dtype="float64", **options)
    names = [path for path, _ in module.named_parameters()]
    weights = [x.detach() for x in module.parameters()]
    count = len(module.all_weights)

    def call(x: ts.Tensor, h: ts.Tensor, *given: ts.Tensor) -> Any:
        suffixed: Any = dict(zip(names, given, strict=True))
        parts = [Weights(*[suffixed.get(field + end) for field in Weights._fields])
                 for end in ends(module)]  # fmt: skip
        out, last = x, []
        for i in range(0, count, 1 + module.bidirectional):
            found = [layer(module._cell, bool(k), out, h[i + k], h[i + k] if is_lstm else None,
                           parts[i + k]) for k in range(1 + module.bidirectional)]  # fmt: skip
            out = ts.concat([each[0] for each in found], axis=-1)
            last += [each[1] for each in found if each[1] is not None]
        return (out, *last)

    def ends(network: Any) -> list[str]:
        return [end for i in range(network.num_layers) for end in network._suffixes(i)]

    is_lstm = name == "LSTM"
    x = ts.randn(3, 2, 2, dtype=ts.float64)
    h = ts.randn(count, 2, 3, dtype=ts.float64)
    ts.testing.check_grads(call, (x, h, *weights), order=2)


def test_third_derivatives_where_one_tensor_is_two_operands() -> None:
    h = ts.tensor([[0.3, -0.2]], dtype=ts.float64, requires_grad=True)
    module = nn.LSTM(1, 2, dtype="float64").requires_grad_(False)
    x = ts.ones(2, 1, 1, dtype=ts.float64)

    def slope(h: ts.Tensor, order: int) -> ts.Tensor:
        y = layer("lstm", False, x, h, h, module._weights("_l0"))[0].sum()
        for _ in range(order):
            (g,) = ts.autograd.grad(y, [h], create_graph=True)
            y = g.sum()
        return y.detach()

    step = 1e-5
    near = [(h.detach() + sign * step).requires_grad_() for sign in (1, -1)]
    want = (slope(near[0], 2) - slope(near[1], 2)) / (2 * step)
    ts.testing.assert_close(slope(h, 3), want, rtol=1e-6, atol=1e-8)


def test_only_what_is_asked_for_gets_a_gradient() -> None:
    module = nn.LSTM(3, 4)
    module.weight_ih_l0.requires_grad_(False)
    x = ts.randn(5, 2, 3)
    out, (_, c_n) = module(x)
    c_n.sum().backward()
    assert module.weight_ih_l0.grad is None and x.grad is None
    assert module.weight_hh_l0.grad is not None and module.bias_ih_l0.grad is not None
    assert out.requires_grad


def test_output_that_was_overwritten_is_refused() -> None:
    out, _ = nn.GRU(3, 4)(ts.randn(5, 2, 3))
    out.mul_(2)
    with pytest.raises(ts.errors.InplaceError, match="overwritten"):
        out.sum().backward()


# --- memory --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "kept"), [("RNN", 0), ("LSTM", 4), ("GRU", 4)])
def test_saved_bytes_are_input_states_and_gates(name: str, kept: int) -> None:
    steps, batch, hidden = 10, 3, 8
    module, x = NETWORKS[name](hidden, hidden), ts.randn(steps, batch, hidden)
    before = memory.stats().kinds["saved"]
    out, _ = module(x)
    plane, states = 4 * batch * hidden, 2 if name == "LSTM" else 1
    # What comes in: x and the first states. What is made: all states, and the gates.
    planes = steps + states + states * (steps + 1) + kept * steps
    assert memory.stats().kinds["saved"] - before == planes * plane
    out.sum().backward()
    assert memory.stats().kinds["saved"] == before


def test_inference_keeps_outputs_and_the_last_state_only() -> None:
    module = nn.LSTM(8, 8)
    x = ts.randn(50, 4, 8)
    with ts.no_grad():
        before = memory.stats().live
        out, (h_n, c_n) = module(x)
        held = memory.stats().live - before
    plane = 4 * 4 * 8
    assert held <= (51 + 1) * plane + 2 * plane + 1024
    del out, h_n, c_n


# --- networks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NETWORKS)
def test_parameters_begin_uniform_within_the_bound(name: str) -> None:
    ts.manual_seed(0)
    module = NETWORKS[name](30, 25, 2, bidirectional=True)
    for x in module.parameters():
        values = to_array(x.detach())
        assert np.abs(values).max() <= 0.2 and np.abs(values).max() > 0.15
        assert abs(values.mean()) < 0.06
    assert [len(each) for each in module.all_weights] == [4] * 4


@pytest.mark.parametrize("name", NETWORKS)
def test_tensors_without_memory_give_shapes(name: str) -> None:
    module = NETWORKS[name](3, 4, 2, bidirectional=True, batch_first=True)
    virtual = _core.empty_virtual((2, 5, 3), ts.float32.id)
    out, last = module(virtual)
    assert out.is_virtual
    assert out.shape == (2, 5, 8)
    assert ts.trees.flatten(last)[0][0].shape == (4, 2, 4)  # type: ignore[attr-defined]
    assert module(ts.zeros(0, 5, 3))[0].shape == (0, 5, 8)


def test_dropout_stands_between_layers_and_in_training_only() -> None:
    module = nn.LSTM(3, 4, 2, dropout=1.0)
    x = ts.randn(5, 2, 3)
    out, (h_n, _) = module(x)
    inner, (h_1, _) = layer_of(module, 0)(x)
    zeros, _ = layer_of(module, 1)(inner * 0)
    assert_same_tensors(out.detach(), zeros.detach())  # the second layer sees nothing
    assert_same_tensors(h_n[0].detach(), h_1[0].detach())
    whole, _ = layer_of(module, 1)(inner)
    assert_same_tensors(module.eval()(x)[0].detach(), whole.detach())
    module.train().dropout = 0.5
    ts.manual_seed(3)
    first = module(x)[0].detach()
    assert (first != module(x)[0].detach()).any()
    ts.manual_seed(3)
    assert_same_tensors(first, module(x)[0].detach())


def layer_of(module: nn.LSTM, i: int) -> nn.LSTM:
    """Give one layer of a network as a network."""
    state = {name: x for name, x in module.state_dict().items() if name.endswith(f"_l{i}")}
    out = nn.LSTM(state[f"weight_ih_l{i}"].shape[1], module.hidden_size)
    out.load_state_dict({name.replace(f"_l{i}", "_l0"): x for name, x in state.items()})
    return out


def test_dropout_of_a_single_layer_warns() -> None:
    with pytest.warns(UserWarning, match="has no effect") as warned:
        nn.LSTM(3, 4, dropout=0.5)
    assert [each.filename for each in warned] == [__file__]  # the user's line


@pytest.mark.parametrize("batch", [2, 20])  # one chunk of rows, and several
def test_an_interrupt_breaks_a_long_sequence_off(batch: int) -> None:
    class BrokenError(Exception): ...

    def interrupt(*_: Any) -> None:
        raise BrokenError

    module, x = nn.LSTM(8, 256), ts.randn(20_000, batch, 8)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        start = time.thread_time()
        with ts.no_grad(), pytest.raises(BrokenError):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            module(x)
        used = time.thread_time() - start
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    # All of it takes seconds; the thread's own time does not count what other processes take.
    assert used < 0.5


# --- errors --------------------------------------------------------------------------------------

LSTM = nn.LSTM(3, 4, 2)
X = ts.zeros(5, 2, 3)
H = ts.zeros(2, 2, 4)
WRONG: dict[str, tuple[Any, str, str]] = {
    "features": (lambda: LSTM(ts.zeros(5, 2, 7)), "x has 7 features, and input_size is 3",
                 "the last axis of x must be 3"),
    "ndim": (lambda: LSTM(ts.zeros(3)), "x.ndim is 1", "(steps, batch, features)"),
    "h": (lambda: LSTM(X, (ts.zeros(2, 3, 4), H)), "h_0 is (2, 3, 4)",
          "h_0 must be (2, 2, 4): (layers * directions, batch, size)"),
    "c": (lambda: LSTM(X, (H, ts.zeros(2, 2, 5))), "c_0 is (2, 2, 5)", "c_0 must be (2, 2, 4)"),
    "unbatched": (lambda: LSTM(X[:, 0], (H, H)), "h_0 is (2, 2, 4)", "h_0 must be (2, 4)"),
    "pair": (lambda: LSTM(X, H), "hx must be a pair of tensors", "lstm(x, (h_0, c_0))"),  # type: ignore[arg-type]
    "dtype": (lambda: LSTM(X.double()), "x is float64, and the weights are float32",
              "x.to(ts.float32), or module.to(ts.float64)"),
    "state dtype": (lambda: nn.GRU(3, 4)(X, ts.zeros(1, 2, 4).double()),
                    "h_0 is float64, and the weights are float32", "h_0.to(ts.float32)"),
    "steps": (lambda: LSTM(ts.zeros(0, 2, 3)), "x has no steps", "at least one"),
    "packed": (lambda: LSTM([X]), "packed sequences are not known here", "ts.tensor"),  # type: ignore[arg-type]
    "size": (lambda: nn.GRU(3, 0), "hidden_size is 0", "at least 1"),
    "layers": (lambda: nn.GRU(3, 4, num_layers=0), "num_layers is 0", "at least 1"),
    "dropout": (lambda: nn.GRU(3, 4, 2, dropout=1.5), "dropout is 1.5", "from 0 to 1"),
    "word": (lambda: nn.RNN(3, 4, nonlinearity="gelu"), "nonlinearity is 'gelu'", "'tanh'"),
    "projection": (lambda: nn.LSTM(3, 4, proj_size=4), "proj_size is 4", "below hidden_size"),
    "cell features": (lambda: nn.GRUCell(3, 4)(ts.zeros(2, 5)),
                      "x has 5 features, and input_size is 3", "the last axis of x must be 3"),
    "cell state": (lambda: nn.LSTMCell(3, 4)(ts.zeros(2, 3), (ts.zeros(3, 4), ts.zeros(2, 4))),
                   "h_0 is (3, 4)", "h_0 must be (2, 4): (batch, hidden_size)"),
    "cell ndim": (lambda: nn.RNNCell(3, 4)(X), "x.ndim is 3", "2: (batch, features)"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_error_says_what_is_wrong_and_what_to_do(name: str) -> None:
    call, what, hint = WRONG[name]
    with pytest.raises(ts.errors.TessellaError) as caught:
        call()
    first, *rest = str(caught.value).splitlines()
    assert what in first
    assert any(line.startswith("  hint: ") and hint in line for line in rest), str(caught.value)
    assert any(line.startswith("  at test_recurrent.py:") for line in rest)


def test_error_names_the_module_in_a_network() -> None:
    net = nn.Sequential(nn.Linear(3, 5), nn.GRU(4, 4))
    with pytest.raises(ts.errors.ShapeError) as caught:
        net(X)
    text = str(caught.value)
    assert "GRU: x has 5 features, and input_size is 4" in text
    assert "output of net.0" in text and "in net.1: GRU(4, 4)" in text
