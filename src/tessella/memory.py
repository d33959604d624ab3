"""Memory you control: allocators, the scopes that direct memory to them, the limit, the account.

Every tensor lives in an allocator: the heap, unless a scope or a call names another. The core
counts each byte that was asked for; the limit stands above all allocators. What holds memory is
told by holders.py.
"""

from __future__ import annotations

import os
from _thread import _local
from types import TracebackType

from tessella import _core, errors
from tessella.allocators import (
    Allocator as Allocator,
    Arena as Arena,
    Buddy as Buddy,
    Heap as Heap,
    Mark as Mark,
    Pool as Pool,
    Slab as Slab,
    allocator_of as allocator_of,
    current as current,
    heap as heap,
    wrap as wrap,
)
from tessella.arguments import to_bool, to_count
from tessella.exceptions import alike
from tessella.hints import TYPE_CHECKING, Any, Generic, TypeVar
from tessella.holders import Stats as Stats, stats as stats, table
from tessella.sizes import to_bytes as to_bytes, to_text as to_text

A = TypeVar("A", bound=Allocator, default=Allocator)

__all__ = [
    "Allocator", "Arena", "Buddy", "Heap", "Mark", "Pool", "Slab", "Stats", "allocator_of",
    "current", "heap", "limit", "report", "stats", "temporary", "to_bytes", "to_text", "track",
    "trim", "use",
]  # fmt: skip
__dir__ = __all__.copy

if not TYPE_CHECKING:  # for a type checker there are the names above only

    def __getattr__(name: str) -> object:
        """Refuse a name; spellings.py, which other modules ask, stands on this one."""
        if name.startswith("__"):  # what Python asks every module for
            raise AttributeError(name)
        near = alike(name, __all__)
        hint = f"did you mean {', '.join(near)}?" if near else "dir(ts.memory) lists the names"
        raise errors.unknown_name(__name__, name, lambda: hint)

# --- scopes ---------------------------------------------------------------------------------------


class use(Generic[A]):  # noqa: N801 - used like a function
    """Let what this thread allocates in a `with` block come from an allocator.

    The end of the block frees nothing: memory goes with its tensors, or at a reset.

    >>> with ts.memory.use(ts.memory.Pool(256, 4)) as pool:
    ...     x = ts.zeros(10)
    >>> x.allocator == pool
    True
    """

    def __init__(self, allocator: A) -> None:
        if not isinstance(allocator, Allocator):
            wrong = errors.wrong_type("allocator", allocator, "an allocator of ts.memory")
            raise wrong.locate("memory.use", [])
        self.allocator = allocator

    def __enter__(self) -> A:
        _open.scopes.append(self)
        _core.swap_allocator(self.allocator.handle)
        return self.allocator

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 traceback: TracebackType | None) -> None:  # fmt: skip
        scopes = _open.scopes
        for i in reversed(range(len(scopes))):
            if scopes[i] is self:
                del scopes[i]
                _core.swap_allocator(scopes[-1].allocator.handle if scopes else None)
                return


class _Open(_local):
    """The scopes that a thread is in, the innermost last.

    One that a generator rests in may end before or after those around it.
    """

    def __init__(self) -> None:
        self.scopes: list[use[Any]] = []
        self.end = _ThreadEnd()


class _ThreadEnd:
    """Goes with its thread: what that left entered is let go of."""

    def __del__(self, swap: Any = _core.swap_allocator) -> None:
        swap(None)


_open = _Open()


class temporary:  # noqa: N801 - used like a function
    """An arena for a `with` block: what is allocated there ends with it.

    >>> with ts.memory.temporary("1MiB") as arena:
    ...     x = ts.ones(1000)
    ...     total = (x + 1).sum().item()
    >>> total, x.is_freed
    (2000.0, True)
    """

    def __init__(
        self, size: int | str = "1MiB", *, growable: bool = True, name: str | None = None
    ) -> None:
        self.arena = Arena(size, growable=growable, name=name)
        self._scope = use(self.arena)
        self._is_entered = False

    def __enter__(self) -> Arena:
        if self._is_entered:  # the end of the inner block would free what the outer one has
            raise errors.entered_twice().locate("memory.temporary", [])
        self._is_entered = True
        self._scope.__enter__()
        return self.arena

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 traceback: TracebackType | None) -> None:  # fmt: skip
        self._scope.__exit__(kind, value, traceback)
        self._is_entered = False
        try:
            self.arena.reset()
        except errors.IllegalState:
            if kind is None:  # the first error is the one to see
                raise
        self.arena.trim()


