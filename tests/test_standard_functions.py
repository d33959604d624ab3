"""What calls give, beside array-api-strict: values, dtypes and shapes of random calls.

Values are drawn as NumPy arrays and given to both libraries. Only what the standard defines is
called: dtypes that promote within a kind, counts of shifts within the width, no division of
integers by zero.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from hypothesis.extra import numpy as hnp

os.environ["ARRAY_API_STRICT_API_VERSION"] = "2025.12"
import array_api_strict as strict

import tessella as ts

Array = np.ndarray[Any, Any]

BOOL = ["bool"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
INTEGERS = [*SIGNED, *UNSIGNED]
REALS = [*INTEGERS, *FLOATS]
NUMBERS = [*REALS, *COMPLEX]
EVERY = [*BOOL, *NUMBERS]
FRACTIONS = [*FLOATS, *COMPLEX]

SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
FILLED = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4)
LIMIT = 50  # of the numbers that are drawn: sums and products of a few stay exact or close


# --- drawing and comparing -----------------------------------------------------------------------


def elements(dtype: str, low: int = -LIMIT) -> st.SearchStrategy[Any]:
    """Draw numbers of a dtype: small ones, so that no operation overflows."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return st.booleans()
    if kind in "iu":
        least = max(low, 0 if kind == "u" else -LIMIT)
        return st.integers(least, LIMIT)
    parts = st.integers(low * 4, LIMIT * 4).map(lambda n: n / 4)
    return parts if kind == "f" else st.builds(complex, parts, parts)


def arrays(dtypes: list[str], shape: Any = SHAPES, low: int = -LIMIT) -> st.SearchStrategy[Array]:
    """Draw an array of one of some dtypes."""
    return st.sampled_from(dtypes).flatmap(
        lambda dtype: hnp.arrays(dtype, shape, elements=elements(dtype, low))
    )


def promotes(x: str, y: str) -> bool:
    """Tell whether the standard defines an operation of two dtypes."""
    try:
        strict.result_type(getattr(strict, x), getattr(strict, y))
    except TypeError:
        return False
    return True


@st.composite
def pairs(draw: Any, dtypes: list[str], low: int = -LIMIT) -> tuple[Array, Array]:
    """Draw two arrays whose dtypes promote and whose shapes broadcast."""
    x, y = draw(st.sampled_from([(x, y) for x in dtypes for y in dtypes if promotes(x, y)]))
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=4))
    return tuple(
        draw(hnp.arrays(dtype, shape, elements=elements(dtype, low)))
        for dtype, shape in zip((x, y), shapes.input_shapes, strict=True)
    )


def given_to(library: Any, value: Any) -> Any:
    """Make arrays, dtypes and lists of them those of a library."""
    if isinstance(value, np.ndarray):
        return ts.from_numpy(value.copy()) if library is ts else library.asarray(value, copy=True)
    if isinstance(value, np.dtype):
        return getattr(library, value.name)
    if isinstance(value, list | tuple):
        return type(value)(given_to(library, each) for each in value)
    return value


def assert_equal(found: Any, want: Any) -> None:
    """Compare two results, tuples part by part; floats may differ in their last bits."""
    if isinstance(want, tuple | list):
        assert type(found) is type(want) and len(found) == len(want)
        for pair in zip(found, want, strict=True):
            assert_equal(*pair)
        return
    assert isinstance(found, ts.Tensor)
    array = np.asarray(want._array)
    assert (found.dtype.name, found.shape) == (array.dtype.name, array.shape)
    if array.dtype.kind in "fc":
        step = float(np.finfo(array.dtype).eps)
        np.testing.assert_allclose(found.numpy(), array, rtol=64 * step, atol=64 * step * LIMIT)
    else:
        np.testing.assert_array_equal(found.numpy(), array)


def check(name: str, *args: Any, **keywords: Any) -> None:
    """Make one call in both libraries."""
    with np.errstate(all="ignore"):
        got, want = (
            getattr(library, name)(
                *given_to(library, args), **{k: given_to(library, v) for k, v in keywords.items()}
            )
            for library in (ts, strict)
        )
    assert_equal(got, want)


# --- elementwise ---------------------------------------------------------------------------------


