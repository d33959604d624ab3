"""Sentences of docs/capabilities.md about transformers that no other test says, as tests."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tessella as ts
from tessella import nn


def draw(*shape: int) -> ts.Tensor:
    """Draw from the seed of the shape."""
    return ts.tensor(np.random.default_rng(shape).normal(size=shape), dtype=ts.float64)


def test_projections_are_products() -> None:
    x = ts.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    w = ts.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert (x @ w).tolist() == [[2.0, 0.0], [1.0, 1.0]]


@pytest.mark.parametrize(("heads", "shared"), [(4, 4), (4, 2), (4, 1)])
def test_causal_attention_written_with_operations_is_the_fused_one(heads: int, shared: int) -> None:
    q, k, v = draw(2, heads, 7, 8), draw(2, shared, 7, 8), draw(2, shared, 7, 8)
    keys, values = (x.repeat_interleave(heads // shared, axis=1) for x in (k, v))
    scores = q @ keys.mT / math.sqrt(8)
    hidden = ts.ones(7, 7, dtype=ts.bool).triu(1)
    written = ts.softmax(scores.masked_fill(hidden, -math.inf), axis=-1) @ values
    fused = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    ts.testing.assert_close(fused, written, rtol=1e-12, atol=1e-12)


def test_norms_gates_and_rotations_written_with_operations_are_the_modules() -> None:
    x = draw(2, 5, 8)
    norm = nn.RMSNorm(8, eps=1e-6, dtype=ts.float64)
    by_hand = (
        x / ((x * x).mean(axis=-1, keepdims=True) + 1e-6).sqrt() * norm.get_parameter("weight")
    )
    ts.testing.assert_close(norm(x), by_hand, rtol=1e-12, atol=1e-12)
    layer = nn.SwiGLU(8, 12, dtype=ts.float64)
    gate, up, down = (part.weight for part in (layer.gate_proj, layer.up_proj, layer.down_proj))
    hidden = x @ gate.mT
    by_hand = (hidden * ts.sigmoid(hidden) * (x @ up.mT)) @ down.mT
    ts.testing.assert_close(layer(x), by_hand, rtol=1e-12, atol=1e-12)
    angles = ts.arange(5, dtype=ts.float64)[:, None] * ts.tensor([1.0, 0.5], dtype=ts.float64)
    turned = nn.functional.rotary(x[..., :4], angles.cos(), angles.sin())
    pairs = ts.complex(x[..., :2], x[..., 2:4]) * ts.exp(1j * angles.to(ts.complex128))
    ts.testing.assert_close(turned, ts.concat([pairs.real, pairs.imag], axis=-1), atol=1e-12)


def test_a_cache_grows_in_an_allocator_of_choice() -> None:
    pool = ts.memory.Arena("1MB")
    cache = ts.models.GrowingCache(1, batch=1, heads=2, features=4, allocator=pool)
    before = pool.used
    for _ in range(20):
        cache.put(0, cache.places(1), ts.ones(1, 2, 1, 4), ts.ones(1, 2, 1, 4))
        cache.advance(1)
    assert int(cache.lengths(0)) == 20
    assert pool.used - before >= cache.nbytes == 20 * 2 * 2 * 4 * 4
