"""The exception tree, and where in the user's code an exception comes from.

A message has a fixed pattern: the operation, what is wrong, the operands, the user's line, the
cure. Whoever raises gives what is wrong and the cure (errors.py holds the texts); the operation's
record adds the rest on the way out.
"""

from __future__ import annotations

import builtins
import os
import sys
from _thread import get_ident

from tessella.hints import TYPE_CHECKING, Any, Callable, Iterable

if TYPE_CHECKING:
    from types import FrameType

_PLACE_FINDERS: list[Callable[[], str]] = []


def set_place_finder(finder: Callable[[], str]) -> None:
    """Say who tells which module of a network is at work: of nn, which stands below."""
    _PLACE_FINDERS[:] = [finder]


PACKAGE: str = os.path.dirname(os.path.abspath(__file__)) + os.sep
# Errors of threads that record a function, by ident: one that it catches leads it another way.
RAISED: dict[int, list[TessellaError]] = {}


def note_while_recorded(error: TessellaError) -> None:
    """Keep an error if this thread records a function; which names exist depends on no value."""
    if not isinstance(error, UnknownName):
        RAISED.get(get_ident(), []).append(error)


def unraised(make: Callable[[], TessellaError]) -> TessellaError:
    """Make an error for its text alone: it does not count as raised."""
    held = RAISED.pop(get_ident(), None)
    try:
        return make()
    finally:
        if held is not None:
            RAISED[get_ident()] = held


class TessellaError(Exception):
    """Root of all exceptions of Tessella; `code` is stable."""

    code = "error"

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
        self.operation = ""
        self.operands: list[str] = []
        self.places: list[str] = []
        self.site = ""
        self.module = ""

    def settle(self) -> None:
        """Add the user's line, and the module of a network that was at work."""
        self.site = user_site()
        self.module = _PLACE_FINDERS[0]() if _PLACE_FINDERS else ""
        note_while_recorded(self)

    def locate(self, operation: str, operands: list[str]) -> TessellaError:
        """Add the operation, its operands and the user's line, unless they are known already."""
        if not self.operation:
            self.operation = operation
            self.operands = operands
            self.settle()
        return self

    def relocate(self, operation: str, operands: list[str]) -> TessellaError:
        """Name the operation that the user called in place of a part of it that failed."""
        self.operation = ""
        return self.locate(operation, operands)

    def in_program(
        self, operation: str, rows: list[tuple[str, int, str, str]], written: int, path: str | None,
        line: int,
    ) -> None:  # fmt: skip
        """Add which instruction of a program has failed: over what, and the line it stands for.

        The rows are (where its memory comes from, a number, dtype, shape), the written ones first.
        """
        shown = [(_origin(*row[:2]), f"{row[2]} {row[3]}") for row in rows]
        shown = [*shown[written:], *[(f"into {name}", text) for name, text in shown[:written]]]
        width = max((len(name) for name, _ in shown), default=0)
        # A check is noted by itself: which operation asked for it is seen in the line.
        self.operation = "" if operation == "limit" else operation
        self.operands = [f"{name:<{width}}  {text}" for name, text in shown]
        if path is not None:
            self.within(f"the call at {self.site}")
            self.site = ": ".join(filter(None, site_parts(path, line)))

    def detail(self) -> list[str]:
        """Give the lines between what is wrong and the user's line."""
        return self.operands

    def within(self, place: str) -> None:
        """Add where it happened, beside the line that the user called."""
        self.places.append(place)

    def __str__(self) -> str:
        lines = [f"{self.operation}: {self.what}" if self.operation else self.what]
        lines += [f"    {line}" for line in self.detail()]
        lines += [f"  in {place}" for place in [*self.places, self.module] if place]
        if self.site:
            lines.append(f"  at {self.site}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        state = {k: v for k, v in vars(self).items() if k not in ("what", "hint", "suggest")}
        return type(self), (self.what, self.hint), state


class ShapeError(TessellaError, ValueError):
    """Shapes that do not fit together."""

    code = "shape"


class BroadcastError(ShapeError):
    """Shapes that do not broadcast, or would and must not."""

    code = "broadcast"

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what, hint)
        self.note = ("", "")  # the name of an operand, and what its line says beside it

    def detail(self) -> list[str]:
        name, text = self.note
        return [f"{line:<28} {text}" if name and line.split()[:1] == [name] else line
                for line in self.operands]  # fmt: skip


class InvalidArgument(TessellaError, ValueError):  # noqa: N818 - the names of this tree are public
    """A value outside what the operation accepts."""

    code = "invalid_argument"


class IndexOutOfBounds(TessellaError, IndexError):  # noqa: N818
    """An index or axis that does not exist."""

    code = "index_out_of_bounds"


class Empty(TessellaError, IndexError):  # noqa: N818
    """An operation that needs at least one element."""

    code = "empty"


class DTypeMismatch(TessellaError, TypeError):  # noqa: N818
    """dtypes that an operation has no meaning for."""

    code = "dtype_mismatch"