def each(names: str, dtypes: list[str]) -> dict[str, list[str]]:
    """Give every one of some functions the dtypes that it is defined for."""
    return {name: dtypes for name in names.split()}


UNARY: dict[str, list[str]] = {
    **each("abs negative positive sign square round conj real isfinite isinf isnan", NUMBERS),
    **each("exp expm1 log log1p log2 log10 sqrt sin cos tan sinh cosh tanh", FRACTIONS),
    **each("asin acos atan asinh acosh atanh reciprocal", FRACTIONS),
    **each("ceil floor trunc", REALS),
    **each("signbit", FLOATS),
    **each("imag", COMPLEX),
    **each("logical_not", BOOL),
    **each("bitwise_invert", [*BOOL, *INTEGERS]),
}
BINARY: dict[str, list[str]] = {
    **each("add subtract multiply", NUMBERS),
    **each("equal not_equal", EVERY),
    **each("less less_equal greater greater_equal maximum minimum", REALS),
    **each("atan2 copysign hypot logaddexp nextafter", FLOATS),
    **each("logical_and logical_or logical_xor", BOOL),
    **each("bitwise_and bitwise_or bitwise_xor", [*BOOL, *INTEGERS]),
    **each("divide", FRACTIONS),
}
# The second operand is not 0, and in powers and shifts small.
DIVIDING = {"floor_divide": REALS, "remainder": REALS}
COUNTING = {"bitwise_left_shift": INTEGERS, "bitwise_right_shift": INTEGERS, "pow": INTEGERS}
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul,
    "divide": operator.truediv, "equal": operator.eq, "not_equal": operator.ne,
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt,
    "greater_equal": operator.ge, "bitwise_and": operator.and_, "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor, "floor_divide": operator.floordiv, "remainder": operator.mod,
    "bitwise_left_shift": operator.lshift, "bitwise_right_shift": operator.rshift,
    "pow": operator.pow,
}  # fmt: skip
INPLACE = {name: getattr(operator, f"i{function.__name__.rstrip('_')}")
           for name, function in OPERATORS.items()
           if function.__name__ not in ("eq", "ne", "lt", "le", "gt", "ge")}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
@given(st.data())
def test_unary_function(name: str, data: st.DataObject) -> None:
    check(name, data.draw(arrays(UNARY[name])))


def without_zeros(x: Array) -> Array:
    """Give x with 1 in place of 0, so that it can divide."""
    return np.where(x == 0, x.dtype.type(1), x)


def binary_operands(data: st.DataObject, name: str) -> tuple[Array, Array]:
    """Draw two arrays that an operation is defined for."""
    if name in DIVIDING:
        x, y = data.draw(pairs(DIVIDING[name]))
        y = without_zeros(y)
    elif name in COUNTING:
        x, y = data.draw(pairs(COUNTING[name], low=0))
        y = np.asarray(y % 8)
    else:
        x, y = data.draw(pairs(BINARY[name]))
    return x, y


@pytest.mark.parametrize("name", [*BINARY, *DIVIDING, *COUNTING])
@given(st.data())
def test_binary_function(name: str, data: st.DataObject) -> None:
    check(name, *binary_operands(data, name))


@pytest.mark.parametrize("name", OPERATORS)
@given(st.data())
def test_operator(name: str, data: st.DataObject) -> None:
    operands = binary_operands(data, name)
    with np.errstate(all="ignore"):
        got, want = (OPERATORS[name](*given_to(library, operands)) for library in (ts, strict))
    assert_equal(got, want)


@pytest.mark.parametrize("name", INPLACE)
@given(st.data())
def test_inplace_operator(name: str, data: st.DataObject) -> None:
    x, y = binary_operands(data, name)
    # The result must fit into x, its dtype and its shape.
    x = np.broadcast_to(x, np.broadcast_shapes(x.shape, y.shape)).astype(np.result_type(x, y))
    with np.errstate(all="ignore"):
        want = INPLACE[name](*given_to(strict, (x, y)))
        before, other = given_to(ts, (x, y))
        got = INPLACE[name](before, other)
    assert got is before
    assert_equal(got, want)


