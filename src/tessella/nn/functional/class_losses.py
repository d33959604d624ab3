"""Losses of lines of numbers, one for each class: cross entropy and negative log likelihood.

With classes as targets both are one kernel, and so are their gradients; the composite is what the
tests compare with, and what second derivatives are made of. x is (N, C, d1, …), or (C,).
"""

from __future__ import annotations

from tessella import errors
from tessella._core import Function, Tensor
from tessella.composites import composite
from tessella.declarations import case
from tessella.dtypes import int64
from tessella.fusions import Fused, need_float, settled
from tessella.hints import Any, Literal
from tessella.kinds import cast
from tessella.nn import loss_errors
from tessella.nn.functional.recomposed import pull, slopes
from tessella.nn.functional.reductions import LOSS, reduced, refuse_given_up, widened
from tessella.ops.elementwise import where
from tessella.ops.fused import log_softmax
from tessella.ops.index import take_along_axis
from tessella.ops.movement import reshape, squeeze, unsqueeze
from tessella.ops.reduce import sum
from tessella.tensors import tensor

# --- the fused record ----------------------------------------------------------------------------


def class_axis(x: Tensor) -> int:
    """Give the axis that holds the classes."""
    return 1 if x.ndim > 1 else 0


def _normal(x: Tensor, target: Tensor, weight: Any, is_log: bool, ignore_index: int,
            reduction: str, label_smoothing: float) -> list[Any]:  # fmt: skip
    """Require a class for each line, and a weight for each class."""
    dtype = need_float("x", x)
    if x.ndim == 0:
        raise loss_errors.too_few_axes("x", 0, "an axis for the classes: (C,), (N, C) or (N, C, …)")
    axis = class_axis(x)
    lines = x.shape[:axis] + x.shape[axis + 1 :]
    if not target.dtype.is_integer:
        raise loss_errors.class_dtype(target.dtype, x.shape)
    if target.shape != lines:
        raise loss_errors.class_shape(target.shape, lines, x.shape)
    if weight is not None and weight.shape != (x.shape[axis],):
        raise loss_errors.class_weights(weight.shape, x.shape[axis])
    if not 0 <= label_smoothing <= 1:
        raise errors.wrong_value("label_smoothing", label_smoothing, "between 0 and 1")
    return [x, settled(target, int64), settled(weight, dtype)]


def _normal_back(dout: Tensor, x: Tensor, target: Tensor, weight: Any, *, reduction: str,
                 **rest: Any) -> list[Any]:  # fmt: skip
    """Bring a gradient into its normal form beside what it is of."""
    inputs = _normal(x, target, weight, reduction=reduction, **rest)
    wanted = target.shape if reduction == "none" else ()
    if dout.shape != wanted:
        raise errors.wrong_value("dout.shape", dout.shape, f"that of the loss, {wanted}")
    return [settled(dout, x.dtype), *inputs]


def class_loss_composite(x: Tensor, target: Tensor, weight: Tensor | None, is_log: bool,
                         ignore_index: int, reduction: str,
                         label_smoothing: float) -> Tensor:  # fmt: skip
    """Compose the loss of its parts: the reference of the fused one."""
    axis = class_axis(x)
    logs = x if is_log else log_softmax(x, axis=axis)
    counts = target != ignore_index
    classes = where(counts, target, 0)
    chosen = -squeeze(take_along_axis(logs, unsqueeze(classes, axis), axis=axis), axis)
    shares = cast(counts, x.dtype)
    if weight is not None:
        shares = where(counts, reshape(weight[reshape(classes, (-1,))], target.shape), 0)
    losses = chosen * shares
    if label_smoothing:
        spread = -sum(logs if weight is None else logs * _along(weight, x), axis=axis)
        part = label_smoothing / x.shape[axis]
        losses = (1 - label_smoothing) * losses + part * spread
    losses = where(counts, losses, 0)
    if reduction == "none":
        return losses
    return sum(losses) / sum(shares) if reduction == "mean" else sum(losses)


def _along(weight: Tensor, x: Tensor) -> Tensor:
    """Give a weight for each class the axes of x."""
    return reshape(weight, (-1, *(1,) * (x.ndim - 1 - class_axis(x))))


