"""Coding by the metadata of GGUF files: text to ids and back, with special tokens."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping

from tessella.text import text_errors
from tessella.text.byte_level import ByteLevel
from tessella.text.metadata import PREFIX, Metadata
from tessella.text.sentence_pieces import SentencePieces
from tessella.text.specials import Specials
from tessella.text.vocabulary import CUT, HIDDEN, Kind, Vocabulary

MODELS: dict[str, type[ByteLevel] | type[SentencePieces]] = {
    "llama": SentencePieces,
    "gpt2": ByteLevel,
}


class MetadataCoding:
    """A vocabulary with its way of encoding, and its special tokens."""

    def __init__(self, values: Mapping[str, object]) -> None:
        metadata = Metadata(values)
        name = metadata.text("model")
        if name is None:
            raise text_errors.missing_key(f"{PREFIX}model", "it names the kind of tokenizer")
        if name not in MODELS:
            raise text_errors.unknown_model(f"{PREFIX}model", name, MODELS)
        self._vocabulary = vocabulary = Vocabulary(metadata, name)
        self._model = MODELS[name](metadata, vocabulary)
        self._specials = Specials(metadata, vocabulary)
        self.has_prefix = self._model.has_prefix
        self.size = len(vocabulary.tokens)
        self.marks = vocabulary.marks
        self.ends = vocabulary.ends
        self.special_ids = frozenset(vocabulary.of_kinds(HIDDEN))
        self.chat_template = metadata.plain_text("tokenizer.chat_template")
        self._first = self._added(metadata, "bos", self._model.adds_bos)
        self._last = self._added(metadata, "eos", False)
        self._spelled: dict[int, bytes] = {}

    def _added(self, metadata: Metadata, name: str, default: bool) -> list[int]:
        """Give what is added at an end of every text; by default only what there is."""
        key, token = f"add_{name}_token", getattr(self.marks, name)
        if not metadata.flag(key, default and token is not None):
            return []
        if token is None:
            raise text_errors.no_such_end(PREFIX + key, f"{PREFIX}{name}_token_id")
        return [token]

    def token_to_id(self, token: str) -> int | None:
        """Give the id of a token by its text in the vocabulary."""
        return self._vocabulary.ids.get(token)

    def id_to_token(self, token: int) -> str:
        """Give the text of a token in the vocabulary."""
        return self._vocabulary.tokens[token]

    def encode(self, text: str, add_special: bool, parse_special: bool) -> list[int]:
        """Give the tokens of a text."""
        found = [*self._first] if add_special else []
        for part in self._specials.split(text, parse_special):
            if isinstance(part, int):
                found.append(part)
            else:
                found += self._model.encode(part)
        if add_special:
            found += self._last
        return found

    def decode(self, tokens: Iterable[int], skip_special: bool) -> str:
        """Give the text of tokens; bytes that are no UTF-8 become U+FFFD."""
        return self.decode_bytes(tokens, skip_special).decode("utf-8", "replace")

    def decode_bytes(self, tokens: Iterable[int], skip_special: bool) -> bytes:
        """Give the bytes of tokens."""
        spelling = Spelling(self, skip_special, True)
        return b"".join([spelling.spell(token) for token in tokens])

    def stream(self, skip_special: bool, is_start: bool) -> MetadataStream:
        """Give what makes text of tokens that come one by one."""
        return MetadataStream(Spelling(self, skip_special, is_start))

    def spell(self, token: int) -> bytes:
        """Give the bytes that a token stands for."""
        found = self._spelled.get(token)
        if found is None:
            found = self._spelled[token] = self._find_bytes(token)
        return found

    def _find_bytes(self, token: int) -> bytes:
        text, kind = self._vocabulary.tokens[token], self._vocabulary.kinds[token]
        if kind in CUT:
            return text.encode()
        if kind == Kind.BYTE and len(text) == 6:  # <0x0A>
            try:
                return bytes.fromhex(text[3:5])
            except ValueError:
                pass
        return self._model.spell(text)

    def kind_of(self, token: int) -> int:
        """Give what a token is."""
        return self._vocabulary.kinds[token]


class Spelling:
    """The bytes of tokens in their order, without the spaces that encoding put before texts."""

    def __init__(self, coding: MetadataCoding, skip_special: bool, is_start: bool) -> None:
        self._coding = coding
        self._skipped = coding.special_ids if skip_special else frozenset()
        self._is_start = is_start  # of a text, whose first space is then dropped

    def spell(self, token: int) -> bytes:
        """Give the bytes of the next token."""
        coding, was_start = self._coding, self._is_start
        kind = coding.kind_of(token)
        found = b"" if token in self._skipped else coding.spell(token)
        self._is_start = kind in CUT and kind != Kind.UNKNOWN
        if was_start and coding.has_prefix and kind not in CUT:
            return found.removeprefix(b" ")
        return found


class MetadataStream:
    """Text of tokens that come one by one: as soon as its UTF-8 is whole."""

    def __init__(self, spelling: Spelling) -> None:
        self._spelling = spelling
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, token: int) -> str:
        """Give the text that is whole now."""
        return self._decoder.decode(self._spelling.spell(token))

    def end(self) -> str:
        """Give what is left: U+FFFD for bytes that are no character."""
        return self._decoder.decode(b"", True)