@pytest.mark.parametrize("name", OPERATORS)
@given(st.data())
def test_operator_and_function_with_a_number_on_either_side(name: str, data: st.DataObject) -> None:
    x, y = binary_operands(data, name)
    assume(y.size > 0 and (name not in COUNTING or x.size > 0))
    number = y.reshape(-1)[0].item()
    # A Python number has a kind only: it must be one of x's kind, and small.
    assume(np.can_cast(np.asarray(number).dtype, x.dtype, "same_kind"))
    assume(np.dtype(x.dtype).kind != "b" or isinstance(number, bool))
    assume(x.dtype.kind != "u" or number >= 0)
    for operands in ((x, number), (number, x)):
        if name in DIVIDING and operands[1] is x:
            operands = (number, without_zeros(x))
        if name in COUNTING and operands[1] is x:
            operands = (number, np.asarray(x % 8))
        with np.errstate(all="ignore"):
            got, want = (OPERATORS[name](*given_to(library, operands)) for library in (ts, strict))
        assert_equal(got, want)
        check(name, *operands)


@given(st.data())
def test_clip(data: st.DataObject) -> None:
    x = data.draw(arrays(REALS))
    shapes = hnp.broadcastable_shapes(x.shape, max_dims=x.ndim, min_side=0)
    ends = elements(x.dtype.name) | hnp.arrays(x.dtype, shapes, elements=elements(x.dtype.name))
    low, high = data.draw(st.none() | ends), data.draw(st.none() | ends)
    if low is not None and high is not None:
        assume(np.broadcast_shapes(np.shape(low), np.shape(high), x.shape) == x.shape)
        low, high = np.minimum(low, high), np.maximum(low, high)
        low, high = (v if v.ndim else v.item() for v in map(np.asarray, (low, high)))
    elif low is None and high is None:
        assert_equal(ts.clip(given_to(ts, x)), given_to(strict, x))
        return
    check("clip", x, low, high)


# --- reductions ----------------------------------------------------------------------------------


def axes_of(x: Array, *, several: bool = True) -> st.SearchStrategy[Any]:
    """Draw an axis, several, or None."""
    if x.ndim == 0:
        return st.none()
    one = st.none() | st.integers(-x.ndim, x.ndim - 1)
    return one | hnp.valid_tuple_axes(x.ndim) if several else one


@pytest.mark.parametrize(("name", "dtypes"), [
    ("all", EVERY), ("any", EVERY), ("max", REALS), ("min", REALS), ("mean", FRACTIONS),
    ("sum", NUMBERS), ("prod", NUMBERS), ("count_nonzero", EVERY), ("std", FLOATS), ("var", FLOATS),
])  # fmt: skip
@given(st.data())
def test_reduction(name: str, dtypes: list[str], data: st.DataObject) -> None:
    x = data.draw(arrays(dtypes, FILLED))
    if name == "prod":
        x = np.clip(x.real, 0, 2).astype(x.dtype)
    check(name, x, axis=data.draw(axes_of(x)), keepdims=data.draw(st.booleans()))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@given(st.data())
def test_position(name: str, data: st.DataObject) -> None:
    x = data.draw(arrays(REALS, FILLED))
    axis = data.draw(axes_of(x, several=False))
    check(name, x, axis=axis, keepdims=data.draw(st.booleans()))


@pytest.mark.parametrize("name", ["sum", "prod", "cumulative_sum", "cumulative_prod"])
@given(st.data())
def test_sums_and_products_give_the_dtype_that_is_asked_for(name: str, data: st.DataObject) -> None:
    x = data.draw(arrays(NUMBERS, FILLED))
    kinds = COMPLEX if x.dtype.kind == "c" else NUMBERS
    dtype = data.draw(st.sampled_from([y for y in kinds if promotes(x.dtype.name, y)]))
    if "prod" in name:
        x = np.clip(x.real, 0, 2).astype(x.dtype)
    check(name, x, axis=data.draw(st.integers(0, x.ndim - 1)), dtype=np.dtype(dtype))


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
@given(st.data())
def test_running_sums_and_products(name: str, data: st.DataObject) -> None:
    x = data.draw(arrays(NUMBERS, hnp.array_shapes(min_side=0, max_dims=3, max_side=4)))
    if "prod" in name:
        x = np.clip(x.real, 0, 2).astype(x.dtype)
    optional = st.none() if x.ndim == 1 else st.nothing()
    axis = data.draw(optional | st.integers(-x.ndim, x.ndim - 1))
    check(name, x, axis=axis, include_initial=data.draw(st.booleans()))


