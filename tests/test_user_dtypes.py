"""Dtypes that users register: the registry, and tensors of items against plain lists."""

from __future__ import annotations

import copy
import math
import pickle
import random
import struct
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import tessella as ts
from conftest import SEED
from nested import listed
from tessella import _core
from tessella.dtypes import DTYPES, UserDType

RGB = ts.dtypes.register("test_rgb", fmt="BBB")
SPOT = ts.dtypes.register("test_spot", fmt="<if")
NUMPYS: Any = np.dtype("V3")  # called void24


def formats() -> list[str]:
    """Give formats of every letter and byte order, and some that the seed draws."""
    rng = random.Random(SEED)
    letters = "bBhHiIlLqQ?efdcspx"
    fixed = ["@bd", ">qH", "=2h3e", "nNP", "?", "c5s4p2x", "x" * 4095 + "b"]
    drawn = [
        rng.choice(["", "@", "=", "<", ">", "!"])
        + "".join(f"{rng.randint(1, 4)}{letter}" for letter in rng.choices(letters, k=3))
        for _ in range(4)
    ]
    return fixed + drawn


MADE = [ts.dtypes.register(f"test_{i}", fmt) for i, fmt in enumerate(formats())]


def items(dtype: UserDType) -> st.SearchStrategy[tuple[Any, ...]]:
    """Draw items whose fields come back as they went in: those that bytes hold."""
    size = dtype.itemsize
    data = st.binary(min_size=1, max_size=24).map(lambda raw: (raw * size)[:size])
    # Packed once more, so that bytes of padding are 0 and bools 1.
    return data.map(lambda raw: dtype.unpack(dtype.pack(dtype.unpack(raw))))


def same(x: Any, y: Any) -> bool:
    """Compare nested lists of items; NaN equals NaN."""
    if isinstance(x, list | tuple):
        return len(x) == len(y) and all(map(same, x, y))
    return bool(x == y) or (x != x and y != y)


# --- the registry --------------------------------------------------------------------------------


def test_a_dtype_is_found_by_name_and_by_number() -> None:
    assert ts.dtypes.find("test_rgb") is RGB is ts.dtypes.by_id(RGB.id)
    assert RGB.id >= len(DTYPES) and (RGB.name, RGB.format, RGB.itemsize) == ("test_rgb", "BBB", 3)
    assert repr(RGB) == "test_rgb" and RGB.kind == "user" and ts.isdtype(RGB, "user")
    assert not ts.isdtype(RGB, "numeric") and not RGB.is_floating and not RGB.is_integer
    for dtype in DTYPES:
        assert ts.dtypes.find(dtype.name) is dtype is ts.dtypes.by_id(dtype.id)
    assert ts.empty(2, dtype="test_rgb").dtype is RGB
    assert ts.zeros(2, dtype=RGB).to("test_rgb").dtype is RGB
    assert ts.result_type(RGB, ts.zeros(1, dtype=RGB)) is RGB
    assert ts.can_cast(RGB, RGB) and not ts.can_cast(RGB, ts.float32)
    assert "test_rgb" not in ts.__array_namespace_info__().dtypes()


