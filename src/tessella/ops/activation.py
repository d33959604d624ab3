"""Activations of networks: elementwise, each one pass where it is worth a kernel of its own."""

from __future__ import annotations

import math

from tessella import errors
from tessella._core import Function, Tensor
from tessella.arguments import to_word
from tessella.composites import composite
from tessella.declarations import case
from tessella.dtypes import need_floats
from tessella.hints import Any
from tessella.kinds import Binary, Clip, binary, unary
from tessella.ops import references
from tessella.ops.elementwise import (
    abs,
    clip,
    exp,
    expm1,
    minimum,
    sigmoid,
    softplus,
    tanh,
    where,
)  # fmt: skip
from tessella.ops.movement import normal_axes, reshape
from tessella.ops.splitting import split
from tessella.records import OPS

_SLOPE = math.sqrt(2 / math.pi)
_CUBE = 0.044715  # of the approximation of gelu
# Constants that give the result of a normal distribution mean 0 and variance 1.
_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


def _silu_slope(x: Tensor) -> Tensor:
    """Give s * (1 + x * (1 - s)), where s = sigmoid(x)."""
    s = sigmoid(x)
    return s * (1 + x * (1 - s))


def _gelu_tanh_slope(x: Tensor) -> Tensor:
    s = sigmoid((x + x * x * x * _CUBE) * (2 * _SLOPE))
    return s * (1 + x * (1 - s) * (x * x * (3 * _CUBE) + 1) * (2 * _SLOPE))


def _mish_slope(x: Tensor) -> Tensor:
    """Give t + x * sigmoid(x) * (1 - t * t), where t = tanh(softplus(x))."""
    t = tanh(softplus(x))
    return t + x * sigmoid(x) * (1 - t * t)


def _gelu_ref(np: Any, x: Any) -> Any:
    return x * 0.5 * np.vectorize(math.erfc, "d")(-x * math.sqrt(0.5))


def _gelu_slope_ref(np: Any, x: Any) -> Any:
    share = np.vectorize(math.erfc, "d")(-x * math.sqrt(0.5)) / 2
    return -(-x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi) - share)  # fades out below 0


def _gelu_tanh_ref(np: Any, x: Any) -> Any:
    return x / (1 + np.exp(-2 * math.sqrt(2 / math.pi) * (x + _CUBE * x**3)))


def _mish_ref(np: Any, x: Any) -> Any:
    e = np.exp(np.minimum(x, 40))
    return x * (e * (e + 2) / (e * (e + 2) + 2))


def _approximate(x: Tensor, approximate: Any) -> Tensor:
    to_word("approximate", approximate, ["none", "tanh"])
    return gelu_tanh(x)


relu = unary(
    "relu",
    takes_inplace=True,
    ulps=0,
    vjp=lambda g, out: gate(g, out),
    doc="0 where x < 0, else x.",
    ref=lambda np, x: np.where(x < 0, 0, x),
    away=0.1,
)
gate = binary(
    "gate",
    ulps=0,
    is_function=False,
    is_method=False,
    vjp=(lambda g, y: gate(g, y), None),
    doc="x where y > 0, else 0: the gradient of relu.",
    ref=lambda np, x, y: np.where(y > 0, x, 0),
    away=0.1,
)
silu = unary(
    "silu",
    takes_inplace=True,
    ulps=6,  # the exponential enters twice
    vjp=lambda g, x: g * _silu_slope(x),
    doc="x * sigmoid(x).",
    ref=lambda np, x: x / (1 + np.exp(-x)),
    aliases=["swish"],
)
gelu = unary(
    "gelu",
    ulps=64,  # of float64: the argument of erfc is rounded, and the error grows with its square
    domain=(-4, 4),
    vjp=lambda g, x: g * gelu_slope(x),
    doc="x times the normal distribution function at x; approximate='tanh' is the faster formula.",
    ref=_gelu_ref,
    options={"approximate": "none"},
    variant=_approximate,
)
gelu_slope = unary(
    "gelu_slope",
    ulps=64,  # as of gelu
    domain=(-0.6, 4),  # terms cancel where gelu is least, about -0.75
    is_function=False,
    is_method=False,
    vjp=lambda g, x: g * (2 - x * x) * exp(x * x * -0.5) * (_SLOPE / 2),
    doc="The slope of gelu: the normal distribution function at x, and x times its slope.",
    ref=_gelu_slope_ref,
)
gelu_tanh = unary(
    "gelu_tanh",
    ulps=64,  # the argument of exp is rounded, and the error grows with it
    domain=(-4, 4),
    is_function=False,
    is_method=False,
    vjp=lambda g, x: g * _gelu_tanh_slope(x),
    doc="gelu with tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)) for the error function.",
    ref=_gelu_tanh_ref,
)
mish = unary(
    "mish",
    takes_inplace=True,
    ulps=8,  # the exponential enters four times
    vjp=lambda g, x: g * _mish_slope(x),
    doc="x * tanh(log(1 + e ** x)).",
    ref=_mish_ref,
)


