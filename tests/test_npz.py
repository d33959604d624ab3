"""NumPy's .npy and .npz files, both ways, and those that are wrong."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessella as ts
from tessella import _core
from tessella.dtypes import DTYPES, DType
from tessella.io import archives

HELD = [dtype for dtype in DTYPES if dtype is not ts.bfloat16]


def of_dtype(dtype: DType) -> ts.Tensor:
    """Give a (3, 2) tensor of a dtype."""
    return ts.tensor([[0, 1], [1, 0], [0, 1]]).astype(dtype)


def npy_of(array: Any) -> bytes:
    """Give NumPy's file of an array."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


# --- both ways -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", HELD, ids=str)
def test_numpy_reads_what_we_write(dtype: DType, tmp_path: Path) -> None:
    x = of_dtype(dtype)
    views = {"x": x, "t": x.T, "back": x[::-2], "none": x[:0], "0-d": x[0, 1], "a/b": x[:1],
             "ключ": x[1], "": x}  # fmt: skip
    for compressed in (False, True):
        ts.io.save_npz(views, tmp_path / "x.npz", compressed=compressed)
        with np.load(tmp_path / "x.npz", allow_pickle=False) as held:
            assert set(held) == set(views)
            for name, view in views.items():
                assert held[name].dtype == view.numpy().dtype
                assert np.array_equal(held[name], view.numpy())
    for view in views.values():
        ts.io.save_npy(view, tmp_path / "x.npy")
        assert np.array_equal(np.load(tmp_path / "x.npy"), view.numpy())


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("dtype", HELD, ids=str)
def test_we_read_what_numpy_writes(dtype: DType, order: str, tmp_path: Path) -> None:
    array = of_dtype(dtype).numpy()
    array = array.astype(array.dtype.newbyteorder(order))  # type: ignore[arg-type]
    cube = np.asfortranarray(np.stack([array, array]))
    arrays = {"x": array, "columns": np.asfortranarray(array), "cube": cube, "0-d": array[0, 1],
              "none": array[:0], "part": array[::2]}  # fmt: skip
    np.savez(tmp_path / "a.npz", **arrays)
    np.savez_compressed(tmp_path / "b.npz", **arrays)
    for file in ("a.npz", "b.npz"):
        held = ts.io.load_npz(tmp_path / file)
        assert list(held) == list(arrays)
        for name, want in arrays.items():
            assert held[name].dtype is dtype and not held[name].is_readonly
            assert np.array_equal(held[name].numpy(), want)
    for want in arrays.values():
        np.save(tmp_path / "x.npy", want)
        for mmap in (False, True):
            assert np.array_equal(ts.io.load_npy(tmp_path / "x.npy", mmap=mmap).numpy(), want)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version_of_npy_is_read(version: tuple[int, int]) -> None:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.arange(3.0), version=version)
    assert ts.load(io.BytesIO(file.getvalue())).tolist() == [0.0, 1.0, 2.0]  # type: ignore[union-attr]


def test_columns_stay_columns_and_maps_stay_maps(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    x = ts.io.load_npy(tmp_path / "x.npy", mmap=True)
    assert x.strides == (1, 2) and x.is_readonly and x.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_named_tensors_alone_are_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.arange(2), names=np.array(["p", "q"]), b=np.ones(1))
    with pytest.raises(ts.errors.FormatError, match="the elements are '<U1', which Tessella"):
        ts.io.load_npz(tmp_path / "x.npz")
    assert list(ts.io.load_npz(tmp_path / "x.npz", keys=["b", "a"])) == ["b", "a"]
    assert list(ts.io.load_npz(tmp_path / "x.npz", keys="b")) == ["b"]
    with pytest.raises(ts.errors.InvalidArgument, match="there is no tensor 'c'"):
        ts.io.load_npz(tmp_path / "x.npz", keys=["c"])


def test_the_same_tensors_give_the_same_bytes() -> None:
    files = [io.BytesIO(), io.BytesIO()]
    for file in files:
        ts.io.save_npz({"x": ts.arange(1000)}, file, compressed=True)
    assert files[0].getvalue() == files[1].getvalue()


