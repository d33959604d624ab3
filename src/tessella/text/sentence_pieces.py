"""Tokenizers in the manner of SentencePiece: those of Llama 2, Mistral and Phi 3.

Spaces are written as a character of their own, and a text begins with one. Neighbours are merged
into the token of the highest score. A character that is no token is its UTF-8 bytes, for which
there are tokens <0x00> to <0xFF>.
"""

from __future__ import annotations

import re

from tessella.text.merging import merge
from tessella.text.metadata import Metadata
from tessella.text.vocabulary import Vocabulary
from tessella.text.words import Words

SPACE = "\u2581"


class SentencePieces:
    """What text becomes, and what tokens stand for."""

    adds_bos = True  # where the file does not say

    def __init__(self, metadata: Metadata, vocabulary: Vocabulary) -> None:
        why = "neighbours are merged by score"
        scores = metadata.numbers("scores", why, len(vocabulary.tokens))
        self.has_prefix = metadata.flag("add_space_prefix", True)
        self._joins_spaces = metadata.flag("remove_extra_whitespaces", False)
        self._vocabulary = vocabulary
        self._orders = {text: -scores[token] for text, token in vocabulary.plain.items()}
        self._bytes = [vocabulary.ids.get(f"<0x{byte:02X}>") for byte in range(256)]
        self._gaps = _gaps_of(vocabulary)
        self._words = Words(self._encode_word)

    def encode(self, text: str) -> list[int]:
        """Give the tokens of a text without special ones; it follows a special one, or nothing."""
        if self._joins_spaces:
            text = re.sub(" +", " ", text).strip(" ")
        if self.has_prefix:
            text = f" {text}"
        return self._words.encode(self._gaps.split(text.replace(" ", SPACE)))

    def _encode_word(self, word: str) -> tuple[int, ...]:
        orders = self._orders
        found: list[int] = []
        for part in merge([*word], lambda left, right: orders.get(left + right)):
            token = self._vocabulary.plain.get(part)
            found += self._encode_char(part) if token is None else [token]
        return tuple(found)

    def _encode_char(self, char: str) -> list[int]:
        """Give a character that is no token as bytes, else as the unknown token."""
        tokens = [self._bytes[byte] for byte in char.encode()]
        whole = [token for token in tokens if token is not None]
        if len(whole) == len(tokens):
            return whole
        unknown = self._vocabulary.marks.unknown
        return [] if unknown is None else [unknown]

    def spell(self, token: str) -> bytes:
        """Give the bytes that a token stands for."""
        return token.replace(SPACE, " ").encode()


def _gaps_of(vocabulary: Vocabulary) -> re.Pattern[str]:
    """Give a pattern of the places before a space that no token reaches across.

    What lies between two of them is merged by itself with the same result, so that words can be
    remembered. Only runs of spaces have tokens with a space inside, in the vocabularies that are
    known; others may have any.
    """
    joints = {
        token[place - 1]
        for token in vocabulary.plain
        for place in range(1, len(token))
        if token[place] == SPACE
    }
    behind = f"(?<![{re.escape(''.join(sorted(joints)))}])" if joints else ""
    return re.compile(f"(?={SPACE}){behind}")
