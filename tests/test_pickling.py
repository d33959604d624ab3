"""Pickles and copies: the same tensor in other memory, and only the elements in view."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import tessella as ts
from tessella import _core
from tessella.dtypes import DTYPES, DType

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


class Named(ts.Tensor):
    """A subclass with attributes."""

    name: str
    notes: list[str]


def named(x: ts.Tensor) -> Named:
    """Give a tensor with attributes."""
    out = Named(x)
    out.name, out.notes = "weights", ["first"]
    return out


def restored(x: Any, protocol: int) -> Any:
    """Pickle and unpickle."""
    return pickle.loads(pickle.dumps(x, protocol))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_survives(dtype: DType, protocol: int) -> None:
    x = ts.tensor([[0, 1], [1, 0], [0, 1]]).astype(dtype)
    for view in (x, x.T, x[::-2], x[:0], x[0, 1], x[1].broadcast_to(2, 2)):
        back = restored(view, protocol)
        assert back.dtype is dtype and back.shape == view.shape and back.tolist() == view.tolist()
        assert back.is_contiguous and not back.is_readonly and back.data_ptr != view.data_ptr


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_only_the_elements_in_view_are_stored(protocol: int) -> None:
    large = ts.zeros(1000, 1000)
    assert len(pickle.dumps(large[500, 10:20], protocol)) < 500
    assert len(pickle.dumps(large[::100, ::100], protocol)) < 3000  # of 4 MB


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_leaves_keep_their_wish_for_gradients(protocol: int) -> None:
    assert restored(ts.ones(2, requires_grad=True), protocol).requires_grad
    assert not restored(ts.ones(2), protocol).requires_grad


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_subclasses_keep_their_class_and_attributes(protocol: int) -> None:
    x = named(ts.arange(3.0)).requires_grad_()
    back = restored(x, protocol)
    assert type(back) is Named and back.tolist() == [0.0, 1.0, 2.0] and back.requires_grad
    assert (back.name, back.notes) == ("weights", ["first"])


def test_bytes_travel_out_of_band_without_a_copy() -> None:
    x = ts.arange(1000.0)
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps([x, x[::2], ts.ones(2, dtype=ts.bool)], 5, buffer_callback=buffers.append)
    assert len(text) < 500 and [len(buffer.raw()) for buffer in buffers] == [4000, 2000, 2]
    whole, half, truth = pickle.loads(text, buffers=buffers)
    assert whole.data_ptr == x.data_ptr and half.data_ptr != x.data_ptr
    assert half.tolist() == x[::2].tolist() and truth.tolist() == [True, True]
    whole[0] = 7.0
    assert x.at(0) == 7.0


def test_buffers_of_any_kind_are_taken_back() -> None:
    x = ts.arange(3.0)
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps(x, 5, buffer_callback=buffers.append)
    data = bytes(buffers[0].raw())
    fixed = pickle.loads(text, buffers=[memoryview(data)])
    assert fixed.is_readonly and fixed.tolist() == [0.0, 1.0, 2.0]
    off = memoryview(bytearray(b"\0" + data))[1:]
    assert pickle.loads(text, buffers=[off]).tolist() == [0.0, 1.0, 2.0]
    for copied in (data, bytearray(data)):
        assert not pickle.loads(text, buffers=[copied]).is_readonly


@pytest.mark.parametrize("data", [b"", b"1234567", bytearray(9), memoryview(b"1234567")])
def test_pickles_of_another_length_are_refused(data: Any) -> None:
    from tessella.pickling import rebuild

    with pytest.raises(ValueError):
        rebuild(data, ts.float32, (2,), False)


# --- copies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_copies_have_memory_of_their_own(dtype: DType, copier: Any) -> None:
    x = ts.tensor([[0, 1, 1], [1, 0, 0]]).astype(dtype)
    for view in (x, x.T, x[:, ::-2], x[0, 0], x[:0]):
        other = copier(view)
        assert other.dtype is dtype and other.tolist() == view.tolist()
        assert other.is_contiguous and not _core.may_overlap(other, view)


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy])
def test_copies_keep_class_attributes_and_gradients(copier: Any) -> None:
    x = named(ts.ones(2))
    x.requires_grad_()
    other = copier(x)
    assert type(other) is Named and other.name == "weights" and other.requires_grad
    assert other.grad_fn is None
    assert (other.notes is x.notes) == (copier is copy.copy)


def test_a_deep_copy_copies_each_tensor_once() -> None:
    x = ts.ones(3)
    first, second, view = copy.deepcopy([x, x, x[1:]])
    assert first is second and not _core.may_overlap(first, view)
    holder = named(x)
    holder.owner = holder  # type: ignore[attr-defined]
    other: Any = copy.deepcopy(holder)
    assert other.owner is other


def test_copies_of_read_only_memory_can_be_written() -> None:
    array = np.zeros(2)
    array.flags.writeable = False
    x = ts.from_numpy(array)
    for other in (copy.copy(x), copy.deepcopy(x), restored(x, 5), restored(x, 2)):
        other += 1
        assert other.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy, pickle.dumps])
def test_results_in_a_graph_are_refused(copier: Any) -> None:
    result = ts.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="x is a result that gradients flow through") as caught:
        copier(result)
    assert "copy x.detach(), or x.clone() to stay in the graph" in str(caught.value)
    copier(result.detach())


def test_virtual_tensors_have_nothing_to_copy() -> None:
    virtual = _core.empty_virtual((2,), ts.float32.id)
    for copier in (copy.deepcopy, pickle.dumps):
        with pytest.raises(RuntimeError, match="a virtual tensor has no values"):
            copier(virtual)
