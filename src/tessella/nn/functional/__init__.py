"""The functions that networks are made of: `import tessella.nn.functional as F`."""

from tessella.nn.functional.activations import softmin, softplus
from tessella.nn.functional.adaptive import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
)
from tessella.nn.functional.convolution import (
    conv1d,
    conv2d,
    conv_transpose1d,
    conv_transpose2d,
)
from tessella.nn.functional.folding import fold, unfold
from tessella.nn.functional.linear import bilinear, linear
from tessella.nn.functional.pooling import (
    avg_pool1d,
    avg_pool2d,
    lp_pool1d,
    lp_pool2d,
    max_pool1d,
    max_pool2d,
)
from tessella.ops.activation import (
    celu,
    elu,
    gelu,
    glu,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    log_sigmoid,
    mish,
    prelu,
    relu,
    relu6,
    selu,
    silu,
    softshrink,
    softsign,
    tanhshrink,
    threshold,
)
from tessella.ops.elementwise import sigmoid, tanh
from tessella.ops.fused import log_softmax, softmax
from tessella.ops.padding import pad

logsigmoid = log_sigmoid

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "avg_pool1d", "avg_pool2d", "bilinear", "celu", "conv1d", "conv2d", "conv_transpose1d",
    "conv_transpose2d", "elu", "fold", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish",
    "hardtanh", "leaky_relu", "linear", "log_sigmoid", "log_softmax", "logsigmoid", "lp_pool1d",
    "lp_pool2d", "max_pool1d", "max_pool2d", "mish", "pad", "prelu", "relu", "relu6", "selu",
    "sigmoid", "silu", "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh",
    "tanhshrink", "threshold", "unfold",
]  # fmt: skip
