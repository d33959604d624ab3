"""Writes src/core/simd/coefficients.h: polynomials and split constants of the vector maths.

Each row names a function of one variable, an interval, a degree and a weight, to which
polynomials.py fits. It is run by hand (``python tools/coefficients.py``); the build reads only
the header.
"""

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mpmath import mp, mpf

from polynomials import Function, Row, chebyshev, fit, horner, remez, rounded

GRID = 600
ERFC_CENTRE = mpf("3.75")
NORMAL_CENTRE = mpf("3.5")


def odd(f: Function) -> Function:
    """(f(x) / x - 1) / z of an odd f with f'(0) = 1, where z = x * x."""
    return lambda z: (f(mp.sqrt(z)) / mp.sqrt(z) - 1) / z


def erfc_scaled(t: mpf) -> mpf:
    """(1 + 2x) exp(x*x) erfc(x) - 1 where t = (x - c) / (x + c)."""
    x = ERFC_CENTRE * (1 + t) / (1 - t)
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x) - 1


def erfc_variable(x: mpf) -> mpf:
    """The variable t of erfc_scaled at x."""
    return (x - ERFC_CENTRE) / (x + ERFC_CENTRE)


def normal_scaled(u: mpf) -> mpf:
    """exp(x*x/2) (1 - Phi(x)) / u where u = 2c / (x + c), Phi the normal distribution."""
    x = 2 * NORMAL_CENTRE / u - NORMAL_CENTRE
    return mp.exp(x * x / 2) * mp.erfc(x / mp.sqrt(2)) / 2 / u


def erfc_inverse(q: mpf) -> mpf:
    """The y with erfc(y) = q, for q below a half: Newton on logarithms."""
    y = mp.sqrt(-mp.log(q))
    for _ in range(60):
        value = mp.erfc(y)
        step = value * mp.log(value / q) * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
        y += step
        if abs(step) < mp.eps * 1000 * y:
            break
    return y


def erfinv_share(w: mpf) -> mpf:
    """erfinv(x) / x where w = -log(1 - x*x)."""
    x = mp.sqrt(-mp.expm1(-w))
    return mp.erfinv(x) / x


def erfinv_tail(centre: mpf) -> Function:
    """erfinv(x) as a function of sqrt(-log(1 - x*x)) - centre, for x near 1: 1 - x counts."""

    def value(u: mpf) -> mpf:
        power = mp.exp(-((u + centre) ** 2))
        return erfc_inverse(power / (1 + mp.sqrt(1 - power)))

    return value


BESSEL_SHARE = 1 / mp.sqrt(2 * mp.pi)  # what sqrt(x) exp(-x) I(x) tends to


def bessel_start(order: int) -> tuple[Function, Function]:
    """(I(x) / (x/2)**order - 1) / z where z = x*x/4, and the weight of a relative error."""

    def scaled(z: mpf) -> mpf:
        return mp.besseli(order, 2 * mp.sqrt(z)) / mp.sqrt(z) ** order

    return lambda z: (scaled(z) - 1) / z, lambda z: z / scaled(z)


def bessel_rest(order: int) -> Function:
    """sqrt(x) exp(-x) I(x) - BESSEL_SHARE."""
    return lambda x: mp.exp(-x) * mp.besseli(order, x) * mp.sqrt(x) - BESSEL_SHARE


def one(_: mpf) -> mpf:
    """Weight of an absolute error."""
    return mpf(1)


def itself(z: mpf) -> mpf:
    """Weight |z|."""
    return abs(z)


def squared(z: mpf) -> mpf:
    """Weight z * z."""
    return z * z


LN2, ROOT2 = mp.ln(2), mp.sqrt(2)
MARGIN = mpf("1.0001")  # a rounded quotient may fall just outside
HALF = LN2 / 2 * MARGIN
QUARTER = (mp.pi / 4) ** 2 * MARGIN
ATAN_HIGH = (ROOT2 - 1) ** 2 * MARGIN
LOG_HIGH = ((ROOT2 - 1) / (ROOT2 + 1)) ** 2 * MARGIN
FRACTION = (1 / ROOT2 - 1, ROOT2 - 1)  # of the argument of a logarithm


