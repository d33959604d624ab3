"""Walks over modules: their parts by name and path, moves of all that they hold, their text."""

from __future__ import annotations

from tessella import _core, changes, errors
from tessella._core import Tensor
from tessella.dtypes import boolean
from tessella.hints import Any, Callable, Iterator
from tessella.modes import no_grad
from tessella.nn import module_errors
from tessella.nn.parameters import Parameter
from tessella.standins import Standin


class Owner:
    """What has parts: every module."""

    _persistence: dict[str, bool] = {}  # of each buffer: whether state_dict has it

    def extra_repr(self) -> str:
        """Say what the parentheses of the text show: sizes and options."""
        return ""


Parts = Callable[[Owner], list[tuple[str, Any]]]


# --- the parts of one module ----------------------------------------------------------------------


def parameters_of(module: Owner) -> list[tuple[str, Parameter]]:
    """Give the parameters that are attributes, by name."""
    return [(name, x) for name, x in vars(module).items() if isinstance(x, Parameter)]


def buffers_of(module: Owner) -> list[tuple[str, Tensor]]:
    """Give the buffers that are there, by name."""
    here = vars(module)
    found = [(name, here[name]) for name in module._persistence]
    return [(name, x) for name, x in found if x is not None]


def children_of(module: Owner) -> list[tuple[str, Any]]:
    """Give the modules that are attributes, by name; of compiled ones the modules themselves."""
    found = [(name, part_of(x)) for name, x in vars(module).items()]
    return [(name, x) for name, x in found if x is not None]


def callables_of(module: Owner) -> list[tuple[str, Any]]:
    """Give what is called as a child, by name: a module, or a compiled one."""
    return [(name, x) for name, x in vars(module).items() if part_of(x) is not None]


def part_of(value: Any) -> Any:
    """Give the module that a value is or, compiled, stands for; None if it is neither."""
    if isinstance(value, Owner):
        return value
    while isinstance(value, Standin):
        value = value.function
    return value if isinstance(value, Owner) else None


def check_name(module: Owner, name: Any, kind: str) -> None:
    """Refuse a name that would hide something, or a part of another kind, or be found no more."""
    why = ""
    if not isinstance(name, str):
        why = "is no text"
    elif name == "" or "." in name:
        why = "is empty" if name == "" else "has a dot, which separates modules in a path"
    elif hasattr(type(module), name):
        why = f"is that of {type(module).__name__}.{name}"
    elif (held := kind_of(module, name)) not in ("", kind):
        why = f"is that of a {held}"
    if why:
        raise module_errors.wrong_name(name, why).locate(type(module).__name__, [])


def kind_of(module: Owner, name: str) -> str:
    """Say what has a name: a parameter, buffer, module, or no part; "" for nothing, or None."""
    value = vars(module).get(name)
    if name in module._persistence:
        return "buffer"
    if isinstance(value, Parameter):
        return "parameter"
    if part_of(value) is not None:
        return "module"
    return "" if value is None else "plain attribute"


def hidden_parts(value: Any) -> int:
    """Count the modules and parameters in a plain container."""
    items = value.values() if isinstance(value, dict) else value
    return sum(isinstance(item, Parameter) or part_of(item) is not None for item in items)


# --- all below ------------------------------------------------------------------------------------


def modules(
    root: Owner, memo: set[Any] | None, prefix: str, remove_duplicate: bool
) -> Iterator[tuple[str, Any]]:
    """Give a module and all below it with their paths, in the order of their definition."""
    seen = set() if memo is None else memo
    stack = [(prefix, root, frozenset[int]())]
    while stack:
        path, module, above = stack.pop()
        if module in seen or id(module) in above:  # one that holds itself is not entered again
            continue
        if remove_duplicate:
            seen.add(module)
        yield path, module
        head = f"{path}." if path else ""
        inside = above | {id(module)}
        stack += [(head + name, x, inside) for name, x in reversed(children_of(module))]


