"""The texts of the stub files, from the table of operations and the compiled module.

Signatures of operations come from their records, those of plain functions from their annotations,
those of the core from nanobind. What none of them tells stands in the tables of stub_types.py;
whole classes are in stub_classes.py.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable
from typing import Any

import tessella
from stub_classes import (
    ARRAY_CLASS,
    CALLER_CLASS,
    FUNCTION_CLASS,
    MEMORY_CLASSES,
    NODE_CLASS,
    PROGRAM_CLASSES,
)
from stub_types import (
    CASES,
    PARAMETERS,
    PROPERTIES,
    RESULTS,
    SHARED,
    TENSORS,
    TYPES,
    WHOLE,
    WRITABLE,
)
from tessella import _core, namespace
from tessella.composites import Composite
from tessella.declarations import REQUIRED
from tessella.imports import PLACES
from tessella.inplace import Twin
from tessella.records import Op

HEAD = '"""Written by tools/generate.py from the table of operations; change that, not this."""'

# A public name may be that of a builtin (ts.bool), so that annotations use other names for them.
ALIASES = """
from builtins import bool as _bool
from builtins import complex as _complex
from builtins import float as _float
from builtins import int as _int
from builtins import str as _str
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any, Literal, Self, SupportsIndex, TypeAlias, overload
from typing_extensions import CapsuleType
"""

LISTS = {"xs": "Sequence[Tensor]"}
TORCH = {"axis": "dim", "keepdims": "keepdim"}  # PyTorch's keywords for ours
CALL_WIDE = ["out: Tensor | None = None", "allocator: Allocator | None = None"]

BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow",
          "and", "or", "xor", "lshift", "rshift")  # fmt: skip
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
CONVERSIONS = {"bool": "_bool", "int": "_int", "float": "_float", "complex": "_complex",
               "index": "_int", "len": "_int", "hash": "_int"}  # fmt: skip


# --- signatures ----------------------------------------------------------------------------------


def type_of_operand(op: Op, name: str) -> str:
    """Give the type of an operand; only elementwise operations take numbers for tensors."""
    if name in LISTS:
        return LISTS[name]
    is_number_too = hasattr(op, "opcode") and len(op.operands) > 1 and name != "condition"
    kind = "Tensor | _Number" if is_number_too else "Tensor"
    return f"{kind} | None" if op.defaults.get(name, 0) is None else kind


def type_of_parameter(op: Op, name: str, default: Any) -> str:
    """Give the type of a parameter by its name, or by its default."""
    if f"{op.name}.{name}" in PARAMETERS:
        return PARAMETERS[f"{op.name}.{name}"]
    if name in PARAMETERS:
        is_open = default is None and not PARAMETERS[name].endswith("None")
        return f"{PARAMETERS[name]} | None" if is_open else PARAMETERS[name]
    return f"_{type(default).__name__}"


def shown_default(value: Any) -> str:
    """Give the text of a default; `...` for what has no literal."""
    is_literal = value is None or isinstance(value, bool | int | float | str | tuple)
    return repr(value) if is_literal else "..."


def record_parameters(op: Op, *, is_method: bool, is_twin: bool = False) -> list[list[str]]:
    """Give the parameter lists of an operation; sizes may be separate, keywords PyTorch's."""
    head = []
    for name in op.operands:
        default = f" = {shown_default(op.defaults[name])}" if name in op.defaults else ""
        head.append(f"{name}: {type_of_operand(op, name)}{default}")
    if is_method:
        head[0] = "self"
    tail = []
    for name, default in op.params.items():
        text = f": {type_of_parameter(op, name, default)}"
        tail.append((name, text if default is REQUIRED else f"{text} = {shown_default(default)}"))
    out = [*in_place(op), *CALL_WIDE] if op.takes_out and not is_twin else []
    by_place = tail[: max(0, op.positional - len(head))]
    by_name = [*(name + text for name, text in tail[len(by_place) :]), *out]
    star = ["*"] if by_name else []
    lists = [[*head, *(name + text for name, text in by_place), *star, *by_name]]
    if op.variadic:
        lists.append([*head, f"*{op.variadic}: _int"])
    if TORCH.keys() & op.params.keys():
        lists.append([*head, "*", *(TORCH.get(name, name) + text for name, text in tail), *out])
    return lists


