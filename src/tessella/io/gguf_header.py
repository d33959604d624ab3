"""The header of a GGUF file: its metadata, what tensors there are, and where in the file they lie.

A file is b"GGUF", its version, how many tensors and how many values there are, the values by key,
the tensors (name, sizes, type, place), and, from the next multiple of the alignment on, the data.
Everything that the header says is checked before anything is made of it, and the data is not
touched.
"""

from __future__ import annotations

import math
from struct import pack
from typing import NamedTuple

from tessella.dtypes import DType
from tessella.hints import Any, Value
from tessella.io import file_errors, gguf_errors
from tessella.io.gguf_types import NUMBERS, TYPES, TensorType
from tessella.io.gguf_values import Reader, pack_text, pack_value
from tessella.io.headers import MOST_ELEMENTS

MAGIC = b"GGUF"
VERSIONS = (2, 3)  # which differ in nothing that little-endian files have
ALIGNMENT_KEY = "general.alignment"
ALIGNMENT = 32  # of files that do not say another one
MOST_ALIGNMENT = 1 << 20
MOST_AXES = 4
MOST_KEY = (1 << 16) - 1  # bytes
MOST_NAME = 256  # bytes; some programs are built for names longer than ggml's
_START = 24  # bytes of magic, version and counts
_LEAST_VALUE = 14  # bytes: a key of one letter, the type, one byte
_LEAST_TENSOR = 33  # bytes: a name of one letter, one axis


class GGUFTensor(NamedTuple):
    """What a GGUF file says about a tensor, which it does not hold.

    `shape` ends with the axis whose numbers are neighbours, as everywhere here; `format` is a
    dtype, or the name of a block format; `offset` is the place of its bytes in the file.

    >>> ts.io.save_gguf({"w": ts.ones(2, 3)}, "model.gguf")
    >>> with ts.io.open_gguf("model.gguf") as file:
    ...     w = file.tensors["w"]
    >>> w.shape, w.format, w.nbytes
    ((2, 3), float32, 24)
    """

    name: str
    shape: tuple[int, ...]
    format: DType | str
    nbytes: int
    offset: int


class Header(NamedTuple):
    """What a file says about itself."""

    metadata: dict[str, Value]
    types: dict[str, str]
    tensors: dict[str, GGUFTensor]


# --- reading -------------------------------------------------------------------------------------


def read_header(view: memoryview, size: int, name: str) -> Header:
    """Read and check the header of a file of so many bytes, of which the view may be the first."""
    reader = Reader(view, name)
    _check_start(reader)
    tensor_count = reader.count("tensors", _LEAST_TENSOR)
    value_count = reader.count("values", _LEAST_VALUE)
    start = reader.place
    reader.is_dry = True
    metadata, _ = _read_values(reader, value_count)
    alignment = metadata.get(ALIGNMENT_KEY, ALIGNMENT)
    tensors = _read_tensors(reader, tensor_count, alignment, size)
    reader.place, reader.is_dry = start, False
    return Header(*_read_values(reader, value_count), tensors)


