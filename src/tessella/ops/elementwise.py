"""Elementwise operations. The arithmetic of one lane stands in elementwise.def."""

from __future__ import annotations

import math

from tessella import _core, errors
from tessella._core import Tensor
from tessella.arguments import to_word
from tessella.declarations import refusal, round_to
from tessella.hints import Any
from tessella.kinds import Clip, Where, binary, cast, choose_items, equal_items, unary
from tessella.ops import references
from tessella.ops.creation import full, zeros_like

_LN2 = math.log(2)
_LN10 = math.log(10)


conjugate = _core.conjugate  # of a complex tensor or number; anything real as it is


def is_float(x: Any) -> bool:
    """Tell whether a tensor or number is a float."""
    return x.dtype.is_floating if isinstance(x, Tensor) else isinstance(x, float)


def _angle_slope(g: Tensor, x: Tensor) -> Tensor:
    """Give d atan2(b, a) for x = a + bi, which is i x / |x|^2, and 0 at 0 and for reals."""
    if not x.dtype.is_complex:
        return zeros_like(x)
    square = real(x) * real(x) + imag(x) * imag(x)
    return where(square == 0, 0, g * x * 1j / where(square == 0, 1, square))


def _sign_slope(g: Tensor, x: Tensor) -> Tensor:
    """Give the part of g across x, over |x|: x / |x| turns and keeps its length; 0 for reals."""
    if not x.dtype.is_complex:
        return zeros_like(x)
    size, unit = abs(x), sign(x)
    across = g - unit * real(conj(unit) * g)
    return where(size == 0, 0, across / where(size == 0, 1, size))


def _truncated_quotient(x: Any, y: Any) -> Tensor:
    """Give how often y fits into x; x / y itself may round up to the next integer."""
    return round((x - fmod(x, y)) / y)


def _base_slope(g: Tensor, x: Tensor, y: Any) -> Tensor:
    """Give g * d(x ** y)/dx = y * x ** (y - 1), and 0 where y is 0, also where x is."""
    if not isinstance(y, Tensor):
        out: Tensor = g * conjugate(y * x ** (y - 1)) if y else zeros_like(g)
        return out
    is_steep = logical_or(y != 0, abs(x) > 2.0**-126)  # or 1 / x would be infinite
    slope = where(is_steep, y, 0) * where(is_steep, x, 1) ** (y - 1)
    return mul(g, conjugate(slope))


def _power_slope(x: Any, out: Tensor) -> Tensor:
    """Give d(x ** y)/dy = x ** y * log(x), and 0 where x is 0."""
    if not isinstance(x, Tensor):
        x = full((), x, dtype=out.dtype)
    return where(x == 0, 0, out * log(where(x == 0, 1, x)))


def _distance(x: Any, y: Any) -> Tensor:
    """Give x * x + y * y, and infinity where both are 0, so that nothing turns there."""
    square = x * x + y * y
    return where(square == 0, math.inf, square)


def _scaled(y: Any, alpha: Any) -> Any:
    """Give y * alpha, of tensors or numbers."""
    for name, value in (("y", y), ("alpha", alpha)):
        if not isinstance(value, Tensor | bool | int | float | complex):
            raise errors.not_tensor(name, value)
    if isinstance(y, Tensor) or isinstance(alpha, Tensor):
        return mul(y, alpha)
    try:
        return y * alpha
    except OverflowError:
        raise errors.wrong_value("alpha", alpha, "a number that floats can hold") from None


def _divide_rounded(x: Any, y: Any, rounding_mode: Any) -> Tensor:
    """Divide and round: down, or towards zero, where integers stay integers."""
    if to_word("rounding_mode", rounding_mode, ["trunc", "floor"]) == "floor":
        return floor_divide(x, y)
    if not is_float(x) and not is_float(y):
        whole = floor_divide(x, y)
        return add(whole, logical_and(whole < 0, remainder(x, y) != 0))
    return trunc(div(x, y))


# --- arithmetic ----------------------------------------------------------------------------------

