"""Losses with a margin: hinges, rankings, embeddings, triplets.

A loss never broadcasts. Halves are computed in float32, and the result is rounded once.
"""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.composites import composite
from tessella.declarations import case
from tessella.dtypes import int64
from tessella.fusions import need_float
from tessella.hints import Any, Literal
from tessella.kinds import cast
from tessella.nn import loss_errors
from tessella.nn.functional.distances import pairwise_distance
from tessella.nn.functional.pair_losses import pair_loss, pair_ref
from tessella.nn.functional.reductions import (
    LOSS,
    need_same_shape,
    reduced,
    refuse_given_up,
    widened,
)
from tessella.ops.activation import relu
from tessella.ops.creation import arange
from tessella.ops.elementwise import clip, minimum, sqrt, square, where
from tessella.ops.index import take_along_axis
from tessella.ops.movement import unsqueeze
from tessella.ops.reduce import sum
from tessella.tensors import tensor

_PAIR_ERRORS = [
    case((4, 1), (4,), match="shapes differ and would broadcast"),
    case((2,), (2,), size_average=True, match="size_average is not taken"),
]
_SIGNS = tensor([1, -1, -1, 1])


def _total(losses: Any, reduction: str) -> Any:
    """Reduce the losses of a reference."""
    return getattr(losses, reduction)() if reduction != "none" else losses


def _signs_ref(loss: str) -> Any:
    def ref(np: Any, pred: Any, target: Any, margin: float = 1.0, size_average: None = None,
            reduce: None = None, reduction: str = "mean") -> Any:  # fmt: skip
        return _total(pair_ref(np, pred, target, loss, margin, "none"), reduction)

    return ref


@composite(
    **LOSS, keywords={"input": "pred"}, ref=_signs_ref("hinge"), distinct=True,
    samples=[case((4,), _SIGNS), case((4,), _SIGNS, margin=0.5, reduction="none")],
    errors=_PAIR_ERRORS,
)  # fmt: skip
def hinge_embedding_loss(pred: Tensor, target: Tensor, margin: float = 1.0,
                         size_average: Any = None, reduce: Any = None,
                         reduction: Literal["none", "mean", "sum"] = "mean",
                         ) -> Tensor:  # fmt: skip
    """Give pred where the target is 1, and max(0, margin - pred) where it is -1.

    >>> x, target = ts.tensor([0.5, 0.25]), ts.tensor([1.0, -1.0])
    >>> ts.nn.functional.hinge_embedding_loss(x, target, reduction="none").tolist()
    [0.5, 0.75]
    """
    refuse_given_up(size_average, reduce)
    return pair_loss(pred, target, "hinge", margin, reduction)


@composite(
    **LOSS, keywords={"input": "pred"},
    ref=lambda np, pred, target, size_average=None, reduce=None, reduction="mean":
        _total(pair_ref(np, pred, target, "soft_margin", 0.0, "none"), reduction),
    samples=[case((4,), _SIGNS), case((3, 4), (3, 4), reduction="sum")], errors=_PAIR_ERRORS,
)  # fmt: skip
def soft_margin_loss(pred: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
                     reduction: Literal["none", "mean", "sum"] = "mean") -> Tensor:  # fmt: skip
    """Give log(1 + e ** (-target * pred)), for targets 1 and -1.

    >>> zero = ts.nn.functional.soft_margin_loss(ts.zeros(1), ts.ones(1))
    >>> zero.item() == ts.tensor(2.0).log().item()
    True
    """
    refuse_given_up(size_average, reduce)
    return pair_loss(pred, target, "soft_margin", 0.0, reduction)


def _multi_ref(np: Any, x: Any, target: Any, p: int = 1, margin: float = 1.0, weight: Any = None,
               size_average: None = None, reduce: None = None,
               reduction: str = "mean") -> Any:  # fmt: skip
    chosen = np.take_along_axis(x, target[..., None], -1)
    gaps = np.maximum(margin - chosen + x, 0) ** p * (np.arange(x.shape[-1]) != target[..., None])
    losses = gaps.sum(-1) / x.shape[-1] * (1 if weight is None else weight[target])
    return _total(losses, reduction)


_THREE = tensor([0, 2, 1])


