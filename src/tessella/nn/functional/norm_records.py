"""The records of normalisation: rows to mean 0 and variance 1, and channels by given moments.

Each is one kernel, and so is its gradient, which gives the gradients of x, weight and bias one
behind the other in a flat tensor. The composites are what second derivatives come from. What users
call is in normalization.py.
"""

from __future__ import annotations

from tessella import errors
from tessella._core import Function, Tensor
from tessella.declarations import case
from tessella.fusions import Fused, need_float, settled
from tessella.hints import Any, Sequence
from tessella.nn import layer_errors
from tessella.nn.functional.recomposed import pull, slopes
from tessella.ops.creation import full, ones, zeros_like
from tessella.ops.elementwise import rsqrt, square
from tessella.ops.joining import concat
from tessella.ops.movement import reshape
from tessella.ops.reduce import mean as mean_of, sum


def _parts(flat: Tensor, shape: Sequence[int], n: int) -> list[Tensor]:
    """Give dx of a shape, and copies of two vectors of n behind it: dx alone has the memory."""
    size = flat.shape[0] - 2 * n
    vectors = [+flat[size : size + n], +flat[size + n :]]
    return [reshape(flat[:size], tuple(shape)), *vectors]


def _joined(*parts: Tensor) -> Tensor:
    return concat([reshape(part, (-1,)) for part in parts])


# --- rows ----------------------------------------------------------------------------------------


def _normal_rows(x: Tensor, weight: Any, bias: Any, eps: float, is_centred: bool) -> list[Any]:
    """Require a weight and a bias for each element of a row."""
    dtype = need_float("x", x)
    if x.ndim == 0:
        raise errors.wrong_value("x.ndim", 0, "at least 1: rows lie along the last axis")
    for name, vector in (("weight", weight), ("bias", bias)):
        if vector is not None and vector.shape != x.shape[-1:]:
            raise layer_errors.wrong_vector(name, vector.shape, x.shape[-1])
    return [settled(x, dtype), settled(weight, dtype), settled(bias, dtype)]


def _normal_rows_back(dout: Tensor, x: Tensor, weight: Any, **params: Any) -> list[Any]:
    x, weight, _ = _normal_rows(x, weight, None, **params)
    if dout.shape != x.shape:
        raise errors.wrong_value("dout.shape", dout.shape, f"that of x, {x.shape}")
    return [settled(dout, x.dtype), x, weight]


def norm_rows_composite(x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float,
                        is_centred: bool) -> Tensor:  # fmt: skip
    """Compose the normalised rows of their parts: the reference of the fused record."""
    x = x - mean_of(x, axis=-1, keepdims=True) if is_centred else x
    out = x * rsqrt(mean_of(square(x), axis=-1, keepdims=True) + eps)
    out = out if weight is None else out * weight
    return out if bias is None else out + bias


def _rows_pulled(g: Tensor, x: Tensor, weight: Any, eps: float, is_centred: bool,
                 shapes: Sequence[Any]) -> list[Any]:  # fmt: skip
    """Give the gradients of x, weight and bias."""
    flat = norm_rows_back(g, x, weight, eps, is_centred)
    if weight is not None:
        return _parts(flat, x.shape, x.shape[-1])
    rows = tuple(range(g.ndim - 1))
    bias = (sum(g, axis=rows) if rows else g) if shapes[2] else None
    return [reshape(flat, x.shape), None, bias]


def _rows_back_composite(dout: Tensor, x: Tensor, weight: Any, *params: Any) -> Tensor:
    if weight is None:
        return _joined(*slopes(norm_rows_composite(x, None, None, *params), [x], dout))
    bias = zeros_like(weight).requires_grad_()
    out = norm_rows_composite(x, weight, bias, *params)
    return _joined(*slopes(out, [x, weight, bias], dout))


def _rows_ref(np: Any, x: Any, weight: Any, bias: Any, eps: float, is_centred: bool) -> Any:
    x = x - x.mean(axis=-1, keepdims=True) if is_centred else x
    out = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)
    return out * (1 if weight is None else weight) + (0 if bias is None else bias)


def _rows_back_ref(np: Any, dout: Any, x: Any, weight: Any, eps: float, is_centred: bool) -> Any:
    x = x - x.mean(axis=-1, keepdims=True) if is_centred else x
    scale = 1 / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)
    y, g = x * scale, dout * (1 if weight is None else weight)
    level = g.mean(axis=-1, keepdims=True) if is_centred else 0
    parts = [scale * (g - level - y * (g * y).mean(axis=-1, keepdims=True))]
    rows = tuple(range(x.ndim - 1))
    parts += [] if weight is None else [(dout * y).sum(axis=rows), dout.sum(axis=rows)]
    return np.concatenate([part.reshape(-1) for part in parts])


