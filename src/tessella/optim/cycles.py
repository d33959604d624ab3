"""Schedules along cosines: annealing, with and without restarts, and one cycle up and down."""

from __future__ import annotations

import math

from tessella import errors, optimizer_errors
from tessella._core import Tensor
from tessella.arguments import LISTS, to_bool, to_count, to_float, to_word
from tessella.dtypes import float64
from tessella.hints import Any, Mapping, Sequence
from tessella.kinds import cast
from tessella.ops.elementwise import cos, maximum, minimum, where
from tessella.ops.reduce import max as greatest
from tessella.optim.groups import placed, scalar, write
from tessella.optim.optimizer import Optimizer, explained
from tessella.optim.schedules import Formula, Writes, check_optimizer
from tessella.tensors import tensor

MOST_RESTARTS = 64  # of cycles that grow: they would be longer than anybody waits


class CosineAnnealingLR(Formula):
    """Half a cosine, from the rate down to `eta_min` in `T_max` epochs, and up again.

    >>> optimizer = ts.optim.SGD([ts.ones(2, requires_grad=True)], lr=0.5)
    >>> schedule = ts.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
    >>> schedule.step()
    >>> [round(rate, 6) for rate in schedule.get_last_lr()]
    [0.25]
    """

    resumes_with_rate = True
    saved = ("T_max", "eta_min")
    divisors = ("T_max",)

    @explained
    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,  # noqa: N803 - PyTorch's name
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        self.T_max = to_count("T_max", T_max)
        self.eta_min = to_float("eta_min", eta_min)
        super().__init__(optimizer, last_epoch)

    def rate(self, i: int, lr: Tensor, epoch: Tensor) -> Tensor:
        """Multiply what is above the least by the quotient of this height and the one before."""
        turns = (epoch - (1 + self.T_max)) % (2 * self.T_max) == 0  # the one before was 0
        height_before = where(turns, 1.0, self._height(epoch - 1))
        moved = self._height(epoch) / height_before * (lr - self.eta_min) + self.eta_min
        first = (self.base(i) - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2
        return where(epoch == 0, lr, where(turns, lr + first, moved))

    def rate_at(self, i: int, lr: Tensor, epoch: Tensor) -> Tensor:
        """Tell by the epoch."""
        return self.eta_min + (self.base(i) - self.eta_min) * self._height(epoch) / 2

    def _height(self, epoch: Tensor) -> Tensor:
        return 1 + cos(epoch * math.pi / self.T_max)


class CosineAnnealingWarmRestarts(Formula):
    """Half a cosine down to `eta_min` in `T_0` epochs, and again, each `T_mult` times as long.

    `step` also takes the epoch with its fraction: `schedule.step(epoch + batch / batches)`.

    >>> optimizer = ts.optim.SGD([ts.ones(2, requires_grad=True)], lr=0.5)
    >>> schedule = ts.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
    >>> rates = []
    >>> for _ in range(3):
    ...     rates.append(round(schedule.get_last_lr()[0], 6))
    ...     schedule.step()
    >>> rates
    [0.5, 0.25, 0.5]
    """

    saved = ("T_0", "T_mult", "eta_min", "fraction")
    divisors = ("T_0",)

    @explained
    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,  # noqa: N803 - PyTorch's names
        T_mult: int = 1,  # noqa: N803
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        self.T_0, self.T_mult = to_count("T_0", T_0), to_count("T_mult", T_mult)
        self.eta_min = to_float("eta_min", eta_min)
        self._fraction = scalar(0.0)
        self._lay_cycles()
        super().__init__(optimizer, last_epoch)

    def _lay_cycles(self) -> None:
        """Find where cycles begin, and how long each is."""
        starts, lengths = [0.0], [float(self.T_0)]
        while self.T_mult > 1 and len(starts) < MOST_RESTARTS:
            starts.append(starts[-1] + lengths[-1])
            lengths.append(lengths[-1] * self.T_mult)
        with placed():
            self._starts, self._lengths = (
                tensor(each, dtype=float64) for each in (starts, lengths)
            )

    @property
    def fraction(self) -> float:
        """How far behind its whole number the epoch is."""
        return float(self._fraction.item())

    @fraction.setter
    def fraction(self, value: float) -> None:
        write(self._fraction, value)

    def check_state(self, state_dict: object) -> None:
        """Require cycles that have a length."""
        super().check_state(state_dict)
        checked: Any = state_dict
        for name in ("T_0", "T_mult"):
            if name in checked:
                to_count(name, checked[name])

    def take_state(self, state_dict: Mapping[str, object]) -> None:
        """Take a state over that was checked; one without a fraction has none."""
        super().take_state({"fraction": 0.0, **state_dict})
        self._lay_cycles()

    def rate(self, i: int, lr: Tensor, epoch: Tensor) -> Tensor:
        """Tell by how far the present cycle has come."""
        epoch = epoch + self._fraction
        if self.T_mult == 1:
            part = epoch % self.T_0 / self.T_0
        else:
            has_begun = self._starts <= epoch
            start = greatest(where(has_begun, self._starts, 0.0))
            length = greatest(where(has_begun, self._lengths, 0.0))
            part = (epoch - start) / length
        height = 1 + cos(part * math.pi)
        return self.eta_min + (self.base(i) - self.eta_min) * height / 2

    @explained
    def step(self, epoch: float | None = None) -> None:
        """Go to the next epoch, or to a given one, which may have a fraction."""
        if epoch is None:
            return super().step()
        at = to_float("epoch", epoch)
        if not 0 <= at < math.inf:
            raise errors.wrong_value("epoch", epoch, "at least 0")
        whole = to_count("epoch", math.floor(at), 0)
        write(self._fraction, at - whole)
        super().step(whole)


class OneCycleLR(Formula):
    """Up from `max_lr / div_factor` to `max_lr`, and down to a small part of where it began.

    Momentum, or the first of Adam's betas, goes the opposite way. After `total_steps` the rate
    stays what it is.

    The cycle has `total_steps`, or `epochs` times `steps_per_epoch`. It goes up for `pct_start` of
    them, along a cosine or by a line: `anneal_strategy` is "cos" or "linear". The last rate is the
    first divided by `final_div_factor`. With `three_phase` it goes down to the first rate as fast
    as up, and then on. Unless `cycle_momentum` is False, momentum goes from `max_momentum` to
    `base_momentum` and back.

    >>> optimizer = ts.optim.Adam([ts.ones(2, requires_grad=True)])
    >>> schedule = ts.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=10)
    >>> schedule.step()
    >>> schedule.step()
    >>> round(schedule.get_last_lr()[0], 6)
    0.1
    """

    saved = ("total_steps", "pct_start", "three_phase", "anneal_strategy", "cycle_momentum")

    @explained
    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | Sequence[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = check_optimizer(optimizer)
        self.total_steps = to_total(total_steps, epochs, steps_per_epoch)
        self.pct_start = to_float("pct_start", pct_start)
        if not 0 <= self.pct_start <= 1:
            raise errors.wrong_value("pct_start", pct_start, "from 0 to 1")
        self.anneal_strategy = to_word("anneal_strategy", anneal_strategy, ["cos", "linear"])
        self.cycle_momentum = to_bool("cycle_momentum", cycle_momentum)
        self.three_phase = to_bool("three_phase", three_phase)
        self._momentum_key = next(
            (key for key in ("betas", "momentum") if key in optimizer.defaults), ""
        )
        if self.cycle_momentum and not self._momentum_key:
            raise optimizer_errors.no_momentum(type(optimizer).__name__)
        is_new = to_count("last_epoch", last_epoch, -1) == -1
        most = self._spread("max_lr", max_lr)
        first = to_divisor("div_factor", div_factor)
        final = to_divisor("final_div_factor", final_div_factor)
        momenta = (self._spread("base_momentum", base_momentum),
                   self._spread("max_momentum", max_momentum))  # fmt: skip
        if is_new:
            self._set_rates(most, first, final)
        if is_new and self.cycle_momentum:
            self._set_momenta(*momenta)
        super().__init__(optimizer, last_epoch)

    def _spread(self, name: str, value: Any) -> list[float]:
        """Give a number for each group."""
        groups = len(self.optimizer.param_groups)
        values = list(value) if isinstance(value, LISTS) else [value] * groups
        if len(values) != groups:
            raise optimizer_errors.list_for_groups(name, len(values), groups)
        return [to_float(name, each) for each in values]

    def _set_rates(self, most: list[float], divisor: float, final_divisor: float) -> None:
        for group, rate in zip(self.optimizer.param_groups, most, strict=True):
            group["initial_lr"] = rate / divisor
            group["max_lr"] = rate
            group["min_lr"] = rate / divisor / final_divisor

    def _set_momenta(self, base: list[float], most: list[float]) -> None:
        for group, low, high in zip(self.optimizer.param_groups, base, most, strict=True):
            is_beta = self._momentum_key == "betas"
            group[self._momentum_key] = (high, *group["betas"][1:]) if is_beta else high
            group["max_momentum"], group["base_momentum"] = high, low

    def _phases(self, kind: str) -> list[tuple[float, str, str]]:
        """Give the last step of each phase, and what is there at its start and its end."""
        low, high, end = ("initial_lr", "max_lr", "min_lr")
        if kind == "momentum":
            low, high, end = ("max_momentum", "base_momentum", "max_momentum")
        first, last = self.pct_start * self.total_steps - 1, float(self.total_steps - 1)
        if not self.three_phase:
            return [(first, low, high), (last, high, end)]
        return [(first, low, high), (2 * first, high, low), (last, low, end)]

    def _value(self, kind: str, group: dict[str, Any], step: Tensor) -> Tensor:
        """Give the rate or the momentum at a step."""
        phases = self._phases(kind)
        starts = [0.0, *(end for end, _, _ in phases)]
        found = None
        for (end, low, high), start in reversed(list(zip(phases, starts, strict=False))):
            width = end - start
            part = minimum(maximum((step - start) / width, 0.0), 1.0) if width else step * 0 + 1
            value = self._between(group[low], group[high], part)
            found = value if found is None else where(step <= end, value, found)
        assert found is not None
        return found

    def _between(self, start: float, end: float, part: Tensor) -> Tensor:
        if self.anneal_strategy == "cos":
            return end + (start - end) / 2 * (cos(part * math.pi) + 1)
        return (end - start) * part + start

    def rate(self, i: int, lr: Tensor, epoch: Tensor) -> Tensor:
        """Tell by the step."""
        return self._value("lr", self.optimizer.param_groups[i], epoch)

    def writes(self, epoch: Tensor, follows: bool = True) -> Writes:
        """Add the momenta."""
        found, at = super().writes(epoch, follows), cast(epoch, float64)
        for group in self.optimizer.param_groups if self.cycle_momentum else ():
            held: Any = group[self._momentum_key]
            target = held[0] if self._momentum_key == "betas" else held
            found.append((target, self._value("momentum", group, at)))
        return found


def to_divisor(name: str, value: Any) -> float:
    """Check a number that rates are divided by."""
    divisor = to_float(name, value)
    if divisor == 0:
        raise errors.wrong_value(name, value, "a number other than 0")
    return divisor


def to_total(steps: Any, epochs: Any, steps_per_epoch: Any) -> int:
    """Give the number of steps of a cycle."""
    if steps is not None:
        return to_count("total_steps", steps)
    if epochs is None or steps_per_epoch is None:
        raise optimizer_errors.unknown_length()
    return to_count("epochs", epochs) * to_count("steps_per_epoch", steps_per_epoch)
