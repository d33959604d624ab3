"""What keeps an arena from taking memory back: others who see it, operations that run on it.

A reset that comes at a bad moment (from another thread, a finalizer, a callback in the middle of a
call) refuses or is seen by the operation; it never leaves anybody over memory of somebody else.
"""

from __future__ import annotations

import gc
import linecache
import pickle
import re
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import tessella as ts
from calls import DECLARED, Call, calls_of
from conftest import sampled
from nested import listed
from reference import assert_same_tensors
from tessella import memory

SEEN = r"memory of Arena 'step' is in use by "
VIEWED = "a memoryview or NumPy array"
TAKEN = "an array that took it through DLPack"


def arena_with(*tensors: ts.Tensor, size: str = "64KiB") -> tuple[memory.Arena, list[ts.Tensor]]:
    """Give copies of tensors, and the arena that they live in."""
    arena = memory.Arena(size, growable=True, name="step")
    with memory.use(arena):
        return arena, [x.clone() for x in tensors]


EXPORTS: dict[str, tuple[str, Callable[[ts.Tensor], Any]]] = {
    "memoryview": (VIEWED, memoryview),
    "memoryview of a view": (VIEWED, lambda x: memoryview(x[1:])),
    "part of a memoryview": (VIEWED, lambda x: memoryview(x)[1:]),
    "numpy": (VIEWED, lambda x: x.numpy()),
    "asarray": (VIEWED, lambda x: np.asarray(x)),
    "part of an array": (VIEWED, lambda x: x.numpy()[1:].T),
    "frombuffer": (VIEWED, lambda x: np.frombuffer(memoryview(x), "float32")),
    "read-only": (VIEWED, lambda x: memoryview(x).toreadonly()),
    "numpy.from_dlpack": (TAKEN, lambda x: np.from_dlpack(x)),
    "DLPack capsule": (TAKEN, lambda x: x.__dlpack__()),
    "old DLPack capsule": (TAKEN, lambda x: x.__dlpack__(max_version=None)),
    "tensor over NumPy's array": (VIEWED, lambda x: ts.from_numpy(x.numpy())),
    "out of band": (VIEWED, lambda x: buffers_of(x)),
}


def buffers_of(x: ts.Tensor) -> list[Any]:
    """Give what pickle sends out of band."""
    buffers: list[Any] = []
    pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
    return [buffer.raw() for buffer in buffers]


@pytest.mark.parametrize("way", EXPORTS)
def test_exported_memory_refuses_a_reset(way: str) -> None:
    who, export = EXPORTS[way]
    arena, (x,) = arena_with(ts.arange(4.0))
    seen = export(x)
    with pytest.raises(ts.errors.IllegalState) as caught:
        arena.reset()
    first, place, hint = str(caught.value).splitlines()
    assert re.fullmatch(rf"Arena\.reset: {SEEN}{who}, since test_pins\.py:\d+", first)
    assert re.fullmatch(r"  at test_pins\.py:\d+: arena\.reset\(\)", place)
    assert hint == (
        "  hint: let go of it first: delete the array or memoryview, or wait for the operation"
    )
    assert caught.value.code == "illegal_state"
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0] and arena.live == 16
    del seen
    arena.reset()
    assert x.is_freed and arena.live == 0


def test_refusal_names_the_line_that_exported() -> None:
    arena, (x,) = arena_with(ts.ones(4))
    seen = x.numpy()
    with pytest.raises(ts.errors.IllegalState) as caught:
        arena.reset()
    line = int(re.findall(r"since test_pins\.py:(\d+)", str(caught.value))[0])
    assert linecache.getline(__file__, line).strip() == "seen = x.numpy()"
    assert seen.tolist() == [1.0] * 4


def test_each_of_several_exports_pins() -> None:
    arena, (x, y) = arena_with(ts.ones(4), ts.ones(2))
    seen: list[Any] = [x.numpy(), memoryview(x), np.from_dlpack(x), memoryview(y), x[1:].numpy()]
    while seen:
        with pytest.raises(ts.errors.IllegalState):
            arena.reset()
        assert x.tolist() == [1.0] * 4 and y.tolist() == [1.0] * 2  # nothing went
        seen.pop()
    arena.reset()
    assert x.is_freed and y.is_freed


