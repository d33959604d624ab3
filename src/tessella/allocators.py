"""The allocators, as Python sees those of the core: Heap, Arena, Pool, Slab and Buddy."""

from __future__ import annotations

from itertools import count

from tessella import _core, errors
from tessella._core import AllocatorHandle, Tensor
from tessella.arguments import to_bool, to_count
from tessella.hints import Any, NoReturn
from tessella.sizes import to_bytes, to_text

_numbers = count(1)  # of allocators without a name of their own


class Allocator:
    """Where tensors get their memory: one of Heap, Arena, Pool, Slab and Buddy.

    >>> isinstance(ts.zeros(2).allocator, ts.memory.Allocator)
    True
    """

    __slots__ = ("__weakref__", "handle")

    def __init__(self, handle: AllocatorHandle) -> None:
        self.handle = handle

    @property
    def name(self) -> str:
        """Give what it is called in reports and errors."""
        return self.handle.name

    @property
    def live(self) -> int:
        """Count the bytes in use, as they were asked for."""
        return self.handle.live

    @property
    def peak(self) -> int:
        """Give the most bytes that were ever in use at once."""
        return self.handle.peak

    @property
    def count(self) -> int:
        """Count the blocks in use."""
        return self.handle.count

    @property
    def allocations(self) -> int:
        """Count the blocks that were ever given."""
        return self.handle.allocations

    @property
    def capacity(self) -> int:
        """Count the bytes that it has taken from the system."""
        return self.handle.capacity

    @property
    def free(self) -> int:
        """Count the bytes that it can still give without taking more."""
        return self.handle.free

    @property
    def fragmentation(self) -> float:
        """Give the share of free bytes that the largest request it may serve could not have."""
        usable = min(self.handle.free, self.handle.largest_block)
        return 1 - self.handle.largest / usable if usable else 0.0

    def trim(self) -> int:
        """Give memory that nothing is in back to the system; the bytes that went.

        >>> with ts.memory.use(ts.memory.Slab("1KiB")) as slab:
        ...     x = ts.zeros(8)
        ...     del x
        ...     slab.trim() == 65536 and slab.capacity == 0
        True
        """
        return self.handle.trim()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Allocator) and self.handle.key == other.handle.key

    def __hash__(self) -> int:
        return hash(self.handle.key)

    def __copy__(self) -> Allocator:
        return self

    def __deepcopy__(self, seen: object) -> Allocator:
        return self

    def __reduce__(self) -> NoReturn:
        hint = "make one where the pickle is read"
        raise errors.ArgumentError(f"{type(self).__name__} cannot be pickled", hint)

    def __repr__(self) -> str:
        used, whole = to_text(self.live), to_text(self.capacity)
        return f"{type(self).__name__}({self.name!r}, live {used} of {whole}, {self.count} blocks)"


def _named(kind: type, name: str | None) -> str:
    if name is None:
        return f"{kind.__name__.lower()}-{next(_numbers)}"
    if not isinstance(name, str):
        raise errors.wrong_type("name", name, "a text")
    if "\0" in name or any("\ud800" <= letter <= "\udfff" for letter in name):
        raise errors.wrong_value("name", name, "a text that UTF-8 can hold, without \\0")
    return name


def _positive(name: str, value: Any) -> int:
    size = to_bytes(name, value)
    if size == 0:
        raise errors.wrong_value(name, value, "more than 0 bytes")
    return size


class Heap(Allocator):
    """The system's memory, for general use and for what grows.

    Every Heap takes from the same memory; one of your own counts on its own.

    >>> mine = ts.memory.Heap("mine")
    >>> x = ts.zeros(10, allocator=mine)
    >>> mine.live
    40
    """

    __slots__ = ()

    def __init__(self, name: str | None = None) -> None:
        try:
            super().__init__(_core.make_heap(_named(Heap, name)))
        except errors.TessellaError as error:
            raise error.relocate("Heap", []) from None


class Mark:
    """A place in an arena, to which it can be released.

    >>> isinstance(ts.memory.Arena("1MiB").mark(), ts.memory.Mark)
    True
    """

    __slots__ = ("arena", "number")

    def __init__(self, arena: int, number: int) -> None:
        self.arena = arena
        self.number = number


class Arena(Allocator):
    """Memory for batches that die together: a block is the next bytes of a large one.

    Nothing is given back but all at once, by `reset`, or all that came after a mark, by
    `release_to`. A tensor that lived there then raises UseAfterFree when it is used.

    >>> arena = ts.memory.Arena("1MiB")
    >>> with ts.memory.use(arena):
    ...     x = ts.ones(1000)
    >>> arena.live
    4000
    >>> arena.reset()
    >>> x.is_freed
    True
    """

    __slots__ = ()

    def __init__(self, size: int | str, *, growable: bool = False, name: str | None = None) -> None:
        try:
            size, grows = _positive("size", size), to_bool("growable", growable)
            super().__init__(_core.make_arena(_named(Arena, name), size, grows))
        except errors.TessellaError as error:
            raise error.relocate("Arena", []) from None

    @property
    def used(self) -> int:
        """Count the bytes up to the next block: those of dead tensors and of rounding too."""
        return self.handle.used()

    def reset(self) -> None:
        """Free everything in it; refused while others or an operation use memory of it."""
        self._release("reset", self.handle.reset)

    def mark(self) -> Mark:
        """Remember the place of the next block.

        >>> arena = ts.memory.Arena("1MiB")
        >>> x = ts.zeros(16, allocator=arena)
        >>> mark = arena.mark()
        >>> y = ts.zeros(16, allocator=arena)
        >>> arena.release_to(mark)
        >>> x.is_freed, y.is_freed
        (False, True)
        """
        return Mark(self.handle.key, self.handle.mark())

    def release_to(self, mark: Mark) -> None:
        """Free everything that came after a mark."""
        if not isinstance(mark, Mark):
            wrong = errors.wrong_type("mark", mark, "what mark() gave")
            raise wrong.locate("Arena.release_to", [])
        number = mark.number if mark.arena == self.handle.key else -1
        self._release("release_to", lambda: self.handle.release_to(number))

    def _release(self, name: str, release: Any) -> None:
        try:
            release()
        except errors.TessellaError as error:
            raise error.relocate(f"Arena.{name}", []) from None


