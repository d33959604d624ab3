"""Where the layers of a model get their weights: drawn, or taken from a file as they are.

A model asks for each of its layers by the path that the layer will have. Weights of files stay
where they are, in mapped memory, and quantised ones stay quantised.
"""

from __future__ import annotations

from tessella._core import Tensor
from tessella.hints import Any, Callable, Iterator
from tessella.models import model_errors
from tessella.nn import Embedding, LayerNorm, Linear, Module, Parameter, RMSNorm


class Drawn:
    """Layers whose weights are drawn as their kind says."""

    def linear(self, path: str, inputs: int, outputs: int, bias: bool) -> Module:
        """Give a product with weights."""
        return Linear(inputs, outputs, bias=bias)

    def embedding(self, path: str, rows: int, width: int) -> Module:
        """Give a table of rows."""
        return Embedding(rows, width)

    def rms_norm(self, path: str, width: int, eps: float) -> Module:
        """Give a normalisation by the root mean square."""
        return RMSNorm(width, eps)

    def layer_norm(self, path: str, width: int, eps: float) -> Module:
        """Give a normalisation by mean and variance."""
        return LayerNorm(width, eps)

    def tied(self, path: str, table: Module) -> Module:
        """Give the product with the rows of a table, whose memory it shares."""
        weight: Any = table.weight
        return Linear.from_weight(weight)


class Stored(Drawn):
    """Layers over the tensors of a file; `names` turns a path into the names that files use."""

    def __init__(self, tensors: dict[str, Tensor], name: Callable[[str], str] = str) -> None:
        self.tensors = tensors
        self.name = name
        self.used: set[str] = set()

    def take(self, path: str, shape: tuple[int, ...]) -> Tensor:
        """Give a tensor of a file, which must have a shape."""
        name = self.name(path)
        if name not in self.tensors:
            raise model_errors.missing_tensor(name, list(self.tensors))
        self.used.add(name)
        found = self.tensors[name]
        if found.shape != shape:
            raise model_errors.wrong_tensor(name, found.shape, shape)
        return found

    def linear(self, path: str, inputs: int, outputs: int, bias: bool) -> Module:
        """Give a product with weights."""
        weight = self.take(f"{path}.weight", (outputs, inputs))
        return Linear.from_weight(weight, self.take(f"{path}.bias", (outputs,)) if bias else None)

    def embedding(self, path: str, rows: int, width: int) -> Module:
        """Give a table of rows."""
        return Embedding.from_pretrained(self.take(f"{path}.weight", (rows, width)), freeze=False)

    def rms_norm(self, path: str, width: int, eps: float) -> Module:
        """Give a normalisation by the root mean square."""
        made = RMSNorm(width, eps)
        made.weight = Parameter(self.take(f"{path}.weight", (width,)))
        return made

    def layer_norm(self, path: str, width: int, eps: float) -> Module:
        """Give a normalisation by mean and variance."""
        made = LayerNorm(width, eps)
        made.weight = Parameter(self.take(f"{path}.weight", (width,)))
        made.bias = Parameter(self.take(f"{path}.bias", (width,)))
        return made

    def unused(self) -> Iterator[str]:
        """Give the names of tensors that no layer asked for."""
        return (name for name in self.tensors if name not in self.used)
