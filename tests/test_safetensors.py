"""safetensors files: what is written comes back, the safetensors package agrees, maps stay safe."""

from __future__ import annotations

import gc
import io
import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from hypothesis import given, strategies as st

import tessella as ts
from nested import listed
from tessella import nn
from tessella.dtypes import DTYPES, DType
from tessella.io import streams

FIGURES = Path(__file__).parent / "figures"
NAMES = [
    "",
    "w",
    "layer.0.weight",
    'quo"te\\',
    "tab\tline\n",
    "ключ",
    "🦆",
    "a" * 3000,
    "\x00",
    " ",
]


def of_dtype(dtype: DType) -> ts.Tensor:
    """Give a (3, 2) tensor of a dtype."""
    return ts.tensor([[0, 1], [1, 0], [0, 1]]).astype(dtype)


def same(x: ts.Tensor, y: ts.Tensor) -> bool:
    """Tell whether two tensors have the same dtype, shape and bits."""
    raw = [b"".join(map(bytes, streams.blocks(each.detach()))) for each in (x, y)]
    return x.dtype is y.dtype and x.shape == y.shape and raw[0] == raw[1]


def header_of(path: Path) -> Any:
    """Give the header of a file as JSON reads it."""
    data = path.read_bytes()
    return json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.safetensors"


# --- what is written comes back ------------------------------------------------------------------


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_and_layout_comes_back(dtype: DType, mmap: bool, path: Path) -> None:
    x = of_dtype(dtype)
    views = {"x": x, "t": x.T, "back": x[::-2], "none": x[:0], "0-d": x[0, 1],
             "wide": x[1].broadcast_to(2, 2), "part": x[1:, 1:], "4": x[:, :0, None]}  # fmt: skip
    ts.io.save_file(views, path)
    back = ts.io.load_file(path, mmap=mmap)
    assert list(back) == list(views)
    for name, view in views.items():
        assert same(back[name], view) and back[name].is_contiguous, name
        assert back[name].is_readonly == (mmap and view.size > 0)


def test_names_and_texts_may_be_any_text(path: Path) -> None:
    tensors = {name: ts.tensor([i]) for i, name in enumerate(NAMES)}
    texts = {name: name * 2 for name in NAMES}
    ts.io.save_file(tensors, path, metadata=texts)
    assert {name: x.item() for name, x in ts.io.load_file(path).items()} == {
        name: i for i, name in enumerate(NAMES)
    }
    with ts.io.open_file(path) as file:
        assert file.metadata() == texts and file.keys() == NAMES
    with safetensors.safe_open(path, framework="np") as other:
        assert set(other.keys()) == set(NAMES) and other.metadata() == texts


def test_a_file_may_hold_nothing(path: Path) -> None:
    ts.io.save_file({}, path)
    assert ts.io.load_file(path) == {} and safetensors.numpy.load_file(path) == {}


def test_the_same_tensors_give_the_same_bytes(tmp_path: Path) -> None:
    tensors = {"a": ts.arange(5), "b": ts.ones(3, dtype=ts.bfloat16), "c": ts.tensor(True)}
    for name in ("one", "two"):
        ts.io.save_file(tensors, tmp_path / name, {"k": "v"})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_tensors_are_aligned_whatever_their_order(path: Path) -> None:
    tensors = {str(dtype): of_dtype(dtype)[:1, :1] for dtype in DTYPES}  # odd numbers of bytes
    ts.io.save_file(tensors, path)
    for name, x in ts.io.load_file(path).items():
        assert x.data_ptr % x.itemsize == 0 or x.dtype.is_complex, name


@given(st.lists(st.sampled_from([1, 2, 3, 7]), max_size=4), st.randoms(use_true_random=False))
def test_strided_tensors_are_written_row_major_in_blocks(shape: list[int], random: Any) -> None:
    axes = list(range(len(shape)))
    random.shuffle(axes)
    x = ts.arange(int(np.prod(shape)), dtype=ts.float64).reshape(shape)
    view = x.permute(tuple(axes)) if axes else x
    view = view[tuple(slice(None, None, random.choice([1, 2, -1])) for _ in axes)]
    block, streams.BLOCK = streams.BLOCK, random.choice([8, 16, 40, 1 << 22])
    try:
        raw = b"".join(map(bytes, streams.blocks(view)))
    finally:
        streams.BLOCK = block
    assert raw == view.numpy().tobytes()


