"""A save replaces the file as a whole: failures and kills leave the old one, and nothing else."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import tessella as ts
from conftest import SEED, sampled
from tessella import _core
from tessella.io import streams


def large() -> ts.Tensor:
    """Give a tensor of 400 kB, which lives no longer than the test."""
    return ts.ones(100_000)


SAVES: dict[str, Callable[[Any], None]] = {
    "save": lambda path: ts.save([large(), large().reshape(2, -1).T], path),
    "save_file": lambda path: ts.io.save_file({"x": large(), "y": large().reshape(4, -1).T}, path),
    "save_gguf": lambda path: ts.io.save_gguf({"x": large(), "y": large().reshape(4, -1).T}, path),
    "save_npy": lambda path: ts.io.save_npy(large(), path),
    "save_npz": lambda path: ts.io.save_npz({"x": large(), "y": large()}, path),
    "compressed": lambda path: ts.io.save_npz({"x": ts.rand(100_000)}, path, compressed=True),
    "save_checkpoint": lambda path: ts.io.save_checkpoint(path, x=large(), step=3),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give a file that is there."""
    file = tmp_path / "file"
    file.write_bytes(b"the old one")
    return file


def assert_untouched(path: Path) -> None:
    """See that the old file is there, and nothing else."""
    assert path.read_bytes() == b"the old one"
    assert os.listdir(path.parent) == [path.name]


