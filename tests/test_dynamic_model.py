"""DynamicArray against Python's list: random operations in any order, in every allocator.

After each step the items equal the list's, the allocator's counts are exact, views show the array's
items or the block that it left, and whatever was refused changed nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import tessella as ts
from arrays import ALLOCATORS, FIXED, POINT, check, contents, item_bytes, live_blocks, state
from nested import listed
from tessella import _core

REFUSED = (ts.errors.CapacityOverflow, ts.errors.IllegalState, ts.errors.OutOfMemory)
DTYPES = [ts.float32, ts.int64, ts.uint8, ts.bool, ts.complex64, ts.bfloat16, ts.int16, POINT]
SHAPES: list[tuple[int, ...]] = [(), (2,), (2, 3), (0,), (1,)]
NUMBERS: dict[str, Callable[[int], Any]] = {
    "bool": lambda n: n % 2 == 1,
    "real floating": lambda n: n / 2 - 8,
    "complex floating": lambda n: complex(n / 2, -n),
    "user": lambda n: (-n, n),
}
seeds = st.integers(0, 40)
places = st.integers(-12, 40)


def number(dtype: ts.DType, seed: int) -> Any:
    """Make a number that the dtype holds exactly."""
    return NUMBERS[dtype.kind](seed) if dtype.kind in NUMBERS else seed


def row(dtype: ts.DType, shape: tuple[int, ...], seed: int) -> Any:
    """Make an item: a number, or nested lists of them."""
    if not shape:
        return number(dtype, seed)
    return [row(dtype, shape[1:], seed + i) for i in range(shape[0])]


class ArrayModel(RuleBasedStateMachine):
    """One array, the list that it must equal, and views of it."""

    @initialize(
        where=st.sampled_from(sorted(ALLOCATORS)),
        dtype=st.sampled_from(DTYPES),
        shape=st.sampled_from(SHAPES),
        capacity=st.integers(0, 6),
        growth=st.sampled_from([True, True, True, False]),
    )
    def make(
        self, where: str, dtype: ts.DType, shape: tuple[int, ...], capacity: int, growth: bool
    ) -> None:
        self.where, self.allocator = where, ALLOCATORS[where]()
        self.a = ts.DynamicArray(dtype, capacity, growth, self.allocator, shape)
        self.model: list[Any] = []
        self.views: list[tuple[ts.Tensor, int]] = []  # with where they begin
        self.seen: list[Any] = []  # what they showed last
        self.exported: list[memoryview] = []

    def row(self, seed: int) -> Any:
        return row(self.a.dtype, self.a.item_shape, seed)

    def is_known_to_others(self) -> bool:
        return self.a.dtype not in (ts.bfloat16, POINT)

    def attempt(self, act: Callable[[], Any], change: Callable[[list[Any]], Any]) -> None:
        """Do the same to the array and to the list, or see that a refusal changed nothing."""
        before = state(self.a)
        try:
            given = act()
        except REFUSED as error:
            is_pinned = isinstance(error, ts.errors.IllegalState)
            assert bool(self.exported) >= is_pinned
            is_full = isinstance(error, ts.errors.CapacityOverflow)
            assert is_full <= (not self.a.growth or self.where in FIXED)
            assert state(self.a) == before
            return
        wanted = change(self.model)
        if given is not None or wanted is not None:
            assert (given.tolist() if isinstance(given, ts.Tensor) else given) == wanted

    # --- adding -----------------------------------------------------------------------------------

    @rule(seed=seeds, as_tensor=st.booleans())
    def append(self, seed: int, as_tensor: bool) -> None:
        item = self.row(seed)
        value = ts.tensor(item, dtype=self.a.dtype) if as_tensor else item
        self.attempt(lambda: self.a.append(value), lambda m: m.append(item))

    @rule(seed=seeds)
    def push_front(self, seed: int) -> None:
        item = self.row(seed)
        self.attempt(lambda: self.a.push_front(item), lambda m: m.insert(0, item))

    @rule(seed=seeds, part=st.floats(0, 1))
    def insert(self, seed: int, part: float) -> None:
        item, place = self.row(seed), int(part * len(self.model))
        self.attempt(lambda: self.a.insert(place, item), lambda m: m.insert(place, item))

    @rule(
        seed=seeds,
        count=st.integers(0, 30),
        kind=st.sampled_from(["list", "tensor", "strided", "iterator", "array"]),
    )
    def extend(self, seed: int, count: int, kind: str) -> None:
        items = [self.row(seed + i) for i in range(count)]
        whole = ts.tensor(items, dtype=self.a.dtype).reshape(count, *self.a.item_shape)
        values: Any = items
        if kind == "tensor":
            values = whole
        elif kind == "strided":
            values = ts.concat([whole, whole], axis=0).reshape(2, *whole.shape)[1].flip(0).flip(0)
        elif kind == "iterator":
            values = iter(items)
        elif kind == "array" and self.is_known_to_others():
            values = np.array(items, dtype=self.a.dtype.name).reshape(whole.shape)
        self.attempt(lambda: self.a.extend(values), lambda m: m.extend(items))

    @rule()
    def extend_by_itself(self) -> None:
        if len(self.model) < 500:
            self.attempt(lambda: self.a.extend(self.a), lambda m: m.extend(list(m)))

    @rule(part=st.floats(0, 1), step=st.sampled_from([1, 2, -1]))
    def extend_by_a_part_of_itself(self, part: float, step: int) -> None:
        key = (
            slice(None, None, step) if step < 0 else slice(int(part * len(self.model)), None, step)
        )
        if len(self.model) < 500:
            self.attempt(lambda: self.a.extend(self.a[key]), lambda m: m.extend(m[key]))

    @rule(part=st.floats(0, 1))
    @precondition(lambda self: bool(self.model))
    def insert_one_of_its_own_rows(self, part: float) -> None:
        place = int(part * (len(self.model) - 1))
        self.attempt(lambda: self.a.insert(0, self.a[place]), lambda m: m.insert(0, m[place]))

    # --- taking out -------------------------------------------------------------------------------

    @rule(how=st.sampled_from(["pop", "pop_back", "pop_front"]))
    def pop(self, how: str) -> None:
        if self.model:
            at = 0 if how == "pop_front" else -1
            self.attempt(getattr(self.a, how), lambda m: m.pop(at))
            return
        try:
            getattr(self.a, how)()
        except ts.errors.Empty:
            return
        raise AssertionError("nothing was popped")

    @rule(at=places)
    def pop_at(self, at: int) -> None:
        if -len(self.model) <= at < len(self.model):
            self.attempt(lambda: self.a.pop_at(at), lambda m: m.pop(at))

    @rule(start=places, stop=places, step=st.sampled_from([1, 1, 2, -1, -3]))
    def delete(self, start: int, stop: int, step: int) -> None:
        key = slice(start, stop, step)
        self.attempt(lambda: self.a.__delitem__(key), lambda m: m.__delitem__(key))

    @rule()
    def clear(self) -> None:
        self.attempt(self.a.clear, lambda m: m.clear())

    # --- changing ---------------------------------------------------------------------------------

    @rule(at=places, seed=seeds)
    def assign(self, at: int, seed: int) -> None:
        item = self.row(seed)
        if -len(self.model) <= at < len(self.model):
            self.attempt(lambda: self.a.__setitem__(at, item), lambda m: m.__setitem__(at, item))

    @rule()
    def reverse(self) -> None:
        self.attempt(self.a.reverse, lambda m: m.reverse())

    @rule(descending=st.booleans(), how=st.sampled_from(["plain", "key", "compare", "keys"]))
    def sort(self, descending: bool, how: str) -> None:
        is_ordered = self.a.dtype not in (ts.complex64, POINT) and not self.a.item_shape

        def rank(item: Any) -> str:
            return str(item.tolist() if isinstance(item, ts.Tensor) else item)[:3]

        def difference(x: Any, y: Any) -> int:
            return (rank(x) > rank(y)) - (rank(x) < rank(y))

        options: dict[str, Any] = {}
        if how == "compare":
            options["compare"] = difference
        elif how != "plain":
            options["key"] = rank if how == "key" else [rank(item) for item in self.model]
        if how != "plain" or is_ordered:
            self.attempt(
                lambda: self.a.sort(descending=descending, **options),
                lambda m: m.sort(key=rank if options else None, reverse=descending),
            )

    @rule(count=st.integers(0, 200))
    def reserve(self, count: int) -> None:
        self.attempt(lambda: self.a.reserve(count), lambda m: None)

    @rule()
    def shrink_to_fit(self) -> None:
        self.attempt(self.a.shrink_to_fit, lambda m: None)

    # --- copies, views, others --------------------------------------------------------------------

    @rule(start=places, stop=places)
    def copies(self, start: int, stop: int) -> None:
        try:
            part, whole = self.a.slice(start, stop), self.a.copy()
        except ts.errors.OutOfMemory:
            assert self.where in FIXED
            return
        assert contents(part) == self.model[start:stop]
        assert part.capacity == len(part) and not part.growth
        assert contents(whole) == self.model and whole.capacity == self.a.capacity

    @rule(start=st.integers(0, 10), count=st.integers(0, 10))
    def view(self, start: int, count: int) -> None:
        start = min(start, len(self.model))
        self.views = [*self.views[-2:], (self.a[start : start + count], start)]
        self.seen = [x.tolist() for x, _ in self.views]

    @rule()
    def let_views_go(self) -> None:
        self.views, self.seen = [], []

    @rule()
    def export(self) -> None:
        if self.is_known_to_others():
            self.exported.append(memoryview(self.a))

    @rule()
    def let_exports_go(self) -> None:
        for view in self.exported:
            view.release()
        self.exported = []

    # --- what holds -------------------------------------------------------------------------------

    @invariant()
    def the_array_equals_the_list(self) -> None:
        check(self.a, self.model)

    @invariant()
    def views_show_the_array_or_what_it_left(self) -> None:
        now = _core.buffer_key(self.a.as_tensor())
        for i, (x, start) in enumerate(self.views):
            if _core.buffer_key(x) == now:
                shared = self.model[start : start + len(x)]
                assert listed(x)[: len(shared)] == shared
            else:
                assert x.tolist() == self.seen[i]
        self.seen = [x.tolist() for x, _ in self.views]

    @invariant()
    def the_allocator_counts_exactly(self) -> None:
        blocks = live_blocks(self.a, [x for x, _ in self.views])
        assert blocks[_core.buffer_key(self.a.as_tensor())] == self.a.capacity * item_bytes(self.a)
        assert self.allocator.live == sum(blocks.values())
        assert self.allocator.count == len(blocks)

    def teardown(self) -> None:
        if hasattr(self, "a"):
            self.let_exports_go()
            self.let_views_go()
            del self.a
            assert (self.allocator.live, self.allocator.count) == (0, 0)


TestArrayModel = ArrayModel.TestCase
TestArrayModel.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
