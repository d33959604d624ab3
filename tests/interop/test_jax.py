"""JAX and Tessella over the same memory. JAX's arrays never change: their tensors are read-only."""

from __future__ import annotations

import gc
import operator
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tessella as ts
from tessella import _core
from tessella.dtypes import DTYPES, DType

jax.config.update("jax_enable_x64", True)


def address(array: Any) -> int:
    """Give where JAX has the elements of an array."""
    found: int = array.unsafe_buffer_pointer()
    return found


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_arrays_of_jax_are_shared_read_only(dtype: DType) -> None:
    theirs = jnp.array([[0, 1, 1], [1, 0, 0]]).astype(dtype.name)
    for take in (ts.asarray, ts.from_dlpack):
        x = take(theirs)
        assert x.dtype is dtype and x.data_ptr == address(theirs) and x.is_readonly
        assert x.tolist() == np.asarray(theirs).tolist()
        with pytest.raises(ValueError, match="is read-only"):
            x[0, 0] = True
        with pytest.raises(ValueError, match="is read-only"):
            x *= x
    copied = ts.asarray(theirs, copy=True)
    copied[0, 0] = True
    assert np.asarray(theirs)[0, 0] == 0


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_tensors_are_shared_with_jax(dtype: DType) -> None:
    x = ts.tensor([[0, 1, 1], [1, 0, 0]]).astype(dtype)
    for give in (jax.dlpack.from_dlpack, jnp.from_dlpack):
        back = give(x)
        assert back.dtype.name == dtype.name and address(back) == x.data_ptr
        assert np.asarray(back).tolist() == x.tolist()
    if dtype is not ts.bfloat16:  # which NumPy has not, and this way asks it
        assert np.asarray(jnp.asarray(x)).tolist() == x.tolist()


def test_transposes_are_shared_with_jax() -> None:
    x = ts.arange(6.0).reshape(2, 3).T
    back = jax.dlpack.from_dlpack(x)
    assert np.asarray(back).tolist() == x.tolist()


def test_jax_keeps_our_memory_alive(live: int) -> None:
    back = jax.dlpack.from_dlpack(ts.arange(1000))
    gc.collect()
    assert _core.memory_counts()[0] - live >= 8000 and int(back[999]) == 999
    del back
    gc.collect()
    assert _core.memory_counts()[0] == live


def test_we_keep_the_memory_of_jax_alive() -> None:
    x = ts.asarray(jnp.arange(1000) + 1)
    gc.collect()
    noise = [jnp.full(1000, -1) + i for i in range(100)]  # would reuse memory that was let go of
    assert x.tolist() == list(range(1, 1001)) and len(noise) == 100


def test_read_only_memory_is_refused_as_jax_asks_for_capsules_that_cannot_say_so() -> None:
    fixed = ts.asarray(b"abc")
    with pytest.raises(BufferError, match="x is read-only") as caught:
        jax.dlpack.from_dlpack(fixed)
    assert "share x.clone()" in str(caught.value)
    assert np.asarray(jax.dlpack.from_dlpack(fixed.clone())).tolist() == [97, 98, 99]


def test_bfloat16_of_jax_and_of_its_numpy_arrays() -> None:
    theirs = jnp.array([1.0, -2.5], dtype=jnp.bfloat16)
    array = np.asarray(theirs)
    for x in (ts.asarray(theirs), ts.asarray(array), ts.from_numpy(array), ts.tensor(array)):
        assert x.dtype is ts.bfloat16 and x.tolist() == [1.0, -2.5]
    assert ts.from_numpy(array).data_ptr == array.__array_interface__["data"][0]


@pytest.mark.parametrize("name", ["add", "mul", "matmul", "lt", "eq", "ne"])
def test_operators_with_jax_say_how_to_convert(name: str) -> None:
    operate, ours, theirs = getattr(operator, name), ts.ones(2), jnp.ones(2)
    for pair in ((ours, theirs), (theirs, ours)):
        with pytest.raises(ts.errors.ArgumentError, match="must be a tensor"):
            operate(*pair)


def test_gradients_do_not_cross() -> None:
    with pytest.raises(BufferError, match="x requires gradients"):
        jax.dlpack.from_dlpack(ts.ones(2, requires_grad=True))


@pytest.mark.parametrize(
    "code",
    [
        "jax.held = jax.dlpack.from_dlpack(ts.ones(1000))",
        "ts.held = ts.asarray(jax.numpy.ones(1000))",
    ],
)
def test_memory_that_is_shared_until_the_end_does_no_harm(code: str) -> None:
    program = "import jax, tessella as ts\n" + code
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
