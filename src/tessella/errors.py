"""The constructors of every message that Python raises; the classes are those of exceptions.py.

Each says what is wrong and the cure. The core's are built in error.cpp, and come by `from_core`.
"""

from __future__ import annotations

from tessella.exceptions import (
    PACKAGE as PACKAGE,
    AnomalyError as AnomalyError,
    ArgumentError as ArgumentError,
    BroadcastError as BroadcastError,
    CapacityOverflow as CapacityOverflow,
    CaptureError as CaptureError,
    CheckFailed as CheckFailed,
    DTypeMismatch as DTypeMismatch,
    Empty as Empty,
    ExchangeError as ExchangeError,
    FormatError as FormatError,
    IllegalState as IllegalState,
    IndexOutOfBounds as IndexOutOfBounds,
    InplaceError as InplaceError,
    InvalidArgument as InvalidArgument,
    LengthOverflow as LengthOverflow,
    MissingFile as MissingFile,
    MissingImport as MissingImport,
    OutOfMemory as OutOfMemory,
    PreconditionFailed as PreconditionFailed,
    ShapeError as ShapeError,
    TessellaError as TessellaError,
    UnknownKey as UnknownKey,
    UnknownName as UnknownName,
    UseAfterFree as UseAfterFree,
    brief as brief,
    is_foreign_array as is_foreign_array,
    type_name as type_name,
)
from tessella.hints import Callable
from tessella.outcomes import Err as Err, Ok as Ok, expected as expected

__all__ = ["expected", *(name for name, value in globals().items() if isinstance(value, type))]
__dir__ = __all__.copy

# In the order of Code in error.h.
CORE_CLASSES: tuple[type[TessellaError], ...] = (
    ShapeError, BroadcastError, InvalidArgument, IndexOutOfBounds, DTypeMismatch, OutOfMemory,
    LengthOverflow, IllegalState, PreconditionFailed, UseAfterFree, ArgumentError, ExchangeError,
    CapacityOverflow, CaptureError,
)  # fmt: skip
_REPORTERS: list[Callable[[], tuple[list[str], str]]] = []


def from_core(code: int, what: str, hint: str) -> TessellaError:
    """Build the exception for an error that the core threw."""
    error = CORE_CLASSES[code](what, hint)
    error.settle()
    if isinstance(error, OutOfMemory) and _REPORTERS:
        error.report, advice = _REPORTERS[0]()
        error.hint = advice or hint
    return error


def set_reporter(reporter: Callable[[], tuple[list[str], str]]) -> None:
    """Say who tells what holds memory when there is no more, and what would have fitted."""
    _REPORTERS[:] = [reporter]


# --- arguments -----------------------------------------------------------------------------------


def not_tensor(name: str, value: object, wanted: str = "a tensor or a number") -> ArgumentError:
    """An operand that is neither a tensor nor, where numbers will do, a number."""
    hint = "make one with ts.tensor(...)"
    if value is None:
        hint = "a function without a return gives None"
    elif hasattr(type(value), "forward"):
        hint = "it is a module: call it on a tensor first"
    elif is_foreign_array(value):
        hint = "arrays of other libraries are taken by ts.asarray(a) (no copy) or ts.tensor(a)"
    elif isinstance(value, list | tuple):
        hint = "make it a tensor first: ts.tensor(...)"
    return ArgumentError(f"{name} must be {wanted}, got {type_name(value)}", hint)


def no_tensor(names: tuple[str, ...]) -> ArgumentError:
    """Only numbers, where an operation needs a tensor."""
    what = f"none of {', '.join(names)} is a tensor"
    return ArgumentError(what, "make one with ts.tensor(...); for numbers use math")


def missing_argument(name: str, signature: str) -> ArgumentError:
    """A required argument that was not given."""
    return ArgumentError(f"missing argument {name}", f"the signature is {signature}")


def too_many_arguments(given: int, taken: int, signature: str) -> ArgumentError:
    """More positional arguments than the operation takes."""
    return ArgumentError(f"{given} arguments given, {taken} taken", f"the signature is {signature}")


