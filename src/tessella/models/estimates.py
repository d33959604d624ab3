"""Estimates: the memory that a model needs to write, before anything is loaded.

Weights and cache follow exactly from headers. Intermediates are a bound. A prompt goes through the
model in pieces, whose tensors are counted where a layer holds most of them:

    attention    what came in, its norm, and the larger of
                 queries, keys, values, with queries while they are turned (as much again,
                 twice), or with turned queries and keys that are turned: 3 W + 2 K, 2 W + 4 K
                 queries, what was found, its copy, the result: 3 W + C
                 (GPT-2, where queries, keys, values are one: 5 W + C)
    on places    what came in, after attention, its norm: 3 C; inner rows of
                 gate, up and product: 3 I (GPT-2: before and after the bend, 2 I),
                 or the last of them and the result: I + C

for widths C of rows, W of all heads, K of heads of keys, I inside. Added are the mask, where there
is one, and scratch of the largest product or of attention, as the compiler plans it. Decoding is
the most of three: the same for one token, what samplers make of the logits, and the program of a
compiled step, which the compiler plans as well.
"""

from __future__ import annotations

from functools import lru_cache

from tessella import memory
from tessella.arguments import to_int
from tessella.blocks import FORMATS
from tessella.compiler import compile as compiled
from tessella.dtypes import DType, float32, float64, int64, uint8
from tessella.hints import Any, DTypeLike, Path
from tessella.located import located
from tessella.models import model_errors
from tessella.models.caches import to_cache_dtype
from tessella.models.outlines import Outline, outline
from tessella.models.places import PIECE
from tessella.models.rehearsals import step_bytes
from tessella.models.sizes import Sizes
from tessella.nn.functional import linear, quantized_linear, scaled_dot_product_attention
from tessella.ops.creation import spec
from tessella.sizes import to_text
from tessella.threads import get_num_threads

SAMPLING = 40  # bytes for each logit, which all options of Sampler together make of it
SMALL = 32 * 1024  # places, lengths, tokens: what has no size of the model's


class Estimate:
    """The memory of a model that writes, in bytes; as text a table.

    `mapped` and `owned` are weights in the mapped file and in memory of their own; `cache` holds
    keys and values; `prompt` and `decoding` are intermediates, of which the larger counts. All of
    it is `total`; `largest` is the largest context that fits into `available`, or None.

    >>> config = ts.models.GPTConfig(vocab_size=8, n_positions=64, n_embd=32, n_layer=2, n_head=2)
    >>> ts.models.save_gguf(ts.models.GPT(config), "small.gguf")
    >>> estimate = ts.models.estimate("small.gguf", 16)
    >>> estimate.cache == 2 * 2 * 16 * 32 * 4
    True
    >>> estimate.largest
    64
    """

    def __init__(
        self, path: Path, found: Outline, context: int, batch: int, kept: DType | None = None
    ) -> None:
        self.path, self.context, self.batch = str(path), context, batch
        self.mapped, self.owned = found.mapped, found.owned
        kept = kept or found.dtype
        self.cache = cache_bytes(found, context, batch, kept)
        self.prompt, self.decoding = intermediates(found, context, batch, kept)
        self.total = total(found, context, batch, kept)
        self.available = max(left_by_limit(), 0)
        self.largest = largest_context(found, batch, kept, self.available)

    @property
    def fits(self) -> bool:
        """Whether all of it fits."""
        return self.total <= self.available

    def __repr__(self) -> str:
        rows = {
            "weights, mapped": self.mapped, "weights, in memory": self.owned, "cache": self.cache,
            "prompt": self.prompt, "or decoding": self.decoding, "total": self.total,
            "available": self.available,
        }  # fmt: skip
        width = max(map(len, rows))
        digits = max(len(f"{size:,}") for size in rows.values())
        of = f" of {self.batch} texts" if self.batch > 1 else ""
        first = f"{self.path}: {to_text(self.total)} for a context of {self.context:,} tokens{of}"
        lines = [
            f"  {name:<{width}}  {size:>{digits},} B  {to_text(size):>10}"
            for name, size in rows.items()
        ]
        most = "none" if self.largest is None else f"{self.largest:,} tokens"
        return "\n".join([first, *lines, f"  largest context that fits: {most}"])


