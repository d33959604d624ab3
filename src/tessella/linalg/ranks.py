"""What depends on which singular values count as zero: pseudoinverses, least squares, ranks."""

from __future__ import annotations

import builtins
from typing import NamedTuple

from tessella import errors, product_errors
from tessella._core import Tensor
from tessella.arguments import to_float
from tessella.composites import composite
from tessella.declarations import case
from tessella.dtypes import int64
from tessella.hints import Any, Sequence
from tessella.host import Host, to_array
from tessella.kinds import cast
from tessella.linalg.factors import svdvals
from tessella.linalg.shapes import adjoint, narrow, need_matrices, solved_shape
from tessella.ops.creation import arange, ones
from tessella.ops.elementwise import abs
from tessella.ops.movement import broadcast_to, unsqueeze
from tessella.ops.reduce import sum
from tessella.ops.types import finfo

_NO_MATRIX = [case((3,), match="x.ndim is 1")]


def _to_tolerance(rtol: Any) -> dict[str, Any]:
    """Take a number, or one for each matrix."""
    if rtol is not None and not isinstance(rtol, Tensor):
        rtol = to_float("rtol", rtol)
    return {"rtol": rtol}


def _fit_tolerance(rtol: Tensor, batch: Sequence[int]) -> None:
    """Require real numbers, one for each matrix of a batch or fewer that broadcast to it."""
    if not rtol.dtype.is_floating:
        raise errors.wrong_value("rtol.dtype", rtol.dtype, "a floating dtype")
    broadcast_to(rtol, tuple(batch))


def _tolerance(np: Any, x: Any, rtol: Any) -> Any:
    """Give the share of the largest singular value below which others count as zero."""
    if rtol is None:
        return builtins.max(x.shape[-2:]) * float(np.finfo(x.dtype).eps)
    return to_array(np, rtol) if isinstance(rtol, Tensor) else rtol


# --- the pseudoinverse ---------------------------------------------------------------------------


def _pinv(np: Any, x: Any, rtol: Any = None) -> Any:
    return np.linalg.pinv(x, _tolerance(np, x, rtol))


def _pinv_shape(x: Tensor, rtol: Any) -> Sequence[int]:
    rows, columns = need_matrices(x)
    if isinstance(rtol, Tensor):
        _fit_tolerance(rtol, x.shape[:-2])
    return (*x.shape[:-2], columns, rows)


