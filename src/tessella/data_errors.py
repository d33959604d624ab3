"""The messages about data: sets, loaders, tables and files; errors.py has the rest."""

from __future__ import annotations

import errno
import os

from tessella.errors import (
    ArgumentError,
    DTypeMismatch,
    FormatError,
    IllegalState,
    IndexOutOfBounds,
    InvalidArgument,
    MissingFile,
    ShapeError,
    TessellaError,
    brief,
    type_name,
)
from tessella.exceptions import alike
from tessella.hints import TYPE_CHECKING, Any
from tessella.sizes import counted

if TYPE_CHECKING:
    from typing import BinaryIO


def missing_file(path: str | os.PathLike[str]) -> MissingFile:
    """A path that leads nowhere; what its folder has that is called alike."""
    text = os.fspath(path)
    folder, name = os.path.split(text)
    hint = f"there is no folder {folder}"
    if os.path.isdir(folder or "."):
        near = alike(name, os.listdir(folder or "."))
        hint = f"did you mean {', '.join(near)}?" if near else f"it is looked for in {os.getcwd()}"
    return _missing(f"there is no file {text}", hint, text)


def missing_part(folder: str | os.PathLike[str], name: str) -> MissingFile:
    """A folder of a data set that is not there, or not whole."""
    text = os.fspath(folder)
    if not os.path.isdir(text):
        return _missing(f"there is no folder {text}", f"it is to hold {name}", text)
    hint = "it needs images and labels of both parts"
    return _missing(f"there is no {name}, in the folder {text}", hint, text)


def _missing(what: str, hint: str, path: str) -> MissingFile:
    error = MissingFile(what, hint)
    error.errno, error.filename = errno.ENOENT, path
    return error


