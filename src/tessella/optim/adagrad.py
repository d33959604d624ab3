"""Adagrad, Adadelta and RMSprop: steps divided by the root of sums or means of squares."""

from __future__ import annotations

from tessella._core import Tensor
from tessella.arguments import to_bool, to_float
from tessella.optim import updates
from tessella.optim.optimizer import Optimizer, explained
from tessella.optim.options import Options, Params, at_least_zero, check_implementation, to_fraction


class Adagrad(Optimizer):
    """Gradients divided by the root of the sum of their squares so far.

    At step t the rate is lr / (1 + (t - 1) * lr_decay). Sums begin as `initial_accumulator_value`;
    `eps` is added to the root.

    >>> x = ts.tensor([1.0, -3.0], requires_grad=True)
    >>> optimizer = ts.optim.Adagrad([x], lr=0.5)
    >>> x.square().sum().backward()
    >>> optimizer.step()
    >>> x.tolist()
    [0.5, -2.5]
    """

    update = updates.adagrad

    @explained
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_implementation("Adagrad", differentiable, foreach=foreach, fused=fused)
        first = at_least_zero("initial_accumulator_value", initial_accumulator_value)
        super().__init__(params, {
            "lr": at_least_zero("lr", lr),
            "lr_decay": at_least_zero("lr_decay", lr_decay),
            "eps": at_least_zero("eps", eps),
            "weight_decay": at_least_zero("weight_decay", weight_decay),
            "initial_accumulator_value": first,
            "maximize": to_bool("maximize", maximize),
        })  # fmt: skip

    def needs(self, options: Options) -> dict[str, float]:
        """Begin with the sum that was asked for."""
        first = to_float("initial_accumulator_value", options["initial_accumulator_value"])
        return {"sum": first, "step": 0.0}


class Adadelta(Optimizer):
    """Adagrad whose sum of squares decays; the step is scaled by the size of recent steps.

    `rho` is the share of both means that a step keeps; `eps` is added before roots are taken.

    >>> x = ts.tensor([1.0], requires_grad=True)
    >>> optimizer = ts.optim.Adadelta([x])
    >>> x.square().sum().backward()
    >>> optimizer.step()
    >>> x.item() < 1
    True
    """

    update = updates.adadelta

    @explained
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_implementation("Adadelta", differentiable, foreach=foreach, capturable=capturable)
        super().__init__(params, {
            "lr": at_least_zero("lr", lr),
            "rho": to_fraction("rho", rho),
            "eps": at_least_zero("eps", eps),
            "weight_decay": at_least_zero("weight_decay", weight_decay),
            "maximize": to_bool("maximize", maximize),
        })  # fmt: skip

    def needs(self, options: Options) -> dict[str, float]:
        """Begin with zeros."""
        return {"square_avg": 0.0, "acc_delta": 0.0, "step": 0.0}


class RMSprop(Optimizer):
    """Gradients divided by the root of the mean of their squares, or of their variance.

    `alpha` is the share of the mean that a step keeps, and `eps` is added to the root. `centered`
    takes the variance. With `momentum`, steps add up, and that share of their sum is kept.

    >>> x = ts.tensor([1.0], requires_grad=True)
    >>> optimizer = ts.optim.RMSprop([x], lr=0.01)
    >>> x.square().sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    0.9
    """

    update = updates.rmsprop
    varying = ("lr", "momentum")
    shaping = ("momentum", "centered")

    @explained
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float | Tensor = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_implementation("RMSprop", differentiable, foreach=foreach, capturable=capturable)
        super().__init__(params, {
            "lr": at_least_zero("lr", lr),
            "momentum": at_least_zero("momentum", momentum),
            "alpha": at_least_zero("alpha", alpha),
            "eps": at_least_zero("eps", eps),
            "centered": to_bool("centered", centered),
            "weight_decay": at_least_zero("weight_decay", weight_decay),
            "maximize": to_bool("maximize", maximize),
        })  # fmt: skip

    def needs(self, options: Options) -> dict[str, float]:
        """Begin with zeros; momentum and the mean are kept where they are asked for."""
        has_momentum = to_float("momentum", options["momentum"]) > 0
        return {
            "square_avg": 0.0,
            **({"momentum_buffer": 0.0} if has_momentum else {}),
            **({"grad_avg": 0.0} if to_bool("centered", options["centered"]) else {}),
            "step": 0.0,
        }
