"""Rows of a table by integers, and integers as rows of zeros with a one."""

from __future__ import annotations

from tessella import _core, errors
from tessella._core import Function, Tensor
from tessella.composites import composite
from tessella.declarations import case
from tessella.dtypes import float32, int64
from tessella.fusions import Fused, need_float, settled
from tessella.hints import Any
from tessella.kinds import cast
from tessella.limits import limited
from tessella.modes import no_grad
from tessella.nn import layer_errors
from tessella.ops.creation import arange, ones, zeros
from tessella.ops.elementwise import where
from tessella.ops.index import need_integers
from tessella.ops.movement import reshape, unsqueeze
from tessella.ops.norms import vector_norm
from tessella.tensors import tensor

NO_PADDING = -1


def _normal(weight: Tensor, x: Tensor, padding: int, is_mean: bool) -> list[Any]:
    """Require a table and integers."""
    if weight.ndim != 2:
        raise errors.wrong_value("weight.ndim", weight.ndim, "2: one row for each integer")
    return [settled(weight, weight.dtype), settled(need_integers(x), int64)]


def _normal_back(dout: Tensor, x: Tensor, rows: int, padding: int, is_mean: bool) -> list[Any]:
    dtype = dout.dtype if dout.dtype.is_complex else need_float("dout", dout)
    if dout.shape[:-1] != x.shape or dout.ndim == 0:
        raise errors.wrong_value("dout.shape", dout.shape, f"{x.shape} and the width of the table")
    return [settled(dout, float32 if dtype.itemsize < 4 else dtype), settled(x, int64)]


def _back(g: Tensor, x: Tensor, shape: Any, padding: int, is_mean: bool) -> Tensor:
    """Give the gradient of a table; halves add up in float32."""
    return cast(embed_back(g, x, shape[0], padding, is_mean), g.dtype)


def _back_pulled(g: Tensor, x: Tensor, padding: int, is_mean: bool) -> Tensor:
    """Give the gradient of dout: the rows of g, but for those that were left out or divided."""
    out = embed(g, x, NO_PADDING, False)
    out = out if padding == NO_PADDING else where(unsqueeze(x == padding, -1), 0.0, out)
    if not is_mean:
        return out
    marks = ones((*x.shape, 1), dtype=g.dtype)
    counts = embed_back(marks, x, g.shape[0], NO_PADDING, False)
    return out / embed(counts, x, NO_PADDING, False)


def _embed_ref(np: Any, weight: Any, x: Any, padding: int, is_mean: bool) -> Any:
    return weight[x]


def _embed_back_ref(np: Any, dout: Any, x: Any, rows: int, padding: int, is_mean: bool) -> Any:
    out = np.zeros((rows, dout.shape[-1]), dout.dtype)
    np.add.at(out, x, np.where((x == padding)[..., None], 0, dout))
    counts = np.maximum(np.bincount(x.reshape(-1), minlength=rows), 1)[:, None]
    return out / counts if is_mean else out


_PLAIN: dict[str, Any] = {"padding": NO_PADDING, "is_mean": False}
_ROWS = tensor([[0, 3, 3], [1, 0, 3]])

embed: Function = Fused(
    "embed", operands=("weight", "x"), params=tuple(_PLAIN), normal=_normal, ulps=0,
    vjp=(lambda g, x, weight_shape, padding, is_mean: _back(g, x, weight_shape, padding, is_mean),
         None),
    doc="The rows of a table at integers.", ref=_embed_ref,
    samples=[case((5, 3), tensor([1, 0, 1]), **_PLAIN), case((5, 3), tensor(4), **_PLAIN),
             case((4, 2), _ROWS, **_PLAIN), case((4, 0), _ROWS, **_PLAIN),
             case((5, 3), zeros(0, dtype=int64), **_PLAIN)],
    errors=[case((5, 3), tensor([1, 5, 9]), **_PLAIN, match=r"x\[1\] is 5, of 5 rows of weight"),
            case((5, 3), tensor([[1], [-1]]), **_PLAIN, match=r"x\[1, 0\] is -1, of 5 rows"),
            case((5,), tensor([1]), **_PLAIN, match="weight.ndim is 1"),
            case((5, 3), (2,), **_PLAIN, match="an index tensor is float32")],
).function  # fmt: skip