add = binary(
    "add",
    ulps=0,
    vjp=(lambda g: g, lambda g: g),
    doc="x + y, or x + alpha * y.",
    ref="add",
    options={"alpha": 1},
    variant=lambda x, y, alpha: add(x, _scaled(y, alpha)),
)
sub = binary(
    "sub",
    ulps=0,
    vjp=(lambda g: g, lambda g: -g),
    doc="x - y, or x - alpha * y.",
    ref="subtract",
    options={"alpha": 1},
    variant=lambda x, y, alpha: sub(x, _scaled(y, alpha)),
    aliases=["subtract"],
)
mul = binary(
    "mul",
    ulps=0,
    vjp=(lambda g, y: g * conjugate(y), lambda g, x: g * conjugate(x)),
    doc="x * y.",
    ref="multiply",
    aliases=["multiply"],
)
div = binary(
    "div",
    ulps=0,
    vjp=(lambda g, y: g / conjugate(y), lambda g, y, out: -g * conjugate(out / y)),
    doc="x / y; integers become float32 first. rounding_mode is None, 'trunc' or 'floor'.",
    ref="divide",
    options={"rounding_mode": None},
    variant=lambda x, y, rounding_mode: _divide_rounded(x, y, rounding_mode),
    aliases=["divide", "true_divide"],
    away=0.5,
)
floor_divide = binary(
    "floor_divide",
    ulps=0,
    vjp=(lambda g: zeros_like(g), lambda g: zeros_like(g)),
    doc="The quotient rounded down; a number over infinity is a zero, an integer over 0 is 0.",
    ref=references.floor_divide,
    away=0.5,
)
remainder = binary(
    "remainder",
    ulps=0,
    vjp=(lambda g: g, lambda g, x, y: -g * floor_divide(x, y)),
    doc="The remainder with the sign of y; an integer modulo 0 is 0.",
    ref="remainder",
    aliases=["mod"],
    away=0.5,
)
fmod = binary(
    "fmod",
    ulps=0,
    vjp=(lambda g: g, lambda g, x, y: -g * _truncated_quotient(x, y)),
    doc="The remainder with the sign of x; an integer modulo 0 is 0.",
    ref="fmod",
    away=0.5,
)
pow = binary(
    "pow",
    ulps=16,  # of complex numbers: the error of y * log(x) is multiplied by its size
    vjp=(_base_slope, lambda g, x, out: g * conjugate(_power_slope(x, out))),
    doc="x ** y. Integers wrap; an integer to a negative power is 1/x truncated.",
    keywords={"exponent": "y"},
    ref=references.pow,
    domain=(0.2, 3),
)
neg = unary("neg", ulps=0, vjp=lambda g: -g, doc="-x.", ref="negative", aliases=["negative"])
positive = unary("positive", ulps=0, vjp=lambda g: g, doc="+x: a copy.", ref="positive")
abs = unary(
    "abs",
    ulps=0,
    vjp=lambda g, x: g * sign(x),
    doc="Absolute value; real for complex x.",
    ref="absolute",
    aliases=["absolute"],
    away=0.1,
)
sign = unary(
    "sign",
    ulps=0,
    vjp=_sign_slope,
    doc="-1, 0 or 1 by the sign; x / abs(x) for complex x.",
    ref="sign",
    aliases=["sgn"],
    away=0.1,
)
square = unary("square", ulps=0, vjp=lambda g, x: g * conjugate(x) * 2, doc="x * x.", ref="square")
reciprocal = unary(
    "reciprocal",
    ulps=0,
    vjp=lambda g, out: -g * conjugate(out * out),
    doc="1 / x.",
    ref=lambda np, x: 1 / x,
    away=0.5,
)

# --- powers, exponentials, logarithms ------------------------------------------------------------

