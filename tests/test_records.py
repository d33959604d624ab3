"""Tests that every record of the table must pass, drawn from what the record says.

No operation has code of its own here, and none is left out: what cannot be drawn from a record is
missing in the record. The drawing stands in cases.py, the comparison with NumPy in reference.py.
"""

from __future__ import annotations

import itertools
import re
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

import tessella as ts
from cases import (
    LAYOUTS,
    cases_for,
    cases_of,
    draw_operands,
    dtypes_of,
    fast_path_off,
    generator,
    grown,
    held_as,
    lay_out,
    map_tensors,
    round_to,
    to_array,
    to_tensors,
    virtual_operands,
)  # fmt: skip
from conftest import sampled
from reference import assert_same_tensors, check_result
from tessella import _core
from tessella.declarations import Case
from tessella.dtypes import DTYPES, DType
from tessella.kinds import Elementwise
from tessella.records import OPS, Op
from tessella.spellings import ABSENT

NAMES = list(OPS)


def pairs(k: int) -> list[tuple[str, DType]]:
    """Give operations with the dtypes they have a meaning for: k of each, or all."""
    return [(name, d) for name in NAMES for d in sampled(dtypes_of(OPS[name]), k)]


def label(value: Any) -> str:
    """Name a parameter of a test."""
    return value.name if isinstance(value, DType) else str(value)


def prepared(op: Op, case: Case, dtype: DType) -> list[Any]:
    """Give the operands of a call as tensors."""
    return to_tensors(op, draw_operands(op, case, dtype), dtype)


# --- the record itself ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_record_has_a_reference_and_cases(name: str) -> None:
    op = OPS[name]
    assert bool(op.ref) != bool(op.tested), "nothing to compare with"
    assert cases_of(op), "no samples"
    assert dtypes_of(op)


@pytest.mark.parametrize("name", NAMES)
def test_function_and_method_are_one_documented_object(name: str) -> None:
    op = OPS[name]
    for each in (name, *op.aliases):
        if op.is_function:
            assert attrgetter(each)(ts) is op.function
        if op.is_method and f"x.{each}" not in ABSENT:
            assert ts.Tensor.__dict__[each] is op.function
    assert op.function.__name__ == name
    assert op.function.__text_signature__ == op.signature()
    assert op.doc.strip() and op.doc in (op.function.__doc__ or "")
    assert all(word in op.signature() for word in (*op.operands, *op.params))


# --- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "dtype"), pairs(len(DTYPES)), ids=label)
def test_forward_equals_the_reference(name: str, dtype: DType) -> None:
    op = OPS[name]
    for case in cases_for(op, dtype):
        operands = draw_operands(op, case, dtype)
        got = op.function(*to_tensors(op, operands, dtype), **case.params)
        shape, kind = op.infer(
            *op.prepare(*op.bind(tuple(virtual_operands(op, case, dtype)), dict(case.params)))
        )
        assert (got.shape, got.dtype) == (tuple(shape), kind), case
        if op.ref:
            check_result(op, got, operands, case, dtype)


@pytest.mark.parametrize("name", NAMES)
def test_dtype_without_a_meaning_is_refused(name: str) -> None:
    op = OPS[name]
    case = cases_of(op)[0]
    for dtype in set(DTYPES) - set(dtypes_of(op)):
        with pytest.raises(ts.errors.DTypeMismatch, match=f"^{op.title}: "):
            op.function(*prepared(op, case, dtype), **case.params)


