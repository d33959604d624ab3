"""Distances and similarities of vectors along one axis."""

from __future__ import annotations

from tessella._core import Tensor
from tessella.composites import composite
from tessella.declarations import case
from tessella.fusions import need_float
from tessella.hints import Any
from tessella.kinds import cast
from tessella.nn.functional.reductions import widened
from tessella.ops.elementwise import maximum
from tessella.ops.movement import normal_axes
from tessella.ops.norms import vector_norm
from tessella.ops.reduce import sum

_PAIR: dict[str, Any] = {"home": "nn.functional", "is_method": False}


def _cosine_ref(np: Any, x1: Any, x2: Any, axis: int = 1, eps: float = 1e-8) -> Any:
    sizes = [np.maximum(np.sqrt((x * x).sum(axis=axis)), eps) for x in (x1, x2)]
    return (x1 * x2).sum(axis=axis) / (sizes[0] * sizes[1])


@composite(
    **_PAIR, ref=_cosine_ref, domain=(0.2, 3),
    samples=[case((4, 3), (4, 3)), case((4, 3), (4, 3), axis=0), case((2, 3, 4), (1, 3, 4)),
             case((5,), (5,), axis=0, eps=0.5)],
    errors=[case((4,), (4,), match="axis 1 is out of range")],
)  # fmt: skip
def cosine_similarity(x1: Tensor, x2: Tensor, axis: int = 1, eps: float = 1e-8) -> Tensor:
    """Give the cosine of the angle between vectors along an axis; lengths are at least eps.

    >>> x = ts.tensor([3.0, 4.0])
    >>> ts.nn.functional.cosine_similarity(x, -x, axis=0).item()
    -1.0
    """
    dtype = need_float("x1", x1)
    need_float("x2", x2)
    a, b = widened(x1, x2)
    place = normal_axes(a, axis)
    a = a / maximum(vector_norm(a, place, 2, True), eps)
    b = b / maximum(vector_norm(b, normal_axes(b, axis), 2, True), eps)
    return cast(sum(a * b, axis=axis), dtype)


def _distance_ref(np: Any, x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6,
                  keepdims: bool = False) -> Any:  # fmt: skip
    return (np.abs(x1 - x2 + eps) ** p).sum(axis=-1, keepdims=keepdims) ** (1 / p)


@composite(
    **_PAIR, ref=_distance_ref, distinct=True,
    samples=[case((4, 3), (4, 3)), case((4, 3), (3,), p=1.0), case((3,), (3,), keepdims=True),
             case((4, 3), (4, 3), p=3.0, eps=0.5)],
    errors=[case((4, 3), (4, 2), match="do not broadcast"), case((), (), match="axis -1")],
)  # fmt: skip
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6,
                      keepdims: bool = False) -> Tensor:  # fmt: skip
    """Give the p-norm of x1 - x2 + eps along the last axis.

    >>> x, y = ts.zeros(1, 2), ts.tensor([[3.0, 4.0]])
    >>> ts.nn.functional.pairwise_distance(x, y, eps=0.0).tolist()
    [5.0]
    """
    need_float("x1", x1)
    need_float("x2", x2)
    difference = x1 - x2 + eps
    out = vector_norm(difference, normal_axes(difference, -1), p, keepdims)
    return cast(out, difference.dtype)
