"""The order of dynamic arrays: sorting, searching, comparing, extremes.

Whatever fails leaves the array as it was. Python code that is called on the way (keys, comparators)
works on copies, before anything is written.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cmp_to_key
from typing import Any

from tessella import _core, dynamic_errors, errors
from tessella._core import Tensor
from tessella.arguments import NUMBERS, to_bool, to_float, to_number
from tessella.dtypes import KINDS, DType, boolean, int64
from tessella.dynamic_shape import I, ShapedArray, explained
from tessella.exchange import share
from tessella.hints import Element, Real
from tessella.items import OnHeap, has_memory, to_element, to_item
from tessella.ops.composite import allclose
from tessella.ops.creation import copy_of
from tessella.ops.ordering import argsort, flat_sort, nan_last

_ORDERED = ("bool", *KINDS["integral"], "real floating")  # kinds of dtypes
_CHUNK = 1 << 16  # items that a search looks at together


class OrderedArray(ShapedArray[I]):
    """An array that can be sorted and searched."""

    __slots__ = ()

    @explained
    def reverse(self) -> None:
        """Turn the order of the items around, in place.

        >>> a = ts.DynamicArray(int)
        >>> a.extend([1, 2, 3])
        >>> a.reverse()
        >>> list(a)
        [3, 2, 1]
        """
        _core.array_reverse(self)

    @explained
    def sort(
        self,
        *,
        descending: bool = False,
        key: Callable[[I], object] | Tensor | Sequence[object] | None = None,
        compare: Callable[[I, I], int] | None = None,
        stable: bool = True,
    ) -> None:
        """Sort the items in place: O(n log n) at worst, NaN last in either direction.

        `key` is a function of an item, or a tensor or list with one key for each; `compare` gives
        a negative number, 0 or a positive one for two items. Equal items keep their order, whether
        that is asked for or not.

        >>> a = ts.DynamicArray(ts.float32)
        >>> a.extend([3, float("nan"), 1, -2])
        >>> a.sort(descending=True)
        >>> list(a)
        [3.0, 1.0, -2.0, nan]
        >>> a.sort(key=abs)
        >>> list(a)
        [1.0, -2.0, 3.0, nan]
        """
        to_bool("stable", stable)
        is_falling = to_bool("descending", descending)
        items, stamp = self.as_tensor(), _core.array_stamp(self)
        if key is None and compare is None:
            if self.item_shape or self.dtype.kind not in _ORDERED:
                raise dynamic_errors.no_order(self.dtype, self.item_shape)
            with OnHeap():
                self._rewrite(stamp, flat_sort(items, descending=is_falling))
            return
        self._reorder(self._order(is_falling, key, compare), "sorted", stamp)

    def _order(self, descending: bool, key: Any, compare: Any) -> Any:
        """Give the indices that sort, as a tensor or a list."""
        if key is not None and compare is not None:
            raise dynamic_errors.two_orders()
        if compare is None and has_memory(key):
            return self._numeric_order(key, descending)
        keys = self._keys(key) if compare is None else self._compared(compare)
        last = [i for i, each in enumerate(keys) if is_nan(each)]
        rest = set(last)
        places = [i for i in range(len(keys)) if i not in rest]
        return [*sorted(places, key=keys.__getitem__, reverse=descending), *last]

    def _compared(self, compare: Any) -> list[Any]:
        if not callable(compare):
            raise errors.wrong_type("compare", compare, "a function of two items")
        return list(map(cmp_to_key(compare), self._snapshot()))

    def _keys(self, key: Any) -> list[Any]:
        """Give what to sort by, in Python's values: of a function, or one for each item."""
        if callable(key):
            keys = list(map(key, self._snapshot()))
        elif hasattr(key, "__iter__"):
            keys = list(key)
            if len(keys) != len(self):
                raise dynamic_errors.key_count(len(keys), len(self))
        else:
            raise errors.wrong_type("key", key, "a function of an item, a tensor or a list")
        return [each.item() if isinstance(each, Tensor) else each for each in keys]

    def _numeric_order(self, key: Any, descending: bool) -> Tensor:
        keys = key if isinstance(key, Tensor) else share(key, True)
        if keys.shape != (len(self),):
            raise dynamic_errors.key_count(keys.size, len(self))
        with OnHeap():
            keys = keys.detach()
            return nan_last(argsort(keys, descending=descending), keys, descending)

    def _snapshot(self) -> list[Any]:
        """Copy the items, for code that may do anything to the array."""
        if not self.item_shape:
            return list(self)
        with OnHeap():
            return list(copy_of(self.as_tensor()))

    def _reorder(self, order: Any, action: str, stamp: Any = None) -> None:
        """Put the items in the order of a list of indices."""
        stamp = stamp or _core.array_stamp(self)
        with OnHeap():
            if not isinstance(order, Tensor):
                places = _core.empty((len(order),), int64.id)
                _core.fill_from_list(places, order)
                order = places
            if len(order) != len(self):
                raise dynamic_errors.changed(action)
            self._rewrite(stamp, self.as_tensor()[order], action)

    def _rewrite(self, stamp: Any, items: Tensor, action: str = "sorted") -> None:
        if not _core.array_rewrite(self, stamp, items):
            raise dynamic_errors.changed(action)

    # --- searching and comparing ------------------------------------------------------------------

    @explained
    def find(self, value: Tensor | Element) -> int | None:
        """Give the index of the first item that equals a value, or None: O(n).

        A float is rounded to the dtype first, as an item is; an integer equals only itself.

        >>> a = ts.DynamicArray(int)
        >>> a.extend([5, 7, 7])
        >>> a.find(7), a.find(8)
        (1, None)
        """
        return self._find(value)

    def _find(self, value: Any) -> int | None:
        value = to_number(value)
        with OnHeap():
            if self.item_shape or not isinstance(value, NUMBERS):
                wanted = to_item(value, self.dtype, self.item_shape)
            else:
                exact = exactly(value, self.dtype)
                if exact is None or not _core.scalar_fits(exact, self.dtype.id):
                    return None
                wanted = to_element(exact, self.dtype)
                if isinstance(exact, int) and wanted.item() != exact:
                    return None  # integers are not rounded
            return self._place_of(wanted)

    def _place_of(self, wanted: Tensor) -> int | None:
        items = self.as_tensor()
        for start in range(0, len(items), _CHUNK):
            found = items[start : start + _CHUNK] == wanted
            if found.ndim > 1:
                found = found.reshape(found.shape[0], -1).all(axis=1)
            if found.any():
                return start + int(found.astype(int64).argmax(0).item())
        return None

    @explained
    def index(self, value: Tensor | Element) -> int:
        """Give the index of the first item that equals a value; refuse one that is not there.

        >>> a = ts.DynamicArray(int)
        >>> a.extend([5, 7, 7])
        >>> a.index(7)
        1
        """
        place = self._find(value)
        if place is None:
            raise dynamic_errors.not_found(value)
        return place

    @explained
    def __contains__(self, value: object) -> bool:
        return self._find(value) is not None

    @explained
    def binary_search(
        self, value: object, *, descending: bool = False, key: Callable[[I], object] | None = None
    ) -> int | None:
        """Give the index of the first item that equals a value in a sorted array, or None.

        O(log n). `descending` and `key` are those that it was sorted by; the value is compared
        with keys then.

        >>> a = ts.DynamicArray(int)
        >>> a.extend([1, 3, 3, 8])
        >>> a.binary_search(3), a.binary_search(4)
        (1, None)
        """
        low, high = self._bracket(value, descending, key)
        return low if low == high else None

    @explained
    def bracket(
        self, value: object, *, descending: bool = False, key: Callable[[I], object] | None = None
    ) -> tuple[int | None, int | None]:
        """Give the indices of the neighbours that a value lies between in a sorted array.

        Both are the first equal item where there is one. None stands for the end beyond which
        there is no item. A float is rounded to the dtype first, as an item is.

        >>> a = ts.DynamicArray(int)
        >>> a.extend([1, 3, 3, 8])
        >>> a.bracket(4), a.bracket(3), a.bracket(0), a.bracket(9)
        ((2, 3), (1, 1), (None, 0), (3, None))
        """
        return self._bracket(value, descending, key)

    def _bracket(self, value: Any, descending: bool, key: Any) -> tuple[int | None, int | None]:
        value, falls = to_number(value), to_bool("descending", descending)
        if self.item_shape and key is None:
            raise dynamic_errors.no_order(self.dtype, self.item_shape)
        if key is None and self.dtype.is_floating and isinstance(value, float | complex):
            with OnHeap():
                value = to_element(value, self.dtype).item()  # rounded, as the items are

        def rank(index: int) -> Rank:
            return Rank(self[index] if key is None else key(self[index]), falls)

        wanted, length = Rank(value, falls), len(self)
        at = bisect_left(range(length), wanted, key=rank)
        if at < length and not wanted < rank(at):
            return at, at
        return at - 1 if at else None, at if at < length else None

    @explained
    def equals(self, other: object, *, rtol: float = 0.0, atol: float = 0.0) -> bool:
        """Tell whether another array has the same dtype, shape and items.

        With tolerances, numbers may differ by atol + rtol * abs(other); items of users' dtypes are
        equal or not. NaN equals nothing.

        >>> a, b = ts.DynamicArray(float), ts.DynamicArray(float)
        >>> a.append(1.0)
        >>> b.append(1.001)
        >>> a.equals(b), a.equals(b, atol=0.01)
        (False, True)
        """
        if not isinstance(other, OrderedArray):
            raise errors.wrong_type("other", other, "a DynamicArray")
        near, part = to_float("atol", atol), to_float("rtol", rtol)
        if self.dtype is not other.dtype or self.shape != other.shape:
            return False
        x, y = self.as_tensor(), other.as_tensor()
        with OnHeap():
            if (near or part) and not self.dtype.is_user:
                return bool(allclose(x, y, rtol=part, atol=near))
            return bool((x == y).all())

    def __eq__(self, other: object) -> bool:
        return self.equals(other) if isinstance(other, OrderedArray) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as a list: it changes

    @explained
    def min(self) -> Real:
        """Give the smallest element.

        >>> a = ts.DynamicArray(int)
        >>> a.extend([3, 1, 2])
        >>> a.min()
        1
        """
        return self._reduced("min")

    @explained
    def max(self) -> Real:
        """Give the largest element.

        >>> a = ts.DynamicArray(int)
        >>> a.extend([3, 1, 2])
        >>> a.max()
        3
        """
        return self._reduced("max")

    @explained
    def sum(self) -> Real:
        """Give the sum of all elements.

        >>> a = ts.DynamicArray(int)
        >>> a.extend([3, 1, 2])
        >>> a.sum()
        6
        """
        with OnHeap():
            return self.as_tensor().sum().item()

    def _reduced(self, name: str) -> Real:
        if self.size == 0:
            raise dynamic_errors.empty("choose")
        with OnHeap():
            found: Tensor = getattr(self.as_tensor(), name)()
            return found.item()


def exactly(value: Any, dtype: DType) -> Any:
    """Give a number of the dtype's kind that equals a number of a higher one; None if none does."""
    if isinstance(value, complex) and not dtype.is_complex:
        value = None if value.imag else value.real
    if isinstance(value, float) and not (dtype.is_floating or dtype.is_complex):
        value = int(value) if value.is_integer() else None
    if isinstance(value, int) and dtype is boolean:
        value = bool(value) if value in (0, 1) else None
    return value


class Rank:
    """A value in the order that sort makes: NaN last, numbers falling if asked."""

    __slots__ = ("falls", "value")

    def __init__(self, value: Any, falls: bool) -> None:
        self.value = value
        self.falls = falls

    def __lt__(self, other: Rank) -> bool:
        x, y = self.value, other.value
        is_last, is_other_last = is_nan(x), is_nan(y)
        if is_last or is_other_last:
            return is_other_last and not is_last
        try:
            return bool(y < x if self.falls else x < y)
        except TypeError as error:
            raise dynamic_errors.not_comparable(x, y) from error


def is_nan(value: Any) -> bool:
    """Tell whether a key is not a number."""
    return isinstance(value, float) and value != value
