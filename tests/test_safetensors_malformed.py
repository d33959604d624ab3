"""safetensors files that are wrong: each way has its message, and where in the file it is."""

from __future__ import annotations

import io
import json
import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import safetensors
from hypothesis import given, strategies as st

import tessella as ts
from tessella import _core
from tessella.io import headers, sources

F32 = '{"dtype":"F32","shape":[2],"data_offsets":[0,8]}'
NOTHING = b"\0" * 8


def file_of(header: str | bytes, data: bytes = NOTHING, length: int | None = None) -> bytes:
    """Put a file together."""
    raw = header if isinstance(header, bytes) else header.encode()
    return (len(raw) if length is None else length).to_bytes(8, "little") + raw + data


def entry(**changes: Any) -> str:
    """Give a header of one tensor, with fields changed, or left out."""
    fields: dict[str, Any] = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    fields |= changes
    return json.dumps({"x": {name: value for name, value in fields.items() if value is not None}})


def two(first: tuple[int, int], other: tuple[int, int]) -> str:
    """Give a header of two tensors of bytes."""
    places = {"a": first, "b": other}
    return json.dumps({
        name: {"dtype": "U8", "shape": [end - start], "data_offsets": [start, end]}
        for name, (start, end) in places.items()
    })  # fmt: skip


def noted(notes: str, **entries: Any) -> bytes:
    """Give a file with our notes."""
    body = {"x": json.loads(F32), "__metadata__": {"tessella": notes}} | entries
    return file_of(json.dumps(body))


