"""What an optimizer holds: parameter groups, states, and the tensors in them.

Groups and states are dicts that tell their optimizer when they are written. Numbers that vary from
step to step are 0-d tensors of float64, and a number that is written to them is written into them:
so what has been captured by reference stays right.
"""

from __future__ import annotations

import weakref
from collections.abc import MutableMapping

from tessella import _core, changes, errors, optimizer_errors
from tessella._core import Tensor
from tessella.arguments import LISTS, NUMBERS, to_float, to_number
from tessella.dtypes import DType, float64, int64
from tessella.hints import (
    TYPE_CHECKING,
    Any,
    Callable,
    Iterable,
    Literal,
    Mapping,
    TypeVar,
    overload,
)
from tessella.kinds import cast
from tessella.ops.creation import copy_of
from tessella.ops.elementwise import positive
from tessella.optim.options import Options, to_parameters

if TYPE_CHECKING:
    from typing import Self

    from tessella.optim.optimizer import Optimizer

K = TypeVar("K")
V = TypeVar("V")


class Watched(dict[K, V]):
    """A dict that counts changes to it, and tells the optimizer that it belongs to."""

    # The methods of dict would write past __setitem__.
    update = MutableMapping.update
    setdefault = MutableMapping.setdefault
    pop = MutableMapping.pop
    popitem = MutableMapping.popitem
    clear = MutableMapping.clear

    def __init__(self, owner: Optimizer) -> None:
        super().__init__()
        changes.born(self)
        # Weak: states are large, and should go with the optimizer, not with Python's collector.
        self._owner = weakref.ref(owner)

    def changed(self) -> None:
        """Count a change."""
        changes.bump(self)
        owner = self._owner()
        if owner is not None:
            owner.forget()

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        self.changed()

    def __delitem__(self, key: K) -> None:
        super().__delitem__(key)
        self.changed()

    def __ior__(self, other: Mapping[K, V]) -> Self:  # type: ignore[override, misc]  # dict's overloads are wider
        self.update(other)
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return dict, (dict(self),)


class States(Watched[Tensor, dict[str, Tensor]]):
    """The states of an optimizer by parameter; one that is not there is empty."""

    def __missing__(self, p: Tensor) -> Watched[str, Tensor]:
        owner = self._owner()
        assert owner is not None
        made: Watched[str, Tensor] = Watched(owner)
        dict.__setitem__(self, p, made)
        return made

    def __setitem__(self, p: Tensor, state: dict[str, Tensor]) -> None:
        entry = self[p]
        dict.clear(entry)
        entry.update(state)
        self.changed()


