"""Places: where the tokens of one call stand, what they may look at, and where their keys go."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.hints import Any
from tessella.models import model_errors
from tessella.models.caches import Cache, check_padding
from tessella.ops.creation import arange
from tessella.ops.elementwise import greater, greater_equal, less_equal, maximum
from tessella.ops.movement import reshape, unsqueeze

PIECE = 256  # tokens of a prompt that go through a model together: bounds its intermediates


class Places:
    """What all layers of a decoder share in one call on tokens (B, T).

    `mask` is None where each place looks at itself and all before it. A row's padding stands before
    its first token: nobody looks at it, and places are counted from its end.
    """

    def __init__(
        self,
        tokens: Tensor,
        cache: Cache | None,
        padding: Tensor | None,
        window: int | None,
        rotary: Any = None,
    ) -> None:
        if not isinstance(tokens, Tensor):
            raise errors.not_tensor("tokens", tokens, "a tensor")
        if tokens.ndim != 2 or not tokens.dtype.is_integer or 0 in tokens.shape:
            raise model_errors.wrong_tokens(tokens.dtype, tokens.shape)
        batch, self.count = tokens.shape
        self.cache, self.rotary = cache, rotary
        if cache is None:
            self.here, self.lengths, keys = arange(self.count), None, self.count
        else:
            if not isinstance(cache, Cache):
                raise errors.wrong_type("cache", cache, "a KVCache or a GrowingCache")
            if cache.batch != batch:
                raise model_errors.other_batch(batch, cache.batch)
            if padding is not None:
                raise model_errors.two_paddings()
            keys = cache.room(self.count)
            self.here, self.lengths = cache.places(self.count), cache.lengths(self.count)
        if cache is None:
            check_padding(padding, batch, self.count)
        else:
            padding = cache.padding  # which it has checked
        self.keys, self.is_padded = keys, padding is not None
        self.numbers = self.here  # of places in the text: (T,), or (B, T)
        if padding is not None:
            self.numbers = maximum(self.here - unsqueeze(padding, -1), 0)
        self.mask = self._mask(keys, padding, window)
        self.angles = None if rotary is None else rotary(self.numbers)

    def _mask(self, keys: int, padding: Tensor | None, window: int | None) -> Tensor | None:
        """Tell which keys each place may look at: (T, keys), or (B, 1, T, keys)."""
        if padding is None and (window is None or window >= keys):
            return None
        places, here = arange(keys), unsqueeze(self.here, -1)
        mask = less_equal(places, here)
        if window is not None and window < keys:
            mask = mask & greater(places, here - window)
        if padding is not None:
            mask = mask & greater_equal(places, reshape(padding, (-1, 1, 1, 1)))
        return mask

    def within(self, places: int) -> None:
        """Require so many places at most: those that a model has learned rows for."""
        if self.keys > places and not self.is_padded:
            raise model_errors.context_too_long(self.keys, places)

    def turn(self, x: Tensor) -> Tensor:
        """Turn queries or keys (B, H, T, D) by their places."""
        turned: Tensor = self.rotary.turn(x, self.angles)
        return turned

    def keep(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Give keys and values of all places, kept in the cache if there is one."""
        if self.cache is None:
            return keys, values
        if layer >= self.cache.layers:
            raise model_errors.few_layers(self.cache.layers, layer)
        return self.cache.put(layer, self.here, keys, values)

    def end(self) -> None:
        """Count the places, now that all layers have kept theirs."""
        if self.cache is not None:
            self.cache.advance(self.count)
