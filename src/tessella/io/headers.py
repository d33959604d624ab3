"""The header of a safetensors file: what tensors there are, and where in the file they lie.

A file is 8 bytes (the header's length, little-endian), the header (JSON), and the data. The data is
covered by the tensors without gaps and overlaps, in any order; a header that says otherwise is
refused, and so is everything else that is not as the format says.
"""

from __future__ import annotations

import json
import math
import re

from tessella.dtypes import (
    DType,
    bfloat16,
    boolean,
    complex64,
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
from tessella.hints import TYPE_CHECKING, NoReturn
from tessella.io import file_errors
from tessella.io.scanning import Scanner
from tessella.io.sources import Source

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_BYTES = 100_000_000  # of a header, as in the safetensors package
MOST_AXES = 64
MOST_ELEMENTS = (1 << 58) - 1  # their bytes can be counted, whatever the dtype
METADATA = "__metadata__"

DTYPES: dict[str, DType] = {
    "BOOL": boolean, "I8": int8, "I16": int16, "I32": int32, "I64": int64, "U8": uint8,
    "U16": uint16, "U32": uint32, "U64": uint64, "F16": float16, "BF16": bfloat16, "F32": float32,
    "F64": float64, "C64": complex64,
}  # fmt: skip
NAMES = {dtype: name for name, dtype in DTYPES.items()}
# The bits of an element, also of dtypes that the format has and we have not.
BITS = {name: 8 * dtype.itemsize for name, dtype in DTYPES.items()}
BITS |= {"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6}
BITS |= dict.fromkeys(("F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8)

_SIZE = r"(?:0|[1-9][0-9]{0,18})"
_USUAL = re.compile(
    rf'{{"dtype":"([A-Z0-9_]+)","shape":\[((?:{_SIZE}(?:,{_SIZE}){{0,{MOST_AXES - 1}}})?)\],'
    rf'"data_offsets":\[({_SIZE}),({_SIZE})\]}}'
)


class Entry:
    """One tensor: its dtype by the format's name, its shape, its bytes in the data."""

    __slots__ = ("dtype", "end", "shape", "start")

    def __init__(self, dtype: str, shape: tuple[int, ...], start: int, end: int) -> None:
        self.dtype = dtype
        self.shape = shape
        self.start = start
        self.end = end


class Header:
    """What a file says about itself."""

    def __init__(self, entries: dict[str, Entry], metadata: dict[str, str], data: int) -> None:
        self.entries = entries
        self.metadata = metadata
        self.data = data  # where in the file the data begins


# --- reading -------------------------------------------------------------------------------------


def read_header(source: Source) -> Header:
    """Read and check the header of a file."""
    if source.size < 8:
        raise file_errors.no_header(source.name, source.size)
    length = int.from_bytes(source.read(0, 8), "little")
    if length > MOST_BYTES or length > source.size - 8:
        _refuse_length(source, length)
    try:
        text = source.read(8, length).decode()
    except UnicodeDecodeError as error:
        raise file_errors.header_encoding(source.name, 8 + error.start) from None
    if not text.startswith("{"):
        raise file_errors.header_syntax(source.name, 8, "'{'", text[:1])
    header = _parse(Scanner(text, source.name, 8), 8 + length)
    _check_places(header, source)
    return header


def _refuse_length(source: Source, length: int) -> NoReturn:
    found = source.read(0, min(8, source.size))
    if found.startswith((b"PK\3\4", b"\x93NUMPY")):
        raise file_errors.other_format(source.name)
    if found.startswith(b"GGUF"):
        raise file_errors.is_gguf(source.name)
    if found[:1] == b"\x80" and 2 <= found[1] <= 5:  # the first opcode of a pickle
        raise file_errors.old_torch(source.name)
    if found.isascii() and not any(byte < 32 and byte not in b"\t\r\n" for byte in found):
        raise file_errors.is_text(source.name)
    raise file_errors.header_length(source.name, length, source.size, MOST_BYTES)


def _parse(scanner: Scanner, data: int) -> Header:
    entries: dict[str, Entry] = {}
    metadata: dict[str, str] = {}
    for key in scanner.entries():
        if key == METADATA:
            for name in scanner.entries():
                metadata[name] = scanner.string()
        else:
            entries[key] = _entry(scanner, key)
    scanner.end()
    return Header(entries, metadata, data)


def _entry(scanner: Scanner, name: str) -> Entry:
    """Read and check what the header says about one tensor."""
    scanner.skip()
    at = scanner.byte
    place = scanner.place
    dtype, shape, offsets = _usual(scanner) or _fields(scanner, name)
    if dtype not in BITS:
        raise file_errors.unknown_format_dtype(scanner.name, at(place), name, dtype)
    start, end = offsets
    bits = math.prod(shape) * BITS[dtype]
    # A size that would overflow beside an axis of size 0 is refused as well.
    if math.prod(n or 1 for n in shape) > MOST_ELEMENTS:
        raise file_errors.tensor_too_large(scanner.name, at(place), name, shape)
    if end < start or bits != 8 * (end - start):
        raise file_errors.tensor_bytes(scanner.name, at(place), name, dtype, shape, (start, end))
    return Entry(dtype, tuple(shape), start, end)


def _usual(scanner: Scanner) -> tuple[str, list[int], list[int]] | None:
    """Read the fields in the order and without the spaces that every writer uses: at once."""
    found = _USUAL.match(scanner.text, scanner.place)
    if not found:
        return None
    scanner.place = found.end()
    dtype, sizes, start, end = found.groups()
    shape = [int(size) for size in sizes.split(",")] if sizes else []
    return dtype, shape, [int(start), int(end)]


def _fields(scanner: Scanner, name: str) -> tuple[str, list[int], list[int]]:
    """Read the fields as they come."""
    place = scanner.place
    dtype, shape, offsets = None, None, None
    for field in scanner.entries():
        if field == "dtype":
            dtype = scanner.string()
        elif field == "shape":
            shape = scanner.numbers(MOST_AXES)
        elif field == "data_offsets":
            offsets = scanner.numbers(2)
        else:
            raise file_errors.unknown_field(scanner.name, scanner.byte(), name, field)
    if dtype is None or shape is None or offsets is None or len(offsets) != 2:
        raise file_errors.missing_field(scanner.name, scanner.byte(place), name)
    return dtype, shape, offsets


def _check_places(header: Header, source: Source) -> None:
    """See that the tensors cover the data, and do not overlap."""
    end, last = 0, ""
    for name, entry in sorted(
        header.entries.items(), key=lambda item: (item[1].start, item[1].end)
    ):
        if entry.start < end:
            raise file_errors.tensors_overlap(source.name, header.data + entry.start, last, name)
        if entry.start > end:
            raise file_errors.tensors_gap(source.name, header.data + end, name, entry.start - end)
        end, last = entry.end, name
    size = source.size - header.data
    if end > size:
        raise file_errors.data_cut(source.name, source.size, last, header.data + end)
    if end < size:
        raise file_errors.data_left(source.name, header.data + end, size - end)


# --- writing -------------------------------------------------------------------------------------


def compose(entries: Mapping[str, Entry], metadata: Mapping[str, str]) -> bytes:
    """Give the first bytes of a file: the header and its length."""
    content: dict[str, object] = {METADATA: dict(metadata)} if metadata else {}
    for name, entry in entries.items():
        places = [entry.start, entry.end]
        content[name] = {"dtype": entry.dtype, "shape": list(entry.shape), "data_offsets": places}
    try:
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError as error:
        raise file_errors.no_text(error.object[error.start : error.end]) from None
    text += b" " * (-len(text) % 8)  # the data is aligned for every dtype
    if len(text) > MOST_BYTES:
        raise file_errors.header_too_long(len(text), MOST_BYTES)
    return len(text).to_bytes(8, "little") + text
