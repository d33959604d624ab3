"""Calls of an operation, drawn from its record: shapes, operands of a dtype, and other layouts.

What a call must give is said in reference.py. Values are kept as NumPy arrays and made tensors when
they are used; bfloat16, which NumPy lacks, is kept as float32 arrays whose values it can hold.
"""

from __future__ import annotations

import functools
import math
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import tessella as ts
from conftest import SEED
from tessella import _core
from tessella.declarations import Case, Declared
from tessella.dtypes import DTYPES, DType
from tessella.host import Host
from tessella.kinds import Elementwise
from tessella.records import Op

Array = np.ndarray[Any, Any]

SCALAR = object()  # in place of a shape: a Python number
TILE = 5000  # more elements than a tile of the elementwise loops holds
FAST_PATH_OFF = 1  # a mode of the core
LARGE = 300_000  # elements: above every threshold of the cost model
WIDE_INTEGERS = 100  # integers are drawn to ±100 where the domain says nothing else


@contextmanager
def fast_path_off() -> Iterator[None]:
    """Make every call go through the declaration in Python."""
    _core.set_modes(FAST_PATH_OFF)
    try:
        yield
    finally:
        _core.set_modes(0)


# --- which calls ---------------------------------------------------------------------------------


def cases_of(op: Op) -> list[Case]:
    """Give the calls to make: the record's own, or the standard ones of elementwise operations."""
    return elementwise_cases(op) if isinstance(op, Elementwise) else list(op.samples)


def elementwise_cases(op: Op) -> list[Case]:
    """Equal shapes, broadcasting every way, 0-d, empty, more than a tile, and numbers."""
    n = len(op.operands)
    broadcast: list[tuple[int, ...]] = [(3, 1), (1, 4), (2, 1, 1)]
    cases = [Case(*[shape] * n) for shape in ((3, 4), (), (2, 0, 3), (TILE,), (1, 33))]
    if n > 1:
        cases.append(Case(*broadcast[:n]))
        cases.append(Case(*([(3, 4), (4,), ()] * 2)[1 : n + 1]))
        cases.append(Case(*([(3, 4), (4,), ()] * 2)[2 : n + 2]))
        cases.append(Case(*[(1, 3), (0, 3), (3,)][:n]))
    optional = len(op.defaults)  # the last ones may be left out, and only they may be numbers
    cases += [Case(*[(3, 4)] * count) for count in range(n - optional, n)]
    first = n - optional if optional else int(op.operands[0] == "condition")
    numbers = range(first, n) if n > 1 else ()
    cases += [Case(*[SCALAR if k == i else (3, 4) for k in range(n)]) for i in numbers]
    return cases


def supports(op: Op, case: Case, dtype: DType) -> bool:
    """Tell whether a call has a meaning for a dtype, by the record's rules alone."""
    try:
        op.infer(*op.prepare(*op.bind(tuple(virtual_operands(op, case, dtype)), case.params)))
    except ts.errors.DTypeMismatch:
        return False
    return True


def cases_for(op: Op, dtype: DType) -> list[Case]:
    """Give the calls that have a meaning for a dtype."""
    return [case for case in cases_of(op) if supports(op, case, dtype)]


@functools.cache
def dtypes_of(op: Op) -> list[DType]:
    """Give the dtypes that an operation has a meaning for."""
    return [dtype for dtype in DTYPES if cases_for(op, dtype)]


def grown(op: Op, case: Case) -> Case:
    """Multiply the sizes of a case until it is worth threads, if its parameters do not fix them."""
    listed = case.shapes[0] if isinstance(case.shapes[0], list) else case.shapes
    shapes = [shape for shape in listed if isinstance(shape, tuple)]
    axes = [[n for n in shape if n > 1] for shape in shapes]
    if (
        isinstance(op, Host)
        or "shape" in case.params
        or not any(axes)
        or any(0 in shape for shape in shapes)
    ):
        return case
    factor = min(round((LARGE / math.prod(a)) ** (1 / len(a))) for a in axes if a)

    def grow(shape: Any) -> Any:
        if isinstance(shape, list):
            return [grow(each) for each in shape]
        is_shape = isinstance(shape, tuple)
        return tuple(n * factor if n > 1 else n for n in shape) if is_shape else shape

    larger = Case(*map(grow, case.shapes), **case.params)
    try:
        op.function(*virtual_operands(op, larger, dtypes_of(op)[-1]), **case.params)
    except ts.errors.TessellaError:
        return case
    return larger


