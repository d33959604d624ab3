"""Readers of files, given what is almost right: FormatError, within a second and 10 MB.

`make proof` reads 108,000 files. Each is read twice: into memory of its own, and mapped.
"""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

import tessella as ts
from conftest import SEED
from mutations import COUNT, FAMILIES, MOST_BYTES, WHOLE, check_refused, count_refused
from tessella.io import sources
from tessella.io.objects import read_object


def tensors_of(value: Any, depth: int = 0) -> list[ts.Tensor]:
    """Give the tensors of what was read; a pickle may have made a container that holds itself."""
    if isinstance(value, ts.Tensor):
        return [value]
    if depth > 6 or not isinstance(value, dict | list | tuple):
        return []
    parts = value.values() if isinstance(value, dict) else value
    return [x for part in list(parts)[:100] for x in tensors_of(part, depth + 1)][:100]


def read(data: bytes, kind: type[sources.Mapped]) -> bool:
    """Read a file, and every element of it; tell whether it could be read."""
    try:
        held = read_object(kind("mutation", data))
    except ts.errors.FormatError as error:
        assert error.what and error.hint and error.places, error
        return False
    for x in tensors_of(held):
        if math.prod(x.shape) < 10_000:  # a view may repeat an element without end
            x.tolist()
    return True


@pytest.mark.parametrize("family", FAMILIES)
def test_files_that_are_almost_right_are_read_or_refused(family: str) -> None:
    refused = count_refused(read, FAMILIES[family], family)
    assert COUNT / 3 < refused <= 2 * COUNT  # most are wrong, and the rest tells that it works


def test_the_files_are_read_before_they_are_changed() -> None:
    for files in WHOLE.values():
        for data in files:
            assert read(data, sources.Held) or data.startswith(b"\x80\2\x8a")


@pytest.mark.parametrize("size", [10**3, 10**6, 10**7])
@pytest.mark.parametrize("start", [b"", b"PK\3\4", b"\x93NUMPY\1\0", b"\x80\2", b"{", b"PK\5\6"])
def test_noise_of_any_length_is_refused_at_once(size: int, start: bytes) -> None:
    data = start + random.Random(SEED).randbytes(size)
    check_refused(read, data)


LARGE = {
    "open lists": lambda: header(b'{"x":' + b"[" * 5_000_000),
    "open objects": lambda: header(b'{"a":' * 1_000_000),
    "lists": lambda: header(b'{"x":[' + b"[]," * 1_500_000),
    "numbers": lambda: header(b'{"x":{"dtype":"F32","shape":[' + b"1," * 2_000_000),
    "digits": lambda: header(b'{"x":{"dtype":"F32","shape":[' + b"1" * 5_000_000),
    "string": lambda: header(b'{"' + b"a" * 4_000_000),
    "escapes": lambda: header(b'{"' + b"\\u0041" * 300_000),
    "spaces": lambda: header(b"{" + b" " * 4_000_000),
    "length": lambda: (90_000_000).to_bytes(8, "little") + b"{",
    "members": lambda: b"PK\3\4" + b"PK\1\2" * 1_000_000 + b"PK\5\6" + b"\0" * 18,
    "counted": lambda: b"PK\3\4PK\5\6" + b"\0\0\0\0\xfe\xff\xfe\xff" + b"\0" * 10,
}  # fmt: skip


def header(text: bytes) -> bytes:
    """Give a safetensors file that is only a header."""
    return len(text).to_bytes(8, "little") + text


@pytest.mark.parametrize("name", LARGE)
def test_long_files_that_are_wrong_are_refused_within_bounds(name: str) -> None:
    """Beside the header itself, as bytes and as text, a reader needs next to nothing."""
    data = LARGE[name]()
    check_refused(read, data, MOST_BYTES + len(data))
