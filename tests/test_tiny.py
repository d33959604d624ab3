"""The whole product in five seconds of CPU time: a quick tour, for use while working.

It asserts little about each part; the other files do.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tessella as ts
from nested import listed

# Runs tests and prints the seconds of CPU time that they took, with processes that they started.
MEASURED = """
import os, sys, pytest
status = pytest.main(sys.argv[1:])
print(sum(os.times()[:4]))
sys.exit(status)
"""


def test_creation() -> None:
    assert ts.zeros(2, 3).tolist() == [[0.0] * 3] * 2
    assert ts.ones((2,), dtype=ts.int8).dtype is ts.int8
    assert ts.full((2,), 7).tolist() == [7, 7] and ts.empty(4, 5).shape == (4, 5)
    assert ts.arange(2, 11, 3).tolist() == [2, 5, 8]
    assert ts.linspace(0, 1, 3).tolist() == [0.0, 0.5, 1.0]
    assert ts.eye(2).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert ts.tensor([[1, 2], [3, 4.5]]).dtype is ts.float32
    assert ts.from_data([1, 2, 3, 4], (2, 2)).shape == (2, 2)


def test_dtypes() -> None:
    x = ts.tensor([0, 1, 300])
    assert x.dtype is ts.int64 and (x + 0.5).dtype is ts.float32
    assert (x.astype(ts.int16) + x.astype(ts.int32)).dtype is ts.int32
    assert x.astype(ts.float16).astype(ts.int64).tolist() == [0, 1, 300]
    assert x.astype(ts.bool).tolist() == [False, True, True]
    assert (x.astype(ts.complex64) * 1j).imag.tolist() == [0.0, 1.0, 300.0]


def test_elementwise() -> None:
    x = ts.linspace(0.5, 2, 4)
    np.testing.assert_allclose(ts.log(x.exp()).numpy(), x.numpy(), rtol=1e-6)
    np.testing.assert_allclose((x.sin() ** 2 + x.cos() ** 2).numpy(), np.ones(4), rtol=1e-6)
    assert ts.where(x > 1, x, 0).tolist() == [0.0, 0.0, 1.5, 2.0]
    assert ((x > 1) & (x < 2)).tolist() == [False, False, True, False]
    assert (x[:, None] * ts.arange(3)).shape == (4, 3)


def test_views() -> None:
    x = ts.arange(24).reshape(2, 3, 4)
    assert x.permute(2, 0, 1).shape == (4, 2, 3) and x.transpose(0, 1).shape == (3, 2, 4)
    assert x[1, ::-1, 1:3].tolist() == [[21, 22], [17, 18], [13, 14]]
    assert x.unsqueeze(0).squeeze().shape == (2, 3, 4)
    assert x.flip(0)[0].tolist() == x[1].tolist()
    assert x[0].T.data_ptr == x.data_ptr


def test_joining() -> None:
    x = ts.arange(3)
    assert ts.concat([x, x + 3]).tolist() == [0, 1, 2, 3, 4, 5]
    assert ts.stack([x, x]).shape == (2, 3)
    assert ts.roll(x, 1).tolist() == [2, 0, 1] and ts.tile(x, (2,)).size == 6
    assert ts.repeat(x, 2).tolist() == [0, 0, 1, 1, 2, 2]


def test_reductions() -> None:
    x = ts.arange(6, dtype=ts.float32).reshape(2, 3)
    assert (x.sum().item(), x.mean().item(), x.max().item()) == (15.0, 2.5, 5.0)
    assert x.sum(axis=0).tolist() == [3.0, 5.0, 7.0] and x.argmax(axis=1).tolist() == [2, 2]
    assert x.var().item() == pytest.approx(np.arange(6).var())
    assert x.any().item() is True and x.all().item() is False
    assert ts.cumulative_sum(x[0], axis=0).tolist() == [0.0, 1.0, 3.0]


def test_products() -> None:
    a, b = ts.arange(6, dtype=ts.float32).reshape(2, 3), ts.ones(3, 2)
    assert (a @ b).tolist() == [[3.0, 3.0], [12.0, 12.0]]
    assert (ts.ones(5, 2, 3) @ ts.ones(3, 4)).shape == (5, 2, 4)
    assert (a.T @ a).tolist() == (a.numpy().T @ a.numpy()).tolist()


def test_indexing() -> None:
    x = ts.arange(12).reshape(3, 4)
    assert x[[2, 0], 1].tolist() == [9, 1] and x[x > 8].tolist() == [9, 10, 11]
    x[x % 2 == 0] = 0
    x[1, 1:] = ts.tensor([-1, -2, -3])
    assert x.tolist() == [[0, 1, 0, 3], [0, -1, -2, -3], [0, 9, 0, 11]]


def test_sorting() -> None:
    x = ts.tensor([3, 1, 2])
    assert ts.sort(x).tolist() == [1, 2, 3] and ts.argsort(x).tolist() == [1, 2, 0]


def test_random() -> None:
    ts.manual_seed(1)
    first = ts.randn(1000)
    ts.manual_seed(1)
    assert ts.randn(1000).tolist() == first.tolist()
    assert abs(first.mean().item()) < 0.2 and abs(first.std().item() - 1) < 0.2
    assert sorted(listed(ts.randperm(5))) == [0, 1, 2, 3, 4]
    assert 0 <= ts.rand(10).min().item() <= ts.rand(10).max().item() < 1
    assert set(listed(ts.randint(0, 3, (50,)))) <= {0, 1, 2}


def test_exchange() -> None:
    array = np.arange(6, dtype="float32").reshape(2, 3)
    shared = ts.from_numpy(array)
    array[0, 0] = 9
    assert shared.at(0, 0) == 9.0 and np.shares_memory(shared.numpy(), array)
    assert memoryview(shared).shape == (2, 3)


def test_printing_and_copying() -> None:
    x = ts.tensor([1.5, -2.0])
    assert repr(x).startswith("tensor float32 (2,)") and "1.5" in repr(x)
    assert "..." in repr(ts.zeros(2000))
    assert x.clone().tolist() == x.tolist()


def test_gradients_are_recorded() -> None:
    x = ts.ones(3, requires_grad=True)
    y = (x * 2).exp()
    assert y.requires_grad and y.grad_fn is not None and x.grad_fn is None
    assert not y.detach().requires_grad


def test_errors() -> None:
    with pytest.raises(ValueError, match="add"):
        ts.zeros(2) + ts.zeros(3)
    with pytest.raises(IndexError):
        ts.zeros(2)[2]
    with pytest.raises(TypeError):
        ts.zeros(2) + "text"  # type: ignore[operator]


def test_threads() -> None:
    x = ts.ones(400_000)
    with ts.num_threads(2):
        assert (x + 1).sum().item() == 800_000.0


def test_the_first_look_runs() -> None:
    demo = Path(__file__).resolve().parent.parent / "examples" / "tensors.py"
    done = subprocess.run([sys.executable, str(demo)], capture_output=True, text=True)
    assert done.returncode == 0 and "GFLOP/s" in done.stdout, done.stderr


def test_all_of_it_takes_less_than_five_seconds() -> None:
    """In one process, whatever else the machine does, with the imports."""
    options = ["-p", "no:xdist", "-p", "no:cacheprovider", "-k", "not seconds"]
    command = [sys.executable, "-c", MEASURED, __file__, *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 0 < float(done.stdout.split()[-1]) < 5
