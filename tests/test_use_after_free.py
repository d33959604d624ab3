"""Tensors whose memory an arena took back: every use of them raises, and nothing else happens.

The calls are made from the table, so that no function is left out; what Python does with a tensor
beside calling functions is spelled out. test_pins.py has what keeps an arena from a reset.
"""

from __future__ import annotations

import contextlib
import copy
import operator
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessella as ts
from calls import DECLARED, Call, call_of, calls_of, without_calls
from cases import cases_for, dtypes_of, fast_path_off
from reference import assert_same_tensors
from tessella import memory
from tessella.inplace import Twin
from tessella.records import OPS, Op

TAKING = [name for name in DECLARED if any(call.tensors() for call in calls_of(name))]
# What no call is made of: questions about dtypes and shapes, settings.
TAKE_NONE = ["manual_seed", "set_blas", "get_blas", "broadcast_shapes", "finfo", "iinfo", "isdtype",
             "can_cast", "spec"]  # fmt: skip
# By name: the operands that are asked for shape, dtype and strides only, never for memory.
ASKED_ONLY: dict[str, tuple[int, ...]] = {
    "empty_like": (0,), "zeros_like": (0,), "ones_like": (0,), "full_like": (0,),
    "rand_like": (0,), "randn_like": (0,), "randint_like": (0,),
    "new_zeros": (0,), "new_ones": (0,), "new_empty": (0,), "new_full": (0,), "new_tensor": (0,),
    "type_as": (1,), "expand_as": (1,), "view_as": (1,), "reshape_as": (1,),
    "shape_match": (0, 1), "numel": (0,), "dim": (0,), "element_size": (0,), "stride": (0,),
    "storage_offset": (0,), "is_floating_point": (0,), "is_complex": (0,), "is_signed": (0,),
    "is_tensor": (0,), "result_type": (0,),
    "isreal": (0,),  # real dtypes: true by the dtype alone
}  # fmt: skip


def in_arena(*tensors: ts.Tensor) -> tuple[memory.Arena, list[ts.Tensor]]:
    """Give copies of tensors, and the arena that they live in."""
    arena = memory.Arena("64KiB", growable=True, name="step")
    with memory.use(arena):
        copies = [x.clone() for x in tensors]
    assert all(x.allocator == arena for x in copies)
    return arena, copies


def freed(x: ts.Tensor) -> ts.Tensor:
    """Give a tensor of the same shape and dtype whose memory is gone."""
    arena, (gone,) = in_arena(x)
    arena.reset()
    assert gone.is_freed and (gone.shape, gone.dtype) == (x.shape, x.dtype)
    return gone


def leaves(value: Any) -> list[Any]:
    """Give the parts of a result, or the result itself."""
    if isinstance(value, tuple | list):
        return [x for part in value for x in leaves(part)]
    return [value]


# --- every declared function ----------------------------------------------------------------------


def test_every_function_that_takes_tensors_is_called() -> None:
    assert sorted(without_calls()) == sorted(TAKE_NONE)


def needs_no_values(call: Call, i: int) -> bool:
    """Tell whether a call gives a result whatever the values of its i-th tensor are."""
    if call.name == "array_equal":
        return bool(call.args[0].shape != call.args[1].shape)
    if call.name == "linalg.matrix_power":
        return bool(call.args[1] == 0)
    return call.tensors()[i].size == 0 or i in ASKED_ONLY.get(call.name, ())


def check_result(call: Call, places: list[int], result: Any) -> None:
    """Allow a result of freed operands if no value of theirs can be in it."""
    parts = [part for part in leaves(result) if isinstance(part, ts.Tensor)]
    is_itself = any(part.is_freed for part in parts)
    is_empty = bool(parts) and all(part.size == 0 for part in parts)
    assert is_itself or is_empty or all(needs_no_values(call, i) for i in places), (call, result)


def check_refused(call: Call, i: int) -> None:
    """Call with the i-th tensor freed: an error, or a result that no memory was needed for."""
    x = call.tensors()[i]
    others = [each.clone() for each in call.tensors()]
    try:
        result = call.replaced(i, freed(x))()
    except ts.errors.UseAfterFree as error:
        assert f"the memory of {x.dtype} {x.shape} is gone: Arena 'step' was reset" in str(error)
    else:
        check_result(call, [i], result)
    for place, (other, before) in enumerate(zip(call.tensors(), others, strict=True)):
        if place != i:
            assert_same_tensors(other, before)


@pytest.mark.parametrize("path", ["fast", "slow"])
@pytest.mark.parametrize("name", TAKING)
def test_function_refuses_each_freed_operand(name: str, path: str) -> None:
    with fast_path_off() if path == "slow" else contextlib.nullcontext():
        for call in calls_of(name):
            for i in range(len(call.tensors())):
                check_refused(call, i)


