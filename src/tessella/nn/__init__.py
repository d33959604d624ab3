"""Networks: modules with parameters, and the functions that they are made of.

Parameters are made with `dtype`, float32 by default, on the `device` "cpu"; where there may be a
bias, `bias` says whether there is. The `reduction` of a loss is "none", "mean" or "sum"; PyTorch's
old `size_average` and `reduce` are refused. With `inplace` a result is written into the operand.
"""

from tessella import spellings
from tessella.hints import TYPE_CHECKING
from tessella.nn import (  # places: errors know modules
    functional,
    init,
    places,  # noqa: F401 - from now on errors know the module
    toolbox as utils,
)
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
from tessella.nn.convolution import Conv1d, Conv2d, ConvTranspose1d, ConvTranspose2d
from tessella.nn.dropout import AlphaDropout, Dropout, Dropout1d, Dropout2d
from tessella.nn.embedding import Embedding
from tessella.nn.gated import GeGLU, SwiGLU
from tessella.nn.linear import Bilinear, Flatten, Identity, Linear, Unflatten
from tessella.nn.lora import LoRA, add_lora, merge_lora
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
from tessella.nn.padding import (
    CircularPad1d,
    CircularPad2d,
    ConstantPad1d,
    ConstantPad2d,
    ReflectionPad1d,
    ReflectionPad2d,
    ReplicationPad1d,
    ReplicationPad2d,
    ZeroPad1d,
    ZeroPad2d,
)
from tessella.nn.parameters import Buffer, Parameter
from tessella.nn.pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AvgPool1d,
    AvgPool2d,
    Fold,
    LPPool1d,
    LPPool2d,
    MaxPool1d,
    MaxPool2d,
    Unfold,
)
from tessella.nn.quantized import QuantizedEmbedding, QuantizedLinear
from tessella.nn.recurrent import GRU, LSTM, RNN
from tessella.nn.resizing import PixelShuffle, Upsample
from tessella.nn.rotary import RotaryEmbedding
from tessella.nn.summaries import summary
from tessella.nn.transformer import (
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "GRU", "LSTM", "RNN", "SELU", "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AlphaDropout", "AvgPool1d",
    "AvgPool2d", "BCELoss", "BCEWithLogitsLoss", "BatchNorm1d", "BatchNorm2d", "Bilinear", "Buffer",
    "CircularPad1d", "CircularPad2d", "ConstantPad1d", "ConstantPad2d", "Conv1d", "Conv2d",
    "ConvTranspose1d", "ConvTranspose2d", "CosineEmbeddingLoss", "CosineSimilarity",
    "CrossEntropyLoss", "Dropout", "Dropout1d", "Dropout2d", "Embedding", "Flatten", "Fold",
    "GRUCell", "GaussianNLLLoss", "GeGLU", "GroupNorm", "Hardshrink", "Hardsigmoid", "Hardswish",
    "Hardtanh", "HingeEmbeddingLoss", "HuberLoss", "Identity", "InstanceNorm1d", "InstanceNorm2d",
    "KLDivLoss", "L1Loss", "LPPool1d", "LPPool2d", "LSTMCell", "LayerNorm", "LeakyReLU", "Linear",
    "LoRA", "LogSigmoid", "LogSoftmax", "MSELoss", "MarginRankingLoss", "MaxPool1d", "MaxPool2d",
    "Mish", "Module", "ModuleDict", "ModuleList", "MultiMarginLoss", "MultiheadAttention",
    "NLLLoss", "PReLU", "PairwiseDistance", "Parameter", "ParameterDict", "ParameterList",
    "PixelShuffle", "PoissonNLLLoss", "QuantizedEmbedding", "QuantizedLinear", "RMSNorm", "RNNCell",
    "ReLU", "ReLU6", "ReflectionPad1d", "ReflectionPad2d", "ReplicationPad1d", "ReplicationPad2d",
    "RotaryEmbedding", "Sequential", "SiLU", "Sigmoid", "SmoothL1Loss", "SoftMarginLoss", "Softmax",
    "Softmin", "Softplus", "Softshrink", "Softsign", "SwiGLU", "Tanh", "Tanhshrink", "Threshold",
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
    "TransformerEncoderLayer", "TripletMarginLoss", "Unflatten", "Unfold", "Upsample", "ZeroPad1d",
    "ZeroPad2d", "add_lora", "functional", "init", "merge_lora", "summary", "utils",
]  # fmt: skip
__dir__ = __all__.copy

if not TYPE_CHECKING:  # for a type checker there are the names above only
    __getattr__ = spellings.refuser(__name__)
