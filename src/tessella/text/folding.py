"""Characters by what they are: letters, numbers, marks, punctuation, symbols, spaces.

`re` knows no Unicode categories. So texts are folded before they are cut: each character beyond
ASCII becomes one that stands for its category, and patterns are written over ASCII and those few.
The text keeps its length, so that a place in one is the same place in the other. Categories are
those of Python's `unicodedata`, and are looked up once for each character that is met.
"""

from __future__ import annotations

import unicodedata

# What stands for a category, beyond ASCII; the order is that of the names below.
_STANDS_FOR = {
    "Lu": "\xc0", "Ll": "\xc1", "Lt": "\xc2", "Lm": "\xc3", "Lo": "\xc4",
    "M": "\xc5", "N": "\xc6", "P": "\xc7", "S": "\xc8",
}  # fmt: skip
_OTHER = "\xc9"
_SPACE = "\v"  # a space that ends no line
_SPACES = frozenset(
    [0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]
)

# Categories of a folded text, to be written within brackets in patterns.
LETTERS = "A-Za-z\xc0-\xc4"
UPPER = "A-Z\xc0\xc2-\xc5"  # with letters that have no case, and marks
LOWER = "a-z\xc1\xc3-\xc5"  # likewise
MARKS = "\xc5"
NUMBERS = "0-9\xc6"
PUNCTUATION = r"!-#%-*,-/:;?@\[-\]_{}" + "\xc7"
SYMBOLS = "$+<->^`|~\xc8"
SPACES = r"\t-\r "

# The same of a text that is not folded.
PLAIN_SPACES = SPACES + "\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"


class _Table(dict[int, str]):
    """What characters become, found when they are first met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if code >= 128:
            category = unicodedata.category(char)
            found = _STANDS_FOR.get(category) or _STANDS_FOR.get(category[0], _OTHER)
            char = _SPACE if code in _SPACES else found
        self[code] = char
        return char


_TABLE = _Table()


def fold(text: str) -> str:
    """Give a text of the same length whose characters say what they are."""
    return text if text.isascii() else text.translate(_TABLE)
