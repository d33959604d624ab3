"""The messages about GGUF files; file_errors.py has those that all files share."""

from __future__ import annotations

from tessella.errors import ArgumentError, FormatError, InvalidArgument, brief, type_name
from tessella.hints import Any, Sequence
from tessella.io.file_errors import wrong

# --- the header ----------------------------------------------------------------------------------


def too_short(name: str, size: int, least: int) -> FormatError:
    """A file that is too short to say anything."""
    return wrong(name, 0, f"it has {size} bytes; a GGUF file has {least} at least")


def no_gguf(name: str, found: bytes) -> FormatError:
    """A file of something else."""
    hint = "ts.io.open_file reads safetensors files, ts.load the others"
    return wrong(name, 0, f"it begins with {found!r}, not with b'GGUF'", hint)


def unknown_version(name: str, at: int, version: int, known: Sequence[int]) -> FormatError:
    """A version that is too old or too new."""
    has = " and ".join(map(str, known))
    hint = "convert the model again, with a program that writes version 3"
    return wrong(name, at, f"it has version {version:,}; {has} can be read", hint)


def big_endian(name: str, at: int) -> FormatError:
    """A file of a machine with the other order of bytes."""
    hint = "convert it where it was made: little-endian files are what can be read"
    return wrong(name, at, "its numbers are big-endian", hint)


def impossible_count(name: str, at: int, noun: str, count: int, most: int) -> FormatError:
    """More entries than the rest of the file could hold."""
    return wrong(name, at, f"it would have {count:,} {noun}; the file has room for {most:,}")


def text_length(name: str, at: int, noun: str, length: int, left: int) -> FormatError:
    """Text that would go on behind the file's end."""
    return wrong(name, at, f"{noun} would have {length:,} bytes, and {left:,} are left")


def text_too_long(name: str, at: int, noun: str, length: int, most: int) -> FormatError:
    """A key or a name that is longer than any may be."""
    return wrong(name, at, f"{noun} would have {length:,} bytes; {most:,} are the most")


def text_empty(name: str, at: int, noun: str) -> FormatError:
    """A key or a name without a letter."""
    return wrong(name, at, f"{noun} is empty")


def text_encoding(name: str, at: int, noun: str) -> FormatError:
    """Text that is none."""
    return wrong(name, at, f"{noun} is no UTF-8")


def repeated(name: str, at: int, noun: str, text: str) -> FormatError:
    """Two entries of one name."""
    return wrong(name, at, f"there are two {noun} {brief(text)}")


# --- values --------------------------------------------------------------------------------------


def unknown_kind(name: str, at: int, key: str, number: int, most: int) -> FormatError:
    """A number that stands for no type of values."""
    return wrong(name, at, f"{brief(key)} has values of type {number:,}; types are 0 to {most}")


def array_count(name: str, at: int, key: str, count: int, kind: str, left: int) -> FormatError:
    """More elements than the rest of the file could hold."""
    what = f"{brief(key)} would have {count:,} elements ({kind}) in {left:,} bytes"
    return wrong(name, at, what)


def array_depth(name: str, at: int, key: str, most: int) -> FormatError:
    """Arrays of arrays without end."""
    return wrong(name, at, f"{brief(key)} has arrays nested deeper than {most}")


def no_flag(name: str, at: int, key: str, value: int) -> FormatError:
    """A bool that is neither."""
    return wrong(name, at, f"{brief(key)} holds the bool {value}; a bool is 0 or 1")


def alignment_kind(name: str, at: int, kind: str) -> FormatError:
    """An alignment that is no number of the type that it must be."""
    return wrong(name, at, f"general.alignment is of type {kind}; it must be uint32")


def alignment_value(name: str, at: int, value: int, most: int) -> FormatError:
    """An alignment that nothing can be aligned to."""
    what = f"general.alignment is {value:,}; it must be a power of two up to {most:,}"
    return wrong(name, at, what)


# --- tensors -------------------------------------------------------------------------------------


def axes(name: str, at: int, tensor: str, count: int, most: int) -> FormatError:
    """A number of axes that cannot be."""
    return wrong(name, at, f"tensor {brief(tensor)} has {count:,} axes; there are 1 to {most}")


def axis_size(name: str, at: int, tensor: str, size: int) -> FormatError:
    """A size that cannot be: 0, or negative where it is read with a sign."""
    return wrong(name, at, f"tensor {brief(tensor)} has an axis of size {size:,}")


