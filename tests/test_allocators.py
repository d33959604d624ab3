"""Each allocator against a model in Python: random calls, and after each one every promise.

The model knows what was asked for: which tensors live, with how many bytes. Where a block lies and
when an allocator is full is the allocator's affair, within the promises that are checked here.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import tessella as ts
from tessella import memory
from tessella.dtypes import DType

ALIGNMENT = 64
DTYPES = [ts.uint8, ts.int16, ts.float32, ts.complex128]
# Bytes of one tensor: nothing, a few, about a block, and more than any allocator here has.
sizes = st.sampled_from([0, 1, 2, 63, 64, 65, 200, 256, 1000, 4096, 5000]) | st.integers(0, 3000)
beyond = st.sampled_from([1 << 26, 1 << 40, 1 << 50])


class Block:
    """A tensor with the pattern that it was filled with."""

    def __init__(self, x: ts.Tensor, number: int) -> None:
        self.x = x
        self.number = number
        self.pattern = [(number * 37 + i) % 251 for i in range(min(x.nbytes, 64))]

    def write(self) -> None:
        """Fill the first and the last bytes."""
        raw = memoryview(self.x).cast("B") if self.x.nbytes else memoryview(bytearray())
        raw[: len(self.pattern)] = bytes(self.pattern)
        raw[len(raw) - len(self.pattern) :] = bytes(self.pattern)

    def check(self) -> None:
        """Compare them."""
        raw = bytes(memoryview(self.x).cast("B")) if self.x.nbytes else b""
        n = len(self.pattern)
        wanted = bytearray(len(raw))
        wanted[:n] = bytes(self.pattern)
        wanted[len(raw) - n :] = bytes(self.pattern)
        assert raw[:n] == wanted[:n] and raw[len(raw) - n :] == wanted[len(raw) - n :]


class Machine(RuleBasedStateMachine):
    """What all allocators promise."""

    def __init__(self) -> None:
        super().__init__()
        self.others = memory.stats().live
        self.blocks: list[Block] = []
        self.dead: list[ts.Tensor] = []
        self.live = self.peak = self.allocations = 0
        self.numbers = itertools.count()
        self.allocator = self.make()

    def make(self) -> memory.Allocator:
        """Make the allocator to be tested."""
        return memory.Heap("tested")

    # --- steps ---

    def new(self, size: int, dtype: DType) -> ts.Tensor:
        """Ask for a tensor in the allocator."""
        with memory.use(self.allocator):
            return ts.empty(size // dtype.itemsize, dtype=dtype)

    @rule(size=sizes, dtype=st.sampled_from(DTYPES))
    def allocate(self, size: int, dtype: DType) -> None:
        """Make a tensor, or learn that there is no room, which changes nothing."""
        try:
            x = self.new(size, dtype)
        except ts.errors.OutOfMemory as error:
            assert self.allocator.name in str(error) and self.may_refuse(size)
            return
        assert x.allocator == self.allocator
        self.blocks.append(Block(x, next(self.numbers)))
        self.blocks[-1].write()
        self.live += x.nbytes
        self.allocations += 1
        self.peak = max(self.peak, self.live)

    def may_refuse(self, size: int) -> bool:
        """Tell whether so many bytes may be refused."""
        return False

    @rule(size=beyond)
    def ask_for_too_much(self, size: int) -> None:
        """Ask for more than there is."""
        room = memory.limit(memory.stats().live + memory.stats().reserved + (1 << 16))
        with room, pytest.raises(ts.errors.OutOfMemory, match="needs "):
            self.new(size, ts.uint8)

    @precondition(lambda self: self.blocks)
    @rule(data=st.data())
    def free(self, data: st.DataObject) -> None:
        """Let one tensor go."""
        block = self.blocks.pop(data.draw(st.integers(0, len(self.blocks) - 1)))
        self.live -= block.x.nbytes

    @precondition(lambda self: self.blocks)
    @rule(data=st.data())
    def keep_a_view(self, data: st.DataObject) -> None:
        """Let a tensor go of which a view remains: its block remains whole."""
        block = self.blocks[data.draw(st.integers(0, len(self.blocks) - 1))]
        x = block.x
        block.x = x.detach().view(x.shape)
        del x

    @rule()
    def trim(self) -> None:
        """Give back what nothing is in."""
        before = self.allocator.capacity
        assert self.allocator.trim() == before - self.allocator.capacity >= 0

    # --- promises ---

    @invariant()
    def contents_are_whole(self) -> None:
        """Nobody wrote into a tensor but its owner."""
        for block in self.blocks:
            assert not block.x.is_freed
            block.check()

    @invariant()
    def blocks_are_aligned_and_apart(self) -> None:
        """Blocks begin at multiples of 64 bytes and share nothing."""
        places = sorted((b.x.data_ptr, b.x.nbytes) for b in self.blocks if b.x.nbytes)
        assert all(start % ALIGNMENT == 0 for start, _ in places)
        for (start, size), (after, _) in itertools.pairwise(places):
            assert start + size <= after

    @invariant()
    def counts_are_exact(self) -> None:
        """Bytes as asked for, blocks, and the most there ever was."""
        a = self.allocator
        assert (a.live, a.peak, a.count) == (self.live, self.peak, len(self.blocks))
        assert a.allocations == self.allocations

    @invariant()
    def figures_make_sense(self) -> None:
        """Shares are shares."""
        a = self.allocator
        assert 0 <= a.live <= a.capacity and 0 <= a.free <= a.capacity
        assert a.live + a.free <= a.capacity
        assert 0.0 <= a.fragmentation <= 1.0
        assert a.name in repr(a) and f"{a.count} blocks" in repr(a)

    @invariant()
    def account_agrees(self) -> None:
        """The totals are the sums of their parts."""
        found = memory.stats()
        parts = found.allocators
        assert (
            found.live == sum(part["live"] for part in parts.values()) == sum(found.kinds.values())
        )
        assert found.live == self.others + self.live
        assert found.count == sum(part["count"] for part in parts.values())
        handles = [memory.wrap(handle) for handle in ts._core.all_allocators()]
        reserving = [a for a in handles if not isinstance(a, memory.Heap)]
        assert found.reserved == sum(a.capacity - a.live for a in reserving)
        assert found.peak >= found.live

    @invariant()
    def freed_tensors_refuse(self) -> None:
        """What an arena took back says so."""
        for x in self.dead:
            assert x.is_freed
            with pytest.raises(ts.errors.UseAfterFree):
                x.tolist()

    def teardown(self) -> None:
        """Let everything go: nothing is left."""
        self.blocks.clear()
        self.live = 0
        self.counts_are_exact()
        assert memory.stats().live == self.others
        del self.allocator


class HeapMachine(Machine):
    """The heap, with a count of its own."""


class PoolMachine(Machine):
    """Eight blocks of 1000 bytes."""

    def make(self) -> memory.Allocator:
        return memory.Pool(1000, 8, name="tested")

    def may_refuse(self, size: int) -> bool:
        return size > 1000 or len(self.blocks) == 8

    @invariant()
    def room_is_counted_in_blocks(self) -> None:
        """Each block that is not in use is free."""
        unit = self.allocator.capacity // 8
        assert unit % ALIGNMENT == 0 and (unit >= 1000 or not self.blocks)
        assert self.allocator.free == (8 - len(self.blocks)) * unit


class SlabMachine(Machine):
    """Classes of 100, 512 and 3000 bytes."""

    def make(self) -> memory.Allocator:
        return memory.Slab(512, 100, 3000, slab_size="8KiB", name="tested")

    def may_refuse(self, size: int) -> bool:
        return size > 3000


class BuddyMachine(Machine):
    """16 KiB, halved down to 128 bytes."""

    def make(self) -> memory.Allocator:
        return memory.Buddy("16KiB", min_block=128, name="tested")

    def may_refuse(self, size: int) -> bool:
        return self.allocator.free < 1 << 14  # empty, it gives whatever fits

    @invariant()
    def halves_join(self) -> None:
        """Empty, it gives one block of the whole size; never less than it says."""
        wanted = sum(
            max(128, 1 << (b.x.nbytes - 1).bit_length()) for b in self.blocks if b.x.nbytes
        )
        empty = sum(128 for b in self.blocks if not b.x.nbytes)
        if self.allocator.capacity:
            assert self.allocator.capacity - self.allocator.free in (wanted, wanted + empty)
        if not self.blocks:
            x = self.new(1 << 14, ts.uint8)
            assert self.allocator.free == 0
            self.peak, self.allocations = 1 << 14, self.allocations + 1
            del x


class ArenaMachine(Machine):
    """16 KiB that are taken back together."""

    grows = False

    def __init__(self) -> None:
        super().__init__()
        self.marks: list[tuple[memory.Mark, int]] = []
        self.stale: list[memory.Mark] = []

    def make(self) -> memory.Allocator:
        return memory.Arena("16KiB", growable=self.grows, name="tested")

    @property
    def arena(self) -> memory.Arena:
        """Give the allocator as what it is."""
        assert isinstance(self.allocator, memory.Arena)
        return self.allocator

    def may_refuse(self, size: int) -> bool:
        return not self.grows and self.arena.used + size + ALIGNMENT > 1 << 14

    @rule()
    def mark(self) -> None:
        """Remember the place, and which tensor comes next."""
        self.marks.append((self.arena.mark(), next(self.numbers)))

    @precondition(lambda self: self.marks)
    @rule(data=st.data())
    def release_to(self, data: st.DataObject) -> None:
        """Free what came after a mark; marks that came after that are gone."""
        mark, number = self.marks[data.draw(st.integers(0, len(self.marks) - 1))]
        used = self.arena.used
        self.arena.release_to(mark)
        assert self.arena.used <= used
        self.bury(number)
        self.forget_marks(mark.number)

    @rule()
    def reset(self) -> None:
        """Free everything."""
        self.arena.reset()
        self.bury(-1)
        assert (self.arena.live, self.arena.used, self.arena.count) == (0, 0, 0)
        self.forget_marks(-1)

    def forget_marks(self, number: int) -> None:
        """Count later marks as stale; those of one place are one."""
        self.stale = (self.stale + [mark for mark, _ in self.marks if mark.number > number])[-10:]
        self.marks = [each for each in self.marks if each[0].number <= number]

    @invariant()
    def stale_marks_are_refused(self) -> None:
        """Whatever came since, a mark is never taken for another place."""
        for mark in self.stale:
            with pytest.raises(ts.errors.PreconditionFailed, match="the mark is not one of"):
                self.arena.release_to(mark)

    def bury(self, number: int) -> None:
        """Count those as dead that came after a number."""
        gone = [block for block in self.blocks if block.number > number]
        self.blocks = [block for block in self.blocks if block.number <= number]
        self.live -= sum(block.x.nbytes for block in gone)
        self.dead = (self.dead + [block.x for block in gone])[-20:]

    @invariant()
    def used_covers_what_lives(self) -> None:
        """The next block comes after all that live."""
        assert self.live <= self.arena.used <= self.arena.capacity


class GrowingArenaMachine(ArenaMachine):
    """An arena that takes more when it is full."""

    grows = True

    @rule(size=st.sampled_from([20_000, 100_000]))
    def grow(self, size: int) -> None:
        """Ask for more than its first block has."""
        self.allocate(size, ts.uint8)
        assert self.blocks[-1].x.nbytes == size


def machine_test(machine: type[Machine]) -> Any:
    """Give the test of a machine."""
    case = machine.TestCase
    # Each refusal looks through all objects of the process for its report: few examples go far.
    count = max(8, settings().max_examples // 6)
    case.settings = settings(max_examples=count, stateful_step_count=40)
    return case


TestHeap = machine_test(HeapMachine)
TestPool = machine_test(PoolMachine)
TestSlab = machine_test(SlabMachine)
TestBuddy = machine_test(BuddyMachine)
TestArena = machine_test(ArenaMachine)
TestGrowingArena = machine_test(GrowingArenaMachine)


def test_only_tensors_have_an_allocator() -> None:
    ask: Any = ts.memory.allocator_of
    for value in (3, None, "x", [ts.ones(2)]):
        with pytest.raises(ts.errors.ArgumentError, match=r"allocator_of: x must be a tensor"):
            ask(value)
