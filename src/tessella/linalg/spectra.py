"""Eigenvalues and eigenvectors.

Vectors are defined up to a factor of size 1. Real ones have the sign that LAPACK gives; complex
ones are turned so that their largest element is real, which makes their gradients defined.
"""

from __future__ import annotations

from typing import NamedTuple

from tessella import _core, product_errors
from tessella._core import Tensor
from tessella.composites import composite
from tessella.declarations import case
from tessella.dtypes import DType, complex64, complex128, float32, float64
from tessella.hints import Any, Sequence
from tessella.host import Host
from tessella.kinds import cast
from tessella.linalg.inverses import solve
from tessella.linalg.shapes import (
    adjoint,
    join_parts,
    narrow,
    need_square,
    split_parts,
)
from tessella.ops.creation import arange
from tessella.ops.diagonals import diag_embed
from tessella.ops.elementwise import abs, conjugate, imag, real, where
from tessella.ops.index import take_along_axis
from tessella.ops.movement import diagonal, unsqueeze
from tessella.ops.reduce import argmax, sum

_SAMPLES = [case((3, 3)), case((2, 4, 4)), case((1, 1)), case((0, 0)), case((0, 2, 2))]
_ERRORS = [case((2, 3), match=r"x.shape is \(2, 3\)"), case((3,), match="x.ndim is 1")]
_TESTED = "tests/test_linalg.py"


def complex_of(dtype: DType) -> DType:
    """Give the complex dtype of a precision."""
    return {float32: complex64, float64: complex128}.get(dtype, dtype)


def real_of(dtype: DType) -> DType:
    """Give the real dtype of a precision."""
    return {complex64: float32, complex128: float64}.get(dtype, dtype)


def real_part(x: Tensor) -> Tensor:
    """Give the real parts, or x itself."""
    return real(x) if x.dtype.is_complex else x


def hermitian_part(x: Tensor) -> Tensor:
    """Give the mean of matrices and their adjoints."""
    return (x + adjoint(x)) / 2


def inverse_gaps(values: Tensor) -> Tensor:
    """Give 1 / (values[j] - values[i]) for i, j; 0 on the diagonal, and where values are equal.

    Equal values have no vectors of their own; what does not depend on the choice has no part there.
    """
    gaps = unsqueeze(values, -2) - unsqueeze(values, -1)
    is_equal = gaps == 0
    return where(is_equal, 0, 1 / where(is_equal, 1, gaps))


def turned(np: Any, vectors: Any) -> Any:
    """Give the factors that make the largest element of complex columns real and positive."""
    if vectors.shape[-2] == 0:
        return np.ones((*vectors.shape[:-2], 1, vectors.shape[-1]), vectors.dtype)
    places = np.abs(vectors).argmax(-2)[..., None, :]
    largest = np.take_along_axis(vectors, places, -2)
    return np.conj(largest) / np.abs(largest)


def without_turn(g: Tensor, vectors: Tensor, more: Tensor | None = None) -> Tensor:
    """Take from a cotangent what would turn vectors, as their largest element stays real.

    `more` is what other vectors that turn along add: the imaginary parts of <vector, cotangent>.
    """
    if not vectors.dtype.is_complex or not vectors.size:
        return g
    angle = imag(sum(conjugate(vectors) * g, axis=-2, keepdims=True))
    if more is not None:
        angle = angle + more
    places = argmax(abs(vectors.detach()), axis=-2, keepdims=True)
    largest = real(take_along_axis(vectors, places, axis=-2))
    is_largest = places == unsqueeze(arange(vectors.shape[-2]), 1)
    return g - where(is_largest, angle / largest, 0) * 1j


# --- Hermitian matrices --------------------------------------------------------------------------


class EighResult(NamedTuple):
    """Eigenvalues in ascending order, and the eigenvectors in the columns of a matrix."""

    eigenvalues: Tensor
    eigenvectors: Tensor


def _eigh(np: Any, x: Any) -> Any:
    values, vectors = np.linalg.eigh(x)
    if vectors.dtype.kind == "c":
        vectors = vectors * turned(np, vectors)
    return join_parts(np, values, vectors)


def _vectors_size(x: Tensor) -> Sequence[int]:
    need_square(x)
    return (_core.Layout(x.shape).size + _core.Layout(x.shape[:-1]).size,)


def _eigh_back(g: Tensor, out: Tensor, x_shape: Sequence[int]) -> Tensor:
    """V (diag(g_w) + F * (V^H g_v)) V^H, with F[i, j] = 1 / (w[j] - w[i])."""
    shapes = (x_shape[:-1], x_shape)
    (g_values, g_vectors), (values, v) = (split_parts(flat, *shapes) for flat in (g, out))
    g_vectors = without_turn(g_vectors, v)
    inside = inverse_gaps(real_part(values)) * (adjoint(v) @ g_vectors)
    inside = inside + diag_embed(cast(real_part(g_values), g.dtype))
    return hermitian_part(v @ inside @ adjoint(v))


eigh_parts = Host(
    "eigh_parts", home="linalg", is_function=False, compute=_eigh, shape=_vectors_size,
    failure=product_errors.no_convergence, matrices="hermitian", tested=_TESTED,
    vjp=lambda g, out, x_shape: _eigh_back(g, out, x_shape),
    doc="Eigenvalues, then eigenvectors of Hermitian matrices.", samples=_SAMPLES, errors=_ERRORS,
).function  # fmt: skip


