"""Line searches: how far to go along a direction, by values and slopes of a function there.

They work on Python numbers; what a point is beyond its number, value and slope they do not know.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tessella._core import Tensor

DECREASE = 1e-4  # of the slope that a step must win: Armijo's condition
FLATTEN = 0.9  # of the slope that may be left: the strong curvature condition of Wolfe


@dataclass(frozen=True)
class Point:
    """A place on the line: how far, the value there, the slope along the line, the gradient."""

    t: float
    loss: float
    slope: float
    gradient: Tensor

    @property
    def is_finite(self) -> bool:
        """Whether there is something to go by."""
        return math.isfinite(self.loss) and math.isfinite(self.slope)


Evaluate = Callable[[float], Point]


def falls_enough(start: Point, at: Point) -> bool:
    """Tell whether a point is as far below the start as its distance asks for."""
    return at.is_finite and at.loss <= start.loss + DECREASE * at.t * start.slope


def armijo(evaluate: Evaluate, start: Point, t: float, most: int = 25) -> Point:
    """Go back, until the value falls enough; at most so many evaluations."""
    at = evaluate(t)
    for _ in range(most - 1):
        if falls_enough(start, at):
            return at
        at = evaluate(_nearer(start, at))
    return at if falls_enough(start, at) else start


def _nearer(start: Point, at: Point) -> float:
    """Give the minimum of the parabola through both, between a tenth and a half of the way."""
    if not at.is_finite:
        return 0.1 * at.t
    bend = 2 * (at.loss - start.loss - start.slope * at.t)
    t = -start.slope * at.t * at.t / bend if bend > 0 else 0.0
    return min(max(t, 0.1 * at.t), 0.5 * at.t)


def strong_wolfe(
    evaluate: Evaluate, start: Point, t: float, most: int = 25, tolerance: float = 1e-9
) -> Point:
    """Find a point where the value falls enough and the slope is nearly flat.

    First steps grow until a minimum lies between two of them, then the interval shrinks (Nocedal
    and Wright, Numerical Optimization, algorithms 3.5 and 3.6). Gives the best point if the
    evaluations run out.
    """
    before, at = start, evaluate(t)
    for used in range(1, most + 1):
        is_higher = before is not start and at.loss >= before.loss
        if not falls_enough(start, at) or is_higher:
            return _zoom(evaluate, start, (before, at), most - used, tolerance)
        if abs(at.slope) <= -FLATTEN * start.slope:
            return at
        if at.slope >= 0:
            return _zoom(evaluate, start, (at, before), most - used, tolerance)
        if used < most:
            t = _cubic_minimum(before, at, at.t + 0.01 * (at.t - before.t), 10 * at.t)
            before, at = at, evaluate(t)
    return at


def _zoom(
    evaluate: Evaluate, start: Point, bracket: tuple[Point, Point], most: int, tolerance: float
) -> Point:
    """Shrink an interval whose first end is the lowest point so far that falls enough."""
    low, high = bracket
    stays = False  # the last trial was close to an end
    for _ in range(most):
        width = abs(high.t - low.t)
        if width * -start.slope < tolerance:
            break
        left, right = min(low.t, high.t), max(low.t, high.t)
        t = _cubic_minimum(low, high, left, right)
        is_close = min(t - left, right - t) < 0.1 * width
        if is_close and stays:
            t = 0.5 * (left + right)
        elif is_close:
            t = min(max(t, left + 0.1 * width), right - 0.1 * width)
        stays = is_close
        at = evaluate(t)
        if not falls_enough(start, at) or at.loss >= low.loss:
            high = at
            continue
        if abs(at.slope) <= -FLATTEN * start.slope:
            return at
        if at.slope * (high.t - low.t) >= 0:
            high = low
        low = at
    return low


def _cubic_minimum(a: Point, b: Point, left: float, right: float) -> float:
    """Give the minimum, within bounds, of the cubic with the values and slopes of two points."""
    middle = 0.5 * (left + right)
    if not (a.is_finite and b.is_finite) or a.t == b.t:
        return middle
    if a.t > b.t:
        a, b = b, a
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1 * d1 - a.slope * b.slope
    if square < 0:
        return middle
    d2 = math.sqrt(square)
    below = b.slope - a.slope + 2 * d2
    if below == 0:
        return middle
    t = b.t - (b.t - a.t) * (b.slope + d2 - d1) / below
    return min(max(t, left), right) if math.isfinite(t) else middle