def define(name: str, parameters: list[str], returns: str, doc: str = "", mark: str = "") -> str:
    """Write one definition."""
    body = f'\n    """{doc}"""' if doc else " ..."
    return f"{mark}def {name}({', '.join(parameters)}) -> {returns}:{body}"


def define_record(op: Op, name: str, *, is_method: bool, is_twin: bool = False) -> str:
    """Write the definitions of an operation under one of its names."""
    returns = "Self" if is_twin else getattr(op, "returns", "Tensor")
    lists = record_parameters(op, is_method=is_method, is_twin=is_twin)
    mark = "@overload\n" if len(lists) > 1 else ""
    doc = first_sentence(op.doc)
    return "\n".join(define(name, parameters, returns, doc, mark) for parameters in lists)


def first_sentence(doc: str) -> str:
    """Give the first paragraph of a doc as one line that ends with a point."""
    text = " ".join(doc.strip().split("\n\n")[0].split()).replace("\\", "\\\\")
    return text if text.endswith(".") else f"{text}."


def define_plain(
    name: str, function: Callable[..., Any], *, is_method: bool, is_twin: bool = False
) -> str:
    """Write a plain function or composite by its annotations; keywords may be PyTorch's."""
    owner = getattr(getattr(function, "record", None), "name", function.__name__)
    lists = plain_parameters(owner, function, is_method=is_method)
    record = getattr(function, "record", None)
    if record and record.takes_out and not is_twin:
        lists = [with_call_wide(parameters, record) for parameters in lists]
    if not record or not TORCH.keys() & record.parameters.keys():
        lists = lists[:1]
    if record and record.variadic:
        lists.append(separated(lists[0], record.variadic))
    given = renamed(str(inspect.signature(function).return_annotation))
    cases = CASES.get(f"Tensor.{owner}" if is_method else owner) or CASES.get(owner, [({}, given)])
    cases = [({}, "Self")] if is_twin else cases
    found = [(changed(each, *case), case[1]) for case in cases for each in lists]
    mark = "@overload\n" if len(found) > 1 else ""
    doc = first_sentence(function.__doc__ or name)
    return "\n".join(define(name, each, returns, doc, mark) for each, returns in found)


def changed(parameters: list[str], changes: dict[str, str], returns: str) -> list[str]:
    """Give parameters with other types; those without a default after others come by keyword."""
    if WHOLE in changes:
        return [changes[WHOLE]]
    out: list[str] = []
    for text in parameters:
        name = re.sub(r"\W.*", "", text)
        kind = changes.get(name, "")
        needs_star = kind and "=" not in kind and not any(each.startswith("*") for each in out)
        if needs_star and any("=" in each for each in out):
            out.append("*")
        if text != "*" or not any(each.startswith("*") for each in out):
            out.append(f"{name}: {kind}" if kind else text)
    return out


def with_call_wide(parameters: list[str], record: Composite) -> list[str]:
    """Let the result be written into a tensor, or made in an allocator."""
    has_star = any(text.startswith("*") for text in parameters)
    return [*parameters, *([] if has_star else ["*"]), *in_place(record), *CALL_WIDE]


def in_place(each: Op | Composite) -> list[str]:
    """Give the parameter that PyTorch's activations have."""
    return ["inplace: _bool = False"] if each.takes_inplace else []


def separated(parameters: list[str], variadic: str) -> list[str]:
    """Let a tuple of integers be given as separate arguments."""
    place = next(i for i, text in enumerate(parameters) if text.startswith(f"{variadic}:"))
    rest = [text for text in parameters[place + 1 :] if text != "*"]
    return [*parameters[:place], f"*{variadic}: _int", *rest]


