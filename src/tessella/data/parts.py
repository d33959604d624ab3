"""split: a training part and a test part, by a seed, with or without the same share of classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar

from tessella import data_errors, errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_float, to_int, to_list
from tessella.data.datasets import Dataset, Subset, length_of
from tessella.data.preparation import to_categories
from tessella.data.tables import Table
from tessella.dtypes import int64
from tessella.located import located
from tessella.ops.creation import arange
from tessella.ops.joining import concat
from tessella.ops.random import Generator, randperm
from tessella.ops.sets import unique_values
from tessella.tensors import tensor

T = TypeVar("T")


@located("data.split")
def split(
    *arrays: T,
    test_size: float | int = 0.25,
    seed: int | Generator = 0,
    shuffle: bool = True,
    stratify: Tensor | Sequence[object] | None = None,
) -> list[T]:
    """Cut each of some arrays of as many rows into a training part and a test part.

    Arrays are tensors, tables, datasets or lists. test_size is a fraction, rounded up, or a number
    of rows. With `stratify`, a class for each row, both parts have the classes in the same shares.
    The same seed gives the same parts.

    >>> x, y = ts.arange(8.0), ts.tensor([0, 0, 0, 0, 1, 1, 1, 1])
    >>> x_train, x_test, y_train, y_test = ts.data.split(x, y, test_size=0.5, stratify=y)
    >>> sorted(y_test.tolist())
    [0, 0, 1, 1]
    """
    if not arrays:
        raise errors.wrong_value("arrays", arrays, "one array or more")
    lengths = [length_of(f"arrays[{i}]", array) for i, array in enumerate(arrays)]
    length = lengths[0]
    for i, rows in enumerate(lengths):
        if rows != length:
            raise data_errors.rows_differ(i, rows, length)
    count = _test_count(test_size, length)
    source = seed if isinstance(seed, Generator) else Generator(to_int("seed", seed, 64))
    if stratify is not None and not to_bool("shuffle", shuffle):
        raise errors.wrong_value("shuffle", shuffle, "True with stratify, which draws")
    if stratify is not None:
        train, test = _stratified(_codes(stratify, length), count, source)
    else:
        is_mixed = to_bool("shuffle", shuffle)
        order = randperm(length, generator=source) if is_mixed else arange(length, dtype=int64)
        train, test = order[: length - count], order[length - count :]
    return [_taken(array, rows) for array in arrays for rows in (train, test)]


def _test_count(size: Any, length: int) -> int:
    if isinstance(size, int):
        count = to_int("test_size", size)
    else:
        part = to_float("test_size", size)
        if not 0 < part < 1:
            raise errors.wrong_value("test_size", size, "between 0 and 1, or a number of rows")
        count = math.ceil(length * part)
    if count < 1:
        raise data_errors.empty_part("test", length)
    if count >= length:
        raise data_errors.empty_part("training", length)
    return count


def _codes(classes: Any, length: int) -> Tensor:
    """Give the class of each row as an integer."""
    if isinstance(classes, Tensor):
        codes = classes
    else:
        listed = to_list("stratify", classes, f"a class for each of {length} rows")
        numbers = {value: i for i, value in enumerate(to_categories("stratify", listed))}
        codes = tensor([numbers[value] for value in listed], int64)
    if codes.shape != (length,) or codes.dtype.is_floating or codes.dtype.is_complex:
        found = f"{codes.dtype} {codes.shape}"
        raise errors.wrong_value("stratify", found, f"a class for each of {length} rows")
    return codes


def _stratified(codes: Tensor, count: int, source: Generator) -> tuple[Tensor, Tensor]:
    order = randperm(codes.shape[0], generator=source)
    mixed = codes[order]
    values: Any = unique_values(codes).tolist()
    members = [(value, order[mixed == value]) for value in values]
    for value, rows in members:
        if rows.shape[0] < 2:
            raise data_errors.too_few_of_class(value, rows.shape[0])
    shares = _shares([rows.shape[0] for _, rows in members], count)
    cut = [(rows[share:], rows[:share])
           for (_, rows), share in zip(members, shares, strict=True)]  # fmt: skip
    parts = [concat([pair[side] for pair in cut], axis=0) for side in (0, 1)]
    train, test = (part[randperm(part.shape[0], generator=source)] for part in parts)
    return train, test


def _shares(sizes: list[int], count: int) -> list[int]:
    """Give each class its share of the count; the largest remainders are rounded up."""
    total = sum(sizes)
    shares = [size * count // total for size in sizes]
    left = sorted(range(len(sizes)), key=lambda i: (-(sizes[i] * count % total), i))
    for i in left[: count - sum(shares)]:
        shares[i] += 1
    return shares


def _taken(array: Any, rows: Tensor) -> Any:
    if isinstance(array, Tensor):
        return array[rows]
    if isinstance(array, Table):
        return array.take(rows)
    if isinstance(array, Dataset):
        return Subset(array, rows)
    places: Any = rows.tolist()
    return [array[i] for i in places]
