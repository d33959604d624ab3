"""What the heap keeps of freed memory, and what the account says of it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

import tessella as ts
from tessella import _core

ELEMENTS = 48_000_000  # of one byte
BLOCK = ELEMENTS + 64  # with what knows its size; a block that is kept counts whole
SHARE = 16  # the heap keeps so small a part of the limit,
MOST_KEPT = 128 << 20
UNDER_ANY_LIMIT = 768 << 20  # and not more than this


@pytest.fixture(autouse=True)
def small_limit() -> Iterator[None]:
    """Set a limit under which MOST_KEPT is kept."""
    _, _, _, limit, _ = _core.memory_counts()
    _core.set_memory_limit(SHARE * MOST_KEPT)
    ts.memory.trim()
    yield
    _core.set_memory_limit(limit)


def counts() -> tuple[int, int]:
    """Give live and kept bytes."""
    live, _, _, _, kept = _core.memory_counts()
    return live, kept


def test_a_few_large_blocks_are_kept_and_count_as_free() -> None:
    ts.memory.trim()
    live, _ = counts()
    blocks = [ts.empty(ELEMENTS, dtype=ts.uint8) for _ in range(5)]
    assert counts()[0] == live + 5 * ELEMENTS
    del blocks
    left, kept = counts()
    assert left == live
    assert kept in (0, 2 * BLOCK)  # a sanitized core keeps nothing
    assert kept <= MOST_KEPT


def test_a_block_of_the_same_size_is_used_again() -> None:
    x = ts.empty(ELEMENTS, dtype=ts.uint8)
    del x
    live, kept = counts()
    y = ts.empty(ELEMENTS, dtype=ts.uint8)
    assert counts() == (live + ELEMENTS, max(kept - BLOCK, 0))
    z = ts.empty(ELEMENTS - 64, dtype=ts.uint8)  # of another size: not
    assert counts()[1] == max(kept - BLOCK, 0)
    del y, z


def test_blocks_that_are_too_large_are_not_kept() -> None:
    _, before = counts()
    x = ts.empty(MOST_KEPT, dtype=ts.uint8)
    del x
    assert counts()[1] == before


def test_under_a_large_limit_results_of_a_hundred_megabytes_are_kept_and_not_any_number() -> None:
    _core.set_memory_limit(SHARE * UNDER_ANY_LIMIT * 4)
    blocks = [ts.empty(1 << 27, dtype=ts.uint8) for _ in range(10)]
    whole = (1 << 27) + 64
    while blocks:
        blocks.pop()
    assert counts()[1] in (0, UNDER_ANY_LIMIT // whole * whole)  # a sanitized core keeps nothing
    _core.set_memory_limit(SHARE * UNDER_ANY_LIMIT // 2)
    ts.memory.trim()
    blocks = [ts.empty(1 << 27, dtype=ts.uint8) for _ in range(10)]
    blocks.clear()
    assert counts()[1] <= UNDER_ANY_LIMIT // 2
    ts.memory.trim()


def test_kept_blocks_are_given_back_before_the_limit_is_reached() -> None:
    limit = _core.memory_counts()[3]
    live, _ = counts()
    x = ts.empty(ELEMENTS, dtype=ts.uint8)
    del x
    kept = counts()[1]
    wanted = ELEMENTS + 64_000
    try:
        _core.set_memory_limit(live + wanted + max(kept - 1, 0))
        y = ts.empty(wanted, dtype=ts.uint8)
        assert counts()[1] == 0
        with pytest.raises(ts.errors.OutOfMemory):
            ts.empty(kept + 1, dtype=ts.uint8)
        del y
    finally:
        _core.set_memory_limit(limit)


# --- many blocks of many sizes --------------------------------------------------------------------

SIZES = [20_000 + 64 * i for i in range(3000)]  # together more than what is kept


def test_what_is_kept_of_many_sizes_is_bounded_and_the_newest() -> None:
    ts.memory.trim()
    live, _ = counts()
    blocks = [ts.empty(size, dtype=ts.uint8) for size in SIZES]
    while blocks:
        blocks.pop(0)
    left, kept = counts()
    assert left == live
    is_keeping = kept > 0  # a sanitized core keeps nothing
    assert not is_keeping or MOST_KEPT - 2 * SIZES[-1] < kept <= MOST_KEPT
    newest = ts.empty(SIZES[-1], dtype=ts.uint8)
    assert (counts()[1] < kept) == is_keeping
    kept = counts()[1]
    oldest = ts.empty(SIZES[0], dtype=ts.uint8)  # given back long ago
    assert counts()[1] == kept
    del newest, oldest


def test_blocks_that_come_and_go_in_any_order_add_up() -> None:
    ts.memory.trim()
    live, _ = counts()
    random = Random(5)
    held: list[ts.Tensor] = []
    for _ in range(4000):
        if held and random.random() < 0.5:
            held.pop(random.randrange(len(held)))
        else:
            size = random.choice([17_000, 40_000, 40_064, 1_000_000, 5_000_000])
            held.append(ts.full(size, len(held) % 256, dtype=ts.uint8))
        if len(held) > 30:
            held.clear()
    # None shares its memory with another.
    assert all((block == block[0]).all().item() for block in held)
    held.clear()
    assert counts()[0] == live
    kept = counts()[1]
    assert kept <= MOST_KEPT
    assert ts.memory.trim() >= kept
    assert counts() == (live, 0)
