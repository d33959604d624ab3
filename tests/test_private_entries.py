"""Entries of the core that only the package calls: what does not fit is refused, not done.

The calls run in a process of their own, which one that is done might end. What operands must fit
is in test_lying_subclasses.py.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from importlib import import_module

import pytest

import tessella as ts
from tessella import _core

# They write into `w`, whose memory is read-only: that of bytes.
WRITES = [
    "_core.fill(w, 2.0)",
    "_core.copy(w, y, True)",
    "_core.fill_from_list(w, [1.0] * 6)",
    "_core.elementwise(0, dtype, w, y)",
    "_core.count_floats(w, 0.0, 1.0, 1.0)",
    "_core.random(w, 1, 0, 0, 0, 0, 0.0)",
    "_core.gather(w, y, [0], [places], 0)",
    "_core.scatter(y, w, [0], [places], 0)",
    "_core.scatter_add(y, w, [0], [places], 0)",
    "_core.scatter_join(y, w, [0], [places], 0, 0)",
    "_core.cumulate(0, w, y, 0, True)",
    "_core.rows(0, w, y, 0, True)",
    "_core.reduce(0, w, y.reshape(1, 6), (0,), True)",
    "_core.sort(y, 0, w, None, False)",
    "_core.matmul(w.reshape(2, 3), ts.ones(2, 1), ts.ones(1, 3), False, True)",
]

# What they need is missing, or is of another type.
CALLS = {
    "stand-in": "_core.Rehearsal().stand_in(y)",
    "given": """
        r = _core.Recording()
        r.begin()
        made = ts.ones(3)
        r.end()
        r.mark_given(made)
    """,
    "leaves": """
        r = _core.Recording()
        leaf = ts.ones(3).requires_grad_()
        r.begin()
        r.add_argument(leaf)
        leaf.grad
        r.end()
        r.leaves()
    """,
    "buddy": "_core.make_buddy('b', 64, 128)",
    "least": "_core.make_buddy('b', 4096, 1)",
    "power": "_core.make_buddy('b', 100, 64)",
    "rules": "type(ts.exp)(None, 'f', '', '', 'elementwise', 0, 1, True, False, ())",
    "slot": "assert _core.set_slot('add', 5)",
    "adopt": "_core.adopt((y, y), (y,))",
    "rewrite": """
        arena = ts.memory.Arena("1MiB")
        array = ts.DynamicArray("float32", allocator=arena)
        for i in range(4):
            array.append(i)

        class Stamp:
            def __eq__(self, other):
                arena.reset()
                return True

        _core.array_rewrite(array, Stamp(), ts.ones(4))
    """,
    "hooks": """
        z = y.clone().requires_grad_() * 2
        _core.set_node_hooks(z.grad_fn, lambda g: (*g, 5))
        z.sum().backward()
    """,
    "hook": """
        z = y.clone().requires_grad_() * 2
        z.register_hook(lambda g: g)
        z.grad_fn.hooks.results[0].kept = lambda: 5
        z.sum().backward()
    """,
    "result": """
        z = y.clone().requires_grad_() * 2
        _core.set_node_hooks(z.grad_fn, lambda g: (5, ()))
        z.sum().backward()
    """,
    "leaf": """
        z = y.clone().requires_grad_()
        _core.set_leaf_hooks(z, lambda g: 5)
        z.sum().backward()
    """,
    "pack": """
        wide = ts.dtypes.register("wide", fmt="4096s")
        type(wide).pack = lambda self, item: 7
        ts.empty(4, dtype=wide)[0] = (b"",)
    """,
    "codec": """
        import struct

        wide = ts.dtypes.register("wide", fmt="4096s")
        wide._codec = struct.Struct("b")
        ts.empty(4, dtype=wide)[0] = (1,)
    """,
}

SETUP = """
import struct
import tessella as ts
from tessella import _core

source = struct.pack("6f", *range(6))
w = _core.from_buffer(source, False).view("float32")
y, places, dtype = ts.ones(6), ts.arange(6), ts.float32.id
assert w.is_readonly and w.size == 6
"""


def refuses(code: str, error: str = "Exception") -> str:
    call = textwrap.indent(textwrap.dedent(code).strip(), "    ")
    return f"\ntry:\n{call}\nexcept {error}:\n    pass\nelse:\n    print({code!r}, 'was done')\n"


def run(code: str) -> None:
    command = [sys.executable, "-X", "faulthandler", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_a_recording_that_ends_while_it_is_paused_is_not_resumed() -> None:
    code = """
r = _core.Recording()
r.begin()
_core.pause_recording()
del r
_core.resume_recording()
for _ in range(50):
    y = y + 1
"""
    run(SETUP + code)


def test_memory_that_is_read_only_is_not_written() -> None:
    calls = "".join(refuses(write, "ValueError") for write in WRITES)
    run(SETUP + calls + "\nassert source == struct.pack('6f', *range(6))\n")


LONG = """
import resource

sizes = [1] * (1 << 24)
with open("/proc/self/statm") as file:
    taken = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + (48 << 20),) * 2)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is that of Linux")
