"""Dropout as modules: at work in training mode only."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_float
from tessella.nn import functional
from tessella.nn.modules import Module


class _Dropping(Module):
    """A share that becomes 0."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p = to_float("p", p)
        self.inplace = to_bool("inplace", inplace)
        if not 0 <= self.p <= 1:
            raise errors.wrong_value("p", p, "from 0 to 1: the share that becomes 0")

    def extra_repr(self) -> str:
        """Show the share."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropping):
    """Sets a share p of the numbers to 0 and divides the others by 1 - p, in training.

    >>> sorted(set(nn.Dropout(0.5)(ts.ones(99)).tolist()))
    [0.0, 2.0]
    """

    def forward(self, x: Tensor) -> Tensor:
        """Drop numbers."""
        return functional.dropout(x, self.p, self.training, self.inplace)


class Dropout1d(_Dropping):
    """Drops whole channels of (N, C, L) or (C, L), in training.

    >>> nn.Dropout1d()(ts.ones(2, 3, 4)).shape
    (2, 3, 4)
    """

    def forward(self, x: Tensor) -> Tensor:
        """Drop channels."""
        return functional.dropout1d(x, self.p, self.training, self.inplace)


class Dropout2d(_Dropping):
    """Drops whole channels of (N, C, H, W) or (C, H, W), in training.

    >>> nn.Dropout2d()(ts.ones(2, 3, 4, 4)).shape
    (2, 3, 4, 4)
    """

    def forward(self, x: Tensor) -> Tensor:
        """Drop channels."""
        return functional.dropout2d(x, self.p, self.training, self.inplace)


class AlphaDropout(_Dropping):
    """Drops to SELU's lowest value, and keeps mean 0 and variance 1: after nn.SELU.

    >>> len(nn.AlphaDropout(0.5)(ts.zeros(99)).unique())  # those that stay, and others
    2
    """

    def forward(self, x: Tensor) -> Tensor:
        """Drop numbers."""
        return functional.alpha_dropout(x, self.p, self.training, self.inplace)
