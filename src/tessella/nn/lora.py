"""LoRA: layers that stay as they are, beside a change of low rank that is learned."""

from __future__ import annotations

import math

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_count, to_float
from tessella.dtypes import float32
from tessella.hints import Any, Sequence
from tessella.modes import no_grad
from tessella.nn import init, sequence_errors
from tessella.nn.dropout import Dropout
from tessella.nn.functional.linear import linear
from tessella.nn.modules import Module
from tessella.nn.parameters import Parameter
from tessella.ops.creation import empty, zeros
from tessella.ops.matmul import matmul


class LoRA(Module):
    """layer(x) + alpha / rank * x @ lora_a.T @ lora_b.T, where the layer itself is frozen.

    lora_b begins as zeros, so that nothing changes at first. The layer may be quantised.

    `dropout` is the share of x that lora_a does not see in training.

    >>> layer = nn.LoRA(nn.Linear(8, 4), rank=2)
    >>> [name for name, x in layer.named_parameters() if x.requires_grad]
    ['lora_a', 'lora_b']
    """

    def __init__(
        self, layer: Module, rank: int = 8, alpha: float = 16.0, dropout: float = 0.0
    ) -> None:
        super().__init__()
        if not is_adaptable(layer):
            raise sequence_errors.not_adaptable(type(layer).__name__)
        self.rank = to_count("rank", rank)
        self.alpha = to_float("alpha", alpha)
        self.dropout = Dropout(dropout)
        self.layer = layer.requires_grad_(False)
        given: Any = layer
        dtype = given.weight.dtype  # blocks are bytes
        dtype = dtype if dtype.is_floating else float32
        self.lora_a = Parameter(empty((self.rank, given.in_features), dtype=dtype))
        self.lora_b = Parameter(zeros((given.out_features, self.rank), dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw lora_a anew, and let the change be zero."""
        init.kaiming_uniform_(self.lora_a, a=math.sqrt(5))
        init.zeros_(self.lora_b)

    def forward(self, x: Tensor) -> Tensor:
        """Give what the layer gives, and the change."""
        change = linear(linear(self.dropout(x), self.lora_a), self.lora_b)
        out: Tensor = self.layer(x) + change * (self.alpha / self.rank)
        return out

    def merge(self) -> Module:
        """Give the layer with a new weight, to which the change is added.

        >>> layer = nn.LoRA(nn.Linear(8, 4), rank=2)
        >>> type(layer.merge()).__name__
        'Linear'
        """
        with no_grad():  # in memory of its own: files that are mapped are not written to
            change = matmul(self.lora_b, self.lora_a) * (self.alpha / self.rank)
            self.layer.weight = Parameter(self.floats() + change, requires_grad=False)
        return self.layer

    def floats(self) -> Tensor:
        """Give the layer's weight, to which a change can be added."""
        layer: Any = self.layer
        weight: Tensor = layer.weight
        if not weight.dtype.is_floating:
            raise sequence_errors.not_mergeable(type(self.layer).__name__).locate("merge", [])
        return weight

    def extra_repr(self) -> str:
        """Show the rank."""
        return f"rank={self.rank}, alpha={self.alpha:g}"


def is_adaptable(layer: Any) -> bool:
    """Tell whether a layer is a product with a weight of (out_features, in_features)."""
    return isinstance(layer, Module) and all(
        hasattr(layer, name) for name in ("in_features", "out_features", "weight")
    )


def add_lora(
    model: Module,
    targets: Sequence[str] = ("q_proj", "v_proj"),
    rank: int = 8,
    alpha: float = 16.0,
    dropout: float = 0.0,
) -> list[Parameter]:
    """Freeze a model, and put a LoRA around each product whose path ends with one of `targets`.

    Gives the parameters that are to be learned.

    >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    >>> len(nn.add_lora(model, ["0", "2"], rank=2))
    4
    """
    if isinstance(targets, str):
        raise errors.wrong_value("targets", targets, "a list of names").locate("add_lora", [])
    ends = tuple(f".{name}" for name in targets)
    found = [
        path for path, part in model.named_modules()
        if path and f".{path}".endswith(ends) and is_adaptable(part)
    ]  # fmt: skip
    if not found:
        raise sequence_errors.no_targets(list(targets)).locate("add_lora", [])
    made = [LoRA(model.get_submodule(path), rank, alpha, dropout) for path in found]
    model.requires_grad_(False)
    for path, layer in zip(found, made, strict=True):
        _replace(model, path, layer)
    return [x for layer in made for x in (layer.lora_a, layer.lora_b)]


def merge_lora(model: Module) -> None:
    """Add every LoRA of a model to the weight that it changes, and leave the plain layers.

    >>> model = nn.Sequential(nn.Linear(4, 8))
    >>> _ = nn.add_lora(model, ["0"])
    >>> nn.merge_lora(model)
    >>> type(model[0]).__name__
    'Linear'
    """
    if isinstance(model, LoRA):
        raise sequence_errors.merged_alone().locate("merge_lora", [])
    found = [(path, part) for path, part in model.named_modules() if isinstance(part, LoRA)]
    for _, part in found:
        part.floats()  # all of them, or none
    for path, part in found:
        _replace(model, path, part.merge())


def _replace(model: Module, path: str, layer: Module) -> None:
    owner, _, name = path.rpartition(".")
    setattr(model.get_submodule(owner) if owner else model, name, layer)
