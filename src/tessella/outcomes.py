"""Errors as values: what a call gave, or why it failed, for those who do not want exceptions.

Only errors of Tessella become values. Whatever else a function raises is a mistake in a program, or
a wish of its user (Ctrl-C), and goes on as an exception.
"""

from __future__ import annotations

from tessella.exceptions import TessellaError
from tessella.hints import (
    TYPE_CHECKING,
    Any,
    Callable,
    Generic,
    Literal,
    Never,
    NoReturn,
    ParamSpec,
    TypeVar,
)

P = ParamSpec("P")
T = TypeVar("T")
U = TypeVar("U")


class Frozen:
    """An object of one field that is set when it is made."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()

    def _held(self) -> Any:
        return getattr(self, self.__match_args__[0])

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed: {name} was assigned")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed: {name} was deleted")

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        is_same: bool = self._held() == other._held()
        return is_same

    def __hash__(self) -> int:
        return hash((type(self), self._held()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._held()!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._held(),)


class Ok(Frozen, Generic[T]):
    """What a call gave.

    >>> ts.errors.Ok(3).map(str)
    Ok('3')
    """

    __slots__ = ("value",)
    __match_args__ = ("value",)
    value: T
    is_ok: Literal[True]

    def __init__(self, value: T) -> None:
        object.__setattr__(self, "value", value)

    def unwrap(self) -> T:
        """Give the value."""
        return self.value

    def unwrap_or(self, default: object) -> T:
        """Give the value."""
        return self.value

    def map(self, function: Callable[[T], U]) -> Ok[U]:
        """Give what a function makes of the value; what it raises is not caught."""
        return Ok(function(self.value))


class Err(Frozen):
    """Why a call failed. It is false, and an Ok is true.

    >>> ts.errors.expected(ts.zeros, -1).error.code
    'invalid_argument'
    """

    __slots__ = ("error",)
    __match_args__ = ("error",)
    error: TessellaError
    is_ok: Literal[False]

    def __init__(self, error: TessellaError) -> None:
        object.__setattr__(self, "error", error)

    def __bool__(self) -> Literal[False]:
        return False

    def unwrap(self) -> NoReturn:
        """Raise the error."""
        raise self.error

    def unwrap_or(self, default: U) -> U:
        """Give the default."""
        return default

    def map(self, function: Callable[[Never], object]) -> Err:
        """Give this error again: there is no value."""
        return self


if not TYPE_CHECKING:
    Ok.is_ok, Err.is_ok = True, False


def expected(function: Callable[P, T], *args: P.args, **keywords: P.kwargs) -> Ok[T] | Err:
    """Call a function; give Ok(its result), or Err(the error) if it raised one of Tessella's.

    The error says where it happened; its traceback, which would keep the tensors of every frame, is
    dropped.

    >>> ts.errors.expected(ts.reshape, ts.zeros(6), (2, 3)).unwrap().shape
    (2, 3)
    >>> match ts.errors.expected(ts.reshape, ts.zeros(6), (4, 2)):
    ...     case ts.errors.Ok(x):
    ...         print(x.shape)
    ...     case ts.errors.Err(error):
    ...         print(error.what)
    cannot reshape (6,) into (4, 2)
    """
    try:
        return Ok(function(*args, **keywords))
    except TessellaError as error:
        return Err(error.with_traceback(None))
