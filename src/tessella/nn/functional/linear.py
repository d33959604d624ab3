"""Products with weights."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.composites import composite
from tessella.declarations import case
from tessella.hints import Any
from tessella.nn import layer_errors
from tessella.ops.matmul import matmul
from tessella.ops.movement import permute, reshape, squeeze, unsqueeze


def _linear_ref(np: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    out = x @ weight.T
    return out if bias is None else out + bias


@composite(
    home="nn.functional", is_method=False, ref=_linear_ref,
    samples=[case((4, 3), (5, 3), (5,)), case((2, 4, 3), (5, 3)), case((3,), (5, 3), (5,)),
             case((4, 3), (3,)), case((0, 3), (5, 3), (5,))],
    errors=[case((4, 18), (56, 19), match="x has 18 features, and weight takes 19"),
            case((), (3,), match="x.ndim is 0"), case((2, 3), (2, 2, 3), match="weight.ndim is 3"),
            case((4, 3), (5, 3), (4,), match="do not broadcast")],
)  # fmt: skip
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Give x @ weight.T + bias; weight is (out, in), or (in) for one number of each line.

    >>> ts.nn.functional.linear(ts.tensor([1.0, 2.0]), ts.ones(3, 2), ts.zeros(3)).tolist()
    [3.0, 3.0, 3.0]
    """
    if x.ndim == 0:
        raise errors.wrong_value("x.ndim", 0, "at least 1: its last axis holds the features")
    if weight.ndim not in (1, 2):
        raise errors.wrong_value("weight.ndim", weight.ndim, "2: (out, in), or 1: (in)")
    try:
        out = matmul(x, permute(weight, (1, 0)) if weight.ndim == 2 else weight)
    except errors.ShapeError:
        raise layer_errors.wrong_features(x.shape[-1], weight.shape[-1]) from None
    return out if bias is None else out + bias


def _bilinear_ref(np: Any, x: Any, y: Any, weight: Any, bias: Any = None) -> Any:
    out = np.einsum("...i,kij,...j->...k", x, weight, y)
    return out if bias is None else out + bias


@composite(
    home="nn.functional", is_method=False, ref=_bilinear_ref, ulps=8,
    samples=[case((4, 3), (4, 2), (5, 3, 2), (5,)), case((2, 4, 3), (2, 4, 2), (5, 3, 2)),
             case((3,), (2,), (5, 3, 2)), case((0, 3), (0, 2), (5, 3, 2), (5,))],
    errors=[case((4, 3), (4, 2), (5, 3), match="weight.ndim is 2"),
            case((4, 3), (4, 2), (5, 4, 2), match="x has 3 features, and weight takes 4"),
            case((4, 3), (4, 1), (5, 3, 2), match="y has 1 features, and weight takes 2"),
            case((4, 3), (3, 2), (5, 3, 2), match=r"y.shape is \(3, 2\)")],
)  # fmt: skip
def bilinear(x: Tensor, y: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Give the sums of x[i] * weight[k, i, j] * y[j] over i and j, plus bias[k], for each k.

    >>> ts.nn.functional.bilinear(ts.ones(2), ts.ones(3), ts.ones(1, 2, 3)).tolist()
    [6.0]
    """
    if weight.ndim != 3:
        raise errors.wrong_value("weight.ndim", weight.ndim, "3: (out, in1, in2)")
    outs, left, right = weight.shape
    for name, operand, size in (("x", x, left), ("y", y, right)):
        if operand.ndim == 0 or operand.shape[-1] != size:
            given = operand.shape[-1] if operand.ndim else 0
            raise layer_errors.wrong_features(given, size, name)
    if x.shape[:-1] != y.shape[:-1]:
        rule = f"{(*x.shape[:-1], right)}: as x, but for the last axis"
        raise errors.wrong_value("y.shape", y.shape, rule)
    # (…, in1) @ (in1, out * in2), then each (out, in2) @ (in2, 1)
    rows = matmul(x, reshape(permute(weight, (1, 0, 2)), (left, outs * right)))
    rows = reshape(rows, (*x.shape[:-1], outs, right))
    out = squeeze(matmul(rows, unsqueeze(y, -1)), -1)
    return out if bias is None else out + bias
