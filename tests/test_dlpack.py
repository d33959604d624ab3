"""DLPack both ways: memory is shared, read-only stays read-only, and deleters run once.

NumPy is the other library here; PyTorch and JAX are in tests/interop. Capsules that no library
would make are in test_dlpack_malformed.py.
"""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts
from capsules import (
    CUDA,
    IS_COPIED,
    READ_ONLY,
    Array,
    Exporter,
    VersionedManaged,
    get_name,
    read,
)
from tessella import _core
from tessella.dtypes import DTYPES, DType

SHARED = [dtype for dtype in DTYPES if dtype is not ts.bfloat16]


def address(array: Array) -> int:
    """Give where an array's first element lies."""
    found: int = array.__array_interface__["data"][0]
    return found


# --- NumPy, both ways -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", SHARED, ids=str)
def test_every_dtype_is_shared_both_ways(dtype: DType) -> None:
    array: Array = np.arange(6).astype(dtype.name).reshape(2, 3)
    x = ts.from_dlpack(array)
    assert x.dtype is dtype and x.shape == (2, 3) and x.data_ptr == address(array)
    x[0, 0] = True
    assert array[0, 0] == 1
    back = np.from_dlpack(x)
    assert back.dtype == array.dtype and address(back) == address(array)
    assert back.flags.writeable


@given(st.data())
def test_any_layout_is_shared_as_it_is(data: st.DataObject) -> None:
    array: Array = np.arange(120, dtype=np.int16).reshape(4, 5, 6)
    bound, step = st.none() | st.integers(-6, 6), st.sampled_from([1, 2, -1, -3])
    key = tuple(slice(data.draw(bound), data.draw(bound), data.draw(step)) for _ in range(3))
    part = array[key].transpose(data.draw(st.permutations(range(3))))
    x = ts.from_dlpack(part)
    assert x.shape == part.shape and x.tolist() == part.tolist()
    if part.size:
        assert x.data_ptr == address(part)
    if part.size and any(step < 0 for step, n in zip(x.strides, x.shape, strict=True) if n > 1):
        with pytest.raises(BufferError, match="x has negative strides"):
            np.from_dlpack(x)
        return
    back = np.from_dlpack(x)
    assert back.tolist() == part.tolist() and (not part.size or address(back) == x.data_ptr)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,) * 64, (1, 1)])
def test_any_shape_is_shared(shape: tuple[int, ...]) -> None:
    x = ts.ones(shape)
    back = ts.from_dlpack(x)
    assert back.shape == shape and back.tolist() == x.tolist()
    assert np.from_dlpack(x).shape == shape


def test_read_only_memory_stays_read_only() -> None:
    array = np.zeros(3)
    array.flags.writeable = False
    x = ts.from_dlpack(array)
    assert x.is_readonly and x.data_ptr == address(array)
    assert not np.from_dlpack(x).flags.writeable
    with pytest.raises(ValueError, match="is read-only"):
        x += 1


def test_elements_that_share_memory_are_exported_read_only() -> None:
    x = ts.ones(3).broadcast_to(2, 3)
    assert not np.from_dlpack(x).flags.writeable
    with pytest.raises(BufferError, match="its elements share memory"):
        x.__dlpack__()


# --- lifetimes ------------------------------------------------------------------------------------


def test_a_consumer_keeps_the_memory_alive(live: int) -> None:
    array = np.from_dlpack(ts.arange(1000))[500:]
    gc.collect()
    assert _core.memory_counts()[0] - live >= 8000 and array[0] == 500
    del array
    assert _core.memory_counts()[0] == live


def test_a_tensor_keeps_the_exporter_alive() -> None:
    class Watched(np.ndarray[Any, Any]):
        """An array that can be watched."""

    array = np.arange(10).view(Watched)
    watch, x = weakref.ref(array), ts.from_dlpack(array)
    view = x[2:4]
    del array, x
    gc.collect()
    assert watch() is not None and view.tolist() == [2, 3]
    del view
    gc.collect()
    assert watch() is None


