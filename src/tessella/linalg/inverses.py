"""Inverses, systems of equations and determinants."""

from __future__ import annotations

from typing import NamedTuple

from tessella import _core, product_errors
from tessella._core import Tensor
from tessella.arguments import to_bool
from tessella.composites import composite
from tessella.declarations import REQUIRED, case
from tessella.dtypes import DType
from tessella.hints import Any, Sequence
from tessella.host import Host, need_precision
from tessella.kinds import cast, common_dtype
from tessella.limits import require
from tessella.linalg.shapes import (
    adjoint,
    batch_shape,
    join_parts,
    narrow,
    need_matrices,
    need_square,
    same_shape,
    solved_shape,
    split_parts,
)
from tessella.ops.composite import tril, triu
from tessella.ops.elementwise import conjugate, imag, real
from tessella.ops.movement import transpose, unsqueeze
from tessella.ops.reduce import sum
from tessella.records import Op

_NOT_SQUARE = [case((2, 3), match=r"x.shape is \(2, 3\)"), case((3,), match="x.ndim is 1")]
_SQUARE = [case((3, 3)), case((2, 3, 3)), case((1, 1)), case((0, 0)), case((0, 2, 2)),
           case((2, 0, 0))]  # fmt: skip


def _each(x: Tensor) -> Tensor:
    """Give two more axes to one number for each matrix."""
    return unsqueeze(x, (-2, -1))


# --- systems of equations ------------------------------------------------------------------------

inv = Host(
    "inv", home="linalg", compute=lambda np, x: np.linalg.inv(x), shape=same_shape,
    failure=product_errors.singular, matrices="regular",
    vjp=lambda g, out: -(adjoint(out) @ g @ adjoint(out)),
    doc="The inverse of square matrices.", ref=lambda np, x: np.linalg.inv(narrow(np, x)),
    example=">>> ts.linalg.inv(ts.tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()\n"
            "[[0.5, 0.0], [0.0, 0.25]]",
    samples=_SQUARE, errors=_NOT_SQUARE,
).function  # fmt: skip


def _solve(np: Any, a: Any, b: Any) -> Any:
    """Solve with b's batch written out: NumPy 1 would take a matrix beside a batch for vectors."""
    if b.ndim == 1:
        return np.linalg.solve(a, np.broadcast_to(b[:, None], (*a.shape[:-1], 1)))[..., 0]
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return np.linalg.solve(a, np.broadcast_to(b, (*batch, *b.shape[-2:])))


def _square_solved_shape(a: Tensor, b: Tensor) -> Sequence[int]:
    need_square(a, "a")
    return solved_shape(a, b)


def _solve_back(g: Tensor, a: Tensor, b_shape: Sequence[int]) -> Tensor:
    """Give the solution y of a^H y = g."""
    if len(b_shape) > 1:
        return solve(adjoint(a), g)
    return solve(adjoint(a), unsqueeze(g, -1))[..., 0]


def _solve_matrix_back(g: Tensor, a: Tensor, b_shape: Sequence[int], out: Tensor) -> Tensor:
    """Give -y out^H, where a^H y = g."""
    back = _solve_back(g, a, b_shape)
    if len(b_shape) > 1:
        return -(back @ adjoint(out))
    return -(unsqueeze(back, -1) * adjoint(unsqueeze(out, -1)))


solve = Host(
    "solve", home="linalg", operands=("a", "b"), compute=_solve, shape=_square_solved_shape,
    failure=product_errors.singular, matrices="regular",
    vjp=(lambda g, a, b_shape, out: _solve_matrix_back(g, a, b_shape, out),
         lambda g, a, b_shape: _solve_back(g, a, b_shape)),
    doc="The x with a @ x = b, for square matrices a. b is a vector if it has one axis, else "
        "matrices; batches broadcast.",
    ref=lambda np, a, b: _solve(np, narrow(np, a), narrow(np, b)),
    example=">>> ts.linalg.solve(ts.tensor([[2.0, 0.0], [0.0, 4.0]]), ts.ones(2)).tolist()\n"
            "[0.5, 0.25]",
    samples=[case((3, 3), (3,)), case((3, 3), (3, 2)), case((2, 3, 3), (3, 2)),
             case((2, 2, 2), (2,)),
             case((2, 1, 3, 3), (4, 3, 1)), case((0, 0), (0,)), case((2, 2), (2, 0))],
    errors=[case((2, 3), (2,), match=r"a.shape is \(2, 3\)"),
            case((3, 3), (2,), match="a has 3 rows, b 2"),
            case((2, 2, 2), (3, 2, 1), match="do not broadcast"),
            case((2, 2), (), match="b.ndim is 0")],
).function  # fmt: skip


