"""Arenas that nobody holds: they live as long as what is in them, and no longer."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

import tessella as ts
from tessella import _core, memory


def arena_with(*tensors: ts.Tensor) -> tuple[memory.Arena, list[ts.Tensor]]:
    """Give copies of tensors, and the arena of 64 KiB that they live in."""
    arena = memory.Arena("64KiB", name="step")
    with memory.use(arena):
        return arena, [x.clone() for x in tensors]


def reserved_after_collection() -> int:
    """Give what allocators have taken from the system."""
    gc.collect()
    return sum(handle.capacity for handle in _core.all_allocators() if handle.type == "Arena")


def test_dropped_arena_lives_as_long_as_its_tensors() -> None:
    before = reserved_after_collection()
    arena, (x, y) = arena_with(ts.arange(4.0), ts.ones(2))
    del arena
    assert reserved_after_collection() == before + 65536
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0] and x.allocator is not None
    view = x[1:]
    del x
    assert reserved_after_collection() == before + 65536 and view.tolist() == [1.0, 2.0, 3.0]
    del view
    assert y.tolist() == [1.0, 1.0]
    del y
    assert reserved_after_collection() == before


def test_dead_tensors_do_not_keep_a_dropped_arena() -> None:
    before = reserved_after_collection()
    arena, (x,) = arena_with(ts.ones(4))
    arena.reset()
    del arena
    assert reserved_after_collection() == before
    with pytest.raises(ts.errors.UseAfterFree, match="Arena 'step' was reset"):
        x + 1
    assert repr(x) == "tensor float32 (4,) freed"


def test_exported_memory_keeps_a_dropped_arena() -> None:
    before = reserved_after_collection()
    arena, (x,) = arena_with(ts.arange(4.0))
    seen = x.numpy()
    del arena, x
    assert reserved_after_collection() == before + 65536 and seen.tolist() == [0.0, 1.0, 2.0, 3.0]
    del seen
    assert reserved_after_collection() == before


def test_node_keeps_a_dropped_arena() -> None:
    arena, (x, w) = arena_with(ts.ones(3), ts.full(3, 2.0))
    y = x.requires_grad_() * w
    del arena, x, w
    gc.collect()
    saved = [each.tolist() for each in y.grad_fn.saved if each is not None]  # type: ignore[union-attr]
    assert [2.0] * 3 in saved


def test_allocator_that_leads_a_scope_may_be_dropped() -> None:
    with memory.use(memory.Arena("4KiB", name="step")):
        gc.collect()
        x = ts.ones(8)
        assert memory.current().name == "step"
    assert x.tolist() == [1.0] * 8


def test_allocator_of_a_dead_tensor_is_empty_and_usable() -> None:
    before = reserved_after_collection()
    arena, (x,) = arena_with(ts.ones(4))
    arena.reset()
    del arena
    gc.collect()
    found = x.allocator
    assert isinstance(found, memory.Arena) and (found.name, found.live) == ("step", 0)
    found.reset()
    with memory.use(found):
        y = ts.ones(3)
    assert y.tolist() == [1.0] * 3 and x.is_freed
    del found, y
    assert reserved_after_collection() == before


AT_EXIT = """
import tessella as ts
from tessella import memory
watch = memory.track(lines=True).__enter__()
memory.limit("1GB").__enter__()
arena = memory.Arena("64KiB", growable=True)
memory.use(arena).__enter__()
x = ts.ones(100, requires_grad=True)
y = (x * 2).exp()
view = memoryview(x.detach())
capsule = y.detach().__dlpack__()
memory.use(memory.Pool(4096, 4)).__enter__()
z = ts.ones(10) + 1
temporary = memory.temporary().__enter__()
dead = ts.ones(5)
temporary.reset()
def rest():
    with memory.use(memory.Slab(64)):
        yield ts.ones(2)
generator = rest()
kept = next(generator)
cycle = [x, y, z, arena]
cycle.append(cycle)
print("done")
"""


def test_process_ends_well_with_everything_open() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", AT_EXIT], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "done", "")
