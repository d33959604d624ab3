"""Losses of predictions and targets of one shape.

A loss never broadcasts. Halves are computed in float32, and the result is rounded once.
"""

from __future__ import annotations

import math

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_float
from tessella.composites import composite
from tessella.declarations import case
from tessella.hints import Any, Callable, Literal
from tessella.kinds import cast
from tessella.nn import loss_errors
from tessella.nn.functional.pair_losses import pair_loss, pair_ref
from tessella.nn.functional.reductions import (
    LOSS,
    common_floats,
    need_same_shape,
    pairwise,
    reduced,
    refuse_given_up,
    widened,
)
from tessella.ops.elementwise import exp, log, maximum, softplus, square, where
from tessella.ops.movement import broadcast_to, unsqueeze
from tessella.ops.reduce import sum

_INPUT: dict[str, Any] = {**LOSS, "keywords": {"input": "pred"}}
_SAMPLES = [case((4, 3), (4, 3)), case((5,), (5,), reduction="sum"), case((), ()),
            case((2, 3), (2, 3), reduction="none"),
            case((2, 0), (2, 0), reduction="sum")]  # fmt: skip
_ERRORS = [case((4, 1), (4,), match="shapes differ and would broadcast"),
           case((2, 3), (3, 2), match=r"pred has shape \(2, 3\), target \(3, 2\)"),
           case((2,), (2,), reduction="each", match="reduction is 'each'"),
           case((2,), (2,), dtype="int64", match="not defined for int64")]  # fmt: skip
_GIVEN_UP = case((2,), (2,), reduce=True, match="reduce is not taken")
_WEIGHTED = [case((4, 3), (4, 3), None, None, "mean", (4, 3)),
             case((4, 3), (4, 3), None, None, "sum", (4, 3))]  # fmt: skip
_FEW_WEIGHTS = case((4, 3), (4, 3), None, None, "mean", (3,),
                    match="shapes differ and would broadcast")  # fmt: skip


def _total(np: Any, losses: Any, reduction: str, weight: Any = None) -> Any:
    """Reduce the losses of a reference."""
    if weight is not None:
        total = (losses * weight).sum()
        return total / weight.sum() if reduction == "mean" else total
    return getattr(losses, reduction)() if reduction != "none" else losses


def _ref(loss: str) -> Callable[..., Any]:
    """Give the reference of a loss of pairs without further arguments."""

    def ref(np: Any, pred: Any, target: Any, size_average: None = None, reduce: None = None,
            reduction: str = "mean", weight: Any = None) -> Any:  # fmt: skip
        return _total(np, pair_ref(np, pred, target, loss, 0.0, "none"), reduction, weight)

    return ref


def _weighted(pred: Tensor, target: Tensor, loss: str, reduction: str,
              weight: Tensor) -> Tensor:  # fmt: skip
    """Give the losses times their weights; the mean is divided by the sum of the weights."""
    need_same_shape(pred, weight, ("pred", "weight"))
    x, y, w = widened(pred, target, weight)
    losses = pair_loss(x, y, loss, 0.0, "none") * w
    if reduction == "mean":
        return cast(sum(losses) / sum(w), pred.dtype)
    return reduced(losses, reduction, pred.dtype)


# --- regression ----------------------------------------------------------------------------------


@composite(**_INPUT, ref=_ref("squared"), domain=(0.2, 3), samples=_SAMPLES + _WEIGHTED,
           errors=[*_ERRORS, _GIVEN_UP, _FEW_WEIGHTS])  # fmt: skip
def mse_loss(pred: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
             reduction: Literal["none", "mean", "sum"] = "mean",
             weight: Tensor | None = None) -> Tensor:  # fmt: skip
    """Give the squares of differences. With weights the mean is weighted by them.

    >>> ts.nn.functional.mse_loss(ts.tensor([1.0, 4.0]), ts.tensor([1.0, 2.0])).item()
    2.0
    """
    if size_average is not None or reduce is not None:
        refuse_given_up(size_average, reduce)
    if weight is not None:
        return _weighted(pred, target, "squared", reduction, weight)
    return pair_loss(pred, target, "squared", 0.0, reduction)


@composite(**_INPUT, ref=_ref("absolute"), domain=(0.2, 3), samples=_SAMPLES + _WEIGHTED,
           distinct=True, errors=[*_ERRORS, _GIVEN_UP, _FEW_WEIGHTS])  # fmt: skip
