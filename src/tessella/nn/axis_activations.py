"""Activations along an axis, as modules."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_int
from tessella.nn import functional
from tessella.nn.activations import Activation


class _Along(Activation):
    """A function of the numbers along an axis, which must be named."""

    _options = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        if dim is None:
            hint = "along the last axis it is dim=-1"
            raise errors.ArgumentError("dim is missing: the axis along which to sum", hint)
        self.dim = to_int("dim", dim)


class Softmax(_Along):
    """e ** x, divided by its sum along an axis.

    >>> nn.Softmax(dim=-1)(ts.zeros(4)).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        return functional.softmax(x, axis=self.dim)


class LogSoftmax(_Along):
    """The logarithm of softmax, without overflow.

    >>> nn.LogSoftmax(dim=-1)(ts.tensor([0.0, 1.0]))
    tensor float32 (2,) [-1.3133, -0.3133]
    """

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        return functional.log_softmax(x, axis=self.dim)


class Softmin(_Along):
    """softmax(-x).

    >>> nn.Softmin(dim=-1)(ts.zeros(2)).tolist()
    [0.5, 0.5]
    """

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        return functional.softmin(x, axis=self.dim)


class GLU(Activation):
    """The first half along an axis, times sigmoid of the second.

    >>> nn.GLU()(ts.tensor([1.0, 2.0, 0.0, 4.0]))
    tensor float32 (2,) [0.5000, 1.9640]
    """

    _options = ("dim",)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = to_int("dim", dim)

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        return functional.glu(x, axis=self.dim)
