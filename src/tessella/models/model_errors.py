"""The messages about models: files, configurations, caches, generation."""

from __future__ import annotations

from tessella.errors import (
    FormatError,
    IllegalState,
    IndexOutOfBounds,
    InvalidArgument,
    MissingFile,
    OutOfMemory,
    ShapeError,
    brief,
)
from tessella.exceptions import alike
from tessella.hints import Sequence
from tessella.sizes import counted, to_text


def wrong_padding(dtype: object, shape: object, batch: int) -> ShapeError:
    """Numbers of places that do not count, which are not one for each row."""
    return ShapeError(
        f"padding is {dtype} {shape}", f"it must hold integers, ({batch},): one for each row"
    )


def padding_outside(row: int, count: int, places: int | None) -> InvalidArgument:
    """A row of which more places do not count than there are, or fewer than none."""
    rule = "at least 0" if places is None else f"from 0 to {places}, the places there are"
    return InvalidArgument(f"padding[{row}] is {count}", f"it must be {rule}")


def wrong_tokens(dtype: object, shape: object) -> ShapeError:
    """Tokens that are not rows of integers."""
    return ShapeError(
        f"tokens is {dtype} {shape}", "it must hold integers, (rows, places), at least one"
    )


def other_batch(rows: int, batch: int) -> ShapeError:
    """Tokens for another number of rows than the cache was made for."""
    return ShapeError(
        f"tokens has {counted(rows, 'row')}, and the cache {batch}", "they must be the same rows"
    )


def two_paddings() -> InvalidArgument:
    """A padding beside the one of the cache."""
    return InvalidArgument(
        "padding is given beside a cache", "a cache knows its padding: KVCache(…, padding=padding)"
    )


def few_layers(layers: int, layer: int) -> InvalidArgument:
    """A cache that was made for a model of fewer layers."""
    return InvalidArgument(
        f"the cache has {layers} layers, and the model has a layer {layer}",
        "make it by the model: model.cache(capacity)",
    )


def cache_full(length: int, count: int, capacity: int) -> IllegalState:
    """More places than a cache has room for."""
    return IllegalState(
        f"the cache has {length} of {capacity} places taken, and {count} more come",
        "make it with more capacity: model.cache(capacity)",
    )


def gradients_lost() -> IllegalState:
    """Keys and values with gradients, for a cache that does not keep them."""
    return IllegalState(
        "keys and values have gradients, which a cache that grows does not keep",
        "call the model inside ts.no_grad(); to learn, call it without a cache",
    )


# --- files ---------------------------------------------------------------------------------------


A_MODEL = "a model is a folder with config.json and safetensors, or a GGUF file"


def missing_model(path: str) -> MissingFile:
    """A path at which nothing lies."""
    return MissingFile(f"there is no {path}", A_MODEL)


def missing_part(folder: str, name: str) -> MissingFile:
    """A folder without one of the files of a model."""
    return MissingFile(f"the folder {folder} has no {name}", A_MODEL)


def missing_weights(folder: str, whole: str, index: str) -> MissingFile:
    """A folder without weights."""
    return MissingFile(
        f"the folder {folder} has no weights",
        f"they lie in {whole}, or in shards that {index} names",
    )


def file_given(path: str) -> InvalidArgument:
    """A file where the folder of a model should be."""
    return InvalidArgument(
        f"{path} is a file", "give the folder that it lies in; a GGUF file is read by load_gguf"
    )


def folder_given(path: str) -> InvalidArgument:
    """A folder where a GGUF file should be."""
    return InvalidArgument(
        f"{path} is a folder", "load_folder reads the folder of a model; this is for a GGUF file"
    )


def no_gguf(path: str, begin: bytes) -> FormatError:
    """A file of something else."""
    return FormatError(f"{path} begins with {begin!r}, not with b'GGUF'", A_MODEL)


def wrong_dtype(dtype: object) -> InvalidArgument:
    """A dtype in which no model computes."""
    return InvalidArgument(f"dtype is {dtype}", "weights of models are floats, such as ts.float16")


def unknown_kind(kind: object, known: Sequence[str], name: str = "model_type") -> FormatError:
    """A model that is none of those that are here."""
    return FormatError(
        f"{name} is {brief(kind)}", f"models of these kinds are known: {', '.join(known)}"
    )


