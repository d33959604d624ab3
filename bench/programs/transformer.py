"""A training step of a small GPT: 4 layers, 128 wide, 4 heads, 12 texts of 64 of 65 letters, AdamW.

Tessella and PyTorch share one text, which calls modules and functions of the same names; JAX's is a
function of the same parameters in the same order. All begin with the same numbers.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from bench.programs.stepping import Compiler, Step, adam, jax_cross_entropy, jitted_step, step_of

LAYERS, WIDTH, HEADS, CONTEXT, BATCH, LETTERS = 4, 128, 4, 64, 12, 65
DECAY = 0.1  # of the weights
NORM = [(WIDTH,), (WIDTH,)]
FEED = [(4 * WIDTH, WIDTH), (4 * WIDTH,), (WIDTH, 4 * WIDTH), (WIDTH,)]
BLOCK = [*NORM, (3 * WIDTH, WIDTH), (WIDTH, WIDTH), *NORM, *FEED]
SHAPES = [(LETTERS, WIDTH), (CONTEXT, WIDTH), *BLOCK * LAYERS, *NORM, (LETTERS, WIDTH)]


def start(np: Any) -> list[Any]:
    """Parameters in the order of the module, the same every time; none idle."""
    random = np.random.default_rng(0)
    return [random.normal(0.1, 0.05, shape).astype(np.float32) for shape in SHAPES]


def examples(np: Any, batch: int) -> tuple[Any, Any]:
    """Texts (B, T), and the letters that follow each of theirs (B * T)."""
    letters = np.random.default_rng(1).integers(0, LETTERS, (batch, CONTEXT + 1))
    return letters[:, :-1].copy(), letters[:, 1:].flatten()


# --- Tessella and PyTorch -------------------------------------------------------------------------


def network(library: Any) -> Any:
    """Give the module: letters and places to rows, blocks, and logits (B * T, V)."""
    nn, functional = library.nn, library.nn.functional

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        """Attention, then two layers on each place; both beside what they get."""

        def __init__(self) -> None:
            super().__init__()
            self.norm1 = nn.LayerNorm(WIDTH)
            self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
            self.join = nn.Linear(WIDTH, WIDTH, bias=False)
            self.norm2 = nn.LayerNorm(WIDTH)
            self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def attend(self, x: Any) -> Any:
            parts = self.qkv(x).reshape(-1, CONTEXT, 3, HEADS, WIDTH // HEADS)
            q, k, v = parts.permute(2, 0, 3, 1, 4)  # each (B, H, T, D)
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.join(y.transpose(1, 2).reshape(-1, CONTEXT, WIDTH))

        def forward(self, x: Any) -> Any:
            x = x + self.attend(self.norm1(x))
            return x + self.down(functional.gelu(self.up(self.norm2(x))))

    class Network(nn.Module):  # type: ignore[misc, name-defined]
        """The whole."""

        def __init__(self) -> None:
            super().__init__()
            self.letters, self.places = nn.Embedding(LETTERS, WIDTH), nn.Embedding(CONTEXT, WIDTH)
            self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
            self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, LETTERS, bias=False)

        def forward(self, ids: Any) -> Any:
            x = self.letters(ids) + self.places(library.arange(CONTEXT))
            return self.head(self.norm(self.blocks(x))).flatten(0, 1)

    return Network()


def step(
    library: Any, np: Any, compile: Compiler = None, *, batch: int = BATCH, **options: Any
) -> Step:
    """Give a function that trains once."""
    module = network(library)
    with library.no_grad():
        for x, array in zip(module.parameters(), start(np), strict=True):
            x.copy_(library.tensor(array))
    given = [library.tensor(array) for array in examples(np, batch)]
    optimizer = adam(library, module.parameters(), "AdamW", weight_decay=DECAY, **options)

    def loss_of(ids: Any, wanted: Any) -> Any:
        return library.nn.functional.cross_entropy(module(ids), wanted)

    return step_of(loss_of, optimizer, given, compile)


# --- JAX ------------------------------------------------------------------------------------------


def jax_norm(jax: Any, x: Any, weight: Any, bias: Any) -> Any:
    """Normalise rows."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + 1e-5) * weight + bias


def jax_block(jax: Any, parameters: list[Any], x: Any) -> Any:
    """Attention, then two layers on each place."""
    w1, b1, qkv, join, w2, b2, up, up_bias, down, down_bias = parameters
    parts = (jax_norm(jax, x, w1, b1) @ qkv.T).reshape(-1, CONTEXT, 3, HEADS, WIDTH // HEADS)
    q, k, v = parts.transpose(2, 0, 3, 1, 4)  # each (B, H, T, D)
    logits = q @ k.swapaxes(-1, -2) / math.sqrt(WIDTH // HEADS)
    causal = jax.numpy.tri(CONTEXT, dtype=bool)
    weights = jax.nn.softmax(jax.numpy.where(causal, logits, -jax.numpy.inf), axis=-1)
    x = x + (weights @ v).transpose(0, 2, 1, 3).reshape(x.shape) @ join.T
    hidden = jax.nn.gelu(jax_norm(jax, x, w2, b2) @ up.T + up_bias, approximate=False)
    return x + hidden @ down.T + down_bias


def jax_loss(jax: Any, parameters: list[Any], ids: Any, wanted: Any) -> Any:
    """Run the network forward."""
    letters, places, *blocks, weight, bias, head = parameters
    x = letters[ids] + places
    for i in range(0, len(blocks), len(BLOCK)):
        x = jax_block(jax, blocks[i : i + len(BLOCK)], x)
    logits = jax_norm(jax, x, weight, bias) @ head.T
    return jax_cross_entropy(jax, logits.reshape(-1, LETTERS), wanted)


def jax_step(jax: Any, np: Any, *, batch: int = BATCH) -> Step:
    """Give a function that trains once."""
    return jitted_step(jax, partial(jax_loss, jax), start(np), examples(np, batch), DECAY)
