"""Rows `eager-small` and `eager-more`: what one small operation costs from Python.

Everyday statements on 8 floats and on 16 x 16 matrices, where arithmetic takes nothing and the way
to it is all that is measured.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from bench.cases import Bar, Case, Row, Work, ahead, within
from bench.libraries import Libraries

SIDE = 16
MULTIPLICATIONS = 10

Statements = str | dict[str, str]


def build_add(libs: Libraries, gradients: bool) -> dict[str, Work]:
    """Two tensors of 8 floats; only Tessella and torch can record gradients."""
    a, b = [float(i) for i in range(8)], [1.0 / (i + 1) for i in range(8)]
    made: dict[str, tuple[Any, Any]] = {
        name: tuple(
            module.tensor(values, dtype=module.float32, requires_grad=gradients)
            for values in (a, b)
        )
        for name, module in (("tessella", libs.ts), ("torch", libs.torch))
    }
    if not gradients:
        made["numpy"] = libs.np.array(a, libs.np.float32), libs.np.array(b, libs.np.float32)
        made["jax"] = libs.jnp.array(a), libs.jnp.array(b)
    return {name: Work("a + b", {"a": pair[0], "b": pair[1]}) for name, pair in made.items()}


def train_chain(a: Any, b: Any) -> Any:
    """Ten multiplications and a sum, forward and backward; gives the gradient of the factor."""
    a.grad = b.grad = None
    x = a
    for _ in range(MULTIPLICATIONS):
        x = x * b
    x.sum().backward()
    return b.grad


def build_chain(libs: Libraries) -> dict[str, Work]:
    """The recorded operands again; the same function for both."""
    return {
        name: Work("run(a, b)", {"run": train_chain, **work.names})
        for name, work in build_add(libs, gradients=True).items()
    }


SMALL = Row(
    "eager-small",
    "operations on 8 floats",
    (
        Case("a + b", partial(build_add, gradients=False), (ahead(6, "torch"), ahead(1, "numpy"))),
        Case("a + b, recorded", partial(build_add, gradients=True), (ahead(6, "torch"),)),
        Case("10 multiplications and a sum, backward", build_chain, (ahead(4, "torch"),)),
    ),
)


# A string is the same for everybody; xp is the contender's namespace.
STATEMENTS: dict[str, Statements] = {
    "x.T": "x.T",
    "x[0]": "x[0]",
    "x[1:3]": "x[1:3]",
    "reshape": "x.reshape((8, 32))",
    "sum(axis)": "x.sum(axis=1)",
    "16 x 16 @": "x @ y",
    "linear + relu": {
        "tessella": "xp.relu(x @ w.T + b)",
        "numpy": "xp.maximum(x @ w.T + b, 0)",
        "torch": "nn.relu(nn.linear(x, w, b))",
        "jax": "nn.relu(x @ w.T + b)",
    },
    "softmax": {
        "tessella": "xp.softmax(x, axis=-1)",
        "numpy": "(e := xp.exp(x - x.max(-1, keepdims=True))) / e.sum(-1, keepdims=True)",
        "torch": "xp.softmax(x, -1)",
        "jax": "nn.softmax(x, -1)",
    },
    "exp": "xp.exp(x)",
    "where": "xp.where(m, x, y)",
    "item": "s.item()",
}


def operands(libs: Libraries) -> dict[str, dict[str, Any]]:
    """The names every statement may use, for each contender."""
    x, flat = libs.normal(SIDE, SIDE), libs.normal(SIDE)
    arrays = {"x": x, "y": x[::-1].copy(), "w": x + 1, "b": flat, "s": libs.normal(1), "m": x > 0}
    names: dict[str, dict[str, Any]] = {
        name: {"xp": module} for name, module in libs.modules().items()
    }
    for key, array in arrays.items():
        for name, tensor in libs.copies(array).items():
            names[name][key] = tensor
    names["torch"]["nn"] = libs.torch.nn.functional
    names["jax"]["nn"] = libs.jax.nn
    return names


def build_statement(libs: Libraries, key: str) -> dict[str, Work]:
    """One line of STATEMENTS for everybody."""
    statement = STATEMENTS[key]
    return {
        name: Work(statement if isinstance(statement, str) else statement[name], names)
        for name, names in operands(libs).items()
    }


def more_bars(key: str) -> tuple[Bar, ...]:
    """The two operations that compute must beat NumPy, the others stay near it."""
    computes = key in ("sum(axis)", "16 x 16 @")
    return ahead(3, "torch"), ahead(1, "numpy") if computes else within(2, "numpy")


MORE = Row(
    "eager-more",
    "everyday operations on 16 x 16",
    tuple(Case(key, partial(build_statement, key=key), more_bars(key)) for key in STATEMENTS),
)
