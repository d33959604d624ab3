"""Where in a network something happened: paths of modules, and names of their tensors, in errors.

Nothing is noted while a network runs. When an error is made, the frames of `Module.__call__` that
are on the stack are the modules at work, the outermost being the root that paths begin with.
"""

from __future__ import annotations

import sys

from tessella import autograd, declarations, exceptions
from tessella._core import Node, Tensor
from tessella.hints import TYPE_CHECKING, Any
from tessella.nn import walks
from tessella.nn.modules import Module
from tessella.trees import flatten

if TYPE_CHECKING:
    from types import FrameType

_CALL = Module.__call__.__code__


class Root:
    """The module that the user called, with the name that the user gave it."""

    def __init__(self, module: Module, frame: FrameType | None, args: Any = ()) -> None:
        self.module = module
        self.name = _name_in(module, frame)
        self.inputs = [x for x in flatten(args)[0] if isinstance(x, Tensor)]

    def path(self, path: str) -> str:
        """Give a path that begins with the root's name."""
        return f"{self.name}.{path}" if path else self.name

    def path_of(self, module: Module) -> str:
        """Give the path of a module; that of one which is no part of the root is its type."""
        for path, part in walks.modules(self.module, None, "", True):
            if part is module:
                return self.path(path)
        return type(module).__name__


def _name_in(module: Module, frame: FrameType | None) -> str:
    """Give the name under which a frame knows a module."""
    if frame is not None:
        for names in (frame.f_locals, frame.f_globals):
            for name, value in names.items():
                if value is module:
                    return name
        owner = frame.f_locals.get("self")
        for name, value in getattr(owner, "__dict__", {}).items():
            if value is module:
                return f"self.{name}"
    return type(module).__name__


def modules_at_work() -> tuple[list[Module], Root | None]:
    """Give the modules whose calls are on the stack, the innermost first, and their root."""
    found: list[Module] = []
    frame: FrameType | None = sys._getframe(1)
    call: FrameType | None = None
    while frame is not None:
        if frame.f_code is _CALL:
            found.append(frame.f_locals["self"])
            call = frame
        frame = frame.f_back
    if call is None:
        return [], None
    return found, Root(found[-1], call.f_back, (call.f_locals["args"], call.f_locals["keywords"]))


def place() -> str:
    """Say which module was at work: its path, and its text if that is one line."""
    modules, root = modules_at_work()
    if root is None:
        return ""
    text = repr(modules[0])
    shown = text if "\n" not in text else type(modules[0]).__name__
    path = root.path_of(modules[0])
    return path if path == type(modules[0]).__name__ else f"{path}: {shown}"


def name_of(x: Tensor) -> str:
    """Name a tensor that a module at work knows: a parameter, a buffer, what a part gave last."""
    _, root = modules_at_work()
    if root is None:
        return ""
    for path, module in walks.modules(root.module, None, "", True):
        head = f"{path}." if path else ""
        for name, part in [*walks.parameters_of(module), *walks.buffers_of(module)]:
            if part is x:
                return root.path(head + name)
        made = vars(module).get("_made")
        if path and made is not None and made() is x:
            return f"output of {root.path(path)}"
    return ""


# --- gradients ------------------------------------------------------------------------------------


def module_of(node: Node) -> str:
    """Name the module that recorded an operation, if it was called while values were watched."""
    import gc

    found = [each for each in living_modules(gc.get_objects()) if _has_recorded(each, node)]
    if not found:
        return ""
    root = Root(max(found, key=_count_recorded), None)
    parts = [part for _, part in walks.modules(root.module, None, "", True)]
    inner = [part for part in reversed(parts) if _has_recorded(part, node)]
    return root.path_of(min(inner, key=_count_recorded))


def _has_recorded(module: Module, node: Node) -> bool:
    first, last = vars(module).get("_recorded", (0, 0))
    return bool(first < node.sequence <= last)


def _count_recorded(module: Module) -> int:
    first, last = vars(module)["_recorded"]
    return int(last - first)


def living_modules(objects: list[Any]) -> list[Module]:
    """Give the modules among objects: types are asked, as an object may refuse to say its class."""
    return [each for each in objects if issubclass(type(each), Module)]


exceptions.set_place_finder(place)
declarations.set_namer(name_of)
autograd.set_module_finder(module_of)