def unknown_keyword(name: str, signature: str) -> ArgumentError:
    """A keyword the operation does not know."""
    return ArgumentError(f"unknown keyword {name}", f"the signature is {signature}")


def repeated_argument(name: str, signature: str) -> ArgumentError:
    """One argument given twice."""
    return ArgumentError(f"{name} was given twice", f"the signature is {signature}")


def wrong_type(name: str, value: object, expected: str) -> ArgumentError:
    """An argument of the wrong Python type."""
    return ArgumentError(
        f"{name} must be {expected}, got {type_name(value)}", f"{name}={brief(value)} was given"
    )


def not_tensors(name: str, value: object) -> ArgumentError:
    """One tensor, often, where several should be."""
    error = wrong_type(name, value, "a list or tuple of tensors")
    error.hint = f"several tensors are one argument: {name}=[x, y]"
    return error


def not_flag(name: str, value: object) -> ArgumentError:
    """Something else than True or False; a second axis, often."""
    error = wrong_type(name, value, "True or False")
    if name == "keepdims" and isinstance(value, int):
        error.hint = "several axes are one argument: axis=(0, 1)"
    return error


def integer_too_large(name: str, value: int, bits: int) -> LengthOverflow:
    """An integer that no tensor can have as a size, axis or index."""
    return LengthOverflow(f"{name} is {brief(value)}", f"integers have at most {bits} bits")


def wrong_value(name: str, value: object, expected: str) -> InvalidArgument:
    """An argument of the right type and a wrong value."""
    return InvalidArgument(f"{name} is {brief(value)}", f"{name} must be {expected}")


def entered_twice() -> IllegalState:
    """A `with` block inside its own."""
    return IllegalState("it is in use by another `with` block", "make a new one for each block")


def unknown_name(owner: str, name: str, suggest: Callable[[], str]) -> UnknownName:
    """An attribute that does not exist; the hint is looked for when it is shown."""
    error = UnknownName(f"{owner} has no attribute {name!r}")
    error.suggest = suggest
    error.settle()
    return error


def missing_import(owner: str, name: str, hint: str) -> MissingImport:
    """A name of PyTorch that an import asks for."""
    error = MissingImport(f"cannot import {name!r} from {owner}", hint)
    error.settle()
    return error


def means_otherwise(torch: str, why: str, cure: str) -> ArgumentError:
    """A call that would give something else than in PyTorch."""
    return ArgumentError(f"in PyTorch {torch} {why}", cure)


# --- dtypes --------------------------------------------------------------------------------------


def no_promotion(x: object, y: object) -> DTypeMismatch:
    """Two dtypes without a common one."""
    hint = "uint64 and signed integers share no integer type; convert one with astype"
    return DTypeMismatch(f"{x} and {y} have no common dtype", hint)


def no_kernel(dtype: object, hint: str) -> DTypeMismatch:
    """A dtype that an operation has no meaning for."""
    return DTypeMismatch(f"not defined for {dtype}", hint)


def scalar_does_not_fit(value: object, dtype: object) -> InvalidArgument:
    """A Python number outside a tensor's dtype."""
    cure = "take a wider dtype: x.astype(…) of a tensor, dtype=… of a new one"
    if isinstance(value, float) and not getattr(dtype, "is_floating", True):
        cast = f"ts.asarray(…).astype(ts.{dtype}) leaves its fraction out"
        cure = f"a floating dtype holds it; {cast}"
    if str(dtype) == "bool" and value in (0, 1):
        cure = f"write {bool(value)}"
    return InvalidArgument(f"{brief(value)} does not fit {dtype}", cure)


# --- values --------------------------------------------------------------------------------------


def empty_reduction(shape: object) -> InvalidArgument:
    """A reduction without identity over no elements."""
    return InvalidArgument(
        f"no elements to choose from in shape {shape}", "the reduced axes must not be empty"
    )


def ragged(depth: int, first: int, other: int) -> ShapeError:
    """Nested lists of unequal lengths."""
    return ShapeError(
        f"nested lists differ in length at depth {depth}: {first} and {other}",
        "every list at one depth must have the same length",
    )


