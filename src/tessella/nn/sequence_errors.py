"""The messages about operands that do not fit recurrent networks, attention and transformers."""

from __future__ import annotations

from tessella.errors import (
    ArgumentError,
    DTypeMismatch,
    IndexOutOfBounds,
    InvalidArgument,
    ShapeError,
    brief,
    type_name,
)
from tessella.sizes import counted


def wrong_input_size(given: int, size: int) -> ShapeError:
    """Inputs of a recurrent network that are not as wide as it was made for."""
    return ShapeError(
        f"x has {counted(given, 'feature')}, and input_size is {size}",
        f"the last axis of x must be {size}",
    )


def wrong_state(name: str, shape: object, wanted: object, axes: str) -> ShapeError:
    """A state of a recurrent network that does not fit it or its input."""
    return ShapeError(f"{name} is {shape}", f"{name} must be {wanted}: {axes}")


def not_pair(value: object) -> ArgumentError:
    """One state, where an LSTM has two."""
    return ArgumentError(
        f"hx must be a pair of tensors, got {type_name(value)}", "lstm(x, (h_0, c_0))"
    )


def no_steps() -> ShapeError:
    """A sequence without a step."""
    return ShapeError("x has no steps", "a sequence has at least one: skip those that are empty")


def other_dtype(name: str, dtype: object, weights: object) -> DTypeMismatch:
    """An operand of another dtype than the weights, which are not converted silently."""
    return DTypeMismatch(
        f"{name} is {dtype}, and the weights are {weights}",
        f"{name}.to(ts.{weights}), or module.to(ts.{dtype})",
    )


# --- attention -----------------------------------------------------------------------------------


def attention_dtypes(name: str, dtype: object, query: object) -> DTypeMismatch:
    """Operands of attention that differ in dtype."""
    return DTypeMismatch(
        f"{name} is {dtype}, and query is {query}", f"{name}.to(ts.{query}): all three have one"
    )


def attention_features(query: int, key: int) -> ShapeError:
    """Queries and keys of different widths."""
    return ShapeError(
        f"query has {query} features, and key {key}", "their last axes must have one size"
    )


def attention_places(key: int, value: int) -> ShapeError:
    """Keys and values that are not pairs."""
    return ShapeError(
        f"key has {key} places, and value {value}", "axis -2 must have one size: a value for each"
    )


GROUPED = "heads of queries share those of keys and values with enable_gqa=True"


def attention_heads(queries: int, keys: int) -> ShapeError:
    """Heads that cannot be shared out."""
    return ShapeError(
        f"{queries} heads of queries cannot share {keys} of keys or values",
        "the first number must be a multiple of the second",
    )


def attention_shares(key: int, value: int) -> ShapeError:
    """Keys and values that are shared by different numbers of heads."""
    return ShapeError(
        f"key has {key} heads, and value {value}", "axis -3 must have one size: a value for each"
    )


def two_masks() -> InvalidArgument:
    """A mask beside the one that is_causal stands for."""
    return InvalidArgument(
        "attn_mask and is_causal are both given",
        "join them: attn_mask & ts.ones(queries, keys, dtype=ts.bool).tril()",
    )


def mask_dtype(dtype: object, query: object) -> DTypeMismatch:
    """A mask of integers, or of floats that would change the result's dtype."""
    is_one = str(query) == "float32"
    known = "bool or float32" if is_one else f"bool, float32 or, as query, {query}"
    return DTypeMismatch(f"attn_mask is {dtype}", f"it must be {known}: mask != 0")


def mask_shape(mask: object, logits: object) -> ShapeError:
    """A mask that does not broadcast to queries and keys."""
    return ShapeError(f"attn_mask is {mask}", f"it must broadcast to {logits}: (…, queries, keys)")


def lengths_dtype(dtype: object) -> DTypeMismatch:
    """Lengths that are no integers."""
    return DTypeMismatch(f"lengths is {dtype}", "it must hold integers: lengths.astype(ts.int64)")


def lengths_shape(shape: object, batch: int) -> ShapeError:
    """Lengths that are not one for each row of the batch."""
    each = f", or ({batch},): one for each row of the batch" if batch else ": there is no batch"
    return ShapeError(f"lengths is {shape}", f"it must be (){each}")


def lengths_of_heads() -> ShapeError:
    """Lengths for heads, which share their keys."""
    return ShapeError(
        "lengths are given for heads that share keys",
        "one length for all: lengths must be ()",
    )


