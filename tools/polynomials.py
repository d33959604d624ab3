"""Fits polynomials to functions of one variable by Remez's exchange, in 60 digits.

The weighted error is as small as it can be. Coefficients are rounded to the lane type; a float
polynomial is fitted again, above each coefficient, to what rounding left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mpmath import mp, mpf

mp.dps = 60
Function = Callable[[mpf], mpf]


@dataclass(frozen=True)
class Row:
    """name(z) is fitted on [low, high]; the error is multiplied by weight(z)."""

    name: str
    type: str
    text: str
    low: mpf
    high: mpf
    degree: int
    value: Function
    weight: Function


def chebyshev(low: mpf, high: mpf, count: int) -> list[mpf]:
    """Chebyshev's nodes on an interval, in rising order; the ends are not among them."""
    nodes = [-mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]
    return [(low + high) / 2 + (high - low) / 2 * node for node in nodes]


def horner(coefficients: list[mpf], z: mpf) -> mpf:
    """The polynomial with these coefficients, lowest power first, at z."""
    total = mpf(0)
    for c in reversed(coefficients):
        total = total * z + c
    return total


def levelled(nodes: list[tuple[mpf, mpf, mpf]], first: int, count: int) -> list[mpf]:
    """The polynomial z**first * (count terms) whose weighted error alternates on the nodes."""
    size = count + 1
    matrix, right = mp.matrix(size, size), mp.matrix(size, 1)
    for i, (z, value, weight) in enumerate(nodes):
        for j in range(count):
            matrix[i, j] = z ** (first + j)
        matrix[i, count] = (-1) ** i / weight
        right[i] = value
    return list(mp.lu_solve(matrix, right))[:count]


def extremes(errors: list[mpf], wanted: int) -> list[int]:
    """Indices of alternating extremes: the largest of each run of equal sign, best `wanted`."""
    runs: list[int] = []
    for i, error in enumerate(errors):
        if runs and (error > 0) == (errors[runs[-1]] > 0):
            if abs(error) > abs(errors[runs[-1]]):
                runs[-1] = i
        else:
            runs.append(i)
    while len(runs) > wanted:
        runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
    return runs


def remez(samples: list[tuple[mpf, mpf, mpf]], first: int, count: int) -> list[mpf]:
    """Minimax fit of z**first * (count terms) to samples (z, value, weight)."""
    picks = [round(i * (len(samples) - 1) / count) for i in range(count + 1)]
    low, high = samples[0][0], samples[-1][0]
    for i in range(count + 1):
        z = (low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / count)
        picks[i] = min(range(len(samples)), key=lambda k: abs(samples[k][0] - z))
    best: list[mpf] = []
    for _ in range(8):
        best = levelled([samples[i] for i in picks], first, count)
        errors = [w * (v - z**first * horner(best, z)) for z, v, w in samples]
        found = extremes(errors, count + 1)
        if len(found) < count + 1 or found == picks:
            break
        picks = found
    return best


def rounded(value: mpf, kind: str) -> mpf:
    """The nearest value of the lane type."""
    digits = 24 if kind == "float" else 53
    mantissa, exponent = mp.frexp(value)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, digits)), int(exponent) - digits)


def fit(row: Row, samples: list[tuple[mpf, mpf, mpf]]) -> list[mpf]:
    """Coefficients rounded to the lane type; those above are fitted again after each rounding.

    A double needs that for the first two only, and not where 0 is inside the interval: there
    z**first * P(z) has no alternation to find.
    """
    done: list[mpf] = []
    for i in range(row.degree + 1):
        rest = [(z, v - horner(done, z), w) for z, v, w in samples]
        found = remez(rest, i, row.degree + 1 - i)
        if row.type == "double" and (i > 1 or row.low < 0):
            return done + [rounded(c, row.type) for c in found]
        done.append(rounded(found[0], row.type))
    return done
