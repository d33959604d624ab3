"""The stored gradients of programs that overwrite tensors are those of the PyTorch that is here."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import torch

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))

from overwriting import PROGRAMS, X, Y  # noqa: E402 - the path is set first

STORED = json.loads((TESTS / "overwriting.json").read_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_stored_gradients_are_those_of_pytorch(name: str) -> None:
    x, y = (torch.tensor(each, dtype=torch.float64, requires_grad=True) for each in (X, Y))
    out = PROGRAMS[name](torch, x, y)
    value, *wanted = STORED[name]
    torch.testing.assert_close(out.detach(), torch.tensor(value, dtype=torch.float64))
    if not out.requires_grad:
        assert wanted == [None, None]
        return
    weights = torch.arange(1, out.numel() + 1, dtype=torch.float64).reshape(out.shape)
    found = torch.autograd.grad(out, (x, y), weights, allow_unused=True)
    for g, want in zip(found, wanted, strict=True):
        assert (g is None) == (want is None)
        if g is not None:
            torch.testing.assert_close(g, torch.tensor(want, dtype=torch.float64))