ERRORS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "taken": (lambda: ts.dtypes.register("test_rgb", fmt="BBB"), ts.errors.InvalidArgument,
              "register: the name 'test_rgb' is taken: registered with the format 'BBB'"),
    "built in": (lambda: ts.dtypes.register("float32", fmt="f"), ts.errors.InvalidArgument,
                 "register: the name 'float32' is taken: a built-in dtype"),
    "no name": (lambda: ts.dtypes.register("a b", fmt="f"), ts.errors.InvalidArgument,
                "register: 'a b' cannot be the name of a dtype"),
    "number": (lambda: ts.dtypes.register(3, fmt="f"), ts.errors.InvalidArgument,  # type: ignore[arg-type]
               "register: 3 cannot be the name of a dtype"),
    "format": (lambda: ts.dtypes.register("bad", fmt="BZ"), ts.errors.InvalidArgument,
               "register: 'BZ' is no format of struct: bad char in struct format"),
    "object": (lambda: ts.dtypes.register("bad", fmt="O"), ts.errors.InvalidArgument,
               "register: 'O' is no format of struct"),
    "size of no order": (lambda: ts.dtypes.register("bad", fmt="<n"), ts.errors.InvalidArgument,
                         "register: '<n' is no format of struct"),
    "no text": (lambda: ts.dtypes.register("bad", fmt=b"B"), ts.errors.ArgumentError,  # type: ignore[arg-type]
                "register: fmt must be a format of the module struct, got bytes"),
    "surrogate": (lambda: ts.dtypes.register("bad", fmt="\ud800"), ts.errors.InvalidArgument,
                  "is no format of struct"),
    "nothing": (lambda: ts.dtypes.register("bad", fmt=""), ts.errors.InvalidArgument,
                "register: items of '' have 0 bytes"),
    "large": (lambda: ts.dtypes.register("bad", fmt="4097x"), ts.errors.InvalidArgument,
              "register: items of '4097x' have 4097 bytes"),
    "huge": (lambda: ts.dtypes.register("bad", fmt="9" * 30 + "B"), ts.errors.InvalidArgument,
             "is no format of struct"),
    "unknown": (lambda: ts.dtypes.find("bad"), ts.errors.ArgumentError,
                "find: no dtype is called 'bad'\n.*\n  hint: ts.dtypes.register.* registered: "),
    "unknown dtype": (lambda: ts.zeros(2, dtype="bad"), ts.errors.ArgumentError,
                      "zeros: dtype must be a Tessella dtype, got 'bad'"),
    "no number": (lambda: ts.dtypes.by_id(1000), ts.errors.ArgumentError,
                  "by_id: no dtype has the number 1000"),
    "negative": (lambda: ts.dtypes.by_id(-1), ts.errors.ArgumentError,
                 "by_id: no dtype has the number -1"),
    "numpy's": (lambda: ts.zeros(2, dtype=NUMPYS), ts.errors.ArgumentError,
                "zeros: dtype must be a Tessella dtype"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_the_registry_says_what_is_wrong(name: str) -> None:
    call, kind, text = ERRORS[name]
    before = ts.dtypes.free_slots()
    with pytest.raises(kind, match=text):
        call()
    assert ts.dtypes.free_slots() == before


def run_alone(code: str, *args: str) -> str:
    """Run a program in a process of its own, whose registry is empty."""
    command = [sys.executable, "-c", f"import pickle, sys, tessella as ts\n{code}", *args]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_slots_are_counted_and_run_out() -> None:
    code = """
count = ts.dtypes.free_slots()
for i in range(count):
    assert ts.dtypes.free_slots() == count - i
    dtype = ts.dtypes.register(f"d{i}", fmt=f"{i + 1}s")
    assert ts.zeros(2, dtype=dtype).item(1) == (bytes(i + 1),)
assert ts.dtypes.free_slots() == 0
try:
    ts.dtypes.register("more", fmt="B")
except MemoryError as error:
    print(count, type(error).__name__, error)
assert ts.dtypes.by_id(15 + 63) is ts.dtypes.find("d63")
"""
    printed = run_alone(code)
    assert printed.startswith("64 CapacityOverflow register: no slot is left: 64 dtypes are regis")


def test_threads_register_a_name_once() -> None:
    def attempt(_: int) -> bool:
        try:
            return ts.dtypes.register("test_contested", fmt="B").name == "test_contested"
        except ts.errors.InvalidArgument:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(64))) == 1


def test_names_of_other_libraries_are_not_those_of_users() -> None:
    dtype = ts.dtypes.register("void24", fmt="BBB")
    assert ts.zeros(1, dtype="void24").dtype is dtype
    with pytest.raises(ts.errors.ArgumentError):
        ts.zeros(1, dtype=NUMPYS)


