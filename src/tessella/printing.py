"""How tensors print: dtype and shape first, then the values, shortened where they are many."""

from __future__ import annotations

import math

from tessella._core import Tensor
from tessella.hints import Any

_SHOWN = 1000  # elements up to which all are shown
_EDGE = 3  # items kept at each end of a shortened axis


def represent(x: Tensor) -> str:
    """Show a tensor.

    >>> ts.arange(3)
    tensor int64 (3,) [0, 1, 2]
    """
    state = ""
    if x.grad_fn is not None:
        state = f" from {x.grad_fn.function.__name__}"
    elif x.requires_grad:
        state = " requires_grad"
    head = f"tensor {x.dtype} {x.shape}{state}"
    if x.is_virtual:
        return f"{head} virtual"
    if x.is_freed:
        return f"{head} freed"
    body = _lines(_formatted(x), x.ndim)
    return f"{head} {body}" if "\n" not in body else f"{head}\n{body}"


def formatted(self: Tensor, specification: str) -> str:
    """Format each element as Python formats numbers; without a specification, print the tensor.

    >>> f"{ts.tensor([1.0, 2.5]):.2f}"
    '[1.00, 2.50]'
    """
    if not specification:
        return str(self)
    plain = self.detach()
    values = _shortened(plain) if self.size > _SHOWN else plain.tolist()
    texts = _map(values, lambda v: v if v is ... else format(v, specification))
    return _lines(texts, self.ndim)


def _formatted(x: Tensor) -> Any:
    """Nest the texts of the shown elements, padded to one width."""
    plain = x.detach()
    values = _shortened(plain) if x.size > _SHOWN else plain.tolist()
    texts: list[str] = []
    floats = [v for v in _flatten(values) if isinstance(v, float) and math.isfinite(v)]
    largest = max((abs(v) for v in floats), default=0.0)
    smallest = min((abs(v) for v in floats if v), default=1.0)
    scientific = largest >= 1e6 or smallest < 1e-4
    whole = all(v == int(v) for v in floats)

    def text(value: Any) -> str:
        if isinstance(value, complex):
            return f"{value:.4g}"
        if not isinstance(value, float):
            return str(value)
        if not math.isfinite(value):
            return str(value)
        return f"{value:.4e}" if scientific else f"{value:.0f}." if whole else f"{value:.4f}"

    for value in _flatten(values):
        texts.append(text(value))
    width = max(map(len, texts), default=0) if x.ndim else 0
    return _map(values, lambda v: v if v is ... else text(v).rjust(width))


def _shortened(x: Tensor) -> Any:
    """Read only the ends of long axes; `...` stands for what lies between."""
    if x.ndim == 0:
        return x.item()
    size = x.shape[0]
    if size <= 2 * _EDGE:
        return [_shortened(x[i]) for i in range(size)]
    head = [_shortened(x[i]) for i in range(_EDGE)]
    tail = [_shortened(x[i]) for i in range(size - _EDGE, size)]
    return [*head, ..., *tail]


def _flatten(values: Any) -> list[Any]:
    stack, flat = [values], []
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack.extend(reversed(value))
        elif value is not ...:
            flat.append(value)
    return flat


def _map(values: Any, function: Any) -> Any:
    return [_map(v, function) for v in values] if isinstance(values, list) else function(values)


def _lines(values: Any, ndim: int, indent: int = 1) -> str:
    if not isinstance(values, list):
        return "..." if values is ... else str(values)
    separator = ", " if ndim <= 1 else "," + "\n" * (ndim - 1) + " " * indent
    return "[" + separator.join(_lines(v, ndim - 1, indent + 1) for v in values) + "]"
