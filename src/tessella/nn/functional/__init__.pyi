"""Written by tools/generate.py from the table of operations; change that, not this."""

from builtins import bool as _bool, float as _float, int as _int, str as _str
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias, overload

from tessella._core import Tensor
from tessella.allocators import Allocator
from tessella.hints import (
    DTypeLike as _DTypeLike,
    Ints as _Ints,
    Number as _Number,
    Operand as _Operand,
)
from tessella.ops.random import Generator

_Axes: TypeAlias = _Ints | None

def adaptive_avg_pool1d(
    x: Tensor,
    output_size: _Ints | Sequence[_int | None] | None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the means of output_size windows that share the axis evenly."""

def adaptive_avg_pool2d(
    x: Tensor,
    output_size: _Ints | Sequence[_int | None] | None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the means of windows that share both axes evenly; None keeps the size of an axis."""

@overload
def adaptive_max_pool1d(
    x: Tensor,
    output_size: _Ints | Sequence[_int | None] | None,
    return_indices: Literal[False] = False,
) -> Tensor:
    """Give the largest elements of output_size windows that share the axis evenly."""

@overload
def adaptive_max_pool1d(
    x: Tensor, output_size: _Ints | Sequence[_int | None] | None, return_indices: Literal[True]
) -> tuple[Tensor, Tensor]:
    """Give the largest elements of output_size windows that share the axis evenly."""

@overload
def adaptive_max_pool1d(
    x: Tensor, output_size: _Ints | Sequence[_int | None] | None, return_indices: _bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """Give the largest elements of output_size windows that share the axis evenly."""

@overload
def adaptive_max_pool2d(
    x: Tensor,
    output_size: _Ints | Sequence[_int | None] | None,
    return_indices: Literal[False] = False,
) -> Tensor:
    """Give the largest elements of windows that share both axes evenly."""

@overload
def adaptive_max_pool2d(
    x: Tensor, output_size: _Ints | Sequence[_int | None] | None, return_indices: Literal[True]
) -> tuple[Tensor, Tensor]:
    """Give the largest elements of windows that share both axes evenly."""

@overload
def adaptive_max_pool2d(
    x: Tensor, output_size: _Ints | Sequence[_int | None] | None, return_indices: _bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """Give the largest elements of windows that share both axes evenly."""

def alpha_dropout(
    x: Tensor,
    p: _float = 0.5,
    training: _bool = False,
    inplace: _bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Drop to SELU's lowest value, and keep mean 0 and variance 1: after SELU."""

def avg_pool1d(
    x: Tensor,
    kernel_size: _Ints,
    stride: _Ints | None = None,
    padding: _Ints = 0,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the mean of each window; zeros of the padding count, unless told otherwise."""

def avg_pool2d(
    x: Tensor,
    kernel_size: _Ints,
    stride: _Ints | None = None,
    padding: _Ints = 0,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
    divisor_override: _int | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the mean of each window, or its sum divided by divisor_override."""

def batch_norm(
    x: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: _bool = False,
    momentum: _float = 0.1,
    eps: _float = 1e-05,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Normalise the channels of x, which is (N, C, …), by the statistics of the batch."""

def bilinear(
    x: Tensor,
    y: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the sums of x[i] * weight[k, i, j] * y[j] over i and j, plus bias[k], for each k."""

def binary_cross_entropy(
    pred: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: Literal["none", "mean", "sum"] = "mean",
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the cross entropy of probabilities; their logarithms end at -100."""

def binary_cross_entropy_with_logits(
    pred: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: Literal["none", "mean", "sum"] = "mean",
    pos_weight: Tensor | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the cross entropy of sigmoid(pred), without overflow."""

def celu(
    x: Tensor,
    alpha: _float = 1.0,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give x where x > 0, else alpha * (e ** (x / alpha) - 1)."""

def conv1d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _Ints = 1,
    padding: _int | Sequence[_int] | _str = 0,
    dilation: _Ints = 1,
    groups: _int = 1,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Correlate x (n, in, length) with weight (out, in / groups, window), plus bias."""

def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _Ints = 1,
    padding: _int | Sequence[_int] | _str = 0,
    dilation: _Ints = 1,
    groups: _int = 1,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Correlate x (n, in, height, width) with weight (out, in / groups, rows, columns), plus bias."""

def conv_transpose1d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _Ints = 1,
    padding: _Ints = 0,
    output_padding: _Ints = 0,
    groups: _int = 1,
    dilation: _Ints = 1,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Apply the adjoint of conv1d to x (n, in, length); weight is (in, out / groups, window)."""

def conv_transpose2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _Ints = 1,
    padding: _Ints = 0,
    output_padding: _Ints = 0,
    groups: _int = 1,
    dilation: _Ints = 1,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Apply the adjoint of conv2d to x; weight is (in, out / groups, rows, columns)."""

def cosine_embedding_loss(
    x1: Tensor,
    x2: Tensor,
    target: Tensor,
    margin: _float = 0.0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: Literal["none", "mean", "sum"] = "mean",
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give 1 - cos of the angle between vectors where target is 1, max(0, cos - margin) at -1."""

@overload
def cosine_similarity(
    x1: Tensor,
    x2: Tensor,
    axis: _int = 1,
    eps: _float = 1e-08,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the cosine of the angle between vectors along an axis; lengths are at least eps."""

@overload
def cosine_similarity(
    x1: Tensor,
    x2: Tensor,
    dim: _int = 1,
    eps: _float = 1e-08,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the cosine of the angle between vectors along an axis; lengths are at least eps."""

def cross_entropy(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: _bool | None = None,
    ignore_index: _int = -100,
    reduce: _bool | None = None,
    reduction: Literal["none", "mean", "sum"] = "mean",
    label_smoothing: _float = 0.0,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the cross entropy of softmax(x)."""

def dequantize(
    blocks: Tensor,
    format: _str,
    dtype: _DTypeLike = ...,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the numbers that blocks stand for."""

def dropout(
    x: Tensor,
    p: _float = 0.5,
    training: _bool = True,
    inplace: _bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Set a share p of the numbers to 0 and divide the others by 1 - p, in training."""

def dropout1d(
    x: Tensor,
    p: _float = 0.5,
    training: _bool = True,
    inplace: _bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Drop whole channels of (N, C, L) or (C, L)."""

def dropout2d(
    x: Tensor,
    p: _float = 0.5,
    training: _bool = True,
    inplace: _bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Drop whole channels of (N, C, H, W) or (C, H, W)."""

def elu(
    x: Tensor | _Number,
    alpha: Tensor | _Number = 1.0,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x where x > 0, else alpha * (e ** x - 1)."""

def embedding(
    x: Tensor,
    weight: Tensor,
    padding_idx: _int | None = None,
    max_norm: _float | None = None,
    norm_type: _float = 2.0,
    scale_grad_by_freq: _bool = False,
    sparse: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the rows of weight at the integers of x."""

def fold(
    x: Tensor,
    output_size: _Ints,
    kernel_size: _Ints,
    dilation: _Ints = 1,
    padding: _Ints = 0,
    stride: _Ints = 1,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Add columns up where they came from: the adjoint of unfold."""

def gaussian_nll_loss(
    pred: Tensor,
    target: Tensor,
    var: _Operand,
    full: _bool = False,
    eps: _float = 1e-06,
    reduction: Literal["none", "mean", "sum"] = "mean",
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the negative log likelihood of normal distributions of means pred and variances var."""

def gelu(
    x: Tensor,
    *,
    approximate: _str = "none",
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x times the normal distribution function at x; approximate='tanh' is the faster formula."""

@overload
def glu(
    x: Tensor, axis: _int = -1, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give the first half of an axis times the sigmoid of the second."""

@overload
def glu(
    x: Tensor, dim: _int = -1, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give the first half of an axis times the sigmoid of the second."""

def group_norm(
    x: Tensor,
    num_groups: _int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: _float = 1e-05,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Normalise x, which is (N, C, …), over groups of channels; weight and bias are (C,)."""

def hardshrink(
    x: Tensor, lambd: _float = 0.5, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give x, and 0 where |x| <= lambd."""

def hardsigmoid(
    x: Tensor,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give x / 6 + 1 / 2 limited to [0, 1]."""

def hardswish(
    x: Tensor,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give x * hardsigmoid(x)."""

def hardtanh(
    x: Tensor,
    min: _float = -1.0,
    max: _float = 1.0,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Limit x to [min, max]."""

def hinge_embedding_loss(
    pred: Tensor,
    target: Tensor,
    margin: _float = 1.0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: Literal["none", "mean", "sum"] = "mean",
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give pred where the target is 1, and max(0, margin - pred) where it is -1."""

def huber_loss(
    pred: Tensor,
    target: Tensor,
    reduction: Literal["none", "mean", "sum"] = "mean",
    delta: _float = 1.0,
    weight: Tensor | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give d ** 2 / 2 for differences d up to delta, and delta * (|d| - delta / 2) for others."""

def instance_norm(
    x: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: _bool = True,
    momentum: _float = 0.1,
    eps: _float = 1e-05,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Normalise each channel of each element of a batch; x is (N, C, …)."""

def interpolate(
    x: Tensor,
    size: _Ints | None = None,
    scale_factor: _float | Sequence[_float] | None = None,
    mode: Literal["nearest", "nearest-exact", "linear", "bilinear", "trilinear"] = "nearest",
    align_corners: _bool | None = None,
    recompute_scale_factor: _bool | None = None,
    antialias: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give images (n, channels, …) another size, or one that is `scale_factor` times as large."""

def kl_div(
    pred: Tensor,
    target: Tensor,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: Literal["none", "mean", "sum", "batchmean"] = "mean",
    log_target: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give target * (log(target) - pred), where pred holds logarithms of probabilities."""

def l1_loss(
    pred: Tensor,
    target: Tensor,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: Literal["none", "mean", "sum"] = "mean",
    weight: Tensor | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the sizes of differences. With weights the mean is weighted by them."""

def l1_penalty(
    parameters: Tensor | Iterable[Tensor],
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the sum of the sizes of all elements, to be added to a loss."""

def l2_penalty(
    parameters: Tensor | Iterable[Tensor],
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the sum of the squares of all elements, to be added to a loss."""

def layer_norm(
    x: Tensor,
    normalized_shape: _Ints,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: _float = 1e-05,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give (x - mean) / sqrt(variance + eps) * weight + bias, over the last axes."""

def leaky_relu(
    x: Tensor | _Number,
    negative_slope: Tensor | _Number = 0.01,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x where x > 0, else negative_slope * x."""

def linear(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x @ weight.T + bias; weight is (out, in), or (in) for one number of each line."""

def log_sigmoid(
    x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give log(sigmoid(x)) without overflow."""

@overload
def log_softmax(
    x: Tensor,
    axis: _int | Sequence[_int] | None = -1,
    dtype: _DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The logarithm of softmax, without overflow; given a dtype, x is converted first."""

@overload
def log_softmax(
    x: Tensor,
    *,
    dim: _int | Sequence[_int] | None = -1,
    dtype: _DTypeLike | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The logarithm of softmax, without overflow; given a dtype, x is converted first."""

def logsigmoid(
    x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give log(sigmoid(x)) without overflow."""

def lp_pool1d(
    x: Tensor,
    norm_type: _float,
    kernel_size: _Ints,
    stride: _Ints | None = None,
    ceil_mode: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give (sum of x ** p) ** (1 / p) of each window, where p is norm_type."""

def lp_pool2d(
    x: Tensor,
    norm_type: _float,
    kernel_size: _Ints,
    stride: _Ints | None = None,
    ceil_mode: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give (sum of x ** p) ** (1 / p) of each window, where p is norm_type."""

def margin_ranking_loss(
    x1: Tensor,
    x2: Tensor,
    target: Tensor,
    margin: _float = 0.0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: Literal["none", "mean", "sum"] = "mean",
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give max(0, -target * (x1 - x2) + margin): x1 is to be the greater where target is 1."""

@overload
def max_pool1d(
    x: Tensor,
    kernel_size: _Ints,
    stride: _Ints | None = None,
    padding: _Ints = 0,
    dilation: _Ints = 1,
    ceil_mode: _bool = False,
    return_indices: Literal[False] = False,
) -> Tensor:
    """Give the largest element of each window; with return_indices also where it is."""

@overload
def max_pool1d(
    x: Tensor,
    kernel_size: _Ints,
    stride: _Ints | None = None,
    padding: _Ints = 0,
    dilation: _Ints = 1,
    ceil_mode: _bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]:
    """Give the largest element of each window; with return_indices also where it is."""

@overload
def max_pool1d(
    x: Tensor,
    kernel_size: _Ints,
    stride: _Ints | None = None,
    padding: _Ints = 0,
    dilation: _Ints = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Give the largest element of each window; with return_indices also where it is."""

@overload
def max_pool2d(
    x: Tensor,
    kernel_size: _Ints,
    stride: _Ints | None = None,
    padding: _Ints = 0,
    dilation: _Ints = 1,
    ceil_mode: _bool = False,
    return_indices: Literal[False] = False,
) -> Tensor:
    """Give the largest element of each window; with return_indices also its place in the plane."""

@overload
def max_pool2d(
    x: Tensor,
    kernel_size: _Ints,
    stride: _Ints | None = None,
    padding: _Ints = 0,
    dilation: _Ints = 1,
    ceil_mode: _bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]:
    """Give the largest element of each window; with return_indices also its place in the plane."""

@overload
def max_pool2d(
    x: Tensor,
    kernel_size: _Ints,
    stride: _Ints | None = None,
    padding: _Ints = 0,
    dilation: _Ints = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Give the largest element of each window; with return_indices also its place in the plane."""

def mish(
    x: Tensor,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x * tanh(log(1 + e ** x))."""

def mse_loss(
    pred: Tensor,
    target: Tensor,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: Literal["none", "mean", "sum"] = "mean",
    weight: Tensor | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the squares of differences. With weights the mean is weighted by them."""

def multi_margin_loss(
    x: Tensor,
    target: Tensor,
    p: _int = 1,
    margin: _float = 1.0,
    weight: Tensor | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: Literal["none", "mean", "sum"] = "mean",
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the hinge of several classes: the mean of max(0, margin - x[target] + x[i]) ** p."""

def nll_loss(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: _bool | None = None,
    ignore_index: _int = -100,
    reduce: _bool | None = None,
    reduction: Literal["none", "mean", "sum"] = "mean",
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the negative of x, logarithms of probabilities, at the class of each line."""

@overload
def normalize(
    x: Tensor,
    p: _float = 2.0,
    axis: _int = 1,
    eps: _float = 1e-12,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Divide vectors along an axis by their p-norms, which are at least eps."""

@overload
def normalize(
    x: Tensor,
    p: _float = 2.0,
    dim: _int = 1,
    eps: _float = 1e-12,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Divide vectors along an axis by their p-norms, which are at least eps."""

def one_hot(
    x: Tensor,
    num_classes: _int = -1,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give a row of zeros with a one at its place for each integer; -1: as many as are needed."""

def pad(
    x: Tensor,
    pad: _Ints,
    mode: Literal["constant", "reflect", "replicate", "circular"] = "constant",
    value: _Number | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Put a border around a tensor."""

@overload
def pairwise_distance(
    x1: Tensor,
    x2: Tensor,
    p: _float = 2.0,
    eps: _float = 1e-06,
    keepdims: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the p-norm of x1 - x2 + eps along the last axis."""

@overload
def pairwise_distance(
    x1: Tensor,
    x2: Tensor,
    p: _float = 2.0,
    eps: _float = 1e-06,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the p-norm of x1 - x2 + eps along the last axis."""

def pixel_shuffle(
    x: Tensor,
    upscale_factor: _int,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Make images (…, channels * r², height, width) r times as high and wide, of fewer channels."""

def poisson_nll_loss(
    pred: Tensor,
    target: Tensor,
    log_input: _bool = True,
    full: _bool = False,
    size_average: _bool | None = None,
    eps: _float = 1e-08,
    reduce: _bool | None = None,
    reduction: Literal["none", "mean", "sum"] = "mean",
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the negative log likelihood of counts; pred is the logarithm of their mean, or the mean."""

def prelu(
    x: Tensor, weight: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give x where x > 0, else weight * x, with one weight or one for each size of axis 1."""

def quantize(
    x: Tensor, format: _str, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give x as blocks of a format, "q8_0" or "q4_0": uint8, a row of blocks for each of x."""

def quantized_embedding(
    indices: Tensor,
    blocks: Tensor,
    *,
    format: _str,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the rows of blocks at integers, as float32."""

def quantized_linear(
    x: Tensor,
    blocks: Tensor,
    bias: Tensor | None = None,
    *,
    format: _str,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give x @ w.T + bias, where the rows of w are blocks of a format."""

def relu(
    x: Tensor,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """0 where x < 0, else x."""

def relu6(
    x: Tensor,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Limit x to [0, 6]."""

def rms_norm(
    x: Tensor,
    normalized_shape: _Ints,
    weight: Tensor | None = None,
    eps: _float | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give x / sqrt(mean(x ** 2) + eps) * weight, over the last axes."""

def rotary(
    x: Tensor,
    cos: Tensor,
    sin: Tensor,
    *,
    interleaved: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Turn pairs of features (a, b) to (a cos - b sin, b cos + a sin)."""

def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: _float = 0.0,
    is_causal: _bool = False,
    *,
    scale: _float | None = None,
    enable_gqa: _bool = False,
    lengths: Tensor | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give softmax(query @ key.T * scale + mask) @ value over the last two axes."""

def selu(
    x: Tensor,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give a scaled elu, whose results tend to mean 0 and variance 1."""

def sigmoid(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """1 / (1 + e ** -x)."""

def silu(
    x: Tensor,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x * sigmoid(x)."""

def smooth_l1_loss(
    pred: Tensor,
    target: Tensor,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: Literal["none", "mean", "sum"] = "mean",
    beta: _float = 1.0,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give d ** 2 / (2 beta) for differences d below beta, and |d| - beta / 2 for others."""

def soft_margin_loss(
    pred: Tensor,
    target: Tensor,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: Literal["none", "mean", "sum"] = "mean",
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give log(1 + e ** (-target * pred)), for targets 1 and -1."""

@overload
def softmax(
    x: Tensor,
    axis: _int | Sequence[_int] | None = -1,
    dtype: _DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """e ** x, divided by its sum along an axis; given a dtype, x is converted first."""

@overload
def softmax(
    x: Tensor,
    *,
    dim: _int | Sequence[_int] | None = -1,
    dtype: _DTypeLike | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """e ** x, divided by its sum along an axis; given a dtype, x is converted first."""

@overload
def softmin(
    x: Tensor, axis: _int, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give softmax(-x) along an axis."""

@overload
def softmin(
    x: Tensor, dim: _int, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give softmax(-x) along an axis."""

def softplus(
    x: Tensor,
    beta: _float = 1.0,
    threshold: _float = 20.0,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give log(1 + e ** (beta * x)) / beta, and x where beta * x is over the threshold."""

def softshrink(
    x: Tensor, lambd: _float = 0.5, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Move x towards 0 by lambd, and to 0 where |x| <= lambd."""

def softsign(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Give x / (1 + |x|)."""

def tanh(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Hyperbolic tangent."""

def tanhshrink(
    x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give x - tanh(x)."""

def threshold(
    x: Tensor,
    threshold: _float,
    value: _float,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give x where it is above the threshold, else a value."""

def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: _float = 1.0,
    p: _float = 2.0,
    eps: _float = 1e-06,
    swap: _bool = False,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: Literal["none", "mean", "sum"] = "mean",
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give max(0, margin + |anchor - positive| - |anchor - negative|), by the p-norm."""

def unfold(
    x: Tensor,
    kernel_size: _Ints,
    dilation: _Ints = 1,
    padding: _Ints = 0,
    stride: _Ints = 1,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the windows of images (n, channels, height, width) as columns."""
