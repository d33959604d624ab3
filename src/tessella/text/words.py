"""Words whose tokens are remembered: texts have few different ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable

MOST_WORDS = 1 << 16
LONGEST_WORD = 64  # characters: long ones seldom come again


class Words:
    """The tokens of words, found once for each as long as there is room."""

    def __init__(self, find: Callable[[str], tuple[int, ...]]) -> None:
        self._find = find
        self._known: dict[str, tuple[int, ...]] = {}

    def encode(self, words: Iterable[str]) -> list[int]:
        """Give the tokens of words, one behind the other."""
        known = self._known
        found: list[int] = []
        for word in words:
            tokens = known.get(word)
            if tokens is None:
                tokens = self._find(word)
                if len(word) <= LONGEST_WORD:
                    if len(known) >= MOST_WORDS:
                        known.clear()
                    known[word] = tokens
            found += tokens
        return found
