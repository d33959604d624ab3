"""The messages about files; errors.py has the rest.

Those about a file that is not what it should be say what is wrong, in which file and at which of
its bytes, and what can be done.
"""

from __future__ import annotations

import errno
import os

from tessella.errors import (
    ArgumentError,
    FormatError as FormatError,
    IllegalState,
    InvalidArgument,
    MissingFile,
    TessellaError,
    brief,
    is_foreign_array,
    type_name,
)
from tessella.exceptions import alike
from tessella.hints import Any, Sequence

OLD_FILE_STAYS = "nothing was saved; what the path named before is as it was"
DAMAGED = "the file is damaged or was not written whole: copy it again, or save it again"


class FolderError(InvalidArgument, IsADirectoryError):
    """A folder where a file should be."""


class calling:  # noqa: N801 - used like a function
    """Names the function that the user called in the errors of a `with` block."""

    def __init__(self, operation: str) -> None:
        self.operation = operation

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, value: BaseException | None, traceback: Any) -> None:
        if isinstance(value, TessellaError):
            value.locate(self.operation, [])


def place(name: str, at: int | None) -> str:
    """Show where in a file something is."""
    return name if at is None else f"{name}, byte {at:,}"


def where(path: tuple[Any, ...]) -> str:
    """Show where in an object something is: ["model"]["weights"][0]."""
    return "".join(f"[{brief(key)}]" for key in path) or "the object"


def wrong(name: str, at: int | None, what: str, hint: str = DAMAGED) -> FormatError:
    """Something in a file that is not as it should be, and where."""
    error = FormatError(what, hint)
    error.within(place(name, at))
    return error


# --- paths ---------------------------------------------------------------------------------------


def no_path(value: object) -> ArgumentError:
    """Something that names no file."""
    return ArgumentError(
        f"path must be a path or a binary file, got {type_name(value)}",
        f"path={brief(value)} was given; a path is text, bytes or a pathlib.Path",
    )


def not_binary(value: object) -> ArgumentError:
    """A file that gives text."""
    return ArgumentError(
        f"path is a file that does not give bytes: {type_name(value)}",
        'open it as a binary file: open(path, "rb")',
    )


def takes_nothing(file: object) -> InvalidArgument:
    """A file whose write gives 0, again and again."""
    return InvalidArgument(
        f"{type_name(file)}.write took no byte",
        "give a file that writes before it returns",
    )


def missing_folder(path: str, folder: str) -> MissingFile:
    """A file to be saved in a folder that is not there."""
    error = MissingFile(
        f"there is no folder {folder} to save {os.path.basename(path)} in",
        f"os.makedirs({folder!r}, exist_ok=True)",
    )
    error.errno, error.filename = errno.ENOENT, path
    return error


def not_regular(path: str) -> InvalidArgument:
    """A folder, a pipe or a device where a file should be."""
    cure = "give the path of a file"
    if not os.path.isdir(path):
        return InvalidArgument(f"{path} is a pipe, a socket or a device", cure)
    error = FolderError(f"{path} is a folder", cure)
    error.errno, error.filename = errno.EISDIR, path
    return error


def ends_early(name: str, size: int, start: int, count: int) -> FormatError:
    """Bytes that the file should have."""
    return wrong(name, start, f"the file ends at byte {size:,}, {count:,} bytes are needed here")


def other_format(name: str) -> FormatError:
    """A zip archive or an .npy file where a safetensors file should be."""
    return wrong(
        name, 0, "it is no safetensors file", "ts.load reads .npy, .npz and .pt files as well"
    )


def is_gguf(name: str) -> FormatError:
    """A GGUF file where a safetensors file should be."""
    return wrong(name, 0, "it is a GGUF file", "ts.io.open_gguf reads it")


def is_text(name: str) -> FormatError:
    """A table or a configuration, often."""
    return wrong(
        name,
        0,
        "it is text, not a file of tensors",
        "ts.load reads safetensors, .npy, .npz and .pt; ts.data.read_csv reads tables",
    )


def old_torch(name: str) -> FormatError:
    """A bare pickle."""
    return wrong(
        name,
        0,
        "it is a bare pickle, as PyTorch wrote before version 1.6",
        "load it in PyTorch and save it again: torch.save(torch.load(path), path)",
    )


# --- safetensors ---------------------------------------------------------------------------------


