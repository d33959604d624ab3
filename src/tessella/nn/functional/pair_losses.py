"""The record of losses of pairs of numbers: a prediction and its target, of one shape.

Each is one kernel, and so is its gradient; COMPOSED says what they are made of, which is what
second derivatives come from. What users call is in losses.py.
"""

from __future__ import annotations

from tessella import errors
from tessella._core import Function, Tensor
from tessella.declarations import case
from tessella.fusions import Fused, settled
from tessella.hints import Any, Callable
from tessella.nn.functional.recomposed import pull, slopes
from tessella.nn.functional.reductions import common_floats, need_same_shape, reduced
from tessella.ops.elementwise import abs, exp, log, log1p, maximum, softplus, square, where
from tessella.ops.special import xlogy

COMPOSED: dict[str, Callable[[Tensor, Tensor, float], Tensor]] = {
    "squared": lambda x, y, p: square(x - y),
    "absolute": lambda x, y, p: abs(x - y),
    "huber": lambda x, y, p: where(
        abs(x - y) <= p, square(x - y) / 2, p * (abs(x - y) - p / 2)),
    "entropy": lambda x, y, p: (
        (y - 1) * maximum(log1p(-x), -100.0) - y * maximum(log(x), -100.0)),
    "logistic": lambda x, y, p: softplus(x) - x * y,
    "soft_margin": lambda x, y, p: softplus(-x * y),
    "hinge": lambda x, y, p: (
        where((y == 1) | (x > p), 0.0, p - x) + where(y != -1, x, 0.0)),
    "divergence": lambda x, y, p: xlogy(y, y) - y * x,
    "log_divergence": lambda x, y, p: exp(y) * (y - x),
}  # fmt: skip
_SYMMETRIC = ("squared", "absolute", "huber")  # the slope in the target is that of pred, negated


def _normal(pred: Tensor, target: Tensor, loss: str, parameter: float,
            reduction: str) -> list[Any]:  # fmt: skip
    """Require operands of one shape; bring them to one dtype."""
    need_same_shape(pred, target)
    pred, target = common_floats(pred, target)
    return [settled(pred, pred.dtype), settled(target, target.dtype)]


def _normal_back(dout: Tensor, pred: Tensor, target: Tensor, loss: str, parameter: float,
                 reduction: str) -> list[Any]:  # fmt: skip
    pred, target = _normal(pred, target, loss, parameter, reduction)
    wanted = pred.shape if reduction == "none" else ()
    if dout.shape != wanted:
        raise errors.wrong_value("dout.shape", dout.shape, f"that of the loss, {wanted}")
    return [settled(dout, pred.dtype), pred, target]


def pair_loss_composite(pred: Tensor, target: Tensor, loss: str, parameter: float,
                        reduction: str) -> Tensor:  # fmt: skip
    """Compose the loss of its parts: the reference of the fused one."""
    return reduced(COMPOSED[loss](pred, target, parameter), reduction)


def _back_composite(dout: Tensor, pred: Tensor, target: Tensor, *params: Any) -> Tensor:
    return slopes(pair_loss_composite(pred, target, *params), [pred], dout)[0]


def _target_back(g: Tensor, pred: Tensor, target: Tensor, loss: str, *rest: Any) -> Any:
    """Give the gradient of the target, which few losses are asked for."""
    if loss in _SYMMETRIC:
        return -pair_loss_back(g, pred, target, loss, *rest)
    return pull(lambda y: pair_loss_composite(pred, y, loss, *rest), g, target)[0]


