"""Calls of every declared function: its samples as tensors, and those that declare no sample.

What the tests of memory need is that each call works and that each of its tensors can be put
elsewhere; what it must give is tested where the function's values are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tessella as ts
from cases import cases_of, draw_operands, map_tensors, to_tensors
from tessella import namespace
from tessella.declarations import Case, Declared
from tessella.dtypes import DTYPES, DType
from tessella.records import Op


class Call:
    """A function with its arguments."""

    def __init__(self, name: str, function: Any, args: list[Any], named: dict[str, Any]) -> None:
        self.name = name
        self.function = function
        self.args = args
        self.named = named

    def __call__(self) -> Any:
        return self.function(*self.args, **self.named)

    def __repr__(self) -> str:
        return f"{self.name}({self.args}, {self.named})"

    def tensors(self) -> list[ts.Tensor]:
        """Give the tensors among the arguments, inside lists too."""
        found: list[ts.Tensor] = []
        map_tensors(found.append, [self.args, list(self.named.values())])
        return found

    def changed(self, change: Callable[[ts.Tensor], ts.Tensor]) -> Call:
        """Give the call with other tensors."""
        args = map_tensors(change, self.args)
        named = {name: map_tensors(change, value) for name, value in self.named.items()}
        return Call(self.name, self.function, args, named)

    def replaced(self, i: int, x: ts.Tensor) -> Call:
        """Give the call with another tensor at the i-th place of `tensors()`."""
        places = iter(range(len(self.tensors())))
        return self.changed(lambda each: x if next(places) == i else each)


DECLARED = {each.name: each for each in namespace.declared()}


def samples_of(each: Declared) -> list[Case]:
    """Give the calls that a declaration's tests make."""
    return cases_of(each) if isinstance(each, Op) else list(each.samples)


def call_of(each: Declared, case: Case, dtype: DType, turn: int = 0) -> Call:
    """Give one call with drawn operands, which are others at another turn."""
    operands = to_tensors(each, draw_operands(each, case, dtype, turn), dtype)
    return Call(each.name, each.function, operands, dict(case.params))


def is_taken(call: Call) -> bool:
    """Tell whether a call has a meaning for the dtypes of its operands."""
    try:
        call.changed(ts.Tensor.clone)()
    except ts.errors.DTypeMismatch:
        return False
    return True


@functools.cache
def dtype_for(name: str, i: int) -> DType:
    """Give the dtype that the i-th sample is called with: the first of these that it takes."""
    each = DECLARED[name]
    first = [ts.float32, ts.int64, ts.complex64, ts.bool]
    for dtype in [*first, *(d for d in DTYPES if d not in first)]:
        if is_taken(call_of(each, samples_of(each)[i], dtype)):
            return dtype
    raise AssertionError(f"{name} has no meaning for any dtype")


def calls_of(name: str) -> list[Call]:
    """Give calls of a declared function: new operands each time."""
    each = DECLARED[name]
    made = [call_of(each, case, dtype_for(name, i)) for i, case in enumerate(samples_of(each))]
    return made or [Call(name, each.function, *given) for given in spelled_out(name)]


def spelled_out(name: str) -> list[tuple[list[Any], dict[str, Any]]]:
    """Give the arguments of functions that declare no samples."""
    x, row = ts.arange(1.0, 7.0).reshape(2, 3), ts.tensor([0.1, 0.5, 0.4])
    like: list[tuple[list[Any], dict[str, Any]]] = [([x], {}), ([x], {"dtype": ts.float64})]
    shaped: list[tuple[list[Any], dict[str, Any]]] = [([(2, 3)], {}), ([500], {})]
    seeded = {"generator": ts.Generator(3)}
    table: dict[str, list[tuple[list[Any], dict[str, Any]]]] = {
        "empty": shaped, "zeros": shaped, "ones": shaped, "full": [([(2, 3), 7], {})],
        "empty_like": like, "zeros_like": like, "ones_like": like,
        "full_like": [([x, 3], {})],
        "arange": [([2, 10, 3], {}), ([0.0, 5.0], {})], "linspace": [([0, 1, 5], {})],
        "eye": [([3], {}), ([2, 3], {"k": 1})],
        "from_numpy": [([x.numpy().copy()], {})],
        "from_dlpack": [([x.numpy().copy()], {"copy": True}), ([x], {"copy": True}), ([x], {})],
        "tensor": [([[[1, 2], [3, 4]]], {}), ([x], {}), ([[x[0], x[1]]], {})],
        "asarray": [([[1, 2.5]], {}), ([x], {}), ([x], {"copy": True})],
        "from_data": [([[1, 2, 3, 4], (2, 2)], {})],
        "matmul_into": [([ts.zeros(2, 2), x, x.T.clone()], {}),
                        ([ts.zeros(2, 2), x, x], {"transpose_b": True, "accumulate": True})],
        "manual_seed": [], "set_blas": [], "get_blas": [], "broadcast_shapes": [], "finfo": [],
        "iinfo": [], "isdtype": [], "can_cast": [], "spec": [],
        "rand": [([2, 3], dict(seeded))], "randn": [([2, 3], dict(seeded))],
        "randint": [([0, 10, (2, 3)], dict(seeded))], "randperm": [([9], dict(seeded))],
        "normal": [([0.0, 1.0, (3,)], dict(seeded)), ([x, x], dict(seeded))],
        "bernoulli": [([0.5, (3,)], dict(seeded)), ([row], dict(seeded))],
        "normal_": [([x, 2.0, 3.0], dict(seeded))], "uniform_": [([x], dict(seeded))],
        "random_": [([x, 0, 9], dict(seeded))],
        "bernoulli_": [([x], dict(seeded)), ([x, row], dict(seeded))],
        "rand_like": [([x], dict(seeded))], "randn_like": [([x], dict(seeded))],
        "randint_like": [([x, 10], dict(seeded))],
        "multinomial": [([row, 2], dict(seeded)), ([row, 4], {"replacement": True, **seeded})],
        "to": [([x, ts.float64], {}), ([x, ts.float32], {"copy": True})],
        "new_zeros": [([x, (3,)], {})], "new_ones": [([x, (3,)], {})],
        "new_empty": [([x, (3,)], {})], "new_full": [([x, (2,), 3], {})],
        "new_tensor": [([x, [1, 2]], {}), ([x, row], {})],
        "element_size": [([x], {})], "stride": [([x], {})], "storage_offset": [([x], {})],
        "is_tensor": [([x], {})], "result_type": [([x, 3.5], {})],
        "searchsorted": [([ts.tensor([1, 3, 5]), ts.tensor([0, 3, 6])], {}),
                         ([row, row], {"sorter": ts.argsort(row)})],
        "put_along_axis": [([x, ts.tensor([[1], [0]]), 5.0, 1], {}),
                           ([x, ts.tensor([[1], [0]]), ts.ones(2, 1), 1], {})],
    }  # fmt: skip
    return table[name]


def without_calls() -> list[str]:
    """Name the declared functions that no call is made of."""
    return [name for name in DECLARED if not calls_of(name)]
