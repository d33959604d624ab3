"""Losses as modules: their options are kept, and a call gives the function of the same name.

Those with a margin are in margin_losses.py.
"""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_float, to_int, to_word
from tessella.hints import Literal, Operand
from tessella.nn import functional, loss_errors
from tessella.nn.modules import Module


class Loss(Module):
    """What every loss has: its reduction."""

    words: tuple[str, ...] = ("none", "mean", "sum")
    reduction: Literal["none", "mean", "sum"]  # one of them

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:  # fmt: skip
        super().__init__()
        for name, value in (("size_average", size_average), ("reduce", reduce)):
            if isinstance(value, Tensor):
                raise loss_errors.made_with_operands(type(self).__name__)
            if value is not None:
                raise loss_errors.given_up(name)
        self.reduction = to_word(  # type: ignore[assignment]  # one of `words`
            "reduction", reduction, list(self.words)
        )

    def keep_weight(self, name: str, value: Tensor | None) -> None:
        """Keep a tensor of weights, or None, as a buffer."""
        if value is not None and not isinstance(value, Tensor):
            raise errors.not_tensor(name, value, "a tensor")
        self.register_buffer(name, value)


# --- regression ----------------------------------------------------------------------------------


class MSELoss(Loss):
    """The squares of differences.

    >>> nn.MSELoss()(ts.tensor([1.0, 4.0]), ts.tensor([1.0, 2.0])).item()
    2.0
    """

    def forward(self, pred: Tensor, target: Tensor) -> Tensor:
        """Compare."""
        return functional.mse_loss(pred, target, reduction=self.reduction)


class L1Loss(Loss):
    """The sizes of differences.

    >>> nn.L1Loss()(ts.tensor([1.0, 4.0]), ts.tensor([1.0, 2.0])).item()
    1.0
    """

    def forward(self, pred: Tensor, target: Tensor) -> Tensor:
        """Compare."""
        return functional.l1_loss(pred, target, reduction=self.reduction)


class SmoothL1Loss(Loss):
    """d ** 2 / (2 beta) for differences d below beta, and |d| - beta / 2 for others.

    >>> nn.SmoothL1Loss()(ts.tensor([1.0, 4.0]), ts.tensor([0.0, 1.0])).item()
    1.5
    """

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean", beta: float = 1.0) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.beta = to_float("beta", beta)

    def forward(self, pred: Tensor, target: Tensor) -> Tensor:
        """Compare."""
        return functional.smooth_l1_loss(pred, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(Loss):
    """d ** 2 / 2 for differences d up to delta, and delta * (|d| - delta / 2) for others.

    >>> nn.HuberLoss()(ts.tensor([1.0, 4.0]), ts.tensor([0.0, 1.0])).item()
    1.5
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(None, None, reduction)
        self.delta = to_float("delta", delta)

    def forward(self, pred: Tensor, target: Tensor) -> Tensor:
        """Compare."""
        return functional.huber_loss(pred, target, reduction=self.reduction, delta=self.delta)


# --- classes and probabilities -------------------------------------------------------------------


class CrossEntropyLoss(Loss):
    """The cross entropy of softmax(x).

    The target is the class of each row, or a probability for each class.

    `weight` has a number for each class, which the losses of that class are multiplied by, and the
    mean is divided by their sum. Lines whose class is `ignore_index` do not count.
    `label_smoothing` is the share of each target that is spread evenly over the classes.

    >>> x = ts.tensor([[99.0, -99.0], [-99.0, 99.0]])
    >>> nn.CrossEntropyLoss()(x, ts.tensor([0, 1])).item()
    0.0
    """

    weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None,
                 ignore_index: int = -100, reduce: bool | None = None, reduction: str = "mean",
                 label_smoothing: float = 0.0) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.keep_weight("weight", weight)
        self.ignore_index = to_int("ignore_index", ignore_index)
        self.label_smoothing = to_float("label_smoothing", label_smoothing)

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        """Compare."""
        return functional.cross_entropy(
            x, target, self.weight, None, self.ignore_index, None, self.reduction,
            self.label_smoothing,
        )  # fmt: skip


class NLLLoss(Loss):
    """The negative of x, logarithms of probabilities, at the class of each line.

    `weight` has a number for each class, which the losses of that class are multiplied by, and the
    mean is divided by their sum. Lines whose class is `ignore_index` do not count.

    >>> nn.NLLLoss()(ts.tensor([[-1.0, -2.0]]), ts.tensor([1])).item()
    2.0
    """

    weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None,
                 ignore_index: int = -100, reduce: bool | None = None,
                 reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.keep_weight("weight", weight)
        self.ignore_index = to_int("ignore_index", ignore_index)

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        """Compare."""
        return functional.nll_loss(
            x, target, self.weight, None, self.ignore_index, None, self.reduction
        )


class BCELoss(Loss):
    """The cross entropy of probabilities; their logarithms end at -100.

    The losses are multiplied by `weight`.

    >>> nn.BCELoss()(ts.ones(2), ts.ones(2)).item()
    0.0
    """

    weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None,
                 reduce: bool | None = None, reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.keep_weight("weight", weight)

    def forward(self, pred: Tensor, target: Tensor) -> Tensor:
        """Compare."""
        return functional.binary_cross_entropy(
            pred, target, self.weight, None, None, self.reduction
        )


class BCEWithLogitsLoss(Loss):
    """The cross entropy of sigmoid(pred), without overflow.

    The losses are multiplied by `weight`, those of positive targets by `pos_weight`.

    >>> nn.BCEWithLogitsLoss()(ts.tensor([999.0, -999.0]), ts.tensor([1.0, 0.0])).item()
    0.0
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None,
                 reduce: bool | None = None, reduction: str = "mean",
                 pos_weight: Tensor | None = None) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.keep_weight("weight", weight)
        self.keep_weight("pos_weight", pos_weight)

    def forward(self, pred: Tensor, target: Tensor) -> Tensor:
        """Compare."""
        return functional.binary_cross_entropy_with_logits(
            pred, target, self.weight, None, None, self.reduction, self.pos_weight
        )