@located("models.estimate")
def estimate(
    path: Path, context: int | None = None, batch: int = 1, dtype: DTypeLike | None = None
) -> Estimate:
    """Tell the memory that a model needs to write texts of `context` tokens, by its headers.

    `path` is a folder or a GGUF file, as for `load`; the context is the model's own by default.
    Keys and values are kept as `dtype`, by default what the model computes in. Of weights that are
    mapped, all are counted: what does not fit is read again for every token.

    >>> config = ts.models.GPTConfig(vocab_size=8, n_positions=64, n_embd=32, n_layer=2, n_head=2)
    >>> ts.models.save_gguf(ts.models.GPT(config), "small.gguf")
    >>> ts.models.estimate("small.gguf").context
    64
    """
    return estimated(path, context, batch, dtype)


def estimated(path: Any, context: int | None, batch: int, dtype: Any) -> Estimate:
    """Make an estimate for whoever names itself in the errors."""
    found = outline(path)
    rows = to_int("batch", batch)
    if rows < 1:
        raise model_errors.wrong_batch(rows)
    kept = None if dtype is None else to_cache_dtype(dtype)
    return Estimate(path, found, to_context(context, found.sizes.context), rows, kept)


def to_context(value: Any, own: int) -> int:
    """Give the context that is asked for, which the model must have; its own by default."""
    if own < 2:
        raise model_errors.no_context(own)
    if value is None:
        return own
    context = to_int("context", value)
    if not 2 <= context <= own:
        raise model_errors.wrong_context(context, own)
    return context


def fitting_context(path: Any, context: int | None, dtype: Any) -> int:
    """Give the context to load a model for: what is asked for, else the most that fits."""
    found = estimated(path, context, 1, dtype)
    if found.largest is None:
        raise model_errors.model_too_large(found.total, found.available)
    if context is not None and not found.fits:
        raise model_errors.context_too_large(
            found.context, found.total, found.available, found.largest
        )
    return min(found.context, found.largest)


def cache_bytes(found: Outline, context: int, batch: int, kept: DType) -> int:
    """Give the bytes of keys and values."""
    return found.sizes.layers * layer_bytes(found.sizes, context, batch, kept)


def layer_bytes(sizes: Sizes, context: int, batch: int, dtype: DType) -> int:
    """Give the bytes of one layer's keys and values."""
    return 2 * batch * sizes.kv_heads * context * sizes.features * dtype.itemsize


def total(found: Outline, context: int, batch: int, kept: DType) -> int:
    """Give all bytes; a prompt and decoding follow each other."""
    held = found.mapped + found.owned + cache_bytes(found, context, batch, kept)
    return held + max(intermediates(found, context, batch, kept))


def left_by_limit() -> int:
    """Give the bytes that may still be taken; those that allocators keep for themselves are not."""
    stats = memory.stats()
    return stats.limit - stats.live - stats.reserved


def largest_context(found: Outline, batch: int, kept: DType, available: int) -> int | None:
    """Give the largest context that fits, at most the model's own; None if none does."""
    low, high = 1, found.sizes.context  # low fits, or leaves no room behind a prompt
    while low < high:
        middle = (low + high + 1) // 2
        if total(found, middle, batch, kept) <= available:
            low = middle
        else:
            high = middle - 1
    return low if low > 1 else None


def intermediates(found: Outline, context: int, batch: int, kept: DType) -> tuple[int, int]:
    """Bound what is held beside weights and cache by a prompt, and by decoding."""
    logits = batch * found.sizes.vocabulary
    # Of tokens, places and keys; and which tokens were seen, as booleans.
    numbers = (4 + batch) * context * int64.itemsize + logits + SMALL
    prompt = held_by_layers(found, context, batch, min(PIECE, context))
    decoding = held_by_layers(found, context, batch, 1)
    made = logits * float32.itemsize
    # Keys and values of one layer in the dtype that attention computes in, where it is another.
    copies = 0 if kept is found.dtype else layer_bytes(found.sizes, context, batch, found.dtype)
    is_own = copies > 0 or has_mask(found.sizes, context, batch)
    place = context if is_own else found.sizes.context
    step = planned_step(found, batch, place, kept, get_num_threads())
    eager = decoding + copies + made
    return numbers + prompt + copies + made, numbers + max(eager, logits * SAMPLING, step)


