"""GGUF files that are almost right: read, or refused with FormatError, within 10 MB and 1 s.

`make proof` reads 48,000 files, each of them twice: mapped, and into memory of its own.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import tessella as ts
from conftest import SEED
from gguf_files import array, file_of, pair, tensor, text, value
from mutations import (
    COUNT,
    MOST_BYTES,
    MOST_SECONDS,
    NUMBERS,
    check_refused,
    count_refused,
    mutated,
    traced,
    written,
)
from tessella.io import sources
from tessella.io.gguf import read_gguf

FIGURES = Path(__file__).parent / "figures"
VALUES = {
    "general.architecture": "llama", "general.alignment": 32, "a": [1, 2, 3], "b": [True, False],
    "c": ["x", "yz", ""], "d": [[1.5], [2.5, -1.0]], "e": -1, "f": 2.5, "g": True, "h": 2**63,
}  # fmt: skip
TENSORS = {
    "w": ts.arange(6.0).reshape(2, 3), "h": ts.ones(4, dtype=ts.float16),
    "q": (ts.zeros(2, 34, dtype=ts.uint8), "q8_0"), "k": (ts.ones(1, 144, dtype=ts.uint8), "q4_k"),
    "i": ts.arange(3),
}  # fmt: skip
SMALL = file_of(
    [pair("k", "array", array("array", [array("uint8", [b"\1"]), array("string", [text("a")])])),
     pair("l", "float64", value("float64", 0.5)), pair("m", "bool", b"\1")],
    [tensor("x", [3]), tensor("y", [32, 2], 20, 32)], bytes(96), version=2,
)  # fmt: skip
WHOLE = [
    SMALL,
    written(lambda file: ts.io.save_gguf(TENSORS, file, VALUES)),  # type: ignore[arg-type]
    (FIGURES / "gguf_types.gguf").read_bytes(),
    (FIGURES / "gguf_aligned.gguf").read_bytes(),
]


def read(data: bytes, kind: type[sources.Mapped]) -> bool:
    """Read a file, and every element of it; tell whether it could be read."""
    try:
        file = read_gguf(kind("mutation", data))
    except ts.errors.FormatError as error:
        assert error.what and error.hint and error.places, error
        return False
    with file:
        for name, entry in file.tensors.items():
            assert entry.name == name and entry.offset + entry.nbytes <= len(data)
            try:
                x = file.get_tensor(name)
            except ts.errors.FormatError as error:
                assert "which cannot be computed with" in error.what
                continue
            assert x.nbytes == entry.nbytes and x.ndim == len(entry.shape)
            assert isinstance(entry.format, str) or math.prod(entry.shape) == x.size
            x.tolist()
    return True


def header_mutated(draw: random.Random) -> bytes:
    """Change the header of a file, and let the data begin where it then must."""
    data = draw.choice(WHOLE[:2])
    with read_gguf(sources.Held("x", data)) as file:
        start = min(entry.offset for entry in file.tensors.values())
    head = mutated(data[:start].rstrip(b"\0"), draw)
    return head + bytes(-len(head) % 32) + data[start:]


def count_mutated(draw: random.Random) -> bytes:
    """Put one or two numbers that often go wrong at places where the header has some."""
    out = bytearray(draw.choice(WHOLE[:2]))
    for _ in range(draw.choice([1, 2])):
        size = draw.choice([4, 8])
        at = draw.choice([*range(4, 24, 4), *range(24, min(len(out), 600))])
        out[at : at + size] = (draw.choice(NUMBERS) % (1 << 8 * size)).to_bytes(size, "little")
    return bytes(out)


SIZES = [0, 1, 2, 32, 32, 32, 256, 256, 2**31, 2**63]


def entry_drawn(draw: random.Random) -> bytes:
    """Draw tensors whose entries are right for themselves, and often not for the file."""
    entries = [
        tensor(
            draw.choice("abcd") * draw.choice([1, 1, 64, 300]),
            [draw.choice(SIZES) for _ in range(draw.choice([1, 1, 2, 4]))],
            draw.choice([0, 0, 1, 1, 2, 8, 12, 20, 30, 31, 42, 43]),
            draw.choice([0, 0, 0, 0, 32, 64, 33, 1024, 2**62]),
        )
        for _ in range(draw.choice([1, 1, 2]))
    ]
    return file_of([], entries, bytes(draw.choice([0, 64, 8192, 8192])))


def whole_mutated(draw: random.Random) -> bytes:
    """Change any bytes of a file."""
    return mutated(draw.choice(WHOLE), draw)


FAMILIES: dict[str, Callable[[random.Random], bytes]] = {
    "whole": whole_mutated,
    "headers": header_mutated,
    "counts": count_mutated,
    "entries": entry_drawn,
}


@pytest.mark.parametrize("family", FAMILIES)
def test_files_that_are_almost_right_are_read_or_refused(family: str) -> None:
    refused = count_refused(read, FAMILIES[family], family)
    assert COUNT / 4 < refused < 2 * COUNT  # many are wrong, and the rest tells that it works


def test_the_files_are_read_before_they_are_changed() -> None:
    for data in WHOLE:
        assert read(data, sources.Held)


@pytest.mark.parametrize("start", [b"", b"GGUF", file_of()[:8], file_of(counts=(5, 5))])
def test_noise_of_any_length_is_refused_at_once(start: bytes) -> None:
    data = start + random.Random(SEED).randbytes(10**7)
    check_refused(read, data)


def listed(kind: str, values: list[bytes], count: int) -> bytes:
    """Give a file of one array."""
    return file_of([pair("k", "array", array(kind, values, count))])


def vocabulary() -> bytes:
    """Give a file of a vocabulary as models have it, and a tensor."""
    words = array("string", [text(f"word {i}") for i in range(300_000)])
    scores = array("float32", [bytes(4)] * 300_000)
    return file_of([pair("k", "array", words), pair("l", "array", scores)], [tensor()], bytes(8))


LARGE: dict[str, Callable[[], bytes]] = {
    "key": lambda: file_of([text("k" * 5_000_000) + bytes(9)]),
    "text": lambda: file_of([pair("k", "string", text(b"a" * 4_000_000 + b"\xff"))]),
    "texts": lambda: listed("string", [*[text("")] * 300_000, text("", 1)], 300_001),
    "counted": lambda: listed("string", [text("")] * 300_000, 300_001),
    "arrays": lambda: listed("array", [*[array("bool", [])] * 90_000, array(13, [])], 90_001),
    "flags": lambda: listed("bool", [b"\1" * 4_000_000 + b"\2"], 4_000_001),
    "open arrays": lambda: file_of([pair("k", "array", array("array", [], 1) * 400_000)]),
    "cut model": lambda: vocabulary()[:-1],
    "pairs": lambda: file_of([pair(f"{i:06}", 0, b"\1") for i in range(40_000)] + [bytes(40)]),
    "tensors": lambda: file_of([], [tensor(f"{i:06}", [1]) for i in range(15_000)], bytes(8)),
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_long_files_that_are_wrong_are_refused_within_bounds(name: str) -> None:
    """Arrays are made of what was checked to the end: however long, they take no memory before."""
    data = LARGE[name]()
    start = time.process_time()
    with traced():
        assert len([b"%d" % number for number in range(300_000)]) == 300_000
    begin = time.process_time()
    with traced() as peak:
        assert not read(data, sources.Mapped)
        assert peak() < MOST_BYTES
    # Tracing and sanitizers slow both alike: the longest takes 2.3 times as long as these objects.
    assert time.process_time() - begin < max(2 * MOST_SECONDS, 8 * (begin - start))
