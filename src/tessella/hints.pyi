from collections.abc import (
    Callable as Callable,
    Hashable,
    Iterable as Iterable,
    Iterator as Iterator,
    Mapping as Mapping,
    Sequence as Sequence,
)
from os import PathLike
from types import EllipsisType
from typing import (
    IO,
    TYPE_CHECKING as TYPE_CHECKING,
    Any as Any,
    Concatenate as Concatenate,
    Generic as Generic,
    Literal as Literal,
    Never as Never,
    NoReturn as NoReturn,
    Protocol as Protocol,
    SupportsIndex as SupportsIndex,
    TypeAlias as TypeAlias,
    TypeVarTuple as TypeVarTuple,
    overload as overload,
)

import numpy
from typing_extensions import (
    CapsuleType as CapsuleType,
    ParamSpec as ParamSpec,
    TypeVar as TypeVar,
)

from tessella._core import Tensor
from tessella.devices import Device
from tessella.dtypes import DType

# Numbers, tensors and what stands for them.
Number: TypeAlias = bool | int | float | complex
Real: TypeAlias = bool | int | float  # what an element is, but for complex and users' dtypes
Element: TypeAlias = Number | tuple[object, ...]  # a tuple: of a user's dtype
Operand: TypeAlias = Tensor | Number
Nested: TypeAlias = Element | list[Nested]  # a tensor as lists

Array: TypeAlias = numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.number]]  # of NumPy

# What functions are told about tensors.
Ints: TypeAlias = int | Sequence[int]
DTypeLike: TypeAlias = DType | type[object] | str
DeviceLike: TypeAlias = Device | str
_Key: TypeAlias = SupportsIndex | slice | EllipsisType | Tensor | Sequence[object] | None
Key: TypeAlias = _Key | tuple[_Key, ...]  # what stands in brackets

# Files.
Path: TypeAlias = str | PathLike[str]
File: TypeAlias = Path | IO[bytes]  # by its name, or open
Value: TypeAlias = bool | int | float | str | Sequence[Value]  # in a GGUF file
_Plain: TypeAlias = Number | str | bytes | DType | Tensor | None
Saved: TypeAlias = _Plain | list[Saved] | tuple[Saved, ...] | dict[Hashable, Saved]  # in a file
StateDict: TypeAlias = Mapping[str, object] | Saved  # what a module checks and loads
