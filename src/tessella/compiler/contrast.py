"""contrast: in what two recordings of one kind of call differ, in words, and at which line."""

from __future__ import annotations

from tessella.compiler.program import (
    ARENA,
    ARGUMENT,
    CAPTURED,
    GRADIENT,
    RESULT,
    Instruction,
    Operand,
    Output,
    Program,
)
from tessella.declarations import describe
from tessella.dtypes import DTYPES
from tessella.exceptions import brief, site_parts
from tessella.hints import Any
from tessella.trees import flatten, outline

Found = tuple[str, str]  # what differs, and the line in the user's code, if it is known
Use = tuple[str, Operand, str]  # how memory is used first: in words, as what, and at which line


def contrast(first: Program, second: Program) -> Found:
    """Say in what two programs differ, and where in the second."""
    for look in (_operations, _results, _memories, _gradients, _generators, _pulls):
        found = look(first, second)
        if found is not None:
            return found
    return "its recordings differ", ""


def _operations(first: Program, second: Program) -> Found | None:
    """Compare the instructions one by one, then how many there are."""
    lines = zip(first.meaning(), second.meaning(), strict=False)
    pairs = zip(first.instructions, second.instructions, strict=False)
    for (x, y), (before, after) in zip(pairs, lines, strict=False):
        if before != after:
            return _operation(first, x, before, second, y, after), _site(second, y)
    counts = len(first.instructions), len(second.instructions)
    if counts[0] == counts[1]:
        return None
    longer = first if counts[0] > counts[1] else second
    extra = longer.instructions[min(counts)]
    verb = "missing" if longer is first else "new"
    what = f"{_count(counts[0], 'operation')}, then {counts[1]}: {extra.name} is {verb}"
    return what, _site(longer, extra)


def _operation(
    first: Program, x: Instruction, before: Any, second: Program, y: Instruction, after: Any
) -> str:
    """Say in what two instructions differ."""
    if (x.name, x.params, x.written, len(x.operands)) != (
        y.name, y.params, y.written, len(y.operands)
    ):  # fmt: skip
        return f"{x.name}({x.params.strip()}), then {y.name}({y.params.strip()})"
    for i, (one, other) in enumerate(zip(before[-1], after[-1], strict=True)):
        if one == other:
            continue
        a, b = x.operands[i], y.operands[i]
        name = _name(x, i)
        if _kind(a) != _kind(b):
            return f"{name} is {_kind(a)}, then {_kind(b)}"
        if one[0] == other[0]:
            return (
                f"{name}, {_kind(a)}, begins at byte {one[2]} of its memory with strides "
                f"{one[4]}, then at byte {other[2]} with {other[4]}"
            )
        return _exchanged(f"{name}, {_kind(a)},", _origin(first, a), _origin(second, b))
    return f"{x.name} draws from another generator, or from elsewhere in its numbers"


def _results(first: Program, second: Program) -> Found | None:
    """Compare what is given; what is saved for gradients stands behind it."""
    counts = len(flatten(first.structure)[0]), len(flatten(second.structure)[0])
    if counts[0] != counts[1]:
        return f"{_count(counts[0], 'result')}, then {counts[1]}", ""
    if outline(first.structure) != outline(second.structure):
        forms = brief(first.structure), brief(second.structure)
        return f"the form of its results is {forms[0]}, then {forms[1]}", ""
    start = len(first.instructions)
    lines = zip(first.meaning()[start:], second.meaning()[start:], strict=False)
    outputs = zip(first.outputs[: counts[0]], second.outputs, strict=False)
    for i, ((x, y), (before, after)) in enumerate(zip(outputs, lines, strict=False)):
        if before != after:
            shown = _result(first, x), _result(second, y)
            return _exchanged(f"result {i}", *shown), ""
    return None


def _memories(first: Program, second: Program) -> Found | None:
    """Compare what memory from outside is used, in the order of its first use."""
    used = zip(_used(first).items(), _used(second).items(), strict=False)
    for (one, (name, operand, _)), (other, (_, now, site)) in used:
        x, y = first.memories[one], second.memories[other]
        if x.meaning() == y.meaning() or {x.source, y.source} <= {ARENA, RESULT}:
            continue
        origins = _origin(first, operand), _origin(second, now)
        return _exchanged(f"{name}, {_kind(operand)},", *origins), site
    return None


