"""IDX files, the format of MNIST and its kin: a head of four bytes, sizes, elements, big-endian.

A file is checked before memory is taken for it: whatever is wrong with it is a FormatError, and
costs no more than a few megabytes.
"""

from __future__ import annotations

import math
import os
import stat
import struct
import zlib
from collections.abc import Iterator
from typing import Any

from tessella import _core, data_errors, errors
from tessella._core import Tensor
from tessella.arguments import to_word
from tessella.data.embedded import Labelled
from tessella.dtypes import DType, float32, float64, int8, int16, int32, int64, uint8
from tessella.located import located

_DTYPES = {8: uint8, 9: int8, 11: int16, 12: int32, 13: float32, 14: float64}
_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 16
_SMALL = 4_000_000  # bytes that may be taken for a compressed file that was not read to its end
_MOST_AXES = 64
_HINT = "it is an IDX file as MNIST has them, plain or compressed by gzip"


@located("data.load_idx")
def load_idx(path: str | os.PathLike[str]) -> Tensor:
    """Read the tensor of an IDX file, which may be compressed by gzip.

    >>> import os, tempfile
    >>> name = os.path.join(tempfile.mkdtemp(), "labels")
    >>> with open(name, "wb") as file:
    ...     _ = file.write(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9]))
    >>> ts.data.load_idx(name).tolist()
    [7, 8, 9]
    """
    if not isinstance(path, str | os.PathLike):
        raise errors.wrong_type("path", path, "a path")
    with data_errors.opened(path) as file:
        info = os.fstat(file.fileno())
        if not stat.S_ISREG(info.st_mode):
            raise _malformed(path, "is no file that can be read twice")
        is_packed = file.read(2) == _GZIP
        file.seek(0)
        if is_packed:
            return _read_packed(path, file, info.st_size)
        return _read_plain(path, file, info.st_size)


@located("data.load_mnist")
def load_mnist(folder: str | os.PathLike[str], split: str = "train") -> Labelled:
    """Read images (uint8) and labels (int64) from a folder of MNIST's four files, or its kin's.

    They are called train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
    t10k-labels-idx1-ubyte, with or without .gz; split is "train" or "test".

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> head = bytes([0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2])
    >>> _ = (folder / "t10k-images-idx3-ubyte").write_bytes(head + bytes([0, 255, 255, 0]))
    >>> _ = (folder / "t10k-labels-idx1-ubyte").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 1, 5]))
    >>> x, y = ts.data.load_mnist(folder, split="test")
    >>> x.tolist(), y.tolist()
    ([[[0, 255], [255, 0]]], [5])
    """
    if not isinstance(folder, str | os.PathLike):
        raise errors.wrong_type("folder", folder, "a path")
    part = "t10k" if to_word("split", split, ["train", "test"]) == "test" else "train"
    images, labels = (_found(folder, f"{part}-{kind}") for kind in ("images", "labels"))
    x, y = load_idx(images), load_idx(labels)
    if x.ndim != 3 or y.ndim != 1 or x.shape[0] != y.shape[0]:
        what = f"images of shape {x.shape} and labels of shape {y.shape}"
        raise data_errors.malformed(folder, what, "there is one label for each image")
    if y.dtype is not uint8:
        raise data_errors.malformed(labels, f"labels are {y.dtype}", "classes are of uint8")
    classes = int(y.max().item()) + 1 if y.size else 0
    return Labelled(x, y.astype(int64), classes=[str(i) for i in range(classes)])


def _found(folder: Any, stem: str) -> str:
    """Find a file by its name, as MNIST and as its copies write it."""
    axes = 3 if stem.endswith("images") else 1
    for name in (f"{stem}-idx{axes}-ubyte", f"{stem}.idx{axes}-ubyte"):
        for ending in ("", ".gz"):
            path = os.path.join(folder, name + ending)
            if os.path.isfile(path):
                return path
    raise data_errors.missing_part(folder, f"{stem}-idx{axes}-ubyte, plain or .gz")


# --- the head ------------------------------------------------------------------------------------


