"""Generation: going on with token after token.

The prompt goes through the model in pieces, then each step is one compiled program: the model over
its cache, the sampler, and what was seen. One token for each row comes back into Python.
"""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_int
from tessella.compiler import compile as compiled
from tessella.dtypes import boolean
from tessella.hints import Any, Iterator, Sequence
from tessella.models import model_errors
from tessella.models.caches import KVCache
from tessella.models.samplers import Sampler
from tessella.modes import no_grad
from tessella.ops.creation import arange, zeros
from tessella.ops.movement import unsqueeze
from tessella.tensors import tensor

PIECE = 256  # tokens of a prompt that go through the model together: bounds its intermediates


class Writer:
    """Rows of tokens, and a model that goes on with them.

    Rows of different lengths are padded on the left. `capacity` is how many tokens fit, the prompts
    included; `options` are those of the model's cache. With `eager`, steps are not compiled.

    >>> config = ts.models.GPTConfig(vocab_size=9, n_positions=8, n_embd=8, n_layer=1, n_head=2)
    >>> writer = ts.models.Writer(ts.models.GPT(config), [[1, 2, 3], [4]], 8)
    >>> len(writer.first()), len(writer.next())
    (2, 2)
    """

    def __init__(
        self,
        model: Any,
        prompts: Sequence[Sequence[int]],
        capacity: int,
        sampler: Sampler | None = None,
        *,
        eager: bool = False,
        **options: Any,
    ) -> None:
        self.model, self.sampler = model, sampler or Sampler()
        rows = checked_prompts(prompts, capacity, model.config.vocab_size)
        longest = max(map(len, rows))
        padding = [longest - len(row) for row in rows]
        self.prompt = tensor([[row[0]] * n + row for n, row in zip(padding, rows, strict=True)])
        self.left = capacity - longest
        if any(padding):
            options["padding"] = tensor(padding)
        self.cache: KVCache = model.cache(capacity, len(rows), **options)
        self.seen: Tensor | None = None
        if self.sampler.needs_seen:
            self.seen = zeros((len(rows), model.config.vocab_size), dtype=boolean)
            for i, row in enumerate(rows):
                self.seen[i, tensor(row)] = True
        self.rows = arange(len(rows))
        self.tokens = self.prompt[:, -1:]
        self._step = self._advance if eager else compiled(self._advance)

    def _advance(self, tokens: Tensor) -> Tensor:
        """Give the next token of each row, (B, 1)."""
        found = self.sampler(self.model(tokens, self.cache, last=True)[:, -1], self.seen)
        if self.seen is not None:
            self.seen[self.rows, found] = True
        return unsqueeze(found, -1)

    @no_grad()
    def first(self) -> list[int]:
        """Go through the prompts; give the token that follows each."""
        last = (self.prompt.shape[1] - 1) // PIECE * PIECE
        for start in range(0, last, PIECE):
            self.model(self.prompt[:, start : start + PIECE], self.cache, last=True)
        return self._taken(self._advance(self.prompt[:, last:]))

    @no_grad()
    def next(self) -> list[int]:
        """Give a further token for each row."""
        if self.left < 1:
            raise model_errors.context_full(self.cache.capacity)
        return self._taken(self._step(self.tokens))

    def _taken(self, tokens: Tensor) -> list[int]:
        self.tokens = tokens
        self.left -= 1
        found: list[int] = tokens[:, 0].tolist()
        return found


def checked_prompts(
    prompts: Sequence[Sequence[int]], capacity: int, vocabulary: int
) -> list[list[int]]:
    """Require at least one token in each row, all of the vocabulary, and room for them."""
    rows = [[to_int(f"prompts[{i}]", token) for token in row] for i, row in enumerate(prompts)]
    if not rows:
        raise errors.wrong_value("prompts", rows, "at least one list of tokens")
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


def generate(
    model: Any,
    prompts: Sequence[Sequence[int]],
    max_tokens: int,
    sampler: Sampler | None = None,
    *,
    stop: Sequence[int] = (),
    eager: bool = False,
    **options: Any,
) -> list[list[int]]:
    """Give up to `max_tokens` tokens that follow each prompt; a row ends before a token of `stop`.

    >>> config = ts.models.GPTConfig(vocab_size=9, n_positions=8, n_embd=8, n_layer=1, n_head=2)
    >>> rows = ts.models.generate(ts.models.GPT(config), [[1, 2, 3], [4]], 5)
    >>> [len(row) for row in rows]
    [5, 5]
    """
    capacity = max(map(len, prompts), default=0) + max_tokens
    writer = Writer(model, prompts, capacity, sampler, eager=eager, **options)
    found: list[list[int]] = [[] for _ in prompts]
    going = set(range(len(found)))
    ends = frozenset(stop)
    for tokens in steps(writer, max_tokens):
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
