"""GGUF files that are wrong: each way has its message, where in the file, within 10 MB and 1 s."""

from __future__ import annotations

import io
import math
import os
import re
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from struct import pack
from typing import Any

import pytest

import tessella as ts
from gguf_files import aligned_to, array, file_of, pair, tensor, text, value
from tessella import _core
from tessella.io import gguf_types

MOST_BYTES = 10_000_000
MOST_SECONDS = 1.0
EIGHT = bytes(8)
ONE = value("uint8", 1)


def nested(depth: int) -> bytes:
    """Give arrays in arrays: so many, the last of them empty."""
    raw = array("array", [], 1) * (depth - 1) + array("uint8", [])
    return file_of([pair("k", "array", raw)])


def one(**parts: Any) -> bytes:
    """Give a file of one tensor."""
    return file_of([], [tensor(**parts)], EIGHT)


def two(first: int, other: int, count: int = 8) -> bytes:
    """Give a file of two tensors of bytes."""
    entries = [tensor("a", [count], 24, first), tensor("b", [count], 24, other)]
    return file_of([], entries, bytes(96))


# Places: pairs begin at byte 24; a key of one letter has its type at 33, its value at 37. A tensor
# whose name is one letter has its axes at 33, its sizes at 37, its type at 45, its offset at 49;
# the data of that file begins at 64.
WRONG: dict[str, tuple[bytes, str, int]] = {
    "empty": (b"", "it has 0 bytes; a GGUF file has 24 at least", 0),
    "short": (b"GGUF\3\0\0\0", "it has 8 bytes; a GGUF file has 24 at least", 0),
    "half a magic": (b"GG", "it has 2 bytes; a GGUF file has 24 at least", 0),
    "magic": (file_of(magic=b"GGML"), "it begins with b'GGML', not with b'GGUF'", 0),
    "magic backwards": (file_of(magic=b"FUGG"), "it begins with b'FUGG', not with b'GGUF'", 0),
    "safetensors": (b"\2\0\0\0\0\0\0\0{}", "it begins with b'\\x02\\x00\\x00\\x00', not", 0),
    "version 0": (file_of(version=0), "it has version 0; 2 and 3 can be read", 4),
    "version 1": (file_of(version=1), "it has version 1; 2 and 3 can be read", 4),
    "version 4": (file_of(version=4), "it has version 4; 2 and 3 can be read", 4),
    "version huge": (file_of(version=2**32 - 1), "it has version 4,294,967,295; 2 and 3", 4),
    "big-endian": (file_of(version=3 << 24), "its numbers are big-endian", 4),
    "tensor count": (file_of(counts=(1, 0)), "it would have 1 tensors; the file has room for 0", 8),
    "tensors huge": (file_of(counts=(2**64 - 1, 0)), "have 18,446,744,073,709,551,615 tensors", 8),
    "tensors negative": (file_of(counts=(2**63, 0)), "have 9,223,372,036,854,775,808 tensors", 8),
    "value count": (file_of(counts=(0, 1)), "it would have 1 values; the file has room for 0", 16),
    "values huge": (file_of(counts=(0, 2**63)), "would have 9,223,372,036,854,775,808 values", 16),
    "fewer values": (file_of([pair("k", 0, ONE)], counts=(0, 2), data=EIGHT),
                     "a key is empty", 38),
    "key length": (file_of([text("k", 2**40) + bytes(9)]),
                   "a key would have 1,099,511,627,776 bytes; 65,535 are the most", 24),
    "key beyond": (file_of([text("k", 60_000) + bytes(9)]),
                   "a key would have 60,000 bytes, and 10 are left", 24),
    "key negative": (file_of([text("k", 2**64 - 1) + bytes(9)]), "would have 18,446,744,07", 24),
    "key empty": (file_of([pair("", 0, ONE) + bytes(9)]), "a key is empty", 24),
    "key text": (file_of([pair(b"a\xffb", 0, ONE)]), "a key is no UTF-8", 33),
    "key cut text": (file_of([pair("é".encode()[:1], 0, ONE)]), "a key is no UTF-8", 32),
    "key surrogate": (file_of([pair(b"\xed\xa0\x80", 0, ONE)]), "a key is no UTF-8", 32),
    "key twice": (file_of([pair("k", 0, ONE), pair("k", 1, ONE)]), "there are two values 'k'", 38),
    "value type": (file_of([pair("k", 13, ONE)]), "has values of type 13; types are 0 to 12", 33),
    "value type huge": (file_of([pair("k", 2**31, ONE)]), "of type 2,147,483,648; types", 33),
    "value cut": (file_of([pair("k", "uint64", bytes(7))]),
                  "the file ends at byte 44, 8 bytes are needed here", 37),
    "bool": (file_of([pair("k", "bool", b"\2")]), "'k' holds the bool 2; a bool is 0 or 1", 37),
    "text beyond": (file_of([pair("k", "string", text("abc", 4))]),
                    "the text of 'k' would have 4 bytes, and 3 are left", 37),
    "text huge": (file_of([pair("k", "string", text("abc", 2**63))]),
                  "the text of 'k' would have 9,223,372,036,854,775,808 bytes", 37),
    "text": (file_of([pair("k", "string", text(b"ab\xc3("))]), "the text of 'k' is no UTF-8", 47),
    "array type": (file_of([pair("k", "array", array(14, []))]), "of type 14; types are", 37),
    "array count": (file_of([pair("k", "array", array("uint32", [], 1))]),
                    "'k' would have 1 elements (uint32) in 0 bytes", 37),
    "array huge": (file_of([pair("k", "array", array("uint8", [], 2**62))]),
                   "'k' would have 4,611,686,018,427,387,904 elements (uint8) in 0 bytes", 37),
    "array wraps": (file_of([pair("k", "array", array("uint64", [], 2**61))]),
                    "'k' would have 2,305,843,009,213,693,952 elements (uint64) in 0", 37),
    "texts huge": (file_of([pair("k", "array", array("string", [], 2**60))]),
                   "elements (string) in 0 bytes", 37),
    "arrays huge": (file_of([pair("k", "array", array("array", [], 2**60))]),
                    "elements (array) in 0 bytes", 37),
    "array cut": (file_of([pair("k", "array", pack("<I", 4))]),
                  "the file ends at byte 41, 8 bytes are needed here", 41),
    "array bool": (file_of([pair("k", "array", array("bool", [b"\1\0\1\3\0"], 5))]),
                   "'k' holds the bool 3; a bool is 0 or 1", 52),
    "texts beyond": (file_of([pair("k", "array", array("string", [text("a"), text("b", 9)]))]),
                     "text 1 of 'k' would have 9 bytes, and 1 are left", 58),
    "texts cut": (file_of([pair("k", "array", array("string", [text("abcdefgh")], 2))]),
                  "the file ends at byte 65, 8 bytes are needed here", 65),
    "texts no text": (file_of([pair("k", "array", array("string", [text("a"), text(b"\xff")]))]),
                      "text 1 of 'k' is no UTF-8", 66),
    "deep": (nested(9), "'k' has arrays nested deeper than 8", 121),
    "deeper": (nested(50_000), "'k' has arrays nested deeper than 8", 121),
    "alignment zero": (file_of([aligned_to(0)]), "general.alignment is 0; it must be a power", 49),
    "alignment odd": (file_of([aligned_to(33)]), "general.alignment is 33; it must be a power", 49),
    "alignment huge": (file_of([aligned_to(2**31)]), "general.alignment is 2,147,483,648; it", 49),
    "alignment type": (file_of([pair("general.alignment", "uint64", value("uint64", 32))]),
                       "general.alignment is of type uint64; it must be uint32", 49),
    "alignment list": (file_of([pair("general.alignment", "array",
                                     array("uint32", [value("uint32", 32)]))]),
                       "general.alignment is of type array; it must be uint32", 49),
    "name empty": (one(name="") + b"!", "a tensor's name is empty", 24),
    "name long": (one(name="n" * 257), "name would have 257 bytes; 256 are the most", 24),
    "name beyond": (file_of([], [text("n", 200) + bytes(40)]),
                    "a tensor's name would have 200 bytes, and 41 are left", 24),
    "name text": (one(name=b"\x80"), "a tensor's name is no UTF-8", 32),
    "name twice": (file_of([], [tensor(), tensor()], EIGHT), "there are two tensors 'x'", 57),
    "no axes": (one(sizes=[]) + EIGHT, "tensor 'x' has 0 axes; there are 1 to 4", 33),
    "five axes": (one(sizes=[1] * 5), "tensor 'x' has 5 axes; there are 1 to 4", 33),
    "axes huge": (one(axes=2**32 - 1), "tensor 'x' has 4,294,967,295 axes; there are 1", 33),
    "axes cut": (file_of([], [text("x") + pack("<I", 4) + bytes(23)]),
                 "the file ends at byte 60, 8 bytes are needed here", 53),
    "size 0": (one(sizes=[0]), "tensor 'x' has an axis of size 0", 33),
    "size 0 of two": (one(sizes=[2, 0]), "tensor 'x' has an axis of size 0", 33),
    "size negative": (one(sizes=[2**64 - 2]), "an axis of size 18,446,744,073,709,551,614", 33),
    "size product": (one(sizes=[2**33, 2**33]), "[8589934592, 8589934592]: too large", 33),
    "size wraps": (one(sizes=[2**32, 2**32, 2**32, 2]), "has the shape [2, 4294967296, 42949", 33),
    "size bytes": (one(sizes=[2**57]), "the file ends here, tensor 'x' at byte 576,460,752,3", 72),
    "type": (one(kind=43), "tensor 'x' has the type 43, which is none", 45),
    "type huge": (one(kind=2**32 - 1), "tensor 'x' has the type 4,294,967,295, which is none", 45),
    "type given up": (one(kind=4), "tensor 'x' has the type 4, which is none", 45),
    "row": (one(sizes=[33], kind=8), "has rows of 33; blocks of q8_0 hold 32 numbers", 45),
    "row of k": (one(sizes=[128, 2], kind=12), "rows of 128; blocks of q4_k hold 256 numbers", 53),
    "row of others": (one(sizes=[255], kind=16), "rows of 255; blocks of iq2_xxs hold 256", 45),
    "offset odd": (one(offset=4), "begins at 4 of the data, which is no multiple of 32", 49),
    "offset for 64": (file_of([aligned_to(64)], [tensor(offset=32)], bytes(64), alignment=64),
                      "begins at 32 of the data, which is no multiple of 64", 82),
    "offset beyond": (one(offset=32), "would begin at byte 96; the file has 72", 24),
    "offset huge": (one(offset=2**64 - 32), "begin at byte 18,446,744,073,709,551,648; the", 24),
    "no data": (file_of([], [tensor()]), "tensor 'x' would begin at byte 64; the file has 57", 24),
    "data cut": (one()[:-1], "the file ends here, tensor 'x' at byte 72", 71),
    "data beyond": (one(sizes=[3]), "the file ends here, tensor 'x' at byte 76", 72),
    "blocks beyond": (one(sizes=[32], kind=8), "the file ends here, tensor 'x' at byte 98", 72),
    "same place": (two(0, 0), "tensors 'a' and 'b' overlap", 96),
    "overlap": (two(0, 32, 33), "tensors 'a' and 'b' overlap", 128),
    "overlap backwards": (two(32, 0, 33), "tensors 'b' and 'a' overlap", 128),
    "last tensor": (file_of([], [tensor(), tensor("y", [2], 0, 32)], bytes(39)),
                    "the file ends here, tensor 'y' at byte 136", 135),
}  # fmt: skip


