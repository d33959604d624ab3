"""ts.save and ts.load: nested containers come back as they were, and only data ever does."""

from __future__ import annotations

import io
import json
import math
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, strategies as st

import tessella as ts
from tessella import nn
from tessella.io import structures

Pair = namedtuple("Pair", "a b")


def restored(obj: Any, **options: Any) -> Any:
    """Save and load."""
    file = io.BytesIO()
    ts.save(obj, file)
    file.seek(0)
    return ts.load(file, **options)


def same(x: Any, y: Any) -> bool:
    """Tell whether two objects are the same in types and values."""
    if type(x) is not type(y):
        return False
    if isinstance(x, ts.Tensor):
        return x.dtype is y.dtype and x.shape == y.shape and x.tolist() == y.tolist()
    if isinstance(x, dict):
        return list(x) == list(y) and all(same(x[key], y[key]) for key in x)
    if isinstance(x, list | tuple):
        return len(x) == len(y) and all(map(same, x, y))
    return repr(x) == repr(y)  # NaN is NaN, -0.0 is not 0.0


# --- what comes back -----------------------------------------------------------------------------


PLAIN: list[Any] = [
    None, True, False, 0, -1, 2**63 - 1, -(2**63), 2**64, -(10**4000), 0.0, -0.0, 0.1, 1e308,
    5e-324, math.nan, math.inf, -math.inf, 1 + 2j, complex(math.nan, -math.inf), "", "🦆\n\0",
    "\ud800", b"", b"\0\xff", ts.float32, ts.bool, [], (), {}, OrderedDict(),
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=lambda value: ascii(value)[:20])
def test_plain_values_come_back_exactly(value: Any) -> None:
    for obj in (value, [value], {"key": value}, (value, (value,)), {7: value}):
        assert same(restored(obj), obj)


keys = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
leaves = (
    keys | st.complex_numbers() | st.floats() | st.binary()
    | st.lists(st.floats(width=32), max_size=3).map(ts.tensor)
)  # fmt: skip
objects = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.lists(inner, max_size=3).map(tuple)
    | st.dictionaries(keys | st.tuples(keys, keys), inner, max_size=4)
    | st.dictionaries(st.text(), inner, max_size=3).map(OrderedDict),
    max_leaves=12,
)  # fmt: skip


@given(objects)
def test_any_nested_object_comes_back(obj: Any) -> None:
    back = restored(obj)
    assert same(back, obj) or repr(back) == repr(obj)  # tensors of NaN are not equal


def test_states_of_modules_come_back() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    state = {"model": model.state_dict(), "epoch": 3, "history": [0.5, 0.25]}
    back = restored(state)
    assert same(back, state)
    other = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    other.load_state_dict(back["model"])
    assert same(dict(other.state_dict()), dict(model.state_dict()))


def test_tensors_keep_gradients_and_what_they_are() -> None:
    obj = [ts.ones(2, requires_grad=True), ts.ones(2), nn.Parameter(ts.ones(3)),
           nn.Parameter(ts.ones(1), requires_grad=False), nn.Buffer(ts.arange(2)),
           nn.Buffer(ts.ones(1), persistent=False)]  # fmt: skip
    back = restored(obj)
    assert [x.requires_grad for x in back] == [x.requires_grad for x in obj]
    assert [type(x) for x in back] == [type(x) for x in obj]
    assert back[4].persistent and not back[5].persistent
    assert all(x.is_leaf and not x.is_readonly for x in back)


def test_one_tensor_in_several_places_stays_one(tmp_path: Path) -> None:
    x, p = ts.arange(1000), nn.Parameter(ts.ones(3))
    back = restored({"a": x, "b": [x, x.detach()], "p": (p, p), "view": x[:500]})
    assert back["a"] is back["b"][0] is back["b"][1] and back["p"][0] is back["p"][1]
    back["a"] += 1
    assert back["view"].tolist() == list(range(500))  # a view is a tensor of its own
    ts.save([x] * 50, tmp_path / "file")
    assert (tmp_path / "file").stat().st_size < 8000 + 4000


def test_mapped_tensors_lie_over_the_file(tmp_path: Path) -> None:
    ts.save({"x": ts.ones(3), "n": 1}, tmp_path / "file")
    assert ts.load(tmp_path / "file", mmap=True)["x"].is_readonly  # type: ignore[call-overload, index, union-attr]
    assert not ts.load(tmp_path / "file")["x"].is_readonly  # type: ignore[call-overload, index, union-attr]


