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
