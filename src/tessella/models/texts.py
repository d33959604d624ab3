"""LanguageModel: a model with its tokenizer, from a folder or a GGUF file; text in and text out."""

from __future__ import annotations

import inspect
from pathlib import Path

from tessella import errors
from tessella.allocators import Allocator
from tessella.arguments import is_iterable, to_count, to_int, to_list
from tessella.hints import (
    TYPE_CHECKING,
    Any,
    DTypeLike,
    Iterable,
    Mapping,
    Path as PathLike,
    Sequence,
)
from tessella.io import open_gguf
from tessella.located import located
from tessella.models import model_errors
from tessella.models.caches import to_cache_dtype
from tessella.models.estimates import fitting_context, to_context
from tessella.models.folders import Model, load_folder, read_json
from tessella.models.generation import Writer
from tessella.models.gguf import model_of
from tessella.models.passages import Figures, Passage, Row, all_texts
from tessella.models.rooms import computed_in
from tessella.models.samplers import Sampler
from tessella.models.sizes import sizes_of
from tessella.models.stops import Stops
from tessella.text import Tokenizer, render_chat

if TYPE_CHECKING:
    from typing import Unpack

    from tessella.models.samplers import SamplerOptions


class LanguageModel:
    """A model and its tokenizer.

    `context` is how many tokens a text may have, its prompt included: the model's own number, or a
    smaller one. `ends` are tokens after which the model has said its say, beside the tokenizer's.
    Keys and values are kept as `dtype`: what the model computes in, or ts.float16 for less memory.

    >>> config = ts.models.GPTConfig(vocab_size=3, n_positions=16, n_embd=8, n_layer=1, n_head=2)
    >>> tokenizer = ts.text.Tokenizer.from_metadata({
    ...     "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["h", "a", "!"],
    ...     "tokenizer.ggml.merges": []})
    >>> author = ts.models.LanguageModel(ts.models.GPT(config), tokenizer)
    >>> len("".join(author.write("ha", 10, seed=0)))
    10
    """

    @located("LanguageModel")
    def __init__(
        self,
        model: Model,
        tokenizer: Tokenizer,
        context: int | None = None,
        ends: Iterable[int] = (),
        dtype: DTypeLike | None = None,
    ) -> None:
        for name, given, kind in (("model", model, Model), ("tokenizer", tokenizer, Tokenizer)):
            if not isinstance(given, kind):
                wanted = "a model of ts.models" if name == "model" else "a ts.text.Tokenizer"
                raise errors.wrong_type(name, given, wanted)
        self.model, self.tokenizer = model, tokenizer
        self.context = to_context(context, sizes_of(model.config).context)
        more = to_list("ends", ends, "a list of tokens")
        self.ends = tokenizer.ends.union([to_int("ends", token) for token in more])
        self.dtype = computed_in(model) if dtype is None else to_cache_dtype(dtype)

    def __repr__(self) -> str:
        kind = type(self.model).__name__
        return f"LanguageModel({kind}, {self.tokenizer!r}, context={self.context:,})"

    @located("LanguageModel.write")
    def write(
        self,
        prompt: str,
        max_tokens: int | None = None,
        *,
        stop: str | Iterable[str] = (),
        eager: bool = False,
        allocator: Allocator | None = None,
        **options: Unpack[SamplerOptions],
    ) -> Passage:
        """Go on with a text; give the pieces of what follows, as they come.

        It ends before a text of `stop`, at a token that ends texts, after `max_tokens`, or where
        the context is full. Further options are those of Sampler: temperature, top_k, top_p, min_p,
        repetition_penalty, seed. With `eager`, steps are not compiled: hooks may then read what
        layers give. Keys and values lie in `allocator`, if one is given.

        >>> config = ts.models.GPTConfig(vocab_size=2, n_positions=8, n_embd=8, n_layer=1, n_head=2)
        >>> tokenizer = ts.text.Tokenizer.from_metadata({
        ...     "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["a", "b"],
        ...     "tokenizer.ggml.merges": []})
        >>> author = ts.models.LanguageModel(ts.models.GPT(config), tokenizer)
        >>> for piece in author.write("ab", 3, seed=0):
        ...     assert piece in ("a", "b")
        """
        tokens = self._encode("prompt", prompt)
        return self._passage(tokens, max_tokens, stop, eager, allocator, options)

    @located("LanguageModel.chat")
    def chat(
        self,
        messages: Sequence[Mapping[str, object]],
        max_tokens: int | None = None,
        *,
        stop: str | Iterable[str] = (),
        eager: bool = False,
        allocator: Allocator | None = None,
        **options: Unpack[SamplerOptions],
    ) -> Passage:
        """Answer a chat, written by the template that came with the model; see `write`.

        >>> config = ts.models.GPTConfig(vocab_size=3, n_positions=32, n_embd=8, n_layer=1,
        ...                              n_head=2)
        >>> tokenizer = ts.text.Tokenizer.from_metadata({
        ...     "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["h", "i", ":"],
        ...     "tokenizer.ggml.merges": [],
        ...     "tokenizer.chat_template": "{% for m in messages %}{{ m.content }}:{% endfor %}"})
        >>> author = ts.models.LanguageModel(ts.models.GPT(config), tokenizer)
        >>> answer = author.chat([{"role": "user", "content": "hi"}], 5, seed=0)
        >>> len("".join(answer))
        5
        """
        tokenizer = self.tokenizer
        if tokenizer.chat_template is None:
            raise model_errors.no_template()
        marks = {"bos_token": tokenizer.bos, "eos_token": tokenizer.eos}
        variables: dict[str, Any] = {
            name: "" if token is None else tokenizer.id_to_token(token)
            for name, token in marks.items()
        }
        text = render_chat(tokenizer.chat_template, messages, **variables)
        tokens = tokenizer.encode(text, add_special=False)
        return self._passage(tokens, max_tokens, stop, eager, allocator, options)

    @located("LanguageModel.write_all")
    def write_all(
        self,
        prompts: Iterable[str],
        max_tokens: int | None = None,
        *,
        stop: str | Iterable[str] = (),
        eager: bool = False,
        allocator: Allocator | None = None,
        **options: Unpack[SamplerOptions],
    ) -> list[str]:
        """Go on with several texts at once; give what follows each. See `write`.

        Without `max_tokens` all of them end where the longest prompt's text fills the context. They
        draw from one stream of random numbers: a seed repeats them together, and none alone.

        >>> config = ts.models.GPTConfig(vocab_size=2, n_positions=8, n_embd=8, n_layer=1, n_head=2)
        >>> tokenizer = ts.text.Tokenizer.from_metadata({
        ...     "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["a", "b"],
        ...     "tokenizer.ggml.merges": []})
        >>> author = ts.models.LanguageModel(ts.models.GPT(config), tokenizer)
        >>> [len(text) for text in author.write_all(["ab", "a"], 4)]
        [4, 4]
        """
        if isinstance(prompts, str) or not is_iterable(prompts):
            raise errors.wrong_type("prompts", prompts, "a list of texts")
        tokens = [self._encode(f"prompts[{i}]", text) for i, text in enumerate(prompts)]
        if not tokens:
            raise errors.wrong_value("prompts", tokens, "at least one text")
        stops = Stops(stop).texts  # refused before memory is taken, and walked through once
        writer, count = self._writer(tokens, max_tokens, eager, allocator, options)
        rows = [Row(self.tokenizer, each, self.ends, stops) for each in tokens]
        return all_texts(writer, rows, count, Figures(sum(map(len, tokens))))

    def _encode(self, name: str, text: Any) -> list[int]:
        """Give the tokens of a prompt; of an empty one the start, where there is such a token."""
        if not isinstance(text, str):
            raise errors.wrong_type(name, text, "text")
        start = [] if self.tokenizer.bos is None else [self.tokenizer.bos]
        return self.tokenizer.encode(text) or start

    def _passage(
        self,
        tokens: list[int],
        max_tokens: Any,
        stop: Any,
        eager: bool,
        allocator: Allocator | None,
        options: SamplerOptions,
    ) -> Passage:
        stops = Stops(stop).texts  # refused before memory is taken, and walked through once
        writer, count = self._writer([tokens], max_tokens, eager, allocator, options)
        row = Row(self.tokenizer, tokens, self.ends, stops)
        return Passage(writer, row, count, Figures(len(tokens)))

    def _writer(
        self,
        rows: list[list[int]],
        max_tokens: Any,
        eager: bool,
        allocator: Allocator | None,
        options: SamplerOptions,
    ) -> tuple[Writer, int]:
        """Give what writes, with room for the texts and no more, and how many tokens it may."""
        longest = max(map(len, rows))
        left = self.context - longest
        if left < 1:
            raise model_errors.no_room(longest, self.context)
        count = left if max_tokens is None else min(to_count("max_tokens", max_tokens), left)
        writer = Writer(
            self.model, rows, longest + count, to_sampler(options), eager=eager, dtype=self.dtype,
            allocator=allocator,
        )  # fmt: skip
        return writer, count


