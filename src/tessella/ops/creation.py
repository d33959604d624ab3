"""Tensors from sizes and numbers. Plain functions: they have no operands to differentiate."""

from __future__ import annotations

import math
from typing import Any

from tessella import _core, errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_int
from tessella.dtypes import DEFAULTS, DType, as_dtype, float32, int64


def to_shape(sizes: tuple[Any, ...]) -> tuple[int, ...]:
    """Read a shape given as one tuple, one integer, or separate integers."""
    if len(sizes) == 1 and isinstance(sizes[0], list | tuple):
        sizes = tuple(sizes[0])
    return tuple(to_int("shape", size) for size in sizes)


def _make(name: str, sizes: tuple[Any, ...], dtype: Any, requires_grad: bool) -> Tensor:
    try:
        out = _core.empty(to_shape(sizes), (float32 if dtype is None else as_dtype(dtype)).id)
    except errors.TessellaError as error:
        raise error.locate(name, [f"shape  {errors.brief(sizes)}"]) from None
    return with_grad(out, requires_grad)


def with_grad(out: Tensor, requires_grad: bool) -> Tensor:
    """Mark a fresh tensor as one that gradients flow to."""
    if to_bool("requires_grad", requires_grad):
        if not (out.dtype.is_floating or out.dtype.is_complex):
            raise errors.grad_of_integers(out.dtype)
        _core.set_requires_grad(out, True)
    return out


