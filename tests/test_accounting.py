"""The account: what is live, peaks, scopes by thread, the limit, reports, and memory given back."""

from __future__ import annotations

import linecache
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest

import tessella as ts
from nested import listed
from tessella import _core, memory

PAGE = os.sysconf("SC_PAGE_SIZE")


# --- stats ----------------------------------------------------------------------------------------


def test_stats_count_bytes_as_they_were_asked_for() -> None:
    before = memory.stats()
    x = ts.ones(33)
    y = ts.ones(3, dtype=ts.int8)
    z = ts.ones(0)
    after = memory.stats()
    assert after.live - before.live == x.nbytes + y.nbytes + z.nbytes == 135
    assert (after.count - before.count, after.allocations - before.allocations) == (3, 3)
    assert after.kinds["tensors"] - before.kinds["tensors"] == 135
    assert after.limit == before.limit and after.peak >= after.live
    view = x[1:]
    assert memory.stats().live == after.live  # a view takes none
    del x
    assert memory.stats().live == after.live
    del view, y, z
    left = memory.stats()
    assert (left.live, left.count) == (before.live, before.count)
    assert left.allocations == after.allocations


def test_stats_show_every_figure() -> None:
    shown = repr(memory.stats())
    names = ("live", "peak", "count", "allocations", "limit", "reserved", "kept", "foreign",
             "kinds", "allocators")  # fmt: skip
    assert shown.startswith("Stats(") and all(f"{name}=" in shown for name in names)


def test_stats_tell_allocators_of_one_name_apart() -> None:
    one, other = memory.Arena("1KiB", name="twin"), memory.Arena("2KiB", name="twin")
    third = memory.Pool(64, 1, name="twin#2")
    found = memory.stats().allocators
    names = [name for name in found if name.startswith("twin")]
    assert len(names) == 3 and {one.name, other.name, third.name} == {"twin", "twin#2"}
    assert sorted(found[name]["capacity"] for name in names) == [64, 1024, 2048]


def test_peak_is_the_most_that_ever_lived() -> None:
    before = memory.stats()
    room = before.peak - before.live + 4000
    x = ts.empty(room, dtype=ts.uint8)
    assert memory.stats().peak == before.live + room
    del x
    assert memory.stats().peak == before.live + room


def test_scratch_counts_while_an_operation_runs() -> None:
    x = ts.ones(400, 400)
    with memory.track() as m:
        y = x @ x.T
    assert m.live == y.nbytes < m.peak  # packing has a block of its own
    assert memory.stats().kinds["scratch"] == 0


def test_foreign_memory_is_counted_apart() -> None:
    before = memory.stats()
    array = np.ones(1000)
    x = ts.from_numpy(array)
    with memory.limit(before.live + before.reserved):
        y = ts.from_dlpack(array)  # not under the limit
    shared = memory.stats()
    assert shared.foreign - before.foreign == 16_000 and shared.live == before.live
    assert x.allocator is None and y.allocator is None
    del x, y
    assert memory.stats().foreign == before.foreign
    own = ts.tensor(array)
    assert memory.stats().foreign == before.foreign and own.allocator == memory.heap


def test_reserved_is_what_allocators_hold_and_nobody_uses() -> None:
    before = memory.stats()
    arena = memory.Arena("1MiB")
    assert memory.stats().reserved - before.reserved == 1 << 20
    with memory.use(arena):
        x = ts.ones(1000)
    found = memory.stats()
    assert (found.reserved - before.reserved, found.live - before.live) == ((1 << 20) - 4000, 4000)
    del arena, x
    assert memory.stats().reserved == before.reserved


def test_reserved_counts_against_the_limit() -> None:
    found = memory.stats()
    with memory.limit(found.live + found.reserved + (1 << 20)):
        arena = memory.Arena("512KiB")
        with pytest.raises(ts.errors.OutOfMemory):
            ts.empty((1 << 19) + 1, dtype=ts.uint8)
        with memory.use(arena):
            inside = ts.empty(1 << 19, dtype=ts.uint8)  # already counted
        outside = ts.empty(1 << 19, dtype=ts.uint8)
        assert memory.stats().live - found.live == inside.nbytes + outside.nbytes