def test_archives_of_many_members_and_of_64_bits_are_read() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for i in range(70_000):  # more than 16 bits count
            archive.writestr(f"{i}.npy", npy_of(np.float32(i)) if i % 1000 == 0 else b"")
    file.seek(0)
    assert ts.io.load_npz(file, keys=["69000"])["69000"].item() == 69000


# --- files that are wrong ------------------------------------------------------------------------


def headed(text: str, data: bytes = b"\0" * 8, version: int = 1) -> bytes:
    """Give an .npy file with a header of one's own."""
    raw = text.encode()
    wide = 2 if version == 1 else 4
    return b"\x93NUMPY" + bytes([version, 0]) + len(raw).to_bytes(wide, "little") + raw + data


def form(descr: str = "'<f4'", fortran: str = "False", shape: str = "(2,)") -> str:
    """Give the text of a header."""
    return f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}"


WRONG: dict[str, tuple[bytes, str]] = {
    "empty": (b"\x93NUMPY", "it is no .npy file of version 1, 2 or 3"),
    "version": (headed(form(), version=4), "it is no .npy file of version 1, 2 or 3"),
    "length": (headed(form())[:30], "the .npy header is wrong: its length is beyond the file"),
    "length 4": (b"\x93NUMPY\2\0\xff\xff\xff\xff" + b" " * 99, "its length is beyond the file"),
    "utf-8": (b"\x93NUMPY\3\0\4\0\0\0{\xff}\n", "it is no UTF-8"),
    "list": (headed("[]"), "it is no dict"),
    "code": (headed("{'descr': __import__('os').getcwd(), }"), "an entry is not as NumPy"),
    "call": (headed(form(shape="(exit(),)")), "an entry is not as NumPy"),
    "records": (headed(form("[('a', '<f4')]")), "the elements are records of several fields"),
    "twice": (headed(form()[:-2] + "'shape': (2,)}"), "shape stands there twice"),
    "little": (headed("{'descr': '<f4', 'shape': (2,)}"), "it must say descr, fortran_order and"),
    "nothing": (headed("{}"), "it must say descr, fortran_order and shape"),
    "more": (headed(form()[:-1] + "'x': 1}"), "an entry is not as NumPy"),
    "no comma": (headed("{'descr': '<f4' 'shape': (2,)}"), "an entry is not as NumPy"),
    "no tuple": (headed(form(shape="(2)")), "shape is no tuple of at most 64 sizes"),
    "separators": (headed(form(shape="(2,\x1e3)")), "shape is no tuple of at most 64 sizes"),
    "commas": (headed(form(shape="(2,,1)")), "shape is no tuple of at most 64 sizes"),
    "negative": (headed(form(shape="(-2,)")), "an entry is not as NumPy"),
    "axes": (headed(form(shape=f"({'1,' * 65})")), "shape is no tuple of at most 64 sizes"),
    "digits": (headed(form(shape=f"({'9' * 5000},)")), "shape is no tuple of at most 64 sizes"),
    "large": (headed(form(shape=f"({2**62}, 0)"), b""), "is too large"),
    "cut": (headed(form(), b"\0" * 7), "the elements should have 8 bytes and have 7"),
    "left": (headed(form(), b"\0" * 9), "the elements should have 8 bytes and have 9"),
    "object": (headed(form("'|O'")), "the elements are '|O', which Tessella does not have"),
    "text": (headed(form("'<U2'")), "the elements are '<U2', which Tessella does not have"),
    "time": (headed(form("'<M8'")), "the elements are '<M8', which Tessella does not have"),
    "long": (headed(form("'<f16'")), "the elements are '<f16', which Tessella does not have"),
    "bfloat16": (headed(form("'<V2'")), "the elements are '<V2', which Tessella does not have"),
    "no order": (headed(form("'|f4'")), "the elements are '|f4', which Tessella does not have"),
    "bool": (headed(form("'|b1'", shape="(8,)"), b"\0\1\0\7\0\0\0\0"), "element 3 of 'the array'"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_npy_files_are_refused(name: str, tmp_path: Path) -> None:
    data, what = WRONG[name]
    path = tmp_path / "x.npy"
    path.write_bytes(data)
    for mmap in (False, True):
        with pytest.raises(ts.errors.FormatError) as error:
            ts.io.load_npy(path, mmap=mmap)
        assert what in error.value.what and error.value.places[0].startswith(str(path))
        assert error.value.hint
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("x.npy", data)
    file.seek(0)
    with pytest.raises(ts.errors.FormatError) as error:
        ts.io.load_npz(file)
    assert what.replace("the array", "x") in error.value.what
    assert error.value.places[0].startswith("a file object, member 'x.npy'")


def test_the_cures_of_elements_that_are_no_numbers() -> None:
    for name, hint in (("object", "would need pickle"), ("bfloat16", "a.view('uint16')"),
                       ("text", "a.astype(...)")):  # fmt: skip
        with pytest.raises(ts.errors.FormatError) as error:
            ts.load(io.BytesIO(WRONG[name][0]))
        assert hint in error.value.hint


def archive_of(members: dict[str, bytes], way: int = zipfile.ZIP_STORED) -> bytearray:
    """Give an archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", way) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return bytearray(file.getvalue())


ONE = npy_of(np.arange(200))


def patched(change: Callable[[bytearray, int], None], way: int = zipfile.ZIP_STORED) -> bytes:
    """Change an archive, given where the entry of its first member begins in the table."""
    data = archive_of({"x.npy": ONE, "y.npy": ONE}, way)
    change(data, data.index(b"PK\1\2"))
    return bytes(data)


def put(at: int, value: int, size: int) -> Callable[[bytearray, int], None]:
    """Write a number into the entry of the first member."""

    def change(data: bytearray, start: int) -> None:
        data[start + at : start + at + size] = value.to_bytes(size, "little")

    return change


def overlapped(data: bytearray, start: int) -> None:
    """Let the second member lie in the first one's bytes."""
    other = data.index(b"PK\1\2", start + 1)
    data[other + 42 : other + 46] = data[start + 42 : start + 46]


def flipped(data: bytearray, start: int) -> None:
    """Damage a byte of the first member."""
    data[300] ^= 1


def renamed(data: bytearray, start: int) -> None:
    """Give both members one name."""
    other = data.index(b"PK\1\2", start + 1)
    data[other + 46] = ord("x")


BOMB = b"\0" * 8_000_000
ARCHIVES: dict[str, tuple[bytes, str]] = {
    "no end": (bytes(archive_of({"x.npy": ONE}))[:-5], "the table of the zip archive's members is"),
    "only mark": (b"PK\3\4", "the table of the zip archive's members is missing or wrong"),
    "table": (patched(lambda data, start: data.__setitem__(start, 0)), "the table of the zip"),
    "name": (patched(put(28, 60000, 2)), "the table of the zip archive's members"),
    "place": (patched(put(42, 7, 4)), "member 'x.npy' is not here, where the archive's table says"),
    "far": (patched(put(42, 2**31, 4)), "the file ends at byte"),
    "size": (patched(put(24, 9, 4)), "member 'x.npy' cannot have 9 bytes in 1,728"),
    "bomb": (patched(put(24, 2**31, 4), zipfile.ZIP_DEFLATED), "have 2,147,483,648 bytes in"),
    "larger": (patched(put(24, 5000, 4), zipfile.ZIP_DEFLATED), "the compressed bytes of member"),
    "smaller": (patched(put(24, 500, 4), zipfile.ZIP_DEFLATED), "the compressed bytes of member"),
    "damaged": (patched(flipped), "the bytes of member 'x.npy' do not have its checksum"),
    "checksum": (patched(put(16, 1, 4), zipfile.ZIP_DEFLATED), "do not have its checksum"),
    "encrypted": (patched(put(8, 1, 2)), "member 'x.npy' is encrypted"),
    "way": (patched(put(10, 12, 2)), "member 'x.npy' is neither stored nor deflated"),
    "overlap": (patched(overlapped), "members of the archive overlap"),
    "twice": (patched(renamed), "the archive has two members 'x.npy'"),
    "other": (bytes(archive_of({"x.txt": b"text"})), "it is no .npy file of version 1, 2 or 3"),
}  # fmt: skip


@pytest.mark.parametrize("name", ARCHIVES)
def test_wrong_archives_are_refused(name: str, tmp_path: Path) -> None:
    data, what = ARCHIVES[name]
    path = tmp_path / "x.npz"
    path.write_bytes(data)
    for load in (lambda: ts.io.load_npz(path), lambda: ts.load(path), lambda: ts.io.load_pt(path)):
        with pytest.raises(ts.errors.FormatError) as error:
            load()
        assert error.value.hint and str(path) in error.value.places[0]
        is_read_otherwise = "torch.save" in error.value.what or "checksum" in what
        assert what in error.value.what or is_read_otherwise


def test_inflation_is_bounded_by_the_file() -> None:
    """A deflated member may grow a thousandfold and no more; overlapping ones are refused."""
    packed = zlib.compress(BOMB, 9)[2:-4]
    assert len(BOMB) <= archives._MOST_INFLATION * len(packed)
    data = bytes(archive_of({"x.npy": npy_of(np.zeros(10**6))}, zipfile.ZIP_DEFLATED))
    with ts.memory.track() as m:
        assert ts.io.load_npz(io.BytesIO(data))["x"].size == 10**6
    assert m.peak < 8_001_000


def test_a_stream_that_inflates_beyond_its_size_stops_early() -> None:
    def change(data: bytearray, start: int) -> None:
        put(24, 3000, 4)(data, start)

    data = bytearray(archive_of({"x.npy": BOMB}, zipfile.ZIP_DEFLATED))
    change(data, data.index(b"PK\1\2"))
    with ts.memory.track() as m, pytest.raises(ts.errors.FormatError, match="compressed bytes of"):
        ts.io.load_npz(io.BytesIO(bytes(data)))
    assert m.peak < 10_000


def test_large_offsets_are_read_from_the_wide_fields() -> None:
    extra = struct.pack("<2H3Q", 1, 24, 1 << 33, 1 << 34, 1 << 35)
    other = struct.pack("<2H2s", 9, 2, b"ab")
    most = 0xFFFFFFFF
    assert archives._wide([most, most, most], other + extra) == (1 << 34, 1 << 33, 1 << 35)
    assert archives._wide([5, most, 7], extra) == (5, 1 << 33, 7)
    assert archives._wide([5, 6, most], b"") == (5, 6, most)


# --- arguments -----------------------------------------------------------------------------------

x = ts.ones(2)
files: Any = ts.io
REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "no dict": (lambda p: files.save_npz(x, p), TypeError, "tensors must be a dict of names"),
    "key": (lambda p: files.save_npz({1: x}, p), TypeError, "a dict whose keys are text, got int"),
    "value": (lambda p: files.save_npz({"a": 1}, p), TypeError, "tensors['a'] must be a tensor"),
    "no tensor": (lambda p: files.save_npy([1], p), TypeError, "x must be a tensor, got list"),
    "virtual": (lambda p: files.save_npy(_core.empty_virtual((2,), 0), p), RuntimeError, "values"),
    "null": (lambda p: files.save_npz({"a\0": x}, p), ValueError, "zip archive cannot hold"),
    "half": (lambda p: files.save_npz({"\ud800": x}, p), ValueError, "zip archive cannot hold"),
    "long": (lambda p: files.save_npz({"a" * 70000: x}, p), ValueError, "zip archive cannot hold"),
    "bfloat16": (lambda p: files.save_npy(x.astype(ts.bfloat16), p), TypeError, "no bfloat16"),
    "packed": (lambda p: files.save_npz({}, p, compressed=1), TypeError, "compressed must be True"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_arguments_that_mean_nothing_are_refused(name: str, tmp_path: Path) -> None:
    call, kind, what = REFUSED[name]
    with pytest.raises(kind) as error:
        call(tmp_path / "file")
    assert isinstance(error.value, ts.errors.TessellaError) and what in error.value.what
    assert not list(tmp_path.iterdir())
