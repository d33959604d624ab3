"""asarray: tensors of numbers, nested sequences, tensors, and arrays of any library."""

from __future__ import annotations

import array as arrays
from collections import deque
from typing import Any

import numpy as np
import pytest

import tessella as ts
from capsules import Exporter
from tessella.dtypes import DType

# --- dtypes of Python's numbers -------------------------------------------------------------------

KINDS: list[tuple[Any, DType]] = [
    (True, ts.bool),
    (3, ts.int64),
    (2.5, ts.float32),
    (1j, ts.complex64),
    ([True, False], ts.bool),
    ([True, 2], ts.int64),
    ([1, 2.5], ts.float32),
    ([True, 2.5], ts.float32),
    ([1, 2.5, 1j], ts.complex64),
    ([[True], [1j]], ts.complex64),
    ([], ts.float32),
    ([[], []], ts.float32),
]


@pytest.mark.parametrize(("values", "dtype"), KINDS, ids=str)
def test_the_highest_kind_decides(values: Any, dtype: DType) -> None:
    x = ts.asarray(values)
    assert x.dtype is dtype and x.tolist() == np.asarray(values).tolist()


@pytest.mark.parametrize("dtype", [ts.float64, "int16", float, np.dtype("complex128"), np.uint8])
def test_a_dtype_may_be_given(dtype: Any) -> None:
    x = ts.asarray([[1, 2], [3, 4]], dtype=dtype, device="cpu")
    assert x.dtype is ts.zeros(1, dtype=dtype).dtype and x.tolist() == [[1, 2], [3, 4]]


def test_numbers_that_do_not_fit_are_refused() -> None:
    for values, dtype in (([1.5], ts.int64), ([300], ts.int8), ([1j], ts.float32), ([2], ts.bool)):
        with pytest.raises(ValueError, match=r"asarray: .* does not fit"):
            ts.asarray(values, dtype=dtype)
    with pytest.raises(ValueError, match="does not fit int64"):
        ts.asarray(1 << 63)


# --- nested sequences -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values", [range(4), (1, (2)), deque([1, 2]), [range(3), (4, 5, 6)], [(1,), [2]]], ids=str
)
def test_any_sequence_is_taken(values: Any) -> None:
    expected = [list(row) if not isinstance(row, int) else row for row in values]
    assert ts.asarray(values).tolist() == expected == ts.tensor(values).tolist()


def test_tensors_and_arrays_in_lists_are_stacked() -> None:
    x, a = ts.tensor([1.0, 2.0]), np.array([3.0, 4.0], np.float32)
    assert ts.asarray([x, a]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert ts.asarray([[x], [x]]).shape == (2, 1, 2)
    assert ts.asarray([x.sum(), 2, np.float32(4)]).tolist() == [3.0, 2.0, 4.0]
    assert ts.asarray([arrays.array("f", [1.0]), Exporter(np.ones(1))]).dtype is ts.float64
    assert ts.asarray([ts.zeros(0), ts.zeros(0)]).shape == (2, 0)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([ts.zeros(1, dtype=ts.int8), ts.zeros(1, dtype=ts.int32)], ts.int32),
        ([ts.zeros((), dtype=ts.float64), 1], ts.float64),
        ([ts.zeros((), dtype=ts.float16), 1.5], ts.float16),
        ([ts.zeros((), dtype=ts.int8), 1.5], ts.float32),
        ([ts.zeros((), dtype=ts.float64), 1j], ts.complex128),
        ([np.float64(1.5), np.float64(2.5)], ts.float32),  # scalars count as numbers
        ([np.array(1.5), 2], ts.float64),  # arrays have a dtype
    ],
)
def test_items_with_a_dtype_decide_before_numbers(values: Any, dtype: DType) -> None:
    assert ts.asarray(values).dtype is dtype


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([ts.ones(2), ts.ones(3)], r"items of shapes \(2,\) and \(3,\) stand side by side"),
        ([ts.ones(2), 1.0], r"items of shapes \(2,\) and \(\) stand side by side"),
        ([ts.ones(2), [1.0, 2.0]], "numbers and lists stand side by side at depth 1"),
        ([1, [2]], "numbers and lists stand side by side"),
        ([[1, 2], [3]], "nested lists differ in length at depth 1: 2 and 1"),
        ([1, None], "data must be numbers in nested lists, an array or a tensor, got NoneType"),
        (["a"], "data must be numbers in nested lists"),
        ("text", "data must be numbers in nested lists"),
        ({1, 2}, "data must be numbers in nested lists"),
        ((i for i in range(3)), "data must be numbers in nested lists"),
        ([ts.ones(1, requires_grad=True)], "an item requires gradients"),
        ([ts.tensor(1 << 40), ts.tensor(1, dtype=ts.uint64)], "have no common dtype"),
    ],
)
def test_what_does_not_nest_is_refused(values: Any, text: str) -> None:
    with pytest.raises(ts.errors.TessellaError, match=text) as caught:
        ts.asarray(values)
    assert str(caught.value).startswith("asarray: ") and "  hint: " in str(caught.value)
    assert "  at test_asarray.py:" in str(caught.value)


