"""The fast path of what writes into tensors: x += y, x.add_(y), add(x, y, out=z).

Each call is made twice on equal tensors, with the fast path open and closed, and must leave the
same bits, the same versions, or the same error behind.
"""

from __future__ import annotations

import operator as operators
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts
from tessella import _core
from tessella.dtypes import DTYPES, DType
from tessella.kinds import Elementwise
from tessella.records import OPS

NAMES = [name for name, op in OPS.items() if isinstance(op, Elementwise)]
NAMES += ["matmul"] * 20  # as it is one name among many
OPERATE: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operators, name)
    for name in ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior",
                 "ixor", "ilshift", "irshift")
}  # fmt: skip


@pytest.fixture(autouse=True)
def open_fast_path() -> Iterator[None]:
    """Leave the fast path open, whatever a test did."""
    yield
    _core.set_modes(0)


# What a tensor is of one base of 24 elements: plain, other places of the same memory, other memory.
LAYOUTS: dict[str, Callable[[ts.Tensor, ts.Tensor], ts.Tensor]] = {
    "base": lambda base, other: base,
    "head": lambda base, other: base[:2],
    "tail": lambda base, other: base[2:],
    "row": lambda base, other: base[:1],
    "turned": lambda base, other: base.T,
    "steps": lambda base, other: base[::2],
    "back": lambda base, other: base[::-1],
    "other": lambda base, other: other,
    "other row": lambda base, other: other[0],
    "other column": lambda base, other: other[:, :1],
    "other turned": lambda base, other: other.T,
    "view": lambda base, other: base.reshape(4, 6),
    "square": lambda base, other: base.ravel()[:16].reshape(4, 4),
    "other square": lambda base, other: other.ravel()[8:].reshape(4, 4),
    "one": lambda base, other: other[1, 2],
}


def base_of(dtype: DType, seed: int) -> ts.Tensor:
    """Give 4 x 6 small numbers that are the same for the same seed."""
    drawn = np.random.default_rng(seed).integers(0, 5, (4, 6))
    return ts.from_numpy(drawn).astype(dtype)


def outcome(write: Callable[[ts.Tensor, ts.Tensor], Any], dtype: DType, other: DType) -> Any:
    """Give what a write leaves behind: bits, versions, identity of the result, or the error."""
    base, second = base_of(dtype, 1), base_of(other, 2)
    try:
        is_target = write(base, second)
    except ts.errors.TessellaError as error:
        is_target = f"{type(error).__name__}: {str(error).partition('  at ')[0]}"
    bits = [bytes(memoryview(x.view(ts.uint8))) for x in (base, second)]
    return is_target, bits, base.version, second.version


def check_both(
    write: Callable[[ts.Tensor, ts.Tensor], Any], dtype: DType, other: DType
) -> tuple[int, int]:
    """Compare the paths; give how often the fast one was taken and declined."""
    before = _core.fast_path_counts()
    fast = outcome(write, dtype, other)
    after = _core.fast_path_counts()
    _core.set_modes(1)
    slow = outcome(write, dtype, other)
    _core.set_modes(0)
    assert fast == slow
    return after[0] - before[0], after[1] - before[1]


operands = st.sampled_from(list(LAYOUTS))
numbers = st.sampled_from([2, True, -1, 0.5, 3.5, 1j, 10**30, float("inf")])
pairs = st.sampled_from(DTYPES).flatmap(lambda d: st.sampled_from([(d, d), (d, d), (d, ts.int64)]))


@given(name=st.sampled_from(list(OPERATE)), x=operands, y=operands | numbers, dtypes=pairs)
def test_operators_agree(name: str, x: str, y: Any, dtypes: tuple[DType, DType]) -> None:
    def write(base: ts.Tensor, other: ts.Tensor) -> bool:
        target = LAYOUTS[x](base, other)
        operand = LAYOUTS[y](base, other) if isinstance(y, str) else y
        return OPERATE[name](target, operand) is target

    check_both(write, *dtypes)


@given(name=st.sampled_from(NAMES), data=st.data(), dtypes=pairs)
def test_out_and_twins_agree(name: str, data: st.DataObject, dtypes: tuple[DType, DType]) -> None:
    op = OPS[name]
    drawn = [data.draw(operands | numbers if i else operands) for i in range(len(op.operands))]
    place, twin = data.draw(operands), op.has_twin and data.draw(st.booleans())

    def write(base: ts.Tensor, other: ts.Tensor) -> bool:
        args = [LAYOUTS[x](base, other) if isinstance(x, str) else x for x in drawn]
        if twin:
            return getattr(args[0], f"{name}_")(*args[1:]) is args[0]
        target = LAYOUTS[place](base, other)
        return op.function(*args, out=target) is target

    check_both(write, *dtypes)


# --- that it is taken -----------------------------------------------------------------------------

TAKEN: dict[str, Callable[[ts.Tensor, ts.Tensor], Any]] = {
    "+=": lambda x, y: OPERATE["iadd"](x, y),
    "+= a number": lambda x, y: OPERATE["iadd"](x, 2),
    "+= a row": lambda x, y: OPERATE["iadd"](x, y[0]),
    "+= a column": lambda x, y: OPERATE["iadd"](x, y[:, :1]),
    "+= another view": lambda x, y: OPERATE["iadd"](x[:2], y[2:]),
    "*= itself": lambda x, y: OPERATE["imul"](x, x),
    "add_": lambda x, y: x.add_(y),
    "mul_ a number": lambda x, y: x.mul_(0.5),
    "neg_": lambda x, y: x.neg_(),
    "clamp_": lambda x, y: x.clamp_(0.0, 1.0),
    "out": lambda x, y: ts.add(x, y, out=y),
    "unary out": lambda x, y: ts.exp(x, out=y),
    "product out": lambda x, y: ts.matmul(x, x.T, out=y.ravel()[:16].reshape(4, 4)),
    "product with a vector out": lambda x, y: ts.matmul(x, x[0], out=y.ravel()[:4]),
}


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.bfloat16], ids=str)
def test_the_fast_path_is_taken(name: str, dtype: DType) -> None:
    x, y = base_of(dtype, 1), base_of(dtype, 2)
    TAKEN[name](x, y)
    before = _core.fast_path_counts()
    TAKEN[name](x, y)
    assert _core.fast_path_counts()[1] == before[1], "declined"


def test_it_writes_what_requires_gradients_only_where_nothing_is_recorded() -> None:
    x = ts.ones(3).requires_grad_()
    with pytest.raises(ts.errors.TessellaError, match="requires"):
        x += 1
    for function, shape in ((ts.add, 3), (ts.matmul, ())):
        with pytest.raises(ts.errors.TessellaError, match="gradient"):
            function(x, x, out=ts.zeros(shape))
    _core.set_grad_enabled(False)
    try:
        x += 1
    finally:
        _core.set_grad_enabled(True)
    assert x.detach().tolist() == [2.0, 2.0, 2.0] and x.version == 1
