"""Normalisation: layers, root mean squares, groups, batches, instances, and vectors.

Halves are computed in float32, and the result is rounded once.
"""

from __future__ import annotations

import math

from tessella import _core, errors
from tessella._core import Tensor
from tessella.composites import Shape, composite
from tessella.declarations import case
from tessella.fusions import need_float
from tessella.hints import Any, Sequence
from tessella.kinds import cast
from tessella.modes import no_grad
from tessella.nn import layer_errors
from tessella.nn.functional.norm_records import (
    along_channels,
    channel_moments,
    channel_norm,
    norm_rows,
)
from tessella.nn.functional.reductions import widened
from tessella.ops.creation import full, ones_like
from tessella.ops.elementwise import maximum
from tessella.ops.movement import normal_axes, reshape
from tessella.ops.norms import vector_norm
from tessella.ops.reduce import mean as mean_of
from tessella.ops.types import finfo

_RUNNING: dict[str, Any] = {"running_mean": full((3,), 0.25), "running_var": full((3,), 0.5)}
_GRID = full((3, 4), 1.5)  # weights of two axes
_NORM: dict[str, Any] = {"home": "nn.functional", "is_method": False, "ulps": 64}


# --- rows ----------------------------------------------------------------------------------------


def _rows(x: Tensor, shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float,
          is_centred: bool) -> Tensor:  # fmt: skip
    """Normalise over the last axes, which must have this shape."""
    count = len(shape)
    if count == 0 or x.shape[-count:] != shape:
        raise layer_errors.normalized_shape(x.shape, shape)
    if count == 1:
        return norm_rows(x, weight, bias, eps, is_centred)
    for name, vector in (("weight", weight), ("bias", bias)):
        if vector is not None and vector.shape != shape:
            raise layer_errors.vector_shape(name, vector.shape, shape)
    flat = [None if each is None else reshape(each, (-1,)) for each in (weight, bias)]
    rows = reshape(x, (*x.shape[:-count], math.prod(shape)))
    return reshape(norm_rows(rows, *flat, eps, is_centred), x.shape)


def _rows_ref(np: Any, x: Any, shape: Any, weight: Any, bias: Any, eps: float,
              is_centred: bool) -> Any:  # fmt: skip
    axes = tuple(range(-np.size(shape), 0))
    x = x - x.mean(axis=axes, keepdims=True) if is_centred else x
    out = x / np.sqrt((x * x).mean(axis=axes, keepdims=True) + eps)
    return out * (1 if weight is None else weight) + (0 if bias is None else bias)


