"""What OutOfMemory says: the operation, what it needs, the limit, who holds memory, the cure."""

from __future__ import annotations

import gc
import pickle
import re
import subprocess
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessella as ts
from tessella import _core, memory

HINT_FREE = "free tensors that are no longer needed"


def in_use() -> int:
    """Give the bytes that count against the limit."""
    found = memory.stats()
    return found.live + found.reserved


def error_of(use: Callable[[], Any], room: int | None = None) -> list[str]:
    """Give the lines of the error where so many bytes are left."""
    gc.collect()  # what other tests left in cycles holds memory too
    limit = memory.stats().limit if room is None else in_use() + room
    with memory.limit(limit), pytest.raises(ts.errors.OutOfMemory) as caught:
        use()
    assert isinstance(caught.value, MemoryError) and caught.value.code == "out_of_memory"
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    return str(caught.value).splitlines()


def text(size: int) -> str:
    """Show bytes as errors do, as a pattern."""
    return re.escape(memory.to_text(size))


def test_limit_says_need_live_holders_and_how_many_rows_fit() -> None:
    x = ts.ones(256, 10_000)
    gc.collect()
    live, reserved = memory.stats().live, memory.stats().reserved
    first, kinds, largest, *others, place, hint = error_of(lambda: x.exp(), 10_000_000 // 2)
    beside = rf", reserved by allocators {text(reserved)}" if reserved else ""
    assert re.fullmatch(
        rf"exp: needs 9\.8 MiB for float32 \(256, 10000\); "
        rf"limit {text(live + reserved + 5_000_000)}, live {text(live)}{beside}", first
    )  # fmt: skip
    assert re.match(rf"    by kind   tensors {text(memory.stats().kinds['tensors'])}", kinds)
    assert largest == "    largest   9.8 MiB float32 (256, 10000)"
    assert len(others) == 2 and all(re.match(r" {14}\d", line) for line in others)
    assert place.startswith("  at test_shortage_report.py:") and "x.exp()" in place
    assert hint == f"  hint: 125 of its 256 rows fit; or {HINT_FREE}"


@pytest.mark.parametrize("room", [40_000, 999_999, 4_000_000])
def test_so_many_rows_fit_as_it_says_and_no_more(room: int) -> None:
    x = ts.ones(256, 10_000)
    fitting = int(re.findall(r"(\d+) of its 256 rows", error_of(x.exp, room)[-1])[0])
    assert fitting == room // 40_000
    with memory.limit(in_use() + room):
        assert x[:fitting].exp().shape == (fitting, 10_000)
        with pytest.raises(ts.errors.OutOfMemory):
            x[: fitting + 1].exp()


def test_where_not_one_row_fits_smaller_pieces_are_named() -> None:
    for make in (lambda: ts.ones(3, 10_000), lambda: ts.ones(10_000).exp(), lambda: ts.ones(1, 99)):
        hint = error_of(make, 60)[-1]
        assert re.fullmatch(rf"  hint: ({HINT_FREE}, or work in smaller pieces"
                            rf"|\d+ of its 10000 rows fit; or {HINT_FREE})", hint)  # fmt: skip


@pytest.mark.parametrize(
    ("call", "first"),
    [
        (lambda x: ts.zeros(1 << 40), r"zeros: needs 4\.0 TiB for float32 \(1099511627776,\)"),
        (lambda x: x @ x.T, r"matmul: needs 1\.0 MiB for float32 \(512, 512\)"),
        (lambda x: ts.sort(x, axis=0), r"sort: needs 1\.0 MiB for float32 \(512, 512\)"),
        (lambda x: ts.concat([x, x]), r"concat: needs 2\.0 MiB for float32 \(1024, 512\)"),
        (lambda x: x + ts.ones((), dtype=ts.float64), r"add: needs 2\.0 MiB for float64 \(512, 5"),
        (lambda x: x.astype(ts.int8), r"astype: needs 256\.0 KiB for int8 \(512, 512\)"),
        (lambda x: ts.tensor(np.ones((512, 512))), r"tensor: needs 2\.0 MiB for float64 \(512, 51"),
        (lambda x: ts.fft.fft(x), r"fft\.fft: needs 2\.0 MiB for complex64 \(512, 512\)"),
        (lambda x: x.clone(), r".*needs 1\.0 MiB for float32 \(512, 512\)"),
        (lambda x: x.__iadd__(x.T), r"add in place: needs 1\.0 MiB for float32 \(512, 512\)"),
        (lambda x: x.add_(x.T), r"add_: needs 1\.0 MiB for float32 \(512, 512\)"),
        (lambda x: ts.exp(x.T, out=x), r"exp: needs 1\.0 MiB for float32 \(512, 512\)"),
        (lambda x: memory.Arena("1GB", name="a"), r"Arena: needs 953\.7 MiB for Arena 'a'"),
        (lambda x: memory.Pool("1MB", 100, name="p"), r"Pool: needs 95\.4 MiB for Pool 'p'"),
        (lambda x: memory.Buddy("1GiB", name="b"), r"Buddy: needs 1\.0 GiB for Buddy 'b'"),
    ],
)  # fmt: skip
def test_error_names_the_operation_and_what_the_bytes_are_for(
    call: Callable[[ts.Tensor], Any], first: str
) -> None:
    x = ts.ones(512, 512)
    lines = error_of(lambda: call(x), 100_000)
    assert re.match(first + ".*; limit ", lines[0])
    assert lines[1].startswith("    by kind   ") and lines[2].startswith("    largest   1.0 MiB")
    assert lines[-2].startswith("  at test_shortage_report.py:") and lines[-1].startswith("  hint:")
    assert x.sum().item() == 512.0 * 512


def test_scratch_is_named() -> None:
    x = ts.ones(512, 512)
    first = error_of(lambda: x @ x.T, (1 << 20) + 1000)[0]
    assert re.match(r"matmul: needs [\d.]+ [KM]iB for scratch; limit ", first)


def test_full_arena_names_its_room() -> None:
    arena = memory.Arena("64KiB", name="step")
    with memory.use(arena):
        x = ts.ones(8192)
        first, *_, hint = error_of(lambda: ts.ones(8193))
        assert first == ("ones: needs 32.0 KiB for float32 (8193,); Arena 'step' has 32.0 KiB free "
                         "of 64.0 KiB, 32.0 KiB in one piece")  # fmt: skip
        assert hint == "  hint: reset() it, release_to() a mark, or make it growable"
        first, *_, hint = error_of(lambda: ts.ones(20_000))
        assert first == ("ones: needs 78.1 KiB for float32 (20000,); Arena 'step' gives at most "
                         "64.0 KiB at a time")  # fmt: skip
        assert hint == ("  hint: make it larger, or growable; or leave it: with "
                        "memory.use(memory.heap)")  # fmt: skip
    assert x.sum().item() == 8192.0 and arena.count == 1


def test_arena_that_may_grow_ends_at_the_limit() -> None:
    with memory.use(memory.Arena("4KiB", growable=True, name="step")):
        x = ts.ones(100, 1000)
        first, *_, hint = error_of(lambda: x + 1, 100_000)
    assert re.match(
        r"add: needs 390\.6 KiB for float32 \(100, 1000\); Arena 'step' cannot take more: limit ",
        first,
    )
    assert re.search(r", reserved by allocators [\d.]+ .?i?B$", first)
    assert hint == "  hint: free tensors that are no longer needed, or let it take less at a time"


def test_slab_that_may_take_no_more_names_the_limit() -> None:
    with memory.use(memory.Slab(512, name="s")):
        first, *_, hint = error_of(lambda: ts.ones(10), 1000)
    assert re.match(
        r"ones: needs 40 B for float32 \(10,\); Slab 's' cannot take more: limit", first
    )
    assert hint == "  hint: free tensors that are no longer needed, or let it take less at a time"


def test_pool_and_slab_say_what_they_give_at_most() -> None:
    x = ts.ones(1000)
    for allocator in (memory.Pool(512, 4, name="p"), memory.Slab(64, 512, name="s")):
        with memory.use(allocator):
            first, *_, hint = error_of(lambda: x + 1)
        kind = type(allocator).__name__
        cure = "make its blocks larger; or leave it: with memory.use(memory.heap)"
        assert first == (f"add: needs 3.9 KiB for float32 (1000,); {kind} '{allocator.name}' gives "
                         "at most 512 B at a time")  # fmt: skip
        assert hint == f"  hint: {cure}"
        assert allocator.count == 0


def test_system_that_has_no_more_is_told_from_the_limit() -> None:
    x = ts.ones(10)
    _core.fail_allocations_from(1)
    try:
        lines = error_of(lambda: x + 1)
    finally:
        _core.fail_allocations_from(0)
    assert lines[-1] == "  hint: the system has no more to give: others use it"


def test_holders_are_named_with_allocator_and_line() -> None:
    arena = memory.Arena("16MiB", name="step")
    with memory.track(lines=True):
        with memory.use(arena):
            x = ts.ones(1000, 2000)
        y = ts.zeros(1000, 1000)
        lines = error_of(lambda: y + 1, 100)
    source = open_lines()
    shown = [line for line in lines if "made at" in line]
    pattern = r" +(largest +)?7\.6 MiB float32 \(1000, 2000\) in step, made at (\S+):(\d+)"
    found = re.fullmatch(pattern, shown[0])
    assert found and source[int(found[3]) - 1].strip() == "x = ts.ones(1000, 2000)"
    found = re.fullmatch(r" +3\.8 MiB float32 \(1000, 1000\), made at (\S+):(\d+)", shown[1])
    assert found and source[int(found[2]) - 1].strip() == "y = ts.zeros(1000, 1000)"
    assert x.shape == (1000, 2000)


def open_lines() -> list[str]:
    """Give the lines of this file."""
    with open(__file__) as file:
        return file.read().splitlines()


def test_views_of_one_buffer_are_one_holder() -> None:
    views = [ts.ones(700, 1000)]
    views += [views[0][i:] for i in range(1, 5)]
    lines = error_of(lambda: views[0] + 1, 100)
    assert sum("(7" in line or "(69" in line for line in lines[1:5]) == 1
    assert "2.7 MiB float32 (700, 1000)" in lines[2]
    del views[0]
    lines = error_of(lambda: views[0] + 1, 100)
    assert "2.7 MiB float32 (700, 1000)" in lines[2]  # a view keeps what it is a view of


class Refusing:
    """An object that does not say what it is."""

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise RuntimeError("asked")


def test_objects_that_refuse_to_be_asked_do_not_hide_the_error() -> None:
    held = Refusing()
    proxy = weakref.proxy(Gone())  # of what is gone at once
    with pytest.raises(ReferenceError):
        isinstance(proxy, ts.Tensor)
    assert error_of(lambda: ts.ones(1000), 10)[0].startswith("ones: needs 3.9 KiB")
    assert memory.report().startswith("memory: ")
    assert type(held) is Refusing


class Gone:
    """What a proxy outlives."""


CODE = """
import tessella as ts
from tessella import memory
memory.limit(memory.stats().live + 10)
try:
    ts.ones(3)
except MemoryError as error:
    print(error)
"""


def test_process_that_holds_nothing_says_so_too() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"ones: needs 12 B for float32 \(3,\); limit \d+ B, live \d+ B", lines[0])
    assert re.fullmatch(r"    by kind   (nothing|tensors \d+ B)", lines[1])
    assert lines[-1].startswith("  hint: ")


def test_limit_is_restored_when_its_block_fails() -> None:
    before = memory.stats().limit
    with pytest.raises(ts.errors.OutOfMemory), memory.limit(in_use() + 10):
        ts.ones(1000)
    assert memory.stats().limit == before
    assert ts.ones(1000).sum().item() == 1000.0