# What is wrong, and at which byte: None where it is the file as a whole.
WRONG: dict[str, tuple[bytes, str, int | None]] = {
    "empty": (b"", "it has 0 bytes; a safetensors file has 8 and a header", 0),
    "short": (b"\1\2\3", "it has 3 bytes", 0),
    "no header": (b"\0" * 8, "the header has its end here, not '{'", 8),
    "length beyond": (file_of("{}", b"", 100), "would have 100 bytes, of a file of 10", 0),
    "length huge": (file_of("{}", b"", 2**63), "9,223,372,036,854,775,808 bytes, more", 0),
    "length cut": (file_of(entry(), length=20), "the header has '\"' here, not a whole string", 24),
    "text": (file_of(b'{"\xff":1}'), "the header is no UTF-8", 10),
    "cut text": (file_of('{"é'.encode()[:-1]), "the header is no UTF-8", 10),
    "list": (file_of("[]"), "the header has '[' here, not '{'", 8),
    "space": (file_of(" {}"), "the header has ' ' here, not '{'", 8),
    "no end": (file_of('{"x":' + F32), "the header has its end here, not '}'", 61),
    "rest": (file_of('{"x":' + F32 + "} x"), "the header has 'x' here, not the header's end", 63),
    "comma": (file_of('{"x":' + F32 + ",}"), "the header has '}' here, not '\"'", 62),
    "no colon": (file_of('{"x" 1}'), "the header has '1' here, not ':'", 13),
    "open string": (file_of('{"x'), "the header has '\"' here, not a whole string", 9),
    "control": (file_of('{"x\n":1}'), "the header has '\\n' here, not a whole string", 11),
    "escape": (file_of('{"\\x":1}'), "the header has '\\\\' here, not a whole string", 10),
    "surrogate": (file_of('{"\\ud800":' + F32 + "}"), "half of a surrogate pair", 17),
    "number": (file_of('{"x":1}'), "the header has '1' here, not '{'", 13),
    "deep": (file_of('{"x":' + "[" * 100_000), "the header has '[' here, not '{'", 13),
    "deep in": (file_of(entry().replace("[2]", "[[2]]")), "not a whole number below 10**19", 41),
    "null": (file_of('{"x":null}'), "the header has 'n' here, not '{'", 13),
    "twice": (file_of(f'{{"x":{F32},"x":{F32}}}'), "the header has two entries 'x'", 62),
    "twice in": (file_of(entry()[:-2] + ',"dtype":"F32"}}'), "two entries 'dtype'", 68),
    "twice escaped": (file_of(f'{{"x":{F32},"\\u0078":{F32}}}'), "two entries 'x'", 62),
    "field": (file_of(entry(strides=[1])), "tensor 'x' has a field 'strides'", 79),
    "no dtype": (file_of(entry(dtype=None)), "tensor 'x' lacks dtype, shape or two data_offs", 14),
    "no shape": (file_of(entry(shape=None)), "tensor 'x' lacks dtype, shape or two data_offs", 14),
    "no places": (file_of(entry(data_offsets=None)), "tensor 'x' lacks dtype, shape or two", 14),
    "one place": (file_of(entry(data_offsets=[0])), "tensor 'x' lacks dtype, shape or two", 14),
    "three": (file_of(entry(data_offsets=[0, 4, 8])), "']': there may be 2 numbers", 67),
    "dtype": (file_of(entry(dtype="F31")), "tensor 'x' has the dtype 'F31', which is none", 14),
    "dtype case": (file_of(entry(dtype="f32")), "tensor 'x' has the dtype 'f32'", 14),
    "dtype number": (file_of(entry(dtype=3)), "the header has '3' here, not '\"'", 24),
    "negative": (file_of(entry(shape=[-2])), "the header has '-' here, not a whole number", 41),
    "fraction": (file_of(entry(shape=[2.0])), "the header has '.' here, not ']'", 42),
    "power": (file_of(entry().replace("[2]", "[2e0]")), "the header has 'e' here, not ']'", 42),
    "zero first": (file_of(entry().replace("[2]", "[02]")), "the header has '2' here, not ']'", 42),
    "digits": (file_of(entry(shape=[10**19])), "not a whole number below 10**19", 41),
    "axes": (file_of(entry(shape=[1] * 65)), "']': there may be 64 numbers", 232),
    "large": (file_of(entry(shape=[2**40, 2**40, 0], data_offsets=[0, 0]), b""), "too large", 14),
    "larger": (file_of(entry(shape=[2**62])), "[4611686018427387904]: too large", 14),
    "bytes": (file_of(entry(shape=[3])), "F32 [3], does not fit bytes 0 to 8 of the data", 14),
    "backwards": (file_of(entry(data_offsets=[8, 0])), "does not fit bytes 8 to 0 of the data", 14),
    "half bytes": (file_of(entry(dtype="F4", shape=[3], data_offsets=[0, 1])), "F4 [3], does", 14),
    "overlap": (file_of(two((0, 8), (4, 8))), "tensors 'a' and 'b' overlap", 132),
    "same": (file_of(two((0, 8), (0, 8))), "tensors 'a' and 'b' overlap", 128),
    "gap": (file_of(two((0, 3), (4, 8))), "1 bytes before tensor 'b' belong to none", 131),
    "gap first": (file_of(two((1, 3), (3, 8))), "1 bytes before tensor 'a' belong to none", 128),
    "cut": (file_of(entry(), NOTHING[:-1]), "the file ends here, tensor 'x' at byte 77", 76),
    "left": (file_of(entry(), NOTHING + b"!"), "1 bytes after the last tensor belong to none", 77),
    "only data": (file_of("{}"), "8 bytes after the last tensor belong to none", 10),
    "bool": (file_of(entry(dtype="BOOL", shape=[8]), b"\0\1\0\1\0\2\0\0"),
             "element 5 of 'x' is 2; a bool is 0 or 1", 70),
    "metadata": (file_of('{"__metadata__":[]}', b""), "the header has '[' here, not '{'", 24),
    "metadata value": (file_of('{"__metadata__":{"a":1}}', b""), "has '1' here, not '\"'", 29),
    "notes": (noted("{"), "the text `tessella` of its metadata is wrong: it is no JSON", None),
    "notes deep": (noted("[" * 100_000), "it is no JSON", None),
    "notes nan": (noted('{"tied":NaN}'), "it is no JSON", None),
    "notes list": (noted("[]"), "it must hold tied, dtypes and object only", None),
    "notes part": (noted('{"code":{}}'), "it must hold tied, dtypes and object only", None),
    "notes tied": (noted('{"tied":[]}'), "tied must be an object", None),
    "tied to none": (noted('{"tied":{"y":"z"}}'), "second names of tensors ('y')", None),
    "tied to 1": (noted('{"tied":{"y":1}}'), "second names of tensors ('y')", None),
    "tied itself": (noted('{"tied":{"x":"x"}}'), "second names of tensors ('x')", None),
    "dtype of none": (noted('{"dtypes":{"y":["complex128",null]}}'), "tensors of the file", None),
    "dtype of 1": (noted('{"dtypes":{"x":1}}'), "a dtype for tensors of the file ('x')", None),
    "dtype pairs": (noted('{"dtypes":{"x":["complex128",null]}}'), "as F64 pairs ('x')", None),
    "dtype user": (noted('{"dtypes":{"x":["rgb","BBB"]}}'), "stored as U8, with its for", None),
    "zip": (b"PK\3\4" + b"\xff" * 30, "it is no safetensors file", 0),
    "npy": (b"\x93NUMPY\1\0" + b"\xff" * 30, "it is no safetensors file", 0),
    "pickle": (b"\x80\2\x8a\nl\xfc\x9cF" + b"\0" * 9, "it is a bare pickle, as PyTorch wrote", 0),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_refused_with_what_where_and_cure(name: str, tmp_path: Path) -> None:
    data, what, at = WRONG[name]
    path = tmp_path / "model.safetensors"
    path.write_bytes(data)
    for mmap in (True, False):
        with pytest.raises(ts.errors.FormatError) as error:
            ts.io.load_file(path, mmap=mmap)
        assert what in error.value.what
        place = str(path) if at is None else f"{path}, byte {at:,}"
        assert error.value.places == [place] and error.value.hint
    with pytest.raises(ts.errors.FormatError) as error:
        ts.io.load_file(io.BytesIO(data))
    assert what in error.value.what
    if name != "bool":  # which is read when it is asked for
        with pytest.raises(ts.errors.FormatError):
            ts.io.open_file(path)
    assert len(os.listdir("/proc/self/fd")) < 200


def test_the_whole_message() -> None:
    with pytest.raises(ts.errors.FormatError) as error:
        ts.io.load_file(io.BytesIO(WRONG["cut"][0]))
    lines = re.sub(r"\.py:\d+", ".py", str(error.value)).splitlines()
    assert lines == [
        "load_file: the file ends here, tensor 'x' at byte 77",
        "  in a file object, byte 76",
        '  at test_safetensors_malformed.py: ts.io.load_file(io.BytesIO(WRONG["cut"][0]))',
        "  hint: the file is damaged or was not written whole: copy it again, or save it again",
    ]


def test_every_dtype_of_the_format_is_known() -> None:
    deserialize: Any = safetensors.deserialize
    for name, bits in headers.BITS.items():
        data = bytes(bits)
        raw = file_of(entry(dtype=name, shape=[8], data_offsets=[0, bits]), data)
        ((_, found),) = deserialize(raw)
        assert found["dtype"] == name and found["shape"] == [8]
        assert headers.read_header(sources.Held("x", raw)).entries["x"].dtype == name


@given(
    st.dictionaries(
        st.text(max_size=3).filter(lambda name: name != "__metadata__"),
        st.tuples(st.sampled_from(sorted(headers.BITS)), st.lists(st.integers(0, 9), max_size=65)),
        max_size=3,
    ),
    st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", "\t:\r")]),
    st.booleans(),
)
def test_spaces_and_the_order_of_fields_do_not_matter(
    tensors: dict[str, Any], marks: tuple[str, str], is_turned: bool
) -> None:
    """The usual order is read at once, any other field by field; both must agree."""
    body: dict[str, Any] = {}
    end = 0
    for name, (dtype, shape) in tensors.items():
        start, end = end, end + math.prod(shape) * headers.BITS[dtype] // 8
        fields = {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}
        body[name] = dict(reversed(fields.items())) if is_turned else fields
    source = sources.Mapped("x", file_of(json.dumps(body, separators=marks), b""))
    source.size += end  # as if the data were there
    is_right = all(
        len(shape) <= 64 and math.prod(shape) * headers.BITS[dtype] % 8 == 0
        for dtype, shape in tensors.values()
    )
    if not is_right or any(math.prod(n or 1 for n in s) >= 1 << 58 for _, s in tensors.values()):
        with pytest.raises(ts.errors.FormatError):
            headers.read_header(source)
        return
    found = headers.read_header(source).entries
    assert {n: (e.dtype, list(e.shape)) for n, e in found.items()} == tensors


# --- arguments -----------------------------------------------------------------------------------

x = ts.ones(2)
VIRTUAL = _core.empty_virtual((2,), 0)
files: Any = ts.io
REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "no dict": (lambda p: files.save_file([x], p), TypeError, "tensors must be a dict of names"),
    "key": (lambda p: files.save_file({1: x}, p), TypeError, "a dict whose keys are text, got int"),
    "value": (lambda p: files.save_file({"a": 1}, p), TypeError, "tensors['a'] must be a tensor"),
    "virtual": (lambda p: files.save_file({"a": VIRTUAL}, p), RuntimeError, "no values"),
    "reserved": (lambda p: files.save_file({"__metadata__": x}, p), ValueError, "which is taken"),
    "metadata": (lambda p: files.save_file({}, p, ["a"]), TypeError, "metadata must be a dict"),
    "text": (lambda p: files.save_file({}, p, {"a": 1}), TypeError, "keys and values are text"),
    "text key": (lambda p: files.save_file({}, p, {1: "a"}), TypeError, "keys and values are text"),
    "notes": (lambda p: files.save_file({}, p, {"tessella": "a"}), ValueError, "which is taken"),
    "half": (lambda p: files.save_file({"\ud800": x}, p), ValueError, "half of a surrogate pair"),
    "half text": (lambda p: files.save_file({}, p, {"a": "\udfff"}), ValueError, "half of a surro"),
    "path": (lambda p: files.save_file({}, 3), TypeError, "path must be a path or a bin"),
    "null": (lambda p: files.save_file({}, "a\0b"), TypeError, "path must be a path or a binary f"),
    "load path": (lambda p: files.load_file(None), TypeError, "path must be a path or a bin"),
    "text file": (lambda p: files.load_file(io.StringIO("")), TypeError, "does not give bytes"),
    "mmap": (lambda p: files.load_file(p, mmap=1), TypeError, "mmap must be True or False"),
    "missing": (lambda p: files.load_file(p), FileNotFoundError, "there is no file /"),
    "folder": (lambda p: files.load_file(p.parent), IsADirectoryError, "is a folder"),
    "into folder": (lambda p: files.save_file({}, p.parent), ValueError, "is a folder"),
    "device": (lambda p: files.save_file({}, "/dev/null"), ValueError, "a pipe, a socket or a dev"),
    "from device": (lambda p: files.load_file("/dev/zero"), ValueError, "a pipe, a socket or a de"),
    "no folder": (lambda p: files.save_file({}, p / "a" / "b"), FileNotFoundError, "/a to save b"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_arguments_that_mean_nothing_are_refused(name: str, tmp_path: Path) -> None:
    call, kind, what = REFUSED[name]
    with pytest.raises(kind) as error:
        call(tmp_path / "file")
    assert what in str(error.value)
    assert not list(tmp_path.iterdir())


def test_a_pipe_does_not_stop_the_process(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ts.errors.InvalidArgument, match="a pipe"):
        ts.io.load_file(tmp_path / "pipe")


def test_a_header_that_no_reader_would_take_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(headers, "MOST_BYTES", 100)
    with pytest.raises(ts.errors.InvalidArgument, match=r"take 1\d\d bytes; a file may have 100"):
        ts.io.save_file({"a" * 100: x}, tmp_path / "file")
    assert not list(tmp_path.iterdir())
