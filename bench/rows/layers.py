"""Row `layers`: other parts of networks, forward and backward, and an optimizer's update.

Each contender gives the gradient of its first operand, Adam a parameter; what dropout keeps is not
compared. JAX is compiled, keeps the result too, and donates what it replaces. torch is raced eager
and compiled, its update too; Tessella is eager.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from bench.cases import Case, Row, Work, ahead
from bench.libraries import COMPILED_TORCH, Libraries

ROWS, WIDTH = 4096, 1024
WORDS, FEATURES, TAKEN = 10_000, 256, 8192
SMALL_HEADS, LARGE_HEADS = (12, 4, 64, 32), (4, 8, 512, 64)  # batch, heads, tokens, width
PARAMETERS, SIDE = 16, 512
DROPPED = 0.1

Step = Callable[[], Any]
Function = Callable[..., Any]  # of the namespace of a library and operands
Compiler = Callable[..., Any]
BEST = ("torch", COMPILED_TORCH, "jax")


def eager_step(
    module: Any, arrays: list[Any], g: Any, f: Function, compile: Compiler | None = None
) -> Step:
    """Tessella and torch: the same lines. Floats get gradients; the way forward may be compiled."""
    operands = [module.tensor(array) for array in arrays]
    cotangent = module.tensor(g)
    leaves = [x.requires_grad_() for x in operands if x.dtype == module.float32]
    forward = partial(f, module.nn.functional)
    forward = forward if compile is None else compile(forward)

    def step() -> Any:
        for leaf in leaves:
            leaf.grad = None
        forward(*operands).backward(cotangent)
        return leaves[0].grad

    return step


def jax_step(jax: Any, jnp: Any, arrays: list[Any], g: Any, f: Function) -> Step:
    """The same by jax.vjp, compiled."""
    operands = [jnp.asarray(array) for array in arrays]
    cotangent = jnp.asarray(g)
    floats = [place for place, x in enumerate(operands) if x.dtype == jnp.float32]

    def both(operands: list[Any], cotangent: Any) -> Any:
        def of_floats(*values: Any) -> Any:
            given = dict(zip(floats, values, strict=True))
            return f(jax, *(given.get(place, x) for place, x in enumerate(operands)))

        out, pull = jax.vjp(of_floats, *(operands[place] for place in floats))
        return out, pull(cotangent)

    compiled = jax.jit(both)

    def step() -> Any:
        out, gradients = compiled(operands, cotangent)
        out.block_until_ready()
        return gradients[0].block_until_ready()

    return step


def build(
    libs: Libraries, arrays: Callable[[Libraries], tuple[list[Any], Any]], eager: Function,
    jitted: Function, amount: float = 1.0,
) -> dict[str, Work]:  # fmt: skip
    """The same numbers for everybody."""
    given, g = arrays(libs)
    libs.torch.compiler.reset()
    steps = {
        "tessella": eager_step(libs.ts, given, g, eager),
        "torch": eager_step(libs.torch, given, g, eager),
        COMPILED_TORCH: eager_step(libs.torch, given, g, eager, libs.torch.compile),
        "jax": jax_step(libs.jax, libs.jnp, given, g, jitted),
    }
    return {who: Work("step()", {"step": step}, amount) for who, step in steps.items()}


# --- the functions -------------------------------------------------------------------------------


def lines(libs: Libraries, rows: int = ROWS) -> tuple[list[Any], Any]:
    """x and a weight."""
    return [libs.normal(rows, WIDTH), libs.normal(WIDTH) + 1], libs.normal(rows, WIDTH)


def rms_norm(functional: Any, x: Any, weight: Any) -> Any:
    """Tessella's and torch's."""
    return functional.rms_norm(x, (WIDTH,), weight, 1e-5)


def jax_rms_norm(jax: Any, x: Any, weight: Any) -> Any:
    """JAX has none of its own."""
    return x * jax.lax.rsqrt((x**2).mean(axis=-1, keepdims=True) + 1e-5) * weight


def heads(libs: Libraries, shape: tuple[int, ...]) -> tuple[list[Any], Any]:
    """Queries, keys and values."""
    return [libs.normal(*shape) + 0.1 * place for place in range(3)], libs.normal(*shape)


def attention(functional: Any, q: Any, k: Any, v: Any) -> Any:
    """Tessella's and torch's, causal."""
    return functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def jax_attention(jax: Any, q: Any, k: Any, v: Any) -> Any:
    """JAX has its heads behind its tokens."""
    turned = (x.swapaxes(1, 2) for x in (q, k, v))
    return jax.nn.dot_product_attention(*turned, is_causal=True).swapaxes(1, 2)


def table(libs: Libraries, times: float = 1) -> tuple[list[Any], Any]:
    """A table of rows (or `times` as many), and which to take."""
    words, count = int(WORDS * times), int(TAKEN * times)
    taken = libs.np.random.default_rng(1).integers(0, words, count)
    return [libs.normal(words, FEATURES), taken], libs.normal(count, FEATURES)


def embedding(functional: Any, weight: Any, taken: Any) -> Any:
    """Tessella's and torch's."""
    return functional.embedding(taken, weight)


def jax_embedding(jax: Any, weight: Any, taken: Any) -> Any:
    """An index."""
    return weight[taken]


def one(libs: Libraries, rows: int = ROWS) -> tuple[list[Any], Any]:
    """x alone."""
    return [libs.normal(rows, WIDTH)], libs.normal(rows, WIDTH)


def dropout(functional: Any, x: Any) -> Any:
    """Tessella's and torch's."""
    return functional.dropout(x, DROPPED)


def jax_dropout(jax: Any, x: Any) -> Any:
    """The same numbers each time, which costs as much."""
    kept = jax.random.bernoulli(jax.random.key(0), 1 - DROPPED, x.shape)
    return jax.numpy.where(kept, x / (1 - DROPPED), 0.0)


# --- Adam ----------------------------------------------------------------------------------------


def eager_adam(
    module: Any, arrays: list[Any], options: dict[str, Any], compile: Compiler | None = None
) -> Step:
    """The step of an optimizer whose gradients are there; it may be compiled."""
    parameters = [module.nn.Parameter(module.tensor(array)) for array in arrays]
    for parameter, array in zip(parameters, arrays, strict=True):
        parameter.grad = module.tensor(array) * 0.1
    optimizer = module.optim.Adam(parameters, lr=1e-3, **options)
    update = optimizer.step if compile is None else compile(optimizer.step)

    def step() -> Any:
        update()
        return parameters[0]

    return step


def jax_adam(jax: Any, jnp: Any, arrays: list[Any]) -> Step:
    """The same formula over a list of leaves."""

    def update(state: Any, gradients: Any) -> Any:
        values, firsts, seconds, count = state
        count = count + 1
        size = 1e-3 / (1 - 0.9**count)
        correction = jnp.sqrt(1 - 0.999**count)
        firsts = [0.9 * m + 0.1 * g for m, g in zip(firsts, gradients, strict=True)]
        seconds = [0.999 * v + 0.001 * g * g for v, g in zip(seconds, gradients, strict=True)]
        values = [
            x - size * m / (jnp.sqrt(v) / correction + 1e-8)
            for x, m, v in zip(values, firsts, seconds, strict=True)
        ]
        return values, firsts, seconds, count

    compiled = jax.jit(update, donate_argnums=0)
    gradients = [jnp.asarray(array) * 0.1 for array in arrays]
    zeros = [[jnp.zeros_like(g) for g in gradients] for _ in range(2)]
    state: Any = ([jnp.array(array) for array in arrays], *zeros, jnp.zeros(()))

    def step() -> Any:
        nonlocal state
        state = jax.block_until_ready(compiled(state, gradients))
        return state[0][0]

    return step


def build_adam(libs: Libraries, count: int = PARAMETERS, amount: float = 1.0) -> dict[str, Work]:
    """Four million parameters in 16 matrices, or other counts of them."""
    arrays = [libs.normal(SIDE, SIDE) for _ in range(count)]
    libs.torch.compiler.reset()
    steps = {
        "tessella": eager_adam(libs.ts, arrays, {}),
        "torch": eager_adam(libs.torch, arrays, {"fused": True}),
        COMPILED_TORCH: eager_adam(libs.torch, arrays, {}, libs.torch.compile),
        "jax": jax_adam(libs.jax, libs.jnp, arrays),
    }
    return {who: Work("step()", {"step": step}, amount) for who, step in steps.items()}


# --- the row -------------------------------------------------------------------------------------


def attention_name(shape: tuple[int, ...]) -> str:
    """How the table calls it."""
    return f"attention, {math.prod(shape[:2])} heads of {shape[2]} x {shape[3]}"


def case(name: str, arrays: Any, eager: Function, jitted: Function, **options: Any) -> Case:
    """A case that is ahead of all."""
    made = partial(build, arrays=arrays, eager=eager, jitted=jitted)
    return Case(name, made, (ahead(1, *BEST),), **options)


ROW = Row(
    "layers",
    "other parts of networks, forward and backward, and an update",
    (
        case(f"RMS norm, {ROWS} x {WIDTH}", lines, rms_norm, jax_rms_norm),
        *(
            case(attention_name(shape), partial(heads, shape=shape), attention, jax_attention)
            for shape in (SMALL_HEADS, LARGE_HEADS)
        ),
        case(f"embedding, {TAKEN} of {WORDS} x {FEATURES}", table, embedding, jax_embedding),
        case(f"dropout, {ROWS} x {WIDTH}", one, dropout, jax_dropout, tolerance=None),
        Case(
            f"Adam, {PARAMETERS} of {SIDE} x {SIDE}", build_adam, (ahead(1, *BEST),),
            tolerance=1e-3,
        ),
    ),
)  # fmt: skip
