"""DynamicArray when memory fails, moves, is shared or taken back.

What an array holds after each operation is compared with a list in test_dynamic_model.py.
"""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessella as ts
from arrays import ALLOCATORS, FIXED, Act, contents, filled, state
from tessella import _core


def item(a: ts.DynamicArray[Any]) -> Any:
    """Make an item of lists, which takes memory on its way in."""
    return ts.ones(a.item_shape).tolist()


# --- S4: failure leaves things as they were -------------------------------------------------------

OPERATIONS: dict[str, Act] = {
    "append": lambda a: a.append(item(a)),
    "append a tensor": lambda a: a.append(ts.ones(a.item_shape)),
    "push_front": lambda a: a.push_front(item(a)),
    "insert": lambda a: a.insert(2, item(a)),
    "insert a row of its own": lambda a: a.insert(0, a.as_tensor()[2]),
    "extend by a list": lambda a: a.extend([item(a)] * 9),
    "extend by a tensor": lambda a: a.extend(ts.ones(9, *a.item_shape)),
    "extend by itself": lambda a: a.extend(a),
    "extend by itself backwards": lambda a: a.extend(a[::-1]),
    "extend by an iterator": lambda a: a.extend(iter([item(a)] * 9)),
    "add": lambda a: a.__iadd__([item(a)]),
    "pop": lambda a: a.pop(),
    "pop_front": lambda a: a.pop_front(),
    "pop_at": lambda a: a.pop_at(1),
    "delete": lambda a: a.__delitem__(slice(None, None, 2)),
    "assign": lambda a: a.__setitem__(1, item(a)),
    "assign a slice": lambda a: a.__setitem__(slice(2), [item(a)] * 2),
    "set": lambda a: a.set(1, 5),
    "sort": lambda a: a.sort(key=lambda x: -x.sum().item() if a.item_shape else -x),  # type: ignore[union-attr]
    "sort by a tensor": lambda a: a.sort(key=ts.tensor([3, 1, 2, 0])),
    "sort by comparing": lambda a: a.sort(compare=lambda x, y: 0),
    "reverse": lambda a: a.reverse(),
    "clear": lambda a: a.clear(),
    "reserve": lambda a: a.reserve(20),
    "shrink": lambda a: a.shrink_to_fit(),
    "copy": lambda a: a.copy(),
    "slice": lambda a: a.slice(1, 3),
    "find": lambda a: a.find(item(a)),
    "equals": lambda a: a.equals(a, rtol=0.1),
    "extremes": lambda a: (a.min(), a.max(), a.sum()),
    "pickle": lambda a: pickle.loads(pickle.dumps(a)),
    "deepcopy": lambda a: copy.deepcopy(a),
    "print": repr,
}  # fmt: skip


def live() -> int:
    """Give the bytes of all tensors and arrays."""
    return ts.memory.stats().live


def runs_with(a: ts.DynamicArray[Any], act: Act, first: int) -> bool:
    """Tell whether an operation succeeds while allocations fail from the first on."""
    before, bytes_before = state(a), live()
    _core.fail_allocations_from(first)
    try:
        act(a)
    except MemoryError:
        is_done = False
    else:
        is_done = True
    finally:
        _core.fail_allocations_from(0)
    if not is_done:
        assert state(a) == before
        assert live() == bytes_before
    return is_done


