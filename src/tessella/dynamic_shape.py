"""What dynamic arrays say about themselves: shape, strides, capacity, text; all O(1)."""

from __future__ import annotations

from functools import wraps

from tessella import _core, errors, notebooks
from tessella._core import Tensor
from tessella.hints import (
    TYPE_CHECKING,
    Any,
    Callable,
    Concatenate,
    Generic,
    Iterator,
    Key,
    ParamSpec,
    Real,
    TypeVar,
    overload,
)

I = TypeVar("I", default=Real)  # noqa: E741 - an item
P = ParamSpec("P")
R = TypeVar("R")
Array = TypeVar("Array", bound="ShapedArray[Any]")


def explained(method: Callable[Concatenate[Array, P], R]) -> Callable[Concatenate[Array, P], R]:
    """Let the errors of a method name it, the array and the user's line."""
    name = method.__name__.strip("_")

    @wraps(method)
    def call(self: Array, /, *args: P.args, **keywords: P.kwargs) -> R:
        try:
            return method(self, *args, **keywords)
        except errors.TessellaError as error:
            raise error.locate(name, [f"a  {self.summary}"]) from None

    return call


class ShapedArray(_core.DynamicArray, Generic[I]):
    """The core's array with its description."""

    __slots__ = ()

    if TYPE_CHECKING:  # the core's methods; items are numbers, or tensors where they have a shape

        def pop(self, index: int = -1, /) -> I: ...
        def pop_back(self) -> I: ...
        def __iter__(self) -> Iterator[I]: ...
        def __reversed__(self) -> Iterator[I]: ...
        @overload
        def __getitem__(self, key: int, /) -> I: ...  # type: ignore[overload-overlap]  # an int is a Key
        @overload
        def __getitem__(self, key: Key, /) -> Tensor: ...
        def __getitem__(self, key: Key, /) -> I | Tensor: ...

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of items, then the sizes of one."""
        return (len(self), *self.item_shape)

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements from one index to the next, for each axis."""
        steps = [1]
        for size in reversed(self.item_shape):
            steps.append(steps[-1] * max(size, 1))
        return tuple(reversed(steps))

    @property
    def ndim(self) -> int:
        """Number of axes: one more than an item has."""
        return len(self.item_shape) + 1

    @property
    def item_size(self) -> int:
        """Number of elements of one item."""
        size = 1
        for each in self.item_shape:
            size *= each
        return size

    @property
    def size(self) -> int:
        """Number of live elements."""
        return len(self) * self.item_size

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the live elements."""
        return self.size * self.itemsize

    @property
    def is_empty(self) -> bool:
        """Whether it has no items."""
        return len(self) == 0

    @property
    def is_full(self) -> bool:
        """Whether the next item needs growth."""
        return len(self) == self.capacity

    @property
    def shape_text(self) -> str:
        """The shape as text: "(3, 2)"."""
        return str(self.shape)

    @property
    def summary(self) -> str:
        """The dtype, shape and capacity as text, for errors."""
        return f"DynamicArray {self.dtype} {self.shape} capacity {self.capacity}"

    def __repr__(self) -> str:
        if self.is_freed:
            return f"{self.summary} freed"
        text = repr(self.as_tensor())
        return self.summary + text.removeprefix(f"tensor {self.dtype} {self.shape}")

    def _repr_html_(self) -> str:
        if self.is_freed:
            return notebooks.framed(notebooks.line(repr(self)))
        return notebooks.show(self.as_tensor(), self.summary)