def no_header(name: str, size: int) -> FormatError:
    """A file that is too short to say anything."""
    return wrong(name, 0, f"it has {size} bytes; a safetensors file has 8 and a header at least")


def header_length(name: str, length: int, size: int, most: int) -> FormatError:
    """A length that cannot be."""
    what = f"the header would have {length:,} bytes, "
    what += f"of a file of {size:,}" if length <= most else f"more than {most:,}"
    hint = f"{DAMAGED}; or it is no safetensors file"
    return wrong(name, 0, what, hint)


def header_encoding(name: str, at: int) -> FormatError:
    """A header that is no text."""
    return wrong(name, at, "the header is no UTF-8")


def header_syntax(name: str, at: int, wanted: str, found: str) -> FormatError:
    """A header that is not the JSON of a safetensors file."""
    what = f"the header has {brief(found) if found else 'its end'} here, not {wanted}"
    return wrong(name, at, what)


def repeated_key(name: str, at: int, key: str) -> FormatError:
    """Two entries of one name."""
    return wrong(name, at, f"the header has two entries {brief(key)}")


def unknown_field(name: str, at: int, tensor: str, field: str) -> FormatError:
    """Something about a tensor that the format does not have."""
    return wrong(
        name,
        at,
        f"tensor {brief(tensor)} has a field {brief(field)}",
        "dtype, shape and data_offsets are what the format has",
    )


def missing_field(name: str, at: int, tensor: str) -> FormatError:
    """A tensor of which something is not said."""
    return wrong(name, at, f"tensor {brief(tensor)} lacks dtype, shape or two data_offsets")


def unknown_format_dtype(name: str, at: int, tensor: str, dtype: str) -> FormatError:
    """A dtype that the format does not have."""
    return wrong(name, at, f"tensor {brief(tensor)} has the dtype {brief(dtype)}, which is none")


def absent_dtype(name: str, tensor: str, dtype: str) -> FormatError:
    """A dtype that the format has, and Tessella has not."""
    return wrong(
        name,
        None,
        f"tensor {brief(tensor)} is {dtype}, which Tessella does not have",
        "convert it where it was made; io.open_file gives the other tensors",
    )


def tensor_too_large(name: str, at: int, tensor: str, shape: Sequence[int]) -> FormatError:
    """Sizes that cannot be counted."""
    return wrong(name, at, f"tensor {brief(tensor)} has the shape {brief(list(shape))}: too large")


def tensor_bytes(
    name: str, at: int, tensor: str, dtype: str, shape: Sequence[int], places: tuple[int, int]
) -> FormatError:
    """Offsets that do not hold the tensor."""
    what = f"tensor {brief(tensor)}, {dtype} {brief(list(shape))}, does not fit "
    return wrong(name, at, what + f"bytes {places[0]:,} to {places[1]:,} of the data")


def tensors_overlap(name: str, at: int, first: str, other: str) -> FormatError:
    """Two tensors in the same bytes."""
    return wrong(name, at, f"tensors {brief(first)} and {brief(other)} overlap")


def tensors_gap(name: str, at: int, tensor: str, count: int) -> FormatError:
    """Bytes that are no tensor's."""
    return wrong(name, at, f"{count:,} bytes before tensor {brief(tensor)} belong to none")


def data_cut(name: str, size: int, tensor: str, end: int) -> FormatError:
    """A file that ends too early."""
    return wrong(name, size, f"the file ends here, tensor {brief(tensor)} at byte {end:,}")


def data_left(name: str, at: int, count: int) -> FormatError:
    """A file that goes on after its last tensor."""
    return wrong(name, at, f"{count:,} bytes after the last tensor belong to none")


def no_bool(where: str, tensor: str, index: int, value: int) -> FormatError:
    """A bool that is neither."""
    return wrong(where, None, f"element {index:,} of {brief(tensor)} is {value}; a bool is 0 or 1")


def header_too_long(size: int, most: int) -> InvalidArgument:
    """Names and texts that no reader would take."""
    return InvalidArgument(
        f"the names, shapes and texts take {size:,} bytes; a file may have {most:,}",
        "save long lists of numbers as tensors",
    )


def no_text(character: str) -> InvalidArgument:
    """Text that UTF-8 cannot hold."""
    return InvalidArgument(
        f"a name or text has {brief(character)}, half of a surrogate pair",
        "names and texts must be Unicode: text.encode() must work",
    )