def _back_composite(dout: Tensor, x: Tensor, target: Tensor, weight: Tensor | None,
                    *params: Any) -> Tensor:  # fmt: skip
    """Compose the gradient of x: the reference of the fused one."""
    return slopes(class_loss_composite(x, target, weight, *params), [x], dout)[0]


def _weight_back(g: Tensor, x: Tensor, target: Tensor, weight: Tensor, *params: Any) -> Any:
    """Give the gradient of the weights, which is rare: by the composite."""
    return pull(lambda w: class_loss_composite(x, target, w, *params), g, weight)[0]


def _class_ref(np: Any, x: Any, target: Any, weight: Any, is_log: bool, ignore_index: int,
               reduction: str, label_smoothing: float) -> Any:  # fmt: skip
    x = np.moveaxis(x, 1 if x.ndim > 1 else 0, -1)
    shifted = x - x.max(axis=-1, keepdims=True)
    logs = x if is_log else shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    weight = np.ones(x.shape[-1], x.dtype) if weight is None else weight
    counts = target != ignore_index
    classes = np.where(counts, target, 0)
    shares = np.where(counts, weight[classes], 0)
    losses = -np.take_along_axis(logs, classes[..., None], -1)[..., 0] * shares
    spread = -(logs * weight).sum(-1) * counts / x.shape[-1]
    losses = (1 - label_smoothing) * losses + label_smoothing * spread
    if reduction == "mean":
        return losses.sum() / shares.sum()
    return losses.sum() if reduction == "sum" else losses


def _options(reduction: str = "mean", is_log: bool = False, ignore_index: int = -100,
             label_smoothing: float = 0.0) -> dict[str, Any]:  # fmt: skip
    return {"is_log": is_log, "ignore_index": ignore_index, "reduction": reduction,
            "label_smoothing": label_smoothing}  # fmt: skip


_FOUR, _GRID = tensor([0, 2, 1, 2]), tensor([[0, 2, 1], [2, 2, 0]])
_CALLS: list[tuple[list[Any], dict[str, Any]]] = [
    ([(4, 3), _FOUR, None], _options()), ([(4, 3), _FOUR, (3,)], _options("sum")),
    ([(4, 3), _FOUR, None], _options("none", is_log=True)),
    ([(4, 3), _FOUR, (3,)], _options(ignore_index=2)),
    ([(4, 3), _FOUR, (3,)], _options(label_smoothing=0.25)),
    ([(4, 3), _FOUR, None], _options("none", ignore_index=0, label_smoothing=0.5)),
    ([(2, 3, 3), _GRID, (3,)], _options("none")), ([(2, 3, 3), _GRID, None], _options()),
    ([(2, 3, 3), _GRID, None], _options(is_log=True)), ([(3,), tensor(1), None], _options()),
    ([(4, 70), _FOUR, None], _options("sum", label_smoothing=0.1)),
]  # fmt: skip
_MEAN = _options()

class_loss: Function = Fused(
    "class_loss", operands=("x", "target", "weight"), optional=("weight",), params=tuple(_MEAN),
    normal=_normal, domain=(0.1, 3),
    vjp=(lambda g, x, target, weight, is_log, ignore_index, reduction, label_smoothing:
         class_loss_back(g, x, target, weight, is_log, ignore_index, reduction, label_smoothing),
         None,
         lambda g, x, target, weight, is_log, ignore_index, reduction, label_smoothing:
         _weight_back(g, x, target, weight, is_log, ignore_index, reduction, label_smoothing)),
    doc="Cross entropy, or of logarithms the negative log likelihood, with a class a line.",
    ref=_class_ref, samples=[case(*operands, **params) for operands, params in _CALLS],
    errors=[case((4, 3), tensor([0, 5, 1, 9]), None, **_MEAN, match=r"target\[1\] is 5, of 3"),
            case((2, 2, 3), tensor([[0, 1, 1], [1, 0, -1]]), None, **_MEAN,
                 match=r"target\[1, 2\] is -1, of 2 classes"),
            case((), tensor(1), None, **_MEAN, match="x has 0 axes"),
            case((4, 3), (4,), None, **_MEAN, match="target is float32: classes are integers"),
            case((4, 3), unsqueeze(_FOUR, 1), None, **_MEAN, match=r"target has shape \(4, 1\)"),
            case((4, 3), _FOUR, (4,), **_MEAN, match=r"weight has shape \(4,\), x 3 classes"),
            case((4, 3), _FOUR, None, **_options(label_smoothing=1.5), match="label_smoothing is"),
            case((4, 3), _FOUR, None, **_MEAN, dtype="int64", match="not defined for int64")],
).function  # fmt: skip


