"""Networks: modules with parameters, and the functions that they are made of."""

from tessella.nn import functional, init, places  # noqa: F401 - places: errors know modules
from tessella.nn.activations import (
    CELU,
    ELU,
    GELU,
    SELU,
    Hardshrink,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    Mish,
    PReLU,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Softplus,
    Softshrink,
    Softsign,
    Tanh,
    Tanhshrink,
    Threshold,
)
from tessella.nn.axis_activations import GLU, LogSoftmax, Softmax, Softmin
from tessella.nn.containers import (
    ModuleDict,
    ModuleList,
    ParameterDict,
    ParameterList,
    Sequential,
)
from tessella.nn.dropout import AlphaDropout, Dropout, Dropout1d, Dropout2d
from tessella.nn.embedding import Embedding
from tessella.nn.linear import Bilinear, Flatten, Identity, Linear, Unflatten
from tessella.nn.losses import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    GaussianNLLLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    PoissonNLLLoss,
    SmoothL1Loss,
)
from tessella.nn.margin_losses import (
    CosineEmbeddingLoss,
    CosineSimilarity,
    HingeEmbeddingLoss,
    MarginRankingLoss,
    MultiMarginLoss,
    PairwiseDistance,
    SoftMarginLoss,
    TripletMarginLoss,
)
from tessella.nn.modules import Module
from tessella.nn.normalization import (
    BatchNorm1d,
    BatchNorm2d,
    GroupNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    LayerNorm,
    RMSNorm,
)
from tessella.nn.parameters import Buffer, Parameter
from tessella.nn.summaries import summary

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "SELU", "AlphaDropout", "BCELoss", "BCEWithLogitsLoss",
    "BatchNorm1d", "BatchNorm2d", "Bilinear", "Buffer", "CosineEmbeddingLoss", "CosineSimilarity",
    "CrossEntropyLoss", "Dropout", "Dropout1d", "Dropout2d", "Embedding", "Flatten",
    "GaussianNLLLoss", "GroupNorm", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh",
    "HingeEmbeddingLoss", "HuberLoss", "Identity", "InstanceNorm1d", "InstanceNorm2d", "KLDivLoss",
    "L1Loss", "LayerNorm", "LeakyReLU", "Linear", "LogSigmoid", "LogSoftmax", "MSELoss",
    "MarginRankingLoss", "Mish", "Module", "ModuleDict", "ModuleList", "MultiMarginLoss", "NLLLoss",
    "PReLU", "PairwiseDistance", "Parameter", "ParameterDict", "ParameterList", "PoissonNLLLoss",
    "RMSNorm", "ReLU", "ReLU6", "Sequential", "SiLU", "Sigmoid", "SmoothL1Loss", "SoftMarginLoss",
    "Softmax", "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
    "TripletMarginLoss", "Unflatten", "functional", "init", "summary",
]  # fmt: skip
