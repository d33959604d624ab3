"""Borders as modules: of one value, or of what lies inside.

`padding` is one width for every side, or (left, right) and, for two axes, (…, top, bottom).
"""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_ints
from tessella.hints import Any, Ints
from tessella.nn.modules import Module
from tessella.ops.padding import pad


class Border(Module):
    """Widths of a border, and what it is made of."""

    _axes: int
    _mode: Any = "constant"
    value: float = 0.0

    def __init__(self, padding: Ints) -> None:
        super().__init__()
        widths = to_ints("padding", padding)
        if len(widths) not in (1, 2 * self._axes):
            raise errors.wrong_value("padding", padding, f"one integer, or {2 * self._axes}")
        self.padding = widths * (2 * self._axes) if len(widths) == 1 else widths

    def forward(self, x: Tensor) -> Tensor:
        """Put the border around."""
        value = self.value if self._mode == "constant" else None
        return pad(x, self.padding, mode=self._mode, value=value)

    def extra_repr(self) -> str:
        """Show the widths."""
        return f"{self.padding}"


class ConstantPad1d(Border):
    """A border of one value around the last axis.

    >>> nn.ConstantPad1d(1, 7.0)(ts.zeros(1, 2)).tolist()
    [[7.0, 0.0, 0.0, 7.0]]
    """

    _axes = 1

    def __init__(self, padding: Ints, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def extra_repr(self) -> str:
        """Show the widths and the value."""
        return f"padding={self.padding}, value={self.value}"


class ConstantPad2d(ConstantPad1d):
    """A border of one value around the last two axes.

    >>> nn.ConstantPad2d((1, 0, 0, 0), 7.0)(ts.zeros(1, 1, 2)).tolist()
    [[[7.0, 0.0, 0.0]]]
    """

    _axes = 2


class ZeroPad1d(Border):
    """A border of zeros around the last axis.

    >>> nn.ZeroPad1d(1)(ts.ones(1, 2)).tolist()
    [[0.0, 1.0, 1.0, 0.0]]
    """

    _axes = 1


class ZeroPad2d(Border):
    """A border of zeros around the last two axes.

    >>> nn.ZeroPad2d((1, 0, 0, 0))(ts.ones(1, 1, 2)).tolist()
    [[[0.0, 1.0, 1.0]]]
    """

    _axes = 2


class ReflectionPad1d(Border):
    """A border that is the reflection at the edge element of the last axis.

    >>> nn.ReflectionPad1d(2)(ts.tensor([[1.0, 2.0, 3.0]])).tolist()
    [[3.0, 2.0, 1.0, 2.0, 3.0, 2.0, 1.0]]
    """

    _axes = 1
    _mode = "reflect"


class ReflectionPad2d(Border):
    """A border that is the reflection at the edge elements of the last two axes.

    >>> nn.ReflectionPad2d((1, 0, 0, 0))(ts.tensor([[[1.0, 2.0, 3.0]]])).tolist()
    [[[2.0, 1.0, 2.0, 3.0]]]
    """

    _axes = 2
    _mode = "reflect"


class ReplicationPad1d(Border):
    """A border that repeats the edge element of the last axis.

    >>> nn.ReplicationPad1d(1)(ts.tensor([[1.0, 2.0]])).tolist()
    [[1.0, 1.0, 2.0, 2.0]]
    """

    _axes = 1
    _mode = "replicate"


class ReplicationPad2d(Border):
    """A border that repeats the edge elements of the last two axes.

    >>> nn.ReplicationPad2d(1)(ts.ones(1, 2, 3)).shape
    (1, 4, 5)
    """

    _axes = 2
    _mode = "replicate"


class CircularPad1d(Border):
    """A border that is the other end of the last axis.

    >>> nn.CircularPad1d(1)(ts.tensor([[1.0, 2.0, 3.0]])).tolist()
    [[3.0, 1.0, 2.0, 3.0, 1.0]]
    """

    _axes = 1
    _mode = "circular"


class CircularPad2d(Border):
    """A border that is the other end of the last two axes.

    >>> nn.CircularPad2d(1)(ts.ones(1, 2, 3)).shape
    (1, 4, 5)
    """

    _axes = 2
    _mode = "circular"
