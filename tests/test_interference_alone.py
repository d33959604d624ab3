"""Collectors, handlers and other threads in the middle of work, in processes of their own.

What goes wrong may end them. What an error says is enough for is in test_interference.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap


def check_runs(code: str, *arguments: str) -> None:
    """Run a script that prints done at its end."""
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=60)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


# The k-th collection inside does something.
COLLECTING = """
    import gc, sys
    import tessella as ts
    from tessella import memory

    def collecting(work, action, k):
        seen = [0]

        def run(phase, info):
            seen[0] += phase == "start"
            if phase == "start" and seen[0] == k:
                action()

        gc.callbacks.append(run)
        gc.disable()
        junk = [[] for _ in range(50)]
        gc.set_threshold(1, 1000, 1000)
        gc.enable()
        try:
            return work()
        finally:
            gc.disable()
            gc.callbacks.remove(run)
"""


def test_an_input_that_asks_for_its_gradient_while_its_node_is_made() -> None:
    code = """
    for k in range(1, 6):
        x, y = ts.ones(3).requires_grad_(), ts.ones(3)
        z = collecting(lambda: x % y, lambda: y.requires_grad_(), k)
        assert z.grad_fn
        z.sum().backward()
        assert x.grad.tolist() == [1.0] * 3
        assert y.grad is None or y.grad.tolist() == [-1.0] * 3
    print("done")
    """
    check_runs(COLLECTING + code)


def test_an_arena_that_is_reset_while_a_line_is_remembered() -> None:
    code = """
    def reset():
        try:
            arena.reset()
        except ts.errors.IllegalState:
            pass

    for k in range(1, 6):
        arena = memory.Arena("1MiB")
        x = ts.ones(100, allocator=arena)
        with memory.track(lines=True):
            y = collecting(lambda: x + x, reset, k)
            assert y.tolist() == [2.0] * 100
    print("done")
    """
    check_runs(COLLECTING + code)


def test_a_node_that_goes_while_a_write_to_what_it_saved_is_remembered() -> None:
    code = """
    class Box:
        pass

    def write():
        global x
        x += 1

    before = sys.getrefcount(write.__code__)
    for _ in range(50):
        x = ts.ones(4)
        box = Box()
        box.me, box.out = box, ts.ones(4).requires_grad_() * x
        del box
        collecting(write, lambda: None, 0)
    gc.collect()
    assert sys.getrefcount(write.__code__) <= before + 1
    print("done")
    """
    check_runs(COLLECTING + code)


def test_a_scope_that_ends_while_the_gradient_of_a_leaf_is_added() -> None:
    code = """
    class Box:
        pass

    def resting(arena):
        with memory.use(arena):
            yield

    def fill(g):
        global junk
        gc.disable()
        junk = [[] for _ in range(5000)]
        gc.enable()

    leaves = memory.Pool(4096, 64, name="leaves")
    p = ts.ones(16, allocator=leaves).requires_grad_()
    (p * 2).sum().backward()
    held = p.grad
    loss = (p * 3).sum()
    p.register_hook(fill)
    box = Box()
    box.me, box.waits = box, resting(memory.Heap(name="other"))
    next(box.waits)
    del box
    gc.set_threshold(700, 1000, 1000)
    loss.backward()
    gc.disable()
    assert p.grad.tolist() == [5.0] * 16
    del leaves, held
    gc.collect()
    assert p.allocator.name == "leaves"
    del p
    gc.collect()
    for _ in range(10):
        memory.stats()
        ts.ones(100)
    print("done")
    """
    check_runs("    import gc\n    import tessella as ts\n    from tessella import memory\n" + code)


def test_a_signal_handler_does_not_find_a_list_that_is_not_full() -> None:
    code = """
    import gc, signal
    import tessella as ts

    x, calls = ts.zeros(1_000_000, dtype="float64"), 0

    def handler(*_):
        global calls
        calls += 1
        for each in gc.get_objects():
            if type(each) is list and len(each) == x.size:
                each.clear()

    signal.signal(signal.SIGALRM, handler)
    while calls < 5:
        signal.setitimer(signal.ITIMER_REAL, 0.004)
        made = x.tolist()
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert gc.is_tracked(made) and len(made) in (0, x.size)
    print("done")
    """
    check_runs(code)


def test_a_module_that_moves_while_a_thread_computes_with_its_buffer() -> None:
    code = """
    import threading, time
    import tessella as ts
    from tessella import nn

    ts.set_num_threads(1)
    module = nn.Module()
    module.register_buffer("wide", ts.zeros(1, 1).broadcast_to((64, 1 << 20)))
    module.register_buffer("first", ts.ones(2))
    b, target, refused, stop = module.wide, ts.zeros(64, dtype="int64"), 0, False

    def work():
        while not stop:
            nn.functional.cross_entropy(b, target)

    thread = threading.Thread(target=work)
    thread.start()
    end = time.monotonic() + 20
    while not refused and b.dtype is ts.float32 and time.monotonic() < end:
        time.sleep(0.05)
        try:
            module.to("float64")
        except ts.errors.IllegalState as error:
            assert "is in use by an operation that runs in another thread" in str(error)
            assert module.first.dtype is ts.float32
            refused += 1
    stop = True
    thread.join()
    module.to("float64")
    assert b.dtype is ts.float64 and b.shape == (64, 1 << 20)
    print("done")
    """
    check_runs(code)


def test_a_rehearsal_that_ends_while_a_thread_computes_with_its_memory() -> None:
    code = """
    import threading, time
    import tessella as ts

    ts.set_num_threads(1)
    threads, sums = [], []

    def call(x):
        thread = threading.Thread(target=lambda: sums.append((x @ x).sum().item()))
        threads.append(thread)
        thread.start()
        time.sleep(0.1)
        return x * 2

    try:
        ts.compile(call).plan(ts.spec((3000, 3000), "float64"))
    except ts.errors.TessellaError:
        pass
    for thread in threads:
        thread.join()
    assert sums == [0.0] * len(threads) and threads
    print("done")
    """
    check_runs(code)


def test_a_concatenation_of_more_elements_than_can_be_counted() -> None:
    code = """
    import tessella as ts

    n = (1 << 51) - 1
    parts = [ts.zeros(1, dtype="int8").broadcast_to((n,))] * 8192
    try:
        ts.concat([*parts, ts.zeros(8192 + 16, dtype="int8")])  # 16 of them, modulo 2 ** 64
    except ts.errors.LengthOverflow:
        print("done")
    """
    check_runs(code)