def exp_tail(r: mpf) -> mpf:
    """(exp(r) - 1 - r) / r**2."""
    return (mp.expm1(r) - r) / (r * r)


def exp2_slope(r: mpf) -> mpf:
    """(exp2(r) - 1) / r."""
    return mp.expm1(r * LN2) / r


def log_series(z: mpf) -> mpf:
    """(log((1 + s) / (1 - s)) - 2s) / (s*z) where z = s*s."""
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) - 2 * s) / (s * z)


def log_tail(z: mpf) -> mpf:
    """What log_series has beyond its first two terms, over z**2."""
    return (log_series(z) - mpf(2) / 3 - mpf(2) / 5 * z) / (z * z)


def log_cubic(f: mpf) -> mpf:
    """(log(1 + f) - f + f*f/2) / f**3."""
    return (mp.log1p(f) - f + f * f / 2) / f**3


def log_cubic_weight(f: mpf) -> mpf:
    """Weight of a relative error of log(1 + f)."""
    return abs(f**3 / mp.log1p(f))


def log2_slope(f: mpf) -> mpf:
    """log2(1 + f) / f."""
    return mp.log1p(f) / (f * LN2)


def cos_tail(z: mpf) -> mpf:
    """(cos(r) - 1 + z/2) / z**2 where z = r*r."""
    return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / (z * z)


def erf_excess(z: mpf) -> mpf:
    """erf(x) / x - 1 where z = x*x."""
    return mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1


def erf_exponent(x: mpf) -> mpf:
    """The y with exp(-y) = erfc(x)."""
    return -mp.log(mp.erfc(x))


def row(
    kind: str, name: str, text: str, low: mpf | int, high: mpf | int, degree: int,
    value: Function, weight: Function = one,
) -> Row:  # fmt: skip
    """A row whose interval may be given by integers."""
    return Row(name, kind, text, mpf(low), mpf(high), degree, value, weight)


narrow, wide = partial(row, "float"), partial(row, "double")


def of_doubles() -> list[Row]:
    """In doubles, for results in float64."""
    return [
        wide("kExp", "exp(r) = 1 + r + r*r*P(r)", -HALF, HALF, 10, exp_tail, itself),
        wide("kLog", "log(1 + f) = 2s + s*z*P(z), s = f/(2 + f), z = s*s", 0, LOG_HIGH, 6,
             log_series, itself),
        wide("kLogTail", "2 atanh(s) = 2s + s*z*(2/3 + z*(2/5 + z*P(z))), z = s*s", 0, LOG_HIGH, 6,
             log_tail, lambda z: z**3),
        wide("kSin", "sin(r) = r + r*z*P(z), z = r*r", 0, QUARTER, 5, odd(mp.sin), itself),
        wide("kCos", "cos(r) = 1 - z/2 + z*z*P(z), z = r*r", 0, QUARTER, 5, cos_tail, squared),
        wide("kAsin", "asin(x) = x + x*z*P(z), z = x*x", 0, mpf("0.2501"), 12, odd(mp.asin),
             itself),
        wide("kAtan", "atan(u) = u + u*z*P(z), z = u*u", 0, ATAN_HIGH, 10, odd(mp.atan), itself),
        wide("kSinh", "sinh(x) = x + x*z*P(z), z = x*x", 0, MARGIN, 6, odd(mp.sinh), itself),
        wide("kErf", "erf(x) = x + x*P(z), z = x*x", 0, mpf("0.2501"), 8, erf_excess),
        wide("kErfc", "(1 + 2x)*exp(x*x)*erfc(x) = 1 + P(t), t = (x - 3.75)/(x + 3.75)",
             erfc_variable(mpf("0.49")), erfc_variable(mpf("28")), 22, erfc_scaled),
    ]  # fmt: skip


