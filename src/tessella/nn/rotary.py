"""RotaryEmbedding: the angles of places."""

from __future__ import annotations

import math
import sys

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_count, to_float
from tessella.dtypes import float32, float64
from tessella.hints import Any, Mapping
from tessella.kinds import cast
from tessella.nn import sequence_errors
from tessella.nn.functional.rotary import rotary
from tessella.nn.modules import Module
from tessella.ops.elementwise import cos, sin
from tessella.ops.movement import unsqueeze
from tessella.tensors import tensor


class RotaryEmbedding(Module):
    """Turns pairs of features by angles that grow with their place.

    Called with places (T,) or (B, T), it gives their cosines and sines, which all layers of a model
    share; `turn` applies them to (B, H, T, features). From one place to the next, pair i turns by
    base ** (-2i / features); angles are computed in float64. What is a pair, `interleaved` says, as
    in nn.functional.rotary.

    `scaling` stretches them for contexts that are longer than those of training, as config.json
    writes it: the rope_type "linear" divides all by `factor`; "llama3" divides those that turn
    around less than low_freq_factor times in original_max_position_embeddings places, leaves those
    that do so more than high_freq_factor times, and goes from one to the other between. "factors"
    divides each by its own, as GGUF files have them.

    >>> rope = nn.RotaryEmbedding(8)
    >>> rope.turn(ts.ones(1, 2, 3, 8), rope(ts.arange(3))).shape
    (1, 2, 3, 8)
    """

    def __init__(
        self,
        features: int,
        base: float = 10000.0,
        scaling: Mapping[str, object] | None = None,
        interleaved: bool = False,
    ) -> None:
        super().__init__()
        self.features = to_count("features", features, 0)
        try:
            self.interleaved = to_bool("interleaved", interleaved)
            found = rotary_frequencies(self.features, base, scaling)
        except errors.TessellaError as error:
            raise error.locate("RotaryEmbedding", []) from None
        self.frequencies = found  # no buffer: halves would turn distant places to elsewhere

    def forward(self, places: Tensor) -> tuple[Tensor, Tensor]:
        """Give cosines and sines, (…, T, features / 2)."""
        if not isinstance(places, Tensor):
            raise errors.not_tensor("places", places, "a tensor").locate("RotaryEmbedding", [])
        angles = unsqueeze(cast(places, float64), -1) * self.frequencies
        return cast(cos(angles), float32), cast(sin(angles), float32)

    def turn(self, x: Tensor, angles: tuple[Tensor, Tensor]) -> Tensor:
        """Turn x, (B, H, T, features), by what was given for its places."""
        pair = [unsqueeze(part, 1) if part.ndim == 3 else part for part in angles]
        return rotary(x, *pair, interleaved=self.interleaved)

    def extra_repr(self) -> str:
        """Show the features."""
        return f"features={self.features}, interleaved={self.interleaved}"


def rotary_frequencies(
    features: int, base: float = 10000.0, scaling: Mapping[str, object] | None = None
) -> Tensor:
    """Give the angles by which pairs turn from one place to the next: (features / 2,), float64."""
    if features < 2 or features % 2:
        raise errors.wrong_value(
            "features", features, "an even number, at least 2: pairs are turned"
        )
    base = to_float("base", base)
    if not 0 < base < math.inf:
        raise errors.wrong_value("base", base, "more than 0, and finite")
    if scaling is not None and not isinstance(scaling, dict):
        raise errors.wrong_type("scaling", scaling, "a dict, such as that of rope_type")
    plain = [base ** (-2 * i / features) for i in range(features // 2)]
    if scaling and scaling.get("rope_type") == "factors":
        factors: Any = scaling.get("factors")
        is_list = isinstance(factors, list | tuple) and len(factors) == len(plain)
        if not is_list or not all(_is_above_zero(by) for by in factors):
            raise sequence_errors.wrong_factors(factors, len(plain))
        return tensor([f / by for f, by in zip(plain, factors, strict=True)], dtype=float64)
    return tensor([_scaled(f, scaling) for f in plain] if scaling else plain, dtype=float64)


def _scaled(frequency: float, scaling: Mapping[str, object]) -> float:
    """Stretch one frequency."""
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    if kind == "default":
        return frequency
    if kind not in ("linear", "llama3"):
        raise sequence_errors.unknown_scaling(kind)
    factor = _number(scaling, "factor")
    if kind == "linear":
        return frequency / factor
    low, high = _number(scaling, "low_freq_factor"), _number(scaling, "high_freq_factor")
    if not low < high:
        raise sequence_errors.wrong_bands(low, high)
    turns = _number(scaling, "original_max_position_embeddings") * frequency / (2 * math.pi)
    part = min(max((turns - low) / (high - low), 0.0), 1.0)
    return frequency * (part + (1 - part) / factor)


def _number(scaling: Mapping[str, object], name: str) -> float:
    value: Any = scaling.get(name)
    if not _is_above_zero(value):
        raise sequence_errors.wrong_scaling(name, value)
    return float(value)


def _is_above_zero(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 < value <= sys.float_info.max
