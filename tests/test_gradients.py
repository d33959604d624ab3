"""Gradients of every record and composite, through the engine, drawn from what they declare.

First and second order against finite differences in float64 and complex128, over layouts and
shapes; the narrower dtypes against float64; and that a node saves what its rules ask for. No
operation has code of its own here: what cannot be drawn from a declaration is missing in it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessella as ts
from cases import (
    LAYOUTS,
    Array,
    cases_of,
    draw_operands,
    generator,
    map_tensors,
    round_to,
    supports,
    to_array,
    to_tensor,
    to_tensors,
)  # fmt: skip
from conftest import sampled, sampled_each
from leaves import grad_of
from reference import epsilon
from tessella.composites import COMPOSITES
from tessella.declarations import Case, Declared
from tessella.dtypes import DType
from tessella.records import OPS, Op

WIDE = (ts.float64, ts.complex128)
DECLARED: dict[str, Declared] = {
    **{name: op for name, op in OPS.items() if op.is_differentiable},
    **{name: each for name, each in COMPOSITES.items() if each.samples and not each.no_gradient},
}
# A rule takes a few steps, and each rounds; so did the result that it may be given.
NARROW_ULPS = 16
MOST_SHAKES = 16


def label(value: Any) -> str:
    """Name a parameter of a test."""
    return value.name if isinstance(value, DType) else str(value)


def calls_of(op: Declared) -> list[Case]:
    """Give the calls that a declaration says to make."""
    return cases_of(op) if isinstance(op, Op) else list(op.samples)


def has_meaning(op: Declared, case: Case, dtype: DType) -> bool:
    """Tell whether a call is allowed for a dtype, and gives what gradients may flow from."""
    if isinstance(op, Op) and not supports(op, case, dtype):
        return False
    try:
        operands = to_tensors(op, draw_operands(op, case, dtype), dtype)
        return bool(continuous(op.function(*operands, **case.params)))
    except ts.errors.DTypeMismatch:
        return False


def continuous(value: Any) -> list[ts.Tensor]:
    """Give the tensors, in operands or results, that gradients may flow to or from."""
    if isinstance(value, tuple | list):
        return [x for part in value for x in continuous(part)]
    is_tensor = isinstance(value, ts.Tensor)
    return [value] if is_tensor and (value.dtype.is_floating or value.dtype.is_complex) else []


def is_finite(results: list[ts.Tensor]) -> bool:
    """Tell whether all elements are finite."""
    return all(bool(ts.isfinite(x).all()) for x in results)


# --- shapes and layouts --------------------------------------------------------------------------


def emptied(case: Case) -> Case:
    """Give a call on tensors without elements: the first axis of each is empty."""
    return resized(case, lambda shape: (0, *shape[1:]) if shape else shape)


def pointed(case: Case) -> Case:
    """Give a call on tensors without axes."""
    return resized(case, lambda shape: ())


def resized(case: Case, change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Case:
    """Change the shapes of a call."""

    def one(shape: Any) -> Any:
        if isinstance(shape, list):
            return [one(each) for each in shape]
        return change(shape) if isinstance(shape, tuple) else shape

    return Case(*map(one, case.shapes), layouts=case.layouts, **case.params)


def is_allowed(op: Declared, case: Case, dtype: DType) -> bool:
    """Tell whether an operation takes the shapes of a call, and gives numbers: not 0 / 0."""
    try:
        operands = to_tensors(op, draw_operands(op, case, dtype), dtype)
        results = continuous(op.function(*operands, **case.params))
    except (ts.errors.TessellaError, ValueError):
        return False
    return bool(results) and is_finite(results)


def expanded(x: ts.Tensor) -> ts.Tensor:
    """Give the first place along the first axis, which the function repeats with stride 0."""
    return x[:1].clone() if x.ndim and x.shape[0] and continuous(x) else x


def prepare(op: Declared, case: Case, dtype: DType, layout: str) -> tuple[list[Any], Any]:
    """Give operands in a layout, and the function of them.

    A Hermitian matrix moves as one, and rows that share memory move together: the function makes
    the one and the other of what it is given, and lays it out.
    """
    operands = to_tensors(op, draw_operands(op, case, dtype), dtype)
    shapes = map_tensors(lambda x: x.shape, operands)
    is_hermitian = op.matrices in ("hermitian", "definite")
    is_spread = layout == "repeated" and case.layouts == "any"

    def change(x: ts.Tensor, shape: tuple[int, ...], place: int) -> ts.Tensor:
        if place == 0 and is_hermitian and x.shape[-2:-1] == x.shape[-1:]:
            x = (x + ts.conj(x.mT)) / 2
            x = LAYOUTS[layout](x) if layout in LAYOUTS and not is_spread else x
        return ts.broadcast_to(x, shape) if x.shape != shape else x

    def f(*args: Any) -> Any:
        made = [
            [change(x, s, 0) for x, s in zip(arg, shape, strict=True)]
            if isinstance(arg, list)
            else change(arg, shape, i)
            if isinstance(arg, ts.Tensor)
            else arg
            for i, (arg, shape) in enumerate(zip(args, shapes, strict=True))
        ]
        return op.function(*made, **case.params)

    if is_spread:
        rows_count = 2 if op.matrices else 0
        operands = map_tensors(lambda x: expanded(x) if x.ndim > rows_count else x, operands)
    elif layout in LAYOUTS and case.layouts == "any":
        operands = map_tensors(LAYOUTS[layout], operands)
    return operands, f


def check(op: Declared, case: Case, dtype: DType, layout: str) -> None:
    """Check both orders of one call."""
    operands, f = prepare(op, case, dtype, layout)
    if not continuous(operands):
        return
    try:
        ts.testing.check_grads(f, operands)
    except ts.errors.CheckFailed as error:
        pytest.fail(f"{case} {dtype} {layout}\n{error}", pytrace=False)


# --- first and second order ----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", WIDE, ids=label)
@pytest.mark.parametrize("name", DECLARED)
def test_gradients_agree_with_finite_differences(name: str, dtype: DType) -> None:
    op = DECLARED[name]
    for case in calls_of(op):
        if has_meaning(op, case, dtype):
            check(op, case, dtype, "contiguous")


@pytest.mark.parametrize(
    ("name", "layout"),
    sampled_each(DECLARED, ["transposed", "negative", "stepped", "repeated"], 2),
)
def test_gradients_of_other_layouts_agree_with_finite_differences(name: str, layout: str) -> None:
    op = DECLARED[name]
    for case, dtype in sampled(itertools.product(calls_of(op), WIDE), 2):
        is_tied = op.distinct and layout == "repeated"
        if case.layouts == "any" and not is_tied and has_meaning(op, case, dtype):
            check(op, case, dtype, layout)


@pytest.mark.parametrize("change", [emptied, pointed], ids=["empty", "0-d"])
@pytest.mark.parametrize("name", [n for n, op in DECLARED.items() if op.is_function])
def test_gradients_of_the_least_shapes_agree_with_finite_differences(
    name: str, change: Any
) -> None:
    op = DECLARED[name]
    for original in sampled(calls_of(op), 3):
        case = change(original)
        for dtype in WIDE:
            if has_meaning(op, original, dtype) and is_allowed(op, case, dtype):
                check(op, case, dtype, "contiguous")


# --- narrower dtypes -----------------------------------------------------------------------------


def widened(value: Any) -> Any:
    """Give the same numbers in float64 or complex128."""
    return map_tensors(
        lambda x: x.astype(ts.complex128 if x.dtype.is_complex else ts.float64)
        if continuous(x) else x, value,
    )  # fmt: skip


def shaken(value: Any, dtype: DType, rng: np.random.Generator) -> Any:
    """Give numbers that a dtype would not tell from the given ones."""
    return map_tensors(
        lambda x: x * to_tensor(1 + epsilon(dtype) * rng.uniform(-1, 1, x.shape), x.dtype)
        if continuous(x) else x, value,
    )  # fmt: skip


def gradients(op: Declared, case: Case, operands: list[Any], weights: list[Array]) -> list[Array]:
    """Give the gradients of the operands for cotangents of the results."""
    leaves = map_tensors(lambda x: x.detach().requires_grad_() if continuous(x) else x, operands)
    outs = continuous(op.function(*leaves, **case.params))
    pairs = [(x, to_tensor(g, x.dtype)) for x, g in zip(outs, weights, strict=True)
             if x.requires_grad]  # fmt: skip
    inputs = continuous(leaves)
    if not pairs:
        return [np.zeros(x.shape) for x in inputs]
    found = ts.autograd.grad(
        [x for x, _ in pairs], inputs, [g for _, g in pairs], materialize_grads=True
    )
    for g, x in zip(found, inputs, strict=True):
        assert (g.shape, g.dtype) == (x.shape, x.dtype), case
    return [to_array(g) for g in found]


def grown(weights: Array, sums: int) -> float:
    """Give the size of the largest weight, or of random weights added up to so many sums."""
    added = np.linalg.norm(weights) / max(sums, 1) ** 0.5
    return float(max(np.abs(weights).max(initial=0), added))


def units(off: Array, size: float, dtype: DType) -> float:
    """Give the largest difference, in units in the last place of a size."""
    return float(np.abs(off).max(initial=0) / size / epsilon(dtype))


@pytest.mark.parametrize(
    ("name", "dtype"),
    sampled_each(DECLARED, [ts.float32, ts.float16, ts.bfloat16, ts.complex64], 2),
    ids=label,
)
def test_gradients_of_narrow_dtypes_are_those_of_wide_ones_rounded(name: str, dtype: DType) -> None:
    op = DECLARED[name]
    for case in calls_of(op):
        if not has_meaning(op, case, dtype):
            continue
        operands = to_tensors(op, draw_operands(op, case, dtype), dtype)
        results = continuous(op.function(*operands, **case.params))
        if not is_finite(results):  # the dtype ends before the function does
            continue
        rng = generator(name, case, dtype)
        weights = [round_to(rng.standard_normal(x.shape), x.dtype) for x in results]
        narrow = gradients(op, case, operands, weights)
        wide = gradients(op, case, widened(operands), weights)
        for i, (got, want) in enumerate(zip(narrow, wide, strict=True)):
            size = max(np.abs(want).max(initial=0), *(grown(g, got.size) for g in weights)) or 1
            off, most = units(got - want, size, dtype), float(NARROW_ULPS)
            # Eigenvalues that nearly meet, operands near where a slope jumps: what the dtype would
            # not tell from them moves the gradient far.
            for _ in range(MOST_SHAKES if off > most else 0):
                moved = gradients(op, case, shaken(widened(operands), dtype, rng), weights)
                most = max(most, NARROW_ULPS * units(moved[i] - want, size, dtype))
            assert off <= most, f"{case}: off by {off:.3g} units of the largest gradient"


# --- what is saved, and what has no gradient -----------------------------------------------------


def asked_by(op: Op, places: set[int]) -> set[str]:
    """Give the names that the rules of some operands ask for."""
    found: set[str] = set()
    for i, rule in enumerate(op.vjp):
        if rule is not None and (i in places or len(op.vjp) == 1):
            code = rule.__code__
            found |= {*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]}
    return found


def check_saved(op: Op, case: Case, operands: list[Any], places: set[int]) -> None:
    """Compare what a node holds with the rules of the operands that ask for gradients."""
    leaves = [
        map_tensors(lambda x: x.detach().requires_grad_(), x) if i in places else x
        for i, x in enumerate(operands)
    ]
    node = op.function(*leaves, **case.params).grad_fn
    if node is None or node.function is not op.function:  # a constant; or made of others
        return
    *saved, out = node.saved
    asked = asked_by(op, places)
    for name, x, value in zip(op.operands, operands, saved, strict=False):
        if isinstance(x, ts.Tensor):
            assert (value is not None) == (name in asked), (case, places, name)
    assert (out is not None) == ("out" in asked), (case, places)


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if op.is_differentiable])
def test_a_node_saves_what_the_rules_of_its_leaves_ask_for(name: str) -> None:
    op = OPS[name]
    for case, dtype in itertools.product(cases_of(op), WIDE):
        if not has_meaning(op, case, dtype):
            continue
        operands = to_tensors(op, draw_operands(op, case, dtype), dtype)
        places = {i for i, x in enumerate(operands) if continuous(x)}
        for chosen in [places, *({i} for i in places)]:
            check_saved(op, case, operands, chosen)


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if not op.is_differentiable])
def test_a_record_without_a_vjp_is_not_continuous_or_says_why(name: str) -> None:
    op = OPS[name]
    for case, dtype in itertools.product(cases_of(op), WIDE):
        if has_meaning(op, case, dtype):
            assert op.no_gradient, "it needs a vjp, or no_gradient= with why"


@pytest.mark.parametrize("name", [e.name for e in [*OPS.values(), *COMPOSITES.values()]
                                  if e.no_gradient])  # fmt: skip
def test_what_has_no_gradient_gives_constants(name: str) -> None:
    op: Declared = OPS[name] if name in OPS else COMPOSITES[name]
    for case in calls_of(op):
        operands = to_tensors(op, draw_operands(op, case, ts.float64), ts.float64)
        leaves = map_tensors(lambda x: x.requires_grad_() if continuous(x) else x, operands)
        assert not any(x.requires_grad for x in continuous(op.function(*leaves, **case.params)))


@pytest.mark.parametrize("zeros", [(), (0,), (2,), (4,), (1, 3), (0, 1, 2, 3, 4)], ids=str)
@pytest.mark.parametrize("dtype", WIDE, ids=label)
def test_slope_of_running_products_is_right_at_zeros(zeros: tuple[int, ...], dtype: DType) -> None:
    rng = generator("cumulative_prod", zeros, dtype)
    x, g = (rng.standard_normal((3, 5)) + (1j if dtype.is_complex else 0) for _ in range(2))
    x[:, list(zeros)] = 0
    want = np.zeros_like(x)
    for k, i in itertools.product(range(5), repeat=2):  # the products that x[k] is a factor of
        if i >= k:
            others = np.prod(np.delete(x[:, : i + 1], k, axis=1), axis=1)
            want[:, k] += g[:, i] * np.conj(others)
    leaf = to_tensor(x, dtype).requires_grad_()
    ts.cumulative_prod(leaf, axis=1).backward(to_tensor(g, dtype))
    np.testing.assert_allclose(to_array(grad_of(leaf)), want, rtol=1e-12, atol=1e-14)


def test_long_running_products_have_their_slopes() -> None:
    x = generator("long").uniform(0.9, 1.1, 1000)
    leaf = ts.from_numpy(x).requires_grad_()
    ts.cumulative_prod(leaf).sum().backward()
    tails = np.cumsum(np.cumprod(x)[::-1])[::-1]
    np.testing.assert_allclose(to_array(grad_of(leaf)), tails / x, rtol=1e-11)
