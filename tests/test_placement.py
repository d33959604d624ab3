"""Where tensors are made: `allocator=` of every call, x.to(allocator), scopes, views."""

from __future__ import annotations

import copy
import subprocess
import sys
import textwrap
import threading

import pytest

import tessella as ts
from calls import DECLARED, calls_of
from conftest import sampled
from reference import assert_same_tensors
from tessella import _core, memory

# Their values are whatever the memory held.
UNSURE = ("empty", "empty_like", "new_empty")
MAKING = [name for name, each in DECLARED.items() if each.takes_out and calls_of(name)]


def one_of_each() -> list[memory.Allocator]:
    """Give one allocator of each kind, with room for any small result."""
    return [
        memory.Heap(),
        memory.Arena("1MiB"),
        memory.Pool("64KiB", 64),
        memory.Slab("1KiB", "64KiB"),
        memory.Buddy("4MiB"),
    ]


@pytest.mark.parametrize("name", sampled(MAKING, 100))
def test_every_call_takes_an_allocator(name: str) -> None:
    for allocator in one_of_each():
        for call in calls_of(name)[:2]:
            state = [x.clone() for x in call.tensors()]
            named = dict(call.named)
            if "generator" in named:
                named["generator"] = ts.Generator(3)
            want = call.function(*call.args, **named)
            if "generator" in named:
                named["generator"] = ts.Generator(3)
            got = call.function(*call.args, **named, allocator=allocator)
            # A diagonal, or a first power, is its operand's memory.
            is_shared = any(_core.may_overlap(got, x) for x in call.tensors())
            assert got.allocator == allocator or is_shared
            assert (got.shape, got.dtype) == (want.shape, want.dtype)
            if name not in UNSURE:
                assert_same_tensors(got, want)
            for x, before in zip(call.tensors(), state, strict=True):
                assert_same_tensors(x, before)
            del got
    assert memory.current() == memory.heap


def test_allocator_of_a_call_must_be_one() -> None:
    with pytest.raises(
        TypeError, match=r"add: allocator must be an allocator of ts.memory, got"
    ) as e:
        ts.add(ts.ones(2), 1, allocator="heap")  # type: ignore[arg-type]
    assert "x          float32 (2,)" in str(e.value) and "at test_placement.py" in str(e.value)
    assert ts.add(ts.ones(2), 1, allocator=None).allocator == memory.heap


def test_allocator_of_a_call_stands_above_the_scope() -> None:
    arena, pool = memory.Arena("1MiB"), memory.Pool(64, 2)
    with memory.use(arena):
        assert ts.ones(2, allocator=pool).allocator == pool
        assert ts.ones(2).allocator == arena


def test_failing_call_leaves_the_scope_as_it_was() -> None:
    pool = memory.Pool(64, 1)
    with pytest.raises(ts.errors.OutOfMemory):
        ts.ones(100, allocator=pool)
    assert memory.current() == memory.heap and pool.live == 0


def test_tensor_moves_between_allocators() -> None:
    arena = memory.Arena("1MiB")
    x = ts.arange(6).reshape(2, 3).T
    inside = x.to(arena)
    assert inside.allocator == arena and inside.tolist() == x.tolist()
    assert inside.to(arena) is inside
    assert inside.to(arena, copy=True) is not inside
    wide = inside.to(arena, ts.float64)
    assert wide.allocator == arena and wide.dtype is ts.float64
    outside = inside.to(memory.heap)
    carried = inside.clone(allocator=memory.heap)
    arena.reset()
    assert outside.tolist() == carried.tolist() == x.tolist()


def test_gradients_flow_through_a_move() -> None:
    x = ts.ones(2, requires_grad=True)
    assert x.to(memory.Arena("1KiB")).requires_grad


def test_views_live_where_their_tensor_does() -> None:
    arena = memory.Arena("1MiB")
    x = ts.ones(2, 3, allocator=arena)
    assert x.T.allocator == x[0].allocator == x.reshape(6).allocator == arena
    assert arena.count == 1


def test_shared_memory_has_no_allocator() -> None:
    assert ts.asarray(memoryview(bytearray(8))).allocator is None
    assert ts.asarray(memoryview(bytearray(8))).clone().allocator == memory.heap


def test_scratch_is_not_taken_from_the_scope() -> None:
    arena = memory.Arena("1MiB")
    a = ts.ones(300, 300)
    with memory.use(arena), memory.track() as m:
        out = a @ a
    assert arena.allocations == 1 and arena.peak == out.nbytes
    assert m.peak > out.nbytes  # the product packs its operands on the heap


def test_scopes_belong_to_their_thread() -> None:
    arena, seen = memory.Arena("1MiB"), []
    with memory.use(arena):
        thread = threading.Thread(target=lambda: seen.append(ts.ones(2).allocator))
        thread.start()
        thread.join()
        assert ts.ones(2).allocator == arena
    assert seen == [memory.heap]


def test_copies_live_where_their_source_does() -> None:
    arena = memory.Arena("64KiB")
    x = ts.arange(3.0, allocator=arena)
    assert copy.copy(x).allocator == arena
    assert copy.deepcopy([x])[0].allocator == arena
    shared = ts.asarray(memoryview(bytearray(8)))
    with memory.use(arena):
        assert copy.copy(ts.ones(2, allocator=memory.heap)).allocator == memory.heap
        assert copy.copy(shared).allocator == arena


@pytest.mark.parametrize("name", ["reshape", "contiguous", "normal_", "float"])
def test_function_that_may_give_a_view_has_no_allocator(name: str) -> None:
    x = ts.ones(2, 3)
    args = ((3, 2),) if name == "reshape" else ()
    with pytest.raises(ts.errors.ArgumentError, match="may give a view of its operand") as found:
        getattr(x, name)(*args, allocator=memory.heap)
    assert "result.clone(allocator=...)" in str(found.value)
    getattr(x, name)(*args, allocator=None)


def test_modules_loaded_at_first_use_keep_nothing_in_the_users_scope() -> None:
    code = """
        import tessella as ts
        from tessella import memory
        arena = memory.Arena("64MB")
        with memory.use(arena):
            ts.namespace.load()
            ts.DynamicArray
        print(arena.count, arena.allocations, memory.stats().count)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "0", "0"]
