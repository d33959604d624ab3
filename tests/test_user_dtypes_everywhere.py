"""Every public function, method and operator on tensors of a user's dtype: right, or refused.

What moves elements without reading them gives the items that it would give of numbers: each item
here stands for an integer, and the same call on these integers says what must come out.
"""

from __future__ import annotations

from typing import Any

import pytest

import tessella as ts
from cases import TILE, cases_of, fast_path_off, is_condition, negative, transposed
from tessella import _core, namespace
from tessella.composites import Composite
from tessella.declarations import Case, Declared
from tessella.dtypes import UserDType
from tessella.records import OPS, Op

namespace.load()
PAIR = ts.dtypes.register("everywhere_pair", fmt="<BH")  # 3 bytes: what kernels do not move whole
WIDE = ts.dtypes.register("everywhere_wide", fmt="<qq")  # 16 bytes: what they do


def stepped(x: ts.Tensor) -> ts.Tensor:
    """Give every second element of a larger tensor, behind its first."""
    wide = ts.zeros(tuple(2 * size + 1 for size in x.shape), dtype=x.dtype)
    inner = wide[(slice(1, None, 2),) * x.ndim]
    return inner.copy_(x)


LAYOUTS = {"plain": lambda x: x, "turned": transposed, "negative": negative, "stepped": stepped}

# What must work, whatever else does: all that moves or compares elements.
MOVES = {
    "array_equal", "atleast_1d", "atleast_2d", "broadcast_to", "chunk", "concat", "contiguous",
    "diagonal", "equal", "expand", "flatten", "flip", "fliplr", "flipud", "gather_axes", "getitem",
    "hstack", "index_select", "masked_select", "moveaxis", "narrow", "not_equal", "permute",
    "put_axes", "ravel", "repeat", "reshape", "roll", "rot90", "split", "squeeze", "stack",
    "swapaxes", "take", "take_along_axis", "tensor_split", "tile", "transpose", "unbind", "unfold",
    "unsqueeze", "unstack", "view", "vstack", "where",
}  # fmt: skip
# What is said about the dtype itself, and so is not what it is for integers.
ABOUT = {"element_size": 3, "is_signed": False}


def encode(number: int, dtype: UserDType) -> tuple[int, int]:
    """Give the item that stands for an integer."""
    return (number % 256, number // 256) if dtype is PAIR else (number, -number)


def decode(item: tuple[int, int], dtype: UserDType) -> int:
    """Give the integer that an item stands for."""
    return item[0] + 256 * item[1] if dtype is PAIR else item[0]


def mapped(value: Any, change: Any) -> Any:
    """Change what is in nested lists."""
    return [mapped(v, change) for v in value] if isinstance(value, list) else change(value)


def to_items(x: ts.Tensor, dtype: UserDType) -> ts.Tensor:
    """Give the items that stand for integers."""
    return ts.tensor(mapped(x.tolist(), lambda n: encode(n, dtype)), dtype).reshape(x.shape)


def operands(each: Declared, case: Case, change: Any) -> list[Any]:
    """Draw the operands of a call: conditions are bool, the others integers from 1 on, changed."""

    def make(i: int, shape: Any) -> Any:
        if isinstance(shape, list):
            return [make(i, part) for part in shape]
        if not isinstance(shape, tuple):
            return shape
        x = ts.arange(1, 1 + _core.size_of(shape)).reshape(shape)
        return x % 2 == 0 if is_condition(each, i) else change(x)

    return [make(i, shape) for i, shape in enumerate(case.shapes)]


def leaves(value: Any) -> list[Any]:
    """List what a call gave."""
    if isinstance(value, list | tuple) and not isinstance(value, ts.dtypes.DType):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


def check(name: str, found: Any, want: Any, dtype: UserDType) -> None:
    """Compare what a call gave of items with what it gives of the integers they stand for."""
    if name in ABOUT:
        return
    parts, wanted = leaves(found), leaves(want)
    for part, number in zip(parts, wanted, strict=True):
        if not isinstance(part, ts.Tensor):
            assert part == number, (name, part, number)
            continue
        assert part.shape == number.shape, name
        if "empty" in name:
            assert part.dtype is dtype
        elif part.dtype is dtype:
            assert mapped(part.tolist(), lambda v: decode(v, dtype)) == number.tolist(), name
        else:
            assert part.dtype is number.dtype and part.tolist() == number.tolist(), name


def samples(each: Op | Composite) -> list[Case]:
    """Give the calls that a declaration makes its tests of, but the large ones."""
    cases = cases_of(each) if isinstance(each, Op) else list(each.samples)
    return [case for case in cases if (TILE,) not in case.shapes]


def outcomes(each: Op | Composite, dtype: UserDType, layout: str) -> int:
    """Make every call of a declaration on items; give the number of those that went well."""
    done = 0
    for case in samples(each):
        place = layout if case.layouts == "any" else "plain"
        numbers = operands(each, case, lambda x: x)
        items = operands(each, case, lambda x, place=place: LAYOUTS[place](to_items(x, dtype)))
        ts.manual_seed(1)
        try:
            found = each.function(*items, **case.params)
        except ts.errors.TessellaError as error:
            assert str(error), each.name
            continue
        done += 1
        ts.manual_seed(1)
        check(each.name, found, each.function(*numbers, **case.params), dtype)
    return done


DECLARED = {each.name: each for each in namespace.declared()}


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_a_function_gives_the_right_items_or_refuses(name: str) -> None:
    for dtype in (PAIR, WIDE):
        for layout in LAYOUTS:
            done = outcomes(DECLARED[name], dtype, layout)
            assert done or name not in MOVES, f"{name} must take items"


@pytest.mark.parametrize("name", sorted(MOVES & OPS.keys()))
def test_the_slow_path_gives_the_same(name: str) -> None:
    with fast_path_off():
        assert outcomes(DECLARED[name], PAIR, "turned")
