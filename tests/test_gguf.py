"""GGUF files: what is written comes back, the package gguf agrees, nothing is read unasked."""

from __future__ import annotations

import gc
import io
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts
from gguf_files import aligned_to, array, file_of, pair, tensor, text, value
from tessella.blocks import FORMATS
from tessella.dtypes import DType
from tessella.io import gguf_header, gguf_types, streams

FIGURES = Path(__file__).parent / "figures"
DTYPES = [each for each in gguf_types.NUMBERS if isinstance(each, DType)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.gguf"


def raw_of(x: ts.Tensor) -> bytes:
    """Give the bytes of a tensor, row-major."""
    return b"".join(map(bytes, streams.blocks(x)))


def opened(data: bytes) -> ts.io.GGUFFile:
    """Open a file that is bytes."""
    return ts.io.open_gguf(io.BytesIO(data))


def saved(tensors: Any, *given: Any) -> bytes:
    """Give the file that would be written."""
    file = io.BytesIO()
    ts.io.save_gguf(tensors, file, *given)
    return file.getvalue()


# --- tensors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_and_layout_comes_back(dtype: DType, path: Path) -> None:
    x = ts.arange(12).astype(dtype).reshape(3, 4)
    views = {"x": x, "t": x.T, "back": x[::-2], "wide": x[1].broadcast_to(2, 4), "part": x[1:, 1:],
             "1-d": x[0], "4-d": x.reshape(2, 1, 3, 2), "one": x[0, 1:2]}  # fmt: skip
    ts.io.save_gguf(views, path)
    for source in (path, io.BytesIO(path.read_bytes())):
        with ts.io.open_gguf(source) as file:
            assert list(file.tensors) == list(views)
            for name, view in views.items():
                entry, back = file.tensors[name], file.get_tensor(name)
                assert (entry.shape, entry.format, entry.nbytes) == (view.shape, dtype, view.nbytes)
                assert (entry.name, entry.offset % 32) == (name, 0)
                assert back.shape == view.shape and back.dtype is dtype and back.is_contiguous
                assert raw_of(back) == raw_of(view) and back.is_readonly == (source is path)


@pytest.mark.parametrize("name", FORMATS)
def test_every_block_format_comes_back(name: str, path: Path) -> None:
    form = FORMATS[name]
    blocks = (ts.arange(5 * 2 * form.bytes) % 251).astype(ts.uint8).reshape(5, 2 * form.bytes)
    views = {"x": blocks, "strided": blocks[::2], "row": blocks[0], "3-d": blocks[None, 1:3]}
    ts.io.save_gguf({key: (view, name) for key, view in views.items()}, path)
    with ts.io.open_gguf(path) as file:
        for key, view in views.items():
            entry, back = file.tensors[key], file.get_tensor(key)
            assert entry.shape == (*view.shape[:-1], 2 * form.elements)
            assert entry.format == name and entry.nbytes == view.nbytes
            assert back.dtype is ts.uint8 and back.tolist() == view.tolist() and back.is_readonly


def test_a_dtype_may_stand_beside_its_tensor() -> None:
    assert saved({"x": (ts.ones(2), ts.float32)}) == saved({"x": ts.ones(2)})


def test_files_have_the_bytes_of_the_format() -> None:
    q8 = (ts.arange(68) % 256).astype(ts.uint8).reshape(2, 34)
    values = {"a": 7, "b": "text", "c": [True, False], "d": [["x"], ["y", "z"]], "e": -1.5}
    pairs = [
        pair("a", "uint32", value("uint32", 7)),
        pair("b", "string", text("text")),
        pair("c", "array", array("bool", [b"\1", b"\0"])),
        pair("d", "array", array("array", [array("string", [text("x")]),
                                           array("string", [text("y"), text("z")])])),
        pair("e", "float32", value("float32", -1.5)),
    ]  # fmt: skip
    entries = [tensor("w", [3, 2], 0, 0), tensor("q", [32, 2], 8, 32), tensor("h", [1], 30, 128)]
    numbers = np.arange(6, dtype="<f4").tobytes()
    data = numbers + bytes(8) + bytes(range(68)) + bytes(28) + b"\x80\x3f" + bytes(30)
    tensors = {"w": ts.arange(6.0).reshape(2, 3), "q": (q8, "q8_0"),
               "h": ts.ones(1, dtype=ts.bfloat16)}  # fmt: skip
    assert saved(tensors, values) == file_of(pairs, entries, data)


def test_a_file_may_hold_nothing() -> None:
    with opened(saved({})) as file:
        assert (file.metadata, file.types, file.tensors) == ({}, {}, {})
    with opened(file_of([pair("k", "bool", b"\1")])) as file:  # no data, and no bytes before it
        assert file.metadata == {"k": True}


@pytest.mark.parametrize("version", [2, 3])
def test_both_versions_are_read(version: int) -> None:
    data = file_of([], [tensor()], np.array([1.5, -2], "<f4").tobytes(), version=version)
    assert opened(data).get_tensor("x").tolist() == [1.5, -2.0]


def test_tensors_may_lie_in_any_order_with_gaps_and_bytes_behind_them() -> None:
    data = bytes(64) + b"\1\0" + bytes(62) + b"\2\0" + bytes(100)
    entries = [tensor("b", [1], 25, 128), tensor("a", [1], 25, 64)]
    with opened(file_of([], entries, data)) as file:
        assert [file.get_tensor(name).item() for name in file.tensors] == [2, 1]


@pytest.mark.parametrize("alignment", [1, 2, 8, 32, 64, 4096, 1 << 20])
def test_tensors_are_aligned_as_the_file_says(alignment: int) -> None:
    tensors = {"x": ts.ones(3), "b": (ts.zeros(34, dtype=ts.uint8), "q8_0"), "y": ts.ones(1)}
    data = saved(tensors, {"general.alignment": alignment, "k": "odd"})
    assert len(data) % alignment == 0
    with opened(data) as file:
        places = [entry.offset for entry in file.tensors.values()]
        assert not any(place % alignment for place in places)
        assert places[1] - places[0] == -(-12 // alignment) * alignment
        assert file.get_tensor("x").tolist() == [1.0] * 3 and file.get_tensor("y").item() == 1
    by_hand = file_of([aligned_to(alignment)], [tensor()], bytes(8), alignment=alignment)
    assert opened(by_hand).get_tensor("x").tolist() == [0.0, 0.0]


def test_badly_aligned_tensors_are_copied(path: Path) -> None:
    numbers = np.array([1.5, -2.0], np.float32).tobytes()
    path.write_bytes(file_of([aligned_to(1)], [tensor(offset=1)], b"\7" + numbers, alignment=1))
    with ts.io.open_gguf(path) as file:
        assert file.tensors["x"].offset % 4 and file.get_tensor("x").tolist() == [1.5, -2.0]


def test_names_are_any_text_of_63_bytes() -> None:
    names = ["x", "blk.0.attn_q.weight", "ключ", "🦆", "a b\n", "n" * 63]
    with opened(saved({name: ts.tensor([i]) for i, name in enumerate(names)})) as file:
        assert [file.get_tensor(name).item() for name in names] == [*range(6)]
    longer = "n" * 256  # of programs that are built for it
    assert list(opened(file_of([], [tensor(longer)], bytes(8))).tensors) == [longer]


# --- values --------------------------------------------------------------------------------------

GUESSED = {
    "bool": (True, "bool"), "zero": (0, "uint32"), "largest": (2**32 - 1, "uint32"),
    "negative": (-1, "int32"), "least": (-(2**31), "int32"), "more": (2**32, "uint64"),
    "most": (2**64 - 1, "uint64"), "less": (-(2**31) - 1, "int64"), "lowest": (-(2**63), "int64"),
    "float": (0.5, "float32"), "infinity": (float("inf"), "float32"), "text": ("é\0", "string"),
    "nothing": ("", "string"), "list": ([1, 2**32 - 1], "uint32"), "signed": ([-1, 5], "int32"),
    "wide": ([-1, 2**31], "int64"), "long": ([0, 2**32], "uint64"), "flags": ([True], "bool"),
    "floats": ([0.5, -2.0], "float32"), "texts": (["a", "", "ü"], "string"),
    "lists": ([[1, 2], [], [-3]], "int32"), "deep": ([[[[[[[["x"]]]]]]]], "string"),
}  # fmt: skip


@pytest.mark.parametrize("key", GUESSED)
def test_values_get_the_first_type_that_fits(key: str) -> None:
    given_value, kind = GUESSED[key]
    with opened(saved({}, {key: given_value})) as file:
        assert (file.metadata, file.types) == ({key: given_value}, {key: kind})
        assert type(file.metadata[key]) is type(given_value)


FORCED = {
    "uint8": 255, "int8": -128, "uint16": 65_535, "int16": -32_768, "uint32": 1, "int32": 1,
    "uint64": 1, "int64": 1, "float32": 2, "float64": 0.1, "bool": False, "string": "s",
}  # fmt: skip


@pytest.mark.parametrize("kind", FORCED)
def test_types_can_be_named(kind: str) -> None:
    one = FORCED[kind]
    values = {"one": one, "list": [one, one], "lists": [[one], []], "empty": []}
    types = dict.fromkeys([*values, "not there"], kind)
    with opened(saved({}, values, types)) as file:
        assert file.metadata == values and file.types == dict.fromkeys(values, kind)


def test_tuples_and_numbers_of_numpy_are_values() -> None:
    values = {"a": (1, 2), "b": np.float32(0.5), "c": [np.int64(3)], "d": np.bool_(True)}
    with opened(saved({}, values)) as file:
        assert file.metadata == {"a": [1, 2], "b": 0.5, "c": [3], "d": True}
        assert file.types == {"a": "uint32", "b": "float32", "c": "uint32", "d": "bool"}


def test_arrays_of_arrays_of_several_types_are_read_without_a_type() -> None:
    raw = array("array", [array("uint8", [b"\1"]), array("string", [text("a")])])
    with opened(file_of([pair("k", "array", raw), pair("l", "array", array("array", []))])) as file:
        assert file.metadata == {"k": [[1], ["a"]], "l": []} and file.types == {}


FLOATS = st.floats(width=32, allow_nan=False)
LEAVES = (st.booleans(), st.integers(-(2**63), 2**63 - 1), FLOATS, st.text())


def listed(leaf: Any) -> Any:
    """Give lists of one type, of some depth."""
    inner = st.lists(leaf, min_size=1)
    return st.recursive(inner, lambda each: st.lists(each, min_size=1), max_leaves=5)


VALUES = st.one_of(st.integers(0, 2**64 - 1), *LEAVES, *map(listed, LEAVES))
KEYS = st.text(min_size=1).filter(lambda key: key != "general.alignment")


@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_all_values_come_back(values: dict[str, Any]) -> None:
    try:
        data = saved({"x": ts.ones(2)}, values)
    except ts.errors.InvalidArgument as error:
        assert "nested deeper than 8" in error.what
        return
    with opened(data) as file:
        assert file.metadata == values and list(file.metadata) == list(values)
        assert file.get_tensor("x").tolist() == [1.0, 1.0]
        assert saved({"x": ts.ones(2)}, file.metadata, file.types) == data


def test_a_large_vocabulary_is_read_at_once(path: Path) -> None:
    count = 150_000
    values = {
        "tokens": [f"▁word{i}" for i in range(count)],
        "merges": [f"ab{i} cd" for i in range(count)],
        "scores": [float(i) for i in range(count)],
        "types": [i % 6 for i in range(count)],
    }
    begin = time.process_time()
    ts.io.save_gguf({}, path, values)  # type: ignore[arg-type]
    written = time.process_time()
    with ts.io.open_gguf(path) as file:
        read = time.process_time()
        assert file.metadata == values
    assert read - written < 4 * (written - begin)  # as long as it takes to write; sanitized too


# --- the package gguf ----------------------------------------------------------------------------

HELD: dict[str, Any] = json.loads((FIGURES / "gguf_files.json").read_text())
TYPES: dict[str, list[int]] = HELD.pop("types")  # number, elements and bytes of a block


def format_of(name: str) -> DType | str:
    """Give the format of a type by the package's name."""
    kinds = {"F": "float", "I": "int", "BF": "bfloat"}
    letters = name.rstrip("0123456789")
    return getattr(ts, kinds[letters] + name[len(letters) :]) if letters in kinds else name.lower()


def test_types_have_the_numbers_and_sizes_of_the_package() -> None:
    ours = {number: (each.format, each.elements, each.bytes)
            for number, each in gguf_types.TYPES.items()}  # fmt: skip
    theirs = {number: (format_of(name), *sizes) for name, (number, *sizes) in TYPES.items()}
    assert theirs.pop(9) == ("q8_1", 32, 40)  # with scales of 4 bytes; ggml's have 2
    assert theirs.items() <= ours.items()
    assert ours.keys() - theirs.keys() == {9, 42}  # the last is newer than the package


@pytest.mark.parametrize("name", HELD)
def test_files_of_the_package_are_read_bit_by_bit(name: str) -> None:
    with ts.io.open_gguf(FIGURES / f"{name}.gguf") as file:
        said = HELD[name]["metadata"]
        assert file.metadata == {key: each["value"] for key, each in said.items()}
        assert file.types == {key: each["type"] for key, each in said.items()}
        assert list(file.tensors) == list(HELD[name]["tensors"])
        for key, each in HELD[name]["tensors"].items():
            entry = file.tensors[key]
            assert entry.shape == tuple(each["shape"]) and entry.format == format_of(each["type"])
            assert entry.nbytes == len(each["bytes"]) // 2
            if entry.format in gguf_types.NUMBERS:
                assert raw_of(file.get_tensor(key)).hex() == each["bytes"]


@pytest.mark.parametrize("name", ["gguf_types", "gguf_aligned"])
def test_our_files_have_the_bytes_of_the_package(name: str) -> None:
    tensors: dict[str, Any] = {}
    for key, each in HELD[name]["tensors"].items():
        raw = ts.tensor(list(bytes.fromhex(each["bytes"])), dtype=ts.uint8)
        form = format_of(each["type"])
        if isinstance(form, DType):
            tensors[key] = raw.view(form).reshape(each["shape"])
        else:
            tensors[key] = raw.reshape(each["shape"][0], -1), form
    said = HELD[name]["metadata"]
    values = {key: each["value"] for key, each in said.items()}
    types = {key: each["type"] for key, each in said.items()}
    assert saved(tensors, values, types) == (FIGURES / f"{name}.gguf").read_bytes()


def test_big_endian_files_of_the_package_are_refused() -> None:
    with pytest.raises(ts.errors.FormatError, match="its numbers are big-endian"):
        ts.io.open_gguf(FIGURES / "gguf_big.gguf")


# --- mapped files --------------------------------------------------------------------------------


def test_the_header_is_read_without_the_data() -> None:
    data = saved({"x": ts.ones(50, 3), "y": ts.ones(7)}, {"k": ["a", "b"]})
    start = opened(data).tensors["x"].offset
    header = gguf_header.read_header(memoryview(data)[:start], len(data), "x")
    assert header == gguf_header.read_header(memoryview(data), len(data), "x")
    assert header.tensors["y"].shape == (7,) and header.metadata == {"k": ["a", "b"]}


def test_nothing_of_a_large_file_is_read_before_it_is_used(path: Path) -> None:
    with open(path, "wb") as file:  # a hole of a terabyte
        file.write(file_of([], [tensor("x", [1000, 250_000_000])]))
        file.truncate(96 + 10**12)
    with ts.io.open_gguf(path) as opened_file:
        x = opened_file.get_tensor("x")
        assert x.shape == (250_000_000, 1000) and x[10**8, :2].tolist() == [0.0, 0.0]


def test_mapped_tensors_are_no_copies(path: Path, live: int) -> None:
    ts.io.save_gguf({"x": ts.zeros(1000), "q": (ts.zeros(5, 34, dtype=ts.uint8), "q8_0")}, path)
    before = ts.memory.stats()
    with ts.io.open_gguf(path) as file:
        assert ts.memory.stats().foreign == before.foreign
        held = [file.get_tensor(name) for name in file.tensors]
        assert file.get_tensor("x") is held[0]
    after = ts.memory.stats()
    assert after.foreign - before.foreign == 4170 and after.live == before.live
    with pytest.raises(ts.errors.InvalidArgument, match="x is read-only"):
        held[0] += 1
    del held
    gc.collect()
    assert ts.memory.stats().foreign == before.foreign


def test_a_file_goes_with_its_last_tensor_without_the_collector(path: Path) -> None:
    """The file and what it says hold each other in no circle."""
    ts.io.save_gguf({"x": ts.zeros(1000)}, path)
    before = ts.memory.stats().foreign
    file = ts.io.open_gguf(path)
    x = file.get_tensor("x")
    del file
    assert x.sum().item() == 0 and ts.memory.stats().foreign > before
    del x
    assert ts.memory.stats().foreign == before
    assert str(path) not in Path("/proc/self/maps").read_text()


def test_closed_files_and_unknown_tensors_are_refused(path: Path) -> None:
    ts.io.save_gguf({"x": ts.ones(2), "y": ts.ones(3)}, path)
    ask: Any
    with ts.io.open_gguf(path) as file:
        kept, ask = file.get_tensor("x"), file.get_tensor
        for name in ("z", 3):
            with pytest.raises(ts.errors.InvalidArgument, match="there is no tensor") as error:
                ask(name)
            assert error.value.hint == "the file has 'x', 'y'" and error.value.places == [str(path)]
    assert kept.tolist() == [1.0, 1.0] and file.tensors["y"].shape == (3,)
    with pytest.raises(ts.errors.IllegalState, match="get_tensor: the file is closed"):
        ask("x")
    file.close()


def test_a_save_over_a_mapped_file_leaves_its_tensors_as_they_were(path: Path) -> None:
    ts.io.save_gguf({"x": ts.ones(100_000)}, path, {"k": 1})
    file = ts.io.open_gguf(path)
    held = file.get_tensor("x")
    ts.io.save_gguf({"x": held * 2}, path)
    ts.io.save_gguf({"x": ts.io.open_gguf(path).get_tensor("x")}, path)  # over itself, too
    assert held.sum().item() == 100_000 and file.metadata == {"k": 1}
    assert ts.io.open_gguf(path).get_tensor("x").sum().item() == 200_000
    os.unlink(path)
    assert held.sum().item() == 100_000


def test_a_copy_of_a_file_has_its_bytes(path: Path) -> None:
    whole = FIGURES / "gguf_aligned.gguf"
    with ts.io.open_gguf(whole) as file:
        tensors = {
            name: (file.get_tensor(name), each.format) for name, each in file.tensors.items()
        }
        ts.io.save_gguf(tensors, path, file.metadata, file.types)
    assert path.read_bytes() == whole.read_bytes()
