"""A training step of a small convolutional network: 1 to 32 to 64 channels over 28x28 images.

Two 3x3 convolutions with relu, a pool, a linear layer, cross entropy and Adam. Both libraries call
their functions of the same names, and begin with the same numbers.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import Any

from bench.programs.training import (
    DECAY,
    EPSILON,
    RATE,
    SQUARE_DECAY,
    Step,
    step_of,
)

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


def examples(np: Any) -> tuple[Any, Any]:
    """Images and their classes."""
    random = np.random.default_rng(1)
    images = random.standard_normal((BATCH, CHANNELS[0], SIDE, SIDE)).astype(np.float32)
    return images, random.integers(0, CLASSES, BATCH)


def loss_of(functions: Any, parameters: list[Any], x: Any, y: Any) -> Any:
    """Run the network forward: the same text for both libraries."""
    w1, b1, w2, b2, w3, b3 = parameters
    x = functions.relu(functions.conv2d(x, w1, b1))
    x = functions.relu(functions.conv2d(x, w2, b2))
    x = functions.max_pool2d(x, 2).flatten(1)
    return functions.cross_entropy(functions.linear(x, w3, b3), y)


def tessella_step(ts: Any, np: Any) -> Step:
    """Give a function that trains once."""
    parameters = [ts.tensor(array, requires_grad=True) for array in start(np)]
    inputs, wanted = (ts.tensor(array) for array in examples(np))
    run = partial(loss_of, ts.nn.functional, parameters, inputs, wanted)
    optimizer = ts.optim.Adam(parameters, lr=RATE, betas=(DECAY, SQUARE_DECAY), eps=EPSILON)
    return step_of(run, optimizer)


def torch_step(torch: Any, np: Any) -> Step:
    """Give a function that trains once."""
    parameters = [torch.tensor(array, requires_grad=True) for array in start(np)]
    inputs, wanted = (torch.tensor(array) for array in examples(np))
    betas = (DECAY, SQUARE_DECAY)
    optimizer = torch.optim.Adam(parameters, lr=RATE, betas=betas, eps=EPSILON, fused=True)
    return step_of(partial(loss_of, torch.nn.functional, parameters, inputs, wanted), optimizer)
