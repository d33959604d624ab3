"""IDX files: read as they were written; what is wrong is a FormatError, soon and cheaply."""

from __future__ import annotations

import errno
import gzip
import os
import random
import struct
import time
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessella as ts
from conftest import FULL
from tessella import data

CODES = {"uint8": 8, "int8": 9, "int16": 11, "int32": 12, "float32": 13, "float64": 14}


def zipped(content: bytes) -> bytes:
    return gzip.compress(content, 1, mtime=0)  # the same bytes in every process


def packed(array: Any) -> bytes:
    head = bytes([0, 0, CODES[array.dtype.name], array.ndim])
    sizes = struct.pack(f">{array.ndim}I", *array.shape)
    content: bytes = array.astype(array.dtype.newbyteorder(">")).tobytes()
    return head + sizes + content


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4), (0,), (2, 0, 3)])
@pytest.mark.parametrize("is_packed", [False, True])
def test_files_are_read_as_they_were_written(
    name: str, shape: tuple[int, ...], is_packed: bool, tmp_path: Path
) -> None:
    numbers = np.random.default_rng(1).integers(0, 256, shape)
    array = (numbers - (0 if name == "uint8" else 128)).astype(name)
    content = packed(array)
    path = tmp_path / "x"
    path.write_bytes(zipped(content) if is_packed else content)
    found = data.load_idx(path)
    assert found.dtype.name == name and found.shape == shape
    assert np.array_equal(found.numpy(), array)


def test_large_compressed_files_are_read(tmp_path: Path) -> None:
    array = np.arange(6_000_000, dtype=np.uint32).astype(np.uint8)
    (tmp_path / "x").write_bytes(zipped(packed(array)))
    with ts.memory.track() as m:
        found = data.load_idx(str(tmp_path / "x"))
    assert np.array_equal(found.numpy(), array) and m.peak == 6_000_000


GOOD = packed(np.arange(24, dtype=np.int16).reshape(2, 3, 4))


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "does not begin with two zeros"),
        (b"\0\0\x08", "does not begin with two zeros"),
        (b"\1\0\x08\1", "does not begin with two zeros"),
        (b"\0\0\x07\1\0\0\0\0", "holds elements of type 7, which there is not"),
        (b"\0\0\x08\0", "has 0 axes, and 1 to 64 are possible"),
        (b"\0\0\x08\x41" + bytes(300), "has 65 axes"),
        (b"\0\0\x08\2\0\0\0\1", "ends within the sizes of its 2 axes"),
        (GOOD[:-1], r"has 47 bytes of elements, and shape \(2, 3, 4\) of int16 has 48"),
        (GOOD + b"\0", r"has 49 bytes of elements"),
        (b"\0\0\x0e\3" + b"\xff" * 12, "has 0 bytes of elements, and shape"),
        (b"\0\0\x08\4" + b"\xff" * 12 + b"\0" * 4, r"shape \(4294967295, .*\) is not possible"),
    ],
)
@pytest.mark.parametrize("is_packed", [False, True])
def test_malformed_files_are_refused(
    content: bytes, message: str, is_packed: bool, tmp_path: Path
) -> None:
    path = tmp_path / "x"
    path.write_bytes(zipped(content) if is_packed else content)
    if is_packed and "bytes of elements" in message:
        message = "bytes, and gzip says otherwise"
    with pytest.raises(ts.errors.FormatError, match=message) as caught:
        data.load_idx(path)
    assert str(caught.value).startswith("data.load_idx: ") and "hint: it is an IDX file" in str(
        caught.value
    )


def gzip_of(content: bytes, size: int) -> bytes:
    """Compress, and say another size at the end."""
    return zipped(content)[:-4] + struct.pack("<I", size)


@pytest.mark.parametrize(
    "content, message",
    [
        (zipped(GOOD)[:-9], "ends before what gzip packed does"),
        (zipped(GOOD)[:20] + zipped(GOOD)[-4:], "what gzip packed"),
        (zipped(GOOD) + b"\0" * 4, "goes on behind what gzip packed"),
        (zipped(GOOD) + zipped(GOOD), "goes on behind what gzip packed"),
        (gzip_of(GOOD + b"\0", len(GOOD)), "is not what gzip packed|has 49 bytes"),
        (b"\x1f\x8b" + bytes(50), "is not what gzip packed"),
    ],
)  # fmt: skip
def test_malformed_archives_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ts.errors.FormatError, match=message):
        data.load_idx(tmp_path / "x")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = os.open(tmp_path / "pipe", os.O_RDWR)
    with pytest.raises(ts.errors.FormatError, match="is no file that can be read twice"):
        data.load_idx(tmp_path / "pipe")
    os.close(writer)
    with pytest.raises(TypeError, match="path must be a path, got int"):
        data.load_idx(3)  # type: ignore[arg-type]


