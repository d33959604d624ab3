"""Dropout as modules: at work in training, and giving what they get otherwise."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_float
from tessella.nn import functional
from tessella.nn.modules import Module


class Dropping(Module):
    """What every kind of dropout has: its probability."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p = to_float("p", p)
        if not 0 <= self.p <= 1:
            found = errors.wrong_value("p", p, "between 0 and 1")
            raise found.locate(type(self).__name__, [])
        self.inplace = to_bool("inplace", inplace)

    def extra_repr(self) -> str:
        """Show the options."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(Dropping):
    """Sets elements to 0 with probability p in training, and divides the others by 1 - p.

    >>> nn.Dropout(0.5).eval()(ts.ones(3)).tolist()
    [1.0, 1.0, 1.0]
    """

    def forward(self, x: Tensor) -> Tensor:
        """Drop elements."""
        return functional.dropout(x, self.p, self.training, self.inplace)


class Dropout1d(Dropping):
    """Sets channels of (N, C, L) or (C, L) to 0 with probability p in training.

    >>> nn.Dropout1d(1.0)(ts.ones(2, 3, 4)).sum().item()
    0.0
    """

    def forward(self, x: Tensor) -> Tensor:
        """Drop channels."""
        return functional.dropout1d(x, self.p, self.training, self.inplace)


class Dropout2d(Dropping):
    """Sets channels of (N, C, H, W) to 0 with probability p in training.

    >>> nn.Dropout2d(1.0)(ts.ones(2, 3, 4, 4)).sum().item()
    0.0
    """

    def forward(self, x: Tensor) -> Tensor:
        """Drop channels."""
        return functional.dropout2d(x, self.p, self.training, self.inplace)


class AlphaDropout(Dropping):
    """Sets elements to SELU's least value in training, and keeps mean 0 and variance 1.

    >>> nn.AlphaDropout(0.5).eval()(ts.ones(3)).tolist()
    [1.0, 1.0, 1.0]
    """

    def forward(self, x: Tensor) -> Tensor:
        """Drop elements."""
        return functional.alpha_dropout(x, self.p, self.training, self.inplace)
