"""Errors and warnings that name the user's line, and what was called there."""

from __future__ import annotations

import functools
import sys
import warnings

from tessella.exceptions import PACKAGE, TessellaError
from tessella.hints import Callable, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def located(operation: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let the errors of a function name it and the user's line."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **keywords: P.kwargs) -> R:
            try:
                return function(*args, **keywords)
            except TessellaError as error:
                raise error.locate(operation, []) from None

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

    return construct


def warn(text: str, kind: type[Warning]) -> None:
    """Warn at the user's line."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, kind, stacklevel=level)
