"""Tensors from sizes and numbers. They have no operands to differentiate."""

from __future__ import annotations

import math

from tessella import _core, dtype_errors, errors
from tessella._core import Tensor
from tessella.arguments import to_bool
from tessella.composites import Device, DTypeLike, Element, Number, Offset, Shape, composite
from tessella.dtypes import (
    DEFAULTS,
    DType,
    check_cast,
    complex64,
    float32,
    int64,
    need_numbers,
    to_stored,
    uint64,
)
from tessella.hints import Any, Sequence

_WORD = (1 << 64) - 1

# Sizes may be given separately, and devices are only checked: there is one.
_MAKES: dict[str, Any] = {"is_method": False, "tested": "tests/test_creation.py"}
_SIZED: dict[str, Any] = {**_MAKES, "variadic": "shape"}


def with_grad(out: Tensor, requires_grad: bool) -> Tensor:
    """Mark a fresh tensor as one that gradients flow to."""
    if to_bool("requires_grad", requires_grad):
        if not (out.dtype.is_floating or out.dtype.is_complex):
            raise errors.grad_of_integers(out.dtype)
        _core.set_requires_grad(out, True)
    return out


def copy_of(x: Tensor, dtype: DType | None = None) -> Tensor:
    """Give a contiguous copy, converted if asked, that is not part of any graph."""
    dtype = dtype or x.dtype
    check_cast(x.dtype, dtype)
    if x.is_virtual:
        return _core.empty_virtual(x.shape, dtype.id)
    out = _core.empty(x.shape, dtype.id)
    _core.copy(out, x, True)
    return out


def _filled(out: Tensor, value: Element, requires_grad: bool) -> Tensor:
    stored = to_stored(value, out.dtype)
    if not out.is_virtual and not _core.fill(out, stored, True):
        raise errors.scalar_does_not_fit(value, out.dtype)
    return with_grad(out, requires_grad) if requires_grad else out


def _cleared(out: Tensor, requires_grad: bool) -> Tensor:
    if not out.is_virtual:
        _core.fill(out, False, True)  # 0 in every dtype
    return with_grad(out, requires_grad) if requires_grad else out


