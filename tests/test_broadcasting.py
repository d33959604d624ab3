"""Broadcasting against NumPy: random shapes and layouts of two and three operands, and scalars."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


@st.composite
def shapes_that_fit(draw: st.DrawFn, count: int) -> list[Shape]:
    """Draw shapes that broadcast: parts of one shape, with axes of size 1."""
    whole = draw(st.lists(st.integers(0, 5), max_size=4))
    out: list[Shape] = []
    for _ in range(count):
        part = whole[draw(st.integers(0, len(whole))) :]
        out.append(tuple(1 if draw(st.sampled_from([0, 0, 1])) else n for n in part))
    return out


@st.composite
def laid_out(draw: st.DrawFn, shape: Shape, dtype: str) -> tuple[ts.Tensor, Array]:
    """Draw a tensor of a shape with any strides, and its NumPy twin."""
    array: Array = (np.arange(math.prod(shape)) % 19 + 1).astype(dtype).reshape(shape)
    x = ts.tensor(array)
    order = tuple(draw(st.permutations(range(len(shape)))))
    if draw(st.booleans()) and shape:
        back = tuple(order.index(i) for i in range(len(shape)))
        x = x.permute(order).clone().permute(back)
    if draw(st.booleans()) and shape:
        axis = draw(st.integers(0, len(shape) - 1))
        x = x.flip(axis).clone().flip(axis)
    if draw(st.booleans()):
        spaced = ts.zeros(tuple(2 * n for n in shape), dtype=dtype)
        spaced = spaced[(slice(None, None, 2),) * len(shape)]
        spaced[...] = x
        x = spaced
    return x, array


BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "maximum": np.maximum,
    "less": np.less, "equal": np.equal,
}  # fmt: skip
DTYPES = ["int8", "int32", "int64", "uint8", "float32", "float64"]


@given(st.data(), st.sampled_from(list(BINARY)), st.sampled_from(DTYPES))
def test_two_operands_broadcast_like_numpy(data: st.DataObject, name: str, dtype: str) -> None:
    first, second = data.draw(shapes_that_fit(2))
    x, a = data.draw(laid_out(first, dtype))
    y, b = data.draw(laid_out(second, dtype))
    found, expected = getattr(ts, name)(x, y), BINARY[name](a, b)
    assert found.shape == expected.shape and found.tolist() == expected.tolist()
    assert found.is_contiguous


@given(st.data(), st.sampled_from(DTYPES))
def test_three_operands_broadcast_like_numpy(data: st.DataObject, dtype: str) -> None:
    shapes = data.draw(shapes_that_fit(3))
    c, a = data.draw(laid_out(shapes[0], "bool"))
    (x, b), (y, d) = (data.draw(laid_out(shape, dtype)) for shape in shapes[1:])
    expected = np.where(a, b, d)
    found = ts.where(c, x, y)
    assert found.shape == expected.shape and found.tolist() == expected.tolist()


@given(st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=4))
def test_shapes_join_as_in_numpy_or_are_refused(shapes: list[list[int]]) -> None:
    try:
        expected = np.broadcast_shapes(*map(tuple, shapes))
    except ValueError:
        with pytest.raises(ts.errors.BroadcastError, match=r"broadcast_shapes: .*do not broadcast"):
            ts.broadcast_shapes(*shapes)
        return
    assert ts.broadcast_shapes(*shapes) == expected
    views = ts.broadcast_tensors(*(ts.zeros(shape) for shape in shapes))
    assert all(view.shape == expected for view in views)


@given(st.data())
def test_operands_that_do_not_fit_name_both_shapes(data: st.DataObject) -> None:
    n, m = data.draw(st.lists(st.integers(2, 9), min_size=2, max_size=2, unique=True))
    x, y = ts.zeros(data.draw(st.integers(1, 3)), n), ts.zeros(m)
    with pytest.raises(ts.errors.BroadcastError, match=r"add: .*do not broadcast") as caught:
        x + y
    assert f"float32 {x.shape}" in str(caught.value) and f"float32 {y.shape}" in str(caught.value)


@given(st.data(), st.sampled_from(DTYPES), st.sampled_from([2, -3, 0.5, True, 1 + 2j]))
def test_a_scalar_never_changes_the_dtype_within_its_kind(
    data: st.DataObject, dtype: str, scalar: Any
) -> None:
    x, array = data.draw(laid_out(data.draw(shapes_that_fit(1))[0], dtype))
    if dtype.startswith("u") and scalar == -3:
        with pytest.raises(ts.errors.InvalidArgument, match="-3 does not fit uint8"):
            x + scalar
        return
    left, right = x + scalar, scalar + x
    kinds = {int: "int64", float: "float32", complex: "complex64", bool: "bool"}
    stays = isinstance(scalar, int) or (isinstance(scalar, float) and dtype.startswith("f"))
    wide = "complex128" if dtype == "float64" else "complex64"
    expected = dtype if stays else wide if isinstance(scalar, complex) else kinds[type(scalar)]
    assert left.dtype.name == right.dtype.name == expected
    assert left.tolist() == right.tolist() == (array.astype(expected) + scalar).tolist()


@given(st.data())
def test_sum_to_shape_undoes_broadcasting(data: st.DataObject) -> None:
    shape, _ = data.draw(shapes_that_fit(2))
    front = data.draw(st.lists(st.integers(1, 3), max_size=2))
    target = (*front, *(3 if n == 1 else n for n in shape))
    x = ts.ones(shape, dtype=ts.float64).broadcast_to(target)
    found = ts.sum_to_shape(x, shape)
    assert found.shape == shape
    if found.size:
        assert found.tolist() == np.full(shape, x.size / found.size).tolist()


@pytest.mark.parametrize("dtype", [ts.float32, ts.float16])
def test_nothing_is_broadcast_over_many_rows_at_once(dtype: ts.DType) -> None:
    one, many = ts.zeros(1, 0, dtype=dtype), ts.zeros(1 << 40, 0, dtype=dtype)
    leaf = ts.zeros(1, 0, dtype=dtype, requires_grad=True)
    (leaf * many).sum().backward()
    assert leaf.grad is not None and leaf.grad.shape == (1, 0)
    for found in (one + many, ts.maximum(many, one), ts.where(one > 0, many, 1.0), many.add_(one)):
        assert found.shape == (1 << 40, 0)
