"""Memory shared with other libraries, both ways: the buffer protocol, NumPy, and DLPack.

A tensor over foreign memory keeps it alive, and is read-only where that memory is. Memory that
cannot be used as it lies (badly aligned, in another byte order) is copied where that is allowed.
"""

from __future__ import annotations

from tessella import _core, errors, exchange_errors
from tessella._core import Tensor
from tessella.arguments import is_scalar, to_bool
from tessella.composites import Device, composite
from tessella.dtypes import bfloat16
from tessella.hints import Any, Array, CapsuleType
from tessella.ops.creation import copy_of

_VERSION = (1, 1)  # of DLPack, the newest that the core understands
_CPU = (1, 0)  # DLPack's name of the device


def need_numpy() -> Any:
    """Import NumPy, or say how to install it."""
    try:
        import numpy
    except ImportError:
        raise errors.no_numpy() from None
    return numpy


# --- in ------------------------------------------------------------------------------------------


def is_array(value: Any) -> bool:
    """Tell whether a value is a NumPy array or scalar, without importing NumPy."""
    return hasattr(type(value), "__array_interface__")


def is_shareable(value: Any) -> bool:
    """Tell whether a value has memory that `share` can read."""
    return (
        _core.has_buffer(value)
        or errors.is_foreign_array(value)
        or hasattr(type(value), "__array__")
    )


def share(x: Any, may_copy: bool) -> Tensor:
    """Give a tensor over the memory of an array of any library; a copy where it may be needed."""
    if isinstance(x, _core.DynamicArray):
        return x.as_tensor()
    if not _core.has_buffer(x) and not hasattr(x, "__dlpack__"):
        return _ask(x, may_copy)
    if not _core.has_buffer(x):
        return _take(x, None, None if may_copy else False)
    if is_array(x):
        return _share_array(x, may_copy)
    try:
        return _share_buffer(x, may_copy)
    except errors.ExchangeError:
        if not hasattr(x, "__dlpack__"):
            raise
    return _take(x, None, None if may_copy else False)  # JAX's bfloat16 has no buffer


def _share_buffer(x: Any, may_copy: bool) -> Tensor:
    try:
        return _core.from_buffer(x, may_copy)
    except (errors.TessellaError, MemoryError):
        raise
    except Exception as error:
        raise exchange_errors.exporter_refuses(error) from None


def _share_array(array: Any, may_copy: bool) -> Tensor:
    """Share a NumPy array; a scalar is a value, and copied."""
    if hasattr(type(array), "filled"):
        raise exchange_errors.masked_array()
    if array.dtype.kind in "OSUMm":
        raise exchange_errors.foreign_dtype(array.dtype)
    try:
        shared = _share_buffer(array, may_copy)
    except errors.ExchangeError:
        if array.dtype.name != bfloat16.name:
            raise
        # An extension of NumPy, which has no buffer format.
        shared = _core.bitcast(_share_buffer(array.view("uint16"), may_copy), bfloat16.id)
    return copy_of(shared) if is_scalar(array) else shared


def _ask(x: Any, may_copy: bool) -> Tensor:
    """Share what only NumPy can read: objects with __array__ or __array_interface__."""
    if not may_copy:
        raise exchange_errors.copy_needed("only NumPy can read it")
    return _share_array(need_numpy().asarray(x), True)


@composite(
    no_capture="it is about memory of others",
    is_method=False,
    gives="view",
    tested="tests/test_exchange.py",
)
def from_numpy(array: Any) -> Tensor:
    """Give a tensor over a NumPy array's memory: no copy; writes are seen on both sides.

    >>> ts.from_numpy(numpy.arange(3)).tolist()
    [0, 1, 2]
    """
    if not is_array(array):
        raise errors.wrong_type("array", array, "a NumPy array")
    return _share_array(array, False)


@composite(
    no_capture="it is about memory of others",
    is_method=False,
    gives="view",
    tested="tests/test_dlpack.py",
)
def from_dlpack(x: Any, *, device: Device | None = None, copy: bool | None = None) -> Tensor:
    """Give a tensor over the memory of an array of another library, by DLPack.

    The memory is shared unless it cannot be used as it lies; `copy=False` then raises and
    `copy=True` always copies. An array that cannot say whether it may be written (DLPack before
    version 1.0) becomes a read-only tensor. `device="cpu"` asks an array elsewhere to come.

    >>> ts.from_dlpack(numpy.arange(3)).tolist()
    [0, 1, 2]
    """
    if not hasattr(x, "__dlpack__"):
        raise errors.wrong_type("x", x, "an array with __dlpack__")
    shared = _take(x, device, copy)
    return copy_of(shared) if copy else shared