limit = Clip(
    "limit",
    kernel="clip",
    ulps=0,
    is_function=False,
    is_method=False,
    vjp=(
        lambda g, x, min, max: where((x <= min) | (x >= max), 0, g),
        *OPS["clip"].vjp[1:],
    ),
    doc="clip, whose gradient is 0 at the limits too, as PyTorch's activations have it.",
    ref=references.clip,
).function


class Parametric(Binary):
    """f(x) with a number, or a tensor that broadcasts, as its parameter."""


def _parametric(name: str, parameter: str, default: float, **record: Any) -> Function:
    kind = type(name, (Parametric,), {
        "__doc__": Parametric.__doc__, "operands": ("x", parameter),
        "defaults": {parameter: default},
    })  # fmt: skip
    function: Function = kind(name, **record).function
    return function


elu = _parametric(
    "elu", "alpha", 1.0, takes_inplace=True,
    vjp=(lambda g, x, alpha: where(x > 0, g, g * alpha * exp(limit(x, None, 0))),
         lambda g, x: where(x > 0, 0, g * expm1(minimum(x, 0)))),
    doc="x where x > 0, else alpha * (e ** x - 1).",
    ref=lambda np, x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x)), away=0.1,
)  # fmt: skip
leaky_relu = _parametric(
    "leaky_relu", "negative_slope", 0.01, takes_inplace=True,
    vjp=(lambda g, x, negative_slope: where(x > 0, g, g * negative_slope),
         lambda g, x: where(x > 0, 0, g * x)),
    doc="x where x > 0, else negative_slope * x.",
    ref=lambda np, x, negative_slope=0.01: np.where(x > 0, x, negative_slope * x), away=0.1,
)  # fmt: skip


# --- composed ------------------------------------------------------------------------------------


_SAMPLES = [case((3, 4)), case(()), case((0, 2))]


@composite(
    ref=lambda np, x: -np.logaddexp(-x, 0), aliases=["logsigmoid"], has_twin=True, samples=_SAMPLES,
    errors=[case((2,), dtype="complex64", match="not defined for complex64")],
)  # fmt: skip
def log_sigmoid(x: Tensor) -> Tensor:
    """Give log(sigmoid(x)) without overflow.

    >>> ts.log_sigmoid(ts.zeros(1)).tolist()
    [-0.6931471824645996]
    """
    return -softplus(-need_floats(x))


@composite(
    ref=lambda np, x: np.clip(x, 0, 6), has_twin=True, takes_inplace=True, samples=_SAMPLES, ulps=0
)
def relu6(x: Tensor) -> Tensor:
    """Limit x to [0, 6].

    >>> ts.relu6(ts.tensor([-1.0, 7.0])).tolist()
    [0.0, 6.0]
    """
    return limit(x, 0, 6)


