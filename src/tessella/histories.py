"""History: what happened in each epoch of a training, as a table and as a plot."""

from __future__ import annotations

from tessella import errors, training_errors
from tessella.arguments import to_list
from tessella.hints import TYPE_CHECKING, Any, Iterable
from tessella.sizes import to_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class History:
    """One row for each epoch: the loss, what was measured, time, throughput, memory.

    >>> history = ts.History([{"epoch": 1, "loss": 0.5}, {"epoch": 2, "loss": 0.25}])
    >>> history["loss"]
    [0.5, 0.25]
    """

    def __init__(self, rows: Iterable[dict[str, float]] | None = None) -> None:
        self.rows: list[dict[str, float]] = []
        self.reason = ""  # why it ended
        try:
            listed = [] if rows is None else to_list("rows", rows, "a list of dicts")
            for row in listed:
                self.append(row)
        except errors.TessellaError as error:
            raise error.relocate("History", []) from None

    def append(self, row: dict[str, float]) -> None:
        """Add an epoch."""
        if not isinstance(row, dict) or not all(isinstance(name, str) for name in row):
            wrong = errors.wrong_type("row", row, "a dict of names and numbers")
            raise wrong.locate("History.append", [])
        self.rows.append(row)

    @property
    def columns(self) -> list[str]:
        """Give the names of what was measured, in order."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> list[float]:
        """Give one column; None where an epoch has no such number."""
        if not isinstance(name, str) or name not in self.columns:
            rule = f"one of {', '.join(self.columns)}"
            raise errors.wrong_value("name", name, rule).locate("History", [])
        found: list[Any] = [row.get(name) for row in self.rows]
        return found

    def _texts(self) -> list[list[str]]:
        names = self.columns
        return [names, *([shown(name, row.get(name)) for name in names] for row in self.rows)]

    def _repr_html_(self) -> str:
        from tessella import notebooks  # nobody needs it elsewhere

        end = notebooks.line(self.reason) if self.reason else ""
        return notebooks.framed(notebooks.table([*self._texts()]) + end)

    def __repr__(self) -> str:
        rows = self._texts()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(f"{text:>{w}}" for text, w in zip(row, widths, strict=True))
                 for row in rows]  # fmt: skip
        return "\n".join([*lines, self.reason] if self.reason else lines)

    def plot(self, *names: str, axes: Axes | None = None) -> Axes:
        """Draw columns over the epochs, by default every loss and metric; give matplotlib's axes.

        `history.plot("loss", "val_loss").figure.savefig("run.png")` writes two of them to a file.
        """
        try:
            from matplotlib import pyplot
        except ImportError:
            raise training_errors.no_matplotlib().locate("History.plot", []) from None
        axes = axes or pyplot.figure().subplots()
        hidden = ("epoch", "seconds", "samples/s", "memory")
        for name in names or [name for name in self.columns if name not in hidden]:
            axes.plot(self["epoch"], self[name], label=name)
        axes.set_xlabel("epoch")
        axes.legend()
        return axes


def line_of(row: dict[str, Any], epochs: int) -> str:
    """Show a row in a line of its own, of as many epochs."""
    told = {**row, "epoch": f"{row['epoch']}/{epochs}"}
    return "  ".join(f"{name} {shown(name, value)}" for name, value in told.items())


def shown(name: str, value: object) -> str:
    """Show one number of a row."""
    if value is None:
        return ""
    if name == "memory" and type(value) is int and abs(value) < 1 << 63:
        return to_text(value)
    if name == "samples/s" and isinstance(value, int | float):
        return f"{value:,.0f}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