def plain_parameters(
    owner: str, function: Callable[..., Any], *, is_method: bool
) -> list[list[str]]:
    """Give the parameters with our keywords, and with PyTorch's."""
    signature = inspect.signature(function)
    parameters: list[str] = []
    for parameter in signature.parameters.values():
        has_star = any(text.startswith("*") for text in parameters)
        if parameter.kind is parameter.KEYWORD_ONLY and not has_star:
            parameters.append("*")
        is_rest = parameter.kind is parameter.VAR_POSITIONAL
        text = f"{'*' if is_rest else ''}{parameter.name}: {type_of_plain(owner, parameter)}"
        if parameter.default is not parameter.empty:
            text += f" = {shown_default(parameter.default)}"
        parameters.append(text)
    places = [each.kind for each in signature.parameters.values()]
    if inspect.Parameter.POSITIONAL_ONLY in places:
        parameters.insert(places.count(inspect.Parameter.POSITIONAL_ONLY), "/")
    if is_method:
        parameters[0] = "self"
    turned = [re.sub(r"^(\w+)", lambda m: TORCH.get(m[1], m[1]), text) for text in parameters]
    return [parameters, turned]


def type_of_plain(owner: str, parameter: inspect.Parameter) -> str:
    """Give the type of a parameter: what a table says of it, or else its annotation."""
    for key in (f"{owner}.{parameter.name}", parameter.name):
        if key in PARAMETERS and parameter.annotation in ("Any", "DTypeLike | None"):
            return PARAMETERS[key]
    return renamed(str(parameter.annotation))


def renamed(annotation: str) -> str:
    """Write builtins and the composites' vocabulary by the names that the stub gives them."""
    annotation = re.sub(r"\bShape\b", "Ints", annotation)
    annotation = re.sub(r"\b(Axes|{})\b".format("|".join(SHARED)), r"_\1", annotation)
    annotation = annotation.replace("Offset", "_int")
    annotation = re.sub(r"\bDevice\b", "_str", annotation)
    return re.sub(r"(?<![\w.])(?:builtins\.)?(bool|int|float|complex|str)\b", r"_\1", annotation)


def imports_of(functions: Iterable[Any]) -> list[str]:
    """Import the classes of this package that the annotations of composites name."""
    lines = set()
    for function in functions:
        record = getattr(function, "record", None)
        if not isinstance(record, Composite) or record.function is not function:
            continue
        names = set(re.findall(r"\b[A-Z]\w+", " ".join(record.body.__annotations__.values())))
        for name in names - {"DType", "Tensor"}:
            value = record.body.__globals__.get(name)
            if inspect.isclass(value) and value.__module__.startswith("tessella."):
                lines.add(f"from {value.__module__} import {name}")
    return sorted(lines)


# --- the compiled module -------------------------------------------------------------------------


def native_signature(function: Any, name: str, returns: str = "") -> str:
    """Write the definition of a function of nanobind."""
    text, _, defaults = function.__nb_signature__[0]
    for place, default in enumerate(defaults or ()):
        text = text.replace(f"\\{place}", repr(default))
    text = text.replace("collections.abc.", "").replace("tessella._core.", "")
    text = re.sub(r"\*(args|inputs)\b", r"*\1: object", text)
    text = re.sub(r"\btuple\b(?!\[)", "tuple[Any, ...]", text)
    text = re.sub(r"\b(list|Sequence)\b(?!\[)", r"\1[Any]", text)
    text = re.sub(r"^def \w*\(", f"def {name}(", text)
    head, given = text.rsplit(" -> ", 1)
    returns = returns or ("Any" if given == "object" else given)
    return f"{head} -> {returns}: ..."


