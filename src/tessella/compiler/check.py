"""check: runs a program beside the function itself, on the same state, and compares bits."""

from __future__ import annotations

from tessella import _core
from tessella.compiler import capture_errors
from tessella.compiler.program import ARGUMENT, CAPTURED
from tessella.dtypes import uint8
from tessella.hints import Any, Callable
from tessella.modes import no_grad
from tessella.ops.creation import copy_of
from tessella.ops.elementwise import imag, real
from tessella.trees import flatten

Tensor = _core.Tensor


class State:
    """All that a program may change: memory, gradients, generators; and how it was."""

    def __init__(self, program: Any, tensors: list[Any]) -> None:
        written = [(slot, m) for slot, m in program.memories.items() if m.written]
        given = [tensors[m.index] for _, m in written if m.source == ARGUMENT]
        self.places = [x.detach() for x in tensors if any(_core.may_overlap(x, y) for y in given)]
        self.places += [
            program.recording.bytes_of(slot) for slot, m in written if m.source == CAPTURED
        ]
        self.leaves = [program.leaf(i, tensors) for i in range(len(program.leaves))]
        self.generators = [generator for generator, _ in program.generators]
        self.values = [copy_of(x) for x in self.places]
        self.gradients = [leaf.grad for leaf in self.leaves]
        self.slopes = [None if g is None else copy_of(g.detach()) for g in self.gradients]
        self.counters = [(each.seed, each.counter) for each in self.generators]

    def restore(self) -> None:
        """Make everything what it was."""
        with no_grad():
            for x, value in zip(self.places, self.values, strict=True):
                x.copy_(value)
            for g, slope in zip(self.gradients, self.slopes, strict=True):
                if g is not None:
                    g.copy_(slope)
        for leaf, g in zip(self.leaves, self.gradients, strict=True):
            leaf.grad = g
        for each, (seed, counter) in zip(self.generators, self.counters, strict=True):
            each.seed, each.counter = seed, counter

    def now(self) -> list[Any]:
        """Give copies of what everything is."""
        found: list[Any] = [copy_of(x) for x in self.places]
        found += [
            None if leaf.grad is None else copy_of(leaf.grad.detach()) for leaf in self.leaves
        ]
        found += [each.counter for each in self.generators]
        return found


def checked(
    name: str, program: Any, tensors: list[Any], eager: Callable[[], Any], run: Callable[[], Any]
) -> Any:
    """Call both on the same state; give what the program gave, or raise if bits differ."""
    before = State(program, tensors)
    want = [copy_of(x.detach()) if isinstance(x, Tensor) else x for x in flatten(eager())[0]]
    after = before.now()
    before.restore()
    result = run()
    got = [x.detach() if isinstance(x, Tensor) else x for x in flatten(result)[0]]
    for i, (x, y) in enumerate(zip(got, want, strict=True)):
        if not same_bits(x, y):
            raise capture_errors.other_bits(f"result {i}").locate(name, [])
    for x, y in zip(before.now(), after, strict=True):
        if not same_bits(x, y):
            raise capture_errors.other_bits("what the call leaves behind").locate(name, [])
    return result


def same_bits(x: Any, y: Any) -> bool:
    """Tell whether two results are the same: NaN is NaN, and 0.0 is not -0.0.

    >>> ts.compiler.check.same_bits(ts.tensor([0.0]), ts.tensor([-0.0]))
    False
    """
    if type(x) is type(y) and isinstance(x, complex):
        return same_bits(x.real, y.real) and same_bits(x.imag, y.imag)
    if type(x) is type(y) and isinstance(x, float):
        return bool(x.hex() == y.hex())
    if not isinstance(x, Tensor) or not isinstance(y, Tensor):
        return x is y or (type(x) is type(y) and bool(x == y))
    if (x.shape, x.dtype) != (y.shape, y.dtype):
        return False
    if x.size == 0 or bool((_bytes_of(x) == _bytes_of(y)).all()):
        return True
    if x.dtype.is_complex:
        return same_bits(real(x), real(y)) and same_bits(imag(x), imag(y))
    if not x.dtype.is_floating:
        return False
    both = (x != x) & (y != y)
    same = (x == y) & (x.signbit() == y.signbit())
    return bool((same | both).all())


def _bytes_of(x: Tensor) -> Tensor:
    return _core.bitcast(copy_of(x).reshape(-1), uint8.id)