def test_more_sizes_than_memory_holds_are_too_many_axes() -> None:
    calls = ["_core.size_of(sizes)", "_core.empty(sizes, 0)", "_core.broadcast_shapes(sizes, [1])"]
    run(SETUP + LONG + "".join(refuses(call, "ts.errors.ShapeError") for call in calls))


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_does_not_fit_is_refused(name: str) -> None:
    run(SETUP + refuses(CALLS[name]))


# --- programs -------------------------------------------------------------------------------------

# One that runs is given what it was not recorded with.
PROGRAM = """
call = ts.compile(lambda x: x * 2 + 1)
for _ in range(3):
    call(y)
[runnable] = [each for kind in call._compiled_kinds.values() for each in kind.programs]
core, arena, recording = runnable.core, call._compiled_replay.arena, runnable.program.recording
slots = [(0, 0, 0)] * len(recording.slots())
place = (0, 0, 0, (6,), (1,))
"""

GIVEN = [
    "core.run([], arena)",
    "core.run_timed([], arena)",
    "core.run_from([], arena, [])",
    "core.accepts([])",
    "core.set_named([1], [[1, 2, 3]]), core.accepts([])",
    "core.add_output((), None)",
    "core.add_output((99999, *place[1:]), None)",
    "core.add_output((-5, *place[1:]), None)",
    "core.add_output((len(slots) - 1, 0, 0, (1 << 40,), (1,)), None)",
    "core.add_output(place, 5)",
    "core.add_gradient(7, place)",
    "core.add_gradient(-1, place)",
    "core.add_removal(1000)",
    "core.set_draw(0, 50, 1)",
    "core.set_draw(10000, -1, 1)",
    "recording.begin()",
    "_core.Program(recording, [[]], slots, 64)",
    "_core.Program(recording, [[0]], slots, 64)",
    "_core.Program(recording, [[1000]], slots, 64)",
    "_core.Program(recording, [[-1]], slots, 64)",
    "_core.Program(recording, [], [], 64)",
    "_core.Program(recording, [], [()] * len(slots), 64)",
    "_core.Program(recording, [], [(99, 0, 0), *slots[1:]], 64)",
    "_core.Program(recording, [], [(1, 0, 60), *slots[1:]], 64)",
    "_core.Program(recording, [], [(1, 0, -8), *slots[1:]], 64)",
    "_core.Program(recording, [], [(2, -1, 0), *slots[1:]], 64)",
    "_core.Program(recording, [], [(4, 0, 0), *slots[1:]], 64)",
    "_core.Program(recording, [], [(5, 1 << 30, 0), *slots[1:]], 64)",
    "_core.Program(recording, [], [(5, 0, 0)] * len(slots), 64)",
    "call._compiled_replay.add(b'', _core.Program(recording, [], slots, 64), None)",
]


def test_a_program_is_given_what_fits_its_recording() -> None:
    run(SETUP + PROGRAM + "".join(map(refuses, GIVEN)) + "\nassert call(y).tolist() == [3.0] * 6\n")


# --- what records in a thread ends there ----------------------------------------------------------

AROUND = """
import threading

kind = getattr(_core, {kind!r})
"""

ELSEWHERE = """
stage, begun, over = kind(), threading.Event(), threading.Event()

def work(given):
    given.begin()
    del given
    begun.set()
    over.wait()
    x = ts.ones(1000).requires_grad_()
    for _ in range(100):
        x.grad = None
        (x * 2).sum().backward()

thread = threading.Thread(target=work, args=(stage,))
thread.start()
begun.wait()
try:
    stage.end()
except ts.errors.TessellaError:
    pass
else:
    print("it was ended")
thread._args = ()
del stage
junk = [bytearray(size) for size in range(64, 1000)]
over.set()
thread.join()
assert (y * 2).tolist() == [2.0] * 6
"""

PAUSED = """
stage = kind()
stage.begin()
_core.pause_recording()
other = kind()
other.begin()
del stage
junk = [bytearray(size) for size in range(64, 1000)]
made = ts.ones(1000)
other.end()
assert len(other) == 1 if kind is _core.Recording else made.is_virtual
_core.resume_recording()
x = ts.ones(1000).requires_grad_()
(x * 2).sum().backward()
assert x.grad[0].item() == 2
"""


@pytest.mark.parametrize("kind", ["Rehearsal", "Recording"])
@pytest.mark.parametrize("code", [ELSEWHERE, PAUSED], ids=["elsewhere", "paused"])
def test_what_records_ends_in_its_thread_and_while_it_is_paused(kind: str, code: str) -> None:
    run(SETUP + AROUND.format(kind=kind) + code)


# --- all or none ----------------------------------------------------------------------------------


def test_leaves_adopt_all_or_none_where_memory_ends() -> None:
    testcapi = import_module("_testcapi")  # CPython's own, which ends memory
    failures = 0
    for most in range(40):
        leaves = (ts.zeros(1, 1, 1, 1, 2), ts.zeros(1, 1, 1, 1, 2))
        sources = (ts.ones(1, 1, 1, 1, 1, 3), ts.ones(1, 1, 1, 1, 1, 3))
        try:
            testcapi.set_nomemory(most, most + 1)
            _core.adopt(leaves, sources)
        except MemoryError:
            failures += 1
        finally:
            testcapi.remove_mem_hooks()
        assert leaves[0].shape == leaves[1].shape
    assert failures > 0
