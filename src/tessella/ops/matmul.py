"""The matrix product and its kin."""

from __future__ import annotations

import math

from tessella import _core, errors, inplace
from tessella._core import Tensor
from tessella.arguments import to_ints
from tessella.composites import composite
from tessella.declarations import case
from tessella.dtypes import DType, boolean
from tessella.hints import Any, Sequence
from tessella.kinds import Straight, cast, common_dtype
from tessella.ops.creation import copy_of
from tessella.ops.elementwise import add, conjugate, mul
from tessella.ops.movement import normal_axes, permute, reshape, transpose, unsqueeze
from tessella.ops.reduce import sum


class Matmul(Straight):
    """Products over the last axis of a and the last but one of b; other axes broadcast."""

    fast = "matmul"
    operands = ("a", "b")

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Promote, and check the axis that is summed."""
        inputs, params = super().prepare(inputs, params)
        for name, x in zip(self.operands, inputs, strict=True):
            if x.ndim == 0:
                raise errors.matmul_scalar(name)
        dtype = common_dtype(self.operands, inputs)
        if dtype is boolean:
            raise errors.no_kernel(dtype, "convert with astype(ts.int64), or use any(a & b)")
        a, b = (cast(x, dtype) for x in inputs)
        inner = b.shape[0] if b.ndim == 1 else b.shape[-2]
        if a.shape[-1] != inner:
            raise errors.matmul_inner(a.shape[-1], inner)
        return [a, b], params

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Broadcast the batch axes; vectors lose their axis."""
        a, b = inputs
        batch = _core.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        rows = a.shape[-2:-1] if a.ndim > 1 else ()
        columns = b.shape[-1:] if b.ndim > 1 else ()
        return (*batch, *rows, *columns), a.dtype

    def compute(
        self, out: Tensor, inputs: list[Any], params: dict[str, Any], interruptible: bool
    ) -> None:
        """Call the driver on matrices."""
        a, b, c = as_matrices(inputs[0], inputs[1], out)
        _core.matmul(c, a, b, False, interruptible)