sqrt = unary(
    "sqrt", ulps=0, vjp=lambda g, out: g / conjugate(out * 2), doc="Square root.", ref="sqrt",
    domain=(0.2, 4),
)  # fmt: skip
rsqrt = unary(
    "rsqrt", vjp=lambda g, x, out: g * out / x * -0.5, doc="1 / sqrt(x).", domain=(0.2, 4),
    ref=lambda np, x: 1 / np.sqrt(x),
)  # fmt: skip
cbrt = unary("cbrt", vjp=lambda g, out: g / (out * out * 3), doc="Cube root.", ref="cbrt", away=0.2)
exp = unary("exp", vjp=lambda g, out: g * conjugate(out), doc="e ** x.", ref="exp")
exp2 = unary("exp2", vjp=lambda g, out: g * out * _LN2, doc="2 ** x.", ref="exp2")
expm1 = unary(
    "expm1",
    vjp=lambda g, out: g * conjugate(out + 1),
    doc="e ** x - 1, accurate near 0.",
    ref="expm1",
)
log = unary(
    "log", vjp=lambda g, x: g / conjugate(x), doc="Natural logarithm.", ref="log", domain=(0.2, 4)
)
log2 = unary(
    "log2",
    vjp=lambda g, x: g / conjugate(x * _LN2),
    doc="Logarithm to base 2.",
    ref="log2",
    domain=(0.2, 4),
)
log10 = unary(
    "log10",
    vjp=lambda g, x: g / conjugate(x * _LN10),
    doc="Logarithm to base 10.",
    ref="log10",
    domain=(0.2, 4),
)
log1p = unary(
    "log1p", vjp=lambda g, x: g / conjugate(x + 1), doc="log(1 + x), accurate near 0.",
    ref="log1p", domain=(-0.7, 3),
)  # fmt: skip
logaddexp = binary(
    "logaddexp",
    vjp=(lambda g, x, out: g * exp(x - out), lambda g, y, out: g * exp(y - out)),
    doc="log(e ** x + e ** y) without overflow.",
    domain=(-0.4, 3),
    ref="logaddexp",
)

# --- trigonometry --------------------------------------------------------------------------------

sin = unary("sin", vjp=lambda g, x: g * conjugate(cos(x)), doc="Sine.", ref="sin")
cos = unary("cos", vjp=lambda g, x: -g * conjugate(sin(x)), doc="Cosine.", ref="cos")
tan = unary(
    "tan", vjp=lambda g, out: g * conjugate(out * out + 1), doc="Tangent.", ref="tan",
    domain=(-1.2, 1.2),
)  # fmt: skip
asin = unary(
    "asin",
    vjp=lambda g, x: g / conjugate(sqrt(1 - x * x)),
    doc="Inverse sine.",
    ref="arcsin",
    aliases=["arcsin"],
    domain=(-0.9, 0.9),
)
acos = unary(
    "acos",
    vjp=lambda g, x: -g / conjugate(sqrt(1 - x * x)),
    doc="Inverse cosine.",
    ref="arccos",
    aliases=["arccos"],
    domain=(-0.9, 0.9),
)
atan = unary(
    "atan",
    vjp=lambda g, x: g / conjugate(x * x + 1),
    doc="Inverse tangent.",
    ref="arctan",
    aliases=["arctan"],
    domain=(-0.8, 0.8),
)
atan2 = binary(
    "atan2",
    vjp=(lambda g, x, y: g * y / _distance(x, y), lambda g, x, y: -g * x / _distance(x, y)),
    doc="The angle of the point (y, x): atan(x / y) in the right quadrant.",
    ref="arctan2",
    aliases=["arctan2"],
    away=0.3,
)
sinh = unary("sinh", vjp=lambda g, x: g * conjugate(cosh(x)), doc="Hyperbolic sine.", ref="sinh")
cosh = unary("cosh", vjp=lambda g, x: g * conjugate(sinh(x)), doc="Hyperbolic cosine.", ref="cosh")
tanh = unary(
    "tanh", vjp=lambda g, out: g * conjugate(1 - out * out), doc="Hyperbolic tangent.", ref="tanh"
)
asinh = unary(
    "asinh",
    vjp=lambda g, x: g / conjugate(sqrt(x * x + 1)),
    doc="Inverse hyperbolic sine.",
    ref="arcsinh",
    aliases=["arcsinh"],
    domain=(-0.9, 0.9),
)
acosh = unary(
    "acosh",
    vjp=lambda g, x: g / conjugate(sqrt(x - 1) * sqrt(x + 1)),
    doc="Inverse hyperbolic cosine.",
    ref="arccosh",
    aliases=["arccosh"],
    domain=(1.2, 4),
)
atanh = unary(
    "atanh",
    vjp=lambda g, x: g / conjugate(1 - x * x),
    doc="Inverse hyperbolic tangent.",
    ref="arctanh",
    aliases=["arctanh"],
    domain=(-0.8, 0.8),
)
hypot = binary(
    "hypot",
    vjp=(lambda g, x, out: g * x / out, lambda g, y, out: g * y / out),
    doc="sqrt(x * x + y * y) without overflow.",
    ref="hypot",
    away=0.3,
)

