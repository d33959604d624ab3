"""Special tokens in a text: they are cut out before the rest is encoded."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tessella.text.metadata import Metadata
from tessella.text.vocabulary import CUT, HIDDEN, Vocabulary

_BLANKS = " \t\n\v\f\r"
# The special tokens of Phi 3 take the blanks behind them along, but for these. Files do not say
# so: the model is known by its name.
_STRIPPING_MODELS = ("phi-3", "phi3")
_NOT_STRIPPING = ("<unk>", "<s>", "<|endoftext|>")


class Specials:
    """The special tokens of a vocabulary, to be found in texts."""

    def __init__(self, metadata: Metadata, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        # By their first two characters, so that a text of others is looked through once.
        self._starts: dict[str, list[str]] = {}
        for token in vocabulary.of_kinds(CUT):
            text = vocabulary.tokens[token]
            if text:
                self._starts.setdefault(text[:2], []).append(text)
        self._hidden = frozenset(vocabulary.of_kinds(HIDDEN))
        model = (metadata.plain_text("general.name") or "").lower()
        self._strips = any(name in model for name in _STRIPPING_MODELS)

    def split(self, text: str, parse_special: bool) -> Iterator[str | int]:
        """Give what lies between special tokens as text, and those by id.

        The leftmost is taken, and the longest of those that begin there. Unless special tokens are
        parsed, those that only programs may write are text like any other.
        """
        present = self._present(text, parse_special)
        if not present:
            if text:
                yield text
            return
        start = 0
        for match in _pattern_of(present).finditer(text):
            if match.start() < start:  # within blanks that the one before took along
                continue
            if match.start() > start:
                yield text[start : match.start()]
            yield self._vocabulary.ids[match[0]]
            start = match.end()
            if self._strips and match[0] not in _NOT_STRIPPING:
                start = _skip_blanks(text, start)
        if start < len(text):
            yield text[start:]

    def _present(self, text: str, parse_special: bool) -> list[str]:
        pairs = {text[place : place + 2] for place in range(len(text))} if self._starts else set()
        return [
            token
            for start, tokens in self._starts.items()
            if (start in pairs if len(start) > 1 else start in text)
            for token in tokens
            if parse_special or self._vocabulary.ids[token] not in self._hidden
            if token in text
        ]


def _pattern_of(tokens: list[str]) -> re.Pattern[str]:
    longest_first = sorted(tokens, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)))


def _skip_blanks(text: str, start: int) -> int:
    while start < len(text) and text[start] in _BLANKS:
        start += 1
    return start
