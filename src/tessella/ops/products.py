"""Products made of the matrix product and of elementwise ones; einsum has a file of its own."""

from __future__ import annotations

from tessella import _core, product_errors
from tessella._core import Tensor
from tessella.composites import Number, composite
from tessella.declarations import case
from tessella.dtypes import promote
from tessella.hints import Any
from tessella.kinds import cast
from tessella.ops.elementwise import conjugate, mul
from tessella.ops.joining import concat
from tessella.ops.matmul import matmul, need_ndim, tensordot
from tessella.ops.movement import broadcast_to, normal_axes, reshape, unsqueeze

_PAIR = {"input": "a", "other": "b"}  # PyTorch's names of the operands


# --- of two tensors ------------------------------------------------------------------------------


@composite(
    ref="inner", keywords=_PAIR,
    samples=[case((3,), (3,)), case((2, 3), (4, 3)), case((2, 3), ()), case((2, 0), (3, 0))],
    errors=[case((2, 3), (2, 4), match=r"sizes of the summed axes differ: \[3\] and \[4\]")],
)  # fmt: skip
def inner(a: Tensor, b: Tensor) -> Tensor:
    """Sum products over the last axes of a and b; a 0-d operand scales the other.

    >>> ts.inner(ts.tensor([[1.0, 2.0], [3.0, 4.0]]), ts.tensor([[10.0, 1.0]])).tolist()
    [[12.0], [34.0]]
    """
    if a.ndim == 0 or b.ndim == 0:
        return mul(a, b)
    return tensordot(a, b, axes=((-1,), (-1,)))


@composite(
    ref="vdot", keywords=_PAIR, samples=[case((3,), (3,)), case((0,), (0,))],
    errors=[case((2, 2), (2, 2), match="a.ndim is 2"),
            case((3,), (4,), match="inner sizes differ: 3 != 4")],
)  # fmt: skip
def vdot(a: Tensor, b: Tensor) -> Tensor:
    """Multiply two vectors to one number, a conjugated.

    >>> ts.vdot(ts.tensor([1j, 2]), ts.tensor([1j, 1])).item()
    (3+0j)
    """
    need_ndim("a", a, 1)
    need_ndim("b", b, 1)
    return matmul(conjugate(a), b)


@composite(
    ref="kron", keywords=_PAIR,
    samples=[case((2, 3), (2, 2)), case((3,), (2, 2)), case((2, 1, 3), (2, 2)), case((), (2,)),
             case((0, 2), (3, 2))],
)  # fmt: skip
def kron(a: Tensor, b: Tensor) -> Tensor:
    """Give the Kronecker product: every element of a times the whole of b, as blocks.

    >>> ts.kron(ts.eye(2), ts.tensor([[1.0, 2.0]])).tolist()
    [[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 2.0]]
    """
    ndim = max(a.ndim, b.ndim)
    rows, columns = ((1,) * (ndim - x.ndim) + x.shape for x in (a, b))
    # (m, n) and (p, q): as (m, 1, n, 1) and (1, p, 1, q), multiplied, then merged in pairs.
    apart = reshape(a, [n for size in rows for n in (size, 1)])
    inside = reshape(b, [n for size in columns for n in (1, size)])
    return reshape(mul(apart, inside), [m * n for m, n in zip(rows, columns, strict=True)])


@composite(
    ref=lambda np, a, b, axis=-1: np.cross(a, b, axis=axis), keywords=_PAIR,
    samples=[case((3,), (3,)), case((2, 3), (2, 3)), case((3, 2), (3, 2), axis=0),
             case((4, 1, 3), (2, 3)), case((0, 3), (3,))],
    errors=[case((2,), (2,), match="axis -1 of a has size 2"),
            case((3,), (4, 1), match="axis -1 of b has size 1"),
            case((3,), (3,), axis=1, match="axis 1 is out of range"),
            case((2, 3), (4, 3), match="do not broadcast"),
            case((3,), (3,), dtype="bool", match="not defined for bool")],
)  # fmt: skip
def cross(a: Tensor, b: Tensor, *, axis: int = -1) -> Tensor:
    """Give the cross product of vectors of 3 elements along an axis; the other axes broadcast.

    >>> ts.cross(ts.tensor([1, 0, 0]), ts.tensor([0, 1, 0])).tolist()
    [0, 0, 1]
    """
    for name, x in (("a", a), ("b", b)):
        size = x.shape[normal_axes(x, axis)[0]]
        if size != 3:
            raise product_errors.cross_size(name, axis, size)
    place = axis if axis < 0 else axis - max(a.ndim, b.ndim)
    shape = _core.broadcast_shapes(a.shape, b.shape)
    a, b = broadcast_to(a, shape), broadcast_to(b, shape)
    # Components (y, z, x) and (z, x, y) of each: the first is y1 * z2 - z1 * y2.
    (next_a, last_a), (next_b, last_b) = (
        [_turned(x, turn, place) for turn in (1, 2)] for x in (a, b)
    )
    return mul(next_a, last_b) - mul(last_a, next_b)


