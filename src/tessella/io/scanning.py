"""Reads the part of JSON that the headers of safetensors files are written in, and no more.

Objects whose keys differ, strings that are text, and whole numbers. It goes through the text once
and stops at the first character that is wrong, whose place the error tells; it keeps nothing of
what it has read, and is never deeper than its caller.
"""

from __future__ import annotations

import re
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]  # no stub lists it

from tessella.hints import Iterator, NoReturn
from tessella.io import file_errors

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}(?![0-9])")  # below 10**19


class Scanner:
    """A place in a text; what is read next begins there."""

    def __init__(self, text: str, name: str, start: int) -> None:
        self.text = text
        self.name = name  # of the file
        self.start = start  # where the text begins in it
        self.place = 0

    def byte(self, place: int | None = None) -> int:
        """Give a place in the text as one in the file."""
        return self.start + len(self.text[: self.place if place is None else place].encode())

    def fail(self, wanted: str) -> NoReturn:
        """Refuse what stands here."""
        found = self.text[self.place : self.place + 1]
        raise file_errors.header_syntax(self.name, self.byte(), wanted, found)

    def skip(self) -> None:
        """Go on to the next character that is no space."""
        found = _SPACE.match(self.text, self.place)
        self.place = found.end() if found else self.place

    def take(self, character: str) -> None:
        """Go past a character that must stand here."""
        self.skip()
        if not self.text.startswith(character, self.place):
            self.fail(repr(character))
        self.place += 1

    def has(self, character: str) -> bool:
        """Go past a character if it stands here."""
        self.skip()
        is_there = self.text.startswith(character, self.place)
        self.place += is_there
        return is_there

    def string(self) -> str:
        """Read a string."""
        self.take('"')
        try:
            found: tuple[str, int] = scanstring(self.text, self.place, True)
            value, self.place = found
            value.encode()  # half of a pair of surrogates is no text
        except JSONDecodeError as error:
            self.place = error.pos
            self.fail("a whole string")
        except UnicodeEncodeError:
            self.fail("text: half of a surrogate pair stands in the string before")
        return value

    def number(self) -> int:
        """Read a whole number of at most 19 digits."""
        self.skip()
        found = _NUMBER.match(self.text, self.place)
        if not found:
            self.fail("a whole number below 10**19")
        self.place = found.end()
        return int(found[0])

    def numbers(self, most: int) -> list[int]:
        """Read a list of whole numbers."""
        self.take("[")
        values: list[int] = []
        if self.has("]"):
            return values
        while True:
            if len(values) == most:
                self.fail(f"']': there may be {most} numbers")
            values.append(self.number())
            if not self.has(","):
                self.take("]")
                return values

    def entries(self) -> Iterator[str]:
        """Give the keys of an object; the caller reads the value after each."""
        self.take("{")
        if self.has("}"):
            return
        seen: set[str] = set()
        while True:
            self.skip()
            place = self.place
            key = self.string()
            if key in seen:
                raise file_errors.repeated_key(self.name, self.byte(place), key)
            seen.add(key)
            self.take(":")
            yield key
            if not self.has(","):
                self.take("}")
                return

    def end(self) -> None:
        """Refuse anything but spaces up to the end."""
        self.skip()
        if self.place < len(self.text):
            self.fail("the header's end")