def l1_loss(pred: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
            reduction: Literal["none", "mean", "sum"] = "mean",
            weight: Tensor | None = None) -> Tensor:  # fmt: skip
    """Give the sizes of differences. With weights the mean is weighted by them.

    >>> ts.nn.functional.l1_loss(ts.tensor([1.0, 4.0]), ts.tensor([1.0, 2.0])).item()
    1.0
    """
    if size_average is not None or reduce is not None:
        refuse_given_up(size_average, reduce)
    if weight is not None:
        return _weighted(pred, target, "absolute", reduction, weight)
    return pair_loss(pred, target, "absolute", 0.0, reduction)


def _smooth_ref(np: Any, pred: Any, target: Any, size_average: None = None, reduce: None = None,
                reduction: str = "mean", beta: float = 1.0) -> Any:  # fmt: skip
    if beta == 0:
        return _ref("absolute")(np, pred, target, reduction=reduction)
    return _total(np, pair_ref(np, pred, target, "huber", beta, "none"), reduction) / beta


@composite(**_INPUT, ref=_smooth_ref, distinct=True,
           samples=[*_SAMPLES, case((4, 3), (4, 3), beta=0.5), case((4, 3), (4, 3), beta=0.0)],
           errors=[*_ERRORS, _GIVEN_UP, case((2,), (2,), beta=-1.0, match="beta is -1.0")],
)  # fmt: skip
def smooth_l1_loss(pred: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
                   reduction: Literal["none", "mean", "sum"] = "mean",
                   beta: float = 1.0) -> Tensor:  # fmt: skip
    """Give d ** 2 / (2 beta) for differences d below beta, and |d| - beta / 2 for others.

    >>> ts.nn.functional.smooth_l1_loss(ts.tensor([1.0, 4.0]), ts.tensor([0.0, 1.0])).item()
    1.5
    """
    if size_average is not None or reduce is not None:
        refuse_given_up(size_average, reduce)
    if beta == 0:
        return pair_loss(pred, target, "absolute", 0.0, reduction)
    if not beta > 0:
        raise errors.wrong_value("beta", beta, "at least 0")
    out = pair_loss(pred, target, "huber", beta, reduction)
    return out if beta == 1 else out / beta


def _huber_ref(np: Any, pred: Any, target: Any, reduction: str = "mean", delta: float = 1.0,
               weight: Any = None) -> Any:  # fmt: skip
    losses = pair_ref(np, pred, target, "huber", delta, "none")
    return _total(np, losses * (1 if weight is None else weight), reduction)


@composite(**_INPUT, ref=_huber_ref,
           samples=[*_SAMPLES, case((4, 3), (4, 3), delta=0.5),
                    case((4, 3), (4, 3), "mean", 2.0, (4, 3))],
           errors=[*_ERRORS, case((2,), (2,), delta=0.0, match="delta is 0.0")],
)  # fmt: skip
def huber_loss(pred: Tensor, target: Tensor,
               reduction: Literal["none", "mean", "sum"] = "mean", delta: float = 1.0,
               weight: Tensor | None = None) -> Tensor:  # fmt: skip
    """Give d ** 2 / 2 for differences d up to delta, and delta * (|d| - delta / 2) for others.

    >>> ts.nn.functional.huber_loss(ts.tensor([1.0, 4.0]), ts.tensor([0.0, 1.0])).item()
    1.5
    """
    if not delta > 0:
        raise errors.wrong_value("delta", delta, "more than 0")
    if weight is None:
        return pair_loss(pred, target, "huber", delta, reduction)
    need_same_shape(pred, weight, ("pred", "weight"))
    x, y, w = widened(pred, target, weight)
    return reduced(pair_loss(x, y, "huber", delta, "none") * w, reduction, pred.dtype)


# --- probabilities -------------------------------------------------------------------------------


def _spread(name: str, weight: Tensor, pred: Tensor) -> Tensor:
    """Give weights the shape of the losses that they multiply."""
    try:
        return broadcast_to(weight, pred.shape)
    except errors.ShapeError:
        raise loss_errors.spread_weights(name, weight.shape, pred.shape) from None


def _entropy_ref(np: Any, pred: Any, target: Any, weight: Any = None, size_average: None = None,
                 reduce: None = None, reduction: str = "mean") -> Any:  # fmt: skip
    losses = pair_ref(np, pred, target, "entropy", 0.0, "none")
    return _total(np, losses * (1 if weight is None else weight), reduction)


_ODDS = [case((4, 3), (4, 3), (4, 3)), case((4, 3), (4, 3), (3,), reduction="none")]
_WIDE_WEIGHTS = case((3,), (3,), (2, 3), match=r"weight has shape \(2, 3\), pred \(3,\)")


@composite(**_INPUT, ref=_entropy_ref, domain=(0.05, 0.95), samples=_SAMPLES + _ODDS,
           errors=[*_ERRORS, _GIVEN_UP, _WIDE_WEIGHTS])  # fmt: skip
