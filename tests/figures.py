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
            compare(g, want, rtol, atol)


def compare(got: ts.Tensor, want: dict[str, Any], rtol: float, atol: float) -> None:
    """Compare a tensor with a stored one, NaN equal to NaN."""
    array = array_of(want)
    assert (got.shape, got.dtype.name) == (array.shape, want["dtype"])
    np.testing.assert_allclose(got.detach().numpy(), array, rtol=rtol, atol=atol)