def unknown_entry(name: str, value: object, known: Sequence[object]) -> FormatError:
    """An entry of config.json by which a model would compute something else."""
    shown = " or ".join("absent" if each is None else repr(each) for each in known)
    return FormatError(f"{name} is {brief(value)}", f"models here are computed where it is {shown}")


def wrong_entry(name: str, value: object, wanted: str) -> FormatError:
    """An entry of config.json that is not what its name says."""
    return FormatError(f"{name} is {brief(value)}", f"it must be {wanted}")


def mixed_windows(name: str, value: object) -> FormatError:
    """Layers of which some look at all places, and others at a window."""
    return FormatError(
        f"by {name}, {brief(value)}, some layers have a window and others none",
        "models here have one sliding_window for all layers, or none",
    )


def missing_tensor(name: str, names: Sequence[str], source: str) -> FormatError:
    """A tensor that the configuration asks for, and the file does not have."""
    near = alike(name, names, 1)
    hint = f"it has {near[0]!r}; " if near else ""
    return FormatError(
        f"the file has no tensor {name!r}", f"{hint}by {source} it must: do both belong together?"
    )


def no_floats(name: str, dtype: object) -> FormatError:
    """Weights of a dtype in which no model computes."""
    return FormatError(
        f"{name} is {dtype}", "weights of models are floats, or blocks of GGUF files"
    )


def wrong_tensor(name: str, shape: object, wanted: object, source: str) -> FormatError:
    """A tensor of another shape than the configuration says."""
    return FormatError(
        f"{name} is {shape} in the file", f"by {source} it is {wanted}: do both belong together?"
    )


def unused_tensors(names: Sequence[str], source: str) -> FormatError:
    """Tensors that no layer asked for: the model would compute something else."""
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return FormatError(
        f"the file has tensors that no layer uses: {shown}", f"is {source} complete?"
    )


def quantised_vector(name: str, format: str) -> FormatError:
    """A vector in blocks, which no layer takes."""
    return FormatError(f"{name} is quantised, as {format}", "vectors of models are floats")


def wrong_metadata(key: str, value: object) -> FormatError:
    """A number about a model that is missing, or none."""
    if value is None:
        return FormatError(f"{key} is missing", "the metadata of the file must have this number")
    return FormatError(f"{key} is {brief(value)}", "it must be one number, for all layers")


def other_number(key: str, value: object, wanted: object) -> FormatError:
    """A number about a model by which it would compute something else."""
    return FormatError(f"{key} is {value}", f"models here are computed where it is {wanted}")


def unknown_scaling(key: str, kind: object) -> FormatError:
    """A way to stretch frequencies that GGUF files of models here do not have."""
    return FormatError(f"{key} is {brief(kind)}", "it must be 'none' or 'linear'")


def wrong_size(name: str, value: object, most: int) -> FormatError:
    """A number of a configuration that is no size."""
    is_large = isinstance(value, int) and value > most
    rule = f"at most {most:,}" if is_large else "at least 1"
    return FormatError(f"{name} is {brief(value)}", f"it must be an integer, {rule}")


def unequal_parts(whole: str, size: int, part: str, count: int) -> FormatError:
    """A size that cannot be shared out to heads."""
    return FormatError(f"{whole} is {size}, and {part} {count}", "the first must be a multiple")


def no_gguf_name(path: str) -> InvalidArgument:
    """A tensor of a layer that somebody has put into a model."""
    return InvalidArgument(
        f"GGUF files have no name for {path}", "they hold the layers that the model is made with"
    )


def lora_in_file(path: str) -> InvalidArgument:
    """A change beside a layer, for which files of models have no place."""
    return InvalidArgument(
        f"{path} is a LoRA", "add it to the weight first: nn.merge_lora(model), then save"
    )


def not_json(path: str, why: str) -> FormatError:
    """A file that is not a JSON object."""
    return FormatError(f"{path} is not a JSON object: {why}", "is it complete?")


def wrong_index(path: str) -> FormatError:
    """An index of shards without its table."""
    return FormatError(f"{path} has no weight_map", "it must say for each tensor which file has it")


def wrong_shard(name: object) -> FormatError:
    """A shard that is not a file of the folder."""
    return FormatError(f"weight_map names {name!r}", "shards are files in the folder of the index")


def missing_in_shard(name: str, shard: str) -> FormatError:
    """A tensor that is not where the index says."""
    return FormatError(
        f"{shard} has no tensor {name!r}", "by the index it has: are all shards complete?"
    )