def test_heap_of_ones_own_counts_on_its_own() -> None:
    mine = memory.Heap("mine")
    before = memory.stats().live
    with memory.use(mine):
        x = ts.ones(100)
        y = x + x
    assert (mine.live, mine.count, mine.allocations, mine.peak) == (800, 2, 2, 800)
    assert memory.stats().live - before == 800
    assert memory.stats().allocators["mine"]["live"] == 800
    assert x.allocator == mine != memory.heap and memory.heap.name == "heap"
    z = x + y  # outside: the heap of all
    assert mine.live == 800 and z.allocator == memory.heap
    del x, y
    assert (mine.live, mine.count, mine.peak) == (0, 0, 800)


# --- report ---------------------------------------------------------------------------------------


def test_report_is_a_table() -> None:
    arena = memory.Arena("64KiB", name="step")
    big = ts.ones(3_000_000)
    with memory.track(lines=True), memory.use(arena):
        x = ts.ones(1000)
    lines = memory.report(largest=2).splitlines()
    size = r"[\d.]+ [KMGT]?i?B"
    assert re.fullmatch(
        rf"memory: live {size}, peak {size}, limit {size}, reserved {size}, kept {size}, "
        rf"foreign {size}", lines[0])  # fmt: skip
    assert re.fullmatch(rf"  by kind: \w+ {size}(   \w+ {size})*", lines[1])
    assert lines[2] == ""
    assert lines[3].split() == ["allocator", "live", "peak", "capacity", "free", "count",
                                "allocations"]  # fmt: skip
    assert re.match(rf"  heap +{size} +{size} +{size} +{size} +[\d,]+ +[\d,]+$", lines[4])
    step = next(line for line in lines if line.startswith("  step "))
    assert re.split(r"  +", step.strip())[1:] == [
        "3.9 KiB", "3.9 KiB", "64.0 KiB", "60.1 KiB", "1", "1"
    ]  # fmt: skip
    assert lines[-3] == "  largest"
    assert lines[-2] == "    11.4 MiB float32 (3000000,)"
    assert len({len(line) for line in lines[3:-4]}) == 1  # the columns stand below each other
    assert big.size == 3_000_000 and x.size == 1000


def test_report_names_lines_of_tensors_that_were_watched() -> None:
    with memory.track(lines=True):
        x = ts.ones(5_000_000)
    last = memory.report(largest=1).splitlines()[-1]
    found = re.fullmatch(
        r"    19\.1 MiB float32 \(5000000,\), made at test_accounting\.py:(\d+)", last
    )
    assert found and linecache.getline(__file__, int(found[1])).strip() == "x = ts.ones(5_000_000)"
    assert x.size == 5_000_000


# --- track ----------------------------------------------------------------------------------------


def test_track_gives_the_exact_peak_of_a_known_sequence() -> None:
    kept = ts.ones(10)
    with memory.track() as m:
        assert (m.live, m.peak, m.allocations) == (0, 0, 0)
        x = ts.ones(100)
        y = ts.ones(200)
        assert (m.live, m.peak, m.allocations) == (1200, 1200, 2)
        del x
        z = ts.ones(50)
        assert (m.live, m.peak, m.allocations) == (1000, 1200, 3)
        del y
        y = z + z
        assert (m.live, m.peak, m.allocations) == (400, 1200, 4)
        del kept
        assert (m.live, m.peak) == (360, 1200)  # what was there before may go too
    ts.ones(100)
    del y, z
    assert (m.live, m.peak, m.allocations) == (360, 1200, 4)  # the block is over


def test_track_inside_track() -> None:
    with memory.track() as outer:
        x = ts.ones(100)
        with memory.track() as inner:
            y = ts.ones(25)
            del x
        z = ts.ones(200)
    assert (inner.live, inner.peak, inner.allocations) == (-300, 100, 1)
    assert (outer.live, outer.peak, outer.allocations) == (900, 900, 3)
    assert y.size + z.size == 225


def test_tracks_may_overlap_in_any_order() -> None:
    first, second = memory.track(), memory.track()
    first.__enter__()
    x = ts.ones(100)
    second.__enter__()
    y = ts.ones(50)
    first.__exit__(None, None, None)
    z = ts.ones(25)
    second.__exit__(None, None, None)
    assert (first.live, first.peak, first.allocations) == (600, 600, 2)
    assert (second.live, second.peak, second.allocations) == (300, 300, 2)
    del x, y, z