def _back_ref(np: Any, dout: Any, x: Any, target: Any, weight: Any, is_log: bool,
              ignore_index: int, reduction: str, label_smoothing: float) -> Any:  # fmt: skip
    axis = 1 if x.ndim > 1 else 0
    moved = np.moveaxis(x, axis, -1)
    e = np.exp(moved - moved.max(axis=-1, keepdims=True))
    weight = np.ones(moved.shape[-1], x.dtype) if weight is None else weight
    counts = (target != ignore_index).astype(x.dtype)
    classes = np.where(target != ignore_index, target, 0)
    slope = dout * counts / ((weight[classes] * counts).sum() if reduction == "mean" else 1)
    share = label_smoothing / moved.shape[-1] * weight
    pulls = np.eye(moved.shape[-1])[classes] * ((1 - label_smoothing) * weight) + share
    back = pulls if is_log else pulls - e / e.sum(-1, keepdims=True) * pulls.sum(-1, keepdims=True)
    slope = slope[..., None]
    return np.moveaxis(np.where(slope == 0, 0, (0 - back) * slope), -1, axis)


def _gradient_shape(operands: list[Any], params: dict[str, Any]) -> tuple[int, ...]:
    shape: tuple[int, ...] = operands[1].shape
    return shape if params["reduction"] == "none" else ()


class_loss_back: Function = Fused(
    "class_loss_back", operands=("dout", "x", "target", "weight"), optional=("weight",),
    params=tuple(_MEAN), normal=_normal_back, domain=(0.1, 3),
    vjp=lambda g, dout, x, target, weight, is_log, ignore_index, reduction, label_smoothing,
               x_shapes: pull(lambda *operands: _back_composite(
                   *operands, is_log, ignore_index, reduction, label_smoothing),
                   g, dout, x, target, weight),
    doc="The gradient of class_loss, from that of its result.", ref=_back_ref,
    samples=[case(_gradient_shape(operands, params), *operands, **params)
             for operands, params in _CALLS],
    errors=[case((3,), (4, 3), _FOUR, None, **_MEAN, match=r"dout.shape is \(3,\)"),
            case((), (4, 3), _FOUR, (2,), **_MEAN, match=r"weight has shape \(2,\)")],
).function  # fmt: skip


# --- what users call -----------------------------------------------------------------------------


def _probability_loss(x: Tensor, target: Tensor, weight: Tensor | None, reduction: str,
                      label_smoothing: float) -> Tensor:  # fmt: skip
    """Give cross entropy with a probability for each class, halves computed in float32."""
    dtype, axis = need_float("x", x), class_axis(x)
    if not target.dtype.is_floating:
        raise loss_errors.probability_dtype(target.dtype)
    if weight is not None and weight.shape != (x.shape[axis],):
        raise loss_errors.class_weights(weight.shape, x.shape[axis])
    if not 0 <= label_smoothing <= 1:
        raise errors.wrong_value("label_smoothing", label_smoothing, "between 0 and 1")
    wide, target, weight = widened(x, target, weight)
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / x.shape[axis]
    if weight is not None:
        target = target * _along(weight, x)
    return reduced(-sum(log_softmax(wide, axis=axis) * target, axis=axis), reduction, dtype)