def binary_cross_entropy(pred: Tensor, target: Tensor, weight: Tensor | None = None,
                         size_average: Any = None, reduce: Any = None,
                         reduction: Literal["none", "mean", "sum"] = "mean",
                         ) -> Tensor:  # fmt: skip
    """Give the cross entropy of probabilities; their logarithms end at -100.

    >>> half = ts.tensor([0.5])
    >>> ts.nn.functional.binary_cross_entropy(half, ts.ones(1)).item() == -half.log().item()
    True
    """
    if size_average is not None or reduce is not None:
        refuse_given_up(size_average, reduce)
    if weight is None:
        return pair_loss(pred, target, "entropy", 0.0, reduction)
    x, y, w = widened(pred, target, weight)
    losses = pair_loss(x, y, "entropy", 0.0, "none") * _spread("weight", w, pred)
    return reduced(losses, reduction, pred.dtype)


def _logistic_ref(np: Any, pred: Any, target: Any, weight: Any = None, size_average: None = None,
                  reduce: None = None, reduction: str = "mean",
                  pos_weight: Any = 1) -> Any:  # fmt: skip
    far = np.maximum(-pred, 0) + np.log1p(np.exp(-np.abs(pred)))
    losses = (1 - target) * (pred + far) + pos_weight * target * far
    return _total(np, losses * (1 if weight is None else weight), reduction)


@composite(**_INPUT, ref=_logistic_ref, domain=(0.05, 0.95),
           samples=[*_SAMPLES, *_ODDS, case((4, 3), (4, 3), None, None, None, "mean", (3,)),
                    case((4, 3), (4, 3), (3,), None, None, "sum", (4, 3))],
           errors=[*_ERRORS, _GIVEN_UP, _WIDE_WEIGHTS,
                   case((3,), (3,), None, None, None, "mean", (2, 3),
                        match=r"pos_weight has shape \(2, 3\), pred \(3,\)")],
)  # fmt: skip
def binary_cross_entropy_with_logits(pred: Tensor, target: Tensor, weight: Tensor | None = None,
                                     size_average: Any = None, reduce: Any = None,
                                     reduction: Literal["none", "mean", "sum"] = "mean",
                                     pos_weight: Tensor | None = None) -> Tensor:  # fmt: skip
    """Give the cross entropy of sigmoid(pred), without overflow.

    pos_weight multiplies the losses of positive targets.

    >>> ts.nn.functional.binary_cross_entropy_with_logits(ts.tensor([999.0]), ts.ones(1)).item()
    0.0
    """
    if size_average is not None or reduce is not None:
        refuse_given_up(size_average, reduce)
    if weight is None and pos_weight is None:
        return pair_loss(pred, target, "logistic", 0.0, reduction)
    need_same_shape(pred, target)
    x, y, weight, pos_weight = widened(*common_floats(pred, target), weight, pos_weight)
    if pos_weight is None:
        losses = pair_loss(x, y, "logistic", 0.0, "none")
    else:
        shares = 1 + (_spread("pos_weight", pos_weight, pred) - 1) * y
        losses = (1 - y) * x + shares * softplus(-x)
    if weight is not None:
        losses = losses * _spread("weight", weight, pred)
    return reduced(losses, reduction, pred.dtype)


def _divergence_ref(np: Any, pred: Any, target: Any, size_average: None = None,
                    reduce: None = None, reduction: str = "mean",
                    log_target: bool = False) -> Any:  # fmt: skip
    loss = "log_divergence" if log_target else "divergence"
    losses = pair_ref(np, pred, target, loss, 0.0, "none")
    return losses.sum() / len(pred) if reduction == "batchmean" else _total(np, losses, reduction)


@composite(**_INPUT, ref=_divergence_ref, domain=(0.05, 0.95),
           samples=[*_SAMPLES, case((4, 3), (4, 3), reduction="batchmean"),
                    case((4, 3), (4, 3), log_target=True)],
           errors=[*_ERRORS, _GIVEN_UP,
                   case((), (), reduction="batchmean", match="pred has 0 axes")],
)  # fmt: skip
def kl_div(pred: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
           reduction: Literal["none", "mean", "sum", "batchmean"] = "mean",
           log_target: bool = False) -> Tensor:  # fmt: skip
    """Give target * (log(target) - pred), where pred holds logarithms of probabilities.

    "batchmean" divides the sum by the first size: it is the mean of divergences of lines, which
    "mean" is not.

    >>> half = ts.tensor([[0.5, 0.5]])
    >>> ts.nn.functional.kl_div(half.log(), half, reduction="batchmean").item()
    0.0
    """
    if size_average is not None or reduce is not None:
        refuse_given_up(size_average, reduce)
    loss = "log_divergence" if log_target else "divergence"
    if reduction != "batchmean":
        return pair_loss(pred, target, loss, 0.0, reduction)
    if pred.ndim == 0:
        raise loss_errors.too_few_axes("pred", 0, 'at least one for "batchmean"')
    return pair_loss(pred, target, loss, 0.0, "sum") / pred.shape[0]


