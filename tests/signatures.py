"""The public signatures of the package, read from its sources and stubs; nothing is imported.

What users reach is what the public modules name, and from there whatever class or alias a
signature names in turn. A module with a stub is read from the stub, as type checkers do.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "src"
Definition = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign
Place = tuple[str, str]  # a module and a name in it


@cache
def tree_of(module: str) -> ast.Module | None:
    """Give the syntax of a module of the package; None: there is no such module."""
    base = SOURCES / module.replace(".", "/")
    for path in (base / "__init__", base):
        for suffix in (".pyi", ".py"):
            if path.with_suffix(suffix).is_file():
                return ast.parse(path.with_suffix(suffix).read_text())
    return None


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Give the statements at the top level, also those under `if TYPE_CHECKING`."""
    for each in body:
        yield from statements([*each.body, *each.orelse]) if isinstance(each, ast.If) else [each]


@cache
def names_of(module: str) -> dict[str, list[Definition] | Place]:
    """Give what a module's names are: their definitions (overloads are several), or imported."""
    found: dict[str, list[Definition] | Place] = {}

    def define(name: str, each: Definition) -> None:
        former = found.get(name)
        is_overload = isinstance(each, ast.FunctionDef) and isinstance(former, list)
        found[name] = [*former, each] if is_overload and isinstance(former, list) else [each]

    tree = tree_of(module)
    for each in statements(tree.body) if tree else ():
        if isinstance(each, ast.FunctionDef | ast.ClassDef):
            define(each.name, each)
        elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            define(each.target.id, each)
        elif isinstance(each, ast.Assign):
            for target in each.targets:
                if isinstance(target, ast.Name):
                    define(target.id, each)
        elif isinstance(each, ast.ImportFrom) and each.module:
            for name in each.names:
                found[name.asname or name.name] = (each.module, name.name)
    return found


def is_public(name: str) -> bool:
    """Tell whether users may say a name: no underscore before it, or two on both sides."""
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


def public_names(module: str) -> list[str]:
    """Give the names that a module offers: those of `__all__`, or those without an underscore.

    Of those that it imports `import x as x` offers x.
    """
    listed = names_of(module).get("__all__")
    if isinstance(listed, list) and isinstance(listed[0], ast.Assign):
        return [str(name) for name in ast.literal_eval(listed[0].value)]
    tree = tree_of(module)
    imports = [each for each in tree.body if isinstance(each, ast.ImportFrom)] if tree else []
    offered = {name.asname for each in imports for name in each.names if name.asname == name.name}
    found = names_of(module).items()
    own = [name for name, each in found if not isinstance(each, tuple) or name in offered]
    return [name for name in own if is_public(name)]


def overloads(definitions: Iterable[ast.stmt]) -> list[ast.FunctionDef]:
    """Leave out the body of a function with overloads: its signature is nobody's."""
    functions = [each for each in definitions if isinstance(each, ast.FunctionDef)]
    marked = [each for each in functions if "overload" in map(ast.unparse, each.decorator_list)]
    return marked or functions


def annotations_of(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """Give the annotations of a function: those of its parameters, and its result's."""
    given = function.args
    for each in [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]:
        if each is not None and each.annotation is not None:
            yield each.annotation
    if function.returns is not None:
        yield function.returns


def members_of(kind: ast.ClassDef) -> Iterator[tuple[str, list[ast.expr]]]:
    """Give the public members of a class with their annotations, and what it derives from."""
    yield "", list(kind.bases)
    methods: dict[str, list[ast.stmt]] = {}
    for each in statements(kind.body):
        if isinstance(each, ast.FunctionDef) and is_public(each.name):
            methods.setdefault(each.name, []).append(each)
        elif isinstance(each, ast.AnnAssign) and is_public(ast.unparse(each.target)):
            yield f".{ast.unparse(each.target)}", [each.annotation]
    for each in (x for body in kind.body for x in ast.walk(body) if isinstance(x, ast.AnnAssign)):
        name = ast.unparse(each.target).removeprefix("self.")
        if isinstance(each.target, ast.Attribute) and is_public(name) and "." not in name:
            yield f".{name}", [each.annotation]
    for name, definitions in methods.items():
        yield f".{name}", [kind for each in overloads(definitions) for kind in annotations_of(each)]


def parts_of(name: str, definitions: list[Definition]) -> Iterator[tuple[str, list[ast.expr]]]:
    """Give what a definition says about types, by the names that users see."""
    last = definitions[-1]
    if isinstance(last, ast.ClassDef):
        for member, said in members_of(last):
            yield name + member, said
    elif isinstance(last, ast.FunctionDef):
        yield name, [kind for each in overloads(definitions) for kind in annotations_of(each)]
    elif isinstance(last, ast.AnnAssign) and ast.unparse(last.annotation) != "TypeAlias":
        yield name, [last.annotation]
    elif last.value is not None:
        yield name, [last.value]  # an alias, or a number, which says nothing


def words_of(annotation: ast.expr) -> Iterator[str]:
    """Give the names in an annotation, also those of one in quotes."""
    for each in ast.walk(annotation):
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            try:
                yield from words_of(ast.parse(each.value, mode="eval").body)
            except SyntaxError:
                continue  # a word of a Literal


def signatures(modules: Iterable[str]) -> Iterator[tuple[str, str, list[ast.expr]]]:
    """Give every public signature: its module, its name, its annotations."""
    waiting: list[Place] = [(module, name) for module in modules for name in public_names(module)]
    seen: set[Place] = set()
    while waiting:
        place = waiting.pop()
        if place in seen or not place[0].startswith("tessella"):
            continue
        seen.add(place)
        module, name = place
        definitions = names_of(module).get(name)
        if isinstance(definitions, tuple):
            waiting.append(definitions)
        elif definitions is not None:
            for part, said in parts_of(name, definitions):
                yield module, part, said
                words = {word for each in said for word in words_of(each)}
                waiting += [(module, word) for word in words]
