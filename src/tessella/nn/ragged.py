"""Sequences of several lengths in one tensor, public as nn.utils.rnn."""

from __future__ import annotations

from collections.abc import Sequence

from tessella import errors, spellings
from tessella._core import Tensor
from tessella.arguments import to_bool, to_float, to_list
from tessella.composites import check_tensors
from tessella.hints import TYPE_CHECKING
from tessella.nn import sequence_errors
from tessella.ops.joining import stack
from tessella.ops.padding import pad

__all__ = ["pad_sequence"]
__dir__ = __all__.copy
__path__: list[str] = []  # so that imports of names that are not here are explained

if not TYPE_CHECKING:  # for a type checker there are the names below only
    __getattr__ = spellings.refuser("tessella.nn.utils.rnn")


def pad_sequence(
    sequences: Sequence[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Join sequences into a batch, those that are shorter filled up with a value.

    The result is (time, batch, …), with `batch_first` (batch, time, …).

    >>> x = [ts.tensor([1, 2, 3]), ts.tensor([4])]
    >>> ts.nn.utils.rnn.pad_sequence(x, batch_first=True).tolist()
    [[1, 2, 3], [4, 0, 0]]
    """
    try:
        parts = check_tensors("sequences", to_list("sequences", sequences, "a list of tensors"))
        value = to_float("padding_value", padding_value)
        value = int(value) if value.is_integer() else value  # for integers, too
        if padding_side not in ("right", "left"):
            raise errors.wrong_value("padding_side", padding_side, '"right" or "left"')
        if not parts or any(not x.ndim or x.shape[1:] != parts[0].shape[1:] for x in parts):
            raise sequence_errors.not_sequences([x.shape for x in parts])
        length = max(x.shape[0] for x in parts)
        sides = [(0, length - x.shape[0]) for x in parts]
        sides = sides if padding_side == "right" else [side[::-1] for side in sides]
        padded = [pad(x, (0, 0) * (x.ndim - 1) + side, value=value)
                  for x, side in zip(parts, sides, strict=True)]  # fmt: skip
        return stack(padded, axis=0 if to_bool("batch_first", batch_first) else 1)
    except errors.TessellaError as error:
        raise error.relocate("pad_sequence", []) from None
