"""Caches of keys and values: what a decoder keeps of the places that it has seen.

Models ask a cache for the numbers of the next places, give it keys and values layer by layer, and
tell it at the end how many places there were. A call that fails before that leaves its length as
it was, and so counts for nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from tessella import _core, changes, errors
from tessella._core import Tensor
from tessella.allocators import Allocator
from tessella.arguments import to_count, to_int
from tessella.dtypes import DType, as_dtype, float32, int64
from tessella.dynamic import DynamicArray
from tessella.hints import TYPE_CHECKING, Any, DTypeLike
from tessella.located import located, located_init
from tessella.memory import use
from tessella.models import model_errors
from tessella.modes import is_grad_enabled
from tessella.ops.creation import arange, empty, zeros
from tessella.ops.movement import permute
from tessella.tensors import tensor

if TYPE_CHECKING:
    from typing import TypedDict

    class CacheOptions(TypedDict, total=False):
        """What a cache may be told by keyword."""

        dtype: DTypeLike | None
        padding: Tensor | None
        allocator: Allocator | None


def check_padding(padding: Any, batch: int, places: int | None) -> None:
    """Require a number of places for each row, of those that there are, if that is known."""
    if padding is None:
        return
    if not isinstance(padding, Tensor):
        raise errors.not_tensor("padding", padding, "a tensor")
    if padding.shape != (batch,) or not padding.dtype.is_integer:
        raise model_errors.wrong_padding(padding.dtype, padding.shape, batch)
    if _core.is_recording():  # its values are those of another time
        return
    counts: Any = padding.tolist()
    for row, count in enumerate(counts):
        if count < 0 or (places is not None and count > places):
            raise model_errors.padding_outside(row, count, places)


def to_cache_dtype(dtype: Any) -> DType:
    """Give the dtype of keys and values, which is one of floats."""
    kind = as_dtype(float32 if dtype is None else dtype)
    if not kind.is_floating:
        raise errors.no_kernel(kind, "keys and values are floats")
    return kind


class Cache(ABC):
    """How many places are kept, and how many of each row's first ones do not count.

    `length` and `padding` are tensors, so that a compiled step goes on with one program.
    """

    @located_init
    def __init__(
        self,
        layers: int,
        batch: int,
        dtype: DTypeLike | None,
        padding: Tensor | None,
        places: int | None,
    ) -> None:
        self.layers = to_count("layers", layers, 0)
        self.batch = to_count("batch", batch, 0)
        check_padding(padding, self.batch, places)
        self.dtype = to_cache_dtype(dtype)
        self.padding = padding

    def places(self, count: int) -> Tensor:
        """Give the numbers of the next places."""
        return arange(count) + self.lengths(0)

    @abstractmethod
    def lengths(self, count: int) -> Tensor:
        """Give how many places there are with so many more: int64, 0-d."""

    @abstractmethod
    def room(self, count: int) -> int:
        """Give how many keys attention sees when so many places have been added."""

    @abstractmethod
    def put(
        self, layer: int, places: Tensor, keys: Tensor, values: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Keep keys and values (B, H, T, D) of new places; give all, those to come included."""

    @abstractmethod
    def advance(self, count: int) -> None:
        """Count places that all layers have put."""


