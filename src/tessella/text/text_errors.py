"""The messages about tokens: metadata that makes no tokenizer, text, ids, chats."""

from __future__ import annotations

from tessella.errors import (
    ArgumentError,
    FormatError,
    IllegalState,
    IndexOutOfBounds,
    InvalidArgument,
    MissingFile,
    PreconditionFailed,
    brief,
    type_name,
)
from tessella.hints import Iterable

_DAMAGED = "the file is damaged or was made by a program that writes it otherwise: convert it again"


# --- metadata ------------------------------------------------------------------------------------


def no_metadata(value: object) -> ArgumentError:
    """Something that is no dict of metadata."""
    return ArgumentError(
        f"metadata must be a dict, got {type_name(value)}",
        'it has keys such as "tokenizer.ggml.model", as GGUF files have them',
    )


def missing_key(key: str, why: str) -> FormatError:
    """Metadata that lacks what a tokenizer cannot be made without."""
    return FormatError(f"the metadata has no {key}", why)


def wrong_entry(key: str, value: object, wanted: str) -> FormatError:
    """A value of the metadata that is of another type."""
    return FormatError(f"{key} must be {wanted}, got {type_name(value)}: {brief(value)}", _DAMAGED)


def wrong_item(key: str, place: int, value: object, wanted: str) -> FormatError:
    """An item of a list of the metadata that is of another type."""
    return FormatError(
        f"{key}[{place}] must be {wanted}, got {type_name(value)}: {brief(value)}", _DAMAGED
    )


def wrong_count(key: str, count: int, tokens: int) -> FormatError:
    """A list that does not say one thing of each token."""
    return FormatError(
        f"{key} has {count:,} items, and there are {tokens:,} tokens", f"one for each; {_DAMAGED}"
    )


def no_tokens(key: str) -> FormatError:
    """A vocabulary of nothing."""
    return FormatError(f"{key} is empty", "a vocabulary has at least one token")


def unknown_model(key: str, value: str, known: Iterable[str]) -> FormatError:
    """A kind of tokenizer that is not here."""
    return FormatError(
        f"{key} is {brief(value)}, which is not supported",
        f"supported are {', '.join(map(repr, known))}; Tokenizer.from_file reads tokenizer.json",
    )


def unknown_rule(key: str, value: str, known: Iterable[str]) -> FormatError:
    """A rule of cutting text that is not here; another one would give wrong tokens silently."""
    return FormatError(
        f"{key} is {brief(value)}, which is not supported",
        f"supported are {', '.join(sorted(known))}; Tokenizer.from_file reads tokenizer.json",
    )


def repeated_token(token: str, first: int, other: int) -> FormatError:
    """Two ids of one text."""
    return FormatError(f"token {brief(token)} has the ids {first} and {other}", _DAMAGED)


def broken_token(place: int) -> FormatError:
    """A token with half a character."""
    return FormatError(f"token {place} has a lone surrogate, which is no character", _DAMAGED)


def wrong_id(key: str, value: int, size: int) -> FormatError:
    """An id of a special token that is no token's."""
    return FormatError(
        f"{key} is {value}, and there are {size:,} tokens", f"ids are from 0 to {size - 1}"
    )


def no_such_end(key: str, id_key: str) -> FormatError:
    """A token that should be added to every text, and is not named."""
    return FormatError(f"{key} is true, and {id_key} is missing", f"add {id_key} to the metadata")


def wrong_merge(place: int, merge: str, missing: str) -> FormatError:
    """A merge of what is no token, or into none."""
    return FormatError(f"merge {place}, {brief(merge)}: {brief(missing)} is no token", _DAMAGED)


def no_merge(place: int, merge: str) -> FormatError:
    """A merge that is not two parts."""
    return FormatError(
        f"merge {place} is {brief(merge)}", 'a merge is two tokens with a space between: "h e"'
    )


# --- text and ids --------------------------------------------------------------------------------


def no_text(name: str, value: object) -> ArgumentError:
    """Something that is no text."""
    hint = f"{name}={brief(value)} was given"
    if isinstance(value, bytes | bytearray):
        hint = f'{name}.decode("utf-8") makes text of bytes'
    return ArgumentError(f"{name} must be text, got {type_name(value)}", hint)


def lone_surrogate(place: int, char: str) -> InvalidArgument:
    """Half a character, which has no UTF-8."""
    return InvalidArgument(
        f"text[{place}] is {char!a}, a lone surrogate, which is no character",
        'drop it: text.encode("utf-8", "ignore").decode("utf-8")',
    )


def id_out_of_range(value: int, size: int) -> IndexOutOfBounds:
    """An id that is no token's."""
    return IndexOutOfBounds(
        f"token {value} is out of range for {size:,} tokens", f"ids are from 0 to {size - 1}"
    )


def no_ids(value: object) -> ArgumentError:
    """Something that is no list of tokens."""
    return ArgumentError(
        f"tokens must be ids, got {type_name(value)}", f"tokens={brief(value)}; give a list of ids"
    )


def stream_ended() -> IllegalState:
    """A token for a stream that gave its last text."""
    return IllegalState("the stream has ended", "make a new one: tokenizer.stream()")


# --- files and chats -----------------------------------------------------------------------------


def no_package(package: str, what: str) -> PreconditionFailed:
    """A package that others made, where it is not installed; its extra has its name."""
    return PreconditionFailed(
        f"the package {package} {what}, and it is not installed",
        f'pip install "tessella[{package}]"',
    )


def missing_tokenizer(folder: str) -> MissingFile:
    """A folder without the file of a tokenizer."""
    return MissingFile(
        f"the folder {folder} has no tokenizer.json",
        "it is published beside the model: copy it there; other forms are not read",
    )


def no_tokenizer_file(path: str, why: str) -> FormatError:
    """A file that the package tokenizers cannot read."""
    error = FormatError(f"it is no tokenizer: {why}", "give a tokenizer.json, or its folder")
    error.within(path)
    return error


def tokenizer_failed(why: str) -> FormatError:
    """A tokenizer of a file that can be read, and does not fit itself."""
    return FormatError(f"the package tokenizers failed: {why}", "convert the model again")


def wrong_config(path: str, why: str) -> FormatError:
    """A file beside tokenizer.json that is not what it should be."""
    error = FormatError(why, "copy the folder again, or take the file away")
    error.within(path)
    return error


def no_messages(value: object) -> ArgumentError:
    """Something that is no list of messages."""
    return ArgumentError(
        f"messages must be a list of dicts, got {brief(value)}",
        'messages=[{"role": "user", "content": "Hello"}]',
    )


def template_syntax(line: int, why: str) -> FormatError:
    """A template that Jinja cannot read."""
    return FormatError(f"line {line} of the template is wrong: {why}", "it is a Jinja template")


def template_failed(why: str) -> FormatError:
    """A template that failed while it was filled in."""
    return FormatError(
        f"the template failed: {why}",
        "check that messages, and variables such as bos_token, are those that it reads",
    )


def template_refused(why: str) -> InvalidArgument:
    """A template that says itself that the messages do not fit."""
    return InvalidArgument(f"the template refuses these messages: {why}", "change the messages")
