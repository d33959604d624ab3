"""Modules of PyTorch that are elsewhere here: `import tessella.utils.data` gives tessella.data.

A module that is only called otherwise is found first: its stub lies in a folder of that name, which
Python would take for an empty package. When no file of the package has a name that spellings.py
knows, an error says what to write.
"""

from __future__ import annotations

import sys
from types import ModuleType

from tessella import errors, exceptions, spellings
from tessella.hints import Any

# PyTorch's modules by the modules that stand for them; "": one that only holds others.
PLACES = {
    "backends": "",
    "backends.cudnn": "accelerators",
    "backends.mps": "accelerators",
    "cuda": "accelerators",
    "mps": "accelerators",
    "nn.parameter": "nn.parameters",
    "nn.utils": "nn.toolbox",
    "nn.utils.rnn": "nn.ragged",
    "utils": "",
    "utils.checkpoint": "checkpoints",
    "utils.data": "data",
}
# The names that errors know: those of PyTorch.
NAMES = {place: name for name, place in PLACES.items() if place}


class Holder(ModuleType):
    """A module that holds others, which are loaded when they are asked for."""

    __path__: list[str] = []

    def __getattr__(self, name: str) -> ModuleType:
        inside = f"{self.__name__}.{name}"
        if inside.removeprefix("tessella.") in PLACES:
            found: ModuleType = load(inside)
            return found
        return spellings.refuser(self.__name__)(name)


class Loader:
    """Loads a module of PyTorch's name: what stands for it takes its place."""

    def create_module(self, spec: Any) -> ModuleType:
        """Give the module that Python begins with."""
        return Holder(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Put the module that stands for it where Python looks."""
        place = PLACES[module.__name__.removeprefix("tessella.")]
        if place:
            sys.modules[module.__name__] = load(f"tessella.{place}")


class Finder:
    """Finds modules by the names that they have in PyTorch."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        """Give what loads a module; None: it is called the same here, or is not of this package."""
        inside = name.removeprefix("tessella.")
        if inside not in PLACES or inside == name:
            return None
        from importlib.machinery import ModuleSpec

        loader: Any = Loader()
        return ModuleSpec(name, loader, is_package=not PLACES[inside])


class Refuser:
    """Explains, where no module was found, what to write in place of PyTorch's."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        """Raise an error for a name that is known; None: it is not known here either."""
        inside = name.removeprefix("tessella.")
        if inside == name:
            return
        owner, _, last = inside.rpartition(".")
        owner = NAMES.get(owner, owner)
        wanted = imported_names()
        hints = [spellings.absent(owner or "ts", last)]
        if not hints[0]:  # the name itself, or, of a module, the names that it should have
            hints = [elsewhere(owner, each) for each in ([last] if last in wanted else wanted)]
        if any(hints):
            hint = "; ".join(filter(None, hints))
            raise errors.missing_import(f"tessella.{owner}".rstrip("."), last, hint)


def imported_names() -> tuple[str, ...]:
    """Give the names that the user's `from … import` asks for; there are none in other imports."""
    import dis  # nobody needs it before

    frame, names = exceptions.user_frame(), None
    for each in dis.get_instructions(frame.f_code) if frame else ():
        if frame and each.offset == frame.f_lasti:
            return names or () if each.opname == "IMPORT_NAME" else ()
        names = each.argval if each.opname == "LOAD_CONST" else None
    return ()


def elsewhere(owner: str, name: str) -> str:
    """Say which module around one of PyTorch's has a name, or what to write; "": nobody knows."""
    while True:
        module = f"tessella.{owner}".rstrip(".")
        if name in getattr(sys.modules.get(module), "__all__", ()):
            return f"write from {module} import {name}"
        found = spellings.absent(owner or "ts", name)
        if found or not owner:
            return found
        owner = owner.rpartition(".")[0]


def load(name: str) -> Any:
    """Import a module by its whole name."""
    from importlib import import_module

    return import_module(name)


def install() -> None:
    """Let Python ask for PyTorch's names before it looks at files, and explain at the end."""
    sys.meta_path.insert(0, Finder)
    sys.meta_path.append(Refuser)
