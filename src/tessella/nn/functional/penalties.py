"""Penalties of parameters, to be added to a loss."""

from __future__ import annotations

from builtins import sum as sum_of

from tessella import errors
from tessella._core import Tensor
from tessella.composites import composite
from tessella.declarations import case
from tessella.hints import Any, Callable
from tessella.nn import loss_errors
from tessella.nn.functional.reductions import LOSS, widened
from tessella.ops.elementwise import abs, square
from tessella.ops.reduce import sum


def _penalty(parameters: Any, size: Callable[[Tensor], Tensor]) -> Tensor:
    """Add up the sizes of one tensor, or of several."""
    found = [parameters] if isinstance(parameters, Tensor) else parameters
    if not hasattr(found, "__iter__"):
        raise loss_errors.not_parameters(errors.type_name(found))
    total: Tensor | None = None
    for x in found:
        if not isinstance(x, Tensor):
            raise loss_errors.not_parameters(f"{errors.type_name(x)} among them")
        part = size(widened(x)[0])
        total = part if total is None else total + part
    if total is None:
        raise loss_errors.not_parameters("none")
    return total


_PENALTY: dict[str, Any] = {
    **LOSS, "samples": [case([(3,), (2, 2)]), case((4,))],
    "errors": [case(3, match="parameters must be a tensor, or several, got int"),
               case([], match="got none")],
}  # fmt: skip


def _penalty_ref(np: Any, parameters: Any, size: Any) -> Any:
    several = parameters if isinstance(parameters, list) else [parameters]
    return np.asarray(sum_of([size(x).sum() for x in several]))


@composite(**_PENALTY, ref=lambda np, parameters: _penalty_ref(np, parameters, np.abs))
def l1_penalty(parameters: Any) -> Tensor:
    """Give the sum of the sizes of all elements, to be added to a loss.

    >>> ts.nn.functional.l1_penalty([ts.tensor([3.0, -4.0]), ts.tensor([1.0])]).item()
    8.0
    """
    return _penalty(parameters, lambda x: sum(abs(x)))


@composite(**_PENALTY, ref=lambda np, parameters: _penalty_ref(np, parameters, np.square))
def l2_penalty(parameters: Any) -> Tensor:
    """Give the sum of the squares of all elements, to be added to a loss.

    Times decay / 2 it has the gradients of an optimizer's weight_decay=decay.

    >>> ts.nn.functional.l2_penalty([ts.tensor([3.0, -4.0]), ts.tensor([1.0])]).item()
    26.0
    """
    return _penalty(parameters, lambda x: sum(square(x)))