class KVCache(changes.Counted, Cache):
    """Keys and values with room for `capacity` places: tensors (batch, heads, capacity, features).

    Memory is taken once, from `allocator` or the scope's. A decoding step over it is one compiled
    program. Fewer bits are kept with dtype=ts.float16.

    >>> cache = ts.models.KVCache(2, batch=1, heads=4, capacity=16, features=8)
    >>> cache.nbytes, int(cache.length)
    (8192, 0)
    """

    @located_init
    def __init__(
        self,
        layers: int,
        batch: int,
        heads: int,
        capacity: int,
        features: int,
        *,
        dtype: DTypeLike | None = None,
        padding: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> None:
        self.capacity = to_count("capacity", capacity)
        super().__init__(layers, batch, dtype, padding, self.capacity)
        shape = (self.batch, to_count("heads", heads, 0), self.capacity,
                 to_count("features", features, 0))  # fmt: skip

        def make() -> list[Tensor]:
            return [empty(shape, dtype=self.dtype) for _ in range(self.layers)]

        if allocator is None:
            self.keys, self.values = make(), make()
        else:
            with use(allocator):
                self.keys, self.values = make(), make()
        self.length = zeros((), dtype=int64)

    @property
    def nbytes(self) -> int:
        """The memory of keys and values."""
        return sum(x.nbytes for x in (*self.keys, *self.values))

    def lengths(self, count: int) -> Tensor:
        """Give how many places there are with so many more."""
        return self.length + count

    def room(self, count: int) -> int:
        """Give the capacity: attention hides what is not there yet."""
        return self.capacity

    def put(
        self, layer: int, places: Tensor, keys: Tensor, values: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Write keys and values of new places; give all there is room for."""
        own = self.keys[layer], self.values[layer]
        for mine, new in zip(own, (keys, values), strict=True):
            try:
                mine[:, :, places] = new.astype(mine.dtype)
            except errors.IndexOutOfBounds:
                full = model_errors.cache_full(int(self.length), keys.shape[2], self.capacity)
                raise full.locate("KVCache.put", []) from None
        if own[0].dtype is keys.dtype:
            return own
        return own[0].astype(keys.dtype), own[1].astype(values.dtype)

    def advance(self, count: int) -> None:
        """Count new places."""
        self.length += count

    @located("KVCache.truncate")
    def truncate(self, length: int) -> None:
        """Forget the places from `length` on.

        >>> cache = ts.models.KVCache(1, batch=1, heads=1, capacity=4, features=2)
        >>> cache.advance(3)
        >>> cache.truncate(1)
        >>> int(cache.length)
        1
        """
        kept, count = int(self.length), to_int("length", length)
        if not 0 <= count <= kept:
            raise errors.wrong_value("length", count, f"from 0 to {kept}, the places there are")
        self.length.fill_(count)


class GrowingCache(Cache):
    """Keys and values in arrays that grow with the text: model(tokens, cache).

    Steps over it are not compiled, and it keeps no gradients: call the model inside `no_grad`.

    >>> cache = ts.models.GrowingCache(1, batch=1, heads=2, features=4)
    >>> k, v = ts.ones(1, 2, 3, 4), ts.zeros(1, 2, 3, 4)
    >>> keys, values = cache.put(0, cache.places(3), k, v)
    >>> cache.advance(3)
    >>> keys.shape, int(cache.lengths(0))
    ((1, 2, 3, 4), 3)
    """

    @located_init
    def __init__(
        self,
        layers: int,
        batch: int,
        heads: int,
        features: int,
        *,
        dtype: DTypeLike | None = None,
        padding: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> None:
        super().__init__(layers, batch, dtype, padding, None)
        item = (self.batch, to_count("heads", heads, 0),
                to_count("features", features, 0))  # fmt: skip

        def make() -> list[DynamicArray[Tensor]]:
            return [DynamicArray(self.dtype, 0, True, allocator, item) for _ in range(self.layers)]

        self.keys, self.values = make(), make()
        self.count = 0

    @property
    def nbytes(self) -> int:
        """The memory of keys and values that are there."""
        return sum(x.nbytes for x in (*self.keys, *self.values))

    def lengths(self, count: int) -> Tensor:
        """Give how many places there are with so many more."""
        return tensor(self.count + count)

    def room(self, count: int) -> int:
        """Give how many places there are with so many more."""
        return self.count + count

    def put(
        self, layer: int, places: Tensor, keys: Tensor, values: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Add keys and values of new places; give all of them."""
        if is_grad_enabled() and (keys.requires_grad or values.requires_grad):
            raise model_errors.gradients_lost().locate("GrowingCache.put", [])
        found = []
        for array, new in ((self.keys[layer], keys), (self.values[layer], values)):
            while len(array) > self.count:  # of a call that failed half-way
                array.pop()
            array.extend(permute(new, (2, 0, 1, 3)).detach().astype(self.dtype))
            found.append(permute(array.as_tensor(), (1, 2, 0, 3)).astype(new.dtype))
        return found[0], found[1]

    def advance(self, count: int) -> None:
        """Count new places."""
        self.count += count
