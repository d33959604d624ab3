"""Files that are almost right: mutations of whole files, and of the parts that checksums protect.

Random bytes are refused by the first test of a reader; these get further. A mutation changes a few
places in the ways in which files go wrong or are made to: bits, numbers, lengths, repeated and
missing stretches, words of the format in the wrong place.
"""

from __future__ import annotations

import io
import json
import random
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import tessella as ts
import torch_archives as made
from conftest import FULL, SEED
from tessella.io import sources
from torch_archives import Storage

Read = Callable[[bytes, type[sources.Mapped]], bool]  # tells whether a file could be read

COUNT = 12_000 if FULL else 250  # files of each family
MOST_BYTES = 10_000_000
MOST_SECONDS = 1.0
FIGURES = Path(__file__).parent / "figures"
NUMBERS = [0, 1, 2, 3, 7, 8, 64, 65, 127, 128, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**53,
           2**62, 2**63 - 1, 2**63, 2**64 - 1]  # fmt: skip
WORDS = [b'"dtype"', b'"shape"', b'"data_offsets"', b'"F32"', b'"F64"', b'"U8"', b'"BOOL"', b'"F4"',
         b"[", b"]", b"{", b"}", b",", b":", b'"', b"\\u0000", b"null", b"1e9", b"-1", b"[[", b"{}",
         b"__metadata__", b"tessella", b'{\\"tensor\\":\\"x\\"}', b"'descr'", b"'<f8'", b"'>c16'",
         b"'|b1'", b"'|O'", b"True", b"(", b")", b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\6\6",
         b"PK\6\7", b"(", b"t", b"}", b"R", b"b", b"q\0", b"h\0", b"h\1", b"Q", b"\x85", b"\x86",
         b"\x87", b"u", b"s",
         b"ctorch\nFloatStorage\n", b"ctorch._utils\n_rebuild_tensor_v2\n", b"cos\nsystem\n",
         b"ccollections\nOrderedDict\n", b"M\xff\xff", b"\x8a\4\xff\xff\xff\x7f", b"."]  # fmt: skip


# --- ways to change bytes ------------------------------------------------------------------------


def flip(data: bytearray, draw: random.Random) -> None:
    """Change one bit."""
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)


def put_byte(data: bytearray, draw: random.Random) -> None:
    """Change one byte."""
    data[draw.randrange(len(data))] = draw.randrange(256)


def put_number(data: bytearray, draw: random.Random) -> None:
    """Write a number that often goes wrong."""
    size = draw.choice([1, 2, 4, 8])
    at = draw.randrange(len(data))
    value = (draw.choice(NUMBERS) + draw.choice([0, 0, -1, 1])) % (1 << 8 * size)
    data[at : at + size] = value.to_bytes(size, "little")


def put_digits(data: bytearray, draw: random.Random) -> None:
    """Replace a number in the text."""
    places = [i for i in range(min(len(data), 4000)) if data[i : i + 1].isdigit()]
    if places:
        start = end = draw.choice(places)
        while end < len(data) and data[end : end + 1].isdigit():
            end += 1
        data[start:end] = str(draw.choice(NUMBERS)).encode()


def put_word(data: bytearray, draw: random.Random) -> None:
    """Insert a word of a format, or write it over others."""
    at, word = draw.randrange(len(data)), draw.choice(WORDS)
    data[at : at + draw.choice([0, len(word)])] = word


def remove(data: bytearray, draw: random.Random) -> None:
    """Leave a stretch out."""
    at = draw.randrange(len(data))
    del data[at : at + draw.choice([1, 1, 2, 4, 8, 30, 300])]


def repeat(data: bytearray, draw: random.Random) -> None:
    """Write a stretch once more, somewhere."""
    start, at = draw.randrange(len(data)), draw.randrange(len(data))
    data[at:at] = data[start : start + draw.choice([1, 2, 8, 50, 500])]


def cut(data: bytearray, draw: random.Random) -> None:
    """Leave out the end."""
    del data[draw.randrange(len(data)) :]


def swap(data: bytearray, draw: random.Random) -> None:
    """Exchange two stretches."""
    size = draw.choice([1, 4, 16, 60])
    first, other = sorted(draw.randrange(len(data)) for _ in range(2))
    if first + size <= other and other + size <= len(data):
        data[first : first + size], data[other : other + size] = (
            data[other : other + size], data[first : first + size],
        )  # fmt: skip


WAYS = [flip, put_byte, put_number, put_digits, put_word, remove, repeat, cut, swap]


def mutated(data: bytes, draw: random.Random) -> bytes:
    """Change one to four places."""
    out = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 4])):
        if out:
            draw.choice(WAYS)(out, draw)
    return bytes(out)


# --- whole files ---------------------------------------------------------------------------------


def written(write: Callable[[io.BytesIO], object]) -> bytes:
    """Give what a function writes."""
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def tensors() -> dict[str, ts.Tensor]:
    """Give tensors of every dtype, some tied."""
    found = {dtype.name: ts.arange(5).astype(dtype) for dtype in ts.dtypes.DTYPES}
    return found | {"x": found["float32"], "0-d": ts.tensor(2.5), "none": ts.zeros(0, 2)}