# --- operands ------------------------------------------------------------------------------------


def generator(*label: object) -> np.random.Generator:
    """Give random numbers that depend on the seed of the run and a label."""
    return np.random.default_rng([SEED, zlib.crc32(repr(label).encode())])


def is_condition(op: Declared, i: int) -> bool:
    """Tell whether an operand chooses between others: it is bool, whatever they are."""
    return i < len(op.operands) and op.operands[i] in ("condition", "mask")


def operand_dtype(op: Declared, i: int, dtype: DType) -> DType:
    """Give the dtype of one operand."""
    return ts.bool if is_condition(op, i) else dtype


def draw_operands(op: Declared, case: Case, dtype: DType, turn: int = 0) -> list[Any]:
    """Draw the operands of a call: arrays, lists of arrays, numbers, or what the case holds.

    Another turn has other values.
    """
    rng = generator(op.name, case, dtype, *[turn] * (turn > 0))
    out: list[Any] = []
    for i, shape in enumerate(case.shapes):
        kind = operand_dtype(op, i, dtype)
        if shape is SCALAR:
            out.append(draw(op, (), kind, rng, i).item())
        elif isinstance(shape, list):
            out.append([draw(op, each, kind, rng, i) for each in shape])
        elif isinstance(shape, tuple):
            out.append(draw(op, shape, kind, rng, i))
        else:  # a tensor is copied: tests ask for gradients, and write
            out.append(shape.clone() if isinstance(shape, ts.Tensor) else shape)
    return out


def draw(
    op: Declared, shape: tuple[int, ...], dtype: DType, rng: np.random.Generator, i: int
) -> Array:
    """Draw one operand as its record asks."""
    if dtype is ts.bool:
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.is_integer:
        return draw_integers(op, shape, dtype, rng, i)
    x = draw_reals(op, shape, rng)
    if dtype.is_complex:
        x = x + 1j * draw_reals(op, shape, rng)
    if op.matrices and i == 0 and len(shape) > 1:
        x = as_matrices(op, x)
    return np.asarray(round_to(x, dtype))


def as_matrices(op: Declared, x: Array) -> Array:
    """Make matrices of what was drawn: their diagonals dominate, and no two values are near."""
    x = np.array(hermitian(op, x / 4))
    diagonal = np.arange(min(x.shape[-2:]))
    x[..., diagonal, diagonal] += 2 * diagonal + 4
    return x


def hermitian(op: Declared, x: Array) -> Array:
    """Make matrices, or changes of them, Hermitian where the operation reads them so."""
    if op.matrices not in ("hermitian", "definite") or x.shape[-2:-1] != x.shape[-1:]:
        return x
    return np.asarray((x + np.conj(x.swapaxes(-1, -2))) / 2)


def draw_integers(
    op: Declared, shape: tuple[int, ...], dtype: DType, rng: np.random.Generator, i: int
) -> Array:
    """Draw integers of the domain; shifts by counts within the width, divisors that are not 0."""
    is_default = op.domain == (-3.0, 3.0)
    low, high = (-WIDE_INTEGERS, WIDE_INTEGERS) if is_default else map(round, op.domain)
    if op.count and i == 1:
        low, high = 0, 8 * dtype.itemsize - 1
    low = max(low, int(dtype.lowest))
    x = rng.integers(low, high, shape, endpoint=True)
    return np.asarray(np.where((x == 0) & (op.away > 0), 1, x).astype(dtype.name))


