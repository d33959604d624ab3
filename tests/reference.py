"""What an operation must give: its NumPy reference, and how near a result must be to it.

References of floats are computed in a wider dtype and rounded, so that NumPy's own errors are not
ours; those of records that allow no error are computed in the dtype itself.
"""

from __future__ import annotations

import inspect
from operator import attrgetter
from typing import Any

import numpy as np

import tessella as ts
from cases import Array, held_as, is_condition, map_tensors, round_to, to_array, virtual_operands
from tessella.declarations import Case, Declared
from tessella.dtypes import DType
from tessella.fusions import Fused
from tessella.host import Host
from tessella.kinds import Elementwise
from tessella.records import Op

WIDER = {
    "float16": "float64", "bfloat16": "float64", "float32": "float64", "float64": "longdouble",
    "complex64": "complex128", "complex128": "clongdouble",
}  # fmt: skip
# Sums and products of n terms: each step rounds, and n roundings walk as far as sqrt(n). The error
# grows with the size of the terms, not of the result.
SUM_ULPS = 16
COMPLEX_ULPS = 6


def expected(
    op: Declared, operands: list[Any], params: dict[str, Any], inside: DType | None = None
) -> Any:
    """Call the reference on arrays; one may ask for `inside`, the dtype that they stand for."""
    function = attrgetter(op.ref)(np) if isinstance(op.ref, str) else op.ref
    params = {name: map_tensors(to_array, value) for name, value in params.items()}
    operands = [map_tensors(to_array, value) for value in operands]
    if not isinstance(op.ref, str) and "inside" in inspect.signature(op.ref).parameters:
        params["inside"] = inside
    with np.errstate(all="ignore"):
        if not isinstance(op.ref, str):
            return function(np, *operands, **params)
        if isinstance(function, np.ufunc) or not params:
            return function(*operands)
        names = list(inspect.signature(function).parameters)[len(operands) :]
        if set(params) <= set(names):
            return function(*operands, **params)
        return function(*operands, *params.values())  # NumPy calls them otherwise


def computed_in(op: Op, case: Case, dtype: DType) -> DType:
    """Give the dtype that the operands of a call are converted to."""
    operands = tuple(virtual_operands(op, case, dtype))
    inputs, _ = op.prepare(*op.bind(operands, dict(case.params)))
    # What a case holds as it is, such as classes, has a dtype of its own.
    drawn = [x for x, of in zip(inputs, case.shapes, strict=False) if not isinstance(of, ts.Tensor)]
    found: DType = [x for x in drawn if isinstance(x, ts.Tensor)][-1].dtype
    return found


def convert(op: Declared, operands: list[Any], name: str) -> list[Any]:
    """Convert arrays and numbers to a dtype; a condition stays bool."""

    def one(x: Any) -> Any:
        if isinstance(x, list):
            return [one(each) for each in x]
        is_value = isinstance(x, np.ndarray | int | float | complex)
        return np.asarray(x).astype(name) if is_value else x

    return [x if is_condition(op, i) else one(x) for i, x in enumerate(operands)]


def check_result(op: Op, got: ts.Tensor, operands: list[Any], case: Case, dtype: DType) -> None:
    """Compare a result with the reference."""
    inside = computed_in(op, case, dtype)
    own = held_as(inside)
    wide = WIDER.get(inside.name, own)
    # NumPy's complex arithmetic is not correctly rounded; what only moves numbers is exact.
    is_rounded = inside.is_complex and isinstance(op, Elementwise)
    is_exact = (op.ulps == 0 and not is_rounded) or not (
        got.dtype.is_floating or got.dtype.is_complex
    )
    operands = convert(op, operands, own)
    if not is_exact:
        operands = convert(op, operands, wide)
    want = np.asarray(expected(op, operands, case.params, inside))
    assert got.shape == want.shape
    if is_exact:
        assert_same(to_array(got), round_to(want, got.dtype))
        return
    scale = np.zeros(want.shape)
    if not isinstance(op, Elementwise):
        sizes = [np.abs(x) if isinstance(x, np.ndarray) else x for x in operands]
        terms = max(x.size for x in sizes if isinstance(x, np.ndarray | np.generic)) / max(
            1, want.size
        )
        scale = np.abs(expected(op, sizes, case.params)) + np.abs(want)
        # Where an element comes of many, by parts that may cancel, the error is of the largest.
        if isinstance(op, Host | Fused) or op.matrices:
            scale = np.full(want.shape, scale.max(initial=0))
        scale = scale * (SUM_ULPS + np.sqrt(terms))
    # Halves compute in float32 and round once: what float32 is off by rarely moves the rounding.
    ulps = 1 if got.dtype.itemsize == 2 else op.ulps or COMPLEX_ULPS
    if got.dtype.is_complex:  # a quotient or product of four functions, each rounded
        ulps = max(ulps, COMPLEX_ULPS)
    if op.rounds_inside:  # the sum of rounded parts is off by units of those, which may cancel
        scale = scale * max(1, epsilon(got.dtype) / epsilon(ts.float32))
    assert_near(to_array(got), want, got.dtype, ulps, scale)


def assert_same(found: Array, want: Array) -> None:
    """Every bit agrees; NaN equals NaN."""
    assert found.dtype == want.dtype
    assert found.shape == want.shape
    if found.dtype.kind == "c":
        found, want = (np.stack([x.real, x.imag]) for x in (found, want))
    equal = found == want
    if found.dtype.kind == "f":
        equal = (equal & (np.signbit(found) == np.signbit(want))) | (
            np.isnan(found) & np.isnan(want)
        )
    assert equal.all(), first_difference(found, want, ~equal)


def assert_near(found: Array, want: Array, dtype: DType, ulps: int, scale: Array) -> None:
    """Within some units in the last place of the result; half a unit is the rounding."""
    rounded = round_to(want, dtype)
    with np.errstate(all="ignore"):
        # A complex result is near in the plane: its parts can cancel, |z| does not.
        unit = spacing(np.abs(rounded), dtype)
        allowed = (ulps + 0.5) * unit + scale * min(epsilon(dtype), epsilon(ts.float32))
        near = np.abs(found.astype(want.dtype) - want) <= allowed
        equal = (found == rounded) | (np.isnan(found) & np.isnan(rounded))
        zeros = (rounded == 0) & (found == 0)
        signs = np.signbit(found.real) == np.signbit(rounded.real)
    ok = np.where(zeros & (scale == 0), signs | (dtype.is_complex), equal | near)
    assert ok.all(), first_difference(found, rounded, ~ok)


def epsilon(dtype: DType) -> float:
    """Give the distance from 1 to the next number."""
    return 2.0**-7 if dtype is ts.bfloat16 else float(np.finfo(dtype.name).eps)


def spacing(x: Array, dtype: DType) -> Array:
    """Give the unit in the last place at x."""
    unit = np.spacing(x)
    return np.asarray(unit * 2.0**16 if dtype is ts.bfloat16 else unit)


def first_difference(found: Array, want: Array, wrong: Array) -> str:
    """Show where two arrays differ first."""
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {wrong.size} differ; at {at}: {found[at]!r}, want {want[at]!r}"


def assert_same_tensors(x: ts.Tensor, y: ts.Tensor) -> None:
    """Compare dtype, shape and every bit."""
    assert x.dtype is y.dtype
    assert x.shape == y.shape
    assert_same(to_array(x), to_array(y))