def _read_values(reader: Reader, count: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Read the values by key, and their types."""
    metadata: dict[str, Any] = {}
    types: dict[str, str] = {}
    for _ in range(count):
        at = reader.place
        key = reader.text("a key", MOST_KEY)
        if key in metadata:
            raise gguf_errors.repeated(reader.name, at, "values", key)
        at = reader.place
        reader.kinds.clear()
        metadata[key] = reader.value(key)
        if len(reader.kinds) == 1:  # an array may hold none, and one of arrays several
            (types[key],) = reader.kinds
        if key == ALIGNMENT_KEY:
            _check_alignment(metadata[key], types.get(key, "array"), reader.name, at)
    return metadata, types


def _check_start(reader: Reader) -> None:
    start = bytes(reader.view[: len(MAGIC)])
    if start != MAGIC and start != MAGIC[: len(start)]:
        raise gguf_errors.no_gguf(reader.name, start)
    if len(reader.view) < _START:
        raise gguf_errors.too_short(reader.name, len(reader.view), _START)
    reader.place = at = len(MAGIC)
    version: int = reader.number("uint32")
    if version in VERSIONS:
        return
    if int.from_bytes(version.to_bytes(4, "little"), "big") in VERSIONS:
        raise gguf_errors.big_endian(reader.name, at)
    raise gguf_errors.unknown_version(reader.name, at, version, VERSIONS)


def _check_alignment(value: Any, kind: str, name: str, at: int) -> None:
    if kind != "uint32" or isinstance(value, list):
        found = "array" if isinstance(value, list) else kind
        raise gguf_errors.alignment_kind(name, at, found)
    if not is_alignment(value):
        raise gguf_errors.alignment_value(name, at, value, MOST_ALIGNMENT)


def is_alignment(value: int) -> bool:
    """Tell whether tensors can begin at multiples of a number."""
    return 0 < value <= MOST_ALIGNMENT and not value & (value - 1)


def _read_tensors(reader: Reader, count: int, alignment: int, size: int) -> dict[str, GGUFTensor]:
    found: dict[str, tuple[int, GGUFTensor]] = {}
    for _ in range(count):
        at = reader.place
        tensor = _read_tensor(reader, alignment)
        if tensor.name in found:
            raise gguf_errors.repeated(reader.name, at, "tensors", tensor.name)
        found[tensor.name] = at, tensor
    data = aligned(reader.place, alignment)
    tensors: dict[str, GGUFTensor] = {}
    for key, (at, tensor) in found.items():
        start = data + tensor.offset
        if start >= size:
            raise gguf_errors.starts_behind(reader.name, at, key, start, size)
        if start + tensor.nbytes > size:
            raise file_errors.data_cut(reader.name, size, key, start + tensor.nbytes)
        tensors[key] = tensor._replace(offset=start)
    _check_overlaps(tensors, reader.name)
    return tensors


def _read_tensor(reader: Reader, alignment: int) -> GGUFTensor:
    """Read one entry; its offset is that in the data."""
    name = reader.text("a tensor's name", MOST_NAME)
    shape = _read_shape(reader, name)
    at = reader.place
    number: int = reader.number("uint32")
    if number not in TYPES:
        raise gguf_errors.unknown_type(reader.name, at, name, number)
    kind = TYPES[number]
    if shape[-1] % kind.elements:
        raise gguf_errors.partial_block(
            reader.name, at, name, shape[-1], str(kind.format), kind.elements
        )
    at = reader.place
    offset: int = reader.number("uint64")
    if offset % alignment:
        raise gguf_errors.misaligned(reader.name, at, name, offset, alignment)
    return GGUFTensor(name, shape, kind.format, bytes_of(shape, kind), offset)


def _read_shape(reader: Reader, name: str) -> tuple[int, ...]:
    at = reader.place
    count: int = reader.number("uint32")
    if not 1 <= count <= MOST_AXES:
        raise gguf_errors.axes(reader.name, at, name, count, MOST_AXES)
    sizes: list[int] = [reader.number("uint64") for _ in range(count)]
    for size in sizes:
        if not 1 <= size < 1 << 63:
            raise gguf_errors.axis_size(reader.name, at, name, size)
    if math.prod(sizes) > MOST_ELEMENTS:
        raise file_errors.tensor_too_large(reader.name, at, name, sizes[::-1])
    return tuple(sizes[::-1])  # files have the axis whose elements are neighbours first


def _check_overlaps(tensors: dict[str, GGUFTensor], name: str) -> None:
    end, last = 0, ""
    for tensor in sorted(tensors.values(), key=lambda tensor: tensor.offset):
        if tensor.offset < end:
            raise file_errors.tensors_overlap(name, tensor.offset, last, tensor.name)
        end, last = tensor.offset + tensor.nbytes, tensor.name


def aligned(place: int, alignment: int) -> int:
    """Give the next place that is a multiple of the alignment."""
    return -(-place // alignment) * alignment


def bytes_of(shape: tuple[int, ...], kind: TensorType) -> int:
    """Give how many bytes a tensor has whose rows are whole blocks."""
    return math.prod(shape) // kind.elements * kind.bytes


# --- writing -------------------------------------------------------------------------------------


def compose(
    metadata: dict[str, Any],
    types: dict[str, str],
    tensors: dict[str, tuple[tuple[int, ...], DType | str]],
    alignment: int,
) -> bytes:
    """Give the first bytes of a file, up to the data; tensors are shapes and formats by name."""
    parts = [MAGIC, pack("<IQQ", VERSIONS[-1], len(tensors), len(metadata))]
    for key, value in metadata.items():
        parts += [pack_text(key), pack_value(key, value, types.get(key))]
    offset = 0
    for name, (shape, format) in tensors.items():
        number = NUMBERS[format]
        sizes = pack(f"<I{len(shape)}Q", len(shape), *shape[::-1])
        parts += [pack_text(name), sizes, pack("<IQ", number, offset)]
        offset = aligned(offset + bytes_of(shape, TYPES[number]), alignment)
    head = b"".join(parts)
    return head + bytes(-len(head) % alignment)
