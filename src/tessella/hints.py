"""The names that annotations are written with, where the package loads before anybody waits for it.

Annotations are never evaluated here (`from __future__ import annotations`), and `typing` with what
it imports would take a third of the time that `import tessella` takes: at run time these names
stand for nothing. Type checkers read hints.pyi, where they are what they are called.
"""

from __future__ import annotations


class Hint:
    """Stands for a name of `typing`: subscripted, called, joined and derived from to no effect."""

    def __getitem__(self, key: object) -> Hint:
        return self

    def __call__(self, *args: object) -> Hint:
        return self

    def __or__(self, other: object) -> Hint:
        return self

    __ror__ = __or__

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        return ()


Any = Callable = Generic = Iterable = Iterator = Literal = NoReturn = ParamSpec = Hint()
Sequence = TypeAlias = TypeVar = Hint()
TYPE_CHECKING = False