def test_released_memoryview_pins_no_more() -> None:
    arena, (x,) = arena_with(ts.ones(4))
    seen = memoryview(x)
    with pytest.raises(ts.errors.IllegalState):
        arena.reset()
    seen.release()
    arena.reset()
    assert x.is_freed


def test_export_pins_after_its_tensor_is_gone() -> None:
    arena, (x,) = arena_with(ts.arange(4.0))
    seen = x.numpy()
    del x
    gc.collect()
    with pytest.raises(ts.errors.IllegalState, match=SEEN + VIEWED):
        arena.reset()
    assert seen.tolist() == [0.0, 1.0, 2.0, 3.0] and arena.live == 16
    del seen
    assert arena.live == 0
    arena.reset()


def test_release_to_a_mark_looks_only_at_what_came_after() -> None:
    arena, (x,) = arena_with(ts.ones(4))
    seen = x.numpy()
    mark = arena.mark()
    with memory.use(arena):
        y = ts.ones(3)
    arena.release_to(mark)
    assert y.is_freed and x.tolist() == [1.0] * 4
    with memory.use(arena):
        y = ts.ones(3)
    other = memoryview(y)
    with pytest.raises(ts.errors.IllegalState, match=rf"^Arena\.release_to: {SEEN}{VIEWED}, since"):
        arena.release_to(mark)
    assert y.tolist() == [1.0] * 3 and not x.is_freed
    other.release()
    arena.release_to(mark)
    assert y.is_freed
    assert seen.sum() == 4


def test_end_of_a_temporary_scope_refuses_what_is_seen() -> None:
    kept: list[Any] = []
    with pytest.raises(ts.errors.IllegalState, match="is in use by " + VIEWED):  # noqa: SIM117
        with memory.temporary("1KiB"):
            x = ts.ones(4)
            kept.append(x.numpy())
    assert x.tolist() == [1.0] * 4 and memory.current() == memory.heap
    with pytest.raises(KeyError), memory.temporary("1KiB"):  # the first error is the one to see
        y = ts.ones(4)
        kept.append(y.numpy())
        raise KeyError
    assert y.tolist() == [1.0] * 4 and kept[1].tolist() == [1.0] * 4


def test_failed_export_pins_nothing() -> None:
    arena, (x,) = arena_with(ts.ones(4))
    with pytest.raises(ts.errors.TessellaError):
        x.requires_grad_().numpy()
    with pytest.raises(BufferError):
        x.detach().__dlpack__(dl_device=(2, 0))
    arena.reset()
    assert x.is_freed


# --- a reset at a bad moment ----------------------------------------------------------------------

LONG: dict[str, Callable[[ts.Tensor], ts.Tensor]] = {
    "matmul": lambda x: x @ x,
    "sort": lambda x: ts.sort(x, axis=0),
    "elementwise": lambda x: ts.tanh(ts.exp(x) * x + x),
    "reduce": lambda x: ts.logsumexp(x, axis=0),
    "index": lambda x: x[ts.arange(x.shape[0] - 1, -1, -1)],
    "in place": lambda x: [x.mul_(1.0) for _ in range(20)][-1],
    "cast": lambda x: x.astype(ts.float64).astype(ts.float16),
}


@pytest.mark.parametrize("name", LONG)
def test_reset_from_another_thread_refuses_or_is_seen(name: str) -> None:
    """Work in a thread, resets here: each result is right, or the operation says UseAfterFree."""
    source = ts.arange(400.0 * 400).reshape(400, 400).sin()
    want = LONG[name](source.clone())
    arena = memory.Arena("1MiB", growable=True, name="step")
    counts = {"right": 0, "freed": 0, "refused": 0, "reset": 0}
    wrong: list[Any] = []
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            try:
                with memory.use(arena):
                    result = LONG[name](source.clone())
                threading.Event().wait(0.001)  # a moment without an operation: a reset may come
                result = result.clone()
            except ts.errors.UseAfterFree:
                counts["freed"] += 1
                continue
            except Exception as error:
                return wrong.append(error)
            counts["right"] += 1
            if result.tolist() != want.tolist():
                return wrong.append("values")

    worker = threading.Thread(target=work)
    worker.start()
    for _ in range(4000):
        try:
            arena.reset()
            counts["reset"] += 1
        except ts.errors.IllegalState as error:
            assert SEEN in str(error)
            counts["refused"] += 1
        if wrong or (counts["right"] > 3 and counts["reset"] > 3 and counts["refused"] > 3):
            break
        threading.Event().wait(0.0005)
    stop.set()
    worker.join()
    assert not wrong
    assert counts["reset"] and counts["refused"] and counts["right"] + counts["freed"], counts