# --- for networks and statistics -----------------------------------------------------------------

sigmoid = unary(
    "sigmoid",
    vjp=lambda g, out: g * out * (1 - out),
    doc="1 / (1 + e ** -x).",
    ref=lambda np, x: 1 / (1 + np.exp(-x)),
    aliases=["expit"],
)
softplus = unary(
    "softplus",
    vjp=lambda g, x: g * sigmoid(x),
    doc="log(1 + e ** x).",
    ref=lambda np, x: np.logaddexp(x, 0),
)
erf = unary(
    "erf",
    vjp=lambda g, x: g * exp(-x * x) * (2 / math.sqrt(math.pi)),
    doc="Error function.",
    ref=lambda np, x: np.vectorize(math.erf, "d")(x),
)
erfc = unary(
    "erfc",
    vjp=lambda g, x: g * exp(-x * x) * (-2 / math.sqrt(math.pi)),
    doc="1 - erf(x), accurate for large x.",
    ref=lambda np, x: np.vectorize(math.erfc, "d")(x),
)

# --- rounding, signs, parts ----------------------------------------------------------------------

floor = unary(
    "floor", ulps=0, vjp=lambda g: zeros_like(g), doc="Rounded down.", ref="floor", step=True
)
ceil = unary("ceil", ulps=0, vjp=lambda g: zeros_like(g), doc="Rounded up.", ref="ceil", step=True)
trunc = unary(
    "trunc",
    aliases=["fix"],
    ulps=0,
    vjp=lambda g: zeros_like(g),
    doc="Rounded towards zero.",
    ref="trunc",
    step=True,
)
round = unary(
    "round",
    ulps=0,
    vjp=lambda g: zeros_like(g),
    doc="Rounded to nearest, halves to even.",
    ref="round",
    aliases=["rint"],
    step=True,
    refuses=[round_to(2)],
)  # fmt: skip
copysign = binary(
    "copysign",
    ulps=0,
    vjp=(lambda g, x, y: g * copysign(sign(x), x * y), lambda g: zeros_like(g)),
    doc="The magnitude of x with the sign of y.",
    ref="copysign",
    away=0.2,
)
nextafter = binary(
    "nextafter", ulps=0, doc="The next number after x towards y.", ref=references.nextafter,
    no_gradient="steps of one unit say nothing about slopes",
    example=">>> ts.nextafter(ts.tensor(1.0), ts.tensor(2.0)).item()\n1.0000001192092896",
)  # fmt: skip
conj = unary("conj", ulps=0, vjp=lambda g: conjugate(g), doc="Complex conjugate.", ref="conj")
real = unary(
    "real", ulps=0, vjp=lambda g, x_dtype: cast(g, x_dtype), ref="real", is_method=False,
    doc="Real part; x.real is a view of it.",
)  # fmt: skip
imag = unary(
    "imag", ulps=0, vjp=lambda g: g * 1j, ref="imag", is_method=False,
    doc="Imaginary part; x.imag is a view of it.",
)  # fmt: skip
angle = unary("angle", vjp=_angle_slope, doc="Argument of a complex number.", ref="angle")

# --- bits ----------------------------------------------------------------------------------------

