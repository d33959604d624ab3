"""Activations that differ from those of the package by PyTorch's further arguments."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.composites import composite
from tessella.declarations import case
from tessella.dtypes import float32
from tessella.hints import Any
from tessella.kinds import cast
from tessella.ops import elementwise, fused


def _softplus_ref(np: Any, x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    scaled = x * beta
    return np.where(scaled > threshold, x, np.logaddexp(scaled, 0) / beta)


@composite(
    home="nn.functional", is_method=False, ref=_softplus_ref,
    samples=[case((3, 4)), case((5,), 2.0), case((5,), beta=0.5, threshold=0.7), case(())],
    errors=[case((3,), 0, match="beta is 0")],
)  # fmt: skip
def softplus(x: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Give log(1 + e ** (beta * x)) / beta, and x where beta * x is over the threshold.

    >>> ts.nn.functional.softplus(ts.tensor([100.0])).tolist()
    [100.0]
    """
    if beta == 0:
        raise errors.wrong_value("beta", beta, "other than 0")
    scaled = x if beta == 1 else x * beta
    out = elementwise.softplus(scaled)
    out = out if beta == 1 else out / beta
    return elementwise.where(scaled > threshold, x, out)


def _softmin_ref(np: Any, x: Any, axis: int) -> Any:
    e = np.exp(np.min(x, axis=axis, keepdims=True) - x.astype(np.result_type(x, 0.0)))
    return e / e.sum(axis=axis, keepdims=True)


@composite(
    home="nn.functional", is_method=False, ref=_softmin_ref,
    samples=[case((3, 4), axis=-1), case((3, 4), axis=0)],
    errors=[case((3, 4), axis=2, match="axis 2 is out of range")],
)  # fmt: skip
def softmin(x: Tensor, axis: int) -> Tensor:
    """Give softmax(-x) along an axis.

    >>> ts.nn.functional.softmin(ts.zeros(2), axis=0).tolist()
    [0.5, 0.5]
    """
    x = x if x.dtype.is_floating else cast(x, float32)  # unsigned integers have no negative
    return fused.softmax(-x, axis=axis)
