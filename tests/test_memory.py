"""What the heap keeps of freed memory, and what the account says of it."""

from __future__ import annotations

import pytest

import tessella as ts
from tessella import _core

ELEMENTS = 48_000_000  # of one byte
BLOCK = ELEMENTS + 64  # with what knows its size; a block that is kept counts whole
MOST_KEPT = 128 << 20


def counts() -> tuple[int, int]:
    """Give live and kept bytes."""
    live, _, _, _, kept = _core.memory_counts()
    return live, kept


def test_a_few_large_blocks_are_kept_and_count_as_free() -> None:
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
