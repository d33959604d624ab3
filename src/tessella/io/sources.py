"""The bytes of a file to be read: mapped into memory, read piece by piece, or given as bytes.

Whatever it is, `flat` gives a part of it as a tensor of bytes: over the mapped file itself, or in
memory of its own. Each part of a mapped file is a buffer of its own, so that a write to one tensor
is no write to the others.
"""

from __future__ import annotations

import mmap as mapping
import os
import stat
from _thread import allocate_lock
from typing import Self

from tessella import _core
from tessella._core import Tensor
from tessella.data_errors import missing_file
from tessella.dtypes import uint8
from tessella.hints import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Buffer
from tessella.io import file_errors
from tessella.ops.creation import copy_of

STEP = 1 << 24  # bytes between two chances for Ctrl-C
READ_ONLY, PRIVATE = (
    "read-only",
    "private",
)  # what a write to a mapped tensor does: raises, or copies
_one_reader = allocate_lock()


class Source:
    """Bytes that are read where they are needed; never more than a caller asked for."""

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size

    def close(self) -> None:
        """Let the file go; tensors over it stay as they are."""

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()

    def read(self, start: int, count: int) -> bytes:
        """Give bytes that the file must have."""
        if start < 0 or count < 0 or start + count > self.size:
            raise file_errors.ends_early(self.name, self.size, start, count)
        return self._bytes(start, count)

    def flat(self, start: int, count: int) -> Tensor:
        """Give bytes that the file must have, as a uint8 tensor."""
        if start < 0 or count < 0 or start + count > self.size:
            raise file_errors.ends_early(self.name, self.size, start, count)
        return self._flat(start, count) if count else _core.empty((0,), uint8.id)

    def _bytes(self, start: int, count: int) -> bytes:
        raise NotImplementedError

    def _flat(self, start: int, count: int) -> Tensor:
        raise NotImplementedError


class Opened(Source):
    """A file that is read into memory of our own."""

    def __init__(self, name: str, descriptor: int) -> None:
        super().__init__(name, os.fstat(descriptor).st_size)
        self.descriptor = descriptor

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
        self.descriptor = -1

    def _bytes(self, start: int, count: int) -> bytes:
        data = bytearray(count)
        self._fill(start, memoryview(data))
        return bytes(data)

    def _flat(self, start: int, count: int) -> Tensor:
        out = _core.empty((count,), uint8.id)
        self._fill(start, memoryview(out))
        return out

    def _fill(self, start: int, target: memoryview) -> None:
        """Read until the target is full."""
        while target:
            count = _read_at(self.descriptor, start, target[:STEP])
            if not count:  # somebody has cut the file since it was opened
                raise file_errors.ends_early(self.name, start, start, len(target))
            start, target = start + count, target[count:]


def flags(*names: str) -> int:
    """Join flags of `os.open`; one that a system does not know it does not need."""
    joined = 0
    for name in names:
        joined |= getattr(os, name, 0)
    return joined


def _read_at(descriptor: int, start: int, target: memoryview) -> int:
    """Read from a place of a file; give how many bytes came."""
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, [target], start)
    with _one_reader:  # as the place is the file's
        os.lseek(descriptor, start, os.SEEK_SET)
        data = os.read(descriptor, len(target))
    target[: len(data)] = data
    return len(data)


class Mapped(Source):
    """Bytes that are there: tensors lie over them."""

    def __init__(self, name: str, data: Buffer) -> None:
        self.view = memoryview(data)
        super().__init__(name, len(self.view))

    def close(self) -> None:
        self.view = memoryview(b"")

    def _bytes(self, start: int, count: int) -> bytes:
        return bytes(self.view[start : start + count])

    def _flat(self, start: int, count: int) -> Tensor:
        return _core.from_buffer(self.view[start : start + count], False)


class Held(Mapped):
    """Bytes that are somebody else's: tensors are copies of them."""

    def _flat(self, start: int, count: int) -> Tensor:
        return copy_of(super()._flat(start, count))


def is_file(value: Any, deed: str = "read") -> bool:
    """Tell whether a value is a file that is open; a tensor's methods are called alike."""
    return hasattr(value, deed) and not isinstance(value, Tensor)


def open_source(file: Any, access: str | None = None) -> Source:
    """Open a path, or read a binary file; `access` maps a path into memory."""
    if access is not None or is_file(file):
        return open_mapped(file, access or READ_ONLY)
    path = path_of(file)
    descriptor = _descriptor(path)
    try:
        return Opened(shown(path), descriptor)
    except BaseException:
        os.close(descriptor)
        raise


def open_mapped(file: Any, access: str = READ_ONLY) -> Mapped:
    """Map a path into memory, or read a binary file: all bytes are there."""
    if is_file(file):
        data = file.read()
        if not isinstance(data, bytes):
            raise file_errors.not_binary(file)
        return Held("a file object", data)
    path = path_of(file)
    descriptor = _descriptor(path)
    try:
        return Mapped(shown(path), _map(descriptor, access))
    finally:
        os.close(descriptor)  # the mapping has its own


def _descriptor(path: str) -> int:
    """Open a regular file."""
    try:  # a pipe that nobody writes to must not stop the process
        descriptor = os.open(path, flags("O_RDONLY", "O_CLOEXEC", "O_NONBLOCK", "O_BINARY"))
    except FileNotFoundError:
        raise missing_file(path) from None
    try:
        _check_regular(path, os.fstat(descriptor).st_mode)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _map(descriptor: int, access: str) -> Any:
    if not os.fstat(descriptor).st_size:  # nothing that could be mapped
        return b""
    how = mapping.ACCESS_READ if access == READ_ONLY else mapping.ACCESS_COPY
    return mapping.mmap(descriptor, 0, access=how)


class Contents:
    """The tensors of an open file, each made once; they stay as they are when it is closed."""

    def __init__(self, source: Source) -> None:
        self._source: Source | None = source
        self._name = source.name
        self._made: dict[str, Tensor] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the file go."""
        if self._source is not None:
            self._source.close()
        self._source = None
        self._made = {}


def path_of(file: Any) -> str:
    """Check a path; give it as text."""
    if not isinstance(file, str | os.PathLike):
        raise file_errors.no_path(file)
    path = os.fsdecode(file)
    if "\0" in path:
        raise file_errors.no_path(path)
    return path


def _check_regular(path: str, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise file_errors.not_regular(path)


def shown(path: str) -> str:
    """Give a path as it can be printed, also where its bytes are no text."""
    return path.encode(errors="backslashreplace").decode()