def test_a_save_needs_little_memory_beside_the_tensors(path: Path) -> None:
    x = ts.zeros(3000, 4000).T  # 48 MB that must be put in order
    with ts.memory.track() as m:
        ts.io.save_file({"x": x, "again": x[::2]}, path)
    assert m.peak <= 2 * streams.BLOCK and m.live == 0


def test_gradients_are_not_written_and_do_not_matter(path: Path) -> None:
    x = ts.ones(3, requires_grad=True)
    ts.io.save_file({"leaf": x, "result": x * 2, "parameter": nn.Parameter(ts.ones(2))}, path)
    back = ts.io.load_file(path)
    assert back["result"].tolist() == [2.0] * 3
    assert not any(x.requires_grad for x in back.values())


def test_binary_files_are_written_and_read() -> None:
    file = io.BytesIO()
    ts.io.save_file({"x": ts.arange(3)}, file)
    file.seek(0)
    back = ts.io.load_file(file)["x"]
    assert back.tolist() == [0, 1, 2] and not back.is_readonly


def test_users_dtypes_come_back_where_they_are_registered(path: Path) -> None:
    name = "file_color"
    color = ts.dtypes.register(name, fmt="<BBB")
    x = ts.tensor([[(1, 2, 3), (4, 5, 6)]], dtype=color)
    ts.io.save_file({"x": x, "one": x[0, 1]}, path)
    back = ts.io.load_file(path)
    assert back["x"].tolist() == x.tolist() and back["one"].item() == (4, 5, 6)  # type: ignore[comparison-overlap]
    assert safetensors.numpy.load_file(path)["x"].tolist() == [[[1, 2, 3], [4, 5, 6]]]
    data = path.read_bytes().replace(b"file_color", b"file_colon")
    with pytest.raises(ts.errors.FormatError, match="'file_colon', which is not registered") as e:
        ts.io.load_file(io.BytesIO(data))
    assert e.value.hint == "first: ts.dtypes.register('file_colon', fmt='<BBB')"
    data = path.read_bytes().replace(b"<BBB", b"<BBb")
    with pytest.raises(ts.errors.FormatError, match="is registered with another format"):
        ts.io.load_file(io.BytesIO(data))


# --- tied tensors --------------------------------------------------------------------------------


def test_tied_tensors_are_written_once_and_stay_tied(path: Path) -> None:
    x = ts.arange(1000)
    ts.io.save_file({"a": x, "b": x, "c": x.detach(), "part": x[1:], "copy": x.clone()}, path)
    assert len(path.read_bytes()) < 3 * 8000 + 1000
    back = ts.io.load_file(path)
    assert back["a"] is back["b"] is back["c"] and back["copy"] is not back["a"]
    assert listed(back["part"]) == listed(x)[1:]
    with ts.io.open_file(path) as file:
        assert file.get_tensor("b") is file.get_tensor("a")
    # The package reads each of them that is written.
    assert set(safetensors.numpy.load_file(path)) == {"a", "part", "copy"}


def test_tied_weights_of_a_module_come_back_tied(path: Path) -> None:
    def network() -> nn.Sequential:
        model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
        model[1].weight = model[0].weight
        return model

    first, other = network(), network()
    ts.io.save_file(first.state_dict(), path)
    assert header_of(path)["__metadata__"] == {"tessella": '{"tied":{"1.weight":"0.weight"}}'}
    other.load_state_dict(ts.io.load_file(path))
    assert other[1].weight is other[0].weight
    assert other[0].weight.tolist() == first[0].weight.tolist()


def test_tensors_without_elements_are_not_tied(path: Path) -> None:
    x = ts.zeros(0)
    ts.io.save_file({"a": x, "b": x}, path)
    assert "__metadata__" not in header_of(path) and len(ts.io.load_file(path)) == 2


# --- the safetensors package ---------------------------------------------------------------------


NUMPY_DTYPES = [dtype for dtype in DTYPES if dtype.name not in ("bfloat16", "complex128")]


@pytest.mark.parametrize("dtype", NUMPY_DTYPES, ids=str)
def test_the_package_reads_what_we_write(dtype: DType, path: Path) -> None:
    x = of_dtype(dtype)
    tensors = {"x": x, "t": x.T, "0-d": x[0, 0], "none": x[:0]}
    ts.io.save_file(tensors, path)
    back = safetensors.numpy.load_file(path)
    for name, each in tensors.items():
        assert back[name].dtype == each.numpy().dtype
        assert np.array_equal(back[name], each.numpy())


