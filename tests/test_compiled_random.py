"""Random functions, compiled: the bits of eager, call after call, with all results held.

The functions are those of scripts.py. Each is played in two equal worlds, once eagerly and once
compiled: with other values at each call, captured tensors that change between calls, arguments that
share memory, and results that the caller writes to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st

import tessella as ts
from scripts import Script, forward_scripts, large_scripts, scripts, training_scripts
from tessella.compiler import Compiled
from tessella.trees import flatten
from worlds import Wrap, attempt, frozen, outcome, same

CALLS = 8
MANY = settings(max_examples=5 * settings().max_examples)
FEW = settings(max_examples=settings().max_examples // 2)


class World:
    """What a script closes over, and its function, eager or compiled."""

    def __init__(self, script: Script, wrap: Wrap) -> None:
        self.script = script
        self.captured = {
            name: spec.make(50 + i) for i, (name, spec) in enumerate(script.captured.items())
        }
        self.call = wrap(script.build(self.captured))

    def arguments(self, i: int, is_odd: bool = False) -> list[ts.Tensor]:
        """Give the arguments of call i."""
        specs = self.script.given.values()
        return [spec.make(100 * i + k, is_odd) for k, spec in enumerate(specs)]

    def change(self, i: int) -> None:
        """Give captured tensors other values in place: all at some calls, one at others."""
        for k, (name, spec) in enumerate(self.script.captured.items()):
            if i % 3 == 0 or i % 3 == k + 1:
                with ts.no_grad():
                    self.captured[name].copy_(spec._replace(needs_grad=False).make(1000 * i + k))

    def check(self, outs: Iterable[Any] = ()) -> None:
        """Check that a compiled function none of whose calls failed has been more than recorded."""
        if isinstance(self.call, Compiled) and not any(isinstance(out, type) for out in outs):
            assert self.call.program is not None, "it was never repeated"
            self.call.program.verify()


def tensors_of(result: Any) -> list[ts.Tensor]:
    leaves = flatten(result)[0] if isinstance(result, list | tuple | dict) else [result]
    return [x for x in leaves if isinstance(x, ts.Tensor)]


SHARING = ["", "", "", "a1 is a0", "a1 is of a0", "a0 is c0", "a1 is of c0"]


def shared(args: list[ts.Tensor], world: World, how: str) -> list[ts.Tensor]:
    """Let arguments share memory, if their shapes allow the function to be called so."""
    one, two = args
    c0 = world.captured["c0"]
    found = {
        "a1 is a0": [one, one],
        "a1 is of a0": [one, one[::-1] if one.ndim else one.detach()],
        "a0 is c0": [c0, two],
        "a1 is of c0": [one, c0[::-1] if c0.ndim else c0.detach()],
    }.get(how, args)
    is_fit = [(x.shape, x.dtype) for x in found] == [(x.shape, x.dtype) for x in args]
    return found if is_fit else args


@MANY
@given(scripts(), st.sampled_from(SHARING), st.booleans())
def test_random_functions(script: Script, how: str, is_written: bool) -> None:
    def play(wrap: Wrap) -> Any:
        world = World(script, wrap)
        held: list[Any] = []
        outs: list[Any] = []
        for i in range(CALLS):
            args = world.arguments(i, is_odd=i % 4 == 3)
            if i < 5:
                args = shared(args, world, how)
            out = attempt(world.call, *args)
            outs.append(out)
            held.append((frozen(out), frozen(args), out, args))
            if is_written and i % 3 == 2:
                held.append([attempt(x.fill_, i) for x in tensors_of(out)[:1]])
            if i % 2:
                world.change(i)
        world.check(outs)
        return held, world.captured

    same(play)


CLEARING = ["never", "sometimes", "one"]


@MANY
@given(training_scripts(), st.sampled_from(CLEARING))
def test_random_steps_with_gradients_inside(script: Script, clearing: str) -> None:
    def play(wrap: Wrap) -> Any:
        world = World(script, wrap)
        held: list[Any] = []
        outs: list[Any] = []
        for i in range(CALLS):
            args = world.arguments(i)
            out = attempt(world.call, *args)
            outs.append(out)
            held.append((frozen(out), out, args, [x.grad for x in world.captured.values()]))
            if clearing == "sometimes" and i % 3 == 2:
                world.captured["p0"].grad = world.captured["p1"].grad = None
            if clearing == "one" and i == 4:
                world.captured["p1"].grad = None
            if i % 2:
                world.change(i)
        world.check(outs)
        return held, world.captured

    same(play)


@MANY
@given(forward_scripts(), st.booleans(), st.booleans())
def test_random_functions_with_gradients_around(
    script: Script, is_late: bool, is_changed: bool
) -> None:
    def play(wrap: Wrap) -> Any:
        world = World(script, wrap)
        held: list[Any] = []
        for i in range(CALLS):
            args = world.arguments(i)
            out = attempt(world.call, *args)
            if isinstance(out, type):
                return out
            total = [(x * (i + 1)).sum() for x in tensors_of(out) if x.requires_grad]
            late = [] if is_late else [attempt(total[0].backward)]
            held.append((frozen(out), out, args, total, late))
            if is_changed and i % 2:
                world.change(i)
        after = [attempt(each[3][0].backward) for each in held]
        world.check()
        return held, after, world.captured

    same(play)


# --- threads --------------------------------------------------------------------------------------


def digest(x: Any) -> Any:
    """Give a sign of the bits of a tensor; all NaN are one."""
    if not isinstance(x, ts.Tensor):
        return x
    array = np.ascontiguousarray(x.numpy())
    if x.dtype.is_floating:
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return x.shape, x.dtype.name, x.strides, hashlib.blake2b(array.tobytes()).hexdigest()


@FEW
@given(large_scripts())
def test_bits_do_not_depend_on_the_number_of_threads(script: Script) -> None:
    def play(wrap: Wrap) -> Any:
        world = World(script, wrap)
        held = []
        for i in range(5):
            held.append(tensors_of(world.call(*world.arguments(i))))
            world.change(i)
        world.check()
        return [[digest(x) for x in each] for each in [*held, world.captured.values()]]

    found, before = [], ts.get_num_threads()
    try:
        for count in (1, 2):
            ts.set_num_threads(count)
            found += [outcome(play, lambda function: function), outcome(play, ts.compile)]
    finally:
        ts.set_num_threads(before)
    assert found[1] == found[0] and found[2] == found[0] and found[3] == found[0]