def draw_reals(op: Declared, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Draw from the domain, away from 0, and between the steps at multiples of a half.

    Each number moves a little to where it would stand if all were evenly spread, so that no two are
    so near that a finite difference changes which one is greater.
    """
    low, high = op.domain
    x = rng.uniform(low, high, shape)
    ranks = np.argsort(np.argsort(x, axis=None)).reshape(shape)
    even = low + (high - low) * (ranks + 0.5) / max(x.size, 1)
    x = 0.9 * x + 0.1 * even
    if op.away:
        far = max(-low, high)
        x = np.where(x < 0, -1, 1) * (op.away + np.abs(x) * (1 - op.away / far))
    if op.step:
        x = (np.floor(2 * x) + rng.uniform(0.1, 0.9, shape)) / 2
    return np.asarray(x)


def held_as(dtype: DType) -> str:
    """Name the NumPy dtype that holds the values of a dtype."""
    return "float32" if dtype is ts.bfloat16 else dtype.name


def round_to(x: Array, dtype: DType) -> Array:
    """Round to a dtype; bfloat16 to float32 values that it can hold, ties to even."""
    with np.errstate(all="ignore"):
        if dtype is not ts.bfloat16:
            return np.asarray(x).astype(dtype.name)
        # 16 of float32's bits remain. Rounding twice is harmless where x comes from float32.
        bits = np.asarray(x, "float32").view("uint32")
        kept = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
        return np.where(np.isnan(x), np.float32(np.nan), kept.view("float32"))


def to_tensors(op: Declared, operands: list[Any], dtype: DType) -> list[Any]:
    """Make the drawn operands tensors."""
    return [
        [to_tensor(each, dtype) for each in x]
        if isinstance(x, list)
        else to_tensor(x, operand_dtype(op, i, dtype))
        if isinstance(x, np.ndarray)
        else x
        for i, x in enumerate(operands)
    ]


def to_tensor(x: Array, dtype: DType) -> ts.Tensor:
    """Copy an array into a tensor of a dtype."""
    made = ts.from_numpy(np.array(x))
    return made if made.dtype is dtype else made.astype(dtype)


def to_array(x: ts.Tensor) -> Array:
    """Copy a tensor into an array; bfloat16 as float32."""
    x = x.detach()
    return np.array((x.astype(ts.float32) if x.dtype is ts.bfloat16 else x).numpy(), order="C")


def virtual_operands(op: Op, case: Case, dtype: DType) -> list[Any]:
    """Make the operands of a call without memory; numbers are 1."""

    def make(shape: Any, kind: DType) -> Any:
        if shape is SCALAR:
            return kind.name == "bool" or 1
        if isinstance(shape, list):
            return [make(each, kind) for each in shape]
        return _core.empty_virtual(shape, kind.id) if isinstance(shape, tuple) else shape

    return [make(shape, operand_dtype(op, i, dtype)) for i, shape in enumerate(case.shapes)]


# --- layouts -------------------------------------------------------------------------------------


def transposed(x: ts.Tensor) -> ts.Tensor:
    """Lay the axes out in the opposite order."""
    order = tuple(reversed(range(x.ndim)))
    return x.permute(order).clone().permute(order)


def negative(x: ts.Tensor) -> ts.Tensor:
    """Lay the elements out backwards."""
    return x.flip().clone().flip()


def stepped(x: ts.Tensor) -> ts.Tensor:
    """Use every second place along each axis; ones stand between."""
    wide = ts.ones(tuple(2 * size for size in x.shape), dtype=x.dtype)
    part = wide[(slice(None, None, 2),) * x.ndim]
    return part.copy_(x)


def shifted(x: ts.Tensor) -> ts.Tensor:
    """Begin one element into the buffer, where vectors are not aligned."""
    flat = ts.ones(x.size + 1, dtype=x.dtype)
    return flat[1:].view(x.shape).copy_(x)


def repeated(x: ts.Tensor) -> ts.Tensor:
    """Repeat the first place along the first axis with stride 0: other values than x."""
    return ts.broadcast_to(x[:1], x.shape) if x.ndim and x.shape[0] else x


def lay_out(op: Declared, layout: str, operands: Any) -> Any:
    """Give the operands another layout; equal rows would make matrices singular."""
    if layout == "repeated" and op.matrices:
        return map_tensors(lambda x: repeated(x) if x.ndim > 2 else x, operands)
    return map_tensors(LAYOUTS[layout], operands)


LAYOUTS: dict[str, Callable[[ts.Tensor], ts.Tensor]] = {
    "transposed": transposed,
    "negative": negative,
    "stepped": stepped,
    "shifted": shifted,
    "repeated": repeated,
}


def map_tensors(change: Callable[[ts.Tensor], Any], value: Any) -> Any:
    """Change the tensors among operands, inside lists too."""
    if isinstance(value, ts.Tensor):
        return change(value)
    if isinstance(value, list | tuple):
        return type(value)(map_tensors(change, each) for each in value)
    return value
