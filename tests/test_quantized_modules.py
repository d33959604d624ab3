"""Modules whose weights are blocks of quantised numbers, and the errors about blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tessella as ts
from drawn_blocks import numbers, same
from tessella import nn
from tessella.blocks import MADE

F = nn.functional

# --- errors --------------------------------------------------------------------------------------

ROWS = ts.zeros(3, 34, dtype=ts.uint8)
ERRORS: list[tuple[Any, str, str]] = [
    (lambda: F.quantize(ts.ones(2, 32), "q4_k"), "quantize: q4_k cannot be made, only read",
     "quantize to one of q8_0, q4_0"),
    (lambda: F.quantize(ts.ones(2, 31), "q8_0"),
     "quantize: the last axis of x is 31, and a block of q8_0 holds 32 numbers", "multiple of 32"),
    (lambda: F.quantize(ts.ones(2, 32), "Q8_0"), "quantize: format is 'Q8_0'",
     "one of q8_0, q4_0, q4_1, q5_0, q5_1, q4_k, q5_k, q6_k"),
    (lambda: F.quantize(ts.ones(2, 32), 8), "quantize: format is 8", "must be one of"),  # type: ignore[arg-type]
    (lambda: F.dequantize(ROWS, "q4_0"),
     "dequantize: blocks has rows of 34 bytes, and a block of q4_0 has 18", "another format"),
    (lambda: F.dequantize(ROWS, "q8_0", ts.int32), "dequantize: not defined for int32",
     "dtype=ts.float32"),
    (lambda: F.dequantize(ts.ones(3, 34), "q8_0"),
     "dequantize: not defined for blocks of float32", "quantize(x, format)"),
    (lambda: F.quantized_linear(ts.ones(2, 64), ROWS, format="q8_0"),
     "quantized_linear: x has 64 features, and weight takes 32", "must be 32"),
    (lambda: F.quantized_linear(ts.ones(2, 32).long(), ROWS, format="q8_0"),
     "quantized_linear: not defined for int64", "astype"),
    (lambda: F.quantized_linear(ts.ones(2, 32), ROWS[0], format="q8_0"),
     "quantized_linear: blocks.ndim is 1", "(rows, bytes of a row)"),
    (lambda: F.quantized_linear(ts.ones(2, 32), ROWS, ts.ones(2), format="q8_0"),
     "quantized_linear: bias has shape (2,)", "(3,)"),
    (lambda: F.quantized_linear(ts.tensor(1.0), ROWS, format="q8_0"),
     "quantized_linear: x.ndim is 0", "features"),
    (lambda: F.quantized_linear(ts.ones(2, 32), ROWS, format=None),  # type: ignore[arg-type]
     "quantized_linear: format is None", "must be one of"),
    (lambda: F.quantized_embedding(ts.tensor([0.0]), ROWS, format="q8_0"),
     "quantized_embedding: indices is float32", "indices.long()"),
    (lambda: F.quantized_embedding(ts.tensor([0, 3]), ROWS, format="q8_0"),
     "quantized_embedding: index 3 is out of range for 3 rows", "from 0 to 2"),
    (lambda: F.quantized_embedding(ts.tensor([0]), ROWS[0], format="q8_0"),
     "quantized_embedding: blocks.ndim is 1", "(rows, bytes of a row)"),
    (lambda: nn.QuantizedLinear(33, 4, "q8_0"),
     "QuantizedLinear: in_features is 33, and a block of q8_0 holds 32 numbers", "multiple of 32"),
    (lambda: nn.QuantizedLinear(32, 4, "q1"), "QuantizedLinear: format is 'q1'", "must be one of"),
    (lambda: nn.QuantizedLinear(-1, 4, "q8_0"), "QuantizedLinear: in_features is -1", "at least 0"),
    (lambda: nn.QuantizedLinear.from_linear(nn.ReLU(), "q8_0"),  # type: ignore[arg-type]
     "QuantizedLinear.from_linear: linear must be an nn.Linear, got", "linear"),
    (lambda: nn.QuantizedLinear.from_linear(nn.Linear(32, 2), "q5_0"),
     "quantize: q5_0 cannot be made", "q8_0, q4_0"),
    (lambda: nn.QuantizedEmbedding(5, 100, "q6_k"),
     "QuantizedEmbedding: embedding_dim is 100, and a block of q6_k holds 256 numbers",
     "multiple of 256"),
    (lambda: nn.QuantizedEmbedding.from_embedding(nn.ReLU(), "q8_0"),  # type: ignore[arg-type]
     "QuantizedEmbedding.from_embedding: embedding must be an nn.Embedding, got", "embedding"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "what", "hint"), ERRORS, ids=[what for _, what, _ in ERRORS])
def test_errors_say_what_is_wrong(call: Any, what: str, hint: str) -> None:
    with pytest.raises(ts.errors.TessellaError) as caught:
        call()
    first, *rest = str(caught.value).splitlines()
    assert what in first
    assert hint in next(line for line in rest if line.startswith("  hint: "))


# --- modules -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("bias", [True, False])
def test_a_linear_layer_becomes_a_quantised_one(name: str, bias: bool) -> None:
    linear = nn.Linear(64, 7, bias=bias)
    made = nn.QuantizedLinear.from_linear(linear, name)
    x = ts.from_numpy(numbers(3, 64))
    want = F.quantized_linear(x, F.quantize(linear.weight.detach(), name),
                              linear.bias if bias else None, format=name)  # fmt: skip
    assert same(made(x).detach().numpy(), want.detach().numpy())
    near = linear(x).detach().numpy()
    assert np.abs(made(x).detach().numpy() - near).max() < (0.02 if name == "q8_0" else 0.3)
    shown = f"in_features=64, out_features=7, format={name!r}, bias={bias}"
    assert repr(made) == f"QuantizedLinear({shown})"


def test_quantised_modules_keep_their_state() -> None:
    made = nn.QuantizedLinear.from_linear(nn.Linear(32, 4), "q8_0")
    assert [*made.state_dict()] == ["bias", "weight"]
    assert [name for name, _ in made.named_parameters()] == ["bias"]
    assert not made.weight.requires_grad and made.weight.dtype is ts.uint8
    other = nn.QuantizedLinear(32, 4, "q8_0")
    other.load_state_dict(made.state_dict())
    x = ts.from_numpy(numbers(2, 32))
    assert same(other(x).detach().numpy(), made(x).detach().numpy())
    seen = []
    made.register_forward_hook(lambda module, args, out: seen.append(out.shape))
    made(x)
    assert seen == [(2, 4)]


def test_a_table_becomes_a_quantised_one() -> None:
    table = nn.Embedding(6, 64)
    made = nn.QuantizedEmbedding.from_embedding(table, "q8_0")
    assert [*made.state_dict()] == ["weight"] and not list(made.parameters())
    indices = ts.tensor([[1, 5], [0, 1]])
    off = np.abs(made(indices).numpy() - table(indices).detach().numpy())
    assert off.max() < 0.02
    assert repr(made) == "QuantizedEmbedding(6, 64, format='q8_0')"


def test_a_quantised_network_trains_what_is_not_frozen() -> None:
    model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.QuantizedLinear.from_linear(
        nn.Linear(32, 32), "q4_0"), nn.Linear(32, 1))  # fmt: skip
    x = ts.from_numpy(numbers(16, 8))
    optimizer = ts.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = (model(x) - x.sum(axis=1, keepdims=True)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