@pytest.mark.parametrize("shape", [(), (3, 2)], ids=["numbers", "rows"])
@pytest.mark.parametrize("where", ALLOCATORS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_failed_allocation_changes_nothing_and_leaks_nothing(
    name: str, where: str, shape: tuple[int, ...]
) -> None:
    first = 1
    while not runs_with(filled(where, shape), OPERATIONS[name], first):
        first += 1
    assert first < 60


@pytest.mark.parametrize("descending", [False, True])
def test_a_failed_allocation_leaves_a_plain_sort_undone(descending: bool) -> None:
    first = 1
    while not runs_with(filled(), lambda a: a.sort(descending=not descending), first):
        first += 1
    assert first > 1


def test_a_failed_constructor_leaves_nothing() -> None:
    before = live()
    wanted = pytest.raises(ts.errors.OutOfMemory, match="for DynamicArray of float64")
    with ts.memory.limit(before + 1000), wanted as caught:
        ts.DynamicArray(ts.float64, 1000)
    assert "needs 7.8 KiB" in str(caught.value) and live() == before


def test_a_subclass_never_sees_an_array_that_has_no_memory() -> None:
    seen: list[bool] = []

    class Watched(ts.DynamicArray):
        def __del__(self) -> None:
            seen.append(self.is_freed)
            repr(self)

    gc.collect()
    before = live()
    with ts.memory.limit(before + 1000), pytest.raises(ts.errors.OutOfMemory):
        Watched(ts.float64, 1000)
    gc.collect()
    assert seen == [] and live() == before
    Watched(ts.float64, 10)
    gc.collect()
    assert seen == [False] and live() == before


def test_the_limit_stops_growth_and_the_array_goes_on() -> None:
    a = ts.DynamicArray(ts.uint8, 1000)
    a.extend(ts.ones(1000, dtype=ts.uint8))
    before = state(a)
    with ts.memory.limit(live() + 500):
        acts: list[Callable[[], Any]] = [
            lambda: a.append(1), lambda: a.extend(a), lambda: a.insert(3, 1)]  # fmt: skip
        for act in acts:
            with pytest.raises(ts.errors.OutOfMemory, match=r"needs .* for DynamicArray of uint8"):
                act()
            assert state(a) == before
    a.append(1)
    assert len(a) == 1001


# --- allocators that cannot grow ------------------------------------------------------------------


@pytest.mark.parametrize("where", FIXED)
def test_allocators_that_cannot_grow_say_so(where: str) -> None:
    a = ts.DynamicArray(ts.float64, 4, allocator=ALLOCATORS[where]())
    with pytest.raises(ts.errors.CapacityOverflow) as caught:
        for i in range(10_000):
            a.append(i)
    shown = str(caught.value)
    assert f"{where.title()} '" in shown and "cannot grow" in shown and "copy(allocator=" in shown
    assert contents(a) == [float(i) for i in range(len(a))]
    moved = a.copy(allocator=ts.memory.heap)
    moved.append(0.5)
    assert len(moved) == len(a) + 1


def test_a_fixed_allocator_is_used_to_its_last_byte() -> None:
    for where, room in (("pool", 2048), ("slab", 4096), ("buddy", 16384), ("arena", 16384)):
        a = ts.DynamicArray(ts.float64, 0, allocator=ALLOCATORS[where]())
        with pytest.raises(ts.errors.CapacityOverflow):
            for i in range(10_000):
                a.append(i)
        # A buddy moves to a block twice as large beside the old one; the last step is refused.
        assert a.capacity * 8 in (room, room // 2), where


def test_many_arrays_share_a_pool_until_it_is_empty() -> None:
    pool = ts.memory.Pool(64, 3)
    arrays = [ts.DynamicArray(ts.float32, 16, allocator=pool) for _ in range(3)]
    with pytest.raises(ts.errors.OutOfMemory, match=r"Pool '.*' has 0 B free"):
        ts.DynamicArray(ts.float32, 1, allocator=pool)
    del arrays[0]
    ts.DynamicArray(ts.float32, 1, allocator=pool)


def test_what_is_gone_when_a_call_returns_takes_no_room_in_the_scope() -> None:
    pool = ts.memory.Pool(256, 1)
    with ts.memory.use(pool):
        a = ts.DynamicArray(ts.float32, 4, item_shape=(2,))
        a.append([3, 4])
        a.extend([[1, 2], [5, 6]])
        a.insert(0, [7, 8])
        a[0] = [9, 9]
        a.sort(key=lambda row: row[0].item())
        a.sort(key=[3, 2, 1, 0])
        del a[::2]
        assert (a.find([5, 6]), a.equals(a), a.min(), a.sum()) == (0, True, 1.0, 14.0)  # type: ignore[arg-type]
    assert (pool.count, pool.allocations, contents(a)) == (1, 1, [[5, 6], [1, 2]])


def test_an_array_keeps_its_allocator() -> None:
    a = ts.DynamicArray(ts.int64, 2, allocator=ts.memory.Arena("1KiB", growable=True))
    gc.collect()
    a.extend(range(1000))
    assert list(a) == list(range(1000)) and isinstance(a.allocator, ts.memory.Arena)


# --- views ----------------------------------------------------------------------------------------


def test_views_keep_the_block_that_the_array_left() -> None:
    a = filled()
    view, whole, row = a[1:3], ts.asarray(a), a[0:1]
    a.append(4.0)  # moves it
    a[1] = 10.0
    assert (view.tolist(), whole.tolist(), row.tolist()) == ([1, 2], [0, 1, 2, 3], [0])
    assert list(a) == [0, 10, 2, 3, 4]
    view[0] = 7.0
    assert a[1] == 10.0 and whole.tolist() == [0, 7, 2, 3]
    assert a.allocator.count == 2
    del view, whole, row
    assert a.allocator.count == 1


def test_views_stay_attached_while_the_array_does_not_move() -> None:
    a = filled()
    a.reserve(8)
    view = a[:]
    a.append(4.0)
    a.push_front(5.0)
    assert view.tolist() == [5, 0, 1, 2] and view.data_ptr == a.data_ptr
    a.clear()
    assert view.tolist() == [0, 0, 0, 0]


def test_growth_in_place_keeps_views_attached() -> None:
    arena = ts.memory.Arena("64KiB")
    a = ts.DynamicArray(ts.float32, 4, allocator=arena)
    a.extend([1, 2, 3, 4])
    view = a[:]
    a.extend(range(100))  # the last block of an arena grows where it lies
    a[0] = 9.0
    assert view.tolist() == [9, 2, 3, 4] and arena.count == 1


@pytest.mark.parametrize("where", ALLOCATORS)
def test_views_of_popped_items_outlive_shrinking(where: str) -> None:
    a = filled(where)
    view = a[:]
    for _ in range(3):
        a.pop()
    a.shrink_to_fit()
    with ts.memory.use(a.allocator):
        others = [ts.full((4,), 7, dtype=ts.float32) for _ in range(3)]
    assert (a.capacity, list(a), view.tolist()) == (1, [0.0], [0, 1, 2, 3])
    assert all(x.tolist() == [7] * 4 for x in others)


def test_gradients_notice_writes_to_what_they_need() -> None:
    a = filled()
    x = a.as_tensor().requires_grad_()
    before = x.version
    a.reverse()
    a.append(1.0)
    assert x.version > before


# --- pins -----------------------------------------------------------------------------------------

EXPORTS: dict[str, Callable[[ts.DynamicArray], Any]] = {
    "memoryview": memoryview,
    "numpy": np.asarray,
    "a view's memory": lambda a: np.asarray(a[1:]),
    "dlpack": lambda a: np.from_dlpack(a),
}


@pytest.mark.parametrize("how", EXPORTS)
@pytest.mark.parametrize("where", ALLOCATORS)
def test_memory_that_others_see_does_not_move(where: str, how: str) -> None:
    a = filled(where)
    shared = EXPORTS[how](a)
    before = state(a)
    acts: list[Callable[[], Any]] = [lambda: a.extend(range(5000)), lambda: a.reserve(5000)]
    for act in acts:
        with pytest.raises(ts.errors.IllegalState, match="its memory would move") as caught:
            act()
        shown = str(caught.value)
        assert "test_dynamic_memory.py" in shown and "let go of it first" in shown
        assert state(a) == before
    a.pop()
    with pytest.raises(ts.errors.IllegalState):
        a.shrink_to_fit()
    a.append(8.0)
    a.reverse()
    del shared
    gc.collect()
    a.shrink_to_fit()
    assert list(a) == [8, 2, 1, 0]


def test_who_shares_the_memory_is_named() -> None:
    a = filled()
    shared = memoryview(a)
    with pytest.raises(ts.errors.IllegalState) as caught:
        a.append(1.0)
    shown = str(caught.value)
    assert shown.startswith("append: its memory would move, and is in use by a memoryview or NumPy")
    assert "since test_dynamic_memory.py:" in shown
    shared.release()
    a.append(1.0)


# --- arenas that take memory back -----------------------------------------------------------------

USES: dict[str, Act] = OPERATIONS | {
    "plain sort": lambda a: a.sort(),
    "get": lambda a: a.get(0),
    "index": lambda a: a[0],
    "view": lambda a: a[:],
    "iterate": list,
    "address": lambda a: a.data_ptr,
    "bracket": lambda a: a.bracket(1, key=lambda x: 0),
    "memoryview": memoryview,
    "numpy": np.asarray,
}
del USES["print"]


@pytest.mark.parametrize("shape", [(), (3, 2)], ids=["numbers", "rows"])
@pytest.mark.parametrize("name", USES)
def test_an_array_whose_arena_was_reset_says_so(name: str, shape: tuple[int, ...]) -> None:
    arena = ts.memory.Arena("4KiB", name="batch")
    a = ts.DynamicArray(ts.float32, 4, allocator=arena, item_shape=shape)
    a.extend(ts.ones(4, *shape))
    arena.reset()
    with pytest.raises(ts.errors.UseAfterFree, match="Arena 'batch' was reset"):
        USES[name](a)  # type: ignore[arg-type]
    assert a.is_freed and len(a) == 4 and a.shape == (4, *shape) and not a.owns(0)
    assert repr(a) == f"DynamicArray float32 {a.shape} capacity 4 freed"


def test_a_reset_refuses_while_an_array_is_shared() -> None:
    arena = ts.memory.Arena("4KiB")
    a = ts.DynamicArray(ts.float32, 4, allocator=arena)
    shared = memoryview(a)
    with pytest.raises(ts.errors.IllegalState, match="a memoryview or NumPy array"):
        arena.reset()
    shared.release()
    arena.reset()
    assert a.is_freed


def test_reports_of_memory_name_arrays() -> None:
    a = ts.DynamicArray(ts.float64, 1 << 20)
    assert "float64 (0,)" in ts.memory.report()
    del a


def test_a_slab_that_may_take_no_more_is_out_of_memory() -> None:
    a = ts.DynamicArray(ts.uint8, 4, allocator=ts.memory.Slab(64, 1024))
    a.extend([1, 2, 3, 4])
    with (
        ts.memory.limit(ts.memory.stats().live),
        pytest.raises(ts.errors.OutOfMemory, match="limit"),
    ):
        a.extend([0] * 100)
    assert a.as_tensor().tolist() == [1, 2, 3, 4]