class Items(list[V]):
    """A list that asks who it belongs to before it is written."""

    def __init__(self, owner: Any, items: list[V]) -> None:
        super().__init__(items)
        self._owner = weakref.ref(owner)

    def accepted(self, owner: Any, changed: list[Any]) -> list[V]:
        """Give what is kept of the items that there are to be; refuse what cannot be."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[object, ...]:
        return list, (list(self),)


def _telling(name: str) -> Callable[..., Any]:
    method = getattr(list, name)

    def called(self: Items[Any], *args: Any, **keywords: Any) -> Any:
        changed = list(self)
        out = method(changed, *args, **keywords)
        owner = self._owner()
        kept = changed if owner is None else self.accepted(owner, changed)
        list.__setitem__(self, slice(None), kept)
        return self if out is changed else out

    return called


for _name in ("__delitem__", "__iadd__", "__imul__", "__setitem__", "append", "clear", "extend",
              "insert", "pop", "remove", "reverse", "sort"):  # fmt: skip
    setattr(Items, _name, _telling(_name))


class Parameters(Items[Tensor]):
    """The parameters of a group."""

    def accepted(self, owner: Group, changed: list[Any]) -> list[Tensor]:
        """Give them all; the group refuses what is no parameter."""
        owner["params"] = changed
        return changed


class Groups(Items["Group"]):
    """The parameter groups of an optimizer."""

    def accepted(self, owner: Optimizer, changed: list[Any]) -> list[Group]:
        """Give groups, also for dicts that were put in their place."""
        return owner.regroup(changed)


class Group(Watched[str, object]):
    """A parameter group. Of the keys in `varying`, the values are tensors, or tuples of tensors."""

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: Literal["params"]) -> list[Tensor]: ...
        @overload
        def __getitem__(self, key: Literal["lr", "momentum"]) -> Tensor: ...
        @overload
        def __getitem__(self, key: Literal["betas"]) -> tuple[Tensor, Tensor]: ...
        @overload
        def __getitem__(self, key: str) -> object: ...
        def __getitem__(self, key: str) -> object: ...

    def __init__(self, owner: Optimizer, items: dict[str, object]) -> None:
        super().__init__(owner)
        self.varying = owner.varying
        self.states: dict[str, float] = {}  # what each parameter has, and how it begins
        for key, value in items.items():
            if key in self.varying and key in owner.defaults:
                check_fit(key, owner.defaults[key], value)
            kept: Any = held(key, value) if key in self.varying else value
            dict.__setitem__(self, key, Parameters(self, kept) if key == "params" else kept)

    def __setitem__(self, key: str, value: object, is_written: bool = True) -> None:
        try:
            self._write(key, value, is_written)
        except errors.TessellaError as error:
            raise error.relocate(f"group[{key!r}]", []) from None

    def update(  # type: ignore[override]  # dict's overloads are wider
        self, given: Options | Iterable[tuple[str, object]] = (), /, **options: object
    ) -> None:
        """Write several options, or none if one of them does not fit."""
        items: dict[str, object] = {**dict(given), **options}
        for is_written in (False, True):
            for key, value in items.items():
                self.__setitem__(key, value, is_written)

    def _write(self, key: str, value: Any, is_written: bool) -> None:
        """Write once all is checked, and the memory that it takes is there; or check only."""
        is_there = key in self.varying and key in self
        if is_there:
            check_fit(key, self[key], value)
        elif key in self.varying:
            value = held(key, value)
        elif key == "params":
            value = Parameters(self, to_parameters({"params": value})[0])
        owner = self._owner()
        is_known = owner is not None and not isinstance(value, Tensor)  # a tensor is not read
        finish = owner.foresee(self, key, value) if owner is not None and is_known else None
        if not is_written:
            return
        if is_there:
            fit(key, self[key], value)
        else:
            super().__setitem__(key, value)
        if finish is not None:
            finish()

    def is_of(self, owner: Optimizer) -> bool:
        """Tell whether it was made for an optimizer."""
        return self._owner() is owner

    def plain(self) -> dict[str, object]:
        """Give the group with numbers in place of the tensors that vary; this reads them."""
        return {key: read(value) if key in self.varying else value for key, value in self.items()}


# --- numbers that vary ----------------------------------------------------------------------------


def held(name: str, value: Any) -> Any:
    """Make the tensors that hold a number, or a tuple of them."""
    if isinstance(value, LISTS):
        return tuple([held(name, each) for each in value])
    check_number(name, value)
    return scalar(value)


def fit(name: str, tensors: Any, value: Any) -> None:
    """Write a number, or a tuple of them, into the tensors that hold it."""
    for tensor, each in check_fit(name, tensors, value):
        write(tensor, each)


def check_fit(name: str, tensors: Any, value: Any) -> list[tuple[Tensor, Any]]:
    """Require as many numbers as there are tensors, or defaults; give them in pairs."""
    pairs = [(tensors, value)]
    if isinstance(tensors, LISTS):
        if not isinstance(value, LISTS) or len(value) != len(tensors):
            raise optimizer_errors.not_numbers(name, len(tensors), value)
        pairs = list(zip(tensors, value, strict=True))
    for _, each in pairs:
        check_number(name, each)
    return pairs


def check_number(name: str, value: Any) -> None:
    """Require a real number, or a 0-d tensor of one."""
    if isinstance(value, Tensor):
        is_real = value.ndim == 0 and not value.dtype.is_complex and not value.dtype.is_user
    else:
        value = to_number(value)
        is_real = isinstance(value, NUMBERS) and not isinstance(value, bool | complex)
    if not is_real:
        raise optimizer_errors.not_number(name, value)
    if isinstance(value, int):
        to_float(name, value)  # refuses what no float can hold


def write(tensor: Tensor, value: Any) -> None:
    """Write a number or a 0-d tensor into a 0-d tensor; the latter is an operation."""
    if not isinstance(value, Tensor):
        tensor.fill_(int(value) if tensor.dtype is int64 else float(to_number(value)))
    elif value is not tensor:
        positive(cast(value.detach(), tensor.dtype), out=tensor)


def read(value: Any) -> Any:
    """Give the numbers that tensors hold."""
    return tuple(map(read, value)) if isinstance(value, tuple) else value.item()


# --- memory ---------------------------------------------------------------------------------------


class placed:  # noqa: N801 - used like a function
    """Allocate where a tensor's memory is, or on the heap: never in the user's scope.

    It gives the allocator of that scope, for what runs inside and is the user's.
    """

    def __init__(self, x: Tensor | None = None, handle: Any = None) -> None:
        self.allocator = handle if x is None else _core.allocator_of(x)

    def __enter__(self) -> Any:
        self.before = _core.swap_allocator(self.allocator)
        return self.before

    def __exit__(self, *error: object) -> None:
        _core.swap_allocator(self.before)


def count(value: int) -> Tensor:
    """Make a 0-d tensor of int64 that an optimizer or schedule keeps."""
    return scalar(value, int64)


def scalar(value: Any, dtype: DType = float64) -> Tensor:
    """Make a 0-d tensor that an optimizer or schedule keeps."""
    with placed():
        out = _core.empty((), dtype.id)
    write(out, value)
    _core.mark_kind(out, "optimizer")
    return out


def filled(p: Tensor, value: float) -> Tensor:
    """Make a state of the shape and dtype of a parameter, where its memory is."""
    if p.is_virtual:
        return _core.empty_virtual(p.shape, p.dtype.id)
    with placed(p):
        out = _core.empty(p.shape, p.dtype.id)
    _core.fill(out, complex(value, value) if p.dtype.is_complex else value)
    _core.mark_kind(out, "optimizer")
    return out


def kept(x: Tensor, p: Tensor, dtype: DType) -> Tensor:
    """Copy a tensor into a state, where a parameter's memory is."""
    with placed(p):
        out = copy_of(x, dtype)
    _core.mark_kind(out, "optimizer")
    return out
