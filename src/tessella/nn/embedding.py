"""Embedding: a table of rows that are learned, looked up by integers."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_count, to_float, to_int
from tessella.hints import TYPE_CHECKING, DeviceLike, DTypeLike
from tessella.modes import no_grad
from tessella.nn import functional, init
from tessella.nn.modules import Module
from tessella.nn.parameters import Parameter
from tessella.ops.creation import empty

if TYPE_CHECKING:
    from typing import TypedDict, Unpack

    class Options(TypedDict, total=False):
        """What else an embedding may be told."""

        max_norm: float | None
        norm_type: float
        scale_grad_by_freq: bool
        sparse: bool


class Embedding(Module):
    """A row of `weight` for each integer; rows begin normally distributed.

    The row `padding_idx` begins as 0 and is not trained.

    There are `num_embeddings` rows of `embedding_dim` numbers. `max_norm` first makes the rows that
    are asked for at most so long, in place, by the norm of order `norm_type`. `scale_grad_by_freq`
    divides gradients by how often a row was asked for. `sparse` changes nothing: gradients are
    dense.

    >>> nn.Embedding(10, 4)(ts.tensor([[1, 2], [3, 3]])).shape
    (2, 2, 4)
    """

    weight: Parameter

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = to_count("num_embeddings", num_embeddings, 0)
        self.embedding_dim = to_count("embedding_dim", embedding_dim, 0)
        self.padding_idx = self._place(padding_idx)
        self.max_norm = None if max_norm is None else to_float("max_norm", max_norm)
        self.norm_type = to_float("norm_type", norm_type)
        self.scale_grad_by_freq = to_bool("scale_grad_by_freq", scale_grad_by_freq)
        self.sparse = to_bool("sparse", sparse)
        shape = (self.num_embeddings, self.embedding_dim)
        if _weight is None:
            self.weight = Parameter(empty(shape, device=device, dtype=dtype), not _freeze)
            self.reset_parameters()
            return
        if not isinstance(_weight, Tensor):
            raise errors.not_tensor("_weight", _weight, "a tensor")
        if _weight.shape != shape:
            raise errors.wrong_value("_weight.shape", _weight.shape, f"{shape}")
        self.weight = Parameter(_weight, not _freeze)

    def _place(self, padding_idx: int | None) -> int | None:
        if padding_idx is None:
            return None
        place, rows = to_int("padding_idx", padding_idx), self.num_embeddings
        if not -rows <= place < rows:
            raise errors.wrong_value("padding_idx", place, f"from {-rows} to {rows - 1}")
        return place % rows

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        **rest: Unpack[Options],
    ) -> Embedding:
        """Take the rows of a matrix, frozen unless told otherwise.

        >>> nn.Embedding.from_pretrained(ts.eye(2))(ts.tensor(1)).tolist()
        [0.0, 1.0]
        """
        if not isinstance(embeddings, Tensor) or embeddings.ndim != 2:
            shown = getattr(embeddings, "shape", embeddings)
            error = errors.wrong_value("embeddings", shown, "a matrix (rows, features)")
            raise error.locate("Embedding.from_pretrained", [])
        rows, features = embeddings.shape
        return cls(rows, features, padding_idx, _weight=embeddings, _freeze=freeze, **rest)

    def reset_parameters(self) -> None:
        """Draw the rows anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx] = 0

    def forward(self, x: Tensor) -> Tensor:
        """Look rows up."""
        return functional.embedding(
            x, self.weight, self.padding_idx, self.max_norm, self.norm_type,
            self.scale_grad_by_freq, self.sparse,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Show the sizes."""
        shown = f"{self.num_embeddings}, {self.embedding_dim}"
        options = {"padding_idx": None, "max_norm": None, "norm_type": 2.0,
                   "scale_grad_by_freq": False, "sparse": False}  # fmt: skip
        for name, default in options.items():
            if getattr(self, name) != default:
                shown += f", {name}={getattr(self, name)}"
        return shown
