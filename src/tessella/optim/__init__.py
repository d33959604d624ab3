"""Optimizers, and schedules of their learning rates.

`lr` is the learning rate. `weight_decay` adds that part of a parameter to its gradient; where
`decoupled_weight_decay` is True, that part times `lr` is taken from the parameter instead.
`maximize` goes up in place of down. `foreach`, `fused` and `capturable` choose implementations in
PyTorch and change nothing here; `differentiable` must be False.
"""

from tessella import spellings
from tessella.hints import TYPE_CHECKING
from tessella.optim import lr_scheduler
from tessella.optim.adagrad import Adadelta, Adagrad, RMSprop
from tessella.optim.adam import Adam, Adamax, AdamW, NAdam, RAdam
from tessella.optim.lbfgs import LBFGS
from tessella.optim.optimizer import Optimizer
from tessella.optim.sgd import SGD

__all__ = [
    "LBFGS", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "Optimizer", "RAdam",
    "RMSprop", "lr_scheduler",
]  # fmt: skip
__dir__ = __all__.copy

if not TYPE_CHECKING:  # for a type checker there are the names above only
    __getattr__ = spellings.refuser(__name__)
