"""Gradient descent."""

from __future__ import annotations

from tessella import optimizer_errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_float
from tessella.optim import updates
from tessella.optim.optimizer import Optimizer, explained
from tessella.optim.options import Options, Params, at_least_zero, check_implementation


class SGD(Optimizer):
    """Gradient descent, with momentum (also Nesterov's) and weight decay.

    With `momentum`, gradients add up: a step keeps that share of their sum, and leaves the share
    `dampening` of the new one out. `nesterov` looks ahead: it goes by the gradient plus that share
    of the new sum.

    >>> x = ts.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = ts.optim.SGD([x], lr=0.5, momentum=0.5)
    >>> for _ in range(2):
    ...     optimizer.zero_grad()
    ...     x.square().sum().backward()
    ...     optimizer.step()
    >>> x.tolist()
    [-0.5, -1.0]
    """

    update = updates.sgd
    varying = ("lr", "momentum")
    shaping = ("momentum",)

    @explained
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        momentum: float | Tensor = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_implementation("SGD", differentiable, foreach=foreach, fused=fused)
        is_moving = to_float("momentum", at_least_zero("momentum", momentum)) > 0
        damps = to_float("dampening", dampening)
        if to_bool("nesterov", nesterov) and (not is_moving or damps != 0):
            raise optimizer_errors.nesterov()
        super().__init__(params, {
            "lr": at_least_zero("lr", lr),
            "momentum": momentum,
            "dampening": damps,
            "weight_decay": at_least_zero("weight_decay", weight_decay),
            "nesterov": nesterov,
            "maximize": to_bool("maximize", maximize),
        })  # fmt: skip

    def needs(self, options: Options) -> dict[str, float]:
        """Count steps where there is momentum: its buffer begins as the first gradient."""
        has_momentum = to_float("momentum", options["momentum"]) != 0
        return {"momentum_buffer": 0.0, "step": 0.0} if has_momentum else {}

    def adopt(self, saved: Options, begins: dict[str, float]) -> dict[str, object]:
        """Take a buffer that was saved without a count for one that has begun, as PyTorch does."""
        if saved.get("momentum_buffer") is not None:
            begins = {**begins, "step": 1.0}
        return super().adopt(saved, begins)