embed_back: Function = Fused(
    "embed_back", operands=("dout", "x"), params=("rows", *_PLAIN), normal=_normal_back,
    vjp=(lambda g, x, padding, is_mean: _back_pulled(g, x, padding, is_mean), None),
    doc="Zeros with rows added at integers: the gradient of a table.", ref=_embed_back_ref,
    samples=[case((3, 2), tensor([1, 0, 1]), rows=4, **_PLAIN),
             case((2, 3, 2), _ROWS, rows=5, padding=3, is_mean=False),
             case((2, 3, 2), _ROWS, rows=4, padding=NO_PADDING, is_mean=True),
             case((3,), tensor(2), rows=3, **_PLAIN)],
    errors=[case((2, 3), tensor([1, 0, 1]), rows=4, **_PLAIN, match=r"dout.shape is \(2, 3\)")],
).function  # fmt: skip


def _limit_rows(weight: Tensor, x: Tensor, max_norm: float, norm_type: float) -> None:
    """Make the rows that are asked for at most so long, in place."""
    with no_grad():
        marks = ones((x.size, 1))
        used = embed_back(marks, reshape(x, (-1,)), weight.shape[0], NO_PADDING, False) > 0
        lengths = vector_norm(weight, (1,), norm_type, True)
        weight.detach().mul_(where(used & (lengths > max_norm), max_norm / (lengths + 1e-7), 1.0))


@composite(
    home="nn.functional", is_method=False, ulps=0,
    ref=lambda np, x, weight, padding_idx=None, max_norm=None, norm_type=2.0,
    scale_grad_by_freq=False, sparse=False: weight[x],
    samples=[case(tensor([1, 0, 1]), (5, 3)), case(_ROWS, (4, 2)), case(tensor(2), (4, 2))],
    errors=[case(tensor([1, 5]), (5, 3), match=r"x\[1\] is 5, of 5 rows of weight"),
            case((2,), (5, 3), match="x is float32"),
            case(arange(2), (4,), match="weight.ndim is 1"),
            case(tensor([-1]), (5, 3), match=r"x\[0\] is -1, of 5 rows of weight"),
            case(tensor([1]), (5, 3), 5, match="padding_idx is 5")],
)  # fmt: skip
def embedding(x: Tensor, weight: Tensor, padding_idx: int | None = None,
              max_norm: float | None = None, norm_type: float = 2.0,
              scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:  # fmt: skip
    """Give the rows of weight at the integers of x.

    The row padding_idx gets no gradient. max_norm first makes the rows that are asked for at most
    so long, in place. scale_grad_by_freq divides gradients by how often a row was asked for. sparse
    changes nothing: gradients are dense.

    >>> ts.nn.functional.embedding(ts.tensor([1, 0]), ts.eye(2)).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    if not x.dtype.is_integer:
        raise layer_errors.not_indices("x", x.dtype)
    padding = NO_PADDING
    if padding_idx is not None:
        rows = weight.shape[0] if weight.ndim else 0
        if not -rows <= padding_idx < rows:
            raise errors.wrong_value(
                "padding_idx", padding_idx, f"a row of weight, which has {rows}"
            )
        padding = padding_idx % rows
    if max_norm is not None:
        embed(weight.detach(), x, padding, False)  # refuses integers that are no rows
        _limit_rows(weight, x, max_norm, norm_type)
    return embed(weight, x, padding, scale_grad_by_freq)


@composite(
    no_capture="without num_classes the size of its result depends on values",
    home="nn.functional", is_method=False, ulps=0,
    ref=lambda np, x, num_classes=-1: np.eye(
        num_classes if num_classes >= 0 else int(np.max(x, initial=-1)) + 1, dtype=np.int64)[x],
    samples=[case(arange(4).reshape(2, 2), 5), case(arange(3)), case(zeros((), dtype=int64), 2)],
    errors=[case((2,), match="x is float32"), case(arange(3), 2, match="index 2 is out of range"),
            case(arange(3), -2, match="num_classes is -2")],
)  # fmt: skip
def one_hot(x: Tensor, num_classes: int = -1) -> Tensor:
    """Give a row of zeros with a one at its place for each integer; -1: as many as are needed.

    >>> ts.nn.functional.one_hot(ts.tensor([2, 0]), 3).tolist()
    [[0, 0, 1], [1, 0, 0]]
    """
    if not x.dtype.is_integer:
        raise layer_errors.not_indices("x", x.dtype)
    if num_classes < -1:
        raise errors.wrong_value("num_classes", num_classes, "-1, or at least 0")
    indices = cast(x, int64)
    if num_classes == -1:
        _core.refuse_capture("one_hot without num_classes", "say how many: one_hot(x, num_classes)")
        num_classes = int(indices.max().item()) + 1 if indices.size else 0
    indices = limited(indices, 0, num_classes - 1,
                      lambda index: layer_errors.no_row(index, num_classes, "classes"))  # fmt: skip
    return cast(unsqueeze(indices, -1) == arange(num_classes), int64)


del _ROWS  # tensors of samples alone