@composite(
    **_NORM, ref=lambda np, x, normalized_shape, weight=None, bias=None, eps=1e-5: _rows_ref(
        np, x, normalized_shape, weight, bias, eps, True),
    samples=[case((3, 5), 5), case((3, 5), 5, (5,), (5,)),
             case((2, 3, 4), normalized_shape=(3, 4), weight=_GRID, bias=_GRID, eps=0.1),
             case((2, 3, 4), normalized_shape=(3, 4)), case((0, 5), 5, (5,), (5,))],
    errors=[case((3, 5), 4, match=r"x has shape \(3, 5\), and \(4,\) is normalised"),
            case((3, 5), normalized_shape=(), match=r"and \(\) is normalised"),
            case((3, 5), 5, (3,), match=r"weight has shape \(3,\)"),
            case((2, 3, 4), normalized_shape=(3, 4), weight=_GRID[0],
                 match=r"weight has shape \(4,\)"),
            case((3, 5), 5, dtype="int64", match="not defined for int64")],
)  # fmt: skip
def layer_norm(x: Tensor, normalized_shape: Shape, weight: Tensor | None = None,
               bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:  # fmt: skip
    """Give (x - mean) / sqrt(variance + eps) * weight + bias, over the last axes.

    >>> ts.nn.functional.layer_norm(ts.tensor([1.0, 3.0]), 2, eps=0.0).tolist()
    [-1.0, 1.0]
    """
    return _rows(x, normalized_shape, weight, bias, eps, True)


@composite(
    **_NORM, domain=(0.2, 3),
    ref=lambda np, x, normalized_shape, weight=None, eps=1e-3: _rows_ref(
        np, x, normalized_shape, weight, None, eps, False),
    samples=[case((3, 5), 5, None, 1e-3), case((3, 5), 5, (5,), 0.5),
             case((2, 3, 4), normalized_shape=(3, 4), weight=_GRID, eps=1e-3)],
    errors=[case((3, 5), 4, match=r"x has shape \(3, 5\), and \(4,\) is normalised"),
            case((3, 5), 5, (3,), match=r"weight has shape \(3,\)")],
)  # fmt: skip
def rms_norm(x: Tensor, normalized_shape: Shape, weight: Tensor | None = None,
             eps: float | None = None) -> Tensor:  # fmt: skip
    """Give x / sqrt(mean(x ** 2) + eps) * weight, over the last axes.

    eps is by default the distance from 1 to the next number of x's dtype.

    >>> ts.nn.functional.rms_norm(ts.tensor([3.0, -3.0]), 2, eps=0.0).tolist()
    [1.0, -1.0]
    """
    if eps is None:
        eps = finfo(need_float("x", x)).eps
    return _rows(x, normalized_shape, weight, None, eps, False)


def _affine(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Multiply channels by their weights, and add their biases."""
    for name, vector in (("weight", weight), ("bias", bias)):
        if vector is not None and vector.shape != x.shape[1:2]:
            raise layer_errors.wrong_vector(name, vector.shape, x.shape[1])
    x = x if weight is None else x * along_channels(weight, x)
    return x if bias is None else x + along_channels(bias, x)


def _group_ref(np: Any, x: Any, num_groups: int, weight: Any = None, bias: Any = None,
               eps: float = 1e-5) -> Any:  # fmt: skip
    rows = x.reshape(len(x), num_groups, -1)
    out = _rows_ref(np, rows, 1, None, None, eps, True).reshape(x.shape)
    ends = (1,) * (x.ndim - 2)
    out = out * (1 if weight is None else weight.reshape(-1, *ends))
    return out + (0 if bias is None else bias.reshape(-1, *ends))


@composite(
    **_NORM, ref=_group_ref,
    samples=[case((3, 4), 2, eps=0.1), case((2, 6, 5), 3, (6,), (6,)), case((2, 4, 3, 2), 4, (4,)),
             case((2, 4, 3), 1)],
    errors=[case((3, 4), 3, match="num_groups is 3"), case((4,), 2, match="x.ndim is 1"),
            case((3, 4), 0, match="num_groups is 0"),
            case((3, 4, 2), 2, (2,), match=r"weight has shape \(2,\)")],
)  # fmt: skip
def group_norm(x: Tensor, num_groups: int, weight: Tensor | None = None,
               bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:  # fmt: skip
    """Normalise x, which is (N, C, …), over groups of channels; weight and bias are (C,).

    >>> ts.nn.functional.group_norm(ts.tensor([[1.0, 3.0]]), 1, eps=0.0).tolist()
    [[-1.0, 1.0]]
    """
    if x.ndim < 2:
        raise errors.wrong_value("x.ndim", x.ndim, "at least 2: (N, C, …)")
    if num_groups < 1 or x.shape[1] % num_groups:
        rule = f"a number that divides the {x.shape[1]} channels of x"
        raise errors.wrong_value("num_groups", num_groups, rule)
    dtype = need_float("x", x)
    wide, weight, bias = widened(x, weight, bias)
    size = math.prod(x.shape[1:]) // num_groups
    rows = norm_rows(reshape(wide, (x.shape[0], num_groups, size)), None, None, eps, True)
    return cast(_affine(reshape(rows, x.shape), weight, bias), dtype)


# --- batches -------------------------------------------------------------------------------------


def update_statistics(running_mean: Tensor, running_var: Tensor, mean: Tensor, var: Tensor,
                      momentum: Any) -> None:  # fmt: skip
    """Move running statistics towards those of a batch, in place; momentum may be a 0-d tensor."""
    with no_grad():
        for running, new in ((running_mean, mean), (running_var, var)):
            running.mul_(1 - momentum).add_(cast(new, running.dtype) * momentum)


def normalise_batch(x: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
                    weight: Tensor | None, bias: Tensor | None, is_batch: bool, momentum: Any,
                    eps: float) -> Tensor:  # fmt: skip
    """Give batch norm; the momentum may be a 0-d tensor."""
    dtype = need_float("x", x)
    if x.ndim < 2:
        raise errors.wrong_value("x.ndim", x.ndim, "at least 2: (N, C, …)")
    for name, vector in (("running_mean", running_mean), ("running_var", running_var)):
        if vector is not None and vector.shape != x.shape[1:2]:
            raise layer_errors.other_channels(name, vector.shape, x.shape[1])
        if vector is None and not is_batch:
            raise layer_errors.no_statistics(name)
    if dtype.itemsize < 4:
        (x,) = widened(x)
    mean, var = running_mean, running_var
    if is_batch:
        moments = channel_moments(x.detach())
        count = x.size // x.shape[1] if x.shape[1] else 0
        if count == 0:  # any numbers: those of nothing are NaN, and would reach the weight
            moments = ones_like(moments)
        mean, var = moments[0], moments[1]
        if count == 1:
            raise layer_errors.one_value(x.shape)
        if running_mean is not None and running_var is not None and count:
            update_statistics(
                running_mean, running_var, mean, var * (count / (count - 1)), momentum
            )
    elif _core.needs_node(mean, var):
        raise layer_errors.trained_statistics()
    return cast(channel_norm(x, weight, bias, mean, var, eps, is_batch), dtype)


def _batch_ref(np: Any, x: Any, running_mean: Any, running_var: Any, weight: Any = None,
               bias: Any = None, training: bool = False, momentum: float = 0.1,
               eps: float = 1e-5) -> Any:  # fmt: skip
    others, ends = tuple(i for i in range(x.ndim) if i != 1), (-1, *(1,) * (x.ndim - 2))
    mean = x.mean(axis=others) if training else running_mean
    var = x.var(axis=others) if training else np.asarray(running_var, x.dtype)
    out = (x - mean.reshape(ends)) / np.sqrt(var.reshape(ends) + eps)
    out = out * (1 if weight is None else weight.reshape(ends))
    return out + (0 if bias is None else bias.reshape(ends))


@composite(
    **_NORM, ref=_batch_ref, domain=(0.2, 3),
    samples=[case((4, 3), None, None, (3,), (3,), True, eps=0.1),
             case((4, 3, 5), None, None, (3,), None, True), case((4, 3), **_RUNNING),
             case((2, 3, 4, 5), None, None, None, None, True),
             case((2, 3, 4, 5), **_RUNNING)],
    errors=[case((3,), None, None, None, None, True, match="x.ndim is 1"),
            case((4, 3), None, None, match="running_mean is None, and not training uses it"),
            case((1, 3), None, None, None, None, True, match=r"x has shape \(1, 3\): one value"),
            case((4, 3), (2,), (3,), match=r"running_mean has shape \(2,\)"),
            case((4, 3), None, None, (2,), None, True, match=r"weight has shape \(2,\)")],
)  # fmt: skip
def batch_norm(x: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
               weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False,
               momentum: float = 0.1, eps: float = 1e-5) -> Tensor:  # fmt: skip
    """Normalise the channels of x, which is (N, C, …), by the statistics of the batch.

    Without training the running statistics are used. Training moves them, in place, by momentum
    towards those of the batch: its mean, and its variance divided by n - 1.

    >>> x = ts.tensor([[1.0], [3.0]])
    >>> ts.nn.functional.batch_norm(x, None, None, training=True, eps=0.0).tolist()
    [[-1.0], [1.0]]
    """
    return normalise_batch(x, running_mean, running_var, weight, bias, training, momentum, eps)


def _instance_ref(np: Any, x: Any, running_mean: Any = None, running_var: Any = None,
                  weight: Any = None, bias: Any = None, use_input_stats: bool = True,
                  momentum: float = 0.1, eps: float = 1e-5) -> Any:  # fmt: skip
    if use_input_stats:
        return _group_ref(np, x, x.shape[1], weight, bias, eps)
    return _batch_ref(np, x, running_mean, running_var, weight, bias, False, momentum, eps)


@composite(
    **_NORM, ref=_instance_ref, domain=(0.2, 3),
    samples=[case((2, 3, 4)), case((2, 3, 4, 5), None, None, (3,), (3,)),
             case((2, 3, 4), **_RUNNING, use_input_stats=False)],
    errors=[case((3, 4), match="x.ndim is 2"), case((2, 3, 1), match=r"x has shape \(2, 3, 1\)"),
            case((2, 3, 4), use_input_stats=False, match="running_mean is None"),
            case((2, 3, 4), None, None, (2,), match=r"weight has shape \(2,\)")],
)  # fmt: skip
def instance_norm(x: Tensor, running_mean: Tensor | None = None,
                  running_var: Tensor | None = None, weight: Tensor | None = None,
                  bias: Tensor | None = None, use_input_stats: bool = True,
                  momentum: float = 0.1, eps: float = 1e-5) -> Tensor:  # fmt: skip
    """Normalise each channel of each element of a batch; x is (N, C, …).

    >>> ts.nn.functional.instance_norm(ts.tensor([[[1.0, 3.0]]]), eps=0.0).tolist()
    [[[-1.0, 1.0]]]
    """
    if x.ndim < 3:
        raise errors.wrong_value("x.ndim", x.ndim, "at least 3: (N, C, …)")
    if not use_input_stats:
        return normalise_batch(x, running_mean, running_var, weight, bias, False, momentum, eps)
    dtype, size = need_float("x", x), math.prod(x.shape[2:])
    if size == 1:
        raise layer_errors.one_value(x.shape)
    wide, weight, bias = widened(x, weight, bias)
    if running_mean is not None and running_var is not None and x.size:
        _update_instances(wide.detach(), running_mean, running_var, momentum)
    rows = norm_rows(reshape(wide, (*x.shape[:2], size)), None, None, eps, True)
    return cast(_affine(reshape(rows, x.shape), weight, bias), dtype)


def _update_instances(x: Tensor, running_mean: Tensor, running_var: Tensor,
                      momentum: float) -> None:  # fmt: skip
    """Move running statistics towards the mean of those of the elements of a batch."""
    n, channels = x.shape[:2]
    size = x.size // (n * channels)
    moments = channel_moments(reshape(x, (1, n * channels, size)))
    mean, var = (mean_of(reshape(part, (n, channels)), axis=0) for part in (moments[0], moments[1]))
    update_statistics(running_mean, running_var, mean, var * (size / (size - 1)), momentum)


# --- vectors -------------------------------------------------------------------------------------


def _normalize_ref(np: Any, x: Any, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Any:
    return x / np.maximum((np.abs(x) ** p).sum(axis=axis, keepdims=True) ** (1 / p), eps)


@composite(
    home="nn.functional", is_method=False, ref=_normalize_ref, domain=(0.2, 3),
    samples=[case((3, 4)), case((3, 4), 1.0, 0), case((5,), axis=0, eps=9.0)],
    errors=[case((3,), match="axis 1 is out of range"),
            case((3, 4), dtype="int64", match="not defined for int64")],
)  # fmt: skip
def normalize(x: Tensor, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Tensor:
    """Divide vectors along an axis by their p-norms, which are at least eps.

    >>> ts.nn.functional.normalize(ts.tensor([[6.0, -8.0]]), p=1.0, eps=16.0).tolist()
    [[0.375, -0.5]]
    """
    dtype = need_float("x", x)
    (wide,) = widened(x)
    size = vector_norm(wide, normal_axes(wide, axis), p, True)
    return cast(wide / maximum(size, eps), dtype)


del _RUNNING, _GRID  # tensors of samples alone