def test_others_find_the_tensors_under_names_that_tell_their_places(tmp_path: Path) -> None:
    path = tmp_path / "file"
    obj = {"model": {"w": ts.ones(2)}, "list": [ts.zeros(1), {3: ts.arange(2)}], "a.b": ts.ones(1),
           "a": {"b": ts.zeros(3)}, "__metadata__": ts.ones(4), "": ts.ones(5)}  # fmt: skip
    ts.save(obj, path)
    shapes = {name: x.shape for name, x in safetensors.numpy.load_file(path).items()}
    assert shapes == {"model.w": (2,), "list.0": (1,), "list.1.3": (2,), "a.b": (1,),
                      "a.b#2": (3,), "__metadata__#2": (4,), "value": (5,)}  # fmt: skip
    assert same(ts.load(path), obj)
    assert set(ts.io.load_file(path)) == set(shapes)


def test_load_reads_every_kind_of_file(tmp_path: Path) -> None:
    x = ts.arange(6).reshape(2, 3)
    ts.io.save_file({"x": x}, tmp_path / "a")
    ts.io.save_npz({"x": x}, tmp_path / "b")
    ts.io.save_npy(x, tmp_path / "c")
    safetensors.numpy.save_file({"x": x.numpy()}, tmp_path / "d")
    figures = Path(__file__).parent / "figures"
    for mmap in (False, True):
        assert same(ts.load(tmp_path / "a", mmap=mmap), {"x": x})
        assert same(ts.load(tmp_path / "b", mmap=mmap), {"x": x})
        assert same(ts.load(tmp_path / "c", mmap=mmap), x)
        assert same(ts.load(tmp_path / "d", mmap=mmap), {"x": x})
        assert ts.load(figures / "torch_dtypes.pt", mmap=mmap)["float64"].dtype is ts.float64  # type: ignore[call-overload, index, union-attr]


def test_headers_of_any_length_are_told_from_other_files() -> None:
    """A header's length may begin with the first byte of a pickle."""
    for size in range(500, 1500, 8):
        assert len(restored({"x" * size: ts.ones(1)})) == 1


def test_pytorchs_arguments_mean_what_they_can() -> None:
    assert restored([1], map_location="cpu", weights_only=True) == [1]
    with pytest.raises(ts.errors.InvalidArgument, match="weights_only is False, and loading") as e:
        restored([1], weights_only=False)
    assert "leave it out" in e.value.hint
    with pytest.raises(ts.errors.TessellaError, match="cuda"):
        restored([1], map_location="cuda")


# --- what is refused -----------------------------------------------------------------------------


class Weird:
    """An object."""


def deep(levels: int) -> Any:
    """Nest lists."""
    out: Any = []
    for _ in range(levels):
        out = [out]
    return out


def around() -> list[Any]:
    """Give a list that holds itself."""
    out: list[Any] = []
    out.append(out)
    return out


def doubling(times: int) -> Any:
    """Give a small object that would be written very often."""
    out: Any = [1]
    for _ in range(times):
        out = [out, out]
    return out


