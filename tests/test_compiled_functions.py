"""Every declared function, compiled: the bits of eager, call after call, with all results held.

The calls are those of the declarations, with operands of the dtypes that they take. Each is made
five times with other values in two equal worlds, once eagerly and once compiled; a tensor that is
captured, one of the operands or one beside them, is changed in place between the calls. What the
caller holds from earlier calls must stay as it was, and the core must have run a program.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

import tessella as ts
from calls import DECLARED, Call, call_of, calls_of, is_taken, samples_of
from cases import generator, map_tensors
from conftest import FULL
from reference import assert_same_tensors
from tessella.compiler import Compiled
from tessella.dtypes import DTYPES, DType
from tessella.trees import flatten
from worlds import Wrap, attempt

ROUNDS = 5
UNSET = ("empty", "empty_like", "new_empty")  # the elements are whatever was there
CAPTURED = "captured"  # among the arguments: the operand that the function closes over
# It finds complex numbers by their different ones, whose number depends on values: it is refused.
NOT_COMPLEX = ("isin",)
FLOATS = [dtype for dtype in DTYPES if dtype.is_floating or dtype.is_complex]


# --- which calls ---------------------------------------------------------------------------------


def chosen(pool: list[Any], *label: object) -> list[Any]:
    """Give all under full counts, else one that the seed chooses."""
    return pool if FULL or not pool else [pool[generator(label).integers(len(pool))]]


def moved(x: ts.Tensor, turn: int) -> ts.Tensor:
    """Give values of the same kind where nothing tells how to draw them: the same, elsewhere."""
    if x.dtype in FLOATS and (x == x.reshape(-1)[:1]).all():
        return x * (1 - turn / 16) if x.any() else x + turn  # one value, or only equal ones
    return ts.roll(x.reshape(-1), turn).reshape(x.shape) if x.size else x.clone()


def varied(call: Call, held: list[ts.Tensor], turn: int) -> Call:
    """Move the elements of some operands, unless the call is refused then: edges must rise, …"""
    made = call.changed(lambda x: moved(x, turn) if any(x is each for each in held) else x)
    return call if isinstance(attempt(copied([made])[0]), type) else made


def turns_of(name: str, i: int, dtype: DType) -> list[Call]:
    """Give the i-th call of a function with other values at each turn, and the same numbers."""
    each, cases = DECLARED[name], samples_of(DECLARED[name])
    if not cases:
        first = calls_of(name)[i]
        return [varied(first, first.tensors(), turn) for turn in range(ROUNDS)]
    turns = [call_of(each, cases[i], dtype, turn) for turn in range(ROUNDS)]
    is_drawn = [isinstance(shape, tuple | list) for shape in cases[i].shapes]
    for turn, call in enumerate(turns):
        pairs = zip(call.args, turns[0].args, is_drawn, strict=True)
        call.args = [new if has_new else old for new, old, has_new in pairs]
        held: list[ts.Tensor] = []
        kept = [x for x, has_new in zip(call.args, is_drawn, strict=True) if not has_new]
        map_tensors(held.append, [kept, list(call.named.values())])
        turns[turn] = varied(call, held, turn) if held and turn else call
    return turns


def copied(turns: list[Call]) -> list[Call]:
    """Give equal calls whose tensors and generators are their own."""
    arguments = deepcopy([(call.args, call.named) for call in turns])
    return [Call(turns[0].name, turns[0].function, *each) for each in arguments]


def dtypes_for(name: str, i: int, pool: list[DType]) -> list[DType]:
    """Give the dtypes that the i-th call takes: all of the pool, or one that the seed chooses."""
    each, cases = DECLARED[name], samples_of(DECLARED[name])
    if not cases:
        return [ts.float32]  # which says nothing: such a call has its own
    found: list[DType] = []
    for k in generator("dtypes", name, i).permutation(len(pool)):
        if (found and not FULL) or (pool[k].is_complex and name in NOT_COMPLEX):
            continue
        if is_taken(call_of(each, cases[i], pool[k])):
            found.append(pool[k])
    return found


def is_other(turns: list[Call]) -> bool:
    """Tell whether each float operand with elements has other values at some turn."""
    tensors = zip(*(call.tensors() for call in turns), strict=True)
    floats = [each for each in tensors if each[0].dtype in FLOATS and each[0].size]
    return all(any((x != each[0]).any() for x in each[1:]) for each in floats)


# --- two worlds ----------------------------------------------------------------------------------


def tensors_in(value: Any) -> list[Any]:
    """Give the leaves of a result."""
    return flatten(value)[0] if isinstance(value, tuple | list | dict) else [value]


def check(got: Any, want: Any, is_unset: bool = False) -> None:
    """Compare two results, bit by bit."""
    for x, y in zip(tensors_in(got), tensors_in(want), strict=True):
        if isinstance(y, ts.Tensor):
            if not is_unset:
                assert_same_tensors(x.detach().clone(), y.detach().clone())
            assert (x.shape, x.dtype, x.strides) == (y.shape, y.dtype, y.strides)
        else:
            assert x == y or x is y


def runs_of(compiled: Compiled[..., Any]) -> int:
    """Count the calls that the core made by a program."""
    kinds = compiled._compiled_kinds.values()
    return sum(each.core.runs for kind in kinds for each in kind.programs)


class World:
    """A function that closes over the tensor at one place of its calls, or over one beside them."""

    def __init__(self, turns: list[Call], place: int | None, wrap: Wrap) -> None:
        self.turns = turns
        self.place = place
        captured = ts.zeros(3) if place is None else turns[0].tensors()[place].clone()
        function = turns[0].function

        def filled(value: Any) -> Any:
            if isinstance(value, list | tuple):
                return type(value)([filled(each) for each in value])
            return captured if isinstance(value, str) and value == CAPTURED else value

        def called(*args: Any, **named: Any) -> Any:
            named = {name: filled(value) for name, value in named.items()}
            return function(*filled(args), **named), captured.clone()

        self.captured = captured
        self.function = wrap(called)

    def call(self, turn: int) -> Any:
        """Do a call, with other values in what is captured too."""
        given = self.turns[turn]
        if self.place is None:
            self.captured.fill_(turn)
        else:
            self.captured.copy_(given.tensors()[self.place])
            places = iter(range(len(given.tensors())))
            given = given.changed(lambda x: CAPTURED if next(places) == self.place else x)  # type: ignore[arg-type,return-value]
        # What the values are refused for, they are refused for by both.
        return attempt(lambda: self.function(*given.args, **given.named))


def check_rounds(turns: list[Call], place: int | None) -> None:
    """Call in both worlds; compare what they give, and what they leave of operands."""
    eager = World(copied(turns), place, lambda f: f)
    compiled = World(copied(turns), place, ts.compile)
    assert is_other(eager.turns)
    held: list[tuple[Any, Any]] = []
    for turn in range(ROUNDS):
        want, got = eager.call(turn), compiled.call(turn)
        for x, y in zip(compiled.turns[turn].tensors(), eager.turns[turn].tensors(), strict=True):
            assert_same_tensors(x, y)
        assert_same_tensors(compiled.captured, eager.captured)
        held.append((got, want))
        for earlier in held:
            check(*earlier, is_unset=eager.turns[0].name in UNSET)
    assert runs_of(compiled.function) > 0, "it was never repeated"


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_compiled_function_gives_the_bits_of_eager(name: str) -> None:
    refused = 0
    for i, call in enumerate(calls_of(name)):
        places = chosen([None, *range(len(call.tensors()))], "place", name, i)
        for dtype in dtypes_for(name, i, list(DTYPES)):
            turns = turns_of(name, i, dtype)
            for place in places:
                try:
                    check_rounds(turns, place)
                except ts.errors.CaptureError:
                    refused += 1
    assert (refused > 0) == bool(DECLARED[name].no_capture)


# --- gradients -----------------------------------------------------------------------------------


def gradients_of(call: Call, leaves: list[ts.Tensor], scale: ts.Tensor) -> Any:
    """Do what a training step does: the gradients of a sum over all results."""
    for leaf in leaves:
        leaf.grad = None
    parts = [x for x in tensors_in(call()) if isinstance(x, ts.Tensor) and x.requires_grad]
    total = sum(((x * scale).abs() if x.dtype.is_complex else x * scale).sum() for x in parts)
    if isinstance(total, ts.Tensor):
        total.backward()
    return total


def leaves_of(call: Call) -> list[ts.Tensor]:
    """Make the float operands of a call leaves."""
    return [x.requires_grad_() for x in call.tensors() if x.dtype in FLOATS]


def check_gradients(turns: list[Call]) -> None:
    """Take gradients five times in both ways, with other values in all operands."""
    eager, compiled = (copied(turns)[0] for _ in range(2))
    mine, others = leaves_of(eager), leaves_of(compiled)
    step = ts.compile(lambda scale: gradients_of(compiled, others, scale))
    held: list[tuple[Any, Any]] = []
    for turn, given in enumerate(turns):
        with ts.no_grad():
            for call in (eager, compiled):
                for x, value in zip(call.tensors(), given.tensors(), strict=True):
                    x.copy_(value)
        scale = ts.tensor(1.0 + turn)
        want, got = gradients_of(eager, mine, scale), step(scale)
        grads, wanted = ([x.grad for x in leaves] for leaves in (others, mine))
        assert [x is None for x in grads] == [x is None for x in wanted]
        check(grads, wanted)
        # Gradients of every other turn are held; the memory of those between is used again.
        is_held = turn % 2 == 0
        held.append(([got, *grads * is_held], [want, *wanted * is_held]))
        for earlier in held:
            check(*earlier)
    assert runs_of(step) > 0, "it was never repeated"


@pytest.mark.parametrize(
    "name",
    [name for name in sorted(DECLARED) if not DECLARED[name].no_capture and name not in UNSET],
)
def test_gradients_inside_of_a_compiled_step_are_those_of_eager(name: str) -> None:
    for i in range(len(calls_of(name))):
        for dtype in dtypes_for(name, i, FLOATS):
            turns = turns_of(name, i, dtype)
            tried = copied(turns)[0]
            try:
                gradients_of(tried, leaves_of(tried), ts.tensor(1.0))
            except (ts.errors.InplaceError, ts.errors.InvalidArgument):
                continue  # it writes into an operand, which cannot be a leaf
            check_gradients(turns)
