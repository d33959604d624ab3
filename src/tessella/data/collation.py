"""How samples become one batch: tensors are stacked, numbers become tensors, containers follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

from tessella import data_errors, errors
from tessella._core import Tensor
from tessella.dtypes import float64
from tessella.exchange import is_shareable
from tessella.located import located
from tessella.ops.joining import stack
from tessella.tensors import asarray, tensor
from tessella.trees import too_nested


@overload
def default_collate(batch: Sequence[Tensor | float]) -> Tensor: ...
@overload
def default_collate(batch: Sequence[tuple[Tensor | float, ...]]) -> list[Tensor]: ...
@overload
def default_collate(batch: Sequence[Mapping[str, Tensor | float]]) -> dict[str, Tensor]: ...
@overload
def default_collate(batch: Sequence[object]) -> object: ...
@located("data.default_collate")
def default_collate(batch: Sequence[Any]) -> Any:
    """Join samples as a DataLoader does: with a first axis that counts them.

    Tensors and arrays are stacked; Python floats become float64 and integers int64, as in PyTorch;
    text stays a list; dicts, named tuples, tuples and lists are joined part by part, and tuples
    become lists.

    >>> x, y = ts.data.default_collate([(ts.zeros(2), 3), (ts.ones(2), 4)])
    >>> x.shape, y.tolist()
    ((2, 2), [3, 4])
    """
    if not isinstance(batch, Sequence):
        raise errors.wrong_type("batch", batch, "a list of samples")
    if len(batch) == 0:
        raise data_errors.empty_batch()
    try:
        return _joined(batch)
    except RecursionError:
        raise too_nested() from None


def _joined(batch: Sequence[Any]) -> Any:
    first = batch[0]
    if isinstance(first, Tensor):
        return _stacked(batch)
    if isinstance(first, float):
        return tensor(batch, dtype=float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, str | bytes):
        return list(batch)
    if is_shareable(first):
        return _stacked([asarray(x) for x in batch])
    if isinstance(first, Mapping):
        for i, sample in enumerate(batch):
            keys = sample.keys() if isinstance(sample, Mapping) else errors.type_name(sample)
            if not isinstance(sample, Mapping) or not first.keys() <= sample.keys():
                raise data_errors.samples_differ("keys", i, keys, first.keys())
        return _like_mapping(first, {key: _joined([x[key] for x in batch]) for key in first})
    if isinstance(first, Sequence):
        return _joined_parts(first, batch)
    raise data_errors.no_collation(first)


def _stacked(batch: Sequence[Tensor]) -> Tensor:
    shape = batch[0].shape
    for i, x in enumerate(batch):
        if not isinstance(x, Tensor) or x.shape != shape:
            found = x.shape if isinstance(x, Tensor) else errors.type_name(x)
            raise data_errors.samples_differ("shape", i, found, shape)
    return stack(batch, axis=0)


def _joined_parts(first: Sequence[Any], batch: Sequence[Any]) -> Any:
    for i, sample in enumerate(batch):
        if not isinstance(sample, Sequence):
            name, other = errors.type_name(sample), errors.type_name(first)
            raise data_errors.samples_differ("type", i, name, other)
        if len(sample) != len(first):
            raise data_errors.samples_differ("length", i, len(sample), len(first))
    parts = [_joined(part) for part in zip(*batch, strict=True)]
    return type(first)(*parts) if hasattr(first, "_fields") else parts


def _like_mapping(like: Mapping[Any, Any], parts: dict[Any, Any]) -> Any:
    """Give a mapping of the same type, where that can be made of a dict."""
    try:
        return type(like)(parts)  # type: ignore[call-arg]  # or TypeError
    except TypeError:
        return parts


@overload
def default_convert(data: Tensor) -> Tensor: ...
@overload
def default_convert(data: object) -> object: ...
@located("data.default_convert")
def default_convert(data: Any) -> Any:
    """Give one sample as it is, with its arrays as tensors: what a loader without batches does.

    >>> ts.data.default_convert((numpy.zeros(2), "a"))[0].shape
    (2,)
    """
    try:
        return _converted(data)
    except RecursionError:
        raise too_nested() from None


def _converted(data: Any) -> Any:
    if isinstance(data, Tensor | str | bytes):
        return data
    if is_shareable(data):
        return asarray(data)
    if isinstance(data, Mapping):
        return _like_mapping(data, {key: _converted(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(_converted(part) for part in data))
    if isinstance(data, Sequence):
        return [_converted(part) for part in data]
    return data
