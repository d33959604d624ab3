"""Products and parts of matrices that need no decomposition."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.composites import DTypeLike, composite
from tessella.declarations import case
from tessella.hints import Any, Sequence
from tessella.linalg.inverses import inv
from tessella.linalg.shapes import need_matrices, need_square
from tessella.ops import movement
from tessella.ops.casting import astype
from tessella.ops.creation import eye
from tessella.ops.matmul import matmul
from tessella.ops.movement import broadcast_to, reshape, unsqueeze
from tessella.ops.reduce import sum

_NO_MATRIX = case((3,), match="x.ndim is 1")


@composite(
    home="linalg", ref="linalg.diagonal", ulps=0, gives="view",
    samples=[case((2, 3, 4)), case((3, 3), offset=1), case((2, 3), offset=-5)], errors=[_NO_MATRIX],
)  # fmt: skip
def diagonal(x: Tensor, *, offset: int = 0) -> Tensor:
    """Give the diagonal of each matrix: a view.

    >>> ts.linalg.diagonal(ts.eye(2)).tolist()
    [1.0, 1.0]
    """
    need_matrices(x)
    return movement.diagonal(x, offset, -2, -1)


@composite(
    home="linalg", ref="linalg.trace", samples=[case((3, 3)), case((2, 3, 4), offset=1)],
    errors=[_NO_MATRIX],
)  # fmt: skip
def trace(x: Tensor, *, offset: int = 0, dtype: DTypeLike | None = None) -> Tensor:
    """Sum the diagonal of each matrix; integers are summed in 64 bits.

    >>> ts.linalg.trace(ts.ones(2, 3, 3)).tolist()
    [3.0, 3.0]
    """
    need_matrices(x)
    return sum(movement.diagonal(x, offset, -2, -1), axis=-1, dtype=dtype)


@composite(
    no_capture="NumPy computes it",
    home="linalg", ref="linalg.matrix_power", matrices="regular", ulps=16,
    samples=[case((3, 3), 0), case((2, 3, 3), 0), case((3, 3), 1), case((2, 3, 3), 5),
             case((2, 2), 8), case((2, 2), -3), case((0, 0), 3)],
    errors=[case((2, 3), 2, match=r"x.shape is \(2, 3\)"),
            case((2, 2), 1.5, match="n must be an integer")],
)  # fmt: skip
def matrix_power(x: Tensor, n: int) -> Tensor:
    """Multiply square matrices n times by themselves; a negative n inverts them first.

    >>> ts.linalg.matrix_power(ts.tensor([[1, 1], [0, 1]]), 5).tolist()
    [[1, 5], [0, 1]]
    """
    size = need_square(x)
    if n < 0:
        return matrix_power(inv(x), -n)
    if n < 2:
        return astype(broadcast_to(eye(size), x.shape) if n == 0 else x, x.dtype)
    out = None
    while n:  # by squares: as many products as n has bits and ones
        if n & 1:
            out = x if out is None else matmul(out, x)
        n >>= 1
        x = matmul(x, x) if n else x
    assert out is not None
    return out


def _order_of_products(sizes: Sequence[int]) -> list[list[int]]:
    """Give where to split each chain i..j so that the fewest products are formed."""
    count = len(sizes) - 1
    costs = [[0] * count for _ in range(count)]
    splits = [[0] * count for _ in range(count)]
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            options = [(costs[i][k] + costs[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                       for k in range(i, j)]  # fmt: skip
            costs[i][j], splits[i][j] = min(options)
    return splits


@composite(
    home="linalg", ref=lambda np, xs: np.linalg.multi_dot(xs),
    samples=[case([(2, 3), (3, 4)]), case([(2, 3), (3, 5), (5, 2), (2, 4)]),
             case([(3,), (3, 4), (4,)])],
    errors=[case([(2, 3)], match="xs is"),
            case([(2, 3), (4, 5)], match="inner sizes differ: 3 != 4"),
            case([(2, 3), (3,), (3, 2)], match=r"xs\[1\].ndim is 1")],
)  # fmt: skip
def multi_dot(xs: Sequence[Tensor]) -> Tensor:
    """Multiply matrices in the order that takes the fewest products; the ends may be vectors.

    >>> x = ts.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> ts.linalg.multi_dot([x, x, ts.tensor([1.0, 0.0])]).tolist()
    [7.0, 15.0]
    """
    if len(xs) < 2:
        raise errors.wrong_value("xs", xs, "two or more tensors")
    for i, x in enumerate(xs):
        allowed = (1, 2) if i in (0, len(xs) - 1) else (2,)
        if x.ndim not in allowed:
            raise errors.wrong_value(f"xs[{i}].ndim", x.ndim, " or ".join(map(str, allowed)))
    chain = list(xs)
    is_row, is_column = chain[0].ndim == 1, chain[-1].ndim == 1
    chain[0] = unsqueeze(chain[0], 0) if is_row else chain[0]
    chain[-1] = unsqueeze(chain[-1], 1) if is_column else chain[-1]
    splits = _order_of_products([chain[0].shape[0], *(x.shape[1] for x in chain)])

    def multiply(i: int, j: int) -> Any:
        if i == j:
            return chain[i]
        return matmul(multiply(i, splits[i][j]), multiply(splits[i][j] + 1, j))

    out: Tensor = multiply(0, len(chain) - 1)
    rows, columns = () if is_row else out.shape[:1], () if is_column else out.shape[1:]
    return reshape(out, (*rows, *columns))
