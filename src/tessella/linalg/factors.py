"""Factors of matrices: Cholesky, QR, singular values."""

from __future__ import annotations

from typing import NamedTuple

from tessella import _core, product_errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_word
from tessella.composites import composite
from tessella.declarations import case
from tessella.hints import Any, Literal, Sequence
from tessella.host import Host
from tessella.kinds import cast
from tessella.linalg.inverses import solve_triangular
from tessella.linalg.shapes import (
    adjoint,
    join_parts,
    narrow,
    need_matrices,
    same_shape,
    split_parts,
)
from tessella.linalg.spectra import (
    hermitian_part,
    inverse_gaps,
    real_of,
    real_part,
    turned,
    without_turn,
)
from tessella.ops.composite import tril, triu
from tessella.ops.diagonals import diag_embed
from tessella.ops.elementwise import conjugate, imag
from tessella.ops.joining import concat
from tessella.ops.movement import diagonal, unsqueeze
from tessella.ops.reduce import sum

_TESTED = "tests/test_linalg.py"
_NO_MATRIX = [case((3,), match="x.ndim is 1")]


# --- Cholesky ------------------------------------------------------------------------------------


def _cholesky(np: Any, x: Any, upper: bool = False) -> Any:
    lower = np.linalg.cholesky(x)
    return np.conj(lower.swapaxes(-1, -2)) if upper else lower


def _cholesky_back(g: Tensor, out: Tensor, upper: bool) -> Tensor:
    """L^-H P L^-1 made Hermitian, P the lower triangle of L^H g with half its diagonal."""
    lower, g = (adjoint(out), adjoint(g)) if upper else (out, g)
    inside = adjoint(lower) @ g
    middle = real_part(diagonal(inside, 0, -2, -1)) / 2
    inside = tril(inside, k=-1) + diag_embed(cast(middle, inside.dtype))
    left = solve_triangular(adjoint(lower), inside, True)
    return hermitian_part(solve_triangular(lower, left, False, False))


cholesky = Host(
    "cholesky", home="linalg", params={"upper": False}, compute=_cholesky, shape=same_shape,
    normalise=lambda upper: {"upper": to_bool("upper", upper)}, failure=product_errors.not_definite,
    matrices="definite", vjp=lambda g, out, upper: _cholesky_back(g, out, upper),
    doc="The lower triangular L with L @ L^H = x of Hermitian positive definite matrices, or the "
        "upper one with L^H @ L = x. Only the lower triangle of x is read; the gradient is that of "
        "changes that keep x Hermitian.",
    ref=lambda np, x, upper=False: _cholesky(np, narrow(np, x), upper),
    example=">>> ts.linalg.cholesky(ts.tensor([[4.0, 2.0], [2.0, 5.0]])).tolist()\n"
            "[[2.0, 0.0], [1.0, 2.0]]",
    samples=[case((3, 3)), case((2, 3, 3), upper=True), case((0, 0)), case((0, 2, 2))],
    errors=[case((2, 3), match=r"x.shape is \(2, 3\)"), *_NO_MATRIX,
            case((2, 2), upper=1, match="upper must be True or False")],
).function  # fmt: skip


# --- QR ------------------------------------------------------------------------------------------


class QRResult(NamedTuple):
    """Orthonormal columns, and an upper triangular matrix."""

    Q: Tensor
    R: Tensor


