"""Bytes of a file as elements of a dtype: in place where they are aligned, copied where not."""

from __future__ import annotations

from tessella import _core
from tessella._core import Tensor
from tessella.dtypes import DType, boolean
from tessella.io import file_errors
from tessella.ops.creation import copy_of


def as_elements(flat: Tensor, dtype: DType, owner: str, place: str) -> Tensor:
    """Give a flat tensor of bytes as one of elements; `owner` and `place` are for the error."""
    if dtype is boolean:
        _check_bools(flat, owner, place)
    if flat.size and flat.data_ptr % alignment(dtype):
        flat = copy_of(flat)
    return _core.bitcast(flat, dtype.id)


def alignment(dtype: DType) -> int:
    """Give what the address of an element is a multiple of, in the core."""
    if dtype.is_user:
        return 1
    return dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize


def _check_bools(flat: Tensor, owner: str, place: str) -> None:
    """Refuse bytes that are neither 0 nor 1: the core relies on it."""
    if flat.size and flat.max().item() > 1:
        index = int((flat > 1).argmax())
        raise file_errors.no_bool(place, owner, index, int(flat.at(index)))


def byte_swapped(flat: Tensor, dtype: DType) -> Tensor:
    """Copy bytes of numbers into the order of this machine."""
    part = alignment(dtype)
    return copy_of(flat.reshape(-1, part).flip(1)).reshape(-1) if part > 1 else flat
