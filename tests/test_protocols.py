"""What Python and NumPy ask of a tensor beside its operations: each answer is defined here."""

from __future__ import annotations

import gc
import inspect
import operator
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessella as ts
from capsules import Exporter
from tessella.dtypes import DTYPES, DType

# --- truth and numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_one_element_has_a_truth(shape: tuple[int, ...], dtype: DType) -> None:
    assert bool(ts.ones(shape, dtype=dtype)) is True
    assert bool(ts.zeros(shape, dtype=dtype)) is False


@pytest.mark.parametrize("shape", [(0,), (2,), (2, 0)])
def test_other_tensors_have_no_truth(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="is not one number") as caught:
        bool(ts.zeros(shape))
    assert "reduce it (any, all, sum)" in str(caught.value)


def test_one_element_is_a_number() -> None:
    assert float(ts.tensor(2.5)) == 2.5 and int(ts.tensor([-2.5])) == -2
    assert complex(ts.tensor(1 + 2j)) == 1 + 2j and complex(ts.tensor(3)) == 3
    assert float(ts.tensor(2.5, dtype=ts.bfloat16)) == 2.5 and float(ts.tensor(True)) == 1.0
    for convert in (float, int, complex):
        with pytest.raises(ValueError, match="is not one number"):
            convert(ts.zeros(2))
    with pytest.raises(TypeError):
        float(ts.tensor(1j))


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.is_integer], ids=str)
def test_an_integer_is_an_index(dtype: DType) -> None:
    x = ts.tensor(2, dtype=dtype)
    assert operator.index(x) == 2 and [5, 6, 7][x] == 7 and list(range(x)) == [0, 1]
    assert ts.arange(5)[x].item() == 2 and hex(x) == "0x2"


@pytest.mark.parametrize(
    "x", [ts.tensor(2.0), ts.tensor(True), ts.tensor([2]), ts.tensor(1j)], ids=str
)
def test_nothing_else_is_an_index(x: ts.Tensor) -> None:
    with pytest.raises(TypeError, match="cannot be used as an integer"):
        operator.index(x)


# --- containers -----------------------------------------------------------------------------------


def test_the_length_is_that_of_the_first_axis() -> None:
    assert len(ts.zeros(3, 2)) == 3 and len(ts.zeros(0, 2)) == 0
    with pytest.raises(TypeError, match=r"len\(\) of a 0-d tensor"):
        len(ts.tensor(1))


def test_iteration_gives_views_along_the_first_axis() -> None:
    x = ts.arange(6).reshape(3, 2)
    rows = list(x)
    assert [row.tolist() for row in rows] == [[0, 1], [2, 3], [4, 5]]
    rows[1][0] = 9
    assert x.at(1, 0) == 9
    first, *_, last = x
    assert first.tolist() == [0, 1] and last.tolist() == [4, 5]
    assert list(ts.zeros(0, 2)) == [] and [y.item() for y in reversed(ts.arange(3))] == [2, 1, 0]
    with pytest.raises(ValueError, match=r"x\.item\(\) gives the only element"):
        iter(ts.tensor(1))


def test_membership_asks_for_an_equal_element() -> None:
    x = ts.tensor([[1.0, 2.0], [3.0, float("nan")]])
    assert 3 in x and 3.0 in x and 4 not in x and float("nan") not in x
    assert ts.tensor(2.0) in x and 1 not in ts.zeros(0)
    with pytest.raises(TypeError, match="in: value must be a tensor or a number, got str"):
        "a" in x  # type: ignore[operator]  # noqa: B015
    with pytest.raises(TypeError, match="got NoneType"):
        None in x  # type: ignore[operator]  # noqa: B015


# --- identity -------------------------------------------------------------------------------------


def test_comparison_with_what_is_no_number_is_that_of_python() -> None:
    x: Any = ts.ones(2)
    nothing: Any = None
    for other in (None, "a", object(), [1.0, 1.0], (1.0, 1.0), {}, ts):
        assert (x == other) is False and (other == x) is False
        assert (x != other) is True and (other != x) is True
    assert x is not None and [x, None].index(None) == 1
    for compare in (operator.lt, operator.ge):
        with pytest.raises(TypeError):
            compare(x, nothing)


