"""Where the layers of a model get their weights: drawn, or taken from a file as they are.

A model asks for each of its layers by the path that the layer will have. Weights of files stay
where they are, in mapped memory, and quantised ones stay quantised.
"""

from __future__ import annotations

from tessella._core import Tensor
from tessella.blocks import FORMATS
from tessella.hints import Any, Callable, Iterator
from tessella.models import model_errors
from tessella.nn import (
    Embedding,
    LayerNorm,
    Linear,
    Module,
    Parameter,
    QuantizedEmbedding,
    QuantizedLinear,
    RMSNorm,
)


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
        owner: Any = table
        weight = owner.weight
        if isinstance(table, QuantizedEmbedding):
            return QuantizedLinear.from_blocks(weight, table.format)
        return Linear.from_weight(weight)


class Stored(Drawn):
    """Layers over the tensors of a file.

    `name` turns a path into the name that the file uses; `formats` has the block formats of the
    tensors that are quantised, by those names. `source` is what says how the model is built.
    """

    def __init__(
        self,
        tensors: dict[str, Tensor],
        name: Callable[[str], str] = str,
        formats: dict[str, str] | None = None,
        source: str = "config.json",
    ) -> None:
        self.tensors = tensors
        self.name = name
        self.formats, self.source = formats or {}, source
        self.used: set[str] = set()

    def take(self, path: str, shape: tuple[int, ...]) -> tuple[Tensor, str | None]:
        """Give a tensor of a file, which must have a shape, and the format of its blocks."""
        name = self.name(path)
        if name not in self.tensors:
            raise model_errors.missing_tensor(name, list(self.tensors), self.source)
        self.used.add(name)
        found, format = self.tensors[name], self.formats.get(name)
        given = found.shape
        if format is not None:
            of = FORMATS[format]
            given = (*given[:-1], given[-1] // of.bytes * of.elements)
        if given != shape:
            raise model_errors.wrong_tensor(name, given, shape, self.source)
        if format is None and not found.dtype.is_floating:
            raise model_errors.no_floats(name, found.dtype)
        return found, format

    def floats(self, path: str, width: int) -> Parameter:
        """Give a vector of a file."""
        found, format = self.take(path, (width,))
        if format is not None:
            raise model_errors.quantised_vector(self.name(path), format)
        return Parameter(found)

    def linear(self, path: str, inputs: int, outputs: int, bias: bool) -> Module:
        """Give a product with weights."""
        weight, format = self.take(f"{path}.weight", (outputs, inputs))
        added = self.floats(f"{path}.bias", outputs) if bias else None
        if format is not None:
            return QuantizedLinear.from_blocks(weight, format, added)
        return Linear.from_weight(weight, added)

    def embedding(self, path: str, rows: int, width: int) -> Module:
        """Give a table of rows."""
        weight, format = self.take(f"{path}.weight", (rows, width))
        if format is not None:
            return QuantizedEmbedding.from_blocks(weight, format)
        return Embedding.from_pretrained(weight, freeze=False)

    def rms_norm(self, path: str, width: int, eps: float) -> Module:
        """Give a normalisation by the root mean square."""
        made = RMSNorm(width, eps)
        made.weight = self.floats(f"{path}.weight", width)
        return made

    def layer_norm(self, path: str, width: int, eps: float) -> Module:
        """Give a normalisation by mean and variance."""
        made = LayerNorm(width, eps)
        made.weight = self.floats(f"{path}.weight", width)
        made.bias = self.floats(f"{path}.bias", width)
        return made

    def unused(self) -> Iterator[str]:
        """Give the names of tensors that no layer asked for."""
        return (name for name in self.tensors if name not in self.used)
