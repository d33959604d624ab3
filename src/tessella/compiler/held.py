"""held: what values of Python hold, so that a change of it is noticed.

Numbers and text are compared by value, containers and arrays by what they hold, everything else by
being the same object.
"""

from __future__ import annotations

import os
from collections import ChainMap, UserDict, deque
from types import MappingProxyType

from tessella.hints import Any

MOST_ITEMS = 1000  # of a container whose items are compared
DEPTH = 50  # of containers in each other whose items are compared
# Others run code of their own when they are asked.
MAPPINGS: Any = dict | UserDict | ChainMap | MappingProxyType | type(os.environ)
SEQUENCES: Any = list | tuple | set | frozenset | deque
CONSTANT = (int, float, complex, str, bytes, type(None))


class Restless:
    """What a container holds that is too large or too deep to compare: never the same."""

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = object.__hash__


def items_of(value: Any, depth: int = DEPTH, known: dict[int, Any] | None = None) -> Any:
    """Give what a container or an array holds, to be compared; None if it cannot change.

    What is met again, in itself or elsewhere, is the same list: `known` has them by their ids.
    """
    known = {} if known is None else known
    if id(value) in known:
        return known[id(value)]
    if isinstance(value, MAPPINGS | SEQUENCES) and not is_ours(module_of(type(value))):
        if len(value) > MOST_ITEMS or not depth:
            return Restless()
        found: list[Any] = []
        known[id(value)] = None if isinstance(value, tuple) else found
        is_mapping = isinstance(value, MAPPINGS)
        for part in value.items() if is_mapping else value:
            held = part[1] if is_mapping else part
            is_constant = type(held) in CONSTANT
            found.append((part, None if is_constant else items_of(held, depth - 1, known)))
        if isinstance(value, tuple):  # which changes in its items alone
            known[id(value)] = found if any(below is not None for _, below in found) else None
        return known[id(value)]
    if isinstance(value, bytearray) or is_plain_array(value):
        return bytes(value)
    return digest(value) if is_array(value) else None


def parts_of(value: Any) -> Any:
    """Give the parts of a container, of mappings the values; None if it is none."""
    if isinstance(value, MAPPINGS) and not is_ours(module_of(type(value))):
        return value.values()
    return value if isinstance(value, SEQUENCES) else None


def is_array(value: Any) -> bool:
    """Tell whether a value is an array of NumPy or its like; not the class of such."""
    return hasattr(type(value), "__array_interface__")


def is_plain_array(value: Any) -> bool:
    """Tell whether a value is an array of Python's own."""
    return module_of(type(value)) == "array"


def digest(array: Any) -> Any:
    """Give what tells an array from others."""
    import hashlib  # arrays are rare, and it takes long to load

    return array.shape, str(array.dtype), hashlib.blake2b(array.tobytes()).digest()


def module_of(value: Any) -> str:
    """Give the name of the module that a function or a class is of."""
    name = getattr(value, "__module__", None)
    return name if isinstance(name, str) else ""


def is_ours(module: str) -> bool:
    """Tell whether a module belongs to the package."""
    return module == "tessella" or module.startswith("tessella.")


def same_items(now: Any, items: Any, seen: set[int] | None = None) -> bool:
    """Compare what containers or arrays hold."""
    if not isinstance(items, list):
        return bool(now == items)
    seen = set() if seen is None else seen
    if id(items) in seen:  # it is compared already
        return True
    seen.add(id(items))
    if not isinstance(now, list) or len(now) != len(items):
        return False
    return all(
        same(x, y) and (below is None or same_items(under, below, seen))
        for (x, under), (y, below) in zip(now, items, strict=True)
    )


def is_restless(items: Any, seen: set[int] | None = None) -> bool:
    """Tell whether something in a container was too large or too deep to compare."""
    seen = set() if seen is None else seen
    if not isinstance(items, list) or id(items) in seen:
        return isinstance(items, Restless)
    seen.add(id(items))
    return any(is_restless(below, seen) for _, below in items)


def same(x: Any, y: Any) -> bool:
    """Compare two values: constants by their digits, tuples by their items."""
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if isinstance(x, float):
        return bool(x.hex() == y.hex())
    if isinstance(x, tuple):
        return len(x) == len(y) and all(map(same, x, y))
    return isinstance(x, CONSTANT) and bool(x == y)