def _qr_shapes(shape: Sequence[int], mode: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    *batch, m, n = shape
    k = m if mode == "complete" else min(m, n)
    return (*batch, m, k), (*batch, k, n)


def _qr_size(x: Tensor, mode: str) -> Sequence[int]:
    need_matrices(x)
    total = 0
    for shape in _qr_shapes(x.shape, mode):
        total += _core.Layout(shape).size
    return (total,)


def _qr_back(g: Tensor, x: Tensor, out: Tensor, mode: str) -> Tensor:
    """(g_Q + Q H) R^-H, H Hermitian with the upper triangle of g_R R^H - Q^H g_Q.

    Of a wide x = [x1 x2], R2 = Q^H x2 adds to g_Q; the columns that complete Q keep it orthonormal.
    """
    m, n = x.shape[-2:]
    shapes = _qr_shapes(x.shape, mode)
    (g_q, g_r), (q, r) = (split_parts(flat, *shapes) for flat in (g, out))
    if m > n and mode == "complete":
        rest, g_rest = q[..., n:], g_q[..., n:]
        q, r, g_r = q[..., :n], r[..., :n, :], g_r[..., :n, :]
        g_q = g_q[..., :n] - rest @ (adjoint(g_rest) @ q)
    beyond = None
    if n > m:
        beyond = q @ g_r[..., m:]
        g_q = g_q + x[..., m:] @ adjoint(g_r[..., m:])
        r, g_r = r[..., :m], g_r[..., :m]
    inside = g_r @ adjoint(r) - adjoint(q) @ g_q
    upper = triu(inside, k=1)
    middle = cast(real_part(diagonal(inside, 0, -2, -1)), inside.dtype)
    whole = g_q + q @ (upper + adjoint(upper) + diag_embed(middle))
    found = solve_triangular(adjoint(r), whole, False, False)
    return found if beyond is None else concat([found, beyond], -1)


# How columns that complete Q turn is LAPACK's choice: they have no slope to compare with.
_QR = [case((4, 3)), case((3, 3)), case((2, 3, 5)), case((3, 3), mode="complete"), case((0, 3)),
       case((3, 0)), case((0, 2, 2)), case((2, 4), mode="complete")]  # fmt: skip
_QR_ERRORS = [*_NO_MATRIX, case((2, 2), mode="full", match="mode is 'full'")]

qr_parts = Host(
    "qr_parts", home="linalg", is_function=False, params={"mode": "reduced"}, shape=_qr_size,
    compute=lambda np, x, mode: join_parts(np, *np.linalg.qr(x, mode)),
    normalise=lambda mode: {"mode": to_word("mode", mode, ["reduced", "complete"])},
    failure=product_errors.no_convergence, matrices="regular", tested=_TESTED,
    vjp=lambda g, x, out, mode: _qr_back(g, x, out, mode),
    doc="The factors Q, then R.", samples=_QR, errors=_QR_ERRORS,
).function  # fmt: skip


@composite(
    no_capture="NumPy computes it",
    home="linalg",
    matrices="regular",
    tested=_TESTED,
    samples=_QR,
    errors=_QR_ERRORS,
)
def qr(x: Tensor, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Factor matrices into orthonormal columns Q and an upper triangular R; complete: Q is square.

    >>> ts.linalg.qr(ts.ones(3, 2)).R.shape
    (2, 2)
    """
    need_matrices(x)
    return QRResult(*split_parts(qr_parts(x, mode), *_qr_shapes(x.shape, mode)))


# --- singular values -----------------------------------------------------------------------------


class SVDResult(NamedTuple):
    """Left singular vectors, singular values in descending order, adjoint right vectors."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def _svd_shapes(shape: Sequence[int], full_matrices: bool) -> tuple[tuple[int, ...], ...]:
    *batch, m, n = shape
    k = min(m, n)
    rows, columns = (m, n) if full_matrices else (k, k)
    return (*batch, m, rows), (*batch, k), (*batch, columns, n)


def _svd_size(x: Tensor, full_matrices: bool) -> Sequence[int]:
    need_matrices(x)
    total = 0
    for shape in _svd_shapes(x.shape, full_matrices):
        total += _core.Layout(shape).size
    return (total,)


def _svd(np: Any, x: Any, full_matrices: bool) -> Any:
    u, s, vh = np.linalg.svd(x, full_matrices)
    k = s.shape[-1]
    if u.dtype.kind == "c" and k:
        turn = turned(np, u[..., :k])
        u[..., :k] *= turn
        vh[..., :k, :] *= np.conj(turn).swapaxes(-1, -2)
    return join_parts(np, u, s, vh)


def _svd_back(g: Tensor, out: Tensor, x_shape: Sequence[int], full_matrices: bool) -> Tensor:
    """U (skew(U^H g_U) F S + S F skew(V^H g_V) + diag(g_S)) V^H, F[i, j] = 1 / (s[j]^2 - s[i]^2).

    Further terms are what leaves the spaces of U and V, and the angle between a pair of complex
    vectors; the columns that complete U and V keep them orthonormal.
    """
    k = min(x_shape[-2:])
    shapes = _svd_shapes(x_shape, full_matrices)
    (g_u, g_s, g_vh), (u, s, vh) = (split_parts(flat, *shapes) for flat in (g, out))
    s, g_s, v, g_v = real_part(s), real_part(g_s), adjoint(vh), adjoint(g_vh)
    u1, v1, g_u1, g_v1 = u[..., :k], v[..., :k], g_u[..., :k], g_v[..., :k]
    if u.dtype.is_complex and k:
        angle = imag(sum(conjugate(v1) * g_v1, axis=-2, keepdims=True))
        g_u1 = without_turn(g_u1, u1, angle)
    left, right = adjoint(u1) @ g_u1, adjoint(v1) @ g_v1
    gaps, row = inverse_gaps(s * s), unsqueeze(s, -2)
    inside = (left - adjoint(left)) * gaps * row
    inside = inside + (right - adjoint(right)) * gaps * unsqueeze(s, -1)
    inside = inside + diag_embed(cast(g_s, inside.dtype))
    if u.dtype.is_complex:
        inside = inside + diag_embed(imag(diagonal(left, 0, -2, -1)) / s * 1j)
    found = u1 @ inside @ adjoint(v1)
    if x_shape[-2] > k:
        away = g_u1 - u1 @ left
        if full_matrices:
            away = away - u[..., k:] @ (adjoint(g_u[..., k:]) @ u1)
        found = found + (away / row) @ adjoint(v1)
    if x_shape[-1] > k:
        away = g_v1 - v1 @ right
        if full_matrices:
            away = away - v[..., k:] @ (adjoint(g_v[..., k:]) @ v1)
        found = found + u1 @ adjoint(away / row)
    return found


_SVD = [case((3, 3)), case((2, 4, 3)), case((2, 3), full_matrices=False), case((4, 2)),
        case((4, 2), full_matrices=False), case((0, 3)), case((3, 0)), case((0, 2, 2))]  # fmt: skip
_SVD_ERRORS = [*_NO_MATRIX, case((2, 2), full_matrices=1, match="full_matrices must be True or F")]

svd_parts = Host(
    "svd_parts", home="linalg", is_function=False, params={"full_matrices": True}, compute=_svd,
    normalise=lambda full_matrices: {"full_matrices": to_bool("full_matrices", full_matrices)},
    shape=_svd_size, failure=product_errors.no_convergence, matrices="regular", tested=_TESTED,
    vjp=lambda g, out, x_shape, full_matrices: _svd_back(g, out, x_shape, full_matrices),
    doc="The factors U, S and Vh.",
    # How the columns that complete U and V turn is LAPACK's choice: without a gradient to compare.
    samples=[case((3, 3)), case((2, 4, 3), full_matrices=False), case((2, 3), full_matrices=False),
             case((0, 3)), case((0, 2, 2))],
    errors=_SVD_ERRORS,
).function  # fmt: skip


@composite(
    no_capture="NumPy computes it",
    home="linalg", matrices="regular", tested=_TESTED, samples=[_SVD[0], _SVD[2], _SVD[4]],
           errors=_SVD_ERRORS)  # fmt: skip
def svd(x: Tensor, full_matrices: bool = True) -> SVDResult:
    """Factor matrices into U @ diag(S) @ Vh, with S in descending order; full makes U, Vh square.

    Gradients are defined where the singular values differ. Of the columns that only a full U or Vh
    has, only what does not depend on their choice has one.

    >>> ts.linalg.svd(ts.tensor([[0.0, 2.0], [1.0, 0.0]])).S.tolist()
    [2.0, 1.0]
    """
    need_matrices(x)
    u, s, vh = split_parts(svd_parts(x, full_matrices), *_svd_shapes(x.shape, full_matrices))
    return SVDResult(u, real_part(s), vh)


def _svdvals_shape(x: Tensor) -> Sequence[int]:
    need_matrices(x)
    return (*x.shape[:-2], min(x.shape[-2:]))


def _svdvals_back(g: Tensor, x: Tensor) -> Tensor:
    """Give U diag(g) V^H, of x = U S V^H."""
    u, _, vh = svd(x, full_matrices=False)
    return (u * unsqueeze(g, -2)) @ vh


svdvals = Host(
    "svdvals", home="linalg", compute=lambda np, x: np.linalg.svd(x, compute_uv=False),
    shape=_svdvals_shape, dtype=real_of, failure=product_errors.no_convergence, matrices="regular",
    vjp=lambda g, x: _svdvals_back(g, x), doc="The singular values of matrices, descending.",
    ref=lambda np, x: np.linalg.svd(narrow(np, x), compute_uv=False),
    example=">>> ts.linalg.svdvals(ts.tensor([[0.0, 2.0], [1.0, 0.0]])).tolist()\n[2.0, 1.0]",
    samples=[case((3, 3)), case((2, 4, 3)), case((2, 3)), case((0, 3)), case((0, 2, 2))],
    errors=_NO_MATRIX,
).function  # fmt: skip
