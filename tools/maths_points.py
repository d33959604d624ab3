"""The arguments at which maths.py checks the vector maths in float64, and the exact values there.

Points are dense where a function can go wrong: at the ends of its range, where a kernel changes
from one formula to another, and beside the multiples that arguments are reduced by. Exact values
are mpmath's; those of zeros, infinities and NaN, and of what lies outside a function's domain, are
the C library's, by way of NumPy.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
from mpmath import mp

Array = np.ndarray[Any, np.dtype[Any]]

POINTS = 110_000  # for each function, of those in its domain
DRAWN = 120_000  # at a time; nearly all lie in the domain where that is the whole line
PRECISION = 200  # bits; the differences below cancel at most 110 of them

# --- points --------------------------------------------------------------------------------------

SPECIAL = np.array([0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -3.0,
                    5e-324, -5e-324, sys.float_info.min, sys.float_info.max,
                    -sys.float_info.max])  # fmt: skip
ENDS = np.array([
    1.0, 0.5, 0.65, 2.0, math.sqrt(0.5), math.sqrt(2), math.tan(math.pi / 8), 1.5, 3.75,
    math.tan(3 * math.pi / 8),  # turns of atan; between them, formulas that change
    2.0**-54, 2.0**-53, 2.0**-30, 2.0**-28, 2.0**20, 2.0**22, 2.0**30, 2.0**53, 2.0**60, 2.0**66,
    5.92, 6.0, 12.0, 20.0, 22.0, 26.5432, 27.2262, 28.0, 37.65, 40.0, 44.0, 50.0,  # tails
    0.515, 0.7, 37.0, 38.5,  # of the normal distribution and its inverse
    708.3964, math.log(sys.float_info.max), 710.4758, 744.4401, 745.1332, 750.0, 1022.0, 1024.0,
    1074.0, 1075.0, 1418.0, 2046.0, sys.float_info.min, sys.float_info.max,
])  # fmt: skip


def beside(rng: np.random.Generator, places: Array) -> Array:
    """Give points a few units in the last place from each place, or a random power of two away."""
    count = len(places)
    few = rng.integers(-50, 50, count) * np.spacing(places)
    far = rng.choice([-1.0, 1.0], count) * 2.0 ** -rng.uniform(0, 60, count)
    return places + np.where(rng.random(count) < 0.6, few, far)


def reduction_points(rng: np.random.Generator, count: int) -> Array:
    """Give places where an argument goes from one reduced interval to the next."""
    whole = rng.integers(-1100, 1100, count).astype(float)
    places = [
        rng.integers(-9999, 9999, count) * (math.pi / 4),
        rng.integers(-(2**52), 2**52, count) * (math.pi / 2),
        whole * (math.log(2) / 2),
        whole / 2,
        math.sqrt(0.5) * 2.0 ** np.clip(whole, -1073, 1023),
    ]
    return np.choose(rng.integers(0, len(places), count), places)


def draw(rng: np.random.Generator, count: int) -> Array:
    """Give about that many points on the whole line."""
    part = count // 8 + 1
    signs = rng.choice([-1.0, 1.0], part)
    return np.concatenate([
        rng.uniform(-20, 20, part),
        rng.uniform(-1, 1, part),
        rng.integers(0, 2**64, part, dtype=np.uint64).view(float),
        signs * 2.0 ** rng.uniform(-1074, 1024, part),
        rng.choice([-1.0, 1.0], 2 * part) * beside(rng, rng.choice(ENDS, 2 * part)),
        beside(rng, reduction_points(rng, 2 * part)),
    ])  # fmt: skip


def draw_pow(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Give pairs whose power is anywhere in the range, often at its ends, with bases near 1."""
    ends = rng.choice([709.7827, -708.3964, -744.4401, -745.1332, 1e-15], count)
    logarithm = np.where(rng.random(count) < 0.5, ends, rng.uniform(-745, 709, count))
    near = 1 + rng.choice([-1.0, 1.0], count) * 2.0 ** -rng.uniform(1, 52, count)
    x = np.where(rng.random(count) < 0.5, near, 2.0 ** rng.uniform(-1074, 1024, count))
    return x, beside(rng, logarithm / np.log(x))