class KLDivLoss(Loss):
    """target * (log(target) - pred), where pred holds logarithms of probabilities.

    With `log_target` the target holds logarithms too. The `reduction` "batchmean" divides the sum
    by the first size.

    >>> half = ts.tensor([[0.5, 0.5]])
    >>> nn.KLDivLoss(reduction="batchmean")(half.log(), half).item()
    0.0
    """

    words = ("none", "mean", "sum", "batchmean")
    reduction: Literal["none", "mean", "sum", "batchmean"]  # type: ignore[assignment]  # one word more

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean", log_target: bool = False) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.log_target = to_bool("log_target", log_target)

    def forward(self, pred: Tensor, target: Tensor) -> Tensor:
        """Compare."""
        return functional.kl_div(pred, target, reduction=self.reduction, log_target=self.log_target)


class PoissonNLLLoss(Loss):
    """The negative log likelihood of counts, from the logarithms of their means or the means.

    `log_input` says that pred is the logarithm; where it is the mean, `eps` is added before its
    logarithm is taken. `full` adds Stirling's formula for log(target!), for targets above 1.

    >>> nn.PoissonNLLLoss()(ts.zeros(1), ts.ones(1)).item()
    1.0
    """

    def __init__(self, log_input: bool = True, full: bool = False, size_average: bool | None = None,
                 eps: float = 1e-8, reduce: bool | None = None,
                 reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.log_input = to_bool("log_input", log_input)
        self.full = to_bool("full", full)
        self.eps = to_float("eps", eps)

    def forward(self, pred: Tensor, target: Tensor) -> Tensor:
        """Compare."""
        return functional.poisson_nll_loss(
            pred, target, self.log_input, self.full, None, self.eps, None, self.reduction
        )


class GaussianNLLLoss(Loss):
    """The negative log likelihood of normal distributions of given means and variances.

    Variances are at least `eps`. `full` adds the constant log(2 pi) / 2.

    >>> nn.GaussianNLLLoss()(ts.zeros(1), ts.ones(1), ts.ones(1)).item()
    0.5
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(None, None, reduction)
        self.full = to_bool("full", full)
        self.eps = to_float("eps", eps)

    def forward(self, pred: Tensor, target: Tensor, var: Operand) -> Tensor:
        """Compare."""
        return functional.gaussian_nll_loss(pred, target, var, self.full, self.eps, self.reduction)