def _turned(x: Tensor, turn: int, axis: int) -> Tensor:
    """Begin with the component `turn` along an axis of 3."""
    head = (slice(None),) * (x.ndim + axis)
    return concat([x[(*head, slice(turn, None))], x[(*head, slice(None, turn))]], axis)


# --- a product added to a tensor -----------------------------------------------------------------


def _joined(x: Tensor, product: Tensor, beta: Number, alpha: Number) -> Tensor:
    """Give beta * x + alpha * product; with beta 0, a NaN in x stays out."""
    if alpha != 1:
        product = product * alpha
    x = broadcast_to(x, product.shape)
    if beta == 0:
        return cast(product, promote(x.dtype, product.dtype))
    return (x if beta == 1 else x * beta) + product


def _added(product: Any, x: Any, a: Any, b: Any, torch: str) -> dict[str, Any]:
    """Declare a product that is added to x, with operands of these shapes and PyTorch's names."""

    def ref(np: Any, x: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
        return beta * x + alpha * product(np, a, b)

    too_many = (2, *x)
    return {
        "ref": ref, "keywords": dict(zip(torch.split(), "ab", strict=True)), "has_twin": True,
        "samples": [case(x, a, b), case((1,), a, b, alpha=2), case(x, a, b, beta=3, alpha=2)],
        "errors": [case(too_many, a, b, match="the target has fewer axes"),
                   case(x, (2, *a), b, match=f"a.ndim is {len(a) + 1}"),
                   case(x, a, (*b, 2), match=f"b.ndim is {len(b) + 1}"),
                   case(x, a, b, beta="1", match="beta must be a number")],
    }  # fmt: skip


@composite(**_added(lambda np, a, b: a @ b, (2, 4), (2, 3), (3, 4), "mat1 mat2"))
def addmm(x: Tensor, a: Tensor, b: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """Give beta * x + alpha * (a @ b) for matrices a and b; x broadcasts to the product.

    >>> x = ts.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> ts.addmm(ts.tensor([100.0, 200.0]), x, x, alpha=2).tolist()
    [[114.0, 220.0], [130.0, 244.0]]
    """
    need_ndim("a", a, 2)
    need_ndim("b", b, 2)
    return _joined(x, matmul(a, b), beta, alpha)


@composite(**_added(lambda np, a, b: a @ b, (2,), (2, 3), (3,), "mat vec"))
def addmv(x: Tensor, a: Tensor, b: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """Give beta * x + alpha * (a @ b) for a matrix a and a vector b.

    >>> x, y = ts.tensor([[1.0, 2.0], [3.0, 4.0]]), ts.tensor([10.0, 1.0])
    >>> ts.addmv(ts.tensor([100.0, 200.0]), x, y).tolist()
    [112.0, 234.0]
    """
    need_ndim("a", a, 2)
    need_ndim("b", b, 1)
    return _joined(x, matmul(a, b), beta, alpha)


@composite(**_added(lambda np, a, b: np.outer(a, b), (2, 3), (2,), (3,), "vec1 vec2"))
def addr(x: Tensor, a: Tensor, b: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """Give beta * x + alpha * outer(a, b) for vectors a and b.

    >>> ts.addr(ts.zeros(2, 2), ts.ones(2), ts.tensor([1.0, 2.0])).tolist()
    [[1.0, 2.0], [1.0, 2.0]]
    """
    need_ndim("a", a, 1)
    need_ndim("b", b, 1)
    return _joined(x, mul(unsqueeze(a, 1), b), beta, alpha)


@composite(**_added(lambda np, a, b: a @ b, (2, 2, 4), (2, 2, 3), (2, 3, 4),
                    "batch1 batch2"))  # fmt: skip
def baddbmm(x: Tensor, a: Tensor, b: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """Give beta * x + alpha * (a @ b) for batches of matrices.

    >>> x, y = ts.arange(4.0).reshape(2, 1, 2), ts.arange(4.0).reshape(2, 2, 1)
    >>> ts.baddbmm(ts.tensor([100.0]), x, y).tolist()
    [[[101.0]], [[113.0]]]
    """
    need_ndim("a", a, 3)
    need_ndim("b", b, 3)
    return _joined(x, matmul(a, b), beta, alpha)


@composite(**_added(lambda np, a, b: np.tensordot(a, b, ((0, 2), (0, 1))),
                    (2, 4), (5, 2, 3), (5, 3, 4), "batch1 batch2"))  # fmt: skip
def addbmm(x: Tensor, a: Tensor, b: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """Give beta * x + alpha * (the sum of the products of two batches of matrices).

    >>> x, y = ts.arange(4.0).reshape(2, 1, 2), ts.arange(4.0).reshape(2, 2, 1)
    >>> ts.addbmm(ts.tensor([100.0]), x, y).tolist()
    [[114.0]]
    """
    need_ndim("a", a, 3)
    need_ndim("b", b, 3)
    return _joined(x, tensordot(a, b, axes=((0, 2), (0, 1))), beta, alpha)