def as_matrices(a: Tensor, b: Tensor, out: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """View vectors as a row, a column, and the result accordingly."""
    layouts = [_core.layout_of(x) for x in (a, b, out)]
    if a.ndim == 1:
        layouts[0] = layouts[0].unsqueeze((0,))
        layouts[2] = layouts[2].unsqueeze((-1,) if b.ndim == 1 else (-2,))
    if b.ndim == 1:
        layouts[1] = layouts[1].unsqueeze((1,))
        layouts[2] = layouts[2].unsqueeze((-1,))
    a, b, out = (_core.view(x, layout) for x, layout in zip((a, b, out), layouts, strict=True))
    return a, b, out


def _gradient_a(g: Tensor, b: Tensor, a_shape: Sequence[int]) -> Tensor:
    """Give g @ b.mH, with the axes that vectors lack."""
    b = conjugate(b)
    if b.ndim == 1:
        return unsqueeze(g, -1) * b
    if len(a_shape) > 1:
        return matmul(g, transpose(b, -1, -2))
    product = matmul(unsqueeze(g, -2), transpose(b, -1, -2))
    return reshape(product, (*product.shape[:-2], product.shape[-1]))


def _gradient_b(g: Tensor, a: Tensor, b_shape: Sequence[int]) -> Tensor:
    """Give a.mH @ g, with the axes that vectors lack."""
    a = conjugate(a)
    if a.ndim == 1:
        return unsqueeze(a, -1) * unsqueeze(g, -2) if len(b_shape) > 1 else a * g
    if len(b_shape) > 1:
        return matmul(transpose(a, -1, -2), g)
    product = matmul(transpose(a, -1, -2), unsqueeze(g, -1))
    return reshape(product, product.shape[:-1])


# PyTorch's names of the factors.
_FACTORS = {"input": "a", **dict.fromkeys(("other", "mat2", "vec", "tensor"), "b")}
matmul = Matmul(
    "matmul", vjp=(_gradient_a, _gradient_b), keywords=_FACTORS,
    doc="The matrix product a @ b. 1-D operands are a row on the left and a column on the right; "
        "axes before the last two broadcast.", ref="matmul",
    samples=[case((3, 4), (4, 5)), case((4,), (4,)), case((3, 4), (4,)), case((4,), (4, 2)),
             case((2, 3, 4), (4, 5)), case((2, 3, 4), (1, 4, 5)), case((2, 1, 3, 4), (5, 4, 2)),
             case((0, 4), (4, 3)), case((3, 0), (0, 2)), case((17, 33), (33, 65)),
             case((70, 130), (130, 90)), case((4,), (2, 4, 3)), case((2, 3, 4), (4,))],
    errors=[case((4, 3, 18), (19, 56), match="inner sizes differ: 18 != 19"),
            case((2, 3, 4), (3, 4, 5), match="do not broadcast"),
            case((), (2,), match="a is 0-d"),
            case((2, 2), (2, 2), dtype="bool", match="not defined for bool")],
).function  # fmt: skip


@composite(is_method=False, tested="tests/test_products.py")
def matmul_into(out: Tensor, a: Tensor, b: Tensor, *, accumulate: bool = False,
                transpose_a: bool = False, transpose_b: bool = False) -> Tensor:  # fmt: skip
    """Write a @ b into out, or add it; the last two axes of operands are swapped if asked.

    Nothing is copied, whatever the strides, unless out overlaps an operand: out may be one. With
    accumulate, the bits are those of `out + a @ b`. Axes before the last two broadcast.

    >>> ts.matmul_into(ts.zeros(2, 2), ts.eye(2), ts.ones(2, 2)).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    >>> a, out = ts.ones(3, 2), ts.ones(2, 2)
    >>> ts.matmul_into(out, a, a, accumulate=True, transpose_a=True).tolist()
    [[4.0, 4.0], [4.0, 4.0]]
    """
    if _core.multiply_into(out, a, b, accumulate, transpose_a, transpose_b):
        return out
    inplace.check_target(out, "out")
    inplace.check_memory(out, a, b)
    for x in (a, b):
        inplace.check_source(x)
    a = transpose(a, -1, -2) if transpose_a else a
    b = transpose(b, -1, -2) if transpose_b else b
    record = matmul.record
    (a, b), _ = record.prepare([a, b], {})
    shape, dtype = record.infer([a, b], {})
    if tuple(shape) != out.shape:
        raise errors.inplace_shape(tuple(shape), out.shape, "out")
    if dtype is not out.dtype:
        product = matmul(a, b)
        inplace.check_kinds(out, product, "out")
        inplace.write(out, add(out, product) if accumulate else product, "out")
        return out
    a, b = (copy_of(x) if _core.may_overlap(out, x) else x for x in (a, b))
    if not out.is_virtual:
        a, b, target = as_matrices(a, b, out)
        _core.matmul(target, a, b, accumulate, False)
    _core.bump_version(out)
    return out


def need_ndim(name: str, x: Tensor, ndim: int) -> None:
    """Require an operand of so many axes."""
    if x.ndim != ndim:
        cure = f"{ndim}; a @ b multiplies vectors, matrices and stacks of matrices"
        raise errors.wrong_value(f"{name}.ndim", x.ndim, cure)


def _of_ranks(a_ndim: int, b_ndim: int, *shapes: Any) -> dict[str, Any]:
    """Declare a product of operands that have these ranks and no others."""
    wrong = (2,) * (a_ndim % 3 + 1)
    return {
        "keywords": _FACTORS,
        "samples": [case(*pair) for pair in shapes],
        "errors": [case(wrong, shapes[0][1], match=f"a.ndim is {len(wrong)}")],
    }


@composite(ref="matmul", **_of_ranks(2, 2, ((2, 3), (3, 1)), ((2, 0), (0, 3))))
def mm(a: Tensor, b: Tensor) -> Tensor:
    """Multiply two matrices.

    >>> ts.mm(ts.tensor([[1.0, 2.0], [3.0, 4.0]]), ts.tensor([[10.0], [1.0]])).tolist()
    [[12.0], [34.0]]
    """
    need_ndim("a", a, 2)
    need_ndim("b", b, 2)
    return matmul(a, b)


@composite(ref="matmul", **_of_ranks(3, 3, ((2, 4, 3), (2, 3, 1))))
def bmm(a: Tensor, b: Tensor) -> Tensor:
    """Multiply two batches of matrices.

    >>> ts.bmm(ts.arange(4.0).reshape(2, 1, 2), ts.arange(4.0).reshape(2, 2, 1)).tolist()
    [[[1.0]], [[13.0]]]
    """
    need_ndim("a", a, 3)
    need_ndim("b", b, 3)
    return matmul(a, b)


@composite(ref="matmul", **_of_ranks(2, 1, ((2, 3), (3,))))
def mv(a: Tensor, b: Tensor) -> Tensor:
    """Multiply a matrix with a vector.

    >>> ts.mv(ts.tensor([[1.0, 2.0], [3.0, 4.0]]), ts.tensor([10.0, 1.0])).tolist()
    [12.0, 34.0]
    """
    need_ndim("a", a, 2)
    need_ndim("b", b, 1)
    return matmul(a, b)


@composite(ref="matmul", **_of_ranks(1, 1, ((3,), (3,)), ((0,), (0,))))
def dot(a: Tensor, b: Tensor) -> Tensor:
    """Multiply two vectors to one number.

    >>> ts.dot(ts.tensor([1.0, 2.0, 3.0]), ts.tensor([4.0, 5.0, 6.0])).item()
    32.0
    """
    need_ndim("a", a, 1)
    need_ndim("b", b, 1)
    return matmul(a, b)


@composite(ref="outer", aliases=["ger"], **_of_ranks(1, 1, ((3,), (2,)), ((0,), (2,))))
def outer(a: Tensor, b: Tensor) -> Tensor:
    """Give all products of elements of two vectors.

    >>> ts.outer(ts.arange(2), ts.arange(3)).tolist()
    [[0, 0, 0], [0, 1, 2]]
    """
    need_ndim("a", a, 1)
    need_ndim("b", b, 1)
    return mul(unsqueeze(a, 1), unsqueeze(b, 0))


@composite(
    ref=lambda np, a, b, axis=-1: np.sum(np.conj(a) * b, axis=axis, dtype=a.dtype),
    is_method=False,
    samples=[case((2, 3), (2, 3)), case((2, 3), (3,)), case((3, 2), (3, 2), axis=-2)],
    errors=[case((2, 3), (2, 4), match="sizes of the summed axes differ: 3 and 4"),
            case((2, 1), (2, 4), match="sizes of the summed axes differ: 1 and 4"),
            case((2, 3), (3, 3), match="do not broadcast"),
            case((2, 3), (3,), axis=-2, match="axis -2 is out of range")],
)  # fmt: skip
def vecdot(a: Tensor, b: Tensor, *, axis: int = -1) -> Tensor:
    """Multiply along one axis, of equal size in both, and sum; a is conjugated.

    >>> ts.vecdot(ts.tensor([[1.0, 2.0], [3.0, 4.0]]), ts.tensor([10.0, 1.0])).tolist()
    [12.0, 34.0]
    """
    sizes = [x.shape[normal_axes(x, axis)[0]] for x in (a, b)]
    if sizes[0] != sizes[1]:
        raise errors.tensordot_sizes(*sizes)
    products = mul(conjugate(a), b)
    return cast(sum(products, axis=axis), products.dtype)


@composite(
    ref="tensordot", is_method=False, keywords={"dims": "axes", "other": "b"},
    samples=[case((2, 3, 4), (3, 4, 5)), case((2, 3), (4, 5), 0),
             case((2, 3), (3, 4), axes=((1,), (0,))), case((2, 0), (0, 3), 1)],
    errors=[case((2, 3), (4, 5), 1, match="sizes of the summed axes differ"),
            case((2, 3), (3, 2), 3, match="axes is 3"),
            case((2, 3), (3, 2), "ab", match="axes must be a number, or a pair of axes")],
)  # fmt: skip
def tensordot(a: Tensor, b: Tensor, axes: Any = 2) -> Tensor:
    """Sum products over several axes of a and b: a number of them, or a list for each.

    >>> ts.tensordot(ts.ones(2, 3, 4), ts.ones(3, 4, 5)).shape
    (2, 5)
    """
    left, right = _contracted(a, b, axes)
    free_a = [i for i in range(a.ndim) if i not in left]
    free_b = [i for i in range(b.ndim) if i not in right]
    sizes_a, sizes_b = [a.shape[i] for i in free_a], [b.shape[i] for i in free_b]
    inner = math.prod(a.shape[i] for i in left)
    rows = reshape(permute(a, (*free_a, *left)), (math.prod(sizes_a), inner))
    columns = reshape(permute(b, (*right, *free_b)), (inner, math.prod(sizes_b)))
    return reshape(matmul(rows, columns), (*sizes_a, *sizes_b))


def _contracted(a: Tensor, b: Tensor, axes: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if isinstance(axes, int) and not isinstance(axes, bool):
        if not 0 <= axes <= min(a.ndim, b.ndim):
            raise errors.wrong_value("axes", axes, f"0 to {min(a.ndim, b.ndim)}")
        left, right = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    else:
        if not isinstance(axes, list | tuple) or len(axes) != 2:
            raise errors.wrong_type("axes", axes, "a number, or a pair of axes")
        left, right = (
            normal_axes(a, to_ints("axes", axes[0])),
            normal_axes(b, to_ints("axes", axes[1])),
        )
    if [a.shape[i] for i in left] != [b.shape[i] for i in right]:
        raise errors.tensordot_sizes([a.shape[i] for i in left], [b.shape[i] for i in right])
    return left, right