def of_erfinv() -> list[Row]:
    """The inverse of erf in three parts."""
    near, far, end = mpf("6.3"), mpf("4.4"), mpf("16.85")
    tail = "P(s - {}), s = sqrt(-log(1 - x*x)): a first guess"
    return [
        wide("kErfinv", "erfinv(x) = x*P(w), w = -log(1 - x*x): a first guess", mpf("1e-9"),
             near, 12, erfinv_share, lambda w: 1 / erfinv_share(w)),
        wide("kErfinvFar", f"erfinv(x) = {tail.format(4.4)}", -2, 2, 12, erfinv_tail(far),
             lambda u: 1 / (u + far)),
        wide("kErfinvEnd", f"erfinv(x) = {tail.format(16.85)}", mpf("-10.65"), mpf("10.65"), 13,
             erfinv_tail(end), lambda u: 1 / (u + end)),
    ]  # fmt: skip


def of_narrow_results() -> list[Row]:
    """In doubles with fewer terms, for results that are rounded to float32."""
    return [
        wide("kRootCube", "m**(-1/3)", 1 / ROOT2, ROOT2, 6, lambda m: m ** (mpf(-1) / 3)),
        wide("kExp2Narrow", "exp2(r) = 1 + r*P(r)", mpf("-0.5001"), mpf("0.5001"), 6, exp2_slope),
        wide("kLog2Narrow", "log2(1 + f) = f*P(f)", *FRACTION, 13, log2_slope),
        wide("kSinNarrow", "sin(r) = r + r*z*P(z), z = r*r", 0, QUARTER, 3, odd(mp.sin), itself),
        wide("kCosNarrow", "cos(r) = 1 - z/2 + z*z*P(z), z = r*r", 0, QUARTER, 3, cos_tail,
             squared),
        wide("kAsinNarrow", "asin(x) = x + x*z*P(z), z = x*x", 0, mpf("0.2501"), 6, odd(mp.asin),
             itself),
        wide("kAtanNarrow", "atan(u) = u + u*z*P(z), z = u*u", 0, ATAN_HIGH, 6, odd(mp.atan),
             itself),
        wide("kErfcNarrow", "(1 + 2x)*exp(x*x)*erfc(x) = 1 + P(t), t = (x - 3.75)/(x + 3.75)",
             erfc_variable(mpf("0.49")), erfc_variable(mpf("12.1")), 10, erfc_scaled),
    ]  # fmt: skip


def of_bessel(order: int) -> list[Row]:
    """I0 or I1 in three parts."""
    start, weight = bessel_start(order)
    lead = "I0(x) = 1" if order == 0 else "I1(x) = x/2 (1"
    text = f"{lead} + z*P(z){')' * order}, z = x*x/4"
    rest = f"I{order}(x) = exp(x) / sqrt(x) (1 / sqrt(2 pi) + "
    excess = bessel_rest(order)
    return [
        wide(f"kBessel{order}", text, mpf("1e-9"), mpf("9.1"), 13, start, weight),
        wide(f"kBessel{order}Mid", f"{rest}P(x - 9))", -mpf("3.1"), mpf("3.1"), 22,
             lambda t: excess(t + 9)),
        wide(f"kBessel{order}Far", f"{rest}v*P(v)), v = 1/x", mpf("1e-9"), 1 / mpf("11.9"), 16,
             lambda v: excess(1 / v) / v, itself),
    ]  # fmt: skip


def of_floats() -> list[Row]:
    """In floats."""
    return [
        narrow("kExpF", "exp(r) = 1 + r + r*r*P(r)", -HALF, HALF, 4, exp_tail, squared),
        narrow("kLogF", "log(1 + f) = f - f*f/2 + f**3*P(f)", *FRACTION, 8, log_cubic,
               log_cubic_weight),
        narrow("kErfF", "erf(x) = x + x*P(z), z = x*x", 0, 1, 6, erf_excess),
        narrow("kErfTailF", "erf(x) = 1 - exp(-P(x))", 1, mpf("3.95"), 7, erf_exponent, mp.erfc),
        narrow("kNormalTailF",
               "exp(x*x/2)*(1 - Phi(x)) = u*P(u), u = 7/(x + 3.5), Phi the normal distribution",
               7 / mpf(18), 2, 9, normal_scaled, lambda u: 1 / normal_scaled(u)),
    ]  # fmt: skip


