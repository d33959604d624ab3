"""The names that annotations are written with, where the package loads before anybody waits for it.

Annotations are never evaluated here (`from __future__ import annotations`), and `typing` with what
it imports would take a third of the time that `import tessella` takes: at run time these names
stand for nothing. Type checkers read hints.pyi, where they are what they are called.
"""

from __future__ import annotations

from types import GenericAlias


class Hint:
    """Stands for such a name: subscripted, called, joined and derived from to no effect."""

    args = kwargs = None  # of a ParamSpec

    def __getitem__(self, key: object) -> Hint:
        return self

    def __call__(self, *args: object, **keywords: object) -> Hint:
        return self

    def __or__(self, other: object) -> Hint:
        return self

    __ror__ = __or__

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        return ()


class Subscripted:
    """The base of generic classes: `DataLoader[Batch]` may be evaluated."""

    __slots__ = ()
    __class_getitem__ = classmethod(GenericAlias)


class GenericHint(Hint):
    """Stands for `Generic`."""

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        return (Subscripted,)


Any = Callable = CapsuleType = Concatenate = Iterable = Iterator = Literal = Mapping = Hint()
Never = NoReturn = ParamSpec = Protocol = Sequence = SupportsIndex = TypeAlias = Hint()
TypeVar = TypeVarTuple = overload = Hint()
Generic = GenericHint()
TYPE_CHECKING = False

# What several public functions take or give; hints.pyi says what each is.
Array = DTypeLike = DeviceLike = Element = File = Ints = Key = Nested = Number = Operand = Hint()
Path = Real = Saved = StateDict = Value = Hint()
