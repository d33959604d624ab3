"""The allocators one by one: what is special to each, and what their constructors refuse."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import tessella as ts
from tessella import memory


def in_(allocator: memory.Allocator, nbytes: int) -> ts.Tensor:
    """Make a tensor of so many bytes there."""
    with memory.use(allocator):
        return ts.empty(nbytes, dtype=ts.uint8)


def test_empty_tensors_before_a_mark_stay() -> None:
    arena = memory.Arena("4KiB")
    before = in_(arena, 0)
    mark = arena.mark()
    after = in_(arena, 0)
    arena.release_to(mark)
    assert (before.is_freed, after.is_freed, arena.count) == (False, True, 1)
    assert before.tolist() == []


def test_arena_gives_blocks_one_after_another_and_begins_again() -> None:
    arena = memory.Arena("4KiB")
    first = in_(arena, 100)
    second = in_(arena, 64)
    assert second.data_ptr - first.data_ptr == 128
    assert (arena.live, arena.used, arena.capacity) == (164, 192, 4096)
    place = first.data_ptr
    arena.reset()
    assert in_(arena, 10).data_ptr == place


def test_arena_that_may_not_grow_is_full_at_its_size() -> None:
    arena = memory.Arena(1024, name="small")
    tensors = [in_(arena, 256) for _ in range(4)]
    with pytest.raises(ts.errors.OutOfMemory, match=r"Arena 'small' has 0 B free of 1.0 KiB"):
        in_(arena, 1)
    assert (arena.live, arena.capacity, len(tensors)) == (1024, 1024, 4)
    del tensors[1:]
    arena.reset()
    assert in_(arena, 1024).nbytes == 1024


def test_arena_that_grows_takes_more_and_gives_it_back() -> None:
    arena = memory.Arena("1KiB", growable=True)
    tensors = [in_(arena, 1000) for _ in range(20)]
    assert arena.live == 20_000 <= arena.capacity
    for i, x in enumerate(tensors):
        x.fill_(i)
    assert [x[-1].item() for x in tensors] == list(range(20))
    arena.reset()
    assert arena.trim() > 0 and arena.capacity <= 1024 and all(x.is_freed for x in tensors)
    assert in_(arena, 1000).nbytes == 1000


def test_arena_of_one_mark_does_not_take_that_of_another() -> None:
    one, other = memory.Arena("1KiB", name="one"), memory.Arena("1KiB", name="other")
    x = in_(one, 64)
    with pytest.raises(ts.errors.PreconditionFailed) as caught:
        one.release_to(other.mark())
    assert (
        str(caught.value)
        .splitlines()[0]
        .startswith("Arena.release_to: the mark is not one of Arena 'one'")
    )
    assert "  at test_allocator_kinds.py:" in str(caught.value) and "  hint: " in str(caught.value)
    with pytest.raises(ts.errors.ArgumentError, match=r"^Arena.release_to: mark must be what mark"):
        one.release_to(0)  # type: ignore[arg-type]
    assert not x.is_freed


def test_pool_gives_its_blocks_and_no_more() -> None:
    pool = memory.Pool(100, 3, name="few")
    tensors = [in_(pool, n) for n in (100, 0, 7)]
    assert (pool.live, pool.count, pool.free) == (107, 3, 0)
    with pytest.raises(ts.errors.OutOfMemory, match="Pool 'few' has 0 B free"):
        in_(pool, 1)
    place = tensors.pop(0).data_ptr
    assert in_(pool, 50).data_ptr == place
    with pytest.raises(ts.errors.OutOfMemory, match=r"Pool 'few' gives at most \d+ B at a time"):
        in_(pool, 1000)


def test_slab_takes_the_smallest_class_that_holds_a_tensor() -> None:
    slab = memory.Slab(64, 1024, slab_size=4096, name="two")
    x = in_(slab, 64)
    assert slab.capacity == 4096
    y = in_(slab, 65)
    assert slab.capacity == 8192 and slab.live == 129
    with pytest.raises(ts.errors.OutOfMemory, match=r"Slab 'two' gives at most 1.0 KiB at a time"):
        in_(slab, 1025)
    del x
    assert slab.trim() == 4096 and slab.capacity == 4096
    del y
    assert slab.trim() == 4096 and slab.capacity == 0


def test_buddy_halves_and_joins() -> None:
    buddy = memory.Buddy(4096, min_block=64)
    tensors = [in_(buddy, 64) for _ in range(64)]
    assert buddy.free == 0 and buddy.live == 4096
    assert sorted(x.data_ptr - min(t.data_ptr for t in tensors) for x in tensors) == list(
        range(0, 4096, 64)
    )
    del tensors[::2]
    assert buddy.free == 2048 and buddy.fragmentation == pytest.approx(1 - 64 / 2048)
    with pytest.raises(ts.errors.OutOfMemory, match=r"2.0 KiB free of 4.0 KiB, 64 B in one piece"):
        in_(buddy, 65)
    tensors.clear()
    assert buddy.fragmentation == 0.0 and in_(buddy, 4096).nbytes == 4096


def test_allocators_are_equal_where_they_are_one() -> None:
    one, other = memory.Pool(64, 2), memory.Pool(64, 2)
    x = in_(one, 8)
    assert x.allocator == one and one != other and x.allocator is not None
    assert hash(x.allocator) == hash(one) and one != "pool"
    assert memory.heap == ts.ones(1).allocator
    assert one.name != other.name and one.name.startswith("pool-")


@pytest.mark.parametrize("name", ["", "ü ≤", "two\nlines", "x" * 10_000])
def test_name_may_be_any_text(name: str) -> None:
    arena = memory.Arena("1KiB", name=name)
    assert arena.name == name and name in memory.stats().allocators
    x = in_(arena, 8)
    arena.reset()
    with pytest.raises(ts.errors.UseAfterFree) as caught:
        x.tolist()
    assert f"Arena '{name}' was reset" in str(caught.value)


# --- what their constructors refuse ---------------------------------------------------------------

A: Any = memory.Arena
P: Any = memory.Pool
S: Any = memory.Slab
B: Any = memory.Buddy
USE, LIMIT, TRACK, HEAP = (getattr(memory, name) for name in ("use", "limit", "track", "Heap"))
SIZE_HINT = 'size must be a size such as 4096, "512MB" or "1.5GiB"'
WRONG: list[tuple[Any, type[Exception], str, str]] = [
    (lambda: A(0), ts.errors.InvalidArgument, "Arena: size is 0", "size must be more than 0 bytes"),
    (lambda: A("0MB"), ts.errors.InvalidArgument, "Arena: size is '0MB'", "more than 0 bytes"),
    (lambda: A(-1), ts.errors.InvalidArgument, "Arena: size is -1", "size must be 0 bytes or more"),
    (lambda: A("-1MB"), ts.errors.InvalidArgument, "Arena: size is '-1MB'", SIZE_HINT),
    (lambda: A("1.5XB"), ts.errors.InvalidArgument, "Arena: size is '1.5XB'", SIZE_HINT),
    (lambda: A("MB"), ts.errors.InvalidArgument, "Arena: size is 'MB'", SIZE_HINT),
    (lambda: A(""), ts.errors.InvalidArgument, "Arena: size is ''", SIZE_HINT),
    (lambda: A("nan"), ts.errors.InvalidArgument, "Arena: size is 'nan'", SIZE_HINT),
    (lambda: A("infMB"), ts.errors.InvalidArgument, "Arena: size is 'infMB'", SIZE_HINT),
    (lambda: A("1 2MB"), ts.errors.InvalidArgument, "Arena: size is '1 2MB'", SIZE_HINT),
    (lambda: A("1e3"), ts.errors.InvalidArgument, "Arena: size is '1e3'", SIZE_HINT),
    (lambda: A("."), ts.errors.InvalidArgument, "Arena: size is '.'", SIZE_HINT),
    (lambda: A("1.2.3"), ts.errors.InvalidArgument, "Arena: size is '1.2.3'", SIZE_HINT),
    (lambda: A("1_000"), ts.errors.InvalidArgument, "Arena: size is '1_000'", SIZE_HINT),
    (lambda: A("²MB"), ts.errors.InvalidArgument, "Arena: size is '²MB'", SIZE_HINT),
    (lambda: A(1 << 63), ts.errors.TessellaError, "Arena: size", ""),
    (lambda: A("9223372036854775808"), ts.errors.TessellaError, "Arena: size", ""),
    (lambda: A("9999999TiB"), ts.errors.TessellaError, "Arena: size", ""),
    (lambda: A("9" * 5000), ts.errors.TessellaError, "Arena: size", ""),
    (lambda: A(1.5), ts.errors.ArgumentError, "Arena: size must be an integer, got float", ""),
    (lambda: A(None), ts.errors.ArgumentError, "Arena: size must be an integer, got None", ""),
    (lambda: A([1]), ts.errors.ArgumentError, "Arena: size must be an integer, got list", ""),
    (lambda: A(b"1MB"), ts.errors.ArgumentError, "Arena: size must be an integer, got bytes", ""),
    (lambda: A(64, growable=2), ts.errors.ArgumentError, "Arena: growable must be ", ""),
    (lambda: A(64, name=5), ts.errors.ArgumentError, "Arena: name must be a text, got int", ""),
    (lambda: A(64, name="\udc80"), ts.errors.InvalidArgument, "Arena: name is '\\udc80'",
     "name must be a text that UTF-8 can hold, without \\0"),
    (lambda: A(64, name="a\0b"), ts.errors.InvalidArgument, "Arena: name is 'a\\x00b'",
     "name must be a text that UTF-8 can hold, without \\0"),
    (lambda: P(1, 1 << 58), ts.errors.LengthOverflow, "Pool: block_size * count is ", "62 bits"),
    (lambda: P(1, 1 << 61), ts.errors.LengthOverflow, "Pool: block_size * count is ", "62 bits"),
    (lambda: HEAP(b"x"), ts.errors.ArgumentError, "Heap: name must be a text, got", ""),
    (lambda: P(0, 1), ts.errors.InvalidArgument, "Pool: block_size is 0", "more than 0 bytes"),
    (lambda: P(64, 0), ts.errors.InvalidArgument, "Pool: count is 0", "count must be at least 1"),
    (lambda: P(64, -3), ts.errors.InvalidArgument, "Pool: count is -3", "at least 1"),
    (lambda: P(64, "2"), ts.errors.ArgumentError, "Pool: count must be an integer, got str", ""),
    (lambda: P(64, 1.0), ts.errors.ArgumentError, "Pool: count must be an integer, got float", ""),
    (lambda: P(1 << 40, 1 << 40), ts.errors.TessellaError, "Pool: block_size * count", ""),
    (lambda: P(1 << 61, 1), ts.errors.OutOfMemory, "Pool: ", ""),
    (lambda: P(64, 2, name=b""), ts.errors.ArgumentError, "Pool: name must be a text, got", ""),
    (lambda: S(), ts.errors.InvalidArgument, "Slab: classes is ()", "one size or more"),
    (lambda: S(64, 0), ts.errors.InvalidArgument, "Slab: classes[1] is 0", "more than 0 bytes"),
    (lambda: S("x"), ts.errors.InvalidArgument, "Slab: classes[0] is 'x'", "a size such as"),
    (lambda: S([64]), ts.errors.ArgumentError, "Slab: classes[0] must be an integer, got", ""),
    (lambda: S(1 << 62), ts.errors.TessellaError, "Slab: classes", ""),
    (lambda: S(64, slab_size=0), ts.errors.InvalidArgument, "Slab: slab_size is 0", ""),
    (lambda: B(1000), ts.errors.InvalidArgument, "Buddy: size is 1000",
     "size must be a power of two: 512 (512 B) or 1024"),
    (lambda: B("1MB"), ts.errors.InvalidArgument, "Buddy: size is 1000000",
     "size must be a power of two: 524288 (512.0 KiB) or 1048576"),
    (lambda: B(0), ts.errors.InvalidArgument, "Buddy: size is 0", "more than 0 bytes"),
    (lambda: B(1024, min_block=100), ts.errors.InvalidArgument, "Buddy: min_block is 100",
     "min_block must be a power of two: 64 (64 B) or 128"),
    (lambda: B(1024, min_block=32), ts.errors.InvalidArgument, "Buddy: min_block is 32",
     "min_block must be from 64 to the size, 1024"),
    (lambda: B(64, min_block=128), ts.errors.InvalidArgument, "Buddy: min_block is 128",
     "min_block must be from 64 to the size, 64"),
    (lambda: B(1 << 62, min_block=64), ts.errors.OutOfMemory, "Buddy: ", ""),
    (lambda: A("64GiB"), ts.errors.OutOfMemory, "Arena: ", ""),
    (lambda: memory.temporary("x"), ts.errors.InvalidArgument, "Arena: size is 'x'", SIZE_HINT),
    (lambda: USE("heap"), ts.errors.ArgumentError,
     "memory.use: allocator must be an allocator of ts.memory, got str", ""),
    (lambda: USE(None), ts.errors.ArgumentError, "memory.use: allocator must be", ""),
    (lambda: LIMIT("lots"), ts.errors.InvalidArgument, "memory.limit: size is 'lots'", ""),
    (lambda: LIMIT(-1), ts.errors.InvalidArgument, "memory.limit: size is -1", ""),
    (lambda: LIMIT(1.5), ts.errors.ArgumentError, "memory.limit: size must be an int", ""),
    (lambda: TRACK(lines="yes"), ts.errors.ArgumentError, "memory.track: lines must", ""),
]  # fmt: skip


@pytest.mark.parametrize(("make", "kind", "first", "hint"), WRONG)
def test_argument_that_makes_no_sense_is_refused(
    make: Any, kind: type[Exception], first: str, hint: str
) -> None:
    before = memory.stats()
    with pytest.raises(kind) as caught:
        made = make()  # an allocator may take its memory later, at the first tensor
        in_(made, 8)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(first)
    assert any(line.startswith("  at test_allocator_kinds.py:") for line in lines)
    assert hint in lines[-1]
    after = memory.stats()
    assert (after.live, after.reserved, after.limit) == (before.live, before.reserved, before.limit)


@pytest.mark.parametrize(
    ("text", "size"),
    [(0, 0), (4096, 4096), ("4096", 4096), ("512MB", 512 * 10**6), ("512MiB", 512 << 20),
     ("1.5GiB", 3 << 29), (" 2 kb ", 2000), ("0.5KiB", 512), ("7b", 7), ("1TB", 10**12),
     ("1tib", 1 << 40), ("9007199254740993", 9007199254740993),
     ("2.3MB", 2_300_000), (".5KiB", 512), ("1.KiB", 1024),
     ("0.0001KiB", 0), ("9223372036854775807", (1 << 63) - 1)],
)  # fmt: skip
def test_size_is_read_as_people_write_it(text: Any, size: int) -> None:
    assert memory.to_bytes("size", text) == size


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (1 << 20, "1.0 MiB"),
     (5 << 29, "2.5 GiB"), (1 << 40, "1.0 TiB"), (1 << 52, "4.0 PiB"),
     (-1536, "-1.5 KiB")],
)  # fmt: skip
def test_size_is_shown_as_people_read_it(size: int, text: str) -> None:
    assert memory.to_text(size) == text


def test_size_that_is_no_number_is_refused() -> None:
    with pytest.raises(ts.errors.ArgumentError, match="size must be an integer, got str"):
        memory.to_text("1KiB")  # type: ignore[arg-type]  # that is the mistake


def test_copies_of_an_allocator_are_itself_and_pickles_are_refused() -> None:
    arena = memory.Arena("1KiB", name="step")
    assert copy.copy(arena) is arena and copy.deepcopy({"a": arena})["a"] is arena
    with pytest.raises(ts.errors.ArgumentError, match=r"^Arena cannot be pickled\n"):
        pickle.dumps(arena)