def readonly(name: str) -> InvalidArgument:
    """A write to memory that may not be written."""
    return InvalidArgument(f"{name} is read-only", "write to a copy: x.clone()")


def overlapping_target(name: str) -> InvalidArgument:
    """A write through a view in which elements share memory."""
    return InvalidArgument(
        f"{name} has elements that share memory and cannot be written",
        "it is a broadcast or overlapping view; write to x.clone() or to the original",
    )


def inplace_on_leaf(name: str = "x") -> InplaceError:
    """An in-place write to a tensor that gradients flow to."""
    hint = "`with ts.no_grad():` around an update, or compute a new tensor"
    return InplaceError(f"{name} requires gradients and would be overwritten", hint)


def inplace_from_graph() -> InplaceError:
    """A write of a value whose gradients would be lost."""
    hint = "write value.detach(), or build the result with where, concat or stack"
    return InplaceError("the value requires gradients and a write does not record them", hint)


def inplace_shape(shape: object, target: object, name: str = "x") -> BroadcastError:
    """A result of another shape than its target."""
    hint = "an in-place operation keeps the target's shape; write x = x op y instead"
    if name == "out":
        hint = "out= needs a tensor of the result's shape: make one with ts.empty"
    return BroadcastError(f"the result has shape {shape}, the target {target}", hint)


def inplace_dtype(dtype: object, target: object, name: str = "x") -> DTypeMismatch:
    """A result of a higher kind than its target."""
    hint = "an in-place operation keeps the target's dtype; convert it with astype first"
    if name == "out":
        hint = f"out= needs a tensor that holds such numbers: make one with dtype=ts.{dtype}"
    return DTypeMismatch(f"the result is {dtype}, the target {target}", hint)


def no_out(is_view: bool) -> ArgumentError:
    """`out=` of a function that does not make one new tensor."""
    what = "may give a view of its operand" if is_view else "does not give one new tensor"
    return ArgumentError(
        f"{what}, and has no out=", "copy what it gives afterwards: out.copy_(result)"
    )


def no_allocator() -> ArgumentError:
    """`allocator=` of a function that may give memory that is there."""
    return ArgumentError(
        "may give a view of its operand, and has no allocator=",
        "copy what it gives: result.clone(allocator=...)",
    )


def grad_of_integers(dtype: object) -> DTypeMismatch:
    """A gradient asked of a tensor that has none."""
    return DTypeMismatch(
        f"{dtype} tensors have no gradients", "only floats and complex numbers do; use astype first"
    )


def grad_of_result() -> IllegalState:
    """Gradients switched off for a tensor that an operation made."""
    return IllegalState(
        "only leaves can stop requiring gradients", "this tensor is a result; use x.detach()"
    )


def strided_gradient() -> IllegalState:
    """Gradients asked of a view that reaches beyond the elements of its tensor."""
    return IllegalState(
        "x requires gradients, and the strides reach elements that are not its own",
        "x must be contiguous and hold every element of the view; or use x.detach()",
    )


def virtual_value(what: str) -> IllegalState:
    """A value read from a tensor without memory."""
    return IllegalState(
        f"{what}: a virtual tensor has no values",
        "it has a shape and a dtype only; compute with a real tensor to read values",
    )


def ragged_depth(depth: int) -> ShapeError:
    """Numbers beside lists."""
    return ShapeError(
        f"numbers and lists stand side by side at depth {depth}",
        "every number must be nested equally deep",
    )


def index_count(given: int, ndim: int) -> IndexOutOfBounds:
    """An index with a wrong number of positions."""
    what = "1 index" if given == 1 else f"{given} indices"
    axes = "1 axis" if ndim == 1 else f"{ndim} axes"
    return IndexOutOfBounds(f"{what} for {axes}", "give one integer for each axis")


def index_out_of_bounds(index: int, axis: int, size: int) -> IndexOutOfBounds:
    """An index outside an axis."""
    return IndexOutOfBounds(
        f"index {index} is out of bounds for axis {axis} of size {size}",
        f"valid indices run from {-size} to {size - 1}" if size else "the axis is empty",
    )


