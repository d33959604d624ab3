"""State dicts of optimizers, in PyTorch's structure: parameters are numbered through all groups.

    {"state": {0: {"step": tensor, "exp_avg": tensor, ...}, ...},
     "param_groups": [{"lr": 0.001, ..., "params": [0, 1, ...]}, ...]}

What is loaded is written into the tensors that are there. Everything is checked, and all memory
obtained, before the first write.
"""

from __future__ import annotations

from tessella import _core, errors, optimizer_errors
from tessella._core import Tensor
from tessella.arguments import to_float
from tessella.dtypes import check_cast, float64
from tessella.errors import is_foreign_array
from tessella.hints import TYPE_CHECKING, Any
from tessella.ops.creation import copy_of
from tessella.optim.groups import Group, check_fit, filled, kept, scalar
from tessella.optim.updates import UPDATES
from tessella.tensors import asarray
from tessella.trees import flatten

if TYPE_CHECKING:
    from typing import TypedDict

    from tessella.optim.optimizer import Optimizer

    class OptimizerState(TypedDict):
        """What `state_dict` of an optimizer gives."""

        state: dict[int, dict[str, Tensor]]
        param_groups: list[dict[str, object]]


NUMBERED = ("params", "param_names")  # what a group has for each parameter


def dict_of(optimizer: Optimizer) -> OptimizerState:
    """Give groups and states with numbers in place of parameters."""
    numbers: dict[Tensor, int] = {}
    groups = []
    for group in optimizer.param_groups:
        plain = group.plain()
        plain["params"] = [numbers.setdefault(p, len(numbers)) for p in group["params"]]
        groups.append(plain)
    state = {numbers[p]: dict(entry) for p, entry in optimizer.state.items() if p in numbers}
    return {"state": dict(sorted(state.items())), "param_groups": groups}


def load(optimizer: Optimizer, state_dict: Any) -> None:
    """Take a state dict over."""
    saved_groups, saved = _parts(state_dict)
    if len(saved_groups) != len(optimizer.param_groups):
        raise optimizer_errors.group_count(len(saved_groups), len(optimizer.param_groups))
    loaded = [
        _Loaded(optimizer, group, i, given, saved)
        for i, (group, given) in enumerate(zip(optimizer.param_groups, saved_groups, strict=True))
    ]
    for each in loaded:
        each.commit()


def _parts(state_dict: Any) -> tuple[list[dict[str, Any]], dict[int, Any]]:
    if not isinstance(state_dict, dict) or not {"state", "param_groups"} <= state_dict.keys():
        raise optimizer_errors.not_state(state_dict)
    groups, state = state_dict["param_groups"], state_dict["state"]
    are_groups = isinstance(groups, list) and all(
        isinstance(group, dict) and _are_numbers(group.get("params")) for group in groups
    )
    if not are_groups or not isinstance(state, dict) or not all(map(_is_entry, state.values())):
        raise optimizer_errors.not_state(state_dict)
    return groups, state


def _are_numbers(params: Any) -> bool:
    return isinstance(params, list) and all(isinstance(each, int) for each in params)


def _is_entry(entry: Any) -> bool:
    return entry is None or isinstance(entry, dict)


class _Loaded:
    """What one group is about to have: new values beside the tensors that they go into."""

    def __init__(
        self, optimizer: Optimizer, group: Group, place: int, given: dict[str, Any],
        saved: dict[int, Any],
    ) -> None:  # fmt: skip
        self.optimizer, self.group = optimizer, group
        found, wanted = len(given["params"]), len(group["params"])
        if found != wanted:
            raise optimizer_errors.group_size(place, found, wanted)
        self.options = {key: value for key, value in given.items() if key not in NUMBERED}
        for key in group.varying:
            if key in self.options and key in group:
                check_fit(key, group[key], self.options[key])
        begins = optimizer.needs({**group.plain(), **self.options})
        own = {_core.buffer_key(x) for entry in optimizer.state.values() for x in entry.values()
               if isinstance(x, Tensor)}  # fmt: skip
        self.entries = []
        for number, p in zip(given["params"], group["params"], strict=True):
            entry = optimizer.adopt(dict(saved.get(number) or {}), begins)
            self._need_own(number, entry)
            self.entries.append((p, {k: self._fitted(number, k, v, p, own)
                                     for k, v in entry.items()}))  # fmt: skip

    def _need_own(self, number: int, entry: dict[str, Any]) -> None:
        """Refuse states of another optimizer; what users keep beside them travels along."""
        known = (*self.optimizer.counters, *self.optimizer.shaped)
        others = {name for update in UPDATES.values() for name in update.operands[2:]}
        for name in entry:
            if known and name not in known and name in others:
                kind = type(self.optimizer).__name__
                raise optimizer_errors.other_state(f"state[{number}][{name!r}]", kind, known)

    def _fitted(
        self, number: int, name: str, value: Any, p: Tensor, own: set[int]
    ) -> tuple[Tensor | None, Any]:
        """Give the tensor that is there, or None, and what is to be written into it or stand there.

        A state of the optimizer itself may be overwritten before it is read: it is copied.
        """
        is_counter, is_shaped = (name in self.optimizer.counters, name in self.optimizer.shaped)
        if isinstance(value, Tensor) or is_foreign_array(value):
            value = asarray(value).detach()
        elif not (is_counter or is_shaped):
            return None, _copied(value, p)
        elif isinstance(value, int | float):
            value = to_float(f"state[{number}][{name!r}]", value)
        else:
            raise errors.not_tensor(f"state[{number}][{name!r}]", value)
        is_tensor = isinstance(value, Tensor)
        wanted = () if is_counter else p.shape if is_shaped else value.shape
        dtype = float64 if is_counter else p.dtype if is_shaped else value.dtype
        if is_tensor:
            if value.shape != wanted:
                raise optimizer_errors.state_shape(
                    f"state[{number}][{name!r}]", value.shape, wanted
                )
            check_cast(value.dtype, dtype)
        there = self.optimizer.state[p].get(name)
        if isinstance(there, Tensor) and (there.shape, there.dtype) == (wanted, dtype):
            is_own = is_tensor and value is not there and _core.buffer_key(value) in own
            return there, copy_of(value) if is_own else value
        if is_counter:
            return None, scalar(value)
        return None, kept(value, p, dtype) if is_tensor else filled(p, value)

    def commit(self) -> None:
        """Write; nothing can fail any more."""
        for p, entry in self.entries:
            state = self.optimizer.state[p]
            for name, (there, value) in entry.items():
                if there is None:
                    state[name] = value
                elif there is not value:
                    copies = _core.copy if isinstance(value, Tensor) else _core.fill
                    copies(there, value, False)
                    _core.bump_version(there)
            for name in state.keys() - entry.keys():
                del state[name]
        self.group.update(self.options)


def _copied(value: Any, p: Tensor) -> Any:
    """Copy the tensors of containers, such as a history; anything else is as it is."""
    leaves, rebuild = flatten(value)
    is_tensor = [isinstance(leaf, Tensor) or is_foreign_array(leaf) for leaf in leaves]
    copies = [
        kept(x := asarray(leaf).detach(), p, x.dtype) if is_one else leaf
        for leaf, is_one in zip(leaves, is_tensor, strict=True)
    ]
    return rebuild(copies)
