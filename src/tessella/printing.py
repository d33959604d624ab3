"""How tensors print: dtype and shape first, then the values, shortened where they are many."""

from __future__ import annotations

import math

from tessella import errors
from tessella._core import Tensor
from tessella.hints import Any

_SHOWN = 1000  # elements up to which all are shown
_EDGE = 3  # items kept at each end of a shortened axis


def represent(x: Tensor) -> str:
    """Show a tensor.

    >>> ts.arange(3)
    tensor int64 (3,) [0, 1, 2]
    """
    if x.is_virtual or x.is_freed:
        return head(x)
    body = lines(texts_of(x), x.ndim)
    return f"{head(x)} {body}" if "\n" not in body else f"{head(x)}\n{body}"


def head(x: Tensor, noun: str = "tensor") -> str:
    """Say what a tensor is, without its values."""
    state = ""
    if x.grad_fn is not None:
        state = f" from {x.grad_fn.function.__name__}"
    elif x.requires_grad:
        state = " requires_grad"
    memory = " virtual" if x.is_virtual else " freed" if x.is_freed else ""
    return f"{noun} {x.dtype} {x.shape}{state}{memory}"


def formatted(self: Tensor, specification: str) -> str:
    """Format each element as Python formats numbers; without a specification, print more than one.

    >>> f"{ts.tensor([1.0, 2.5]):.2f}, {ts.tensor(0.5)}"
    '[1.00, 2.50], 0.5'
    """
    if not specification and (self.ndim or self.is_virtual or self.is_freed):
        return str(self)
    try:
        texts = _map(_values(self), lambda v: v if v is ... else format(v, specification))
    except ValueError as error:
        rule = f"one for {self.dtype} elements: {error}"
        wrong = errors.wrong_value("specification", specification, rule)
        raise wrong.locate("format", []) from None
    return lines(texts, self.ndim)


def texts_of(x: Tensor) -> Any:
    """Nest the texts of the shown elements, padded to one width; `...` stands for the others."""
    values = _values(x)
    floats = [v for v in _flatten(values) if isinstance(v, float) and math.isfinite(v)]
    largest = max((abs(v) for v in floats), default=0.0)
    smallest = min((abs(v) for v in floats if v), default=1.0)
    scientific = largest >= 1e6 or smallest < 1e-4
    whole = all(v == int(v) for v in floats)

    def text(value: Any) -> str:
        if isinstance(value, complex):
            return f"{value:.4g}"
        if not isinstance(value, float) or not math.isfinite(value):
            return str(value)
        return f"{value:.4e}" if scientific else f"{value:.0f}." if whole else f"{value:.4f}"

    width = max((len(text(v)) for v in _flatten(values)), default=0) if x.ndim else 0
    return _map(values, lambda v: v if v is ... else text(v).rjust(width))


def _values(x: Tensor) -> Any:
    """Nest the shown elements; lists of no elements are shortened too where they are many."""
    plain = x.detach()
    is_long = math.prod(size or 1 for size in x.shape) > _SHOWN
    return _shortened(plain) if is_long else plain.tolist()


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


def lines(values: Any, ndim: int, indent: int = 1) -> str:
    """Lay nested texts out in brackets."""
    if not isinstance(values, list):
        return "..." if values is ... else str(values)
    separator = ", " if ndim <= 1 else "," + "\n" * (ndim - 1) + " " * indent
    return "[" + separator.join(lines(v, ndim - 1, indent + 1) for v in values) + "]"
