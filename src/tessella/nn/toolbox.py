"""What programs do with all parameters at once, public as nn.utils: clipping, and one vector."""

from __future__ import annotations

from collections.abc import Iterable

from tessella import errors, spellings
from tessella._core import Tensor
from tessella.hints import TYPE_CHECKING
from tessella.inplace import check_kinds
from tessella.modes import no_grad
from tessella.nn import module_errors, ragged as rnn
from tessella.nn.clip import (
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
    listed,
)
from tessella.ops.joining import concat

__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm",
    "parameters_to_vector", "rnn", "vector_to_parameters",
]  # fmt: skip
__dir__ = __all__.copy
__path__: list[str] = []  # so that imports of names that are not here are explained

if not TYPE_CHECKING:  # for a type checker there are the names above only
    __getattr__ = spellings.refuser("tessella.nn.utils")


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Give the numbers of all parameters in one vector.

    >>> ts.nn.utils.parameters_to_vector(ts.nn.Linear(2, 3).parameters()).shape
    (9,)
    """
    try:
        return concat([p.reshape(-1) for p in listed("parameters", parameters)])
    except errors.TessellaError as error:
        raise error.relocate("parameters_to_vector", []) from None


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Write the numbers of a vector into parameters, in their order.

    >>> model = ts.nn.Linear(2, 1)
    >>> ts.nn.utils.vector_to_parameters(ts.tensor([1.0, 2.0, 3.0]), model.parameters())
    >>> model.weight.tolist(), model.bias.tolist()
    ([[1.0, 2.0]], [3.0])
    """
    try:
        found = listed("parameters", parameters)
        if not isinstance(vec, Tensor):
            raise errors.not_tensor("vec", vec, "a tensor")
        if vec.shape != (count := sum(p.size for p in found),):
            raise module_errors.wrong_vector(vec.shape, count)
        for p in found:
            check_kinds(p, vec, "parameters")  # before the first is written
        with no_grad():
            for p, part in zip(found, vec.detach().split([p.size for p in found]), strict=True):
                p.copy_(part.reshape(p.shape))
    except errors.TessellaError as error:
        raise error.relocate("vector_to_parameters", []) from None