def tables() -> list[Row]:
    """Every polynomial of the vector maths, in the order of the header."""
    exact = [*of_doubles(), *of_erfinv()]
    return [*exact, *of_narrow_results(), *of_bessel(0), *of_bessel(1), *of_floats()]


@dataclass(frozen=True)
class Split:
    """A constant as a sum of lane values; each but the last keeps only the given number of bits."""

    name: str
    type: str
    text: str
    value: mpf
    bits: tuple[int, ...]


def splits() -> list[Split]:
    """Every constant of the vector maths that is held in parts."""
    half_pi = mp.pi / 2
    return [
        Split(
            "kLn2", "double", "ln 2; an 11-bit integer times the first part is exact", LN2, (42,)
        ),
        Split("kLn2Pair", "double", "ln 2", LN2, (53,)),
        Split("kInvLn2Pair", "double", "1 / ln 2", 1 / LN2, (53,)),
        Split("kInvLn10Pair", "double", "1 / ln 10", 1 / mp.ln(10), (53,)),
        Split(
            "kHalfPi",
            "double",
            "pi / 2; a 20-bit integer times one of the first parts is exact",
            half_pi,
            (33, 33, 33),
        ),
        Split(
            "kHalfPiNarrow",
            "double",
            "pi / 2; a 22-bit integer times the first part is exact",
            half_pi,
            (31,),
        ),
        Split("kHalfPiPair", "double", "pi / 2", half_pi, (53,)),
        Split("kRootHalf", "double", "sqrt(1/2)", mp.sqrt(mpf(1) / 2), (53,)),
        Split("kRootTwo", "double", "sqrt(2)", mp.sqrt(2), (53,)),
        Split("kBesselShare", "double", "1 / sqrt(2 pi)", BESSEL_SHARE, (53,)),
        Split("kTwoThirds", "double", "2 / 3", mpf(2) / 3, (53,)),
        Split("kTwoFifths", "double", "2 / 5", mpf(2) / 5, (53,)),
        Split("kLn2F", "float", "ln 2; a 9-bit integer times the first part is exact", LN2, (15,)),
    ]


def parted(split: Split) -> str:
    """One constexpr array of the parts, largest first."""
    rest, parts = split.value, []
    for bits in split.bits:
        mantissa, exponent = mp.frexp(rest)
        cut = mp.nint if bits == 53 else mp.floor
        parts.append(mp.ldexp(cut(mp.ldexp(mantissa, bits)), int(exponent) - bits))
        rest -= parts[-1]
    parts.append(rounded(rest, split.type))
    values = ", ".join(hexadecimal(part, split.type) for part in parts)
    return f"// {split.text}.\nstatic constexpr {split.type} {split.name}[] = {{{values}}};\n"


def two_over_pi() -> str:
    """The binary digits of 2/pi in 64-bit words after one word of zeros, for Payne and Hanek."""
    words = 20
    with mp.workprec(64 * words + 64):
        digits = int(mp.floor(mp.ldexp(2 / mp.pi, 64 * words)))
    values = [0, *(digits >> 64 * (words - 1 - i) & (2**64 - 1) for i in range(words))]
    lines = [f"    {value:#018x}," for value in values]
    text = "// 2 / pi: one word of zeros, then the digits after the binary point."
    return "\n".join([text, "static constexpr uint64_t kTwoOverPi[] = {", *lines, "};\n"])


PIECES = 8
TANH_DEGREE = 7
TANH_SCALE, TANH_TOP = mpf("1.5"), mpf("9.2")  # from 9.02 on, tanh rounds to 1


def rounding(value: mpf) -> mpf:
    """What rounding to a float changes, in units of the last place."""
    return abs(value - rounded(value, "float")) / mp.ldexp(1, int(mp.frexp(value)[1]) - 24)


def piece_centre(low: mpf, high: mpf) -> mpf:
    """A float in the middle of an interval, at which tanh and its slope are nearly floats."""
    middle = rounded((low + high) / 2, "float")
    step = mp.ldexp(1, int(mp.frexp(middle)[1]) - 24)

    def badness(x: mpf) -> mpf:
        return 10 * rounding(mp.tanh(x)) + rounding(1 - mp.tanh(x) ** 2)

    return min((middle + i * step for i in range(3000)), key=badness)