class limit:  # noqa: N801 - used like a function
    """Set how many bytes may be in use; inside a `with` block, until its end.

    None is the default: TESSELLA_MEMORY_LIMIT of the environment, else nine tenths of what the
    machine or its cgroup has. An allocation beyond the limit raises OutOfMemory, and nothing has
    changed. The limit is the process's: of several blocks the one entered last counts.

    >>> with ts.memory.limit("1GB"):
    ...     ts.memory.stats().limit
    1000000000
    """

    _outside = 0  # the limit outside of all open blocks
    _open: list[limit] = []  # blocks on all threads, which may end in any order

    def __init__(self, size: int | str | None) -> None:
        try:
            self.size = _default if size is None else to_bytes("size", size)
        except errors.TessellaError as error:
            raise error.locate("memory.limit", []) from None
        self._before = _core.memory_totals()["limit"]
        _core.set_memory_limit(self.size)

    def __enter__(self) -> limit:
        if not limit._open:
            limit._outside = self._before
        limit._open.append(self)
        _core.set_memory_limit(self.size)
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 traceback: TracebackType | None) -> None:  # fmt: skip
        limit._open.remove(self)
        self._before = limit._outside  # for a block that it leads again
        if not limit._open:
            _core.set_memory_limit(limit._outside)
        else:
            _core.set_memory_limit(limit._open[-1].size)


# --- the account ----------------------------------------------------------------------------------


class track:  # noqa: N801 - used like a function
    """Watch what a `with` block allocates, on all threads.

    `live` is how many bytes more are in use than at its start, `peak` the most of them at once,
    `allocations` how many blocks were given. With `lines`, tensors remember the line that made
    them, for reports and errors.

    >>> with ts.memory.track() as m:
    ...     x = ts.zeros(1000)
    ...     y = x + x
    ...     del x
    >>> m.live, m.peak, m.allocations
    (4000, 8000, 2)
    """

    _with_lines = 0

    def __init__(self, *, lines: bool = False) -> None:
        try:
            self.lines = to_bool("lines", lines)
        except errors.TessellaError as error:
            raise error.locate("memory.track", []) from None
        self._watch: _core.Watch | None = None
        self._seen = (0, 0, 0)

    def __enter__(self) -> track:
        if self._watch is not None:
            raise errors.entered_twice().locate("memory.track", [])
        self._watch = _core.Watch()
        self._count_lines(+1)
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 traceback: TracebackType | None) -> None:  # fmt: skip
        self._count_lines(-1)
        self._seen = self._read()
        self._watch = None

    def _count_lines(self, step: int) -> None:
        if self.lines:
            track._with_lines += step
            _core.record_lines(track._with_lines > 0)

    def _read(self) -> tuple[int, int, int]:
        watch = self._watch
        return (watch.live, watch.peak, watch.allocations) if watch else self._seen

    @property
    def live(self) -> int:
        """Count the bytes in use beyond those at the start."""
        return self._read()[0]

    @property
    def peak(self) -> int:
        """Give the most bytes in use at once beyond those at the start."""
        return self._read()[1]

    @property
    def allocations(self) -> int:
        """Count the blocks that were given."""
        return self._read()[2]


def report(largest: int = 5) -> str:
    """Show who holds memory, as a table for people.

    >>> ts.memory.report().splitlines()[0].split()[0]
    'memory:'
    """
    try:
        most = to_count("largest", largest, 0)
    except errors.TessellaError as error:
        raise error.locate("memory.report", []) from None
    return "\n".join(table(stats(), most))


def trim() -> int:
    """Give what is kept for later, and idle allocators' memory, back to the system; the bytes.

    >>> ts.memory.trim() >= 0
    True
    """
    return sum(handle.trim() for handle in reversed(_core.all_allocators()))


def _default_limit() -> int:
    """Give what the environment says, else what the machine and its cgroup allow."""
    text = os.environ.get("TESSELLA_MEMORY_LIMIT")
    if text is None:
        return _core.default_memory_limit()
    size = to_bytes("TESSELLA_MEMORY_LIMIT", text)
    _core.set_memory_limit(size)
    return size


_default = _default_limit()