def wrong_length(length: int, places: int) -> IndexOutOfBounds:
    """A length that is not one of the keys' tensor."""
    return IndexOutOfBounds(
        f"a length is {length}, of {places} places of key and value",
        f"it must be from 0 to {places}; make the tensors with room for as many as will come",
    )


def other_batch(name: str, given: int, wanted: int) -> ShapeError:
    """Keys and values for another number of rows than there are queries."""
    return ShapeError(
        f"{name} has a batch of {given}, and query one of {wanted}", "they must be the same rows"
    )


def causal_hint() -> InvalidArgument:
    """A hint about a mask that is not there."""
    return InvalidArgument(
        "is_causal is a hint about attn_mask, which is None",
        "attn_mask=nn.Transformer.generate_square_subsequent_mask(places)",
    )


def hiding_dtype(name: str, dtype: object, query: object) -> DTypeMismatch:
    """A mask that says neither where nobody may look nor what is added."""
    return DTypeMismatch(f"{name} is {dtype}", f"it must be bool, True where hidden, or {query}")


def hiding_shape(name: str, shape: object, wanted: str) -> ShapeError:
    """A mask that does not fit queries and keys."""
    return ShapeError(f"{name} is {shape}", f"it must be {wanted}")


def not_layer(value: object) -> ArgumentError:
    """Something that cannot be copied as a layer of a transformer."""
    return ArgumentError(
        f"a layer must be a module, got {type_name(value)}",
        "nn.TransformerEncoderLayer(d_model, nhead), or a module of your own",
    )


def not_sequences(shapes: list[tuple[int, ...]]) -> ShapeError:
    """Tensors that cannot stand beside each other as sequences."""
    return ShapeError(
        f"sequences have the shapes {shapes}",
        "at least one, of shape (steps, …): they may differ in the number of steps only",
    )


# --- rotary embeddings ---------------------------------------------------------------------------


def angle_shapes(cos: object, sin: object) -> ShapeError:
    """Cosines and sines of different angles."""
    return ShapeError(
        f"cos is {cos}, and sin {sin}", "they must have one shape: of the same angles"
    )


def too_many_angles(angles: int, features: int) -> ShapeError:
    """More pairs than there are features for."""
    return ShapeError(
        f"cos has {angles} angles, and x {features} features",
        f"an angle turns a pair of features: at most {features // 2}",
    )


def angles_do_not_fit(angles: object, pairs: object) -> ShapeError:
    """Angles that do not broadcast to the pairs of x."""
    return ShapeError(
        f"cos is {angles}, which does not fit the pairs of x, {pairs}",
        "angles must broadcast to (…, places, pairs)",
    )


def unknown_scaling(kind: object) -> InvalidArgument:
    """A way to stretch frequencies that is not here."""
    return InvalidArgument(
        f"scaling has the rope_type {kind!r}",
        'it must be "default", "linear", "llama3" or "factors"',
    )


def wrong_factors(factors: object, count: int) -> InvalidArgument:
    """Divisors that are not one for each frequency."""
    return InvalidArgument(
        f"scaling['factors'] is {brief(factors)}", f"it must be a list of {count} numbers above 0"
    )


def wrong_scaling(name: str, value: object) -> InvalidArgument:
    """A number of a scaling that is missing or not above 0."""
    return InvalidArgument(f"scaling[{name!r}] is {value!r}", "it must be a number above 0")


def wrong_bands(low: float, high: float) -> InvalidArgument:
    """Borders of a scaling that are no interval."""
    return InvalidArgument(
        f"scaling has low_freq_factor {low:g} and high_freq_factor {high:g}",
        "the first must be less than the second",
    )


# --- adapters ------------------------------------------------------------------------------------


def not_adaptable(kind: str) -> ArgumentError:
    """A layer that low-rank changes cannot be added to."""
    return ArgumentError(
        f"{kind} is not a layer with in_features and out_features",
        "LoRA changes nn.Linear and nn.QuantizedLinear",
    )


def no_targets(names: object) -> InvalidArgument:
    """Names that no layer of a model has."""
    return InvalidArgument(
        f"no Linear layer of the model ends with one of {names}",
        "targets are the last parts of paths: [name for name, _ in model.named_modules()]",
    )


def merged_alone() -> InvalidArgument:
    """A LoRA itself, in place of a model that has some."""
    return InvalidArgument(
        "model is a LoRA, which nothing holds", "layer.merge() gives the plain layer: take that"
    )


def not_mergeable(kind: str) -> InvalidArgument:
    """Weights in blocks, to which nothing can be added."""
    return InvalidArgument(
        f"the weights of {kind} are quantised, and cannot take up the change",
        "keep the LoRA beside it, or dequantise the layer first",
    )
