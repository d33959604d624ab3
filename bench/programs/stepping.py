"""How a network is trained once: gradients of its loss on a batch, then Adam's update.

Tessella and PyTorch share one text, which may be compiled. JAX's is one compiled function of the
parameters, Adam's means and a batch; its state is donated, and Adam written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

Step = Callable[[], Any]  # trains once, gives the loss
Loss = Callable[..., Any]  # of a batch; JAX's of a list of parameters and a batch
Maker = Callable[..., Step]

RATE, DECAY, SQUARE_DECAY, EPSILON = 1e-3, 0.9, 0.999, 1e-8


@dataclass(frozen=True)
class ByParts:
    """Compile the loss and the update apart, or only the loss: the better ways for torch."""

    compile: Callable[..., Any]
    has_update: bool = True


Compiler = Callable[..., Any] | ByParts | None


def train_of(loss_of: Loss, optimizer: Any, update: Callable[[], Any]) -> Loss:
    """Give a function that trains once on a batch: the same for Tessella and PyTorch."""

    def train(*batch: Any) -> Any:
        optimizer.zero_grad()
        loss = loss_of(*batch)
        loss.backward()
        update()
        return loss

    return train


def step_of(loss_of: Loss, optimizer: Any, batch: Sequence[Any], compile: Compiler = None) -> Step:
    """Give a function that trains once, as it is written or compiled."""
    if isinstance(compile, ByParts):
        update = compile.compile(optimizer.step) if compile.has_update else optimizer.step
        train = train_of(compile.compile(loss_of), optimizer, update)
    else:
        train = train_of(loss_of, optimizer, optimizer.step)
        train = train if compile is None else compile(train)
    return partial(train, *batch)


def adam(library: Any, parameters: Any, kind: str = "Adam", **options: Any) -> Any:
    """Give a library's own Adam or AdamW."""
    return getattr(library.optim, kind)(
        parameters, lr=RATE, betas=(DECAY, SQUARE_DECAY), eps=EPSILON, **options
    )


# --- JAX ------------------------------------------------------------------------------------------


def update(jnp: Any, state: Any, gradients: list[Any], decay: float) -> Any:
    """Give the state after a step of AdamW as torch has it: the weights shrink, then move."""
    count, parameters, means, squares = state
    count = count + 1
    means = [m + (1 - DECAY) * (g - m) for m, g in zip(means, gradients, strict=True)]
    squares = [
        v + (1 - SQUARE_DECAY) * (g * g - v) for v, g in zip(squares, gradients, strict=True)
    ]
    rate, scale = RATE / (1 - DECAY**count), jnp.sqrt(1 - SQUARE_DECAY**count)
    parameters = [
        p * (1 - RATE * decay) - rate * m / (jnp.sqrt(v) / scale + EPSILON)
        for p, m, v in zip(parameters, means, squares, strict=True)
    ]
    return count, parameters, means, squares


def jitted_step(
    jax: Any, loss_of: Loss, arrays: Sequence[Any], batch: Sequence[Any], decay: float = 0.0
) -> Step:
    """Give a function that trains once; `decay` is that of the weights."""
    jnp = jax.numpy

    def train(state: Any, *batch: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(state[1], *batch)
        return update(jnp, state, gradients, decay), loss

    compiled = jax.jit(train, donate_argnums=0)
    parameters = [jnp.array(array) for array in arrays]
    means, squares = ([jnp.zeros_like(p) for p in parameters] for _ in range(2))
    state = jnp.zeros(()), parameters, means, squares
    given = [jnp.array(array) for array in batch]

    def step() -> Any:
        nonlocal state
        state, loss = compiled(state, *given)
        return loss.block_until_ready()

    return step


def jax_cross_entropy(jax: Any, logits: Any, classes: Any) -> Any:
    """Give the mean of the rows' losses."""
    logs = jax.nn.log_softmax(logits, axis=-1)
    return -jax.numpy.take_along_axis(logs, classes[:, None], axis=-1).mean()