def _take(x: Any, device: str | None, copy: bool | None) -> Tensor:
    """Ask for a capsule, and share its memory."""
    try:
        kind, number = (int(part) for part in x.__dlpack_device__())
        if device is None and kind != _CPU[0]:
            raise exchange_errors.other_device((kind, number))
        capsule = _capsule_of(x, device, copy)
    except (errors.TessellaError, MemoryError):
        raise
    except Exception as error:
        raise exchange_errors.exporter_refuses(error) from None
    return _core.from_dlpack(capsule, copy is not False)


def _capsule_of(x: Any, device: str | None, copy: bool | None) -> Any:
    keywords: dict[str, Any] = {"max_version": _VERSION}
    if device is not None:
        keywords["dl_device"] = _CPU
    if copy is False:
        keywords["copy"] = False
    try:
        return x.__dlpack__(**keywords)
    except TypeError:  # arrays from before version 1.0 know none of these
        return x.__dlpack__()


# --- out -----------------------------------------------------------------------------------------


def numpy_of(self: Tensor, *, force: bool = False) -> Array:
    """Give a NumPy array over the tensor's memory: no copy. bfloat16 has no NumPy dtype.

    A tensor with gradients is detached before, if `force` says so.

    >>> ts.arange(3).numpy()
    array([0, 1, 2])
    """
    try:
        if self.requires_grad and not to_bool("force", force):
            raise exchange_errors.numpy_of_graph()
        if self.dtype is bfloat16:
            raise exchange_errors.numpy_of_bfloat16()
        if self.dtype.is_user:
            raise exchange_errors.numpy_of_items(self.dtype)
        if self.is_virtual:
            raise errors.virtual_value("numpy()")
        numpy = need_numpy()
    except errors.TessellaError as error:
        raise error.locate("numpy", [f"x  {self.dtype} {self.shape}"]) from None
    array: Array = numpy.asarray(memoryview(self.detach() if force else self))
    return array


def array_of(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Array:
    """Answer np.asarray(x) where the buffer protocol was refused, and others that ask NumPy's way.

    >>> numpy.array(ts.arange(3), dtype=float)
    array([0., 1., 2.])
    """
    array = numpy_of(self)
    if dtype is None or dtype == array.dtype:
        return array.copy() if copy else array
    if copy is False:
        raise exchange_errors.copy_needed(f"its dtype is {array.dtype}, not {dtype}")
    other: Array = array.astype(dtype)
    return other


def _need_pair(name: str, value: Any) -> tuple[int, int]:
    """Give what DLPack calls a device or a version: two integers, or members of an enum."""
    try:
        first, second = value
        return int(first), int(second)
    except (TypeError, ValueError):
        raise errors.wrong_type(name, value, "a pair of integers") from None


def dlpack(
    self: Tensor,
    *,
    stream: object = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> CapsuleType:
    """Give a DLPack capsule over the tensor's memory, which lives as long as its consumer.

    Consumers that know version 1.0 learn whether the memory is read-only; others are refused then.

    >>> numpy.from_dlpack(ts.arange(3))
    array([0, 1, 2])
    """
    try:
        if stream is not None:
            raise errors.wrong_value("stream", stream, "None: the CPU has no streams")
        if dl_device is not None and _need_pair("dl_device", dl_device) != _CPU:
            raise exchange_errors.other_device(dl_device)
        is_versioned = max_version is not None and _need_pair("max_version", max_version)[0] >= 1
        is_copied = bool(copy) and not self.requires_grad  # which is refused below
        given = copy_of(self) if is_copied else self
        capsule: CapsuleType = _core.to_dlpack(given, is_versioned, is_copied)
        return capsule
    except errors.TessellaError as error:
        raise error.locate("__dlpack__", [f"x  {self.dtype} {self.shape}"]) from None


def dlpack_device(self: Tensor) -> tuple[int, int]:
    """Name the device as DLPack does.

    >>> ts.zeros(2).__dlpack_device__()
    (1, 0)
    """
    return _CPU