def draw_logaddexp(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Give pairs with gaps of every size, half of them with results that cancel to about 0."""
    gap = rng.choice([1.0, 2.0**-60, 745.0, 40.0], count) * rng.random(count)
    top = np.where(rng.random(count) < 0.5, -np.log1p(np.exp(-gap)), rng.uniform(-20, 20, count))
    top = beside(rng, top)
    return top, top - gap


def draw_logaddexp2(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Give the same pairs for powers of two."""
    x, y = draw_logaddexp(rng, count)
    return x / math.log(2), y / math.log(2)


def draw_atan2(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Give pairs of every size with quotients beside the turns."""
    x = rng.choice([-1.0, 1.0], count) * 2.0 ** rng.uniform(-1074, 1024, count)
    return beside(rng, rng.choice(ENDS, count)) * x, x


def draw_hypot(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Give pairs beside the sizes where the operands are scaled, and at the ends of the range."""
    size = rng.choice([-1074.0, -1022.0, -400.0, -600.0, 0.0, 500.0, 1023.5], count)
    x = 2.0 ** np.clip(size + rng.uniform(-2, 2, count), -1074, 1023.9)
    return x, x * 2.0 ** rng.uniform(-30, 0, count)


PAIRS = {
    "pow": draw_pow,
    "logaddexp": draw_logaddexp,
    "logaddexp2": draw_logaddexp2,
    "atan2": draw_atan2,
    "hypot": draw_hypot,
}


def draw_pairs(name: str, rng: np.random.Generator, count: int) -> list[Array]:
    """Give about that many pairs: half of them where this function is difficult."""
    x, y = draw(rng, count // 4), rng.permutation(draw(rng, count // 4))
    close = rng.uniform(-20, 20, count // 4)
    parts = [(x, y), (close, beside(rng, close)), PAIRS[name](rng, count // 2)]
    return [np.concatenate([part[place] for part in parts]) for place in (0, 1)]


@np.errstate(all="ignore")
def points(name: str, dtype: str) -> list[Array]:
    """Give operands, POINTS of them in the domain, as float64 numbers that the dtype can hold."""
    rng = np.random.default_rng([*name.encode(), *dtype.encode()])
    arity = 2 if name in PAIRS else 1
    found = [part.reshape(-1) for part in np.meshgrid(*[SPECIAL] * arity)]
    count = 0
    while count < POINTS:
        drawn = draw_pairs(name, rng, DRAWN) if arity == 2 else [draw(rng, DRAWN)]
        in_domain = ~np.isnan(by_numpy(name, drawn))
        count += int(in_domain.sum())
        found = [np.concatenate([x, more[in_domain]]) for x, more in zip(found, drawn, strict=True)]
    return [x.astype(dtype).astype(float) for x in found]


# --- exact values --------------------------------------------------------------------------------


def ndtri_near(p: float) -> float:
    """Give the inverse of the normal distribution function to a few places, and its ends."""
    if 0 < p < 1:
        return NORMAL.inv_cdf(p)
    return {0.0: -math.inf, 1.0: math.inf}.get(p, math.nan)


def erfinv_near(x: float) -> float:
    """Give the inverse of the error function roughly, and its ends."""
    return x if -1 < x < 1 else {-1.0: -math.inf, 1.0: math.inf}.get(x, math.nan)


NORMAL = NormalDist()
NUMPY: dict[str, Callable[..., Any]] = {
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "pow": np.power,
    "erf": np.vectorize(math.erf), "erfc": np.vectorize(math.erfc),
    "ndtr": np.vectorize(lambda x: math.erfc(-x / math.sqrt(2)) / 2),
    "log_ndtr": np.vectorize(lambda x: -x * x / 2 if x < 0 else math.log1p(-NORMAL.cdf(-x))),
    "ndtri": np.vectorize(ndtri_near),
    "erfinv": np.vectorize(erfinv_near),
    "i0": lambda x: np.exp(np.abs(x)), "i1": lambda x: np.sinh(x) / 2,  # as they are at 0 and inf
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "softplus": lambda x: np.logaddexp(x, 0.0),
}  # fmt: skip


@np.errstate(all="ignore")
def by_numpy(name: str, operands: list[Array]) -> Array:
    """Give a function's values after NumPy."""
    result: Array = (NUMPY.get(name) or getattr(np, name))(*operands)
    return result


def exact_pow(x: Any, y: Any) -> Any:
    """Give x**y by logarithms: an integer y may be larger than any loop could count."""
    size = mp.exp(bounded(y * mp.log(abs(x))))
    return -size if x < 0 and y % 2 == 1 else size


def exact_logaddexp(x: Any, y: Any) -> Any:
    """Give log(exp(x) + exp(y))."""
    return max(x, y) + mp.log1p(mp.exp(bounded(-abs(x - y))))


def exact_logaddexp2(x: Any, y: Any) -> Any:
    """Give log2(2**x + 2**y)."""
    return max(x, y) + mp.log1p(mp.power(2, bounded(-abs(x - y)))) / mp.ln2


def bounded(x: Any) -> Any:
    """Keep an exponent where mpmath is quick; every result beyond is 0 or infinite."""
    return max(min(x, mp.mpf(2000)), mp.mpf(-2000))


def exact_log_ndtr(x: Any) -> Any:
    """Give the logarithm of the normal distribution function; far out by its series."""
    if x > 0:
        return mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2) if x < 60 else -mp.exp(mp.mpf(-2000))
    if x > -10_000:
        return mp.log(mp.erfc(-x / mp.sqrt(2)) / 2)
    u = 1 / (x * x)
    return mp.log1p(u * (-1 + u * (3 - 15 * u))) - mp.log(-x * mp.sqrt(2 * mp.pi)) - x * x / 2


def erfc_inverse(q: Any) -> Any:
    """Give y with erfc(y) = q, for q up to 1: Newton on logarithms."""
    y = mp.sqrt(-mp.log(q * (2 - q)))
    for _ in range(60):
        value = mp.erfc(y)
        step = value * mp.log(value / q) * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
        y += step
        if abs(step) < abs(y) * mp.mpf(2) ** -90:
            break
    return y


def exact_erfinv(x: Any) -> Any:
    """Give the inverse of the error function; for small x by its series."""
    size = abs(x)
    if size < mp.mpf(2) ** -40:
        return x * mp.sqrt(mp.pi) / 2 * (1 + mp.pi / 12 * x * x)
    return erfc_inverse(1 - size) * (-1 if x < 0 else 1)


def exact_ndtri(p: Any) -> Any:
    """Give the inverse of the normal distribution function."""
    if abs(2 * p - 1) < mp.mpf(2) ** -40:
        return mp.sqrt(2) * exact_erfinv(2 * p - 1)
    return mp.sqrt(2) * (-erfc_inverse(2 * p) if 2 * p < 1 else erfc_inverse(2 - 2 * p))


SUMS = ("logaddexp", "logaddexp2")  # where a zero is a number like others
EXACT: dict[str, Callable[..., Any]] = {
    "exp": lambda x: mp.exp(bounded(x)),
    "exp2": lambda x: mp.power(2, bounded(x)),
    "expm1": lambda x: mp.expm1(bounded(x)),
    "sinh": lambda x: mp.sinh(bounded(x)),
    "cosh": lambda x: mp.cosh(bounded(x)),
    "erfc": lambda x: mp.erfc(bounded(x)),
    "ndtr": lambda x: mp.erfc(-bounded(x) / mp.sqrt(2)) / 2,
    "log_ndtr": exact_log_ndtr,
    "erfinv": exact_erfinv,
    "i0": lambda x: mp.besseli(0, bounded(x)),
    "i1": lambda x: mp.besseli(1, bounded(x)),
    "ndtri": exact_ndtri,
    "log2": lambda x: mp.log(x, 2),
    "cbrt": lambda x: mp.cbrt(abs(x)) * (-1 if x < 0 else 1),
    "sigmoid": lambda x: 1 / (1 + mp.exp(bounded(-x))),
    "softplus": lambda x: exact_logaddexp(x, mp.mpf(0)),
    "pow": exact_pow,
    "hypot": lambda x, y: mp.sqrt(x * x + y * y),
    "logaddexp": exact_logaddexp,
    "logaddexp2": exact_logaddexp2,
}


def by_mpmath(task: tuple[str, list[Array]]) -> Array:
    """Give a function's values to 64 bits, as long doubles, which hold every exponent needed."""
    name, operands = task
    mp.prec = PRECISION
    function = EXACT.get(name) or getattr(mp, name)
    signs, mantissas, exponents = [], [], []
    for numbers in zip(*(x.tolist() for x in operands), strict=True):
        sign, mantissa, exponent, bits = function(*map(mp.mpf, numbers))._mpf_
        excess = bits - 64
        mantissas.append(mantissa >> excess if excess > 0 else mantissa << -excess)
        signs.append(-1.0 if sign else 1.0)
        exponents.append(max(min(exponent + excess, 16_000), -16_000))
    size = np.array(mantissas, np.uint64).astype(np.longdouble)
    values: Array = np.array(signs) * np.ldexp(size, np.array(exponents))
    return values


def is_special(name: str, operands: list[Array]) -> Array:
    """Tell where an operand is infinite, NaN or a zero whose sign may count; and the poles."""
    values = by_numpy(name, operands)
    found: Array = np.isnan(values) | (np.isinf(values) & (np.abs(operands[0]) == 1))
    for x in operands:
        found |= ~np.isfinite(x) | ((x == 0) & (name not in SUMS))
    return found