def _pinv_back(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    """Golub and Pereyra: -P^H g P^H + (I - x P) g^H P P^H + P^H P g^H (I - P x), P = out."""
    p, ph, gh = out, adjoint(out), adjoint(g)
    right, left = gh @ (p @ ph), (ph @ p) @ gh
    return (right - x @ (p @ right)) + (left - (left @ p) @ x) - ph @ g @ ph


pinv = Host(
    "pinv", home="linalg", params={"rtol": None}, compute=_pinv, shape=_pinv_shape,
    normalise=_to_tolerance, failure=product_errors.no_convergence, matrices="regular",
    vjp=lambda g, x, out: _pinv_back(g, x, out),
    doc="The pseudoinverse of matrices. Singular values below rtol times the largest count as "
        "zero; by default rtol is the larger size times the dtype's epsilon.",
    ref=lambda np, x, rtol=None: _pinv(np, narrow(np, x), rtol),
    example=">>> ts.linalg.pinv(ts.tensor([[2.0, 0.0]])).tolist()\n[[0.5], [0.0]]",
    samples=[case((3, 3)), case((2, 4, 3)), case((2, 3), rtol=1e-3), case((0, 3)), case((0, 2, 2))],
    errors=[*_NO_MATRIX, case((2, 2), rtol="x", match="rtol must be a real number"),
            case((2, 2), rtol=ones(2), match="the target has fewer axes"),
            case((2, 2), rtol=arange(2), match="rtol.dtype is int64")],
).function  # fmt: skip


# --- least squares -------------------------------------------------------------------------------


class LstsqResult(NamedTuple):
    """The solution, the sums of squares it leaves (where a has full rank), a's rank and values."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


def _lstsq(np: Any, a: Any, b: Any, rtol: Any = None) -> Any:
    """Solve each system of a batch by LAPACK's gelsd, which NumPy offers for one."""
    columns = b[:, None] if b.ndim == 1 else b
    share = _tolerance(np, a, rtol)
    batch = np.broadcast_shapes(a.shape[:-2], columns.shape[:-2])
    a = np.broadcast_to(a, (*batch, *a.shape[-2:]))
    columns = np.broadcast_to(columns, (*batch, *columns.shape[-2:]))
    out = np.empty((*batch, a.shape[-1], columns.shape[-1]), a.dtype)
    for index in np.ndindex(*batch):
        out[index] = np.linalg.lstsq(a[index], columns[index], share)[0]
    return out[..., 0] if b.ndim == 1 else out


def _as_columns(x: Tensor, b_ndim: int) -> Tensor:
    return unsqueeze(x, -1) if b_ndim == 1 else x


def _lstsq_matrix_back(g: Tensor, a: Tensor, b: Tensor, out: Tensor, rtol: Any) -> Tensor:
    """As of pinv(a) @ b: r (P P^H g)^H - P^H g x^H + P^H x ((I - P a) g)^H, r = b - a x."""
    g, b, x = (_as_columns(each, b.ndim) for each in (g, b, out))
    p = pinv(a, rtol)
    ph = adjoint(p)
    back = ph @ g
    left = (b - a @ x) @ adjoint(p @ back)
    return left - back @ adjoint(x) + (ph @ x) @ adjoint(g - p @ (a @ g))


def _lstsq_side_back(g: Tensor, a: Tensor, b_shape: Sequence[int], rtol: Any) -> Tensor:
    found = adjoint(pinv(a, rtol)) @ _as_columns(g, len(b_shape))
    return found[..., 0] if len(b_shape) == 1 else found


lstsq_solution = Host(
    "lstsq_solution", home="linalg", is_function=False, operands=("a", "b"), params={"rtol": None},
    compute=_lstsq, shape=solved_shape, normalise=_to_tolerance,
    failure=product_errors.no_convergence, matrices="regular",
    vjp=(lambda g, a, b, out, rtol: _lstsq_matrix_back(g, a, b, out, rtol),
         lambda g, a, b_shape, rtol: _lstsq_side_back(g, a, b_shape, rtol)),
    doc="The shortest x with the smallest a @ x - b.",
    ref=lambda np, a, b, rtol=None: _lstsq(np, narrow(np, a), narrow(np, b), rtol),
    samples=[case((4, 2), (4, 3)), case((4, 2), (4,)), case((2, 3), (2, 2)),
             case((2, 4, 3), (4, 1))],
    errors=[case((4, 2), (3,), match="a has 4 rows, b 3"), case((4,), (4,), match="a.ndim is 1")],
).function  # fmt: skip


@composite(
    no_capture="NumPy computes it",
    home="linalg", matrices="regular", tested="tests/test_linalg.py",
    samples=[case((4, 2), (4, 3)), case((4, 2), (4,)), case((2, 3), (2, 2))],
    errors=[case((4, 2), (3,), match="a has 4 rows, b 3")],
)  # fmt: skip
def lstsq(a: Tensor, b: Tensor, *, rtol: float | None = None) -> LstsqResult:
    """Give the x with the smallest a @ x - b, the shortest if there are several.

    >>> ts.linalg.lstsq(ts.ones(2, 1), ts.tensor([1.0, 3.0])).solution.tolist()
    [2.0]
    """
    x = lstsq_solution(a, b, rtol)
    rest = _as_columns(b, b.ndim) - a @ _as_columns(x, b.ndim)
    squares = sum(abs(rest) * abs(rest), axis=-2)
    residuals = squares[..., 0] if b.ndim == 1 else squares
    return LstsqResult(x, residuals, matrix_rank(a, rtol=rtol), svdvals(a))


# --- ranks ---------------------------------------------------------------------------------------


def _rank_ref(np: Any, x: Any, rtol: Any = None) -> Any:
    values = np.linalg.svd(x, compute_uv=False)
    share = max(x.shape[-2:]) * 1e-6 if rtol is None else rtol
    return (values > values.max(-1, keepdims=True, initial=0) * share).sum(-1)


@composite(
    no_capture="NumPy computes it",
    home="linalg", matrices="regular", ref=_rank_ref,
    samples=[case((3, 3)), case((2, 4, 3)), case((2, 3), rtol=0.5), case((0, 2, 2)), case((0, 3))],
    errors=_NO_MATRIX,
)  # fmt: skip
def matrix_rank(x: Tensor, *, rtol: Any = None) -> Tensor:
    """Count the singular values above rtol times the largest, of each matrix.

    By default rtol is the larger size times the dtype's epsilon.

    >>> ts.linalg.matrix_rank(ts.ones(3, 3)).item()
    1
    """
    values = svdvals(x).detach()
    share = _to_tolerance(rtol)["rtol"]
    if share is None:
        share = builtins.max(x.shape[-2:]) * finfo(values.dtype).eps
    elif isinstance(share, Tensor):
        _fit_tolerance(share, x.shape[:-2])
        share = unsqueeze(share, -1)
    return cast(sum(cast(values > values[..., :1] * share, int64), axis=-1), int64)
