"""Coding by a tokenizer.json of Hugging Face, through the package tokenizers."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterable
from typing import Any

from tessella.data_errors import opened
from tessella.text import text_errors
from tessella.text.vocabulary import ENDS, TURN_ENDS, Marks

_CONFIG = "tokenizer_config.json"
_TEMPLATE = "chat_template.jinja"
_NAMES = {"bos": "bos_token", "eos": "eos_token", "unknown": "unk_token", "padding": "pad_token"}
_BROKEN = "\ufffd"


def need_tokenizers() -> Any:
    """Give the package, or say how it is installed."""
    try:
        import tokenizers
    except ImportError:
        raise text_errors.no_package("tokenizers", "reads tokenizer.json") from None
    return tokenizers


class FileCoding:
    """A tokenizer of the package, with what the files beside it say of special tokens."""

    def __init__(self, path: str) -> None:
        if os.path.isdir(path):
            folder, path = path, os.path.join(path, "tokenizer.json")
            if not os.path.exists(path):
                raise text_errors.missing_tokenizer(folder)
        self._parsing = _load(path)
        self._not_parsing: Any = None  # made when it is first needed
        # Ids may have gaps: the size is that of a table with a row for each.
        self.size: int = 1 + max(self._parsing.get_vocab().values(), default=-1)
        added = self._parsing.get_added_tokens_decoder()
        self.special_ids = frozenset(token for token, entry in added.items() if entry.special)
        folder = os.path.dirname(path)
        config = _read_config(os.path.join(folder, _CONFIG))
        ends = {text: self.token_to_id(text) for text in ENDS}
        ends = {text: token for text, token in ends.items() if token in self.special_ids}
        self.marks = self._find_marks(config, ends)
        self.ends = self.marks.ends_with(self.special_ids.intersection(ends.values()))
        self.chat_template = _read_template(os.path.join(folder, _TEMPLATE), config)

    def _find_marks(self, config: dict[str, Any], ends: dict[str, int | None]) -> Marks:
        found = {name: self._find_token(config.get(key)) for name, key in _NAMES.items()}
        eot = next((ends[text] for text in TURN_ENDS if text in ends), None)
        return Marks(**found, eot=eot)

    def _find_token(self, entry: Any) -> int | None:
        """Give the id of a token that is named by its text, or by a dict that has it."""
        text = entry.get("content") if isinstance(entry, dict) else entry
        return self.token_to_id(text) if isinstance(text, str) else None

    def token_to_id(self, token: str) -> int | None:
        """Give the id of a token by its text in the vocabulary."""
        found: int | None = self._parsing.token_to_id(token)
        return found

    def id_to_token(self, token: int) -> str:
        """Give the text of a token in the vocabulary; ids may have gaps."""
        return self._parsing.id_to_token(token) or ""

    def encode(self, text: str, add_special: bool, parse_special: bool) -> list[int]:
        """Give the tokens of a text."""
        coder = self._parsing
        if not parse_special:
            if self._not_parsing is None:
                self._not_parsing = copy.deepcopy(self._parsing)
                self._not_parsing.encode_special_tokens = True
            coder = self._not_parsing
        try:
            return list(coder.encode(text, add_special_tokens=add_special).ids)
        except Exception as error:  # the package has no class of its own for what is wrong
            raise text_errors.tokenizer_failed(str(error)) from None

    def decode(self, tokens: Iterable[int], skip_special: bool) -> str:
        """Give the text of tokens."""
        return str(self._parsing.decode(list(tokens), skip_special_tokens=skip_special))

    def decode_bytes(self, tokens: Iterable[int], skip_special: bool) -> bytes:
        """Give the text of tokens as UTF-8: the package gives no other bytes."""
        return self.decode(tokens, skip_special).encode()

    def stream(self, skip_special: bool, is_start: bool) -> FileStream:
        """Give what makes text of tokens that come one by one."""
        return FileStream(self, skip_special, is_start)


class FileStream:
    """Text of tokens that come one by one: what decoding the last few together adds."""

    def __init__(self, coding: FileCoding, skip_special: bool, is_start: bool) -> None:
        self._coding = coding
        self._skip_special = skip_special
        self._is_start = is_start
        self._before: list[int] = []  # whose text was given; what comes may depend on them
        self._waiting: list[int] = []

    def add(self, token: int) -> str:
        """Give the text that is whole now."""
        if not self._is_start and not self._before:
            self._before.append(token)  # any will do: the first of all may lose its space
        self._waiting.append(token)
        found = self._find()
        if not found or found.endswith(_BROKEN):
            return ""
        self._before, self._waiting = self._waiting, []
        return found

    def end(self) -> str:
        """Give what is left."""
        return self._find() if self._waiting else ""

    def _find(self) -> str:
        decode = self._coding.decode
        given = decode(self._before, self._skip_special)
        return decode(self._before + self._waiting, self._skip_special)[len(given) :]


def _load(path: str) -> Any:
    package = need_tokenizers()
    with opened(path) as file:
        content = file.read()
    try:
        found = package.Tokenizer.from_buffer(content)
    except Exception as error:  # the package has no class of its own for what is wrong
        raise text_errors.no_tokenizer_file(path, str(error)) from None
    found.no_truncation()  # files may have them for batches of one length
    found.no_padding()
    return found


def _read_config(path: str) -> dict[str, Any]:
    if not os.path.isfile(path):
        return {}
    with open(path, "rb") as file:
        content = file.read()
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise text_errors.wrong_config(path, f"it is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise text_errors.wrong_config(path, "it is no object of JSON")
    return found


def _read_template(path: str, config: dict[str, Any]) -> str | None:
    """Give the template of a file of its own, or of the configuration: the default one of many."""
    if os.path.isfile(path):
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "replace")
    found = config.get("chat_template")
    if isinstance(found, list):
        named = {each.get("name"): each.get("template") for each in found if isinstance(each, dict)}
        found = named.get("default")
    return found if isinstance(found, str) else None
