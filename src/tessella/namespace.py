"""Builds the public namespace and Tensor's methods from the table of operations."""

from __future__ import annotations

import importlib
from typing import Any

from tessella import _core, errors, inplace, printing, tensors, threads
from tessella._core import Tensor
from tessella.dtypes import DTYPES
from tessella.ops import (
    composite,
    creation,
    elementwise,
    fused,
    index,
    joining,
    matmul,
    movement,
    ordering,
    random,
    reduce,
)  # fmt: skip
from tessella.records import OPS

# Modules that hold records only; importing them made the records.
TABLES = (elementwise, fused, movement)

# Functions that are not records: the module that holds them, and their public names.
FUNCTIONS: dict[Any, tuple[str, ...]] = {
    composite: ("allclose", "broadcast_shapes", "broadcast_tensors", "contiguous", "flatten",
                "isclose", "logsumexp", "matrix_transpose", "moveaxis", "shape_match", "tril",
                "triu", "unstack"),
    creation: ("arange", "empty", "empty_like", "eye", "full", "full_like", "linspace", "ones",
               "ones_like", "zeros", "zeros_like"),
    index: ("masked_fill", "nonzero", "take", "take_along_axis"),
    joining: ("repeat", "roll", "stack", "tile"),
    matmul: ("bmm", "dot", "matmul_into", "mm", "mv", "outer", "tensordot", "vecdot"),
    ordering: ("argsort", "sort"),
    random: ("Generator", "bernoulli", "manual_seed", "normal", "rand", "randint", "randn",
             "randperm"),
    reduce: ("std", "sum_to_shape", "var"),
    tensors: ("from_data", "from_numpy", "tensor"),
    threads: ("get_num_threads", "num_threads", "set_num_threads"),
}  # fmt: skip

# Modules that are loaded when they are first used.
SUBPACKAGES: tuple[str, ...] = ()

# Functions that are methods of Tensor too; records say so themselves.
ALSO_METHODS = (
    "argsort", "contiguous", "dot", "flatten", "logsumexp", "masked_fill", "mm", "moveaxis",
    "nonzero", "outer", "roll", "sort", "std", "sum_to_shape", "take", "tile", "tril", "triu",
    "unstack", "var",
)  # fmt: skip

METHODS: dict[str, Any] = {
    "at": tensors.at,
    "clone": tensors.clone,
    "copy_": inplace.copy_,
    "detach": tensors.detach,
    "fill_": inplace.fill_,
    "flat_index": tensors.flat_index,
    "numpy": tensors.numpy_of,
    "make_contiguous": composite.contiguous,
    "requires_grad_": tensors.requires_grad_,
    "to_device": tensors.to_device,
    "tolist": tensors.tolist,
}


def public_names() -> dict[str, Any]:
    """Give every public function and dtype by its name."""
    names: dict[str, Any] = {dtype.name: dtype for dtype in DTYPES}
    for module, members in FUNCTIONS.items():
        names.update({name: getattr(module, name) for name in members})
    for op in OPS.values():
        if op.is_function:
            names.update({name: op.function for name in (op.name, *op.aliases)})
    return names


def methods() -> dict[str, Any]:
    """Give every method of Tensor that Python adds."""
    functions = public_names()
    names = {**METHODS, **{name: functions[name] for name in ALSO_METHODS}}
    for op in OPS.values():
        if op.is_method:
            names.update({name: op.function for name in (op.name, *op.aliases)})
    return names


def find(name: str) -> Any:
    """Load a subpackage at its first use; refuse names that do not exist."""
    if name in SUBPACKAGES:
        return importlib.import_module(f"tessella.{name}")
    import difflib

    near = difflib.get_close_matches(name, public_names(), 3)
    hint = f"did you mean {', '.join(near)}?" if near else "docs/operations.md lists the names"
    raise errors.unknown_name("tessella", name, hint).locate("tessella", [])


def install(module: dict[str, Any]) -> None:
    """Put the names where users find them, and tell the core its operators."""
    module.update(public_names())
    for name, function in methods().items():
        setattr(Tensor, name, function)
    setattr(Tensor, "__reduce__", tensors.pickle_parts)  # noqa: B010 - mypy types object's own
    Tensor.__array_ufunc__ = None  # NumPy's operators leave the work to ours
    for op in OPS.values():
        _core.set_slot(op.name, op.function)
    setattr(Tensor, "__format__", tensors.formatted)  # noqa: B010 - mypy types object's own
    _core.set_hook("repr", printing.represent)
    _core.set_hook("iterate", tensors.iterate)
    _core.set_hook("contains", tensors.contains)
