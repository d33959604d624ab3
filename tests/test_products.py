"""Matrix products against NumPy, and that their bits depend on values, shape and dtype alone.

Whatever the strides, the threads, or whether the result is accumulated: the order in which k is
summed is one, in the small, thin, vector and blocked paths.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts

Array = np.ndarray[Any, Any]
FLOATS = ["float32", "float64", "float16", "bfloat16", "complex64"]
# rows, inner, columns: small, thin, vectors, in parts, and blocked with borders of every kind
SIZES = [(1, 1, 1), (3, 4, 5), (1, 1000, 1), (1, 513, 300), (300, 513, 1), (7, 2, 900), (130, 5, 7),
         (65, 700, 33), (6, 4100, 16), (48, 6000, 40), (257, 260, 129), (2, 3, 0),
         (4, 0, 3)]  # fmt: skip


def bits(x: ts.Tensor) -> bytes:
    wide = x.astype(ts.float32) if x.dtype is ts.bfloat16 else x
    return wide.contiguous().numpy().tobytes()


def spaced(x: ts.Tensor) -> ts.Tensor:
    """Give x again with gaps between its elements."""
    out = ts.empty(tuple(3 * n for n in x.shape), dtype=x.dtype)[(slice(None, None, 3),) * x.ndim]
    out[...] = x
    return out


def turned(x: ts.Tensor) -> ts.Tensor:
    """Give x again, column by column."""
    return x.mT.clone().mT


def reverse(x: ts.Tensor) -> ts.Tensor:
    """Give x again, stored from its end."""
    return x.flip().clone().flip()


def drawn(*shape: int, dtype: str, seed: int = 5) -> ts.Tensor:
    return ts.randn(shape, generator=ts.Generator(seed)).astype(dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_bits_do_not_depend_on_strides_or_threads(sizes: tuple[int, int, int], dtype: str) -> None:
    m, k, n = sizes
    a, b = drawn(m, k, dtype=dtype), drawn(k, n, dtype=dtype, seed=6)
    with ts.num_threads(1):
        expected = bits(a @ b)
    for threads in (2, 3, 8):
        with ts.num_threads(threads):
            assert bits(a @ b) == expected
    forms = (turned, spaced, reverse)
    for i, form in enumerate(forms):
        with ts.num_threads(1 + i):
            assert bits(form(a) @ b) == expected and bits(a @ form(b)) == expected
            assert bits(form(a) @ form(b)) == expected


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_a_transpose_has_the_bits_of_its_copy(sizes: tuple[int, int, int], dtype: str) -> None:
    m, k, n = sizes
    a, b = drawn(m, k, dtype=dtype), drawn(n, k, dtype=dtype, seed=6)
    assert bits(a @ b.T) == bits(a @ b.T.contiguous())
    assert bits(a.T.contiguous().T @ b.T) == bits(a @ b.T)
    if n == 1:
        assert bits(a @ b[0]) == bits((a @ b.T)[:, 0])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_accumulating_has_the_bits_of_a_sum(sizes: tuple[int, int, int], dtype: str) -> None:
    m, k, n = sizes
    a, b = drawn(m, k, dtype=dtype), drawn(k, n, dtype=dtype, seed=6)
    start = drawn(m, n, dtype=dtype, seed=7)
    for out in (start.clone(), turned(start), spaced(start)):
        ts.matmul_into(out, a, b, accumulate=True)
        assert bits(out) == bits(start + a @ b)
    for out in (start.clone(), turned(start), spaced(start)):
        ts.matmul_into(out, a, b)
        assert bits(out) == bits(a @ b)
    out = start.clone()
    ts.matmul_into(out, a.T.contiguous(), b.T.contiguous(), transpose_a=True, transpose_b=True)
    assert bits(out) == bits(a @ b)


# Of a, b and the result; vectors are rows and columns without their axis.
INTO = [((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (6, 4, 2)),
        ((1, 3, 0), (2, 0, 4)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (2, 4, 3))]  # fmt: skip


@pytest.mark.parametrize("dtype", [d.name for d in ts.dtypes.DTYPES if d is not ts.bool])
@pytest.mark.parametrize("shapes", INTO, ids=str)
def test_products_into_a_tensor_of_any_kind(shapes: Any, dtype: str) -> None:
    a, b = (ts.randint(0, 5, shape).astype(dtype) for shape in shapes)
    want = a @ b
    start = ts.randint(0, 5, want.shape).astype(dtype)
    forms = [lambda x: x, spaced, reverse, turned if want.ndim > 1 else reverse]
    for form in forms:
        out = form(start.clone())
        assert ts.matmul_into(out, a, b) is out and bits(out) == bits(want)
        out = form(start.clone())
        ts.matmul_into(out, a, b, accumulate=True)
        assert bits(out) == bits(start + want)
        if a.ndim > 1 and b.ndim > 1:
            out = form(start.clone())
            left, right = form(a.mT.clone()), form(b.mT.clone())
            ts.matmul_into(out, left, right, accumulate=True, transpose_a=True, transpose_b=True)
            assert bits(out) == bits(start + want)


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
def test_products_into_an_operand(accumulate: bool, transposed: bool) -> None:
    def multiply(out: ts.Tensor, a: ts.Tensor, b: ts.Tensor) -> ts.Tensor:
        return ts.matmul_into(out, a, b, accumulate=accumulate, transpose_a=transposed)

    for which in (0, 1, 2):
        a, b = drawn(7, 7, dtype="float32"), drawn(7, 7, dtype="float32", seed=6)
        operands = [a, b] if which < 2 else [a, a]
        out = operands[which % 2]
        product = (operands[0].T if transposed else operands[0]) @ operands[1]
        want = out + product if accumulate else product
        multiply(out, *operands)
        assert bits(out) == bits(want)
    memory = drawn(60, dtype="float32")
    a, out, b = memory[:49].view(7, 7), memory[11:].view(7, 7), drawn(7, 7, dtype="float32")
    product = (a.T if transposed else a) @ b
    want = out + product if accumulate else product
    assert bits(multiply(out, a, b)) == bits(want)


def test_products_into_another_dtype() -> None:
    a, b = drawn(3, 4, dtype="float32"), ts.ones(4, 2, dtype=ts.int64)
    out = ts.ones(3, 2, dtype=ts.float64)
    ts.matmul_into(out, a, b, accumulate=True)
    assert out.tolist() == (1.0 + (a @ b).double()).tolist()
    out = ts.ones(3, 2, dtype=ts.float16)
    ts.matmul_into(out, a, b, accumulate=True)
    assert bits(out) == bits((ts.ones(3, 2) + a @ b).astype(ts.float16))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda out: ts.matmul_into(out, ts.ones(2, 3), ts.ones(4, 2)),
         "inner sizes differ: 3 != 4"),
        (lambda out: ts.matmul_into(out, ts.ones(2, 3), ts.ones(3, 4)),
         "the result has shape (2, 4), the target (2, 2)"),
        (lambda out: ts.matmul_into(out, ts.ones(5, 2, 3), ts.ones(3, 2)),
         "the result has shape (5, 2, 2), the target (2, 2)"),
        (lambda out: ts.matmul_into(out, ts.ones(2), ts.ones(2, 2), transpose_a=True),
         "axis -2 is out of range"),
        (lambda out: ts.matmul_into(out, out > 0, out > 0), "not defined for bool"),
        (lambda out: ts.matmul_into(out, ts.ones(2, 2), ts.ones(2, 2, dtype=ts.complex64)),
         "the result is complex64, the target float32"),
        (lambda out: ts.matmul_into(out[:1].broadcast_to(2, 2), out, out), "out has elements that"),
        (lambda out: ts.matmul_into(out, *[3, out]), "a must be a tensor, got int"),
    ],
)  # fmt: skip
def test_products_into_a_tensor_that_does_not_fit(call: Any, text: str) -> None:
    out = ts.ones(2, 2)
    with pytest.raises(ts.errors.TessellaError) as caught:
        call(out)
    assert text in str(caught.value).splitlines()[0]
    assert out.tolist() == [[1.0, 1.0], [1.0, 1.0]] and out.version == ts.ones(2, 2).version


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("k", [65, 3000])
def test_a_batch_has_the_bits_of_its_products(k: int, dtype: str) -> None:
    a, b = drawn(5, 2, 37, k, dtype=dtype), drawn(2, k, 41, dtype=dtype, seed=6)
    out = a @ b
    for i in range(5):
        for j in range(2):
            assert bits(out[i, j]) == bits(a[i, j] @ b[j])
    shared = drawn(k, 41, dtype=dtype, seed=8)
    assert bits((a @ shared)[2, 1]) == bits(a[2, 1] @ shared)
    moved = a.permute(1, 0, 2, 3).contiguous().permute(1, 0, 2, 3)
    assert bits(moved @ b) == bits(out)


@given(st.data())
def test_products_are_those_of_numpy(data: st.DataObject) -> None:
    batch = data.draw(st.lists(st.integers(0, 3), max_size=2))
    m, k, n = (data.draw(st.integers(0, 9)) for _ in range(3))
    left = [1 if data.draw(st.booleans()) else size for size in batch]
    right = batch[data.draw(st.integers(0, len(batch))) :]
    vector_a, vector_b = data.draw(st.booleans()), data.draw(st.booleans())
    dtype = data.draw(st.sampled_from(["int8", "int32", "uint64", "float64", "complex128"]))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    a = rng.integers(0, 9, [k] if vector_a else [*left, m, k]).astype(dtype)
    b = rng.integers(0, 9, [k] if vector_b else [*right, k, n]).astype(dtype)
    expected = np.asarray(a @ b)
    found = ts.tensor(a) @ ts.tensor(b)
    assert found.dtype.name == expected.dtype.name
    assert found.shape == expected.shape and found.tolist() == expected.tolist()


def test_products_do_not_fit_say_why() -> None:
    with pytest.raises(ts.errors.ShapeError, match="matmul: inner sizes differ: 3 != 4"):
        ts.zeros(2, 3) @ ts.zeros(4, 2)
    with pytest.raises(ts.errors.BroadcastError, match=r"matmul: .*do not broadcast"):
        ts.zeros(2, 3, 3) @ ts.zeros(4, 3, 3)
    with pytest.raises(ts.errors.ShapeError, match="matmul: a is 0-d"):
        ts.zeros(()) @ ts.zeros(3)
