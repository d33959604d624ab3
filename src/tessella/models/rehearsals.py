"""Rehearsals: the memory of a compiled decoding step, of a model that is not there.

One layer of a model stands for all: programs use their memory again from layer to layer. It is made
of tensors with shapes and no memory, inside of the function that the compiler plans.
"""

from __future__ import annotations

from dataclasses import replace

from tessella._core import Tensor
from tessella.blocks import FORMATS
from tessella.compiler import compile as compiled
from tessella.dtypes import DType, boolean, float32, int64, uint8
from tessella.hints import Any
from tessella.models.caches import KVCache
from tessella.models.gpt import GPT, GPTConfig
from tessella.models.llama import Llama
from tessella.models.outlines import Outline
from tessella.models.samplers import Sampler
from tessella.models.weights import Stored
from tessella.modes import no_grad
from tessella.ops.creation import spec


class Unread(Stored):
    """Layers over tensors of a format that have shapes only, made when they are asked for."""

    def __init__(self, tensors: dict[str, Tensor], format: DType | str, is_turned: bool) -> None:
        super().__init__(tensors)
        self.format, self.is_turned = format, is_turned

    def take(self, path: str, shape: tuple[int, ...]) -> tuple[Tensor, str | None]:
        """Give a tensor; vectors, and rows that fill no whole blocks, are floats."""
        format = self.format
        if isinstance(format, str) and (len(shape) == 1 or shape[-1] % FORMATS[format].elements):
            format = float32
        if isinstance(format, str):
            of = FORMATS[format]
            row = shape[-1] // of.elements * of.bytes
            return self._given(path, (*shape[:-1], row), uint8), format
        is_product = len(shape) == 2 and not path.startswith(("wte", "wpe", "lm_head"))
        if self.is_turned and is_product:
            return self._given(path, shape[::-1], format).mT, None
        return self._given(path, shape, format), None

    def _given(self, path: str, shape: tuple[int, ...], dtype: DType) -> Tensor:
        if path not in self.tensors:
            self.tensors[path] = spec(shape, dtype)
        return self.tensors[path]


class Room(KVCache):
    """A cache over keys and values that are given."""

    def __init__(self, keys: Tensor, values: Tensor, length: Tensor, padding: Tensor | None):
        size = keys.shape[2]
        super().__init__(0, keys.shape[0], 0, size, 0, dtype=keys.dtype, padding=padding)
        self.layers, self.keys, self.values, self.length = 1, [keys], [values], length


def step_bytes(found: Outline, format: DType | str, batch: int, context: int, kept: DType) -> int:
    """Give the memory of a compiled step that decodes with every option of the sampler."""
    config, sizes, is_turned = found.config, found.sizes, found.is_turned
    is_gpt = isinstance(config, GPTConfig)
    whole: Any = config
    one = replace(whole, **{"n_layer" if is_gpt else "num_hidden_layers": 1})
    model: Any = GPT if is_gpt else Llama
    sampler = Sampler(0.8, 2, 0.9, 0.1, 1.1, seed=0)
    weights: dict[str, Tensor] = {}
    model(one, Unread(weights, format, is_turned))

    def step(weights: Any, keys: Any, values: Any, numbers: Any, tokens: Any, seen: Any) -> Any:
        made = model(one, Unread(dict(weights), format, is_turned))
        cache = Room(keys, values, numbers[0], numbers[1] if batch > 1 else None)
        found = sampler(made(tokens, cache, last=True)[:, -1], seen)
        seen[numbers[2], found] = True
        return found

    room = spec((batch, sizes.kv_heads, context, sizes.features), kept)
    numbers = [spec((), int64), spec((batch,), int64), spec((batch,), int64)]
    tokens, seen = spec((batch, 1), int64), spec((batch, sizes.vocabulary), boolean)
    with no_grad():
        return int(compiled(step).plan(weights, room, room.clone(), numbers, tokens, seen).total)
