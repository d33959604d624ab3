"""What would have fitted: advice for a network that ran out of memory.

Nothing is noted while a network runs. When memory ends, what recorded operations keep tells how
much grows with the batch; the operations that read a module's parameters tell where in the record
that module begins and ends, hence what would not be kept if it were computed again for backward.
"""

from __future__ import annotations

import sys

from tessella import _core, exceptions
from tessella._core import Node, Tensor
from tessella.hints import TYPE_CHECKING, Any
from tessella.nn import places, walks
from tessella.nn.modules import Module
from tessella.nn.parameters import Parameter
from tessella.sizes import to_text

if TYPE_CHECKING:
    from types import FrameType


class Kept:
    """A buffer that is kept for backward: its bytes, and the operations that keep it."""

    def __init__(self, x: Tensor) -> None:
        self.bytes: int = _core.buffer_bytes(x)
        self.rows = x.shape[0] if x.ndim else 0
        self.sequences: set[int] = set()


def advise(objects: list[Any]) -> str:
    """Say what would help: a smaller batch, a part that is computed again for backward."""
    modules, root = places.modules_at_work()
    kept = _kept(objects)
    if not _core.memory_totals()["refused"][0] or (root is None and not kept):
        return ""
    nodes = [each for each in objects if type(each) is Node]
    root = root or _root_of(nodes, objects)
    if root is None:
        return ""
    parts = [_batch(root, kept, objects), _part(root, modules, nodes, kept)]
    return "; ".join(part for part in parts if part)


def _kept(objects: list[Any]) -> dict[int, Kept]:
    """Give the buffers that are kept for backward, by their keys."""
    found: dict[int, Kept] = {}
    for x, node, _ in _core.living_saved(objects):
        each = found.setdefault(_core.buffer_key(x), Kept(x))
        each.sequences.add(node.sequence)
    return found


# --- a smaller batch ------------------------------------------------------------------------------


def _batch(root: places.Root, kept: dict[int, Kept], objects: list[Any]) -> str:
    """Say how large a batch would have fitted, so far as the network went."""
    rows = _rows(root, kept)
    if rows < 2:
        return ""
    # What grows with the batch has its rows, or a multiple of them, along the first axis.
    growing = {key: each.bytes for key, each in kept.items() if each.rows % rows == 0}
    for x in _core.living_tensors(objects):
        is_own = _core.kind_of(x) == "tensors" and not (x.is_virtual or x.is_freed)
        if is_own and x.ndim and x.shape[0] == rows:
            growing[_core.buffer_key(x)] = _core.buffer_bytes(x)
    totals = _core.memory_totals()
    asked, asked_rows = totals["refused"]
    grown = sum(growing.values())
    room = totals["limit"] - totals["reserved"] - (totals["live"] - grown)
    if asked_rows and asked_rows % rows == 0:
        grown += asked
    else:
        room -= asked
    fitting = room * rows // grown if grown else 0
    return f"a batch of {fitting} fits up to here" if 0 < fitting < rows else ""


def _rows(root: places.Root, kept: dict[int, Kept]) -> int:
    """Give the size of the batch: of the network's input, or of what was kept first."""
    for x in root.inputs:
        if x.ndim:
            return int(x.shape[0])
    first = min(kept.values(), key=lambda each: min(each.sequences), default=None)
    return first.rows if first else 0


# --- a part that is computed again ----------------------------------------------------------------


def _part(
    root: places.Root, running: list[Module], nodes: list[Node], kept: dict[int, Kept]
) -> str:
    """Name the part that keeps the most, and would not if it were a checkpoint."""
    uses = _uses(nodes)
    best, most = root.module, 0
    for _, module in walks.modules(root.module, None, "", True):
        # One that is still at work would keep the same until its end.
        is_over = module is not root.module and module not in running
        if is_over and type(module).forward is not Module.forward:
            size = _freed(module, uses, kept)
            best, most = (module, size) if size > most else (best, most)
    return f"checkpoint({root.path_of(best)}, …) frees {to_text(most)}" if most else ""


def _uses(nodes: list[Node]) -> dict[int, list[int]]:
    """Give for each parameter which recorded operations read it."""
    uses: dict[int, list[int]] = {}
    for node in nodes:
        for each in node.inputs:
            if isinstance(each, Parameter):
                uses.setdefault(id(each), []).append(node.sequence)
    return uses


def _freed(module: Module, uses: dict[int, list[int]], kept: dict[int, Kept]) -> int:
    """Count the bytes that only a module's own operations keep, but for its input."""
    own = {id(x) for x in module.parameters()}
    inside = [sequence for key in own for sequence in uses.get(key, ())]
    if not inside:
        return 0
    first, last = min(inside), max(inside)
    others = (sequence for key, found in uses.items() if key not in own for sequence in found)
    if any(first < sequence < last for sequence in others):  # it is called again and again
        return 0
    return sum(
        each.bytes
        for each in kept.values()
        if first < min(each.sequences) and max(each.sequences) <= last
    )


# --- backward, where no module is at work ---------------------------------------------------------


def _root_of(nodes: list[Node], objects: list[Any]) -> places.Root | None:
    """Give the network most of whose parameters were read by what is recorded."""
    uses = _uses(nodes)
    best, most = None, 0
    for module in places.living_modules(objects):
        count = sum(id(x) in uses for x in module.parameters())
        if count > most:
            best, most = module, count
    return places.Root(best, _frame_with(best)) if best is not None else None


def _frame_with(module: Module) -> FrameType | None:
    """Give the frame that has a name for a module."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        is_user = not frame.f_code.co_filename.startswith(exceptions.PACKAGE)
        if is_user and any(x is module for x in frame.f_locals.values()):
            break
        frame = frame.f_back
    return frame
