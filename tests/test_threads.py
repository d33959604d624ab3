"""Threads: how many, the same bits from any thread and after a fork, Ctrl-C, and the end of Python.

What needs a process of its own runs in a child; the reductions and products of test_reductions.py
and test_products.py compare bits at several thread counts.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import tessella as ts

# Later versions of Python warn of a fork beside threads, which is what is tested.
FORKS = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
PREPARE = """
import sys, time, os, signal, threading, tessella as ts
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
"""


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Leave the number of threads as it was."""
    before = ts.get_num_threads()
    yield
    ts.set_num_threads(before)


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a new interpreter."""
    return subprocess.run(
        [sys.executable, "-c", PREPARE + code],
        capture_output=True, text=True, timeout=120, env={**os.environ, **environment},
    )  # fmt: skip


def digest(seed: int) -> bytes:
    """Give the bits of large results that the pool computes."""
    generator = ts.Generator(seed)
    x, y = ts.randn(700, 700, generator=generator), ts.randn(700, 700, generator=generator)
    parts = [
        x @ y,
        (x * y).sum(axis=0),
        (x.exp() + y).sum(),
        ts.sort(x.reshape(-1)),
        x[y > 0].mean(),
    ]
    return b"".join(part.numpy().tobytes() for part in parts)


# --- how many -------------------------------------------------------------------------------------


def test_the_number_of_threads_is_set_for_the_process() -> None:
    ts.set_num_threads(3)
    seen: list[int] = []
    other = threading.Thread(target=lambda: seen.append(ts.get_num_threads()))
    other.start()
    other.join()
    assert ts.get_num_threads() == 3 and seen == [3]


def test_a_with_block_limits_this_thread_only() -> None:
    ts.set_num_threads(2)
    seen: list[int] = []
    with ts.num_threads(5):
        other = threading.Thread(target=lambda: seen.append(ts.get_num_threads()))
        other.start()
        other.join()
        assert ts.get_num_threads() == 5
        with ts.num_threads(1):
            assert ts.get_num_threads() == 1
        assert ts.get_num_threads() == 5
    assert ts.get_num_threads() == 2 and seen == [2]


def test_a_with_block_ends_on_an_error_too() -> None:
    before = ts.get_num_threads()
    with pytest.raises(ZeroDivisionError, match="division"), ts.num_threads(7):
        _ = 1 // 0
    assert ts.get_num_threads() == before


def test_one_block_may_be_entered_twice() -> None:
    before, block = ts.get_num_threads(), ts.num_threads(4)
    with block, ts.num_threads(2), block:
        assert ts.get_num_threads() == 4
    assert ts.get_num_threads() == before


@pytest.mark.parametrize("bad", [0, -1, 257, 1 << 40])
def test_numbers_out_of_range_are_refused(bad: int) -> None:
    with pytest.raises(ts.errors.InvalidArgument, match=f"set_num_threads: n is {bad}"):
        ts.set_num_threads(bad)
    with pytest.raises(ts.errors.InvalidArgument, match=f"num_threads: n is {bad}"):
        ts.num_threads(bad)


@pytest.mark.parametrize("bad", [None, 1.0, "2", True])
def test_what_is_no_number_is_refused(bad: Any) -> None:
    with pytest.raises(ts.errors.ArgumentError, match="set_num_threads: n must be an integer, got"):
        ts.set_num_threads(bad)


def test_the_environment_gives_the_default() -> None:
    done = run("print(ts.get_num_threads())", TESSELLA_NUM_THREADS="3")
    assert done.stdout.strip() == "3", done.stderr


@pytest.mark.parametrize("bad", ["two", "0", "257", "3x", "", "-1", "²", "9" * 5000])
def test_a_number_in_the_environment_that_is_none_is_refused(bad: str) -> None:
    done = run("", TESSELLA_NUM_THREADS=bad)
    assert done.returncode == 1
    *_, what, hint = done.stderr.strip().splitlines()
    shown = repr(bad) if len(bad) < 50 else repr(bad)[:57] + "..."
    assert what == f"tessella.exceptions.InvalidArgument: TESSELLA_NUM_THREADS is {shown}"
    assert hint == "  hint: TESSELLA_NUM_THREADS must be between 1 and 256"


def test_the_affinity_limits_the_default() -> None:
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n" + PREPARE
    code += "print(ts.get_num_threads())"
    environment = {k: v for k, v in os.environ.items() if k != "TESSELLA_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment)
    assert done.stdout.strip() == b"1", done.stderr


def test_a_helper_that_parked_on_the_core_of_the_caller_is_sent_to_another() -> None:
    allowed = os.sched_getaffinity(0)
    here = min(allowed)
    code = f"""
