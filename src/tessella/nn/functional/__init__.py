"""The functions that networks are made of: `import tessella.nn.functional as F`."""

from tessella import spellings
from tessella.nn.functional.activations import softmin, softplus
from tessella.nn.functional.adaptive import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
)
from tessella.nn.functional.attention import scaled_dot_product_attention
from tessella.nn.functional.class_losses import cross_entropy, nll_loss
from tessella.nn.functional.convolution import (
    conv1d,
    conv2d,
    conv_transpose1d,
    conv_transpose2d,
)
from tessella.nn.functional.distances import cosine_similarity, pairwise_distance
from tessella.nn.functional.dropout import alpha_dropout, dropout, dropout1d, dropout2d
from tessella.nn.functional.embedding import embedding, one_hot
from tessella.nn.functional.folding import fold, unfold
from tessella.nn.functional.linear import bilinear, linear
from tessella.nn.functional.losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    gaussian_nll_loss,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    poisson_nll_loss,
    smooth_l1_loss,
)
from tessella.nn.functional.margin_losses import (
    cosine_embedding_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    multi_margin_loss,
    soft_margin_loss,
    triplet_margin_loss,
)
from tessella.nn.functional.normalization import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    normalize,
    rms_norm,
)
from tessella.nn.functional.penalties import l1_penalty, l2_penalty
from tessella.nn.functional.pooling import (
    avg_pool1d,
    avg_pool2d,
    lp_pool1d,
    lp_pool2d,
    max_pool1d,
    max_pool2d,
)
from tessella.nn.functional.quantized import (
    dequantize,
    quantize,
    quantized_embedding,
    quantized_linear,
)
from tessella.nn.functional.resizing import interpolate, pixel_shuffle
from tessella.nn.functional.rotary import rotary
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
    "alpha_dropout", "avg_pool1d", "avg_pool2d", "batch_norm", "bilinear", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "celu", "conv1d", "conv2d", "conv_transpose1d",
    "conv_transpose2d", "cosine_embedding_loss", "cosine_similarity", "cross_entropy", "dequantize",
    "dropout", "dropout1d", "dropout2d", "elu", "embedding", "fold", "gaussian_nll_loss", "gelu",
    "glu", "group_norm", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
    "hinge_embedding_loss", "huber_loss", "instance_norm", "interpolate", "kl_div", "l1_loss",
    "l1_penalty", "l2_penalty", "layer_norm", "leaky_relu", "linear", "log_sigmoid", "log_softmax",
    "logsigmoid", "lp_pool1d", "lp_pool2d", "margin_ranking_loss", "max_pool1d", "max_pool2d",
    "mish", "mse_loss", "multi_margin_loss", "nll_loss", "normalize", "one_hot", "pad",
    "pairwise_distance", "pixel_shuffle", "poisson_nll_loss", "prelu", "quantize",
    "quantized_embedding", "quantized_linear", "relu", "relu6", "rms_norm", "rotary",
    "scaled_dot_product_attention", "selu", "sigmoid", "silu", "smooth_l1_loss", "soft_margin_loss",
    "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold",
    "triplet_margin_loss", "unfold",
]  # fmt: skip
__dir__ = __all__.copy

__getattr__ = spellings.refuser(__name__)