def test_hashes_go_by_identity() -> None:
    x, y = ts.ones(2), ts.ones(2)
    assert hash(x) == hash(x) and len({x, y, x}) == 2
    assert {x: "x", y: "y"}[x] == "x"


# --- texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "specification", "text"),
    [
        (ts.tensor(2.0), ".3f", "2.000"),
        (ts.tensor(2), "04d", "0002"),
        (ts.tensor(0.5, dtype=ts.bfloat16), ".1%", "50.0%"),
        (ts.tensor(1 + 2j), ".1f", "1.0+2.0j"),
        (ts.tensor([1.0, 2.5]), ".2f", "[1.00, 2.50]"),
        (ts.tensor([[1, 2], [3, 4]]), ">3", "[[  1,   2],\n [  3,   4]]"),
        (ts.zeros(0), ".2f", "[]"),
        (ts.ones(2000), ".0f", "[1, 1, 1, ..., 1, 1, 1]"),
        (ts.tensor([1.5], requires_grad=True), ".1f", "[1.5]"),
    ],
)
def test_specifications_format_each_element(x: ts.Tensor, specification: str, text: str) -> None:
    assert format(x, specification) == text == f"{x:{specification}}"


def test_tensors_without_a_specification_print() -> None:
    x = ts.ones(2)
    assert f"{x}" == format(x) == str(x) == repr(x)
    with pytest.raises(ValueError, match="Unknown format code 'd'"):
        f"{x:d}"


# --- NumPy's operators ----------------------------------------------------------------------------

BINARY: list[Callable[[Any, Any], Any]] = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.matmul,
    operator.lt, operator.eq, operator.ne, operator.floordiv, operator.mod,
]  # fmt: skip
ARRAYS = {"NumPy": np.ones(2, np.float32), "0-d": np.array(2.0), "DLPack": Exporter(np.ones(2))}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("operate", BINARY, ids=lambda f: f.__name__)
def test_operators_with_arrays_say_how_to_convert(operate: Any, name: str) -> None:
    x = ts.ones(2)
    for pair in ((x, ARRAYS[name]), (ARRAYS[name], x)):
        with pytest.raises(ts.errors.ArgumentError, match="must be a tensor") as caught:
            operate(*pair)
        assert "taken by ts.asarray(a) (no copy)" in str(caught.value)


def test_in_place_operators_with_arrays_say_how_to_convert() -> None:
    x: Any = ts.ones(2)
    with pytest.raises(ts.errors.ArgumentError, match="must be a tensor"):
        x += np.ones(2)
    array: Any = np.ones(2)
    for refused in (operator.iadd, np.add):  # NumPy's own: it asks nobody
        with pytest.raises(TypeError, match="does not support ufuncs"):
            refused(array, x)
    assert array.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("kind", ["float32", "float64", "int64", "bool", "complex64"])
@pytest.mark.parametrize("operate", [operator.mul, operator.add, operator.eq])
def test_numpy_scalars_are_numbers(operate: Any, kind: str) -> None:
    x, scalar = ts.tensor([1.0, 2.0]), np.dtype(kind).type(1)
    for pair, plain in (((x, scalar), (x, scalar.item())), ((scalar, x), (scalar.item(), x))):
        found, expected = operate(*pair), operate(*plain)
        assert isinstance(found, ts.Tensor) and found.dtype is expected.dtype
        assert found.tolist() == expected.tolist()


def test_numpy_scalars_are_numbers_everywhere() -> None:
    x: Any = ts.tensor([1, 2, 3], dtype=ts.int8)
    five: Any = np.int64(5)
    half: Any = np.float32(0.5)
    x += np.int64(1)
    x[0] = np.int32(7)
    assert x.dtype is ts.int8 and x.tolist() == [7, 3, 4]
    assert ts.maximum(x, five).tolist() == [7, 5, 5] == x.clip(np.int8(5)).tolist()
    assert ts.where(x > 3, half, x).tolist() == [0.5, 3.0, 0.5]
    assert ts.zeros(2).fill_(np.float16(1.5)).tolist() == [1.5, 1.5]  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="1000 does not fit int8"):
        x += np.int64(1000)


def test_arrays_index_and_are_assigned() -> None:
    x: Any = ts.arange(4)
    assert x[np.array([2, 0])].tolist() == [2, 0] == x[Exporter(np.array([2, 0]))].tolist()
    assert x[np.array([True, False, False, True])].tolist() == [0, 3]
    x[1:3] = np.array([7, 8])
    x[0] = np.int64(9)
    x[3:] = Exporter(np.array([5]))
    assert x.tolist() == [9, 7, 8, 5]


