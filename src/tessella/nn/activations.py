"""Activations as modules, with PyTorch's names and defaults; the functions are those of `F`.

`inplace=True` writes the result into the operand, which saves its memory.
"""

from __future__ import annotations

from tessella._core import Tensor
from tessella.arguments import to_bool, to_count, to_float
from tessella.hints import DeviceLike, DTypeLike
from tessella.nn import functional, init
from tessella.nn.modules import Module
from tessella.nn.parameters import Parameter
from tessella.ops.creation import empty


class Activation(Module):
    """A function of each element, and the numbers that it takes."""

    _options: tuple[str, ...] = ()  # what the text shows
    inplace = False

    def extra_repr(self) -> str:
        """Show the options, and whether it writes into its operand."""
        shown = [f"{name}={getattr(self, name)!r}" for name in self._options]
        return ", ".join([*shown, "inplace=True"] if self.inplace else shown)


class ReLU(Activation):
    """max(x, 0).

    >>> nn.ReLU()(ts.tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = to_bool("inplace", inplace)

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        if self.inplace and isinstance(x, Tensor):
            return x.relu_()
        return functional.relu(x)


class ReLU6(Activation):
    """x, kept between 0 and 6.

    >>> nn.ReLU6()(ts.tensor([-1.0, 8.0])).tolist()
    [0.0, 6.0]
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = to_bool("inplace", inplace)

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        if self.inplace and isinstance(x, Tensor):
            return x.relu6_()
        return functional.relu6(x)


class LeakyReLU(Activation):
    """x where it is positive, else negative_slope * x.

    >>> nn.LeakyReLU(0.5)(ts.tensor([-1.0, 2.0])).tolist()
    [-0.5, 2.0]
    """

    _options = ("negative_slope",)

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = to_float("negative_slope", negative_slope)
        self.inplace = to_bool("inplace", inplace)

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        if self.inplace and isinstance(x, Tensor):
            return x.leaky_relu_(self.negative_slope)
        return functional.leaky_relu(x, self.negative_slope)


class ELU(Activation):
    """x where it is positive, else alpha * (e ** x - 1).

    >>> nn.ELU()(ts.tensor([-1.0, 2.0]))
    tensor float32 (2,) [-0.6321,  2.0000]
    """

    _options = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = to_float("alpha", alpha)
        self.inplace = to_bool("inplace", inplace)

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        if self.inplace and isinstance(x, Tensor):
            return x.elu_(self.alpha)
        return functional.elu(x, self.alpha)


class CELU(Activation):
    """x where it is positive, else alpha * (e ** (x / alpha) - 1).

    >>> nn.CELU()(ts.tensor([-1.0, 2.0]))
    tensor float32 (2,) [-0.6321,  2.0000]
    """

    _options = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = to_float("alpha", alpha)
        self.inplace = to_bool("inplace", inplace)

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        if self.inplace and isinstance(x, Tensor):
            return x.celu_(self.alpha)
        return functional.celu(x, self.alpha)


class SELU(Activation):
    """ELU with the two constants that keep mean 0 and variance 1.

    >>> nn.SELU()(ts.tensor([-1.0, 2.0]))
    tensor float32 (2,) [-1.1113,  2.1014]
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = to_bool("inplace", inplace)

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        if self.inplace and isinstance(x, Tensor):
            return x.selu_()
        return functional.selu(x)


class GELU(Activation):
    """x times the normal distribution's share below x; or an approximation of it, "tanh".

    >>> nn.GELU()(ts.tensor([-1.0, 2.0]))
    tensor float32 (2,) [-0.1587,  1.9545]
    """

    _options = ("approximate",)

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        return functional.gelu(x, approximate=self.approximate)


class SiLU(Activation):
    """x * sigmoid(x).

    >>> nn.SiLU()(ts.tensor([-1.0, 2.0]))
    tensor float32 (2,) [-0.2689,  1.7616]
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = to_bool("inplace", inplace)

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        if self.inplace and isinstance(x, Tensor):
            return x.silu_()
        return functional.silu(x)


