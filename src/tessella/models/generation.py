"""Generation: going on with token after token.

The prompt goes through the model in pieces, then each step is one compiled program: the model over
its cache, the sampler, and what was seen. One token for each row comes back into Python.
"""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.allocators import Allocator
from tessella.arguments import to_bool, to_count, to_int, to_list
from tessella.compiler import compile as compiled
from tessella.dtypes import boolean
from tessella.hints import Any, DTypeLike, Iterable, Iterator
from tessella.located import located
from tessella.models import model_errors
from tessella.models.caches import KVCache, to_cache_dtype
from tessella.models.places import PIECE
from tessella.models.rooms import explained
from tessella.models.samplers import Sampler
from tessella.modes import no_grad
from tessella.nn import Module
from tessella.ops.creation import arange, zeros
from tessella.ops.movement import unsqueeze
from tessella.tensors import tensor


class Writer:
    """Rows of tokens, and a model that goes on with them.

    Rows of different lengths are padded on the left. `capacity` is how many tokens fit, the prompts
    included. `dtype` and `allocator` are those of the cache: ts.float16 takes half the memory of
    float32. With `eager`, steps are not compiled: hooks may then read what layers give.

    >>> config = ts.models.GPTConfig(vocab_size=9, n_positions=8, n_embd=8, n_layer=1, n_head=2)
    >>> writer = ts.models.Writer(ts.models.GPT(config), [[1, 2, 3], [4]], 8)
    >>> len(writer.first()), len(writer.next())
    (2, 2)
    """

    @located("Writer")
    def __init__(
        self,
        model: Module,
        prompts: Iterable[Iterable[int]],
        capacity: int,
        sampler: Sampler | None = None,
        *,
        eager: bool = False,
        dtype: DTypeLike | None = None,
        allocator: Allocator | None = None,
    ) -> None:
        if not (isinstance(model, Module) and hasattr(model, "cache")):
            raise errors.wrong_type("model", model, "a model of ts.models, such as GPT or Llama")
        if not (sampler is None or isinstance(sampler, Sampler)):
            raise errors.wrong_type("sampler", sampler, "a Sampler")
        is_eager = to_bool("eager", eager)
        self.model, self.sampler = model, sampler or Sampler()
        made: Any = model
        places, config = to_int("capacity", capacity), made.config
        rows = checked_prompts(prompts, places, config.vocab_size)
        longest = max(map(len, rows))
        padding = [longest - len(row) for row in rows]
        self.prompt = tensor([[row[0]] * n + row for n, row in zip(padding, rows, strict=True)])
        self.left, self._is_begun = places - longest, False
        kind = to_cache_dtype(dtype)
        options = {"dtype": kind, "padding": tensor(padding) if any(padding) else None}
        try:
            self.cache: KVCache = made.cache(places, len(rows), allocator=allocator, **options)
        except errors.OutOfMemory as error:
            if allocator is not None:  # which has its own bounds
                raise
            raise explained(error, model, places, len(rows), kind, 0) from None
        self.seen: Tensor | None = None
        if self.sampler.needs_seen:
            self.seen = zeros((len(rows), config.vocab_size), dtype=boolean)
            for i, row in enumerate(rows):
                self.seen[i, tensor(row)] = True
        self.rows = arange(len(rows))
        self.tokens = self.prompt[:, -1:]
        self._step = self._advance if is_eager else compiled(self._advance)

    def _advance(self, tokens: Tensor) -> Tensor:
        """Give the next token of each row, (B, 1)."""
        found = self.sampler(self.model(tokens, self.cache, last=True)[:, -1], self.seen)
        if self.seen is not None:
            self.seen[self.rows, found] = True
        return unsqueeze(found, -1)

    @located("Writer.first")
    @no_grad()
    def first(self) -> list[int]:
        """Go through the prompts; give the token that follows each."""
        if self._is_begun:
            raise model_errors.begun_already()
        self.cache.truncate(0)  # of a call that failed half-way
        last = (self.prompt.shape[1] - 1) // PIECE * PIECE
        try:
            for start in range(0, last, PIECE):
                self.model(self.prompt[:, start : start + PIECE], self.cache, last=True)
            found = self._taken(self._advance(self.prompt[:, last:]))
        except errors.OutOfMemory as error:
            raise self._explained(error) from None
        self._is_begun = True
        return found

    @located("Writer.next")
    @no_grad()
    def next(self) -> list[int]:
        """Give a further token for each row."""
        if not self._is_begun:
            raise model_errors.not_begun()
        if self.left < 1:
            raise model_errors.context_full(self.cache.capacity)
        try:
            return self._taken(self._step(self.tokens))
        except errors.CaptureError as error:
            error.hint += "; or write with eager=True, where values may be read"
            raise
        except errors.OutOfMemory as error:
            raise self._explained(error) from None

    def _explained(self, error: errors.OutOfMemory) -> errors.TessellaError:
        cache = self.cache
        sizes = (cache.capacity, cache.batch, cache.dtype, cache.nbytes)
        return explained(error, self.model, *sizes)

    def _taken(self, tokens: Tensor) -> list[int]:
        self.tokens = tokens
        self.left -= 1
        found: Any = tokens[:, 0].tolist()
        ids: list[int] = found
        return ids