# --- NumPy's conversions --------------------------------------------------------------------------


def test_numpy_reads_tensors_in_place() -> None:
    x = ts.arange(6.0).reshape(2, 3)
    array = np.asarray(x.T)
    assert array.ctypes.data == x.data_ptr and array.strides == x.T.byte_strides
    array[2, 1] = 9.0
    assert x.at(1, 2) == 9.0
    assert np.array(x).ctypes.data != x.data_ptr
    assert np.asarray(x, dtype="float64").dtype == np.float64
    assert np.asarray(x, copy=False).ctypes.data == x.data_ptr
    assert np.stack([x, x]).shape == (2, 2, 3) and float(np.mean(np.asarray(x))) == x.mean().item()


def test_the_array_method_follows_its_arguments() -> None:
    x: Any = ts.arange(3)
    assert x.__array__().ctypes.data == x.data_ptr
    assert x.__array__(np.int64).ctypes.data == x.data_ptr
    assert x.__array__(copy=True).ctypes.data != x.data_ptr
    assert x.__array__("float32").tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="a copy is needed: its dtype is int64, not float32"):
        x.__array__("float32", copy=False)


# --- the array API --------------------------------------------------------------------------------


def test_the_namespace_of_the_array_api_is_the_module() -> None:
    x = ts.zeros(2)
    for version in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        assert x.__array_namespace__(api_version=version) is ts
    with pytest.raises(ValueError, match=r"api_version is '2020\.12'"):
        x.__array_namespace__(api_version="2020.12")


def test_the_attributes_of_the_array_api_are_there() -> None:
    x = ts.zeros(2, 3)
    assert (x.shape, x.ndim, x.size, x.dtype, x.device) == ((2, 3), 2, 6, ts.float32, "cpu")
    assert x.T.shape == x.mT.shape == (3, 2)
    for other in (ts.zeros(3), ts.zeros(2, 3, 4)):
        with pytest.raises(ValueError, match=r"x\.T is for matrices"):
            other.T  # noqa: B018


# --- bound methods -------------------------------------------------------------------------------


def test_bound_methods_know_what_they_are_made_of() -> None:
    x = ts.tensor([1.0, 2.0])
    method: Any = x.sum
    assert method.__self__ is x and method.__func__ is ts.sum
    assert method.__name__ == "sum" and method.__doc__ == ts.sum.__doc__
    assert repr(method).startswith("<method sum of tensor")
    assert method == x.sum and hash(method) == hash(x.sum)
    assert method != x.max and method != ts.ones(2).sum and method != 3
    assert list(inspect.signature(method).parameters) == ["axis", "keepdims", "dtype"]
    assert x.item.__name__ == "item" and "flat" in x.item.__doc__


def test_bound_methods_are_called_in_every_way() -> None:
    x = ts.tensor([[1.0, 2.0], [3.0, 4.0]])
    method: Any = x.sum
    assert [method(0).tolist(), method(axis=0).tolist(), method(*[0]).tolist()] == [[4.0, 6.0]] * 3
    assert method(**{"axis": 1, "keepdims": True}).tolist() == [[3.0], [7.0]]
    assert list(map(x.item, range(4))) == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(ts.errors.TessellaError, match="13 arguments given"):
        method(0, None, False, 1, 2, 3, 4, 5, 6, 7, 8, 9)


def test_bound_methods_hold_their_tensor_and_let_it_go() -> None:
    x = ts.ones(3)
    seen = weakref.ref(x)
    methods = [x.sum for _ in range(40)]
    del x
    assert methods[7]().item() == 3.0
    methods.clear()
    assert seen() is None


def test_bound_methods_are_pickled_with_their_tensor() -> None:
    method = pickle.loads(pickle.dumps(ts.tensor([1.0, 2.0]).sum))
    assert method().item() == 3.0


def test_a_cycle_through_a_bound_method_is_collected() -> None:
    class Holder(ts.Tensor):
        own: object

    x = Holder(ts.ones(2))
    y = ts.ones(2)
    x.own = [x, y.sum]
    seen = weakref.ref(x)
    del x
    gc.collect()
    assert seen() is None
