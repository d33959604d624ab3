"""Each sentence of docs/capabilities.md about tensors, views, access, shapes and errors, as a test.

The page names these tests row by row. They show that a capability is there and what it means;
breadth (every dtype, layout and operation) is the business of the tests made from the table.
Arithmetic is in test_capabilities_arithmetic.py.
"""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessella as ts
from tessella import _core

Unary = Callable[[Any], Any]


def counted(shape: tuple[int, ...], dtype: Any = ts.float32) -> ts.Tensor:
    """Give 0, 1, 2, ... in a shape."""
    size = 1
    for n in shape:
        size *= n
    return ts.arange(size, dtype=dtype).reshape(shape)


def bytes_live() -> int:
    """Give the bytes of tensor data that are allocated now."""
    return _core.memory_counts()[0]


# --- T1: shape, strides, offset, dtype, size ------------------------------------------------------


def test_strides_count_elements_and_byte_strides_bytes() -> None:
    x = ts.zeros(2, 3, 4)
    assert (x.shape, x.ndim, x.size, x.offset, x.dtype) == ((2, 3, 4), 3, 24, 0, ts.float32)
    assert x.strides == (12, 4, 1)
    assert x.byte_strides == (48, 16, 4)
    assert (x.itemsize, x.nbytes) == (4, 96)


def test_tensors_share_one_buffer_through_views() -> None:
    x = ts.zeros(4, 6)
    view = x[1:3, ::2]
    view[0, 1] = 5.0
    assert x.at(1, 2) == 5.0
    assert (view.offset, view.strides) == (6, (6, 2))


# --- T2: row-major, flat index --------------------------------------------------------------------


def test_flat_index_is_offset_plus_index_times_stride() -> None:
    x = ts.zeros(2, 3, 4)
    assert x.flat_index(1, 2, 3) == 23
    assert x[1:, ::2].flat_index(0, 1, 2) == 12 + 2 * 4 + 2
    assert x.permute(2, 0, 1).flat_index(3, 1, 2) == 23
    assert x.flat_index(-1, -1, -1) == 23
    assert type(x.flat_index(np.int64(1), ts.tensor(2), 3)) is int  # type: ignore[arg-type]


@pytest.mark.parametrize("index", [(2, 0, 0), (0, -4, 0), (0, 0), (0, 0, 0, 0)])
def test_flat_index_is_checked(index: tuple[int, ...]) -> None:
    with pytest.raises(ts.errors.IndexOutOfBounds, match=r"^flat_index: "):
        ts.zeros(2, 3, 4).flat_index(*index)


def test_new_tensors_are_row_major() -> None:
    x = counted((2, 3, 4))
    assert x.is_contiguous
    assert memoryview(x).tobytes() == np.arange(24, dtype="f4").tobytes()


# --- T3: contiguity -------------------------------------------------------------------------------


def test_axes_of_size_one_may_have_any_stride_in_a_contiguous_tensor() -> None:
    x = ts.zeros(4, 5)
    assert x[2:3].is_contiguous
    assert x[::4].shape == (1, 5) and x[::4].is_contiguous
    assert _core.view(x, ts.layouts.Layout((4, 1, 5), (5, 77, 1))).is_contiguous


def test_gaps_and_other_orders_are_not_contiguous() -> None:
    x = ts.zeros(4, 5)
    assert not x.T.is_contiguous
    assert not x[:, :3].is_contiguous
    assert not x[::-1].is_contiguous
    assert not ts.zeros(1, 5).broadcast_to(4, 5).is_contiguous


# --- T4: views copy nothing -----------------------------------------------------------------------

