"""Errors and warnings that name the user's line, and what was called there."""

from __future__ import annotations

import functools
import sys
import warnings

from tessella.exceptions import PACKAGE, ArgumentError, TessellaError
from tessella.hints import Callable, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def located(operation: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let the errors of a function, also those of its call, name it and the user's line."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **keywords: P.kwargs) -> R:
            try:
                return function(*args, **keywords)
            except TessellaError as error:
                raise error.locate(operation, []) from None
            except TypeError as error:
                explain_call(error, operation, function)
                raise

        return call

    return decorate


def located_init(init: Callable[..., None]) -> Callable[..., None]:
    """Let the errors of a constructor name the class that the user made."""

    @functools.wraps(init)
    def construct(self: object, *args: object, **keywords: object) -> None:
        try:
            init(self, *args, **keywords)
        except TessellaError as error:
            raise error.locate(type(self).__name__, []) from None
        except TypeError as error:
            explain_call(error, type(self).__name__, init)
            raise

    return construct


def explain_call(error: TypeError, name: str, method: Callable[..., object]) -> None:
    """Raise an error with the signature, if the package's function does not take its arguments.

    It is asked where the call was made: an error from within has a longer traceback.
    """
    trace, is_ours = error.__traceback__, method.__module__.startswith("tessella.")
    if isinstance(error, TessellaError) or not is_ours or trace is None or trace.tb_next:
        return
    from inspect import Signature, signature  # nobody needs it before

    taken = [x for x in signature(method).parameters.values() if x.name not in ("self", "cls")]
    shown = Signature([each.replace(annotation=Signature.empty) for each in taken])
    found = ArgumentError(str(error).partition("() ")[2], f"the signature is {name}{shown}")
    raise found.locate(name, []) from None


def warn(text: str, kind: type[Warning]) -> None:
    """Warn at the user's line."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, kind, stacklevel=level)
