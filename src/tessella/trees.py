"""Nested containers of tensors: tuples, lists and dicts, taken apart and put together again."""

from __future__ import annotations

from copy import copy

from tessella import errors
from tessella.hints import Any, Callable, Mapping, Sequence, TypeVar

T = TypeVar("T")

__all__ = ["flatten"]
__dir__ = __all__.copy


def flatten(tree: T) -> tuple[list[object], Callable[[Sequence[object]], T]]:
    """Give what a nested container holds, in order, and how to put others in their places.

    >>> leaves, rebuild = ts.trees.flatten({"w": 1, "b": (2, 3)})
    >>> leaves, rebuild([10, 20, 30])
    ([1, 2, 3], {'w': 10, 'b': (20, 30)})
    """
    leaves: list[Any] = []
    try:
        rebuild = _walk(tree, leaves)
    except RecursionError:
        raise too_nested() from None
    return leaves, lambda values: rebuild(iter(values))


def too_nested() -> errors.InvalidArgument:
    """Containers that cannot be walked through."""
    return errors.InvalidArgument(
        "a container is nested too deeply, or in itself",
        "use one of a few levels, none of which holds itself",
    )


def arrange(tree: object, like: object) -> list[object] | None:
    """Give what a nested container holds in the order of another; None if they differ in form."""
    if isinstance(like, dict):
        if not isinstance(tree, dict) or tree.keys() != like.keys():
            return None
        pairs = [(tree[key], like[key]) for key in like]
    elif isinstance(like, tuple | list):
        if not isinstance(tree, tuple | list) or len(tree) != len(like):
            return None
        pairs = list(zip(tree, like, strict=True))
    else:
        return [tree]
    found = []
    for part, other in pairs:
        items = arrange(part, other)
        if items is None:
            return None
        found += items
    return found


def is_kept(tree: Mapping[str, object]) -> bool:
    """Tell whether a dict is put together as what it is: an OrderedDict, a defaultdict, …

    One of a class that keeps something beside its items becomes a plain dict.
    """
    return type(tree) is not dict and not getattr(tree, "__dict__", None)


def outline(tree: object) -> object:
    """Give the form of a nested container, to be compared: types and keys, not what it holds."""
    if isinstance(tree, dict):
        made_by = getattr(tree, "default_factory", None)
        return type(tree), made_by, [(type(key), key, outline(tree[key])) for key in tree]
    if isinstance(tree, tuple | list):
        return type(tree), [outline(part) for part in tree]
    return None


def _filled(empty: Any, parts: dict[Any, Any], values: Any) -> Any:
    out = copy(empty)
    dict.update(out, {key: part(values) for key, part in parts.items()})
    return out


def _walk(tree: Any, leaves: list[Any]) -> Callable[[Any], Any]:
    if isinstance(tree, dict):
        parts = {key: _walk(value, leaves) for key, value in tree.items()}
        if is_kept(tree):
            empty = copy(tree)
            dict.update(empty, dict.fromkeys(parts))
            return lambda values: _filled(empty, parts, values)
        return lambda values: {key: part(values) for key, part in parts.items()}
    if isinstance(tree, tuple | list):
        items = [_walk(value, leaves) for value in tree]
        kind = type(tree)
        if hasattr(tree, "_fields"):  # a named tuple takes its fields one by one
            return lambda values: kind(*[item(values) for item in items])
        return lambda values: kind([item(values) for item in items])
    leaves.append(tree)
    return next