# --- generation ----------------------------------------------------------------------------------


def empty_prompt(row: int) -> InvalidArgument:
    """Nothing to go on with."""
    return InvalidArgument(
        f"prompts[{row}] is empty", "begin with a token, such as that of the start"
    )


def unknown_token(token: int, vocabulary: int) -> IndexOutOfBounds:
    """A number that is no token of the model."""
    return IndexOutOfBounds(f"a token is {token}", f"tokens are 0 to {vocabulary - 1}")


def prompt_too_long(length: int, capacity: int) -> InvalidArgument:
    """A prompt that does not fit."""
    return InvalidArgument(
        f"a prompt has {length} tokens, and there is room for {capacity}",
        "ask for more capacity, or cut the prompt",
    )


def context_too_long(capacity: int, places: int) -> InvalidArgument:
    """More places than a model has learned rows for."""
    return InvalidArgument(
        f"there are to be {capacity} places, and the model has {places} (n_positions)",
        "ask for fewer tokens, or begin with fewer",
    )


def context_full(capacity: int) -> IllegalState:
    """A step beyond the room of the cache."""
    return IllegalState(f"all {capacity} places are taken", "make the Writer with more capacity")


def not_begun() -> IllegalState:
    """A step of a Writer whose prompts have not gone through the model."""
    return IllegalState("the prompts have not been read", "call first() once, then next()")


def begun_already() -> IllegalState:
    """Prompts that would go through the model a second time."""
    return IllegalState("the prompts have been read", "call next(); for new prompts make a Writer")


# --- text ----------------------------------------------------------------------------------------


def no_room(length: int, context: int) -> InvalidArgument:
    """A prompt after which nothing can be written."""
    return InvalidArgument(
        f"a prompt has {length:,} tokens, and the context {context:,}",
        "at least one token must fit behind it: cut the prompt, or load with more context",
    )


def no_context(own: int) -> InvalidArgument:
    """A model that has no place for a token behind a prompt."""
    return InvalidArgument(
        f"the model has a context of {own}",
        "to write, it needs 2 at least: a token of the prompt, and one behind it",
    )


def wrong_context(context: int, own: int) -> InvalidArgument:
    """A context that the model does not have."""
    return InvalidArgument(
        f"context is {context:,}", f"it must be from 2 to {own:,}, which the model was made for"
    )


def wrong_batch(batch: int) -> InvalidArgument:
    """An estimate for no text."""
    return InvalidArgument(f"batch is {batch}", "it must be at least 1: how many texts there are")


def no_template() -> InvalidArgument:
    """A chat with a model that came without a template for chats."""
    return InvalidArgument(
        "the model has no chat template", "write(prompt) goes on with a text as it is"
    )


def wrong_end(path: str, token: object) -> FormatError:
    """A token that ends texts, which is none."""
    return FormatError(
        f"eos_token_id in {path} is {brief(token)}", "it must be an integer, or a list of integers"
    )


def context_too_large(context: int, total: int, available: int, largest: int) -> OutOfMemory:
    """A context for which the memory is not there."""
    return OutOfMemory(
        f"a context of {context:,} tokens needs {to_text(total)} ({total:,} bytes), "
        f"and {to_text(available)} are available",
        f"the largest context that fits is {largest:,}: load(path, context={largest})",
    )


def capacity_too_large(
    capacity: int, batch: int, needed: int, available: int, largest: int | None
) -> OutOfMemory:
    """Texts for which the memory is not there, of a model that is."""
    hint = "free some, or raise the limit: memory.limit(size)"
    if largest is not None:
        hint = (
            f"the largest number of tokens that fits is {largest:,}, those of the longest prompt "
            f"included: ask for fewer tokens, or {hint}"
        )
    texts = "a text" if batch == 1 else f"{batch} texts"
    return OutOfMemory(
        f"{texts} of {capacity:,} tokens {'needs' if batch == 1 else 'need'} {to_text(needed)} "
        f"({needed:,} bytes), and {to_text(available)} are available",
        hint,
    )


def model_too_large(total: int, available: int) -> OutOfMemory:
    """A model that does not fit with any context."""
    return OutOfMemory(
        f"the model needs {to_text(total)} ({total:,} bytes), and {to_text(available)} are "
        "available: no context fits",
        "take a model of fewer bits, or raise the limit: memory.limit(size)",
    )
