"""Ways for a compiled function to be silently wrong: state that changes between calls or in them.

Each comes out as eager does, or raises. Python values are in test_capture_values.py and
test_capture_objects.py; what has to be repeated in test_capture_repeats.py; shared memory,
exceptions, threads and arenas in test_capture_sharing.py; results, gradients and refusals in
test_capture_results.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

import tessella as ts
from optimizing import OPTIMIZERS, SCHEDULES, make_schedule
from tessella import nn, optim
from tessella.errors import CaptureError
from tessella.optim import lr_scheduler
from worlds import Wrap, batch, network, same, some, training


def adam(model: nn.Module) -> optim.Adam:
    return optim.Adam(model.parameters(), lr=0.1)


# --- the plain case -------------------------------------------------------------------------------


RUNS: list[None] = []
# Unseen by whatever watches the function: an event of the interpreter, which a hook counts.
sys.addaudithook(lambda event, _: RUNS.append(None) if event == "tests.run" else None)


def test_python_runs_twice_and_then_no_more() -> None:
    def forward(x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
        sys.audit("tests.run")
        return x.sum() + y.sum()

    model = network()
    step = training(model, adam(model), lambda: sys.audit("tests.run"))
    # The first step finds no gradients, which is a program of its own.
    for function, wanted in [(forward, 2), (step, 3)]:
        RUNS.clear()
        compiled = ts.compile(function)
        for i in range(7):
            compiled(*batch(i))
        assert len(RUNS) == wanted


@pytest.mark.parametrize("label", OPTIMIZERS)
def test_optimizer_state_and_step_counts(label: str) -> None:
    kind, options = OPTIMIZERS[label]
    compiled: list[Any] = []

    def play(wrap: Wrap) -> Any:
        model = network()
        optimizer = getattr(optim, kind)(model.parameters(), **options)
        step = wrap(training(model, optimizer))
        compiled.append(step)
        return [step(*batch(i)) for i in range(7)], model, optimizer

    same(play)
    # All parameters in one pass.
    names = [each.name for each in compiled[-1].program.instructions]
    assert [name for name in names if name.startswith("update_")] == names[-1:]


def test_module_decorator_and_method() -> None:
    def play(wrap: Wrap) -> Any:
        model = network(nn.Dropout(0.5))
        whole = wrap(model)

        @wrap
        def decorated(x: ts.Tensor) -> ts.Tensor:
            return model(x).exp()

        class Plain:
            def __init__(self, k: float) -> None:
                self.w = ts.tensor(k)

            @wrap
            def inside(self, x: ts.Tensor) -> ts.Tensor:
                return x * self.w

        one, two = Plain(2.0), Plain(3.0)
        bound = wrap(two.inside)
        calls = [whole, decorated, one.inside, two.inside, bound]
        return [call(some(i, 5, 3)) for i in range(6) for call in calls], model

    same(play)


# --- state of modules and optimizers --------------------------------------------------------------


def deep() -> nn.Sequential:
    return network(nn.Dropout(0.5), nn.BatchNorm1d(4))


def trained() -> dict[str, Any]:
    """Give the state of an optimizer after two steps."""
    model = deep()
    optimizer = adam(model)
    for i in range(2):
        training(model, optimizer)(*batch(i))
    return optimizer.state_dict()  # type: ignore[return-value]


CHANGES: dict[str, Callable[[Any, Any], Any]] = {
    "lr": lambda model, opt: opt.param_groups[0].__setitem__("lr", 0.01),
    "lr in place": lambda model, opt: opt.param_groups[0]["lr"].mul_(0.5),
    "betas": lambda model, opt: opt.param_groups[0].__setitem__("betas", (0.5, 0.75)),
    "weight decay": lambda model, opt: opt.param_groups[0].__setitem__("weight_decay", 0.5),
    "maximize": lambda model, opt: opt.param_groups[0].__setitem__("maximize", True),
    "state": lambda model, opt: opt.load_state_dict(trained()),
    "new group": lambda model, opt: opt.add_param_group({"params": [some(1, 2).requires_grad_()]}),
    "fewer parameters": lambda model, opt: opt.param_groups[0]["params"].pop(),
    "eval": lambda model, opt: model.eval(),
    "eval of one part": lambda model, opt: model[1].eval(),
    "p of dropout": lambda model, opt: setattr(model[1], "p", 0.25),
    "momentum of batch norm": lambda model, opt: setattr(model[2], "momentum", 0.5),
    "weights": lambda model, opt: model.load_state_dict(deep().state_dict()),
    "new parameter": lambda model, opt: setattr(model[0], "weight", nn.Parameter(some(5, 4, 3))),
    "new part": lambda model, opt: model.__setitem__(3, nn.ReLU()),
    "no bias": lambda model, opt: setattr(model[0], "bias", None),
    "frozen part": lambda model, opt: model[0].requires_grad_(False),
    "hook": lambda model, opt: model[0].register_forward_hook(lambda m, args, out: out * 2),
    "hook of a gradient": lambda model, opt: model[0].weight.register_hook(lambda g: g * 2),
    "write into a weight": lambda model, opt: model[0].weight.detach().mul_(0.5),
    "write into a statistic": lambda model, opt: model[2].running_mean.fill_(3.0),
    "no gradient": lambda model, opt: opt.zero_grad(),
    "gradient from outside": lambda model, opt: setattr(model[0].bias, "grad", ts.ones(4)),
    "seed": lambda model, opt: ts.manual_seed(8),
    "random numbers elsewhere": lambda model, opt: ts.rand(7),
}


@pytest.mark.parametrize("label", CHANGES)
@pytest.mark.parametrize("call", [1, 4])
def test_a_change_between_training_steps(label: str, call: int) -> None:
    def play(wrap: Wrap) -> Any:
        model = deep()
        optimizer = adam(model)
        step, losses = wrap(training(model, optimizer)), []
        for i in range(9):
            if i == call:
                CHANGES[label](model, optimizer)
            losses.append(step(*batch(i)))
        return losses, model, optimizer

    same(play)


def test_train_and_eval_in_turn() -> None:
    def play(wrap: Wrap) -> Any:
        model = deep()
        forward = wrap(model)
        return [forward(some(i, 5, 3)) for i in range(12) if model.train(i % 4 < 2)], model

    same(play)


def test_a_model_that_becomes_double_in_place() -> None:
    def play(wrap: Wrap) -> Any:
        model = network()
        forward = wrap(lambda x: model(x.astype(model[0].weight.dtype)))
        before = [forward(some(i, 5, 3)) for i in range(4)]
        model.double()
        return before, [forward(some(i, 5, 3)) for i in range(4)], model

    same(play)


READING = ("LambdaLR", "MultiplicativeLR", "ReduceLROnPlateau")


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("label", [x for x, (kind, _) in SCHEDULES.items() if kind not in READING])
def test_a_schedule(label: str, inside: bool) -> None:
    kind, options = SCHEDULES[label]

    def play(wrap: Wrap) -> Any:
        model = network()
        first, *others = model.parameters()
        groups: list[dict[str, Any]] = [{"params": [first]}, {"params": others, "lr": 0.2}]
        optimizer = optim.SGD(groups, lr=0.1, momentum=0.9)
        schedule = make_schedule(lr_scheduler, kind, options, optimizer)
        step, losses = wrap(training(model, optimizer, *[schedule.step] * inside)), []
        for i in range(14):
            losses.append(step(*batch(i)))
            if not inside:
                schedule.step()
        return losses, model, optimizer, schedule.get_last_lr()

    same(play)


class Halving(lr_scheduler.LRScheduler):
    def get_lr(self) -> list[float]:
        return [base * 0.5**self.last_epoch for base in self.base_lrs]


@pytest.mark.parametrize(
    ("kind", "reads"),
    [
        (lambda x: lr_scheduler.LambdaLR(x, lambda n: 0.5**n), "the epoch"),
        (lambda x: lr_scheduler.MultiplicativeLR(x, lambda n: 0.5), "the epoch"),
        (Halving, "the epoch"),
        (lr_scheduler.ReduceLROnPlateau, "its number"),
    ],
)
def test_a_schedule_that_reads_values_or_calls_user_code_stands_outside(
    kind: Any, reads: str
) -> None:
    model = network()
    optimizer = adam(model)
    schedule = kind(optimizer)
    given = (1.0,) if reads == "its number" else ()
    step = ts.compile(training(model, optimizer, lambda: schedule.step(*given)))
    with pytest.raises(CaptureError) as caught:
        for i in range(5):
            step(*batch(i))
    what, site, hint = str(caught.value).splitlines()[:3]
    assert f"a schedule that reads {reads} cannot be part of a compiled function" in what
    assert site.startswith(("  at test_capture_traps.py:", "  at worlds.py:"))
    assert hint == "  hint: call schedule.step() outside, after the compiled step"


def test_an_attribute_rebound_in_forward() -> None:
    class Recalling(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.last = ts.zeros(3)

        def forward(self, x: ts.Tensor) -> ts.Tensor:
            self.last = x * 2 + self.last
            return self.last

    def play(wrap: Wrap) -> Any:
        model = Recalling()
        forward, seen = wrap(model), []
        for i in range(6):
            forward(some(i, 3))
            seen.append(model.last)
        return seen

    same(play, may_refuse=True)


def test_metrics_caches_and_counts_written_in_place() -> None:
    def play(wrap: Wrap) -> Any:
        right, cache, n = ts.zeros(()), ts.zeros(8, 3), ts.tensor(0)

        def f(x: ts.Tensor, row: int) -> ts.Tensor:
            right.add_((x > 0).sum())
            cache[row : row + 1] = x
            cache[4:] *= 0.5
            cache[5] += x[0]
            n.add_(1)
            return cache.sum(axis=0) * n

        call = wrap(f)
        return [call(some(i, 1, 3), i % 3) for i in range(15)], right, cache, n

    same(play)


def test_a_captured_tensor_changed_from_outside() -> None:
    def play(wrap: Wrap) -> Any:
        w, results = some(1, 3), []
        call = wrap(lambda x: (x * w).exp() + w.sum())
        for i in range(8):
            results.append(call(some(i, 3)))
            w[i % 3] = float(i)
            w.mul_(-0.5)
        return results, w

    same(play)


def _append(array: ts.DynamicArray[float]) -> None:
    array.append(1.0)


def _assign(array: ts.DynamicArray[float]) -> None:
    array[0] = 7.0


# What a repeated call would keep as it was recorded, or would not do again.
ARRAYS: dict[str, Callable[[ts.DynamicArray[float]], Any]] = {
    "an item": lambda a: a[0],
    "the length": len,
    "its name": lambda a: a.length,
    "all items": sum,
    "a view": lambda a: a.as_tensor().sum(),
    "a slice": lambda a: a[0:1].sum(),
    "append": _append,
    "assign": _assign,
    "pop": lambda a: a.pop(),
    "extend": lambda a: a.extend([1.0]),
    "clear": lambda a: a.clear(),
}


@pytest.mark.parametrize("is_planned", [False, True])
@pytest.mark.parametrize("use", ARRAYS)
def test_an_array_that_grows_is_neither_read_nor_changed(use: str, is_planned: bool) -> None:
    array = ts.DynamicArray("float64", capacity=8)
    array.extend([1.0, 2.0])

    @ts.compile
    def f(x: ts.Tensor) -> ts.Tensor:
        found = ARRAYS[use](array)
        return x * 2 if found is None else x * found

    with pytest.raises(ts.errors.CaptureError, match="a DynamicArray") as caught:
        f.plan(ts.ones(4)) if is_planned else f(ts.ones(4))
    assert "hint: pass a.as_tensor()" in str(caught.value)
    assert list(array) == [1.0, 2.0]
