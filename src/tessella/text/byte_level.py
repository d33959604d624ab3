"""Byte-level pair encoding, the tokenizers of GPT-2, Llama 3, Qwen and many others.

A text is cut into words, a word is its UTF-8 bytes, and each byte is written as one character that
can be seen: the alphabet. Tokens are text over that alphabet, and merges say which pairs of them
become one, in which order.
"""

from __future__ import annotations

from tessella.text import text_errors
from tessella.text.merging import merge
from tessella.text.metadata import PREFIX, Metadata
from tessella.text.splitting import RULES, split
from tessella.text.vocabulary import Vocabulary
from tessella.text.words import Words

_SEEN = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_UNSEEN = [byte for byte in range(256) if byte not in _SEEN]
# Bytes that stand for themselves as characters of Latin-1, and the others from 256 on.
ALPHABET = {byte: chr(byte) for byte in _SEEN}
ALPHABET |= {byte: chr(256 + place) for place, byte in enumerate(_UNSEEN)}
_BYTES = {char: bytes([byte]) for byte, char in ALPHABET.items()}


class ByteLevel:
    """What text becomes, and what tokens stand for."""

    has_prefix = False  # of a space before a text

    def __init__(self, metadata: Metadata, vocabulary: Vocabulary) -> None:
        name = metadata.text("pre") or "default"
        if name not in RULES:
            raise text_errors.unknown_rule(f"{PREFIX}pre", name, RULES)
        self._rule = RULES[name]
        self.adds_bos = self._rule.adds_bos
        self._vocabulary = vocabulary
        self._ranks = _ranks_of(metadata, vocabulary)
        self._words = Words(self._encode_word)

    def encode(self, text: str) -> list[int]:
        """Give the tokens of a text without special ones."""
        return self._words.encode(split(text, self._rule))

    def _encode_word(self, word: str) -> tuple[int, ...]:
        spelled = word.encode().decode("latin-1").translate(ALPHABET)
        ids = self._vocabulary.plain
        if self._rule.ignores_merges and spelled in ids:
            return (ids[spelled],)
        ranks = self._ranks
        parts = merge([*spelled], lambda left, right: ranks.get((left, right)))
        unknown = self._vocabulary.marks.unknown
        tokens = [ids.get(part, unknown) for part in parts]
        # Some vocabularies lack bytes that no text of theirs had; models never saw them.
        return tuple([token for token in tokens if token is not None])

    def spell(self, token: str) -> bytes:
        """Give the bytes that a token stands for; what is not of the alphabet is text."""
        return b"".join([_BYTES.get(char) or char.encode() for char in token])


def _ranks_of(metadata: Metadata, vocabulary: Vocabulary) -> dict[tuple[str, str], int]:
    """Read the merges; of two that are alike the first counts."""
    ids = vocabulary.ids
    ranks: dict[tuple[str, str], int] = {}
    for place, text in enumerate(metadata.texts("merges", "byte-level tokenizers have merges")):
        space = text.find(" ", 1)
        left, right = text[:space], text[space + 1 :]
        if space < 0 or not right:
            raise text_errors.no_merge(place, text)
        for part in (left, right, left + right):
            if part not in ids:
                raise text_errors.wrong_merge(place, text, part)
        ranks.setdefault((left, right), place)
    return ranks
