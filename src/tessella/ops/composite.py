"""Operations composed of others: plain functions without kernels or gradients of their own."""

from __future__ import annotations

from typing import Any

from tessella import _core, errors
from tessella._core import Tensor
from tessella.dtypes import DTYPES, DType, boolean
from tessella.kinds import Cast, scalar_tensor, to_bool, to_int
from tessella.ops.creation import arange
from tessella.ops.elementwise import abs, equal, exp, isinf, isnan, less_equal, log, real, where
from tessella.ops.movement import broadcast_to, normal_axes, permute, reshape, transpose, unsqueeze
from tessella.ops.reduce import all, max, sum
from tessella.records import case, describe


def _cast_back(g: Tensor, x_dtype: DType) -> Tensor:
    is_made_complex = g.dtype.is_complex and not x_dtype.is_complex
    return astype(real(g) if is_made_complex else g, x_dtype)


def _astype_ref(np: Any, x: Any, dtype: Any, copy: bool = True) -> Any:
    if x.dtype.kind == "f" and dtype.is_integer:  # floats saturate, where NumPy leaves it open
        x = np.clip(x, float(dtype.lowest), None)
    return x if dtype.name == "bfloat16" else x.astype(dtype.name)


astype = Cast(
    "astype", vjp=_cast_back, doc="Converted to another dtype.",
    ref=_astype_ref, ulps=0, samples=[case((3, 5), dtype) for dtype in DTYPES],
    errors=[case((2,), "float33", match="dtype must be a Tessella dtype"),
            case((2,), 3, match="dtype must be a Tessella dtype"),
            case((2,), "float32", dtype="complex64", match="complex64")],
).function  # fmt: skip


def _tensor(name: str, argument: str, x: Any) -> Tensor:
    if not isinstance(x, Tensor):
        raise errors.not_tensor(argument, x).locate(name, [])
    return x


def contiguous(x: Tensor) -> Tensor:
    """Give x itself if its elements lie in row-major order, else a copy that does.

    >>> ts.ones(2, 3).T.contiguous().strides
    (2, 1)
    """
    return (
        x
        if _tensor("contiguous", "x", x).is_contiguous
        else +x
        if x.dtype is not boolean
        else x.astype(boolean)
    )


def matrix_transpose(x: Tensor) -> Tensor:
    """Exchange the last two axes.

    >>> ts.matrix_transpose(ts.ones(5, 2, 3)).shape
    (5, 3, 2)
    """
    return transpose(x, -1, -2)


def moveaxis(x: Tensor, source: Any, destination: Any) -> Tensor:
    """Move axes to other places; the rest keep their order.

    >>> ts.moveaxis(ts.ones(2, 3, 4), 0, -1).shape
    (3, 4, 2)
    """
    try:
        origin, target = (
            normal_axes(_tensor("moveaxis", "x", x), source, "source"),
            normal_axes(x, destination, "destination"),
        )
        if len(origin) != len(target):
            raise errors.wrong_value(
                "destination", destination, f"{len(origin)} axes, as source has"
            )
        for axes in (origin, target):
            if len(set(axes)) != len(axes):
                raise errors.axis_repeated(axes[0])
    except errors.TessellaError as error:
        raise error.locate("moveaxis", [f"x  {describe(x)}"]) from None
    order = [i for i in range(x.ndim) if i not in origin]
    for place, axis in sorted(zip(target, origin, strict=True)):
        order.insert(place, axis)
    return permute(x, order)


def flatten(x: Tensor, start: int = 0, stop: int = -1) -> Tensor:
    """Merge the axes from start to stop into one.

    >>> ts.flatten(ts.ones(2, 3, 4), 1).shape
    (2, 12)
    """
    if _tensor("flatten", "x", x).ndim == 0:
        return reshape(x, (1,))
    try:
        first, last = (
            normal_axes(x, to_int("start", start))[0],
            normal_axes(x, to_int("stop", stop))[0],
        )
    except errors.TessellaError as error:
        raise error.locate("flatten", [f"x  {describe(x)}"]) from None
    if first > last:
        raise errors.wrong_value("stop", stop, f"at or after start, {start}").locate("flatten", [])
    merged = 1
    for size in x.shape[first : last + 1]:
        merged *= size
    return reshape(x, (*x.shape[:first], merged, *x.shape[last + 1 :]))