def _poisson_ref(np: Any, pred: Any, target: Any, log_input: bool = True, full: bool = False,
                 size_average: None = None, eps: float = 1e-8, reduce: None = None,
                 reduction: str = "mean") -> Any:  # fmt: skip
    losses = np.exp(pred) - target * pred if log_input else pred - target * np.log(pred + eps)
    if full:
        stirling = target * np.log(target) - target + 0.5 * np.log(2 * np.pi * target)
        losses = losses + np.where(target > 1, stirling, 0)
    return _total(np, losses, reduction)


@composite(**_INPUT, ref=_poisson_ref, domain=(0.5, 3),
           samples=[*_SAMPLES, case((4, 3), (4, 3), log_input=False), case((9,), (9,), full=True)],
           errors=[*_ERRORS, _GIVEN_UP])  # fmt: skip
def poisson_nll_loss(pred: Tensor, target: Tensor, log_input: bool = True, full: bool = False,
                     size_average: Any = None, eps: float = 1e-8, reduce: Any = None,
                     reduction: Literal["none", "mean", "sum"] = "mean") -> Tensor:  # fmt: skip
    """Give the negative log likelihood of counts; pred is the logarithm of their mean, or the mean.

    full adds Stirling's formula for log(target!), for targets above 1.

    >>> ts.nn.functional.poisson_nll_loss(ts.zeros(1), ts.ones(1)).item()
    1.0
    """
    refuse_given_up(size_average, reduce)

    def losses(x: Tensor, y: Tensor) -> Tensor:
        out = exp(x) - y * x if log_input else x - y * log(x + eps)
        if not full:
            return out
        safe = maximum(y, 1.0)
        stirling = safe * log(safe) - safe + 0.5 * log(2 * math.pi * safe)
        return out + where(y > 1, stirling, 0.0)

    return pairwise(losses, pred, target, reduction)


def _gaussian_ref(np: Any, pred: Any, target: Any, var: Any, full: bool = False,
                  eps: float = 1e-6, reduction: str = "mean") -> Any:  # fmt: skip
    if np.ndim(var) and var.ndim < pred.ndim:
        var = var[..., None]
    var = np.maximum(var, eps)
    losses = 0.5 * (np.log(var) + (pred - target) ** 2 / var)
    return _total(np, losses + (0.5 * np.log(2 * np.pi) if full else 0), reduction)


@composite(**_INPUT, ref=_gaussian_ref, domain=(0.5, 3),
           samples=[case((4, 3), (4, 3), (4, 3)), case((4, 3), (4, 3), (4, 1), full=True),
                    case((4, 3), (4, 3), (4,), reduction="none"), case((5,), (5,), 2.0)],
           errors=[case((4, 1), (4,), (4, 1), match="shapes differ and would broadcast"),
                   case((4, 3), (4, 3), (3,), match=r"var has shape \(3,\), pred \(4, 3\)")],
)  # fmt: skip
def gaussian_nll_loss(pred: Tensor, target: Tensor, var: Any, full: bool = False,
                      eps: float = 1e-6,
                      reduction: Literal["none", "mean", "sum"] = "mean") -> Tensor:  # fmt: skip
    """Give the negative log likelihood of normal distributions of means pred and variances var.

    var is a number, has the shape of pred, or one number for each line along the last axis; it is
    at least eps. full adds the constant log(2 pi) / 2.

    >>> ts.nn.functional.gaussian_nll_loss(ts.zeros(1), ts.ones(1), ts.ones(1)).item()
    0.5
    """
    if isinstance(var, Tensor):
        if var.shape == pred.shape[:-1] != pred.shape:
            var = unsqueeze(var, -1)
        elif var.shape not in (pred.shape, (*pred.shape[:-1], 1)):
            raise loss_errors.spread_weights("var", var.shape, pred.shape)
        var = widened(var)[0]
        var = var + (maximum(var, eps) - var).detach()  # gradients pass where eps is taken
    else:
        var = max(to_float("var", var), to_float("eps", eps))

    def losses(x: Tensor, y: Tensor) -> Tensor:
        logarithm = log(var) if isinstance(var, Tensor) else math.log(var)
        out: Tensor = 0.5 * (logarithm + square(x - y) / var)
        return out + 0.5 * math.log(2 * math.pi) if full else out

    return pairwise(losses, pred, target, reduction)
