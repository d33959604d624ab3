"""PyTorch's .pt files: every dtype and layout, and nothing that is more than data."""

from __future__ import annotations

import io
import json
import pickle
import struct
from collections import Counter, OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessella as ts
import torch_archives as made
from tessella import nn
from tessella.io import streams
from torch_archives import Call, Named, Storage

FIGURES = Path(__file__).parent / "figures"
DESCRIBED = json.loads((FIGURES / "torch_files.json").read_text())
FLOATS = {"0": struct.pack("<4f", 1, 2, 3, 4)}


def raw(x: ts.Tensor) -> str:
    """Give the elements as bytes."""
    return b"".join(map(bytes, streams.blocks(x.detach()))).hex()


def load(obj: Any, storages: dict[str, bytes] = FLOATS, protocol: int = 2, **more: Any) -> Any:
    """Load a file made of an object."""
    data = made.archive(made.pickled(obj, protocol), storages, **more)
    return ts.io.load_pt(io.BytesIO(data))


# --- what torch wrote ----------------------------------------------------------------------------


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("file", ["dtypes", "layouts"])
def test_every_dtype_and_layout_is_read_bit_by_bit(file: str, mmap: bool) -> None:
    held: Any = ts.io.load_pt(FIGURES / f"torch_{file}.pt", mmap=mmap)
    assert list(held) == list(DESCRIBED[file])
    for name, x in held.items():
        want = DESCRIBED[file][name]
        assert x.dtype.name == want["dtype"] and list(x.shape) == want["shape"], name
        assert raw(x) == want["bytes"], name
        if x.size and name not in ("conjugate", "negative"):
            assert list(x.strides) == want["strides"]
            assert x.is_readonly == mmap


def test_shared_storages_stay_shared() -> None:
    held: Any = ts.io.load_pt(FIGURES / "torch_layouts.pt")
    held["base"][1, 2, 2] = 100.0
    assert held["transposed"][2, 1, 2].item() == 100.0 and held["part"][1, 1].item() == 100.0


def test_a_checkpoint_of_torch_is_read() -> None:
    held: Any = ts.load(FIGURES / "torch_state.pt")
    assert type(held["model"]) is OrderedDict
    assert list(held["model"]) == ["linear.weight", "linear.bias", "norm.weight", "norm.bias",
                                   "norm.running_mean", "norm.running_var",
                                   "norm.num_batches_tracked"]  # fmt: skip
    assert held["model"]["norm.num_batches_tracked"].item() == 1
    state = held["optimizer"]["state"][0]
    assert state["exp_avg"].shape == (2, 3) and state["step"].item() == 1
    assert held["optimizer"]["param_groups"][0]["betas"] == (0.9, 0.999)
    assert type(held["parameter"]) is nn.Parameter and held["parameter"].requires_grad
    assert held["parameter"].tolist() == held["model"]["linear.weight"].tolist()
    assert type(held["frozen"]) is nn.Parameter and not held["frozen"].requires_grad
    assert held["leaf"].requires_grad and held["tagged"].tolist() == [1.0, 1.0]
    assert held["size"] == (2, 3) and held["dtype"] is ts.bfloat16 and held["device"] == "cpu"
    assert held["counter"] == Counter("aab") and held["nested"] == (4, [5, (6,)], {})
    assert held["plain"] == [
        1,
        -2,
        3.5,
        True,
        None,
        "text é\n",
        10**30,
        1 + 2j,
        b"bytes\xff",
        {1, 2},
    ]
    assert held[7]["keys"] == {(1, 2): "tuple", None: "none", 2.5: "float"}


def test_weights_of_torch_go_into_a_module() -> None:
    state: Any = ts.load(FIGURES / "torch_state.pt")["model"]  # type: ignore[call-overload, index]
    layer = nn.Linear(3, 2)
    layer.load_state_dict({name[7:]: x for name, x in state.items() if name.startswith("linear")})
    assert layer.weight.tolist() == state["linear.weight"].tolist()


def test_old_files_are_refused_with_the_cure() -> None:
    for call in (ts.io.load_pt, ts.load):
        with pytest.raises(ts.errors.FormatError, match="a bare pickle, as PyTorch wrote") as error:
            call(FIGURES / "torch_legacy.pt")
        assert "torch.save(torch.load(path), path)" in error.value.hint


