"""The tokens of a vocabulary: their text, their kinds, and those that mean something special."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from tessella.text import text_errors
from tessella.text.metadata import PREFIX, Metadata, is_integer


class Kind(IntEnum):
    """What a token is, by the numbers of GGUF files."""

    UNDEFINED = 0
    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


# Tokens that are cut out of a text before anything else, and those that only programs may write.
CUT = frozenset({Kind.UNKNOWN, Kind.CONTROL, Kind.USER_DEFINED})
HIDDEN = frozenset({Kind.UNKNOWN, Kind.CONTROL})
_APART = frozenset({Kind.UNKNOWN, Kind.CONTROL, Kind.BYTE})  # that no plain text becomes

# Files seldom name the token that ends a turn of a chat: it is known by its text. The first of
# these that a vocabulary has is taken.
TURN_ENDS = (
    "<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>",
    "<EOT>", "_<EOT>", "<\uff5cend\u2581of\u2581sentence\uff5c>", "<end_of_utterance>",
)  # fmt: skip
ENDS = (*TURN_ENDS, "<|eom_id|>", "</s>", "<eos>")  # all after which a model has said its say

# What files of these kinds mean where they do not say it.
_DEFAULTS = {"llama": {"bos": 1, "eos": 2, "unknown": 0}}
_KEYS = {
    "bos": "bos_token_id", "eos": "eos_token_id", "eot": "eot_token_id",
    "unknown": "unknown_token_id", "padding": "padding_token_id",
}  # fmt: skip


@dataclass(frozen=True)
class Marks:
    """The ids of tokens that have a meaning of their own; None where there is none."""

    bos: int | None = None
    eos: int | None = None
    eot: int | None = None
    unknown: int | None = None
    padding: int | None = None

    def ends_with(self, others: Iterable[int]) -> frozenset[int]:
        """Give the tokens that end what a model says: these, and others."""
        own = [token for token in (self.eos, self.eot) if token is not None]
        return frozenset([*own, *others])


class Vocabulary:
    """Tokens by id and by text."""

    def __init__(self, metadata: Metadata, model: str) -> None:
        self.tokens = metadata.texts("tokens", "it is the list of all tokens")
        if not self.tokens:
            raise text_errors.no_tokens(f"{PREFIX}tokens")
        self.ids = _ids_of(self.tokens)
        self.kinds = _kinds_of(metadata, len(self.tokens))
        ends = self._find_ends()
        self.marks = self._find_marks(metadata, model, ends)
        self.ends = self.marks.ends_with(ends.values())
        self.plain = {
            text: token for text, token in self.ids.items() if self.kinds[token] not in _APART
        }

    def _find_ends(self) -> dict[str, int]:
        """Give the tokens that end texts, by their text; plain text may look like one of them.

        Some files have those as plain text that cannot be: they become what they are.
        """
        found = {text: self.ids[text] for text in ENDS if text in self.ids}
        for text, token in found.items():
            if text.startswith("<|") and self.kinds[token] == Kind.NORMAL:
                self.kinds[token] = Kind.CONTROL
        return {text: token for text, token in found.items() if self.kinds[token] in CUT}

    def _find_marks(self, metadata: Metadata, model: str, ends: dict[str, int]) -> Marks:
        size = len(self.tokens)
        found = {name: metadata.token(key, size) for name, key in _KEYS.items()}
        for name, token in _DEFAULTS.get(model, {}).items():
            if found[name] is None and token < size:
                found[name] = token
        if found["eot"] is None:
            found["eot"] = next((ends[text] for text in TURN_ENDS if text in ends), None)
        return Marks(**found)

    def of_kinds(self, kinds: Iterable[Kind]) -> list[int]:
        """Give the ids of all tokens of some kinds."""
        wanted = set(kinds)
        return [token for token, kind in enumerate(self.kinds) if kind in wanted]


def _ids_of(tokens: list[str]) -> dict[str, int]:
    """Give the ids by text; tokens without text cannot be found by it, and may be several."""
    ids: dict[str, int] = {}
    for place, token in enumerate(tokens):
        if ids.setdefault(token, place) != place:
            if token:
                raise text_errors.repeated_token(token, ids[token], place)
        elif not token.isascii():
            _check_characters(token, place)
    ids.pop("", None)
    return ids


def _check_characters(token: str, place: int) -> None:
    try:
        token.encode()
    except UnicodeEncodeError:
        raise text_errors.broken_token(place) from None


def _kinds_of(metadata: Metadata, count: int) -> list[int]:
    if metadata.get("token_type") is None:
        return [Kind.NORMAL] * count
    found = metadata.items("token_type", "")
    if len(found) != count:
        raise text_errors.wrong_count(f"{PREFIX}token_type", len(found), count)
    last = max(Kind)
    for place, kind in enumerate(found):
        if not is_integer(kind) or not 0 <= kind <= last:
            wanted = f"an integer from 0 to {last:d}"
            raise text_errors.wrong_item(f"{PREFIX}token_type", place, kind, wanted)
    return found
