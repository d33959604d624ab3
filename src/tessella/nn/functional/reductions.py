"""What every loss shares: operands of one shape, and how single losses become one number."""

from __future__ import annotations

from tessella import _core, errors
from tessella._core import Tensor
from tessella.dtypes import DType, float32, promote
from tessella.fusions import need_float
from tessella.hints import Any, Callable, Literal, TypeAlias
from tessella.kinds import cast
from tessella.nn import loss_errors
from tessella.ops.reduce import mean, sum

Reduction: TypeAlias = Literal["none", "mean", "sum"]

LOSS: dict[str, Any] = {"home": "nn.functional", "is_method": False}


def refuse_given_up(size_average: Any, reduce: Any) -> None:
    """Refuse the arguments that `reduction` has replaced."""
    for name, value in (("size_average", size_average), ("reduce", reduce)):
        if value is not None:
            raise loss_errors.given_up(name)


def need_same_shape(x: Tensor, y: Tensor, names: tuple[str, str] = ("pred", "target")) -> None:
    """Require two operands of one shape: a loss never broadcasts."""
    if x.shape == y.shape:
        return
    try:
        together = _core.broadcast_shapes(x.shape, y.shape)
    except errors.TessellaError:
        raise loss_errors.shapes_differ(names, (x.shape, y.shape)) from None
    raise loss_errors.would_broadcast(names, (x.shape, y.shape), together)


def common_floats(x: Tensor, y: Tensor, name: str = "pred") -> tuple[Tensor, Tensor]:
    """Give both in one floating dtype: integers become that of the other."""
    if x.dtype is y.dtype and x.dtype.is_floating:
        return x, y
    if x.dtype.is_complex or y.dtype.is_complex:
        raise errors.no_kernel(x.dtype if x.dtype.is_complex else y.dtype, "losses are of floats")
    if not y.dtype.is_floating:
        need_float(name, x)
        return x, cast(y, x.dtype)
    need_float(name, x)
    dtype = promote(x.dtype, y.dtype)
    return cast(x, dtype), cast(y, dtype)


def reduced(losses: Tensor, reduction: str, dtype: DType | None = None) -> Tensor:
    """Give the mean, the sum, or the losses themselves; in a dtype, where they are wider."""
    if reduction == "mean":
        losses = mean(losses)
    elif reduction == "sum":
        losses = sum(losses)
    return losses if dtype is None else cast(losses, dtype)


def widened(*operands: Any) -> list[Any]:
    """Give halves as float32, in which losses add up; all else as it is."""
    return [cast(x, float32) if isinstance(x, Tensor) and x.dtype.is_floating
            and x.dtype.itemsize < 4 else x for x in operands]  # fmt: skip


def pairwise(f: Callable[..., Tensor], x: Tensor, y: Tensor, reduction: str) -> Tensor:
    """Give the reduced losses f(x, y) of operands of one shape, halves computed in float32."""
    need_same_shape(x, y)
    x, y = common_floats(x, y)
    if x.dtype.itemsize >= 4:
        return reduced(f(x, y), reduction)
    return reduced(f(*widened(x, y)), reduction, x.dtype)
