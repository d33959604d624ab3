from collections.abc import (
    Callable as Callable,
    Iterable as Iterable,
    Iterator as Iterator,
    Sequence as Sequence,
)
from typing import (
    TYPE_CHECKING as TYPE_CHECKING,
    Any as Any,
    Generic as Generic,
    Literal as Literal,
    NoReturn as NoReturn,
    ParamSpec as ParamSpec,
    TypeAlias as TypeAlias,
    TypeVar as TypeVar,
)