VIEWS: dict[str, tuple[Unary, Callable[[Any], Any]]] = {
    "transpose": (lambda x: x.transpose(0, 2), lambda a: a.swapaxes(0, 2)),
    "permute": (lambda x: x.permute(1, 2, 0), lambda a: a.transpose(1, 2, 0)),
    "reshape": (lambda x: x.reshape(6, 4), lambda a: a.reshape(6, 4)),
    "view": (lambda x: x.view(2, 12), lambda a: a.reshape(2, 12)),
    "squeeze": (lambda x: x[:, :1].squeeze(1), lambda a: a[:, 0]),
    "unsqueeze": (lambda x: x.unsqueeze(1), lambda a: a[:, None]),
    "slice": (lambda x: x[1:, ::2, 1:3], lambda a: a[1:, ::2, 1:3]),
    "slice backwards": (lambda x: x[::-1, :, ::-3], lambda a: a[::-1, :, ::-3]),
    "integer": (lambda x: x[1, ..., 2], lambda a: a[1, ..., 2]),
    "flip": (lambda x: x.flip(1), lambda a: np.flip(a, 1)),
    "broadcast_to": (
        lambda x: x.broadcast_to(5, 2, 3, 4),
        lambda a: np.broadcast_to(a, (5, 2, 3, 4)),
    ),
    "diagonal": (lambda x: x.diagonal(0, 1, 2), lambda a: a.diagonal(0, 1, 2)),
    "unfold": (
        lambda x: x.unfold(2, 3, 1),
        lambda a: np.lib.stride_tricks.sliding_window_view(a, 3, 2),
    ),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_share_memory_and_allocate_nothing(name: str) -> None:
    make, reference = VIEWS[name]
    x = counted((2, 3, 4))
    before = _core.memory_counts()[2]
    view = make(x)
    assert _core.memory_counts()[2] == before
    assert view.data_ptr == x.data_ptr + view.offset * x.itemsize
    assert view.tolist() == reference(x.numpy()).tolist()


def test_matrix_transpose_is_a_view() -> None:
    x = counted((3, 4))
    assert x.T.data_ptr == x.data_ptr and x.T.strides == (1, 4)
    assert x.T.tolist() == x.numpy().T.tolist()


def test_broadcast_axes_have_stride_zero() -> None:
    assert ts.zeros(3, 1).broadcast_to(2, 3, 4).strides == (0, 1, 0)


def test_reshape_copies_where_strides_do_not_allow_a_view() -> None:
    x = counted((3, 4))
    flat = x.T.reshape(12)
    assert flat.data_ptr != x.data_ptr
    assert flat.tolist() == x.numpy().T.reshape(12).tolist()
    assert x[:, ::2].reshape(3, 2, 1).data_ptr == x.data_ptr


def test_view_refuses_where_reshape_would_copy() -> None:
    with pytest.raises(ts.errors.ShapeError, match="reshape"):
        counted((3, 4)).T.view(12)


def test_contiguous_copies_only_if_it_must() -> None:
    x = counted((3, 4))
    before = _core.memory_counts()[2]
    assert x.contiguous().data_ptr == x.data_ptr
    assert _core.memory_counts()[2] == before
    assert x.T.contiguous().data_ptr != x.data_ptr
    assert x.T.contiguous().is_contiguous and x.T.contiguous().tolist() == x.T.tolist()
    assert x.T.make_contiguous().strides == (3, 1)


# --- T5: views that start part-way ----------------------------------------------------------------


def test_a_view_that_starts_part_way_works_everywhere() -> None:
    data = ts.arange(10, dtype=ts.float32)
    view = data[5:8]
    assert (view.offset, view.size, view.tolist()) == (5, 3, [5.0, 6.0, 7.0])
    assert (view + 1).tolist() == [6.0, 7.0, 8.0]
    assert (1 - view).tolist() == [-4.0, -5.0, -6.0]
    assert (view + data[:3]).tolist() == [5.0, 7.0, 9.0]
    assert view.sum().item() == 18.0 and view.argmax().item() == 2
    assert (view @ view).item() == 110.0
    assert view.clone().offset == 0 and view.clone().tolist() == view.tolist()
    assert view.reshape(3, 1).T.tolist() == [[5.0, 6.0, 7.0]]
    assert view[::-1].tolist() == [7.0, 6.0, 5.0] and view[[2, 0]].tolist() == [7.0, 5.0]
    assert view.astype(ts.int64).tolist() == [5, 6, 7]
    assert view.numpy().tolist() == [5.0, 6.0, 7.0]
    assert ts.concat([view, view[:1]]).tolist() == [5.0, 6.0, 7.0, 5.0]
    assert "5" in repr(view) and "4" not in repr(view).split("[")[1]


def test_writing_through_a_view_that_starts_part_way_changes_only_it() -> None:
    data = ts.arange(10, dtype=ts.float32)
    data[5:8] *= 2
    data[5:8][1] = -1.0
    assert data.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 10.0, -1.0, 14.0, 8.0, 9.0]


