"""Modules whose weights are blocks of quantised numbers: frozen, and computed with as they are."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_count
from tessella.blocks import BlockFormat
from tessella.dtypes import uint8
from tessella.hints import Any
from tessella.modes import no_grad
from tessella.nn import functional, layer_errors, quantized_errors
from tessella.nn.embedding import Embedding
from tessella.nn.functional.block_records import features_of, format_of, need_multiple
from tessella.nn.linear import Linear
from tessella.nn.modules import Module
from tessella.nn.parameters import Buffer, Parameter
from tessella.ops.creation import zeros


def _row_of(name: str, size: int, format: Any) -> tuple[BlockFormat, int]:
    """Require a format and numbers that fill its blocks; give the bytes of a row."""
    of = format_of(format)
    need_multiple(name, size, of)
    return of, size // of.elements * of.bytes


def _features_of(owner: str, blocks: Tensor, format: Any) -> int:
    """Require a matrix in blocks of a format; give the numbers of a row."""
    try:
        if blocks.ndim != 2:
            raise quantized_errors.not_matrix(blocks.ndim)
        return features_of(blocks, format)
    except errors.TessellaError as error:
        raise error.locate(owner, []) from None


class QuantizedLinear(Module):
    """x @ w.T + bias, where the rows of w are blocks: `weight` is a buffer of uint8.

    w is (`out_features`, `in_features`), in blocks of `format`, such as "q8_0".

    The weights begin as 0, and are read from a file or taken from a Linear. Gradients flow to x and
    to the bias.

    >>> nn.QuantizedLinear(64, 5, "q8_0")(ts.ones(2, 64)).shape
    (2, 5)
    """

    weight: Buffer
    bias: Parameter | None

    def __init__(self, in_features: int, out_features: int, format: str, bias: bool = True) -> None:
        super().__init__()
        self.in_features = to_count("in_features", in_features, 0)
        self.out_features = to_count("out_features", out_features, 0)
        of, row = _row_of("in_features", self.in_features, format)
        self.format = of.name
        self.weight = Buffer(zeros((self.out_features, row), dtype=uint8))
        self.bias = Parameter(zeros(self.out_features)) if to_bool("bias", bias) else None

    @classmethod
    def from_blocks(
        cls, blocks: Tensor, format: str, bias: Tensor | None = None
    ) -> QuantizedLinear:
        """Make a layer over the rows of a matrix in blocks, whose memory it shares.

        >>> blocks = nn.functional.quantize(ts.ones(5, 64), "q8_0")
        >>> nn.QuantizedLinear.from_blocks(blocks, "q8_0")(ts.ones(2, 64)).shape
        (2, 5)
        """
        features = _features_of("QuantizedLinear.from_blocks", blocks, format)
        made = cls(0, 0, format, bias=False)
        made.in_features, made.out_features = features, blocks.shape[0]
        made.weight = Buffer(blocks)
        if bias is not None:
            if bias.shape != blocks.shape[:1]:
                error = layer_errors.wrong_vector("bias", bias.shape, blocks.shape[0])
                raise error.locate("QuantizedLinear.from_blocks", [])
            made.bias = bias if isinstance(bias, Parameter) else Parameter(bias)
        return made

    @classmethod
    def from_linear(cls, linear: Linear, format: str) -> QuantizedLinear:
        """Quantise the weights of a Linear; the bias is copied.

        >>> nn.QuantizedLinear.from_linear(nn.Linear(64, 5), "q4_0")(ts.ones(64)).shape
        (5,)
        """
        if not isinstance(linear, Linear):
            error = errors.wrong_type("linear", linear, "an nn.Linear")
            raise error.locate("QuantizedLinear.from_linear", [])
        made = cls(linear.in_features, linear.out_features, format, linear.bias is not None)
        with no_grad():
            made.weight = Buffer(functional.quantize(linear.weight.detach(), format))
            if linear.bias is not None:
                made.bias = Parameter(linear.bias.detach().clone())
        return made

    def forward(self, x: Tensor) -> Tensor:
        """Multiply and add."""
        return functional.quantized_linear(x, self.weight, self.bias, format=self.format)

    def extra_repr(self) -> str:
        """Show the sizes and the format."""
        has_bias = self.bias is not None
        sizes = f"in_features={self.in_features}, out_features={self.out_features}"
        return f"{sizes}, format={self.format!r}, bias={has_bias}"


class QuantizedEmbedding(Module):
    """A row of numbers for each integer, where the rows are blocks: `weight` is of uint8.

    There are `num_embeddings` rows of `embedding_dim` numbers, in blocks of `format`.

    >>> nn.QuantizedEmbedding(10, 32, "q4_0")(ts.tensor([[1, 2], [3, 3]])).shape
    (2, 2, 32)
    """

    weight: Buffer

    def __init__(self, num_embeddings: int, embedding_dim: int, format: str) -> None:
        super().__init__()
        self.num_embeddings = to_count("num_embeddings", num_embeddings, 0)
        self.embedding_dim = to_count("embedding_dim", embedding_dim, 0)
        of, row = _row_of("embedding_dim", self.embedding_dim, format)
        self.format = of.name
        self.weight = Buffer(zeros((self.num_embeddings, row), dtype=uint8))

    @classmethod
    def from_blocks(cls, blocks: Tensor, format: str) -> QuantizedEmbedding:
        """Make a table over rows in blocks, whose memory it shares.

        >>> blocks = nn.functional.quantize(ts.ones(5, 64), "q8_0")
        >>> nn.QuantizedEmbedding.from_blocks(blocks, "q8_0")(ts.tensor(3)).shape
        (64,)
        """
        features = _features_of("QuantizedEmbedding.from_blocks", blocks, format)
        made = cls(0, 0, format)
        made.embedding_dim, made.num_embeddings = features, blocks.shape[0]
        made.weight = Buffer(blocks)
        return made

    @classmethod
    def from_embedding(cls, embedding: Embedding, format: str) -> QuantizedEmbedding:
        """Quantise the rows of an Embedding.

        >>> nn.QuantizedEmbedding.from_embedding(nn.Embedding(10, 32), "q8_0")(ts.tensor(3)).shape
        (32,)
        """
        if not isinstance(embedding, Embedding):
            error = errors.wrong_type("embedding", embedding, "an nn.Embedding")
            raise error.locate("QuantizedEmbedding.from_embedding", [])
        made = cls(embedding.num_embeddings, embedding.embedding_dim, format)
        made.weight = Buffer(functional.quantize(embedding.weight.detach(), format))
        return made

    def forward(self, x: Tensor) -> Tensor:
        """Look rows up."""
        return functional.quantized_embedding(x, self.weight, format=self.format)

    def extra_repr(self) -> str:
        """Show the sizes and the format."""
        return f"{self.num_embeddings}, {self.embedding_dim}, format={self.format!r}"
