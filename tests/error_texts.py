"""What errors say, without the lines of the tests that call for them."""

from __future__ import annotations

import re


def told(error: BaseException) -> str:
    """Give the text of an error without the line of a test, which may hold what is looked for."""
    return re.sub(r"\n  at .*", "", str(error))
