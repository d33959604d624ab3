"""Writing into tensors: operators in place, copy_, fill_, targets that refuse, failures that undo.

Assignment through keys is in test_indexing.py.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts
from error_texts import told
from tessella import _core

Array = np.ndarray[Any, Any]
writing: Any = operator  # whose functions have no types
OPERATORS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "add": (operator.iadd, "float32"),
    "sub": (operator.isub, "float32"),
    "mul": (operator.imul, "int64"),
    "div": (operator.itruediv, "float64"),
    "floordiv": (operator.ifloordiv, "int64"),
    "mod": (operator.imod, "int32"),
    "pow": (operator.ipow, "float64"),
    "and": (operator.iand, "int16"),
    "or": (operator.ior, "bool"),
    "xor": (operator.ixor, "uint8"),
    "lshift": (operator.ilshift, "int64"),
    "rshift": (operator.irshift, "int64"),
}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("operand", ["tensor", "row", "number", "itself"])
def test_operators_write_into_their_target(name: str, operand: str) -> None:
    function, dtype = OPERATORS[name]
    array: Array = (np.arange(1, 13) % 5 + 1).astype(dtype).reshape(3, 4)
    x = ts.tensor(array)
    address, version, before = x.data_ptr, x.version, x
    others: dict[str, Any] = {"tensor": array[::-1], "row": array[0], "itself": array.copy(),
                              "number": True if dtype == "bool" else 2}  # fmt: skip
    y = x if operand == "itself" else others[operand]
    x = function(x, ts.tensor(y) if isinstance(y, np.ndarray) else y)
    array = function(array, others[operand])
    assert x is before and x.data_ptr == address and x.version > version
    np.testing.assert_allclose(x.numpy(), array, rtol=1e-6)


@given(st.data())
def test_operators_write_through_views_of_any_layout(data: st.DataObject) -> None:
    whole = ts.arange(60).reshape(3, 4, 5)
    array = np.arange(60).reshape(3, 4, 5)
    order = tuple(data.draw(st.permutations(range(3))))
    bound, step = st.none() | st.integers(-5, 5), st.sampled_from([1, 2, -1, -2])
    key = tuple(slice(data.draw(bound), data.draw(bound), data.draw(step)) for _ in range(3))
    view, part = whole.permute(order)[key], array.transpose(order)[key]
    view += 100
    part += 100
    view *= view
    part *= part
    assert whole.tolist() == array.tolist()


@pytest.mark.parametrize("target", ["x[1:]", "x[::-1]", "x.T"])
def test_a_target_may_overlap_its_operand(target: str) -> None:
    x = ts.arange(9).reshape(3, 3)
    array = np.arange(9).reshape(3, 3)
    if target == "x[1:]":
        x[1:] += x[:-1]
        array[1:] += array[:-1].copy()
    elif target == "x[::-1]":
        x += x[::-1]
        array += array[::-1].copy()
    else:
        x -= x.T
        array -= array.T.copy()
    assert x.tolist() == array.tolist()


# --- targets that refuse --------------------------------------------------------------------------

WRITES: dict[str, Callable[[ts.Tensor], Any]] = {
    "operator": lambda x: writing.iadd(x, 1),
    "assignment": lambda x: writing.setitem(x, 0, 1),
    "gathered": lambda x: writing.setitem(x, [0], 1),
    "fill_": lambda x: x.fill_(1),
    "copy_": lambda x: x.copy_(ts.ones(x.shape)),
}


@pytest.mark.parametrize("write", WRITES)
def test_broadcast_views_are_not_written(write: str) -> None:
    base = ts.zeros(1, 3)
    with pytest.raises(ts.errors.InvalidArgument, match="has elements that share memory"):
        WRITES[write](base.broadcast_to(4, 3))
    assert base.tolist() == [[0.0] * 3]


@pytest.mark.parametrize("write", WRITES)
def test_overlapping_windows_are_not_written(write: str) -> None:
    base = ts.zeros(6)
    with pytest.raises(ts.errors.InvalidArgument, match="has elements that share memory"):
        WRITES[write](base.unfold(0, 3))
    assert base.tolist() == [0.0] * 6
    WRITES[write](base.unfold(0, 3, 3))
    assert base.sum().item() > 0


@pytest.mark.parametrize("write", WRITES)
def test_read_only_memory_is_not_written(write: str) -> None:
    array = np.zeros((2, 3), dtype=np.float32)
    array.flags.writeable = False
    x = ts.from_numpy(array)
    assert x.is_readonly and x[0].is_readonly
    for target in (x, x[:, 1:]):
        with pytest.raises(ts.errors.InvalidArgument, match="x is read-only"):
            WRITES[write](target)
    assert not array.any() and not x.clone().is_readonly


@pytest.mark.parametrize("write", WRITES)
def test_a_leaf_that_requires_gradients_is_not_written(write: str) -> None:
    x = ts.zeros(2, 3, requires_grad=True)
    with pytest.raises(
        ts.errors.InplaceError, match="x requires gradients and would be overwritten"
    ):
        WRITES[write](x)
    assert x.detach().tolist() == [[0.0] * 3] * 2


# --- failures leave the target as it was ----------------------------------------------------------

FAILURES: dict[str, tuple[Callable[[ts.Tensor], Any], type[Exception], str]] = {
    "higher kind": (lambda x: writing.iadd(x, 0.5), TypeError,
                    "the result is float32, the target int64"),
    "division": (lambda x: writing.itruediv(x, 2), TypeError,
                 "the result is float32, the target int64"),
    "larger result": (lambda x: writing.iadd(x, ts.ones(2, 2, 3, dtype=ts.int64)), ValueError,
                      r"the result has shape \(2, 2, 3\), the target \(2, 3\)"),
    "no broadcast": (lambda x: writing.imul(x, ts.ones(4, dtype=ts.int64)), ValueError,
                     "do not broadcast"),
    "text": (lambda x: writing.iadd(x, "1"), TypeError, "y must be a tensor or a number, got str"),
    "large number": (lambda x: writing.iadd(x, 1 << 63), ValueError, "does not fit int64"),
    "copy of another shape": (lambda x: x.copy_(ts.zeros(3, dtype=ts.int64)), ValueError,
                              r"the result has shape \(3,\), the target \(2, 3\)"),
    "copy of floats": (lambda x: x.copy_(ts.zeros(2, 3)), TypeError,
                       "the result is float32, the target int64"),
    "copy of a list": (lambda x: x.copy_([[1] * 3] * 2), TypeError, "source must be a tensor"),  # type: ignore[arg-type]
    "fill with a float": (lambda x: x.fill_(0.5), ValueError, "0.5 does not fit int64"),
    "fill with None": (lambda x: x.fill_(None), TypeError, "value must be a number, got NoneType"),  # type: ignore[arg-type]
    "fill with many": (lambda x: x.fill_(ts.ones(2)), ValueError, "item"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_leaves_the_target_unchanged(name: str) -> None:
    write, base, text = FAILURES[name]
    x = ts.arange(6).reshape(2, 3)
    version = x.version
    with pytest.raises(base, match=text) as caught:
        write(x)
    assert isinstance(caught.value, ts.errors.TessellaError)
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]] and x.version == version


def test_a_refused_source_and_its_cure() -> None:
    number: Any = 3
    with pytest.raises(ts.errors.ArgumentError) as error:
        ts.zeros(2).copy_(number)
    assert (
        told(error.value)
        == """\
