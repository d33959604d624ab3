"""Row `rows`: operations over the rows of 4096 x 1024 floats, forward and backward.

Each contender gives the gradient of x; JAX is compiled, and keeps the result too, as the others do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from bench.cases import Case, Row, Work, ahead
from bench.libraries import Libraries

ROWS, WIDTH = 4096, 1024
NAMES = ("softmax", "layer norm", "cross entropy")

Step = Callable[[], Any]


def data(libs: Libraries, rows: int) -> tuple[Any, Any, Any]:
    """x, the gradient of a result, and classes."""
    random = libs.np.random.default_rng(1)
    g = random.standard_normal((rows, WIDTH), dtype=libs.np.float32)
    return libs.normal(rows, WIDTH), g, random.integers(0, WIDTH, rows)


def eager_step(functional: Any, tensor: Any, name: str, arrays: tuple[Any, Any, Any]) -> Step:
    """Tessella and torch: the same lines."""
    x, g, classes = map(tensor, arrays)
    x.requires_grad_()
    ones, zeros = (tensor(value * arrays[0][0] + one) for value, one in ((0, 1), (0, 0)))
    for vector in (ones, zeros):
        vector.requires_grad_()

    def step() -> Any:
        x.grad = ones.grad = zeros.grad = None
        if name == "softmax":
            functional.softmax(x, -1).backward(g)
        elif name == "layer norm":
            functional.layer_norm(x, (WIDTH,), ones, zeros).backward(g)
        else:
            functional.cross_entropy(x, classes).backward()
        return x.grad

    return step


def jax_step(jax: Any, jnp: Any, name: str, arrays: tuple[Any, Any, Any]) -> Step:
    """The same by jax.vjp, compiled."""
    x, g, classes = map(jnp.asarray, arrays)

    def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = (centred**2).mean(axis=-1, keepdims=True)
        return centred * jax.lax.rsqrt(variance + 1e-5) * weight + bias

    def cross_entropy(x: Any) -> Any:
        logs = jax.nn.log_softmax(x, axis=-1)
        return -jnp.take_along_axis(logs, classes[:, None], axis=-1).mean()

    vectors = (jnp.ones(WIDTH), jnp.zeros(WIDTH))
    f, operands, begin = {
        "softmax": (jax.nn.softmax, (x,), g),
        "layer norm": (layer_norm, (x, *vectors), g),
        "cross entropy": (cross_entropy, (x,), jnp.ones(())),
    }[name]

    def both(*operands: Any) -> Any:
        out, pull = jax.vjp(f, *operands)
        return out, pull(begin)

    compiled = jax.jit(both)

    def step() -> Any:
        out, gradients = compiled(*operands)
        out.block_until_ready()
        return gradients[0].block_until_ready()

    return step


def build(libs: Libraries, name: str, rows: int = ROWS) -> dict[str, Work]:
    """The same numbers for all three."""
    arrays = data(libs, rows)
    steps = {
        "tessella": eager_step(libs.ts.nn.functional, libs.ts.tensor, name, arrays),
        "torch": eager_step(libs.torch.nn.functional, libs.torch.tensor, name, arrays),
        "jax": jax_step(libs.jax, libs.jnp, name, arrays),
    }
    return {who: Work("step()", {"step": step}, rows) for who, step in steps.items()}


ROW = Row(
    "rows",
    f"softmax, layer norm and cross entropy over {ROWS} x {WIDTH}, forward and backward",
    tuple(Case(name, partial(build, name=name), (ahead(1.2, "torch", "jax"),)) for name in NAMES),
)