def special_values(dtype: DType) -> list[Any]:
    """Give zeros, the least and greatest, NaN, infinities, and numbers where functions turn."""
    if dtype is ts.bool:
        return [False, True]
    if dtype.is_integer:
        low, high, width = int(dtype.lowest), int(dtype.highest), 8 * dtype.itemsize
        wanted = (-width, -2, -1, 0, 1, 2, 3, 7, width - 1, width, width + 1)
        return [low, low + 1, *(n for n in wanted if low + 1 < n < high - 1), high - 1, high]
    limits = np.finfo(held_as(dtype))
    least = float(limits.smallest_subnormal) * (2.0**16 if dtype is ts.bfloat16 else 1)
    greatest = float(round_to(np.array(float(limits.max) * (1 - 2.0**-9)), dtype))
    sizes = [0.0, least, 3 * least, float(limits.tiny), 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 100.0,
             1000.0, greatest, np.inf]  # fmt: skip
    return [np.nan, *sizes, *(-x for x in sizes)]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, dtype) for name in NAMES if isinstance(OPS[name], Elementwise)
     for dtype in dtypes_of(OPS[name]) if not dtype.is_complex],
    ids=label,
)  # fmt: skip
def test_special_values_equal_the_reference(name: str, dtype: DType) -> None:
    op = OPS[name]
    places = [i for i, operand in enumerate(op.operands) if operand != "condition"]
    grid = list(itertools.product(special_values(dtype), repeat=min(2, len(places))))
    columns = [
        np.array([row[min(k, len(row) - 1)] for row in grid], held_as(dtype))
        for k in range(len(places))
    ]
    operands: list[Any] = list(columns)
    if len(places) < len(op.operands):
        operands.insert(0, generator(name, dtype).integers(0, 2, len(grid)).astype(bool))
    got = op.function(*to_tensors(op, operands, dtype))
    check_result(op, got, operands, Case(*[(1,)] * len(operands)), dtype)


@pytest.mark.parametrize(
    "name", [n for n in NAMES if isinstance(OPS[n], Elementwise) and len(OPS[n].operands) == 2]
)
def test_operands_of_two_dtypes_are_promoted_first(name: str) -> None:
    op = OPS[name]
    dtypes = dtypes_of(op)
    for x_dtype, y_dtype in sampled(itertools.product(dtypes, dtypes), 12):
        try:
            joint = ts.dtypes.promote(x_dtype, y_dtype)
        except ts.errors.DTypeMismatch:
            continue
        case = Case((3, 4), (3, 4))
        x, y = prepared(op, case, x_dtype)[0], prepared(op, case, y_dtype)[1]
        if joint in dtypes:
            assert_same_tensors(op.function(x, y), op.function(x.astype(joint), y.astype(joint)))


# --- the same bits -------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("name", "dtype"), pairs(4), ids=label)
def test_layouts_give_the_same_bits(name: str, dtype: DType, layout: str) -> None:
    op = OPS[name]
    for case in cases_for(op, dtype):
        if case.layouts == "contiguous":
            continue
        strided = lay_out(op, layout, prepared(op, case, dtype))
        plain = map_tensors(lambda x: x.clone(), strided)
        assert_same_tensors(
            op.function(*strided, **case.params), op.function(*plain, **case.params)
        )


@pytest.mark.parametrize("name", NAMES)
def test_threads_give_the_same_bits(name: str) -> None:
    op = OPS[name]
    dtype = sampled(dtypes_of(op), 1)[0]
    if isinstance(op, Elementwise):
        chosen = [Case(*[(601, 503)] * len(op.operands))]
    else:
        chosen = [grown(op, case) for case in sampled(cases_for(op, dtype), 3)]
    for case in chosen:
        operands = prepared(op, case, dtype)
        results = []
        for count in (1, 2, 3, 8):
            with ts.num_threads(count):
                results.append(op.function(*operands, **case.params))
        for other in results[1:]:
            assert_same_tensors(results[0], other)


def recorded(node: Any) -> Any:
    """Give what a node holds, in a form that compares; nodes before it too."""
    if node is None:
        return None
    inputs = [
        recorded(each) if isinstance(each, _core.Node) else plain(each) for each in node.inputs
    ]
    return node.function, plain(node.params), inputs, plain(node.saved), node.input_shapes


