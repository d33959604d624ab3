"""The public modules of the package, and the names that each offers."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import tessella as ts
from tessella import _core, namespace


def public_modules() -> dict[str, Any]:
    """Give the public modules by the names that users call them by, without the package's own."""
    waiting = [*vars(ts)["__all__"], *namespace.MODULES, *namespace.SUBPACKAGES]
    found: dict[str, Any] = {}
    while waiting:
        name = waiting.pop()
        module = _member(name)
        if isinstance(module, ModuleType) and name not in found:
            found[name] = module
            waiting += [f"{name}.{inner}" for inner in getattr(module, "__all__", ())]
    return dict(sorted(found.items()))


def _member(path: str) -> Any:
    found: Any = ts
    for name in path.split("."):
        found = getattr(found, name)
    return found


def offered(name: str) -> dict[str, Any]:
    """Give what a public module offers, by name; modules inside stand for themselves."""
    module = public_modules()[name]
    values = {each: getattr(module, each) for each in module.__all__}
    return {each: value for each, value in values.items() if not inspect.ismodule(value)}


def offered_by_package() -> dict[str, Any]:
    """Give the package's own functions, classes, dtypes and constants, by name."""
    members = {name: getattr(ts, name) for name in namespace.MEMBERS}
    return {"Tensor": ts.Tensor, **namespace.public_names(), **members}


def attributes_of_tensors() -> list[str]:
    """Name what tensors have beside the methods that the records and plain functions make."""
    kinds = (property, type(_core.Tensor.shape), type(_core.Tensor.item))
    known = namespace.methods()
    return [
        name
        for name, value in vars(_core.Tensor).items()
        if isinstance(value, kinds) and name not in known and not name.startswith("_")
    ]
