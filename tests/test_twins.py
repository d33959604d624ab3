"""Methods that end in an underscore: the result is written into x.

They are derived from the table, so that every operation that has one is tested here.
"""

from __future__ import annotations

from typing import Any

import pytest

import tessella as ts
from cases import draw_operands, stepped, to_tensors, transposed
from reference import assert_same_tensors
from tessella import _core, namespace
from tessella.declarations import Case
from tessella.dtypes import DType
from tessella.inplace import Twin
from tessella.kinds import Elementwise
from tessella.records import OPS

TWINS = {name: twin for name, twin in vars(ts.Tensor).items() if isinstance(twin, Twin)}
KINDS = {"bool": 0, "unsigned integer": 1, "signed integer": 1, "real floating": 2}


def call_of(each: Any) -> Case:
    """Give a call whose result has the shape of its first operand."""
    is_elementwise = isinstance(each, Elementwise)
    return Case(*[(3, 4)] * len(each.operands)) if is_elementwise else each.samples[0]


@pytest.mark.parametrize("name", sorted(TWINS))
def test_method_with_an_underscore_writes_what_the_operation_gives(name: str) -> None:
    each = TWINS[name].each
    case = call_of(each)
    for dtype in (ts.float32, ts.int64, ts.bool):
        x, *rest = to_tensors(each, draw_operands(each, case, dtype), dtype)
        try:
            want = each.function(x, *rest, **case.params)
        except ts.errors.DTypeMismatch:
            continue
        if KINDS[want.dtype.kind] > KINDS[dtype.kind]:
            before = x.tolist()
            with pytest.raises(ts.errors.DTypeMismatch, match=f"^{name}: the result is"):
                getattr(x, name)(*rest, **case.params)
            assert x.tolist() == before
            continue
        for target in (x.clone(), stepped(x), transposed(x)):
            version = target.version
            assert getattr(target, name)(*rest, **case.params) is target
            assert_same_tensors(target.clone(), want.astype(dtype))
            assert target.version == version + 1


@pytest.mark.parametrize("name", sorted(TWINS))
def test_twin_may_have_itself_for_an_operand(name: str) -> None:
    each = TWINS[name].each
    case = call_of(each)
    x, *rest = to_tensors(each, draw_operands(each, case, ts.float32), ts.float32)
    for i, y in enumerate(rest):
        if not isinstance(y, ts.Tensor) or y.shape != x.shape or y.dtype is not x.dtype:
            continue
        for layout in (x.clone(), stepped(x), transposed(x)):
            others = [layout if k == i else z for k, z in enumerate(rest)]
            try:
                want = each.function(x, *[x if z is layout else z for z in others], **case.params)
            except ts.errors.DTypeMismatch:
                continue
            getattr(layout, name)(*others, **case.params)
            assert_same_tensors(layout.clone(), want.astype(ts.float32))


FAILING = [(name, case) for name, twin in TWINS.items() for case in twin.each.errors
           if isinstance(case.shapes[0], tuple | ts.Tensor)]  # fmt: skip


@pytest.mark.parametrize(("name", "case"), FAILING)
def test_failing_twin_leaves_its_tensor_as_it_was(name: str, case: Case) -> None:
    each, dtype = TWINS[name].each, ts.dtypes.BY_NAME[case.dtype]
    x, *rest = to_tensors(each, draw_operands(each, case, dtype), dtype)
    assert isinstance(x, ts.Tensor)
    before, version = x.clone(), x.version
    with pytest.raises(ts.errors.TessellaError) as caught:
        getattr(x, name)(*rest, **case.params)
    assert str(caught.value).startswith(f"{name}: ")
    assert_same_tensors(x, before)
    assert x.version == version


# Methods of PyTorch that write into their tensor, and change neither its shape nor its memory.
TORCH = """
    abs absolute acos acosh add addcdiv addcmul addmm addmv addr addbmm baddbmm arccos arcsin arctan
    asin asinh atan atan2 atanh bernoulli bitwise_and bitwise_left_shift bitwise_not bitwise_or
    bitwise_right_shift bitwise_xor ceil clamp clamp_max clamp_min clip copy copysign cos cosh
    cumprod cumsum deg2rad div divide eq erf erfc erfinv exp exp2 expm1 fill fix float_power floor
    floor_divide fmod frac gcd ge greater greater_equal gt heaviside hypot i0 index_add index_copy
    index_fill index_put lcm ldexp le lerp less less_equal log log10 log1p log2 logical_and
    logical_not logical_or logical_xor logit lt masked_fill masked_scatter mul multiply nan_to_num
    ne neg negative nextafter normal not_equal pow rad2deg random reciprocal relu remainder renorm
    round rsqrt scatter scatter_add scatter_reduce sgn sigmoid sign sin sinc sinh sqrt square sub
    subtract tan tanh tril triu true_divide trunc uniform xlogy zero
"""


def test_methods_of_pytorch_that_write_are_here() -> None:
    assert [name for name in TORCH.split() if not hasattr(ts.Tensor, f"{name}_")] == []