def has_mask(sizes: Sizes, context: int, batch: int) -> bool:
    """Tell whether attention needs a mask: for padding, or a window."""
    return batch > 1 or (sizes.window is not None and sizes.window < context)


@lru_cache(maxsize=64)
def planned_step(found: Outline, batch: int, context: int, kept: DType, threads: int) -> int:
    """Give the memory of a compiled step, with the threads that are set."""
    formats = {*found.formats, *found.tables}
    return max((step_bytes(found, of, batch, context, kept) for of in formats), default=0)


def held_by_layers(found: Outline, context: int, batch: int, tokens: int) -> int:
    """Bound what is held while so many tokens of each text go through the layers."""
    sizes, rows = found.sizes, batch * tokens
    width, all_heads = sizes.width, sizes.heads * sizes.features
    kept = sizes.kv_heads * sizes.features
    turning = max(3 * all_heads + 2 * kept, 2 * all_heads + 4 * kept)
    attention = 2 * width + max(turning, 3 * all_heads + width)
    if not sizes.is_gated:
        attention = 2 * width + 5 * all_heads + width
    # A gate and what it lets through are held until the layer is done.
    wide = (3 if sizes.is_gated else 1) * sizes.inner
    on_places = 3 * width + wide + max(sizes.inner, width)
    layer = rows * max(attention, on_places) * found.dtype.itemsize
    if found.dtype.itemsize < float32.itemsize:  # norms and turned features, for a while
        layer += 2 * rows * max(width, all_heads) * float32.itemsize
    mask = (
        rows * context if has_mask(sizes, context, batch) else 0
    )  # booleans; three of them while it is made
    angles = 2 * rows * sizes.features * float64.itemsize
    taken = scratch(found, batch, tokens, get_num_threads())
    return max(layer + mask, 3 * mask) + angles + taken


@lru_cache(maxsize=64)
def scratch(found: Outline, batch: int, tokens: int, threads: int) -> int:
    """Give the most scratch that a kernel of a layer takes, with the threads that are set."""
    sizes = found.sizes
    all_heads, kept = sizes.heads * sizes.features, sizes.kv_heads * sizes.features
    queries = all_heads if sizes.is_gated else all_heads + 2 * kept
    products = {
        (sizes.width, queries), (sizes.width, kept), (all_heads, sizes.width),
        (sizes.width, sizes.inner), (sizes.inner, sizes.width),
    }  # fmt: skip
    head = (batch, 1), sizes.width, sizes.vocabulary
    taken = [_product_scratch(found, of, *head) for of in found.tables]
    for of in found.formats:
        taken += [_product_scratch(found, of, (batch, tokens), *each) for each in products]
    return max(*taken, 0, _attention_scratch(sizes, found.dtype, batch, tokens))


def _product_scratch(
    found: Outline, format: DType | str, rows: tuple[int, int], inputs: int, outputs: int
) -> int:
    x = spec((*rows, inputs), found.dtype)
    if isinstance(format, DType):
        weight = spec((outputs, inputs), format)
        if found.is_turned:
            weight = spec((inputs, outputs), format).mT
        return int(compiled(lambda x, w: linear(x, w)).plan(x, weight).scratch)
    of = FORMATS[format]
    blocks = spec((outputs, -(-inputs // of.elements) * of.bytes), uint8)
    x = spec((*rows, -(-inputs // of.elements) * of.elements), found.dtype)
    product = compiled(lambda x, blocks: quantized_linear(x, blocks, format=of.name))
    return int(product.plan(x, blocks).scratch)


def _attention_scratch(sizes: Sizes, dtype: DType, batch: int, tokens: int) -> int:
    shape = (batch, sizes.heads, tokens, sizes.features)
    keys = (batch, sizes.kv_heads, max(tokens, PIECE), sizes.features)

    def attend(q: Any, k: Any, v: Any) -> Any:
        return scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)

    given = (spec(shape, dtype), spec(keys, dtype), spec(keys, dtype))
    return int(compiled(attend).plan(*given).scratch)