class Pool(Allocator):
    """A fixed number of blocks of one size, for many tensors of equal size.

    >>> pool = ts.memory.Pool("1KiB", 8)
    >>> x = ts.zeros(100, allocator=pool)
    >>> pool.count, pool.free
    (1, 7168)
    """

    __slots__ = ()

    def __init__(self, block_size: int | str, count: int, *, name: str | None = None) -> None:
        try:
            size, blocks = _positive("block_size", block_size), to_count("count", count)
            whole = (size + 63) // 64 * 64 * blocks  # blocks begin at multiples of 64 bytes
            if whole >= 1 << 62:
                raise errors.integer_too_large("block_size * count", whole, 62)
            super().__init__(_core.make_pool(_named(Pool, name), size, blocks))
        except errors.TessellaError as error:
            raise error.relocate("Pool", []) from None


class Slab(Allocator):
    """Blocks of a few sizes, for many tensors of some sizes that come and go.

    A tensor gets a block of the smallest class that holds it. Each class takes slabs of
    `slab_size` from the system when its blocks run out.

    >>> slab = ts.memory.Slab(256, "4KiB")
    >>> x = ts.zeros(100, allocator=slab)
    >>> slab.live, slab.capacity
    (400, 65536)
    """

    __slots__ = ()

    def __init__(
        self, *classes: int | str, slab_size: int | str = "64KiB", name: str | None = None
    ) -> None:
        try:
            sizes = [_positive(f"classes[{i}]", size) for i, size in enumerate(classes)]
            if not sizes:
                raise errors.wrong_value("classes", (), "one size or more: Slab(256, 4096)")
            if max(sizes) >= 1 << 62:
                raise errors.integer_too_large("classes", max(sizes), 62)
            whole = _positive("slab_size", slab_size)
            super().__init__(_core.make_slab(_named(Slab, name), sizes, whole))
        except errors.TessellaError as error:
            raise error.relocate("Slab", []) from None


class Buddy(Allocator):
    """One large block, halved until a tensor fits, for large ones that live long and grow at times.

    Its size and the smallest block are powers of two; freed halves join again.

    >>> buddy = ts.memory.Buddy("1MiB", min_block=256)
    >>> x = ts.zeros(1000, allocator=buddy)
    >>> buddy.live, buddy.capacity - buddy.free
    (4000, 4096)
    """

    __slots__ = ()

    def __init__(
        self, size: int | str, *, min_block: int | str = 64, name: str | None = None
    ) -> None:
        try:
            whole, least = _positive("size", size), _positive("min_block", min_block)
            for argument, value in (("size", whole), ("min_block", least)):
                if value & (value - 1):
                    near = 1 << value.bit_length()
                    rule = f"a power of two: {near // 2} ({to_text(near // 2)}) or {near}"
                    raise errors.wrong_value(argument, value, rule)
            if not 64 <= least <= whole:
                raise errors.wrong_value("min_block", least, f"from 64 to the size, {whole}")
            super().__init__(_core.make_buddy(_named(Buddy, name), whole, least))
        except errors.TessellaError as error:
            raise error.relocate("Buddy", []) from None


KINDS: dict[str, type[Allocator]] = {
    kind.__name__: kind for kind in (Heap, Arena, Pool, Slab, Buddy)
}


def wrap(handle: AllocatorHandle) -> Allocator:
    """Give the allocator of a handle of the core."""
    made = object.__new__(KINDS[handle.type])
    made.handle = handle
    return made


heap: Allocator = wrap(_core.heap_allocator())
"""The allocator of everything that no scope or call directs elsewhere."""


def current() -> Allocator:
    """Give the allocator of this thread's scope.

    >>> ts.memory.current() == ts.memory.heap
    True
    """
    return wrap(_core.current_allocator())


def allocator_of(x: Tensor) -> Allocator | None:
    """Give the allocator that a tensor's memory is of; None for shared and virtual memory.

    >>> ts.memory.allocator_of(ts.zeros(2)) == ts.memory.heap
    True
    """
    if not isinstance(x, _core.Tensor):
        raise errors.not_tensor("x", x, "a tensor").locate("memory.allocator_of", [])
    handle = _core.allocator_of(x)
    return None if handle is None else wrap(handle)
