"""Random arguments at every public function, method and operator: a value or a TessellaError.

Any other exception is a failure, and a crash ends the process. Sizes are small or absurd, never
between, so that nothing large is allocated by luck; what a call allocates is bounded.
"""

from __future__ import annotations

import inspect
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import tessella as ts
from capsules import Exporter
from conftest import sampled
from tessella import _core, namespace
from tessella.composites import COMPOSITES
from tessella.dtypes import DTYPES
from tessella.inplace import Twin
from tessella.records import OPS

NUMBERS: list[Any] = [
    0, 1, -1, 2, 3, 7, -5, 63, 64, 65, 1 << 41, -(1 << 41), (1 << 63) - 1,
    1 << 63, -(1 << 63), 1 << 64, 1 << 200, -(1 << 200), 0.0, -0.0, 0.5, -2.5, 1e300,
    1e-300, float("nan"), float("inf"), float("-inf"), 1j, complex("nan+infj"), True, False,
]  # fmt: skip


class Odd:
    """An object with the methods of a number, all of which fail."""

    def __index__(self) -> int:
        raise TypeError("no integer")

    def __float__(self) -> float:
        raise TypeError("no float")

    def __len__(self) -> int:
        raise TypeError("no length")

    def __repr__(self) -> str:
        return "Odd()"


OBJECTS: list[Any] = [
    None, ..., "", "text", "float32", b"bytes", object(), Odd(), {}, {"axis": 0}, set(), range(3),
    slice(None), slice(5, None, -2), slice(None, None, 0), slice("a"), int, float, list, len,
    np.zeros((2, 3), "float32"), np.zeros(()), np.float32(1.5), np.int64(3), np.zeros(0),
    np.array(["a"]), np.array([None]), np.zeros((2, 2), ">f4"), np.zeros(2, "M8[s]"), ts,
    ts.Generator(0), memoryview(b"abc"), Exporter(np.ones((2, 3))), NotImplemented, Exception("x"),
]  # fmt: skip

# Items of users' dtypes, of a size that kernels move whole and of one that they do not.
USERS = [ts.dtypes.register("fuzz_wide", fmt="<qd"), ts.dtypes.register("fuzz_odd", fmt="<BH")]

small = st.integers(0, 4)
numbers = st.sampled_from(NUMBERS) | st.integers(-3, 5)
dtypes = st.sampled_from([*DTYPES, *USERS])


@st.composite
def tensors(draw: st.DrawFn) -> ts.Tensor:
    """Draw a small tensor of any dtype and layout."""
    shape = draw(st.lists(small, max_size=3) | st.sampled_from([[2, 3], [3, 3], [3], []]))
    size = int(np.prod(shape))
    dtype = draw(dtypes)
    if dtype in USERS:
        x = ts.tensor([(i, i) for i in range(size)], dtype=dtype).reshape(shape)
    else:
        x = ts.arange(size).reshape(shape).astype(dtype)
    kind = draw(st.sampled_from(["plain", "plain", "turned", "spread", "grad", "cut", "values"]))
    if kind == "turned":
        return x.permute(tuple(reversed(range(x.ndim)))).flip()
    if kind == "spread":
        return x.unsqueeze(0).broadcast_to((2, *shape))
    if kind == "grad" and (x.dtype.is_floating or x.dtype.is_complex):
        return x.requires_grad_()
    if kind == "cut" and x.ndim:
        return x[1::2]
    if kind == "values" and x.dtype.is_floating:
        return ts.where(x > 2, float("nan"), x - 1)
    return x


lists = st.recursive(
    numbers | st.sampled_from(OBJECTS) | tensors(), lambda s: st.lists(s, max_size=3), max_leaves=5
)
arguments = st.one_of(
    tensors(), tensors(), numbers, st.sampled_from(OBJECTS), dtypes, lists,
    lists.map(lambda v: (v,)),
    st.lists(small, max_size=4).map(tuple), st.sampled_from([(1, 2), (-1, 2.5)]),
    st.lists(numbers, max_size=3).map(tuple),
    st.lists(tensors(), max_size=3),
)  # fmt: skip
COMMON = ["axis", "dim", "keepdims", "dtype", "x", "y", "out", "requires_grad", "unknown"]


def keyword_names(name: str, function: Any) -> list[str]:
    """Give the names that a function knows, and some that most do not."""
    op = OPS.get(name) or COMPOSITES.get(name) or getattr(function, "each", None)
    known = list(op.parameters if op else inspect.signature(function).parameters)
    return [*known, *COMMON]


