"""Progress of a training: a bar of tqdm or rich where one is installed and watched, else lines."""

from __future__ import annotations

import sys

from tessella.hints import Any, Callable


class Lines:
    """One line for each epoch: what logs get, and terminals without a bar's package."""

    def __init__(self, write: Callable[[str], Any] | None = None) -> None:
        self._write = write or (lambda text: print(text, file=sys.stderr, flush=True))

    def begin(self, epoch: int, epochs: int, batches: int | None) -> None:
        """Begin an epoch."""

    def advance(self, text: str) -> None:
        """Tell that a batch was done."""

    def end(self, text: str) -> None:
        """End an epoch, with its figures."""
        self._write(text)

    def close(self) -> None:
        """Leave the terminal as it was."""


class Silent(Lines):
    """Says nothing."""

    def end(self, text: str) -> None:
        """Say nothing."""


class TqdmBar(Lines):
    """A bar of tqdm for each epoch."""

    def __init__(self, tqdm: Any) -> None:
        super().__init__(tqdm.write)
        self._tqdm, self._bar = tqdm, None

    def begin(self, epoch: int, epochs: int, batches: int | None) -> None:
        """Show a new bar."""
        self._bar = self._tqdm(total=batches, desc=f"{epoch}/{epochs}", leave=False)

    def advance(self, text: str) -> None:
        """Move the bar."""
        if self._bar is not None:
            self._bar.set_postfix_str(text, refresh=False)
            self._bar.update()

    def end(self, text: str) -> None:
        """Put the line of the epoch in the place of its bar."""
        self.close()
        self._write(text)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class RichBar(Lines):
    """A bar of rich for each epoch."""

    def __init__(self, progress: Any) -> None:
        super().__init__(progress.console.print)
        self._progress, self._task = progress, None
        progress.start()

    def begin(self, epoch: int, epochs: int, batches: int | None) -> None:
        """Show a new bar."""
        self._task = self._progress.add_task(f"{epoch}/{epochs}", total=batches)

    def advance(self, text: str) -> None:
        """Move the bar."""
        if self._task is not None:
            self._progress.update(self._task, advance=1)

    def end(self, text: str) -> None:
        """Put the line of the epoch in the place of its bar."""
        if self._task is not None:
            self._progress.remove_task(self._task)
            self._task = None
        self._write(text)

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._progress.stop()


def choose(wanted: bool | str | None) -> Lines:
    """Give what shows progress: a bar on a terminal, lines elsewhere, nothing if not wanted."""
    if wanted is False:
        return Silent()
    if wanted == "lines" or not sys.stderr.isatty():
        return Lines()
    try:
        from tqdm import tqdm

        return TqdmBar(tqdm)
    except ImportError:
        pass
    try:
        from rich.progress import Progress

        return RichBar(Progress(transient=True))
    except ImportError:
        return Lines()
