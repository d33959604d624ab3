"""The messages about memory that others see, and about copies of it; errors.py has the rest."""

from __future__ import annotations

from tessella.errors import (
    DTypeMismatch,
    ExchangeError,
    IllegalState,
    ShapeError,
    brief,
    type_name,
)


def exporter_refuses(error: BaseException) -> ExchangeError:
    """An array that does not give its memory; its library says why."""
    why = str(error) or type_name(error)
    return ExchangeError(
        f"its library refuses: {why.splitlines()[0]}",
        "arrays that are detached, on the CPU and of a numeric dtype can be shared",
    )


def other_device(place: object) -> ExchangeError:
    """Memory that is not the host's."""
    return ExchangeError(
        f"device {brief(place)} is not the CPU, which is (1, 0)",
        'move it to the CPU first; from_dlpack(x, device="cpu") asks its library to',
    )


def copy_needed(why: str) -> ExchangeError:
    """A copy that was forbidden."""
    return ExchangeError(f"a copy is needed: {why}", "let it be copied: leave copy=False out")


def foreign_dtype(dtype: object) -> ExchangeError:
    """An array of texts, objects or dates."""
    return ExchangeError(
        f"the array's dtype is {dtype}, which no tensor has",
        "make it numbers first: array.astype(float), or numpy.unique(array, return_inverse=True) "
        "for names",
    )


def masked_array() -> ExchangeError:
    """An array of which some elements do not count."""
    return ExchangeError("a masked array would lose its mask", "fill it first: a.filled(value)")


def bitcast_bool(dtype: object) -> DTypeMismatch:
    """Bytes taken for bools, which are 0 or 1."""
    return DTypeMismatch(f"the bits of {dtype} need not be those of bools", "compare: x != 0")


def bitcast_graph() -> IllegalState:
    """Bits seen as another dtype, where gradients were wanted."""
    return IllegalState(
        "x requires gradients, and its bits as another dtype have none",
        "view x.detach(), or convert the values with astype",
    )


def numpy_of_graph() -> IllegalState:
    """NumPy's view of a tensor that gradients flow through."""
    return IllegalState(
        "x requires gradients and NumPy would not record them", "use x.detach().numpy()"
    )


def numpy_of_bfloat16() -> DTypeMismatch:
    """NumPy's view of a dtype that it does not have."""
    return DTypeMismatch(
        "NumPy has no bfloat16",
        "x.astype(ts.float32).numpy() converts, x.view(ts.uint16).numpy() shares the bits",
    )


def numpy_of_items(dtype: object) -> DTypeMismatch:
    """NumPy's view of a user's dtype."""
    return DTypeMismatch(
        f"NumPy does not know {dtype}, a user dtype",
        "x.view(ts.uint8).numpy() shares the bytes, which its view(...) reads as fields",
    )


def pickle_of_graph() -> IllegalState:
    """A copy or a pickle of a tensor that an operation made, without what made it."""
    return IllegalState(
        "x is a result that gradients flow through, and would lose them",
        "copy x.detach(), or x.clone() to stay in the graph",
    )


def nested_shapes(first: object, other: object) -> ShapeError:
    """Arrays in a list that differ in shape."""
    return ShapeError(
        f"items of shapes {first} and {other} stand side by side", "all must have one shape"
    )


def nested_gradients() -> IllegalState:
    """Tensors in a list whose gradients would be lost."""
    return IllegalState(
        "an item requires gradients, which a list does not carry",
        "join tensors with ts.stack, or take the values with ts.tensor",
    )
