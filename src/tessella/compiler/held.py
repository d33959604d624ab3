"""held: what values of Python hold, so that a change of it is noticed.

Numbers and text are compared by value, containers and arrays by what they hold, everything else by
being the same object.
"""

from __future__ import annotations

import gc
import os
import weakref
from collections import ChainMap, UserDict, UserList, deque, namedtuple
from functools import partial
from threading import local
from types import (
    BuiltinFunctionType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)

from tessella.hints import Any, Iterator

MOST_ITEMS = 1000  # of a container whose items are compared
DEPTH = 50  # of containers in each other whose items are compared
# Others run code of their own when they are asked.
MAPPINGS: Any = dict | UserDict | ChainMap | MappingProxyType | type(os.environ)
SEQUENCES: Any = list | tuple | set | frozenset | deque | UserList
CONSTANT = (int, float, complex, str, bytes, type(None))
ABSENT = object()  # what stands where nothing is
FIELD: Any = type(vars(namedtuple("Named", "field"))["field"])  # of any named tuple
PARTS = ("__code__", "__defaults__", "__kwdefaults__")  # of a function: they can be replaced


def is_constant(value: Any) -> bool:
    """Tell whether a value is a number, a text or None, and nothing else beside."""
    return isinstance(value, CONSTANT) and not getattr(value, "__dict__", None)


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
    if is_array(value) and has_objects(value):
        return items_of([value.shape, *objects_of(value)], depth, known)
    return digest(value) if is_array(value) else None


def parts_of(value: Any) -> Any:
    """Give the parts of a container, of mappings the values; None if it is none."""
    if isinstance(value, MAPPINGS) and not is_ours(module_of(type(value))):
        return value.values()
    return value if isinstance(value, SEQUENCES) else None


def behind(value: Any) -> list[Any]:
    """Give what is behind what can be called: who a method is of, also one of Python's own as
    `table.get`; what a partial is given; defaults. And what a weak reference is to."""
    if isinstance(value, BuiltinFunctionType | MethodWrapperType | MethodType):
        owner = value.__self__
        return [] if owner is None or isinstance(owner, ModuleType) else [owner]
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, FunctionType) and not is_ours(module_of(value)):
        return [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
    return [value()] if type(value) is weakref.ref else []


def is_array(value: Any) -> bool:
    """Tell whether a value is an array of NumPy or its like; not the class of such."""
    return hasattr(type(value), "__array_interface__")


def is_plain_array(value: Any) -> bool:
    """Tell whether a value is an array of Python's own."""
    return module_of(type(value)) == "array"


def has_objects(array: Any) -> bool:
    """Tell whether an array holds objects of Python, not numbers."""
    return bool(getattr(array.dtype, "hasobject", False))


def objects_of(array: Any) -> list[Any]:
    """Give the objects that an array holds."""
    found: list[Any] = array.ravel().tolist()
    return found


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
    if isinstance(x, complex):
        return complex.__repr__(x) == complex.__repr__(y)
    if isinstance(x, tuple):
        return len(x) == len(y) and all(map(same, x, y))
    return isinstance(x, CONSTANT) and bool(x == y)


class Place:
    """Where something stands: a key of a dict, a cell, or an attribute; and what stood there."""

    __slots__ = ("holder", "items", "kind", "name", "value")

    def __init__(self, kind: str, holder: Any, name: str, value: Any) -> None:
        self.kind = kind
        self.holder = holder
        self.name = name
        self.value = value
        self.items = items_of(value)

    def holds(self) -> bool:
        """Tell whether it is as it was."""
        if self.kind == "dict":
            now = self.holder.get(self.name, ABSENT)
        elif self.kind == "itself":
            now = self.holder
        elif self.kind == "names":
            now = tuple(self.holder.__dict__)
        elif self.kind == "tensor":
            now = getattr(self.holder, self.name)
        elif self.kind == "cell":
            now = self.holder.cell_contents if is_filled(self.holder) else ABSENT
        else:
            now = static_attribute(self.holder, self.name)
        if now is not self.value and not same(now, self.value):
            return False
        return self.items is None or same_items(items_of(now), self.items)

    def exported(self) -> list[tuple[Any, ...]]:
        """Give what the core can look at: who holds what, lists with their items; or nothing."""
        own = self.holder if self.kind == "dict" else None
        if self.kind == "attribute":
            own = own_attributes(self.holder)
        found: list[tuple[Any, ...]] = []
        if self.value is ABSENT:
            return found
        if self.kind == "cell":
            found = [(self.holder, None, self.value)]
        elif self.name in PARTS and isinstance(self.holder, FunctionType):
            found = [(self.holder, self.name, self.value)]
        elif type(own) is dict and own.get(self.name, ABSENT) is self.value:
            found = [(own, self.name, self.value)]
        if self.items is None:
            return found
        is_known = type(self.value) is list and isinstance(self.items, list)
        is_known &= bool(found) or self.kind == "itself"
        if not is_known or any(below is not None for _, below in self.items):
            return []
        return [*found, (self.value, None, tuple(each for each, _ in self.items))]


def static_attribute(owner: Any, name: str) -> Any:
    """Give an attribute without running code: of the object, of a slot, or of its classes."""
    own = getattr(owner, "__dict__", None)
    if own is not None and name in own:
        found = next((vars(cls)[name] for cls in type(owner).__mro__ if name in vars(cls)), None)
        return found if isinstance(found, property) else own[name]  # which comes before
    for cls in (*(owner.__mro__ if isinstance(owner, type) else ()), *type(owner).__mro__):
        if name in cls.__dict__:
            found = cls.__dict__[name]
            if isinstance(found, MemberDescriptorType | FIELD) or cls is FunctionType:
                return getattr(owner, name, ABSENT)
            return found
    return ABSENT


def named_in(owner: Any) -> set[str]:
    """Give the names of what an object has: of its own, in slots, and as values of its classes."""
    found = set(getattr(owner, "__dict__", ()))
    for cls in owner.__mro__ if isinstance(owner, type) else type(owner).__mro__:
        if module_of(cls) != "builtins" and not is_ours(module_of(cls)):
            found.update(name for name in vars(cls) if not name.startswith("__"))
    return found


def own_attributes(owner: Any) -> Any:
    """Give the dict of an object or a class that the core can look into; None if there is none."""
    own = None if isinstance(owner, local) else getattr(owner, "__dict__", None)  # of each thread
    if type(own) is MappingProxyType:  # of a class: it shows one dict, which stays
        return next(iter(gc.get_referents(own)), None)
    return own


def layers(value: Any) -> Iterator[Any]:
    """Give an attribute of a class, and the functions within it: of descriptors, of wrappers."""
    while value is not None:
        yield value
        if isinstance(value, staticmethod | classmethod | MethodType):
            value = value.__func__
        elif isinstance(value, property):
            value = value.fget
        elif isinstance(value, FunctionType) or is_ours(module_of(type(value))):
            value = getattr(value, "__dict__", {}).get("__wrapped__")
        else:
            return


def is_filled(cell: Any) -> bool:
    """Tell whether a variable around a function has a value."""
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False
