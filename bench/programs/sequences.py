"""A training step of an LSTM: 64 steps of 32 sequences, 128 wide, the mean square and Adam.

Both libraries call their modules and functions of the same names, and begin with the same numbers.
"""

from __future__ import annotations

from typing import Any

from bench.programs.training import DECAY, EPSILON, RATE, SQUARE_DECAY, Step, step_of

STEPS, BATCH, WIDTH = 64, 32, 128


def start(np: Any) -> list[Any]:
    """Weights and biases in the order of the module, the same every time."""
    random = np.random.default_rng(0)
    shapes = [(4 * WIDTH, WIDTH)] * 2 + [(4 * WIDTH,)] * 2
    bound = WIDTH**-0.5
    return [random.uniform(-bound, bound, shape).astype(np.float32) for shape in shapes]


def examples(np: Any) -> list[Any]:
    """What goes in and what should come out."""
    random = np.random.default_rng(1)
    shape = (STEPS, BATCH, WIDTH)
    return [random.standard_normal(shape).astype(np.float32) for _ in range(2)]


def step(library: Any, np: Any, **options: Any) -> Step:
    """Give a function that trains once: the same text for both libraries."""
    module = library.nn.LSTM(WIDTH, WIDTH)
    with library.no_grad():
        for x, array in zip(module.parameters(), start(np), strict=True):
            x.copy_(library.tensor(array))
    inputs, wanted = (library.tensor(array) for array in examples(np))
    optimizer = library.optim.Adam(
        module.parameters(), lr=RATE, betas=(DECAY, SQUARE_DECAY), eps=EPSILON, **options
    )

    def run() -> Any:
        output, _ = module(inputs)
        return library.nn.functional.mse_loss(output, wanted)

    return step_of(run, optimizer)
