"""Stop strings: text that comes in pieces is given until one of them, and never a part of one."""

from __future__ import annotations

from tessella import errors
from tessella.arguments import to_list
from tessella.hints import Any


class Stops:
    """Lets text through until a stop string is complete.

    What may be the beginning of one is held back until it is clear. How the text is cut into pieces
    makes no difference: the string that is complete first counts, of several the longest.
    """

    def __init__(self, texts: Any = ()) -> None:
        wanted = "a text, or a list of texts"
        if isinstance(texts, bytes | bytearray):
            raise errors.wrong_type("stop", texts, wanted)
        self.texts = [texts] if isinstance(texts, str) else to_list("stop", texts, wanted)
        for text in self.texts:
            if not isinstance(text, str):
                raise errors.wrong_type("stop", text, "texts")
            if not text:
                raise errors.wrong_value("stop", text, "texts of at least one character")
        self.is_found = False
        self._held = ""

    def add(self, text: str) -> str:
        """Take a piece of text; give what is surely no part of a stop string."""
        if self.is_found:
            return ""
        text, self._held = self._held + text, ""
        starts = [(text.find(each), len(each)) for each in self.texts]
        ends = [(start + length, start) for start, length in starts if start >= 0]
        if ends:
            self.is_found = True
            return text[: min(ends)[1]]
        kept = max((self._begun(text, each) for each in self.texts), default=0)
        cut = len(text) - kept
        self._held = text[cut:]
        return text[:cut]

    def end(self) -> str:
        """Give what was held back, now that no more comes."""
        text, self._held = self._held, ""
        return text

    @staticmethod
    def _begun(text: str, stop: str) -> int:
        """Give how much of the end of a text a stop string begins with."""
        most = min(len(text), len(stop) - 1)
        return next((n for n in range(most, 0, -1) if text.endswith(stop[:n])), 0)
