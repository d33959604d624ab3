"""The rules of gradients of every record, and what they come to in every composite.

Each is compared with finite differences along one direction. The rules are called directly, with
what the node saved; the engine that drives them is tested elsewhere.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tessella as ts
from cases import (
    cases_of,
    draw_operands,
    generator,
    hermitian,
    round_to,
    supports,
    to_array,
    to_tensor,
    to_tensors,
)
from reference import epsilon
from tessella import _core
from tessella.composites import COMPOSITES
from tessella.declarations import Case, Declared
from tessella.dtypes import DType
from tessella.records import OPS, Op

SAVES_OUTPUT = 1 << 63
BEND = 100
CURVED = 1e-6  # for the third derivatives within the domains


def named(op: Op, node: Any) -> dict[str, Any]:
    """Give the values that a node's rules may ask for, by name; check that no others are saved."""
    *saved, out = node.saved
    wanted = [bool(op.saves >> i & 1) for i in range(len(op.operands))]
    if len(saved) == len(wanted):
        assert [value is not None for value in saved] == wanted
    assert (out is not None) == bool(op.saves & SAVES_OUTPUT)
    values = dict(zip(op.operands, saved, strict=False))
    shapes = {f"{x}_shape": s for x, s in zip(op.operands, node.input_shapes, strict=False)}
    dtypes = {f"{x}_dtype": d for x, d in zip(op.operands, node.input_dtypes, strict=False)}
    known = {**shapes, **dtypes, "x_shapes": node.input_shapes}
    return {**values, **known, "out": out, **(node.params or {})}


def pull_back(node: Any, g: ts.Tensor, found: dict[int, ts.Tensor]) -> None:
    """Apply the rules of a node, and of those before it, and add what reaches the leaves."""
    op = node.function.record
    values = {**named(op, node), "g": g}
    parts: list[Any] = []
    is_listed = len(op.vjp) < len(node.inputs)  # one rule gives the gradients of a list
    for rule, place in zip(op.vjp, node.inputs, strict=False):
        if rule is None or (place is None and not is_listed):
            parts.append(None)
            continue
        code = rule.__code__
        asked = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        part = rule(**{name: values[name] for name in asked})
        parts += part if isinstance(part, list) else [part]
    for part, place, shape in zip(parts, node.inputs, node.input_shapes, strict=True):
        if part is None or place is None:
            continue
        part = ts.sum_to_shape(part, shape)
        if isinstance(place, _core.Node):
            pull_back(place, part, found)
        else:
            assert part.dtype is place.dtype
            found[id(place)] = found[id(place)] + part if id(place) in found else part


def inner(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> float:
    """Give the real inner product."""
    return float(np.sum((np.conj(x) * y).real))


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if op.is_differentiable])
def test_rules_agree_with_finite_differences(name: str) -> None:
    op = OPS[name]
    for case in cases_of(op):
        dtype = ts.float64 if supports(op, case, ts.float64) else ts.complex128
        check_direction(op, case, dtype)


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if not op.is_differentiable])
def test_a_record_without_a_vjp_is_not_continuous_or_says_why(name: str) -> None:
    op = OPS[name]
    for case in cases_of(op):
        for dtype in (ts.float64, ts.complex128):
            if supports(op, case, dtype):
                operands = to_tensors(op, draw_operands(op, case, dtype), dtype)
                results = parts_of(op.function(*operands, **case.params))
                assert not results or op.no_gradient, "it needs a vjp, or no_gradient= with why"


@pytest.mark.parametrize("name", [name for name, each in COMPOSITES.items() if each.samples])
def test_composites_pass_gradients_on(name: str) -> None:
    each = COMPOSITES[name]
    for case in each.samples:
        for dtype in (ts.float64, ts.complex128):
            try:
                each.function(*to_tensors(each, draw_operands(each, case, dtype), dtype),
                              **case.params)  # fmt: skip
            except ts.errors.DTypeMismatch:
                continue
            check_direction(each, case, dtype)


def draw_direction(op: Declared, i: int, x: Any, rng: np.random.Generator) -> Any:
    """Draw a direction in which an operand moves, or None where gradients do not flow to it."""
    if not is_continuous(x):
        return None
    v = rng.standard_normal(x.shape)
    v = v + 1j * rng.standard_normal(x.shape) if x.dtype.kind == "c" else v
    return hermitian(op, v) if i == 0 else v