def assert_refused(call: Callable[[], object], what: str, place: str) -> None:
    """See that a call refuses a file, soon and with little memory."""
    begin = time.process_time()
    tracemalloc.start()
    try:
        with ts.memory.track() as m, pytest.raises(ts.errors.FormatError) as error:
            call()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert what in error.value.what and error.value.hint
    assert error.value.places == [place]
    assert peak + m.peak < MOST_BYTES
    assert time.process_time() - begin < MOST_SECONDS


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_refused_with_what_where_and_cure(name: str, tmp_path: Path) -> None:
    data, what, at = WRONG[name]
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    assert_refused(lambda: ts.io.open_gguf(path), what, f"{path}, byte {at:,}")
    assert_refused(lambda: ts.io.open_gguf(io.BytesIO(data)), what, f"a file object, byte {at:,}")
    assert len(os.listdir("/proc/self/fd")) < 200


def test_the_files_that_the_wrong_ones_are_made_from_are_right() -> None:
    for data in (one(), two(0, 32, 32), file_of([pair("k", 0, ONE)]), nested(8), file_of()):
        ts.io.open_gguf(io.BytesIO(data)).close()


def test_the_whole_message() -> None:
    with pytest.raises(ts.errors.FormatError) as error:
        ts.io.open_gguf(io.BytesIO(WRONG["data cut"][0]))
    lines = re.sub(r"\.py:\d+", ".py", str(error.value)).splitlines()
    assert lines == [
        "open_gguf: the file ends here, tensor 'x' at byte 72",
        "  in a file object, byte 71",
        '  at test_gguf_malformed.py: ts.io.open_gguf(io.BytesIO(WRONG["data cut"][0]))',
        "  hint: the file is damaged or was not written whole: copy it again, or save it again",
    ]