def checked_prompts(
    prompts: Iterable[Iterable[int]], capacity: int, vocabulary: int
) -> list[list[int]]:
    """Require at least one token in each row, all of the vocabulary, and room for them."""
    rows = token_rows(prompts)
    for i, row in enumerate(rows):
        if not row:
            raise model_errors.empty_prompt(i)
        for token in row:
            if not 0 <= token < vocabulary:
                raise model_errors.unknown_token(token, vocabulary)
    longest = max(map(len, rows))
    if longest > capacity:
        raise model_errors.prompt_too_long(longest, capacity)
    return rows


def token_rows(prompts: Any) -> list[list[int]]:
    """Give lists of tokens, at least one."""
    rows = [
        [
            to_int(f"prompts[{i}]", token)
            for token in to_list(f"prompts[{i}]", row, "a list of tokens")
        ]
        for i, row in enumerate(to_list("prompts", prompts, "a list of lists of tokens"))
    ]
    if not rows:
        raise errors.wrong_value("prompts", rows, "at least one list of tokens")
    return rows


@located("generate")
def generate(
    model: Module,
    prompts: Iterable[Iterable[int]],
    max_tokens: int,
    sampler: Sampler | None = None,
    *,
    stop: Iterable[int] = (),
    eager: bool = False,
    dtype: DTypeLike | None = None,
    allocator: Allocator | None = None,
) -> list[list[int]]:
    """Give up to `max_tokens` tokens that follow each prompt; a row ends before a token of `stop`.

    `eager`, `dtype` and `allocator` are those of Writer.

    >>> config = ts.models.GPTConfig(vocab_size=9, n_positions=8, n_embd=8, n_layer=1, n_head=2)
    >>> rows = ts.models.generate(ts.models.GPT(config), [[1, 2, 3], [4]], 5)
    >>> [len(row) for row in rows]
    [5, 5]
    """
    count = to_count("max_tokens", max_tokens, 0)
    ends = frozenset(to_int("stop", token) for token in to_list("stop", stop, "a list of tokens"))
    rows = token_rows(prompts)
    capacity = max(map(len, rows)) + count
    writer = Writer(model, rows, capacity, sampler, eager=eager, dtype=dtype, allocator=allocator)
    found: list[list[int]] = [[] for _ in rows]
    going = set(range(len(found)))
    for tokens in steps(writer, count):
        for i in sorted(going):
            if tokens[i] in ends:
                going.remove(i)
            else:
                found[i].append(tokens[i])
        if not going:
            break
    return found


def steps(writer: Writer, count: int) -> Iterator[list[int]]:
    """Give tokens of all rows, so many times."""
    for i in range(count):
        yield writer.next() if i else writer.first()
