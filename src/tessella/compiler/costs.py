"""costs: what a step moves and computes, by its operands' shapes: bytes, operations on numbers.

Bytes are those of memory: what lies in tiles counts nothing, what a step reads twice or repeats by
a stride of 0 counts once, and what it has written itself is at hand. Operations are counted where
they take longer than the memory does: in products of matrices and their kin.
"""

from __future__ import annotations

import math

from tessella.compiler.program import UNUSED, Instruction, Operand, Program
from tessella.dtypes import DTYPES
from tessella.hints import Callable

# Of an operand that is reached by indices as much is moved as of the values: the two by their
# places among the operands.
INDEXED = {
    "gather": (1, 0), "embed": (1, 0), "pool_pick": (1, 0),
    "scatter": (0, 1), "scatter_add": (0, 1), "scatter_join": (0, 1),
}  # fmt: skip


def bytes_of(program: Program, step: list[Instruction]) -> int:
    """Count the bytes that a step reads from memory and writes to it."""
    read: dict[Operand, int] = {}
    written: dict[Operand, int] = {}
    for each in step:
        sizes = _moved(each)
        reads = each.operands if _updates(each) else each.reads()
        for operand, size in zip(reads, sizes[-len(reads) :], strict=False):
            if operand not in written:
                read[operand] = size
        written |= zip(each.writes(), sizes, strict=False)
    return _total(program, read) + _total(program, written)


def _total(program: Program, moved: dict[Operand, int]) -> int:
    """Add up what lies in memory: of several views of one no more than it has."""
    totals: dict[int, int] = {}
    for operand, size in moved.items():
        if program.memories[operand.slot].source != UNUSED:
            totals[operand.slot] = totals.get(operand.slot, 0) + size
    return sum(min(size, program.memories[slot].bytes) for slot, size in totals.items())


def _updates(each: Instruction) -> bool:
    """Tell whether an instruction reads what it writes, without saying so."""
    is_added = each.name in ("scatter_add", "scatter_join") or "accumulate" in each.params
    return is_added or each.name.startswith("update")


def _moved(each: Instruction) -> list[int]:
    """Give the bytes of each operand that an instruction moves."""
    sizes = [
        DTYPES[operand.dtype].itemsize
        * math.prod(n for n, stride in zip(operand.shape, operand.strides, strict=True) if stride)
        for operand in each.operands
    ]
    if each.name in INDEXED:
        large, values = INDEXED[each.name]
        sizes[large] = min(sizes[large], sizes[values])
    return sizes


def _matmul(out: Operand, a: Operand, *_: Operand) -> int:
    return int(math.prod(out.shape) * a.shape[-1])


def _convolve(y: Operand, w: Operand) -> int:
    return int(math.prod(y.shape) * math.prod(w.shape[1:]))


def _attention(q: Operand, k: Operand, v: Operand, by_keys: int, by_values: int) -> int:
    """Count products over all scores, also of those that are hidden, by both kinds of features."""
    scores = math.prod(q.shape[:-1]) * k.shape[-2]
    return int(scores * (by_keys * k.shape[-1] + by_values * v.shape[-1]))


# Multiplications with an addition each, by the name of the instruction and from its operands.
PRODUCTS: dict[str, Callable[..., int]] = {
    "matmul": _matmul,
    "linear": _matmul,
    "block_product": _matmul,
    "block_product_back": _matmul,
    "attention": lambda out, q, k, v, *_: _attention(q, k, v, 1, 1),
    "attention_back": lambda out, dout, kept, q, k, v, *_: _attention(q, k, v, 3, 2),
    "convolve": lambda y, x, w, *_: _convolve(y, w),
    "convolve_x": lambda x, y, w, *_: _convolve(y, w),
    "convolve_w": lambda w, y, x, *_: _convolve(y, w),
    # gates (T, B, G * H) or g (T, B, H), and the weight (G * H, H)
    "recurrent_states": lambda out, gates, weight, *_: (
        math.prod(gates.shape[:2]) * math.prod(weight.shape)
    ),
    "recurrent_slopes": lambda out, g, states, weight, *_: (
        math.prod(g.shape[:2]) * math.prod(weight.shape)
    ),
}


def operations_of(step: list[Instruction]) -> int:
    """Count multiplications and additions of the products of a step; 0: it has none."""
    total = 0
    for each in step:
        if each.name in PRODUCTS:
            # (a + bi)(c + di) has four multiplications.
            factor = 8 if DTYPES[each.operands[0].dtype].is_complex else 2
            total += factor * PRODUCTS[each.name](*each.operands)
    return total