bitwise_and = binary("bitwise_and", doc="x & y.", ref="bitwise_and")
bitwise_or = binary("bitwise_or", doc="x | y.", ref="bitwise_or")
bitwise_xor = binary("bitwise_xor", doc="x ^ y.", ref="bitwise_xor")
bitwise_invert = unary(
    "bitwise_invert", doc="~x; logical not for bool.", ref="invert", aliases=["bitwise_not"]
)
bitwise_left_shift = binary(
    "bitwise_left_shift",
    doc="x << y; 0 for a count below 0 or of the width and more.",
    ref="left_shift",
    count=True,
)
bitwise_right_shift = binary(
    "bitwise_right_shift",
    ref="right_shift",
    count=True,
    doc="x >> y; the sign fills in; a count below 0 or of the width and more leaves only it.",
)

# --- tests and comparisons -----------------------------------------------------------------------

isnan = unary("isnan", doc="Whether it is NaN.", ref="isnan")
isinf = unary("isinf", doc="Whether it is infinite.", ref="isinf")
isfinite = unary("isfinite", doc="Whether it is neither infinite nor NaN.", ref="isfinite")
signbit = unary("signbit", doc="Whether the sign bit is set (-0.0 too).", ref="signbit")
logical_not = unary("logical_not", doc="Whether it is zero.", ref="logical_not")
logical_and = binary("logical_and", doc="Whether both are not zero.", ref="logical_and")
logical_or = binary("logical_or", doc="Whether one is not zero.", ref="logical_or")
logical_xor = binary("logical_xor", doc="Whether exactly one is not zero.", ref="logical_xor")
equal = binary(
    "equal", ref="equal", aliases=["eq"], variant=equal_items, items="varied",
    doc="x == y. Items of a user's dtype are equal if their bytes are.",
)  # fmt: skip
not_equal = binary(
    "not_equal", doc="x != y.", ref="not_equal", aliases=["ne"], items="varied",
    variant=lambda x, y: logical_not(equal_items(x, y)),
)  # fmt: skip
less = binary("less", doc="x < y.", ref="less", aliases=["lt"])
less_equal = binary("less_equal", doc="x <= y.", ref="less_equal", aliases=["le"])
greater = binary("greater", doc="x > y.", ref="greater", aliases=["gt"])
greater_equal = binary("greater_equal", doc="x >= y.", ref="greater_equal", aliases=["ge"])

# --- choice --------------------------------------------------------------------------------------

maximum = binary(
    "maximum",
    ulps=0,
    vjp=(
        lambda g, x, y: where(x == y, g / 2, where(x > y, g, 0)),
        lambda g, x, y: where(x == y, g / 2, where(x > y, 0, g)),
    ),
    doc="The greater; NaN if either is NaN.",
    ref=references.maximum,
)
minimum = binary(
    "minimum",
    ulps=0,
    vjp=(
        lambda g, x, y: where(x == y, g / 2, where(x < y, g, 0)),
        lambda g, x, y: where(x == y, g / 2, where(x < y, 0, g)),
    ),
    doc="The smaller; NaN if either is NaN.",
    ref=references.minimum,
)
clip = Clip(
    "clip",
    ulps=0,
    vjp=(
        lambda g, x, min, max: where((x >= min) & (x <= max), g, 0),
        lambda g, x, min, max: where((x < min) & (min <= max), g, 0),
        lambda g, x, min, max: where((x > max) | (min > max), g, 0),
    ),
    doc="x limited to [min, max]; either may be None.",
    ref=references.clip,
    aliases=["clamp"],
).function
where = Where(
    "where",
    ulps=0,
    variant=choose_items,
    items="varied",
    vjp=(
        None,
        lambda g, condition: where(condition, g, 0),
        lambda g, condition: where(condition, 0, g),
    ),
    doc="x where the condition holds, else y.",
    ref="where",
    is_method=False,  # that of tensors.py has x before the condition
    refuses=[refusal("torch.where(x > 0)", "ts.nonzero(x > 0)", "gives the indices where it holds",
                     lambda args, keywords: len(args) == 1 and not keywords)],
).function  # fmt: skip
