"""Products with weights."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.composites import composite
from tessella.declarations import case
from tessella.hints import Any
from tessella.ops.matmul import matmul
from tessella.ops.movement import permute


def _linear_ref(np: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    out = x @ weight.T
    return out if bias is None else out + bias


@composite(
    home="nn.functional", is_method=False, ref=_linear_ref,
    samples=[case((4, 3), (5, 3), (5,)), case((2, 4, 3), (5, 3)), case((3,), (5, 3), (5,)),
             case((4, 3), (3,)), case((0, 3), (5, 3), (5,))],
    errors=[case((4, 18), (56, 19), match="inner sizes differ: 18 != 19"),
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
    if weight.ndim != 2:
        if weight.ndim != 1:
            raise errors.wrong_value("weight.ndim", weight.ndim, "2: (out, in), or 1: (in)")
        out = matmul(x, weight)
    else:
        out = matmul(x, permute(weight, (1, 0)))
    return out if bias is None else out + bias