def parts_first(root: Owner) -> Iterator[Any]:
    """Give all below a module, then itself; what several modules hold as often, as PyTorch does."""
    stack, found = [(root, frozenset[int]())], list[Owner]()
    while stack:  # the whole before its parts, the last of them first
        module, above = stack.pop()
        if id(module) not in above:
            found.append(module)
            inside = above | {id(module)}
            stack += [(x, inside) for x in {id(x): x for _, x in children_of(module)}.values()]
    return reversed(found)


def members(
    root: Owner, parts: Parts, prefix: str, recurse: bool, remove_duplicate: bool
) -> Iterator[tuple[str, Any]]:
    """Give parts of a module and of all below it with their paths, each once."""
    seen: set[int] = set()
    owners = modules(root, None, prefix, remove_duplicate) if recurse else iter([(prefix, root)])
    for path, module in owners:
        for name, x in parts(module):
            if remove_duplicate and id(x) in seen:
                continue
            seen.add(id(x))
            yield f"{path}.{name}" if path else name, x


_PARTS: dict[str, Parts] = {
    "module": children_of,
    "parameter": parameters_of,
    "buffer": buffers_of,
}


def find(root: Owner, path: str, kind: str) -> Any:
    """Give what stands at a path; the empty one is the module itself."""
    if not isinstance(path, str):
        raise errors.wrong_type("target", path, "text, such as 'layers.0'").locate("Module", [])
    *owners, last = path.split(".") if path else [""]
    if not last and kind == "module":
        return root
    module: Any = root
    passed: list[str] = []
    for name in owners:
        found = dict(children_of(module)).get(name)
        if found is None:
            raise module_errors.no_part(path, ".".join(passed), kind).locate("Module", [])
        module = found
        passed.append(name)
    part = dict(_PARTS[kind](module)).get(last)
    if part is None:
        raise module_errors.no_part(path, ".".join(passed), kind).locate("Module", [])
    return part


def move(root: Owner, *args: Any, **keywords: Any) -> None:
    """Convert or move all parameters and buffers, which stay the same objects; or none of them."""
    changes.bump(root)
    tensors = [*members(root, parameters_of, "", True, True)]
    tensors += members(root, buffers_of, "", True, True)
    moved: list[tuple[Tensor, Tensor]] = []
    with no_grad():
        for _, x in tensors:
            for each in (x, x.grad):
                if each is not None:
                    moved.append((each, _moved(each, args, keywords)))
    moved = [(x, there) for x, there in moved if there is not x]
    try:
        _core.adopt(tuple(x for x, _ in moved), tuple(there for _, there in moved))
    except errors.TessellaError as error:
        raise error.locate("Module.to", []) from None


def _moved(x: Tensor, args: tuple[Any, ...], keywords: dict[str, Any]) -> Tensor:
    """Give x as asked; integers and bools keep their dtype."""
    out = x.to(*args, **keywords)
    is_whole = out.dtype.is_integer or out.dtype is boolean
    if is_whole and (x.dtype.is_floating or x.dtype.is_complex):
        error = errors.no_kernel(out.dtype, "weights are floats or complex numbers")
        raise error.locate("Module.to", [])
    if out.dtype is x.dtype or x.dtype.is_floating or x.dtype.is_complex:
        return out
    kept = out.to(x.dtype)  # where it was moved to another allocator, too
    return x if kept.allocator == x.allocator else kept


# --- text -----------------------------------------------------------------------------------------

DEEPEST = 50  # modules inside one another, of which there is text


def describe(module: Owner, depth: int = 0) -> str:
    """Show a module with its parts, one on each line."""
    name = type(module).__name__
    extra = module.extra_repr()
    children = children_of(module)
    if not children:
        return f"{name}({extra})"
    if depth == DEEPEST:
        return f"{name}(…)"
    lines = extra.split("\n") if extra else []
    for key, child in children:
        text = describe(child, depth + 1).replace("\n", "\n  ")
        lines.append(f"({key}): {text}")
    inside = "\n  ".join(lines)
    return f"{name}(\n  {inside}\n)"
