"""`out=`: results written into a tensor that is given.

Every declared function that takes it is tested here, on the calls of its declaration; those that
are declared without calls have one in CALLS.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest

import tessella as ts
from cases import (
    cases_of,
    draw_operands,
    lay_out,
    map_tensors,
    negative,
    stepped,
    to_tensors,
    transposed,
)
from conftest import sampled
from reference import assert_same_tensors
from tessella import _core, namespace
from tessella.declarations import CALL_WIDE, Case, Declared
from tessella.dtypes import DTYPES, DType
from tessella.records import Op

Call = tuple[list[Any], dict[str, Any]]

TABLE: dict[str, Declared] = {each.name: each for each in namespace.declared()}
WRITING = [name for name, each in TABLE.items() if each.takes_out]
OTHERS = [name for name, each in TABLE.items() if each.gives != "tensor"]
KINDS = {"bool": 0, "unsigned integer": 1, "signed integer": 1, "real floating": 2}
UNSET = ("empty", "empty_like", "new_empty")  # nobody knows their elements


def drawn() -> dict[str, Any]:
    """Give the keyword that makes a call draw the same numbers each time."""
    return {"generator": ts.Generator(3)}


X = ts.ones(2, 3)
# Calls of functions whose declarations bring none.
CALLS: dict[str, Callable[[], Call]] = {
    "arange": lambda: ([5], {}),
    "bernoulli": lambda: ([0.5, (2, 3)], drawn()),
    "empty": lambda: ([2, 3], {}),
    "empty_like": lambda: ([X], {}),
    "eye": lambda: ([2, 3], {}),
    "from_data": lambda: ([[1, 2, 3, 4], (2, 2)], {}),
    "full": lambda: ([(2, 3), 7], {}),
    "full_like": lambda: ([X, 7], {}),
    "linspace": lambda: ([0, 1, 5], {}),
    "multinomial": lambda: ([ts.ones(3, 4), 2], drawn()),
    "new_empty": lambda: ([X, 4], {}),
    "new_full": lambda: ([X, (2, 2), 5], {}),
    "new_ones": lambda: ([X, 4], {}),
    "new_tensor": lambda: ([X, [1, 2]], {}),
    "new_zeros": lambda: ([X, 4], {}),
    "normal": lambda: ([ts.zeros(2, 3), 1.0], drawn()),
    "ones": lambda: ([2, 3], {}),
    "ones_like": lambda: ([X], {}),
    "rand": lambda: ([2, 3], drawn()),
    "rand_like": lambda: ([X], drawn()),
    "randint": lambda: ([0, 10, (2, 3)], drawn()),
    "randint_like": lambda: ([X, 10], drawn()),
    "randn": lambda: ([2, 3], drawn()),
    "randn_like": lambda: ([X], drawn()),
    "randperm": lambda: ([6], drawn()),
    "searchsorted": lambda: ([ts.arange(4.0), ts.tensor([2.5, -1.0])], {}),
    "tensor": lambda: ([[[1, 2], [3, 4]]], {}),
    "zeros": lambda: ([2, 3], {}),
    "zeros_like": lambda: ([X], {}),
}


def cases(each: Declared) -> list[Case]:
    """Give the calls that the declaration brings."""
    return cases_of(each) if isinstance(each, Op) else list(each.samples)


def operands_of(each: Declared, case: Case, dtype: DType) -> list[Any]:
    """Draw the operands of a call."""
    return to_tensors(each, draw_operands(each, case, dtype), dtype)


def calls(name: str, count: int = 3) -> Iterator[tuple[Callable[[], Call], ts.Tensor]]:
    """Give makers of calls, each with its result: of each case, in some of its dtypes."""
    each, found = TABLE[name], 0
    for dtypes in (sampled(DTYPES, count), DTYPES):
        for make in [CALLS[name]] if name in CALLS else makers(each, dtypes):
            args, params = make()
            try:
                want = each.function(*args, **params)
            except ts.errors.DTypeMismatch:
                continue
            found += 1
            yield make, want
        if found:
            return
    raise AssertionError(f"{name} has no samples: give it a call in CALLS")


def makers(each: Declared, dtypes: Iterable[DType]) -> Iterator[Callable[[], Call]]:
    """Give what makes each call of a declaration, with operands of its own each time."""
    for dtype in dtypes:
        for case in cases(each):
            yield functools.partial(call_of, each, case, dtype)


def call_of(each: Declared, case: Case, dtype: DType) -> Call:
    """Give the arguments of a call."""
    return operands_of(each, case, dtype), dict(case.params)


def one_call(name: str) -> tuple[Callable[[], Call], ts.Tensor]:
    """Give one call, in the first dtype that it has a meaning for."""
    return next(calls(name, len(DTYPES)))


def tensors_of(args: Any) -> list[ts.Tensor]:
    """List the tensors among the arguments."""
    found: list[ts.Tensor] = []
    map_tensors(found.append, args)
    return found


def same(name: str, out: ts.Tensor, want: ts.Tensor) -> None:
    if name not in UNSET:
        assert_same_tensors(out.clone(), want.detach())


# --- what it gives -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WRITING)
def test_out_receives_the_result(name: str) -> None:
    for make, want in calls(name):
        for lay in (ts.zeros_like, transposed, negative, stepped):
            args, params = make()
            out = lay(ts.zeros_like(want))
            version = out.version
            assert TABLE[name].function(*args, **params, out=out) is out
            same(name, out, want)
            assert out.version == version + 1


@pytest.mark.parametrize("name", WRITING)
def test_out_may_be_any_operand(name: str) -> None:
    for make, want in calls(name):
        for i, x in enumerate(tensors_of(make()[0])):
            if x.shape != want.shape or x.dtype is not want.dtype:
                continue
            for layout in ("shifted", "negative"):
                args, params = make()
                args = lay_out(TABLE[name], layout, args)
                out = tensors_of(args)[i]
                assert TABLE[name].function(*args, **params, out=out) is out
                same(name, out, want)


@pytest.mark.parametrize("name", WRITING)
def test_out_may_overlap_any_operand(name: str) -> None:
    for make, want in calls(name, 2):
        for i, x in enumerate(tensors_of(make()[0])):
            if x.dtype is not want.dtype or not x.size or not want.size:
                continue
            args, params = make()
            memory = ts.zeros(x.size + want.size, dtype=x.dtype)
            shared = iter(range(1000))

            def placed(tensor: ts.Tensor, i: int = i, memory: ts.Tensor = memory) -> ts.Tensor:
                if next(shared) != i:  # noqa: B023 - called before the next turn
                    return tensor
                return memory[: tensor.size].view(tensor.shape).copy_(tensor)

            args = map_tensors(placed, args)
            begin = x.size // 2
            out = memory[begin : begin + want.size].view(want.shape)
            assert TABLE[name].function(*args, **params, out=out) is out
            same(name, out, want)


@pytest.mark.parametrize("name", WRITING)
def test_none_is_no_out(name: str) -> None:
    make, want = one_call(name)
    args, params = make()
    same(name, TABLE[name].function(*args, **params, out=None), want)


def test_out_converts_within_its_kind() -> None:
    out = ts.zeros(2, dtype=ts.float64)
    assert ts.exp(ts.zeros(2), out=out) is out and out.tolist() == [1.0, 1.0]
    assert ts.add(ts.ones(2, dtype=ts.int8), 1, out=out).tolist() == [2.0, 2.0]
    assert ts.ones(2).astype(ts.int32, out=out) is out
    assert ts.sort(ts.tensor([3, 1]), out=out).tolist() == [1.0, 3.0]


def test_out_of_methods_and_subpackages() -> None:
    a = ts.tensor([[2.0, 0.0], [0.0, 4.0]])
    assert ts.linalg.inv(a, out=a).tolist() == [[0.5, 0.0], [0.0, 0.25]]
    assert a.take(ts.tensor([1, 0]), axis=0, out=a).tolist() == [[0.0, 0.25], [0.5, 0.0]]
    z = ts.zeros(2, dtype=ts.complex64)
    assert ts.fft.fft(ts.ones(2), out=z).tolist() == [2 + 0j, 0j]
    assert ts.zeros(2, 2, out=a) is a and not a.any()


@pytest.mark.parametrize(
    "call",
    [
        lambda x, out: ts.add(x, x, out=out),
        lambda x, out: ts.sum(x, axis=0, out=out[0]),
        lambda x, out: ts.max(x, axis=1, out=out.view(-1)[:20]),
        lambda x, out: ts.cumulative_sum(x, axis=0, out=out),
        lambda x, out: ts.concat([x[:10], x[10:]], out=out),
        lambda x, out: ts.matmul(x, x, out=out),
        lambda x, out: ts.astype(x, ts.float32, out=out.mT),
    ],
)
def test_out_elsewhere_of_the_result_dtype_needs_no_other_memory(call: Callable[..., Any]) -> None:
    x, out = ts.ones(20, 20), ts.zeros(20, 20)
    call(x, out)
    before = _core.memory_counts()[2:]
    call(x, out)
    assert _core.memory_counts()[2:] == before and float(out.max()) > 0


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", WRITING)
def test_out_of_another_shape_is_refused_and_unchanged(name: str) -> None:
    make, want = one_call(name)
    for out in (
        ts.ones((7, *want.shape), dtype=want.dtype),
        ts.ones((9, 1), dtype=want.dtype),
    ):
        args, params = make()
        refuse(
            name, args, params, out, f"the result has shape {want.shape}, the target {out.shape}"
        )


@pytest.mark.parametrize("name", WRITING)
def test_out_of_a_lower_kind_is_refused_and_unchanged(name: str) -> None:
    for make, want in calls(name):
        lower = [ts.bool, ts.int8, ts.float32][: KINDS.get(want.dtype.kind, 3)]
        for dtype in lower:
            args, params = make()
            out = ts.ones(want.shape, dtype=dtype)
            refuse(name, args, params, out, f"the result is {want.dtype}, the target {dtype}")


@pytest.mark.parametrize("name", WRITING)
def test_out_that_cannot_be_written_is_refused(name: str) -> None:
    make, want = one_call(name)
    array = np.ones(want.shape, "float64")
    array.flags.writeable = False
    row = ts.broadcast_to(ts.ones(1, dtype=want.dtype), (4,))
    for out, text in (
        (ts.from_numpy(array), "out is read-only"),
        (row, "out has elements that share memory and cannot be written"),
        (ts.ones(want.shape).requires_grad_(), "out requires gradients and would be overwritten"),
    ):
        args, params = make()
        refuse(name, args, params, out, text)
    args, params = make()
    with pytest.raises(
        ts.errors.ArgumentError, match=f"^{TABLE[name].title}: out must be a tensor, got list"
    ):
        TABLE[name].function(*args, **params, out=[1.0])


ERRORS = [(name, case) for name in WRITING for case in TABLE[name].errors]


@pytest.mark.parametrize(("name", "case"), ERRORS)
def test_failing_call_leaves_out_as_it_was(name: str, case: Case) -> None:
    operands = operands_of(TABLE[name], case, ts.dtypes.BY_NAME[case.dtype])
    with pytest.raises(ts.errors.TessellaError) as caught:
        TABLE[name].function(*operands, **case.params)
    out = ts.ones(2, 2, dtype=ts.complex128)
    refuse(name, operands, dict(case.params), out, caught.value.what)


@pytest.mark.parametrize("name", [name for name in WRITING if TABLE[name].operands])
def test_out_refuses_to_drop_gradients(name: str) -> None:
    for case in cases(TABLE[name]):
        args = operands_of(TABLE[name], case, ts.float32)
        # Of operands that samples hold, others see the memory and not that it asks for gradients.
        args = map_tensors(
            lambda x: x.detach().requires_grad_() if x.dtype is ts.float32 else x, args
        )
        try:
            want = TABLE[name].function(*args, **case.params)
        except ts.errors.TessellaError:
            continue
        out = ts.zeros(want.shape, dtype=want.dtype)
        if want.requires_grad:
            text = "the value requires gradients and a write does not record them"
            refuse(name, args, dict(case.params), out, text)
            _core.set_grad_enabled(False)
        try:
            TABLE[name].function(*args, **case.params, out=out)
        finally:
            _core.set_grad_enabled(True)
        same(name, out, want)


def refuse(name: str, args: list[Any], params: dict[str, Any], out: ts.Tensor, text: str) -> None:
    """Call with an `out=` that raises, with this text, and is as it was."""
    before, version = out.detach().tolist(), out.version
    with pytest.raises(ts.errors.TessellaError) as caught:
        TABLE[name].function(*args, **params, out=out)
    lines = str(caught.value).splitlines()
    assert lines[0] == f"{TABLE[name].title}: {text}".splitlines()[0].rstrip()
    assert any(line.startswith("  at test_out.py:") for line in lines)
    assert any(line.startswith("  hint: ") for line in lines)
    assert any(line.startswith("    out ") for line in lines)
    assert out.detach().tolist() == before and out.version == version


# --- which functions take it ---------------------------------------------------------------------


@pytest.mark.parametrize("name", OTHERS)
def test_views_and_several_results_have_no_out(name: str) -> None:
    what = "may give a view of its operand" if TABLE[name].gives == "view" else "does not give one"
    with pytest.raises(
        ts.errors.ArgumentError, match=rf"^{TABLE[name].title}: {what}.* has no out="
    ):
        TABLE[name].function(ts.ones(2), out=ts.ones(2))


@pytest.mark.parametrize("name", [name for name, each in TABLE.items() if cases(each)])
def test_result_that_is_always_a_view_is_declared_so(name: str) -> None:
    each, shares = TABLE[name], []
    for case in cases(each):
        for dtype in DTYPES:
            args = operands_of(each, case, dtype)
            try:
                found = each.function(*args, **case.params)
            except ts.errors.TessellaError:
                continue
            if isinstance(found, ts.Tensor) and found.size:
                shares.append(any(_core.may_overlap(found, x) for x in tensors_of(args)))
    if shares and all(shares):
        assert each.gives != "tensor"
    if shares and each.gives == "view":
        assert any(shares)


# Of one operand, einsum may be a view, as in NumPy.
@pytest.mark.parametrize("name", [x for x in WRITING if cases(TABLE[x]) and x != "einsum"])
def test_result_is_memory_of_its_own(name: str) -> None:
    each = TABLE[name]
    for case in cases(each):
        for dtype in (ts.float32, ts.int64, ts.bool):
            args = operands_of(each, case, dtype)
            try:
                found = each.function(*args, **case.params)
            except ts.errors.TessellaError:
                continue
            assert not found.size or not any(_core.may_overlap(found, x) for x in tensors_of(args))
            assert not _core.layout_of(found).overlaps_itself, case


@pytest.mark.parametrize("name", ["add", "sum", "matmul", "sort", "zeros", "reshape", "split"])
@pytest.mark.parametrize("first", ["out", "told"])
def test_another_keyword_of_calls_is_one_entry(name: str, first: str) -> None:
    def tell(each: Declared, value: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        told.append((each.name, value, list(keywords)))
        return each.function(*args, **keywords)

    told: list[Any] = []
    CALL_WIDE["told"] = tell
    try:
        each = TABLE[name]
        make, _ = one_call(name) if each.takes_out else (next(makers(each, [ts.float32])), None)
        args, params = make()
        want = each.function(*args, **params)
        found = each.function(*args, **params, told=7)
        assert told == [(name, 7, list(params))]
        if each.takes_out:
            out = ts.zeros_like(want)
            wide = {"told": 8, "out": out} if first == "told" else {"out": out, "told": 8}
            assert each.function(*args, **params, **wide) is out
            assert told[1] == (name, 8, [*params, "out"])
            same(name, out, found)
    finally:
        del CALL_WIDE["told"]


def test_keywords_of_calls_are_no_parameters_of_functions() -> None:
    own = {
        (each.name, name)
        for each in TABLE.values()
        for name in CALL_WIDE
        if name in each.parameters
    }
    assert {name for name, keyword in own if keyword != "inplace"} == {"matmul_into"}
    assert all("dropout" in name for name, keyword in own if keyword == "inplace")
    assert "out" in CALL_WIDE and TABLE["matmul_into"].gives == "tensor"
