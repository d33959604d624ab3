"""Tables of rows that are looked up by integers."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_float
from tessella.hints import Any
from tessella.modes import no_grad
from tessella.nn import functional, init, layer_errors
from tessella.nn.linear import to_size
from tessella.nn.modules import Module
from tessella.nn.parameters import Parameter
from tessella.ops.creation import empty


class Embedding(Module):
    """A table with a row of embedding_dim numbers for each integer below num_embeddings.

    It begins normal of variance 1; the row padding_idx begins as zeros and gets no gradient.

    >>> nn.Embedding(10, 3)(ts.tensor([[1, 2], [4, 5]])).shape
    (2, 2, 3)
    """

    weight: Parameter

    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None,
                 max_norm: float | None = None, norm_type: float = 2.0,
                 scale_grad_by_freq: bool = False, sparse: bool = False,
                 _weight: Tensor | None = None, _freeze: bool = False, device: Any = None,
                 dtype: Any = None) -> None:  # fmt: skip
        super().__init__()
        self.num_embeddings = to_size("Embedding", "num_embeddings", num_embeddings)
        self.embedding_dim = to_size("Embedding", "embedding_dim", embedding_dim)
        if to_bool("sparse", sparse):
            raise layer_errors.no_sparse_gradients().locate("Embedding", [])
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            rule = f"a row of the table, which has {num_embeddings}"
            raise errors.wrong_value("padding_idx", padding_idx, rule).locate("Embedding", [])
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.max_norm = None if max_norm is None else to_float("max_norm", max_norm)
        self.norm_type = to_float("norm_type", norm_type)
        self.scale_grad_by_freq = to_bool("scale_grad_by_freq", scale_grad_by_freq)
        shape = (self.num_embeddings, self.embedding_dim)
        if _weight is None:
            self.weight = Parameter(empty(shape, device=device, dtype=dtype), not _freeze)
            self.reset_parameters()
        else:
            if _weight.shape != shape:
                raise layer_errors.vector_shape("_weight", _weight.shape, shape).locate(
                    "Embedding", []
                )
            self.weight = Parameter(_weight, not _freeze)

    def reset_parameters(self) -> None:
        """Draw the table anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight.detach()[self.padding_idx] = 0.0

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **options: Any) -> Embedding:
        """Make one over a table that is there; it is not trained unless freeze is False.

        >>> nn.Embedding.from_pretrained(ts.eye(3))(ts.tensor(1)).tolist()
        [0.0, 1.0, 0.0]
        """
        if not isinstance(embeddings, Tensor) or embeddings.ndim != 2:
            found = errors.not_tensor("embeddings", embeddings, "a tensor of two axes")
            raise found.locate("Embedding.from_pretrained", [])
        rows, width = embeddings.shape
        return cls(rows, width, _weight=embeddings, _freeze=to_bool("freeze", freeze), **options)

    def forward(self, x: Tensor) -> Tensor:
        """Look up."""
        return functional.embedding(
            x, self.weight, self.padding_idx, self.max_norm, self.norm_type,
            self.scale_grad_by_freq,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Show the options."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"