def test_the_package_reads_what_it_has_no_numbers_for(path: Path) -> None:
    wide = ts.tensor([1 + 2j, 3j], dtype=ts.complex128)
    ts.io.save_file({"b": ts.tensor([1.5, -2.0], dtype=ts.bfloat16), "z": wide}, path)
    with safetensors.safe_open(path, framework="np") as file:
        assert file.get_slice("b").get_dtype() == "BF16"
        assert file.get_tensor("z").tolist() == [[1.0, 2.0], [0.0, 3.0]]


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize("dtype", NUMPY_DTYPES, ids=str)
def test_we_read_what_the_package_writes(dtype: DType, mmap: bool, path: Path) -> None:
    x = of_dtype(dtype)
    safetensors.numpy.save_file({"x": x.numpy(), "one": x.numpy()[:1, 0]}, path, {"k": "v"})
    back = ts.io.load_file(path, mmap=mmap)
    assert same(back["x"], x) and same(back["one"], x[:1, 0])
    with ts.io.open_file(path) as file:
        assert file.metadata() == {"k": "v"}


def test_files_of_torch_are_read_bit_by_bit() -> None:
    figures = json.loads((FIGURES / "torch_files.json").read_text())["dtypes"]
    back = ts.io.load_file(FIGURES / "torch_dtypes.safetensors")
    assert set(back) == set(figures) - {"complex128"}
    for name, x in back.items():
        assert x.dtype.name == name and list(x.shape) == figures[name]["shape"]
        assert b"".join(map(bytes, streams.blocks(x))).hex() == figures[name]["bytes"]


def test_a_network_of_torch_computes_what_it_computed_there() -> None:
    held = ts.io.load_file(FIGURES / "torch_network.safetensors")
    model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3))
    model.load_state_dict({name[6:]: x for name, x in held.items() if name.startswith("model.")})
    out = model(held["x"])
    ts.testing.assert_close(out, held["out"])
    (out * out).mean().backward()
    for name, weight in model.named_parameters():
        ts.testing.assert_close(weight.grad, held[f"grad.{name}"])


def test_dtypes_that_we_lack_leave_the_other_tensors_readable() -> None:
    path = FIGURES / "torch_float8.safetensors"
    with pytest.raises(ts.errors.FormatError, match="'small' is F8_E4M3, which Tessella") as error:
        ts.io.load_file(path)
    assert "io.open_file gives the other tensors" in error.value.hint
    with ts.io.open_file(path) as file:
        assert file.get_tensor("usual").tolist() == [1.0, 1.0]


def test_badly_aligned_tensors_are_copied(path: Path) -> None:
    head = b'{"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
    head += b'"x":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}}'
    numbers = np.array([1.5, -2.0], np.float32)
    path.write_bytes(len(head).to_bytes(8, "little") + head + b"\7" + numbers.tobytes())
    for mmap in (True, False):
        back = ts.io.load_file(path, mmap=mmap)
        assert back["x"].tolist() == [1.5, -2.0] and back["b"].item() == 7


# --- mapped files --------------------------------------------------------------------------------


def test_mapped_tensors_are_listed_as_memory_of_others(path: Path, live: int) -> None:
    ts.io.save_file({"x": ts.zeros(250_000), "y": ts.zeros(1000)}, path)
    before = ts.memory.stats()
    held = ts.io.load_file(path)
    after = ts.memory.stats()
    assert after.foreign - before.foreign == 1_004_000 and after.live == before.live
    del held
    gc.collect()
    assert ts.memory.stats().foreign == before.foreign


