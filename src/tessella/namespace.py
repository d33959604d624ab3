"""Builds the public namespace and Tensor's methods from the table of operations."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

from tessella import (
    _core,
    blas,
    errors,
    exchange,
    info,
    inplace,
    pickling,
    printing,
    spellings,
    tensors,
    threads,
)
from tessella._core import Tensor
from tessella.composites import COMPOSITES, Composite
from tessella.declarations import Refusal
from tessella.dtypes import DTYPES
from tessella.ops import (
    activation,
    composite,
    conversion,
    creation,
    diagonals,
    einsum,
    elementwise,
    fused,
    index,
    joining,
    matmul,
    movement,
    norms,
    ordering,
    padding,
    products,
    random,
    ranks,
    reduce,
    scatter,
    selection,
    sets,
    shaping,
    splitting,
    statistics,
    types,
)  # fmt: skip
from tessella.records import OPS, Op

# Modules that hold records and composites only; importing them made those.
TABLES = (activation, blas, composite, conversion, creation, diagonals, einsum, elementwise, fused,
          index, joining, matmul, movement, norms, ordering, padding, products, random, ranks,
          reduce, scatter, selection, sets, shaping, splitting, statistics, types)  # fmt: skip

CONSTANTS: dict[str, Any] = {
    "__array_api_version__": info.VERSION,
    "e": math.e,
    "inf": math.inf,
    "nan": math.nan,
    "newaxis": None,
    "pi": math.pi,
}

# What is neither: the module that holds it, and its public names.
FUNCTIONS: dict[Any, tuple[str, ...]] = {
    info: ("__array_namespace_info__",),
    random: ("Generator",),
    threads: ("get_num_threads", "num_threads", "set_num_threads"),
}  # fmt: skip

# Modules that are loaded when they are first used.
SUBPACKAGES: tuple[str, ...] = ("fft", "linalg")

API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", info.VERSION)


def array_namespace(self: Tensor, *, api_version: str | None = None) -> Any:
    """Give the module that holds the functions of the array API.

    >>> ts.zeros(2).__array_namespace__() is ts
    True
    """
    if api_version is not None and api_version not in API_VERSIONS:
        found = errors.wrong_value("api_version", api_version, f"one of {', '.join(API_VERSIONS)}")
        raise found.locate("__array_namespace__", [f"x  {self.dtype} {self.shape}"])
    return sys.modules["tessella"]


METHODS: dict[str, Any] = {
    "at": tensors.at,
    "clone": tensors.clone,
    "copy_": inplace.copy_,
    "detach": tensors.detach,
    "fill_": inplace.fill_,
    "flat_index": tensors.flat_index,
    "numpy": exchange.numpy_of,
    "make_contiguous": composite.contiguous,
    "requires_grad_": tensors.requires_grad_,
    "scale_": inplace.Twin(OPS["mul"], "scale_"),
    "to_device": tensors.to_device,
    "tolist": tensors.tolist,
    "zero_": inplace.zero_,
}


# What Python, NumPy and the array API ask of a tensor, beside the slots of the core.
PROTOCOLS: dict[str, Any] = {
    "__array__": exchange.array_of,
    "__array_namespace__": array_namespace,
    "__copy__": pickling.copied,
    "__deepcopy__": pickling.deep_copied,
    "__dlpack__": exchange.dlpack,
    "__dlpack_device__": exchange.dlpack_device,
    "__format__": printing.formatted,
    "__reduce_ex__": pickling.reduced,
    "__reversed__": tensors.iterate_back,
}


def declared() -> Iterator[Op | Composite]:
    """Give every operation and every composite."""
    yield from OPS.values()
    yield from COMPOSITES.values()


def refusals() -> list[Refusal]:
    """Give every call that means something else in PyTorch, and raises."""
    rows = [row for each in declared() for row in each.refuses]
    return [*spellings.CALLED, *rows, *spellings.ABSENT.values()]


def public_names() -> dict[str, Any]:
    """Give every public function, dtype and constant by its name."""
    names: dict[str, Any] = {dtype.name: dtype for dtype in DTYPES} | CONSTANTS
    for module, members in FUNCTIONS.items():
        names.update({name: getattr(module, name) for name in members})
    for each in declared():
        if each.is_function and not each.home:
            names.update({name: each.function for name in (each.name, *each.aliases)})
    return names


def methods() -> dict[str, Any]:
    """Give every method of Tensor that Python adds."""
    names = dict(METHODS)
    for each in declared():
        if each.is_method:
            names.update({name: each.function for name in (each.name, *each.aliases)})
        if each.has_twin:
            twins = (f"{name}_" for name in (each.name, *each.aliases))
            names.update({name: inplace.Twin(each, name) for name in twins})
    return {name: value for name, value in names.items() if f"x.{name}" not in spellings.ABSENT}


def load() -> dict[str, Any]:
    """Load every subpackage, so that the tables are whole: what tests and tools begin with."""
    return {name: find(name) for name in SUBPACKAGES}


def find(name: str) -> Any:
    """Load a subpackage at its first use; refuse names that do not exist."""
    if name in SUBPACKAGES:
        return importlib.import_module(f"tessella.{name}")
    raise errors.unknown_name(
        "tessella", name, lambda: spellings.suggest("ts", name, public_names(), dir(Tensor))
    )


def refuse_attribute(x: Tensor, name: str) -> NoReturn:
    """Refuse an attribute that tensors do not have."""
    kind = type(x)
    raise errors.unknown_name(
        kind.__name__, name, lambda: spellings.suggest("x", name, dir(kind), public_names())
    )


def install(module: dict[str, Any]) -> None:
    """Put the names where users find them, and tell the core its operators."""
    module.update(public_names())
    for name, function in methods().items():
        setattr(Tensor, name, function)
    for name, function in PROTOCOLS.items():
        setattr(Tensor, name, function)
    Tensor.__array_ufunc__ = None  # NumPy's operators leave the work to ours
    for op in OPS.values():
        _core.set_slot(op.name, op.function)
    _core.set_hook("repr", printing.represent)
    _core.set_hook("iterate", tensors.iterate)
    _core.set_hook("contains", tensors.contains)
    _core.set_hook("size", spellings.Count)
    _core.set_hook("address", spellings.Address)
    _core.set_hook("unknown", refuse_attribute)
