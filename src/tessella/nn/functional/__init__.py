"""The functions that networks are made of: `import tessella.nn.functional as F`."""

from tessella.nn.functional.activations import softmin, softplus
from tessella.nn.functional.convolution import (
    conv1d,
    conv2d,
    conv_transpose1d,
    conv_transpose2d,
)
from tessella.nn.functional.linear import bilinear, linear
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
    "bilinear", "celu", "conv1d", "conv2d", "conv_transpose1d", "conv_transpose2d", "elu", "gelu",
    "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "linear",
    "log_sigmoid", "log_softmax", "logsigmoid", "mish", "pad", "prelu", "relu", "relu6", "selu",
    "sigmoid", "silu", "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh",
    "tanhshrink", "threshold",
]  # fmt: skip