def empty(*shape: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Make a tensor whose elements are not set.

    >>> ts.empty(2, 3).shape
    (2, 3)
    """
    return _make("empty", shape, dtype, requires_grad)


def zeros(*shape: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Make a tensor of zeros.

    >>> ts.zeros(2).tolist()
    [0.0, 0.0]
    """
    out = _make("zeros", shape, dtype, requires_grad)
    _core.fill(out, False, True)
    return out


def ones(*shape: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Make a tensor of ones.

    >>> ts.ones(2, dtype=ts.int64).tolist()
    [1, 1]
    """
    out = _make("ones", shape, dtype, requires_grad)
    _core.fill(out, True, True)
    return out


def full(shape: Any, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Make a tensor with one value everywhere.

    >>> ts.full((2, 2), 7).tolist()
    [[7, 7], [7, 7]]
    """
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    if not isinstance(fill_value, bool | int | float | complex):
        raise errors.wrong_type("fill_value", fill_value, "a number").locate("full", [])
    if dtype is None:
        dtype = DEFAULTS[next(t for t in (bool, int, float, complex) if isinstance(fill_value, t))]
    out = _make("full", (shape,) if not isinstance(shape, list | tuple) else (tuple(shape),), dtype,
                requires_grad)  # fmt: skip
    if not _core.fill(out, fill_value, True):
        raise errors.scalar_does_not_fit(fill_value, out.dtype).locate("full", [])
    return out


def _like(x: Tensor, dtype: Any) -> tuple[tuple[int, ...], DType]:
    if not isinstance(x, Tensor):
        raise errors.not_tensor("x", x)
    return x.shape, x.dtype if dtype is None else as_dtype(dtype)


def zeros_like(x: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Make zeros of x's shape and dtype.

    >>> ts.zeros_like(ts.ones(2)).tolist()
    [0.0, 0.0]
    """
    shape, dtype = _like(x, dtype)
    return zeros(shape, dtype=dtype, requires_grad=requires_grad)


def ones_like(x: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Make ones of x's shape and dtype.

    >>> ts.ones_like(ts.zeros(2)).tolist()
    [1.0, 1.0]
    """
    shape, dtype = _like(x, dtype)
    return ones(shape, dtype=dtype, requires_grad=requires_grad)


def empty_like(x: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Make a tensor of x's shape and dtype whose elements are not set.

    >>> ts.empty_like(ts.zeros(2, 3)).shape
    (2, 3)
    """
    shape, dtype = _like(x, dtype)
    return empty(shape, dtype=dtype, requires_grad=requires_grad)


def full_like(
    x: Tensor, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """Make a tensor of x's shape and dtype with one value everywhere.

    >>> ts.full_like(ts.zeros(2), 3).tolist()
    [3.0, 3.0]
    """
    shape, dtype = _like(x, dtype)
    return full(shape, fill_value, dtype=dtype, requires_grad=requires_grad)


def _number(name: str, value: Any) -> int | float:
    if isinstance(value, Tensor):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise errors.wrong_type(name, value, "a real number")
    if not math.isfinite(value):
        raise errors.wrong_value(name, value, "finite")
    return value


def arange(start: Any, stop: Any = None, step: Any = 1, *, dtype: Any = None,
           requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Count from start to stop, without stop.

    >>> ts.arange(2, 10, 3).tolist()
    [2, 5, 8]
    """
    try:
        begin, end = (0, start) if stop is None else (start, stop)
        begin, end, by = _number("start", begin), _number("stop", end), _number("step", step)
        if by == 0:
            raise errors.wrong_value("step", step, "other than 0")
        whole = all(isinstance(value, int) for value in (begin, end, by))
        kind = as_dtype(dtype) if dtype is not None else int64 if whole else float32
        count = -((begin - end) // by) if whole else math.ceil((end - begin) / by)
        out = _core.empty((max(0, int(count)),), kind.id)
        _count(out, begin, by)
    except errors.TessellaError as error:
        shown = [f"start  {errors.brief(start)}", f"stop   {errors.brief(stop)}",
                 f"step   {errors.brief(step)}"]  # fmt: skip
        raise error.locate("arange", shown) from None
    return with_grad(out, requires_grad)


def _count(out: Tensor, start: int | float, step: int | float) -> None:
    """Write start + i * step, in integers where both are."""
    if out.size == 0:
        return
    last = start + (out.size - 1) * step
    for value in (start, last):
        if not _core.scalar_fits(
            int(value) if out.dtype.is_integer else float(value), out.dtype.id
        ):
            raise errors.scalar_does_not_fit(value, out.dtype)
    if (
        isinstance(start, int)
        and isinstance(step, int)
        and not (min(start, last) >= -(1 << 63) and max(start, last) < 1 << 63)
    ):
        start, step = float(start), float(step)  # fmt: skip
    if isinstance(start, int) and isinstance(step, int):
        _core.count_integers(out, start, step if out.size > 1 else 0)
    else:
        _core.count_floats(out, float(start), float(step))


def linspace(start: Any, stop: Any, num: int, *, dtype: Any = None, endpoint: bool = True,
             requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Give num values evenly from start to stop, both included.

    >>> ts.linspace(0, 1, 5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    try:
        begin, end = _number("start", start), _number("stop", stop)
        count = to_int("num", num)
        steps = count - 1 if endpoint else count
        out = _core.empty((count,), (float32 if dtype is None else as_dtype(dtype)).id)
        if out.size:
            _core.count_floats(out, float(begin), (end - begin) / steps if steps > 0 else 0.0)
            if endpoint and out.size > 1:
                _core.fill(_core.view(out, _core.layout_of(out).select(0, -1)),
                           int(end) if out.dtype.is_integer else end)  # fmt: skip
    except errors.TessellaError as error:
        shown = [f"start  {errors.brief(start)}", f"stop   {errors.brief(stop)}",
                 f"num    {errors.brief(num)}"]  # fmt: skip
        raise error.locate("linspace", shown) from None
    return with_grad(out, requires_grad)


def eye(n_rows: int, n_cols: int | None = None, *, k: int = 0, dtype: Any = None,
        requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Make a matrix with ones on its k-th diagonal.

    >>> ts.eye(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    out = zeros(n_rows, n_rows if n_cols is None else n_cols, dtype=dtype, requires_grad=False)
    _core.fill(_core.view(out, _core.layout_of(out).diagonal(to_int("k", k), 0, 1)), True)
    return with_grad(out, requires_grad)
