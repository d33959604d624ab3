"""The messages about graphs that cannot be shown; errors.py has the rest."""

from __future__ import annotations

from tessella.errors import ArgumentError, IllegalState, InvalidArgument, type_name


def no_graph(name: str) -> IllegalState:
    """A result of operations that were not recorded."""
    return IllegalState(
        f"{name} has no graph: no gradients were recorded for it",
        "what it is computed from must ask for them first, x.requires_grad_(), with gradients on",
    )


def only_leaf(name: str) -> IllegalState:
    """A tensor that gradients are asked of, and that no operation made."""
    return IllegalState(
        f"{name} is a leaf: no operation made it", "give what is computed from it, such as the loss"
    )


def freed_graph(operation: str) -> IllegalState:
    """A graph that backward has gone through and taken apart."""
    return IllegalState(
        f"the graph was freed: backward has gone through its {operation}",
        "look at it before backward(), or call backward(retain_graph=True)",
    )


def too_large_to_draw(boxes: int, most: int) -> InvalidArgument:
    """A drawing of more boxes than anybody could look at."""
    return InvalidArgument(
        f"{boxes:,} boxes are too many to draw",
        f"ts.graph(..., most={most}) shortens it; as text, print() shows any number",
    )


def unknown_suffix(path: str, suffixes: tuple[str, ...]) -> InvalidArgument:
    """A file whose name does not say what it should hold."""
    return InvalidArgument(
        f"{path!r} says no format", f"the name must end with {', '.join(suffixes)}"
    )


def not_named(value: object) -> ArgumentError:
    """Names that are no dict from names to tensors."""
    return ArgumentError(
        f"names must be a dict from names to tensors, got {type_name(value)}",
        'names={"w": w, "b": b}',
    )