CASES: dict[str, tuple[Callable[[], Any], type[Exception], str, str]] = {
    "object": (lambda: {"a": [Weird()]}, TypeError, "['a'][0] is test_saved_objects.Weird",
               "tensors, numbers, text, bytes, None and dtypes"),
    "itself": (Weird, TypeError, "the object is test_saved_objects.Weird", "can be saved"),
    "module": (lambda: nn.Linear(1, 1), TypeError, "Linear, which is no", "state_dict()"),
    "array": (lambda: {"a": np.ones(2)}, TypeError, "['a'] is numpy.ndarray", "ts.asarray(a)"),
    "function": (lambda: [len], TypeError, "[0] is builtin_function_or_method", "can be saved"),
    "set": (lambda: {1}, TypeError, "the object is set", "tuple(x)"),
    "named": (lambda: Pair(1, 2), TypeError, "Pair, which is no plain data", "tuple(x)"),
    "counter": (lambda: __import__("collections").Counter("a"), TypeError, "Counter", "dict(x)"),
    "subclass": (lambda: type("Sub", (ts.Tensor,), {})(ts.ones(1)), TypeError, "Sub, which is no",
                 "x.detach()"),
    "key": (lambda: {"a": {b"k": 1}}, TypeError, "['a'] has a key that is bytes: b'k'", "keys are"),
    "keys": (lambda: {(1, (2,)): 1}, TypeError, "a key that is tuple: (1, (2,))", "tuples of them"),
    "deep": (lambda: deep(150), ValueError, "nested deeper than 100, or in themselves", "flatter"),
    "around": (around, ValueError, "nested deeper than 100, or in themselves", "flatter"),
    "often": (lambda: doubling(60), ValueError, "more than 5,000,000 values", "as tensors"),
    "graph": (lambda: ts.ones(1, requires_grad=True) * 2, RuntimeError, "lose them", "detach"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_is_no_data_is_refused(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    if name == "often":
        monkeypatch.setattr(structures, "MOST_PARTS", 1000)
    make, kind, what, hint = CASES[name]
    with pytest.raises(kind) as error:
        ts.save(make(), tmp_path / "file")
    assert isinstance(error.value, ts.errors.TessellaError)
    assert what.replace("5,000,000", "1,000" if name == "often" else "") in error.value.what
    assert hint in error.value.hint and not list(tmp_path.iterdir())


WRONG: dict[str, tuple[Any, str]] = {
    "kind": ({"call": "os.system"}, "a part is of no known kind"),
    "two": ({"tuple": [], "dict": {}}, "a part is of no known kind"),
    "none": ({}, "a part is of no known kind"),
    "tensor": ({"tensor": "y"}, "there is no tensor 'y'"),
    "tensor 1": ({"tensor": 1}, "there is no tensor 1"),
    "tensor more": ({"tensor": "x", "more": 1}, "a tensor is described by more than name"),
    "grad": ({"tensor": "x", "grad": 1}, "a tensor is described by more than name"),
    "integers": ({"tensor": "i", "grad": True}, "'i' asks for gradients and is int64"),
    "class": ({"tensor": "x", "kind": "Module"}, "there is no kind of tensor 'Module'"),
    "class list": ({"tensor": "x", "kind": ["Parameter"]}, "there is no kind of tensor ['Param"),
    "dict": ({"dict": [1]}, "a dict is none"),
    "items": ({"items": [1]}, "the items of a dict are not pairs"),
    "items 3": ({"items": [[1, 2, 3]]}, "the items of a dict are not pairs"),
    "key list": ({"items": [[[1], 2]]}, "the items of a dict are not pairs"),
    "key": ({"items": [[{"tensor": "x"}, 2]]}, "the key of a dict is no plain value"),
    "key deep": ({"items": [[{"tuple": [{"tuple": []}]}, 2]]}, "the key of a dict is no plain"),
    "ordered": ({"ordered": {}}, "a list is none"),
    "tuple": ({"tuple": {}}, "a list is none"),
    "bytes": ({"bytes": "a*"}, "bytes are not in base64"),
    "bytes 1": ({"bytes": 1}, "a word is none"),
    "complex": ({"complex": [1.0]}, "a complex number is no pair of floats"),
    "complex text": ({"complex": ["a", "b"]}, "a complex number is no pair of floats"),
    "float": ({"float": "infinite"}, "a float is none"),
    "int": ({"int": "0xg"}, "an integer is none"),
    "dtype": ({"dtype": "float33"}, "there is no dtype 'float33'"),
    "deep": (deep(150), "containers are nested deeper than 100"),
}  # fmt: skip


def file_with(description: str) -> io.BytesIO:
    """Give a file of two tensors with the description of an object."""
    file = io.BytesIO()
    ts.save({"x": ts.ones(1), "i": ts.arange(1)}, file)
    data = file.getvalue()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    header["__metadata__"]["tessella"] = f'{{"object":{description}}}'
    raw = json.dumps(header).encode()
    return io.BytesIO(len(raw).to_bytes(8, "little") + raw + data[-12:])


@pytest.mark.parametrize("name", WRONG)
def test_descriptions_that_are_wrong_are_refused(name: str) -> None:
    node, what = WRONG[name]
    with pytest.raises(ts.errors.FormatError) as error:
        ts.load(file_with(json.dumps(node)))
    assert f"the text `tessella` of its metadata is wrong: {what}" in error.value.what


@pytest.mark.parametrize("text", ["1e999", "9" * 5000])
def test_numbers_that_are_too_large_are_refused(text: str) -> None:
    with pytest.raises(ts.errors.FormatError, match="of its metadata is wrong"):
        ts.load(file_with(text))
