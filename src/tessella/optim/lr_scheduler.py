"""The schedules by PyTorch's names."""

from tessella import spellings
from tessella.hints import TYPE_CHECKING
from tessella.optim.cycles import CosineAnnealingLR, CosineAnnealingWarmRestarts, OneCycleLR
from tessella.optim.host_schedules import LambdaLR, MultiplicativeLR, ReduceLROnPlateau
from tessella.optim.schedules import (
    ConstantLR,
    ExponentialLR,
    LinearLR,
    LRScheduler,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from tessella.optim.sequences import ChainedScheduler, SequentialLR

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR",
    "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip
__dir__ = __all__.copy
__path__: list[str] = []  # so that imports of names that are not here are explained

if not TYPE_CHECKING:  # for a type checker there are the names above only
    __getattr__ = spellings.refuser(__name__)
