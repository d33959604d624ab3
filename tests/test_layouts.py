"""Layouts: random chains of views on a tensor and on a NumPy array over the same memory.

A chain must give the same shape, strides, address and values on both sides. What single views mean
is tested by their records; here it is that they compose.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts
from tessella import _core
from tessella.layouts import Layout

Array = np.ndarray[Any, Any]
Step = tuple[str, Callable[[ts.Tensor], ts.Tensor], Callable[[Array], Array]]


# --- one step of a chain: its name, what it does to a tensor, what to an array --------------------


@st.composite
def permutes(draw: st.DrawFn, shape: tuple[int, ...]) -> Step:
    order = tuple(draw(st.permutations(range(len(shape)))))
    signed = tuple(i - len(shape) if draw(st.booleans()) else i for i in order)
    return f"permute{signed}", lambda x: x.permute(signed), lambda a: a.transpose(order)


@st.composite
def transposes(draw: st.DrawFn, shape: tuple[int, ...]) -> Step:
    axes = st.integers(-len(shape), len(shape) - 1)
    i, j = draw(axes), draw(axes)
    return f"transpose({i}, {j})", lambda x: x.transpose(i, j), lambda a: a.swapaxes(i, j)


@st.composite
def slicings(draw: st.DrawFn, shape: tuple[int, ...]) -> Step:
    bounds = st.none() | st.integers(-7, 7)
    steps = st.none() | st.sampled_from([1, 2, 3, -1, -2, -5])
    key = tuple(slice(draw(bounds), draw(bounds), draw(steps)) for _ in shape)
    return f"slice{key}", lambda x: x[key], lambda a: a[key]


@st.composite
def reshapes(draw: st.DrawFn, shape: tuple[int, ...]) -> Step:
    size = int(np.prod(shape))
    sizes: list[int] = []
    rest = max(size, 1)
    while rest > 1 and len(sizes) < 3:
        sizes.append(draw(st.sampled_from([d for d in range(1, rest + 1) if rest % d == 0])))
        rest //= sizes[-1]
    sizes.append(rest if size else 0)
    if size and draw(st.booleans()):
        sizes[draw(st.integers(0, len(sizes) - 1))] = -1
    target = tuple(sizes)
    return f"reshape{target}", lambda x: x.reshape(target), lambda a: a.reshape(target)


@st.composite
def squeezes(draw: st.DrawFn, shape: tuple[int, ...]) -> Step:
    ones = [i for i, n in enumerate(shape) if n == 1]
    axis = draw(
        st.none() | st.lists(st.sampled_from(ones), unique=True).map(tuple) if ones else st.none()
    )
    return f"squeeze({axis})", lambda x: x.squeeze(axis), lambda a: a.squeeze(axis)


@st.composite
def unsqueezes(draw: st.DrawFn, shape: tuple[int, ...]) -> Step:
    axis = draw(st.integers(-len(shape) - 1, len(shape)))
    return f"unsqueeze({axis})", lambda x: x.unsqueeze(axis), lambda a: np.expand_dims(a, axis)


@st.composite
def flips(draw: st.DrawFn, shape: tuple[int, ...]) -> Step:
    axis = draw(st.none() | st.lists(st.sampled_from(range(len(shape))), unique=True).map(tuple)
                if shape else st.none())  # fmt: skip
    return f"flip({axis})", lambda x: x.flip(axis), lambda a: np.flip(a, axis)


@st.composite
def broadcasts(draw: st.DrawFn, shape: tuple[int, ...]) -> Step:
    front = draw(st.lists(st.integers(0, 3), max_size=2 if len(shape) < 5 else 0))
    target = (*front, *(draw(st.integers(0, 3)) if n == 1 else n for n in shape))
    return (
        f"broadcast_to{target}",
        lambda x: x.broadcast_to(target),
        lambda a: np.broadcast_to(a, target),
    )


@st.composite
def diagonals(draw: st.DrawFn, shape: tuple[int, ...]) -> Step:
    i, j = draw(st.permutations(range(len(shape))))[:2]
    k = draw(st.integers(-3, 3))
    return f"diagonal({k}, {i}, {j})", lambda x: x.diagonal(k, i, j), lambda a: a.diagonal(k, i, j)


@st.composite
def unfolds(draw: st.DrawFn, shape: tuple[int, ...]) -> Step:
    axis = draw(st.sampled_from([i for i, n in enumerate(shape) if n]))
    window, step = draw(st.integers(1, shape[axis])), draw(st.integers(1, 3))
    every = (slice(None),) * axis + (slice(None, None, step),)
    windows = np.lib.stride_tricks.sliding_window_view
    return f"unfold({axis}, {window}, {step})", lambda x: x.unfold(axis, window, step), lambda a: (
        windows(a, window, axis, writeable=False)[every])  # fmt: skip


def steps_for(shape: tuple[int, ...]) -> st.SearchStrategy[Step]:
    """Draw a view that a tensor of this shape has."""
    kinds = [permutes, slicings, reshapes, squeezes, flips, broadcasts]
    if len(shape) < 6:
        kinds.append(unsqueezes)
    if shape:
        kinds.append(transposes)
    if len(shape) >= 2:
        kinds.append(diagonals)
    if any(shape) and len(shape) < 6:
        kinds.append(unfolds)
    return st.one_of([kind(shape) for kind in kinds])


DTYPES = st.sampled_from(["bool", "int8", "uint16", "float32", "float64", "complex128"])
SHAPES = st.lists(st.integers(0, 5), max_size=4).map(tuple)


def address(array: Array) -> int:
    """Give where the first element lies."""
    return int(array.__array_interface__["data"][0])


def same_strides(x: ts.Tensor, array: Array) -> bool:
    """Compare strides where they matter: on axes of more than one element, of what is not empty."""
    pairs = zip(x.shape, x.byte_strides, array.strides, strict=True)
    return not x.size or all(n == 1 or ours == theirs for n, ours, theirs in pairs)


@given(st.data(), SHAPES, DTYPES)
def test_chains_of_views_are_those_of_numpy(
    data: st.DataObject, shape: tuple[int, ...], dtype: str
) -> None:
    array: Array = np.arange(int(np.prod(shape))).astype(dtype).reshape(shape)
    x = ts.from_numpy(array)
    shared = x.size > 0 and x.ndim > 0  # NumPy's scalars and empty arrays are copied
    for _ in range(data.draw(st.integers(1, 6))):
        name, tensor_step, array_step = data.draw(steps_for(array.shape))
        before, x, array = array, tensor_step(x), array_step(array)
        shared = shared and np.shares_memory(before, array)
        assert x.shape == array.shape, name
        if array.size > 3000:
            break
        assert x.tolist() == array.tolist(), name
        if x.size and shared:
            assert x.data_ptr == address(array), name
            assert same_strides(x, array), name
        if x.size:
            assert x.is_contiguous == array.flags.c_contiguous, name


@given(st.data(), SHAPES)
def test_views_copy_nothing_and_keep_the_buffer(
    data: st.DataObject, shape: tuple[int, ...]
) -> None:
    x = ts.zeros(shape)
    before, y = _core.memory_counts()[0], x
    for _ in range(4):
        name, step, _ = data.draw(steps_for(y.shape))
        if not name.startswith("reshape") or y.is_contiguous:
            y = step(y)
    assert _core.memory_counts()[0] == before and _core.may_overlap(x, y)


@given(st.data(), SHAPES)
def test_offset_and_strides_lead_to_every_element(
    data: st.DataObject, shape: tuple[int, ...]
) -> None:
    x = ts.arange(int(np.prod(shape))).reshape(shape)
    flat = x.reshape(-1)
    for _ in range(3):
        name, step, _ = data.draw(steps_for(x.shape))
        if not name.startswith("reshape") or x.is_contiguous:
            x = step(x)
    for index in itertools.islice(itertools.product(*map(range, x.shape)), 50):
        place = x.offset + sum(i * s for i, s in zip(index, x.strides, strict=True))
        assert place == x.flat_index(*index) and flat.item(place) == x.at(*index)


@given(st.data(), SHAPES)
def test_reshape_is_a_view_exactly_where_numpy_needs_no_copy(
    data: st.DataObject, shape: tuple[int, ...]
) -> None:
    array: Array = np.arange(int(np.prod(shape))).reshape(shape)
    x = ts.tensor(array)
    for _ in range(2):
        _, tensor_step, array_step = data.draw(slicings(x.shape) | permutes(x.shape))
        x, array = tensor_step(x), array_step(array)
    _, tensor_step, array_step = data.draw(reshapes(x.shape))
    y, reshaped = tensor_step(x), array_step(array)
    assert y.tolist() == reshaped.tolist()
    if x.size and x.ndim:  # NumPy makes scalars of 0-d arrays, which share nothing
        assert _core.may_overlap(x, y) == np.shares_memory(array, reshaped)
        if _core.may_overlap(x, y):
            assert x.view(y.shape).tolist() == y.tolist()
        else:
            with pytest.raises(ts.errors.ShapeError, match="view: "):
                x.view(y.shape)


@given(st.data(), SHAPES)
def test_contiguous_copies_only_if_it_must(data: st.DataObject, shape: tuple[int, ...]) -> None:
    x = ts.arange(int(np.prod(shape))).reshape(shape)
    for _ in range(3):
        _, step, _ = data.draw(steps_for(x.shape))
        x = step(x)
    y = x.contiguous()
    assert y.is_contiguous and y.tolist() == x.tolist()
    assert (y is x) == x.is_contiguous


@given(st.data(), SHAPES)
def test_views_that_repeat_memory_are_known_and_not_written(
    data: st.DataObject, shape: tuple[int, ...]
) -> None:
    x = ts.arange(int(np.prod(shape))).reshape(shape)
    for _ in range(4):
        name, step, _ = data.draw(steps_for(x.shape))
        if not name.startswith("reshape") or x.is_contiguous:
            x = step(x)
    places = {x.flat_index(*index) for index in itertools.product(*map(range, x.shape))}
    if len(places) < x.size:
        with pytest.raises(ts.errors.InvalidArgument, match="has elements that share memory"):
            x.fill_(0)
    else:
        assert x.fill_(7).tolist() == np.full(x.shape, 7).tolist()


# --- limits ---------------------------------------------------------------------------------------

FULL = (1,) * 64


@pytest.mark.parametrize("call", [
    lambda: ts.zeros(FULL).unsqueeze(0), lambda: ts.zeros(FULL)[None], lambda: Layout((1,) * 65),
    lambda: ts.zeros(FULL).broadcast_to((1,) * 65), lambda: ts.zeros(FULL).unfold(0, 1),
    lambda: ts.zeros(1).reshape((1,) * 65), lambda: ts.zeros(FULL).unsqueeze((0, 1, 2)),
    lambda: ts.stack([ts.zeros(FULL)] * 2), lambda: ts.tile(ts.zeros(FULL), (1,) * 65),
    lambda: ts.outer(ts.zeros(2), ts.zeros(2))[(None,) * 63],
])  # fmt: skip
def test_no_view_has_more_than_64_axes(call: Callable[[], Any]) -> None:
    with pytest.raises(ts.errors.TessellaError, match="64"):
        call()


def test_all_64_axes_work() -> None:
    x = ts.arange(4).reshape((1,) * 31 + (2,) + (1,) * 31 + (2,))
    assert x.ndim == 64 and x.permute(tuple(reversed(range(64)))).reshape(-1).tolist() == [
        0,
        2,
        1,
        3,
    ]
    assert x.sum(axis=tuple(range(63))).tolist() == [2, 4] and (x + x).flip().item(0) == 6


TOO_LARGE = [(1 << 32, 1 << 32), (1 << 62, 4), (3, 1 << 62, 0), (0, 1 << 40, 1 << 40)]


@pytest.mark.parametrize("shape", TOO_LARGE)
def test_shapes_with_more_than_63_bits_of_elements_are_refused(shape: tuple[int, ...]) -> None:
    makers: list[Callable[[], Any]] = [
        lambda: Layout(shape), lambda: ts.zeros(()).broadcast_to(shape), lambda: ts.zeros(shape)
    ]  # fmt: skip
    for make in makers:
        with pytest.raises(ts.errors.LengthOverflow, match="more elements than can be counted"):
            make()


@pytest.mark.parametrize(
    "size", [1 << 63, -(1 << 63) - 1, 1 << 20_000], ids=["first", "last", "long"]
)
def test_integers_of_more_than_63_bits_are_refused(size: int) -> None:
    x = ts.zeros(2, 3)
    calls: list[Callable[[], Any]] = [
        lambda: ts.zeros(size), lambda: x.broadcast_to(size, 3), lambda: x.reshape(size),
        lambda: x.sum(axis=size), lambda: x.permute(size, 0), lambda: x.unfold(0, size),
        lambda: x.diagonal(size), lambda: ts.linspace(0, 1, size), lambda: x.tile(size),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(ts.errors.LengthOverflow, match="hint: integers have at most 63 bits"):
            call()


@pytest.mark.parametrize("size", [0, 4])
def test_differences_end_where_none_are_left(size: int) -> None:
    assert ts.diff(ts.arange(size), n=1 << 40).shape == (0,)


@given(st.lists(st.integers(0, 1 << 33), max_size=4))
def test_a_broadcast_view_of_any_size_is_free_or_refused(shape: list[int]) -> None:
    # Bytes are counted in 63 bits, of items of up to 4096 bytes.
    fits = np.prod([max(n, 1) for n in shape], dtype=object) < 1 << 51
    x = ts.zeros(())
    before = _core.memory_counts()[0]
    try:
        x = x.broadcast_to(shape)
        assert x.shape == tuple(shape)
    except ts.errors.LengthOverflow:
        assert not fits
    assert _core.memory_counts()[0] == before


def test_reshape_copies_as_it_is_told() -> None:
    x = ts.arange(6).reshape(2, 3)
    assert ts.reshape(x, (6,), copy=False).data_ptr == x.data_ptr
    assert ts.reshape(x, (6,), copy=True).data_ptr != x.data_ptr
    assert ts.reshape(x.T, (6,), copy=None).tolist() == x.T.reshape(6, copy=True).tolist()
    with pytest.raises(ValueError, match="reshape: "):
        ts.reshape(x.T, (6,), copy=False)


# --- what a layout cannot be ----------------------------------------------------------------------


def test_items_have_bytes() -> None:
    for sizes in ((4, 0), (0, 4), (4, -1)):
        with pytest.raises(ts.errors.ShapeError, match="items have at least one byte"):
            Layout((4,)).bitcast(*sizes)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Layout((4,), (1,), 2**63 - 1),
        lambda: Layout((3, 0), (2**62, 1)),
        lambda: Layout((8,), (1,), 2**62).bitcast(8, 4),
        lambda: _core.resolve_reshape((2**62, 4), (-1,)),
    ],
)
def test_places_that_cannot_be_counted_to_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(ts.errors.LengthOverflow, match="more elements than can be counted"):
        make()


def test_layouts_are_equal_by_value_and_hashed_so() -> None:
    assert len({Layout((4,)), Layout((4,)), Layout((4,), (2,))}) == 2
    assert Layout((4,)) != 3 and Layout((4,)) != Layout((4,), (1,), 1)
