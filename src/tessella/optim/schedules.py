"""Schedules of learning rates: those that change it by a factor, at steps that are known.

A schedule has its epoch as a 0-d tensor and writes into the tensors of the parameter groups. A
`Formula` computes what it writes by tensor operations alone, so that it may stand inside a compiled
step. The others read numbers and call Python code: optim/host_schedules.py. As PyTorch's, most
formulas make the next rate of the present one, so that schedules work together.
"""

from __future__ import annotations

from copy import deepcopy

from tessella import _core, changes, errors, optimizer_errors
from tessella._core import Tensor
from tessella.arguments import LISTS, NUMBERS, to_count, to_float, to_int, to_list, to_number
from tessella.dtypes import float64
from tessella.hints import Any, Iterable, Mapping, Sequence, StateDict
from tessella.kinds import cast
from tessella.ops.elementwise import minimum, pow, where
from tessella.ops.reduce import count_nonzero
from tessella.optim.groups import check_fit, count, placed, write
from tessella.optim.optimizer import Optimizer, explained
from tessella.sizes import described
from tessella.tensors import tensor

Writes = list[tuple[Tensor, Tensor]]  # tensors, and what is to be written into them


def check_optimizer(value: Any) -> Optimizer:
    """Require an optimizer."""
    if not isinstance(value, Optimizer):
        raise optimizer_errors.not_optimizer(value)
    return value


def to_alike(name: str, value: Any, held: Any) -> Any:
    """Check a value of a saved state: a number, numbers or a word, if what it replaces is one."""
    if isinstance(held, LISTS) and all(isinstance(each, int | float) for each in held):
        listed = to_list(name, value, "a list of numbers")
        for each in listed:
            to_float(name, each)
        if name == "milestones":
            return value  # their number may be another one
        if len(listed) != len(held):
            raise errors.wrong_value(f"len({name})", len(listed), f"{len(held)}")
        return listed
    if isinstance(held, str | bool):
        if type(value) is not type(held):
            raise errors.wrong_type(name, value, f"a {type(held).__name__}")
        return value
    if isinstance(held, int | float):
        number = to_float(name, value)
        return value if isinstance(value, int) else number
    return value  # of a user's schedule


def is_plain(value: Any) -> bool:
    """Tell whether a value can be saved: numbers, texts and None, in lists, tuples and dicts."""
    if type(value) is dict:
        value = [*value, *value.values()]
    if type(value) in LISTS:
        return all(map(is_plain, value))
    return value is None or type(to_number(value)) in (*NUMBERS, str, bytes)


def refuse_inside(what: str) -> None:
    """Refuse to be part of a compiled function: of a schedule that reads something in Python."""
    _core.refuse_capture(
        f"a schedule that reads {what}", "call schedule.step() outside, after the compiled step"
    )