def unknown_type(name: str, at: int, tensor: str, number: int) -> FormatError:
    """A number that stands for no type of tensors, or for one that was given up."""
    hint = "the file is newer than this reader, or damaged; convert the model again"
    return wrong(name, at, f"tensor {brief(tensor)} has the type {number:,}, which is none", hint)


def partial_block(
    name: str, at: int, tensor: str, size: int, kind: str, elements: int
) -> FormatError:
    """Rows that end inside of a block."""
    what = f"tensor {brief(tensor)} has rows of {size:,}; blocks of {kind} hold {elements} numbers"
    return wrong(name, at, what)


def misaligned(name: str, at: int, tensor: str, offset: int, alignment: int) -> FormatError:
    """A tensor that begins where none may."""
    what = f"tensor {brief(tensor)} begins at {offset:,} of the data"
    return wrong(name, at, f"{what}, which is no multiple of {alignment}")


def starts_behind(name: str, at: int, tensor: str, start: int, size: int) -> FormatError:
    """A tensor that would begin behind the file's end."""
    what = f"tensor {brief(tensor)} would begin at byte {start:,}; the file has {size:,}"
    return wrong(name, at, what)


def absent_type(name: str, tensor: str, kind: str, known: Sequence[str]) -> FormatError:
    """A type of blocks that is known by its size only."""
    return wrong(
        name,
        None,
        f"tensor {brief(tensor)} is {kind}, which cannot be computed with",
        f"quantise the model to another type: {', '.join(known)}",
    )


# --- what is to be written -----------------------------------------------------------------------


def not_writable(owner: str, dtype: str, known: Sequence[str]) -> InvalidArgument:
    """A dtype that GGUF does not have."""
    return InvalidArgument(
        f"{owner} is {dtype}, which GGUF files do not have",
        f"convert it to one of {', '.join(known)}; blocks are given with their format, "
        '(blocks, "q8_0")',
    )


def other_format(owner: str, dtype: str, wanted: str) -> InvalidArgument:
    """A tensor that is not what stands beside it."""
    return InvalidArgument(
        f"{owner} is a tensor of {dtype}, and its format is {wanted}",
        "a format of blocks goes with uint8, a dtype with itself; ts.astype converts",
    )


def split_block(owner: str, size: int, kind: str, count: int) -> InvalidArgument:
    """Rows of bytes that are no whole blocks."""
    return InvalidArgument(
        f"{owner} has rows of {size:,} bytes; blocks of {kind} have {count}",
        "a matrix of blocks has whole blocks in each row",
    )


def shape_refused(owner: str, shape: Sequence[int], most: int) -> InvalidArgument:
    """A shape that the format cannot hold."""
    return InvalidArgument(
        f"{owner} has the shape {tuple(shape)}",
        f"tensors of GGUF files have 1 to {most} axes, none of size 0: x.reshape(...)",
    )


def name_refused(owner: str, name: str, most: int) -> InvalidArgument:
    """A name that other readers would not take."""
    return InvalidArgument(
        f"{owner} has the name {brief(name)}", f"names have 1 to {most} bytes in UTF-8"
    )


def no_value(owner: str, value: Any) -> ArgumentError:
    """Something that is no value of the format."""
    hint = "values are bool, int, float, str, and lists of one of them"
    if hasattr(value, "tolist"):
        hint = "give its numbers as a list: x.tolist()"
    return ArgumentError(f"{owner} is {type_name(value)}, which GGUF files do not have", hint)


def mixed_list(owner: str) -> InvalidArgument:
    """A list of several types."""
    return InvalidArgument(
        f"{owner} holds values of several types", "a list has values of one type, or lists"
    )


def empty_list(owner: str, key: str) -> InvalidArgument:
    """A list that does not tell what it is of."""
    return InvalidArgument(
        f"{owner} holds no value that would tell its type",
        f"say it: types={{{brief(key)}: 'string'}}",
    )


def nested_list(owner: str, most: int) -> InvalidArgument:
    """Lists within lists, or within themselves."""
    return InvalidArgument(
        f"{owner} has lists nested deeper than {most}, or in themselves", "save a flatter one"
    )


def unfit_value(owner: str, value: Any, kind: str) -> InvalidArgument:
    """A value that its type cannot hold."""
    return InvalidArgument(
        f"{owner} holds {brief(value)}, which is no {kind}",
        "choose a wider type with types=, such as 'int64' or 'float64'",
    )