# --- against lists -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", MADE, ids=lambda dtype: dtype.format[:12])
@settings(max_examples=settings().max_examples // 3)
@given(data=st.data())
def test_items_are_those_of_a_list(dtype: UserDType, data: st.DataObject) -> None:
    one = items(dtype)
    want = data.draw(st.lists(one, min_size=1, max_size=9))
    x = ts.tensor(want, dtype=dtype)
    assert x.dtype is dtype and x.shape == (len(want),) and x.itemsize == dtype.itemsize
    assert same(x.tolist(), want) and same([each.item() for each in x], want)
    assert same([x.at(i) for i in range(-len(want), 0)], want)

    i, new = data.draw(st.integers(-len(want), len(want) - 1)), data.draw(one)
    x[i] = want[i] = new
    assert same(x.tolist(), want)
    key = slice(*data.draw(st.tuples(*[st.none() | st.integers(-9, 9).filter(bool)] * 3)))
    assert same(x[key].tolist(), want[key])
    places = data.draw(st.lists(st.integers(-len(want), len(want) - 1), max_size=6))
    assert same(x[places].tolist(), [want[i] for i in places])
    mask = data.draw(st.lists(st.booleans(), min_size=len(want), max_size=len(want)))
    assert same(
        x[ts.tensor(mask)].tolist(), [v for v, chosen in zip(want, mask, strict=True) if chosen]
    )
    assert same(ts.concat([x, x[key]]).tolist(), want + want[key])
    turned = zip(want, want[::-1], mask, strict=True)
    chosen = [v if is_chosen else w for v, w, is_chosen in turned]
    assert same(ts.where(ts.tensor(mask), x, x.flip()).tolist(), chosen)

    x[places] = new
    x[key] = [new] * len(want[key])
    for i in (*places, *range(len(want))[key]):
        want[i] = new
    assert same(x.tolist(), want)
    x[ts.tensor(mask)] = x.flip()[ts.tensor(mask)]
    want = [w if m else v for v, w, m in zip(want, want[::-1], mask, strict=True)]
    assert same(x.tolist(), want)
    bytes_of = [dtype.pack(v) for v in want]
    assert (x == new).tolist() == [v == dtype.pack(new) for v in bytes_of]
    assert (x != x.flip()).tolist() == [
        v != w for v, w in zip(bytes_of, bytes_of[::-1], strict=True)
    ]
    for clone in (pickle.loads(pickle.dumps(x[key])), copy.deepcopy(x[key]), x[key].clone()):
        assert clone.dtype is dtype and same(clone.tolist(), want[key])


@pytest.mark.parametrize("dtype", [RGB, SPOT, *MADE[:3]], ids=lambda dtype: dtype.format)
def test_large_tensors_are_moved_by_threads(dtype: UserDType) -> None:
    rng = np.random.default_rng(SEED % 1000)
    raw = rng.integers(0, 2, (300, 400, dtype.itemsize), dtype=np.uint8)
    x = ts.tensor(raw).view(dtype).squeeze(-1)
    assert x.shape == (300, 400)

    def bytes_of(x: ts.Tensor) -> Any:
        return x.contiguous().unsqueeze(-1).view(ts.uint8).numpy()

    assert (bytes_of(x.T) == raw.transpose(1, 0, 2)).all()
    assert (bytes_of(x[::-2, 3::3].T) == raw[::-2, 3::3].transpose(1, 0, 2)).all()
    order = rng.permutation(300)
    assert (bytes_of(x[ts.tensor(order)]) == raw[order]).all()
    assert (bytes_of(x.T[:, ts.tensor(order)]) == raw.transpose(1, 0, 2)[:, order]).all()
    chosen = raw[:, :, 0] == 1
    assert (bytes_of(x[ts.tensor(chosen)]) == raw[chosen]).all()
    y = ts.zeros(300, 400, dtype=dtype)
    y[ts.tensor(order)] = x
    assert (bytes_of(y)[order] == raw).all()
    assert (bytes_of(y.copy_(x.flip())) == raw[::-1, ::-1]).all()
    assert (bytes_of(ts.concat([x, x.flip(0)], axis=1)[:, 400:]) == raw[::-1]).all()
    assert ts.array_equal(x, x.clone()) and not ts.array_equal(x, x.flip())


# --- making, reading, writing --------------------------------------------------------------------


def test_lists_are_axes_and_tuples_are_items() -> None:
    x = ts.tensor([[(1, 2, 3), (4, 5, 6)]], dtype=RGB)
    assert x.shape == (1, 2) and x.tolist() == [[(1, 2, 3), (4, 5, 6)]]
    assert ts.tensor((1, 2, 3), dtype=RGB).shape == () and ts.tensor([], dtype=RGB).shape == (0,)
    assert ts.asarray([(1, 2, 3)], dtype=RGB).tolist() == [(1, 2, 3)]
    assert ts.tensor([x[0], x[0]]).tolist() == ts.tensor([x[0], x[0]], dtype=RGB).tolist()
    assert ts.from_data([(1, 2, 3)] * 4, (2, 2), dtype=RGB).shape == (2, 2)
    with pytest.raises(ts.errors.ShapeError, match="nested lists differ in length"):
        ts.tensor([[(1, 2, 3)], []], dtype=RGB)
    with pytest.raises(ts.errors.DTypeMismatch, match=r"tensor: \[\] is no item of test_rgb"):
        ts.tensor([(1, 2, 3), []], dtype=RGB)


def test_constants_of_items() -> None:
    assert ts.zeros(2, dtype=SPOT).tolist() == [(0, 0.0)] * 2
    assert ts.full((2,), (1, 2, 3), dtype="test_rgb").tolist() == [(1, 2, 3)] * 2
    x = ts.full((2, 2), (7, 0.5), dtype=SPOT)
    assert ts.zeros_like(x).tolist() == [[(0, 0.0)] * 2] * 2
    assert ts.full_like(x, (1, 2)).tolist() == [[(1, 2.0)] * 2] * 2
    assert x.new_zeros(1).dtype is SPOT and ts.empty_like(x).dtype is SPOT
    assert x.new_full((1,), (3, 1)).tolist() == [(3, 1.0)]
    assert x.new_tensor([(4, 4)]).tolist() == [(4, 4.0)]
    assert listed(x.T.fill_((5, 5))) == [[(5, 5.0)] * 2] * 2 and listed(x.zero_())[0][0] == (0, 0)
    assert ts.full((1,), x[0, 0].item(), dtype=SPOT).tolist() == [(0, 0.0)]


def test_a_single_field_is_a_tuple_too() -> None:
    dtype = ts.dtypes.register("test_single", fmt="d")
    x = ts.tensor([(1.5,), (2.5,)], dtype=dtype)
    assert x.item(0) == (1.5,) and (2.5,) in x and (3.5,) not in x  # type: ignore[comparison-overlap]
    with pytest.raises(ts.errors.DTypeMismatch, match=r"setitem: 1\.5 is no item of test_single"):
        x[0] = 1.5


def test_an_item_is_assigned_by_the_fast_path() -> None:
    x = ts.zeros(2, 3, dtype=SPOT)
    fast, declined = _core.fast_path_counts()
    x[1] = (7, 0.5)
    x[0, ::2] = (8, 1.5)
    x[x == (0, 0.0)] = (9, 2.5)
    x[ts.tensor([1]), ts.tensor([2])] = (6, 3.5)
    now = _core.fast_path_counts()
    assert x.tolist() == [[(8, 1.5), (9, 2.5), (8, 1.5)], [(7, 0.5), (7, 0.5), (6, 3.5)]]
    assert now[0] >= fast + 4 and now[1] == declined
    with pytest.raises(KeyboardInterrupt):
        x[0] = (Interrupting(), 1.0)
    assert x.item(0) == (8, 1.5)  # type: ignore[comparison-overlap]


class Interrupting:
    """A field that Ctrl-C interrupts."""

    def __index__(self) -> int:
        raise KeyboardInterrupt


def test_items_lie_as_struct_packs_them() -> None:
    for fmt in ("@bi", "=bi", ">bi", "@bi0q"):
        dtype = ts.dtypes.register(f"test_order_{len(fmt)}_{ord(fmt[0])}", fmt=fmt)
        x = ts.tensor([(1, 2), (3, 4)], dtype=dtype)
        data = struct.pack(fmt, 1, 2) + struct.pack(fmt, 3, 4)
        assert bytes(memoryview(x.view(ts.uint8))) == data


def test_bytes_are_seen_as_items_and_back() -> None:
    x = ts.tensor([[(1, 2, 3), (4, 5, 6)]] * 2, dtype=RGB)
    raw = x.view(ts.uint8)
    assert (
        raw.shape == (2, 6) and raw.data_ptr == x.data_ptr and raw[0].tolist() == [1, 2, 3, 4, 5, 6]
    )
    raw[1, 3] = 9
    assert listed(x)[1] == [(1, 2, 3), (9, 5, 6)] and listed(raw.view(RGB)) == listed(x)
    assert x.view(ts.uint16).shape == (2, 3) and x.view(ts.uint16).view("test_rgb").shape == (2, 2)
    with pytest.raises(ts.errors.ShapeError, match="the last axis does not divide"):
        x[:, :1].view(ts.uint16)
    with pytest.raises(ts.errors.ShapeError, match="do not lie side by side"):
        x.T.view(ts.uint8)
    with pytest.raises(ts.errors.ShapeError, match="do not lie side by side"):
        ts.zeros(7, dtype=ts.uint8)[1:].view(RGB)
    assert ts.zeros(6, dtype=ts.uint8)[3:].view(RGB).offset == 1
    array = np.arange(12, dtype=np.uint8)[1:10]
    assert ts.from_numpy(array).view(RGB).tolist() == [(1, 2, 3), (4, 5, 6), (7, 8, 9)]


def test_items_are_equal_if_their_bytes_are() -> None:
    x = ts.tensor([(1, math.nan), (2, 0.0), (3, 1.0)], dtype=SPOT)
    assert (x == x).tolist() == [True] * 3 and (x == (2, -0.0)).tolist() == [False] * 3
    assert (x == x[2]).tolist() == [False, False, True] == (x == (3, 1.0)).tolist()
    assert ts.array_equal(x, x.clone()) and (x[:, None] == x).shape == (3, 3)
    assert (x != (3, 1.0)).tolist() == [True, True, False]
    assert (x == "text") is False and (x == None) is False  # noqa: E711


def test_items_are_printed() -> None:
    assert repr(ts.tensor([(1, 2, 3), (40, 5, 6)], dtype=RGB)) == (
        "tensor test_rgb (2,) [ (1, 2, 3), (40, 5, 6)]"
    )
    assert "..." in repr(ts.zeros(2000, dtype=RGB)) and repr(ts.zeros((), dtype=RGB))
    assert repr(ts.zeros(0, dtype=RGB)) == "tensor test_rgb (0,) []"


MISUSES: dict[str, tuple[Callable[[ts.Tensor], Any], type[Exception], str]] = {
    "add": (lambda x: x + x, ts.errors.DTypeMismatch,
            "add: not defined for test_rgb, a user dtype\n    x  test_rgb \\(2,\\)"),
    "number": (lambda x: 1 - x, ts.errors.DTypeMismatch, "sub: not defined for test_rgb"),
    "mixed": (lambda x: x * ts.ones(2), ts.errors.DTypeMismatch, "mul: not defined for test_rgb"),
    "function": (lambda x: ts.sin(x), ts.errors.DTypeMismatch,
                 "hint: its items can be moved, indexed and compared with ==; x.view"),
    "in place": (lambda x: x.add_(1), ts.errors.DTypeMismatch, "add_: not defined for test_rgb"),
    "out": (lambda x: ts.add(ts.ones(2), 1, out=x), ts.errors.DTypeMismatch,
            "add: float32 and test_rgb are not converted"),
    "order": (lambda x: x < x, ts.errors.DTypeMismatch, "less: not defined for test_rgb"),
    "sort": (lambda x: ts.sort(x), ts.errors.DTypeMismatch, "sort: not defined for test_rgb"),
    "sum": (lambda x: x.sum(), ts.errors.DTypeMismatch, "sum: not defined for test_rgb"),
    "product": (lambda x: x @ x, ts.errors.DTypeMismatch, "matmul: not defined for test_rgb"),
    "cast": (lambda x: x.astype(ts.float32), ts.errors.DTypeMismatch,
             "astype: test_rgb and float32 are not converted into one another"),
    "cast to": (lambda x: ts.ones(2).astype(RGB), ts.errors.DTypeMismatch,
                "astype: float32 and test_rgb are not converted into one another"),
    "to another": (lambda x: x.astype(SPOT), ts.errors.DTypeMismatch, "test_rgb and test_spot"),
    "copy": (lambda x: x.copy_(ts.zeros(2)), ts.errors.DTypeMismatch, "copy_: float32 and test"),
    "join": (lambda x: ts.concat([x, ts.zeros(2)]), ts.errors.DTypeMismatch, "concat: test_rgb an"),
    "equal": (lambda x: x == ts.zeros(2), ts.errors.DTypeMismatch, "equal: float32 and test_rgb"),
    "equal number": (lambda x: x == 1, ts.errors.DTypeMismatch, "equal: 1 is no item of test_rgb"),
    "equal tuple": (lambda x: x == (1, 2), ts.errors.InvalidArgument,
                    r"equal: \(1, 2\) does not fit test_rgb: pack expected 3 items"),
    "ones": (lambda x: ts.ones(2, dtype=RGB), ts.errors.DTypeMismatch, "ones: not defined for"),
    "eye": (lambda x: ts.eye(2, dtype=RGB), ts.errors.DTypeMismatch, "eye: not defined for"),
    "arange": (lambda x: ts.arange(2, dtype=RGB), ts.errors.DTypeMismatch, "arange: not defined"),
    "rand": (lambda x: ts.rand(2, dtype=RGB), ts.errors.DTypeMismatch, "rand: not defined for"),
    "full": (lambda x: ts.full(2, False, dtype=RGB), ts.errors.DTypeMismatch,
             "full: False is no item of test_rgb"),
    "full of numbers": (lambda x: ts.full(2, (1, 2)), ts.errors.InvalidArgument,
                        r"full: \(1, 2\) does not fit float32"),
    "fill": (lambda x: x.fill_(0), ts.errors.DTypeMismatch,
             "fill_: 0 is no item of test_rgb\n.*\n.*\n.*\n  hint: items are tuples of the fields"),
    "range": (lambda x: ts.tensor([(1, 2, 256)], dtype=RGB), ts.errors.InvalidArgument,
              r"tensor: \(1, 2, 256\) does not fit test_rgb: ubyte format requires"),
    "field": (lambda x: x.fill_((1, "a", 2)), ts.errors.InvalidArgument,
              "fill_: .* does not fit test_rgb: required argument is not an integer"),
    "overflow": (lambda x: ts.tensor((1, 1e300), dtype=SPOT), ts.errors.InvalidArgument,
                 "does not fit test_spot: float too large"),
    "tensor": (lambda x: ts.tensor(ts.zeros(2), dtype=RGB), ts.errors.DTypeMismatch, "float32 and"),
    "float": (lambda x: float(x[0]), ts.errors.DTypeMismatch, r"float\(\): not defined for test_r"),
    "bool": (lambda x: bool(x[0]), ts.errors.DTypeMismatch, r"bool\(\): not defined for test_rgb"),
    "complex": (lambda x: complex(x[0]), ts.errors.DTypeMismatch, r"complex\(\): not defined for"),
    "index": (lambda x: [1][x[0]], ts.errors.ArgumentError, "a tensor of test_rgb and shape"),
    "as an index": (lambda x: ts.zeros(3)[x], ts.errors.DTypeMismatch, "an index tensor is test_r"),
    "gradient": (lambda x: x.requires_grad_(), ts.errors.DTypeMismatch, "have no gradients"),
    "numpy": (lambda x: x.numpy(), ts.errors.DTypeMismatch,
              "numpy: NumPy does not know test_rgb, a user dtype"),
    "buffer": (lambda x: memoryview(x), ts.errors.ExchangeError,
               "test_rgb is a user dtype, which others do not know"),
    "dlpack": (lambda x: np.from_dlpack(x), ts.errors.ExchangeError, "__dlpack__: test_rgb is a u"),
    "limits": (lambda x: ts.iinfo(RGB), ts.errors.DTypeMismatch, "iinfo: not defined for test_rgb"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISUSES)
def test_what_items_cannot_do_is_said(name: str) -> None:
    x = ts.tensor([(1, 2, 3), (4, 5, 6)], dtype=RGB)
    call, kind, text = MISUSES[name]
    with pytest.raises(kind, match=text):
        call(x)
    assert x.tolist() == [(1, 2, 3), (4, 5, 6)]


def test_fields_may_fail_as_they_like() -> None:
    class Odd:
        def __index__(self) -> int:
            raise ZeroDivisionError("odd")

    with pytest.raises(ts.errors.InvalidArgument, match="does not fit test_rgb: odd"):
        ts.full(2, (1, 2, Odd()), dtype=RGB)


# --- pickles -------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_registers_its_dtype_where_it_is_missing(protocol: int) -> None:
    data = pickle.dumps(ts.tensor([(1, 0.5), (2, 1.5)], dtype=SPOT)[::-1], protocol)
    code = """
data = bytes.fromhex(sys.argv[1])
x = pickle.loads(data)
print(x.tolist(), x.dtype, x.dtype.format, ts.dtypes.find("test_spot") is x.dtype)
assert pickle.loads(data).dtype is x.dtype and ts.dtypes.free_slots() == 63
"""
    assert run_alone(code, data.hex()) == "[(2, 1.5), (1, 0.5)] test_spot <if True\n"


def test_a_pickle_of_another_format_is_refused() -> None:
    code = """
ts.dtypes.register("test_spot", fmt="q")
try:
    pickle.loads(bytes.fromhex(sys.argv[1]))
except ts.errors.DTypeMismatch as error:
    print(error)
"""
    printed = run_alone(code, pickle.dumps(SPOT).hex())
    assert printed.startswith("'test_spot' has the format 'q' here, and '<if' in the pickle")
    assert pickle.loads(pickle.dumps(SPOT)) is SPOT is copy.deepcopy(SPOT) is copy.copy(SPOT)


def test_buffers_out_of_band_need_no_alignment() -> None:
    x = ts.tensor([(1, 0.5), (2, 1.5)], dtype=SPOT)
    taken: list[pickle.PickleBuffer] = []
    data = pickle.dumps(x, 5, buffer_callback=taken.append)
    shifted = memoryview(b"." + bytes(taken[0].raw()))[1:]
    assert pickle.loads(data, buffers=[shifted]).tolist() == [(1, 0.5), (2, 1.5)]


def test_items_are_no_condition() -> None:
    item = ts.zeros((), dtype=RGB)
    with pytest.raises(ts.errors.InvalidArgument, match=r"condition\.dtype must be bool"):
        ts.where(item, 0, 0)
