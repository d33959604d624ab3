"""read_csv: tables out of text files of comma-separated values.

The core finds records and parses columns (src/core/csv); here are the choices that people make, the
kinds of columns, and the messages. A file is read whole, into memory that the account counts.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import IO, Any

from tessella import _core, data_errors, errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_list
from tessella.data.tables import Column, Table, recoded
from tessella.dtypes import DType, float64, int64, uint8
from tessella.hints import DTypeLike, Path
from tessella.items import OnHeap
from tessella.located import located

MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None")

_BOM = b"\xef\xbb\xbf"
_MOST_COLUMNS = 1_000_000
_SHOWN = 200  # bytes of a line that an error shows

# Kinds of columns, as in src/core/csv/columns.h: each holds all that those before it do.
_SKIPPED, _INTEGERS, _FLOATS, _TEXTS = range(4)
_KINDS: dict[Any, int] = {int: _INTEGERS, float: _FLOATS, str: _TEXTS,
                          "int": _INTEGERS, "float": _FLOATS, "str": _TEXTS}  # fmt: skip


@located("data.read_csv")
def read_csv(
    path: Path | IO[str] | IO[bytes],
    delimiter: str = ",",
    *,
    header: bool | None = None,
    names: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    dtype: Mapping[str, DTypeLike] | None = None,
    missing: Sequence[str] = MISSING,
    quote: str | None = '"',
    comment: str | None = None,
    encoding: str = "utf-8",
) -> Table:
    """Read a table of comma-separated values from a path, or from a file that is open.

    A column is int64 if all its fields are integers, float64 if all are numbers or missing (NaN),
    and text otherwise; `dtype={"zip": str}` says what it is. Numbers have the bits of Python's
    float(text). Without `header`, the first record is one if none of its fields is a number or
    missing; `names` names the columns instead, and `columns` says which of them are read. Fields
    may be quoted, and then hold delimiters, newlines and doubled quotes. Blank lines, and lines
    that begin with `comment`, are left out; a line with too few or too many fields is an error.

    >>> import io
    >>> table = ts.data.read_csv(io.StringIO("size,kind\\n1.5,b\\n2,a\\n"))
    >>> table.kinds
    {'size': 'float', 'kind': 'text'}
    >>> table["size"].tolist(), table.texts("kind")
    ([1.5, 2.0], ['b', 'a'])
    """
    form = _format(delimiter, quote, comment)
    words = [word.encode() for word in _texts("missing", missing)]
    if dtype is not None and not isinstance(dtype, Mapping):
        raise errors.wrong_type("dtype", dtype, "a dict of names and dtypes, or None")
    if not isinstance(encoding, str):
        raise errors.wrong_type("encoding", encoding, "text")
    has_header = None if header is None else to_bool("header", header)
    with OnHeap():
        text = _read(path, encoding)
    reader = _Reader(text, form, words)
    reader.read_head(has_header, names)
    return reader.read_table(columns, {} if dtype is None else dtype)


# --- arguments -----------------------------------------------------------------------------------


def _format(delimiter: Any, quote: Any, comment: Any) -> list[int]:
    """Give the three characters as bytes, -1 for none."""
    form = [_mark("delimiter", delimiter, is_optional=False), _mark("quote", quote),
            _mark("comment", comment)]  # fmt: skip
    given = [byte for byte in form if byte >= 0]
    if len(set(given)) < len(given):
        shown = (delimiter, quote, comment)
        raise errors.wrong_value("delimiter, quote, comment", shown, "different characters")
    return form


def _mark(name: str, value: Any, is_optional: bool = True) -> int:
    if value is None and is_optional:
        return -1
    is_mark = isinstance(value, str) and len(value) == 1 and value.isascii()
    if not is_mark or value.isalnum() or value in "+-.\r\n\0":
        words = "one ASCII character that belongs to no number and ends no line"
        raise errors.wrong_value(name, value, words)
    return ord(value)


def _texts(name: str, values: Any) -> list[str]:
    found = [] if isinstance(values, str) else to_list(name, values, "a list of texts")
    if isinstance(values, str) or not all(isinstance(value, str) for value in found):
        raise errors.wrong_type(name, values, "a list of texts")
    return found


# --- reading -------------------------------------------------------------------------------------


def _read(path: Any, encoding: str) -> Tensor:
    """Give the bytes of a text as UTF-8, with a newline behind them."""
    if isinstance(path, str | os.PathLike):
        with data_errors.opened(path) as file:
            if _is_utf8(encoding):
                return _read_bytes(file)
            return _copied(_decoded(path, file.read(), encoding).encode())
    if not hasattr(path, "read") or isinstance(path, Tensor):
        raise errors.wrong_type("path", path, "a path, or a file that is open")
    content = path.read()
    if isinstance(content, str):
        return _copied(content.encode(errors="surrogatepass"))
    if not isinstance(content, bytes):
        raise errors.wrong_type("path.read()", content, "text or bytes")
    if not _is_utf8(encoding):
        content = _decoded(path, content, encoding).encode()
    return _copied(content)


def _is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")


def _decoded(path: Any, content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except LookupError:
        raise errors.wrong_value("encoding", encoding, "one that Python knows") from None
    except UnicodeDecodeError as error:
        what = f"byte {error.start} is not {encoding}: {error.reason}"
        raise data_errors.malformed(path, what, "name its encoding: encoding=") from None


def _read_bytes(file: Any) -> Tensor:
    """Read a file into memory that is counted; one that grows meanwhile, up to its old end."""
    size = os.fstat(file.fileno()).st_size
    text = _core.empty((size + 1,), uint8.id)
    view = memoryview(text)
    count = 0
    while count < size and (got := file.readinto(view[count:size])):
        count += got
    view[count:] = b"\n" * (size + 1 - count)
    return text


def _copied(content: bytes) -> Tensor:
    text = _core.empty((len(content) + 1,), uint8.id)
    view = memoryview(text)
    view[:-1] = content
    view[-1] = 10
    return text


# --- columns -------------------------------------------------------------------------------------


class _Reader:
    """A text, the names of its columns, and where its first row begins."""

    def __init__(self, text: Tensor, form: list[int], missing: list[bytes]) -> None:
        self.text = text
        self.form = form
        self.missing = missing
        self.start = len(_BOM) if bytes(memoryview(text)[:3]) == _BOM else 0
        self.names: list[str] = []

    def read_head(self, has_header: bool | None, names: Sequence[str] | None) -> None:
        """Find out the names of the columns, and whether the first record holds them."""
        fields, behind, wrong = _core.csv_record(self.text, self.form, self.start, _MOST_COLUMNS)
        self.refuse(wrong, 0)
        if len(fields) > _MOST_COLUMNS:
            raise self.at(self.start, f"more than {_MOST_COLUMNS} columns", "is it the delimiter?")
        if has_header is None:
            has_header = bool(fields) and not any(map(self._is_value, fields))
        if names is None:
            found = [self.decoded(field, self.start) for field in fields]
            names = found if has_header else [f"x{i}" for i in range(len(fields))]
        self.names = _texts("names", names)
        if fields and len(self.names) != len(fields):
            what = f"{len(fields)} columns, and {len(self.names)} names were given"
            raise self.at(self.start, what, "name each column once")
        if len(set(self.names)) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise self.at(self.start, f"two columns are called {twice!r}", "name them by names=")
        if has_header:
            self.start = behind

    def _is_value(self, field: bytes) -> bool:
        if field.strip() in self.missing:
            return True
        try:
            float(field)
        except ValueError:
            return False
        return True

    def read_table(self, columns: Sequence[str] | None, dtype: Mapping[str, Any]) -> Table:
        """Read the rows, each column as the kind that holds all its fields."""
        wanted = self.names if columns is None else _texts("columns", columns)
        known, chosen = set(self.names), set(wanted)
        for name in (*wanted, *dtype):
            if name not in known:
                raise data_errors.no_column(name, tuple(self.names))
        with OnHeap():
            count = _core.csv_mark_count(self.text.size - 1 - self.start)
            marks = _core.empty((2 * count,), int64.id)
        rows, wrong = _core.csv_marks(self.text, self.form, self.start, marks)
        self.refuse(wrong, 0)
        fixed = {name: _kind(name, kind) for name, kind in dtype.items()}
        kinds = [self._first_kind(name, fixed, rows) if name in chosen else _SKIPPED
                 for name in self.names]  # fmt: skip
        found = self._parse(marks, rows, kinds, {*fixed})
        return Table({name: found[name] for name in wanted})

    def _first_kind(self, name: str, fixed: dict[str, int], rows: int) -> int:
        return fixed.get(name, _INTEGERS if rows else _FLOATS)

    def _parse(
        self, marks: Tensor, rows: int, kinds: list[int], fixed: set[str]
    ) -> dict[str, Column]:
        """Parse all columns, and those again that turn out to hold more than they were made for.

        The rows of the first block tell most kinds before all rows are parsed.
        """
        todo = [kind != _SKIPPED for kind in kinds]
        with OnHeap():
            if marks.size > 4:
                kinds = self._parse_once(marks[:4], int(marks[3]), kinds, fixed, todo)[1]
        found: dict[str, Tensor] = {}
        while any(todo):
            values, needed = self._parse_once(marks, rows, kinds, fixed, todo)
            found |= values
            todo = [need != kind for need, kind in zip(needed, kinds, strict=True)]
            kinds = needed
        return {name: self._column(found[name], kind)
                for name, kind in zip(self.names, kinds, strict=True) if kind}  # fmt: skip

    def _parse_once(
        self, marks: Tensor, rows: int, kinds: list[int], fixed: set[str], todo: list[bool]
    ) -> tuple[dict[str, Tensor], list[int]]:
        """Parse the columns that are due; give them, and the kinds that all columns need."""
        found: dict[str, Tensor] = {}
        outs: list[Any] = []
        for name, kind, is_due in zip(self.names, kinds, todo, strict=True):
            if is_due:
                found[name] = _core.empty((rows,), _dtype_of(kind).id)
            outs.append((found.get(name), kind, name in fixed))
        needed, wrong = _core.csv_columns(self.text, self.form, marks, rows, outs, self.missing)
        self.refuse(wrong, len(self.names))
        return found, [need if is_due else kind
                       for is_due, need, kind in zip(todo, needed, kinds, strict=True)]  # fmt: skip

    def _column(self, values: Tensor, kind: int) -> Column:
        if kind != _TEXTS:
            return Column(values)
        firsts = values
        texts = _core.csv_codes(self.text, self.form, firsts)
        return recoded([self.decoded(text, None) for text in texts], firsts)

    # --- messages --------------------------------------------------------------------------------

    def decoded(self, field: bytes, offset: int | None) -> str:
        """Decode a field; the text of a broken one is looked for, to name its line."""
        try:
            return field.decode()
        except UnicodeDecodeError as error:
            if offset is None:
                offset = max(bytes(memoryview(self.text)).find(field), 0)
            what = f"byte {error.start} of {errors.brief(field)} is not UTF-8"
            raise self.at(offset, what, "name the encoding of the file: encoding=") from None

    def at(self, offset: int, what: str, hint: str) -> errors.FormatError:
        """Build the error of a place in the text."""
        line, text = _core.csv_line(self.text, self.form, offset, _SHOWN)
        return data_errors.at_line(line, text.decode(errors="replace"), what, hint)

    def refuse(self, wrong: tuple[int, int, int] | None, columns: int) -> None:
        """Raise the error of what the core found to be wrong."""
        if wrong is None:
            return
        flaw, offset, count = wrong
        if flaw == 1:
            raise self.at(offset, "a quote is opened and never closed",
                          "close it, or read with quote=None")  # fmt: skip
        if flaw == 2:
            raise self.at(offset, "text follows a closing quote",
                          'a quote inside of quotes is doubled: "a ""word"" b"')  # fmt: skip
        if flaw == 3:
            fields = "1 field" if count == 1 else f"{count} fields"
            raise self.at(offset, f"{fields}, and there are {columns} columns",
                          "each line has as many; is it the delimiter, or comment=?")  # fmt: skip
        field = _core.csv_record(self.text, self.form, offset, 0)[0][0]
        shown = errors.brief(field.decode(errors="replace"))
        raise self.at(offset, f"{shown} is no number, in column {self.names[count]!r}",
                      "say another dtype=, or name it among missing= for a float")  # fmt: skip


def _dtype_of(kind: int) -> DType:
    return float64 if kind == _FLOATS else int64


def _kind(name: str, kind: Any) -> int:
    if isinstance(kind, DType):
        kind = int if kind.is_integer else float if kind.is_floating else kind
    try:
        return _KINDS[kind]
    except (KeyError, TypeError):
        raise errors.wrong_value(f"dtype of {name!r}", kind, "int, float or str") from None