def test_modules_are_refused_by_the_name_of_their_class() -> None:
    with pytest.raises(ts.errors.FormatError) as error:
        ts.load(FIGURES / "torch_module.pt")
    assert error.value.what.startswith("it asks for 'torch.nn.modules.linear.Linear', and loading")
    assert "model.state_dict()" in error.value.hint
    assert "member 'torch_module/data.pkl', byte 2" in error.value.places[0]


# --- what can be made ----------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_every_protocol_gives_the_same_containers(protocol: int) -> None:
    held = [1, 300, -70_000, 2**40, 10**100, -(2**2000), 0.5, "a" * 300, b"b" * 300, (), (1,),
            (1, 2, 3, 4), {"k": [None, True]}, frozenset({3}), {4, 5}, [], "é", 1 + 2j,
            bytearray(b"x")]  # fmt: skip
    assert load(held, protocol=protocol) == held


def test_bytes_of_the_other_order_are_turned() -> None:
    storages = {"0": struct.pack(">4f", 1, 2, 3, 4), "1": struct.pack(">4d", 1, 2, 3, 4)}
    obj = [made.tensor(Storage("FloatStorage", "0", 4), 1, (3,)),
           made.tensor(Storage("ComplexDoubleStorage", "1", 2), 0, (2,))]  # fmt: skip
    x, z = load(obj, storages, byteorder="big")
    assert x.tolist() == [2.0, 3.0, 4.0] and z.tolist() == [1 + 2j, 3 + 4j]


def test_a_storage_alone_is_a_flat_tensor() -> None:
    assert load(Storage("FloatStorage", "0", 4)).tolist() == [1.0, 2.0, 3.0, 4.0]


def test_one_storage_seen_as_several_dtypes_stays_one() -> None:
    obj = [made.tensor(Storage("FloatStorage", "0", 4)), made.tensor(Storage("IntStorage", "0", 4))]
    floats, integers = load(obj)
    floats[0] = 2.0
    assert integers[0].item() == 0x40000000


class Attack:
    """Pickles as a call."""

    def __init__(self, *call: Any) -> None:
        self.call = call

    def __reduce__(self) -> Any:
        return self.call


REFUSED_NAMES = [
    "os.system", "posix.system", "builtins.eval", "__builtin__.exec", "builtins.getattr",
    "subprocess.Popen", "torch.load", "torch.nn.Linear", "numpy.core.multiarray.scalar",
    "torch._utils._rebuild_sparse_tensor", "torch._utils._rebuild_qtensor", "torch.QInt8Storage",
    "collections.defaultdict", "torch.jit._script.RecursiveScriptModule", "builtins.list",
    "tessella.io.pickles.Machine", "torch.float8_e4m3fn",
]  # fmt: skip


@pytest.mark.parametrize("name", REFUSED_NAMES)
def test_other_globals_are_refused_by_name(name: str) -> None:
    for obj in (Named(name), Call(name, "echo"), [{"x": Call(name)}]):
        with pytest.raises(ts.errors.FormatError) as error:
            load(obj)
        assert f"it asks for {name!r}" in error.value.what or "..." in error.value.what


