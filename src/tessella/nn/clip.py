"""Clipping of gradients, in place: by the norm of all of them together, or each number by itself.

No value is read, unless an error is asked for: clipping may stand inside a compiled step.
"""

from __future__ import annotations

import math
from functools import reduce

from tessella import errors, optimizer_errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_float, to_list
from tessella.dtypes import float32, promote
from tessella.hints import Any, Iterable
from tessella.kinds import cast
from tessella.located import located
from tessella.modes import no_grad
from tessella.ops.complexes import view_as_real
from tessella.ops.creation import zeros
from tessella.ops.elementwise import add, clip, minimum, sqrt
from tessella.ops.joining import stack
from tessella.ops.norms import to_order, vector_norm, widened

__all__ = ["clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]

SMALL = 1e-6  # added to a norm that is divided by


@located("clip_grad_norm_")
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale gradients so that their norm, of all together, is at most `max_norm`; give the norm.

    >>> x = ts.zeros(2, requires_grad=True)
    >>> x.grad = ts.tensor([3.0, 4.0])
    >>> ts.nn.utils.clip_grad_norm_([x], max_norm=1.0).item()
    5.0
    >>> [round(g, 4) for g in x.grad.tolist()]
    [0.6, 0.8]
    """
    try:
        gradients = gradients_of(parameters)
        most = to_float("max_norm", max_norm)
        if not most >= 0:
            raise errors.wrong_value("max_norm", max_norm, "at least 0")
        norm = total_norm(gradients, norm_type, error_if_nonfinite)
        scale(gradients, most, norm)
        return norm
    except errors.TessellaError as error:
        raise error.relocate("clip_grad_norm_", []) from None


@located("clip_grads_with_norm_")
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    total_norm: Tensor,
    foreach: bool | None = None,
) -> None:
    """Scale gradients by `max_norm / total_norm`, if that is below 1.

    >>> x = ts.zeros(2, requires_grad=True)
    >>> x.grad = ts.tensor([3.0, 4.0])
    >>> ts.nn.utils.clip_grads_with_norm_([x], 10.0, ts.tensor(5.0))
    >>> x.grad.tolist()
    [3.0, 4.0]
    """
    try:
        norm = total_norm if isinstance(total_norm, Tensor) else to_float("total_norm", total_norm)
        if isinstance(norm, Tensor) and norm.size != 1:
            raise errors.wrong_value("total_norm.shape", norm.shape, "that of one number: ()")
        scale(gradients_of(parameters), to_float("max_norm", max_norm), norm)
    except errors.TessellaError as error:
        raise error.relocate("clip_grads_with_norm_", []) from None


@located("clip_grad_value_")
def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Limit every number of the gradients to ±`clip_value`.

    >>> x = ts.zeros(2, requires_grad=True)
    >>> x.grad = ts.tensor([3.0, -0.5])
    >>> ts.nn.utils.clip_grad_value_([x], 1.0)
    >>> x.grad.tolist()
    [1.0, -0.5]
    """
    try:
        most = to_float("clip_value", clip_value)
        with no_grad():
            for g in gradients_of(parameters):
                part = view_as_real(g) if g.dtype.is_complex else g
                clip(part, -most, most, out=part)
    except errors.TessellaError as error:
        raise error.relocate("clip_grad_value_", []) from None


@located("get_total_norm")
def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Give the norm of all numbers of some tensors; of halves as a float32.

    >>> ts.nn.utils.get_total_norm([ts.tensor([3.0]), ts.tensor([4.0])]).item()
    5.0
    """
    try:
        return total_norm(listed("tensors", tensors), norm_type, error_if_nonfinite)
    except errors.TessellaError as error:
        raise error.relocate("get_total_norm", []) from None


# --- parts ----------------------------------------------------------------------------------------


def listed(name: str, tensors: Any) -> list[Tensor]:
    """Give tensors as a list; one stands for a list of one."""
    if isinstance(tensors, Tensor):
        return [tensors]
    if hasattr(tensors, "parameters"):
        raise optimizer_errors.module_given(name)
    found = to_list(name, tensors, "tensors in a list, or one tensor")
    for i, x in enumerate(found):
        if not isinstance(x, Tensor):
            raise errors.not_tensor(f"{name}[{i}]", x, "a tensor")
    return found


def gradients_of(parameters: Any) -> list[Tensor]:
    """Give the gradients that parameters have."""
    found = [p.grad for p in listed("parameters", parameters)]
    return [g.detach() for g in found if g is not None]


def total_norm(tensors: list[Tensor], norm_type: Any, is_checked: bool) -> Tensor:
    """Give the norm of norms."""
    is_text = isinstance(norm_type, str) and norm_type == "inf"  # as in PyTorch
    order = to_order("norm_type", math.inf if is_text else norm_type)
    is_checked = to_bool("error_if_nonfinite", is_checked)
    with no_grad():
        out = _norm(tensors, order)
    if is_checked and not math.isfinite(value := float(out.item())):
        raise optimizer_errors.nonfinite_norm(value)
    return out


def _norm(tensors: list[Tensor], order: float) -> Tensor:
    if not tensors:
        return zeros((), dtype=float32)
    if order == 2:
        return sqrt(reduce(add, map(_square, tensors)))
    each = [vector_norm(widened(x), range(x.ndim), order, False) for x in tensors]
    dtype = reduce(promote, (x.dtype for x in each))
    return vector_norm(stack([cast(x, dtype) for x in each]), (0,), order, False)


def _square(x: Tensor) -> Tensor:
    """Give the sum of squares of the magnitudes, without a copy if x is contiguous."""
    if x.dtype.is_complex:
        x = view_as_real(x)
    flat = widened(x).reshape(-1)
    return flat @ flat


def scale(gradients: list[Tensor], most: float, norm: Tensor | float) -> None:
    """Multiply gradients by what brings their norm down to the most; by 1 if it is below."""
    with no_grad():
        factor = minimum(most / (norm + SMALL), 1.0)
        for g in gradients:
            g *= factor  # a half in float32, which is then rounded