def _gradients(first: Program, second: Program) -> Found | None:
    """Compare whose gradients are used, and what becomes of them.

    As many, and the same ones were there: recordings that differ in that alone are not refused.
    """
    for x, y in zip(first.leaves, second.leaves, strict=False):
        if _identity(x) != _identity(y):
            return _exchanged("a tensor whose gradient it uses", _leaf(x), _leaf(y)), ""
    for i, leaf in enumerate(second.leaves):
        fates = _fate(first, i), _fate(second, i)
        if fates[0] != fates[1]:
            return f"the gradient of {_leaf(leaf)} is {fates[0]}, then {fates[1]}", ""
    return None


def _fate(program: Program, leaf: int) -> str:
    """Say what a call does with the gradient of a leaf."""
    made = [operand for number, operand in program.gradients if number == leaf]
    if made:
        return f"set to {_kind(made[0])}, {_origin(program, made[0])}"
    return "taken away" if leaf in program.removals else "left as it is"


def _generators(first: Program, second: Program) -> Found | None:
    """Compare which generators are drawn from."""
    for i, (x, y) in enumerate(zip(first.generators, second.generators, strict=False)):
        if x[0] is y[0]:
            continue
        drawing = [each for each in second.instructions if each.draw and each.draw[0] == i]
        if drawing:
            what = f"{drawing[0].name} draws from one generator, then from another"
            return what, _site(second, drawing[0])
        return "it draws from one generator, then from another", ""
    return None


def _pulls(first: Program, second: Program) -> Found | None:
    """Compare the gradients of results."""
    opened = [[pull.opened for pull in each.pulls] for each in (first, second)]
    if opened[0] != opened[1]:
        shown = [sorted(i for group in each for i in group) for each in opened]
        return f"gradients flow into the results {shown[0]}, then {shown[1]}", ""
    for before, after in zip(first.pulls, second.pulls, strict=True):
        if list(map(_identity, before.inputs)) != list(map(_identity, after.inputs)):
            names = [", ".join(map(_leaf, each.inputs)) for each in (before, after)]
            return _exchanged("what gradients flow to", *names), ""
        for choice, program in before.recorded.items():
            if program.meaning() != after.recorded[choice].meaning():
                what, _ = contrast(program, after.recorded[choice])
                return f"in the gradient of its results, {what}", ""  # recorded after the call
    return None


# --- words ----------------------------------------------------------------------------------------


def _exchanged(title: str, before: str, after: str) -> str:
    """Say that something is something else, also where both are shown alike."""
    if before != after:
        return f"{title} is {before}, then {after}"
    return f"{title} is {before}, then another"


def _kind(operand: Operand) -> str:
    return f"{DTYPES[operand.dtype].name} {operand.shape}"


def _name(each: Instruction, operand: int) -> str:
    """Name an operand of an instruction."""
    if operand < each.written:
        return f"what {each.name} writes"
    return f"operand {operand - each.written} of {each.name}"


def _origin(program: Program, operand: Operand) -> str:
    """Say what memory an operand lies in."""
    memory = program.memories[operand.slot]
    if memory.source == ARGUMENT:
        return f"argument {memory.index}"
    if memory.source in (CAPTURED, GRADIENT):
        return "a tensor from outside" if memory.source == CAPTURED else "a gradient"
    for each in program.instructions:
        if any(written.slot == operand.slot for written in each.writes()):
            return f"a result of {each.name}"
    return "memory of its own"


def _result(program: Program, out: Output) -> str:
    """Show what is given."""
    if out.operand is not None:
        graph = " with its graph" if out.node is not None else ""
        return f"{_kind(out.operand)}, {_origin(program, out.operand)}{graph}"
    if out.index is not None:
        return f"argument {out.index}"
    if out.same is not None:
        return f"result {out.same} again"
    return "a gradient" if out.leaf is not None else describe(out.value)


def _leaf(value: Any) -> str:
    """Show a tensor that gets a gradient; of an argument its number."""
    return f"argument {value}" if isinstance(value, int) else describe(value)


def _identity(value: Any) -> Any:
    return (value,) if isinstance(value, int) else id(value)


def _used(program: Program) -> dict[int, Use]:
    """Say of each memory how it is used first, in the order of `Program.meaning`."""
    found: dict[int, Use] = {}
    for each in program.instructions:
        for i, operand in enumerate(each.operands):
            if operand.slot not in found:
                found[operand.slot] = _name(each, i), operand, _site(program, each)
    for i, out in enumerate(program.outputs):
        if out.operand is not None:
            found.setdefault(out.operand.slot, (f"result {i}", out.operand, ""))
    for _, operand in program.gradients:
        found.setdefault(operand.slot, ("a gradient that it leaves", operand, ""))
    return found


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _site(program: Program, each: Instruction) -> str:
    """Give the line of an instruction, with its source."""
    path, line = program.recording.site_of(each.index)
    return ": ".join(filter(None, site_parts(path, line))) if path else ""