def native_functions() -> Iterable[str]:
    """Write every function of the module."""
    for name in sorted(vars(_core)):
        function = getattr(_core, name)
        if hasattr(function, "__nb_signature__"):
            returns = "Tensor" if name in TENSORS else RESULTS.get(name, "")
            yield native_signature(function, name, returns)


def layout_class() -> str:
    """Write the class Layout."""
    lines = []
    for name, member in sorted(vars(_core.Layout).items()):
        if isinstance(member, property):
            returns = "tuple[int, ...]" if name in ("shape", "strides") else ""
            lines.append("@property\n" + native_signature(member.fget, name, returns))
        elif name == "__eq__":
            lines.append("def __eq__(self, other: object, /) -> bool: ...")
        elif hasattr(member, "__nb_signature__"):
            lines.append(native_signature(member, name))
    return "class Layout:\n" + textwrap.indent("\n".join(lines), "    ")


def operators() -> Iterable[str]:
    """Write Tensor's operators."""
    for name in BINARY:
        for prefix in ("", "r", "i"):
            returns = "Self" if prefix == "i" else "Tensor"
            yield f"def __{prefix}{name}__(self, y: Tensor | _Number, /) -> {returns}: ..."
    for prefix in ("", "r", "i"):
        returns = "Self" if prefix == "i" else "Tensor"
        yield f"def __{prefix}matmul__(self, y: Tensor, /) -> {returns}: ..."
    for name in COMPARISONS:
        # object.__eq__ gives a bool for any object; a tensor gives a tensor.
        ignore = "  # type: ignore[override]" if name in ("eq", "ne") else ""
        other = "_Element" if ignore else "_Number"
        yield f"def __{name}__(self, y: Tensor | {other}, /) -> Tensor: ...{ignore}"
    for name in ("neg", "pos", "abs", "invert"):
        yield f"def __{name}__(self) -> Tensor: ..."
    for name, returns in CONVERSIONS.items():
        yield f"def __{name}__(self) -> {returns}: ..."
    yield "def __getitem__(self, key: _Key, /) -> Tensor: ..."
    yield "def __setitem__(self, key: _Key, value: object, /) -> None: ..."
    yield "def __contains__(self, value: Tensor | _Element, /) -> _bool: ..."
    yield "def __iter__(self) -> Iterator[Tensor]: ..."
    yield "def __buffer__(self, flags: _int, /) -> memoryview: ..."


def tensor_methods() -> Iterable[str]:
    """Write the methods that records and plain functions give Tensor."""
    members = {**namespace.methods(), **namespace.PROPERTIES, **namespace.PROTOCOLS}
    for name, method in sorted(members.items()):
        if isinstance(method, _core.Function):
            yield define_record(method.record, name, is_method=True)
        elif isinstance(method, Twin):
            yield define_twin(method, name)
        elif isinstance(method, property):
            yield define_property(name)
        elif callable(method):
            yield define_plain(name, method, is_method=True)


def define_property(name: str) -> str:
    """Write a property of Tensor, and how it is set where it may be."""
    kind = PROPERTIES[name]
    text = f"@property\ndef {name}(self) -> {kind}: ..."
    setter = f"@{name}.setter\ndef {name}(self, value: {kind}) -> None: ..."
    return f"{text}\n{setter}" if name in WRITABLE else text


def define_twin(twin: Twin, name: str) -> str:
    """Write a method that writes into its tensor."""
    if isinstance(twin.each, Op):
        return define_record(twin.each, name, is_method=True, is_twin=True)
    return define_plain(name, twin.each.function, is_method=True, is_twin=True)


def tensor_class() -> str:
    """Write the class Tensor."""
    members = vars(_core.Tensor).items()
    own = {name for name, member in members if inspect.isgetsetdescriptor(member)}
    own -= set(namespace.methods()) | {"__dict__", "__weakref__"}
    lines = ["def __new__(cls, x: Tensor, /) -> Self: ...", "__array_ufunc__: None"]
    for name in sorted(own):
        lines.append(define_property(name))
    lines.append("def item(self, *index: _int) -> _Real: ...")
    lines += [*operators(), *tensor_methods()]
    return "class Tensor:\n" + textwrap.indent("\n".join(lines), "    ")


