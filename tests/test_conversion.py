"""Dtypes and devices by PyTorch's names, tensors made after another one, and what a tensor is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tessella as ts
from tessella.dtypes import DTYPES, DType
from tessella.ops.conversion import NAMED


def label(value: Any) -> str:
    """Name a parameter of a test."""
    return value.name if isinstance(value, DType) else str(value)


def test_methods_named_after_a_dtype_give_the_tensor_itself_if_it_has_it() -> None:
    for name, dtype in NAMED.items():
        x = ts.ones(2, dtype=dtype)
        assert getattr(x, name)() is x


def test_conversion_is_differentiable() -> None:
    x = ts.ones(2, requires_grad=True)
    assert x.double().requires_grad and not x.long().requires_grad


@pytest.mark.parametrize("dtype", DTYPES, ids=label)
def test_to_takes_a_dtype_a_device_or_a_tensor(dtype: DType) -> None:
    x = ts.ones(2, 3, dtype=ts.bool)
    like = ts.zeros(0, dtype=dtype)
    calls = [x.to(dtype), x.to(dtype=dtype), x.to("cpu", dtype), x.to(like), x.to(dtype.name),
             x.to(device="cpu", dtype=dtype), x.to(dtype, non_blocking=True)]  # fmt: skip
    for y in calls:
        assert y.dtype is dtype and y.shape == (2, 3)
        assert (y is x) == (dtype is ts.bool)


def test_to_copies_on_request() -> None:
    x = ts.ones(2)
    assert x.to("cpu") is x and x.to(None) is x
    y = x.to(ts.float32, copy=True)
    assert y is not x and y.data_ptr != x.data_ptr
    assert x.to(ts.float64, copy=True).dtype is ts.float64


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: x.to("cuda"), "to: device is 'cuda'"),
        (lambda x: x.to(3), "to: dtype must be a Tessella dtype, got 3"),
        (lambda x: x.to(ts.float32, copy=1), "to: copy must be True or False, got int"),
        (lambda x: x.long().to(ts.complex64).to(ts.float32), "to: complex64 to float32"),
        (lambda x: x.stride(2), "stride: index 2 is out of bounds"),
        (lambda x: x.new_zeros(-1), "new_zeros: negative size"),
        (lambda x: x.new_full((2,), "a"), "new_full: fill_value must be a number, got str"),
        (lambda x: x.new_ones(2, dtype="float33"), "new_ones: dtype must be a Tessella dtype"),
        (lambda x: x.new_tensor("a"), "new_tensor: data must be numbers"),
    ],
)
def test_wrong_arguments_are_refused(call: Callable[[ts.Tensor], Any], message: str) -> None:
    with pytest.raises(ts.errors.TessellaError) as caught:
        call(ts.ones(2, 3))
    assert str(caught.value).startswith(message)
    assert "  at test_conversion.py:" in str(caught.value)


@pytest.mark.parametrize("dtype", DTYPES, ids=label)
def test_new_tensors_take_the_dtype_of_the_old_one(dtype: DType) -> None:
    x = ts.zeros(1, dtype=dtype)
    assert x.new_zeros(2, 3).shape == x.new_zeros((2, 3)).shape == (2, 3)
    made = [x.new_zeros(2), x.new_ones(2), x.new_empty(2), x.new_full((2,), True)]
    assert all(y.dtype is dtype for y in [*made, x.new_tensor([False, True])])
    assert x.new_ones(2).tolist() == x.new_full(2, True).tolist()
    assert x.new_ones(2, dtype=ts.int8).dtype is ts.int8


@pytest.mark.parametrize("function", [ts.softmax, ts.log_softmax])
def test_softmax_converts_to_a_dtype_first(function: Callable[..., ts.Tensor]) -> None:
    x = ts.tensor([[1.0, 2.5, -3.0]], dtype=ts.float16, requires_grad=True)
    out = function(x, dim=-1, dtype=ts.float32)
    assert out.dtype is ts.float32 and ts.array_equal(out, function(x.float(), dim=-1))
    out[0, 0].backward()
    assert x.grad is not None and x.grad.dtype is ts.float16 and x.grad.abs().min() > 0
    assert function(ts.arange(3), dtype="float64").dtype is ts.float64
    with pytest.raises(ts.errors.DTypeMismatch, match="not defined for int64"):
        function(x, dtype=ts.int64)


def test_new_tensors_can_ask_for_gradients() -> None:
    x = ts.zeros(1)
    for made in (x.new_zeros(2, requires_grad=True), x.new_tensor([1.0], requires_grad=True)):
        assert made.requires_grad


def test_methods_tell_what_a_tensor_is() -> None:
    x = ts.zeros(4, 6)[1:, ::2]
    assert x.stride() == x.strides == (6, 2) and x.stride(1) == x.stride(-1) == 2
    assert x.stride(dim=0) == 6 and x.storage_offset() == x.offset == 6
    assert [ts.zeros(1, dtype=d).element_size() for d in DTYPES] == [d.itemsize for d in DTYPES]
    assert type(x.numel()) is int and x.nelement() == 9 and x.ndimension() == x.dim() == 2
    assert ts.is_tensor(x) and not ts.is_tensor(3.0)