def test_refusal_during_an_operation_says_so() -> None:
    for _ in range(20):  # until the reset comes while the product is computed
        arena, (x,) = arena_with(ts.ones(1200, 1200), size="8MiB")
        begun = threading.Event()
        results: list[ts.Tensor] = []

        def work(x: ts.Tensor = x, begun: Any = begun, results: Any = results) -> None:
            begun.set()
            results.append(x @ x)

        worker = threading.Thread(target=work)
        worker.start()
        begun.wait()
        time.sleep(0.01)
        try:
            arena.reset()
        except ts.errors.IllegalState as error:
            assert str(error).startswith(f"Arena.reset: {SEEN}an operation")
            worker.join()
            assert results[0][0, 0].item() == 1200.0
            arena.reset()
            return
        worker.join()
    raise AssertionError("no reset came during a product")


@contextmanager
def collector_after(objects: int) -> Iterator[None]:
    """Let the collector look at young objects as soon as there are so many new ones."""
    before = gc.get_threshold()
    gc.collect(0)
    gc.set_threshold(objects, 1000, 1000)
    gc.enable()
    try:
        yield
    finally:
        gc.disable()
        gc.set_threshold(*before)


class Saboteur:
    """A cycle whose end resets an arena and lets another tensor live where others lived."""

    def __init__(self, arena: memory.Arena, tenants: list[ts.Tensor], value: int = 0) -> None:
        self.value = value
        self.arena = arena
        self.tenants = tenants
        self.cycle = self

    def strike(self) -> None:
        """Reset, and put a tensor there."""
        self.tenants.append(ts.zeros(0))
        try:
            self.arena.reset()
        except ts.errors.IllegalState:
            return
        with memory.use(self.arena):
            self.tenants.append(ts.full(2000, 7.0))

    def __del__(self) -> None:
        self.strike()

    def __index__(self) -> int:
        self.strike()
        return self.value


def sabotaged(make: Callable[[memory.Arena], Callable[[], Any]]) -> Iterator[Any]:
    """Make a call again and again while the collector resets its arena: later and later in it.

    Gives what each call gave; ends when the call was over before the collector came.
    """
    for objects in range(2, 300):
        arena = memory.Arena("1MiB", growable=True, name="step")
        tenants: list[ts.Tensor] = []
        call = make(arena)
        try:
            with collector_after(objects):
                Saboteur(arena, tenants)
                result = call()
                struck = bool(tenants)
        except ts.errors.UseAfterFree:
            result, struck = None, True
        assert all(x.is_freed or set(listed(x)) <= {7.0} for x in tenants)
        yield result
        gc.collect(0)
        if not struck:
            return
    raise AssertionError("the call never ended before the collector came")


def compare(result: Any, want: Any) -> None:
    """Compare the tensors of a result that still live."""
    if isinstance(want, ts.Tensor):
        if isinstance(result, ts.Tensor) and not result.is_freed:
            assert_same_tensors(result, want)
    elif isinstance(want, tuple | list) and isinstance(result, tuple | list):
        for got, each in zip(result, want, strict=True):
            compare(got, each)


# Their values are whatever the memory held.
UNSURE = ("empty", "empty_like", "new_empty")


def restarted(call: Call) -> Call:
    """Give the call with a generator at its start."""
    named = {k: ts.Generator(5) if k == "generator" else v for k, v in call.named.items()}
    return Call(call.name, call.function, call.args, named)


@pytest.mark.parametrize("name", sampled([n for n in DECLARED if n not in UNSURE], 80))
def test_collector_may_reset_in_the_middle_of_a_call(name: str) -> None:
    for call in sampled(calls_of(name), 3):
        want = restarted(call.changed(ts.Tensor.clone))()

        def make(arena: memory.Arena, call: Call = call) -> Callable[[], Any]:
            with memory.use(arena):
                inside = restarted(call.changed(ts.Tensor.clone))

            def run() -> Any:
                with memory.use(arena):
                    return inside()

            return run

        moments = 0
        for result in sabotaged(make):
            compare(result, want)
            moments += 1
        assert moments > 1, "no reset came before or in the call"


