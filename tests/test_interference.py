"""Python code that runs in the middle of the core's work: handlers, finalizers, items of users.

It may reset the arena that the work reads or writes; then it is refused, or the work says so, but
memory is never touched that is gone.
"""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator

import pytest

import tessella as ts
from tessella import memory, nn

PAIR = ts.dtypes.register("interfering", fmt="hh")


class Resetting:
    """A number that resets an arena when it is asked for."""

    def __init__(self, arena: memory.Arena) -> None:
        self.arena = arena

    def __index__(self) -> int:
        with contextlib.suppress(ts.errors.IllegalState):
            self.arena.reset()
            self.arena.trim()
        return 3


def test_item_that_resets_its_arena_when_it_is_packed() -> None:
    arena = memory.Arena("64KiB")
    x = ts.zeros(2, dtype=PAIR)
    with memory.use(arena):
        x[0] = (Resetting(arena), 4)
    assert x.tolist() == [(3, 4), (0, 0)]


def test_items_in_a_list_that_reset_their_arena_when_they_are_packed() -> None:
    arena = memory.Arena("64KiB")
    with memory.use(arena):
        x = ts.tensor([(Resetting(arena), 4), (5, 6)], dtype=PAIR)
    assert x.tolist() == [(3, 4), (5, 6)]


def test_reset_while_items_are_read_on_another_thread_is_refused() -> None:
    arena = memory.Arena("1MiB")
    x = ts.zeros(20_000, dtype=PAIR, allocator=arena)
    refused, stop = 0, threading.Event()

    def read() -> None:
        with contextlib.suppress(ts.errors.UseAfterFree):
            while not stop.is_set():
                x.tolist()

    thread = threading.Thread(target=read)
    thread.start()
    while not refused and not x.is_freed:
        try:
            arena.reset()  # between two lists it is right
        except ts.errors.IllegalState as error:
            assert "in use by an operation that runs in another thread" in str(error)
            refused += 1
    stop.set()
    thread.join()
    assert refused or x.is_freed


@pytest.fixture
def few_objects() -> Iterator[None]:
    """Collect at every allocation of an object that the collector knows."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


class Ring:
    """Garbage that resets an arena when it is collected."""

    def __init__(self, arena: memory.Arena) -> None:
        self.arena, self.me = arena, self

    def __del__(self) -> None:
        with contextlib.suppress(ts.errors.IllegalState):
            self.arena.reset()
            self.arena.trim()


READS: dict[str, Callable[[ts.Tensor], object]] = {"tolist": ts.Tensor.tolist, "repr": repr}


@pytest.mark.parametrize("read", READS)
def test_collector_that_resets_while_a_list_is_made(read: str, few_objects: None) -> None:
    for _ in range(20):
        arena = memory.Arena("64KiB")
        x = ts.ones(50, allocator=arena)
        Ring(arena)
        gc.set_threshold(1)
        try:
            READS[read](x)
        except ts.errors.UseAfterFree:
            assert x.is_freed
        finally:
            gc.set_threshold(700)


HANDLER = """
    import signal, time, sys
    import tessella as ts
    from tessella import memory

    arena, resets = memory.Arena("8MB"), 0

    def handler(number, frame):
        global resets
        try:
            arena.reset()
            arena.trim()
            resets += 1
        except ts.errors.IllegalState:
            pass

    signal.signal(signal.SIGALRM, handler)
    source = ts.randn(255, 256)  # few enough to be computed with the interpreter's lock held
    work = {"argsort": lambda x: ts.argsort(x.reshape(-1)), "pow": lambda x: ts.pow(x, x)}
    end = time.monotonic() + 1.5
    signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
    while time.monotonic() < end:
        try:
            x = source.to(arena)
            for _ in range(20):
                work[sys.argv[1]](x)
        except ts.errors.UseAfterFree:
            pass
    signal.setitimer(signal.ITIMER_REAL, 0, 0)
    print(resets > 10)
"""


@pytest.mark.parametrize("name", ["argsort", "pow"])
def test_signal_handler_that_resets_between_chunks(name: str) -> None:
    command = [sys.executable, "-c", textwrap.dedent(HANDLER), name]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr


FORKED = """
    import os, threading
    import tessella as ts
    from tessella import memory

    arena = memory.Arena("64MB")
    a = ts.randn(1500, 1500, allocator=arena)
    stop = False

    def multiply():
        while not stop:
            a @ a

    thread = threading.Thread(target=multiply)
    thread.start()
    refused = 0
    while refused < 3:
        try:
            arena.mark() and arena.reset()
            break
        except ts.errors.IllegalState:
            refused += 1
            child = os.fork()
            if child == 0:
                arena.reset()
                os._exit(7)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    stop = True
    print(refused > 0)
