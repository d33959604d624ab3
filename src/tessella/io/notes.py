"""What our files say beyond the safetensors format, as one text in their metadata.

    {"tied": {"head.weight": "embedding.weight"},    a second name of a tensor
     "dtypes": {"z": ["complex128", null]},          a dtype that the format does not have
     "object": {"dict": {"w": {"tensor": "w"}}}}     the object that ts.save was given

Other readers see the tensors, and a key `tessella` in the metadata. complex128 is stored as F64
with one more axis of size 2, a user's dtype as U8 with one more axis of its item size; the second
entry is then its format. A part that has nothing to say is left out, and so is the whole.
"""

from __future__ import annotations

import json

from tessella import dtypes
from tessella.dtypes import DType, UserDType, complex128
from tessella.hints import Any
from tessella.io import file_errors
from tessella.io.headers import Entry, Header

KEY = "tessella"
_PARTS = {"tied", "dtypes", "object"}
_NOTHING = object()


class Notes:
    """Names tied to others, dtypes by tensors' names, and the object, if there is one."""

    def __init__(self) -> None:
        self.tied: dict[str, str] = {}
        self.dtypes: dict[str, list[str | None]] = {}
        self.object: object = _NOTHING

    @property
    def has_object(self) -> bool:
        """Whether the file is one of ts.save."""
        return self.object is not _NOTHING

    def text(self) -> str:
        """Give what is written; nothing if there is nothing to say."""
        parts = {name: value for name, value in vars(self).items() if value and value != _NOTHING}
        if self.has_object:
            parts["object"] = self.object
        return json.dumps(parts, separators=(",", ":"), allow_nan=False) if parts else ""


def read_notes(header: Header, name: str) -> Notes:
    """Take the notes out of a header's metadata, and check them against its tensors."""
    notes = Notes()
    text = header.metadata.pop(KEY, "")
    if not text:
        return notes
    try:
        parts = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise file_errors.bad_notes(name, "it is no JSON") from None
    if not isinstance(parts, dict) or not parts.keys() <= _PARTS:
        raise file_errors.bad_notes(name, "it must hold tied, dtypes and object only")
    for alias, kept in _items(parts, "tied", name):
        if not isinstance(kept, str) or kept not in header.entries or alias in header.entries:
            raise file_errors.bad_notes(name, "tied must give second names of tensors", alias)
        notes.tied[alias] = kept
    for key, dtype in _items(parts, "dtypes", name):
        _check_dtype(header.entries.get(key), dtype, key, name)
        notes.dtypes[key] = dtype
    notes.object = parts.get("object", _NOTHING)
    return notes


def _refuse(word: str) -> Any:
    raise ValueError(word)


def _items(parts: dict[str, Any], part: str, name: str) -> list[tuple[str, Any]]:
    found = parts.get(part, {})
    if not isinstance(found, dict):
        raise file_errors.bad_notes(name, f"{part} must be an object")
    return list(found.items())


def _check_dtype(entry: Entry | None, said: Any, key: str, name: str) -> None:
    """Refuse a dtype that does not fit how the tensor is stored."""
    is_pair = isinstance(said, list) and len(said) == 2 and isinstance(said[0], str)
    if not is_pair or entry is None:
        raise file_errors.bad_notes(name, "dtypes must give a dtype for tensors of the file", key)
    if said == ["complex128", None]:
        if entry.dtype != "F64" or entry.shape[-1:] != (2,):
            raise file_errors.bad_notes(name, "complex128 is stored as F64 pairs", key)
    elif not isinstance(said[1], str) or entry.dtype != "U8" or not entry.shape:
        raise file_errors.bad_notes(name, "a user's dtype is stored as U8, with its format", key)


def dtype_of(said: list[str | None], entry: Entry, key: str, name: str) -> DType:
    """Give the dtype that a note names; a user's must be registered, with the same format."""
    if said[1] is None:
        return complex128
    found = dtypes.BY_NAME.get(said[0] or "")
    if not isinstance(found, UserDType) or found.format != said[1]:
        raise file_errors.unregistered(name, key, str(said[0]), said[1], found)
    if entry.shape[-1] != found.itemsize:
        raise file_errors.bad_notes(name, f"{found} has {found.itemsize} bytes", key)
    return found
