"""A tour: the idea of Tessella in plain Python, to be read from top to bottom, and to be run.

A tensor is a layout over memory. An operation is a record. Gradients walk back along what was
noted, and a compiled step is what was noted, run tile by tile in memory that was planned. Tensors
are matrices here, and what makes the real ones fast and safe is left out: C++, dtypes, errors.
"""

from __future__ import annotations

import inspect
import itertools
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

Pair: TypeAlias = tuple[int, int]
Memory: TypeAlias = list[float]
NUMBERS = itertools.count()


# --- 1. a tensor is a layout over memory ---------------------------------------------------------
# Element (i, j) lies at `i * strides[0] + j * strides[1]`. Several tensors may share one memory: a
# transpose swaps strides and moves no number. An axis with stride 0 shows the same numbers again
# and again, and that is all there is to broadcasting.


class Tensor:
    """A matrix: numbers of a memory, found by shape and strides."""

    def __init__(self, memory: Memory, shape: Pair, strides: Pair | None = None) -> None:
        self.memory, self.shape, self.strides = memory, shape, strides or (shape[1], 1)
        self.number, self.needs_grad = next(NUMBERS), False
        self.node: list[tuple[Tensor, Rule, dict[str, Any]]] = []  # operands, rules, what they ask
        self.grad: Tensor | None = None

    def places(self) -> list[int]:
        """Tell where the elements lie, row by row."""
        (n, m), (down, right) = self.shape, self.strides
        return [i * down + j * right for i in range(n) for j in range(m)]

    def tolist(self) -> list[float]:
        """Read the elements, row by row."""
        return [self.memory[place] for place in self.places()]

    def __add__(self, other: Tensor | float) -> Tensor:
        return apply(ADD, self, other)

    def __mul__(self, other: Tensor | float) -> Tensor:
        return apply(MUL, self, other)

    def __sub__(self, other: Tensor) -> Tensor:
        return self + other * -1.0

    def __matmul__(self, other: Tensor) -> Tensor:
        return apply(MATMUL, self, other)


# --- 2. an operation is one record ---------------------------------------------------------------
# Its kind says how it runs: a "lane" gives one element from one of each operand, a "whole" makes
# all of its result, a "view" writes nothing. Beside the arithmetic stands a rule for the gradient
# of each operand. The names that a rule asks for are what is kept until then: of `exp` the result,
# of `add` nothing. Rules are written with operations, so that they can be compiled like all else.

Rule: TypeAlias = Callable[..., Tensor]


@dataclass
class Record:
    """All that there is to know about an operation."""

    name: str
    kind: str
    arithmetic: Callable[..., Any]
    rules: tuple[Rule, ...] = ()


def added(x: Tensor, shape: Pair) -> Tensor:
    """Add up the axes that have size 1 in the shape, in an order that only the shape decides."""
    out = Tensor([0.0] * (shape[0] * shape[1]), shape)
    shown = Tensor(out.memory, x.shape, stretched(out, x.shape))
    for place, value in zip(shown.places(), x.tolist(), strict=True):
        out.memory[place] += value
    return out


def stretched(x: Tensor, shape: Pair) -> Pair:
    """Give the strides that show x at a larger shape."""
    down, right = (0 if size == 1 else s for size, s in zip(x.shape, x.strides, strict=True))
    return down, right


def product(a: Tensor, b: Tensor) -> Tensor:
    """Multiply two matrices; each sum goes along the row."""
    (n, inner), m, x, y = a.shape, b.shape[1], a.tolist(), b.tolist()
    sums = [
        sum(x[i * inner + k] * y[k * m + j] for k in range(inner))
        for i in range(n) for j in range(m)
    ]  # fmt: skip
    return Tensor(sums, (n, m))


ADD = Record("add", "lane", lambda x, y: x + y, (lambda g: g, lambda g: g))
MUL = Record("mul", "lane", lambda x, y: x * y, (lambda g, y: g * y, lambda g, x: g * x))
EXP = Record("exp", "lane", math.exp, (lambda g, out: g * out,))
INVERT = Record("invert", "lane", lambda x: 1 / x, (lambda g, out: g * out * out * -1.0,))
COPY = Record("copy", "lane", lambda x: x)
SUM: Record = Record("sum", "whole", added, (lambda g, x: apply(EXPAND, g, shape=x.shape),))
MATMUL = Record("matmul", "whole", product,
                (lambda g, y: g @ apply(TURN, y), lambda g, x: apply(TURN, x) @ g))  # fmt: skip
TURN: Record = Record("turn", "view", lambda x: Tensor(x.memory, x.shape[::-1], x.strides[::-1]),
                      (lambda g: apply(TURN, g),))  # fmt: skip
EXPAND: Record = Record("expand", "view",
                        lambda x, shape: Tensor(x.memory, shape, stretched(x, shape)),
                        (lambda g, x: apply(SUM, g, shape=x.shape),))  # fmt: skip


