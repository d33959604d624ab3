"""reads: what code reads in Python, told by its instructions."""

from __future__ import annotations

import dis
from collections import namedtuple

from tessella.hints import Any

_VARARGS, _VARKEYWORDS = 4, 8  # bits of co_flags
_BY_NAME = ("__dict__", "__getattribute__", "asdict", "astuple", "vars")
_SILENT = ("CACHE", "PRECALL", "PUSH_NULL", "NOP", "COPY", "RESUME", "EXTENDED_ARG")

# A "global", "free" or "local" name, or a module that is imported there ("import"; dots before its
# name are packages to go up), and the attributes behind it.
Chain = namedtuple("Chain", "kind name attributes")


class Reads:
    """What code reads."""

    __slots__ = ("chains", "is_by_name", "is_by_type", "loose")

    def __init__(
        self, chains: list[Any], loose: set[str], is_by_name: bool, is_by_type: bool
    ) -> None:
        self.chains = chains
        self.loose = loose  # attributes of what no name stands for: items, results, local names
        self.is_by_name = is_by_name  # it reads attributes whose names it computes
        self.is_by_type = is_by_type  # it asks for types of objects, and may read of those


_READS: dict[Any, Reads] = {}


def reads_of(code: Any) -> Reads:
    """Give what code reads."""
    if code not in _READS:
        _READS[code] = _find_reads(code)
    return _READS[code]


def arguments_of(code: Any) -> tuple[str, ...]:
    """Give the names of the arguments of code, those of *args and **keywords among them."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & _VARARGS) + bool(code.co_flags & _VARKEYWORDS)
    names: tuple[str, ...] = code.co_varnames[:count]
    return names


def _find_reads(code: Any) -> Reads:
    found, loose, is_by_place = _find_chains(code)
    if any(Chain("global", each, ()) in found for each in ("getattr", "hasattr")):
        # By name: any text of the code may be one.
        texts = [each for each in code.co_consts if isinstance(each, str) and each.isidentifier()]
        loose.update(texts)
        for kind, name, behind in list(found):
            found.update(dict.fromkeys(Chain(kind, name, (*behind, each)) for each in texts))
    read = loose.union(*(chain.attributes for chain in found))
    named = read.union(chain.name for chain in found if chain.kind == "global")
    is_by_name = not named.isdisjoint(_BY_NAME) or _computes_names(code) or is_by_place
    is_by_type = "__class__" in read or Chain("global", "type", ()) in found
    return Reads(list(found), loose, is_by_name, is_by_type)


def _find_chains(code: Any) -> tuple[dict[Any, None], set[str], bool]:
    """Give chains, loose attributes, and whether a pattern takes attributes by position."""
    found: dict[Any, None] = {}
    loose: set[str] = set()
    stored: set[str] = set()
    imported: dict[str, Any] = {}  # local names of modules, and of what is taken from them
    current: Any = None
    is_whole = False
    taken: Any = None  # what was imported and has no name yet
    constants: list[Any] = [(), ()]  # the last two: of a module its level, and what is taken
    is_by_place = False
    for each in dis.get_instructions(code):
        name, value = each.opname, each.argval
        if name in ("LOAD_ATTR", "LOAD_METHOD"):
            if current:
                current = current._replace(attributes=(*current.attributes, str(value)))
            else:
                loose.add(str(value))
            continue
        if name in _SILENT:
            continue
        if not name.startswith(("IMPORT_", "STORE_FAST", "SWAP", "ROT_TWO", "POP_TOP")):
            taken = None
        if current:
            found[current] = None
            if name == "STORE_ATTR" and value == "requires_grad":
                found[current._replace(attributes=(*current.attributes, value))] = None
        current = None
        if name == "LOAD_SUPER_ATTR":
            loose.add(str(value))
        elif name in ("LOAD_GLOBAL", "LOAD_NAME"):
            current = Chain("global", str(value), ())
        elif name in ("LOAD_DEREF", "LOAD_CLASSDEREF"):
            current = Chain("free", str(value), ())
        elif name.startswith("LOAD_FAST"):
            local = str(value[-1] if isinstance(value, tuple) else value)
            current = imported.get(local, Chain("local", local, ()))
        elif name.startswith("STORE_FAST"):
            names = value if isinstance(value, tuple) else (value,)
            stored.update(names)
            if taken:
                imported[names[0]] = taken
        elif name == "IMPORT_NAME":
            level, listed = constants
            is_whole = listed is None  # of import a.b.c, the first one is given
            module = value.partition(".")[0] if is_whole else value
            taken = Chain("import", "." * level + module, ())
        elif name == "IMPORT_FROM":
            behind = taken.attributes if is_whole else ()
            taken = taken._replace(attributes=(*behind, str(value)))
        elif name.startswith("LOAD_") and isinstance(value, int | tuple | None):
            constants = [constants[1], value]
        elif name == "MATCH_CLASS" and isinstance(constants[1], tuple):
            loose.update(map(str, constants[1]))
            is_by_place |= bool(each.arg)
    own = set(arguments_of(code)) - stored
    for chain in found:
        if chain.kind == "local" and chain.name not in own:
            loose.update(chain.attributes)
    return found, loose, is_by_place


def _computes_names(code: Any) -> bool:
    """Tell whether getattr or hasattr may be given a name that is not written in the code."""
    rows = list(dis.get_instructions(code))
    return any(
        row.opname in ("LOAD_GLOBAL", "LOAD_NAME")
        and row.argval in ("getattr", "hasattr")
        and not _is_named(rows[at + 1 :])
        for at, row in enumerate(rows)
    )


def _is_named(rows: list[Any]) -> bool:
    """Tell whether the second argument of a call is a constant; its function is on the stack."""
    depth, begun, ended = 0, 0, -1  # where the second one begins; where it has ended, or may have
    for at, row in enumerate(rows):
        if row.opname in ("PRECALL", "CALL") and row.arg == depth:
            return ended == begun and rows[begun].opname == "LOAD_CONST"
        if row.opcode in dis.hasjrel or row.opcode in dis.hasjabs:
            return False
        depth += dis.stack_effect(row.opcode, row.arg, jump=False)
        if depth == 1:
            begun = at + 1
        elif depth == 2:
            ended = at
    return False
