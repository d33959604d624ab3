"""keys: what the program of a call depends on beside the values of its tensors."""

from __future__ import annotations

from collections import ChainMap, UserDict, UserList, defaultdict, deque

from tessella import _core
from tessella.compiler.held import (
    CONSTANT,
    MAPPINGS,
    digest,
    has_objects,
    is_array,
    is_ours,
    is_plain_array,
    module_of,
    objects_of,
    parts_of,
)
from tessella.hints import Any
from tessella.trees import flatten

Tensor = _core.Tensor


def call_key(args: Any, keywords: Any) -> tuple[list[Any], Any]:
    """Give the tensors of a call, and what its program depends on beside their values."""
    leaves: list[Any]
    if not keywords and all(type(x) is Tensor for x in args):
        tensors = list(args)
        return tensors, _core.call_key(tensors)
    leaves, rebuild = flatten((args, keywords))
    tensors, plain = [], []
    for x in leaves:
        if isinstance(x, Tensor):
            tensors.append(x)
            own = getattr(x, "__dict__", None)  # what the user put on it
            plain.append(_Leaf((_PLACE, _attributes(x))) if own else _PLACE)
        else:
            plain.append(_value_key(x))
    structure = _frozen(rebuild(plain), (args, keywords))
    return tensors, (structure, _core.call_key(tensors))


_PLACE = ("tensor",)


class _Held:
    """An object in a key: it is compared by what it is, and lives as long as the key."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and self.value is other.value


def _value_key(value: Any) -> Any:
    return _Leaf((type(value), _content(value)))


def _content(value: Any) -> Any:
    """Give what tells a value from others of its type, as the types of Python themselves see it."""
    if value is None:
        return None
    if isinstance(value, int | float | complex | str | bytes) and getattr(value, "__dict__", None):
        return _Held(value)  # it is more than its value
    if isinstance(value, int):
        return int.__index__(value)
    if isinstance(value, float):
        return float.hex(value)
    if isinstance(value, complex):
        return value.real.hex(), value.imag.hex()
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes | bytearray) or is_plain_array(value):
        return getattr(value, "typecode", ""), bytes(value)
    held = _items(value)
    return _Held(value) if held is None else (held, _attributes(value))


def _items(value: Any) -> Any:
    """Give what a container or an array holds; None if it is none."""
    if isinstance(value, set | frozenset):
        return _contents(value)  # in the order in which code goes through it
    if isinstance(value, deque):
        return value.maxlen, _contents(value)
    if isinstance(value, list | tuple | UserList):
        return _contents(value)
    if isinstance(value, MAPPINGS) and not is_ours(module_of(type(value))):
        return _contents(value), _contents(value.values())
    if is_array(value) and has_objects(value):
        return value.shape, _contents(objects_of(value))
    return digest(value) if is_array(value) else None


def _contents(values: Any) -> tuple[Any, ...]:
    return tuple((type(each), _content(each)) for each in values)


def _attributes(value: Any) -> Any:
    """Give what tells a container from others of its class beside what it holds."""
    own = getattr(value, "__dict__", None)
    if not own or type(own) is not dict:
        return None
    stores = ("data", "maps") if isinstance(value, UserDict | UserList | ChainMap) else ()
    return tuple((name, _attribute(own[name])) for name in own if name not in stores)


def _attribute(value: Any) -> Any:
    """Give what tells an attribute: what may lead back to who has it is compared as an object."""
    parts = parts_of(value)
    is_flat = parts is not None and all(isinstance(each, CONSTANT) for each in parts)
    is_flat |= is_array(value) and not has_objects(value)
    is_known = isinstance(value, CONSTANT) or (is_flat and not getattr(value, "__dict__", None))
    return _value_key(value).key if is_known else _Held(value)


class _Leaf:
    """A value in the structure of a key, so that it is not taken for a container."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key


def _frozen(tree: Any, given: Any) -> Any:
    """Give what can be compared of a container of keys, in the form of the one that was given."""
    if isinstance(tree, _Leaf):
        return tree.key
    if tree is _PLACE:
        return tree
    if isinstance(tree, dict):
        pairs = tuple((type(key), _content(key), _frozen(tree[key], given[key])) for key in tree)
        made_by = isinstance(given, defaultdict) and given.default_factory
        return type(given), _attributes(given), made_by, pairs
    parts = tuple(_frozen(x, y) for x, y in zip(tree, given, strict=True))
    return type(given), _attributes(given), parts
