"""Schedules made of others: one after another, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from contextlib import contextmanager

from tessella import _core, errors, optimizer_errors
from tessella._core import Tensor
from tessella.arguments import to_count, to_list
from tessella.hints import Any, Iterator, Mapping, Sequence
from tessella.ops.elementwise import maximum, where
from tessella.optim.groups import read, write
from tessella.optim.host_schedules import ReduceLROnPlateau
from tessella.optim.optimizer import Optimizer, explained
from tessella.optim.schedules import Formula, LRScheduler, Writes, check_optimizer
from tessella.sizes import described


def to_parts(optimizer: Optimizer | None, schedulers: Any) -> list[LRScheduler]:
    """Check the schedules that another is made of."""
    parts = to_list("schedulers", schedulers, "a list of schedules")
    if not parts:
        raise errors.wrong_value("schedulers", schedulers, "at least one")
    for i, part in enumerate(parts):
        if not isinstance(part, LRScheduler) or isinstance(part, ReduceLROnPlateau):
            raise errors.wrong_type(f"schedulers[{i}]", part, "a schedule of the epoch alone")
        if part.optimizer is not (parts[0].optimizer if optimizer is None else optimizer):
            raise optimizer_errors.other_optimizer(i)
    return parts


def is_computed(part: LRScheduler) -> bool:
    """Tell whether a schedule, and all that it is made of, needs no value that is read."""
    parts = getattr(part, "_schedulers", None)
    return isinstance(part, Formula) if parts is None else all(map(is_computed, parts))


class _Composed(Formula):
    """What schedules made of others have in common: their states are lists."""

    _schedulers: list[LRScheduler]

    def __repr__(self) -> str:
        own = {name.lstrip("_"): getattr(self, name) for name in self.saved}
        return described(self, *map(repr, self._schedulers), **own)

    def state_dict(self) -> dict[str, object]:
        """Give the states of all parts too."""
        parts = [part.state_dict() for part in self._schedulers]
        return {**super().state_dict(), "_schedulers": parts}

    def check_state(self, state_dict: object) -> None:
        """Check the states of all parts too."""
        parts = state_dict.get("_schedulers") if isinstance(state_dict, dict) else None
        if not isinstance(parts, list) or len(parts) != len(self._schedulers):
            raise optimizer_errors.not_schedule(state_dict)
        for part, saved in zip(self._schedulers, parts, strict=True):
            part.check_state(saved)
        given: Any = state_dict
        super().check_state({"last_epoch": 0, **given})

    def take_state(self, state_dict: Mapping[str, object]) -> None:
        """Take the states of all parts over."""
        parts: Any = state_dict["_schedulers"]
        for part, saved in zip(self._schedulers, parts, strict=True):
            part.take_state(saved)
        super().take_state({"last_epoch": 0, **state_dict})

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Undo a step where a part fails; what is computed fails where groups were added only."""
        groups = self.optimizer.param_groups
        if _core.is_recording() or (is_computed(self) and len(groups) == len(self.base_lrs)):
            yield
            return
        numbers = [{k: read(group[k]) for k in group.varying if k in group} for group in groups]
        before = self.state_dict()
        try:
            yield
        except BaseException:
            self.take_state(before)
            for group, held in zip(groups, numbers, strict=True):
                group.update(held)
            raise


