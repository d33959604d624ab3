"""restless: what gives something else at each call: iterators, clocks, random numbers of Python.

A program that had read such a thing would repeat what it read, so functions that use them are
refused, or recorded again at each call.
"""

from __future__ import annotations

import io
import os
import sys
from types import BuiltinFunctionType, FunctionType, MethodType, MethodWrapperType, ModuleType

from tessella.compiler import capture_errors
from tessella.compiler.held import CONSTANT, MOST_ITEMS, module_of, parts_of
from tessella.hints import Any
from tessella.ops.random import Generator

# Modules whose functions give something else at each call, and methods of their classes.
_RESTLESS = ("_random", "datetime", "numpy.random", "random", "secrets", "time", "uuid")
_CLOCKS = ("now", "today", "utcnow")
_BOUND = BuiltinFunctionType | MethodType | MethodWrapperType


def is_clock(value: Any, name: str) -> bool:
    """Tell whether an attribute is another one at each call: of a module, a class, a generator."""
    if isinstance(value, Generator):
        return name in ("counter", "seed")
    if isinstance(value, ModuleType):
        return value.__name__ in _RESTLESS and not isinstance(getattr(value, name, None), type)
    return isinstance(value, type) and module_of(value) in _RESTLESS and name in _CLOCKS


def refuse_clock(value: Any, name: str) -> None:
    """Refuse an attribute that gives something else at each call."""
    if is_clock(value, name):
        owner = getattr(value, "__name__", type(value).__name__)
        raise capture_errors.restless_inside(f"{owner}.{name}")


def refuse_restless(name: str, value: Any) -> None:
    """Refuse what gives something else at each call: iterators, clocks, Python's random numbers."""
    if is_iterator(value):
        raise capture_errors.iterator_inside(name)
    if is_source(value):
        raise capture_errors.restless_inside(name)


def is_iterator(value: Any) -> bool:
    """Tell whether a value gives other items each time; types are asked, which run no code."""
    return hasattr(type(value), "__next__") and not _takes_text(value)


def is_source(value: Any) -> bool:
    """Tell whether a value gives something else at each call: one of those, or their method."""
    owner = value.__self__ if isinstance(value, _BOUND) else None
    if is_iterator(value) or is_iterator(owner):
        return True
    for each in (value, owner):
        if _is_random(each) or module_of(type(each)).startswith("numpy.random"):
            return True
    is_function = isinstance(value, FunctionType | _BOUND)
    return value is os.urandom or (is_function and module_of(value) in _RESTLESS)


def holds_source(value: Any) -> bool:
    """Tell whether a container holds such a thing, however deep."""
    todo, seen = [value], set()
    while todo:
        each = todo.pop()
        parts = parts_of(each)
        if parts is None or id(each) in seen or len(parts) > MOST_ITEMS:
            continue
        seen.add(id(each))
        inner = [part for part in parts if not isinstance(part, CONSTANT)]
        if any(map(is_source, inner)):
            return True
        todo += inner
    return False


def _takes_text(value: Any) -> bool:
    """Tell whether a value is a file to write into: an iterator too, but it is not read."""
    is_closed_to_writes = isinstance(value, io.IOBase) and not value.closed and not value.writable()
    return hasattr(value, "write") and not is_closed_to_writes


def _is_random(value: Any) -> bool:
    """Tell whether a value is a generator of Python's, if anybody has loaded those."""
    found = sys.modules.get("random")
    return found is not None and isinstance(value, found.Random)
