"""Schedules of learning rates: torch's sequences, resuming, what is computed and what is read."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import optimizing
import tessella as ts
from optimizing import SCHEDULED, SCHEDULES
from tessella import optim
from tessella.optim import lr_scheduler
from tessella.optim.schedules import Formula

FIGURES = json.loads((Path(__file__).parent / "figures" / "optim.json").read_text())["rates"]
HOST = ("LambdaLR", "LambdaLR two", "MultiplicativeLR", "Plateau", "Plateau max", "Plateau min")


def make_optimizer() -> optim.SGD:
    """Make the optimizer of the figures: two groups with rates of their own."""
    x, y = (ts.zeros(1, requires_grad=True) for _ in range(2))
    groups = [{"params": [x]}, {"params": [y], "lr": optimizing.SECOND_RATE}]
    return optim.SGD(groups, lr=optimizing.FIRST_RATE, momentum=0.9)  # type: ignore[arg-type]


def make(label: str, optimizer: Any) -> Any:
    """Make a schedule of the table."""
    name, options = SCHEDULES[label]
    return optimizing.make_schedule(lr_scheduler, name, options, optimizer)


def rates(optimizer: Any) -> list[float]:
    """Read rates and the first momentum."""
    return [*(group["lr"].item() for group in optimizer.param_groups),
            optimizer.param_groups[0]["momentum"].item()]  # fmt: skip


@pytest.mark.parametrize("label", SCHEDULES)
def test_rates_are_those_of_torch(label: str) -> None:
    optimizer = make_optimizer()
    tensors = [group["lr"] for group in optimizer.param_groups]
    schedule = make(label, optimizer)
    for step, wanted in enumerate(FIGURES[label]):
        found = rates(optimizer)[: len(wanted)]
        assert found == pytest.approx(wanted, rel=1e-13, abs=1e-15), step
        assert schedule.get_last_lr() == found[:2]
        optimizer.step()
        if step < SCHEDULED:
            optimizing.advance(schedule, step)
    assert all(group["lr"] is x for group, x in zip(optimizer.param_groups, tensors, strict=True))


@pytest.mark.parametrize("label", SCHEDULES)
def test_a_resumed_schedule_is_one_that_never_stopped(label: str) -> None:
    first, second = make_optimizer(), make_optimizer()
    whole, part = make(label, first), make(label, second)
    for step in range(20):
        optimizing.advance(whole, step)
    for step in range(9):
        optimizing.advance(part, step)
    saved = pickle.loads(pickle.dumps([part.state_dict(), second.state_dict()]))
    third = make_optimizer()
    rest = make(label, third)
    rest.load_state_dict(saved[0])
    third.load_state_dict(saved[1])
    for step in range(9, 20):
        optimizing.advance(rest, step)
    assert rates(third) == rates(first) and rest.last_epoch == whole.last_epoch


@pytest.mark.parametrize("label", [label for label in SCHEDULES if label not in HOST])
def test_formulas_read_no_value(label: str, monkeypatch: pytest.MonkeyPatch) -> None:
    optimizer = make_optimizer()
    schedule = make(label, optimizer)
    assert isinstance(schedule, Formula)
    for name in ("item", "tolist", "__float__", "__int__", "__bool__", "__index__"):
        monkeypatch.setattr(ts.Tensor, name, lambda x: pytest.fail("a value was read"))
    for _ in range(5):
        schedule.step()
    monkeypatch.undo()
    assert rates(optimizer)[:2] == pytest.approx(FIGURES[label][5][:2], rel=1e-13)


@pytest.mark.parametrize("label", HOST)
def test_others_say_that_they_read(label: str) -> None:
    schedule = make(label, make_optimizer())
    assert not isinstance(schedule, Formula)
    assert "It reads " in (type(schedule).__doc__ or "")


@pytest.mark.parametrize("label", [
    "StepLR", "MultiStepLR", "ConstantLR long", "LinearLR", "ExponentialLR", "PolynomialLR",
    "CosineAnnealingLR", "Restarts", "Restarts longer", "OneCycleLR",
])  # fmt: skip
def test_a_schedule_can_go_to_any_epoch(label: str) -> None:
    optimizer = make_optimizer()
    schedule = make(label, optimizer)
    for epoch in (7, 3, 12, 0):
        schedule.step(epoch)
        assert rates(optimizer)[:2] == pytest.approx(FIGURES[label][epoch][:2], rel=1e-12)
        assert schedule.last_epoch == epoch


def test_restarts_take_fractions_of_epochs() -> None:
    optimizer = optim.SGD([ts.zeros(1, requires_grad=True)], lr=1.0)
    schedule = lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
    schedule.step(0.5)
    assert schedule.get_last_lr() == [pytest.approx((1 + 0.5**0.5) / 2)]
    schedule.step(2.0)
    assert schedule.get_last_lr() == [1.0] and schedule.last_epoch == 2


def test_a_cycle_gives_an_optimizer_its_momentum() -> None:
    x = ts.zeros(1, requires_grad=True)
    optimizer = optim.SGD([x], lr=0.1)
    lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
    assert optimizer.param_groups[0]["momentum"].item() == pytest.approx(0.95)
    assert "momentum_buffer" in optimizer.state[x]
    adam = optim.Adam([x])
    betas = adam.param_groups[0]["betas"]
    schedule = lr_scheduler.OneCycleLR(adam, max_lr=1.0, total_steps=10)
    schedule.step()
    schedule.step()
    assert adam.param_groups[0]["betas"] is betas
    assert [x.item() for x in betas] == [pytest.approx(0.85), 0.999]


def test_a_cycle_that_is_over_stays_where_it_ended() -> None:
    optimizer = optim.SGD([ts.zeros(1, requires_grad=True)], lr=0.1)
    schedule = lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=5, cycle_momentum=False)
    for _ in range(4):
        schedule.step()
    end = schedule.get_last_lr()
    schedule.step()
    schedule.step()
    assert schedule.get_last_lr() == end == [pytest.approx(1 / 25 / 1e4)]


def test_sequences_with_functions_read_the_epoch() -> None:
    optimizer = optim.SGD([ts.zeros(1, requires_grad=True)], lr=1.0)
    warm = lr_scheduler.LambdaLR(optimizer, lambda epoch: (epoch + 1) / 4)
    decay = lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    schedule = lr_scheduler.SequentialLR(optimizer, [warm, decay], milestones=[4])
    found = []
    for _ in range(7):
        found += schedule.get_last_lr()
        schedule.step()
    assert found == [0.25, 0.5, 0.75, 1.0, 1.0, 0.5, 0.25]


def test_sequences_may_hold_sequences() -> None:
    optimizer = optim.SGD([ts.zeros(1, requires_grad=True)], lr=1.0)
    parts = [lr_scheduler.ConstantLR(optimizer, factor, 100) for factor in (0.5, 0.25, 0.125)]
    inner = lr_scheduler.SequentialLR(optimizer, parts[:2], milestones=[2])
    schedule = lr_scheduler.SequentialLR(optimizer, [inner, parts[2]], milestones=[4])
    found = []
    for _ in range(6):
        found += schedule.get_last_lr()
        schedule.step()
    assert found == [0.5, 0.5, 0.25, 0.25, 0.125, 0.125]


def test_a_schedule_follows_a_rate_that_was_written() -> None:
    optimizer = optim.SGD([ts.zeros(1, requires_grad=True)], lr=1.0)
    schedule = lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    optimizer.param_groups[0]["lr"] = 8.0
    schedule.step()
    assert schedule.get_last_lr() == [4.0]


@pytest.mark.parametrize(
    ("name", "params", "expected"),
    [  # from a rate of 0.5 in epoch 3 on, as PyTorch: the rate in epoch 4, and in epoch 5
        ("StepLR", {"step_size": 2, "gamma": 0.5}, [0.25, 0.25]),
        ("MultiStepLR", {"milestones": [4, 5, 5], "gamma": 0.5}, [0.25, 0.0625]),
        ("ConstantLR", {"factor": 0.5, "total_iters": 4}, [1.0, 1.0]),
        ("LambdaLR", {"lr_lambda": lambda epoch: 1 / (1 + epoch)}, [1 / 5, 1 / 6]),
        ("CosineAnnealingWarmRestarts", {"T_0": 5}, [(1 + math.cos(0.8 * math.pi)) / 2, 1.0]),
        # These leave the rate in the first step.
        ("ExponentialLR", {"gamma": 0.5}, [0.5, 0.25]),
        ("MultiplicativeLR", {"lr_lambda": lambda epoch: 0.5}, [0.5, 0.25]),
        ("LinearLR", {"start_factor": 0.5, "total_iters": 5}, [0.5, 0.5 / 0.9]),
        ("PolynomialLR", {"total_iters": 6}, [0.5, 0.25]),
        ("CosineAnnealingLR", {"T_max": 5}, [0.5, 0.0]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_schedule_may_be_made_to_go_on(name: str, params: Any, expected: list[float]) -> None:
    optimizer = optim.SGD([ts.zeros(1, requires_grad=True)], lr=0.5)
    optimizer.param_groups[0]["initial_lr"] = 1.0
    schedule = getattr(lr_scheduler, name)(optimizer, **params, last_epoch=3)
    assert schedule.last_epoch == 4
    found = schedule.get_last_lr()
    schedule.step()
    assert found + schedule.get_last_lr() == pytest.approx(expected)


def test_a_cycle_goes_on_at_the_rate_of_its_epoch() -> None:
    def ahead(steps: int) -> tuple[optim.SGD, lr_scheduler.OneCycleLR]:
        optimizer = optim.SGD([ts.zeros(1, requires_grad=True)], lr=0.5, momentum=0.9)
        schedule = lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
        for _ in range(steps):
            schedule.step()
        return optimizer, schedule

    optimizer, _ = ahead(3)
    schedule = lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10, last_epoch=3)
    assert schedule.get_last_lr() == ahead(4)[1].get_last_lr()
    assert optimizer.param_groups[0]["momentum"].item() == (
        ahead(4)[0].param_groups[0]["momentum"].item()
    )


def test_a_plateau_of_tensors_and_of_groups_that_were_added() -> None:
    optimizer = optim.SGD([ts.zeros(1, requires_grad=True)], lr=1.0)
    schedule = lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0)
    optimizer.add_param_group({"params": ts.zeros(1, requires_grad=True)})
    for _ in range(2):
        schedule.step(ts.tensor(1.0))
    assert schedule.get_last_lr() == [0.5, 0.5]


def test_schedules_stand_under_torchs_names() -> None:
    from tessella.optim.lr_scheduler import StepLR

    assert optim.lr_scheduler.StepLR is StepLR
    assert {type(make(label, make_optimizer())).__name__ for label in SCHEDULES} | {
        "LRScheduler"
    } == set(lr_scheduler.__all__)


def sgd() -> optim.SGD:
    """Make an optimizer."""
    return optim.SGD([ts.zeros(1, requires_grad=True)], lr=1.0)


OTHER = sgd()
REFUSED: dict[str, tuple[Any, str]] = {
    "optimizer": (lambda: lr_scheduler.StepLR(3, 1), "optimizer must be an optimizer, got int"),  # type: ignore[arg-type]
    "size": (lambda: lr_scheduler.StepLR(sgd(), 0), "step_size is 0"),
    "gamma": (lambda: lr_scheduler.StepLR(sgd(), 1, "x"), "gamma must be a real number"),  # type: ignore[arg-type]
    "factor": (lambda: lr_scheduler.ConstantLR(sgd(), factor=2.0), "factor is 2.0"),
    "start": (lambda: lr_scheduler.LinearLR(sgd(), start_factor=0), "start_factor is 0"),
    "end": (lambda: lr_scheduler.LinearLR(sgd(), end_factor=2.0), "end_factor is 2.0"),
    "iters": (lambda: lr_scheduler.PolynomialLR(sgd(), total_iters=0), "total_iters is 0"),
    "T_max": (lambda: lr_scheduler.CosineAnnealingLR(sgd(), T_max=0), "T_max is 0"),
    "T_0": (lambda: lr_scheduler.CosineAnnealingWarmRestarts(sgd(), T_0=-1), "T_0 is -1"),
    "epoch": (lambda: lr_scheduler.CosineAnnealingWarmRestarts(sgd(), T_0=1).step(-1.0),
              "epoch is -1"),
    "step": (lambda: lr_scheduler.StepLR(sgd(), 1).step(-3), "epoch is -3"),
    "length": (lambda: lr_scheduler.OneCycleLR(sgd(), 1.0), "neither total_steps nor epochs"),
    "pct": (lambda: lr_scheduler.OneCycleLR(sgd(), 1.0, 10, pct_start=2.0), "pct_start is 2.0"),
    "strategy": (lambda: lr_scheduler.OneCycleLR(sgd(), 1.0, 10, anneal_strategy="x"),
                 "anneal_strategy is 'x'"),
    "rates": (lambda: lr_scheduler.OneCycleLR(sgd(), [1.0, 2.0], 10),
              "max_lr has 2 values for 1 parameter groups"),
    "momentum": (lambda: lr_scheduler.OneCycleLR(
        optim.Adagrad([ts.zeros(1, requires_grad=True)]), 1.0, 10), "Adagrad has neither momentum"),
    "resume": (lambda: lr_scheduler.StepLR(sgd(), 1, last_epoch=3),
               "group 0 has no 'initial_lr', and last_epoch is given"),
    "chained": (lambda: lr_scheduler.SequentialLR(OTHER, [
        lr_scheduler.ChainedScheduler([lr_scheduler.StepLR(OTHER, 1)]),
        lr_scheduler.StepLR(OTHER, 1)], [2]),
        r"schedulers\[0\] must be a schedule that can begin at a milestone"),
    "sequence": (lambda: lr_scheduler.SequentialLR(OTHER, [
        lr_scheduler.SequentialLR(OTHER, [lr_scheduler.LambdaLR(OTHER, float)], []),
        lr_scheduler.StepLR(OTHER, 1)], [2]),
        r"schedulers\[0\] must be a schedule that can begin at a milestone"),
    "lambdas": (lambda: lr_scheduler.LambdaLR(sgd(), [abs, abs]), "lr_lambda has 2 values for 1"),
    "lambda": (lambda: lr_scheduler.LambdaLR(sgd(), 3), "lr_lambda must be a function"),  # type: ignore[arg-type]
    "mode": (lambda: lr_scheduler.ReduceLROnPlateau(sgd(), mode="x"), "mode is 'x'"),
    "plateau": (lambda: lr_scheduler.ReduceLROnPlateau(sgd(), factor=1.0), "factor is 1.0"),
    "min": (lambda: lr_scheduler.ReduceLROnPlateau(sgd(), min_lr=[1, 2]), "min_lr has 2 values"),
    "metric": (lambda: lr_scheduler.ReduceLROnPlateau(sgd()).step("x"), "metrics must be a real"),  # type: ignore[arg-type]
    "parts": (lambda: lr_scheduler.SequentialLR(sgd(), [], []), "schedulers is []"),
    "part": (lambda: lr_scheduler.SequentialLR(OTHER, [lr_scheduler.ReduceLROnPlateau(OTHER)], []),
             r"schedulers\[0\] must be a schedule of the epoch alone"),
    "others": (lambda: lr_scheduler.SequentialLR(sgd(), [lr_scheduler.StepLR(sgd(), 1)], []),
               r"schedulers\[0\] belongs to another optimizer"),
    "milestones": (lambda: lr_scheduler.SequentialLR(
        OTHER, [lr_scheduler.StepLR(OTHER, 1)], [1]), r"milestones is \[1\]"),
    "order": (lambda: lr_scheduler.SequentialLR(
        OTHER, [lr_scheduler.StepLR(OTHER, 1)] * 3, [4, 2]), r"milestones is \[4, 2\]"),
    "steps": (lambda: lr_scheduler.MultiStepLR(sgd(), 3),  # type: ignore[arg-type]
              "milestones must be a list of epochs, got int"),
    "chain": (lambda: lr_scheduler.ChainedScheduler(sgd()),  # type: ignore[arg-type]
              "schedulers must be a list of schedules, got tessella.optim.sgd.SGD"),
    "factor of": (lambda: lr_scheduler.LambdaLR(sgd(), lambda epoch: "x"),  # type: ignore[arg-type, return-value]
                  r"lr_lambda\(0\) must be a real number, got str"),
    "divisor": (lambda: lr_scheduler.OneCycleLR(sgd(), 1.0, 10, div_factor=0), "div_factor is 0"),
    "kind": (lambda: lr_scheduler.StepLR(sgd(), 1).load_state_dict({"last_epoch": 1, "gamma": "x"}),
             "gamma must be a real number, got str"),
    "zero": (lambda: lr_scheduler.CosineAnnealingLR(sgd(), 3).load_state_dict(
        {"last_epoch": 1, "T_max": 0}), "T_max is 0"),
    "bases": (lambda: lr_scheduler.StepLR(sgd(), 1).load_state_dict(
        {"last_epoch": 1, "base_lrs": []}), r"len\(base_lrs\) is 0"),
    "state": (lambda: lr_scheduler.StepLR(sgd(), 1).load_state_dict({}), "state_dict is not that"),
}  # fmt: skip


@pytest.mark.parametrize("label", REFUSED)
def test_wrong_arguments_are_refused(label: str) -> None:
    call, match = REFUSED[label]
    with pytest.raises(ts.errors.TessellaError, match=match.replace("[]", r"\[\]")) as caught:
        call()
    first, *rest = str(caught.value).splitlines()
    assert first.split(":")[0].split(".")[0] in lr_scheduler.__all__
    assert any(line.startswith("  at test_schedules.py:") for line in rest)
    assert any(line.startswith("  hint: ") and len(line) > 12 for line in rest)


def test_a_step_that_fails_changes_nothing() -> None:
    class Odd(lr_scheduler.LRScheduler):
        def get_lr(self) -> list[Any]:
            return [0.5] if self.last_epoch < 1 else [0.5, 0.5]

    schedule = Odd(sgd())
    with pytest.raises(ValueError, match=r"Odd.step: get_lr\(\) has 2 values for 1 parameter"):
        schedule.step()
    assert schedule.last_epoch == 0 and schedule.get_last_lr() == [0.5]


def test_a_state_whose_last_part_is_wrong_changes_no_part() -> None:
    optimizer = sgd()
    parts = [lr_scheduler.StepLR(optimizer, 2), lr_scheduler.ExponentialLR(optimizer, 0.5)]
    schedule = lr_scheduler.ChainedScheduler(parts)
    saved = schedule.state_dict()
    saved["_schedulers"] = [{"last_epoch": 7}, {"last_epoch": "x"}]
    with pytest.raises(TypeError, match=r"ChainedScheduler.load_state_dict: last_epoch must be"):
        schedule.load_state_dict(saved)
    assert [part.last_epoch for part in parts] == [0, 0]


def test_a_group_that_came_later_has_no_rate_to_begin_with() -> None:
    optimizer = sgd()
    schedule = lr_scheduler.CosineAnnealingLR(optimizer, T_max=3)
    optimizer.add_param_group({"params": [ts.zeros(1, requires_grad=True)]})
    with pytest.raises(ValueError, match="group 1 was added after the schedule was made"):
        schedule.step()
    assert schedule.last_epoch == 0


class Counting(lr_scheduler.LRScheduler):
    """A user's schedule, with what it keeps itself."""

    def __init__(self, optimizer: Any) -> None:
        self.seen: list[float] = []
        self.table: dict[str, Any] = {"calls": 0, "best": None}
        self.function: Callable[[], int] = lambda: 3  # not saved, as it is no plain value
        super().__init__(optimizer)

    def get_lr(self) -> list[float]:
        self.seen.append(float(self.last_epoch))
        self.table["calls"] += 1
        return [1 / (1 + self.table["calls"])] * len(self.optimizer.param_groups)


