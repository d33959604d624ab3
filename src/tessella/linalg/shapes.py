"""Checks and shapes of matrices, and the adjoint: what every file of linalg needs."""

from __future__ import annotations

from tessella import _core, errors, product_errors
from tessella._core import Tensor
from tessella.hints import Any, Sequence
from tessella.ops.elementwise import conjugate
from tessella.ops.movement import reshape, transpose


def need_matrices(x: Tensor, name: str = "x") -> tuple[int, int]:
    """Require matrices in the last two axes; give their rows and columns."""
    if x.ndim < 2:
        raise errors.wrong_value(f"{name}.ndim", x.ndim, "2 or more: matrices in the last two axes")
    return x.shape[-2], x.shape[-1]


def need_square(x: Tensor, name: str = "x") -> int:
    """Require square matrices in the last two axes; give their size."""
    rows, columns = need_matrices(x, name)
    if rows != columns:
        raise product_errors.not_square(name, x.shape)
    return rows


def adjoint(x: Tensor) -> Tensor:
    """Give the conjugate transposes."""
    out: Tensor = conjugate(transpose(x, -1, -2))
    return out


def same_shape(x: Tensor, **params: Any) -> Sequence[int]:
    """Give the shape of square matrices as that of the result."""
    need_square(x)
    return x.shape


def batch_shape(x: Tensor, **params: Any) -> Sequence[int]:
    """Give one number for each square matrix."""
    need_square(x)
    return x.shape[:-2]


def solved_shape(a: Tensor, b: Tensor, **params: Any) -> Sequence[int]:
    """Give the shape of a's inverse times b: a vector, or matrices in batches that broadcast."""
    rows, columns = need_matrices(a, "a")
    if b.ndim == 0:
        raise errors.wrong_value("b.ndim", 0, "at least 1")
    given = b.shape[0] if b.ndim == 1 else b.shape[-2]
    if given != rows:
        raise product_errors.solve_sizes(rows, given)
    if b.ndim == 1:
        return (*a.shape[:-2], columns)
    batch = _core.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return (*batch, columns, b.shape[-1])


def narrow(np: Any, x: Any) -> Any:
    """Give an array in a dtype that LAPACK has: for references, which are asked in wider ones."""
    return x.astype({"g": "float64", "G": "complex128"}.get(x.dtype.char, x.dtype))


# Several results of one operation are stored one after the other in a flat tensor, and given as
# views of it: an operation has one result, so that its gradient has one rule.


def join_parts(np: Any, *parts: Any) -> Any:
    """Store arrays one after the other."""
    return np.concatenate([np.asarray(part).reshape(-1) for part in parts])


def split_parts(flat: Tensor, *shapes: Sequence[int]) -> list[Tensor]:
    """Give views of the parts of a flat tensor."""
    parts, start = [], 0
    for shape in shapes:
        size = _core.Layout(tuple(shape)).size
        parts.append(reshape(flat[start : start + size], tuple(shape)))
        start += size
    return parts