def concat_shapes(first: object, which: int, shape: object, axis: int) -> ShapeError:
    """Tensors that cannot be joined."""
    return ShapeError(
        f"xs[{which}] has shape {shape}, xs[0] has {first}",
        f"all sizes but that of axis {axis} must be equal",
    )


def stack_shapes(first: object, which: int, shape: object) -> ShapeError:
    """Tensors that cannot be stacked."""
    return ShapeError(
        f"xs[{which}] has shape {shape}, xs[0] has {first}", "all shapes must be equal"
    )


def slice_step() -> InvalidArgument:
    """A slice that does not advance."""
    return InvalidArgument("slice step is 0", "a step is a positive or negative integer")


def kept_elements() -> InvalidArgument:
    """Elements that are to be deleted."""
    hint = "ts.concat([x[:i], x[i + 1:]]), or x[mask], makes a tensor without some"
    return InvalidArgument("a tensor keeps its elements", hint)


def bad_index_type(item: object) -> ArgumentError:
    """Something between the brackets that is no index."""
    hint = "integers, slices, ..., None, lists, and integer or bool tensors are"
    return ArgumentError(f"{brief(item)} is no index", hint)


def bad_index_size(index: int) -> IndexOutOfBounds:
    """An index beyond 64 bits."""
    return IndexOutOfBounds(f"index {brief(index)} is out of bounds", "indices have 63 bits")


def bad_index_dtype(dtype: object) -> DTypeMismatch:
    """An index tensor of a dtype that cannot index."""
    return DTypeMismatch(
        f"an index tensor is {dtype}", "integers and bool can index; use astype(ts.int64)"
    )


def two_ellipses() -> IndexOutOfBounds:
    """More than one `...` in a key."""
    return IndexOutOfBounds("more than one ... in an index", "one ... stands for all axes left out")


def mask_shape(mask: object, axes: object, axis: int) -> IndexOutOfBounds:
    """A mask that does not fit the axes it selects from."""
    return IndexOutOfBounds(
        f"a mask of shape {mask} indexes axes of shape {axes}, from axis {axis} on",
        "a mask must have the sizes of the axes it selects from",
    )


def axis_repeated(axis: int) -> InvalidArgument:
    """An axis named twice."""
    return InvalidArgument(f"repeated axis {axis}", "name each axis once")


def axis_needed(ndim: int) -> InvalidArgument:
    """A cumulative operation that could run along several axes."""
    return InvalidArgument(
        f"axis must be named for a tensor of {ndim} axes",
        "only a 1-D tensor has just one; pass axis=, or reshape(-1) first",
    )


def matmul_scalar(name: str) -> ShapeError:
    """A matrix product with a number."""
    return ShapeError(f"{name} is 0-d", "operands have at least one axis; to scale, use *")


def matmul_inner(a: int, b: int) -> ShapeError:
    """A matrix product over sizes that differ."""
    return ShapeError(
        f"inner sizes differ: {a} != {b}",
        "the last axis of a must have the size of the last but one of b (the only one of a vector)",
    )


def tensordot_sizes(a: object, b: object) -> ShapeError:
    """Contracted axes whose sizes differ."""
    return ShapeError(f"sizes of the summed axes differ: {a} and {b}", "pair axes of equal size")


def no_blas(path: str, why: str) -> InvalidArgument:
    """A library that is no BLAS."""
    return InvalidArgument(
        f"{brief(path)} is no BLAS: {why}",
        "give the path of a shared library with CBLAS's functions, such as libopenblas.so",
    )


def rows_differ(a: int, b: int) -> ShapeError:
    """Distances between vectors of different lengths."""
    return ShapeError(f"axis -1 of a has size {a}, of b {b}", "rows must have the same length")


def no_numpy() -> PreconditionFailed:
    """An operation that NumPy computes, or an array of its own, where it is not installed."""
    return PreconditionFailed(
        "this needs NumPy, which is not installed", 'pip install "tessella[numpy]"'
    )
