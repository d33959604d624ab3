"""Adam and its kin: steps of running means, divided by the root of running means of squares."""

from __future__ import annotations

from tessella._core import Tensor
from tessella.arguments import to_bool
from tessella.hints import Any
from tessella.optim import updates
from tessella.optim.optimizer import Optimizer, explained
from tessella.optim.options import Options, Params, at_least_zero, check_implementation, to_betas


class _Means(Optimizer):
    """What they share: two means of each gradient."""

    varying = ("lr", "betas")

    def _options(
        self, lr: Any, betas: Any, eps: Any, weight_decay: Any, maximize: Any
    ) -> dict[str, Any]:
        """Check the options that all of them have."""
        return {
            "lr": at_least_zero("lr", lr),
            "betas": to_betas(betas),
            "eps": at_least_zero("eps", eps),
            "weight_decay": at_least_zero("weight_decay", weight_decay),
            "maximize": to_bool("maximize", maximize),
        }

    def needs(self, options: Options) -> dict[str, float]:
        """Begin with zeros."""
        return {"exp_avg": 0.0, "exp_avg_sq": 0.0, "step": 0.0}


class Adam(_Means):
    """Kingma and Ba's Adam; with `amsgrad`, divided by the greatest mean so far.

    `betas` say what share of the mean of gradients, and of that of squares, a step keeps; `eps` is
    added to the root.

    >>> x = ts.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = ts.optim.Adam([x], lr=0.5)
    >>> x.square().sum().backward()
    >>> optimizer.step()
    >>> x.tolist()
    [0.5, -1.5]
    """

    update = updates.adam
    shaping = ("amsgrad",)

    @explained
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_implementation(type(self).__name__, differentiable, foreach=foreach, fused=fused,
                             capturable=capturable)  # fmt: skip
        super().__init__(params, {
            **self._options(lr, betas, eps, weight_decay, maximize),
            "amsgrad": to_bool("amsgrad", amsgrad),
            "decoupled_weight_decay": to_bool("decoupled_weight_decay", decoupled_weight_decay),
        })  # fmt: skip

    def needs(self, options: Options) -> dict[str, float]:
        """Begin with zeros."""
        greatest = {"max_exp_avg_sq": 0.0} if to_bool("amsgrad", options["amsgrad"]) else {}
        return {**super().needs(options), **greatest}


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter).

    `betas` say what share of the mean of gradients, and of that of squares, a step keeps; `eps` is
    added to the root. With `amsgrad` it is divided by the greatest mean so far.

    >>> x = ts.tensor([1.0], requires_grad=True)
    >>> optimizer = ts.optim.AdamW([x], lr=0.1, weight_decay=0.1)
    >>> x.sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    0.89
    """

    @explained
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize,
                         foreach=foreach, capturable=capturable, differentiable=differentiable,
                         fused=fused, decoupled_weight_decay=True)  # fmt: skip


class Adamax(_Means):
    """Adam divided by the greatest gradient, which decays.

    `betas` say what share of the mean, and of the greatest gradient, a step keeps; `eps` is added
    to sizes of gradients.

    >>> x = ts.tensor([1.0], requires_grad=True)
    >>> optimizer = ts.optim.Adamax([x], lr=0.5)
    >>> x.square().sum().backward()
    >>> optimizer.step()
    >>> x.item()
    0.5
    """

    update = updates.adamax

    @explained
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_implementation("Adamax", differentiable, foreach=foreach, capturable=capturable)
        super().__init__(params, self._options(lr, betas, eps, weight_decay, maximize))

    def needs(self, options: Options) -> dict[str, float]:
        """Begin with zeros."""
        return {"exp_avg": 0.0, "exp_inf": 0.0, "step": 0.0}


class NAdam(_Means):
    """Adam with Nesterov's momentum.

    `betas` say what share of the mean of gradients, and of that of squares, a step keeps; `eps` is
    added to the root. Momentum at step t is betas[0] * (1 - 0.96 ** (t * momentum_decay) / 2).

    >>> x = ts.tensor([1.0], requires_grad=True)
    >>> optimizer = ts.optim.NAdam([x], lr=0.1)
    >>> x.square().sum().backward()
    >>> optimizer.step()
    >>> x.item() < 1
    True
    """

    update = updates.nadam

    @explained
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_implementation("NAdam", differentiable, foreach=foreach, capturable=capturable)
        super().__init__(params, {
            **self._options(lr, betas, eps, weight_decay, maximize),
            "momentum_decay": at_least_zero("momentum_decay", momentum_decay),
            "decoupled_weight_decay": to_bool("decoupled_weight_decay", decoupled_weight_decay),
        })  # fmt: skip

    def needs(self, options: Options) -> dict[str, float]:
        """Begin with zeros, and a product of momenta that is empty."""
        return {**super().needs(options), "mu_product": 1.0}


class RAdam(_Means):
    """Adam that divides only once the mean of squares is long enough to be trusted.

    `betas` say what share of the mean of gradients, and of that of squares, a step keeps; `eps` is
    added to the root.

    >>> x = ts.tensor([1.0], requires_grad=True)
    >>> optimizer = ts.optim.RAdam([x], lr=0.1)
    >>> x.square().sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    0.8
    """

    update = updates.radam

    @explained
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_implementation("RAdam", differentiable, foreach=foreach, capturable=capturable)
        super().__init__(params, {
            **self._options(lr, betas, eps, weight_decay, maximize),
            "decoupled_weight_decay": to_bool("decoupled_weight_decay", decoupled_weight_decay),
        })  # fmt: skip