def refused_cheaply(path: Path) -> bool:
    """Read a file; if it is refused, within a second and 10 MB."""
    ts.memory.trim()
    tracemalloc.start()
    start = time.process_time()
    try:
        with ts.memory.track() as m:
            data.load_idx(path)
        return False
    except ts.errors.FormatError:
        assert time.process_time() - start < 1
        assert m.peak + tracemalloc.get_traced_memory()[1] < 10_000_000
        return True
    finally:
        tracemalloc.stop()


def test_bombs_cost_little(tmp_path: Path) -> None:
    head = b"\0\0\x08\1" + struct.pack(">I", 100_000_000)
    bomb = zlib.compressobj(9, wbits=31)
    # As many zeros as it says but one, and the size that it would have.
    content = bomb.compress(head) + bomb.compress(bytes(99_999_999)) + bomb.flush()
    path = tmp_path / "bomb"
    path.write_bytes(content[:-4] + struct.pack("<I", 100_000_008))
    assert refused_cheaply(path)
    path.write_bytes(head)
    assert refused_cheaply(path)
    path.write_bytes(zipped(bytes(50_000_000)))
    assert refused_cheaply(path)


def test_mutated_files_are_refused_or_read(tmp_path: Path, rng: random.Random) -> None:
    path = tmp_path / "x"
    sources = [GOOD, zipped(GOOD), packed(np.ones((30, 30), np.float64))]
    refused = 0
    for _ in range(20_000 if FULL else 1_000):
        content = bytearray(rng.choice(sources))
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(content))
            act = rng.randrange(3)
            if act == 0:
                content[place] = rng.randrange(256)
            elif act == 1:
                del content[place : place + rng.randint(1, 8)]
            else:
                content[place:place] = rng.randbytes(rng.randint(1, 8))
            content = content or bytearray(1)
        path.write_bytes(content)
        try:
            data.load_idx(path)
        except ts.errors.FormatError:
            refused += 1
    assert refused > 300


# --- MNIST's folders -----------------------------------------------------------------------------


def fill(folder: Path, part: str, count: int, ending: str = "") -> None:
    images = np.arange(count * 4, dtype=np.uint8).reshape(count, 2, 2)
    for name, array in (
        ("images-idx3", images),
        ("labels-idx1", np.arange(count, dtype=np.uint8) % 3),
    ):
        content = packed(array)
        path = folder / f"{part}-{name}-ubyte{ending}"
        path.write_bytes(zipped(content) if ending else content)


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_folders_of_mnist_are_read(ending: str, tmp_path: Path) -> None:
    fill(tmp_path, "train", 6, ending)
    fill(tmp_path, "t10k", 4, ending)
    train = data.load_mnist(tmp_path)
    x, y = data.load_mnist(str(tmp_path), split="test")
    assert train.x.shape == (6, 2, 2) and train.classes == ("0", "1", "2")
    assert x.dtype is ts.uint8 and y.dtype is ts.int64 and y.tolist() == [0, 1, 2, 0]


def test_folders_that_are_not_whole_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ts.errors.MissingFile, match="there is no train-images-idx3-ubyte"):
        data.load_mnist(tmp_path)
    with pytest.raises(ts.errors.MissingFile, match=f"there is no folder {tmp_path}/none") as found:
        data.load_mnist(tmp_path / "none")
    assert (found.value.errno, found.value.filename) == (errno.ENOENT, f"{tmp_path}/none")
    fill(tmp_path, "train", 3)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(packed(np.zeros(2, np.uint8)))
    with pytest.raises(ts.errors.FormatError, match=r"images of shape \(3, 2, 2\) and labels of"):
        data.load_mnist(tmp_path)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(packed(np.zeros(3, np.float32)))
    with pytest.raises(ts.errors.FormatError, match="labels are float32"):
        data.load_mnist(tmp_path)
    with pytest.raises(ValueError, match="split is 'all'"):
        data.load_mnist(tmp_path, split="all")