@composite(
    **LOSS, ref=_multi_ref, distinct=True,
    samples=[case((3, 4), _THREE), case((3, 4), _THREE, 2), case((3, 4), _THREE, 1, 0.5, (4,)),
             case((4,), tensor(1)), case((3, 4), _THREE, reduction="none")],
    errors=[case((3, 4), _THREE, 3, match="p is 3"), case((), tensor(1), match="x has 0 axes"),
            case((3, 4), tensor([0, 4, 1]), match="index 4 is out of bounds"),
            case((3, 4), (3,), match="target is float32: classes are integers"),
            case((3, 4), tensor([0, 1]), match=r"target has shape \(2,\), x \(3, 4\)"),
            case((3, 4), _THREE, 1, 1.0, (3,), match=r"weight has shape \(3,\), x 4 classes"),
            case((3, 4), _THREE, reduce=True, match="reduce is not taken")],
)  # fmt: skip
def multi_margin_loss(x: Tensor, target: Tensor, p: int = 1, margin: float = 1.0,
                      weight: Tensor | None = None, size_average: Any = None, reduce: Any = None,
                      reduction: Literal["none", "mean", "sum"] = "mean") -> Tensor:  # fmt: skip
    """Give the hinge of several classes: the mean of max(0, margin - x[target] + x[i]) ** p.

    x is (N, C) or (C,); the target is a class for each line, and is not among i.

    >>> x = ts.tensor([[1.0, 0.5, 3.0, 0.0]])
    >>> ts.nn.functional.multi_margin_loss(x, ts.tensor([2])).item()
    0.0
    """
    refuse_given_up(size_average, reduce)
    dtype = need_float("x", x)
    if x.ndim not in (1, 2):
        raise loss_errors.too_few_axes("x", x.ndim, "1 or 2: (C,) or (N, C)")
    if p not in (1, 2):
        raise errors.wrong_value("p", p, "1 or 2")
    if not target.dtype.is_integer:
        raise loss_errors.class_dtype(target.dtype, x.shape)
    if target.shape != x.shape[:-1]:
        raise loss_errors.class_shape(target.shape, x.shape[:-1], x.shape)
    if weight is not None and weight.shape != x.shape[-1:]:
        raise loss_errors.class_weights(weight.shape, x.shape[-1])
    (wide,) = widened(x)
    places = unsqueeze(cast(target, int64), -1)
    gaps = relu(margin - take_along_axis(wide, places, axis=-1) + wide)
    is_target = arange(x.shape[-1]) == places % x.shape[-1]
    gaps = where(is_target, 0.0, gaps if p == 1 else square(gaps))
    losses = sum(gaps, axis=-1) / x.shape[-1]
    if weight is not None:
        losses = losses * widened(weight)[0][target]
    return reduced(losses, reduction, dtype)


# --- pairs of vectors and triplets ---------------------------------------------------------------


def _ranking_ref(np: Any, x1: Any, x2: Any, target: Any, margin: float = 0.0,
                 size_average: None = None, reduce: None = None,
               reduction: str = "mean") -> Any:  # fmt: skip
    return _total(np.maximum(-target * (x1 - x2) + margin, 0), reduction)


_TWO: dict[str, Any] = {**LOSS, "keywords": {"input1": "x1", "input2": "x2"}}


@composite(
    **_TWO, ref=_ranking_ref, distinct=True,
    samples=[case((4,), (4,), _SIGNS), case((4,), (4,), _SIGNS, margin=0.5, reduction="none")],
    errors=[case((4,), (4, 1), _SIGNS, match="shapes differ and would broadcast"),
            case((4, 1), (4, 1), _SIGNS, match="shapes differ and would broadcast"),
            case((4,), (4,), _SIGNS, reduce=True, match="reduce is not taken")],
)  # fmt: skip
def margin_ranking_loss(x1: Tensor, x2: Tensor, target: Tensor, margin: float = 0.0,
                        size_average: Any = None, reduce: Any = None,
                        reduction: Literal["none", "mean", "sum"] = "mean",
                        ) -> Tensor:  # fmt: skip
    """Give max(0, -target * (x1 - x2) + margin): x1 is to be the greater where target is 1.

    >>> x1, x2 = ts.tensor([2.0]), ts.tensor([3.0])
    >>> ts.nn.functional.margin_ranking_loss(x1, x2, ts.ones(1)).item()
    1.0
    """
    refuse_given_up(size_average, reduce)
    need_same_shape(x1, x2, ("x1", "x2"))
    need_same_shape(x1, target, ("x1", "target"))
    dtype = need_float("x1", x1)
    a, b, y = widened(x1, x2, target)
    return reduced(clip(margin - y * (a - b), 0.0), reduction, dtype)


_TINY = 1e-12  # keeps the lengths of vectors of zeros from being divided by


def _cosine_ref(np: Any, x1: Any, x2: Any, target: Any, margin: float = 0.0,
                size_average: None = None, reduce: None = None,
               reduction: str = "mean") -> Any:  # fmt: skip
    squares = ((x1 * x1).sum(-1) + _TINY) * ((x2 * x2).sum(-1) + _TINY)
    cosine = (x1 * x2).sum(-1) / np.sqrt(squares)
    far = np.maximum(cosine - margin, 0)
    return _total(np.where(target == 1, 1 - cosine, np.where(target == -1, far, 0)), reduction)


