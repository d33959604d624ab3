"""Rows of a table by their numbers, and numbers as rows of zeros and a one."""

from __future__ import annotations

from tessella import _core, errors
from tessella._core import Tensor
from tessella.composites import composite
from tessella.declarations import REQUIRED, case
from tessella.dtypes import DType, int64
from tessella.hints import Any, Sequence
from tessella.kinds import cast
from tessella.linalg.norms import vector_norm
from tessella.modes import no_grad
from tessella.nn import layer_errors
from tessella.ops.creation import arange, ones, zeros
from tessella.ops.elementwise import where
from tessella.ops.index import gather_axes, scatter_axes
from tessella.ops.movement import unsqueeze
from tessella.records import Op


class Lookup(Op):
    """weight[indices], with a gradient that leaves one row out or counts how often rows are used.

    Where neither is asked for, indexing does the same.
    """

    operands = ("weight",)
    params = {"indices": REQUIRED, "padding_idx": None, "by_frequency": False}

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Require a table, and integers."""
        inputs, params = super().prepare(inputs, params)
        indices = params["indices"]
        if not isinstance(indices, Tensor) or indices.dtype is not int64:
            raise errors.wrong_type("indices", indices, "an int64 tensor")
        if inputs[0].ndim == 0:
            raise errors.wrong_value("weight.ndim", 0, "at least 1")
        return inputs, params

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Put the rows in the places of their numbers."""
        (weight,) = inputs
        return (*params["indices"].shape, *weight.shape[1:]), weight.dtype

    def run(self, out: Tensor, inputs: list[Any], params: dict[str, Any]) -> None:
        """Check every index, then copy."""
        _core.gather(out, inputs[0], (0,), (params["indices"],), 0)


def _gradient(
    g: Tensor, weight_shape: Any, indices: Tensor, padding_idx: int | None, by_frequency: bool
) -> Tensor:
    """Add up the gradients of each row, but for the padding's, divided by their number if asked."""
    share = ones(indices.shape, dtype=g.dtype)
    if by_frequency:
        places = (weight_shape[:1], (0,), (indices,), 0)
        share = share / gather_axes(scatter_axes(share, *places), (0,), (indices,), 0)
    if padding_idx is not None:
        share = where(indices == padding_idx, 0, share)
    return scatter_axes(g * unsqueeze(share, -1), weight_shape, (0,), (indices,), 0)


_lookup = Lookup(
    "lookup", home="nn.functional", is_method=False, is_function=False, ulps=0, vjp=_gradient,
    doc="Rows of a table, with a gradient that leaves one out or counts how often they are used.",
    ref=lambda np, weight, indices, padding_idx=None, by_frequency=False: weight[indices],
    samples=[case((4, 3), indices=arange(4).reshape(2, 2)),
             case((4, 3), indices=zeros((2, 3), dtype=int64))],
    errors=[case((4, 3), indices=arange(5), match="index 4 is out of bounds")],
).function  # fmt: skip


def _embedding_ref(np: Any, x: Any, weight: Any, *rest: Any, **options: Any) -> Any:
    return weight[x]


@composite(
    home="nn.functional", is_method=False, ref=_embedding_ref, ulps=0,
    samples=[case(arange(4).reshape(2, 2), (5, 3)), case(zeros((), dtype=int64), (5, 3)),
             case(zeros((0,), dtype=int64), (5, 3))],
    errors=[case(arange(5), (4, 3), match="index 4 is out of range for 4 rows"),
            case((2,), (4, 3), match="x is float32"),
            case(arange(2), (4,), match="weight.ndim is 1"),
            case(arange(2), (4, 3), 7, match="padding_idx is 7")],
)  # fmt: skip
def embedding(
    x: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """Give the rows of `weight` that the integers x name; negative ones count from the end.

    The row `padding_idx` gets no gradient. Rows longer than `max_norm` are first made so long, in
    place. `scale_grad_by_freq` divides gradients by how often a row is used. `sparse` changes
    nothing: gradients are dense.

    >>> ts.nn.functional.embedding(ts.tensor([1, 0]), ts.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[3.0, 4.0], [1.0, 2.0]]
    """
    if weight.ndim != 2:
        raise errors.wrong_value("weight.ndim", weight.ndim, "2: (rows, features)")
    if not x.dtype.is_integer:
        raise layer_errors.not_indices("x", x.dtype)
    indices = cast(x, int64)
    rows = weight.shape[0]
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise errors.wrong_value("padding_idx", padding_idx, f"from {-rows} to {rows - 1}")
    padding = None if padding_idx is None else padding_idx % rows
    try:
        if max_norm is not None:
            _shorten(weight, indices, max_norm, norm_type)
        if padding is not None or scale_grad_by_freq:
            return _lookup(weight, indices, padding, scale_grad_by_freq)
        out = gather_axes(weight, (0,), (indices,), 0) if indices.ndim == 0 else weight[indices]
    except errors.IndexOutOfBounds:
        raise _outside(indices, rows) from None
    return out


def _shorten(weight: Tensor, indices: Tensor, most: float, order: float) -> None:
    """Scale the rows that are used and too long, in place; equal indices write equal rows."""
    with no_grad():
        rows = gather_axes(weight, (0,), (indices,), 0)
        lengths = vector_norm(rows, axis=-1, keepdims=True, ord=order)
        weight[indices] = where(lengths > most, rows * (most / (lengths + 1e-7)), rows)


def _outside(indices: Tensor, rows: int) -> errors.IndexOutOfBounds:
    """Name the first index that no row has."""
    flat = indices.reshape(-1)
    wrong = flat[(flat < -rows) | (flat >= rows)]
    return layer_errors.no_row(int(wrong[0].item()), rows)


@composite(
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
    is_empty = indices.size == 0
    if num_classes == -1:
        num_classes = 0 if is_empty else int(indices.max().item()) + 1
    if not is_empty and not 0 <= indices.min().item() <= indices.max().item() < num_classes:
        flat = indices.reshape(-1)
        wrong = flat[(flat < 0) | (flat >= num_classes)]
        raise layer_errors.no_row(int(wrong[0].item()), num_classes, "classes")
    return cast(unsqueeze(indices, -1) == arange(num_classes), int64)
