"""Products with weights."""

from __future__ import annotations

import math

from tessella import _core, errors
from tessella._core import Tensor
from tessella.arguments import NUMBERS
from tessella.composites import composite
from tessella.declarations import case
from tessella.dtypes import DType, boolean
from tessella.hints import Any, Sequence
from tessella.kinds import Straight, cast, common_dtype
from tessella.nn import layer_errors
from tessella.ops.elementwise import conjugate
from tessella.ops.matmul import matmul
from tessella.ops.movement import permute, reshape, squeeze, unsqueeze


def _linear_ref(np: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    out = x @ weight.T
    return out if bias is None else out + bias


class Linear(Straight):
    """x @ weight.T + bias, with the bits of the two operations."""

    fast = "linear"
    operands = ("x", "weight", "bias")
    defaults = {"bias": None}
    rounds_inside = True  # the product, before the bias is added

    def is_varied(self, inputs: list[Any], params: dict[str, Any]) -> bool:
        """Tell whether the weights are those of one output only."""
        return isinstance(inputs[1], Tensor) and inputs[1].ndim == 1

    def vary(self, inputs: list[Any], params: dict[str, Any]) -> Tensor:
        """Give one number for each line of x."""
        x, weight, bias = inputs
        if not isinstance(x, Tensor):
            raise errors.not_tensor("x", x, "a tensor")
        is_operand = bias is None or isinstance(bias, (Tensor, *NUMBERS))
        if not is_operand:
            raise errors.not_tensor("bias", bias)
        if x.ndim == 0 or x.shape[-1] != weight.shape[0]:
            raise layer_errors.wrong_features(x.shape[-1] if x.ndim else 0, weight.shape[0])
        out = matmul(x, weight)
        return out if bias is None else out + bias

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Promote, and check the sizes."""
        given = inputs if inputs[2] is not None else inputs[:2]
        for name, value in zip(self.operands, given, strict=False):
            if not isinstance(value, Tensor):
                raise errors.not_tensor(name, value, "a tensor")
        dtype = common_dtype(self.operands[: len(given)], given)
        if dtype is boolean:
            raise errors.no_kernel(dtype, "convert with astype(ts.float32)")
        x, weight, *rest = (cast(value, dtype) for value in given)
        if x.ndim == 0:
            raise errors.wrong_value("x.ndim", 0, "at least 1: its last axis holds the features")
        if weight.ndim != 2:
            raise errors.wrong_value("weight.ndim", weight.ndim, "2: (out, in), or 1: (in)")
        if x.shape[-1] != weight.shape[1]:
            raise layer_errors.wrong_features(x.shape[-1], weight.shape[1])
        for bias in rest:
            if bias.shape != weight.shape[:1]:
                rule = f"{weight.shape[:1]}: one number for each output"
                raise errors.wrong_value("bias.shape", bias.shape, rule)
        return [x, weight, rest[0] if rest else None], params

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Put outputs in the place of features."""
        x, weight, _ = inputs
        return (*x.shape[:-1], weight.shape[0]), x.dtype

    def compute(
        self, out: Tensor, inputs: list[Any], params: dict[str, Any], interruptible: bool
    ) -> None:
        """Call the driver."""
        x, weight, bias = inputs
        _core.linear(out, x, weight, bias, interruptible)


def _gradient_weight(g: Tensor, x: Tensor) -> Tensor:
    """Give the products, summed over all axes but the last: (out, …) @ (…, in)."""
    rows = math.prod(g.shape[:-1])  # a size of -1 would be ambiguous where there are no features
    columns = reshape(g, (rows, g.shape[-1]))
    return matmul(permute(columns, (1, 0)), reshape(conjugate(x), (rows, x.shape[-1])))


linear = Linear(
    "linear", home="nn.functional", is_method=False, ref=_linear_ref,
    vjp=(lambda g, weight: matmul(g, conjugate(weight)), _gradient_weight, lambda g: g),
    doc="x @ weight.T + bias; weight is (out, in), or (in) for one number of each line.",
    example=">>> weight, bias = ts.tensor([[1.0, 0.0], [1.0, 1.0]]), ts.tensor([10.0, 20.0])\n"
            ">>> ts.nn.functional.linear(ts.tensor([1.0, 2.0]), weight, bias).tolist()\n"
            "[11.0, 23.0]",
    samples=[case((4, 3), (5, 3), (5,)), case((2, 4, 3), (5, 3)), case((3,), (5, 3), (5,)),
             case((0, 3), (5, 3), (5,)), case((2, 2, 33), (70, 33), (70,)),
             case((4, 0), (5, 0), (5,)), case((4, 3), (0, 3))],
    errors=[case((4, 18), (56, 19), match="x has 18 features, and weight takes 19"),
            case((), (5, 3), match="x.ndim is 0"),
            case((2, 3), (2, 2, 3), match="weight.ndim is 3"),
            case((4, 3), (5, 3), (4,), match=r"bias.shape is \(4,\)"),
            case((4, 3), (5, 3), dtype="bool", match="not defined for bool")],
).function  # fmt: skip


def _bilinear_ref(np: Any, x: Any, y: Any, weight: Any, bias: Any = None) -> Any:
    out = np.einsum("...i,kij,...j->...k", x, weight, y)
    return out if bias is None else out + bias


@composite(
    home="nn.functional", is_method=False, ref=_bilinear_ref, ulps=8,
    samples=[case((4, 3), (4, 2), (5, 3, 2), (5,)), case((2, 4, 3), (2, 4, 2), (5, 3, 2)),
             case((3,), (2,), (5, 3, 2)), case((0, 3), (0, 2), (5, 3, 2), (5,))],
    errors=[case((4, 3), (4, 2), (5, 3), match="weight.ndim is 2"),
            case((4, 3), (4, 2), (5, 4, 2), match="x has 3 features, and weight takes 4"),
            case((4, 3), (4, 1), (5, 3, 2), match="y has 1 feature, and weight takes 2"),
            case((4, 3), (3, 2), (5, 3, 2), match=r"y.shape is \(3, 2\)")],
)  # fmt: skip
def bilinear(x: Tensor, y: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Give the sums of x[i] * weight[k, i, j] * y[j] over i and j, plus bias[k], for each k.

    >>> x, y = ts.tensor([1.0, 2.0]), ts.tensor([3.0, 4.0])
    >>> ts.nn.functional.bilinear(x, y, ts.eye(2).reshape(1, 2, 2)).tolist()
    [11.0]
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