def opened(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file to be read."""
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise missing_file(path) from None


def placed(error: BaseException, place: str) -> None:
    """Add to an error of a user's code, or of an operation, where it happened."""
    if isinstance(error, TessellaError):
        error.within(place)
    else:
        error.add_note(f"in {place}")


# --- data sets -----------------------------------------------------------------------------------


def no_tensors() -> ArgumentError:
    """A set of no tensors."""
    return ArgumentError("no tensor was given", "TensorDataset(x, y): tensors of as many rows")


def rows_differ(place: int, rows: int, first: int) -> ShapeError:
    """Tensors of one set with different numbers of rows."""
    return ShapeError(
        f"tensors[{place}] has {counted(rows, 'row')}, tensors[0] has {first}",
        "row i of every tensor belongs to sample i; 0-d tensors have no rows",
    )


def not_dataset(name: str, value: object) -> ArgumentError:
    """Something that has no samples."""
    return ArgumentError(
        f"{name} must be a dataset, got {type_name(value)}",
        "a dataset has __getitem__ and __len__; tensors become one by TensorDataset(x, y)",
    )


def stream_in_sequence(what: str) -> ArgumentError:
    """A stream where samples are asked for by number."""
    return ArgumentError(
        f"an IterableDataset has no numbered samples for {what}", "shuffle and cut where it is made"
    )


def sample_out_of_bounds(index: int, length: int) -> IndexOutOfBounds:
    """A sample that does not exist."""
    return IndexOutOfBounds(
        f"sample {index} is out of bounds for a dataset of {length}",
        f"valid indices run from {-length} to {length - 1}" if length else "the dataset is empty",
    )


def parts_differ(total: int, length: int) -> InvalidArgument:
    """Lengths of parts that are not those of the whole."""
    return InvalidArgument(
        f"the lengths sum to {total}, the dataset has {length} samples",
        "give lengths that sum to it, or fractions that sum to 1",
    )


def fractions_differ(total: float) -> InvalidArgument:
    """Fractions that are not those of a whole."""
    return InvalidArgument(
        f"the fractions sum to {total:g}", "give fractions that sum to 1, or whole lengths"
    )


# --- collation -----------------------------------------------------------------------------------


def samples_differ(what: str, place: int, other: object, first: object) -> ShapeError:
    """Samples that do not fit into one batch."""
    return ShapeError(
        f"sample {place} of the batch has {what} {other}, sample 0 has {first}",
        "pad or cut them to one size, or join them yourself: DataLoader(..., collate_fn=...)",
    )


def no_collation(value: object) -> ArgumentError:
    """A sample that nobody knows how to join."""
    return ArgumentError(
        f"samples of type {type_name(value)} have no common batch",
        "tensors, arrays, numbers, text, and tuples, lists and dicts of them have; "
        "for others give collate_fn=",
    )


def empty_batch() -> InvalidArgument:
    """A batch of no samples."""
    return InvalidArgument("the batch has no samples", "the batch sampler must give some indices")


# --- loaders -------------------------------------------------------------------------------------


def excluded(name: str, other: str, why: str) -> ArgumentError:
    """Two arguments of which one decides what the other would."""
    return ArgumentError(f"both {name} and {other} were given", why)


def needs_workers(name: str) -> ArgumentError:
    """An argument that means something for workers only."""
    return ArgumentError(
        f"{name} is for workers, and num_workers is 0", "give num_workers=1 or more"
    )


def no_processes(value: object) -> ArgumentError:
    """A context of processes, which there are none of."""
    return ArgumentError(
        f"multiprocessing_context is {brief(value)}, and workers are threads",
        "leave it out: nothing is pickled, forked or spawned",
    )


def no_length() -> ArgumentError:
    """The number of batches of a stream or sampler that does not know its length."""
    return ArgumentError(
        "the number of batches is not known", "give the dataset, or the sampler, a __len__"
    )


def timed_out(seconds: float, batch: int) -> IllegalState:
    """Workers that take longer than they may."""
    return IllegalState(
        f"batch {batch} was not there after {seconds} seconds", "a longer timeout=, or 0 for none"
    )


def forked() -> IllegalState:
    """Workers that did not come along into a forked process."""
    return IllegalState(
        "its workers are threads of the process that was forked",
        "begin a new iteration here: iter(loader)",
    )


def wrong_state(why: str) -> InvalidArgument:
    """A state that no loader of this kind gave."""
    return InvalidArgument(
        f"this is no state of such a loader: {why}",
        "load what state_dict() of a loader over the same data with the same settings gave",
    )


# --- tables --------------------------------------------------------------------------------------


def no_column(name: object, names: object) -> InvalidArgument:
    """A column that a table does not have."""
    return InvalidArgument(f"there is no column {brief(name)}", f"the columns are {brief(names)}")


def column_lengths(name: str, rows: int, first: int) -> ShapeError:
    """Columns of different lengths."""
    return ShapeError(
        f"column {name!r} has {counted(rows, 'row')}, the first column has {first}",
        "columns are vectors of one length",
    )


def text_as_numbers(name: str) -> DTypeMismatch:
    """A column of text where numbers are needed."""
    return DTypeMismatch(
        f"column {name!r} holds text",
        f"table.one_hot({name!r}) gives a column for each category, table[{name!r}] their codes",
    )


def numbers_as_text(name: str) -> DTypeMismatch:
    """A column of numbers where categories are asked for."""
    return DTypeMismatch(
        f"column {name!r} holds numbers, and has no categories",
        f"read it with dtype={{{name!r}: str}}",
    )


def missing_category(row: int, name: str) -> InvalidArgument:
    """A row without a value where each needs one."""
    return InvalidArgument(
        f"row {row} of column {name!r} is missing", "leave such rows out first: table.take(rows)"
    )


# --- files ---------------------------------------------------------------------------------------


def at_line(line: int, text: str, what: str, hint: str) -> FormatError:
    """Something wrong in a text, with the line that holds it."""
    error = FormatError(f"line {line}: {what}", hint)
    error.within(brief(text))
    return error


def malformed(path: Any, what: str, hint: str) -> FormatError:
    """A file that is not what it should be."""
    name = os.fspath(path) if isinstance(path, str | os.PathLike) else type_name(path)
    return FormatError(f"{name if len(name) <= 60 else '…' + name[-59:]}: {what}", hint)


# --- preparation ---------------------------------------------------------------------------------


def not_fitted(name: str) -> IllegalState:
    """Statistics that were not taken yet."""
    return IllegalState(
        f"{name} has no statistics yet", "call fit(train) first, or load_state_dict(state)"
    )


def other_features(given: object, fitted: object) -> ShapeError:
    """Data of another shape than what the statistics were taken of."""
    return ShapeError(
        f"samples have shape {given}, the statistics are of samples of shape {fitted}",
        "apply it to data of the same columns",
    )


def unknown_category(value: object, count: int) -> InvalidArgument:
    """A category that was not met in the data that was fitted."""
    return InvalidArgument(
        f"{brief(value)} is none of the {count} categories",
        "fit on data that has all of them, or let it be a row of zeros: OneHot(unknown='zeros')",
    )


def too_few_of_class(value: object, count: int) -> InvalidArgument:
    """A class that cannot be in both parts."""
    return InvalidArgument(
        f"class {brief(value)} has {count} sample, which cannot be in both parts",
        "leave it out, join it with another, or split without stratify=",
    )


def empty_part(name: str, length: int) -> InvalidArgument:
    """A split that leaves nothing on one side."""
    return InvalidArgument(
        f"of {length} samples none is left for the {name} part", "change test_size"
    )