def to_sampler(options: SamplerOptions) -> Sampler:
    """Make the sampler that options ask for, all of which it must know."""
    known = inspect.signature(Sampler)
    for name in options:
        if name not in known.parameters:
            raise errors.unknown_keyword(name, f"Sampler{known}")
    return Sampler(**options)


@located("models.load")
def load(
    path: PathLike, context: int | None = None, dtype: DTypeLike | None = None
) -> LanguageModel:
    """Load a model and its tokenizer: the folder of a model, or a GGUF file.

    A folder has config.json, safetensors and tokenizer.json, which needs
    `pip install "tessella[tokenizers]"`; a GGUF file has all in it. `context` is how many tokens a
    text may have, and `dtype` what keys and values are kept as. Where the memory that this needs
    (`estimate`) is not there, nothing is loaded; without a context, it is the model's own, or as
    much of that as fits.

    >>> config = ts.models.GPTConfig(vocab_size=3, n_positions=8, n_embd=32, n_layer=1, n_head=2)
    >>> metadata = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["a", "b", "ab"],
    ...             "tokenizer.ggml.merges": ["a b"]}
    >>> ts.models.save_gguf(ts.models.GPT(config), "small.gguf", metadata)
    >>> ts.models.load("small.gguf")
    LanguageModel(GPT, Tokenizer(3 tokens), context=8)
    """
    context = fitting_context(path, context, dtype)
    folder = Path(path)
    if folder.is_dir():
        tokenizer = Tokenizer.from_file(folder)
        model = load_folder(folder)
        ends = _ends_of(folder)
    else:
        file = open_gguf(path)
        tokenizer, model, ends = Tokenizer.from_metadata(file.metadata), model_of(file), []
    model.eval()
    return LanguageModel(model, tokenizer, context, ends, dtype)


def _ends_of(folder: Path) -> list[int]:
    """Give the tokens that end texts by generation_config.json and config.json."""
    found: list[int] = []
    for name in ("generation_config.json", "config.json"):
        if not (folder / name).exists():
            continue
        value = read_json(folder / name).get("eos_token_id")
        tokens = value if isinstance(value, list) else [] if value is None else [value]
        for token in tokens:
            if isinstance(token, bool) or not isinstance(token, int):
                raise model_errors.wrong_end(str(folder / name), token)
        found += tokens
    return found