class SequentialLR(_Composed):
    """The `schedulers` one after another: each of `milestones` is the epoch where the next begins.

    It is computed from the epoch, as its parts are; with a part that reads numbers it reads too.

    >>> from tessella.optim.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR
    >>> optimizer = ts.optim.SGD([ts.ones(2, requires_grad=True)], lr=0.5)
    >>> warm = ConstantLR(optimizer, factor=0.5, total_iters=2)
    >>> schedule = SequentialLR(optimizer, [warm, ExponentialLR(optimizer, 0.5)], milestones=[2])
    >>> rates = []
    >>> for _ in range(4):
    ...     rates += schedule.get_last_lr()
    ...     schedule.step()
    >>> rates
    [0.25, 0.25, 0.5, 0.25]
    """

    resumes_with_rate = True
    saved = ("_milestones",)

    @explained
    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        self._schedulers = to_parts(check_optimizer(optimizer), schedulers)
        for i, part in enumerate(self._schedulers):
            is_odd = isinstance(part, SequentialLR) and not is_computed(part)
            if is_odd or isinstance(part, ChainedScheduler):
                rule = "a schedule that can begin at a milestone"
                raise errors.wrong_type(f"schedulers[{i}]", part, rule)
        self._milestones = [
            to_count("milestones", each)
            for each in to_list("milestones", milestones, "a list of epochs")
        ]
        if len(self._milestones) != len(self._schedulers) - 1:
            rule = f"{len(self._schedulers) - 1} epochs: where each schedule but the first begins"
            raise errors.wrong_value("milestones", milestones, rule)
        if self._milestones != sorted(self._milestones):
            raise errors.wrong_value("milestones", milestones, "in order")
        self._is_computed = is_computed(self)
        super().__init__(optimizer, last_epoch)

    def _begin(self, is_new: bool) -> None:
        """Undo the first steps of the parts, and make that of the first one."""
        if is_new:
            for group in self.optimizer.param_groups:
                group["lr"] = group["initial_lr"]
            for part in self._schedulers:
                part.last_epoch = -1
        super()._begin(is_new)

    def writes(self, epoch: Tensor, follows: bool = True) -> Writes:
        """Give what the part whose turn it is writes; the others stay as they are."""
        starts = [0, *self._milestones]
        values = {id(self._epoch): (self._epoch, epoch)}
        for k, (part, start) in enumerate(zip(self._schedulers, starts, strict=True)):
            assert isinstance(part, Formula)
            local = maximum(epoch - start, 0)
            is_now = epoch >= start
            if k < len(self._milestones):
                is_now = is_now & (epoch < self._milestones[k])
            found = part.writes(local, follows)
            if k > 0:
                begun = part.writes(local, False)
                pairs = zip(found, begun, strict=True)
                found = [(x, where(local == 0, first, value)) for (x, value), (_, first) in pairs]
            for target, value in found:
                so_far = values.get(id(target), (target, target))[1]
                values[id(target)] = (target, where(is_now, value, so_far))
        return list(values.values())

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch, or to a given one."""
        if epoch is not None and not self._is_computed:
            rule = "None: a part that calls user code or reads numbers goes step by step"
            raise errors.wrong_value("epoch", epoch, rule).locate("SequentialLR.step", [])
        if self._is_computed:
            return super().step(epoch)
        with self._whole():
            self.last_epoch = now = self.last_epoch + 1
            place = bisect_right(self._milestones, now)
            begins = place > 0 and self._milestones[place - 1] == now
            part = self._schedulers[place]
            if begins:
                part.last_epoch = -1
            part.step(0) if begins and isinstance(part, Formula) else part.step()


class ChainedScheduler(_Composed):
    """Several schedules at once: each changes the rate that the one before left.

    >>> from tessella.optim.lr_scheduler import ChainedScheduler, ConstantLR, ExponentialLR
    >>> optimizer = ts.optim.SGD([ts.ones(2, requires_grad=True)], lr=1.0)
    >>> parts = [ConstantLR(optimizer, factor=0.5, total_iters=2), ExponentialLR(optimizer, 0.5)]
    >>> schedule = ChainedScheduler(parts)
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    @explained
    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        self._schedulers = to_parts(optimizer, schedulers)
        super().__init__(self._schedulers[0].optimizer)

    def _begin(self, is_new: bool) -> None:
        """Leave the rates as the parts have set them."""
        write(self._epoch, self._epoch + 1)

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch, with all parts."""
        if epoch is not None:
            rule = "None: each part goes on from what the one before left"
            raise errors.wrong_value("epoch", epoch, rule).locate("ChainedScheduler.step", [])
        with self._whole():
            for part in self._schedulers:
                part.step()
        write(self._epoch, self._epoch + 1)