# --- determinants --------------------------------------------------------------------------------

det = Host(
    "det", home="linalg", compute=lambda np, x: np.linalg.det(x), shape=batch_shape,
    matrices="regular", vjp=lambda g, x: _each(g) * conjugate(cofactors(x)),
    doc="The determinant of square matrices; 1 for those of size 0.",
    ref=lambda np, x: np.linalg.det(narrow(np, x)),
    example=">>> ts.linalg.det(2 * ts.eye(3)).item()\n8.0", samples=_SQUARE, errors=_NOT_SQUARE,
).function  # fmt: skip


def _cofactors(np: Any, x: Any) -> Any:
    """Give det(x) * inv(x).T by singular values, so that singular matrices have them too.

    With x = U S V^H, they are det(U) det(V^H) conj(U) diag(products of the other values) V^T.
    """
    u, s, vh = np.linalg.svd(x)
    n = s.shape[-1]
    others = np.where(np.eye(n, dtype=bool), s.dtype.type(1), s[..., None, :]).prod(-1)
    scale = (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    return scale * np.matmul(np.conj(u) * others[..., None, :], np.conj(vh))


def _cofactors_back(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    """With B = inv(x)^H: sum(g * conj(out)) B - B g^T conj(out)."""
    inverse, factors = adjoint(inv(x)), transpose(adjoint(out), -1, -2)
    total = sum(g * factors, axis=(-2, -1), keepdims=True)
    return total * inverse - inverse @ transpose(g, -1, -2) @ factors


cofactors = Host(
    "cofactors", home="linalg", is_function=False, compute=_cofactors, shape=same_shape,
    failure=product_errors.no_convergence, matrices="regular",
    vjp=lambda g, x, out: _cofactors_back(g, x, out),
    doc="The gradient of the determinant: det(x) * inv(x).T, of singular matrices too.",
    ref=lambda np, x: _cofactors(np, narrow(np, x)), samples=_SQUARE, errors=_NOT_SQUARE,
).function  # fmt: skip


def _slogdet_back(g: Tensor, x: Tensor, out: Tensor, x_shape: Sequence[int]) -> Tensor:
    """The logarithm's slope is inv(x)^H; only the sign of complex matrices changes, by an angle."""
    batch = x_shape[:-2]
    (g_sign, g_log), (sign, _) = (split_parts(flat, batch, batch) for flat in (g, out))
    weight = real(g_log) if g_log.dtype.is_complex else g_log
    if sign.dtype.is_complex:
        weight = weight - imag(conjugate(g_sign) * sign) * 1j
    return _each(weight) * adjoint(inv(x))


def _slogdet_shape(x: Tensor) -> Sequence[int]:
    return (2 * _core.Layout(tuple(batch_shape(x))).size,)


slogdet_parts = Host(
    "slogdet_parts", home="linalg", is_function=False, shape=_slogdet_shape, matrices="regular",
    compute=lambda np, x: join_parts(np, *np.linalg.slogdet(x)),
    vjp=lambda g, x, out, x_shape: _slogdet_back(g, x, out, x_shape),
    doc="Signs of determinants, then the logarithms of their absolute values.",
    ref=lambda np, x: join_parts(np, *np.linalg.slogdet(narrow(np, x))),
    samples=_SQUARE, errors=_NOT_SQUARE,
).function  # fmt: skip


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its absolute value."""

    sign: Tensor
    logabsdet: Tensor


@composite(
    no_capture="NumPy computes it",
    home="linalg", matrices="regular", ref=lambda np, x: tuple(np.linalg.slogdet(x)),
    samples=_SQUARE, errors=_NOT_SQUARE,
)  # fmt: skip
def slogdet(x: Tensor) -> SlogdetResult:
    """Give the sign of the determinant and the logarithm of its absolute value: no overflow.

    >>> ts.linalg.slogdet(-ts.eye(3)).sign.item()
    -1.0
    """
    need_square(x)
    batch = x.shape[:-2]
    sign, logarithm = split_parts(slogdet_parts(x), batch, batch)
    return SlogdetResult(sign, real(logarithm) if logarithm.dtype.is_complex else logarithm)


# --- triangular systems --------------------------------------------------------------------------


class Triangular(Op):
    """Substitution by halves: the rest of the right side is updated by matrix products.

    It is Tessella's own: it needs no NumPy, and has the bits of its products.
    """

    operands = ("a", "b")
    params = {"upper": REQUIRED, "left": True, "unitriangular": False}

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Promote the operands."""
        inputs, params = super().prepare(inputs, params)
        dtype = common_dtype(self.operands, inputs)
        need_precision(dtype)
        params = {name: to_bool(name, value) for name, value in params.items()}
        return [cast(x, dtype) for x in inputs], params

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Check the sizes and broadcast the batches."""
        a, b = inputs
        size = need_square(a, "a")
        given = need_matrices(b, "b")[0 if params["left"] else 1]
        if given != size:
            raise product_errors.solve_sizes(size, given)
        batch = _core.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return (*batch, *b.shape[-2:]), a.dtype

    def run(self, out: Tensor, inputs: list[Any], params: dict[str, Any]) -> None:
        """Copy b and substitute in it; from the right, in transposes."""
        a, b = (x.detach() for x in inputs)
        _core.copy(out, b, True)
        upper, unit = params["upper"], params["unitriangular"]
        if not unit:
            regular = (a.diagonal(0, -2, -1) != 0).all()
            require(regular, lambda: product_errors.singular("a", True))
        if params["left"]:
            _substitute(a, out, upper, unit)
        else:
            _substitute(a.mT, out.mT, not upper, unit)


def _substitute(a: Tensor, x: Tensor, upper: bool, unit: bool) -> None:
    """Overwrite x with a's inverse times x."""
    n = a.shape[-1]
    if n <= 1:
        if n and not unit:
            _core.copy(x, x / a, True)
        return
    cut = n // 2
    low, high = slice(None, cut), slice(cut, None)
    first, second = (high, low) if upper else (low, high)
    _substitute(a[..., first, first], x[..., first, :], upper, unit)
    rest = x[..., second, :]
    _core.copy(rest, rest - a[..., second, first] @ x[..., first, :], True)
    _substitute(a[..., second, second], rest, upper, unit)


def _triangular_back(
    g: Tensor, a: Tensor, out: Tensor, upper: bool, left: bool, unitriangular: bool
) -> Tensor:
    """Give the triangle of -y out^H, where a^H y = g; of -out^H y, y a^H = g, with left=False."""
    back = solve_triangular(adjoint(a), g, not upper, left, unitriangular)
    full = -(back @ adjoint(out)) if left else -(adjoint(out) @ back)
    return triu(full, k=int(unitriangular)) if upper else tril(full, k=-int(unitriangular))


solve_triangular = Triangular(
    "solve_triangular", home="linalg", matrices="regular",
    vjp=(lambda g, a, out, upper, left, unitriangular: _triangular_back(
            g, a, out, upper, left, unitriangular),
         lambda g, a, upper, left, unitriangular: solve_triangular(
            adjoint(a), g, not upper, left, unitriangular)),
    doc="The x with a @ x = b (x @ a = b with left=False), of the upper or lower triangle of a; "
        "unitriangular takes its diagonal as ones.",
    ref=lambda np, a, b, upper, left=True, unitriangular=False: _triangular_ref(
        np, narrow(np, a), narrow(np, b), upper, left, unitriangular),
    example=">>> ts.linalg.solve_triangular(ts.tensor([[2.0, 0.0], [2.0, 1.0]]), ts.ones(2, 1), "
            "upper=False).tolist()\n[[0.5], [0.0]]",
    samples=[case((4, 4), (4, 2), upper=True), case((2, 3, 3), (3, 2), upper=False),
             case((3, 3), (2, 3), upper=True, left=False), case((0, 0), (0, 2), upper=True),
             case((3, 3), (3, 2), upper=False, unitriangular=True)],
    errors=[case((3, 3), (2, 3), upper=True, match="a has 3 rows, b 2"),
            case((3, 3), (3,), upper=True, match="b.ndim is 1"),
            case((3, 3), (3, 1), upper=1, match="upper must be True or False")],
).function  # fmt: skip


def _triangular_ref(np: Any, a: Any, b: Any, upper: bool, left: bool, unit: bool) -> Any:
    full = (np.triu if upper else np.tril)(a)
    if unit:
        index = np.arange(a.shape[-1])
        full[..., index, index] = 1
    if left:
        return _solve(np, full, b)
    return _solve(np, full.swapaxes(-1, -2), b.swapaxes(-1, -2)).swapaxes(-1, -2)