def test_track_sees_all_threads() -> None:
    made: list[ts.Tensor] = []
    begun, done = threading.Event(), threading.Event()

    def work() -> None:
        with memory.track() as inner:
            begun.set()
            done.wait()
            made.append(ts.ones(100))
        made.append(ts.tensor([inner.live, inner.allocations]))

    worker = threading.Thread(target=work)
    with memory.track() as m:
        worker.start()
        begun.wait()
        x = ts.ones(10)
        done.set()
        worker.join()
        assert made[1].tolist() == [440, 2]
        del made[1]
        assert m.live == 440
    assert x.size == 10


def test_track_may_be_used_again_but_not_inside_itself() -> None:
    m = memory.track()
    with m:
        x = ts.ones(10)
        with pytest.raises(ts.errors.IllegalState) as caught:
            m.__enter__()
    assert str(caught.value).startswith("memory.track: ")
    assert "  at test_accounting.py:" in str(caught.value) and "  hint: " in str(caught.value)
    assert m.live == 40
    with m:
        y = ts.ones(20)
    assert (m.live, m.allocations) == (80, 1)
    del x, y


def test_lines_are_recorded_only_inside_and_remembered_after() -> None:
    before = ts.ones(2)
    with memory.track(lines=True):
        x = ts.ones(2)
        with memory.track(lines=True), memory.track():
            y = x + 1
        z = y * 2
    after = ts.ones(2)
    found = [_core.line_of(each) for each in (x, y, z)]
    assert all(re.fullmatch(r"test_accounting\.py:\d+", line) for line in found)
    numbers = [int(line.rpartition(":")[2]) for line in found]
    assert [linecache.getline(__file__, n).strip()[0] for n in numbers] == ["x", "y", "z"]
    assert not _core.line_of(before) and not _core.line_of(after)
    del x
    fresh = ts.ones(2)
    assert not _core.line_of(fresh)  # even at the place of one that had a line


def test_lines_end_when_their_block_fails() -> None:
    with pytest.raises(KeyError), memory.track(lines=True):
        raise KeyError
    assert not _core.line_of(ts.ones(2))


# --- memory given back ----------------------------------------------------------------------------


