"""Records calls of torch.nn.functional as figures that the tests compare with.

Run by the scripts figures_*.py in the environment of the benchmarks (.bench-venv), which has torch.
A figure is one call: its operands, keywords, result, and the gradients of those operands given by
position that hold floats.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "figures"


def listed(x: Any) -> Any:
    """Give a tensor as its dtype and nested lists; anything else as it is."""
    if not isinstance(x, torch.Tensor):
        return x
    return {"dtype": str(x.dtype).removeprefix("torch."), "values": rounded(x.tolist())}


def rounded(values: Any) -> Any:
    """Give floats with as many digits as tell a float32 from its neighbours."""
    if isinstance(values, list):
        return [rounded(each) for each in values]
    return float(str(np.float32(values))) if isinstance(values, float) else values


def cotangent(out: torch.Tensor) -> torch.Tensor:
    """Give a gradient of a result in which no two elements are equal."""
    return (torch.arange(out.numel(), dtype=out.dtype) * 0.25 + 1).reshape(out.shape)


def figure(name: str, *operands: Any, **keywords: Any) -> dict[str, Any]:
    """Call a function of torch.nn.functional, and go back through it."""

    def leaf(x: Any) -> Any:
        is_float = isinstance(x, torch.Tensor) and x.is_floating_point()
        return x.detach().clone().requires_grad_() if is_float else x

    given = [leaf(x) for x in operands]
    leaves = [x for x in given if isinstance(x, torch.Tensor) and x.requires_grad]
    out = getattr(torch.nn.functional, name)(*given, **keywords)
    found = torch.autograd.grad(out, leaves, cotangent(out), allow_unused=True)
    return {
        "name": name,
        "operands": [listed(x.detach() if isinstance(x, torch.Tensor) else x) for x in given],
        "keywords": {key: listed(x) for key, x in keywords.items()},
        "result": listed(out.detach()),
        "gradients": [None if g is None else listed(g) for g in found],
    }


def save(noun: str, figures: list[dict[str, Any]]) -> None:
    """Write figures, one a line."""
    FOLDER.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(each) for each in figures)
    (FOLDER / f"{noun}.json").write_text(f"[\n{lines}\n]\n")
    print(f"{len(figures)} figures of torch {torch.__version__} in tests/figures/{noun}.json")


# --- modules -------------------------------------------------------------------------------------


def pattern(shape: tuple[int, ...], seed: int) -> torch.Tensor:
    """Give numbers that both libraries make alike: parameters, inputs and cotangents."""
    count = torch.Size(shape).numel()
    return (((torch.arange(count) * 29 + 7 * seed) % 61 - 30) / 64).reshape(shape)


def tensors_in(value: Any) -> list[torch.Tensor]:
    """List the tensors of nested tuples."""
    if isinstance(value, tuple | list):
        return [x for each in value for x in tensors_in(each)]
    return [value] if isinstance(value, torch.Tensor) else []


def module_figure(name: str, options: dict[str, Any], *inputs: Any, **keywords: Any) -> Any:
    """Call a module of torch.nn in training mode, with patterns for parameters, and go back.

    Inputs are shapes of patterns, tensors, None, or tuples of them.
    """
    module = getattr(torch.nn, name)(**options)
    seeds = iter(range(1, 1000))
    with torch.no_grad():
        for x in module.parameters():
            x.copy_(pattern(tuple(x.shape), next(seeds)))

    def given(x: Any) -> Any:
        if isinstance(x, tuple) and x and all(isinstance(n, int) for n in x):
            return pattern(x, next(seeds)).requires_grad_()
        return tuple(given(each) for each in x) if isinstance(x, tuple) else x

    args = [given(x) for x in inputs]
    outs = tensors_in(module(*args, **keywords))
    leaves = [x for x in [*tensors_in(args), *module.parameters()] if x.requires_grad]
    gs = [pattern(tuple(out.shape), next(seeds)) for out in outs]
    found = torch.autograd.grad(outs, leaves, gs, allow_unused=True)
    return {
        "name": name,
        "options": options,
        "text": repr(module).replace("NonDynamicallyQuantizable", ""),
        "state": {key: list(x.shape) for key, x in module.state_dict().items()},
        "inputs": [listed_input(x) for x in inputs],
        "keywords": {key: listed(x) for key, x in keywords.items()},
        "results": [listed(out.detach()) for out in outs],
        "gradients": [None if g is None else listed(g) for g in found],
    }


def listed_input(x: Any) -> Any:
    """Give an input as the tests read it: a shape, a stored tensor, None, or a list of them."""
    return [listed_input(each) for each in x] if isinstance(x, tuple) else listed(x)
