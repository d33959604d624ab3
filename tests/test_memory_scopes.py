"""Scopes: `memory.use` and `memory.temporary`, nested, on several threads, left by errors."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import tessella as ts
from tessella import memory


def test_scope_directs_every_kind_of_result() -> None:
    pool = memory.Arena("1MiB", name="step")
    outside = ts.arange(12.0).reshape(3, 4)
    with memory.use(pool) as given:
        assert given is pool
        made = [
            ts.zeros(3), outside + 1, outside @ outside.T, outside.sum(axis=0), outside.clone(),
            outside[[0, 1]], outside[outside > 3], ts.tensor([1, 2]), outside.astype(ts.float64),
            ts.rand(3), ts.concat([outside, outside]), ts.sort(outside, axis=0),
            ts.linalg.inv(ts.eye(3)), ts.fft.fft(outside), ts.einsum("ij->ji", outside) * 2,
            ts.cumulative_sum(outside, axis=0), ts.where(outside > 2, outside, 0.0),
        ]  # fmt: skip
        view = outside[1:]
    assert [x.allocator for x in made] == [pool] * len(made)
    assert view.allocator == outside.allocator == memory.heap
    assert (made[0] + 1).allocator == memory.heap


def test_scopes_nest_and_end_with_their_blocks() -> None:
    a, b = memory.Pool(1024, 8, name="a"), memory.Pool(1024, 8, name="b")
    with memory.use(a):
        assert memory.current() == a
        with memory.use(b):
            assert memory.current() == b and ts.ones(2).allocator == b
            with memory.use(memory.heap):
                assert ts.ones(2).allocator == memory.heap
            assert memory.current() == b
        assert ts.ones(2).allocator == a
    assert memory.current() == memory.heap


def test_scope_may_be_entered_again_also_inside_itself() -> None:
    pool = memory.Pool(1024, 8)
    scope = memory.use(pool)
    with scope:
        with memory.use(memory.heap), scope:
            assert memory.current() == pool
        assert memory.current() == pool
    assert memory.current() == memory.heap
    with scope:
        assert memory.current() == pool
    assert memory.current() == memory.heap


def test_scope_ends_when_its_block_fails() -> None:
    pool = memory.Pool(64, 1)
    with pytest.raises(KeyError), memory.use(pool):
        raise KeyError
    assert memory.current() == memory.heap
    with pytest.raises(ts.errors.OutOfMemory), memory.use(pool):
        ts.ones(1000)
    assert memory.current() == memory.heap and pool.count == 0


def test_end_of_a_scope_frees_nothing() -> None:
    arena = memory.Arena("4KiB")
    with memory.use(arena):
        x = ts.ones(10)
    with memory.use(arena):
        y = ts.ones(10)
    assert (x + y).tolist() == [2.0] * 10 and arena.live == 80


def test_write_into_a_tensor_does_not_move_it() -> None:
    x = ts.zeros(4)
    with memory.use(memory.Arena("4KiB")):
        x += 1
        x[1] = 5.0
        ts.exp(ts.zeros(4), out=x)
    assert x.allocator == memory.heap and x.tolist() == [1.0] * 4


def test_scope_belongs_to_its_thread() -> None:
    arenas = [memory.Arena("64KiB", name=f"worker {i}") for i in range(4)]
    barrier = threading.Barrier(4)

    def work(arena: memory.Arena) -> bool:
        assert memory.current() == memory.heap  # that of another thread is not inherited
        with memory.use(arena):
            barrier.wait()
            tensors = [ts.ones(10) + i for i in range(20)]
            barrier.wait()
            return all(x.allocator == arena for x in tensors) and arena.count >= 20

    with memory.use(memory.Pool(64, 2)), ThreadPoolExecutor(4) as workers:
        assert list(workers.map(work, arenas)) == [True] * 4
    assert memory.current() == memory.heap


def test_threads_share_an_arena() -> None:
    arena = memory.Arena("64KiB", growable=True)
    source = ts.arange(1000.0)

    def work(i: int) -> bool:
        with memory.use(arena):
            tensors = [source + i for _ in range(20)]
        return all(x[-1].item() == 999.0 + i for x in tensors)

    with ThreadPoolExecutor(4) as workers:
        assert all(workers.map(work, range(40)))
    assert arena.allocations >= 800 and arena.live == 0


def generate(arena: memory.Arena) -> Iterator[ts.Tensor]:
    """Make tensors inside a scope, one at a time."""
    with memory.use(arena):
        yield ts.ones(2)
        yield ts.ones(2)


def test_generator_that_rests_inside_a_scope_directs_its_caller() -> None:
    """A scope is the thread's, as for every context manager: a generator leaves it when it ends."""
    arena = memory.Arena("4KiB")
    made = generate(arena)
    assert next(made).allocator == arena
    assert memory.current() == arena
    assert ts.ones(2).allocator == arena
    assert len(list(made)) == 1
    assert memory.current() == memory.heap
    made = generate(arena)
    next(made)
    made.close()  # type: ignore[attr-defined]
    assert memory.current() == memory.heap