def tanh_piece(low: mpf, high: mpf) -> list[mpf]:
    """The centre c of a piece and the coefficients of P, tanh(c + t) = P(t)."""
    if low == 0:  # relative to t, of which the slope is 1
        samples = [
            (t, (mp.tanh(t) - t) / t**2, t**2 / mp.tanh(t)) for t in chebyshev(low, high, GRID)
        ]
        rest = Row("", "float", "", low, high, TANH_DEGREE - 2, mp.tanh, one)
        return [mpf(0), mpf(0), mpf(1), *fit(rest, samples)]
    c = piece_centre(low, high)
    top = mp.tanh(c)
    nodes = [x - c for x in chebyshev(low, high, GRID)]
    samples = [(t, (mp.tanh(c + t) - top) / t, abs(t) / mp.tanh(c + t)) for t in nodes]
    return [rounded(v, "float") for v in (c, top, *remez(samples, 0, TANH_DEGREE))]


def tanh_pieces() -> str:
    """The table of tanh for floats: rows of centres and coefficients, pieces twice in each."""
    borders = [mpf(x) for x in (1, "1.5", 2, 3, 4, 6, 8, 12)]
    lows = [(border - 1) / TANH_SCALE for border in borders]
    pieces = [tanh_piece(*ends) for ends in zip(lows, [*lows[1:], TANH_TOP], strict=True)]
    first = 6  # the lowest bits of the float 1, less those below its first two
    lines = [
        "// tanh(c + t) = P(t) for floats in eight pieces: a row of centres c, then rows of the",
        "// coefficients of P. The piece of x is number bits(1 + 1.5x) / 2^22 modulo 8, so that",
        "// halves of octaves of 1 + 1.5x are apart.",
        f"static constexpr float kTanhF[{TANH_DEGREE + 2}][{PIECES}] = {{",
    ]
    for row in zip(*pieces, strict=True):
        turned = [row[(i - first) % PIECES] for i in range(PIECES)]
        lines.append(f"    {{{', '.join(hexadecimal(v, 'float') for v in turned)}}},")
    return "\n".join([*lines, "};\n"])


def hexadecimal(value: mpf, kind: str) -> str:
    """A C++ literal without rounding."""
    return float(value).hex() + ("f" if kind == "float" else "")


def written(row: Row) -> str:
    """One constexpr array, lowest power first, under a line that says what it is."""
    nodes = chebyshev(row.low, row.high, GRID)
    samples = [(z, row.value(z), row.weight(z)) for z in nodes]
    values = fit(row, samples)
    error = max(abs(w * (v - horner(values, z))) for z, v, w in samples)
    bits = mp.nstr(mp.log(error, 2), 4)
    low, high = mp.nstr(row.low, 5), mp.nstr(row.high, 5)
    print(row.name, bits, file=sys.stderr)
    lines = [f"// {row.text}\n// on [{low}, {high}], degree {row.degree}, weighted error 2^{bits}."]
    lines.append(f"static constexpr {row.type} {row.name}[] = {{")
    lines += [f"    {hexadecimal(v, row.type)}," for v in values]
    return "\n".join([*lines, "};\n"])


HEAD = """\
// Constants and minimax polynomials (lowest power first) of the vector maths. Written by
// tools/coefficients.py, which holds the function, the interval and the weight of each: change
// that, not this file.
#pragma once
#include <stdint.h>

namespace tessella::TS_ISA {

"""


def main() -> None:
    """Fits everything and writes the header."""
    target = Path(__file__).parent.parent / "src" / "core" / "simd" / "coefficients.h"
    parts = [*(parted(split) for split in splits()), two_over_pi()]
    body = "\n".join([*parts, *(written(row) for row in tables()), tanh_pieces()])
    target.write_text(HEAD + body + "\n}  // namespace tessella::TS_ISA\n")


if __name__ == "__main__":
    main()
