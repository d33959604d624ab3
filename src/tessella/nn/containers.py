"""Modules made of modules, and lists and dicts of them."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_list
from tessella.hints import (
    TYPE_CHECKING,
    Any,
    Generic,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    TypeAlias,
    TypeVar,
    overload,
)
from tessella.nn import module_errors
from tessella.nn.modules import Module
from tessella.nn.parameters import Parameter
from tessella.nn.walks import callables_of, check_name, parameters_of, part_of
from tessella.sizes import counted

if TYPE_CHECKING:
    from typing import Self

# A container holds what its class is subscripted with, and says so to type checkers only.
Part = TypeVar("Part", default=Module)
Kept = TypeVar("Kept")
Given = TypeVar("Given")  # what is put into it
Items: TypeAlias = "Mapping[str, Given] | Iterable[tuple[str, Given]]"


class _Numbered(Module, Generic[Kept, Given]):
    """Parts under the names "0", "1", …: what lists of modules and of parameters share."""

    def _parts(self) -> list[Kept]:
        return [x for _, x in callables_of(self)]

    def _place(self, index: int) -> int:
        count = len(self)
        if not isinstance(index, int):
            raise errors.wrong_type("index", index, "an integer").locate(type(self).__name__, [])
        if not -count <= index < count:
            error = errors.IndexOutOfBounds(
                f"index {index} is out of range for {counted(count, 'item')}",
                f"use {-count} to {count - 1}" if count else "it is empty",
            )
            raise error.locate(type(self).__name__, [])
        return index % count

    def _renew(self, parts: Iterable[Any]) -> None:
        """Let the parts be these, numbered from 0."""
        parts = list(parts)
        for name, _ in [*callables_of(self), *parameters_of(self)]:
            delattr(self, name)
        for i, x in enumerate(parts):
            setattr(self, str(i), x)

    def __len__(self) -> int:
        return len(self._parts())

    def __iter__(self) -> Iterator[Kept]:
        return iter(self._parts())

    @overload
    def __getitem__(self, index: int) -> Kept: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Kept | Self:
        """Give one part; a slice gives a container of the same type."""
        if isinstance(index, slice):
            return type(self)._of(self._parts()[index])
        return self._parts()[self._place(index)]

    def __setitem__(self, index: int, part: Given) -> None:
        self._check(part)
        parts: list[Any] = self._parts()
        parts[self._place(index)] = part
        self._renew(parts)

    def __delitem__(self, index: int | slice) -> None:
        parts = self._parts()
        del parts[index if isinstance(index, slice) else self._place(index)]
        self._renew(parts)

    @classmethod
    def _of(cls, parts: Sequence[Any]) -> Self:
        return cls(parts)  # type: ignore[call-arg]  # subclasses take their parts

    def _check(self, part: Any) -> None:
        if part_of(part) is None:
            raise module_errors.not_module("module", part).locate(type(self).__name__, [])

    def append(self, part: Given) -> Self:
        """Add one at the end."""
        self._check(part)
        setattr(self, str(len(self)), part)
        return self

    def extend(self, parts: Iterable[Given]) -> Self:
        """Add several at the end, or none if one of them does not fit."""
        try:
            parts = to_list("parts", parts, "a list, or something else to iterate over")
        except errors.TessellaError as error:
            raise error.locate(type(self).__name__, []) from None
        for part in parts:
            self._check(part)
        for part in parts:
            self.append(part)
        return self

    def insert(self, index: int, part: Given) -> Self:
        """Add one before the part at an index."""
        self._check(part)
        parts: list[Any] = self._parts()
        parts.insert(index, part)
        self._renew(parts)
        return self

    def pop(self, index: int = -1) -> Kept:
        """Take one out and give it."""
        part = self[index]
        del self[index]
        return part

    def __iadd__(self, parts: Iterable[Given]) -> Self:
        return self.extend(parts)

    def __add__(self, other: Iterable[Given]) -> Self:
        return type(self)._of([*self, *other])


class Sequential(_Numbered[Module, Module]):
    """Modules one after the other, by position or, given as a dict, by name.

    >>> model = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
    >>> model(ts.ones(4, 2)).shape
    (4, 1)
    """

    @overload
    def __init__(self, modules: Mapping[str, Module], /) -> None: ...
    @overload
    def __init__(self, *modules: Module) -> None: ...
    def __init__(self, *modules: Any) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], dict):
            for name, module in modules[0].items():
                self._check(module)
                self.add_module(name, module)
        else:
            self.extend(modules)

    @classmethod
    def _of(cls, parts: Sequence[Any]) -> Self:
        return cls(*parts)

    def forward(self, x: Tensor) -> Tensor:
        """Hand x through all of them."""
        for part in self.__dict__.values():
            if isinstance(part, Module) or part_of(part) is not None:
                x = part(x)
        return x


class ModuleList(_Numbered[Part, Part]):
    """A list of modules that are parts of the module that has it.

    >>> len(nn.ModuleList([nn.ReLU(), nn.Tanh()]))
    2
    """

    def __init__(self, modules: Iterable[Part] | None = None) -> None:
        super().__init__()
        self.extend([] if modules is None else modules)


class ParameterList(_Numbered[Parameter, Tensor]):
    """A list of parameters that are parts of the module that has it.

    >>> [x.shape for x in nn.ParameterList([ts.zeros(2), ts.zeros(3)])]
    [(2,), (3,)]
    """

    def __init__(self, values: Iterable[Tensor] | None = None) -> None:
        super().__init__()
        self.extend([] if values is None else values)

    def _parts(self) -> list[Parameter]:
        return [x for _, x in parameters_of(self)]

    def _check(self, part: Any) -> None:
        if not isinstance(part, Parameter):
            Parameter(part)  # raises for what can be none

    def append(self, part: Tensor) -> Self:
        """Add one at the end; a tensor becomes a parameter."""
        setattr(self, str(len(self)), part if isinstance(part, Parameter) else Parameter(part))
        return self

    def insert(self, index: int, part: Tensor) -> Self:
        """Add one before the one at an index; a tensor becomes a parameter."""
        return super().insert(index, part if isinstance(part, Parameter) else Parameter(part))

    def __setitem__(self, index: int, part: Tensor) -> None:
        super().__setitem__(index, part if isinstance(part, Parameter) else Parameter(part))

    def extra_repr(self) -> str:
        """Show each on its line."""
        shown = (f"({i}): {x.dtype} {x.shape}" for i, x in enumerate(self))
        return "\n".join(shown)


class _Named(Module, Generic[Kept, Given]):
    """Parts by names of the user: what dicts of modules and of parameters share."""

    _kind = "module"

    def __init__(self, items: Items[Given] | None = None) -> None:
        super().__init__()
        if items is not None:
            self.update(items)

    def _parts(self) -> dict[str, Kept]:
        return dict(callables_of(self))

    def __getitem__(self, key: str) -> Kept:
        parts = self._parts()
        if key not in parts:
            raise module_errors.no_key(key, self._kind, [*parts]).locate(type(self).__name__, [])
        return parts[key]

    def _check(self, key: str, part: Any) -> None:
        check_name(self, key, "module")
        if part_of(part) is None:
            raise module_errors.not_module(key, part).locate(type(self).__name__, [])

    def __setitem__(self, key: str, part: Given) -> None:
        self._check(key, part)
        self.add_module(key, part)  # type: ignore[arg-type]  # any callable may be kept

    def __delitem__(self, key: str) -> None:
        self[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._parts())

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts())

    def __contains__(self, key: object) -> bool:
        return key in self._parts()

    def keys(self) -> Iterable[str]:
        """Give the names."""
        return self._parts().keys()

    def values(self) -> Iterable[Kept]:
        """Give the parts."""
        return self._parts().values()

    def items(self) -> Iterable[tuple[str, Kept]]:
        """Give names and parts."""
        return self._parts().items()

    def update(self, items: Items[Given]) -> None:
        """Add all of a dict, or of pairs, or none if one of them does not fit."""
        try:
            pairs = dict(items)
        except (TypeError, ValueError):
            error = errors.wrong_type("items", items, "a dict, or pairs of names and parts")
            raise error.locate(type(self).__name__, []) from None
        for key, part in pairs.items():
            self._check(key, part)
        for key, part in pairs.items():
            self[key] = part

    def pop(self, key: str) -> Kept:
        """Take one out and give it."""
        part = self[key]
        del self[key]
        return part

    def clear(self) -> None:
        """Take all out."""
        for key in list(self):
            delattr(self, key)


class ModuleDict(_Named[Part, Part]):
    """Modules by name that are parts of the module that has it.

    >>> list(nn.ModuleDict({"relu": nn.ReLU()}))
    ['relu']
    """


class ParameterDict(_Named[Parameter, Tensor]):
    """Parameters by name that are parts of the module that has it.

    >>> nn.ParameterDict({"scale": ts.ones(2)})["scale"].requires_grad
    True
    """

    _kind = "parameter"

    def _parts(self) -> dict[str, Parameter]:
        return dict(parameters_of(self))

    def _check(self, key: str, part: Any) -> None:
        check_name(self, key, "parameter")
        if not isinstance(part, Parameter):
            Parameter(part)  # raises for what can be none

    def __setitem__(self, key: str, part: Tensor) -> None:
        self.register_parameter(key, part if isinstance(part, Parameter) else Parameter(part))

    def extra_repr(self) -> str:
        """Show each on its line."""
        return "\n".join(f"({key}): {x.dtype} {x.shape}" for key, x in self.items())