# --- T6: rank 0, empty axes, 64 axes, overflow ----------------------------------------------------


def test_rank_zero_is_legal() -> None:
    x = ts.tensor(3.0)
    assert (x.shape, x.strides, x.ndim, x.size, x.item()) == ((), (), 0, 1, 3.0)
    assert (x + 1).shape == () and x.sum().shape == () and x.reshape(1, 1).shape == (1, 1)
    assert x[()].item() == 3.0 and x[None].shape == (1,) and x[...].shape == ()


def test_axes_of_size_zero_are_legal() -> None:
    x = ts.zeros(3, 0, 2)
    assert (x.size, x.tolist()) == (0, [[], [], []])
    assert (x + 1).shape == (3, 0, 2) and x.sum(axis=1).tolist() == [[0.0, 0.0]] * 3
    assert x.prod().item() == 1.0 and x.reshape(0, 7).shape == (0, 7)
    assert (ts.zeros(2, 0) @ ts.zeros(0, 3)).tolist() == [[0.0] * 3] * 2
    assert ts.concat([x, ts.ones(3, 1, 2)], axis=1).shape == (3, 1, 2)
    assert x[1:2].shape == (1, 0, 2) and x.permute(2, 1, 0).shape == (2, 0, 3)


def test_there_may_be_64_axes_and_no_more() -> None:
    x = ts.ones((1,) * 64)
    assert (x + x).ndim == 64 and x.sum().item() == 1.0
    with pytest.raises(ts.errors.TessellaError, match="64"):
        ts.ones((1,) * 65)
    with pytest.raises(ts.errors.TessellaError, match="64"):
        x.unsqueeze(0)


OVERFLOWS: dict[str, Callable[[], Any]] = {
    "zeros": lambda: ts.zeros(1 << 40, 1 << 40),
    "bytes": lambda: ts.zeros(1 << 61),
    "broadcast": lambda: ts.zeros(1, 1).broadcast_to(1 << 40, 1 << 40),
    "product": lambda: ts.zeros(1 << 20, 0) @ ts.zeros(0, 1 << 44),
    "sum of two": lambda: ts.zeros(1).broadcast_to(1 << 35, 1) + ts.zeros(1).broadcast_to(1 << 35),
    "with an empty axis": lambda: ts.zeros(0, 1 << 40, 1 << 40),
}


@pytest.mark.parametrize("name", OVERFLOWS)
def test_sizes_that_overflow_are_refused_before_allocation(name: str) -> None:
    before, start = _core.memory_counts()[2], bytes_live()
    with pytest.raises((ts.errors.LengthOverflow, ts.errors.OutOfMemory)):
        OVERFLOWS[name]()
    assert bytes_live() == start
    assert _core.memory_counts()[2] - before <= 2  # at most the operands


def test_negative_sizes_are_refused() -> None:
    with pytest.raises(ts.errors.TessellaError, match="-1"):
        ts.zeros(2, -1)


# --- T8: access -----------------------------------------------------------------------------------


def test_item_reads_the_only_element() -> None:
    assert ts.tensor([[7]]).item() == 7 and isinstance(ts.tensor(7).item(), int)
    assert ts.tensor(True).item() is True and ts.tensor(0.5).item() == 0.5
    assert ts.tensor(1 + 2j).item() == 1 + 2j
    for x in (ts.zeros(2), ts.zeros(0)):
        with pytest.raises(ValueError, match="item"):
            x.item()


def test_item_takes_a_flat_index() -> None:
    x = counted((3, 4)).T
    assert x.item(1) == 4.0 and x.item(-1) == 11.0
    with pytest.raises(ts.errors.IndexOutOfBounds):
        x.item(12)


def test_at_reads_one_element() -> None:
    x = counted((3, 4))
    assert x.at(1, 2) == 6.0 and x.at(-1, -1) == 11.0
    for index in ((3, 0), (0, -5), (0,), (0, 0, 0)):
        with pytest.raises(ts.errors.IndexOutOfBounds):
            x.at(*index)


def test_tolist_nests_python_numbers() -> None:
    assert ts.tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert ts.tensor(5).tolist() == 5 and ts.zeros(2, 0).tolist() == [[], []]
    assert counted((2, 3)).T.tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]