def reserved_name(owner: str, name: str) -> InvalidArgument:
    """A name that the format, or Tessella's notes, use."""
    return InvalidArgument(f"{owner} has the name {brief(name)}, which is taken", "choose another")


def closed(name: str) -> IllegalState:
    """A file that was closed."""
    error = IllegalState("the file is closed", "take tensors inside the `with` block of the file")
    error.within(name)
    return error


def unknown_tensor(name: object, file: str, names: list[str]) -> InvalidArgument:
    """A tensor that the file does not have."""
    near = alike(str(name), names[:10_000]) or names[:3]
    shown = ", ".join(map(brief, near)) or "none"
    error = InvalidArgument(f"there is no tensor {brief(name)}", f"the file has {shown}")
    error.within(file)
    return error


# --- objects and states --------------------------------------------------------------------------


def bad_notes(name: str, why: str, key: str = "") -> FormatError:
    """Notes of Tessella that are not as it writes them."""
    about = f" ({brief(key)})" if key else ""
    return wrong(name, None, f"the text `tessella` of its metadata is wrong: {why}{about}")


def unregistered(name: str, key: str, dtype: str, fmt: str, found: object) -> FormatError:
    """A user's dtype that is not registered, or otherwise."""
    has = "is registered with another format" if found else "is not registered"
    return wrong(
        name,
        None,
        f"tensor {brief(key)} has the user dtype {brief(dtype)}, which {has}",
        f"first: ts.dtypes.register({brief(dtype)}, fmt={brief(fmt)})",
    )


def cannot_save(value: Any, path: tuple[Any, ...]) -> ArgumentError:
    """An object that is no plain data."""
    hint = "tensors, numbers, text, bytes, None and dtypes in dicts, lists and tuples can be saved"
    if hasattr(value, "state_dict"):
        hint = "save its state_dict(), or the whole run with io.save_checkpoint"
    elif hasattr(value, "detach"):
        hint = "save x.detach(), a plain tensor"
    elif is_foreign_array(value):
        hint = "make it a tensor: ts.asarray(a)"
    elif isinstance(value, dict):
        hint = "make it a plain dict: dict(x)"
    elif isinstance(value, tuple | set | frozenset):
        hint = "make it a plain tuple or list: tuple(x)"
    return ArgumentError(f"{where(path)} is {type_name(value)}, which is no plain data", hint)


def cannot_save_key(key: object, path: tuple[Any, ...]) -> ArgumentError:
    """A key that is no plain value."""
    return ArgumentError(
        f"{where(path)} has a key that is {type_name(key)}: {brief(key)}",
        "keys are text, numbers, None, or tuples of them",
    )


def too_deep(most: int) -> InvalidArgument:
    """Containers within containers, or within themselves."""
    return InvalidArgument(
        f"containers are nested deeper than {most}, or in themselves", "save a flatter one"
    )


def too_many_parts(most: int) -> InvalidArgument:
    """More values than a header should hold."""
    return InvalidArgument(
        f"more than {most:,} values, or containers that hold each other again and again",
        "save long lists of numbers as tensors",
    )


def would_run_code() -> InvalidArgument:
    """PyTorch's wish to run what a pickle says."""
    return InvalidArgument(
        "weights_only is False, and loading never runs code",
        "leave it out; what needs code is loaded in PyTorch and saved as tensors",
    )


def no_checkpoint(name: str) -> FormatError:
    """A file of something else."""
    return wrong(
        name, None, "it holds no state of io.save_checkpoint", "ts.load gives what it holds"
    )


def no_state(part: str, value: object) -> ArgumentError:
    """Something that cannot be restored in place."""
    return ArgumentError(
        f"{part} has no state_dict() and load_state_dict(): {type_name(value)}",
        "leave plain values out: they are in the dict that load_checkpoint gives",
    )


def missing_part(name: str, part: str, parts: list[str]) -> FormatError:
    """A state that the file does not have."""
    return wrong(name, None, f"it has no {brief(part)}", f"it has {', '.join(map(str, parts))}")


def part_differs(name: str, part: str, why: str) -> FormatError:
    """A state that does not fit its object."""
    return wrong(
        name,
        None,
        f"{part} does not fit: {why}",
        "nothing was restored; make the object as it was when it was saved",
    )


# --- NumPy's files and archives ------------------------------------------------------------------