ts.set_num_threads(2)
before = set(os.listdir("/proc/self/task"))
x = ts.rand(512, 512)
work = lambda: [x @ x for _ in range(20)]
while len(tasks := set(os.listdir("/proc/self/task")) - before) == 0: work()
helper = int(tasks.pop())
def last_cpu():
    with open(f"/proc/self/task/{{helper}}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[36])
os.sched_setaffinity(0, {{{here}}})
for _ in range(20):  # on a busy machine the scheduler may bring it back
    os.sched_setaffinity(helper, {{{here}}})
    while last_cpu() != {here}:
        work()
        time.sleep(0.01)  # the helper gets its turn, finds nothing, and parks here
    os.sched_setaffinity(helper, {allowed})
    work()
    went = last_cpu() in {allowed - {here} or allowed}
    time.sleep(0.01)
    kept = os.sched_getaffinity(helper) == {allowed}
    if went and kept: break
print(went, kept)
"""
    done = run(code)
    assert done.stdout.strip() == "True True", done.stderr + done.stdout


# --- the same bits --------------------------------------------------------------------------------


def test_python_threads_at_once_get_the_same_bits() -> None:
    expected = {seed: digest(seed) for seed in range(3)}
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda i: (i % 3, digest(i % 3)), range(18)))
    assert all(bits == expected[seed] for seed, bits in found)


def test_python_threads_may_change_the_number_while_others_work() -> None:
    expected, stop = digest(1), threading.Event()

    def change() -> None:
        n = 1
        while not stop.is_set():
            ts.set_num_threads(n)
            n = n % 8 + 1

    other = threading.Thread(target=change)
    other.start()
    try:
        assert all(digest(1) == expected for _ in range(5))
    finally:
        stop.set()
        other.join()


def send_digest(connection: Any) -> None:
    signal.alarm(60)  # a child whose parent is gone ends
    connection.send(digest(2))
    connection.close()


@FORKS
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_a_child_of_fork_computes_the_same_bits(threads: int) -> None:
    with ts.num_threads(threads):
        expected = digest(2)  # the pool runs now
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # a child that hangs ends
            done = digest(2) == expected and digest(2) == expected
            os.write(writer, b"same" if done else b"other")
            os._exit(0)
        os.close(writer)
        assert os.read(reader, 10) == b"same"
        os.close(reader)
        assert os.waitpid(child, 0)[1] == 0
        assert digest(2) == expected


@FORKS
def test_a_process_of_multiprocessing_computes_the_same_bits() -> None:
    ts.set_num_threads(2)
    expected = digest(2)
    context = multiprocessing.get_context("fork")
    # A pipe for each: large messages of two processes would mix in one.
    pipes = [context.Pipe(duplex=False) for _ in range(2)]
    workers = [context.Process(target=send_digest, args=(sender,)) for _, sender in pipes]
    for worker in workers:
        worker.start()
    for receiver, _ in pipes:
        assert receiver.poll(60) and receiver.recv() == expected
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0


def test_a_fork_while_other_threads_compute_leaves_a_child_that_works() -> None:
    code = """
ts.set_num_threads(4)
x = ts.ones(600, 600)
stop = False
def work():
    while not stop:
        x @ x
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
ends = []
for _ in range(10):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        os._exit(0 if (x @ x).sum().item() == 600.0 ** 3 else 1)
    ends.append(os.waitpid(child, 0)[1])
stop = True
for thread in threads:
    thread.join()
print(ends)
"""
    done = run(code)
    assert done.stdout.strip() == str([0] * 10), done.stderr


# --- Ctrl-C ---------------------------------------------------------------------------------------

# The promise is 0.2 s on a free machine. The signal is sent from inside, so that the clock begins
# when it is sent; a loaded machine may keep every thread of the child waiting for long, so that
# only more than a second fails.
LIMIT = 1.0
INTERRUPT = """
ts.set_num_threads({threads})
{setup}
sent = []
def send():
    time.sleep(0.1)
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
for attempt in range(3):
    other = threading.Thread(target=send)
    start = time.perf_counter()
    try:
        other.start()
        while time.perf_counter() < start + 20:
            {work}
        print("finished")
    except KeyboardInterrupt:
        print(time.perf_counter() - sent[-1])
    other.join()
assert ts.ones(100_000).sum().item() == 100_000
"""
LONG = {
    "product": ("x = ts.ones(3000, 3000)", "x @ x"),
    "strided product": ("x = ts.ones(3000, 3000)[::-1].T", "x @ x"),
    "integer product": ("x = ts.ones(1200, 1200, dtype=ts.int64)", "x @ x"),
    "batched product": ("x = ts.ones(40_000, 32, 32)", "x @ x"),
    "convolution": (
        "x, w = ts.ones(64, 64, 112, 112), ts.ones(64, 64, 3, 3)",
        "ts.nn.functional.conv2d(x, w)",
    ),
    "weights of a convolution": (
        "x, w = ts.ones(32, 64, 112, 112), ts.ones(64, 64, 3, 3, requires_grad=True);"
        "y = ts.nn.functional.conv2d(x, w).sum()",
        "y.backward(retain_graph=True)",
    ),
    "pool": ("x = ts.ones(64, 64, 112, 112)", "ts.nn.functional.max_pool2d(x, 3)"),
    "sort": ("x = ts.rand(20_000_000)", "ts.sort(x)"),
    "argsort": ("x = ts.rand(3, 5_000_000)", "ts.argsort(x)"),
    "sort of rows": ("x = ts.rand(3, 5_000_000)", "ts.sort(x)"),
    "reduction": ("x = ts.ones(1).broadcast_to(4_000_000_000)", "x.sum()"),
    "reduction of an axis": ("x = ts.ones(1).broadcast_to(2, 2_000_000_000)", "x.max(axis=1)"),
    "cumulative": ("x = ts.ones(30_000_000)", "ts.cumulative_sum(x)"),
    "elementwise": ("x = ts.ones(30_000_000)", "ts.tan(x)"),
    "random": ("pass", "ts.randn(50_000_000)"),
    "gather": ("x = ts.rand(20_000_000); i = ts.randint(0, 20_000_000, (20_000_000,))", "x[i]"),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_ends_a_long_operation(name: str, threads: int) -> None:
    setup, work = LONG[name]
    done = run(INTERRUPT.format(threads=threads, setup=setup, work=work))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split()
    print(f"{name}, {threads} threads: {', '.join(lines)} s")
    assert "finished" not in lines and max(map(float, lines)) < LIMIT, lines


def test_ctrl_c_leaves_the_target_of_a_write_whole() -> None:
    code = """
ts.set_num_threads(2)
x = ts.zeros(40_000_000)
threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
count = 0
try:
    while True:
        x += 1
        count += 1
except KeyboardInterrupt:
    pass
low, high = x.min().item(), x.max().item()
print(low == high and low in (count, count + 1))
"""
    done = run(code)
    assert done.stdout.strip() == "True", (done.stdout, done.stderr)


# --- the end of the interpreter -------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["", "sys.exit(0)", "x = None", "del ts"])
def test_python_ends_with_a_running_pool(ending: str) -> None:
    start = time.perf_counter()
    done = run(f"ts.set_num_threads(4)\nx = ts.ones(800, 800)\ny = x @ x\n{ending}")
    assert done.returncode == 0 and done.stderr == ""
    assert time.perf_counter() - start < 30


def test_python_ends_while_a_daemon_thread_computes() -> None:
    code = """
ts.set_num_threads(4)
x = ts.ones(800, 800)
def work():
    while True:
        x @ x
threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
print("end")
"""
    done = run(code)
    assert done.returncode == 0 and done.stdout.strip() == "end", done.stderr
