"""x[mask] = value without counting what is true: where gradients are recorded, and in programs.

Each element of x becomes one of the value or stays, so that no shape depends on the mask. A value
with an item for each true element is spread over the mask by running counts.
"""

from __future__ import annotations

from tessella import _core, errors, inplace
from tessella._core import Layout, Tensor
from tessella.dtypes import boolean, int64
from tessella.hints import Any
from tessella.indexing import converted, expand
from tessella.kinds import cast
from tessella.limits import limited
from tessella.ops.creation import zeros
from tessella.ops.elementwise import clip, where
from tessella.ops.movement import getitem, reshape


class Masked:
    """A key with one mask beside slices: at an axis, the mask chooses from x[basic]."""

    __slots__ = ("axis", "basic", "mask")

    def __init__(self, basic: tuple[Any, ...], mask: Tensor, axis: int) -> None:
        self.basic = basic
        self.mask = mask
        self.axis = axis


def find_mask(x: Tensor, key: Any) -> Masked | None:
    """Take a key apart; None if it is another one, or has a mask that does not fit."""
    items = expand(converted(key), x.ndim)
    masks = [item for item in items if isinstance(item, Tensor)]
    if len(masks) != 1 or masks[0].dtype is not boolean or x.dtype.is_user:
        return None
    (mask,) = masks
    basic: list[Any] = []
    for item in items:
        if item is mask:
            axis, taken = len(basic), sum(each is not None for each in basic)
            basic += [slice(None)] * mask.ndim
        elif item is None or isinstance(item, slice):
            basic.append(item)
        else:
            return None
    sizes = x.shape[taken : taken + mask.ndim]
    if any(size not in (0, here) for size, here in zip(mask.shape, sizes, strict=True)):
        return None
    if mask.shape != sizes:  # a mask without elements selects nothing, from axes of any size
        mask = zeros(sizes, dtype=boolean)
    return Masked(tuple(basic), mask, axis)


def view_of(x: Tensor, masked: Masked) -> Tensor:
    """Give what the mask chooses from."""
    return x if all(item == slice(None) for item in masked.basic) else getitem(x, key=masked.basic)


def filled(view: Tensor, masked: Masked, value: Tensor, out: Tensor | None = None) -> Tensor:
    """Give the view with the value where the mask is true."""
    inplace.check_kinds(view, value)
    after = view.ndim - masked.axis - masked.mask.ndim
    place = value.ndim - after - 1  # of the axis of the value that the true elements are
    items = value.shape[place] if place >= 0 else 1
    _spread(value, view, masked, items)
    value = cast(value, view.dtype)
    if items != 1:
        value = _at_true(value, view, masked, place, items)
    elif place >= 0:
        ones = (1,) * masked.mask.ndim
        value = reshape(value, (*value.shape[:place], *ones, *value.shape[place + 1 :]))
    mask = reshape(masked.mask, (*masked.mask.shape, *(1,) * after))
    return where(mask, value, view) if out is None else where(mask, value, view, out=out)


def _spread(value: Tensor, view: Tensor, masked: Masked, count: int) -> Layout:
    """Give the layout of the value over so many true elements, or raise."""
    behind = view.shape[masked.axis + masked.mask.ndim :]
    return _core.layout_of(value).broadcast_to((*view.shape[: masked.axis], count, *behind))


def _at_true(value: Tensor, view: Tensor, masked: Masked, place: int, items: int) -> Tensor:
    """Spread a value that has an item for each true element over the mask."""

    def fail(count: int) -> errors.TessellaError:
        try:
            _spread(value, view, masked, count)
        except errors.TessellaError as error:
            return error
        raise AssertionError(count)

    limited(count_true(masked.mask), items, items, fail)
    return by_counts(value, masked.mask, place)


def count_true(mask: Tensor) -> Tensor:
    """Give the number of true elements, as a tensor."""
    return cast(mask, int64).sum()


def by_counts(value: Tensor, mask: Tensor, axis: int = 0) -> Tensor:
    """Give for each true element of a mask the next item of an axis, which becomes its axes.

    What stands where the mask is false means nothing.
    """
    items = value.shape[axis]
    if items == 0:
        shape = (*value.shape[:axis], *mask.shape, *value.shape[axis + 1 :])
        return zeros(shape, dtype=value.dtype)
    running = cast(reshape(mask, (-1,)), int64).cumulative_sum(axis=0) - 1
    return value.take(reshape(clip(running, 0, items - 1), mask.shape), axis=axis)