def no_npy(name: str, at: int) -> FormatError:
    """Something that is no .npy file."""
    return wrong(name, at, "it is no .npy file of version 1, 2 or 3")


def npy_header(name: str, at: int, why: str) -> FormatError:
    """A header that NumPy would not write."""
    return wrong(
        name, at, f"the .npy header is wrong: {why}", "only plain arrays of numbers can be read"
    )


def npy_dtype(name: str, at: int, code: str, known: str) -> FormatError:
    """Elements that are no numbers, or none that Tessella has."""
    hint = "convert it in NumPy to a dtype of numbers: a.astype(...)"
    if known:
        hint = f"if it is {known}, save its bits from NumPy: a.view('uint16'), then view them"
    elif code.lstrip("<>|=").startswith("O"):
        hint = "Python objects would need pickle, which can run code; save plain arrays"
    return wrong(name, at, f"the elements are {brief(code)}, which Tessella does not have", hint)


def npy_size(name: str, at: int, said: int, found: int) -> FormatError:
    """More or fewer elements than the shape says."""
    return wrong(name, at, f"the elements should have {said:,} bytes and have {found:,}")


def no_member_name(name: str) -> InvalidArgument:
    """A name that zip cannot hold."""
    return InvalidArgument(
        f"tensors has the name {brief(name)}, which a zip archive cannot hold",
        "names in .npz files are Unicode without null characters, up to 60,000 bytes",
    )


def no_directory(name: str, at: int) -> FormatError:
    """An archive whose table of members is missing or wrong."""
    return wrong(name, at, "the table of the zip archive's members is missing or wrong")


def member_twice(name: str, at: int, member: str) -> FormatError:
    """Two members of one name."""
    return wrong(name, at, f"the archive has two members {brief(member)}")


def members_overlap(name: str, at: int, first: str, other: str) -> FormatError:
    """Members in the same bytes: how a small archive grows without bound."""
    what = f"{brief(first)} and {brief(other)}" if first else f"{brief(other)} and another part"
    return wrong(name, at, f"members of the archive overlap: {what}")


def member_kind(name: str, at: int, member: str, is_encrypted: bool) -> FormatError:
    """A member that is encrypted, or compressed in an unusual way."""
    why = "is encrypted" if is_encrypted else "is neither stored nor deflated"
    return wrong(
        name, at, f"member {brief(member)} {why}", "write it again, as NumPy and PyTorch do"
    )


def member_sizes(name: str, at: int, member: str, packed: int, size: int) -> FormatError:
    """Sizes that cannot be."""
    return wrong(name, at, f"member {brief(member)} cannot have {size:,} bytes in {packed:,}")


def member_size(name: str, member: str, size: int, most: int) -> FormatError:
    """A member that must be small, and is not."""
    return wrong(name, None, f"member {brief(member)} has {size:,} bytes, more than {most:,}")


def no_member(name: str, at: int, member: str) -> FormatError:
    """A member that is not where the table says."""
    return wrong(name, at, f"member {brief(member)} is not here, where the archive's table says")


def checksum(name: str, at: int, member: str) -> FormatError:
    """Bytes that are not those that were written."""
    return wrong(name, at, f"the bytes of member {brief(member)} do not have its checksum")


def inflation(name: str, at: int, member: str) -> FormatError:
    """Compressed bytes that are wrong, or give more or fewer than was said."""
    return wrong(name, at, f"the compressed bytes of member {brief(member)} are wrong")


# --- PyTorch's files -----------------------------------------------------------------------------


def no_torch(name: str) -> FormatError:
    """An archive without PyTorch's pickle."""
    return wrong(name, 0, "it is no file of torch.save", "ts.load reads other kinds as well")


def bad_pickle(name: str, at: int, why: str) -> FormatError:
    """A pickle that the machine cannot run."""
    return wrong(name, at, f"the pickle is wrong: {why}")


def refused_global(name: str, at: int, full: str) -> FormatError:
    """A name that only code could answer."""
    return wrong(
        name,
        at,
        f"it asks for {brief(full)}, and loading makes tensors and containers only",
        "save model.state_dict() or plain tensors in PyTorch, not objects",
    )


def bad_storage(name: str, number: str, why: str) -> FormatError:
    """The memory of a tensor that is missing or wrong."""
    return wrong(name, None, f"storage {brief(number)} is wrong: {why}")
