"""Curves of functions of one number and, dashed, of their slopes: small SVG for the reference.

The ends are those of the domain that the function's tests draw operands from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import tessella as ts
from tessella.composites import Composite
from tessella.kinds import Unary
from tessella.records import Op

WIDTH, HEIGHT, MARGIN, POINTS = 240, 150, 16, 145
HIGHEST = 8.0  # where a curve that goes on to infinity is cut
ACTIVATIONS = ("tessella.ops.activation", "tessella.nn.functional.activations")
HEAD = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
    f'height="{HEIGHT}" fill="none" stroke="#4b7bb5" font-family="sans-serif" font-size="10">'
)


def has_picture(each: Op | Composite) -> bool:
    """Tell whether it is a function of one real number that has a slope."""
    if isinstance(each, Unary):
        is_real = each.out_dtype(ts.float64) is ts.float64
        return each.is_function and each.is_differentiable and is_real
    return each.is_function and each.module in ACTIVATIONS and is_of_one_number(each)


def is_of_one_number(each: Op | Composite) -> bool:
    """Tell whether an element of the result depends on one element alone, each time alike."""
    x = ts.linspace(-1.0, 1.0, 6, dtype=ts.float64)
    try:
        whole, part = each.function(x), each.function(x[2:4])
    except ts.errors.TessellaError:  # it has another operand
        return False
    return isinstance(whole, ts.Tensor) and whole[2:4].tolist() == part.tolist()


def name_of_picture(each: Op | Composite) -> str:
    """Give the file name of a picture."""
    return f"{each.name}.svg"


def picture_of(each: Op | Composite) -> str:
    """Draw a function and its slope."""
    low, high = each.domain
    x = ts.linspace(low, high, POINTS, dtype=ts.float64).requires_grad_()
    y = each.function(x)
    (slope,) = ts.autograd.grad(y.sum(), x)
    heights, slopes = ([float(value) for value in each] for each in (y.detach(), slope))
    found = [*heights, *slopes, 0.0]
    seen = [min(max(value, -HIGHEST), HIGHEST) for value in found if math.isfinite(value)]
    ends = (low, high), (min(seen), max(seen) or 1.0)
    dashed, solid = 'stroke-dasharray="3 3"', 'stroke-width="2"'
    curves = [curve(slopes, ends, dashed), curve(heights, ends, solid)]
    return "\n".join([HEAD, *axes(ends), *curves, "</svg>", ""])


Ends = tuple[tuple[float, float], tuple[float, float]]


def place(x: float, y: float, ends: Ends) -> tuple[float, float]:
    """Give the point of the picture where (x, y) lies."""
    (left, right), (bottom, top) = ends
    across = MARGIN + (x - left) / (right - left) * (WIDTH - 2 * MARGIN)
    down = HEIGHT - MARGIN - (y - bottom) / (top - bottom) * (HEIGHT - 2 * MARGIN)
    return round(across, 1), round(down, 1)


def curve(values: Sequence[float], ends: Ends, style: str) -> str:
    """Draw the values at evenly spaced places; a gap where one is outside."""
    (left, right), (bottom, top) = ends
    step, path, is_drawing = (right - left) / (POINTS - 1), [], False
    for i, value in enumerate(values):
        if not bottom <= value <= top:
            is_drawing = False
            continue
        x, y = place(left + i * step, value, ends)
        path.append(f"{'L' if is_drawing else 'M'}{x:g} {y:g}")
        is_drawing = True
    return f'<path d="{"".join(path)}" {style}/>'


def axes(ends: Ends) -> list[str]:
    """Draw the axes and what their ends are."""
    (left, right), (bottom, top) = ends
    middle = min(max(0.0, left), right)
    (x, floor), (_, ceiling) = place(middle, bottom, ends), place(middle, top, ends)
    (start, y), (end, _) = place(left, 0.0, ends), place(right, 0.0, ends)
    path = f"M{start:g} {y:g}L{end:g} {y:g}M{x:g} {floor:g}L{x:g} {ceiling:g}"
    labels = [(start, y + 11, "start", left), (end, y + 11, "end", right),
              (x + 3, ceiling + 3, "start", top)]  # fmt: skip
    if bottom < 0:
        labels.append((x + 3, floor + 3, "start", bottom))
    return [f'<path d="{path}" stroke="#999"/>', *(text(*each) for each in labels)]


def text(x: float, y: float, anchor: str, value: float) -> str:
    """Write a number."""
    style = f'text-anchor="{anchor}" fill="#777" stroke="none"'
    return f'<text x="{x:g}" y="{y:g}" {style}>{value:.3g}</text>'
