"""The conversion between dtypes, which every operation on mixed operands begins with."""

from __future__ import annotations

from tessella._core import Tensor
from tessella.declarations import case
from tessella.dtypes import DTYPES, DType
from tessella.hints import Any
from tessella.kinds import Cast
from tessella.ops.elementwise import real


def _cast_back(g: Tensor, x_dtype: DType) -> Tensor:
    """Give g in the dtype of x; the real part where x was made complex."""
    is_made_complex = g.dtype.is_complex and not x_dtype.is_complex
    return astype(real(g) if is_made_complex else g, x_dtype)


def _astype_ref(np: Any, x: Any, dtype: Any, copy: bool = True) -> Any:
    if x.dtype.kind == "f" and dtype.is_integer:  # floats saturate, where NumPy leaves it open
        x = np.clip(x, float(dtype.lowest), None)
    return x if dtype.name == "bfloat16" else x.astype(dtype.name)


astype = Cast(
    "astype", vjp=_cast_back, doc="Converted to another dtype.",
    example=">>> ts.astype(ts.tensor([2.9, -2.9, 0.0]), ts.int32).tolist()\n[2, -2, 0]",
    ref=_astype_ref, ulps=0, samples=[case((3, 5), dtype) for dtype in DTYPES],
    errors=[case((2,), "float33", match="dtype must be a Tessella dtype"),
            case((2,), 3, match="dtype must be a Tessella dtype"),
            case((2,), "float32", dtype="complex64", match="complex64")],
).function  # fmt: skip