def test_mapped_tensors_refuse_writes_and_say_the_cure(path: Path) -> None:
    ts.io.save_file({"x": ts.zeros(2)}, path)
    x = ts.io.load_file(path)["x"]
    with pytest.raises(ts.errors.InvalidArgument, match="x is read-only") as error:
        x += 1
    assert error.value.hint == "write to a copy: x.clone()"
    own = ts.io.load_file(path, mmap=False)["x"]
    own += 1
    assert own.tolist() == [1.0, 1.0] and ts.io.load_file(path)["x"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("size", [3, 100_000])
def test_a_save_over_a_mapped_file_leaves_its_tensors_as_they_were(size: int, path: Path) -> None:
    ts.io.save_file({"x": ts.ones(size), "y": ts.ones(2)}, path)
    held = ts.io.load_file(path)
    part = ts.io.open_file(path).get_slice("x")
    ts.io.save_file({"x": ts.zeros(2 * size)}, path)
    ts.io.save_file({name: x * 2 for name, x in held.items()}, path)  # of itself, too
    assert held["x"].sum().item() == size and held["y"].tolist() == [1.0, 1.0]
    assert part[1:3].tolist() == [1.0, 1.0]
    assert ts.io.load_file(path)["x"].sum().item() == 2 * size
    os.unlink(path)
    assert held["x"].sum().item() == size


def test_a_mapped_file_can_be_saved_over_with_its_own_tensors(path: Path) -> None:
    ts.io.save_file({"x": ts.arange(100_000)}, path)
    for _ in range(3):
        ts.io.save_file(ts.io.load_file(path), path)
    assert ts.io.load_file(path)["x"].tolist() == list(range(100_000))


def test_single_tensors_and_slices_are_taken_out_of_an_open_file(path: Path) -> None:
    x = ts.arange(24).reshape(4, 6)
    ts.io.save_file({"x": x, "y": ts.ones(3)}, path)
    with ts.io.open_file(path) as file:
        part = file.get_slice("x")
        assert part.get_shape() == (4, 6) and part.get_dtype() is ts.int64
        for key in (1, slice(1, 3), (slice(None), 2), (..., slice(None, None, 2)), [0, 2]):
            assert part[key].tolist() == x[key].tolist()
        kept = file.get_tensor("y")
        with pytest.raises(ts.errors.InvalidArgument, match="there is no tensor 'z'") as e:
            file.get_tensor("z")
        assert e.value.hint == "the file has 'x', 'y'" and e.value.places == [str(path)]
    assert kept.tolist() == [1.0] * 3
    with pytest.raises(ts.errors.IllegalState, match="the file is closed"):
        file.get_tensor("y")


def test_nothing_of_a_large_file_is_read_before_it_is_used(path: Path) -> None:
    head = b'{"x":{"dtype":"F32","shape":[250000000000],"data_offsets":[0,1000000000000]}}'
    head += b" " * (-len(head) % 8)
    with open(path, "wb") as file:  # a hole of a terabyte
        file.write(len(head).to_bytes(8, "little") + head)
        file.truncate(8 + len(head) + 10**12)
    with ts.io.open_file(path) as opened:
        assert opened.get_slice("x")[10**11 : 10**11 + 2].tolist() == [0.0, 0.0]


# --- rights, links, threads ----------------------------------------------------------------------


def test_the_rights_of_a_file_are_kept_and_new_files_follow_the_umask(path: Path) -> None:
    before = os.umask(0o027)
    try:
        ts.io.save_file({}, path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        ts.io.save_file({"x": ts.ones(1)}, path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(before)


def test_a_link_stays_and_what_it_names_is_replaced(path: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "real"
    path.symlink_to(target)
    for value in (1, 2):
        ts.io.save_file({"x": ts.tensor(value)}, path)
    assert path.is_symlink() and ts.io.load_file(target)["x"].item() == 2


def test_names_of_files_may_be_long_and_any_bytes(tmp_path: Path) -> None:
    for name in (b"a" * 255, b"\xff\xfe", "д" * 127):
        file = os.path.join(
            os.fsencode(tmp_path), name if isinstance(name, bytes) else name.encode()
        )
        path = os.fsdecode(file)
        ts.io.save_file({"x": ts.ones(1)}, path)
        assert ts.io.load_file(path)["x"].item() == 1
    assert len(os.listdir(tmp_path)) == 3


def test_threads_save_and_load_one_file(path: Path) -> None:
    ts.io.save_file({"a": ts.full((5000,), 0), "b": ts.full((5000,), 0)}, path)
    wrong: list[object] = []

    def work(number: int) -> None:
        try:
            for i in range(20):
                value = 100 * number + i
                ts.io.save_file({"a": ts.full((5000,), value), "b": ts.full((5000,), value)}, path)
                held = ts.io.load_file(path, mmap=i % 2 == 0)
                if not bool((held["a"] == held["b"]).all()):
                    wrong.append(value)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and [p.name for p in path.parent.iterdir()] == [path.name]
