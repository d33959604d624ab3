"""What programs ask about GPUs: there are none. It stands for torch.cuda, torch.mps and cudnn.

What is true without a GPU is answered; flags such as `cudnn.benchmark` may be set, to no effect.
"""

from __future__ import annotations

from tessella import spellings
from tessella.hints import TYPE_CHECKING

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed", "manual_seed_all"]
__dir__ = __all__.copy
__path__: list[str] = []  # so that imports of names that are not here are explained

if not TYPE_CHECKING:
    __getattr__ = spellings.refuser(
        "tessella.cuda", 'tensors live in the memory of the host: write "cpu" for the device'
    )

# Flags of cudnn, which may be set, to no effect.
benchmark = deterministic = enabled = allow_tf32 = False


def is_available() -> bool:
    """Tell whether there is a GPU to compute on: no.

    >>> ts.device("cuda" if ts.cuda.is_available() else "cpu")
    'cpu'
    """
    return False


def device_count() -> int:
    """Count the GPUs.

    >>> ts.cuda.device_count()
    0
    """
    return 0


def manual_seed(seed: int) -> None:
    """Do nothing: no GPU draws random numbers."""


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Do nothing: no memory of a GPU is kept."""
