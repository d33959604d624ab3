"""A training step of a small convolutional network: 1 to 32 to 64 channels over 28x28 images.

Two 3x3 convolutions with relu, a pool, a linear layer, cross entropy and Adam. Tessella and PyTorch
call their functions of the same names, and all begin with the same numbers.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import Any

from bench.programs.stepping import Compiler, Step, adam, jax_cross_entropy, jitted_step, step_of

BATCH, SIDE, CLASSES = 64, 28, 10
CHANNELS = (1, 32, 64)


def start(np: Any) -> list[Any]:
    """Weights and biases in turn, the same every time."""
    random, arrays = np.random.default_rng(0), []
    side = (SIDE - 4) // 2
    shapes = [(outs, ins, 3, 3) for ins, outs in pairwise(CHANNELS)]
    for shape in (*shapes, (CLASSES, CHANNELS[-1] * side * side)):
        weights = random.standard_normal(shape) / math.sqrt(math.prod(shape[1:]))
        arrays += [weights.astype(np.float32), np.zeros(shape[0], np.float32)]
    return arrays


def examples(np: Any, batch: int) -> tuple[Any, Any]:
    """Images and their classes."""
    random = np.random.default_rng(1)
    images = random.standard_normal((batch, CHANNELS[0], SIDE, SIDE)).astype(np.float32)
    return images, random.integers(0, CLASSES, batch)


def loss_of(functions: Any, parameters: list[Any], x: Any, y: Any) -> Any:
    """Run the network forward: the same text for Tessella and PyTorch."""
    w1, b1, w2, b2, w3, b3 = parameters
    x = functions.relu(functions.conv2d(x, w1, b1))
    x = functions.relu(functions.conv2d(x, w2, b2))
    x = functions.max_pool2d(x, 2).flatten(1)
    return functions.cross_entropy(functions.linear(x, w3, b3), y)


def step(
    library: Any, np: Any, compile: Compiler = None, *, batch: int = BATCH, **options: Any
) -> Step:
    """Give a function that trains once: the same text for Tessella and PyTorch."""
    parameters = [library.tensor(array, requires_grad=True) for array in start(np)]
    given = [library.tensor(array) for array in examples(np, batch)]
    optimizer = adam(library, parameters, **options)
    return step_of(partial(loss_of, library.nn.functional, parameters), optimizer, given, compile)


# --- JAX ------------------------------------------------------------------------------------------


def jax_loss(jax: Any, parameters: list[Any], x: Any, y: Any) -> Any:
    """Run the network forward: channels last and a pool by reshape are fastest in JAX here."""
    w1, b1, w2, b2, w3, b3 = parameters
    layouts = ("NHWC", "HWIO", "NHWC")
    x = x.transpose(0, 2, 3, 1)
    for w, b in ((w1, b1), (w2, b2)):
        kernel = w.transpose(2, 3, 1, 0)
        x = jax.lax.conv_general_dilated(x, kernel, (1, 1), "VALID", dimension_numbers=layouts)
        x = jax.nn.relu(x + b)
    side = x.shape[1] // 2
    x = x.reshape(-1, side, 2, side, 2, CHANNELS[-1]).max(axis=(2, 4)).transpose(0, 3, 1, 2)
    return jax_cross_entropy(jax, x.reshape(len(x), -1) @ w3.T + b3, y)


def jax_step(jax: Any, np: Any, *, batch: int = BATCH) -> Step:
    """Give a function that trains once."""
    return jitted_step(jax, partial(jax_loss, jax), start(np), examples(np, batch))
