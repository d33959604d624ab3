"""DLPack capsules built by hand: what no library would make, with a count of deletions."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
CPU, CUDA = 1, 2
INT, UINT, FLOAT, OPAQUE, BFLOAT, COMPLEX, BOOL = range(7)
READ_ONLY, IS_COPIED = 1, 2


class DLArray(ctypes.Structure):
    """DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [("array", DLArray), ("owner", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class VersionedManaged(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("owner", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("array", DLArray),
    ]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype = ctypes.c_void_p
get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
get_name = ctypes.pythonapi.PyCapsule_GetName
get_name.restype = ctypes.c_char_p
get_name.argtypes = [ctypes.py_object]


class Exporter:
    """An array with __dlpack__ over NumPy's memory, every field of which can be set wrong.

    The capsule has no destructor, so that `deletions` counts what the consumer does.
    """

    def __init__(
        self,
        array: Array,
        *,
        name: bytes | None = None,
        version: tuple[int, int] | None = (1, 0),
        flags: int = 0,
        place: tuple[int, int] = (CPU, 0),
        has_deleter: bool = True,
        **fields: Any,
    ) -> None:
        self.array = array
        self.place = place
        self.deletions = 0
        self._deleter = Deleter(self._delete)
        self._dims = (ctypes.c_int64 * (2 * max(array.ndim, 1)))()
        self._dims[: array.ndim] = array.shape
        steps: list[Any] = [stride // array.itemsize for stride in array.strides]
        self._dims[array.ndim : 2 * array.ndim] = steps
        self.managed: Managed | VersionedManaged
        self.managed = Managed() if version is None else VersionedManaged()
        if isinstance(self.managed, VersionedManaged) and version is not None:
            self.managed.major, self.managed.minor = version
            self.managed.flags = flags
        if has_deleter:
            self.managed.deleter = ctypes.cast(self._deleter, ctypes.c_void_p)
        self._describe(fields)
        self.name = name or (b"dltensor" if version is None else b"dltensor_versioned")

    def _describe(self, fields: dict[str, Any]) -> None:
        array, described = self.array, self.managed.array
        kinds = {"i": INT, "u": UINT, "f": FLOAT, "c": COMPLEX, "b": BOOL}
        described.data = array.__array_interface__["data"][0]
        described.device_type, described.device_id = self.place
        described.ndim = array.ndim
        described.code = kinds[array.dtype.kind]
        described.bits, described.lanes = 8 * array.itemsize, 1
        described.shape = ctypes.addressof(self._dims)
        described.strides = described.shape + 8 * array.ndim
        for field, value in fields.items():
            if isinstance(value, tuple | list):  # a shape or strides
                value = (ctypes.c_int64 * len(value))(*value)
                setattr(self, f"_{field}", value)
                value = ctypes.addressof(value)
            setattr(described, field, value)

    def _delete(self, managed: int) -> None:
        assert managed == ctypes.addressof(self.managed)
        self.deletions += 1

    def capsule(self) -> Any:
        """Give a capsule of the description as it is now."""
        return new_capsule(ctypes.addressof(self.managed), self.name, None)

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.capsule()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.place


def read(capsule: Any) -> VersionedManaged | Managed:
    """Give the structure in a capsule, which it keeps alive."""
    name = get_name(capsule)
    kind = VersionedManaged if name == b"dltensor_versioned" else Managed
    found: VersionedManaged | Managed = kind.from_address(get_pointer(capsule, name))
    found.capsule = capsule
    return found
