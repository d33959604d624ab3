"""A training step of an LSTM: 64 steps of 32 sequences, 128 wide, the mean square and Adam.

Tessella and PyTorch call their modules and functions of the same names, JAX scans its own step;
all begin with the same numbers.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from bench.programs.stepping import Compiler, Step, adam, jitted_step, step_of

STEPS, BATCH, WIDTH = 64, 32, 128


def start(np: Any) -> list[Any]:
    """Weights and biases in the order of the module, the same every time."""
    random = np.random.default_rng(0)
    shapes = [(4 * WIDTH, WIDTH)] * 2 + [(4 * WIDTH,)] * 2
    bound = WIDTH**-0.5
    return [random.uniform(-bound, bound, shape).astype(np.float32) for shape in shapes]


def examples(np: Any, batch: int) -> list[Any]:
    """What goes in and what should come out."""
    random = np.random.default_rng(1)
    shape = (STEPS, batch, WIDTH)
    return [random.standard_normal(shape).astype(np.float32) for _ in range(2)]


def step(
    library: Any, np: Any, compile: Compiler = None, *, batch: int = BATCH, **options: Any
) -> Step:
    """Give a function that trains once: the same text for Tessella and PyTorch."""
    module = library.nn.LSTM(WIDTH, WIDTH)
    with library.no_grad():
        for x, array in zip(module.parameters(), start(np), strict=True):
            x.copy_(library.tensor(array))
    given = [library.tensor(array) for array in examples(np, batch)]

    def loss_of(x: Any, y: Any) -> Any:
        output, _ = module(x)
        return library.nn.functional.mse_loss(output, y)

    return step_of(loss_of, adam(library, module.parameters(), **options), given, compile)


# --- JAX ------------------------------------------------------------------------------------------


def jax_loss(jax: Any, parameters: list[Any], x: Any, y: Any) -> Any:
    """Multiply all inputs at once, then scan the steps."""
    w, u, b, c = parameters
    sigmoid, tanh = jax.nn.sigmoid, jax.numpy.tanh

    def advance(state: Any, gates: Any) -> Any:
        h, cell = state
        i, f, g, o = jax.numpy.split(gates + h @ u.T, 4, axis=-1)
        cell = sigmoid(f) * cell + sigmoid(i) * tanh(g)
        h = sigmoid(o) * tanh(cell)
        return (h, cell), h

    zeros = jax.numpy.zeros(x.shape[1:])
    _, output = jax.lax.scan(advance, (zeros, zeros), x @ w.T + (b + c))
    return ((output - y) ** 2).mean()


def jax_step(jax: Any, np: Any, *, batch: int = BATCH) -> Step:
    """Give a function that trains once."""
    return jitted_step(jax, partial(jax_loss, jax), start(np), examples(np, batch))