MASK = [[True, False, True, False], [False, False, False, True], [True, True, False, False]]
KEYS: dict[str, Any] = {
    "integer": 1,
    "negative integer": -1,
    "integers": (2, -3),
    "slice": slice(None, None, 2),
    "negative step": (slice(None, None, -1), slice(3, 0, -2)),
    "past the end": slice(1, 99),
    "empty slice": slice(2, 1),
    "ellipsis": (..., 1),
    "new axis": (None, slice(None), None, 2),
    "list": [2, 0, 2],
    "list of lists": [[0], [-1]],
    "two lists": ([0, 1, 2], [3, 2, 1]),
    "list and slice": (slice(1, None), [3, 0]),
    "apart": ([0, 2], slice(None), None),
    "integer beside a list": (1, [0, 3]),
    "broadcast lists": ([[0], [2]], [1, 3]),
    "mask": MASK,
    "mask of rows": [True, False, True],
    "mask of columns": (slice(None), [True, False, False, True]),
    "empty list": [],
}


def as_key(key: Any, convert: Callable[[Any], Any]) -> Any:
    """Turn the lists of a key into tensors or arrays."""
    if isinstance(key, tuple):
        return tuple(as_key(part, convert) for part in key)
    return convert(key) if isinstance(key, list) else key


def array_of(values: Any) -> Any:
    """Give a list as NumPy's index; an empty one is of integers."""
    return np.array(values) if values else np.array([], dtype=np.int64)


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("kind", ["lists", "tensors"])
def test_indexing_is_that_of_numpy(name: str, kind: str) -> None:
    x, key = counted((3, 4)), KEYS[name]
    expected = x.numpy()[as_key(key, array_of)]
    ours = key if kind == "lists" else as_key(key, lambda v: ts.from_numpy(array_of(v)))
    found = x[ours]
    assert found.shape == expected.shape and found.tolist() == expected.tolist()
    assert x.T.contiguous().T[ours].tolist() == expected.tolist()


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("value", ["number", "tensor"])
def test_assignment_through_an_index_is_that_of_numpy(name: str, value: str) -> None:
    x, key = counted((3, 4)), KEYS[name]
    expected = x.numpy().copy()
    place = as_key(key, array_of)
    new: Any = 9.5
    if value == "tensor":
        # Equal values where an index repeats, so that the order of writes does not matter.
        new = counted(expected[place].shape) if name != "list" else ts.full((3, 4), -1.0)
    expected[place] = new if value == "number" else new.numpy()
    x[key] = new
    assert x.tolist() == expected.tolist()


BAD_KEYS: dict[str, Any] = {
    "past the end": 3,
    "before the start": -4,
    "too many": (0, 0, 0),
    "list past the end": [0, 3],
    "list before the start": [-4],
    "mask of another shape": [[True, False]],
    "float": 1.5,
    "text": "0",
    "two ellipses": (..., ...),
    "step of zero": slice(None, None, 0),
    "huge": 1 << 70,
}


@pytest.mark.parametrize("name", BAD_KEYS)
def test_bad_indices_raise_and_change_nothing(name: str) -> None:
    x = counted((3, 4))
    with pytest.raises((IndexError, TypeError, ValueError)) as reading:
        x[BAD_KEYS[name]]
    with pytest.raises((IndexError, TypeError, ValueError)) as writing:
        x[BAD_KEYS[name]] = 1.0
    assert isinstance(reading.value, ts.errors.TessellaError)
    assert isinstance(writing.value, ts.errors.TessellaError)
    assert x.tolist() == counted((3, 4)).tolist()


def test_assigned_values_must_broadcast_to_the_place() -> None:
    x = counted((3, 4))
    with pytest.raises(ts.errors.BroadcastError):
        x[0] = ts.ones(3)
    x[:, 1:3] = ts.tensor([[-1.0], [-2.0], [-3.0]])
    assert x[:, 2].tolist() == [-1.0, -2.0, -3.0]


# --- T10: shapes ----------------------------------------------------------------------------------


def test_shape_match_compares_shapes() -> None:
    assert ts.shape_match(ts.zeros(2, 3), ts.ones(2, 3, dtype=ts.int8))
    assert not ts.shape_match(ts.zeros(2, 3), ts.zeros(3, 2))
    assert not ts.shape_match(ts.zeros(2, 1), ts.zeros(2))


