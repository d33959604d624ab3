"""Each sentence of docs/capabilities.md about arithmetic and threads, as a test.

The page names these tests row by row. Tensors, views, access and errors are in
test_capabilities.py.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessella as ts
from tessella import _core

THREADS = (1, 2, 3, 8)


def normal(*shape: int, seed: int = 0, dtype: str = "float32") -> ts.Tensor:
    """Give normal numbers; their sign and size vary, so that orders of summation show."""
    values = np.random.default_rng(seed).standard_normal(shape) * 10
    return ts.from_numpy(values.astype(dtype))


def bits(x: ts.Tensor) -> bytes:
    """Give the elements' bytes in row-major order."""
    return np.ascontiguousarray(x.numpy()).tobytes()


# --- A1: elementwise -----------------------------------------------------------------------------

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "pow": operator.pow,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "less": operator.lt,
    "equal": operator.eq,
}


def positive(*shape: int, seed: int = 0) -> ts.Tensor:
    """Give numbers in [1, 2), where every operator has a value."""
    return ts.from_numpy(1 + np.random.default_rng(seed).random(shape).astype("float32"))


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_broadcast(name: str) -> None:
    operate = OPERATORS[name]
    x, y = positive(3, 1, 4), positive(2, 4, seed=1)
    expected = operate(x.numpy(), y.numpy())
    np.testing.assert_allclose(operate(x, y).numpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(getattr(ts, name)(x, y).numpy(), expected, rtol=1e-6)
    method = getattr(x, "eq" if name == "equal" else name)  # PyTorch's x.equal(y) is another
    np.testing.assert_allclose(method(y).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_take_python_scalars_on_either_side(name: str) -> None:
    operate, x = OPERATORS[name], positive(3, 4)
    for scalar in (3, 1.5, True):
        right, left = operate(x, scalar), operate(scalar, x)
        assert right.shape == left.shape == (3, 4)
        assert {right.dtype, left.dtype} <= {ts.float32, ts.bool}
        np.testing.assert_allclose(right.numpy(), operate(x.numpy(), scalar), rtol=1e-6)
        np.testing.assert_allclose(left.numpy(), operate(scalar, x.numpy()), rtol=1e-6)


@pytest.mark.parametrize("name", OPERATORS)
def test_strided_operands_give_the_bits_of_contiguous_ones(name: str) -> None:
    operate = OPERATORS[name]
    x, y = positive(37, 41), positive(41, 37, seed=1)
    for a, b in ((x, y.T), (x[::-1, ::3], y[1:15, ::-1].T), (x[:, :1], y.T), (x[5], y.T[:, 2:3])):
        plain = operate(a.contiguous(), b.contiguous())
        assert bits(operate(a, b)) == bits(plain)


def test_negation_and_in_place_operators() -> None:
    x = positive(5)
    expected = -((x.numpy() + 2) * 3)
    x += 2
    x *= 3
    assert bits(-x) == expected.tobytes()


ARRAY_API = """
abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift
bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1
floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal log log10
log1p log2 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply
negative nextafter not_equal positive pow real reciprocal remainder round sign signbit sin sinh sqrt
square subtract tan tanh trunc where
max mean min prod std sum var all any argmax argmin cumulative_prod cumulative_sum
broadcast_to concat expand_dims flip permute_dims repeat reshape roll squeeze stack tile
matmul matrix_transpose take nonzero sort argsort astype
"""


@pytest.mark.parametrize("name", ARRAY_API.split())
def test_functions_of_the_array_api_are_there(name: str) -> None:
    assert callable(getattr(ts, name))


# --- A2: matrix products --------------------------------------------------------------------------

PRODUCTS = {
    "vectors": ((5,), (5,)),
    "matrix and vector": ((4, 5), (5,)),
    "vector and matrix": ((5,), (5, 6)),
    "matrices": ((4, 5), (5, 6)),
    "a batch and a matrix": ((3, 4, 5), (5, 6)),
    "a batch and a batch of one": ((3, 4, 5), (1, 5, 6)),
    "a batch and a vector": ((3, 4, 5), (5,)),
    "attention": ((2, 3, 7, 5), (2, 3, 5, 7)),
    "attention, heads share keys": ((2, 3, 7, 5), (2, 1, 5, 7)),
    "batches that broadcast": ((3, 1, 4, 5), (2, 5, 6)),
    "nothing to sum": ((4, 0), (0, 6)),
    "no rows": ((0, 5), (5, 6)),
    "large": ((130, 300), (300, 70)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_all_ranks(name: str) -> None:
    left, right = PRODUCTS[name]
    a, b = normal(*left), normal(*right, seed=1)
    x, y = a.numpy().astype("float64"), b.numpy().astype("float64")
    found = a @ b
    assert found.shape == (x @ y).shape
    assert np.all(np.abs(found.numpy() - x @ y) <= 1e-5 * (np.abs(x) @ np.abs(y)))
    assert bits(ts.matmul(a, b)) == bits(found)


def test_products_of_every_number_type() -> None:
    x = [[1, 0, 1], [0, 1, 1]]
    y = [[1, 0], [0, 1], [1, 0]]
    for dtype in (ts.float32, ts.float64, ts.int64, ts.int8, ts.float16, ts.bfloat16):
        found = ts.tensor(x, dtype=dtype) @ ts.tensor(y, dtype=dtype)
        assert found.dtype is dtype and found.astype(ts.int64).tolist() == [[2, 0], [1, 1]]


@pytest.mark.parametrize("shapes", [((), (2, 2)), ((4, 5), (4, 6)), ((3, 4, 5), (2, 5, 6))])
def test_products_that_do_not_fit_are_refused(shapes: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(ts.errors.ShapeError, match="matmul"):
        ts.zeros(shapes[0]) @ ts.zeros(shapes[1])


def test_matmul_into_clears_or_accumulates() -> None:
    a, b, before = normal(7, 9), normal(9, 5, seed=1), normal(7, 5, seed=2)
    out = before.clone()
    ts.matmul_into(out, a, b)
    assert bits(out) == bits(a @ b)
    out = before.clone()
    ts.matmul_into(out, a, b, accumulate=True)
    assert bits(out) == bits(before + a @ b)


@pytest.mark.parametrize("size", [3, 40, 130])
def test_matmul_into_transposes_without_a_copy(size: int) -> None:
    a, b = normal(size, size + 2), normal(size + 4, size, seed=1)
    out = ts.zeros(size + 2, size + 4)
    before = _core.memory_counts()[0]
    ts.matmul_into(out, a, b, transpose_a=True, transpose_b=True)
    assert _core.memory_counts()[0] == before
    assert bits(out) == bits(a.T @ b.T)


def test_matmul_into_checks_its_target() -> None:
    a, b = ts.ones(2, 3), ts.ones(3, 4)
    with pytest.raises(ts.errors.ShapeError):
        ts.matmul_into(ts.zeros(2, 5), a, b)
    with pytest.raises(ts.errors.TessellaError):
        ts.matmul_into(ts.zeros(2, 1).broadcast_to(2, 4), a, b)


# --- A3: the product ------------------------------------------------------------------------------

SIZES = [
    (1, 1, 1),
    (6, 16, 4),
    (7, 17, 65),
    (64, 64, 64),
    (97, 33, 257),
    (300, 5, 200),
    (2, 400, 3),
]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_product_of_every_path_is_right_and_independent_of_strides(
    size: tuple[int, int, int], dtype: str
) -> None:
    m, n, k = size
    a, b = normal(m, k, dtype=dtype), normal(n, k, seed=1, dtype=dtype)
    found = a @ b.T
    exact = a.numpy().astype("float64") @ b.numpy().astype("float64").T
    scale = np.abs(a.numpy()).astype("float64") @ np.abs(b.numpy()).astype("float64").T
    epsilon = np.finfo(dtype).eps
    assert np.all(np.abs(found.numpy() - exact) <= k * epsilon * scale)
    assert bits(found) == bits(a @ b.T.contiguous())
    padded = normal(2 * m, 3 * k, dtype=dtype)
    padded[::2, ::3] = a
    assert bits(padded[::2, ::3] @ b.T) == bits(found)


# --- A4: reductions -------------------------------------------------------------------------------

REDUCTIONS = ["sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "argmax", "argmin"]
AXES: list[Any] = [None, 0, 1, -1, (0, 2), (-1, 0), (0, 1, 2)]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions_over_all_one_or_several_axes(name: str, axis: Any, keepdims: bool) -> None:
    if name.startswith("arg") and isinstance(axis, tuple):
        with pytest.raises(ts.errors.TessellaError):
            getattr(ts, name)(ts.zeros(3, 4, 5), axis=axis)
        return
    x = positive(3, 4, 5)
    expected = getattr(np, name)(x.numpy(), axis=axis, keepdims=keepdims)
    found = getattr(ts, name)(x, axis=axis, keepdims=keepdims)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.numpy(), expected, rtol=2e-6)
    assert bits(getattr(x, name)(axis=axis, keepdims=keepdims)) == bits(found)


def test_a_total_sum_is_a_tensor_of_rank_zero() -> None:
    total = ts.ones(3, 4).sum()
    assert isinstance(total, ts.Tensor) and total.shape == () and total.item() == 12.0


def test_axes_are_checked() -> None:
    for axis, error in ((2, IndexError), (-3, IndexError), ((0, 0), ValueError), (0.5, TypeError)):
        with pytest.raises((error, ts.errors.ShapeError)) as caught:
            ts.ones(2, 3).sum(axis=axis)  # type: ignore[arg-type]
        assert isinstance(caught.value, ts.errors.TessellaError)


MANY = 10_000_000


@pytest.mark.parametrize("shape", [(MANY,), (MANY, 1), (1, MANY), (MANY, 2)])
def test_sums_of_ten_million_terms_are_accurate(shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(0).standard_normal(shape).astype("float32")
    axis = shape.index(max(shape))
    exact = values.astype("float64").sum(axis=axis)
    scale = np.abs(values.astype("float64")).sum(axis=axis)
    found = ts.from_numpy(values).sum(axis=axis).numpy()
    assert np.all(np.abs(found - exact) <= 1e-6 * scale)


def test_means_of_ten_million_terms_are_accurate() -> None:
    values = (np.random.default_rng(1).random(MANY) + 100).astype("float32")
    exact = values.astype("float64").mean()
    assert abs(ts.from_numpy(values).mean().item() - exact) <= 1e-6 * exact


# --- A5: threads ----------------------------------------------------------------------------------

LARGE: dict[str, Callable[[ts.Tensor, ts.Tensor], ts.Tensor]] = {
    "elementwise": lambda x, y: ts.tanh(x) * y + x,
    "strided": lambda x, y: x.T + y.T,
    "total sum": lambda x, y: x.sum(),
    "sum over rows": lambda x, y: x.sum(axis=0),
    "sum over columns": lambda x, y: x.sum(axis=1),
    "sum of a transposed view": lambda x, y: x.T.sum(axis=0),
    "mean": lambda x, y: x.mean(axis=0),
    "variance": lambda x, y: x.var(axis=1),
    "product": lambda x, y: x @ y.T,
    "thin product": lambda x, y: x @ y[:3].T,
    "vector product": lambda x, y: x @ y[0],
    "cumulative sum": lambda x, y: ts.cumulative_sum(x, axis=1),
    "softmax": lambda x, y: ts.softmax(x, axis=-1),
    "gather": lambda x, y: x[ts.argsort(y[:, 0])],
    "sort": lambda x, y: ts.sort(x, axis=1),
}


@pytest.mark.parametrize("name", LARGE)
def test_bits_do_not_depend_on_the_number_of_threads(name: str) -> None:
    x, y = normal(700, 900), normal(700, 900, seed=1)
    results = []
    for count in THREADS:
        with ts.num_threads(count):
            results.append(bits(LARGE[name](x, y)))
    assert len(set(results)) == 1


def test_random_numbers_do_not_depend_on_the_number_of_threads() -> None:
    results = []
    for count in THREADS:
        with ts.num_threads(count):
            ts.manual_seed(5)
            results.append(bits(ts.randn(300_000)))
    assert len(set(results)) == 1


def test_number_of_threads_can_be_set_and_scoped() -> None:
    before = ts.get_num_threads()
    assert 1 <= before <= max(1, len(os.sched_getaffinity(0)))
    with ts.num_threads(3):
        assert ts.get_num_threads() == 3
    assert ts.get_num_threads() == before
    ts.set_num_threads(2)
    try:
        assert ts.get_num_threads() == 2
    finally:
        ts.set_num_threads(before)
    with pytest.raises(ts.errors.TessellaError):
        ts.set_num_threads(0)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_sums_over_permuted_data_have_the_bits_of_contiguous_data(axis: int) -> None:
    x = normal(40, 50, 60)
    permuted = x.permute(2, 0, 1).contiguous().permute(1, 2, 0)
    assert not permuted.is_contiguous
    assert bits(permuted.sum(axis=axis)) == bits(x.sum(axis=axis))
