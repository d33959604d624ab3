"""PyTorch and Tessella over the same memory, both ways; addresses are compared."""

from __future__ import annotations

import gc
import operator
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
import torch

import tessella as ts
from tessella import _core
from tessella.dtypes import DTYPES, DType


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_is_shared_both_ways(dtype: DType) -> None:
    theirs = torch.tensor([[0, 1, 1], [1, 0, 0]]).to(getattr(torch, dtype.name))
    for take in (ts.from_dlpack, ts.asarray):
        x = take(theirs)
        assert x.dtype is dtype and x.shape == (2, 3) and not x.is_readonly
        assert x.data_ptr == theirs.data_ptr() and x.tolist() == theirs.tolist()
    x[0, 0] = True
    assert theirs[0, 0].item() == 1
    ours = ts.tensor([[0, 1, 1], [1, 0, 0]]).astype(dtype)
    for give in (torch.from_dlpack, torch.as_tensor):
        back = give(ours)
        assert back.dtype is getattr(torch, dtype.name) and back.data_ptr() == ours.data_ptr
        assert back.tolist() == ours.tolist()
    back = torch.from_dlpack(ours)
    back[1, 1] = 1
    assert ours.at(1, 1) == 1


LAYOUTS: dict[str, Any] = {
    "whole": lambda x: x,
    "turned": lambda x: x.T,
    "part": lambda x: x[1:, ::2],
    "column": lambda x: x[:, 1],
    "element": lambda x: x[1, 2],
    "empty": lambda x: x[:0],
    "new axes": lambda x: x[None, :, None],
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_any_layout_is_shared_as_it_is(name: str) -> None:
    ours, theirs = ts.arange(12.0).reshape(3, 4), torch.arange(12.0).reshape(3, 4)
    given, taken = LAYOUTS[name](ours), LAYOUTS[name](theirs)
    back, x = torch.from_dlpack(given), ts.from_dlpack(taken)
    assert tuple(back.shape) == given.shape and back.tolist() == given.tolist()
    assert x.shape == tuple(taken.shape) and x.tolist() == taken.tolist()
    if given.size:
        assert back.data_ptr() == given.data_ptr and x.data_ptr == taken.data_ptr()


def test_negative_strides_are_refused_before_they_end_the_process() -> None:
    with pytest.raises(BufferError, match="x has negative strides"):
        torch.from_dlpack(ts.arange(3).flip(0))
    assert torch.from_dlpack(ts.arange(3).flip(0).contiguous()).tolist() == [2, 1, 0]


def test_torch_asarray_reads_bytes() -> None:
    """Documented in docs/interop.md: it takes any buffer for a row of float32, JAX's arrays too."""
    x = ts.arange(4, dtype=ts.int32).reshape(2, 2)
    assert torch.asarray(x).shape == (4,) and torch.asarray(x).dtype is torch.float32
    assert torch.asarray(x, dtype=torch.int32).data_ptr() == x.data_ptr


def test_copies_are_made_when_asked_for() -> None:
    theirs = torch.arange(3.0)
    for x in (ts.from_dlpack(theirs, copy=True), ts.asarray(theirs, copy=True), ts.tensor(theirs)):
        assert x.data_ptr != theirs.data_ptr() and x.tolist() == [0.0, 1.0, 2.0]
    assert ts.asarray(theirs, dtype=ts.float64).tolist() == [0.0, 1.0, 2.0]
    ours = ts.arange(3.0)
    assert torch.from_dlpack(ours, copy=True).data_ptr() != ours.data_ptr
    assert torch.tensor(ours).tolist() == [0.0, 1.0, 2.0]


# --- lifetimes ------------------------------------------------------------------------------------


def test_pytorch_keeps_our_memory_alive(live: int) -> None:
    back = torch.from_dlpack(ts.arange(1000))[500:]
    gc.collect()
    assert _core.memory_counts()[0] - live >= 8000 and back[0].item() == 500
    del back
    assert _core.memory_counts()[0] == live


def test_we_keep_the_memory_of_pytorch_alive() -> None:
    storage = torch.arange(1000).untyped_storage()
    x = ts.from_dlpack(torch.arange(1000))[500:]
    gc.collect()
    noise = [torch.full((1000,), -1) for _ in range(100)]  # would reuse memory that was let go of
    assert x[0].item() == 500 and x[499].item() == 999 and len(noise) == 100
    del storage


def test_nothing_is_kept_after_the_exchange(live: int) -> None:
    x, theirs = ts.ones(1000), torch.ones(1000)
    before = _core.memory_counts()[0]
    for _ in range(1000):
        torch.from_dlpack(x)
        ts.from_dlpack(theirs)
    assert _core.memory_counts()[0] == before > live


def test_memory_is_let_go_of_from_any_thread(live: int) -> None:
    held = [torch.from_dlpack(ts.ones(1000)) for _ in range(200)]

    def drop() -> None:
        while held:
            held.pop()

    threads = [threading.Thread(target=drop) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _core.memory_counts()[0] == live


def test_a_gradient_thread_of_pytorch_lets_go_of_our_memory(live: int) -> None:
    weight = torch.ones(1000, requires_grad=True)
    loss = (weight * torch.from_dlpack(ts.ones(1000))).sum()  # saved for the backward pass
    loss.backward()
    del loss
    gc.collect()
    assert weight.grad is not None and _core.memory_counts()[0] == live


def test_memory_may_be_handed_on_many_times(live: int) -> None:
    x = ts.arange(3)
    start = x.data_ptr
    for _ in range(20_000):
        x = ts.from_dlpack(torch.from_dlpack(x))
    assert x.data_ptr == start and x.tolist() == [0, 1, 2]
    del x
    assert _core.memory_counts()[0] == live


# --- what is refused ------------------------------------------------------------------------------


def test_gradients_do_not_cross() -> None:
    with pytest.raises(BufferError, match=r"asarray: its library refuses: .*detach\(\)"):
        ts.asarray(torch.ones(2, requires_grad=True))
    with pytest.raises(BufferError, match=r"hint: share x\.detach\(\)"):
        torch.from_dlpack(ts.ones(2, requires_grad=True))
    assert ts.asarray(torch.ones(2, requires_grad=True).detach()).tolist() == [1.0, 1.0]


def test_lazily_conjugated_tensors_say_why_they_cannot_be_shared() -> None:
    with pytest.raises(BufferError, match="conjugate bit"):
        ts.asarray(torch.ones(2, dtype=torch.complex64).conj())


@pytest.mark.parametrize("name", ["add", "mul", "matmul", "lt", "eq", "ne"])
def test_operators_with_pytorch_say_how_to_convert(name: str) -> None:
    operate, ours, theirs = getattr(operator, name), ts.ones(2), torch.ones(2)
    for pair in ((ours, theirs), (theirs, ours)):
        with pytest.raises(ts.errors.ArgumentError, match="must be a tensor") as caught:
            operate(*pair)
        assert "taken by ts.asarray(a) (no copy)" in str(caught.value)


def test_tensors_of_pytorch_index_and_are_assigned() -> None:
    x: Any = ts.arange(4)
    assert x[torch.tensor([3, 0])].tolist() == [3, 0]
    x[1:3] = torch.tensor([7, 8])
    assert x.tolist() == [0, 7, 8, 3]


# --- read-only and bfloat16 -----------------------------------------------------------------------


def test_read_only_memory_is_marked_and_pytorch_does_not_look() -> None:
    """Documented in docs/interop.md: from PyTorch's side the mark is ignored."""
    array = np.zeros(2)
    array.flags.writeable = False
    x = ts.from_numpy(array)
    assert torch.from_dlpack(x).data_ptr() == x.data_ptr
    with pytest.raises(BufferError, match="x is read-only"):
        x.__dlpack__()


def test_bfloat16_keeps_its_bits() -> None:
    theirs = torch.tensor([1.0, -2.5, float("inf")], dtype=torch.bfloat16)
    x = ts.from_dlpack(theirs)
    bits = theirs.view(torch.uint16).tolist()
    assert x.view(ts.uint16).tolist() == bits
    assert torch.from_dlpack(x * 2).tolist() == (theirs * 2).tolist()


@pytest.mark.parametrize(
    "code",
    ["torch.held = torch.from_dlpack(ts.ones(1000))", "ts.held = ts.asarray(torch.ones(1000))"],
)
def test_memory_that_is_shared_until_the_end_does_no_harm(code: str) -> None:
    program = "import torch, tessella as ts\n" + code
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
