"""Schedules that read numbers and call Python code: they stand outside a compiled step."""

from __future__ import annotations

import math
from copy import deepcopy
from types import FunctionType

from tessella import errors, optimizer_errors
from tessella._core import Tensor
from tessella.arguments import LISTS, to_count, to_float, to_word
from tessella.hints import Any, Callable, Mapping, Sequence
from tessella.optim.groups import count
from tessella.optim.optimizer import Optimizer, explained
from tessella.optim.schedules import LRScheduler, check_optimizer, is_plain, refuse_inside


def to_factor(function: Callable[[int], Any], epoch: int) -> float:
    """Call a function of the epoch, which gives a number."""
    return to_float(f"lr_lambda({epoch})", function(epoch))


def held_by(function: Any) -> dict[str, object] | None:
    """Copy the plain attributes of a callable object; None of a function, which is not saved."""
    if isinstance(function, FunctionType | type) or not hasattr(function, "__dict__"):
        return None
    return {name: deepcopy(value) for name, value in vars(function).items() if is_plain(value)}


class LambdaLR(LRScheduler):
    """The rate at first, times what `lr_lambda` gives for the epoch. It reads the epoch.

    `lr_lambda` is a function, or a list of one for each group.

    >>> optimizer = ts.optim.SGD([ts.ones(2, requires_grad=True)], lr=0.5)
    >>> schedule = ts.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    @explained
    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        groups = len(check_optimizer(optimizer).param_groups)
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, LISTS) else [lr_lambda] * groups
        if len(self.lr_lambdas) != groups:
            raise optimizer_errors.list_for_groups("lr_lambda", len(self.lr_lambdas), groups)
        for each in self.lr_lambdas:
            if not callable(each):
                raise errors.wrong_type("lr_lambda", each, "a function of the epoch")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Call the functions."""
        epoch = self.last_epoch
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [base * to_factor(factor, epoch) for base, factor in pairs]

    def state_dict(self) -> dict[str, object]:
        """Give what callable objects hold, too."""
        return {**super().state_dict(), "lr_lambdas": [held_by(each) for each in self.lr_lambdas]}

    def check_state(self, state_dict: object) -> None:
        """Require as many callable objects."""
        super().check_state(state_dict)
        checked: Any = state_dict
        states = checked.get("lr_lambdas", [None] * len(self.lr_lambdas))
        if not isinstance(states, list) or len(states) != len(self.lr_lambdas):
            raise optimizer_errors.not_schedule(state_dict)
        for function, state in zip(self.lr_lambdas, states, strict=True):
            if state and not (isinstance(state, dict) and held_by(function) is not None):
                raise optimizer_errors.not_schedule(state_dict)

    def take_state(self, state_dict: Mapping[str, object]) -> None:
        """Take over what callable objects held."""
        states: Any = state_dict.get("lr_lambdas", ())
        for function, state in zip(self.lr_lambdas, states, strict=False):
            if state:
                vars(function).update(state)
        super().take_state(state_dict)


class MultiplicativeLR(LambdaLR):
    """The rate, times what `lr_lambda` gives for each epoch after the first. It reads both.

    >>> optimizer = ts.optim.SGD([ts.ones(2, requires_grad=True)], lr=0.5)
    >>> schedule = ts.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    resumes_with_rate = True

    def get_lr(self) -> list[float]:
        """Call the functions."""
        epoch = self.last_epoch
        pairs = zip(self.get_last_lr(), self.lr_lambdas, strict=True)
        return [lr * to_factor(factor, epoch) if epoch > 0 else lr for lr, factor in pairs]


class ReduceLROnPlateau(LRScheduler):
    """A factor once a number, such as the loss, has stopped to improve. It reads the number.

    It improves where it is smaller (`mode` "min") or greater ("max") than the best by more than
    `threshold`: by that part of the best (`threshold_mode` "rel"), or by that number ("abs"). After
    more than `patience` epochs without, rates are multiplied by `factor`, down to `min_lr`, unless
    that changes them by `eps` or less; the `cooldown` epochs after that do not count.

    >>> optimizer = ts.optim.SGD([ts.ones(2, requires_grad=True)], lr=0.5)
    >>> schedule = ts.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    >>> for loss in (1.0, 1.0, 1.0):
    ...     schedule.step(loss)
    >>> schedule.get_last_lr()
    [0.25]
    """

    saved = (
        "factor", "min_lrs", "patience", "cooldown", "cooldown_counter", "eps", "mode",
        "threshold", "threshold_mode", "best", "num_bad_epochs",
    )  # fmt: skip

    @explained
    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | Sequence[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        self.optimizer = check_optimizer(optimizer)
        if not to_float("factor", factor) < 1:
            raise errors.wrong_value("factor", factor, "below 1")
        self.mode = to_word("mode", mode, ["min", "max"])
        self.threshold_mode = to_word("threshold_mode", threshold_mode, ["rel", "abs"])
        self.factor, self.threshold = float(factor), to_float("threshold", threshold)
        self.patience = to_count("patience", patience, 0)
        self.cooldown = to_count("cooldown", cooldown, 0)
        self.eps = to_float("eps", eps)
        groups = len(optimizer.param_groups)
        given = list(min_lr) if isinstance(min_lr, LISTS) else [min_lr] * groups
        if len(given) != groups:
            raise optimizer_errors.list_for_groups("min_lr", len(given), groups)
        self.min_lrs = [to_float("min_lr", each) for each in given]
        self.base_lrs = self.get_last_lr()
        self._epoch = count(0)
        self.best = math.inf if mode == "min" else -math.inf
        self.cooldown_counter = self.num_bad_epochs = 0

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute: steps count, and are no part of compiled functions."""
        object.__setattr__(self, name, value)

    @explained
    def step(  # type: ignore[override]  # as PyTorch's
        self, metrics: float | Tensor, epoch: int | None = None
    ) -> None:
        """Look at the number of an epoch."""
        refuse_inside("its number")
        current = to_float("metrics", metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else to_count("epoch", epoch, 0)
        if self.is_better(current):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0

    def is_better(self, current: float) -> bool:
        """Tell whether a number is better than the best by more than the threshold."""
        sign = 1 if self.mode == "max" else -1
        margin = self.threshold
        if self.threshold_mode == "rel":
            return sign * current > sign * self.best * (1 + sign * margin)
        return sign * current > sign * self.best + margin

    def _reduce(self) -> None:
        groups = self.optimizer.param_groups
        if len(self.min_lrs) != len(groups):  # some were added
            self.min_lrs += self.min_lrs[-1:] * (len(groups) - len(self.min_lrs))
        for group, least in zip(groups, self.min_lrs, strict=True):
            before = group["lr"].item()
            rate = max(before * self.factor, least)
            if before - rate > self.eps:
                group["lr"] = rate