"""


def test_child_of_a_fork_resets_what_threads_of_its_parent_work_on() -> None:
    command = [sys.executable, "-c", textwrap.dedent(FORKED)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr


# --- collections in the middle of work ------------------------------------------------------------


@contextlib.contextmanager
def collecting(action: Callable[[], object]) -> Iterator[None]:
    """Let the first collection inside run an action; there are so many objects that one is near."""
    waiting = [action]

    def run(phase: str, info: object) -> None:
        if phase == "start" and waiting:
            waiting.pop()()

    before = gc.get_threshold()
    gc.disable()
    junk = [[i] for i in range(2000)]
    gc.callbacks.append(run)
    gc.set_threshold(10, 1000, 1000)
    gc.enable()
    try:
        yield
    finally:
        gc.callbacks.remove(run)
        gc.set_threshold(*before)
        junk.clear()
    assert not waiting, "there was no collection"


def test_a_module_is_not_converted_while_a_tensor_is_made_of_its_parameters() -> None:
    module = nn.Module()
    module.weight = weight = nn.Parameter(ts.ones(1024, dtype=ts.float64))
    told: list[str] = []

    def convert() -> None:
        try:
            module.to(ts.float16)
        except ts.errors.IllegalState as error:
            told.append(str(error))

    with ts.no_grad(), collecting(convert):
        y = weight * 2
    assert y.dtype == ts.float64 and y.sum().item() == 2048
    if told:  # else it was before the operation had looked at the dtype
        assert "is in use by an operation that is making a tensor" in told[0]


@pytest.mark.parametrize("name", ["inputs", "input_shapes", "input_dtypes"])
def test_what_a_node_says_of_its_inputs_is_whole_though_it_is_freed_meanwhile(name: str) -> None:
    parts = [ts.ones(3, requires_grad=True) for _ in range(40)]
    joined = ts.concat(parts)
    node = joined.grad_fn
    with collecting(lambda: joined.sum().backward()):
        found = getattr(node, name)
    assert len(found) == 40 and repr(found[-1])


def test_a_recording_does_not_grow_while_it_is_described() -> None:
    scaled = ts.compile(lambda p, q: (p * 2 + q).sum(axis=1))
    made: list[ts.Tensor] = []

    def make(phase: str, info: object) -> None:
        made.extend(ts.ones(3) + 1 for _ in range(20))

    before = gc.get_threshold()
    gc.callbacks.append(make)
    gc.set_threshold(20, 5, 5)
    try:
        for i in range(12):
            x = ts.ones(8, i + 1)
            with contextlib.suppress(ts.errors.CaptureError):
                assert scaled(x, x).tolist() == [3.0 * (i + 1)] * 8
            made.clear()
    finally:
        gc.callbacks.remove(make)
        gc.set_threshold(*before)


def test_memory_of_others_that_ends_sees_a_parameter_that_is_whole() -> None:
    code = """
        import tessella as ts
        from tessella import nn

        class Last(bytearray):
            def __del__(self):
                weight = holder[0].weight
                print(weight.dtype, weight.shape, weight.sum().item())

        memory = Last((1 << 20) * 8)
        module = nn.Module()
        module.weight = nn.Parameter(ts.asarray(memory).view(ts.float64))
        holder = [module]
        del memory
        module.to(ts.float16)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "float16 (1048576,) 0.0\n"), done.stderr


def test_memory_of_a_rehearsal_is_not_shared() -> None:
    found: list[str] = []

    def share(y: ts.Tensor) -> None:
        for take in (memoryview, lambda y: y.__dlpack__()):
            try:
                take(y)
            except ts.errors.ExchangeError as error:
                found.append(str(error))

    def call(x: ts.Tensor) -> ts.Tensor:
        y = x * 2
        thread = threading.Thread(target=share, args=(y,))  # which is not rehearsed itself
        thread.start()
        thread.join()
        return y * 3

    with contextlib.suppress(ts.errors.TessellaError):
        ts.compile(call).plan(ts.ones(1 << 20))
    assert len(found) == 2 and all("has no memory to share" in text for text in found)