def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + e ** -x): what can be composed needs no record, and no rule."""
    return apply(INVERT, apply(EXP, x * -1.0) + 1.0)


# --- 3. every operation goes through one door ----------------------------------------------------
# It broadcasts, computes, and leaves two kinds of notes: a node, if a gradient may be wanted, and
# an instruction, if somebody records. No rule mentions broadcasting: operands that are stretched
# are views, and views have a rule.


@dataclass
class Instruction:
    """Elements that are written: one layout from others."""

    record: Record
    out: Tensor
    operands: list[Tensor]
    params: dict[str, Any]


TAPES: list[list[Instruction]] = []


def compute(record: Record, operands: list[Tensor], params: dict[str, Any]) -> Tensor:
    """Make the result of operands; lanes have operands of one shape."""
    if record.kind != "lane":
        result: Tensor = record.arithmetic(*operands, **params)
        return result
    lanes = zip(*(x.tolist() for x in operands), strict=True)
    return Tensor([record.arithmetic(*each) for each in lanes], operands[0].shape)


def apply(record: Record, *given: Tensor | float, **params: Any) -> Tensor:
    """Do an operation, and note it."""
    operands = [x if isinstance(x, Tensor) else Tensor([x], (1, 1)) for x in given]
    if record.kind == "lane":
        n, m = (max(x.shape[axis] for x in operands) for axis in (0, 1))
        operands = [x if x.shape == (n, m) else apply(EXPAND, x, shape=(n, m)) for x in operands]
    out = compute(record, operands, params)
    if TAPES and record.kind != "view":
        TAPES[-1].append(Instruction(record, out, operands, params))
    if any(x.needs_grad for x in operands):
        out.needs_grad = True
        known = {"x": operands[0], "y": operands[-1], "out": out}
        for operand, rule in zip(operands, record.rules, strict=True):
            asked = [name for name in inspect.signature(rule).parameters if name != "g"]
            out.node.append((operand, rule, {name: known[name] for name in asked}))
    return out


def write(x: Tensor, value: Tensor) -> None:
    """Write into the memory of x, which all who share it see."""
    x.memory[:] = value.tolist()
    if TAPES:
        TAPES[-1].append(Instruction(COPY, x, [value], {}))


# --- 4. gradients walk back ----------------------------------------------------------------------
# Results were numbered as they were made, so that the newest one has all of its gradient when its
# turn comes. Nothing is recursive: a graph may be as deep as it likes.


def backward(loss: Tensor) -> None:
    """Give each leaf that asks for it the gradient of a number."""
    pending = {loss: Tensor([1.0], (1, 1))}
    while pending:
        x = max(pending, key=lambda x: x.number)
        g = pending.pop(x)
        if not x.node:
            x.grad = g
        for operand, rule, kept in x.node:
            if operand.needs_grad:
                part = rule(g, **kept)
                pending[operand] = pending[operand] + part if operand in pending else part


# --- 5. a compiled step is a program over planned memory -----------------------------------------
# The instructions of one call are all that the next one needs: the same arithmetic in the same
# order gives the same bits. Three passes make a program of them. `simplify` leaves out what nobody
# reads. `fuse` joins lanes that walk along the same elements: they take turns, a tile each, and
# what only they read is never larger than a tile. `plan` gives everything else a place in one
# arena, where a value may lie on another that is dead.

TILE = 4
Group: TypeAlias = list[Instruction]


def simplify(tape: list[Instruction], wanted: set[int]) -> list[Instruction]:
    """Leave out what leads to no memory that is wanted."""
    kept = []
    for each in reversed(tape):
        if id(each.out.memory) in wanted:
            wanted |= {id(x.memory) for x in each.operands}
            kept.append(each)
    return kept[::-1]


def fuse(tape: list[Instruction]) -> list[Group]:
    """Join neighbours that may take turns."""
    groups: list[Group] = []
    for each in tape:
        if groups and all(may_join(each, other) for other in groups[-1]):
            groups[-1].append(each)
        else:
            groups.append([each])
    return groups


def may_join(each: Instruction, other: Instruction) -> bool:
    """Tell whether element k of one needs nothing of the other but its element k."""
    if each.out.shape != other.out.shape or {each.record.kind, other.record.kind} != {"lane"}:
        return False
    reads = [(x, other.out) for x in each.operands] + [(x, each.out) for x in other.operands]
    return all(x.strides == out.strides for x, out in reads if x.memory is out.memory)


def plan(groups: list[Group], made: list[Memory]) -> tuple[dict[int, tuple[int, int]], int]:
    """Give each memory an offset and a size where nothing lies that lives at the same time."""
    found: dict[int, tuple[int, int]] = {}
    lives: dict[int, set[int]] = {}
    for memory in made:
        users = [i for i, group in enumerate(groups) for each in group
                 if any(x.memory is memory for x in (each.out, *each.operands))]  # fmt: skip
        life = lives[id(memory)] = set(range(users[0], users[-1] + 1))
        is_in_tiles = len(life) == 1 and groups[users[0]][0].record.kind == "lane"
        size, offset = min(len(memory), TILE if is_in_tiles else len(memory)), 0
        for start, length in sorted(found[key] for key in found if lives[key] & life):
            if start < offset + size:
                offset = max(offset, start + length)
        found[id(memory)] = offset, size
    return found, max((sum(each) for each in found.values()), default=0)


class Program:
    """One call of a function, to be repeated with other arguments."""

    def __init__(self, tape: Group, arguments: tuple[Tensor, ...], result: Tensor) -> None:
        self.arguments, self.result = arguments, result
        made = {id(each.out.memory): each.out.memory for each in tape if each.record is not COPY}
        written = {id(each.out.memory) for each in tape if each.record is COPY}
        self.groups = fuse(simplify(tape, written | {id(result.memory)}))
        used = {id(each.out.memory) for group in self.groups for each in group}
        planned = [made[key] for key in made if key in used and key != id(result.memory)]
        self.offsets, size = plan(self.groups, planned)
        self.arena, self.without_plan = [0.0] * size, sum(map(len, planned))

    def run(self, *arguments: Tensor) -> Tensor:
        """Repeat the call: all that is made is the result."""
        pairs = zip(self.arguments, arguments, strict=True)
        bound = {id(old.memory): new.memory for old, new in pairs}
        result = Tensor([0.0] * len(self.result.memory), self.result.shape)
        bound[id(self.result.memory)] = result.memory
        for group in self.groups:
            is_lane, size = group[0].record.kind == "lane", len(group[0].out.places())
            for start in range(0, size, TILE if is_lane else size):
                for each in group:
                    part = slice(start, start + TILE if is_lane else None)
                    operands = [self.read(x, part, bound) for x in each.operands]
                    memory, places = self.find(each.out, bound)
                    values = compute(each.record, operands, each.params).memory
                    for place, value in zip(places[part], values, strict=True):
                        memory[place] = value
        return result

    def read(self, x: Tensor, part: slice, bound: dict[int, Memory]) -> Tensor:
        """Give a tile of an operand, or all of it."""
        memory, places = self.find(x, bound)
        tile = [memory[place] for place in places[part]]
        return Tensor(tile, x.shape if part.stop is None else (1, len(tile)))

    def find(self, x: Tensor, bound: dict[int, Memory]) -> tuple[Memory, list[int]]:
        """Give the memory of a tensor in this call, and the places of its elements there."""
        if id(x.memory) not in self.offsets:
            return bound.get(id(x.memory), x.memory), x.places()
        offset, size = self.offsets[id(x.memory)]
        return self.arena, [offset + place % size for place in x.places()]

    def __str__(self) -> str:
        lines = [" -> ".join(each.record.name for each in group) for group in self.groups]
        return "\n".join([*lines, f"arena {len(self.arena)}, without plan {self.without_plan}"])


def record(function: Callable[..., Tensor], *arguments: Tensor) -> tuple[Tensor, Program]:
    """Call a function; give its result, and the program that repeats it."""
    TAPES.append([])
    try:
        result = function(*arguments)
    finally:
        tape = TAPES.pop()
    return result, Program(tape, arguments, result)


# --- 6. a network that learns XOR, as it is written and compiled ---------------------------------


class Network:
    """2-4-1, and a step that makes it better."""

    def __init__(self) -> None:
        draw = random.Random(0)
        self.weights = []
        for shape in ((2, 4), (1, 4), (4, 1), (1, 1)):
            numbers = [draw.uniform(-2, 2) for _ in range(shape[0] * shape[1])]
            self.weights.append(Tensor(numbers, shape))
            self.weights[-1].needs_grad = True

    def step(self, x: Tensor, y: Tensor) -> Tensor:
        """Go down the gradient of the squared error; give the error."""
        w, b, v, c = self.weights
        off = sigmoid(sigmoid(x @ w + b) @ v + c) - y
        loss = apply(SUM, off * off, shape=(1, 1))
        backward(loss)
        for weight in self.weights:
            assert weight.grad is not None
            write(weight, weight - weight.grad * 2.0)
        return loss


def main() -> None:
    """Train twice, compare every bit, and show the program."""
    x = Tensor([0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0], (4, 2))
    y = Tensor([0.0, 1.0, 1.0, 0.0], (4, 1))
    eager, compiled = Network(), Network()
    first, program = record(compiled.step, x, y)
    assert eager.step(x, y).tolist() == first.tolist()
    losses = [(eager.step(x, y).tolist(), program.run(x, y).tolist()) for _ in range(400)]
    assert all(written == repeated for written, repeated in losses)
    for one, other in zip(eager.weights, compiled.weights, strict=True):
        assert one.tolist() == other.tolist()
    print(program)
    print(f"error {first.tolist()[0]:.3f} -> {losses[-1][0][0]:.5f}, the same bits both ways")


if __name__ == "__main__":
    main()