@pytest.mark.parametrize("name", ASKED_ONLY)
def test_function_that_asks_for_shape_and_dtype_needs_no_memory(name: str) -> None:
    call = calls_of(name)[0]
    for i in ASKED_ONLY[name]:
        want = leaves(call())
        for got, wanted in zip(
            leaves(call.replaced(i, freed(call.tensors()[i]))()), want, strict=True
        ):
            if isinstance(wanted, ts.Tensor):
                assert (got.shape, got.dtype, got.is_freed) == (wanted.shape, wanted.dtype, False)
            else:
                assert got == wanted


@pytest.mark.parametrize("name", TAKING)
def test_function_refuses_operands_that_are_all_freed(name: str) -> None:
    for call in calls_of(name):
        try:
            result = call.changed(freed)()
        except ts.errors.UseAfterFree:
            continue
        check_result(call, list(range(len(call.tensors()))), result)


def test_record_with_gradients_refuses_freed_operands() -> None:
    for name in ("exp", "mul", "matmul", "sum", "softmax", "permute"):
        for call in calls_of(name):
            tensors = [x for x in call.tensors() if x.dtype.is_floating and x.size]
            if len(tensors) == len(call.tensors()) > 0:
                with pytest.raises(ts.errors.UseAfterFree):
                    call.changed(gone_with_gradient)()


def gone_with_gradient(x: ts.Tensor) -> ts.Tensor:
    """Give a freed tensor that wants gradients."""
    arena, (gone,) = in_arena(x)
    gone.requires_grad_()
    arena.reset()
    return gone


# --- results written into tensors -----------------------------------------------------------------

TWINS = {name: twin for name, twin in vars(ts.Tensor).items() if isinstance(twin, Twin)}


def twin_call(name: str) -> Call:
    """Give a call of a method with an underscore that works."""
    each = TWINS[name].each
    every = isinstance(each, Op) and [
        call_of(each, case, dtype) for dtype in dtypes_of(each) for case in cases_for(each, dtype)
    ]
    for call in every or calls_of(each.name):
        x = call.tensors()[0]
        target, *rest = call.changed(lambda y: y.clone()).args
        if isinstance(target, ts.Tensor) and x.size:
            with contextlib.suppress(ts.errors.TessellaError):
                assert getattr(target, name)(*rest, **call.named) is target
                return call
    raise AssertionError(f"no sample of {each.name} can be written into its operand")


@pytest.mark.parametrize("name", TWINS)
def test_method_with_an_underscore_refuses_freed_tensors(name: str) -> None:
    call = twin_call(name)
    x, *rest = call.args
    with pytest.raises(ts.errors.UseAfterFree):
        getattr(freed(x), name)(*rest, **call.named)
    for i in range(1, len(call.tensors())):
        target = x.clone()
        args = call.replaced(i, freed(call.tensors()[i]))
        with pytest.raises(ts.errors.UseAfterFree):
            getattr(target, name)(*args.args[1:], **args.named)
        assert_same_tensors(target, x)


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if op.takes_out])
def test_out_refuses_freed_tensors(name: str) -> None:
    op = OPS[name]
    dtype = dtypes_of(op)[-1]
    for case in cases_for(op, dtype):
        call = call_of(op, case, dtype)
        want = call()
        if not want.size:
            continue
        with pytest.raises(ts.errors.UseAfterFree):
            op.function(*call.args, **call.named, out=freed(want))
        for i, x in enumerate(call.tensors()):
            out = ts.ones_like(want)
            broken = call.replaced(i, freed(x))
            if x.size:
                with pytest.raises(ts.errors.UseAfterFree):
                    op.function(*broken.args, **broken.named, out=out)
                assert_same_tensors(out, ts.ones_like(want))


# --- what Python does with tensors ----------------------------------------------------------------


class Sub(ts.Tensor):
    """A subclass, made of a tensor."""