_LAYER: dict[str, Any] = {"eps": 1e-3, "is_centred": True}
_RMS: dict[str, Any] = {"eps": 1e-3, "is_centred": False}
# Sums cancel: the error is of the size of the terms.
_ROWS: dict[str, Any] = {"domain": (-2, 2), "ulps": 64}

norm_rows: Function = Fused(
    "norm_rows", operands=("x", "weight", "bias"), optional=("weight", "bias"),
    params=tuple(_LAYER), normal=_normal_rows, **_ROWS,
    vjp=lambda g, x, weight, eps, is_centred, x_shapes: _rows_pulled(
        g, x, weight, eps, is_centred, x_shapes),
    doc="Rows divided by their root mean square, their mean first subtracted if asked.",
    ref=_rows_ref,
    samples=[case((3, 5), (5,), (5,), **_LAYER), case((3, 5), (5,), None, **_RMS),
             case((2, 3, 4), None, None, **_LAYER), case((2, 3, 4), None, None, **_RMS),
             case((6,), (6,), (6,), **_LAYER), case((3, 5), None, (5,), **_LAYER),
             case((70, 130), (130,), (130,), **_LAYER), case((0, 4), (4,), (4,), **_LAYER)],
    errors=[case((), None, None, **_LAYER, match="x.ndim is 0"),
            case((3, 5), (3,), None, **_LAYER, match=r"weight has shape \(3,\)"),
            case((3, 5), None, (1, 5), **_LAYER, match=r"bias has shape \(1, 5\)"),
            case((3, 5), None, None, **_LAYER, dtype="int64", match="not defined for int64")],
).function  # fmt: skip

norm_rows_back: Function = Fused(
    "norm_rows_back", operands=("dout", "x", "weight"), optional=("weight",),
    params=tuple(_LAYER), normal=_normal_rows_back, **_ROWS,
    vjp=lambda g, dout, x, weight, eps, is_centred, x_shapes: pull(
        lambda dout, x, weight: _rows_back_composite(dout, x, weight, eps, is_centred),
        g, dout, x, weight),
    doc="The gradients of norm_rows: those of x, weight and bias, one behind the other.",
    ref=_rows_back_ref,
    samples=[case((3, 5), (3, 5), (5,), **_LAYER), case((3, 5), (3, 5), (5,), **_RMS),
             case((2, 3, 4), (2, 3, 4), None, **_LAYER), case((6,), (6,), None, **_RMS),
             case((70, 33), (70, 33), (33,), **_LAYER)],
    errors=[case((5,), (3, 5), None, **_LAYER, match=r"dout.shape is \(5,\)"),
            case((3, 5), (3, 5), (3,), **_LAYER, match=r"weight has shape \(3,\)")],
).function  # fmt: skip


# --- channels ------------------------------------------------------------------------------------


def _normal_channels(x: Tensor) -> list[Any]:
    """Require (N, C, …) in a dtype that sums are computed in."""
    dtype = need_float("x", x)
    if dtype.itemsize < 4:
        raise errors.no_kernel(dtype, "convert x with astype(ts.float32)")
    if x.ndim < 2:
        raise errors.wrong_value("x.ndim", x.ndim, "at least 2: (N, C, …)")
    return [settled(x, dtype)]


def _normal_norm(x: Tensor, weight: Any, bias: Any, mean: Tensor, variance: Tensor, eps: float,
                 is_batch: bool) -> list[Any]:  # fmt: skip
    (x,) = _normal_channels(x)
    vectors = {"weight": weight, "bias": bias, "mean": mean, "variance": variance}
    for name, vector in vectors.items():
        if vector is not None and vector.shape != x.shape[1:2]:
            raise layer_errors.wrong_vector(name, vector.shape, x.shape[1])
    return [x, settled(weight, x.dtype), settled(bias, x.dtype)]


def _normal_norm_back(dout: Tensor, x: Tensor, weight: Any, **params: Any) -> list[Any]:
    x, weight, _ = _normal_norm(x, weight, None, **params)
    if dout.shape != x.shape:
        raise errors.wrong_value("dout.shape", dout.shape, f"that of x, {x.shape}")
    return [settled(dout, x.dtype), x, weight]


def along_channels(vector: Tensor, x: Tensor) -> Tensor:
    """Give one number for each channel the axes of x."""
    return reshape(vector, (-1, *(1,) * (x.ndim - 2)))


def channel_norm_composite(x: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor,
                           variance: Tensor, eps: float, is_batch: bool) -> Tensor:  # fmt: skip
    """Compose the normalised channels of their parts: the reference of the fused record."""
    if is_batch:
        others = tuple(i for i in range(x.ndim) if i != 1)
        mean = mean_of(x, axis=others)
        variance = mean_of(square(x - along_channels(mean, x)), axis=others)
    out = (x - along_channels(mean, x)) * along_channels(rsqrt(variance + eps), x)
    out = out if weight is None else out * along_channels(weight, x)
    return out if bias is None else out + along_channels(bias, x)


