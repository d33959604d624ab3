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