def test_code_does_not_run(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    for protocol in (2, 4, 5):
        data = pickle.dumps(Attack(open, (str(mark), "w")), protocol)
        with pytest.raises(ts.errors.FormatError, match=r"it asks for '_?io\.open'"):
            ts.io.load_pt(io.BytesIO(made.archive(data, {})))
    assert not mark.exists()


F = Storage("FloatStorage", "0", 4)
V3 = "torch._utils._rebuild_tensor_v3"
SIZE = Named("torch.Size")
WRONG: dict[str, tuple[Any, str]] = {
    "beyond": (made.tensor(F, 0, (5,)), "a tensor reaches element 4 of a storage of 4"),
    "offset": (made.tensor(F, 3, (2,)), "a tensor reaches element 4 of a storage of 4"),
    "strides": (made.tensor(F, 0, (2, 2), (4, 1)), "a tensor reaches element 5 of a storage of 4"),
    "negative": (made.tensor(F, -1), "its sizes are none"),
    "stride": (made.tensor(F, 3, (2,), (-1,)), "its sizes are none"),
    "size": (made.tensor(F, 0, (-2,)), "its sizes are none"),
    "float": (made.tensor(F, 0, (2.0,)), "its sizes are none"),
    "list": (made.tensor(F, 0, [2]), "its sizes are none"),
    "huge": (made.tensor(F, 2**64), "its sizes are none"),
    "lengths": (made.tensor(F, 0, (2,), (1, 1)), "another number of strides than of sizes"),
    "axes": (made.tensor(F, 0, (1,) * 65, (1,) * 65), "or more than 64"),
    "product": (made.tensor(F, 0, (2**40, 2**40), (0, 0)), "cannot be"),
    "no storage": (made.tensor(3), "a tensor has no storage"),  # type: ignore[arg-type]
    "marks": (made.tensor(F, 0, (2,), (1,), False, None, 3), "the marks of a tensor are no dict"),
    "mark": (made.tensor(F, 0, (2,), (1,), False, None, {"x": True}), "the mark 'x', which is not"),
    "conj": (made.tensor(F, 0, (2,), (1,), False, None, {"conj": True}), "the mark 'conj', which"),
    "grad": (made.tensor(F, 0, (2,), (1,), 1, None), "a tensor of float32 asks for gradients"),
    "integers": (made.tensor(Storage("IntStorage", "0", 4), 0, (2,), (1,), True, None),
                 "a tensor of int32 asks for gradients"),
    "few": (Call("torch._utils._rebuild_tensor_v2", F), "the arguments of torch._utils._rebuild"),
    "many": (Call("torch._utils._rebuild_tensor_v2", *[F] * 20), "are none that it takes"),
    "v3": (Call(V3, F, 0, (1,), (1,), False, None, Named("torch.int8")), "no storage"),
    "v3 whole": (Call(V3, Storage("UntypedStorage", "odd", 3), 0, (1,), (1,), False, None,
                      Named("torch.uint16")), "are no whole uint16"),
    "missing": (made.tensor(Storage("FloatStorage", "9", 4)), "storage '9' is wrong: the file"),
    "count": (made.tensor(Storage("FloatStorage", "0", 5)), "it has 4 elements, not 5"),
    "whole": (made.tensor(Storage("FloatStorage", "odd", 0)), "its 3 bytes are no whole float32"),
    "bools": (made.tensor(Storage("BoolStorage", "odd", 3)), "element 2 of 'storage odd' is 9"),
    "key": (Storage("FloatStorage", 3, 4), "storage '?' is wrong"),  # type: ignore[arg-type]
    "number": (Storage("FloatStorage", "0", "4"), "storage '?' is wrong"),
    "parameter": (Call("torch._utils._rebuild_parameter", 3, True, None), "no tensor"),
    "type": (Call("torch._tensor._rebuild_from_type_v2", SIZE, SIZE, (), {}),
             "a tensor of another class"),
    "sizes": (Call("torch.Size", [1]), "a torch.Size is no tuple of integers"),
    "device": (Call("torch.device", 3), "a torch.device has no name"),
    "encoding": (Call("_codecs.encode", "a", "rot13"), "in another way than as latin1"),
    "letters": (Call("_codecs.encode", "ж", "latin1"), "the arguments of _codecs.encode are none"),
    "array": (Call("builtins.bytearray", 10**12), "of something else than bytes"),
    "ordered": (Call("collections.OrderedDict", 3), "a container is made of something else"),
    "pairs": (Call("collections.OrderedDict", [[1, 2, 3]]), "are none that it takes"),
    "set": (Call("builtins.set", [[1]]), "the key of a dict or set is no plain value"),
    "complex": (Call("builtins.complex", "1", []), "the arguments of builtins.complex are none"),
    "class": (Call("torch.Tensor"), "it calls what cannot be called"),
    "dict key": ({((1,),): 1}, "the key of a dict or set is no plain value"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_tensors_and_containers_are_refused(name: str) -> None:
    obj, what = WRONG[name]
    with pytest.raises(ts.errors.FormatError) as error:
        load(obj, {**FLOATS, "odd": b"\0\1\x09"})
    assert what in error.value.what and error.value.places and error.value.hint


PICKLES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "it ends in the middle of an opcode"),
    "no stop": (b"\x80\2N", "it ends in the middle of an opcode"),
    "rest": (b"\x80\2N.N", "it ends with something left over"),
    "two": (b"\x80\2NN.", "it ends with something left over"),
    "mark": (b"\x80\2(N.", "it ends with something left over"),
    "none": (b"\x80\2.", "it ends with something left over"),
    "protocol": (b"\x80\x06N.", "its protocol is not one of 2 to 5"),
    "text": (b"S'a'\n.", "opcode b'S' is none that containers and tensors need"),
    "instance": (b"(ios\nsystem\n.", "opcode b'i' is none that containers and tensors need"),
    "new": (b"\x80\2)\x81.", "opcode b'\\x81' is none that containers"),
    "cut": (b"\x80\2X\xff\xff\xff\xffabc", "it ends in the middle of an opcode"),
    "cut wide": (b"\x80\4\x8e" + b"\xff" * 8, "it ends in the middle of an opcode"),
    "utf-8": (b"\x80\2X\1\0\0\0\xff.", "its text is no UTF-8"),
    "name": (b"\x80\2cos", "a name has no end"),
    "pop": (b"\x80\x020.", "it takes a value where there is none"),
    "pop mark": (b"\x80\2N(0.", "it takes a value where there is none"),
    "no mark": (b"\x80\2t.", "it goes back to a mark where there is none"),
    "get": (b"\x80\2h\7.", "it asks for what it has not remembered"),
    "put": (b"\x80\2q\7.", "it takes a value where there is none"),
    "append": (b"\x80\2)Na.", "it appends to what is no list"),
    "items": (b"\x80\2](NNu.", "it sets items of what is no dict"),
    "odd": (b"\x80\2}(NNNu.", "it sets items of what is no dict"),
    "add": (b"\x80\4](N\x90.", "it adds to what is no set"),
    "call": (b"\x80\2N)R.", "it calls what cannot be called"),
    "tuple": (b"\x80\2c__builtin__\nset\n]R.", "it calls with something that is no tuple"),
    "global": (b"\x80\4NN\x93.", "the name of a global is no text"),
    "build": (b"\x80\2]}b.", "it sets the attributes of an object"),
    "persistent": (b"\x80\2NQ.", "storage '?' is wrong: its description is none"),
}  # fmt: skip


@pytest.mark.parametrize("name", PICKLES)
def test_wrong_pickles_are_refused(name: str) -> None:
    data, what = PICKLES[name]
    with pytest.raises(ts.errors.FormatError) as error:
        ts.io.load_pt(io.BytesIO(made.archive(data, {})))
    assert what in error.value.what


def test_small_pickles_cannot_have_much_work_done() -> None:
    """Tuples of tuples whose hash takes forever; sets made again and again; memory by the memo."""
    twice = b"\x80\2)" + b"q\0h\0\x86" * 200 + b"q\0}h\0Ns."
    with pytest.raises(ts.errors.FormatError, match="is no plain value"):
        ts.io.load_pt(io.BytesIO(made.archive(twice, {})))
    items = b"".join(struct.pack("<cH", b"M", i) for i in range(5000))
    again = b"\x80\2c__builtin__\nset\nq\0](" + items + b"eq\1" + b"h\0h\1\x85R" * 20_000 + b"."
    with pytest.raises(ts.errors.FormatError, match="build much more than it holds"):
        ts.io.load_pt(io.BytesIO(made.archive(again, {})))
    places = (
        b"\x80\2N" + b"".join(b"r" + struct.pack("<L", 2**32 - 1 - i) for i in range(99)) + b"."
    )
    assert ts.io.load_pt(io.BytesIO(made.archive(places, {}))) is None


def test_conjugates_are_not_copied_without_end() -> None:
    marks = {"conj": True}
    one = made.tensor(
        Storage("ComplexFloatStorage", "0", 4096), 0, (4096,), (1,), False, None, marks
    )
    storages = {"0": np.ones(4096, np.complex64).tobytes()}
    assert load([one] * 3, storages)[2].size == 4096
    with pytest.raises(ts.errors.FormatError, match="copy much more than the file holds"):
        load([one] * 200, storages)


def test_other_archives_and_files_are_no_torch_files() -> None:
    file = io.BytesIO()
    ts.io.save_npz({"x": ts.ones(1)}, file)
    for data in (file.getvalue(), b"", b"hello", b"\x93NUMPY"):
        with pytest.raises(ts.errors.FormatError, match=r"it is no file of torch\.save"):
            ts.io.load_pt(io.BytesIO(data))
