"""What stands for a module in its place: a compiled one, whose parts are those of the module."""

from __future__ import annotations

from tessella.hints import Callable


class Standin:
    """The base of what is called in place of a function or a module."""

    function: Callable[..., object]