def test_a_file_that_ends_anywhere_is_refused() -> None:
    pairs = [pair("k", "string", text("abc")), pair("l", "array", array("bool", [b"\1", b"\0"])),
             pair("m", "array", array("string", [text("a"), text("bc")]))]  # fmt: skip
    data = file_of(pairs, [tensor("x", [2, 3]), tensor("y", [32], 8, 32)], bytes(66))
    ts.io.open_gguf(io.BytesIO(data)).close()
    for end in range(len(data)):
        with pytest.raises(ts.errors.FormatError) as error:
            ts.io.open_gguf(io.BytesIO(data[:end]))
        assert error.value.hint and error.value.places, end


def test_other_readers_name_the_one_for_gguf_files(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    ts.io.save_gguf({"x": ts.ones(2)}, path)
    for read in (ts.io.load_file, ts.io.open_file, ts.load):
        with pytest.raises(ts.errors.FormatError, match="it is a GGUF file") as error:
            read(path)
        assert error.value.hint == "ts.io.open_gguf reads it"


@pytest.mark.parametrize(
    "number", [n for n, each in gguf_types.TYPES.items() if each.format not in gguf_types.NUMBERS]
)
def test_types_that_cannot_be_computed_with_are_listed_and_refused(number: int) -> None:
    kind = gguf_types.TYPES[number]
    entries = [tensor("x", [2 * kind.elements, 3], number), tensor("y", [2], 0, 2048)]
    with ts.io.open_gguf(io.BytesIO(file_of([], entries, bytes(2056)))) as file:
        found = file.tensors["x"]
        assert found.shape == (3, 2 * kind.elements) and found.format == kind.format
        assert found.nbytes == 6 * kind.bytes
        with pytest.raises(ts.errors.FormatError, match=f"'x' is {kind.format}, which") as error:
            file.get_tensor("x")
        assert "another type: float32, float16, int8" in error.value.hint
        assert "q4_k" in error.value.hint and error.value.places == ["a file object"]
        assert file.get_tensor("y").tolist() == [0.0, 0.0]


# --- arguments -----------------------------------------------------------------------------------

x = ts.ones(2)
blocks = ts.zeros(2, 34, dtype=ts.uint8)
VIRTUAL = _core.empty_virtual((2,), 0)
CYCLE: list[Any] = []
CYCLE += [CYCLE, CYCLE]
save: Any = ts.io.save_gguf
REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "no dict": (lambda p: save([x], p), TypeError, "tensors must be a dict of names and tensors"),
    "name": (lambda p: save({1: x}, p), TypeError, "a dict whose keys are text, got int"),
    "no name": (lambda p: save({"": x}, p), ValueError, "names have 1 to 63 bytes in UTF-8"),
    "long name": (lambda p: save({"n" * 64: x}, p), ValueError, "names have 1 to 63 bytes in UTF"),
    "half": (lambda p: save({"\ud800": x}, p), ValueError, "half of a surrogate pair"),
    "no tensor": (lambda p: save({"a": 1}, p), TypeError, "tensors['a'] must be a tensor, or a"),
    "virtual": (lambda p: save({"a": VIRTUAL}, p), RuntimeError, "no values"),
    "0-d": (lambda p: save({"a": ts.tensor(1.0)}, p), ValueError, "tensors['a'] has the shape ()"),
    "5-d": (lambda p: save({"a": ts.ones(1, 1, 1, 1, 1)}, p), ValueError, "(1, 1, 1, 1, 1)"),
    "nothing": (lambda p: save({"a": ts.ones(0, 2)}, p), ValueError, "has the shape (0, 2)"),
    "bool": (lambda p: save({"a": x > 0}, p), ValueError, "tensors['a'] is bool, which GGUF files"),
    "bytes": (lambda p: save({"a": blocks}, p), ValueError, '(blocks, "q8_0")'),
    "format": (lambda p: save({"a": (blocks, "q9")}, p), ValueError, "the format of tensors['a']"),
    "format known": (lambda p: save({"a": (blocks, "q2_k")}, p), ValueError, "['a'] is 'q2_k'"),
    "format type": (lambda p: save({"a": (blocks, 8)}, p), TypeError, "a dtype or a name, got int"),
    "format of floats": (lambda p: save({"a": (x, "q8_0")}, p), ValueError,
                         "a tensor of float32, and its format is q8_0"),
    "dtype": (lambda p: save({"a": (x, ts.float16)}, p), ValueError,
              "a tensor of float32, and its format is float16"),
    "row": (lambda p: save({"a": (blocks[:, 1:], "q8_0")}, p), ValueError,
            "rows of 33 bytes; blocks of q8_0 have 34"),
    "metadata": (lambda p: save({}, p, ["a"]), TypeError, "metadata must be a dict, or None"),
    "types": (lambda p: save({}, p, {}, ["a"]), TypeError, "types must be a dict, or None"),
    "key": (lambda p: save({}, p, {1: "a"}), TypeError, "a dict whose keys are text, got int"),
    "no key": (lambda p: save({}, p, {"": "a"}), ValueError, "names have 1 to 65,535 bytes"),
    "long key": (lambda p: save({}, p, {"k" * 65_536: "a"}), ValueError, "names have 1 to 65,535"),
    "half key": (lambda p: save({}, p, {"\udfff": "a"}), ValueError, "half of a surrogate pair"),
    "alignment": (lambda p: save({}, p, {"general.alignment": 33}), ValueError,
                  "metadata['general.alignment'] is 33"),
    "alignment type": (lambda p: save({}, p, {"general.alignment": 32},
                                      {"general.alignment": "uint64"}), ValueError, "and a uint32"),
    "alignment text": (lambda p: save({}, p, {"general.alignment": "32"}), ValueError, "is '32'"),
    "path": (lambda p: save({}, 3), TypeError, "path must be a path or a binary file"),
    "into folder": (lambda p: save({}, p.parent), ValueError, "is a folder"),
    "open path": (lambda p: ts.io.open_gguf(None), TypeError, "path must be a path or a binary"),  # type: ignore[arg-type]
    "open text": (lambda p: ts.io.open_gguf(io.StringIO("")), TypeError, "does not give bytes"),  # type: ignore[arg-type]
    "missing": (lambda p: ts.io.open_gguf(p), FileNotFoundError, "there is no file /"),
    "folder": (lambda p: ts.io.open_gguf(p.parent), IsADirectoryError, "is a folder"),
    "device": (lambda p: ts.io.open_gguf("/dev/zero"), ValueError, "a pipe, a socket or a device"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_arguments_that_mean_nothing_are_refused(name: str, tmp_path: Path) -> None:
    call, kind, what = REFUSED[name]
    with pytest.raises(kind) as error:
        call(tmp_path / "file")
    assert what in str(error.value)
    assert not list(tmp_path.iterdir())


REFUSED_VALUES: dict[str, tuple[Any, str | None, type[Exception], str]] = {
    "half text": ("\udfff", None, ValueError, "half of a surrogate pair"),
    "none": (None, None, TypeError, "metadata['k'] is NoneType, which GGUF files do not have"),
    "tensor": (x, None, TypeError, "give its numbers as a list: x.tolist()"),
    "dict": ({}, None, TypeError, "values are bool, int, float, str, and lists of one of them"),
    "complex": (1j, None, TypeError, "metadata['k'] is complex, which GGUF files do not have"),
    "in a list": ([None], "int8", TypeError, "metadata['k'] is NoneType"),
    "mixed": ([1, "a"], None, ValueError, "metadata['k'] holds values of several types"),
    "bool and int": ([1, True], None, ValueError, "metadata['k'] holds values of several types"),
    "depths": ([1, [2]], None, ValueError, "metadata['k'] holds values of several types"),
    "empty list": ([], None, ValueError, "say it: types={'k': 'string'}"),
    "empty lists": ([[], []], None, ValueError, "metadata['k'] holds no value that would tell its"),
    "cycle": (CYCLE, None, ValueError, "has lists nested deeper than 8, or in themselves"),
    "large": (2**64, None, ValueError, "18446744073709551616, which is no integer of 64 bits"),
    "wide": ([-1, 2**63], None, ValueError, "9223372036854775808, which is no integer of 64"),
    "kind": (1, "int", ValueError, "types['k'] is 'int'"),
    "kind array": ([1], "array", ValueError, "types['k'] is 'array'"),
    "range": (256, "uint8", ValueError, "metadata['k'] holds 256, which is no uint8"),
    "negative": ([-1], "uint64", ValueError, "metadata['k'] holds -1, which is no uint64"),
    "float as int": (1.0, "int8", ValueError, "metadata['k'] holds 1.0, which is no int8"),
    "text as int": ("1", "int8", ValueError, "metadata['k'] holds '1', which is no int8"),
    "bool as int": (True, "int8", ValueError, "metadata['k'] holds True, which is no int8"),
    "bool as float": (True, "float32", ValueError, "holds True, which is no float32"),
    "int as bool": (1, "bool", ValueError, "metadata['k'] holds 1, which is no bool"),
    "int as text": (1, "string", ValueError, "metadata['k'] holds 1, which is no string"),
    "float beyond": ([math.nan, 2.0, 1e300], None, ValueError, "1e+300, which is no float32"),
    "int beyond": (10**400, "float64", ValueError, "which is no float64"),
}


@pytest.mark.parametrize("name", REFUSED_VALUES)
def test_values_that_files_cannot_hold_are_refused(name: str, tmp_path: Path) -> None:
    given, kind, error_kind, what = REFUSED_VALUES[name]
    with pytest.raises(error_kind) as error:
        save({}, tmp_path / "file", {"k": given}, {"k": kind} if kind else None)
    assert what in str(error.value)
    assert not list(tmp_path.iterdir())
