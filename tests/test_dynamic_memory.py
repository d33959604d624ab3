"""DynamicArray when memory fails, moves, is shared or taken back, and when other code interferes.

What an array holds after each operation is compared with a list in test_dynamic_model.py.
"""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tessella as ts
from arrays import ALLOCATORS, FIXED, contents, state
from tessella import _core

Act = Callable[[ts.DynamicArray], Any]


def filled(where: str = "heap", shape: tuple[int, ...] = (), **options: Any) -> ts.DynamicArray:
    """Make a full array of four items."""
    allocator = ALLOCATORS[where]()
    a = ts.DynamicArray(ts.float32, 4, allocator=allocator, item_shape=shape, **options)
    a.extend(ts.arange(4 * max(1, int(np.prod(shape)))).reshape(4, *shape).astype(ts.float32))
    return a


def item(a: ts.DynamicArray) -> Any:
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
    "sort": lambda a: a.sort(key=lambda x: -x.sum().item() if a.item_shape else -x),
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


def runs_with(a: ts.DynamicArray, act: Act, first: int) -> bool:
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
        USES[name](a)
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


# --- code that interferes -------------------------------------------------------------------------


class Trouble:
    """Does something to an array the second time that it is asked."""

    def __init__(self, a: ts.DynamicArray, act: Act) -> None:
        self.a, self.act, self.asked = a, act, 0

    def __call__(self, *args: Any) -> int:
        self.asked += 1
        if self.asked == 2:
            self.act(self.a)
        return self.asked % 3

    def __iter__(self) -> Iterator[float]:
        for _ in range(4):
            yield float(self())


INTERFERENCE: dict[str, Act] = {
    "append": lambda a: a.append(9.0),
    "extend": lambda a: a.extend(range(10_000)),
    "clear": lambda a: a.clear(),
    "pop": lambda a: a.pop(),
    "write": lambda a: a.__setitem__(0, 5.0),
    "sort": lambda a: a.sort(descending=True),
}


@pytest.mark.parametrize("name", INTERFERENCE)
@pytest.mark.parametrize("how", ["key", "compare"])
def test_a_sort_notices_that_its_key_changes_the_array(how: str, name: str) -> None:
    a = filled()
    reference = filled()
    INTERFERENCE[name](reference)
    with pytest.raises(ts.errors.IllegalState, match="sort: the array changed while it was sorted"):
        a.sort(**{how: Trouble(a, INTERFERENCE[name])})  # type: ignore[arg-type]
    assert list(a) == list(reference)


@pytest.mark.parametrize("shape", [(), (2,)])
def test_a_key_may_reset_the_arena(shape: tuple[int, ...]) -> None:
    arena = ts.memory.Arena("4KiB")
    a = ts.DynamicArray(ts.float32, 4, allocator=arena, item_shape=shape)
    a.extend(ts.ones(4, *shape))
    with pytest.raises(ts.errors.UseAfterFree):
        a.sort(key=Trouble(a, lambda a: arena.reset()))


@pytest.mark.parametrize("name", INTERFERENCE)
def test_iterables_may_change_the_array_that_they_extend(name: str) -> None:
    a, reference = filled(), filled()
    a.extend(Trouble(a, INTERFERENCE[name]))
    INTERFERENCE[name](reference)
    assert list(a) == [*reference, 1.0, 2.0, 0.0, 1.0]


def test_an_error_of_a_key_leaves_the_array_alone() -> None:
    a = filled()
    before = state(a)

    def fail(x: Any) -> int:
        raise KeyError(x)

    for options in ({"key": fail}, {"compare": lambda x, y: fail(x)}):
        with pytest.raises(KeyError):
            a.sort(**options)
        assert state(a) == before
    with pytest.raises(ZeroDivisionError):
        a.extend(1 / x for x in (1, 0))
    assert state(a) == before


class Index:
    """An index that changes the array it is used on."""

    def __init__(self, act: Callable[[], Any]) -> None:
        self.act = act

    def __index__(self) -> int:
        self.act()
        return 3


def test_indices_may_change_the_array_that_they_index() -> None:
    uses: list[Callable[[Any, Any], Any]] = [
        lambda a, i: a[i], lambda a, i: a.__setitem__(i, 1.0), lambda a, i: a.pop(i),
        lambda a, i: a.insert(i, 1.0), lambda a, i: a.__delitem__(i)]  # fmt: skip
    for use in uses:
        a = filled()
        with pytest.raises(IndexError):
            use(a, Index(a.clear))
        assert len(a) == 0


def test_a_value_may_change_the_array_that_it_goes_into() -> None:
    class Value:
        def __init__(self, a: ts.DynamicArray) -> None:
            self.a = a

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            self.a.clear()
            return np.array(2.5, dtype="float32")

    uses: list[Act] = [lambda a: a.append(Value(a)), lambda a: a.push_front(Value(a))]
    for use in uses:
        a = filled()
        use(a)
        assert list(a) == [2.5]
    a = filled()
    with pytest.raises(IndexError):
        a.insert(2, Value(a))
    assert len(a) == 0


def test_threads_append_to_one_array() -> None:
    a = ts.DynamicArray(ts.int64)
    errors: list[Exception] = []

    def work(first: int) -> None:
        try:
            for i in range(first, 20_000, 4):
                a.append(i)
                if i % 1000 == 0:
                    a[-1:].tolist()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and sorted(a) == list(range(20_000))


def test_sorting_and_appending_at_once_is_refused_or_done() -> None:
    a = ts.DynamicArray(ts.float64)
    a.extend(ts.rand(400_000, dtype=ts.float64))
    refused = 0
    stop = threading.Event()

    def append() -> None:
        while not stop.is_set():
            try:
                a.append(0.5)
            except ts.errors.IllegalState:  # the memory is pinned by the sort
                stop.wait(0.001)

    thread = threading.Thread(target=append)
    thread.start()
    for _ in range(5):
        try:
            a.sort()
        except ts.errors.IllegalState:
            refused += 1
    stop.set()
    thread.join()
    assert refused <= 5 and len(a) >= 400_000
    a.sort()
    assert bool((a[1:] >= a[:-1]).all())


def test_reports_of_memory_name_arrays() -> None:
    a = ts.DynamicArray(ts.float64, 1 << 20)
    assert "float64 (0,)" in ts.memory.report()
    del a
