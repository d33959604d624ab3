"""Single values of the metadata of GGUF files, checked: each is what it should be, or an error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tessella.text import text_errors

PREFIX = "tokenizer.ggml."


class Metadata:
    """Metadata of a file that reads keys by type; a tokenizer's own are named without prefix."""

    def __init__(self, values: Any) -> None:
        if not isinstance(values, Mapping):
            raise text_errors.no_metadata(values)
        self.values = values

    def get(self, key: str) -> Any:
        """Give a value of the tokenizer, or None."""
        return self.values.get(PREFIX + key)

    def text(self, key: str) -> str | None:
        """Give text of the tokenizer."""
        return self.plain_text(PREFIX + key)

    def plain_text(self, key: str) -> str | None:
        """Give text by its whole key."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            raise text_errors.wrong_entry(key, value, "text")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """Give a boolean."""
        value = self.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise text_errors.wrong_entry(PREFIX + key, value, "True or False")
        return value

    def token(self, key: str, size: int) -> int | None:
        """Give the id of a token."""
        value = self.get(key)
        if value is None:
            return None
        if not is_integer(value):
            raise text_errors.wrong_entry(PREFIX + key, value, "an integer")
        if not 0 <= value < size:
            raise text_errors.wrong_id(PREFIX + key, value, size)
        return int(value)

    def items(self, key: str, why: str) -> list[Any]:
        """Give a list that must be there."""
        value = self.get(key)
        if value is None:
            raise text_errors.missing_key(PREFIX + key, why)
        if not isinstance(value, list | tuple):
            raise text_errors.wrong_entry(PREFIX + key, value, "a list")
        return list(value)

    def texts(self, key: str, why: str) -> list[str]:
        """Give a list of text that must be there."""
        found = self.items(key, why)
        for place, item in enumerate(found):
            if not isinstance(item, str):
                raise text_errors.wrong_item(PREFIX + key, place, item, "text")
        return found

    def numbers(self, key: str, why: str, count: int) -> list[float]:
        """Give a list of finite numbers, one for each token."""
        found = self.items(key, why)
        if len(found) != count:
            raise text_errors.wrong_count(PREFIX + key, len(found), count)
        for place, item in enumerate(found):
            if isinstance(item, bool) or not isinstance(item, int | float):
                raise text_errors.wrong_item(PREFIX + key, place, item, "a number")
            if isinstance(item, float) and not math.isfinite(item):
                raise text_errors.wrong_item(PREFIX + key, place, item, "a finite number")
        return found


def is_integer(value: object) -> bool:
    """Tell whether a value is an integer; bool is not one."""
    return isinstance(value, int) and not isinstance(value, bool)
