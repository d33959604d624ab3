"""Compiled calls beside other threads, and Ctrl-C: also where no single step is long."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import Any

import tessella as ts

STEPS = 600  # of 60,000 elements each: too short to let go of the interpreter's lock


def many_short_steps(x: ts.Tensor) -> ts.Tensor:
    for i in range(STEPS // 2):
        x = (x[::-1] * 0.5).sort(axis=-1) + i
    return x


def test_other_threads_run_during_a_call_of_many_short_steps() -> None:
    compiled = ts.compile(many_short_steps)
    x = ts.rand(300, 200)
    for _ in range(3):
        compiled(x)
    ticks: list[float] = []
    is_over = threading.Event()

    def tick() -> None:
        while not is_over.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    clock = threading.Thread(target=tick)
    clock.start()
    while not ticks:
        time.sleep(0.001)
    start = time.perf_counter()
    compiled(x)
    end = time.perf_counter()
    is_over.set()
    clock.join()
    inside = [each for each in ticks if start < each < end]
    assert len(inside) >= 5, f"{len(inside)} ticks in {end - start:.3f} s"


INTERRUPTED = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
import tessella as ts
sys.path.insert(0, {tests!r})
from test_compiled_threads import many_short_steps

state = ts.zeros(300, 200)

def before(x):
    return many_short_steps(x).sum()

def after(x):
    state.add_(1)
    return many_short_steps(x).sum()

for function in (before, after):
    compiled = ts.compile(function)
    x = ts.rand(300, 200)
    for _ in range(3):
        compiled(x)
    start = time.perf_counter()
    compiled(x)
    whole = time.perf_counter() - start
    had = state[0, 0].item()
    timer = threading.Timer(whole / 4, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    try:
        for _ in range(50):
            compiled(x)
    except KeyboardInterrupt:
        print(function.__name__, time.perf_counter() - start, whole, state[0, 0].item() - had)
    timer.join()
"""


def test_ctrl_c_is_answered_before_state_is_written_or_at_the_end() -> None:
    code = INTERRUPTED.format(tests=__file__.rsplit("/", 1)[0])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows: dict[str, list[float]] = {}
    for line in done.stdout.splitlines():
        name, *numbers = line.split()
        rows[name] = [float(number) for number in numbers]
    assert list(rows) == ["before", "after"], done.stdout + done.stderr
    taken, _, added = rows["before"]
    assert taken < 0.5 and added == 0
    taken, whole, added = rows["after"]  # that call is done to its end, and the next not begun
    assert taken < whole + 0.5 and added == 1


def test_threads_that_call_one_compiled_function_get_its_results() -> None:
    compiled = ts.compile(many_short_steps)
    x = ts.rand(300, 200)
    wanted = [compiled(x) for _ in range(4)][-1]
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(compiled(x))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all((each == wanted).all() for each in results)