class LRScheduler(changes.Counted):
    """What all schedules share. One that users write overrides `get_lr`.

    It sets the rates of `optimizer`. `last_epoch` is -1 for one that begins; one that goes on is
    given its last epoch, and finds an "initial_lr" in each group.

    >>> class Halving(ts.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [base * 0.5 ** self.last_epoch for base in self.base_lrs]
    >>> optimizer = ts.optim.SGD([ts.ones(2, requires_grad=True)], lr=0.1)
    >>> schedule = Halving(optimizer)
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.05]
    """

    saved: tuple[str, ...] = ()  # attributes that belong to its state
    divisors: tuple[str, ...] = ()  # those of them that are divided by
    resumes_with_rate = False  # whether the first step of one that goes on leaves the rate

    @explained
    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = check_optimizer(optimizer)
        last = to_count("last_epoch", last_epoch, -1)
        for i, group in enumerate(optimizer.param_groups):
            if last == -1:
                group.setdefault("initial_lr", group["lr"].item())
            elif "initial_lr" not in group:
                raise optimizer_errors.no_initial_rate(i)
        begun: list[Any] = [group["initial_lr"] for group in optimizer.param_groups]
        self.base_lrs: list[float] = begun
        self._epoch = count(last)
        self._begin(last == -1)

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute; a change is what formulas read, not what a user's steps count."""
        if name in ("base_lrs", "optimizer", *self.saved):
            super().__setattr__(name, value)
        else:
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        """Show what it was made with; the epoch is a value, which a compiled step does not read."""
        from inspect import signature  # slow to load

        given = [name for name in signature(type(self).__init__).parameters if name in self.saved]
        return described(self, **{name: getattr(self, name) for name in given})

    @property
    def last_epoch(self) -> int:
        """The epoch, read from its tensor."""
        return int(self._epoch.item())

    @last_epoch.setter
    def last_epoch(self, epoch: int) -> None:
        write(self._epoch, to_int("last_epoch", epoch))

    def _begin(self, is_new: bool) -> None:
        """Make the first step; as in PyTorch some that go on find the rate of its epoch there."""
        if is_new or not self.resumes_with_rate:
            self.step()
        else:
            self.last_epoch += 1

    def get_lr(self) -> Sequence[float | Tensor]:
        """Give the rate of each group at `last_epoch`: numbers or 0-d tensors."""
        raise NotImplementedError("a schedule has a formula, or a get_lr of its own")

    @explained
    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch, or to a given one; where a user's get_lr fails, nothing changes."""
        refuse_inside("the epoch")
        before, groups = self.last_epoch, self.optimizer.param_groups
        self.last_epoch = before + 1 if epoch is None else to_count("epoch", epoch, 0)
        try:
            rates = to_list("get_lr()", self.get_lr(), "a list of learning rates")
            if len(rates) != len(groups):
                raise optimizer_errors.list_for_groups("get_lr()", len(rates), len(groups))
            for group, rate in zip(groups, rates, strict=True):
                check_fit("get_lr()", group["lr"], rate)
        except BaseException:
            self.last_epoch = before
            raise
        for group, rate in zip(groups, rates, strict=True):
            group["lr"] = rate

    def get_last_lr(self) -> list[float]:
        """Read the learning rate of each group."""
        return [group["lr"].item() for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, object]:
        """Give what the schedule depends on, as numbers; the rates are the optimizer's state."""
        return {
            "base_lrs": list(self.base_lrs),
            "last_epoch": self.last_epoch,
            "_last_lr": self.get_last_lr(),
            **{name: getattr(self, name) for name in self.saved},
            **self.own(vars(self)),
        }

    def own(self, attributes: Mapping[str, object]) -> dict[str, object]:
        """Copy those of some attributes that a user's class has beside the library's, if plain."""
        if type(self).__module__.startswith("tessella."):
            return {}
        known = ("base_lrs", "last_epoch", "_last_lr", *self.saved)
        return {
            name: deepcopy(value)
            for name, value in attributes.items()
            if name not in known and is_plain(value) and is_plain(vars(self).get(name))
        }

    @explained
    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take over what `state_dict` gave; if it fails nothing has changed."""
        self.check_state(state_dict)
        checked: Any = state_dict
        self.take_state(checked)

    def check_state(self, state_dict: object) -> None:
        """Require the state of such a schedule: values of the kinds that it has."""
        if not isinstance(state_dict, dict) or "last_epoch" not in state_dict:
            raise optimizer_errors.not_schedule(state_dict)
        to_count("last_epoch", state_dict["last_epoch"], -1)
        for name in ("base_lrs", *self.saved):
            if name in state_dict:
                value = to_alike(name, state_dict[name], getattr(self, name))
                if name in self.divisors and not abs(value) > 0:  # NaN is no number either
                    raise errors.wrong_value(name, value, "a number other than 0")

    def take_state(self, state_dict: Mapping[str, object]) -> None:
        """Take a state over that was checked."""
        for name in ("base_lrs", *self.saved):
            if name in state_dict:
                setattr(self, name, to_alike(name, state_dict[name], getattr(self, name)))
        vars(self).update(self.own(state_dict))
        epoch: Any = state_dict["last_epoch"]
        self.last_epoch = epoch


class Formula(LRScheduler):
    """A schedule whose rates are computed from the epoch by tensor operations."""

    def base(self, i: int) -> float:
        """Give the rate that a group began with; groups that came later have none."""
        if i >= len(self.base_lrs):
            raise optimizer_errors.later_group(i, len(self.base_lrs))
        return self.base_lrs[i]

    def rate(self, i: int, lr: Tensor, epoch: Tensor) -> Tensor:
        """Give the rate of the i-th group, of the one before; the epoch is a float64."""
        raise NotImplementedError(type(self).__name__)

    def rate_at(self, i: int, lr: Tensor, epoch: Tensor) -> Tensor:
        """Give the rate at an epoch that does not follow the one before."""
        return self.rate(i, lr, epoch)

    def writes(self, epoch: Tensor, follows: bool = True) -> Writes:
        """Give all that changes when the epoch, an int64, is reached; nothing is written."""
        rate = self.rate if follows else self.rate_at
        at = cast(epoch, float64)
        groups = enumerate(self.optimizer.param_groups)
        return [(self._epoch, epoch),
                *((group["lr"], rate(i, group["lr"], at)) for i, group in groups)]  # fmt: skip

    @explained
    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch, or to a given one."""
        follows = epoch is None
        now = self._epoch + 1 if epoch is None else count(to_count("epoch", epoch, 0))
        for target, value in self.writes(now, follows):
            write(target, value)

    def get_lr(self) -> list[float]:
        """Read the learning rate of each group."""
        return self.get_last_lr()


