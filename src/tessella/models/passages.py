"""Passages: text that a model writes, as it comes, with why it ended and how fast it was.

Tokens become text when their UTF-8 is whole, and when it is clear that they do not begin a stop
string.
"""

from __future__ import annotations

from time import perf_counter

from tessella.hints import TYPE_CHECKING, Callable, Iterable, Iterator, Sequence
from tessella.models.generation import Writer
from tessella.models.stops import Stops

if TYPE_CHECKING:
    from tessella.text import Tokenizer

END, STOP, LENGTH = "end", "stop", "length"


class Row:
    """One text of a batch, token by token, until it ends.

    `reason` tells why it ended: "end" by a token that ends texts, "stop" by a stop string,
    "length" where no more tokens were asked for or fitted.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        prompt: Sequence[int],
        ends: frozenset[int],
        stop: str | Iterable[str],
    ) -> None:
        # Behind a special token, such as that of the start, a text begins; else it goes on.
        is_start = prompt[-1] in tokenizer.special_ids
        self._stream = tokenizer.stream(skip_special=True, is_start=is_start)
        self._size, self._ends, self._stops = tokenizer.vocabulary_size, ends, Stops(stop)
        self.tokens: list[int] = []
        self.reason = ""

    def add(self, token: int) -> str:
        """Take the next token; give the text that is clear now."""
        if token in self._ends:
            return self.finish(END)
        self.tokens.append(token)
        if token >= self._size:  # tables may have more rows than there are tokens
            return ""
        text = self._stops.add(self._stream.add(token))
        if self._stops.is_found:
            self.reason = STOP
        return text

    def finish(self, reason: str) -> str:
        """End the text; give what was held back."""
        self.reason = reason
        text = self._stops.add(self._stream.end())
        if self._stops.is_found:
            self.reason = STOP
        return text + self._stops.end()


class Figures:
    """How many tokens there were, and the seconds that they took."""

    def __init__(self, prompt_tokens: int) -> None:
        self.prompt_tokens, self.prompt_seconds = prompt_tokens, 0.0
        self.tokens, self.seconds = 0, 0.0  # of steps behind the prompt, the first token aside

    def __str__(self) -> str:
        first = f"prompt {self.prompt_tokens} tokens"
        if self.prompt_seconds > 0:
            first += f", {self.prompt_tokens / self.prompt_seconds:.1f} tokens/s"
        if not self.tokens:
            return first
        return f"{first}; then {self.tokens} tokens, {self.tokens / self.seconds:.1f} tokens/s"


class Passage:
    """Text that is being written: an iterator over its pieces.

    `reason` tells at the end why it ended: "end", "stop" or "length"; `tokens` are those so far,
    and `figures` tells how fast they came.

    >>> config = ts.models.GPTConfig(vocab_size=2, n_positions=8, n_embd=8, n_layer=1, n_head=2)
    >>> tokenizer = ts.text.Tokenizer.from_metadata({
    ...     "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["a", "b"],
    ...     "tokenizer.ggml.merges": []})
    >>> passage = ts.models.LanguageModel(ts.models.GPT(config), tokenizer).write("ab", 4)
    >>> len("".join(passage)), passage.reason, len(passage.tokens)
    (4, 'length', 4)
    """

    def __init__(self, writer: Writer, row: Row, count: int, figures: Figures) -> None:
        self._row, self.figures = row, figures
        self._pieces = _pieces(writer, row, count, figures)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        return next(self._pieces)

    @property
    def reason(self) -> str:
        """Why it ended; empty before."""
        return self._row.reason

    @property
    def tokens(self) -> list[int]:
        """The tokens so far, without one that ends the text."""
        return list(self._row.tokens)


def _pieces(writer: Writer, row: Row, count: int, figures: Figures) -> Iterator[str]:
    for (token,) in timed_steps(writer, count, figures):
        text = row.add(token)
        if text:
            yield text
        if row.reason:
            return
    text = row.finish(LENGTH)
    if text:
        yield text


def timed_steps(writer: Writer, count: int, figures: Figures) -> Iterator[list[int]]:
    """Give tokens of all rows, so many times, and note how long each took."""
    for i in range(count):
        step: Callable[[], list[int]] = writer.next if i else writer.first
        start = perf_counter()
        found = step()
        seconds = perf_counter() - start
        if i:
            figures.tokens += len(found)
            figures.seconds += seconds
        else:
            figures.prompt_seconds = seconds
        yield found


def all_texts(writer: Writer, rows: list[Row], count: int, figures: Figures) -> list[str]:
    """Give the whole texts of all rows."""
    texts = ["" for _ in rows]
    for tokens in timed_steps(writer, count, figures):
        for i, row in enumerate(rows):
            if not row.reason:
                texts[i] += row.add(tokens[i])
        if all(row.reason for row in rows):
            break
    for i, row in enumerate(rows):
        if not row.reason:
            texts[i] += row.finish(LENGTH)
    return texts
