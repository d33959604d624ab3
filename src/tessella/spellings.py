"""What PyTorch and NumPy spell otherwise: names that are not here, and properties that are called.

Calls of functions that are here and would mean something else are refused by their declarations
(`refuses=`); this is about names alone. docs/from_pytorch.md is made from both.
"""

from __future__ import annotations

import builtins

from tessella.declarations import Refusal, refusal
from tessella.hints import Any, Iterable, NoReturn

# --- properties that PyTorch has as methods ------------------------------------------------------

SIZE = refusal("x.size()", "x.shape", "gives the shape; here x.size is the number of elements")
SIZE_OF_AXIS = refusal(
    "x.size(0)", "x.shape[0]", "gives the size of an axis; here x.size is the number of elements"
)
ADDRESS = refusal("x.data_ptr()", "x.data_ptr", "is a method, and a property here")
CALLED = (SIZE, SIZE_OF_AXIS, ADDRESS)


class Count(builtins.int):
    """The number of elements. Calling it, as PyTorch's code does, raises an error that explains."""

    __slots__ = ()

    def __call__(self, *axis: Any, **keywords: Any) -> NoReturn:
        raise (SIZE_OF_AXIS if axis or keywords else SIZE).error().locate("size", [])

    def __reduce__(self) -> tuple[Any, ...]:
        return builtins.int, (builtins.int(self),)


class Address(Count):
    """Where the first element lies."""

    __slots__ = ()

    def __call__(self, *axis: Any, **keywords: Any) -> NoReturn:
        raise ADDRESS.error().locate("data_ptr", [])


# --- names that are not here ---------------------------------------------------------------------

# Names that would mean something else: by "x." a method of Tensor, by "ts." a function.
ABSENT: dict[str, Refusal] = {
    "ts.utils": refusal(
        "torch.utils.data.DataLoader", "ts.data.DataLoader", "is where sets and loaders are"
    ),
    "x.data": refusal(
        "x.data", "x.detach()", "shares the memory; writes to x.detach() are noticed by backward"
    ),
    "x.equal": refusal(
        "x.equal(y)", ("x.array_equal(y)", "x == y"), "tells whether all elements are equal"
    ),
    "x.repeat": refusal(
        "x.repeat(2, 3)", ("x.tile(2, 3)", "x.repeat_interleave(2)"),
        "repeats the whole tensor, in NumPy each element",
    ),
}  # fmt: skip

# Calls that the array API standard defines: they run, with its meaning.
STANDARD = (
    refusal("torch.median(x)", 'ts.quantile(x, 0.5, method="lower")',
            "gives the lower of the two in the middle; here their mean, as in NumPy"),
    refusal("torch.equal(x, y)", ("ts.equal(x, y).all()", "ts.array_equal(x, y)"),
            "gives one bool; here it compares element by element, as x == y"),
    refusal("torch.sort(x)", "ts.sort(x), ts.argsort(x)",
            "gives values and indices; here the values"),
    refusal("x.nonzero()", "ts.argwhere(x)",
            "gives one tensor; here a tuple of indices, one tensor for each axis"),
    refusal("x.std()", "x.std(correction=1)", "divides by n - 1; here by n"),
    refusal("x.var()", "x.var(correction=1)", "divides by n - 1; here by n"),
)  # fmt: skip


def suggest(owner: str, name: str, own: Iterable[str], others: Iterable[str]) -> str:
    """Give the hint for a name that `owner` ("x" or "ts") lacks and the other may have."""
    found = ABSENT.get(f"{owner}.{name}")
    if found is not None:
        return f"in PyTorch {found.torch} {found.why}; write {', or '.join(found.here)}"
    if name in others:
        return f"it is a function: ts.{name}(x, …)" if owner == "x" else f"call it as x.{name}(…)"
    import difflib

    near = difflib.get_close_matches(name, list(own), 3)
    return f"did you mean {', '.join(near)}?" if near else "docs/operations.md lists the names"