def test_tensor_copies_values_out_of_graphs() -> None:
    x = ts.ones(1, requires_grad=True)
    assert not ts.tensor([x, x]).requires_grad and not ts.tensor(x).requires_grad


def test_complex_items_are_not_made_real() -> None:
    with pytest.raises(TypeError, match="would drop imaginary parts"):
        ts.asarray([ts.ones(2, dtype=ts.complex64)], dtype=ts.float32)
    with pytest.raises(TypeError, match="would drop imaginary parts"):
        ts.asarray(np.ones(2, "complex64"), dtype=ts.float32)


# --- tensors and arrays ---------------------------------------------------------------------------


def test_a_tensor_is_given_as_it_is() -> None:
    x = ts.ones(2, requires_grad=True)
    assert ts.asarray(x) is x and ts.asarray(x, dtype=ts.float32, copy=False) is x
    copied = ts.asarray(x, copy=True)
    assert copied.data_ptr != x.data_ptr and copied.grad_fn is not None
    assert ts.asarray(x, dtype=ts.float64).grad_fn is not None


SOURCES: dict[str, Any] = {
    "NumPy": np.arange(3.0),
    "0-d NumPy": np.array(2.5),
    "array": arrays.array("d", [1.0, 2.0]),
    "memoryview": memoryview(bytearray(16)).cast("d"),
    "DLPack only": Exporter(np.arange(3.0)),
}


def address(source: Any) -> int:
    """Give where the memory of a source begins."""
    source = source.array if isinstance(source, Exporter) else np.asarray(source)
    found: int = source.__array_interface__["data"][0]
    return found


@pytest.mark.parametrize("name", SOURCES)
def test_memory_is_shared_unless_a_copy_is_asked_for_or_needed(name: str) -> None:
    source = SOURCES[name]
    for keywords in ({}, {"copy": False}, {"dtype": ts.float64}, {"copy": None}):
        x = ts.asarray(source, **keywords)
        assert x.data_ptr == address(source) and x.dtype is ts.float64
    assert ts.asarray(source, copy=True).data_ptr != address(source)
    assert ts.asarray(source, dtype=ts.float32).tolist() == ts.asarray(source).tolist()
    with pytest.raises(ValueError, match="a copy is needed: its dtype is float64, not float32"):
        ts.asarray(source, dtype=ts.float32, copy=False)
    assert ts.tensor(source).data_ptr != address(source)


@pytest.mark.parametrize("values", [1, [1, 2], range(3), np.float32(2), [ts.ones(2)]], ids=str)
def test_numbers_and_lists_cannot_do_without_a_copy(values: Any) -> None:
    with pytest.raises(ValueError, match="a copy is needed: numbers and lists") as caught:
        ts.asarray(values, copy=False)
    assert "leave copy=False out" in str(caught.value)


@pytest.mark.parametrize("dtype", ["float64", "int16", "bool", "complex64", "uint8"])
def test_numpy_scalars_keep_their_dtype(dtype: str) -> None:
    x = ts.asarray(np.dtype(dtype).type(1))
    assert x.dtype.name == dtype and x.shape == () and not x.is_readonly


def test_objects_that_only_numpy_can_read_are_taken() -> None:
    class Lazy:
        """Gives an array when it is asked."""

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.arange(3)

    assert ts.asarray(Lazy()).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="a copy is needed: only NumPy can read it"):
        ts.asarray(Lazy(), copy=False)


def test_arguments_are_checked() -> None:
    with pytest.raises(ValueError, match="device is 'cuda'"):
        ts.asarray([1], device="cuda")
    with pytest.raises(TypeError, match="copy must be True or False, got int"):
        ts.asarray([1], copy=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="dtype must be a Tessella dtype"):
        ts.asarray([1], dtype="float33")
