"""NumPy's .npy files, read and written without NumPy.

The header is a Python dict of three entries; it is matched, not evaluated. Python objects, text and
records are refused: they are no numbers.
"""

from __future__ import annotations

import math
import re
import sys

from tessella import errors, exchange_errors
from tessella._core import Tensor
from tessella.arguments import to_bool
from tessella.dtypes import (
    DType,
    bfloat16,
    boolean,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from tessella.hints import TYPE_CHECKING, Any, File
from tessella.io import file_errors, replacements, sources, streams
from tessella.io.elements import as_elements, byte_swapped
from tessella.io.file_errors import calling
from tessella.io.sources import Source

if TYPE_CHECKING:
    from typing import BinaryIO

MAGIC = b"\x93NUMPY"
_MOST_BYTES = 1 << 16  # of a header: that of 64 axes has under 2,000
_MOST_AXES = 64

DTYPES: dict[str, DType] = {
    "b1": boolean, "i1": int8, "i2": int16, "i4": int32, "i8": int64, "u1": uint8, "u2": uint16,
    "u4": uint32, "u8": uint64, "f2": float16, "f4": float32, "f8": float64, "c8": complex64,
    "c16": complex128,
}  # fmt: skip
CODES = {dtype: code for code, dtype in DTYPES.items()}

_ITEM = re.compile(
    r"""\s*(?:(['"])descr\1\s*:\s*(['"])(?P<descr>[<>|=]?\w+)\2"""
    r"""|(['"])fortran_order\4\s*:\s*(?P<fortran>True|False)"""
    r"""|(['"])shape\6\s*:\s*\((?P<shape>[0-9,\s]*)\))\s*(?P<end>,?)"""
)
_SIZES = re.compile(r"\s*(?:[0-9]{1,19}\s*,\s*)*(?:[0-9]{1,19}\s*)?", re.ASCII)


class Form:
    """What a header says: dtype, byte order, order of the axes, shape."""

    def __init__(
        self, dtype: DType, is_swapped: bool, in_columns: bool, shape: tuple[int, ...]
    ) -> None:
        self.dtype = dtype
        self.is_swapped = is_swapped
        self.in_columns = in_columns
        self.shape = shape
        self.nbytes = math.prod(shape) * dtype.itemsize


# --- reading -------------------------------------------------------------------------------------


def load_npy(path: File, mmap: bool = False) -> Tensor:
    """Read a tensor from NumPy's .npy file.

    With `mmap` it lies over the file and is read-only; if another program cuts that short while
    it is used, the system ends this process (SIGBUS).

    >>> numpy.save("x.npy", numpy.arange(3))
    >>> ts.io.load_npy("x.npy").tolist()
    [0, 1, 2]
    """
    with calling("load_npy"):
        access = sources.READ_ONLY if to_bool("mmap", mmap) else None
        with sources.open_source(path, access) as source:
            return read_npy(source)


def read_npy(source: Source) -> Tensor:
    """Read the only tensor of a file."""
    form, start = read_form(source.read(0, min(source.size, 12 + _MOST_BYTES)), source.name)
    if form.nbytes != source.size - start:
        raise file_errors.npy_size(source.name, start, form.nbytes, source.size - start)
    place = file_errors.place(source.name, start)
    return arrange(source.flat(start, form.nbytes), form, "the array", place)


def arrange(flat: Tensor, form: Form, owner: str, place: str) -> Tensor:
    """Give bytes as the tensor that a header describes."""
    if form.is_swapped:
        flat = byte_swapped(flat, form.dtype)
    x = as_elements(flat, form.dtype, owner, place)
    if not form.in_columns:
        return x.reshape(form.shape)
    axes = tuple(reversed(range(len(form.shape))))
    return x.reshape(form.shape[::-1]).permute(axes) if axes else x.reshape(())


def read_form(data: bytes, name: str) -> tuple[Form, int]:
    """Read a header; give also where the elements begin."""
    if data[:6] != MAGIC or len(data) < 10:
        raise file_errors.no_npy(name, 0)
    version = data[6]
    wide = 2 if version == 1 else 4
    if version not in (1, 2, 3) or len(data) < 8 + wide:
        raise file_errors.no_npy(name, 6)
    length = int.from_bytes(data[8 : 8 + wide], "little")
    start = 8 + wide + length
    if length > _MOST_BYTES or start > len(data):
        raise file_errors.npy_header(name, 8, "its length is beyond the file or 64 KiB")
    try:
        text = data[8 + wide : start].decode("utf-8" if version == 3 else "latin1")
    except UnicodeDecodeError:
        raise file_errors.npy_header(name, 8 + wide, "it is no UTF-8") from None
    return _form(text, name, 8 + wide), start


def _form(text: str, name: str, at: int) -> Form:
    body = text.strip()
    if not body.startswith("{") or not body.endswith("}"):
        raise file_errors.npy_header(name, at, "it is no dict")
    found: dict[str, str] = {}
    place, end = 1, len(body) - 1
    while body[place:end].strip():
        item = _ITEM.match(body, place, end)
        if (
            not item
            or item.lastgroup is None
            or (not item["end"] and body[item.end() : end].strip())
        ):
            raise file_errors.npy_header(name, at + place, _why(body[place:end]))
        for key in ("descr", "fortran", "shape"):
            if item[key] is not None:
                if key in found:
                    raise file_errors.npy_header(name, at + place, f"{key} stands there twice")
                found[key] = item[key]
        place = item.end()
    if len(found) != 3:
        raise file_errors.npy_header(name, at, "it must say descr, fortran_order and shape")
    dtype, is_swapped = _dtype(found["descr"], name, at)
    return Form(dtype, is_swapped, found["fortran"] == "True", _shape(found["shape"], name, at))


def _why(text: str) -> str:
    """Say what is wrong with an entry of a header."""
    if re.match(r"""\s*['"]descr['"]\s*:\s*\[""", text):
        return "the elements are records of several fields"
    return "an entry is not as NumPy writes it"


def _dtype(code: str, name: str, at: int) -> tuple[DType, bool]:
    order, kind = (code[0], code[1:]) if code[0] in "<>|=" else ("=", code)
    if kind not in DTYPES or (order == "|" and DTYPES[kind].itemsize > 1):
        raise file_errors.npy_dtype(name, at, code, "bfloat16" if kind == "V2" else "")
    machine = "<" if sys.byteorder == "little" else ">"
    return DTYPES[kind], order in "<>" and order != machine


def _shape(text: str, name: str, at: int) -> tuple[int, ...]:
    sizes = [part for part in text.split(",") if part.strip()]
    is_tuple = _SIZES.fullmatch(text) and (len(sizes) != 1 or "," in text)
    if not is_tuple or len(sizes) > _MOST_AXES:
        raise file_errors.npy_header(name, at, "shape is no tuple of at most 64 sizes")
    shape = tuple(map(int, sizes))
    if math.prod(n or 1 for n in shape) >= 1 << 58:
        raise file_errors.npy_header(name, at, f"shape {errors.brief(shape)} is too large")
    return shape


# --- writing -------------------------------------------------------------------------------------


def save_npy(x: Tensor, path: File) -> None:
    """Write a tensor into NumPy's .npy file, which is replaced as a whole.

    >>> ts.io.save_npy(ts.arange(3), "x.npy")
    >>> numpy.load("x.npy").tolist()
    [0, 1, 2]
    """
    with calling("save_npy"):
        head = compose(x, "x")
        with replacements.open_target(path) as file:
            write_npy(file, head, x)


def write_npy(file: BinaryIO, head: bytes, x: Tensor) -> None:
    """Write a header and the elements."""
    streams.write_all(file, head)
    streams.write_tensor(file, x)


def compose(x: Any, name: str) -> bytes:
    """Give the header of a tensor; refuse what NumPy has not."""
    if not isinstance(x, Tensor):
        raise errors.not_tensor(name, x, "a tensor")
    if x.is_virtual:
        raise errors.virtual_value(name)
    if x.dtype is bfloat16:
        raise exchange_errors.numpy_of_bfloat16()
    if x.dtype.is_user:
        raise exchange_errors.numpy_of_items(x.dtype)
    order = "|" if x.dtype.itemsize == 1 else "<" if sys.byteorder == "little" else ">"
    text = f"{{'descr': '{order}{CODES[x.dtype]}', 'fortran_order': False, 'shape': {x.shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"  # the elements begin at a multiple of 64
    return MAGIC + b"\1\0" + len(text).to_bytes(2, "little") + text.encode("latin1")
