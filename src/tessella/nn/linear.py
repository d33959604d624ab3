"""Modules that are products with weights, and those that only change shapes."""

from __future__ import annotations

import math

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_count, to_int, to_ints
from tessella.hints import Any, DeviceLike, DTypeLike, Sequence
from tessella.nn import init, layer_errors
from tessella.nn.functional import bilinear, linear
from tessella.nn.modules import Module
from tessella.nn.parameters import Parameter
from tessella.ops.composite import flatten
from tessella.ops.creation import empty
from tessella.ops.shaping import unflatten


class Identity(Module):
    """Gives what it gets, whatever its arguments were.

    >>> nn.Identity(54, unused=True)(ts.ones(2)).tolist()
    [1.0, 1.0]
    """

    def __init__(self, *args: object, **keywords: object) -> None:
        super().__init__()

    def forward(self, x: Tensor) -> Tensor:
        """Give x."""
        return x


class Linear(Module):
    """x @ weight.T + bias; weight is (out_features, in_features).

    Both begin uniform in ±1 / sqrt(in_features).

    >>> nn.Linear(3, 5)(ts.ones(2, 3)).shape
    (2, 5)
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.in_features = to_count("in_features", in_features, 0)
        self.out_features = to_count("out_features", out_features, 0)
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        self.weight = Parameter(empty((self.out_features, self.in_features), **options))
        has_bias = to_bool("bias", bias)
        self.bias = Parameter(empty(self.out_features, **options)) if has_bias else None
        self.reset_parameters()

    @classmethod
    def from_weight(cls, weight: Tensor, bias: Tensor | None = None) -> Linear:
        """Make a layer over a weight (out_features, in_features), whose memory it shares.

        >>> nn.Linear.from_weight(ts.eye(2))(ts.ones(2)).tolist()
        [1.0, 1.0]
        """
        if not isinstance(weight, Tensor) or weight.ndim != 2:
            shown = getattr(weight, "shape", weight)
            rule = "a matrix (out_features, in_features)"
            raise errors.wrong_value("weight", shown, rule).locate("Linear.from_weight", [])
        if bias is not None and bias.shape != weight.shape[:1]:
            error = layer_errors.wrong_vector("bias", bias.shape, weight.shape[0])
            raise error.locate("Linear.from_weight", [])
        made = cls(0, 0, bias=False)
        made.out_features, made.in_features = weight.shape
        made.weight = weight if isinstance(weight, Parameter) else Parameter(weight)
        if bias is not None:
            made.bias = bias if isinstance(bias, Parameter) else Parameter(bias)
        return made

    def reset_parameters(self) -> None:
        """Draw the weights anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features else 0.0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        """Multiply and add."""
        return linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Show the sizes."""
        has_bias = self.bias is not None
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={has_bias}"


class Bilinear(Module):
    """x @ weight[k] @ y + bias[k] for each k; weight is (out_features, in1_features, in2_features).

    >>> nn.Bilinear(2, 3, 4)(ts.ones(5, 2), ts.ones(5, 3)).shape
    (5, 4)
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.in1_features = to_count("in1_features", in1_features)
        self.in2_features = to_count("in2_features", in2_features, 0)
        self.out_features = to_count("out_features", out_features, 0)
        sizes = (self.out_features, self.in1_features, self.in2_features)
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        self.weight = Parameter(empty(sizes, **options))
        has_bias = to_bool("bias", bias)
        self.bias = Parameter(empty(self.out_features, **options)) if has_bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights anew."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Multiply from both sides and add."""
        return bilinear(x, y, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Show the sizes."""
        sizes = f"in1_features={self.in1_features}, in2_features={self.in2_features}"
        return f"{sizes}, out_features={self.out_features}, bias={self.bias is not None}"


class Flatten(Module):
    """Joins axes into one; by default all but the first.

    >>> nn.Flatten()(ts.ones(2, 3, 4)).shape
    (2, 12)
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = to_int("start_dim", start_dim)
        self.end_dim = to_int("end_dim", end_dim)

    def forward(self, x: Tensor) -> Tensor:
        """Join the axes."""
        return flatten(x, self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Show the axes."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Splits one axis into several.

    >>> nn.Unflatten(1, (3, 4))(ts.ones(2, 12)).shape
    (2, 3, 4)
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        self.dim = to_int("dim", dim)
        self.unflattened_size = to_ints("unflattened_size", unflattened_size)

    def forward(self, x: Tensor) -> Tensor:
        """Split the axis."""
        return unflatten(x, self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """Show the axis and its sizes."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
