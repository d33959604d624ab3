"""What stands between the brackets: keys, resolved into views and gathers.

Integers, slices, `...` and None make views (`basic_layout`). Index tensors, lists and masks gather
or scatter: a mask becomes the coordinates of its true elements, an integer beside an index tensor
counts as one, and the indexed axes stand where the first was, or in front if they were apart: the
rules of NumPy.
"""

from __future__ import annotations

import operator

from tessella import _core, errors
from tessella._core import Layout, Tensor
from tessella.dtypes import boolean, int64
from tessella.exchange import share
from tessella.hints import Any
from tessella.tensors import tensor


def basic_layout(layout: Layout, key: Any) -> Layout:
    """Apply integers, slices, `...` and None to a layout."""
    axis = 0  # of the layout so far
    given = 0  # of the layout that was given, for errors
    for item in expand(key, layout.ndim):
        if item is None:
            layout = layout.unsqueeze((axis,))
            axis += 1
            continue
        if isinstance(item, slice):
            layout = _slice(layout, axis, item)
            axis += 1
        else:
            layout = layout.select(axis, _checked(to_index(item), given, layout.shape[axis]))
        given += 1
    return layout


def _checked(index: int, axis: int, size: int) -> int:
    if not -size <= index < size:
        raise errors.index_out_of_bounds(index, axis, size)
    return index


def _slice(layout: Layout, axis: int, item: slice) -> Layout:
    size = layout.shape[axis]
    try:
        start, stop, step = item.indices(size)
    except ValueError:
        raise errors.slice_step() from None
    except TypeError:
        parts = (("start", item.start), ("stop", item.stop), ("step", item.step))
        name, value = next(pair for pair in parts if not _is_bound(pair[1]))
        raise errors.wrong_type(name, value, "an integer or None") from None
    count = len(range(start, stop, step))
    if step < 0:  # the core clamps like Python, where -1 would mean the last element
        stop = -size - 1 if stop < 0 else stop
    return layout.slice(axis, start, stop if count else start, max(-(1 << 62), min(step, 1 << 62)))


def _is_bound(value: Any) -> bool:
    try:
        return value is None or operator.index(value) is not None
    except TypeError:
        return False


def to_index(item: Any) -> int:
    """Read one integer index."""
    if not hasattr(item, "__index__"):
        raise errors.bad_index_type(item)
    try:
        index = operator.index(item)
    except TypeError:
        raise errors.bad_index_type(item) from None
    if not -(1 << 63) <= index < 1 << 63:
        raise errors.bad_index_size(index)
    return index


def expand(key: Any, ndim: int) -> list[Any]:
    """Make a key a list with one item for each axis (and None for new ones)."""
    items = list(key) if isinstance(key, tuple) else [key]
    used = sum(_axes_of(item) for item in items)
    dots = sum(item is ... for item in items)
    if dots > 1:
        raise errors.two_ellipses()
    if used > ndim:
        raise errors.index_count(used, ndim)
    filler = [slice(None)] * (ndim - used)
    if not dots:
        return items + filler
    at = next(i for i, item in enumerate(items) if item is ...)
    return items[:at] + filler + items[at + 1 :]


def _axes_of(item: Any) -> int:
    """How many axes of the tensor an item of a key takes."""
    if item is None or item is ...:
        return 0
    if isinstance(item, Tensor) and item.dtype is boolean:
        return item.ndim
    return 1


def is_basic(key: Any) -> bool:
    """Tell whether a key makes a view."""
    items = key if isinstance(key, tuple) else (key,)
    return not any(is_advanced(item) for item in items)


def is_advanced(item: Any) -> bool:
    """Tell whether an item of a key gathers."""
    if isinstance(item, Tensor):
        return item.ndim > 0 or not item.dtype.is_integer
    return isinstance(item, list | bool) or errors.is_foreign_array(item)


class Gathering:
    """A key with index tensors: a basic key first, then indices over some axes of its view.

    `indices[i]` selects from axis `axes[i]` of the view; the indexed axes are replaced by the axes
    of the broadcast index shape, which stand at `place` of the result.
    """

    def __init__(self, x: Tensor, key: Any) -> None:
        key = converted(key)
        given = key if isinstance(key, tuple) else (key,)
        items = expand(given, x.ndim)
        self.axes: list[int] = []
        self.indices: list[Tensor] = []
        spots = _spots(given)  # a `...` between indices parts them even where it takes no axis
        basic: list[Any] = []
        axis = 0
        for item in items:
            if not _is_index(item):
                basic.append(item)
                axis += 1
                continue
            # A 0-d mask takes no axis: it selects all or nothing of a new one of size 1.
            whole = None if _axes_of(item) == 0 else slice(None)
            for index in _coordinates(item, x.shape, _taken(basic)):
                basic.append(whole)
                self.axes.append(axis)
                self.indices.append(index)
                axis += 1
        # What the slices and new axes of the key make of x, or None if they change nothing.
        self.basic = None if all(item == slice(None) for item in basic) else tuple(basic)
        view = basic_layout(_core.layout_of(x), tuple(basic))
        self.shape: tuple[int, ...] = ()
        for index in self.indices:
            self.shape = _core.broadcast_shapes(self.shape, index.shape)
        together = spots == list(range(spots[0], spots[0] + len(spots)))
        self.place = self.axes[0] if together else 0
        rest = [size for i, size in enumerate(view.shape) if i not in self.axes]
        self.out_shape = (*rest[: self.place], *self.shape, *rest[self.place :])


def _spots(items: tuple[Any, ...]) -> list[int]:
    return [i for i, item in enumerate(items) if _is_index(item)]


def _is_index(item: Any) -> bool:
    return not (item is None or item is ... or isinstance(item, slice))


def _taken(basic: list[Any]) -> int:
    return sum(item is not None for item in basic)


def converted(key: Any) -> Any:
    """Make lists, arrays and bools of a key tensors; a key without any is given as it is."""
    if not isinstance(key, tuple):
        return _convert(key)
    items = tuple(map(_convert, key))
    return key if all(new is old for new, old in zip(items, key, strict=True)) else items


def _convert(item: Any) -> Any:
    if isinstance(item, Tensor):
        return item
    if isinstance(item, bool):
        return tensor(item)
    if isinstance(item, list):
        return tensor(item) if item else tensor(item, dtype=int64)
    if errors.is_foreign_array(item):
        return share(item, True)
    return item


def _coordinates(item: Any, shape: tuple[int, ...], axis: int) -> list[Tensor]:
    """Give one int64 index tensor for each axis that an item takes."""
    if not isinstance(item, Tensor):
        out = _core.empty((), int64.id)
        _core.fill(out, to_index(item))
        return [out]
    if item.dtype is boolean:
        # The array API lets a mask without elements select nothing from an axis of any size.
        sizes = shape[axis : axis + item.ndim]
        if any(size not in (0, here) for size, here in zip(item.shape, sizes, strict=True)):
            raise errors.mask_shape(item.shape, sizes, axis)
        return _mask_coordinates(item)
    if not item.dtype.is_integer:
        raise errors.bad_index_dtype(item.dtype)
    return [item.detach() if item.dtype is int64 else item.astype(int64)]


def _mask_coordinates(mask: Tensor) -> list[Tensor]:
    """Give the coordinates of true elements; those of a 0-d mask in an axis of size 1."""
    found = _core.nonzero(mask if mask.ndim else mask.reshape((1,)))
    rows = [_core.view(found, _core.layout_of(found).select(0, i)) for i in range(found.shape[0])]
    return rows
