"""Row `rows`: operations over the rows of 4096 x 1024 floats, forward and backward.

Each contender gives the gradient of x; JAX is compiled, and keeps the result too, as the others do.
Tessella is eager, as a user first meets it; torch is raced eager and compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from bench.cases import Case, Row, Work, ahead
from bench.libraries import COMPILED_TORCH, Libraries

ROWS, WIDTH = 4096, 1024
NAMES = ("softmax", "layer norm", "cross entropy")

Step = Callable[[], Any]


def data(libs: Libraries, rows: int) -> tuple[Any, Any, Any]:
    """x, the gradient of a result, and classes."""
    random = libs.np.random.default_rng(1)
    g = random.standard_normal((rows, WIDTH), dtype=libs.np.float32)
    return libs.normal(rows, WIDTH), g, random.integers(0, WIDTH, rows)


def function_of(functional: Any, name: str) -> Callable[..., Any]:
    """Tessella's and torch's, of x, a weight, a bias and classes."""

    def softmax(x: Any, weight: Any, bias: Any, classes: Any) -> Any:
        return functional.softmax(x, -1)

    def layer_norm(x: Any, weight: Any, bias: Any, classes: Any) -> Any:
        return functional.layer_norm(x, (WIDTH,), weight, bias)

    def cross_entropy(x: Any, weight: Any, bias: Any, classes: Any) -> Any:
        return functional.cross_entropy(x, classes)

    return dict(zip(NAMES, (softmax, layer_norm, cross_entropy), strict=True))[name]


def eager_step(
    module: Any, name: str, arrays: tuple[Any, Any, Any], compile: Callable[..., Any] | None = None
) -> Step:
    """Tessella and torch: the same lines; the way forward may be compiled."""
    x, g, classes = map(module.tensor, arrays)
    ones, zeros = (module.tensor(0 * arrays[0][0] + value) for value in (1, 0))
    leaves = [leaf.requires_grad_() for leaf in (x, ones, zeros)]
    f = function_of(module.nn.functional, name)
    f = f if compile is None else compile(f)
    begin = () if name == "cross entropy" else (g,)

    def step() -> Any:
        for leaf in leaves:
            leaf.grad = None
        f(*leaves, classes).backward(*begin)
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
    """The same numbers for everybody."""
    arrays = data(libs, rows)
    libs.torch.compiler.reset()
    steps = {
        "tessella": eager_step(libs.ts, name, arrays),
        "torch": eager_step(libs.torch, name, arrays),
        COMPILED_TORCH: eager_step(libs.torch, name, arrays, libs.torch.compile),
        "jax": jax_step(libs.jax, libs.jnp, name, arrays),
    }
    return {who: Work("step()", {"step": step}, rows) for who, step in steps.items()}


ROW = Row(
    "rows",
    f"softmax, layer norm and cross entropy over {ROWS} x {WIDTH}, forward and backward",
    tuple(
        Case(name, partial(build, name=name), (ahead(1.2, "torch", COMPILED_TORCH, "jax"),))
        for name in NAMES
    ),
)