class StepLR(Formula):
    """A factor `gamma` every `step_size` epochs.

    >>> optimizer = ts.optim.SGD([ts.ones(2, requires_grad=True)], lr=0.5)
    >>> schedule = ts.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> for _ in range(2):
    ...     schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    saved = ("step_size", "gamma")
    divisors = ("step_size",)

    @explained
    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = to_count("step_size", step_size)
        self.gamma = to_float("gamma", gamma)
        super().__init__(optimizer, last_epoch)

    def rate(self, i: int, lr: Tensor, epoch: Tensor) -> Tensor:
        """Multiply where an interval ends."""
        ends = (epoch > 0) & (epoch % self.step_size == 0)
        return where(ends, lr * self.gamma, lr)

    def rate_at(self, i: int, lr: Tensor, epoch: Tensor) -> Tensor:
        """Multiply as often as intervals have ended."""
        return self.base(i) * pow(self.gamma, epoch // self.step_size)


class MultiStepLR(Formula):
    """A factor `gamma` at each of the `milestones`; an epoch that is there twice counts twice.

    >>> optimizer = ts.optim.SGD([ts.ones(2, requires_grad=True)], lr=0.5)
    >>> schedule = ts.optim.lr_scheduler.MultiStepLR(optimizer, [1, 3], gamma=0.5)
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    saved = ("milestones", "gamma")

    @explained
    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = sorted(
            to_count("milestones", each, 0)
            for each in to_list("milestones", milestones, "a list of epochs")
        )
        self.gamma = to_float("gamma", gamma)
        super().__init__(optimizer, last_epoch)

    @property
    def milestones(self) -> list[int]:
        """The epochs at which the rate changes."""
        return self._milestones

    @milestones.setter
    def milestones(self, epochs: Iterable[int]) -> None:
        # PyTorch keeps a Counter of them.
        self._milestones = sorted(getattr(epochs, "elements", lambda: epochs)())
        with placed():
            self._places = tensor([float(each) for each in self._milestones], dtype=float64)

    def rate(self, i: int, lr: Tensor, epoch: Tensor) -> Tensor:
        """Multiply as often as the epoch is named."""
        return lr * self._factor(self._places == epoch)

    def rate_at(self, i: int, lr: Tensor, epoch: Tensor) -> Tensor:
        """Multiply for each epoch that has passed."""
        return self.base(i) * self._factor(self._places <= epoch)

    def _factor(self, marked: Tensor) -> Tensor:
        return pow(self.gamma, cast(count_nonzero(marked), float64))


class ConstantLR(Formula):
    """The rate times `factor`, until `total_iters` epochs have passed.

    >>> optimizer = ts.optim.SGD([ts.ones(2, requires_grad=True)], lr=0.5)
    >>> schedule = ts.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=1)
    >>> first = schedule.get_last_lr()
    >>> schedule.step()
    >>> first, schedule.get_last_lr()
    ([0.25], [0.5])
    """

    saved = ("factor", "total_iters")
    divisors = ("factor",)

    @explained
    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < to_float("factor", factor) <= 1:
            raise errors.wrong_value("factor", factor, "above 0 and at most 1")
        self.factor, self.total_iters = float(factor), to_count("total_iters", total_iters, 0)
        super().__init__(optimizer, last_epoch)

    def rate(self, i: int, lr: Tensor, epoch: Tensor) -> Tensor:
        """Multiply at the start, and undo it at the end."""
        at_end = where(epoch == self.total_iters, lr * (1.0 / self.factor), lr)
        return where(epoch == 0, lr * self.factor, at_end)

    def rate_at(self, i: int, lr: Tensor, epoch: Tensor) -> Tensor:
        """Tell by the epoch."""
        factor = where(epoch >= self.total_iters, epoch * 0 + 1, self.factor)
        return self.base(i) * factor