def test_scopes_that_end_out_of_order_leave_the_innermost_open_one() -> None:
    inner, outer = memory.Arena("4KiB", name="inner"), memory.Arena("4KiB", name="outer")
    made = generate(inner)
    with memory.use(outer):
        next(made)
        assert memory.current() == inner
    assert memory.current() == inner  # the generator is still in its scope
    made.close()  # type: ignore[attr-defined]
    assert memory.current() == memory.heap
    with memory.use(outer):
        made = generate(inner)
        next(made)
        with memory.use(outer):
            made.close()  # type: ignore[attr-defined]
            assert memory.current() == outer
        assert memory.current() == outer
    assert memory.current() == memory.heap


def test_one_scope_serves_several_threads() -> None:
    pool, other = memory.Pool(64, 8, name="pool"), memory.Pool(64, 8, name="other")
    scope = memory.use(pool)
    inside, outside = threading.Barrier(2), threading.Barrier(2)

    def work() -> bool:
        with scope:
            inside.wait()
            outside.wait()
        return memory.current() == memory.heap

    with ThreadPoolExecutor(1) as worker, memory.use(other):
        found = worker.submit(work)
        inside.wait()
        with scope:
            outside.wait()
            assert found.result()
        assert memory.current() == other
    assert memory.current() == memory.heap


# --- temporary arenas -----------------------------------------------------------------------------


def test_temporary_arena_ends_with_its_block() -> None:
    reserved = memory.stats().reserved
    with memory.temporary("4KiB", name="scratch") as arena:
        x = ts.ones(100)
        assert x.allocator == arena == memory.current() and arena.name == "scratch"
        big = ts.ones(100_000)  # it grows
        kept = [(x.sum() + big.sum()).item()]
    assert kept == [100_100.0] and x.is_freed and big.is_freed
    assert memory.current() == memory.heap and memory.stats().reserved == reserved
    with pytest.raises(ts.errors.UseAfterFree, match="Arena 'scratch' was reset"):
        x + 1


def test_temporary_arena_of_fixed_size_is_full() -> None:
    with memory.temporary("4KiB", growable=False):
        x = ts.ones(1000)
        with pytest.raises(ts.errors.OutOfMemory, match="free of 4"):
            ts.ones(1000)
    assert x.is_freed


def test_temporary_arena_ends_when_its_block_fails() -> None:
    with pytest.raises(KeyError), memory.temporary("4KiB"):
        x = ts.ones(10)
        raise KeyError
    assert x.is_freed and memory.current() == memory.heap


def test_temporary_arena_may_be_entered_again() -> None:
    scope = memory.temporary("4KiB")
    for i in range(3):
        with scope as arena:
            x = ts.full(10, float(i))
            assert arena.count == 1 and x.tolist() == [float(i)] * 10
        assert x.is_freed


def test_temporary_arena_is_not_entered_inside_itself() -> None:
    scope = memory.temporary("4KiB")
    with scope:
        x = ts.ones(10)
        with pytest.raises(ts.errors.IllegalState, match=r"^memory\.temporary: it is in use by"):
            scope.__enter__()
        assert x.tolist() == [1.0] * 10
    assert x.is_freed


def test_result_is_carried_out_of_a_temporary_arena() -> None:
    with memory.temporary("4KiB"):
        x = ts.arange(5.0)
        with memory.use(memory.heap):
            kept = (x * 2).clone()
    assert kept.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0] and kept.allocator == memory.heap


def test_step_in_an_arena_that_is_reset_each_time_needs_no_more_memory() -> None:
    arena = memory.Arena("1MiB")
    w = ts.ones(50, 50)
    for i in range(20):
        with memory.use(arena):
            loss = ((w @ w) * 0.5).softmax(axis=-1).sum()
            w.mul_(0.99)
        assert loss.item() == pytest.approx(50.0)
        arena.reset()
        if i == 0:
            peak = arena.peak
    assert arena.peak == peak and arena.capacity == 1 << 20 and w.allocator == memory.heap


def test_limits_that_overlap_end_in_any_order() -> None:
    base = memory.stats().limit
    first, second = memory.limit("3GB"), memory.limit("2GB")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert memory.stats().limit == 2_000_000_000
    second.__exit__(None, None, None)
    assert memory.stats().limit == base


def test_limit_below_what_is_live_lets_empty_tensors_be_made() -> None:
    x = ts.ones(1000)
    with memory.limit(1):
        assert ts.zeros(5, 0).shape == (5, 0)
        with pytest.raises(ts.errors.OutOfMemory):
            ts.zeros(5, 1)
    assert x.size == 1000


def test_mark_of_another_arena_is_refused_though_that_is_gone() -> None:
    for _ in range(50):
        gone = memory.Arena("64KiB")
        mark = gone.mark()
        del gone
        arena = memory.Arena("64KiB")  # often at the same address
        x = ts.ones(4, allocator=arena)
        arena.mark()
        with pytest.raises(ts.errors.PreconditionFailed, match="the mark is not one of Arena"):
            arena.release_to(mark)
        assert not x.is_freed


def test_thread_that_ends_inside_a_scope_lets_go_of_it() -> None:
    gc.collect()
    before = memory.stats().reserved
    thread = threading.Thread(target=lambda: memory.use(memory.Arena("50MB")).__enter__())
    thread.start()
    thread.join()
    gc.collect()
    assert memory.stats().reserved == before
