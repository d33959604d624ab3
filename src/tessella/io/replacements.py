"""Files that are replaced as a whole: the old one stays until the new one is on the disk.

The new bytes go into a temporary file in the same folder, which is synced and then takes the name
over, in one step of the file system. A failure on the way removes it, and the old file is as it
was; a process that is killed may leave it behind, under a name that begins with a point and ends
in `.tmp`. Whoever has the old file mapped or open keeps its bytes.
"""

from __future__ import annotations

import contextlib
import os
import stat
from types import TracebackType

from tessella.hints import TYPE_CHECKING, Any
from tessella.io import file_errors
from tessella.io.sources import flags, is_file, path_of

if TYPE_CHECKING:
    from typing import BinaryIO

_LONGEST = 200  # characters of the name that the temporary file's name repeats


class replacing:  # noqa: N801 - used like a function
    """Open a new file that takes the path's place at the end of a `with` block without an error."""

    def __init__(self, path: Any) -> None:
        self.path = os.path.realpath(path_of(path))  # a link stays, what it names is replaced
        self.folder, name = os.path.split(self.path)
        # Names are bytes of a limited number; letters have up to four.
        start = name if len(os.fsencode(name)) < _LONGEST else "save"
        self.temporary = os.path.join(self.folder, f".{start}.{os.urandom(4).hex()}.tmp")

    def __enter__(self) -> BinaryIO:
        mode = _mode_of(self.path)
        how = flags("O_WRONLY", "O_CREAT", "O_EXCL", "O_CLOEXEC", "O_BINARY")
        try:
            descriptor = os.open(self.temporary, how, 0o666)  # less the umask
        except FileNotFoundError:
            raise file_errors.missing_folder(self.path, self.folder) from None
        except OSError as error:
            raise self._explained(error) from None
        self.file = os.fdopen(descriptor, "wb")
        try:
            if mode is not None:
                os.chmod(descriptor if os.chmod in os.supports_fd else self.temporary, mode)
        except BaseException:
            self._remove()
            raise
        return self.file

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 traceback: TracebackType | None) -> None:  # fmt: skip
        if kind is not None:
            self._remove()
            if isinstance(value, OSError):
                self._explained(value)
            return
        try:
            self._install()
        except BaseException as error:
            self._remove()
            if isinstance(error, OSError):
                self._explained(error)
            raise

    def _install(self) -> None:
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        os.replace(self.temporary, self.path)
        sync_folder(self.folder)

    def _remove(self) -> None:
        _close_quietly(self.file)  # first, as some systems remove no file that is open
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.temporary)  # not there: it has the name, and the folder was not synced

    def _explained(self, error: OSError) -> OSError:
        """Name the file that was to be saved, not the temporary one."""
        if error.filename in (None, self.temporary):
            error.filename = self.path
            error.filename2 = None
        error.add_note(file_errors.OLD_FILE_STAYS)
        return error


def _close_quietly(file: BinaryIO) -> None:
    """Close a file whose last bytes do not matter: flushing them may fail again."""
    with contextlib.suppress(OSError):
        file.close()


def check_target(path: Any) -> None:
    """Refuse a path that no file could be saved at, before there is anything to save."""
    path = os.path.realpath(path_of(path))
    _mode_of(path)
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise file_errors.missing_folder(path, folder)


def _mode_of(path: str) -> int | None:
    """Give the rights of a file that is there; refuse what is no file."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise file_errors.not_regular(path)
    return stat.S_IMODE(mode)


def sync_folder(folder: str) -> None:
    """See that a new name of a folder is on the disk, where folders can be opened."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, flags("O_RDONLY", "O_DIRECTORY", "O_CLOEXEC"))
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class passing:  # noqa: N801 - used like a function
    """Give a binary file of the caller's own as it is: it is theirs to sync and close."""

    def __init__(self, file: Any) -> None:
        self.file: BinaryIO = file

    def __enter__(self) -> BinaryIO:
        return self.file

    def __exit__(self, *ignored: object) -> None:
        return None


def open_target(file: Any) -> replacing | passing:
    """Give what a `with` block writes to: a file that is replaced, or the caller's own."""
    return passing(file) if is_file(file, "write") else replacing(file)