USES: dict[str, Callable[[ts.Tensor, ts.Tensor], Any]] = {
    "negation": lambda x, y: -x,
    "reflected": lambda x, y: 1 - x,
    "comparison": lambda x, y: x == y,
    "comparison, reflected": lambda x, y: y < x,
    "comparison with itself": lambda x, y: x == x,
    "product": lambda x, y: x @ y.T,
    "in place": lambda x, y: x.__iadd__(y),
    "in place with a number": lambda x, y: x.__imul__(2),
    "into another": lambda x, y: y.__iadd__(x),
    "copy_": lambda x, y: x.copy_(y),
    "copy_ of it": lambda x, y: y.copy_(x),
    "fill_": lambda x, y: x.fill_(1),
    "zero_": lambda x, y: x.zero_(),
    "assignment": lambda x, y: x.__setitem__(0, 1.0),
    "assignment of everything": lambda x, y: x.__setitem__(..., y),
    "assignment by mask": lambda x, y: x.__setitem__(y > 1, 0.0),
    "assignment of it": lambda x, y: y.__setitem__(slice(None), x),
    "assignment of a row of it": lambda x, y: y.__setitem__(0, x[0]),
    "index": lambda x, y: x[0],
    "element": lambda x, y: x[0, 0],
    "slice": lambda x, y: x[:, 1:],
    "everything": lambda x, y: x[...],
    "new axis": lambda x, y: x[None],
    "by indices": lambda x, y: x[ts.tensor([0, 1])],
    "by a list": lambda x, y: x[[0, 1]],
    "by a mask": lambda x, y: x[y > 1],
    "iteration": lambda x, y: list(x),
    "iteration backwards": lambda x, y: list(reversed(x)),
    "unpacking": lambda x, y: (lambda a, b: a)(*x),
    "membership": lambda x, y: 1.0 in x,
    "pickle": lambda x, y: pickle.dumps(x),
    "pickle out of band": lambda x, y: pickle.dumps(x, protocol=5, buffer_callback=lambda b: None),
    "copy": lambda x, y: copy.copy(x),
    "deepcopy": lambda x, y: copy.deepcopy([x]),
    "numpy": lambda x, y: x.numpy(),
    "asarray": lambda x, y: np.asarray(x),
    "__array__": lambda x, y: x.__array__(),
    "memoryview": lambda x, y: memoryview(x),
    "from_dlpack": lambda x, y: np.from_dlpack(x),
    "__dlpack__": lambda x, y: x.__dlpack__(),
    "__dlpack__ of a copy": lambda x, y: x.__dlpack__(copy=True),
    "ts.tensor": lambda x, y: ts.tensor(x),
    "ts.tensor of rows": lambda x, y: ts.tensor([x]),
    "tolist": lambda x, y: x.tolist(),
    "item": lambda x, y: x.item(0),
    "at": lambda x, y: x.at(0, 0),
    "clone": lambda x, y: x.clone(),
    "detach": lambda x, y: x.detach(),
    "T": lambda x, y: x.T,
    "mT": lambda x, y: x.mT,
    "view": lambda x, y: x.view(6),
    "bits": lambda x, y: x.view(ts.int32),
    "requires_grad_": lambda x, y: x.requires_grad_(),
    "data_ptr": lambda x, y: x.data_ptr,
    "where": lambda x, y: ts.where(y > 1, x, y),
    "list of operands": lambda x, y: ts.concat([y, x]),
    "format": lambda x, y: f"{x:.2f}",
    "cast": lambda x, y: x.astype(ts.float64),
}


@pytest.mark.parametrize("path", ["fast", "slow"])
@pytest.mark.parametrize("use", USES)
def test_use_of_freed_memory_is_refused(use: str, path: str) -> None:
    x, y = freed(ts.ones(2, 3)), ts.arange(6.0).reshape(2, 3)
    with (
        fast_path_off() if path == "slow" else contextlib.nullcontext(),
        pytest.raises(ts.errors.UseAfterFree, match=r"the memory of float32 \([^)]*\) is gone"),
    ):
        USES[use](x, y)
    assert y.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] and x.version == 0


@pytest.mark.parametrize("convert", [float, int, bool, complex, ts.Tensor.item, "{:.3f}".format])
def test_number_of_a_freed_element_is_refused(convert: Callable[[Any], Any]) -> None:
    for x in (ts.tensor(2.0), ts.ones(1)):
        with pytest.raises(ts.errors.UseAfterFree):
            convert(freed(x))


def test_integer_of_a_freed_element_is_no_index() -> None:
    i = freed(ts.tensor(1))
    for use in (operator.index, lambda i: [1, 2][i], lambda i: ts.ones(3)[i], lambda i: ts.ones(i),
                lambda i: ts.arange(i), lambda i: range(i)):  # fmt: skip
        with pytest.raises(ts.errors.UseAfterFree):
            use(i)