@composite(**_SIZED)
def empty(shape: Shape, *, dtype: DTypeLike | None = None, device: Device | None = None,
          requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Make a tensor whose elements are not set.

    >>> ts.empty(2, 3).shape
    (2, 3)
    """
    return with_grad(_core.empty(shape, (dtype or float32).id), requires_grad)


@composite(**_MAKES, gives="other")  # there is nothing to write elsewhere
def spec(shape: Shape, dtype: DTypeLike | None = None, *, requires_grad: bool = False) -> Tensor:
    """Make a virtual tensor: a shape and a dtype without memory. Operations on it give such.

    >>> x = ts.spec((1_000_000, 1_000_000), "float32")
    >>> (x @ x).nbytes
    4000000000000
    """
    return with_grad(_core.empty_virtual(shape, (dtype or float32).id), requires_grad)


@composite(**_SIZED)
def zeros(shape: Shape, *, dtype: DTypeLike | None = None, device: Device | None = None,
          requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Make a tensor of zeros; items of a user's dtype are bytes of 0.

    >>> ts.zeros(2).tolist()
    [0.0, 0.0]
    """
    return _cleared(_core.empty(shape, (dtype or float32).id), requires_grad)


@composite(**_SIZED)
def ones(shape: Shape, *, dtype: DTypeLike | None = None, device: Device | None = None,
         requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Make a tensor of ones.

    >>> ts.ones(2, dtype=ts.int64).tolist()
    [1, 1]
    """
    kind = dtype or float32
    need_numbers(kind)
    return _filled(_core.empty(shape, kind.id), True, requires_grad)


@composite(**_MAKES)
def full(shape: Shape, fill_value: Element, *, dtype: DTypeLike | None = None,
         device: Device | None = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Make a tensor with one value everywhere: a number, or an item of a user's dtype.

    >>> ts.full((2, 2), 7).tolist()
    [[7, 7], [7, 7]]
    """
    kind = dtype or next((DEFAULTS[t] for t in DEFAULTS if isinstance(fill_value, t)), float32)
    return _filled(_core.empty(shape, kind.id), fill_value, requires_grad)


def empty_beside(x: Tensor, shape: Sequence[int], dtype: DType | None) -> Tensor:
    """Make a tensor whose elements are not set: without memory if x has none."""
    make = _core.empty_virtual if x.is_virtual else _core.empty
    return make(shape, (dtype or x.dtype).id)


@composite(**_MAKES)
def empty_like(x: Tensor, *, dtype: DTypeLike | None = None, device: Device | None = None,
               requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Make a tensor of x's shape and dtype whose elements are not set.

    >>> ts.empty_like(ts.zeros(2, 3)).shape
    (2, 3)
    """
    return with_grad(empty_beside(x, x.shape, dtype), requires_grad)


@composite(**_MAKES)
def zeros_like(x: Tensor, *, dtype: DTypeLike | None = None, device: Device | None = None,
               requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Make zeros of x's shape and dtype.

    >>> ts.zeros_like(ts.ones(2)).tolist()
    [0.0, 0.0]
    """
    return _cleared(empty_beside(x, x.shape, dtype), requires_grad)


@composite(**_MAKES)
def ones_like(x: Tensor, *, dtype: DTypeLike | None = None, device: Device | None = None,
              requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Make ones of x's shape and dtype.

    >>> ts.ones_like(ts.zeros(2)).tolist()
    [1.0, 1.0]
    """
    need_numbers(dtype or x.dtype)
    return _filled(empty_beside(x, x.shape, dtype), True, requires_grad)


@composite(**_MAKES)
def full_like(x: Tensor, fill_value: Element, *, dtype: DTypeLike | None = None,
              device: Device | None = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Make a tensor of x's shape and dtype with one value everywhere.

    >>> ts.full_like(ts.zeros(2), 3).tolist()
    [3.0, 3.0]
    """
    return _filled(empty_beside(x, x.shape, dtype), fill_value, requires_grad)


# --- counting ------------------------------------------------------------------------------------


def _finite(name: str, value: Number, is_real: bool = True) -> Any:
    if isinstance(value, bool) or (is_real and isinstance(value, complex)):
        raise errors.wrong_type(name, value, "a real number" if is_real else "a number")
    if isinstance(value, int):
        if not -(1 << 63) <= value <= _WORD:
            raise errors.integer_too_large(name, value, 64)
    elif not (math.isfinite(value.real) and math.isfinite(value.imag)):
        raise errors.wrong_value(name, value, "finite")
    return value


@composite(**_MAKES, keywords={"end": "stop"})
def arange(start: Number, stop: Number | None = None, step: Number = 1, *,
           dtype: DTypeLike | None = None, device: Device | None = None,
           requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Count from start to stop, without stop.

    >>> ts.arange(2, 10, 3).tolist()
    [2, 5, 8]
    """
    begin, end = (0, start) if stop is None else (start, stop)
    begin, end, by = _finite("start", begin), _finite("stop", end), _finite("step", step)
    if by == 0:
        raise errors.wrong_value("step", step, "other than 0")
    whole = isinstance(begin, int) and isinstance(end, int) and isinstance(by, int)
    length = -((begin - end) // by) if whole else (end - begin) / by
    if length >= 1 << 63:
        raise errors.integer_too_large("the number of elements", length, 63)
    kind = dtype or (int64 if whole else float32)
    need_numbers(kind)
    count = max(0, math.ceil(length))
    out = _core.empty((count,), kind.id)
    if count:
        _count(out, begin, by if count > 1 else 0, begin + (count - 1) * by)
    return with_grad(out, requires_grad)


def _count(out: Tensor, start: int | float, step: int | float, last: int | float) -> None:
    """Write start + i * step up to the last, in integers where both are."""
    dtype = out.dtype
    for value in (start, last):
        number = int(value) if dtype.is_integer else float(value)
        if not _core.scalar_fits(number, dtype.id):
            raise errors.scalar_does_not_fit(value, dtype)
    low, high = (0, _WORD) if dtype is uint64 else (-(1 << 63), (1 << 63) - 1)
    fits = low <= start <= high and low <= last <= high
    if fits and isinstance(start, int) and isinstance(step, int):
        _core.count_integers(out, start & _WORD, step & _WORD)
    else:
        _core.count_floats(out, float(start), float(step), 1.0)


@composite(**_MAKES, keywords={"end": "stop", "steps": "num"})
def linspace(start: Number, stop: Number, num: int, *, dtype: DTypeLike | None = None,
             device: Device | None = None, endpoint: bool = True,
             requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Give num values evenly from start to stop, both included.

    Without the endpoint, they are the first of num + 1 such values.

    >>> ts.linspace(0, 1, 5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    begin, end = _finite("start", start, False), _finite("stop", stop, False)
    is_complex = isinstance(begin, complex) or isinstance(end, complex)
    kind = dtype or (complex64 if is_complex else float32)
    need_numbers(kind)
    if is_complex and not kind.is_complex:
        raise dtype_errors.cannot_cast(complex64, kind)
    out = _core.empty((num,), kind.id)
    if num > 0:
        _divide(out, begin, end, num - 1 if endpoint else num)
        if kind.is_integer:
            _set(out, 0, begin)
        if endpoint and num > 1:
            _set(out, -1, end)
    return with_grad(out, requires_grad)


def _divide(out: Tensor, begin: Number, end: Number, steps: int) -> None:
    """Write begin + i * step; halves of it, doubled, where the difference overflows."""
    steps = max(steps, 1)
    if not out.dtype.is_complex:
        a, b = float(begin.real), float(end.real)
        scale = 1.0 if math.isfinite(b - a) else 2.0
        _core.count_floats(out, a / scale, (b / scale - a / scale) / steps, scale)
        return
    first, last = complex(begin), complex(end)
    gap = last - first
    scale = 1.0 if math.isfinite(gap.real) and math.isfinite(gap.imag) else 2.0
    first, gap = first / scale, last / scale - first / scale
    _core.count_complex(out, first, complex(gap.real / steps, gap.imag / steps), scale)


def _set(out: Tensor, place: int, value: Number) -> None:
    """Write one element: an integer exactly, a fraction into an integer cut off."""
    out[place] = int(value) if out.dtype.is_integer and isinstance(value, float) else value


@composite(**_MAKES, keywords={"n": "n_rows", "m": "n_cols"})
def eye(n_rows: int, n_cols: int | None = None, *, k: Offset = 0, dtype: DTypeLike | None = None,
        device: Device | None = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Make a matrix with ones on its k-th diagonal.

    >>> ts.eye(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    kind = dtype or float32
    need_numbers(kind)
    out = _core.empty((n_rows, n_rows if n_cols is None else n_cols), kind.id)
    _core.fill(out, False, True)
    _core.fill(_core.view(out, _core.layout_of(out).diagonal(k, 0, 1)), True)
    return with_grad(out, requires_grad)