def _cross_entropy_ref(np: Any, x: Any, target: Any, weight: Any = None, size_average: None = None,
                       ignore_index: int = -100, reduce: None = None, reduction: str = "mean",
                       label_smoothing: float = 0.0) -> Any:  # fmt: skip
    if target.dtype.kind == "i":
        return _class_ref(np, x, target, weight, False, ignore_index, reduction, label_smoothing)
    x, target = (np.moveaxis(each, 1 if x.ndim > 1 else 0, -1) for each in (x, target))
    shifted = x - x.max(axis=-1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    target = target * (1 - label_smoothing) + label_smoothing / x.shape[-1]
    losses = -(logs * target * (1 if weight is None else weight)).sum(-1)
    return getattr(losses, reduction)() if reduction != "none" else losses


@composite(
    **LOSS, ref=_cross_entropy_ref, ulps=8, domain=(0.1, 3),
    samples=[case((4, 3), _FOUR), case((4, 3), _FOUR, (3,)), case((4, 3), (4, 3)),
             case((4, 3), (4, 3), (3,), reduction="none", label_smoothing=0.1),
             case((4, 3), _FOUR, ignore_index=2, reduction="sum"),
             case((2, 3, 3), _GRID, reduction="none", label_smoothing=0.2),
             case((2, 3, 2), (2, 3, 2), (3,)), case((3,), tensor(1)), case((3,), (3,))],
    errors=[case((4, 3), tensor([0, 5, 1, 9]), match=r"target\[1\] is 5, of 3 classes"),
            case((4, 3), (4,), match="target is float32: classes are integers"),
            case((4, 3), reshape(tensor([0] * 12), (4, 3)),
                 match="target has the shape of x and is int64"),
            case((4, 3), (4, 3), ignore_index=1, match="ignore_index is 1, and target holds"),
            case((4, 3), (4, 3), (4,), match=r"weight has shape \(4,\), x 3 classes"),
            case((4, 3), (4, 3), label_smoothing=-0.5, match="label_smoothing is -0.5"),
            case((4, 3), _FOUR, size_average=True, match="size_average is not taken"),
            case((4, 3), _FOUR, reduction="all", match="reduction is 'all'")],
)  # fmt: skip
def cross_entropy(x: Tensor, target: Tensor, weight: Tensor | None = None,
                  size_average: Any = None, ignore_index: int = -100, reduce: Any = None,
                  reduction: Literal["none", "mean", "sum"] = "mean",
                  label_smoothing: float = 0.0) -> Tensor:  # fmt: skip
    """Give the cross entropy of softmax(x).

    The target is the class of each row, or a probability for each class.

    x is (N, C, …), or (C,). Classes are integers without the axis C; probabilities are floats of
    the shape of x. The mean of classes is weighted by their weights, and leaves out ignored ones.

    >>> x = ts.tensor([[2.0, 2.0], [0.0, 0.0]])
    >>> ts.nn.functional.cross_entropy(x, ts.tensor([0, 1])).item() == ts.tensor(2.0).log().item()
    True
    """
    if size_average is not None or reduce is not None:
        refuse_given_up(size_average, reduce)
    if x.shape != target.shape or x.ndim == 0:
        return class_loss(x, target, weight, False, ignore_index, reduction, label_smoothing)
    if ignore_index >= 0:
        raise loss_errors.ignored_probabilities(ignore_index)
    return _probability_loss(x, target, weight, reduction, label_smoothing)


@composite(
    **LOSS, domain=(0.1, 3),
    ref=lambda np, x, target, weight=None, size_average=None, ignore_index=-100, reduce=None,
    reduction="mean": _class_ref(np, x, target, weight, True, ignore_index, reduction, 0.0),
    samples=[case((4, 3), _FOUR), case((4, 3), _FOUR, (3,), reduction="sum"),
             case((2, 3, 3), _GRID, reduction="none"), case((3,), tensor(1)),
             case((4, 3), _FOUR, ignore_index=2)],
    errors=[case((4, 3), tensor([0, 5, 1, 9]), match=r"target\[1\] is 5, of 3 classes"),
            case((4, 3), (4, 3), match="target is float32: classes are integers"),
            case((4, 3), _FOUR, reduce=False, match="reduce is not taken")],
)  # fmt: skip
def nll_loss(x: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None,
             ignore_index: int = -100, reduce: Any = None,
             reduction: Literal["none", "mean", "sum"] = "mean") -> Tensor:  # fmt: skip
    """Give the negative of x, logarithms of probabilities, at the class of each line.

    >>> x = ts.tensor([[-1.0, -2.0], [-3.0, -4.0]])
    >>> ts.nn.functional.nll_loss(x, ts.tensor([0, 1]), reduction="none").tolist()
    [1.0, 4.0]
    """
    if size_average is not None or reduce is not None:
        refuse_given_up(size_average, reduce)
    return class_loss(x, target, weight, True, ignore_index, reduction, 0.0)


del _FOUR, _GRID, _CALLS  # tensors of samples alone
