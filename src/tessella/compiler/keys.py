"""keys: what the program of a call depends on beside the values of its tensors."""

from __future__ import annotations

from collections import defaultdict, deque

from tessella import _core
from tessella.compiler.held import (
    MAPPINGS,
    digest,
    is_array,
    is_ours,
    is_plain_array,
    module_of,
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
            plain.append(_PLACE)
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
    if isinstance(value, set | frozenset):
        return frozenset((type(each), _content(each)) for each in value)
    if isinstance(value, deque):
        return value.maxlen, _contents(value)
    if isinstance(value, list | tuple):
        return _contents(value)
    if isinstance(value, MAPPINGS) and not is_ours(module_of(type(value))):
        return _contents(value), _contents(value.values())
    return digest(value) if is_array(value) else _Held(value)


def _contents(values: Any) -> tuple[Any, ...]:
    return tuple((type(each), _content(each)) for each in values)


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
        pairs = tuple((type(key), key, _frozen(tree[key], given[key])) for key in tree)
        return type(given), isinstance(given, defaultdict) and given.default_factory, pairs
    return type(given), tuple(_frozen(x, y) for x, y in zip(tree, given, strict=True))