@composite(
    **_TWO, ref=_cosine_ref, domain=(0.2, 3),
    samples=[case((4, 3), (4, 3), _SIGNS), case((4, 3), (4, 3), _SIGNS, margin=0.5),
             case((3,), (3,), tensor(-1)), case((4, 3), (4, 3), _SIGNS, reduction="none")],
    errors=[case((4, 3), (1, 3), _SIGNS, match="shapes differ and would broadcast"),
            case((4, 3), (4, 3), tensor([1]), match="shapes differ and would broadcast"),
            case((), (), tensor(1), match="x1 has 0 axes"),
            case((4, 3), (4, 3), _SIGNS, reduce=True, match="reduce is not taken")],
)  # fmt: skip
def cosine_embedding_loss(x1: Tensor, x2: Tensor, target: Tensor, margin: float = 0.0,
                          size_average: Any = None, reduce: Any = None,
                          reduction: Literal["none", "mean", "sum"] = "mean",
                          ) -> Tensor:  # fmt: skip
    """Give 1 - cos of the angle between vectors where target is 1, max(0, cos - margin) at -1.

    x1 and x2 are (N, D) or (D,), and the target is (N,) or ().

    >>> x = ts.tensor([[1.0, 0.0]])
    >>> ts.nn.functional.cosine_embedding_loss(x, 3 * x, ts.tensor([-1]), margin=0.5).item()
    0.5
    """
    refuse_given_up(size_average, reduce)
    need_same_shape(x1, x2, ("x1", "x2"))
    dtype = need_float("x1", x1)
    if x1.ndim not in (1, 2):
        raise loss_errors.too_few_axes("x1", x1.ndim, "1 or 2: (D,) or (N, D)")
    a, b = widened(x1, x2)
    squares = (sum(a * a, axis=-1) + _TINY) * (sum(b * b, axis=-1) + _TINY)
    cosine = sum(a * b, axis=-1) / sqrt(squares)
    need_same_shape(cosine, target, ("the losses", "target"))
    near = where(target == 1, 1 - cosine, 0.0)
    far = where(target == -1, clip(cosine - margin, 0.0), 0.0)
    return reduced(near + far, reduction, dtype)


def _triplet_ref(np: Any, anchor: Any, positive: Any, negative: Any, margin: float = 1.0,
                 p: float = 2.0, eps: float = 1e-6, swap: bool = False, size_average: None = None,
                 reduce: None = None, reduction: str = "mean") -> Any:  # fmt: skip
    def distance(x: Any, y: Any) -> Any:
        return (np.abs(x - y + eps) ** p).sum(-1) ** (1 / p)

    far = distance(anchor, negative)
    far = np.minimum(far, distance(positive, negative)) if swap else far
    return _total(np.maximum(margin + distance(anchor, positive) - far, 0), reduction)


@composite(
    **LOSS, ref=_triplet_ref, distinct=True,
    samples=[case((4, 3), (4, 3), (4, 3)), case((3,), (3,), (3,), margin=0.5),
             case((4, 3), (4, 3), (4, 3), swap=True, reduction="none"),
             case((4, 3), (4, 3), (4, 3), p=1.0, margin=3.0, reduction="sum")],
    errors=[case((4, 3), (1, 3), (4, 3), match="shapes differ and would broadcast"),
            case((4, 3), (4, 3), (3,), match="shapes differ and would broadcast"),
            case((4, 3), (4, 3), (4, 3), margin=0.0, match="margin is 0.0"),
            case((), (), (), match="anchor has 0 axes"),
            case((2, 3), (2, 3), (2, 3), reduce=True, match="reduce is not taken")],
)  # fmt: skip
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0,
                        p: float = 2.0, eps: float = 1e-6, swap: bool = False,
                        size_average: Any = None, reduce: Any = None,
                        reduction: Literal["none", "mean", "sum"] = "mean",
                        ) -> Tensor:  # fmt: skip
    """Give max(0, margin + |anchor - positive| - |anchor - negative|), by the p-norm.

    swap takes |positive - negative| where that is the smaller.

    >>> zero, one = ts.zeros(1, 2), ts.ones(1, 2)
    >>> ts.nn.functional.triplet_margin_loss(zero, zero, one, margin=1.0).item()
    0.0
    """
    refuse_given_up(size_average, reduce)
    need_same_shape(anchor, positive, ("anchor", "positive"))
    need_same_shape(anchor, negative, ("anchor", "negative"))
    dtype = need_float("anchor", anchor)
    if anchor.ndim == 0:
        raise loss_errors.too_few_axes("anchor", 0, "at least one: vectors along the last")
    if not margin > 0:
        raise errors.wrong_value("margin", margin, "more than 0")
    a, b, c = widened(anchor, positive, negative)
    far = pairwise_distance(a, c, p, eps)
    if swap:
        far = minimum(far, pairwise_distance(b, c, p, eps))
    return reduced(clip(margin + pairwise_distance(a, b, p, eps) - far, 0.0), reduction, dtype)


del _SIGNS, _THREE  # tensors of samples alone
