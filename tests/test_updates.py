"""Optimizers' updates as operations: what every record of optim/updates.py must do."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tessella as ts
import update_formulas
from cases import LAYOUTS, fast_path_off, generator, to_array
from nested import listed
from tessella import _core
from tessella.dtypes import DType
from tessella.optim import updates
from tessella.optim.updates import UPDATES, Update

NAMES = list(UPDATES)
FLOATS = [ts.float32, ts.float64, ts.float16, ts.bfloat16]
CONSTANTS = {
    "dampening": 0.25, "weight_decay": 0.125, "nesterov": False, "maximize": False, "eps": 1e-3,
    "decoupled_weight_decay": False, "alpha": 0.75, "lr_decay": 0.5, "rho": 0.75,
    "momentum_decay": 0.25,
}  # fmt: skip
NUMBERS = {"lr": 0.125, "momentum": 0.5, "beta1": 0.5, "beta2": 0.75}
SHAPES: list[tuple[int, ...]] = [(3, 5), (), (0, 2), (1, 33), (40, 30)]


def record_of(name: str) -> Update:
    """Give a record by its name."""
    found = UPDATES[name]
    assert isinstance(found, Update)
    return found


def number(value: float) -> ts.Tensor:
    """Make a number that varies."""
    return ts.tensor(value, dtype=ts.float64)


def arguments(name: str, shapes: list[tuple[int, ...]], dtype: DType, **changed: Any) -> list[Any]:
    """Give the arguments of a call: parameters and gradients of both signs, squares above 0."""
    record, rng = record_of(name), generator(name, shapes, dtype)
    columns = []
    for column in record.lists:
        drawn = [rng.uniform(-1, 1, shape) for shape in shapes]
        if column in record.counters:
            columns.append([number(1.0 + i) for i in range(len(shapes))])
            continue
        is_square = column not in ("params", "grads", "momentum_buffer", "exp_avg", "grad_avg")
        made = [ts.tensor(x * x + 0.5 if is_square else x, dtype=dtype) for x in drawn]
        columns.append([x * 0.25 for x in made] if column == "grad_avg" else made)
    numbers = [number(NUMBERS[each]) for each in record.numbers]
    return [*columns, *numbers, *({**CONSTANTS, **changed}[each] for each in record.constants)]


def copied(args: list[Any]) -> list[Any]:
    """Copy the tensors of some arguments."""
    return [
        [x if x is None else x.clone() for x in each] if isinstance(each, list)
        else each.clone() if isinstance(each, ts.Tensor) else each
        for each in args
    ]  # fmt: skip


def bits(args: list[Any]) -> list[bytes]:
    """Give the elements of all tensors of some arguments."""
    found = [each if isinstance(each, list) else [each] for each in args]
    tensors = [x for each in found for x in each if isinstance(x, ts.Tensor)]
    return [to_array(x).tobytes() for x in tensors]


# --- the table ------------------------------------------------------------------------------------


def test_records_and_kernels_have_the_same_names_and_numbers_of_arguments() -> None:
    counts = [(f"{name}_update", *rest) for name, *rest in map(tuple, _core.update_names())]
    assert counts == [
        (name, len(r.states), len(r.counters), len(r.numbers), len(r.constants))
        for name, r in ((name, record_of(name)) for name in NAMES)
    ]


def test_updates_are_in_a_table_of_their_own() -> None:
    assert not set(NAMES) & set(ts.records.OPS)
    assert updates.adam.function.__name__ == "adam_update"
    assert "adam_update(params, grads, " in (updates.adam.function.__doc__ or "")


# --- the same bits --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*FLOATS, ts.complex64, ts.complex128], ids=lambda d: d.name)
@pytest.mark.parametrize("name", NAMES)
def test_fast_path_and_record_agree(name: str, dtype: DType) -> None:
    given = arguments(name, SHAPES, dtype)
    fast, slow = copied(given), copied(given)
    assert UPDATES[name].function(*fast) is None
    with fast_path_off():
        assert UPDATES[name].function(*slow) is None
    assert bits(fast) == bits(slow)
    assert bits(fast)[: len(SHAPES)] != bits(given)[: len(SHAPES)]
    assert bits(fast)[len(SHAPES) : 2 * len(SHAPES)] == bits(given)[len(SHAPES) : 2 * len(SHAPES)]


@pytest.mark.parametrize("layout", [each for each in LAYOUTS if each != "repeated"])
@pytest.mark.parametrize("name", NAMES)
def test_layouts_give_the_same_bits(name: str, layout: str) -> None:
    record = record_of(name)
    for dtype in (ts.float32, ts.bfloat16, ts.complex64):
        given = arguments(name, [(3, 5), (70, 60), (2, 3, 4)], dtype)
        plain = copied(given)
        record.function(*plain)
        lists = range(2 + len(record.states))
        for chosen in ([0], [1], list(lists)):  # the parameter, its gradient, all
            strided = copied(given)
            for k in chosen:
                strided[k] = [LAYOUTS[layout](x) for x in strided[k]]
            record.function(*strided)
            assert bits(strided) == bits(plain)


@pytest.mark.parametrize("dtype", [ts.float32, ts.bfloat16], ids=lambda d: d.name)
@pytest.mark.parametrize("name", NAMES)
def test_threads_give_the_same_bits(name: str, dtype: DType) -> None:
    given = arguments(name, [(300, 301), (7,), (211, 100)], dtype)
    found = []
    for count in (1, 2, 3, 8):
        args = copied(given)
        with ts.num_threads(count):
            UPDATES[name].function(*args)
        found.append(bits(args))
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize("name", NAMES)
def test_one_call_for_many_parameters_is_many_calls(name: str) -> None:
    record = record_of(name)
    together = arguments(name, SHAPES, ts.float32)
    apart = copied(together)
    record.function(*together)
    for i in range(len(SHAPES)):
        lists = [[each[i]] for each in apart[: len(record.lists)]]
        record.function(*lists, *apart[len(record.lists) :])
    assert bits(together) == bits(apart)


@pytest.mark.parametrize("name", NAMES)
def test_halves_are_computed_in_float32_and_rounded_once(name: str) -> None:
    half = arguments(name, [(50,)], ts.bfloat16)
    wide = [[x.astype(ts.float32) if x.dtype is ts.bfloat16 else x.clone() for x in each]
            if isinstance(each, list) else each for each in half]  # fmt: skip
    UPDATES[name].function(*half)
    UPDATES[name].function(*wide)
    rounded = [[x.astype(ts.bfloat16) if x.ndim else x for x in each]
               if isinstance(each, list) else each for each in wide]  # fmt: skip
    assert bits(half) == bits(rounded)


@pytest.mark.parametrize("name", NAMES)
def test_complex_numbers_are_pairs_of_reals(name: str) -> None:
    given = arguments(name, [(4, 3)], ts.complex64)
    record = record_of(name)
    reals = [
        [ts.view_as_real(x).clone() if x.dtype.is_complex else x.clone() for x in each]
        for each in given[: len(record.lists)]
    ]
    record.function(*given)
    record.function(*reals, *given[len(record.lists) :])
    assert bits(given[: len(record.lists)]) == bits(reals)


def test_parameters_that_share_memory_are_taken_in_their_order() -> None:
    for size in (5, 200_000):
        memory = ts.ones(2 * size)
        whole, part = memory[:-1], memory[1:]
        grads = [ts.ones(2 * size - 1), ts.ones(2 * size - 1) * 2]
        updates.sgd.function([whole, part], grads, None, None, number(1.0), number(0.0), 0.0, 0.5,
                             False, False)  # fmt: skip
        # The first makes 1 - 1.5 of each 1, the second -0.5 - 1.75 of those; the last is 1 - 2.5.
        assert memory[:: 2 * size - 1].tolist() == [-0.5, -1.5]
        assert set(listed(memory[1:-1])) == {-2.25}


# --- what is written, and what is not -------------------------------------------------------------


def test_versions_advance_and_gradients_are_as_they_were() -> None:
    x = ts.ones(3, requires_grad=True)
    y = (x * x).sum()
    args = arguments("sgd_update", [(3,)], ts.float32)
    updates.sgd.function([x], *args[1:])
    with pytest.raises(ts.errors.InplaceError, match="overwritten"):
        y.backward()
    assert x.is_leaf and x.requires_grad


def test_a_parameter_without_gradient_is_left_out() -> None:
    args = arguments("adam_update", [(3,), (2, 2)], ts.float32)
    args[1][0] = None
    before = bits([each[:1] for each in args[:6]])
    UPDATES["adam_update"].function(*args)
    assert bits([each[:1] for each in args[:6]]) == before
    assert args[5][1].item() == 3.0


def test_no_parameters_are_no_work() -> None:
    updates.sgd.function([], [], None, None, number(1.0), number(0.0), 0.0, 0.0, False, False)


def test_virtual_parameters_are_checked_and_left_alone() -> None:
    p = _core.empty_virtual((2, 3), ts.float32.id)
    rest = [number(1.0), number(0.5), 0.0, 0.0, False, False]
    step = number(0.0)
    assert updates.sgd.function([p], [p], [p], [step], *rest) is None
    assert step.item() == 0
    with pytest.raises(ts.errors.IllegalState, match="a virtual tensor has no values"):
        updates.sgd.function([ts.ones(2, 3)], [p], None, None, *rest)
    with pytest.raises(ts.errors.ShapeError, match=r"grads\[0\] is float32 \(3,\)"):
        updates.sgd.function([p], [ts.ones(3)], None, None, *rest)


READONLY = "read-only"


def readonly(x: ts.Tensor) -> ts.Tensor:
    """Give a tensor that may not be written."""
    array = to_array(x)
    array.flags.writeable = False
    return ts.from_numpy(array)


def changed_at(k: int, change: Any) -> Any:
    """Give a function that changes the last tensor of the k-th list."""

    def apply(args: list[Any]) -> None:
        args[k][-1] = change(args[k][-1])

    return apply


WRONG: dict[str, tuple[Any, type[ts.errors.TessellaError], str]] = {
    "shape": (changed_at(1, lambda x: x[:1]), ts.errors.ShapeError,
              r"grads\[1\] is float32 \(1, 2\), params\[1\] float32 \(2, 2\)"),
    "dtype": (changed_at(2, lambda x: x.astype(ts.float64)), ts.errors.ShapeError,
              r"exp_avg\[1\] is float64 \(2, 2\), params\[1\] float32 \(2, 2\)"),
    "read-only": (changed_at(0, readonly), ts.errors.InvalidArgument, r"params\[1\] is read-only"),
    "state": (changed_at(3, readonly), ts.errors.InvalidArgument, r"exp_avg_sq\[1\] is read-only"),
    "broadcast": (changed_at(0, lambda x: ts.broadcast_to(x[:1], (2, 2))),
                  ts.errors.InvalidArgument, r"params\[1\] has elements that share memory"),
    "number": (changed_at(0, lambda x: 3), ts.errors.ArgumentError,
               r"params\[1\] must be a tensor, got int"),
    "counter": (changed_at(5, lambda x: ts.tensor(1.0)), ts.errors.DTypeMismatch,
                r"step\[1\] is float32 \(\)"),
    "integers": (lambda args: [each.__setitem__(1, each[1].astype(ts.int64)) for each in args[:5]],
                 ts.errors.DTypeMismatch, r"params\[1\] is int64"),
    "memory": (lambda args: args[2].__setitem__(1, args[0][1].T), ts.errors.InvalidArgument,
               r"params\[1\] and exp_avg\[1\] share memory"),
    "length": (lambda args: args[1].pop(), ts.errors.InvalidArgument,
               "grads has 1 tensor, params 2"),
    "list": (lambda args: args.__setitem__(0, None), ts.errors.ArgumentError,
             "params must be a list of tensors, got NoneType"),
    "rate": (lambda args: args.__setitem__(6, 0.1), ts.errors.ArgumentError,
             "lr must be a tensor, got float"),
    "constant": (lambda args: args.__setitem__(9, "x"), ts.errors.ArgumentError,
                 "eps must be a real number, got str"),
    "freed": (changed_at(3, lambda x: freed(x)), ts.errors.UseAfterFree, "exp_avg_sq|freed|memory"),
}  # fmt: skip


def freed(x: ts.Tensor) -> ts.Tensor:
    """Give a tensor whose memory is gone."""
    with ts.memory.temporary():
        made = x.clone()
    return made


@pytest.mark.parametrize("label", WRONG)
def test_wrong_operands_are_refused_and_nothing_is_written(label: str) -> None:
    spoil, kind, match = WRONG[label]
    args = arguments("adam_update", [(3,), (2, 2)], ts.float32)
    spoil(args)
    alive = [[x for x in each if isinstance(x, ts.Tensor) and not x.is_freed]
             if isinstance(each, list) else each for each in args]  # fmt: skip
    before = bits(alive)
    for path in (fast_path_off, ts.no_grad):
        with path(), pytest.raises(kind, match=f"^adam_update: .*({match})") as caught:
            UPDATES["adam_update"].function(*args)
        assert "  at test_updates.py:" in str(caught.value) and "  hint: " in str(caught.value)
    assert bits(alive) == before


def test_several_updates_are_made_or_none() -> None:
    function = UPDATES["adam_update"].function
    good, bad = (arguments("adam_update", [(3,)], ts.float32) for _ in range(2))
    bad[1][0] = bad[1][0][:2]
    before = bits([*good, *bad])
    assert not _core.update_all([(function, tuple(good)), (function, tuple(bad))])
    assert bits([*good, *bad]) == before
    assert _core.update_all([(function, tuple(good)), (function, tuple(good))])
    assert good[5][0].item() == 3.0
    wrongs: list[list[Any]] = [[3], [(function,)], [(ts.exp, ())], [(function, [])]]
    for wrong in wrongs:
        assert not _core.update_all(wrong)
    with pytest.raises(TypeError):
        _core.update(ts.exp, ())


def test_anomalies_name_the_update_that_made_them() -> None:
    args = arguments("sgd_update", [(2,)], ts.float32)
    args[4] = number(1e39)
    with ts.autograd.detect_anomaly(), pytest.raises(ts.errors.AnomalyError, match="sgd_update"):
        updates.sgd.function(*args)
    with ts.autograd.detect_anomaly():  # what had them before makes none
        updates.sgd.function(*args)


def test_a_watched_step_blames_what_it_made_and_nothing_else() -> None:
    x = ts.ones(3, requires_grad=True)
    optimizer = ts.optim.SGD([x], lr=0.5)
    x.grad = ts.ones(3)
    with ts.autograd.detect_anomaly():
        optimizer.step()
        optimizer.step()
        assert x.tolist() == [0.0, 0.0, 0.0]
        with ts.no_grad():
            x.fill_(float("inf"))  # by somebody else, between two steps
        optimizer.step()
        with ts.no_grad():
            x.fill_(3e38)
        x.grad.fill_(-3e38)
        with pytest.raises(ts.errors.AnomalyError, match="sgd_update: made inf"):
            optimizer.step()


# --- the formulas ---------------------------------------------------------------------------------

OPTIONAL = ("momentum_buffer", "max_exp_avg_sq", "grad_avg")
FLAGS = ("nesterov", "maximize", "decoupled_weight_decay")


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64], ids=lambda d: d.name)
@pytest.mark.parametrize("name", NAMES)
def test_updates_are_their_formulas(name: str, dtype: DType) -> None:
    """With each of the states and options that may be there or not."""
    record = record_of(name)
    left_out = [each for each in record.states if each in OPTIONAL]
    flags = [each for each in FLAGS if each in record.constants]
    for choice in itertools.product([False, True], repeat=len(left_out) + len(flags)):
        options = dict(zip([*left_out, *flags], choice, strict=True))
        args = arguments(name, [(7, 5)], dtype, **{each: options[each] for each in flags})
        for k, each in enumerate(record.lists):
            if options.get(each) and each in left_out:
                args[k] = None
        if args[2] is None and name == "sgd_update":
            args[3] = None
        named = dict(zip(record.lists, args, strict=False))
        arrays = {each: None if x is None else to_array(x[0]).astype("float64")
                  for each, x in named.items()}  # fmt: skip
        numbers = {each: x.item() for each, x in zip(
            record.numbers, args[len(record.lists) :], strict=False)}  # fmt: skip
        constants = {each: args[-len(record.constants) + i] for i, each in
                     enumerate(record.constants)}  # fmt: skip
        p, states = update_formulas.update(
            name.removesuffix("_update"), arrays.pop("params"), arrays.pop("grads"), arrays,
            numbers | constants)  # fmt: skip
        record.function(*args)
        close = 2e-6 if dtype is ts.float32 else 2e-14
        np.testing.assert_allclose(to_array(args[0][0]), p, rtol=close, atol=close)
        for each, wanted in states.items():
            if wanted is not None:
                found = to_array(named[each][0])
                np.testing.assert_allclose(found, wanted, rtol=close, atol=close, err_msg=each)