@st.composite
def calls(draw: st.DrawFn, name: str, function: Any) -> tuple[list[Any], dict[str, Any]]:
    """Draw arguments; a tensor comes first in most calls, as without one most end at once."""
    first = [draw(tensors())] if draw(st.integers(0, 3)) else []
    rest = draw(st.lists(arguments, max_size=3))
    names = st.sampled_from(keyword_names(name, function))
    return [*first, *rest], draw(st.dictionaries(names, arguments, max_size=2))


# What a call with operands of these sizes may keep at most.
BOUND = 1 << 26


def attempt(name: str, function: Callable[..., Any], args: Any, named: Any) -> Any:
    """Call, and let only Tessella's errors pass; the message must be printable."""
    before = _core.memory_counts()[0]
    try:
        result = function(*args, **named)
    except ts.errors.TessellaError as error:
        assert str(error) and pickle.dumps(str(error))
        return None
    except TypeError as error:
        # Python itself refuses a wrong number or name of arguments of a function that is no record.
        assert name in namespace.METHODS or (name not in OPS and name not in COMPOSITES), error
        text = str(error)
        called = (f"{name}(", f"{getattr(function, '__name__', name)}(")
        plain = text.replace(".__init__", "").replace(".__new__", "")
        assert "argument" in text and plain.startswith(called), text
        assert "incompatible function arguments" not in text, text
        return None
    assert _core.memory_counts()[0] - before < BOUND
    return result


def look_at(result: Any) -> None:
    """Read a result, so that a tensor over memory that is not there fails here."""
    if isinstance(result, ts.Tensor) and not result.is_virtual and result.size < 10_000:
        assert len(repr(result)) > 0 and result.detach().tolist() is not None


FUNCTIONS = {name: value for name, value in namespace.public_names().items() if callable(value)}
FUNCTIONS = {name: value for name, value in FUNCTIONS.items() if value is not tuple}  # Python's own
FUNCTIONS |= {each.name: each.function for each in namespace.declared() if each.home}
# These change the state of the process, or are classes whose instances do.
STATEFUL = ("set_num_threads", "num_threads", "manual_seed")


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n not in STATEFUL])
@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_functions_take_or_refuse_anything(name: str, data: st.DataObject) -> None:
    args, named = data.draw(calls(name, FUNCTIONS[name]))
    look_at(attempt(name, FUNCTIONS[name], args, named))


METHODS = namespace.methods()
TWINS = [name for name, method in METHODS.items() if isinstance(method, Twin)]


@pytest.mark.parametrize("name", [n for n in METHODS if n not in TWINS] + sampled(TWINS, 20))
@settings(max_examples=settings().max_examples // 2)
@given(data=st.data(), x=tensors(), rest=st.lists(arguments, max_size=3))
def test_methods_take_or_refuse_anything(
    name: str, data: st.DataObject, x: ts.Tensor, rest: list[Any]
) -> None:
    names = st.sampled_from(keyword_names(name, METHODS[name]))
    named = data.draw(st.dictionaries(names, arguments, max_size=2))
    look_at(attempt(name, getattr(x, name), rest, named))


OPERATORS = {
    name: getattr(operator, name)
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_",
                 "xor", "lshift", "rshift", "lt", "le", "gt", "ge", "eq", "ne", "getitem")
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
@given(x=tensors(), y=arguments, swapped=st.booleans())
def test_operators_take_or_refuse_anything(name: str, x: ts.Tensor, y: Any, swapped: bool) -> None:
    pair = (y, x) if swapped and name != "getitem" else (x, y)
    try:
        look_at(OPERATORS[name](*pair))
    except ts.errors.TessellaError as error:
        assert str(error)
    except TypeError as error:
        # What the other operand's type may still know is Python's to refuse.
        assert "unsupported operand" in str(error) or "not supported between" in str(error), error
        assert not isinstance(y, ts.Tensor | int | float | complex | list | tuple | str | None)


INPLACE = {
    name: getattr(operator, name)
    for name in ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior",
                 "ixor", "ilshift", "irshift")
}  # fmt: skip


@pytest.mark.parametrize("name", [*INPLACE, "setitem"])
@given(x=tensors(), key=arguments, y=arguments)
def test_writes_take_or_refuse_anything(name: str, x: ts.Tensor, key: Any, y: Any) -> None:
    before = x.detach().tolist()
    try:
        if name == "setitem":
            x[key] = y
        else:
            INPLACE[name](x, y)
    except ts.errors.TessellaError as error:
        assert str(error)
    except TypeError as error:
        assert "unsupported operand" in str(error), error
        assert not isinstance(y, ts.Tensor | int | float | complex | list | tuple | str | None)
    else:
        return look_at(x)
    assert repr(x.detach().tolist()) == repr(before), "a failed write changed its target"