class OutOfMemory(TessellaError, MemoryError):  # noqa: N818
    """An allocation beyond the limit, or beyond what an allocator has."""

    code = "out_of_memory"

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what, hint)
        self.report: list[str] = []  # who holds memory

    def detail(self) -> list[str]:
        return self.report or self.operands


class CapacityOverflow(TessellaError, MemoryError):  # noqa: N818
    """A container that is full and may not grow."""

    code = "capacity_overflow"


class LengthOverflow(TessellaError, OverflowError):  # noqa: N818
    """A size that cannot be counted."""

    code = "length_overflow"


class IllegalState(TessellaError, RuntimeError):  # noqa: N818
    """An object that is not in a state for the operation."""

    code = "illegal_state"


class PreconditionFailed(TessellaError, RuntimeError):  # noqa: N818
    """A condition that the caller promised does not hold."""

    code = "precondition_failed"


class InplaceError(TessellaError, RuntimeError):
    """An in-place write that would make results wrong."""

    code = "inplace"


class AnomalyError(TessellaError, ArithmeticError):
    """An operation that made NaN or an infinity while somebody watched for it."""

    code = "anomaly"


class UseAfterFree(TessellaError, RuntimeError):  # noqa: N818
    """A tensor whose memory was given back."""

    code = "use_after_free"


class CheckFailed(TessellaError, AssertionError):  # noqa: N818
    """Something that a check of ts.testing found to be wrong."""

    code = "check_failed"


class CaptureError(TessellaError, RuntimeError):
    """A function that cannot be compiled."""

    code = "capture"

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what, hint)
        note_while_recorded(self)  # now: what `__del__` raises is only printed


class FormatError(TessellaError, ValueError):
    """A file that is not what it should be."""

    code = "format"


class MissingFile(TessellaError, FileNotFoundError):  # noqa: N818
    """A file that should be there."""

    code = "missing_file"


class ArgumentError(TessellaError, TypeError):
    """A wrong Python type or keyword."""

    code = "argument"


class ExchangeError(TessellaError, BufferError, ValueError):
    """Memory that cannot be shared as asked."""

    code = "exchange"


class UnknownName(TessellaError, AttributeError):  # noqa: N818
    """A name that does not exist."""

    code = "unknown_name"
    suggest: Callable[[], str] | None = None  # finds the hint: `hasattr` never asks for it

    @property
    def hint(self) -> str:
        """The cure, looked for when it is read."""
        if self.suggest is not None:
            self._hint, self.suggest = self.suggest(), None
        return self._hint

    @hint.setter
    def hint(self, hint: str) -> None:
        self._hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        str(self)  # finds the hint
        return super().__reduce__()


class UnknownKey(UnknownName, KeyError):  # noqa: N818
    """A key that a dict of modules or of parameters does not have."""

    code = "unknown_key"


class MissingImport(TessellaError, ImportError):  # noqa: N818
    """A module or name that an import asks for, and that does not exist."""

    code = "missing_import"


def _origin(source: str, index: int) -> str:
    """Say what the memory of a program's operand is."""
    if source in ("argument", "result"):
        return f"{source} {index}"
    return {"captured": "captured tensor", "gradient": "gradient"}.get(source, "intermediate")


def user_frame() -> FrameType | None:
    """Give the innermost frame outside this package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((PACKAGE, "<frozen")):
        frame = frame.f_back
    return frame


def user_site() -> str:
    """Give `file:line: source` of the innermost frame outside this package."""
    frame = user_frame()
    if frame is None:
        return ""
    place, source = site_parts(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
    return f"{place}: {source}" if source else place


def site_parts(path: str, line: int, names: dict[str, Any] | None = None) -> tuple[str, str]:
    """Give a place as `file:line`, and its source as far as it can be found."""
    import linecache

    return f"{os.path.basename(path)}:{line}", linecache.getline(path, line, names).strip()


def type_name(value: object) -> str:
    """Name a value's type as users write it."""
    kind = type(value)
    module = kind.__module__  # of some classes of the core what finds that of their objects
    if not isinstance(module, str) or module in ("builtins", "tessella"):
        return kind.__qualname__
    return f"{module}.{kind.__qualname__}"


def is_foreign_array(value: object) -> bool:
    """Tell whether a value that is no tensor is an array of another library."""
    kind = type(value)
    return hasattr(kind, "__array_interface__") or hasattr(kind, "__dlpack__")


def alike(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """Give the names that are spelt nearly so, the nearest first."""
    import difflib  # nobody needs it before

    return difflib.get_close_matches(name, list(names), most, 0.75)


def brief(value: object) -> str:
    """Show a value in an error, shortened."""
    try:
        text = repr(value)
    except builtins.Exception:
        text = f"<{type_name(value)}>"
    text = " ".join(text.split("\n")) if "\n" in text else text
    return text if len(text) <= 60 else text[:57] + "..."