def parts_of(result: Any) -> list[ts.Tensor]:
    """Give the tensors of a result that gradients may flow from."""
    parts = result if isinstance(result, tuple | list) else [result]
    tensors = [x for x in parts if isinstance(x, ts.Tensor)]
    return [x for x in tensors if x.dtype.is_floating or x.dtype.is_complex]


def check_direction(op: Declared, case: Case, dtype: DType) -> None:
    """Compare <g, J v> by central differences with <vjp(g), v>, for one direction v."""
    rng = generator(op.name, case)
    drawn = draw_operands(op, case, dtype)
    listed = bool(drawn) and isinstance(drawn[0], list)
    arrays = drawn[0] if listed else drawn
    v = [draw_direction(op, i, x, rng) for i, x in enumerate(arrays)]

    def call(leaves: list[Any]) -> list[ts.Tensor]:
        return parts_of(op.function(*([leaves] if listed else leaves), **case.params))

    def moved(h: float) -> list[Any]:
        shifted = [
            x if d is None else np.asarray(x + h * d) for x, d in zip(arrays, v, strict=True)
        ]
        return [to_array(x) for x in call(to_tensors(op, shifted, dtype))]

    leaves = [x.requires_grad_() if is_continuous(a) else x
              for x, a in zip(to_tensors(op, arrays, dtype), arrays, strict=True)]  # fmt: skip
    results = call(leaves)
    # The step that balances rounding, eps / h, against the third derivative, h ** 2.
    h = max((epsilon(out.dtype) for out in results), default=0.0) ** (1 / 3)
    for out, *values in zip(results, moved(-h), moved(0.0), moved(h), strict=True):
        if not any(out is x for x in leaves):
            check_part(out, values, leaves, v, h, rng, case)


def check_part(
    out: ts.Tensor, values: list[Any], leaves: list[Any], v: list[Any], h: float,
    rng: np.random.Generator, case: Case,
) -> None:  # fmt: skip
    """Compare the gradients of one result with its values before, at and after the operands."""
    before, here, after = values
    slope = (after - before) / (2 * h)
    bend = np.abs(after - 2 * here + before) / h
    g = round_to(rng.standard_normal(out.shape), out.dtype)
    # No weight where the step crossed a jump or a kink: a smooth bend is of the size of h.
    g = np.where(bend > BEND * h * (1 + np.abs(slope)), 0, g)
    found: dict[int, ts.Tensor] = {}
    if out.grad_fn is not None:  # else it is a constant
        pull_back(out.grad_fn, to_tensor(g, out.dtype), found)
    pairs = [(to_array(found[id(x)]), d) for x, d in zip(leaves, v, strict=True) if id(x) in found]
    size = 1 + sum(np.abs(x * d).sum() for x, d in pairs)
    want, given = inner(g, slope), sum(inner(x, d) for x, d in pairs)
    assert abs(want - given) <= (10 * h**2 + CURVED) * size, (
        f"{case}: along a random direction the vjp gives {given:.6g}, finite differences {want:.6g}"
    )


def is_continuous(x: Any) -> bool:
    """Tell whether an operand is one that gradients flow to."""
    return isinstance(x, np.ndarray) and x.dtype.kind in "fc"


@pytest.mark.parametrize("zeros", [(), (0,), (2,), (4,), (1, 3), (0, 1, 2, 3, 4)], ids=str)
@pytest.mark.parametrize("dtype", [ts.float64, ts.complex128], ids=str)
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
    found: dict[int, ts.Tensor] = {}
    pull_back(ts.cumulative_prod(leaf, axis=1).grad_fn, to_tensor(g, dtype), found)
    np.testing.assert_allclose(to_array(found[id(leaf)]), want, rtol=1e-12, atol=1e-14)


def test_long_running_products_have_their_slopes() -> None:
    x = generator("long").uniform(0.9, 1.1, 1000)
    leaf = ts.from_numpy(x).requires_grad_()
    found: dict[int, ts.Tensor] = {}
    out = ts.cumulative_prod(leaf)
    pull_back(out.grad_fn, ts.ones_like(out.detach()), found)
    tails = np.cumsum(np.cumprod(x)[::-1])[::-1]
    np.testing.assert_allclose(to_array(found[id(leaf)]), tails / x, rtol=1e-11)
