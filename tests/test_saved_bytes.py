"""What is saved for backward of an MLP and of an attention block: at most the bytes torch saves.

The figures of torch 2.13 are those of the same lines, spelt for it: the sum over the storages that
torch.autograd.graph.saved_tensors_hooks sees, each counted once, parameters not counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import tessella as ts
from tessella import memory

FLOAT, INDEX = 4, 8  # bytes
BATCH, CLASSES = 64, 10
B, T, C, HEADS = 8, 32, 64, 4  # sequences, their length, width
TORCH_BYTES = {"mlp": 69_120, "attention": 525_312}

Parameters = list[ts.Tensor]


def layer(inputs: int, outputs: int) -> Parameters:
    """Make a weight and a bias."""
    return [ts.randn(inputs, outputs).requires_grad_(), ts.zeros(outputs).requires_grad_()]


def mlp() -> ts.Tensor:
    """64-128-64-10, relu, cross entropy."""
    (w1, b1), (w2, b2), (w3, b3) = layer(64, 128), layer(128, 64), layer(64, CLASSES)
    x, labels = ts.randn(BATCH, 64), ts.randint(0, CLASSES, (BATCH,))
    x = ts.relu(x @ w1 + b1)
    x = ts.relu(x @ w2 + b2)
    chosen = ts.log_softmax(x @ w3 + b3)[ts.arange(BATCH), labels]
    return -chosen.mean()


def heads(x: ts.Tensor) -> ts.Tensor:
    """(B, T, C) to (B, HEADS, T, C / HEADS)."""
    return x.reshape(B, T, HEADS, C // HEADS).transpose(1, 2)


def attention() -> ts.Tensor:
    """Four heads, causal, with projections and the residual; the mean square."""
    layers = [layer(C, C) for _ in range(4)]
    x, mask = ts.randn(B, T, C), ts.tril(ts.ones(T, T)) > 0
    q, k, v = (heads(x @ w + b) for w, b in layers[:3])
    scores = q @ k.transpose(-1, -2) * (1 / math.sqrt(C // HEADS))  # (B, HEADS, T, T)
    weights = ts.softmax(ts.where(mask, scores, -math.inf), axis=-1)
    joined = (weights @ v).transpose(1, 2).reshape(B, T, C)
    w, b = layers[3]
    return (x + joined @ w + b).square().mean()


# The inputs, two hidden layers, the logarithms: as tensors; the row and column of each label, which
# belong to whoever asks for them: as parameters of the operation.
MLP = FLOAT * BATCH * (64 + 128 + 64 + CLASSES), INDEX * BATCH * 2
# The input, q, k, v, what is projected, what is squared; the weights; the mask.
ATTENTION = FLOAT * (6 * B * T * C + B * HEADS * T * T) + T * T, 0


@pytest.mark.parametrize(
    ("name", "model", "sizes"), [("mlp", mlp, MLP), ("attention", attention, ATTENTION)]
)
def test_saved_bytes_are_at_most_those_of_torch(
    name: str, model: Callable[[], ts.Tensor], sizes: tuple[int, int]
) -> None:
    before = memory.stats().kinds["saved"]
    loss = model()
    assert memory.stats().kinds["saved"] - before == sizes[0]
    assert ts.graph(loss).saved_bytes == sum(sizes)
    assert sum(sizes) <= TORCH_BYTES[name]
    loss.backward()
    assert memory.stats().kinds["saved"] == before