def test_what_a_users_schedule_keeps_is_saved_and_loaded(tmp_path: Path) -> None:
    first, second = Counting(sgd()), Counting(sgd())
    for _ in range(3):
        first.step()
    ts.save(first.state_dict(), tmp_path / "schedule")
    saved: Any = ts.load(tmp_path / "schedule")
    assert "function" not in saved and "optimizer" not in saved
    before = saved["table"]["calls"]
    second.load_state_dict(saved)
    assert second.seen == [0.0, 1.0, 2.0, 3.0] and second.table == {"calls": 4, "best": None}
    assert second.function() == 3
    first.step()
    second.step()
    assert first.get_last_lr() == second.get_last_lr() == [1 / 6]
    assert saved["table"]["calls"] == before, "what is saved is a copy"
    with pytest.raises(TypeError, match="last_epoch must be an integer"):
        second.load_state_dict({**saved, "last_epoch": "x"})
    assert second.table["calls"] == 5


class Factor:
    """A callable object, with a state."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, epoch: int) -> float:
        self.calls += 1
        return 1 / self.calls


@pytest.mark.parametrize("kind", [lr_scheduler.LambdaLR, lr_scheduler.MultiplicativeLR])
def test_what_callable_objects_hold_is_saved_and_loaded(kind: Any) -> None:
    first, second = Factor(), Factor()
    schedule = kind(make_optimizer(), [first, math.cos])
    for _ in range(3):
        schedule.step()
    saved = pickle.loads(pickle.dumps(schedule.state_dict()))
    assert saved["lr_lambdas"] == [{"calls": first.calls}, None]
    other = kind(make_optimizer(), [second, math.cos])
    calls = second.calls
    for wrong in (3, [None], [3, None], [None, {"calls": 3}]):
        with pytest.raises(TypeError, match="state_dict is not that of such a schedule"):
            other.load_state_dict({**saved, "lr_lambdas": wrong})
        assert second.calls == calls and other.last_epoch == 0
    other.load_state_dict(saved)
    assert second.calls == first.calls and other.last_epoch == 3
    other.load_state_dict({"last_epoch": 1})
    assert other.last_epoch == 1


@pytest.mark.parametrize("is_chained", [True, False])
def test_a_step_of_which_a_part_fails_changes_no_part(is_chained: bool) -> None:
    optimizer = sgd()
    factor = Factor()

    def failing(epoch: int) -> float:
        if epoch == 2:
            raise RuntimeError("not today")
        return 1.0

    first = lr_scheduler.ExponentialLR(optimizer, 0.5)
    middle = lr_scheduler.LambdaLR(optimizer, factor)
    last = lr_scheduler.LambdaLR(optimizer, failing)
    parts: list[Any] = [first, middle, last] if is_chained else [first, last]
    schedule: Any = (
        lr_scheduler.ChainedScheduler(parts) if is_chained
        else lr_scheduler.SequentialLR(optimizer, parts, [1])
    )  # fmt: skip
    for _ in range(1 if is_chained else 2):
        schedule.step()
    rate, saved = schedule.get_last_lr(), schedule.state_dict()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="not today"):
            schedule.step()
        assert schedule.get_last_lr() == rate and schedule.state_dict() == saved


def test_a_chain_that_knows_too_few_groups_changes_no_part() -> None:
    optimizer = sgd()
    schedule = lr_scheduler.ChainedScheduler(
        [lr_scheduler.ExponentialLR(optimizer, 0.5), lr_scheduler.CosineAnnealingLR(optimizer, 9)]
    )
    optimizer.add_param_group({"params": [ts.zeros(1, requires_grad=True)]})
    before = schedule.state_dict()
    with pytest.raises(ValueError, match="group 1 was added after the schedule was made"):
        schedule.step()
    assert schedule.state_dict() == before
