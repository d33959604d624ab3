"""Figures that torch gave, stored by tools/figures_*.py, and how a call here compares with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import tessella as ts

FOLDER = Path(__file__).resolve().parent / "figures"


def figures_of(noun: str) -> list[dict[str, Any]]:
    """Read the figures of a family."""
    found: list[dict[str, Any]] = json.loads((FOLDER / f"{noun}.json").read_text())
    return found


def label(figure: dict[str, Any]) -> str:
    """Name a figure: the function and its options."""
    options = [name if isinstance(value, dict) else f"{name}={value}"
               for name, value in figure["keywords"].items()]  # fmt: skip
    return " ".join([figure["name"], *options])


def tensor_of(x: Any) -> Any:
    """Make a stored tensor one again; anything else as it is."""
    is_stored = isinstance(x, dict) and "values" in x
    return ts.tensor(x["values"], dtype=getattr(ts, x["dtype"])) if is_stored else x


def array_of(x: Any) -> np.ndarray[Any, Any]:
    """Give a stored tensor as an array."""
    return np.array(x["values"], x["dtype"])


def cotangent(out: ts.Tensor) -> ts.Tensor:
    """Give the gradient of the result that the figures are for."""
    return (ts.arange(out.size).astype(out.dtype) * 0.25 + 1).reshape(out.shape)


def check_figure(figure: dict[str, Any], rtol: float = 2e-5, atol: float = 1e-6) -> None:
    """Make the call here, and compare its result and its gradients with torch's."""
    function = getattr(ts.nn.functional, figure["name"])
    operands = [tensor_of(x) for x in figure["operands"]]
    leaves = [x.requires_grad_() for x in operands
              if isinstance(x, ts.Tensor) and x.dtype.is_floating]  # fmt: skip
    named = {name: tensor_of(x) for name, x in figure["keywords"].items()}
    out = function(*operands, **named)
    compare(out, figure["result"], rtol, atol)
    found = ts.autograd.grad(out, leaves, cotangent(out), allow_unused=True)
    for g, want in zip(found, figure["gradients"], strict=True):
        assert (g is None) <= (want is None)
        if want is not None:
            compare(g, want, rtol, atol)  # type: ignore[arg-type]


def compare(got: ts.Tensor, want: dict[str, Any], rtol: float, atol: float) -> None:
    """Compare a tensor with a stored one, NaN equal to NaN."""
    array = array_of(want)
    assert (got.shape, got.dtype.name) == (array.shape, want["dtype"])
    np.testing.assert_allclose(got.detach().numpy(), array, rtol=rtol, atol=atol)


# --- modules -------------------------------------------------------------------------------------


def pattern(shape: tuple[int, ...], seed: int) -> ts.Tensor:
    """Give the numbers that tools/torch_figures.py gives for a shape."""
    count = int(np.prod(shape))
    values = ((np.arange(count) * 29 + 7 * seed) % 61 - 30) / 64
    return ts.tensor(values.reshape(shape), dtype=ts.float32)


def module_label(figure: dict[str, Any]) -> str:
    """Name a figure of a module: its class, its options and its inputs."""
    options = [f"{name}={value}" for name, value in figure["options"].items()]
    return f"{figure['name']}({', '.join(options)}) {len(figure['inputs'])} {figure['keywords']}"


def check_module_figure(figure: dict[str, Any], rtol: float = 2e-5, atol: float = 2e-6) -> None:
    """Make the module and the call here, and compare results, state, text and gradients."""
    module = getattr(ts.nn, figure["name"])(**figure["options"])
    assert repr(module) == figure["text"]
    state = {key: list(x.shape) for key, x in module.state_dict().items()}
    assert (state, list(state)) == (figure["state"], list(figure["state"]))
    seeds = iter(range(1, 1000))
    with ts.no_grad():
        for x in module.parameters():
            x.copy_(pattern(x.shape, next(seeds)))

    def given(x: Any) -> Any:
        if isinstance(x, list) and x and all(isinstance(n, int) for n in x):
            return pattern(tuple(x), next(seeds)).requires_grad_()
        return tuple(given(each) for each in x) if isinstance(x, list) else tensor_of(x)

    args = [given(x) for x in figure["inputs"]]
    named = {key: tensor_of(x) for key, x in figure["keywords"].items()}
    outs = [x for x in ts.trees.flatten(module(*args, **named))[0] if isinstance(x, ts.Tensor)]
    assert len(outs) == len(figure["results"])
    for out, want in zip(outs, figure["results"], strict=True):
        compare(out, want, rtol, atol)
    leaves = [x for x in [*ts.trees.flatten(args)[0], *module.parameters()]
              if isinstance(x, ts.Tensor) and x.requires_grad]  # fmt: skip
    gs = [pattern(out.shape, next(seeds)) for out in outs]
    found = ts.autograd.grad(outs, leaves, gs, allow_unused=True)
    for g, want in zip(found, figure["gradients"], strict=True):
        assert (g is None) == (want is None)
        if want is not None:
            compare(g, want, rtol, atol)  # type: ignore[arg-type]