@given(st.data(), st.floats(0, 1))
def test_spread_with_a_correction(data: st.DataObject, correction: float) -> None:
    x = data.draw(arrays(FLOATS, hnp.array_shapes(min_side=2, max_dims=2, max_side=4)))
    for name in ("std", "var"):
        check(name, x, axis=0, correction=correction)
        check(name, x, correction=int(correction))


# --- manipulation --------------------------------------------------------------------------------


@given(st.data())
def test_joining(data: st.DataObject) -> None:
    x, y = data.draw(pairs(EVERY))
    check("concat", [x, y], axis=None)
    check("broadcast_arrays", x, y)
    y = np.resize(y, x.shape).astype(y.dtype) if y.size else np.zeros(x.shape, y.dtype)
    axis = data.draw(st.integers(-x.ndim - 1, x.ndim))
    check("stack", (x, y), axis=axis)
    if x.ndim:
        axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
        check("concat", (x, y, x), axis=axis)
        check("unstack", x, axis=axis)


@given(st.data())
def test_axes(data: st.DataObject) -> None:
    x = data.draw(arrays(EVERY))
    check("flip", x, axis=data.draw(axes_of(x)))
    order = tuple(data.draw(st.permutations(range(x.ndim))))
    check("permute_dims", x, order)
    check("expand_dims", x, axis=data.draw(st.integers(-x.ndim - 1, x.ndim)))
    check("reshape", x, data.draw(st.sampled_from([x.shape, (x.size,), (1, x.size)])))
    check("roll", x, data.draw(st.integers(-9, 9)), axis=data.draw(axes_of(x, several=False)))
    check("squeeze", x[None, ..., None], (0, -1))
    if x.ndim:
        moved = data.draw(hnp.valid_tuple_axes(x.ndim))
        places = tuple(data.draw(st.permutations(range(x.ndim))))[: len(moved)]
        check("moveaxis", x, moved, places)
        check("roll", x, moved or (0,), axis=moved or (0,))
    if x.ndim > 1:
        check("matrix_transpose", x)


@given(st.data())
def test_repeating(data: st.DataObject) -> None:
    x = data.draw(arrays(EVERY))
    times = data.draw(st.lists(st.integers(0, 3), max_size=4).map(tuple))
    check("tile", x, times)
    axis = data.draw(axes_of(x, several=False))
    check("repeat", x, data.draw(st.integers(0, 3)), axis=axis)
    count = x.size if axis is None else x.shape[axis]
    counts = hnp.arrays(st.sampled_from(INTEGERS), count, elements=st.integers(0, 3))
    check("repeat", x, data.draw(counts), axis=axis)


@given(st.data())
def test_broadcasting(data: st.DataObject) -> None:
    x = data.draw(arrays(EVERY))
    shape = data.draw(
        hnp.broadcastable_shapes(x.shape, min_dims=x.ndim, max_dims=4, min_side=0, max_side=4)
    )
    assume(np.broadcast_shapes(x.shape, shape) == shape)
    check("broadcast_to", x, shape)
    assert ts.broadcast_shapes(x.shape, shape) == strict.broadcast_shapes(x.shape, shape)


# --- creation ------------------------------------------------------------------------------------


@given(st.data())
def test_making(data: st.DataObject) -> None:
    shape = data.draw(SHAPES | st.integers(0, 4))
    dtype = np.dtype(data.draw(st.sampled_from(EVERY)))
    value = data.draw(elements(dtype.name))
    x = data.draw(arrays(EVERY))
    for name in ("zeros", "ones"):
        check(name, shape, dtype=dtype)
        check(f"{name}_like", x)
        check(f"{name}_like", x, dtype=dtype)
    check("full", shape, value, dtype=dtype)
    check("full_like", x, value, dtype=dtype)
    for empty in (ts.empty(shape, dtype=given_to(ts, dtype)), ts.empty_like(given_to(ts, x))):
        assert empty.shape in (x.shape, shape, (shape,))
    rows, columns = data.draw(st.tuples(st.integers(0, 4), st.none() | st.integers(0, 4)))
    check("eye", rows, columns, k=data.draw(st.integers(-6, 6)), dtype=dtype)


