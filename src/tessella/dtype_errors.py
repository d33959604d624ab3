"""The messages about dtypes, users' own among them, and about strict access."""

from __future__ import annotations

from tessella.errors import (
    ArgumentError,
    CapacityOverflow,
    DTypeMismatch,
    InvalidArgument,
    brief,
)

_MOST_SHOWN = 60  # characters of a list of names

# --- the registry --------------------------------------------------------------------------------


def _listed(names: list[str]) -> str:
    text = ", ".join(names) or "none"
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 3] + "..."


def not_item(value: object, dtype: str, format: str) -> DTypeMismatch:
    """Something else than a tuple, where an item of a user's dtype is needed."""
    return DTypeMismatch(
        f"{brief(value)} is no item of {dtype}",
        f"items are tuples of the fields of {format!r}, also of a single one",
    )


def item_does_not_fit(
    value: object, dtype: str, format: str, why: BaseException
) -> InvalidArgument:
    """A tuple that has not the fields of a user's dtype."""
    return InvalidArgument(
        f"{brief(value)} does not fit {dtype}: {why}", f"its fields are those of {format!r}"
    )


def bad_dtype_name(name: object) -> InvalidArgument:
    """A name that a dtype cannot have."""
    return InvalidArgument(
        f"{brief(name)} cannot be the name of a dtype", "letters, digits and _ as in Python's names"
    )


def bad_dtype_format(fmt: str, why: BaseException) -> InvalidArgument:
    """A format that `struct` does not know."""
    return InvalidArgument(
        f"{brief(fmt)} is no format of struct: {why}", 'as in "BBB" or "<if"; see help("struct")'
    )


def bad_item_size(fmt: str, size: int, most: int) -> InvalidArgument:
    """A format whose items have no bytes, or too many."""
    return InvalidArgument(
        f"items of {brief(fmt)} have {size} bytes", f"an item has 1 to {most} bytes"
    )


def dtype_taken(name: str, format: str) -> InvalidArgument:
    """A name that is registered already."""
    what = f"registered with the format {format!r}" if format else "a built-in dtype"
    return InvalidArgument(
        f"the name {name!r} is taken: {what}",
        f"ts.dtypes.find({name!r}) gives that dtype; choose another name for a new one",
    )


def dtype_differs(name: str, format: str, wanted: str) -> DTypeMismatch:
    """A pickled dtype whose name means another one here."""
    what = f"has the format {format!r} here" if format else "is a built-in dtype"
    return DTypeMismatch(
        f"{name!r} {what}, and {wanted!r} in the pickle",
        "load it where the name is not registered, or registered with the pickle's format",
    )


def no_dtype_slot(names: list[str]) -> CapacityOverflow:
    """More dtypes than there are places for."""
    return CapacityOverflow(
        f"no slot is left: {len(names)} dtypes are registered",
        f"ts.dtypes.free_slots() tells how many are left; registered: {_listed(names)}",
    )


def unknown_dtype_name(name: object, registered: list[str]) -> ArgumentError:
    """A name that no dtype has."""
    return ArgumentError(
        f"no dtype is called {brief(name)}",
        f"ts.dtypes.register(name, fmt=...) makes one; registered: {_listed(registered)}",
    )


def unknown_dtype_id(id: object, count: int) -> ArgumentError:
    """A number that no dtype has."""
    return ArgumentError(f"no dtype has the number {brief(id)}", f"there are 0 to {count - 1}")


# --- items ---------------------------------------------------------------------------------------


def no_conversion(source: object, target: object) -> DTypeMismatch:
    """Two dtypes of which one is a user's, and no way from one to the other."""
    return DTypeMismatch(
        f"{source} and {target} are not converted into one another",
        "items of a user dtype are made of tuples: ts.tensor(tuples, dtype=...); x.view(dtype) "
        "takes the bytes as they are",
    )


def wrong_access(dtype: object, wanted: object) -> DTypeMismatch:
    """A strict access that names another dtype than the tensor has."""
    return DTypeMismatch(
        f"x is {dtype}, and is accessed as {wanted}",
        "name the dtype that x has; astype converts numbers, and x.view(dtype) takes bytes anew",
    )


def wrong_kind(value: object, dtype: object, wanted: str) -> DTypeMismatch:
    """A value of another kind than the dtype that it is written to."""
    return DTypeMismatch(f"{brief(value)} is no value of {dtype}", f"{dtype} takes {wanted}")


# --- conversion ----------------------------------------------------------------------------------


def cannot_cast(source: object, target: object) -> DTypeMismatch:
    """A conversion that would lose a part without saying so."""
    return DTypeMismatch(
        f"{source} to {target} would drop imaginary parts", "take ts.real(x) or ts.abs(x) first"
    )


def unknown_dtype(value: object) -> ArgumentError:
    """Something that names no dtype."""
    return ArgumentError(
        f"dtype must be a Tessella dtype, got {brief(value)}",
        "ts.float32, ts.int64, ts.bool, …; Python's float, int, bool and complex work too",
    )
