"""Paths of models: what lies there, told before anything is read."""

from __future__ import annotations

import os
from pathlib import Path

from tessella import errors
from tessella.hints import Any
from tessella.io.gguf_header import MAGIC
from tessella.io.sources import is_file
from tessella.models import model_errors


def to_path(path: Any) -> Path:
    """Require a path at which something lies."""
    if not isinstance(path, str | os.PathLike):
        raise errors.wrong_type("path", path, "a path")
    found = Path(os.fsdecode(path))
    if "\0" in str(found):
        raise errors.wrong_value("path", str(found), "a path: none has a zero byte")
    if not os.path.exists(found):
        raise model_errors.missing_model(str(found))
    return found


def to_folder(path: Any) -> Path:
    """Require the folder of a model."""
    found = to_path(path)
    if not found.is_dir():
        raise model_errors.file_given(str(found))
    return found


def to_file(path: Any) -> Any:
    """Require a GGUF file; a binary file that is open already may be one as well."""
    if is_file(path):
        return path
    found = to_path(path)
    if found.is_dir():
        raise model_errors.folder_given(str(found))
    if found.is_file():  # others, such as pipes, are refused where files are opened
        with found.open("rb") as file:
            begin = file.read(len(MAGIC))
        if not MAGIC.startswith(begin):  # what is cut off is told where it is read
            raise model_errors.no_gguf(str(found), begin)
    return found


def to_part(folder: Path, name: str) -> Path:
    """Require a file of a folder."""
    if not (folder / name).exists():
        raise model_errors.missing_part(str(folder), name)
    return folder / name