class Mish(Activation):
    """x * tanh(softplus(x)).

    >>> nn.Mish()(ts.tensor([-1.0, 2.0]))
    tensor float32 (2,) [-0.3034,  1.9440]
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = to_bool("inplace", inplace)

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        if self.inplace and isinstance(x, Tensor):
            return x.mish_()
        return functional.mish(x)


class Sigmoid(Activation):
    """1 / (1 + e ** -x).

    >>> nn.Sigmoid()(ts.tensor([0.0])).tolist()
    [0.5]
    """

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        return functional.sigmoid(x)


class LogSigmoid(Activation):
    """The logarithm of sigmoid, without overflow.

    >>> nn.LogSigmoid()(ts.tensor([-1.0, 2.0]))
    tensor float32 (2,) [-1.3133, -0.1269]
    """

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        return functional.log_sigmoid(x)


class Tanh(Activation):
    """The hyperbolic tangent.

    >>> nn.Tanh()(ts.tensor([-1.0, 2.0]))
    tensor float32 (2,) [-0.7616,  0.9640]
    """

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        return functional.tanh(x)


class Hardtanh(Activation):
    """x, kept between `min_val` and `max_val`.

    >>> nn.Hardtanh()(ts.tensor([-3.0, 0.5])).tolist()
    [-1.0, 0.5]
    """

    _options = (
        "min_val",
        "max_val",
    )

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.min_val = to_float("min_val", min_val)
        self.max_val = to_float("max_val", max_val)
        self.inplace = to_bool("inplace", inplace)

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        if self.inplace and isinstance(x, Tensor):
            return x.hardtanh_(self.min_val, self.max_val)
        return functional.hardtanh(x, self.min_val, self.max_val)


class Hardsigmoid(Activation):
    """x / 6 + 1/2, kept between 0 and 1.

    >>> nn.Hardsigmoid()(ts.tensor([-4.0, 0.0])).tolist()
    [0.0, 0.5]
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = to_bool("inplace", inplace)

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        if self.inplace and isinstance(x, Tensor):
            return x.hardsigmoid_()
        return functional.hardsigmoid(x)


class Hardswish(Activation):
    """x * hardsigmoid(x).

    >>> nn.Hardswish()(ts.tensor([-4.0, 3.0])).tolist()
    [-0.0, 3.0]
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = to_bool("inplace", inplace)

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        if self.inplace and isinstance(x, Tensor):
            return x.hardswish_()
        return functional.hardswish(x)


class Hardshrink(Activation):
    """x, but 0 from -lambd to lambd.

    >>> nn.Hardshrink()(ts.tensor([-0.3, 2.0])).tolist()
    [0.0, 2.0]
    """

    _options = ("lambd",)

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = to_float("lambd", lambd)

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        return functional.hardshrink(x, self.lambd)


class Softshrink(Activation):
    """x, nearer to 0 by lambd, or 0.

    >>> nn.Softshrink()(ts.tensor([-0.3, 2.0])).tolist()
    [0.0, 1.5]
    """

    _options = ("lambd",)

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = to_float("lambd", lambd)

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        return functional.softshrink(x, self.lambd)


class Tanhshrink(Activation):
    """x - tanh(x).

    >>> nn.Tanhshrink()(ts.tensor([-1.0, 2.0]))
    tensor float32 (2,) [-0.2384,  1.0360]
    """

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        return functional.tanhshrink(x)


class Softsign(Activation):
    """x / (1 + abs(x)).

    >>> nn.Softsign()(ts.tensor([1.0])).tolist()
    [0.5]
    """

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        return functional.softsign(x)


class Softplus(Activation):
    """log(1 + e ** (beta * x)) / beta; x itself where beta * x is over the threshold.

    >>> nn.Softplus()(ts.tensor([-1.0, 100.0]))
    tensor float32 (2,) [  0.3133, 100.0000]
    """

    _options = (
        "beta",
        "threshold",
    )

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = to_float("beta", beta)
        self.threshold = to_float("threshold", threshold)

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        return functional.softplus(x, self.beta, self.threshold)


class Threshold(Activation):
    """x where it is over `threshold`, else `value`.

    >>> nn.Threshold(1.0, 7.0)(ts.tensor([0.5, 2.0])).tolist()
    [7.0, 2.0]
    """

    _options = (
        "threshold",
        "value",
    )

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = to_float("threshold", threshold)
        self.value = to_float("value", value)
        self.inplace = to_bool("inplace", inplace)

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        if self.inplace and isinstance(x, Tensor):
            return x.threshold_(self.threshold, self.value)
        return functional.threshold(x, self.threshold, self.value)


class PReLU(Module):
    """x where it is positive, else weight * x, with a weight that is learned.

    One weight for all, or one for each channel (axis 1).

    There are `num_parameters` weights, which begin as `init`.

    >>> nn.PReLU()(ts.tensor([-1.0, 2.0])).tolist()
    [-0.25, 2.0]
    """

    weight: Parameter

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.num_parameters = to_count("num_parameters", num_parameters)
        self.init = to_float("init", init)
        self.weight = Parameter(empty(self.num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weights to what they began with."""
        init.constant_(self.weight, self.init)

    def forward(self, x: Tensor) -> Tensor:
        """Apply it."""
        return functional.prelu(x, self.weight)

    def extra_repr(self) -> str:
        """Show the number of weights."""
        return f"num_parameters={self.num_parameters}"