@pytest.mark.parametrize("version", [None, (1, 0), (1, 7)])
def test_the_deleter_runs_once_when_the_last_view_goes(version: tuple[int, int] | None) -> None:
    source = Exporter(np.arange(6.0), version=version)
    capsule = source.capsule()
    x = _core.from_dlpack(capsule, False)
    assert get_name(capsule) == b"used_" + source.name
    view = x[1:]
    del x, capsule
    assert source.deletions == 0 and view.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    del view
    assert source.deletions == 1


def test_the_deleter_runs_once_for_what_was_copied_or_empty() -> None:
    odd = np.zeros(17, np.uint8)[1:].view(np.float64)
    for source in (Exporter(odd), Exporter(np.zeros((0, 3)))):
        x = ts.from_dlpack(source)
        assert source.deletions == 1 and not x.is_readonly
        del x
        assert source.deletions == 1
    source = Exporter(np.arange(3.0))
    assert ts.from_dlpack(source, copy=True).tolist() == [0.0, 1.0, 2.0]
    assert source.deletions == 1


def test_a_capsule_without_a_deleter_is_taken() -> None:
    source = Exporter(np.arange(3.0), has_deleter=False)
    assert ts.from_dlpack(source).tolist() == [0.0, 1.0, 2.0] and source.deletions == 0


def test_a_capsule_is_used_once() -> None:
    capsule = ts.ones(2).__dlpack__(max_version=(1, 0))
    _core.from_dlpack(capsule, False)
    with pytest.raises(BufferError, match="used_dltensor_versioned holds no array") as caught:
        _core.from_dlpack(capsule, False)
    assert "it was used before" in str(caught.value)


def test_a_refused_capsule_still_owns_its_memory() -> None:
    source = Exporter(np.arange(3.0), lanes=2)
    capsule = source.capsule()
    with pytest.raises(BufferError, match="2 lanes"):
        _core.from_dlpack(capsule, True)
    assert get_name(capsule) == b"dltensor_versioned" and source.deletions == 0
    source.managed.array.lanes = 1
    assert _core.from_dlpack(capsule, True).tolist() == [0.0, 1.0, 2.0]
    assert source.deletions == 1


def test_a_capsule_is_given_back_when_the_copy_fails() -> None:
    source = Exporter(np.zeros(9, np.uint8)[1:].view(np.float64), shape=(1 << 50,), strides=(0,))
    capsule = source.capsule()
    with pytest.raises(MemoryError):
        _core.from_dlpack(capsule, True)
    assert get_name(capsule) == b"dltensor_versioned" and source.deletions == 0


def test_capsules_that_nobody_used_let_go(live: int) -> None:
    for version in (None, (1, 0)):
        x = ts.zeros(1000)
        capsule = x.__dlpack__(max_version=version)
        del x
        assert _core.memory_counts()[0] - live >= 4000
        del capsule
        assert _core.memory_counts()[0] == live