def test_broadcast_shapes_joins_shapes() -> None:
    assert ts.broadcast_shapes((3, 1, 4), (2, 4)) == (3, 2, 4)
    assert ts.broadcast_shapes((0,), (1,)) == (0,) and ts.broadcast_shapes((), (2, 3)) == (2, 3)
    with pytest.raises(ts.errors.BroadcastError):
        ts.broadcast_shapes((3,), (2,))


def test_operands_of_other_ranks_broadcast() -> None:
    x, y = counted((3, 1, 4)), counted((2, 4)) * 10
    total = x + y
    assert total.shape == (3, 2, 4)
    assert total.tolist() == (x.numpy() + y.numpy()).tolist()


def test_rows_broadcast_over_a_contiguous_matrix() -> None:
    x, row = counted((32, 128)), counted((1, 128)) * 3
    assert (x + row).tolist() == (x.numpy() + row.numpy()).tolist()
    assert (row + x).tolist() == (x + row).tolist()


@pytest.mark.parametrize("shape", [(3, 1, 4), (1, 4), (4,), (), (3, 2, 1), (1, 1, 1), (3, 2, 4)])
def test_sum_to_shape_is_the_inverse_of_broadcasting(shape: tuple[int, ...]) -> None:
    x = counted((3, 2, 4), ts.float64)
    found = ts.sum_to_shape(x, shape)
    assert found.shape == shape
    # Adjoint: <broadcast(v), x> = <v, sum_to_shape(x)>.
    v = counted(shape, ts.float64) + 1
    assert (v.broadcast_to(3, 2, 4) * x).sum().item() == (v * found).sum().item()


def test_sum_to_shape_refuses_what_does_not_broadcast() -> None:
    with pytest.raises(ts.errors.ShapeError):
        ts.sum_to_shape(ts.zeros(3, 4), (2, 4))


# --- E1: errors -----------------------------------------------------------------------------------

RAISED: dict[str, tuple[type[Exception], Callable[[], Any]]] = {
    "ShapeError": (ValueError, lambda: ts.zeros(2, 3).reshape(4)),
    "BroadcastError": (ValueError, lambda: ts.zeros(2) + ts.zeros(3)),
    "InvalidArgument": (ValueError, lambda: ts.zeros(0).max()),
    "IndexOutOfBounds": (IndexError, lambda: ts.zeros(2)[5]),
    "DTypeMismatch": (TypeError, lambda: ts.zeros(2) & ts.zeros(2)),
    "LengthOverflow": (OverflowError, lambda: ts.zeros(1 << 40, 1 << 40)),
    "IllegalState": (RuntimeError, lambda: ts.zeros(2, requires_grad=True).numpy()),
    "InplaceError": (RuntimeError, lambda: ts.zeros(2, requires_grad=True).fill_(1)),
    "ArgumentError": (TypeError, lambda: ts.zeros(2).sum(axes=0)),  # type: ignore[call-overload]
}


@pytest.mark.parametrize("name", RAISED)
def test_errors_are_also_the_python_class_a_user_expects(name: str) -> None:
    base, cause = RAISED[name]
    with pytest.raises(base) as caught:
        cause()
    assert type(caught.value).__name__ == name
    assert isinstance(caught.value, ts.errors.TessellaError)


def test_errors_name_operation_operands_line_and_cure() -> None:
    x, y = ts.zeros(2, 3), ts.ones(4, dtype=ts.int64)
    with pytest.raises(ts.errors.BroadcastError) as caught:
        x + y  # the line that must be shown
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("add: ")
    assert "    x  float32 (2, 3)" in lines and "    y  int64 (4,)" in lines
    assert "x + y  # the line that must be shown" in lines[-2]
    assert lines[-1].startswith("  hint: ")


def test_error_codes_are_stable_and_distinct() -> None:
    classes = [c for _, c in inspect.getmembers(ts.errors, inspect.isclass)]
    tree = [c for c in classes if issubclass(c, ts.errors.TessellaError)]
    assert len({c.code for c in tree}) == len(tree)


def test_errors_survive_pickling() -> None:
    with pytest.raises(ts.errors.ShapeError) as caught:
        ts.zeros(2, 3).reshape(4)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.code == caught.value.code
