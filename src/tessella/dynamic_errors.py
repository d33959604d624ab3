"""The messages about arrays that grow; errors.py has the rest."""

from __future__ import annotations

from tessella.errors import (
    ArgumentError,
    DTypeMismatch,
    Empty,
    IllegalState,
    IndexOutOfBounds,
    InvalidArgument,
    ShapeError,
    brief,
    type_name,
)


def empty(action: str) -> Empty:
    """An item asked of an array that has none."""
    return Empty(f"there is no item to {action}", "the array is empty; look at is_empty first")


def item_dtype(given: object, dtype: object) -> DTypeMismatch:
    """Items of another dtype than the array's."""
    return DTypeMismatch(
        f"the items are {given}, the array holds {dtype}", f"convert them: x.astype(ts.{dtype})"
    )


def scalar_dtype(given: object, dtype: object) -> DTypeMismatch:
    """A NumPy scalar of another dtype than the array's."""
    return DTypeMismatch(
        f"the item is {given}, the array holds {dtype}", "give a Python number: x.item()"
    )


def number_kind(value: object, dtype: object) -> DTypeMismatch:
    """A number of a higher kind than the array's."""
    return DTypeMismatch(
        f"{brief(value)} is of type {type_name(value)}, the array holds {dtype}",
        "round or convert it first: nothing is cut off without saying so",
    )


def expected_dtype(asked: object, dtype: object) -> DTypeMismatch:
    """Typed access by another dtype than the array's."""
    return DTypeMismatch(
        f"{asked} was asked for, the array holds {dtype}", "leave dtype= out, or ask for its own"
    )


def item_shape(given: object, shape: object) -> ShapeError:
    """One item of a wrong shape."""
    return ShapeError(
        f"the item has shape {given}, the array's items have {shape}", "items do not broadcast"
    )


def items_shape(given: object, shape: tuple[int, ...]) -> ShapeError:
    """Items of a wrong shape."""
    wanted = f"(n, {', '.join(map(str, shape))})" if shape else "(n,)"
    return ShapeError(f"the items have shape {given}, {wanted} is taken", "items do not broadcast")


def not_items(value: object) -> ArgumentError:
    """Something that cannot be gone through."""
    return ArgumentError(
        f"items must be a tensor, an array, a list or another iterable, got {type_name(value)}",
        "to add one item, use append",
    )


def place_out_of_bounds(index: int, length: int) -> IndexOutOfBounds:
    """A place before which nothing can be inserted."""
    return IndexOutOfBounds(
        f"index {index} is no place in an array of {length} items", f"0 to {length} are"
    )


def index_out_of_bounds(index: int, length: int) -> IndexOutOfBounds:
    """An index of no item."""
    return IndexOutOfBounds(
        f"index {index} is out of bounds for {length} items",
        f"valid indices run from {-length} to {length - 1}" if length else "the array is empty",
    )


def not_found(value: object) -> InvalidArgument:
    """A value that is not there."""
    return InvalidArgument(f"{brief(value)} is not in the array", "find(value) gives None then")


def changed(action: str) -> IllegalState:
    """An array that was written to by the code that it called."""
    return IllegalState(
        f"the array changed while it was {action}",
        "keys, comparators and other threads must leave it alone meanwhile",
    )


def no_order(dtype: object, shape: object) -> InvalidArgument:
    """Items that have no order of their own."""
    return InvalidArgument(
        f"items of {dtype} {shape} have no order", "give key= or compare=: a.sort(key=...)"
    )


def not_comparable(x: object, y: object) -> ArgumentError:
    """A value that is searched for among others of another kind."""
    return ArgumentError(
        f"{type_name(x)} and {type_name(y)} have no order",
        "search for a value that can be compared with the items, or with what key= gives",
    )


def two_orders() -> ArgumentError:
    """A key and a comparator."""
    return ArgumentError("both key= and compare= were given", "one of them says the order")


def key_count(given: int, length: int) -> ShapeError:
    """Keys that are more or fewer than the items."""
    return ShapeError(f"{given} keys for {length} items", "give one number for each item")


def not_allocator(value: object) -> ArgumentError:
    """Something that gives no memory."""
    return ArgumentError(
        f"allocator must be one of ts.memory, got {type_name(value)}",
        "memory.heap, memory.Arena(...), Pool, Slab or Buddy",
    )