def test_memory_is_let_go_of_from_any_thread(live: int) -> None:
    arrays = [np.from_dlpack(ts.zeros(1000)) for _ in range(100)]

    def drop() -> None:
        while arrays:
            arrays.pop()

    threads = [threading.Thread(target=drop) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _core.memory_counts()[0] == live


@pytest.mark.parametrize(
    "pass_on",
    [lambda x: ts.from_dlpack(x), lambda x: ts.from_numpy(x.numpy()),
     lambda x: ts.from_dlpack(np.from_dlpack(x))],
    ids=["DLPack", "NumPy", "NumPy's DLPack"],
)  # fmt: skip
def test_memory_may_be_handed_on_many_times(pass_on: Callable[[ts.Tensor], ts.Tensor]) -> None:
    x = ts.arange(3)
    start = x.data_ptr
    for _ in range(20_000):
        x = pass_on(x)
    assert x.data_ptr == start and x.tolist() == [0, 1, 2]
    del x  # freed level by level, this would run out of stack


@pytest.mark.parametrize(
    "code",
    [
        "np.held = np.from_dlpack(ts.ones(1000))",
        "ts.held = ts.from_dlpack(np.ones(1000)), ts.from_numpy(np.ones(3))",
        "class A(np.ndarray): pass\na = np.ones(3).view(A); a.cycle = ts.from_numpy(a)",
    ],
    ids=["ours", "theirs", "cycle"],
)
def test_memory_that_is_shared_until_the_end_does_no_harm(code: str) -> None:
    imports = "import numpy as np, tessella as ts\n"
    done = subprocess.run([sys.executable, "-c", imports + code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


# --- what a tensor exports ------------------------------------------------------------------------


def test_capsules_follow_the_version_that_is_asked_for() -> None:
    x = ts.ones(2)
    names = {None: b"dltensor", (0, 8): b"dltensor", (1, 0): b"dltensor_versioned",
             (2, 3): b"dltensor_versioned"}  # fmt: skip
    for version, name in names.items():
        capsule = x.__dlpack__(stream=None, max_version=version, dl_device=None, copy=None)
        assert get_name(capsule) == name
    found = read(x.__dlpack__(max_version=(1, 0)))
    assert isinstance(found, VersionedManaged) and found.major == 1


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_capsules_describe_the_tensor(dtype: DType) -> None:
    x = ts.zeros(4, 6, dtype=dtype)[1::2, ::3]
    found = read(x.__dlpack__()).array
    assert found.data == x.data_ptr and (found.device_type, found.device_id) == (1, 0)
    assert (found.bits, found.lanes, found.byte_offset) == (8 * dtype.itemsize, 1, 0)
    dims = (ctypes.c_int64 * 4).from_address(found.shape)
    assert tuple(dims) == (*x.shape, *x.strides) and found.strides == found.shape + 16
    back = ts.from_dlpack(x)
    assert back.dtype is dtype and back.strides == x.strides and back.data_ptr == x.data_ptr


def test_flags_say_what_is_read_only_and_what_was_copied() -> None:
    x, fixed = ts.ones(2), ts.asarray(b"ab")

    def flags(x: ts.Tensor, **keywords: Any) -> int:
        found = read(x.__dlpack__(max_version=(1, 1), **keywords))
        return int(found.flags)

    assert flags(x) == flags(x, copy=False) == 0 and flags(fixed) == READ_ONLY
    assert flags(x, copy=True) == flags(fixed, copy=True) == IS_COPIED
    copied = np.from_dlpack(x, copy=True)
    assert address(copied) != x.data_ptr and copied.tolist() == [1.0, 1.0]


def test_the_device_is_the_cpu() -> None:
    assert ts.ones(2).__dlpack_device__() == (1, 0)


@pytest.mark.parametrize(
    ("x", "keywords", "error", "text"),
    [
        (ts.ones(2, requires_grad=True), {}, BufferError, "x requires gradients"),
        (ts.ones(2, requires_grad=True), {"copy": True}, BufferError, "x requires gradients"),
        (_core.empty_virtual((2,), 0), {}, BufferError, "a virtual tensor has no memory"),
        (ts.asarray(b"ab"), {}, BufferError, "x is read-only"),
        (ts.arange(3).flip(), {}, BufferError, "x has negative strides"),
        (ts.ones(2), {"dl_device": (2, 0)}, BufferError, r"device \(2, 0\) is not the CPU"),
        (ts.ones(2), {"stream": 1}, ValueError, "the CPU has no streams"),
    ],
)
def test_what_cannot_be_exported_says_why(
    x: ts.Tensor, keywords: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text) as caught:
        x.__dlpack__(**keywords)
    assert isinstance(caught.value, ts.errors.TessellaError)
    assert str(caught.value).startswith("__dlpack__: ") and "hint: " in str(caught.value)


def test_a_tensor_with_gradients_is_shared_detached() -> None:
    leaf = ts.ones(2, requires_grad=True)
    with pytest.raises(BufferError, match=r"hint: share x\.detach\(\)"):
        np.from_dlpack(leaf)
    assert address(np.from_dlpack(leaf.detach())) == leaf.data_ptr


# --- what a tensor imports ------------------------------------------------------------------------


def test_a_capsule_that_cannot_say_is_read_only() -> None:
    old, new = Exporter(np.zeros(2), version=None), Exporter(np.zeros(2))
    fixed = Exporter(np.zeros(2), flags=READ_ONLY)
    read_only = [ts.from_dlpack(source).is_readonly for source in (old, new, fixed)]
    assert read_only == [True, False, True]


def test_strides_may_be_left_out_and_offsets_count() -> None:
    array = np.arange(12.0).reshape(3, 4)
    assert ts.from_dlpack(Exporter(array, strides=None)).tolist() == array.tolist()
    moved = Exporter(array, shape=(2, 4), byte_offset=32)
    assert ts.from_dlpack(moved).tolist() == array[1:].tolist()
    back = Exporter(array, shape=(3,), strides=(-4,), byte_offset=64, ndim=1)
    assert ts.from_dlpack(back).tolist() == [8.0, 4.0, 0.0]


def test_strides_of_single_elements_are_ignored() -> None:
    array = np.arange(3.0).reshape(1, 3)
    for stride in (1, 7, (1 << 63) - 1, -(1 << 63)):
        x = ts.from_dlpack(Exporter(array, strides=(stride, 1)))
        assert x.tolist() == [[0.0, 1.0, 2.0]] and (x + x).tolist() == [[0.0, 2.0, 4.0]]
        assert np.asarray(x.view(ts.uint8)).shape == (1, 24)


def test_memory_off_its_alignment_is_copied_or_refused() -> None:
    odd = np.zeros(17, np.uint8)[1:].view(np.float64)
    odd[:] = [1.5, 2.5]
    assert ts.from_dlpack(odd).tolist() == [1.5, 2.5]
    with pytest.raises(BufferError, match="not aligned"):
        ts.from_dlpack(odd, copy=False)


def test_copies_are_made_when_asked_for() -> None:
    array = np.arange(3)
    array.flags.writeable = False
    x = ts.from_dlpack(array, copy=True)
    assert x.data_ptr != address(array) and not x.is_readonly and x.tolist() == [0, 1, 2]
    assert ts.from_dlpack(array, copy=False).data_ptr == address(array)


class Elsewhere(Exporter):
    """An array on another device, which can come to the CPU."""

    def __init__(self, array: Array) -> None:
        super().__init__(array, place=(CUDA, 0))

    def __dlpack__(self, **keywords: Any) -> Any:
        if keywords.get("dl_device") == (1, 0):
            return Exporter(self.array).capsule()
        return self.capsule()


def test_arrays_on_other_devices_come_when_asked() -> None:
    source = Elsewhere(np.arange(3.0))
    with pytest.raises(BufferError, match=r"device \(2, 0\) is not the CPU") as caught:
        ts.from_dlpack(source)
    assert 'from_dlpack(x, device="cpu")' in str(caught.value)
    assert ts.from_dlpack(source, device="cpu").shape == (3,)
    with pytest.raises(ValueError, match="device is 'cuda'"):
        ts.from_dlpack(np.arange(3), device="cuda")


def test_arrays_from_before_version_1_are_asked_without_keywords() -> None:
    class Old(Exporter):
        """A library that knows none of the keywords."""

        def __dlpack__(self) -> Any:  # type: ignore[override]
            return self.capsule()

    source = Old(np.arange(3.0), version=None)
    assert ts.from_dlpack(source, copy=False).tolist() == [0.0, 1.0, 2.0]


def test_a_library_that_refuses_is_quoted() -> None:
    class Unwilling(Exporter):
        """An array that does not give its memory."""

        def __dlpack__(self, **keywords: Any) -> Any:
            raise RuntimeError("not today\nnor tomorrow")

    with pytest.raises(BufferError, match=r"^from_dlpack: its library refuses: not today\n"):
        ts.from_dlpack(Unwilling(np.arange(3.0)))


@pytest.mark.parametrize("value", [None, 3, [1, 2], "text", object()])
def test_what_is_no_array_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="from_dlpack: x must be an array with __dlpack__"):
        ts.from_dlpack(value)
