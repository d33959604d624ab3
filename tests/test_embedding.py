"""embedding, one_hot and the module: gradients, padding, limits of rows, bits and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tessella as ts
from cases import to_array
from leaves import grad_of
from reference import assert_same
from tessella import _core, memory, nn

F: Any = nn.functional


def table(rows: int = 7, width: int = 3) -> ts.Tensor:
    """Draw a table that asks for gradients."""
    return ts.randn(rows, width, generator=ts.Generator(1)).requires_grad_()


def test_gradients_add_up_where_rows_repeat() -> None:
    weight, x = table(), ts.tensor([[1, 4, 1], [0, 1, 6]])
    g = ts.randn(2, 3, 3)
    F.embedding(x, weight).backward(g)
    want = np.zeros((7, 3), "float32")
    np.add.at(want, to_array(x), to_array(g))
    np.testing.assert_allclose(to_array(grad_of(weight)), want, rtol=1e-6, atol=1e-6)


def test_the_padding_row_has_no_gradient() -> None:
    weight, x = table(), ts.tensor([1, 2, 2, 5])
    for padding in (2, -5):
        (g,) = ts.autograd.grad(F.embedding(x, weight, padding).sum(), [weight])
        assert g.sum(axis=1).tolist() == [0, 3, 0, 0, 0, 3, 0]


def test_gradients_are_divided_by_how_often_a_row_was_asked_for() -> None:
    weight, x = table(), ts.tensor([1, 2, 2, 2])
    out = F.embedding(x, weight, scale_grad_by_freq=True)
    (g,) = ts.autograd.grad(out, [weight], ts.ones(4, 3))
    assert g[:3].tolist() == [[0] * 3, [1] * 3, [1] * 3]


def test_rows_are_made_at_most_so_long() -> None:
    weight = ts.tensor([[3.0, 4.0], [30.0, 40.0], [0.3, 0.4]], requires_grad=True)
    out = F.embedding(ts.tensor([0, 2]), weight, max_norm=1.0)
    np.testing.assert_allclose(to_array(out), [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)
    assert weight[1].tolist() == [30, 40], "which nobody asked for"
    out.sum().backward()
    assert grad_of(weight).tolist() == [[1, 1], [0, 0], [1, 1]]


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.bfloat16], ids=str)
def test_threads_give_the_same_bits(dtype: Any) -> None:
    x = ts.randint(0, 50, (4000,), generator=ts.Generator(2))
    g = ts.randn(4000, 700, generator=ts.Generator(3)).astype(dtype)
    found = []
    for threads in (1, 3):
        with ts.num_threads(threads):
            weight = ts.zeros(50, 700, dtype=dtype).requires_grad_()
            (got,) = ts.autograd.grad(F.embedding(x, weight), [weight], g)
            found.append(to_array(got))
    assert_same(*found)
    wide = np.zeros((50, 700))
    np.add.at(wide, to_array(x), to_array(g).astype("float64"))
    tolerance = {"float64": 1e-12, "float32": 1e-4}.get(dtype.name, 0.3)
    np.testing.assert_allclose(found[0], wide, atol=tolerance, rtol=1e-2)


def test_lookups_save_their_integers_and_take_the_fast_path() -> None:
    weight, x = table(), ts.tensor([1, 2, 3])
    before, declined = memory.stats().kinds["saved"], _core.fast_path_counts()[1]
    out = F.embedding(x, weight)
    assert memory.stats().kinds["saved"] - before == 3 * 8
    out.backward(ts.ones(3, 3))
    assert _core.fast_path_counts()[1] == declined


def test_errors_name_the_place() -> None:
    weight = table()
    for wrong, text in (
        ([0, 7], "x[1] is 7, of 7 rows of weight"),
        ([-1], "x[0] is -1, of 7 rows"),
    ):
        with pytest.raises(ts.errors.IndexOutOfBounds) as caught:
            F.embedding(ts.tensor(wrong), weight)
        assert str(caught.value).startswith(f"embedding: {text}")
        assert "hint: rows run from 0 to 6" in str(caught.value)


def test_one_hot_counts_classes_where_none_are_given() -> None:
    x = ts.tensor([[0, 2], [1, 1]])
    assert F.one_hot(x).shape == (2, 2, 3) and F.one_hot(x).dtype is ts.int64
    assert F.one_hot(x, 5).argmax(axis=-1).tolist() == x.tolist()
    assert F.one_hot(ts.zeros(0, dtype=ts.int64), 4).shape == (0, 4)
