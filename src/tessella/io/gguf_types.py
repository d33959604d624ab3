"""The types of tensors in GGUF files, by number: dtypes, blocks, and those known by size only.

The numbers, and the sizes of blocks that are not in blocks.py, are ggml's. Numbers that are missing
belonged to types that it gave up.
"""

from __future__ import annotations

from typing import NamedTuple

from tessella.blocks import FORMATS
from tessella.dtypes import (
    DType,
    bfloat16,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
)


class TensorType(NamedTuple):
    """A dtype, or the name of a block format; the numbers of a block, and its bytes."""

    format: DType | str
    elements: int
    bytes: int


_DTYPES = {
    0: float32, 1: float16, 24: int8, 25: int16, 26: int32, 27: int64, 28: float64, 30: bfloat16,
}  # fmt: skip
_BLOCKS = {
    2: "q4_0", 3: "q4_1", 6: "q5_0", 7: "q5_1", 8: "q8_0", 12: "q4_k", 13: "q5_k", 14: "q6_k",
}  # fmt: skip
_OTHERS = {
    9: ("q8_1", 32, 36), 10: ("q2_k", 256, 84), 11: ("q3_k", 256, 110), 15: ("q8_k", 256, 292),
    16: ("iq2_xxs", 256, 66), 17: ("iq2_xs", 256, 74), 18: ("iq3_xxs", 256, 98),
    19: ("iq1_s", 256, 50), 20: ("iq4_nl", 32, 18), 21: ("iq3_s", 256, 110),
    22: ("iq2_s", 256, 82), 23: ("iq4_xs", 256, 136), 29: ("iq1_m", 256, 56),
    34: ("tq1_0", 256, 54), 35: ("tq2_0", 256, 66), 39: ("mxfp4", 32, 17), 40: ("nvfp4", 64, 36),
    41: ("q1_0", 128, 18), 42: ("q2_0", 64, 18),
}  # fmt: skip

TYPES: dict[int, TensorType] = {
    **{number: TensorType(dtype, 1, dtype.itemsize) for number, dtype in _DTYPES.items()},
    **{number: TensorType(*FORMATS[name]) for number, name in _BLOCKS.items()},
    **{number: TensorType(*sizes) for number, sizes in _OTHERS.items()},
}
# Those that tensors can be read and written in.
NUMBERS: dict[DType | str, int] = {
    format: number for number, (format, *_) in TYPES.items() if number not in _OTHERS
}
