"""Losses with a margin as modules, and distances of vectors."""

from __future__ import annotations

from tessella._core import Tensor
from tessella.arguments import to_bool, to_float, to_int
from tessella.nn import functional
from tessella.nn.losses import Loss
from tessella.nn.modules import Module


class HingeEmbeddingLoss(Loss):
    """pred where the target is 1, and max(0, margin - pred) where it is -1.

    >>> nn.HingeEmbeddingLoss()(ts.tensor([0.5, 0.25]), ts.tensor([1.0, -1.0])).item()
    0.625
    """

    def __init__(self, margin: float = 1.0, size_average: bool | None = None,
                 reduce: bool | None = None, reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.margin = to_float("margin", margin)

    def forward(self, pred: Tensor, target: Tensor) -> Tensor:
        """Compare."""
        return functional.hinge_embedding_loss(pred, target, self.margin, reduction=self.reduction)


class SoftMarginLoss(Loss):
    """log(1 + e ** (-target * pred)), for targets 1 and -1.

    >>> nn.SoftMarginLoss()(ts.zeros(2), ts.ones(2)).shape
    ()
    """

    def forward(self, pred: Tensor, target: Tensor) -> Tensor:
        """Compare."""
        return functional.soft_margin_loss(pred, target, reduction=self.reduction)


class MultiMarginLoss(Loss):
    """The hinge of several classes: the mean of max(0, margin - x[target] + x[i]) ** p.

    The losses of a class are multiplied by its number in `weight`.

    >>> nn.MultiMarginLoss()(ts.tensor([[1.0, 0.5, 3.0, 0.0]]), ts.tensor([2])).item()
    0.0
    """

    weight: Tensor | None

    def __init__(self, p: int = 1, margin: float = 1.0, weight: Tensor | None = None,
                 size_average: bool | None = None,
                 reduce: bool | None = None, reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.keep_weight("weight", weight)
        self.p = to_int("p", p)
        self.margin = to_float("margin", margin)

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        """Compare."""
        return functional.multi_margin_loss(
            x, target, self.p, self.margin, self.weight, reduction=self.reduction
        )


class MarginRankingLoss(Loss):
    """max(0, -target * (x1 - x2) + margin): x1 is to be the greater where target is 1.

    >>> nn.MarginRankingLoss()(ts.tensor([2.0]), ts.tensor([3.0]), ts.ones(1)).item()
    1.0
    """

    def __init__(self, margin: float = 0.0, size_average: bool | None = None,
                 reduce: bool | None = None, reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.margin = to_float("margin", margin)

    def forward(self, x1: Tensor, x2: Tensor, target: Tensor) -> Tensor:
        """Compare."""
        return functional.margin_ranking_loss(x1, x2, target, self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(Loss):
    """1 - cos of the angle between vectors where target is 1, max(0, cos - margin) at -1.

    >>> x = ts.tensor([[1.0, 0.0]])
    >>> nn.CosineEmbeddingLoss(margin=0.5)(x, 3 * x, ts.tensor([-1])).item()
    0.5
    """

    def __init__(self, margin: float = 0.0, size_average: bool | None = None,
                 reduce: bool | None = None, reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.margin = to_float("margin", margin)

    def forward(self, x1: Tensor, x2: Tensor, target: Tensor) -> Tensor:
        """Compare."""
        return functional.cosine_embedding_loss(
            x1, x2, target, self.margin, reduction=self.reduction
        )


class TripletMarginLoss(Loss):
    """max(0, margin + |anchor - positive| - |anchor - negative|), by the p-norm.

    `eps` is added to differences, and `swap` takes |positive - negative| where that is the smaller.

    >>> nn.TripletMarginLoss()(ts.zeros(1, 2), ts.zeros(1, 2), ts.ones(1, 2)).item()
    0.0
    """

    def __init__(self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False,
                 size_average: bool | None = None,
                 reduce: bool | None = None, reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.margin = to_float("margin", margin)
        self.p = to_float("p", p)
        self.eps = to_float("eps", eps)
        self.swap = to_bool("swap", swap)

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Compare."""
        return functional.triplet_margin_loss(
            anchor, positive, negative, self.margin, self.p, self.eps, self.swap,
            reduction=self.reduction,
        )  # fmt: skip


# --- distances -----------------------------------------------------------------------------------


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along an axis.

    >>> x = ts.tensor([3.0, 4.0])
    >>> nn.CosineSimilarity(dim=0)(x, -x).item()
    -1.0
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = to_int("dim", dim)
        self.eps = to_float("eps", eps)

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Compare."""
        return functional.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The p-norm of x1 - x2 + eps along the last axis, which `keepdim` keeps, of size 1.

    >>> nn.PairwiseDistance(eps=0.0)(ts.zeros(1, 2), ts.tensor([[3.0, 4.0]])).tolist()
    [5.0]
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.p = to_float("p", p)
        self.eps = to_float("eps", eps)
        self.keepdim = to_bool("keepdim", keepdim)

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Compare."""
        return functional.pairwise_distance(x1, x2, self.p, self.eps, self.keepdim)
