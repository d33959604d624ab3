"""The messages of ts.testing: what was to be near and is not; errors.py has the rest."""

from __future__ import annotations

import math

from tessella.errors import CheckFailed, DTypeMismatch, InvalidArgument
from tessella.hints import Sequence

_NEAR = 1e-3  # how near a ratio is to a number that tells what went wrong

# --- gradients ------------------------------------------------------------------------------------


def wrong_gradient(
    name: str, order: int, given: float, wanted: float, allowed: float, step: float
) -> CheckFailed:
    """A gradient that disagrees with finite differences."""
    error = CheckFailed(
        f"the gradient of {name} is wrong at order {order}: {given:.9g} in place of {wanted:.9g}",
        _cause(order, given, wanted, step),
    )
    difference = abs(given - wanted)
    error.operands = [
        f"reverse mode         {given:.9g}   <vjp(g), v>, for a random direction v",
        f"central differences  {wanted:.9g}   <g, f(x + eps v) - f(x - eps v)> / (2 eps)",
        f"difference           {difference:.3g}   allowed {allowed:.3g}, with eps={step:.3g}",
    ]
    return error


def _cause(order: int, given: float, wanted: float, step: float) -> str:
    """Say what most likely made a gradient wrong."""
    if not math.isfinite(wanted):
        return "f gives NaN or infinity at or beside these arguments; check it where it is finite"
    if not math.isfinite(given):
        return "the rule divides by zero or overflows where f itself does not"
    if given == 0:
        return "no gradient arrives: f detaches it, or goes through integers, item() or NumPy"
    ratio = given / wanted if wanted else math.inf
    for factor, why in ((-1, "a sign is wrong"), (2, "a term counts twice"),
                        (0.5, "a factor of 2 or a second path is missing")):  # fmt: skip
        if abs(ratio - factor) < _NEAR:
            return f"{why}: reverse mode gives {factor:g} times the difference"
    if order > 1:
        return "the lower orders agree: a backward that f uses is itself not recorded, or is wrong"
    return f"a vjp or a Function.backward in f is wrong, or f bends much within eps={step:.3g}"


def not_repeatable(order: int) -> CheckFailed:
    """A function whose result is not one of its arguments alone."""
    return CheckFailed(
        f"f gives other values when it is called again with the same arguments (order {order})",
        "draw random numbers outside of f, or from a ts.Generator that f makes; change no argument",
    )


def shape_moves(order: int, shape: object, other: object) -> CheckFailed:
    """A function whose result has another shape beside the arguments."""
    return CheckFailed(
        f"f gives shape {shape}, and {other} right beside the arguments (order {order})",
        "a shape that depends on values has no gradient there; check it elsewhere",
    )


def all_kinks(name: str, order: int, step: float) -> CheckFailed:
    """A function that is nowhere smooth enough for a difference to say anything."""
    return CheckFailed(
        f"every element jumps or has a kink as {name} moves by eps={step:.3g} (order {order})",
        "check it elsewhere, or with a smaller eps=",
    )


def low_precision(name: str, dtype: object, wide: str) -> DTypeMismatch:
    """Arguments whose roundings hide what a check looks for."""
    return DTypeMismatch(
        f"{name} is {dtype}, in which finite differences show little",
        f"convert it with astype(ts.{wide}), or say by rtol= and atol= how much it may be off",
    )


def nothing_differentiable(what: str) -> DTypeMismatch:
    """No argument to move, or no result to look at."""
    return DTypeMismatch(
        f"{what} holds no float or complex tensor", "only those have gradients; use astype first"
    )


def wrong_tolerance(name: str, value: object) -> InvalidArgument:
    """A tolerance or a step that is no size."""
    return InvalidArgument(f"{name} is {value}", f"{name} must be finite and not negative")


# --- nearness -------------------------------------------------------------------------------------


def not_close(
    path: str, count: int, size: int, at: Sequence[int], shown: Sequence[str],
    allowed: tuple[float, float],
) -> CheckFailed:  # fmt: skip
    """Elements that differ by more than is allowed; the one that differs most."""
    where = f", most at {tuple(at)}" if len(at) else ""
    of = f"{path}: " if path else ""
    error = CheckFailed(
        f"{of}{count} of {size} elements differ{where}",
        "atol + rtol * abs(expected) is allowed; equal_nan=True lets NaN equal NaN",
    )
    error.operands = [
        f"actual    {shown[0]}",
        f"expected  {shown[1]}",
        f"allowed   rtol={allowed[0]:g}, atol={allowed[1]:g}",
    ]
    return error


def not_alike(path: str, what: str, found: object, wanted: object) -> CheckFailed:
    """Things that cannot be compared element by element."""
    of = f"{path}: " if path else ""
    return CheckFailed(
        f"{of}{what} is {found}, expected {wanted}",
        "check_dtype=False compares values of different dtypes" if what == "the dtype" else
        "both must have the same structure and shapes; nothing is broadcast",
    )  # fmt: skip
