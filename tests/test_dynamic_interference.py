"""DynamicArray when other code interferes: keys, comparators, iterables, indices, values."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tessella as ts
from arrays import POINT, Act, array, filled, state
from tessella import _core


class Trouble:
    """Does something to an array the second time that it is asked."""

    def __init__(self, a: ts.DynamicArray[Any], act: Act) -> None:
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


def test_an_iterable_may_reset_the_arena() -> None:
    arena = ts.memory.Arena("4KiB")
    a = ts.DynamicArray(ts.float32, 4, allocator=arena)
    with pytest.raises(ts.errors.UseAfterFree, match="extend: the memory of DynamicArray"):
        a.extend(Trouble(a, lambda a: arena.reset()))


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
        def __init__(self, a: ts.DynamicArray[Any]) -> None:
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


@pytest.mark.parametrize("place", [(), (-1,), (0,)])
@pytest.mark.parametrize("is_row", [False, True])
def test_threads_pop_each_item_once(place: tuple[int, ...], is_row: bool) -> None:
    count, interval = 3_000, sys.getswitchinterval()
    items = [(i, i % 200) for i in range(count)]
    a = array(items, ts.int16, item_shape=(2,)) if is_row else array(items, POINT)
    got: list[Any] = []
    errors: list[Exception] = []

    def work() -> None:
        try:
            while True:
                item = a.pop(*place)
                got.append(item.tolist() if is_row else item)
        except ts.errors.Empty:
            pass
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not errors and sorted(map(tuple, got)) == items


def test_an_item_that_cannot_be_unpacked_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    a = array([(1, 2), (3, 4)], POINT)

    def fail(self: Any, data: bytes) -> Any:
        raise MemoryError

    monkeypatch.setattr(type(POINT), "unpack", fail)
    for place in ((), (0,)):
        with pytest.raises(MemoryError):
            a.pop(*place)
    monkeypatch.undo()
    assert list(a) == [(1, 2), (3, 4)]


def test_pop_gives_what_it_removes_though_unpacking_changes_the_array(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a = array([(1, 2), (3, 4), (5, 6)], POINT)
    unpack, acts = type(POINT).unpack, [lambda: a.extend([(7, 8)])]

    def meddle(self: Any, data: bytes) -> Any:
        if acts:
            acts.pop()()
        return unpack(self, data)

    monkeypatch.setattr(type(POINT), "unpack", meddle)
    assert a.pop() == (7, 8) and list(a) == [(1, 2), (3, 4), (5, 6)]
    acts.append(a.clear)
    with pytest.raises(ts.errors.Empty, match="pop: there is no item to pop"):
        a.pop()


def test_pop_says_how_many_arguments_it_takes() -> None:
    a = filled()
    with pytest.raises(ts.errors.ArgumentError, match="pop: 3 arguments given, 1 taken") as caught:
        a.pop(1, 2, 3)  # type: ignore[call-arg]  # that is the mistake
    assert "hint: the signature is pop(index=-1)" in str(caught.value) and len(a) == 4


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


def test_the_core_checks_what_it_is_given() -> None:
    a, handle = filled(), _core.heap_allocator()
    row, wrong = ts.ones(1), ts.ones(1, dtype=ts.float64)
    acts: list[Callable[[], Any]] = [
        lambda: _core.array_insert(a, -1, row), lambda: _core.array_insert(a, 5, row),
        lambda: _core.array_insert(a, 0, wrong), lambda: _core.array_insert(a, 0, ts.ones(1, 1)),
        lambda: _core.array_insert(row, 0, row), lambda: _core.array_remove(a, 3, 2),
        lambda: _core.array_remove(a, -1, 1), lambda: _core.array_remove(a, 0, -1),
        lambda: _core.array_take(a, 0, ts.ones(2)),
        lambda: _core.array_rewrite(a, _core.array_stamp(a), wrong),
        lambda: _core.DynamicArray(-1, 0, True, (), handle),
        lambda: _core.DynamicArray(78, 0, True, (), handle),
        lambda: _core.DynamicArray(1000, 0, True, (), handle),
        lambda: _core.DynamicArray(0, -1, True, (), handle),
        lambda: _core.DynamicArray(0, 0, True, (), None),  # type: ignore[arg-type]
    ]  # fmt: skip
    before = state(a)
    for act in acts:
        with pytest.raises((TypeError, IndexError)):
            act()
    assert not _core.array_take(a, 4, ts.ones(())) and not _core.array_take(a, -5, ts.ones(()))
    assert not _core.array_rewrite(a, _core.array_stamp(a), row)
    assert state(a) == before


def test_item_that_shortens_the_array_when_it_is_packed_is_refused() -> None:
    a = array([(1, 2), (3, 4)], POINT)

    class Popping:
        def __index__(self) -> int:
            a.pop()
            return 7

    with pytest.raises(ts.errors.IndexOutOfBounds):
        a[1] = (Popping(), 8)
    assert list(a) == [(1, 2)]


def test_reversing_items_without_bytes_takes_no_time() -> None:
    a = ts.DynamicArray(ts.float32, item_shape=(0,))
    a.extend(ts.zeros(1, 0).expand(1 << 45, 0))
    a.reverse()
    assert len(a) == 1 << 45