NESTED = {"model": {"w": ts.ones(2), "b": [ts.arange(3), (1, None, 2.5, "text")]}, 7: {"x": b"raw"},
          "grad": ts.ones(1, requires_grad=True), "big": 1 << 80, "nan": float("nan")}  # fmt: skip
ARRAYS: dict[str, Any] = {
    "a": np.arange(6.0).reshape(2, 3),
    "b": np.array(True),
    "c": np.arange(3, dtype=">i4"),
}

WHOLE: dict[str, list[bytes]] = {
    "safetensors": [
        written(lambda file: ts.io.save_file(tensors(), file, {"k": "v"})),
        (FIGURES / "torch_dtypes.safetensors").read_bytes(),
    ],
    "objects": [written(lambda file: ts.save(NESTED, file))],
    "npy": [
        written(partial(np.save, arr=array))
        for array in (*ARRAYS.values(), np.asfortranarray(ARRAYS["a"]))
    ],
    "npz": [
        written(lambda file: np.savez(file, **ARRAYS)),
        written(lambda file: ts.io.save_npz({"x": ts.arange(100)}, file, compressed=True)),
    ],
    "pt": [(FIGURES / f"torch_{name}.pt").read_bytes() for name in ("dtypes", "layouts", "legacy")],
}


# --- parts that a checksum or a length protects --------------------------------------------------


def header_mutated(draw: random.Random) -> bytes:
    """Change the header of a safetensors file, and write its length anew."""
    data = draw.choice(WHOLE["safetensors"] + WHOLE["objects"])
    length = int.from_bytes(data[:8], "little")
    header = mutated(data[8 : 8 + length], draw)
    return len(header).to_bytes(8, "little") + header + data[8 + length :]


def notes_mutated(draw: random.Random) -> bytes:
    """Change the description of an object, inside a header that is right."""
    data = WHOLE["objects"][0]
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    notes = header["__metadata__"]["tessella"].encode()
    header["__metadata__"]["tessella"] = mutated(notes, draw).decode(errors="replace")
    raw = json.dumps(header).encode()
    return len(raw).to_bytes(8, "little") + raw + data[8 + length :]


def member_mutated(draw: random.Random) -> bytes:
    """Change an array inside an archive that is right."""
    way = draw.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    return written(lambda file: _archive(file, mutated(draw.choice(WHOLE["npy"]), draw), way))


def _archive(file: io.BytesIO, data: bytes, way: int) -> None:
    with zipfile.ZipFile(file, "w", way) as archive:
        archive.writestr("x.npy", data)


PICKLES = [
    zipfile.ZipFile(FIGURES / f"torch_{name}.pt").read(f"torch_{name}/data.pkl")
    for name in ("dtypes", "layouts", "state")
]
PICKLES.append(made.pickled([made.tensor(Storage("FloatStorage", "0", 4))] * 2, 4))


def pickle_mutated(draw: random.Random) -> bytes:
    """Change a pickle inside an archive that is right."""
    data = mutated(draw.choice(PICKLES), draw)
    return made.archive(data, {str(i): bytes(96) for i in range(16)})


def whole_mutated(files: list[bytes], draw: random.Random) -> bytes:
    """Change one of some files."""
    return mutated(draw.choice(files), draw)


FAMILIES: dict[str, Callable[[random.Random], bytes]] = {
    **{name: partial(whole_mutated, files) for name, files in WHOLE.items()},
    "headers": header_mutated,
    "notes": notes_mutated,
    "members": member_mutated,
    "pickles": pickle_mutated,
}  # fmt: skip


# --- what readers must keep to -------------------------------------------------------------------


@contextmanager
def traced() -> Iterator[Callable[[], int]]:
    """Give the most bytes that Python holds at once in a block."""
    tracemalloc.start()
    try:
        yield lambda: tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def count_refused(read: Read, make: Callable[[random.Random], bytes], family: str) -> int:
    """Read files of a family twice each, mapped and held; give how often they were refused."""
    draw = random.Random(f"{SEED} {family}")
    refused = 0
    for number in range(COUNT):
        data = make(draw)
        start = time.process_time()
        refused += not read(data, sources.Mapped)
        is_traced = number % 10 == 0  # which takes longer
        with traced() if is_traced else nullcontext(lambda: 0) as peak, ts.memory.track() as m:
            refused += not read(data, sources.Held)
            assert m.peak + peak() < MOST_BYTES, number
        assert time.process_time() - start < 2 * MOST_SECONDS, number
    return refused


def check_refused(read: Read, data: bytes, most: int = MOST_BYTES) -> None:
    """Require that a file is refused soon, and in little memory."""
    begin = time.process_time()
    with traced() as peak:
        assert not read(data, sources.Mapped)
        assert peak() < most
    assert time.process_time() - begin < MOST_SECONDS
