"""Tensors as lists whose form a test knows, and a type checker does not."""

from __future__ import annotations

from typing import Any

from tessella import Tensor


def listed(x: Tensor) -> Any:
    """Give the elements as nested lists: of numbers, or of tuples."""
    return x.tolist()