@pytest.mark.parametrize("path", ["fast", "slow"])
@pytest.mark.parametrize(
    "key",
    [ts.tensor([0, 1]), ts.tensor([[True, False, True]] * 2), ts.tensor([True, False]),
     ts.tensor(1), ts.tensor(True)],
    ids=["indices", "mask", "mask of rows", "integer", "bool"],
)  # fmt: skip
def test_freed_key_is_refused(key: ts.Tensor, path: str) -> None:
    x = ts.arange(6.0).reshape(2, 3)
    gone = freed(key)
    with fast_path_off() if path == "slow" else contextlib.nullcontext():
        for use in (lambda: x[gone], lambda: x.__setitem__(gone, 9.0),
                    lambda: x.__setitem__(gone, ts.ones(3))):  # fmt: skip
            with pytest.raises(ts.errors.UseAfterFree):
                use()
        if key.dtype is ts.int64:
            with pytest.raises(ts.errors.UseAfterFree):
                x[:, gone]
            with pytest.raises(ts.errors.UseAfterFree):
                x[gone, gone]
    assert x.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_freed_tensor_still_knows_what_it_was() -> None:
    arena, (x,) = in_arena(ts.ones(2, 3, dtype=ts.int16))
    view = x[:, 1:]
    version = x.version
    arena.reset()
    assert (x.shape, x.dtype, x.ndim, x.size, x.nbytes) == ((2, 3), ts.int16, 2, 6, 12)
    assert (view.shape, view.strides, view.offset) == ((2, 2), (3, 1), 1)
    assert x.is_freed and view.is_freed and x.allocator == arena and x.version == version
    assert repr(x) == str(x) == f"{x}" == "tensor int16 (2, 3) freed"
    assert len(x) == 2 and hash(x) == hash(x) and not x.is_virtual
    assert Sub(x).is_freed and repr(Sub(x)) == repr(x)


def test_view_never_sees_the_next_tenant() -> None:
    arena, (x,) = in_arena(ts.ones(8))
    views = [x[2:], x.flip(), x.view(2, 4), x.detach(), ts.broadcast_to(x, (3, 8))]
    place = x.data_ptr
    arena.reset()
    with memory.use(arena):
        tenant = ts.full(8, 7.0)
    assert tenant.data_ptr == place
    for view in views:
        with pytest.raises(ts.errors.UseAfterFree):
            view.tolist()
        with pytest.raises(ts.errors.UseAfterFree):
            view.detach().fill_(0.0)
    assert tenant.tolist() == [7.0] * 8 and not tenant.is_freed


def test_view_keeps_its_buffer_when_the_tensor_goes() -> None:
    arena, (x,) = in_arena(ts.arange(8.0))
    view = x[2:5]
    del x
    assert arena.live == 32 and view.tolist() == [2.0, 3.0, 4.0]
    del view
    assert arena.live == 0


def test_clone_outside_the_scope_carries_a_tensor_out() -> None:
    arena, (x,) = in_arena(ts.arange(4.0))
    kept = x.clone()
    arena.reset()
    assert kept.allocator == memory.heap and kept.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_node_does_not_give_what_was_freed() -> None:
    arena, (x, w) = in_arena(ts.ones(3), ts.full(3, 2.0))
    x.requires_grad_()
    y = x * w  # on the heap; its node saved both
    assert y.requires_grad and y.grad_fn is not None
    arena.reset()
    saved = [each for each in y.grad_fn.saved if isinstance(each, ts.Tensor)]
    assert saved and all(each.is_freed for each in saved)
    for each in saved:
        with pytest.raises(ts.errors.UseAfterFree):
            each + 1
    assert y.detach().tolist() == [2.0, 2.0, 2.0]


# --- what the error says --------------------------------------------------------------------------


def error_of(use: Callable[[], Any]) -> list[str]:
    """Give the lines of the error that a use raises."""
    with pytest.raises(ts.errors.UseAfterFree) as caught:
        use()
    assert caught.value.code == "use_after_free"
    return str(caught.value).splitlines()


HINT = "  hint: carry it out before: x.clone() outside the arena's scope, or x.to(memory.heap)"


def test_error_names_operation_arena_shape_dtype_and_line() -> None:
    x = freed(ts.ones(2, 3))
    y = ts.ones(3, dtype=ts.float64)
    first, *operands, place, hint = error_of(lambda: x + y)
    assert first == ("add: the memory of float32 (2, 3) is gone: Arena 'step' was reset, "
                     "or released to an earlier mark")  # fmt: skip
    assert operands == ["    x  float32 (2, 3)", "    y  float64 (3,)"]
    assert place.startswith("  at test_use_after_free.py:") and "error_of(lambda: x + y)" in place
    assert hint == HINT


def test_error_names_the_line_that_made_the_tensor_under_track() -> None:
    arena = memory.Arena("1KiB", name="step")
    with memory.track(lines=True), memory.use(arena):
        x = ts.ones(2, 3)
        line = made_here()
    view = x[1]
    arena.reset()
    wanted = f"made at test_use_after_free.py:{line - 1}"
    assert f"float32 (2, 3), {wanted}, is gone" in error_of(lambda: x.sum())[0]
    assert f"float32 (3,), {wanted}, is gone" in error_of(lambda: view.sum())[0]


def made_here() -> int:
    """Give the caller's line."""
    return sys._getframe(1).f_lineno
