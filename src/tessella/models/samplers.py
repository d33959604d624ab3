"""Samplers: which token comes next, by its logits; all of it operations, so that it compiles."""

from __future__ import annotations

import math

from tessella import changes, errors
from tessella._core import Tensor
from tessella.arguments import to_float, to_int
from tessella.dtypes import float32
from tessella.hints import TYPE_CHECKING, Any
from tessella.kinds import cast
from tessella.located import located
from tessella.ops.choices import multinomial
from tessella.ops.elementwise import greater, less, where
from tessella.ops.fused import softmax
from tessella.ops.movement import squeeze
from tessella.ops.ordering import sort, topk
from tessella.ops.random import Generator
from tessella.ops.reduce import amax, amin, argmax, cumulative_sum
from tessella.sizes import described

if TYPE_CHECKING:
    from typing import TypedDict

    class SamplerOptions(TypedDict, total=False):
        """What a sampler may be told by keyword."""

        temperature: float
        top_k: int
        top_p: float
        min_p: float
        repetition_penalty: float
        seed: int | None


class Sampler(changes.Counted):
    """Draws tokens (B,) from logits (B, vocabulary).

    The steps, in this order, each left out at its default: `repetition_penalty` makes tokens that
    were seen less likely; logits are divided by `temperature`, and 0 takes the most likely token;
    `top_k` leaves the k most likely; `top_p` the fewest whose probabilities sum to p; `min_p` those
    with at least that share of the most likely one's probability. The seed makes it repeatable.

    >>> logits = ts.tensor([[0.0, 3.0, 1.0]])
    >>> ts.models.Sampler(temperature=0)(logits).tolist()
    [1]
    >>> ts.models.Sampler(top_k=1)(logits).tolist()
    [1]
    """

    @located("Sampler")
    def __init__(
        self,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        repetition_penalty: float = 1.0,
        seed: int | None = None,
    ) -> None:
        self.temperature = to_float("temperature", temperature)
        self.top_k = to_int("top_k", top_k)
        self.top_p, self.min_p = to_float("top_p", top_p), to_float("min_p", min_p)
        self.repetition_penalty = to_float("repetition_penalty", repetition_penalty)
        rules = (
            ("temperature", self.temperature, self.temperature >= 0, "at least 0"),
            ("top_k", self.top_k, self.top_k >= 0, "0, for all, or more"),
            ("top_p", self.top_p, 0 < self.top_p <= 1, "above 0, and at most 1"),
            ("min_p", self.min_p, 0 <= self.min_p <= 1, "from 0 to 1"),
            ("repetition_penalty", self.repetition_penalty, self.repetition_penalty > 0, "above 0"),
        )
        for name, value, is_right, rule in rules:
            if not is_right or not math.isfinite(value):
                raise errors.wrong_value(name, value, rule)
        self.generator = None if seed is None else Generator(seed)

    def __repr__(self) -> str:
        return described(self, **{name: value for name, value in vars(self).items() if value})

    @property
    def needs_seen(self) -> bool:
        """Whether it asks which tokens were seen."""
        return self.repetition_penalty != 1

    def __call__(self, logits: Tensor, seen: Tensor | None = None) -> Tensor:
        """Draw a token for each row; `seen` is True for tokens that were there, (B, vocabulary)."""
        logits = cast(logits, float32)
        if seen is not None and self.needs_seen:
            penalty = self.repetition_penalty
            lowered = where(greater(logits, 0), logits / penalty, logits * penalty)
            logits = where(seen, lowered, logits)
        if self.temperature == 0 or self.top_k == 1:
            return argmax(logits, axis=-1)
        weights = softmax(self.restricted(logits / self.temperature), axis=-1)
        return squeeze(multinomial(weights, 1, replacement=True, generator=self.generator), -1)

    def restricted(self, logits: Tensor) -> Tensor:
        """Give logits with minus infinity where top_k, top_p and min_p allow nothing."""
        if 0 < self.top_k < logits.shape[-1]:
            values: Any = topk(logits, self.top_k)[0]
            logits = _without(logits, values[..., -1:])
        if self.top_p < 1:
            logits = _without(logits, _nucleus(logits, self.top_p))
        if self.min_p > 0:
            logits = _without(logits, amax(logits, axis=-1, keepdims=True) + math.log(self.min_p))
        return logits


def _without(logits: Tensor, least: Tensor) -> Tensor:
    return where(less(logits, least), -math.inf, logits)


def _nucleus(logits: Tensor, share: float) -> Tensor:
    """Give the least logit of the fewest tokens whose probabilities sum to a share, (B, 1)."""
    ordered = sort(logits, axis=-1, descending=True)
    weights = softmax(ordered, axis=-1)
    before = cumulative_sum(weights, axis=-1) - weights  # the first is always in
    return amin(where(less(before, share), ordered, math.inf), axis=-1, keepdims=True)
