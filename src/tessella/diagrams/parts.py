"""What a diagram is made of: boxes for leaves and operations, with what they save.

Plain data: nothing here refers to a tensor or a node, so that a diagram keeps no memory alive.
"""

from __future__ import annotations

from dataclasses import dataclass

from tessella._core import Tensor
from tessella.dtypes import DType
from tessella.exceptions import type_name
from tessella.hints import Any
from tessella.sizes import to_text

MOST_LETTERS = 48  # of a name, an operation's parameters, its operands
MOST_LINKS = 6  # operands that a call shows
MOST_DEPTH = 3  # of parameters in tuples in tuples


@dataclass(frozen=True)
class Saved:
    """One tensor that an operation saves for its gradient."""

    operand: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int  # of the whole buffer, which is what is kept alive
    note: str = ""  # why the bytes are not counted here: another box counts the buffer

    def __str__(self) -> str:
        return f"{self.operand} {self.dtype} {self.shape} {self.note or to_text(self.bytes)}"


@dataclass(frozen=True)
class Link:
    """One operand of an operation."""

    operand: str
    text: str  # the name of the box that gives it; of what takes no gradient, its shape or value
    source: int = -1  # the place of that box, if there is one


@dataclass(frozen=True)
class Box:
    """A leaf, an operation, or what stands for those that are not shown."""

    kind: str  # "leaf", "operation" or "hidden"
    name: str
    operation: str = ""
    params: str = ""
    links: tuple[Link, ...] = ()
    results: tuple[str, ...] = ()  # dtype and shape
    bytes: int = 0  # of a leaf's buffer
    site: tuple[str, int] | None = None
    saved: tuple[Saved, ...] = ()
    is_output: bool = False

    @property
    def call(self) -> str:
        """Show the operation with its operands and parameters."""
        if self.kind != "operation":
            return self.operation
        texts = [link.text for link in self.links[:MOST_LINKS]]
        if len(self.links) > MOST_LINKS:
            texts.append(f"… {len(self.links) - MOST_LINKS:,} more")
        return f"{self.operation}({', '.join([*texts, self.params] if self.params else texts)})"

    @property
    def gives(self) -> str:
        """Show dtype and shape of what it gives, and the bytes of a leaf."""
        size = f" {to_text(self.bytes)}" if self.kind == "leaf" else ""
        return ", ".join(self.results) + size

    @property
    def place(self) -> str:
        """Show file and line, without folders."""
        if self.site is None:
            return ""
        return f"{self.site[0].replace(chr(92), '/').rpartition('/')[2]}:{self.site[1]}"


# --- values as text -------------------------------------------------------------------------------


def shorten(text: str, most: int = MOST_LETTERS) -> str:
    """Cut a text that is too long, and say so."""
    return text if len(text) <= most else text[: most - 1] + "…"


def printable(text: str) -> str:
    """Write out what no file format takes: control characters, halves of characters."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


def show(value: Any, depth: int = 0) -> str:
    """Show a parameter: no tensor is read for it, and no address is in it."""
    if isinstance(value, Tensor):
        return f"{value.dtype} {value.shape}"
    if isinstance(value, DType):
        return value.name
    if isinstance(value, bool | int | float | complex | str | None):
        return repr(value)
    if value is ...:
        return "..."
    if isinstance(value, slice):
        parts = ["" if part is None else show(part) for part in (value.start, value.stop)]
        return ":".join(parts if value.step is None else [*parts, show(value.step)])
    if isinstance(value, tuple | list) and depth < MOST_DEPTH:
        shown = [show(each, depth + 1) for each in value[:MOST_LETTERS]]
        return f"({', '.join(shown)}{',' if len(value) == 1 else ''})"
    return f"<{type_name(value)}>"
