"""Ways for a compiled function to be silently wrong: shared memory, and what goes on around it.

Around it are generators, exceptions, other compiled functions, threads and arenas.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import tessella as ts
import tessella.nn.functional as F
from tessella import memory, nn, optim
from worlds import Wrap, attempt, same, some

# --- aliases --------------------------------------------------------------------------------------


def overlapping(i: int) -> list[tuple[ts.Tensor, ts.Tensor]]:
    """Give pairs of three numbers that share memory in each way."""
    x = some(i, 8)
    pairs = [(some(i, 3), some(i + 50, 3)), (x[:3], x[:3]), (x[:3], x[3:6]), (x[:3], x[1:4])]
    return [*pairs, (x[1:4], x[:3]), (x[4:7], x[5:8]), (x[0:6:2], x[1:7:2]), (x[0:6:2], x[2:8:2])]


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 4, 0, 5], [1, 0, 4, 3], [6, 7, 6, 0]], ids=str)
def test_arguments_that_share_memory_with_each_other(order: list[int]) -> None:
    def play(wrap: Wrap) -> Any:
        def f(x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
            x += 1
            y *= 2
            return x * y + x

        call, seen = wrap(f), []
        for way in [*order, *order]:
            for i in range(4):
                pair = overlapping(i)[way]
                seen.append((call(*pair), pair))
        same_one = [some(i, 3) for i in range(5)]
        return seen, [call(x, x) for x in same_one], same_one

    same(play)


@pytest.mark.parametrize("is_captured", [True, False])
def test_two_tensors_over_one_array_are_longer_than_a_tile(is_captured: bool) -> None:
    def play(wrap: Wrap) -> Any:
        array = np.arange(3001, dtype="float32")
        a, b = ts.from_numpy(array[:-1]), ts.from_numpy(array[1:])

        def f(x: ts.Tensor, *both: ts.Tensor) -> ts.Tensor:
            to, source = both or (a, b)
            to.add_(x)
            return source * 2 + x

        call = wrap(f)
        return [call(ts.ones(3000) * i, *(() if is_captured else (a, b))) for i in range(6)], array

    same(play)


def test_one_argument_reaches_beyond_the_other() -> None:
    def play(wrap: Wrap) -> Any:
        def f(x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
            x[1:] += y
            return x.sum() * y

        call, seen = wrap(f), []
        for i in range(12):
            x = some(i, 5)
            seen.append((call(x, x[1:] if i // 4 == 1 else some(i, 4)), x))
        return seen

    same(play)


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 0, 2], [2, 1, 0]], ids=str)
def test_arguments_that_share_memory_with_captured_tensors(order: list[int]) -> None:
    def play(wrap: Wrap) -> Any:
        w, v = some(1, 4), some(2, 3)

        def f(x: ts.Tensor) -> ts.Tensor:
            y = x * w[:3] + v
            x += 1
            w.mul_(0.5)
            return y + x * w[:3] * v

        call, results = wrap(f), []
        for way in order:
            results += [call([some(i, 3), w[1:], v][way]) for i in range(4)]
        return results, w, v

    same(play)


# --- surroundings ---------------------------------------------------------------------------------


def test_random_numbers_inside_and_elsewhere() -> None:
    def play(wrap: Wrap) -> Any:
        generator, results = ts.Generator(5), []

        def f(x: ts.Tensor) -> Any:
            own = ts.randn(3, generator=generator)
            return F.dropout(x, 0.5) + ts.rand(3), own, ts.randint(0, 9, (2,))

        call = wrap(f)
        for i in range(9):
            results.append((call(some(i, 3)), ts.rand(i), ts.rand(2, generator=generator)))
            if i == 5:
                ts.manual_seed(1)
                generator.manual_seed(2)
        return results, generator

    same(play)


@pytest.mark.parametrize("bad", [0, 1, 2, 4])
def test_an_exception_half_way(bad: int) -> None:
    def play(wrap: Wrap) -> Any:
        table, before, after = nn.Embedding(5, 3), ts.zeros(()), ts.zeros(())
        optimizer = optim.SGD(table.parameters(), lr=0.5)

        def f(i: ts.Tensor) -> ts.Tensor:
            optimizer.zero_grad()
            before.add_(1)
            (table(i * 0) * ts.rand(3)).sum().backward()
            loss = (table(i) * ts.rand(3)).sum()
            loss.backward()
            optimizer.step()
            after.add_(loss.detach())
            return ts.rand(2)

        call, seen = wrap(f), []
        for i in range(9):
            seen.append(attempt(call, ts.tensor([i % 5, 7 if i == bad else 2])))
            seen.append([p.clone() for p in (before, after, table.weight.detach(), ts.rand(1))])
            seen.append(None if table.weight.grad is None else table.weight.grad.clone())
        return seen, table, optimizer

    same(play)


def test_recursion_and_compiled_within_compiled() -> None:
    def play(wrap: Wrap) -> Any:
        w = some(1, 3)
        inner = wrap(lambda x: x * w + 1)
        outer = wrap(lambda x: inner(x).exp() + inner(x * 2))

        @wrap
        def recursive(x: ts.Tensor, n: int) -> ts.Tensor:
            return recursive(x * 2, n - 1) + w if n else x

        results = []
        for i in range(8):
            results += [outer(some(i, 3)), recursive(some(i, 3), i % 2 + 1)]
            if i > 3:
                results.append(inner(some(i, 3)))
            w.add_(1)
        return results

    same(play)


@pytest.mark.parametrize("warm", [False, True])
def test_threads(warm: bool) -> None:
    w, wrong = some(1, 500), []
    compiled = ts.compile(lambda x, k: (x * w).exp() * k + x.sum())
    start = threading.Barrier(4)
    if warm:
        for k in range(3):
            compiled(w, k)

    def work(thread: int) -> None:
        start.wait()
        with ts.set_grad_enabled(thread % 2 == 0):
            for i in range(40):
                x = some(40 * thread + i, 500).requires_grad_(thread < 2)
                found, wanted = compiled(x, i % 2), (x * w).exp() * (i % 2) + x.sum()
                if found.tolist() != wanted.tolist() or found.requires_grad != wanted.requires_grad:
                    wrong.append((thread, i))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_arenas_around_the_calls() -> None:
    def play(wrap: Wrap) -> Any:
        w, arena, seen = some(1, 3), memory.Arena("64KiB"), []
        call = wrap(lambda x: (x * w).exp() + 1)
        for i in range(12):
            x = some(i, 3)
            if i // 3 % 2 == 0:
                with memory.use(arena):
                    y = call(x)
                    seen.append((y.tolist(), memory.allocator_of(y) is arena))
                arena.reset()
            else:
                seen.append(call(x))
        return seen

    same(play)


def test_a_captured_tensor_whose_arena_was_reset() -> None:
    def play(wrap: Wrap) -> Any:
        arena, results = memory.Arena("64KiB"), []
        with memory.use(arena):
            w = ts.ones(3)
        call = wrap(lambda x: x * w)
        for i in range(6):
            if i == 4:
                arena.reset()
            results.append(attempt(call, some(i, 3)))
        return results

    same(play)


def test_shapes_dtypes_and_strides_in_turn() -> None:
    def play(wrap: Wrap) -> Any:
        call, x = wrap(lambda x: (x * 2 + x.sum(axis=0)).exp()), some(1, 4, 4)
        inputs = [x, x.T, x[::2], x[:2], x[:, ::-1], x.astype(ts.float64), some(2, 0, 4)]
        return [call(part + 0 * k if k == 3 else part) for part in inputs for k in range(4)]

    same(play)