def test_every_elementwise_method_has_its_twin() -> None:
    methods = [op for op in OPS.values() if isinstance(op, Elementwise) and op.is_method]
    names = {name for op in methods for name in (op.name, *op.aliases)}
    lacking = {name for name in names if f"{name}_" not in TWINS}
    assert lacking == set()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: x.add_(ts.ones(4)), r"add_: shapes (2, 3) and (4,) do not broadcast"),
        (lambda x: x[0].add_(x), "add_: the result has shape (2, 3), the target (3,)"),
        (lambda x: x.add_(), "add_: missing argument y"),
        (lambda x: x.exp_(1), "exp_: 2 arguments given, 1 taken"),
        (lambda x: x.add_("a"), "add_: y must be a tensor or a number, got str"),
        (lambda x: x.requires_grad_().exp_(), "exp_: x requires gradients"),
        (lambda x: ts.broadcast_to(x[:1], (2, 3)).exp_(), "exp_: x has elements that share"),
        (lambda x: vars(ts.Tensor)["exp_"](3), "exp_: x must be a tensor, got int"),
    ],
)
def test_method_with_an_underscore_explains_itself(call: Any, message: str) -> None:
    x = ts.arange(6.0).reshape(2, 3)
    with pytest.raises(ts.errors.TessellaError) as caught:
        call(x)
    assert str(caught.value).startswith(message)
    assert "  at test_twins.py:" in str(caught.value)
    assert x.detach().tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_twin_of_its_own_transpose_reads_before_it_writes() -> None:
    x = ts.arange(9.0).reshape(3, 3)
    assert x.clone().add_(x.T).tolist() == (x + x.T).tolist()
    y = x.clone()
    assert y.add_(y.T).tolist() == (x + x.T).tolist()
    z = x.clone()
    assert z.mul_(z[0]).tolist() == (x * x[0]).tolist()


def test_twin_that_needs_no_conversion_allocates_nothing() -> None:
    x, y = ts.ones(1000), ts.ones(1000)
    x.add_(y)
    before = _core.memory_counts()[2:]
    x.add_(y).mul_(2.0).clamp_(0.0, 1.0)
    assert _core.memory_counts()[2:] == before


# --- options -------------------------------------------------------------------------------------


def test_alpha_scales_the_second_operand() -> None:
    x, y = ts.tensor([1, 2]), ts.tensor([10, 20])
    assert ts.add(x, y, alpha=3).tolist() == [31, 62] and x.sub(y, alpha=2).tolist() == [-19, -38]
    assert ts.add(x, 5, alpha=2).tolist() == [11, 12]
    assert x.double().add_(y, alpha=0.5).tolist() == [6.0, 12.0]
    x.add_(y, alpha=-1)
    assert x.tolist() == [-9, -18]


@pytest.mark.parametrize("dtype", [ts.int64, ts.uint8, ts.float32], ids=str)
def test_rounding_mode_rounds_the_quotient(dtype: DType) -> None:
    values = [7, 6, 5, 0] if dtype is ts.uint8 else [-7, -6, 7, 6]
    x = ts.tensor(values, dtype=dtype)
    for y in (2, 3):
        trunc, floor = ([f(v, y) for v in values] for f in (lambda v, y: int(v / y), divmod_floor))
        got = x.div(y, rounding_mode="trunc"), ts.div(x, y, rounding_mode="floor")
        assert [z.tolist() for z in got] == [trunc, floor]
        assert all(z.dtype is dtype for z in got)
    assert ts.div(x, 2, rounding_mode=None).dtype is ts.float32


def divmod_floor(x: int, y: int) -> int:
    """Divide and round down."""
    return x // y


def test_option_of_a_wrong_value_names_the_operation() -> None:
    with pytest.raises(ts.errors.InvalidArgument, match=r"^div: rounding_mode is 'up'"):
        ts.div(ts.ones(2), 2, rounding_mode="up")  # type: ignore[arg-type]


# --- PyTorch's inplace= --------------------------------------------------------------------------

ACTIVATIONS = [each for each in namespace.declared() if each.takes_inplace]


def test_activations_of_pytorch_take_inplace() -> None:
    assert {each.name for each in ACTIVATIONS} == {
        "celu", "elu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "mish", "relu",
        "relu6", "selu", "silu", "threshold",
    }  # fmt: skip


@pytest.mark.parametrize("each", ACTIVATIONS, ids=lambda each: each.name)
def test_inplace_writes_into_the_operand(each: Any) -> None:
    rest = (0.5, 2.0) if each.name == "threshold" else ()
    leaf = ts.linspace(-3, 3, 7, requires_grad=True)
    want = each.function(leaf, *rest)
    (slope,) = ts.autograd.grad(want.sum(), leaf)
    for function in (each.function, getattr(ts.nn.functional, each.name)):
        x = leaf * 1
        assert function(x, *rest, inplace=True) is x and x.tolist() == want.tolist()
        assert ts.autograd.grad(x.sum(), leaf)[0].tolist() == slope.tolist()
    x = leaf * 1
    assert each.function(x, *rest, inplace=False) is not x and x.tolist() == leaf.tolist()


def test_inplace_is_refused_where_pytorch_has_none() -> None:
    x = ts.ones(2, requires_grad=True)
    with pytest.raises(ts.errors.ArgumentError, match=r"^softmax: unknown keyword inplace"):
        ts.nn.functional.softmax(x, dim=0, inplace=True)  # type: ignore[call-overload]
    with pytest.raises(ts.errors.ArgumentError, match=r"^relu: inplace must be"):
        ts.nn.functional.relu(x, inplace="yes")  # type: ignore[arg-type]
    with pytest.raises(ts.errors.InplaceError, match=r"^relu: "):
        ts.nn.functional.relu(x, inplace=True)
    with pytest.raises(ts.errors.ArgumentError) as caught:
        ts.nn.functional.relu(x, True)  # type: ignore[call-arg]
    assert "hint: the signature is relu(x, *, inplace=False)" in str(caught.value)
    named: dict[str, Any] = {"input": x * 1, "inplace": True}
    assert ts.nn.functional.relu(**named) is named["input"]
