"""The stubs of PyTorch's modules that are elsewhere here, from imports.PLACES.

Type checkers find modules by files only: what our finder gives needs a stub where its name says.
Hence folders such as src/tessella/utils, in which there is nothing else. Each is a folder:
basedpyright warns of a file without its source.
"""

from __future__ import annotations

import inspect
from types import ModuleType

from tessella.imports import PLACES, load

PACKAGE = "src/tessella"
HEAD = '"""Written by `make generate` from imports.PLACES; change that, not this."""'


def place_stubs() -> dict[str, str]:
    """Give the stub files of all such modules, by their paths."""
    return {file_of(name): place_stub(name) for name in PLACES}


def members(name: str) -> list[str]:
    """Give the modules inside one of them."""
    inside = [each.removeprefix(f"{name}.") for each in PLACES if each.startswith(f"{name}.")]
    return [each for each in inside if "." not in each]


def file_of(name: str) -> str:
    """Give the path of a module's stub."""
    return f"{PACKAGE}/{name.replace('.', '/')}/__init__.pyi"


def public_names(module: ModuleType) -> list[str]:
    """Give what a module offers: what it lists, or else what it defines."""
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and inspect.getmodule(value) is module
    ]
    return list(getattr(module, "__all__", own))


def place_stub(name: str) -> str:
    """Give the text of a stub: each name as it is where the module is."""
    inside = members(name)
    lines = [f"from tessella.{name} import {each} as {each}" for each in inside]
    if place := PLACES[name]:
        names = [each for each in public_names(load(f"tessella.{place}")) if each not in inside]
        lines += [f"from tessella.{place} import {each} as {each}" for each in names]
    return "\n".join([HEAD, "", *lines]) + "\n"
