"""Written by tools/generate.py from the table of operations; change that, not this."""

from builtins import bool as _bool, float as _float, int as _int, str as _str
from collections.abc import Sequence
from typing import Literal, TypeAlias, overload

from tessella._core import Tensor
from tessella.allocators import Allocator
from tessella.hints import (
    DTypeLike as _DTypeLike,
    Ints as _Ints,
)
from tessella.linalg.factors import QRResult as QRResult, SVDResult as SVDResult
from tessella.linalg.inverses import SlogdetResult as SlogdetResult
from tessella.linalg.ranks import LstsqResult as LstsqResult
from tessella.linalg.spectra import EighResult as EighResult, EigResult as EigResult

_Axes: TypeAlias = _Ints | None

def cholesky(
    x: Tensor,
    upper: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The lower triangular L with L @ L^H = x of Hermitian positive definite matrices, or the upper one with L^H @ L = x. Only the lower triangle of x is read; the gradient is that of changes that keep x Hermitian."""

def cond(
    x: Tensor,
    p: _float | _str | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the condition number in a norm: |x| |x^-1|; the quotient of singular values for 2."""

@overload
def cross(
    a: Tensor,
    b: Tensor,
    *,
    axis: _int = -1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the cross product of vectors of 3 elements along an axis; the other axes broadcast."""

@overload
def cross(
    a: Tensor,
    b: Tensor,
    *,
    dim: _int = -1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the cross product of vectors of 3 elements along an axis; the other axes broadcast."""

def det(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """The determinant of square matrices; 1 for those of size 0."""

def diagonal(x: Tensor, *, offset: _int = 0) -> Tensor:
    """Give the diagonal of each matrix: a view."""

def eig(x: Tensor) -> EigResult:
    """Give eigenvalues and eigenvectors of length 1 of square matrices: complex, in no order."""

def eigh(x: Tensor) -> EighResult:
    """Give eigenvalues in ascending order and orthonormal eigenvectors of Hermitian matrices."""

def eigvals(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """The eigenvalues of square matrices: complex, in no order."""

def eigvalsh(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """The eigenvalues of Hermitian matrices in ascending order; the lower triangle is read."""

def inv(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """The inverse of square matrices."""

def lstsq(a: Tensor, b: Tensor, *, rtol: _float | None = None) -> LstsqResult:
    """Give the x with the smallest a @ x - b, the shortest if there are several."""

def matmul(
    a: Tensor, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """The matrix product a @ b. 1-D operands are a row on the left and a column on the right; axes before the last two broadcast."""

@overload
def matrix_norm(
    x: Tensor,
    *,
    keepdims: _bool = False,
    ord: _float | _str | None = "fro",
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give a norm of each matrix."""

@overload
def matrix_norm(
    x: Tensor,
    *,
    keepdim: _bool = False,
    ord: _float | _str | None = "fro",
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give a norm of each matrix."""

def matrix_power(
    x: Tensor, n: _int, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Multiply square matrices n times by themselves; a negative n inverts them first."""

def matrix_rank(
    x: Tensor,
    *,
    rtol: _float | Tensor | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Count the singular values above rtol times the largest, of each matrix."""

def matrix_transpose(x: Tensor) -> Tensor:
    """Exchange the last two axes."""

def multi_dot(
    xs: Sequence[Tensor], *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Multiply matrices in the order that takes the fewest products; the ends may be vectors."""

@overload
def norm(
    x: Tensor,
    ord: _float | _str | None = None,
    axis: _Axes = None,
    keepdims: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the norm of vectors (one axis) or matrices (two axes), or of all elements."""

@overload
def norm(
    x: Tensor,
    ord: _float | _str | None = None,
    dim: _Axes = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the norm of vectors (one axis) or matrices (two axes), or of all elements."""

def outer(
    a: Tensor, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give all products of elements of two vectors."""

def pinv(
    x: Tensor,
    rtol: _float | Tensor | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The pseudoinverse of matrices. Singular values below rtol times the largest count as zero; by default rtol is the larger size times the dtype's epsilon."""

def qr(x: Tensor, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Factor matrices into orthonormal columns Q and an upper triangular R; complete: Q is square."""

def slogdet(x: Tensor) -> SlogdetResult:
    """Give the sign of the determinant and the logarithm of its absolute value: no overflow."""

def solve(
    a: Tensor, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """The x with a @ x = b, for square matrices a. b is a vector if it has one axis, else matrices; batches broadcast."""

def solve_triangular(
    a: Tensor,
    b: Tensor,
    upper: _bool,
    left: _bool = True,
    unitriangular: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The x with a @ x = b (x @ a = b with left=False), of the upper or lower triangle of a; unitriangular takes its diagonal as ones."""

def svd(x: Tensor, full_matrices: _bool = True) -> SVDResult:
    """Factor matrices into U @ diag(S) @ Vh, with S in descending order; full makes U, Vh square."""

def svdvals(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """The singular values of matrices, descending."""

def tensordot(
    a: Tensor,
    b: Tensor,
    axes: _int | Sequence[_Ints] = 2,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Sum products over several axes of a and b: a number of them, or a list for each."""

def trace(
    x: Tensor,
    *,
    offset: _int = 0,
    dtype: _DTypeLike | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Sum the diagonal of each matrix; integers are summed in 64 bits."""

@overload
def vecdot(
    a: Tensor,
    b: Tensor,
    *,
    axis: _int = -1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Multiply along one axis, of equal size in both, and sum; a is conjugated."""

@overload
def vecdot(
    a: Tensor,
    b: Tensor,
    *,
    dim: _int = -1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Multiply along one axis, of equal size in both, and sum; a is conjugated."""

@overload
def vector_norm(
    x: Tensor,
    *,
    axis: _Axes = None,
    keepdims: _bool = False,
    ord: _float | _str | None = 2,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give (sum |x| ** ord) ** (1 / ord) over axes; an infinity gives the greatest or smallest |x|."""

@overload
def vector_norm(
    x: Tensor,
    *,
    dim: _Axes = None,
    keepdim: _bool = False,
    ord: _float | _str | None = 2,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give (sum |x| ** ord) ** (1 / ord) over axes; an infinity gives the greatest or smallest |x|."""