@composite(
    ref=lambda np, x, min=-1, max=1: np.clip(x, min, max), ulps=0,
    has_twin=True, takes_inplace=True, samples=[case((3, 4)), case((3, 4), 0, 2)],
    keywords={"min_val": "min", "max_val": "max"},
)  # fmt: skip
def hardtanh(x: Tensor, min: float = -1.0, max: float = 1.0) -> Tensor:
    """Limit x to [min, max].

    >>> ts.hardtanh(ts.tensor([-3.0, 0.5])).tolist()
    [-1.0, 0.5]
    """
    return limit(need_floats(x), min, max)


@composite(
    ref=lambda np, x: np.clip(x + 3, 0, 6) / 6, has_twin=True, takes_inplace=True, samples=_SAMPLES
)
def hardsigmoid(x: Tensor) -> Tensor:
    """Give x / 6 + 1 / 2 limited to [0, 1].

    >>> ts.hardsigmoid(ts.tensor([-4.0, 0.0])).tolist()
    [0.0, 0.5]
    """
    return limit(need_floats(x) + 3.0, 0, 6) / 6


@composite(
    ref=lambda np, x: x * np.clip(x + 3, 0, 6) / 6,
    has_twin=True,
    takes_inplace=True,
    samples=_SAMPLES,
)
def hardswish(x: Tensor) -> Tensor:
    """Give x * hardsigmoid(x).

    >>> ts.hardswish(ts.tensor([-4.0, 3.0])).tolist()
    [-0.0, 3.0]
    """
    return x * limit(need_floats(x) + 3.0, 0, 6) / 6


@composite(
    ref=lambda np, x: _SELU_SCALE * np.where(x > 0, x, _SELU_ALPHA * np.expm1(x)),
    has_twin=True, takes_inplace=True, samples=_SAMPLES, away=0.1,
)  # fmt: skip
def selu(x: Tensor) -> Tensor:
    """Give a scaled elu, whose results tend to mean 0 and variance 1.

    >>> ts.selu(ts.tensor([-1.0, 2.0]))
    tensor float32 (2,) [-1.1113,  2.1014]
    """
    return elu(need_floats(x), _SELU_ALPHA) * _SELU_SCALE


@composite(
    ref=lambda np, x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x / alpha)), away=0.1,
    has_twin=True, takes_inplace=True, samples=[case((3, 4)), case((3, 4), 2.0)],
    errors=[case((2,), 0.0, match="alpha is 0.0")],
)  # fmt: skip
def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """Give x where x > 0, else alpha * (e ** (x / alpha) - 1).

    >>> ts.celu(ts.tensor([-2.0, 2.0]))
    tensor float32 (2,) [-0.8647,  2.0000]
    """
    if alpha == 0:
        raise errors.wrong_value("alpha", alpha, "other than 0")
    if alpha == 1:
        return elu(need_floats(x))
    is_above = need_floats(x) > 0
    below = elu(x / alpha) if alpha > 0 else expm1(where(is_above, 0, x) / alpha)
    return where(is_above, x, below * alpha)


@composite(ref=lambda np, x: x / (1 + np.abs(x)), has_twin=True, samples=_SAMPLES, ulps=8)
def softsign(x: Tensor) -> Tensor:
    """Give x / (1 + |x|).

    >>> ts.softsign(ts.tensor([1.0, -3.0])).tolist()
    [0.5, -0.75]
    """
    return need_floats(x) / (abs(x) + 1.0)


# Near 0 the difference cancels.
@composite(ref=lambda np, x: x - np.tanh(x), has_twin=True, samples=_SAMPLES, ulps=8, away=0.5)
def tanhshrink(x: Tensor) -> Tensor:
    """Give x - tanh(x).

    >>> ts.tanhshrink(ts.tensor([-1.0, 2.0]))
    tensor float32 (2,) [-0.2384,  1.0360]
    """
    return x - tanh(need_floats(x))


