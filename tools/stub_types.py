"""The types that stubs tell and neither records, annotations nor nanobind know: tables."""

from __future__ import annotations

# Of parameters by their names, or by those of their function and their own. Composites say Any of
# what their bodies check.
INTS = "_int | Sequence[_int]"
COUNTS = "_int | Sequence[_int] | Tensor"
ORDER = "_float | _str | None"
PARAMETERS = {
    "alpha": "_Number",
    "axes": INTS,
    "axis": f"{INTS} | None",
    "copy": "_bool",
    "correction": "_float",
    "data": "object",
    "device": "_str | None",
    "dtype": "_DTypeLike | None",
    "eps": "_float | None",
    "format": "_str",
    "indices": "Sequence[Tensor]",
    "keepdims": "_bool",
    "key": "_Key",
    "n": "_int | None",
    "offset": "_int | None",
    "ord": ORDER,
    "output_size": "_Ints | Sequence[_int | None] | None",
    "parameters": "Tensor | Iterable[Tensor]",
    "reduce": "_bool | None",
    "rounding_mode": 'Literal["floor", "trunc"] | None',
    "rtol": "_float | Tensor | None",
    "sections": COUNTS,
    "shape": INTS,
    "size_average": "_bool | None",
    "strides": INTS,
    "upper": "_bool",
    "value": "object",
    "window": "_int",
    "array_of.dtype": "object",
    "as_strided.offset": "_int | None",
    "asarray.obj": "object",
    "can_cast.from_": "Tensor | _DTypeLike",
    "einsum.equation": "_str | Tensor",
    "einsum.operands": "Tensor | Sequence[_int]",
    "fill_.value": "Tensor | _Element",
    "finfo.type": "Tensor | _DTypeLike",
    "from_data.values": "object",
    "from_dlpack.x": "object",
    "from_numpy.array": "object",
    "gradient.spacing": "_Operand | Sequence[_Operand] | None",
    "histogram.bins": "_int | Tensor | Sequence[_float]",
    "histogram.range": "Sequence[_float] | None",
    "iinfo.type": "Tensor | _DTypeLike",
    "is_tensor.x": "object",
    "isdtype.kind": "_DTypeLike | tuple[_DTypeLike, ...]",
    "linalg.cond.p": ORDER,
    "manual_seed.seed": "_int",
    "nn.functional.conv1d.padding": f"{INTS} | _str",
    "nn.functional.conv2d.padding": f"{INTS} | _str",
    "nn.functional.gaussian_nll_loss.var": "_Operand",
    "nn.functional.interpolate.scale_factor": "_float | Sequence[_float] | None",
    "nn.functional.interpolate.size": "_Ints | None",
    "norm.p": ORDER.removesuffix(" | None"),
    "randint.high": "_Ints | None",
    "randint.low": "_int",
    "randint_like.high": "_int | None",
    "randint_like.low": "_int",
    "random_.high": "_int | None",
    "random_.low": "_int | None",
    "reduced.protocol": "SupportsIndex",
    "repeat.repeats": COUNTS,
    "result_type.arrays_and_dtypes": "_Operand | _DTypeLike",
    "set_blas.path": "_Path | None",
    "split.sizes": INTS,
    "tensordot.axes": "_int | Sequence[_Ints]",
    "to.targets": "Tensor | _DTypeLike | Allocator | None",
    "transpose.a": "_int",
    "transpose.b": "_int",
    "view.shape": f"{INTS} | _DTypeLike | None",
}

