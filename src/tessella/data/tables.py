"""Table: named columns of numbers and of text, which become tensors.

A column of text is kept as codes: tensors hold numbers, and a text is the number of its category.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tessella import data_errors, errors, notebooks
from tessella._core import Tensor
from tessella.arguments import to_list
from tessella.dtypes import DType, as_dtype, float32, float64, int64, uint64
from tessella.hints import Key
from tessella.located import located
from tessella.ops.creation import empty, eye, zeros
from tessella.ops.elementwise import where
from tessella.tensors import asarray, tensor

_BLOCK = 4096  # rows that are written at a time: they stay in cache for the next column
_SHOWN = 5


class Column:
    """The values of a column: numbers, or codes of categories (-1 where a text is missing)."""

    def __init__(self, values: Tensor, categories: tuple[str, ...] | None = None) -> None:
        self.values = values
        self.categories = categories

    @property
    def kind(self) -> str:
        """Name what it holds: int, float or text."""
        if self.categories is not None:
            return "text"
        return "float" if self.values.dtype.is_floating else "int"

    def shown(self, row: int) -> str:
        """Show one value, as short as it can be."""
        value = self.values[row].item()
        if self.categories is None:
            return f"{value:.6g}" if isinstance(value, float) else str(value)
        return "" if value < 0 else self.categories[int(value)]


class Table:
    """Named columns of one length, of numbers or of text.

    `table[name]` is a tensor: int64 or float64, or the codes of a text's categories.

    >>> table = ts.data.Table({"size": [1.5, 2.0, 0.5], "kind": ["b", "a", "b"]})
    >>> table["kind"].tolist(), table.categories("kind")
    ([1, 0, 1], ('a', 'b'))
    >>> table.to_tensor(["size"]).shape
    (3, 1)
    """

    def __init__(self, columns: Mapping[str, object]) -> None:
        try:
            if not isinstance(columns, Mapping):
                raise errors.wrong_type("columns", columns, "a dict of names and columns")
            self._columns = {name: _column_of(name, value) for name, value in columns.items()}
            self._rows = 0
            for i, (name, column) in enumerate(self._columns.items()):
                rows = column.values.shape[0] if column.values.ndim == 1 else -1
                if rows < 0:
                    shape = column.values.shape
                    raise errors.wrong_value(f"shape of {name!r}", shape, "that of a vector")
                if i and rows != self._rows:
                    raise data_errors.column_lengths(name, rows, self._rows)
                self._rows = rows
        except errors.TessellaError as error:
            raise error.relocate("data.Table", []) from None

    # --- what it holds ---------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in their order."""
        return tuple(self._columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._rows, len(self._columns)

    @property
    def kinds(self) -> dict[str, str]:
        """What each column holds: int, float or text."""
        return {name: column.kind for name, column in self._columns.items()}

    def __len__(self) -> int:
        return self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._columns

    def __getitem__(self, name: str) -> Tensor:
        return self._column(name, "data.Table").values

    def _column(self, name: str, operation: str) -> Column:
        try:
            return self._columns[name]
        except (KeyError, TypeError):
            raise data_errors.no_column(name, self.names).locate(operation, []) from None

    def categories(self, column: str) -> tuple[str, ...]:
        """Give the different texts of a column, sorted: what its codes stand for.

        >>> ts.data.Table({"kind": ["b", "a"]}).categories("kind")
        ('a', 'b')
        """
        found = self._column(column, "data.Table.categories").categories
        if found is None:
            raise data_errors.numbers_as_text(column).locate("data.Table.categories", [])
        return found

    def texts(self, column: str) -> list[str | None]:
        """Give a column of text row by row, None where it is missing.

        >>> ts.data.Table({"kind": ["b", None]}).texts("kind")
        ['b', None]
        """
        categories = self.categories(column)
        codes: Any = self._columns[column].values.tolist()
        return [None if code < 0 else categories[code] for code in codes]

    # --- other tables ----------------------------------------------------------------------------

    def take(self, rows: Key) -> Table:
        """Give the rows that a slice, a mask or an index tensor selects.

        >>> table = ts.data.Table({"a": [1, 2, 3]})
        >>> table.take(table["a"] > 1)["a"].tolist()
        [2, 3]
        """
        key = asarray(rows) if isinstance(rows, list) else rows
        return Table({n: Column(c.values[key], c.categories) for n, c in self._columns.items()})

    @located("data.Table.select")
    def select(self, columns: Sequence[str]) -> Table:
        """Give the named columns, in the order in which they are named.

        >>> ts.data.Table({"a": [1], "b": [2]}).select(["b"]).names
        ('b',)
        """
        return Table({name: self._column(name, "data.Table.select") for name in _listed(columns)})

    @located("data.Table.drop")
    def drop(self, columns: str | Sequence[str]) -> Table:
        """Give all columns but the named ones.

        >>> ts.data.Table({"a": [1], "b": [2]}).drop("b").names
        ('a',)
        """
        for name in _listed(columns):
            self._column(name, "data.Table.drop")
        left = [name for name in self._columns if name not in _listed(columns)]
        return self.select(left)

    # --- tensors ---------------------------------------------------------------------------------

    @located("data.Table.to_tensor")
    def to_tensor(
        self, columns: str | Sequence[str] | None = None, dtype: DType | str | None = None
    ) -> Tensor:
        """Give columns of numbers as one tensor (rows, columns), of float32 if no dtype is named.

        One name gives (rows, 1), too; `table[name]` is the vector. Missing numbers are NaN.

        >>> table = ts.data.Table({"a": [1, 2], "b": [0.5, 1.5]})
        >>> table.to_tensor(dtype=ts.float64).tolist()
        [[1.0, 0.5], [2.0, 1.5]]
        """
        names = self.names if columns is None else _listed(columns)
        chosen = [self._column(name, "") for name in names]
        for name, column in zip(names, chosen, strict=True):
            if column.categories is not None:
                raise data_errors.text_as_numbers(name)
        out = empty((self._rows, len(names)), dtype=_dtype_of(dtype))
        for start in range(0, self._rows, _BLOCK):
            for i, column in enumerate(chosen):
                out[start : start + _BLOCK, i] = column.values[start : start + _BLOCK]
        return out

    @located("data.Table.one_hot")
    def one_hot(self, column: str, dtype: DType | str | None = None) -> Tensor:
        """Give a column of text as (rows, categories), 1 in the place of each row's category.

        >>> ts.data.Table({"kind": ["b", "a"]}).one_hot("kind").tolist()
        [[0.0, 1.0], [1.0, 0.0]]
        """
        count = len(self.categories(column))
        codes = self._columns[column].values
        kind = _dtype_of(dtype)
        if self._rows == 0:
            return zeros((0, count), dtype=kind)
        lowest = int(codes.argmin().item())
        if codes[lowest].item() < 0:
            raise data_errors.missing_category(lowest, column)
        return eye(count, dtype=kind)[codes]

    # --- printing --------------------------------------------------------------------------------

    def _texts(self) -> list[list[str]]:
        """Give the first rows, column by column, each below its name."""
        rows = range(min(self._rows, _SHOWN))
        return [[name, *map(column.shown, rows)] for name, column in self._columns.items()]

    def _repr_html_(self) -> str:
        rows: list[list[Any]] = [list(row) for row in zip(*self._texts(), strict=True)]
        rows += [[...] * len(self._columns)] if self._rows > _SHOWN else []
        head = notebooks.line(repr(self).split("\n")[0])
        return notebooks.framed(f"<div>{head}</div>{notebooks.table(rows)}")

    def __repr__(self) -> str:
        cells = self._texts()
        widths = [max(map(len, column)) for column in cells]
        lines = [f"Table {self._rows} rows x {len(cells)} columns"]
        for row in zip(*cells, strict=True):
            texts = [text.rjust(width) for text, width in zip(row, widths, strict=True)]
            lines.append("  ".join(texts).rstrip()[:100])
        return "\n".join([*lines, "…"] if self._rows > _SHOWN else lines)


def _dtype_of(dtype: Any) -> DType:
    return float32 if dtype is None else as_dtype(dtype)


def _listed(columns: str | Sequence[str]) -> list[str]:
    return [columns] if isinstance(columns, str) else to_list("columns", columns, "names in a list")


def _column_of(name: str, value: Any) -> Column:
    """Make a column of a tensor, an array, or a list of numbers or texts."""
    if not isinstance(name, str):
        raise errors.wrong_type("name of a column", name, "text")
    if isinstance(value, Column):
        return value
    if isinstance(value, list | tuple) and any(isinstance(x, str) for x in value):
        for x in value:
            if x is not None and not isinstance(x, str):
                raise errors.wrong_type(f"column {name!r}", x, "text or None everywhere")
        return text_column([x for x in dict.fromkeys(value) if x is not None], value)
    values = asarray(value)
    kind = float64 if values.dtype.is_floating else int64
    if values.dtype is uint64 and (values >= 2**63).any().item():
        raise errors.wrong_value(f"column {name!r}", value, "integers that int64 holds")
    return Column(values.astype(kind, copy=False))


def text_column(texts: list[str], rows: Sequence[str | None]) -> Column:
    """Make a column of text from its different texts and its rows."""
    categories = tuple(sorted(texts))
    codes = {text: code for code, text in enumerate(categories)}
    return Column(tensor([-1 if x is None else codes[x] for x in rows], int64), categories)


def recoded(texts: list[str], codes: Tensor) -> Column:
    """Make a column from texts in any order and their codes; -1 stays."""
    order = sorted(range(len(texts)), key=texts.__getitem__)
    ranks = [0] * len(texts)
    for rank, place in enumerate(order):
        ranks[place] = rank
    categories = tuple(texts[place] for place in order)
    if not texts:
        return Column(codes, categories)
    # The last rank serves codes of -1, which are put back.
    return Column(where(codes < 0, codes, tensor(ranks, int64)[codes]), categories)