class LinearLR(Formula):
    """From `start_factor` to `end_factor` times the rate, in `total_iters` equal steps.

    >>> optimizer = ts.optim.SGD([ts.ones(2, requires_grad=True)], lr=0.5)
    >>> schedule = ts.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.375]
    """

    resumes_with_rate = True
    saved = ("start_factor", "end_factor", "total_iters")
    divisors = ("start_factor", "total_iters")

    @explained
    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < to_float("start_factor", start_factor) <= 1:
            raise errors.wrong_value("start_factor", start_factor, "above 0 and at most 1")
        if not 0 <= to_float("end_factor", end_factor) <= 1:
            raise errors.wrong_value("end_factor", end_factor, "from 0 to 1")
        self.start_factor, self.end_factor = float(start_factor), float(end_factor)
        self.total_iters = to_count("total_iters", total_iters)
        super().__init__(optimizer, last_epoch)

    def rate(self, i: int, lr: Tensor, epoch: Tensor) -> Tensor:
        """Multiply by the quotient of this factor and the one before."""
        rise = self.end_factor - self.start_factor
        before = minimum(epoch, float(self.total_iters)) - 1
        factor = 1.0 + rise / (self.total_iters * self.start_factor + before * rise)
        later = where(epoch > self.total_iters, lr, lr * factor)
        return where(epoch == 0, lr * self.start_factor, later)

    def rate_at(self, i: int, lr: Tensor, epoch: Tensor) -> Tensor:
        """Tell by the epoch."""
        part = minimum(epoch, float(self.total_iters)) / self.total_iters
        return self.base(i) * (self.start_factor + (self.end_factor - self.start_factor) * part)


class ExponentialLR(Formula):
    """A factor `gamma` in every epoch.

    >>> optimizer = ts.optim.SGD([ts.ones(2, requires_grad=True)], lr=0.5)
    >>> schedule = ts.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    resumes_with_rate = True
    saved = ("gamma",)

    @explained
    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = to_float("gamma", gamma)
        super().__init__(optimizer, last_epoch)

    def rate(self, i: int, lr: Tensor, epoch: Tensor) -> Tensor:
        """Multiply after the first epoch."""
        return where(epoch == 0, lr, lr * self.gamma)

    def rate_at(self, i: int, lr: Tensor, epoch: Tensor) -> Tensor:
        """Multiply as often as there were epochs."""
        return self.base(i) * pow(self.gamma, epoch)


class PolynomialLR(Formula):
    """Down to 0 in `total_iters` epochs, as a power of the part that is left.

    >>> optimizer = ts.optim.SGD([ts.ones(2, requires_grad=True)], lr=0.5)
    >>> schedule = ts.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=2, power=2.0)
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.125]
    """

    resumes_with_rate = True
    saved = ("total_iters", "power")
    divisors = ("total_iters",)

    @explained
    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters = to_count("total_iters", total_iters)
        self.power = to_float("power", power)
        super().__init__(optimizer, last_epoch)

    def rate(self, i: int, lr: Tensor, epoch: Tensor) -> Tensor:
        """Multiply by the quotient of this part and the one before."""
        now = minimum(epoch, float(self.total_iters))
        left, left_before = 1 - now / self.total_iters, 1 - (now - 1) / self.total_iters
        moved = lr * pow(left / left_before, self.power)
        return where((epoch == 0) | (epoch > self.total_iters), lr, moved)

    def rate_at(self, i: int, lr: Tensor, epoch: Tensor) -> Tensor:
        """Tell by the epoch."""
        left = 1 - minimum(epoch, float(self.total_iters)) / self.total_iters
        return self.base(i) * pow(left, self.power)