def _channels_back_composite(dout: Tensor, x: Tensor, weight: Any, *params: Any) -> Tensor:
    weight = ones(x.shape[1], dtype=x.dtype).requires_grad_() if weight is None else weight
    bias = zeros_like(weight.detach()).requires_grad_()
    out = channel_norm_composite(x, weight, bias, *params)
    return _joined(*slopes(out, [x, weight, bias], dout))


def _spread(np: Any, vector: Any, x: Any) -> Any:
    return np.reshape(np.asarray(vector, x.dtype), (-1, *(1,) * (x.ndim - 2)))


def _channels_ref(np: Any, x: Any, weight: Any, bias: Any, mean: Any, variance: Any, eps: float,
                  is_batch: bool) -> Any:  # fmt: skip
    y = (x - _spread(np, mean, x)) / np.sqrt(_spread(np, variance, x) + eps)
    y = y * (1 if weight is None else _spread(np, weight, x))
    return y + (0 if bias is None else _spread(np, bias, x))


def _channels_back_ref(np: Any, dout: Any, x: Any, weight: Any, mean: Any, variance: Any,
                       eps: float, is_batch: bool) -> Any:  # fmt: skip
    scale = 1 / np.sqrt(_spread(np, variance, x) + eps)
    y, g = (x - _spread(np, mean, x)) * scale, dout
    others = tuple(i for i in range(x.ndim) if i != 1)
    dx = g * scale * (1 if weight is None else _spread(np, weight, x))
    parts = [dx, (dout * y).sum(axis=others), dout.sum(axis=others)]
    return np.concatenate([part.reshape(-1) for part in parts])


_GIVEN: dict[str, Any] = {
    "mean": full((3,), 0.25),
    "variance": full((3,), 0.5),
    "eps": 1e-3,
    "is_batch": False,
}

channel_moments: Function = Fused(
    "channel_moments", operands=("x",), params=(), normal=_normal_channels, ulps=64,
    no_gradient="the gradient of channel_norm has its share",
    doc="Mean and variance of each channel of x, which is (N, C, …): two rows.",
    ref=lambda np, x: np.stack([f(x, axis=tuple(i for i in range(x.ndim) if i != 1))
                                for f in (np.mean, np.var)]),
    samples=[case((4, 3)), case((4, 3, 5)), case((2, 3, 4, 5)), case((300, 3)), case((5, 3, 70))],
    errors=[case((3,), match="x.ndim is 1"), case((2, 3), dtype="float16", match="not defined"),
            case((2, 3), dtype="int32", match="not defined for int32")],
).function  # fmt: skip

channel_norm: Function = Fused(
    "channel_norm", operands=("x", "weight", "bias"), optional=("weight", "bias"),
    params=tuple(_GIVEN), normal=_normal_norm, ulps=64,
    vjp=lambda g, x, weight, mean, variance, eps, is_batch, x_shapes: _parts(
        channel_norm_back(g, x, weight, mean, variance, eps, is_batch), x.shape, x.shape[1]),
    doc="Channels with a mean subtracted, divided by the root of a variance. is_batch says that "
        "these are the moments of x itself, through which gradients flow.",
    ref=_channels_ref,
    samples=[case((4, 3), (3,), (3,), **_GIVEN), case((4, 3, 5), (3,), None, **_GIVEN),
             case((2, 3, 4, 5), None, None, **_GIVEN), case((70, 3, 2), None, (3,), **_GIVEN)],
    errors=[case((3,), None, None, **_GIVEN, match="x.ndim is 1"),
            case((4, 3), (4,), None, **_GIVEN, match=r"weight has shape \(4,\)"),
            case((4, 2), None, None, **_GIVEN, match=r"mean has shape \(3,\)")],
).function  # fmt: skip

channel_norm_back: Function = Fused(
    "channel_norm_back", operands=("dout", "x", "weight"), optional=("weight",),
    params=tuple(_GIVEN), normal=_normal_norm_back, ulps=64,
    vjp=lambda g, dout, x, weight, mean, variance, eps, is_batch, x_shapes: pull(
        lambda *operands: _channels_back_composite(*operands, mean, variance, eps, is_batch),
        g, dout, x, weight),
    doc="The gradients of channel_norm: those of x, weight and bias, one behind the other.",
    ref=_channels_back_ref,
    samples=[case((4, 3), (4, 3), (3,), **_GIVEN), case((4, 3, 5), (4, 3, 5), None, **_GIVEN),
             case((70, 3), (70, 3), (3,), **_GIVEN)],
    errors=[case((3,), (4, 3), None, **_GIVEN, match=r"dout.shape is \(3,\)"),
            case((4, 3), (4, 3), (1,), **_GIVEN, match=r"weight has shape \(1,\)")],
).function  # fmt: skip

del _GIVEN  # tensors of samples alone
