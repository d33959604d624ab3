"""LanguageModel: a model with its tokenizer, from a folder or a GGUF file; text in and text out."""

from __future__ import annotations

from pathlib import Path

from tessella import errors
from tessella.arguments import is_iterable, to_int
from tessella.data_errors import located
from tessella.dtypes import DType, float32
from tessella.hints import Any, Iterable, Sequence
from tessella.io import open_gguf
from tessella.models import model_errors
from tessella.models.estimates import fitting_context, to_context
from tessella.models.folders import Model, load_folder, read_json
from tessella.models.generation import Writer
from tessella.models.gguf import model_of
from tessella.models.gpt import GPT
from tessella.models.passages import Figures, Passage, Row, all_texts
from tessella.models.samplers import Sampler
from tessella.models.sizes import sizes_of
from tessella.models.stops import Stops
from tessella.text import Tokenizer, render_chat


class LanguageModel:
    """A model and its tokenizer.

    `context` is how many tokens a text may have, its prompt included: the model's own number, or a
    smaller one. `ends` are tokens after which the model has said its say, beside the tokenizer's.

    >>> config = ts.models.GPTConfig(vocab_size=3, n_positions=16, n_embd=8, n_layer=1, n_head=2)
    >>> tokenizer = ts.text.Tokenizer.from_metadata({
    ...     "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["h", "a", "!"],
    ...     "tokenizer.ggml.merges": []})
    >>> author = ts.models.LanguageModel(ts.models.GPT(config), tokenizer)
    >>> len("".join(author.write("ha", 10, seed=0)))
    10
    """

    def __init__(
        self,
        model: Model,
        tokenizer: Tokenizer,
        context: int | None = None,
        ends: Iterable[int] = (),
    ) -> None:
        for name, given, kind in (("model", model, Model), ("tokenizer", tokenizer, Tokenizer)):
            if not isinstance(given, kind):
                wanted = "a model of ts.models" if name == "model" else "a ts.text.Tokenizer"
                raise errors.wrong_type(name, given, wanted).locate("LanguageModel", [])
        self.model, self.tokenizer = model, tokenizer
        self.context = to_context(context, sizes_of(model.config).context)
        self.ends = tokenizer.ends.union(ends)

    def __repr__(self) -> str:
        kind = type(self.model).__name__
        return f"LanguageModel({kind}, {self.tokenizer!r}, context={self.context:,})"

    @located("LanguageModel.write")
    def write(
        self,
        prompt: str,
        max_tokens: int | None = None,
        *,
        stop: str | Sequence[str] = (),
        eager: bool = False,
        **options: Any,
    ) -> Passage:
        """Go on with a text; give the pieces of what follows, as they come.

        It ends before a text of `stop`, at a token that ends texts, after `max_tokens`, or where
        the context is full. Further options are those of Sampler: temperature, top_k, top_p, min_p,
        repetition_penalty, seed. With `eager`, steps are not compiled.

        >>> config = ts.models.GPTConfig(vocab_size=2, n_positions=8, n_embd=8, n_layer=1, n_head=2)
        >>> tokenizer = ts.text.Tokenizer.from_metadata({
        ...     "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["a", "b"],
        ...     "tokenizer.ggml.merges": []})
        >>> author = ts.models.LanguageModel(ts.models.GPT(config), tokenizer)
        >>> for piece in author.write("ab", 3, seed=0):
        ...     assert piece in ("a", "b")
        """
        return self._passage(self._encode("prompt", prompt), max_tokens, stop, eager, options)

    @located("LanguageModel.chat")
    def chat(
        self,
        messages: list[dict[str, Any]],
        max_tokens: int | None = None,
        *,
        stop: str | Sequence[str] = (),
        eager: bool = False,
        **options: Any,
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
        return self._passage(tokens, max_tokens, stop, eager, options)

    @located("LanguageModel.write_all")
    def write_all(
        self,
        prompts: Sequence[str],
        max_tokens: int | None = None,
        *,
        stop: str | Sequence[str] = (),
        eager: bool = False,
        **options: Any,
    ) -> list[str]:
        """Go on with several texts at once; give what follows each. See `write`.

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
        writer, count = self._writer(tokens, max_tokens, eager, options)
        rows = [Row(self.tokenizer, each, self.ends, stop) for each in tokens]
        return all_texts(writer, rows, count, Figures(sum(map(len, tokens))))

    def _encode(self, name: str, text: Any) -> list[int]:
        """Give the tokens of a prompt; of an empty one the start, where there is such a token."""
        if not isinstance(text, str):
            raise errors.wrong_type(name, text, "text")
        start = [] if self.tokenizer.bos is None else [self.tokenizer.bos]
        return self.tokenizer.encode(text) or start

    def _passage(
        self, tokens: list[int], max_tokens: Any, stop: Any, eager: bool, options: dict[str, Any]
    ) -> Passage:
        Stops(stop)  # refused before memory is taken
        writer, count = self._writer([tokens], max_tokens, eager, options)
        row = Row(self.tokenizer, tokens, self.ends, stop)
        return Passage(writer, row, count, Figures(len(tokens)))

    def _writer(
        self, rows: list[list[int]], max_tokens: Any, eager: bool, options: dict[str, Any]
    ) -> tuple[Writer, int]:
        """Give what writes, with room for the texts and no more, and how many tokens it may."""
        longest = max(map(len, rows), default=0)
        left = self.context - longest
        if left < 1:
            raise model_errors.no_room(longest, self.context)
        count = left if max_tokens is None else min(to_count(max_tokens), left)
        sampler, dtype = Sampler(**options), computed_in(self.model)
        writer = Writer(self.model, rows, longest + count, sampler, eager=eager, dtype=dtype)
        return writer, count


def computed_in(model: Model) -> DType:
    """Give the dtype of what goes from layer to layer, in which keys and values are kept: that of
    the table of tokens, which is float32 where it is quantised.
    """
    table: Any = model.wte if isinstance(model, GPT) else model.embed_tokens
    dtype: DType = table.weight.dtype
    return dtype if dtype.is_floating else float32


def to_count(value: Any) -> int:
    """Check how many tokens are asked for."""
    count = to_int("max_tokens", value)
    if count < 1:
        raise errors.wrong_value("max_tokens", value, "at least 1")
    return count


@located("models.load")
def load(path: Any, context: int | None = None) -> LanguageModel:
    """Load a model and its tokenizer: the folder of a model, or a GGUF file.

    A folder has config.json, safetensors and tokenizer.json, which needs
    `pip install "tessella[tokenizers]"`; a GGUF file has all in it. `context` is how many tokens a
    text may have. Where the memory that this needs (`estimate`) is not there, nothing is loaded;
    without it, it is the model's own, or as much of that as fits.

    >>> config = ts.models.GPTConfig(vocab_size=3, n_positions=8, n_embd=32, n_layer=1, n_head=2)
    >>> metadata = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["a", "b", "ab"],
    ...             "tokenizer.ggml.merges": ["a b"]}
    >>> ts.models.save_gguf(ts.models.GPT(config), "small.gguf", metadata)
    >>> ts.models.load("small.gguf")
    LanguageModel(GPT, Tokenizer(3 tokens), context=8)
    """
    context = fitting_context(path, context)
    folder = Path(path)
    if folder.is_dir():
        tokenizer = Tokenizer.from_file(folder)
        model = load_folder(folder)
        ends = _ends_of(folder)
    else:
        file = open_gguf(path)
        tokenizer, model, ends = Tokenizer.from_metadata(file.metadata), model_of(file), []
    model.eval()
    return LanguageModel(model, tokenizer, context, ends)


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