@given(st.data())
def test_grids_and_triangles(data: st.DataObject) -> None:
    vectors = data.draw(st.lists(arrays(["int64"], st.integers(1, 4)), min_size=1, max_size=3))
    check("meshgrid", *vectors)
    check("meshgrid", *vectors, indexing="ij")
    x = data.draw(arrays(NUMBERS, hnp.array_shapes(min_dims=2, max_dims=3, min_side=0, max_side=4)))
    for name in ("tril", "triu"):
        check(name, x, k=data.draw(st.integers(-6, 6)))


# --- indexing, searching, products ---------------------------------------------------------------


@given(st.data())
def test_indexing_functions(data: st.DataObject) -> None:
    x = data.draw(arrays(EVERY, FILLED))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    size = x.shape[axis]
    places = st.integers(-size, size - 1)
    check("take", x, data.draw(hnp.arrays("int64", st.integers(0, 5), elements=places)), axis=axis)
    shape = list(x.shape)
    shape[axis] = data.draw(st.integers(0, 4))
    indices = data.draw(hnp.arrays("int64", tuple(shape), elements=places))
    check("take_along_axis", x, indices, axis=axis)
    check("nonzero", x)
    check("diff", x.real.astype("int32"), axis=axis, n=data.draw(st.integers(1, 3)))


@given(st.data())
def test_choice(data: st.DataObject) -> None:
    x, y = data.draw(pairs(EVERY))
    shape = np.broadcast_shapes(x.shape, y.shape)
    condition = data.draw(hnp.arrays("bool", hnp.broadcastable_shapes(shape, max_side=1)))
    check("where", condition, x, y)
    if x.dtype.kind != "b":
        check("where", condition, x, 1)
        check("where", condition, 1, x)


@given(st.data())
def test_products(data: st.DataObject) -> None:
    x, y = data.draw(st.sampled_from([(x, y) for x in NUMBERS for y in NUMBERS if promotes(x, y)]))
    i, j, k = data.draw(st.tuples(*[st.integers(0, 4)] * 3))
    batch = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=2, max_side=3))
    left, right = ((*shape, *size) for shape, size in
                   zip(batch.input_shapes, ((i, j), (j, k)), strict=True))  # fmt: skip
    a, b = (data.draw(hnp.arrays(dtype, shape, elements=elements(dtype)))
            for dtype, shape in ((x, left), (y, right)))  # fmt: skip
    check("matmul", a, b)
    check("tensordot", a, b, axes=((a.ndim - 1,), (b.ndim - 2,)))
    check("tensordot", a, b, axes=0)
    if k:
        check("vecdot", a, np.moveaxis(b, -2, -1)[..., :1, :])
    if a.ndim == b.ndim == 2:
        check("tensordot", a, b, axes=1)
        check("matmul", a[0] if i else a, b)


@given(st.data())
def test_keys(data: st.DataObject) -> None:
    x = data.draw(arrays(EVERY, hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4)))
    key = data.draw(hnp.basic_indices(x.shape, allow_newaxis=True))
    np.testing.assert_array_equal(given_to(ts, x)[key].numpy(), x[key])
    mask = data.draw(hnp.arrays("bool", x.shape[: data.draw(st.integers(0, x.ndim))]))
    np.testing.assert_array_equal(given_to(ts, x)[given_to(ts, mask)].numpy(), x[mask])
    places = tuple(data.draw(st.integers(0, size - 1) | hnp.arrays(
        "int64", (3,), elements=st.integers(0, size - 1))) for size in x.shape)  # fmt: skip
    found = given_to(ts, x)[given_to(ts, places)]
    np.testing.assert_array_equal(found.numpy(), x[places])
    value = data.draw(elements(x.dtype.name))
    for where in (key, mask):
        target, want = given_to(ts, x), x.copy()
        target[given_to(ts, where)] = value
        want[where] = value
        np.testing.assert_array_equal(target.numpy(), want)


@given(arrays(EVERY, SHAPES), st.sampled_from(EVERY))
def test_conversion(x: Array, dtype: str) -> None:
    assume(x.dtype.kind != "c" or np.dtype(dtype).kind == "c")
    assume(np.dtype(dtype).kind != "u" or bool(np.all(x >= 0)))
    check("astype", x, np.dtype(dtype))
    check("astype", x, np.dtype(dtype), copy=False)
