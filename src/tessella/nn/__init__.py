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
from tessella.nn.attention import MultiheadAttention
from tessella.nn.axis_activations import GLU, LogSoftmax, Softmax, Softmin
from tessella.nn.cells import GRUCell, LSTMCell, RNNCell
from tessella.nn.containers import (
    ModuleDict,
    ModuleList,
    ParameterDict,
    ParameterList,
    Sequential,
)
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
from tessella.nn.parameters import Buffer, Parameter
from tessella.nn.recurrent import GRU, LSTM, RNN
from tessella.nn.summaries import summary

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "GRU", "LSTM", "RNN", "SELU", "BCELoss", "BCEWithLogitsLoss",
    "Bilinear", "Buffer", "CosineEmbeddingLoss", "CosineSimilarity", "CrossEntropyLoss",
    "Flatten", "GRUCell", "GaussianNLLLoss", "Hardshrink", "Hardsigmoid", "Hardswish",
    "Hardtanh", "HingeEmbeddingLoss", "HuberLoss", "Identity", "KLDivLoss", "L1Loss",
    "LSTMCell", "LeakyReLU", "Linear", "LogSigmoid", "LogSoftmax", "MSELoss",
    "MarginRankingLoss", "Mish", "Module", "ModuleDict", "ModuleList", "MultiMarginLoss",
    "MultiheadAttention", "NLLLoss", "PReLU", "PairwiseDistance", "Parameter", "ParameterDict",
    "ParameterList", "PoissonNLLLoss", "RNNCell", "ReLU", "ReLU6", "Sequential", "SiLU",
    "Sigmoid", "SmoothL1Loss", "SoftMarginLoss", "Softmax", "Softmin", "Softplus", "Softshrink",
    "Softsign", "Tanh", "Tanhshrink", "Threshold", "TripletMarginLoss", "Unflatten",
    "functional", "init", "summary",
]  # fmt: skip