copy_: source must be a tensor, got int
    x       float32 (2,)
    source  3
  hint: make one with ts.tensor(...)"""
    )


def test_axes_given_one_by_one_are_shown_together() -> None:
    with pytest.raises(ts.errors.ShapeError) as error:
        ts.ones(2, 3, 4).permute(0, 1)
    assert (
        told(error.value)
        == """\
permute: the order names 2 axes, the tensor has 3
    x     float32 (2, 3, 4)
    axes  (0, 1)
  hint: name every axis exactly once"""
    )


# --- copy_ and fill_ ------------------------------------------------------------------------------


@given(st.data())
def test_copy_converts_and_takes_any_strides(data: st.DataObject) -> None:
    target = data.draw(st.sampled_from(["int64", "float32", "float16", "complex64"]))
    source = data.draw(st.sampled_from(["bool", "int8", "uint16"]))
    array = (np.arange(12) % 3).astype(source).reshape(3, 4)
    x = ts.zeros(4, 6, dtype=target)[:, ::2].T
    y = ts.tensor(array)
    assert x.copy_(y.flip(0)) is x
    assert x.tolist() == array[::-1].astype(target).tolist()


def test_copy_and_fill_write_and_count_versions() -> None:
    x = ts.zeros(2, 3)
    before = x.version
    assert x.fill_(2).copy_(x.flip()).fill_(ts.tensor(3.5)).tolist() == [[3.5] * 3] * 2
    assert x.version == before + 3 == x[0].version
    x.T[1].fill_(0)
    assert x.tolist() == [[3.5, 0.0, 3.5]] * 2 and x.version == before + 4


def test_fill_and_clear_have_the_names_of_numpy_and_of_lists() -> None:
    x = ts.zeros(2, 3)
    assert x.T[::-1].fill(2) is not x and x.tolist() == [[2.0] * 3] * 2
    for clear in (ts.Tensor.clear, ts.Tensor.clear_, ts.Tensor.zero_):
        x.fill_(7)
        assert clear(x[:, ::2]).shape == (2, 2) and x.tolist() == [[0.0, 7.0, 0.0]] * 2


def assign(x: ts.Tensor, key: Any, value: ts.Tensor) -> None:
    x[key] = value


@pytest.mark.parametrize(
    "write",
    [
        lambda x, v: x.copy_(v),
        lambda x, v: x.add_(v),
        lambda x, v: writing.iadd(x, v),
        lambda x, v: ts.matmul(v, v, out=x),
        lambda x, v: ts.matmul_into(x, v, x),
        lambda x, v: ts.std(v, axis=0, keepdims=True, out=x[:1]),
        lambda x, v: assign(x, 0, v[0]),
        lambda x, v: assign(x, [0, 1], v),
    ],
)
def test_values_that_are_not_there_are_not_written(write: Callable[..., Any]) -> None:
    x, virtual = ts.zeros(2, 2), _core.empty_virtual((2, 2), ts.float32.id)
    with pytest.raises(ts.errors.IllegalState, match="a virtual tensor has no values"):
        write(x, virtual)
    assert x.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_writes_to_empty_tensors_do_nothing() -> None:
    x = ts.zeros(0, 3)
    x += 1
    x[...] = 5
    x[[]] = 7
    assert x.fill_(1).copy_(ts.ones(0, 3)).shape == (0, 3)


def test_writes_allocate_nothing_but_the_result() -> None:
    x = ts.zeros(1000)
    live = _core.memory_counts()[0]
    x += 1
    x[::2] = 3.0
    x.fill_(4)
    assert _core.memory_counts()[0] == live


@pytest.mark.parametrize("which", [0, 1])
def test_a_product_into_a_tensor_refuses_to_drop_gradients(which: int) -> None:
    out = ts.zeros(2, 2)
    operands = [ts.ones(2, 2), ts.ones(2, 2)]
    operands[which].requires_grad_()
    with pytest.raises(ts.errors.InplaceError, match="a write does not record them"):
        ts.matmul_into(out, *operands)
    assert out.tolist() == [[0.0, 0.0], [0.0, 0.0]]