def plain(value: Any) -> Any:
    """Give a parameter in a form that compares: tensors by their values."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return map_tensors(lambda x: (x.dtype, x.shape, x.requires_grad, to_array(x).tobytes()), value)


@pytest.mark.parametrize(("name", "dtype"), pairs(8), ids=label)
def test_fast_path_and_record_agree(name: str, dtype: DType) -> None:
    op = OPS[name]
    for case in cases_for(op, dtype):
        operands = prepared(op, case, dtype)
        if dtype.is_floating or dtype.is_complex:
            operands = map_tensors(
                lambda x: x.requires_grad_() if x.dtype.is_floating or x.dtype.is_complex else x,
                operands,
            )
        fast = op.function(*operands, **case.params)
        with fast_path_off():
            slow = op.function(*operands, **case.params)
        assert_same_tensors(fast, slow)
        assert (fast.strides, fast.offset) == (slow.strides, slow.offset), case
        assert fast.requires_grad == slow.requires_grad
        assert recorded(fast.grad_fn) == recorded(slow.grad_fn), case


# --- errors --------------------------------------------------------------------------------------


def error_cases() -> list[tuple[str, Case]]:
    """Give the records' error cases, and those that every elementwise operation shares."""
    found = [(name, case) for name in NAMES for case in OPS[name].errors]
    for name in NAMES:
        op = OPS[name]
        shapes = [(2, 3)] * (len(op.operands) - 1)
        if isinstance(op, Elementwise) and shapes:
            dtype = dtypes_of(op)[0].name
            found.append((name, Case(*shapes, (4,), dtype=dtype, match="do not broadcast")))
    return found


def error_of(op: Op, case: Case, operands: list[Any]) -> ts.errors.TessellaError:
    """Make a call that must fail."""
    with pytest.raises(ts.errors.TessellaError) as caught:
        op.function(*operands, **case.params)
    return caught.value


@pytest.mark.parametrize(("name", "case"), error_cases())
def test_error_names_the_operation_the_place_and_the_cure(name: str, case: Case) -> None:
    op = OPS[name]
    operands = prepared(op, case, ts.dtypes.BY_NAME[case.dtype])
    fast = error_of(op, case, operands)
    with fast_path_off():
        slow = error_of(op, case, operands)
    first, *rest = str(fast).splitlines()
    assert first.startswith(f"{op.title}: ")
    assert re.search(case.match, first)
    assert any(line.startswith("  hint: ") and len(line) > 12 for line in rest)
    assert any(line.startswith("  at test_records.py:") for line in rest)
    assert any(line.startswith("    ") for line in rest), "no operands are shown"
    assert (type(fast), str(fast)) == (type(slow), str(slow))


@pytest.mark.parametrize(
    "wrong", [None, "text", object(), [[1.0]]], ids=["None", "str", "object", "list"]
)
@pytest.mark.parametrize("name", NAMES)
def test_operand_of_a_wrong_type_is_refused(name: str, wrong: Any) -> None:
    op = OPS[name]
    case = cases_of(op)[0]
    operands = prepared(op, case, dtypes_of(op)[0])
    error = error_of(op, case, [wrong, *operands[1:]])
    assert isinstance(error, ts.errors.ArgumentError)
    assert str(error).startswith(f"{op.title}: ") and "  at test_records.py:" in str(error)


# --- virtual operands ----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "dtype"), pairs(6), ids=label)
def test_virtual_operands_give_shape_and_dtype_without_memory(name: str, dtype: DType) -> None:
    op = OPS[name]
    empty = _core.memory_counts()[0]
    huge = _core.empty_virtual((1 << 40,), dtype.id)
    header = _core.memory_counts()[0] - empty  # what knows the size of a buffer, not its data
    assert huge.is_virtual and header < 1000
    for case in cases_for(op, dtype):
        real = op.function(*prepared(op, case, dtype), **case.params)
        operands = virtual_operands(op, case, dtype)
        before = _core.memory_counts()[0]
        out = op.function(*operands, **case.params)
        assert out.is_virtual
        assert (out.shape, out.dtype) == (real.shape, real.dtype)
        assert _core.memory_counts()[0] - before <= header, case
        del out
        assert _core.memory_counts()[0] == before, case