READS: dict[str, Callable[[ts.Tensor], Any]] = {
    "tolist": lambda x: x.tolist(),
    "iteration": lambda x: [row.tolist() for row in x],
    "pickle": lambda x: pickle.loads(pickle.dumps(x)).tolist(),
    "repr": repr,
    "numpy": lambda x: x.numpy().tolist(),
    "from_dlpack": lambda x: np.from_dlpack(x.T).T.tolist(),
    "index": lambda x: x[[0, 1]].tolist(),
    "mask": lambda x: x[x > 2].tolist(),
    "tensor of rows": lambda x: ts.tensor([x[0], x[1]]).tolist(),
    "nonzero": lambda x: [each.tolist() for each in ts.nonzero(x)],
    "unique": lambda x: ts.unique_values(x).tolist(),
    "view": lambda x: x.T.flip().detach().tolist(),
    "deep list": lambda x: x.reshape(5, 2, 2, 2, 5).tolist(),
}


@pytest.mark.parametrize("name", READS)
def test_collector_may_reset_while_values_are_read(name: str) -> None:
    source = ts.arange(200.0).reshape(10, 20)
    want = READS[name](source)

    def make(arena: memory.Arena) -> Callable[[], Any]:
        with memory.use(arena):
            x = source.clone()
        return lambda: READS[name](x)

    results = list(sabotaged(make))
    assert results[-1] == want and len(results) > 1
    assert all(got == want or got is None or "freed" in str(got) for got in results)


CALLBACKS: dict[str, Callable[[ts.Tensor, Any], Any]] = {
    "index": lambda x, bad: x[bad],
    "index in the middle": lambda x, bad: x[0, bad],
    "index and mask": lambda x, bad: x[bad, x[0] > 1],
    "slice": lambda x, bad: x[bad:],
    "assignment": lambda x, bad: x.__setitem__(bad, 1.0),
    "assignment to an element": lambda x, bad: x.__setitem__((1, bad), 1.0),
    "assignment to a slice": lambda x, bad: x.__setitem__(slice(bad, None), ts.ones(20)),
    "item": lambda x, bad: x.item(bad),
    "at": lambda x, bad: x.at(bad, bad),
    "axis": lambda x, bad: x.sum(axis=bad),
    "axes": lambda x, bad: x.sum(axis=(1, bad)),
    "in place along an axis": lambda x, bad: ts.cumulative_sum(x, axis=bad, out=x),
    "shape": lambda x, bad: x.reshape(bad, 20),
    "view": lambda x, bad: x.view((bad, 20)),
    "broadcast": lambda x, bad: ts.broadcast_to(x[:1], (bad, 20)),
    "roll": lambda x, bad: ts.roll(x, bad),
    "stack": lambda x, bad: ts.stack([x, x], axis=bad),
    "concat": lambda x, bad: ts.concat([x, x], axis=bad),
    "sort": lambda x, bad: ts.sort(x, axis=bad),
    "topk": lambda x, bad: ts.topk(x.T, bad),
    "split": lambda x, bad: ts.split(x.T, bad),
    "permute": lambda x, bad: x.permute((1, bad)),
    "shift": lambda x, bad: ts.diagonal(x, bad),
    "put": lambda x, bad: ts.put_along_axis(x, ts.tensor([[0]]), 1.0, bad),
}

SIZES = ("shape", "view", "broadcast", "topk", "split")  # where the integer is no axis or index


@pytest.mark.parametrize("name", CALLBACKS)
def test_callback_may_reset_in_the_middle_of_a_call(name: str) -> None:
    arena, (x,) = arena_with(ts.arange(200.0).reshape(10, 20))
    tenants: list[ts.Tensor] = []
    bad = Saboteur(arena, tenants, 10 if name in SIZES else 0)
    with pytest.raises(ts.errors.UseAfterFree):
        CALLBACKS[name](x, bad)
    assert len(tenants) > 1, "the callback was not asked"
    assert all(x.is_freed or set(listed(x)) <= {7.0} for x in tenants)


def test_finalizer_of_a_tensor_may_reset() -> None:
    arena, (x, y) = arena_with(ts.ones(8), ts.ones(8))
    keeper = weakref.finalize(x, arena.reset)
    del x
    assert not keeper.alive and y.is_freed and arena.live == 0
