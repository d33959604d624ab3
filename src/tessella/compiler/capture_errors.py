"""The messages about functions that cannot be compiled."""

from __future__ import annotations

from tessella.exceptions import (
    ArgumentError,
    CaptureError,
    TessellaError,
    is_foreign_array,
    type_name,
)

__all__ = ["TessellaError"]


class AsWritten(Exception):  # noqa: N818 - no error: it is told where the call is recorded
    """A call that can only be run as it is written: why, and where if that is known."""

    def __init__(self, why: str, line: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.line = line


def not_callable(value: object) -> ArgumentError:
    """Something other than a function was given."""
    return ArgumentError(
        f"what is compiled must be a function or a module, got {type_name(value)}",
        "give a function or a module: ts.compile(step)",
    )


def wrong_result(value: object) -> CaptureError:
    """A result that is neither a tensor nor a plain value."""
    hint = "return tensors, numbers, text, None, or tuples, lists and dicts of them"
    if is_foreign_array(value):
        hint = "return a tensor: ts.tensor(a)"
        if getattr(value, "shape", None) == ():
            hint = "return a number of Python's own: float(x) or int(x)"
    return CaptureError(f"a result is of type {type_name(value)}", hint)


def wrong_container() -> CaptureError:
    """A result is a container of a class that cannot be made anew."""
    return CaptureError(
        "a result is a dict of a class that keeps more than its items",
        "return a plain dict, and make the other of it outside",
    )


def too_deep(what: str) -> CaptureError:
    """Containers among the arguments or the results of a function that cannot be walked through."""
    return CaptureError(
        f"{what} are nested too deeply, or in themselves",
        "use containers of a few levels, none of which holds itself",
    )


def kept_inside(site: str) -> CaptureError:
    """A tensor that the function made, at `site`, lives on somewhere else than in its results."""
    error = CaptureError(
        "a tensor that the function made is kept where a repeated call would not put it",
        "return it; or write it into a tensor that is there: state.copy_(x)",
    )
    error.site = site
    return error


def foreign_gradient(site: str) -> CaptureError:
    """The gradient of a leaf was set to a tensor from elsewhere."""
    error = CaptureError(
        "a gradient was set to a tensor that the function did not make",
        "set it outside of the function, or to a copy: p.grad = g.clone()",
    )
    error.site = site
    return error


def seeded_inside() -> CaptureError:
    """A generator was moved in another way than by drawing."""
    return CaptureError(
        "a generator was moved by something else than drawing from it",
        "seed it outside of the function",
    )


def same_generators() -> CaptureError:
    """Two generators stand at the same numbers."""
    return CaptureError(
        "two generators have the same seed and stand at the same place",
        "seed them differently: which of the two an operation drew from cannot be told",
    )


def unsteady(what: str, site: str) -> CaptureError:
    """Two recordings of the same call differ, at a line that is known or not."""
    error = CaptureError(
        f"the function does not do the same at each call: {what}",
        "what changes must be a tensor that is updated in place, or an argument",
    )
    error.site = site
    return error


def iterator_inside(name: str) -> CaptureError:
    """The function reads an iterator from outside."""
    return CaptureError(
        f"{name} is an iterator, which gives something else at each call",
        "take its items outside of the function, and pass them as arguments",
    )


def restless_inside(name: str) -> CaptureError:
    """The function reads a clock, or random numbers that are not Tessella's."""
    return CaptureError(
        f"{name} gives something else at each call",
        "read it outside of the function and pass what it gives; draw by ts.rand, ts.randint, …",
    )


def second_derivative() -> CaptureError:
    """Gradients of gradients are asked for from outside."""
    return CaptureError(
        "the gradient of a compiled function has no gradient of its own",
        "compile the function that takes both, or call the function itself: f.__wrapped__(x)",
    )


def other_bits(what: str) -> CaptureError:
    """A program and its function differ."""
    return CaptureError(
        f"{what} of the compiled call has other bits than the function's own",
        "it may read a value in Python that a program does not see (docs/compile.md lists them): "
        "pass that as an argument, or keep it in a tensor; if there is none, please report it",
    )


def not_repeated_here() -> CaptureError:
    """A call is to be measured where compiled functions are called as they are written."""
    return CaptureError(
        "programs are not run inside of a compiled call, nor where values are watched",
        "call profile() outside of compiled functions and of detect_anomaly()",
    )


def not_planned_here() -> CaptureError:
    """A call is to be planned where calls are recorded, or looked at."""
    return CaptureError(
        "calls are not planned inside of a compiled call, nor where values are watched",
        "call plan() outside of compiled functions and of detect_anomaly()",
    )


def never_repeated(why: str) -> CaptureError:
    """Calls go on being recorded, or are run as they are written."""
    because = f": {why}" if why else ""
    return CaptureError(
        f"such a call is run as it is written{because}",
        "what the function changes must be a tensor that is updated in place, or stand outside",
    )


def not_compiled() -> CaptureError:
    """There is no program yet."""
    return CaptureError(
        "no call was repeated yet", "call the function twice with arguments of the same shapes"
    )