@composite(
    ref=lambda np, x, lambd=0.5: np.where(np.abs(x) <= lambd, 0, x), ulps=0,
    has_twin=True, samples=[case((3, 4)), case((3, 4), 1.0)],
)  # fmt: skip
def hardshrink(x: Tensor, lambd: float = 0.5) -> Tensor:
    """Give x, and 0 where |x| <= lambd.

    >>> ts.hardshrink(ts.tensor([0.3, -2.0])).tolist()
    [0.0, -2.0]
    """
    return where(abs(need_floats(x)) <= lambd, 0, x)


@composite(
    ref=lambda np, x, lambd=0.5: np.sign(x) * np.maximum(np.abs(x) - lambd, 0),
    has_twin=True, samples=[case((3, 4)), case((3, 4), 1.0)],
    errors=[case((2,), -1.0, match="lambd is -1.0")],
)  # fmt: skip
def softshrink(x: Tensor, lambd: float = 0.5) -> Tensor:
    """Move x towards 0 by lambd, and to 0 where |x| <= lambd.

    >>> ts.softshrink(ts.tensor([0.3, -2.0])).tolist()
    [0.0, -1.5]
    """
    if lambd < 0:
        raise errors.wrong_value("lambd", lambd, "at least 0")
    return need_floats(x) - clip(x, -lambd, lambd)


@composite(
    ref=lambda np, x, threshold, value: np.where(x <= threshold, value, x), ulps=0,
    has_twin=True, takes_inplace=True, samples=[case((3, 4), 0.5, 2.0)],
)  # fmt: skip
def threshold(x: Tensor, threshold: float, value: float) -> Tensor:
    """Give x where it is above the threshold, else a value.

    >>> ts.threshold(ts.tensor([0.5, 2.0]), 1.0, -1.0).tolist()
    [-1.0, 2.0]
    """
    return where(need_floats(x) <= threshold, value, x)


@composite(
    ref=lambda np, x, axis=-1: np.split(x, 2, axis)[0] / (1 + np.exp(-np.split(x, 2, axis)[1])),
    samples=[case((3, 4)), case((4, 3), axis=0), case((2, 0))],
    errors=[case((2, 3), match="size of axis 1 is 3"), case((2,), 1, match="axis 1 is out of")],
)  # fmt: skip
def glu(x: Tensor, axis: int = -1) -> Tensor:
    """Give the first half of an axis times the sigmoid of the second.

    >>> ts.glu(ts.tensor([2.0, 0.0])).tolist()
    [1.0]
    """
    place = normal_axes(x, axis)[0]
    if x.shape[place] % 2:
        raise errors.wrong_value(f"size of axis {place}", x.shape[place], "even")
    half = (x.shape[place] // 2,) * 2
    first, second = split(need_floats(x), half, place)
    return first * sigmoid(second)


@composite(
    ref=lambda np, x, weight: np.where(
        x > 0, x, x * weight.reshape(-1, *[1] * max(0, x.ndim - 2)) if x.ndim > 1 else x * weight),
    has_twin=True, samples=[case((2, 3, 4), (3,)), case((2, 3), (1,)), case((3,), (1,))],
    errors=[case((2, 3), (2,), match="weight.shape is"), case((2, 3), (3, 1), match="weight.ndim")],
)  # fmt: skip
def prelu(x: Tensor, weight: Tensor) -> Tensor:
    """Give x where x > 0, else weight * x, with one weight or one for each size of axis 1.

    >>> ts.prelu(ts.tensor([-2.0, 2.0]), ts.tensor([0.25])).tolist()
    [-0.5, 2.0]
    """
    if weight.ndim > 1:
        raise errors.wrong_value("weight.ndim", weight.ndim, "0 or 1")
    channels = x.shape[1] if x.ndim > 1 else 1
    if weight.size not in (1, channels):
        raise errors.wrong_value("weight.shape", weight.shape, f"(1,) or ({channels},)")
    column = (-1,) + (1,) * (x.ndim - 2) if x.ndim > 1 and weight.size > 1 else (1,) * x.ndim
    return leaky_relu(need_floats(x), reshape(weight, column))
