"""What a compiled function must survive: memory that moves or goes, interrupts, its own owner."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import weakref
from typing import Any

import numpy as np
import pytest

import tessella as ts
from leaves import grad_of
from tessella import nn, optim
from worlds import Wrap, attempt, same, some


def test_a_gradient_that_is_read_inside_and_gradients_around() -> None:
    def play(wrap: Wrap) -> Any:
        p = some(1, 3).requires_grad_()
        p.grad = some(2, 3)
        call = wrap(lambda x: (x * p.grad).sum())
        seen = []
        for i in range(6):
            x = some(i, 3).requires_grad_()
            y = call(x)
            y.backward()
            seen.append((y, x))
            p.grad = some(i + 9, 3)
        return seen

    same(play)


@pytest.mark.parametrize("writes", [False, True])
def test_an_argument_that_is_a_part_of_captured_memory_moves(writes: bool) -> None:
    def play(wrap: Wrap) -> Any:
        memory = ts.zeros(1 << 16)

        def f(x: ts.Tensor) -> ts.Tensor:
            if writes:
                memory[-2:].add_(1.0)
            return x + memory[-2:]

        call = wrap(f)
        starts = [0, 0, 0, (1 << 16) - 2, 1 << 15, 4, 0]
        return [call(memory[start : start + 2]) for start in starts], memory

    same(play)


def test_parts_of_one_tensor_are_one_kind_of_call() -> None:
    rows, layer = some(1, 320, 4), nn.Linear(4, 2)
    with ts.no_grad():
        call = ts.compile(layer)
        for i in range(10):
            part = rows[i * 32 : (i + 1) * 32]
            assert call(part).tolist() == layer(part).tolist()
    assert len(call.programs) == 1


@pytest.mark.filterwarnings("ignore:.*was recorded at each")  # a signal may come at each call
def test_a_gradient_that_a_signal_takes_away() -> None:
    p = ts.ones(3).requires_grad_()
    g = ts.full((3,), 2.0)
    p.grad = g
    call = ts.compile(lambda x, k: x * p.grad * k)
    x = ts.ones(3)
    for _ in range(3):
        call(x, 2)
    # The parameter is a default: functions of a variable around them are looked for everywhere.
    before = signal.signal(signal.SIGALRM, lambda *_, of=p: setattr(of, "grad", None))
    signal.setitimer(signal.ITIMER_REAL, 1e-3, 1.3e-4)
    try:
        for _ in range(5000):
            p.grad = g
            got = attempt(lambda: call(x, 2).tolist())
            assert got == [4.0] * 3 or "TypeError" in str(got) or "Error" in str(got)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_an_object_whose_method_is_compiled_goes_with_it() -> None:
    class Trainer:
        def __init__(self) -> None:
            self.model = nn.Linear(2, 2)
            self.optimizer = optim.SGD(self.model.parameters(), lr=0.1)
            self.step = ts.compile(self.train)

        def train(self, x: ts.Tensor) -> ts.Tensor:
            self.optimizer.zero_grad()
            loss = self.model(x).sum()
            loss.backward()
            self.optimizer.step()
            return loss

    trainer = Trainer()
    for _ in range(5):
        trainer.step(ts.ones(3, 2))
    alive = weakref.ref(trainer)
    del trainer
    gc.collect()
    assert alive() is None


def test_an_argument_that_joins_a_graph() -> None:
    def play(wrap: Wrap) -> Any:
        w = some(1, 3).requires_grad_()

        def f(x: ts.Tensor) -> ts.Tensor:
            return x.add_(w)

        call, seen = wrap(f), []
        for i in range(6):
            x = some(i, 3)
            y = call(x)
            y.sum().backward()
            seen.append((x.requires_grad, y, w.grad))
        return seen

    same(play)


def test_what_can_fail_fails_though_nobody_reads_it() -> None:
    def play(wrap: Wrap) -> Any:
        table = some(1, 3, 2)

        def f(x: ts.Tensor, i: ts.Tensor) -> ts.Tensor:
            _ = table[i]
            return x * 2

        call = wrap(f)
        rows = [ts.tensor([1])] * 4 + [ts.tensor([9]), ts.tensor([2])]
        return [attempt(lambda i=i: call(some(1, 2), i)) for i in rows]

    same(play)


def test_a_write_before_a_failure_is_noticed_by_backward() -> None:
    def play(wrap: Wrap) -> Any:
        state, table = some(1, 3), some(2, 4, 3)
        leaf = some(3, 3).requires_grad_()

        def f(i: ts.Tensor) -> ts.Tensor:
            state.add_(1)
            return table[i]

        call = wrap(f)
        for _ in range(4):
            call(ts.tensor([1]))
        loss = (leaf * state).sum()
        return [
            attempt(lambda: call(ts.tensor([9]))),
            attempt(loss.backward),
            state,
            call(ts.tensor([2])),
        ]

    same(play)


def test_backward_of_a_user_runs_when_it_is_asked_for() -> None:
    def play(wrap: Wrap) -> Any:
        count = ts.zeros(1)

        class Doubled(ts.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
                return x * 2

            @staticmethod
            def backward(ctx: Any, g: ts.Tensor) -> ts.Tensor:
                count.add_(1)
                return g * 2

        call, seen = wrap(lambda x: Doubled.apply(x).sum()), []
        for i in range(6):
            x = some(i, 3).requires_grad_()
            y = call(x)
            if i % 2:
                y.backward()
            seen.append((y, x, count.clone()))
        return seen

    same(play)


def test_one_gradient_of_two_leaves_and_gradients_as_arguments() -> None:
    def play(wrap: Wrap) -> Any:
        a, b, g = some(1, 3).requires_grad_(), some(2, 3).requires_grad_(), some(3, 3)
        a.grad = b.grad = g
        both = wrap(lambda x: x + a.grad * 2 + b.grad)
        one = wrap(lambda x: x + a.grad)
        seen = [(both(some(i, 3)), one(g)) for i in range(4)]
        a.grad = some(4, 3)
        return seen, [(both(some(i, 3)), one(g)) for i in range(4)]

    same(play)


def test_an_argument_whose_place_does_not_suit_another_dtype() -> None:
    def play(wrap: Wrap) -> Any:
        base = ts.arange(16, dtype=ts.int16)
        call = wrap(lambda x: x.view(ts.int32) + 1)
        return [attempt(call, base[start : start + 4]) for start in [0, 0, 0, 0, 1, 2, 3, 4]]

    same(play)


def test_three_arguments_over_one_array_of_which_two_overlap_later() -> None:
    def play(wrap: Wrap) -> Any:
        array = np.arange(60_000, dtype="float32")

        def f(a: ts.Tensor, b: ts.Tensor, c: ts.Tensor) -> ts.Tensor:
            b.add_(c)
            return a + c

        def part(start: int) -> ts.Tensor:
            return ts.from_numpy(array[start : start + 20_000])

        call = wrap(f)
        starts = [(0, 40_000, 1)] * 4 + [(0, 2, 1)] * 4
        return [call(*map(part, each)) for each in starts], array.tolist()

    same(play)


def test_a_parameter_is_another_kind_of_argument_than_a_tensor() -> None:
    def play(wrap: Wrap) -> Any:
        call = wrap(lambda x, k: x * k if isinstance(x, nn.Parameter) else x + k)
        x = some(1, 3).requires_grad_()
        given = [x, x, x, nn.Parameter(some(2, 3)), nn.Parameter(some(2, 3)), x]
        return [call(each, 3.0) for each in given]

    same(play)


def test_what_stands_for_tensors_in_a_program_is_found_by_nobody() -> None:
    model = nn.Linear(2, 2)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    @ts.compile
    def step(x: ts.Tensor) -> None:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

    def hollow() -> set[int]:
        """Name the tensors in lists that have no memory, as stand-ins have none between calls."""
        lists = [each for each in gc.get_objects() if type(each) is list]
        return {id(x) for each in lists for x in each if type(x) is ts.Tensor and x.is_virtual}

    before = hollow()
    for _ in range(5):
        step(ts.ones(3, 2))
    assert hollow() == before


# --- how much memory arguments lie in -------------------------------------------------------------


def test_arguments_in_memory_of_any_size_are_one_program() -> None:
    compiled = ts.compile(lambda x: x * 2)
    for size in range(3, 9):
        assert compiled(ts.ones(size)[:2]).tolist() == [2.0, 2.0]
    assert len(compiled.programs) == 1


@pytest.mark.parametrize("makes", ["values", "view"])
def test_a_program_does_not_reach_beyond_the_memory_of_an_argument(makes: str) -> None:
    def reach(x: ts.Tensor) -> ts.Tensor:
        wide = ts.as_strided(x, (1000,), (1,))
        return wide * 2 if makes == "values" else wide

    compiled = ts.compile(reach)
    for _ in range(3):
        assert compiled(ts.ones(1000)[:2]).shape == (1000,)
    assert len(compiled.programs) == 1
    for size in (2, 999):
        with pytest.raises(ts.errors.InvalidArgument, match="elements 0 to 999 of a buffer of"):
            compiled(ts.ones(size)[:2])
    assert compiled(ts.ones(1200)[:2]).shape == (1000,)
    assert len(compiled.programs) == 1


def test_a_program_does_not_reach_beyond_the_memory_of_a_gradient() -> None:
    leaf = ts.ones(2).requires_grad_()

    def reach(x: ts.Tensor) -> ts.Tensor:
        assert leaf.grad is not None
        return ts.as_strided(leaf.grad, (1000,), (1,)) * x

    compiled = ts.compile(reach)
    for _ in range(3):
        leaf.grad = ts.ones(1000)[:2]
        assert compiled(ts.ones(1)).shape == (1000,)
    assert len(compiled.programs) == 1
    leaf.grad = ts.ones(2)
    with pytest.raises(ts.errors.InvalidArgument, match="elements 0 to 999 of a buffer of 2"):
        compiled(ts.ones(1))


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("writes", ["captured", "gradient", "nothing"])
def test_a_gradient_that_is_a_captured_tensor(writes: str, first: bool) -> None:
    count, few = 40_000, 300  # a tile, and what is computed before it

    def play(wrap: Wrap) -> Any:
        flat, p = ts.zeros(count), ts.ones(count).requires_grad_()

        def f(x: ts.Tensor, xs: ts.Tensor) -> Any:
            y = xs * 3
            if writes == "captured":
                flat.add_(x)
            elif writes == "gradient":
                grad_of(p).add_(x)
            return y, grad_of(p)[:few] * 2, flat[:few] * 3

        call, seen = wrap(f), []
        for i in range(12):
            p.grad = flat if (i // 4 == 1) != first else ts.ones(count)
            seen.append(call(ts.ones(count), ts.ones(few)))
        return [[x[0].item() for x in each] for each in seen], flat[0].item()

    same(play)


# Views that only the recording holds end with it, and what their ends run asks other tensors.
ASKING = """
import weakref
import tessella as ts

weight, others, refs = ts.ones(4), [ts.ones(2) for _ in range(500)], []

def ask(_):
    for x in others:
        x.requires_grad
        x + 1

def function(x):
    for _ in range(20):
        view = weight.detach()
        refs.append(weakref.ref(view, ask))
        x = x + view
        del view
    return x

compiled = ts.compile(function)
for _ in range(4):
    assert compiled(ts.ones(4)).tolist() == [21.0] * 4
"""


def test_the_ends_of_temporaries_may_ask_other_tensors() -> None:
    done = subprocess.run([sys.executable, "-c", ASKING], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