def core_stub() -> str:
    """Give the text of _core.pyi."""
    lines = ["from tessella.allocators import Allocator",
             "from tessella.devices import Device",
             "from tessella.hooks import Handle",
             "from tessella.spellings import Address, Flag",
             "from tessella.dtypes import DType", "from tessella.records import Op"]  # fmt: skip
    imports = "\n".join([*lines, *imports_of(namespace.methods().values())]) + "\n"
    parts = [HEAD, ALIASES + imports, TYPES, layout_class(), FUNCTION_CLASS, CALLER_CLASS,
             NODE_CLASS, MEMORY_CLASSES, ARRAY_CLASS, PROGRAM_CLASSES, tensor_class(),
             *native_functions()]  # fmt: skip
    return "\n".join(parts) + "\n"


# --- the package ---------------------------------------------------------------------------------


def package_stub() -> str:
    """Give the text of __init__.pyi."""
    imports = [f"from tessella import {module} as {module}" for module in submodules()]
    imports.append("from tessella._core import Tensor as Tensor")
    imports.append("from tessella.allocators import Allocator")
    imports.append("from tessella.dtypes import DType as DType")
    for name, module in namespace.MEMBERS.items():
        imports.append(f"from tessella.{module} import {name} as {name}")
    imports += [f"from tessella import {name} as {name}" for name in PLACES if "." not in name]
    lines = ["__version__: _str"]
    public = namespace.public_names()
    imports += [line for line in imports_of(public.values()) if line.split()[-1] not in public]
    for name, value in sorted(public.items()):
        if isinstance(value, _core.Function):
            lines.append(define_record(value.record, name, is_method=False))
        elif hasattr(value, "record"):
            lines.append(define_plain(name, value, is_method=False))
        elif inspect.isclass(value) and value.__name__ != name:
            imports.append(f"from {value.__module__} import {value.__name__} as _{value.__name__}")
            parts = "[_int, ...]" if value is tuple else ""
            lines.append(f"{name}: TypeAlias = _{value.__name__}{parts}")
        elif inspect.isfunction(value) or inspect.isclass(value):
            imports.append(f"from {value.__module__} import {value.__name__} as {name}")
        else:
            kind = "None" if value is None else renamed(type(value).__name__)
            lines.append(f"{name}: {kind}")
    return "\n".join([HEAD, ALIASES, *imports, TYPES, *lines]) + "\n"


def subpackage_stub(home: str) -> str:
    """Give the text of a subpackage's __init__.pyi: its public names, records and composites."""
    module = namespace.load()[home]
    imports = ["from tessella._core import Tensor", "from tessella.allocators import Allocator",
               "from tessella.dtypes import DType",
               "from tessella.ops.random import Generator"]  # fmt: skip
    lines = []
    for name in module.__all__:
        value = getattr(module, name)
        if isinstance(value, _core.Function):
            lines.append(define_record(value.record, name, is_method=False))
            continue
        lines.append(define_plain(name, value, is_method=False))
        returns = str(inspect.signature(value).return_annotation)
        if returns.endswith("Result"):
            imports.append(f"from {value.__module__} import {returns} as {returns}")
    named = imports_of(getattr(module, name) for name in module.__all__)
    imports += [line for line in named if not line.endswith("Result")]
    return "\n".join([HEAD, ALIASES, *imports, TYPES, *lines]) + "\n"


def submodules() -> list[str]:
    """Give the public modules of the package."""
    held = vars(tessella)
    loaded = [name for name in held["__all__"] if inspect.ismodule(held[name])]
    parts = [name for name in namespace.SUBPACKAGES if "." not in name]
    return sorted({*loaded, *namespace.MODULES, *parts})
