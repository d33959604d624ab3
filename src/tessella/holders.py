"""Who holds memory: figures by kind and by allocator, and the largest tensors, as lines of text.

Tensors are found among the objects that Python's collector knows, when somebody asks: they are in
no list of ours.
"""

from __future__ import annotations

import gc

from tessella import _core
from tessella._core import Tensor
from tessella.allocators import Allocator, allocator_of, heap, wrap
from tessella.hints import Any
from tessella.sizes import to_text


class Stats:
    """What is in use, at one moment: bytes, as they were asked for.

    >>> figures = ts.memory.stats()
    >>> figures.live <= figures.peak
    True
    """

    def __init__(self) -> None:
        totals = _core.memory_totals()
        self.live: int = totals["live"]
        self.peak: int = totals["peak"]  # since the package was loaded
        self.count: int = totals["count"]  # blocks
        self.allocations: int = totals["allocations"]
        self.limit: int = totals["limit"]
        self.reserved: int = totals["reserved"]  # of arenas and their like, not in use
        self.kept: int = totals["kept"]  # freed, and kept by the heap for later
        self.foreign: int = totals["foreign"]  # memory of others, shared; not under the limit
        self.kinds: dict[str, int] = totals["kinds"]
        self.allocators: dict[str, dict[str, float]] = {}
        for handle in _core.all_allocators():
            self.allocators[self._free_name(handle.name)] = _figures(wrap(handle))

    def _free_name(self, name: str) -> str:
        number = 2
        while name in self.allocators:
            name, number = f"{name.rpartition('#')[0] or name}#{number}", number + 1
        return name

    def __repr__(self) -> str:
        figures = ", ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"Stats({figures})"


_FIGURES = ("live", "peak", "count", "allocations", "capacity", "free", "fragmentation")


def _figures(allocator: Allocator) -> dict[str, float]:
    return {name: getattr(allocator, name) for name in _FIGURES}


def stats() -> Stats:
    """Say how much is in use, by kind and by allocator.

    >>> before = ts.memory.stats()
    >>> x = ts.zeros(1000)
    >>> ts.memory.stats().kinds["tensors"] - before.kinds["tensors"]
    4000
    """
    return Stats()


def largest_tensors(objects: list[Any], most: int) -> list[tuple[int, Tensor, str]]:
    """Give the largest buffers: bytes, the tensor that shows most of each, what it is for."""
    saved = _core.living_saved(objects)
    lines = {_core.buffer_key(x): line for x, _, line in reversed(saved)}
    found: dict[int, Tensor] = {}
    for each in [*_core.living_tensors(objects), *(x for x, *_ in saved)]:
        if not (each.is_virtual or each.is_freed):
            key = _core.buffer_key(each)
            if key not in found or found[key].nbytes < each.nbytes:
                found[key] = each
    sizes = [
        (_core.buffer_bytes(x), x, _use(x, lines.get(key)))
        for key, x in found.items()
        if _core.allocator_of(x)
    ]
    sizes.sort(key=lambda holder: -holder[0])
    return sizes[:most]


_USES = {"gradients": ", a gradient", "weights": ", weights", "optimizer": ", optimizer state"}


def _use(x: Tensor, saved_at: str | None) -> str:
    if saved_at is None:
        return _USES.get(_core.kind_of(x), "")
    return f", saved for backward at {saved_at}" if saved_at else ", saved for backward"


def describe(size: int, x: Tensor, use: str) -> str:
    """Show one holder: bytes, dtype, shape, allocator, what for, and the line if it is known."""
    owner = allocator_of(x)
    place = f" in {owner.name}" if owner and owner != heap else ""
    line = _core.line_of(x)
    made = f", made at {line}" if line else ""
    return f"{to_text(size)} {x.dtype} {x.shape}{place}{use}{made}"


def kinds(figures: Stats) -> str:
    """Show live bytes by kind, the largest first, and what allocators reserve."""
    shown = dict(figures.kinds, reserved=figures.reserved)
    parts = sorted(shown.items(), key=lambda item: -item[1])
    return "   ".join(f"{kind} {to_text(size)}" for kind, size in parts if size) or "nothing"


def shortage(objects: list[Any]) -> list[str]:
    """Say in a few lines who among objects holds memory, for the error that there is no more."""
    figures = stats()
    lines = [f"by kind   {kinds(figures)}"]
    for i, holder in enumerate(largest_tensors(objects, 3)):
        lines.append(f"{'' if i else 'largest':<9} {describe(*holder)}")
    return lines


def table(figures: Stats, most: int) -> list[str]:
    """Show everything: the totals, the kinds, the allocators, the largest tensors."""
    totals = ("live", "peak", "limit", "reserved", "kept", "foreign")
    shown = ", ".join(f"{name} {to_text(getattr(figures, name))}" for name in totals)
    lines = [f"memory: {shown}", f"  by kind: {kinds(figures)}", ""]
    columns = ("live", "peak", "capacity", "free", "count", "allocations")
    lines.append(f"  {'allocator':<20}" + "".join(f"{name:>12}" for name in columns))
    for name, values in figures.allocators.items():
        sizes = [to_text(int(values[column])) for column in columns[:4]]
        counts = [f"{int(values[column]):,}" for column in columns[4:]]
        lines.append(f"  {name:<20}" + "".join(f"{text:>12}" for text in (*sizes, *counts)))
    lines += ["", "  largest"]
    lines += [f"    {describe(*holder)}" for holder in largest_tensors(gc.get_objects(), most)]
    return lines