@composite(
    no_capture="NumPy computes it",
    home="linalg",
    matrices="hermitian",
    tested=_TESTED,
    samples=_SAMPLES,
    errors=_ERRORS,
)
def eigh(x: Tensor) -> EighResult:
    """Give eigenvalues in ascending order and orthonormal eigenvectors of Hermitian matrices.

    Only the lower triangle is read; the gradient is that of changes that keep x Hermitian.

    >>> ts.linalg.eigh(ts.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues.tolist()
    [1.0, 2.0]
    """
    need_square(x)
    values, vectors = split_parts(eigh_parts(x), x.shape[:-1], x.shape)
    return EighResult(real_part(values), vectors)


def _values_shape(x: Tensor) -> Sequence[int]:
    need_square(x)
    return x.shape[:-1]


def _eigvalsh_back(g: Tensor, x: Tensor) -> Tensor:
    """Give V diag(g) V^H, of x = V diag(out) V^H."""
    vectors = eigh(x).eigenvectors
    return (vectors * unsqueeze(g, -2)) @ adjoint(vectors)


eigvalsh = Host(
    "eigvalsh", home="linalg", compute=lambda np, x: np.linalg.eigvalsh(x), shape=_values_shape,
    dtype=real_of, failure=product_errors.no_convergence, matrices="hermitian",
    vjp=lambda g, x: _eigvalsh_back(g, x),
    doc="The eigenvalues of Hermitian matrices in ascending order; the lower triangle is read.",
    ref=lambda np, x: np.linalg.eigvalsh(narrow(np, x)),
    example=">>> ts.linalg.eigvalsh(ts.tensor([[2.0, 0.0], [0.0, 1.0]])).tolist()\n[1.0, 2.0]",
    samples=_SAMPLES, errors=_ERRORS,
).function  # fmt: skip


# --- any square matrices -------------------------------------------------------------------------


class EigResult(NamedTuple):
    """Eigenvalues, and the eigenvectors in the columns of a matrix."""

    eigenvalues: Tensor
    eigenvectors: Tensor


def _eig(np: Any, x: Any) -> Any:
    values, vectors = np.linalg.eig(x)
    vectors = vectors.astype(np.result_type(vectors, "complex64"))
    return join_parts(np, values.astype(vectors.dtype), vectors * turned(np, vectors))


def _eig_back(g: Tensor, out: Tensor, x_shape: Sequence[int], x_dtype: DType) -> Tensor:
    """V^-H (diag(g_w) + conj(E) * (X - V^H V diag(re X))) V^H, with X = V^H g_v.

    E[i, j] = 1 / (w[j] - w[i]); the second term keeps the length of the vectors.
    """
    shapes = (x_shape[:-1], x_shape)
    (g_values, g_vectors), (values, v) = (split_parts(flat, *shapes) for flat in (g, out))
    x = adjoint(v) @ without_turn(g_vectors, v)
    lengths = (adjoint(v) @ v) * unsqueeze(real(diagonal(x, 0, -2, -1)), -2)
    inside = conjugate(inverse_gaps(values)) * (x - lengths) + diag_embed(g_values)
    full = solve(adjoint(v), inside @ adjoint(v))
    return full if x_dtype.is_complex else real(full)


eig_parts = Host(
    "eig_parts", home="linalg", is_function=False, compute=_eig, shape=_vectors_size,
    dtype=complex_of, failure=product_errors.no_convergence, matrices="regular", tested=_TESTED,
    vjp=lambda g, out, x_shape, x_dtype: _eig_back(g, out, x_shape, x_dtype),
    doc="Eigenvalues, then eigenvectors of square matrices.", samples=_SAMPLES, errors=_ERRORS,
).function  # fmt: skip


@composite(
    no_capture="NumPy computes it",
    home="linalg",
    matrices="regular",
    tested=_TESTED,
    samples=_SAMPLES,
    errors=_ERRORS,
)
def eig(x: Tensor) -> EigResult:
    """Give eigenvalues and eigenvectors of length 1 of square matrices: complex, in no order.

    >>> ts.linalg.eig(ts.tensor([[0.0, -1.0], [1.0, 0.0]])).eigenvalues.tolist()
    [1j, -1j]
    """
    need_square(x)
    return EigResult(*split_parts(eig_parts(x), x.shape[:-1], x.shape))


def _eigvals_back(g: Tensor, x: Tensor) -> Tensor:
    """V^-H diag(g) V^H."""
    vectors = eig(x).eigenvectors
    full = solve(adjoint(vectors), unsqueeze(g, -1) * adjoint(vectors))
    return full if x.dtype.is_complex else real(full)


eigvals = Host(
    "eigvals", home="linalg", compute=lambda np, x: np.linalg.eigvals(x), shape=_values_shape,
    dtype=complex_of, failure=product_errors.no_convergence, matrices="regular", tested=_TESTED,
    vjp=lambda g, x: _eigvals_back(g, x),
    doc="The eigenvalues of square matrices: complex, in no order.",
    example=">>> ts.linalg.eigvals(ts.tensor([[0.0, -1.0], [1.0, 0.0]])).tolist()\n[1j, -1j]",
    samples=_SAMPLES, errors=_ERRORS,
).function  # fmt: skip