# Of functions whose result depends on their arguments: the types of those, and the result.
_ONE, _TWO, _THREE = "Tensor", "tuple[Tensor, Tensor]", "tuple[Tensor, Tensor, Tensor]"
_NO, _YES, _BOOL = "Literal[False] = False", "Literal[True]", "_bool = False"
Case = tuple[dict[str, str], str]
WHOLE = "()"  # stands for all parameters
_INDICES: list[Case] = [
    ({"return_indices": _NO}, _ONE),
    ({"return_indices": _YES}, _TWO),
    ({"return_indices": _BOOL}, f"{_ONE} | {_TWO}"),
]
_UNIQUE: list[Case] = [
    ({"return_inverse": _NO, "return_counts": _NO}, _ONE),
    ({"return_inverse": _YES, "return_counts": _NO}, _TWO),
    ({"return_inverse": _NO, "return_counts": _YES}, _TWO),
    ({"return_inverse": _YES, "return_counts": _YES}, _THREE),
    ({"return_inverse": _BOOL, "return_counts": _BOOL}, f"{_ONE} | {_TWO} | {_THREE}"),
]
_EACH: list[Case] = [
    ({WHOLE: "x: Tensor, /"}, _ONE),
    ({WHOLE: "x: Tensor, y: Tensor, /, *xs: Tensor"}, "tuple[Tensor, ...]"),
]
CASES: dict[str, list[Case]] = {
    **{f"nn.functional.{kind}max_pool{n}d": _INDICES for kind in ("", "adaptive_") for n in (1, 2)},
    **{f"Tensor.atleast_{n}d": [({}, _ONE)] for n in (1, 2, 3)},
    **{f"atleast_{n}d": _EACH for n in (1, 2, 3)},
    "gradient": [({"axis": "_int", "dim": "_int"}, _ONE), ({}, f"{_ONE} | tuple[Tensor, ...]")],
    "stride": [({"axis": "None = None", "dim": "None = None"}, "tuple[_int, ...]"),
               ({"axis": "_int", "dim": "_int"}, "_int")],
    "unique": _UNIQUE,
    "unique_consecutive": _UNIQUE,
}  # fmt: skip

# What functions of the core give where nanobind knows no more than `object`, `tuple` or `list`.
RESULTS = {
    "broadcast_shapes": "tuple[int, ...]",
    "dtype_table": "list[tuple[str, int, int]]",
    "fast_path_counts": "tuple[int, int]",
    "all_allocators": "list[AllocatorHandle]",
    "living_tensors": "list[Tensor]",
    "memory_counts": "tuple[int, int, int, int, int]",
    "memory_totals": "dict[str, Any]",
    "opcodes": "list[tuple[str, int]]",
    "resolve_reshape": "tuple[int, ...]",
    "source_names": "list[str]",
    "tile_limits": "tuple[int, int]",
    "supported_isas": "list[str]",
    "to_list": "list[Any]",
}
TENSORS = {"bitcast", "empty", "empty_virtual", "from_buffer", "from_dlpack", "view"}

PROPERTIES = {
    "T": "Tensor",
    "byte_strides": "tuple[_int, ...]",
    "data": "Tensor",
    "data_ptr": "Address",
    "device": "Device",
    "dtype": "DType",
    "grad": "Tensor | None",
    "imag": "Tensor",
    "grad_fn": "Node | None",
    "allocator": "Allocator | None",
    "is_contiguous": "Flag",
    "is_cuda": "_bool",
    "is_freed": "_bool",
    "is_leaf": "_bool",
    "is_readonly": "_bool",
    "is_virtual": "_bool",
    "itemsize": "_int",
    "mT": "Tensor",
    "nbytes": "_int",
    "ndim": "_int",
    "offset": "_int",
    "real": "Tensor",
    "requires_grad": "_bool",
    "retains_grad": "_bool",
    "shape": "tuple[_int, ...]",
    "size": "_int",
    "strides": "tuple[_int, ...]",
    "version": "_int",
}

WRITABLE = ("data", "grad", "imag", "real", "requires_grad")


# The aliases of hints.pyi that stubs are written with, under names that hide no public one.
SHARED = ("Array", "DTypeLike", "DeviceLike", "Element", "Ints", "Key", "Nested", "Number",
          "Operand", "Path", "Real")  # fmt: skip
TYPES = "\n".join(f"from tessella.hints import {name} as _{name}" for name in SHARED)
TYPES += "\n_Axes: TypeAlias = _Ints | None\n"