def test_systems_that_know_fewer_calls(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.chmod(0o640)
    for name in ("preadv", "O_CLOEXEC", "O_NONBLOCK", "O_DIRECTORY"):
        monkeypatch.delattr(os, name)
    monkeypatch.setattr(os, "supports_fd", set())
    long = ts.arange(5_000_000)  # more than is read at once
    ts.io.save_file({"x": long, "y": large()}, path)
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(path.parent) == [path.name]
    loaded = ts.io.load_file(path, mmap=False)
    assert ts.array_equal(loaded["x"], long) and ts.array_equal(loaded["y"], large())


# --- failures ------------------------------------------------------------------------------------


@contextmanager
def full_disk() -> Iterator[None]:
    """Let files end after 100 kB."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("name", SAVES)
def test_a_full_disk_leaves_the_old_file(name: str, path: Path) -> None:
    with full_disk(), pytest.raises(OSError) as error:
        SAVES[name](path)
    assert error.value.errno == errno.EFBIG and error.value.filename == str(path)
    assert error.value.__notes__ == ["nothing was saved; what the path named before is as it was"]
    assert_untouched(path)
    SAVES[name](path)
    assert path.stat().st_size > 100_000


@pytest.mark.parametrize("call", ["fsync", "replace", "chmod", "close"])
@pytest.mark.parametrize("name", ["save_file", "save_npz"])
def test_a_failing_call_leaves_the_old_file(
    name: str, call: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*ignored: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        if call == "close":  # the last bytes are written there
            patch.setattr(os, "fsync", os.close)
        else:
            patch.setattr(os, call, fail)
        with pytest.raises(OSError) as error:
            SAVES[name](path)
    assert error.value.filename == str(path) or call == "chmod"
    assert_untouched(path)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, ZeroDivisionError])
@pytest.mark.parametrize("name", SAVES)
def test_an_exception_in_the_middle_leaves_the_old_file(
    name: str, error: type[BaseException], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = streams.write_all
    count = 0

    def write(file: Any, data: Any) -> None:
        nonlocal count
        count += 1
        if count == 2:
            whole(file, bytes(data)[:1000])
            raise error("in the middle")
        whole(file, data)

    monkeypatch.setattr(streams, "write_all", write)
    with pytest.raises(error, match="in the middle"):
        SAVES[name](path)
    assert_untouched(path)


def test_memory_that_ends_leaves_the_old_file(path: Path) -> None:
    turned = ts.ones(300, 500).T
    _core.fail_allocations_from(1)
    try:
        with pytest.raises(ts.errors.OutOfMemory):
            ts.io.save_file({"x": turned}, path)
    finally:
        _core.fail_allocations_from(0)
    assert_untouched(path)


def test_a_freed_tensor_leaves_the_old_file(path: Path) -> None:
    with ts.memory.temporary("1MiB"):
        gone = ts.ones(10)
    with pytest.raises(ts.errors.UseAfterFree):
        ts.io.save_file({"x": ts.ones(2), "gone": gone}, path)
    assert_untouched(path)


def test_an_unwritable_folder_leaves_the_old_file(path: Path) -> None:
    folder = path.parent
    folder.chmod(0o555)
    is_root = os.geteuid() == 0
    if is_root:  # who may write everywhere
        os.seteuid(65534)
    try:
        with pytest.raises(PermissionError) as error:
            ts.io.save_file({"x": large()}, path)
    finally:
        if is_root:
            os.seteuid(0)
        folder.chmod(0o755)
    assert error.value.filename == str(path)
    assert_untouched(path)


def test_ctrl_c_in_a_long_save_leaves_the_old_file(path: Path) -> None:
    """Bytes are written in steps, between which Python looks for signals."""
    zeros = ts.zeros(5_000_000)  # disks may take long to say that it is there
    other, is_done, was_interrupted = path.with_name("other"), threading.Event(), False

    def interrupt() -> None:
        while not is_done.wait(0.05):  # one may be lost: in a destructor Python drops errors
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    # A shell's background jobs begin with Ctrl-C ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread.start()
    try:
        for _ in range(1000):
            ts.io.save_file({"x": zeros}, other)
            other.unlink()
    except KeyboardInterrupt:
        was_interrupted = True
    with contextlib.suppress(KeyboardInterrupt):  # one that was on its way
        is_done.set()
        thread.join()
    signal.signal(signal.SIGINT, before)
    other.unlink(missing_ok=True)
    assert was_interrupted
    assert_untouched(path)


# --- order and other files -----------------------------------------------------------------------


def test_bytes_are_on_the_disk_before_the_name_and_the_name_before_the_end(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)

        def note(*given: Any, name: str = name, real: Any = real) -> None:
            target = given[0] if name == "replace" else os.readlink(f"/proc/self/fd/{given[0]}")
            kind = "folder" if os.path.isdir(target) else "file"
            calls.append(f"{name} {kind} {os.path.getsize(target) > 400_000}")
            real(*given)

        monkeypatch.setattr(os, name, note)
    ts.io.save_file({"x": large()}, path)
    assert calls == ["fsync file True", "replace file True", "fsync folder False"]


def test_temporary_files_are_in_the_same_folder_and_hidden(path: Path) -> None:
    seen: list[str] = []

    class Watcher(dict[str, ts.Tensor]):
        """Tensors that look into the folder while they are written."""

    def watch(file: Any, data: Any) -> None:
        seen.extend(name for name in os.listdir(path.parent) if name != path.name)
        file.write(data)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "write_all", watch)
        ts.io.save_file(Watcher(x=large()), path)
    assert len(set(seen)) == 1 and seen[0].startswith(".file.") and seen[0].endswith(".tmp")


class Pipe(io.RawIOBase):
    """A binary file that takes a few bytes at a time."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.data += memoryview(data)[:1000]
        return min(1000, len(data))


def test_files_that_take_a_part_get_the_rest() -> None:
    file = Pipe()
    ts.io.save_file({"x": ts.arange(5000)}, file)  # type: ignore[arg-type]
    assert ts.io.load_file(io.BytesIO(bytes(file.data)))["x"].tolist() == list(range(5000))


@pytest.mark.parametrize("name", ["save", "save_file", "save_gguf", "save_npy", "save_npz"])
def test_memory_is_not_copied_while_files_are_written(name: str, path: Path) -> None:
    zeros = ts.zeros(2_000_000)
    saves: dict[str, Callable[[], None]] = {
        "save": lambda: ts.save([zeros], path),
        "save_file": lambda: ts.io.save_file({"x": zeros}, path),
        "save_gguf": lambda: ts.io.save_gguf({"x": zeros}, path),
        "save_npy": lambda: ts.io.save_npy(zeros, path),
        "save_npz": lambda: ts.io.save_npz({"x": zeros}, path),
    }
    saves[name]()  # what is imported is not counted
    tracemalloc.start()
    try:
        with ts.memory.track() as m:
            saves[name]()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert m.allocations == 0 and peak < 500_000


# --- killed processes ----------------------------------------------------------------------------

SAVER = """
import sys, tessella as ts
from tessella import nn
path, start = sys.argv[1], int(sys.argv[2])
model = nn.Linear(500, 500)
for step in range(start, start + 100_000):
    for x in model.state_dict().values():
        x.fill_(float(step))
    ts.io.save_checkpoint(path, model=model, again=ts.full((1000, 100), step).T, step=step)
    if step == start:
        print("ready", flush=True)  # what is imported at the first save is
"""


def check_whole(path: Path) -> int:
    """See that a checkpoint is that of one step."""
    saved: Any = ts.load(path)
    step: int = saved["step"]
    for value in (*saved["model"].values(), saved["again"]):
        assert bool((value == step).all())
    return step


@pytest.mark.parametrize("number", sampled(range(200), 10))
def test_a_killed_save_leaves_the_last_whole_checkpoint(number: int, tmp_path: Path) -> None:
    path = tmp_path / "run.ts"
    ts.io.save_checkpoint(
        path, model=_constant(0.0), again=ts.zeros(100, 1000, dtype=ts.int64), step=0
    )
    draw = random.Random(f"{SEED} {number}")
    process = subprocess.Popen(
        [sys.executable, "-c", SAVER, str(path), "1"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "ready\n"
        time.sleep(draw.uniform(0, 0.08))
        process.kill()
    process.wait()
    step = check_whole(path)
    left = [name for name in os.listdir(tmp_path) if name != path.name]
    assert all(name.startswith(".run.ts.") and name.endswith(".tmp") for name in left)
    assert len(left) <= 1
    ts.io.save_checkpoint(path, model=_constant(step + 1), again=ts.tensor(step + 1), step=step + 1)
    assert check_whole(path) == step + 1


def _constant(value: float) -> Any:
    model = ts.nn.Linear(500, 500)
    for part in model.state_dict().values():
        part.fill_(float(value))
    return model
