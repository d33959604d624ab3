"""GGUF files put together byte by byte, so that each part can be wrong; the writer has no say."""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack

NUMBERS = {  # the format's names, and codes of struct
    "uint8": (0, "B"), "int8": (1, "b"), "uint16": (2, "H"), "int16": (3, "h"), "uint32": (4, "I"),
    "int32": (5, "i"), "float32": (6, "f"), "bool": (7, "?"), "string": (8, ""), "array": (9, ""),
    "uint64": (10, "Q"), "int64": (11, "q"), "float64": (12, "d"),
}  # fmt: skip


def text(value: str | bytes, length: int | None = None) -> bytes:
    """Give a text, perhaps with another length than it has."""
    raw = value if isinstance(value, bytes) else value.encode()
    return pack("<Q", len(raw) if length is None else length) + raw


def value(kind: str, number: float | str) -> bytes:
    """Give the bytes of one value, without its type."""
    return text(number) if isinstance(number, str) else pack(f"<{NUMBERS[kind][1]}", number)


def array(kind: str | int, values: Sequence[bytes], count: int | None = None) -> bytes:
    """Give an array of values that are bytes already."""
    number = kind if isinstance(kind, int) else NUMBERS[kind][0]
    return pack("<IQ", number, len(values) if count is None else count) + b"".join(values)


def pair(key: str | bytes, kind: str | int, raw: bytes) -> bytes:
    """Give a key, a type and a value."""
    number = kind if isinstance(kind, int) else NUMBERS[kind][0]
    return text(key) + pack("<I", number) + raw


def aligned_to(alignment: int) -> bytes:
    """Say another alignment."""
    return pair("general.alignment", "uint32", value("uint32", alignment))


def tensor(
    name: str | bytes = "x", sizes: Sequence[int] = (2,), kind: int = 0, offset: int = 0,
    axes: int | None = None,
) -> bytes:  # fmt: skip
    """Give the entry of a tensor; sizes are in the order of the format."""
    count = len(sizes) if axes is None else axes
    return text(name) + pack(f"<I{len(sizes)}QIQ", count, *sizes, kind, offset)


def file_of(
    pairs: Sequence[bytes] = (), tensors: Sequence[bytes] = (), data: bytes = b"",
    counts: tuple[int, int] | None = None, version: int = 3, magic: bytes = b"GGUF",
    alignment: int = 32,
) -> bytes:  # fmt: skip
    """Put a file together: the data begins at a multiple of the alignment, if there is any."""
    head = magic + pack("<IQQ", version, *(counts or (len(tensors), len(pairs))))
    head += b"".join([*pairs, *tensors])
    return head + bytes(-len(head) % alignment if data else 0) + data