def unstack(x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
    """Give the slices along an axis, which goes.

    >>> [row.tolist() for row in ts.unstack(ts.eye(2))]
    [[1.0, 0.0], [0.0, 1.0]]
    """
    place = normal_axes(_tensor("unstack", "x", x), to_int("axis", axis))[0]
    return tuple(x[(slice(None),) * place + (i,)] for i in range(x.shape[place]))


def broadcast_tensors(*xs: Tensor) -> tuple[Tensor, ...]:
    """Give views of the tensors with their joint shape.

    >>> [x.shape for x in ts.broadcast_tensors(ts.ones(3, 1), ts.ones(2))]
    [(3, 2), (3, 2)]
    """
    try:
        shape: Any = ()
        for i, x in enumerate(xs):
            if not isinstance(x, Tensor):
                raise errors.not_tensor(f"xs[{i}]", x)
            shape = _core.broadcast_shapes(shape, x.shape)
    except errors.TessellaError as error:
        raise error.locate("broadcast_tensors", [describe(x) for x in xs[:8]]) from None
    return tuple(broadcast_to(x, shape) for x in xs)


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """Give the joint shape of shapes that broadcast.

    >>> ts.broadcast_shapes((3, 1, 4), (2, 4))
    (3, 2, 4)
    """
    joint: tuple[int, ...] = ()
    try:
        for shape in shapes:
            joint = _core.broadcast_shapes(joint, tuple(shape))
    except errors.TessellaError as error:
        raise error.locate("broadcast_shapes", [errors.brief(s) for s in shapes[:8]]) from None
    except TypeError:
        raise errors.wrong_type("shape", shapes, "tuples of integers").locate(
            "broadcast_shapes", []
        ) from None
    return joint


def shape_match(a: Tensor, b: Tensor) -> bool:
    """Tell whether two tensors have the same shape.

    >>> ts.shape_match(ts.ones(2), ts.ones(2, 1))
    False
    """
    return _tensor("shape_match", "a", a).shape == _tensor("shape_match", "b", b).shape


def _triangle(name: str, x: Tensor, k: int, lower: bool) -> Tensor:
    if _tensor(name, "x", x).ndim < 2:
        raise errors.wrong_value("x.ndim", x.ndim, "2 or more").locate(name, [f"x  {describe(x)}"])
    rows, columns = unsqueeze(arange(x.shape[-2]), 1), arange(x.shape[-1])
    shifted = rows + to_int("k", k)
    zero = False if x.dtype is boolean else 0
    return where(columns <= shifted if lower else columns >= shifted, x, zero)


def tril(x: Tensor, *, k: int = 0) -> Tensor:
    """Keep the lower triangle, up to the k-th diagonal; zero above.

    >>> ts.tril(ts.ones(2, 2)).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    return _triangle("tril", x, k, True)


def triu(x: Tensor, *, k: int = 0) -> Tensor:
    """Keep the upper triangle, from the k-th diagonal on; zero below.

    >>> ts.triu(ts.ones(2, 2)).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    return _triangle("triu", x, k, False)


def logsumexp(x: Tensor, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Give log(sum(e ** x)) over axes, without overflow.

    >>> round(ts.logsumexp(ts.zeros(4)).item(), 4)
    1.3863
    """
    highest = max(_tensor("logsumexp", "x", x), axis=axis, keepdims=True)
    highest = where(isinf(highest), 0, highest).detach()
    out = log(sum(exp(x - highest), axis=axis, keepdims=True)) + highest
    if keepdims:
        return out
    return reshape(out, sum(out, axis=axis).shape)


def isclose(
    x: Any, y: Any, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Tell where |x - y| <= atol + rtol * |y|; equal infinities are close.

    >>> ts.isclose(ts.tensor([1.0, 2.0]), ts.tensor([1.0, 2.1])).tolist()
    [True, False]
    """
    try:
        for name, value in (("rtol", rtol), ("atol", atol)):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise errors.wrong_type(name, value, "a real number")
        x, y = (v if isinstance(v, Tensor) else scalar_tensor(v, [v]) for v in (x, y))
        to_bool("equal_nan", equal_nan)
    except errors.TessellaError as error:
        raise error.locate("isclose", [f"x  {describe(x)}", f"y  {describe(y)}"]) from None
    near = less_equal(abs(x - y), abs(y) * float(rtol) + float(atol))
    out = equal(x, y) | (near & ~isinf(y))
    return out | (isnan(x) & isnan(y)) if equal_nan else out


def allclose(
    x: Any, y: Any, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Tell whether all elements are close.

    >>> ts.allclose(ts.ones(2), ts.ones(2))
    True
    """
    return bool(all(isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan)))