def pair_ref(np: Any, pred: Any, target: Any, loss: str, parameter: float,
              reduction: str) -> Any:  # fmt: skip
    """Give the losses with NumPy, for the tests."""
    x, y, p, d = pred, target, parameter, pred - target
    losses = {
        "squared": lambda: d * d,
        "absolute": lambda: np.abs(d),
        "huber": lambda: np.where(np.abs(d) <= p, d * d / 2, p * (np.abs(d) - p / 2)),
        "entropy": lambda: (y - 1) * np.log1p(-x) - y * np.log(x),
        "logistic": lambda: np.maximum(x, 0) - x * y + np.log1p(np.exp(-np.abs(x))),
        "soft_margin": lambda: np.log1p(np.exp(-x * y)),
        "hinge": lambda: np.where(y != 1, np.maximum(p - x, 0), 0) + np.where(y != -1, x, 0),
        "divergence": lambda: y * np.log(y) - y * x,
        "log_divergence": lambda: np.exp(y) * (y - x),
    }[loss]()
    return getattr(losses, reduction)() if reduction != "none" else losses


def _slope_ref(np: Any, dout: Any, pred: Any, target: Any, loss: str, parameter: float,
               reduction: str) -> Any:  # fmt: skip
    x, y, p, d = pred, target, parameter, pred - target
    slope = {
        "squared": lambda: 2 * d,
        "absolute": lambda: np.sign(d),
        "huber": lambda: np.clip(d, -p, p),
        "entropy": lambda: d / (x - x * x),
        "logistic": lambda: 1 / (1 + np.exp(-x)) - y,
        "soft_margin": lambda: -y / (1 + np.exp(x * y)),
        "hinge": lambda: (y != -1) * 1 - ((y != 1) & (x <= p)) * 1,
        "divergence": lambda: -y,
        "log_divergence": lambda: -np.exp(y),
    }[loss]()
    return slope * dout / (x.size if reduction == "mean" else 1)


def _call(loss: str, reduction: str = "mean", parameter: float = 0.5) -> dict[str, Any]:
    return {"loss": loss, "parameter": parameter, "reduction": reduction}


_CALLS: list[tuple[Any, Any]] = [
    ((3, 4), _call(loss, reduction)) for loss in COMPOSED for reduction in ("none", "mean")
]
_CALLS += [
    ((5000,), _call("squared", "sum")),
    ((), _call("absolute")),
    ((0, 2), _call("huber", "sum")),
]
_MEAN = _call("squared")
_DRAWN: dict[str, Any] = {"domain": (0.05, 0.95), "distinct": True}

pair_loss: Function = Fused(
    "pair_loss", operands=("pred", "target"), params=tuple(_MEAN), normal=_normal, **_DRAWN,
    vjp=(lambda g, pred, target, loss, parameter, reduction:
         pair_loss_back(g, pred, target, loss, parameter, reduction),
         lambda g, pred, target, loss, parameter, reduction:
         _target_back(g, pred, target, loss, parameter, reduction)),
    doc="The loss of each pair of numbers, or their mean or sum.", ref=pair_ref,
    samples=[case(shape, shape, **params) for shape, params in _CALLS],
    errors=[case((4, 1), (4,), **_MEAN, match="shapes differ and would broadcast"),
            case((4, 2), (4, 3), **_MEAN, match=r"pred has shape \(4, 2\), target \(4, 3\)"),
            case((4,), (4,), **_MEAN, dtype="int64", match="not defined for int64"),
            case((4,), (4,), **_MEAN, dtype="complex64", match="not defined for complex64")],
).function  # fmt: skip

pair_loss_back: Function = Fused(
    "pair_loss_back", operands=("dout", "pred", "target"), params=tuple(_MEAN),
    normal=_normal_back, **_DRAWN,
    vjp=lambda g, dout, pred, target, loss, parameter, reduction, x_shapes: pull(
        lambda *operands: _back_composite(*operands, loss, parameter, reduction),
        g, dout, pred, target),
    doc="The gradient of pred in pair_loss, from that of its result.", ref=_slope_ref,
    samples=[case(shape if params["reduction"] == "none" else (), shape, shape, **params)
             for shape, params in _CALLS],
    errors=[case((3,), (4,), (4,), **_MEAN, match=r"dout.shape is \(3,\)"),
            case((), (4, 1), (4,), **_MEAN, match="shapes differ and would broadcast")],
).function  # fmt: skip
