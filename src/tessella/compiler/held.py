"""held: what values of Python hold, so that a change of it is noticed.

Numbers and text are compared by value, containers and arrays by what they hold, everything else by
being the same object.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from tessella.hints import Any

MOST_ITEMS = 1000  # of a container whose items are compared
DEPTH = 8  # of containers in each other whose items are compared
CONSTANT = (int, float, complex, str, bytes, type(None))


class Restless:
    """What a container holds that is too large or too deep to compare: never the same."""

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = object.__hash__


def items_of(value: Any, depth: int = DEPTH) -> Any:
    """Give what a container or an array holds, to be compared; None if it cannot change."""
    found = parts_of(value)
    if found is not None:
        if len(found) > MOST_ITEMS or not depth:
            return Restless()
        behind = [each[1] for each in found] if isinstance(value, Mapping) else found
        items = [(x, items_of(y, depth - 1)) for x, y in zip(found, behind, strict=True)]
        is_fixed = isinstance(value, tuple) and all(below is None for _, below in items)
        return None if is_fixed else items
    if isinstance(value, bytearray) or is_plain_array(value):
        return bytes(value)
    return digest(value) if is_array(value) else None


def parts_of(value: Any) -> list[Any] | None:
    """Give the parts of a container, of mappings pairs; None if it is none, or of the package."""
    if isinstance(value, list | tuple | set | frozenset | deque):
        return list(value)
    if isinstance(value, Mapping) and not is_ours(module_of(type(value))):
        return list(value.items())
    return None


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


def same_items(now: Any, items: Any) -> bool:
    """Compare what containers or arrays hold."""
    if not isinstance(items, list):
        return bool(now == items)
    return isinstance(now, list) and len(now) == len(items) and all(map(_same_item, now, items))


def _same_item(now: tuple[Any, Any], before: tuple[Any, Any]) -> bool:
    return same(now[0], before[0]) and (before[1] is None or same_items(now[1], before[1]))


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