class _Head:
    """What a file says it holds."""

    def __init__(self, path: Any, content: bytes) -> None:
        if len(content) < 4 or content[:2] != b"\0\0":
            raise _malformed(path, "does not begin with two zeros")
        if content[2] not in _DTYPES:
            raise _malformed(path, f"holds elements of type {content[2]}, which there is not")
        if not 1 <= content[3] <= _MOST_AXES:
            raise _malformed(path, f"has {content[3]} axes, and 1 to {_MOST_AXES} are possible")
        self.dtype: DType = _DTYPES[content[2]]
        self.bytes = 4 + 4 * content[3]
        if len(content) < self.bytes:
            raise _malformed(path, f"ends within the sizes of its {content[3]} axes")
        self.shape = struct.unpack(f">{content[3]}I", content[4 : self.bytes])
        self.data_bytes = math.prod(self.shape) * self.dtype.itemsize

    def check(self, path: Any, size: int) -> None:
        """Compare what it says with the bytes that there are."""
        if size != self.bytes + self.data_bytes:
            what = f"has {size - self.bytes:,} bytes of elements, and shape {self.shape} of "
            raise _malformed(path, f"{what}{self.dtype} has {self.data_bytes:,}")

    def tensor(self, path: Any, elements: Tensor) -> Tensor:
        """Give the tensor of bytes in the file's order."""
        try:
            if self.dtype.itemsize > 1:
                size = self.dtype.itemsize
                elements = elements.reshape(-1, size).flip(axis=1).reshape(-1)
            return _core.bitcast(elements, self.dtype.id).reshape(self.shape)
        except errors.ShapeError:
            raise _malformed(path, f"shape {self.shape} is not possible") from None
        except errors.LengthOverflow:
            raise _malformed(path, f"shape {self.shape} is not possible") from None


_MOST_HEAD = 4 + 4 * 255


def _malformed(path: Any, what: str) -> errors.FormatError:
    return data_errors.malformed(path, what, _HINT)


# --- the elements --------------------------------------------------------------------------------


def _read_plain(path: Any, file: Any, size: int) -> Tensor:
    head = _Head(path, file.read(_MOST_HEAD))
    head.check(path, size)
    file.seek(head.bytes)
    elements = _core.empty((head.data_bytes,), uint8.id)
    view = memoryview(elements)
    count = 0
    while count < len(view) and (got := file.readinto(view[count:])):
        count += got
    if count < len(view):
        raise _malformed(path, "became shorter while it was read")
    return head.tensor(path, elements)


def _read_packed(path: Any, file: Any, size: int) -> Tensor:
    """Read a file twice if it is large: what is broken is known before its memory is taken."""
    content = bytearray()
    for chunk in _unpacked(path, file):
        content += chunk
        if len(content) >= _MOST_HEAD:
            break
    head = _Head(path, bytes(content[:_MOST_HEAD]))
    file.seek(max(size - 4, 0))
    # gzip ends with the size of what was packed, modulo 2 ** 32: most broken files differ there.
    ending = int.from_bytes(file.read(4), "little")
    if ending != (head.bytes + head.data_bytes) % (1 << 32):
        what = f"shape {head.shape} of {head.dtype} has {head.data_bytes:,} bytes"
        raise _malformed(path, f"{what}, and gzip says otherwise")
    if head.data_bytes > _SMALL:
        _copy_packed(path, file, head, None)
    elements = _core.empty((head.data_bytes,), uint8.id)
    _copy_packed(path, file, head, memoryview(elements))
    return head.tensor(path, elements)


def _copy_packed(path: Any, file: Any, head: _Head, out: memoryview | None) -> None:
    """Go through all elements, and copy them if there is a place for them."""
    file.seek(0)
    count = -head.bytes
    for chunk in _unpacked(path, file):
        start = max(-count, 0)  # of the elements in this chunk
        begin, count = max(count, 0), count + len(chunk)
        if count > head.data_bytes:
            head.check(path, head.bytes + count)
        if out is not None and start < len(chunk):
            out[begin:count] = memoryview(chunk)[start:]
    head.check(path, head.bytes + count)


def _unpacked(path: Any, file: Any) -> Iterator[bytes]:
    """Give what gzip packed, in chunks of a limited size; it checks its own sum at the end."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        while not unpacker.eof:
            packed = unpacker.unconsumed_tail or file.read(_CHUNK)
            chunk = unpacker.decompress(packed, _CHUNK)
            if not packed and not chunk:
                raise _malformed(path, "ends before what gzip packed does")
            yield chunk
    except zlib.error as error:
        raise _malformed(path, f"is not what gzip packed: {error}") from None
    if unpacker.unused_data or file.read(1):
        raise _malformed(path, "goes on behind what gzip packed")
