"""Tokenizer: text to tokens and back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import is_iterable, to_bool, to_offset
from tessella.located import located
from tessella.text import text_errors
from tessella.text.codings import MetadataCoding, MetadataStream
from tessella.text.files import FileCoding, FileStream


class Tokenizer:
    """Makes tokens of text, as a language model was trained on them, and text of tokens.

    It is made of the metadata of a GGUF file, or of a tokenizer.json.

    >>> tokens = ["<unk>", "<s>", "</s>", "\\u2581", "h", "i", "\\u2581h", "\\u2581hi"]
    >>> tokenizer = ts.text.Tokenizer.from_metadata({
    ...     "tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": tokens,
    ...     "tokenizer.ggml.scores": [0, 0, 0, -5, -4, -3, -2, -1],
    ...     "tokenizer.ggml.token_type": [2, 3, 3, 1, 1, 1, 1, 1]})
    >>> tokenizer.encode("hi hi")
    [1, 7, 7]
    >>> tokenizer.decode([1, 7, 7], skip_special=True)
    'hi hi'
    """

    def __init__(self, coding: MetadataCoding | FileCoding) -> None:
        self._coding = coding

    @classmethod
    @located("Tokenizer.from_metadata")
    def from_metadata(cls, metadata: Mapping[str, object]) -> Tokenizer:
        """Make a tokenizer of the metadata of a GGUF file.

        >>> tokenizer = ts.text.Tokenizer.from_metadata({
        ...     "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2",
        ...     "tokenizer.ggml.tokens": ["h", "i", "hi"], "tokenizer.ggml.merges": ["h i"]})
        >>> tokenizer.encode("hihh")
        [2, 0, 0]
        """
        return cls(MetadataCoding(metadata))

    @classmethod
    @located("Tokenizer.from_file")
    def from_file(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """Make a tokenizer of a tokenizer.json, or of the folder that it lies in.

        What tokenizer_config.json and chat_template.jinja beside it say is read too. The package
        tokenizers does the work: `pip install "tessella[tokenizers]"`.

        >>> import json, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "tokenizer.json")
        >>> model = {"type": "BPE", "vocab": {"h": 0, "i": 1, "hi": 2}, "merges": [["h", "i"]]}
        >>> with open(path, "w") as file:
        ...     json.dump({"added_tokens": [], "model": model}, file)
        >>> ts.text.Tokenizer.from_file(path).encode("hih")
        [2, 0]
        """
        if not isinstance(path, str | os.PathLike):
            raise errors.wrong_type("path", path, "a path")
        return cls(FileCoding(os.fsdecode(path)))

    def __repr__(self) -> str:
        return f"Tokenizer({self.vocabulary_size:,} tokens)"

    # --- the vocabulary --------------------------------------------------------------------------

    @property
    def vocabulary_size(self) -> int:
        """The number of ids."""
        return self._coding.size

    @property
    def bos(self) -> int | None:
        """The token that texts begin with."""
        return self._coding.marks.bos

    @property
    def eos(self) -> int | None:
        """The token that texts end with."""
        return self._coding.marks.eos

    @property
    def eot(self) -> int | None:
        """The token that a turn of a chat ends with."""
        return self._coding.marks.eot

    @property
    def unknown(self) -> int | None:
        """The token of what has no other."""
        return self._coding.marks.unknown

    @property
    def padding(self) -> int | None:
        """The token that fills up batches."""
        return self._coding.marks.padding

    @property
    def ends(self) -> frozenset[int]:
        """The tokens after which a model has said its say: generation stops at one of them."""
        return self._coding.ends

    @property
    def special_ids(self) -> frozenset[int]:
        """The tokens that are no text: skip_special leaves them out."""
        return self._coding.special_ids

    @property
    def chat_template(self) -> str | None:
        """The template of chats, for render_chat."""
        return self._coding.chat_template

    @located("Tokenizer.token_to_id")
    def token_to_id(self, token: str) -> int | None:
        """Give the id of a token by its text in the vocabulary, or None.

        >>> tokenizer = ts.text.Tokenizer.from_metadata({
        ...     "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["h", "i", "hi"],
        ...     "tokenizer.ggml.merges": ["h i"]})
        >>> tokenizer.token_to_id("hi"), tokenizer.token_to_id("ih")
        (2, None)
        """
        if not isinstance(token, str):
            raise text_errors.no_text("token", token)
        return self._coding.token_to_id(token)

    @located("Tokenizer.id_to_token")
    def id_to_token(self, token: int) -> str:
        """Give the text of a token in the vocabulary, where spaces are written in other ways.

        >>> tokenizer = ts.text.Tokenizer.from_metadata({
        ...     "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["h", "i", "hi"],
        ...     "tokenizer.ggml.merges": ["h i"]})
        >>> tokenizer.id_to_token(2)
        'hi'
        """
        return self._coding.id_to_token(self._check_id(token))

    # --- coding ----------------------------------------------------------------------------------

    @located("Tokenizer.encode")
    def encode(self, text: str, add_special: bool = True, parse_special: bool = True) -> list[int]:
        """Give the tokens of a text.

        `add_special` adds what the model wants at the ends of a text, such as bos. Where
        `parse_special` is False, special tokens that stand in the text are text like any other:
        that is the way for what users write. What the vocabulary cannot say becomes its unknown
        token, or is left out where it has none.

        >>> tokenizer = ts.text.Tokenizer.from_metadata({
        ...     "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["<", ">", "<>"],
        ...     "tokenizer.ggml.merges": [], "tokenizer.ggml.token_type": [1, 1, 3]})
        >>> tokenizer.encode("<><"), tokenizer.encode("<><", parse_special=False)
        ([2, 0], [0, 1, 0])
        """
        if not isinstance(text, str):
            raise text_errors.no_text("text", text)
        if not text.isascii():
            _check_characters(text)
        add_special = to_bool("add_special", add_special)
        return self._coding.encode(text, add_special, to_bool("parse_special", parse_special))

    @located("Tokenizer.decode")
    def decode(self, tokens: Iterable[int] | Tensor, skip_special: bool = False) -> str:
        """Give the text of tokens; bytes that are no UTF-8 become U+FFFD.

        >>> tokenizer = ts.text.Tokenizer.from_metadata({
        ...     "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["h", "i", "<end>"],
        ...     "tokenizer.ggml.merges": [], "tokenizer.ggml.token_type": [1, 1, 3]})
        >>> tokenizer.decode([0, 1, 2]), tokenizer.decode([0, 1, 2], skip_special=True)
        ('hi<end>', 'hi')
        """
        ids = self._check_ids(tokens)
        return self._coding.decode(ids, to_bool("skip_special", skip_special))

    @located("Tokenizer.decode_bytes")
    def decode_bytes(self, tokens: Iterable[int] | Tensor, skip_special: bool = False) -> bytes:
        """Give the bytes of tokens, which may end within a character.

        Of a tokenizer.json they are the bytes of the text.

        >>> tokenizer = ts.text.Tokenizer.from_metadata({
        ...     "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["h", "\\u0120", "\\xc3"],
        ...     "tokenizer.ggml.merges": []})
        >>> tokenizer.decode_bytes([0, 1, 2])
        b'h \\xc3'
        """
        ids = self._check_ids(tokens)
        return self._coding.decode_bytes(ids, to_bool("skip_special", skip_special))

    @located("Tokenizer.stream")
    def stream(self, skip_special: bool = False, is_start: bool = True) -> Stream:
        """Give what makes text of tokens that come one by one.

        Where they go on with a text, `is_start=False` keeps the space that they may begin with.

        >>> tokenizer = ts.text.Tokenizer.from_metadata({
        ...     "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["h", "\\xc3", "\\xa4"],
        ...     "tokenizer.ggml.merges": []})
        >>> stream = tokenizer.stream()
        >>> [stream.add(token) for token in (0, 1, 2, 1)]
        ['h', '', 'ä', '']
        >>> stream.end()
        '\ufffd'
        """
        skip_special = to_bool("skip_special", skip_special)
        return Stream(self, self._coding.stream(skip_special, to_bool("is_start", is_start)))

    def _check_ids(self, tokens: Any) -> list[int]:
        if hasattr(tokens, "tolist"):
            tokens = tokens.tolist()
        if isinstance(tokens, str) or not is_iterable(tokens):
            raise text_errors.no_ids(tokens)
        return [self._check_id(token) for token in tokens]

    def _check_id(self, token: Any) -> int:
        size = self._coding.size
        if type(token) is int and 0 <= token < size:
            return token
        number = to_offset("token", token)
        if not 0 <= number < size:
            raise text_errors.id_out_of_range(number, size)
        return number


class Stream:
    """Text of tokens that come one by one: as soon as its UTF-8 is whole.

    >>> tokenizer = ts.text.Tokenizer.from_metadata({
    ...     "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["h", "i"],
    ...     "tokenizer.ggml.merges": []})
    >>> stream = tokenizer.stream()
    >>> stream.add(0), stream.add(1), stream.end()
    ('h', 'i', '')
    """

    def __init__(self, tokenizer: Tokenizer, source: MetadataStream | FileStream) -> None:
        self._tokenizer = tokenizer
        self._source: MetadataStream | FileStream | None = source

    @located("Stream.add")
    def add(self, token: int) -> str:
        """Take a token, and give the text that is whole now; it may be empty.

        >>> tokenizer = ts.text.Tokenizer.from_metadata({
        ...     "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["\\xc3", "\\xa4"],
        ...     "tokenizer.ggml.merges": []})
        >>> stream = tokenizer.stream()
        >>> stream.add(0), stream.add(1)
        ('', 'ä')
        """
        if self._source is None:
            raise text_errors.stream_ended()
        return self._source.add(self._tokenizer._check_id(token))

    @located("Stream.end")
    def end(self) -> str:
        """Give what is left: U+FFFD for bytes that are no character.

        >>> tokenizer = ts.text.Tokenizer.from_metadata({
        ...     "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["\\xc3", "\\xa4"],
        ...     "tokenizer.ggml.merges": []})
        >>> stream = tokenizer.stream()
        >>> stream.add(0), stream.end()
        ('', '\ufffd')
        """
        if self._source is None:
            raise text_errors.stream_ended()
        source, self._source = self._source, None
        return source.end()


def _check_characters(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise text_errors.lone_surrogate(error.start, text[error.start]) from None