def resident() -> int:
    """Give the bytes of this process that are in the machine's memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * PAGE


@pytest.mark.parametrize("part", [1 << 10, 64 << 10, 1 << 20, 40 << 20, 200 << 20])
def test_trim_lets_resident_memory_go(part: int) -> None:
    memory.trim()
    before = resident()
    tensors = [ts.ones(part, dtype=ts.uint8) for _ in range((200 << 20) // part)]
    assert resident() - before > 190 << 20
    del tensors
    memory.trim()
    assert resident() - before < 20 << 20


IDLE: dict[str, Callable[[], memory.Allocator]] = {
    "arena": lambda: memory.Arena("200MiB"),
    "growing arena": lambda: memory.Arena("1MiB", growable=True),
    "pool": lambda: memory.Pool("1MiB", 200),
    "slab": lambda: memory.Slab("1MiB", slab_size="8MiB"),
    "buddy": lambda: memory.Buddy("256MiB"),
}


@pytest.mark.parametrize("kind", IDLE)
def test_trim_of_idle_allocators_lets_resident_memory_go(kind: str) -> None:
    memory.trim()
    before, reserved = resident(), memory.stats().reserved
    allocator = IDLE[kind]()
    with memory.use(allocator):
        tensors = [ts.ones(1 << 20, dtype=ts.uint8) for _ in range(200)]
    assert resident() - before > 190 << 20 and allocator.live == 200 << 20
    assert allocator.trim() < allocator.live  # what is in use stays
    del tensors
    if isinstance(allocator, memory.Arena):
        allocator.reset()
    assert memory.trim() >= 200 << 20
    assert resident() - before < 20 << 20 and memory.stats().reserved - reserved < 1 << 20
    with memory.use(allocator):
        assert ts.ones(1 << 18).sum().item() == 1 << 18  # and it works on


def test_kept_blocks_are_counted_and_trimmed() -> None:
    memory.trim()
    assert memory.stats().kept == 0
    x = ts.empty(40_000_000, dtype=ts.uint8)
    live = memory.stats().live
    del x
    found = memory.stats()
    assert found.live == live - 40_000_000 and found.kept in (0, 40_000_064)  # 0 when sanitized
    assert memory.trim() >= found.kept and memory.stats().kept == 0


# --- the limit ------------------------------------------------------------------------------------


def test_limit_holds_until_the_end_of_its_block() -> None:
    before = memory.stats().limit
    with memory.limit("512MB"):
        assert memory.stats().limit == 512_000_000
        with memory.limit("1GiB"):
            assert memory.stats().limit == 1 << 30
        assert memory.stats().limit == 512_000_000
    assert memory.stats().limit == before


def test_limit_outside_a_block_stays() -> None:
    before = memory.stats().limit
    try:
        memory.limit(123_456_789)
        assert memory.stats().limit == 123_456_789
        memory.limit(None)
        assert memory.stats().limit == _core.default_memory_limit()
    finally:
        memory.limit(before)
    assert memory.stats().limit == before


def test_limit_may_be_entered_again_also_inside_itself() -> None:
    before = memory.stats().limit
    scope = memory.limit("1GB")
    for _ in range(2):
        with scope:
            assert memory.stats().limit == 10**9
            with memory.limit("2GB"), scope:
                assert memory.stats().limit == 10**9
            assert memory.stats().limit == 10**9
        assert memory.stats().limit == before


def test_limit_is_exact() -> None:
    found = memory.stats()
    with memory.limit(found.live + found.reserved + 4000):
        x = ts.ones(1000)
        for more in (1, 1000):
            with pytest.raises(ts.errors.OutOfMemory):
                ts.empty(more, dtype=ts.uint8)
        assert ts.empty(0).size == 0
        del x
        assert ts.ones(999).sum().item() == 999.0


def test_limit_below_what_is_live_lets_nothing_more_in() -> None:
    x = ts.ones(1000)
    with memory.limit(0):
        with pytest.raises(ts.errors.OutOfMemory):
            ts.ones(1)
        assert listed(x)[:2] == [1.0, 1.0]
        x.add_(1.0)
    assert x[0].item() == 2.0


def test_default_limit_is_nine_tenths_of_the_machine_or_the_cgroup() -> None:
    whole = os.sysconf("SC_PHYS_PAGES") * PAGE
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        if os.path.exists(path):
            with open(path) as file:
                text = file.read().strip()
            whole = min(whole, int(text)) if text != "max" else whole
    assert abs(_core.default_memory_limit() - whole * 9 // 10) < 1 << 20


def with_limit(text: str) -> subprocess.CompletedProcess[str]:
    """Ask a new process for its limit."""
    code = "import tessella as ts; print(ts.memory.stats().limit)"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False,
        env={**os.environ, "TESSELLA_MEMORY_LIMIT": text},
    )  # fmt: skip


@pytest.mark.parametrize(("text", "limit"), [("512MB", 512_000_000), ("1.5 GiB", 3 << 29)])
def test_limit_comes_from_the_environment(text: str, limit: int) -> None:
    assert int(with_limit(text).stdout) == limit


@pytest.mark.parametrize("text", ["lots", "", "-5MB", "1.5.5GB"])
def test_malformed_limit_in_the_environment_is_an_error(text: str) -> None:
    done = with_limit(text)
    last = done.stderr.strip().splitlines()
    assert done.returncode == 1
    assert f"TESSELLA_MEMORY_LIMIT is {text!r}" in last[-2]
    assert last[-1] == (
        '  hint: TESSELLA_MEMORY_LIMIT must be a size such as 4096, "512MB" or "1.5GiB"'
    )


def test_limit_of_the_environment_holds_without_memory_being_named() -> None:
    code = "import tessella as ts\ntry: ts.ones(1000)\nexcept MemoryError as e: print(type(e))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={**os.environ, "TESSELLA_MEMORY_LIMIT": "3000"})  # fmt: skip
    assert "OutOfMemory" in done.stdout


def test_report_checks_how_many_are_shown() -> None:
    with pytest.raises(ts.errors.InvalidArgument, match=r"^memory\.report: largest is -1\n"):
        memory.report(-1)
    with pytest.raises(
        ts.errors.ArgumentError, match=r"^memory\.report: largest must be an integer"
    ):
        memory.report("all")  # type: ignore[arg-type]  # that is the mistake


def test_the_library_keeps_no_tensors_of_its_own() -> None:
    """What a program is told that lives is its own, whatever of the library it has loaded."""
    program = """
import sys
import tessella as ts

def load(module, seen):
    for name in dir(module):
        value = getattr(module, name)
        if type(value) is type(sys) and value.__name__.startswith("tessella"):
            if value.__name__ not in seen:
                seen.add(value.__name__)
                load(value, seen)

at_import = ts.memory.stats().live
load(ts, set())
print(at_import, ts.memory.stats().live)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["0", "0"], done.stdout + done.stderr
