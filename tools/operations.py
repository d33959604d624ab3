"""The pages of docs/operations/, and their index: every operation, with an example that was run.

An example that the record does not bring is derived: an elementwise operation is shown on a number
near each end of its domain, another on the first sample of its tests whose result can be shown and
has several elements. Gradients are what the rules say. The topics are in topics.py.
"""

from __future__ import annotations

import inspect
import math
import re
from typing import Any

import tessella as ts
from curves import has_picture, name_of_picture, picture_of
from rules import gradient_facts
from tessella import _core, dtypes, namespace
from tessella.composites import Composite
from tessella.kinds import Elementwise
from tessella.records import Op
from topics import TOPICS

HEAD = """\
# Operations

<!-- Written by tools/generate.py from the table of operations: change that, not these pages. -->

Operands may be tensors of any layout. Elementwise operations promote and broadcast their operands,
and take Python numbers in place of tensors. `axis`, `keepdims` and their kin have PyTorch's
spellings too (`dim`, `keepdim`).

Entries list the dtypes that are computed in. Where those are floats without integers, elementwise
operations take integers and bools too, as float32.

Every function that gives one new tensor takes `out=`, a tensor of the result's shape that the
result is written into: it may have any strides, be an operand or overlap one, and have another
dtype of the same or a higher kind. Where a call fails, `out` is as it was. Entries say which
functions may give a view of an operand; those, and the ones that give several tensors or other
values, have no `out=`. The examples assume `import tessella as ts`.

In gradients, `g` is the gradient of the result and `out` the result itself; they are added up over
axes that were broadcast. `of its parts`: the function is made of other operations, and has their
gradients; `by a kernel of its own`: the gradient, too, is computed in one pass. Methods that are
not operations say nothing of a gradient. Pictures show a function, and dashed its slope.
"""

GROUPS = {
    "bool": ("bool",),
    "integers": ("signed integer", "unsigned integer"),
    "floats": ("real floating",),
    "complex": ("complex floating",),
}
# Numbers that functions ask for, which no domain has.
ODD = {"isnan": math.nan, "isinf": math.inf, "isfinite": math.inf}
# Dtypes that show more of a function than the first of those that are tried.
BEST = dict.fromkeys(("angle", "conj", "imag", "real"), ts.complex64)
BEST |= {f"logical_{name}": ts.bool for name in ("and", "not", "or", "xor")}
TRIED = (ts.float32, ts.int64, ts.bool, ts.complex64)


# --- dtypes --------------------------------------------------------------------------------------


def is_defined(op: Op, dtype: dtypes.DType) -> bool:
    """Tell whether an operation has a meaning for a dtype, by its rule or by running samples."""
    if isinstance(op, Elementwise):
        return op.out_dtype(dtype) is not None
    return any(runs(op, dtype, number) for number in range(len(op.samples)))


def runs(op: Op, dtype: dtypes.DType, number: int) -> bool:
    """Tell whether a sample runs with operands of a dtype."""
    try:
        run(sample_text(op, dtype, number) or "")
    except (ts.errors.TessellaError, SyntaxError) as error:
        # A matrix of ones is singular: a wrong value, of a dtype that will do.
        return bool(op.matrices) and isinstance(error, ts.errors.InvalidArgument)
    return True


def dtypes_of(op: Op) -> str:
    """Name the dtypes that an operation is defined for, in groups where a whole group is."""
    found = [dtype for dtype in dtypes.DTYPES if is_defined(op, dtype)]
    if len(found) == len(dtypes.DTYPES):
        return "all"
    names = []
    for group, kinds in GROUPS.items():
        members = [dtype for dtype in dtypes.DTYPES if dtype.kind in kinds]
        inside = [dtype.name for dtype in members if dtype in found]
        names += [group] if len(inside) == len(members) else inside
    return ", ".join(names) or "none"


# --- examples ------------------------------------------------------------------------------------


def elementwise_text(op: Op) -> str:
    """Write a call on a number near each end of the domain."""
    found = next((dtype for dtype in TRIED if is_defined(op, dtype)), None)
    dtype = BEST.get(op.name, found)
    if dtype is None:
        return ""
    low, high = op.domain
    x: list[Any] = [round(low + (high - low) * part, 1) for part in (0.25, 0.95)]
    y: list[Any] = [round(low + (high - low) * part, 1) for part in (0.85, 0.75)]
    if dtype is ts.int64:
        x, y = [6, 13], [2, 3] if op.count else [4, 7]
    elif dtype is ts.bool:
        x, y = [True, False], [True, True]
    elif dtype is ts.complex64:
        x = [3 + 4j, 1j]
    elif op.name in ODD:
        x = [1.5, ODD[op.name]]
    shown = {"x": f"ts.tensor({listed(x)})", "y": f"ts.tensor({listed(y)})", "min": "-1.0",
             "max": "2.0", "condition": "ts.tensor([True, False])", "alpha": "0.5",
             "negative_slope": "0.1"}  # fmt: skip
    return f"ts.{op.name}({', '.join(shown[name] for name in op.operands)})"


def listed(values: list[Any]) -> str:
    """Write numbers as a list, complex ones as ruff wants them: 3 + 4j."""
    texts = [repr(x).strip("()").replace("+", " + ") if type(x) is complex
             else repr(x) if math.isfinite(x) else f"ts.{x}" for x in values]  # fmt: skip
    return f"[{', '.join(texts)}]"


def operand_text(shape: Any, dtype: dtypes.DType) -> str:
    """Write an operand of a shape; a list of shapes gives a list, another value stays itself."""
    if isinstance(shape, list):
        return "[" + ", ".join(operand_text(one, dtype) for one in shape) + "]"
    if not isinstance(shape, tuple):
        return literal(shape)
    sizes = ", ".join(map(str, shape))
    if dtype is not ts.float32 or not shape:
        kind = "" if dtype is ts.float32 else f", dtype=ts.{dtype.name}"
        return f"ts.ones({sizes or '()'}{kind})"
    count = 1
    for size in shape:
        count *= size
    flat = f"ts.arange({float(count)})"
    return flat if len(shape) == 1 else f"{flat}.reshape({sizes})"


def sample_text(op: Op, dtype: dtypes.DType = ts.float32, number: int = 0) -> str | None:
    """Write a call on a sample of the record; None where it has none."""
    if not op.samples:
        return None
    sample = op.samples[number]
    operands = [operand_text(shape, dtype) for shape in sample.shapes]
    known = {name: value for name, value in sample.params.items() if name in op.params}
    params = [f"{name}={literal(value)}" for name, value in known.items()]
    if op.is_function:
        return f"ts.{op.name}({', '.join([*operands, *params])})"
    if op.name == "getitem":
        return f"{operands[0]}[{sample.params['key']!r}]"
    return f"{operands[0]}.{op.name}({', '.join([*operands[1:], *params])})"


def shown_text(op: Op) -> str | None:
    """Write a call whose result shows several elements, or else one on the first sample."""
    for number in range(len(op.samples)):
        code = sample_text(op, number=number)
        value = eval(code or "", {"ts": ts})
        if isinstance(value, ts.Tensor) and value.size > 1 and is_shown(value):
            return code
    return sample_text(op)


def literal(value: Any) -> str:
    """Write a parameter's value as a user would."""
    return f"ts.{value.name}" if isinstance(value, dtypes.DType) else repr(value)


def is_shown(value: ts.Tensor) -> bool:
    """Tell whether a tensor is small enough to be shown; a blank line would end the example."""
    return value.size <= 12 and "\n\n" not in repr(value)


def run(code: str) -> str:
    """Evaluate a call and show its value; of a large one only the shape."""
    value = eval(code, {"ts": ts})
    if isinstance(value, ts.Tensor) and not is_shown(value):
        return f">>> {code}.shape\n{value.shape}"
    return f">>> {code}\n{value!r}"


def example_of(op: Op) -> str:
    """Give the example of an operation, its own or a derived one."""
    if op.example:
        return op.example.strip()
    code = elementwise_text(op) if isinstance(op, Elementwise) else shown_text(op)
    return run(code) if code else ""


# --- entries -------------------------------------------------------------------------------------


def fenced(example: str) -> str:
    """Set an example as code."""
    return f"\n```pycon\n{example.strip()}\n```\n" if example else ""


def entry(each: Op | Composite) -> str:
    """Write the entry of one operation."""
    facts = [f"dtypes: {dtypes_of(each)}"] if isinstance(each, Op) else []
    lines = [f"- {fact}" for fact in (*facts, *names_of(each), *gradient_facts(each))]
    head = f"## {heading(each.name)}\n\n`{called(each)}`\n\n{each.doc}\n"
    listed = "\n" + "\n".join(lines) + "\n"
    shown = f"\n![{each.name}]({name_of_picture(each)})\n" if has_picture(each) else ""
    example = example_of(each) if isinstance(each, Op) else each.example
    return head + listed + shown + fenced(example)


def called(each: Op | Composite) -> str:
    """Write how it is called: as a function, or else as a method, whose tensor stands before it."""
    if each.name == "getitem":
        return "x[key]"
    if each.is_function:
        return f"ts.{each.name}{each.signature()}"
    return f"x.{each.name}{re.sub(r'^[(]x(, )?', '(', each.signature())}"


def names_of(each: Op | Composite) -> list[str]:
    """Say by which other names it is called, and from where."""
    facts = ["also " + ", ".join(f"`{alias}`" for alias in each.aliases)] if each.aliases else []
    if not each.is_method:
        facts.append("function only")
    elif not each.is_function:
        facts.append("method only")
    if each.gives == "view":
        facts.append("gives x" if each.name.endswith("_") else "may give a view")
    if each.has_twin:
        facts.append(f"in place: `x.{each.name}_`")
    return facts


def function_entry(name: str, function: Any, is_method: bool = False) -> str:
    """Write the entry of a plain function or method; one by another name is shown by that."""
    doc, _, example = inspect.cleandoc(function.__doc__ or "").partition(">>>")
    signature = inspect.signature(function, eval_str=False)
    taken = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    call = signature.replace(parameters=taken[is_method:], return_annotation=signature.empty)
    example = example.replace(f".{function.__name__}(", f".{name}(")
    shown = f">>>{example}".strip() if example else ""
    title, place = heading(name), "x" if is_method else "ts"
    return f"## {title}\n\n`{place}.{name}{call}`\n\n{doc.strip()}\n{fenced(shown)}"


# --- pages ---------------------------------------------------------------------------------------


def topics() -> dict[str, dict[str, str]]:
    """Give each topic's entries by their names; a topic is a module of ops/, or a subpackage."""
    found: dict[str, dict[str, str]] = {}
    for each in namespace.declared():
        if each.is_method or each.is_function:
            topic = each.home or each.module.removeprefix("tessella.")
            found.setdefault(topic, {})[each.name] = entry(each)
    for module, names in namespace.FUNCTIONS.items():
        entries = found.setdefault(module.__name__.removeprefix("tessella."), {})
        entries |= {name: function_entry(name, getattr(module, name)) for name in names}
    found["methods"] = {name: function_entry(name, method, True)
                        for name, method in namespace.METHODS.items()
                        if inspect.isfunction(method)}  # fmt: skip
    return dict(sorted(found.items(), key=lambda pair: title(pair[0]).lower()))


def stem(topic: str) -> str:
    """Give the name of a topic's page."""
    return topic.rpartition(".")[2]


def title(topic: str) -> str:
    """Give the heading of a topic."""
    return TOPICS[stem(topic)][0]


def introduction(topic: str, folder: str = "") -> str:
    """Say what a topic is about, with links from a folder."""
    return TOPICS[stem(topic)][1].replace("](", f"]({folder}")


def topic_page(topic: str, entries: dict[str, str]) -> str:
    """Give the page of one topic."""
    back = "Part of the [operations](../operations.md)."
    head = f"# {title(topic)}\n\n{introduction(topic)}\n\n{back}\n"
    return "\n".join([head, *(entries[name] for name in sorted(entries))])


def index_page(found: dict[str, dict[str, str]]) -> str:
    """Give the page that lists all names."""
    lines = [HEAD]
    for topic, entries in found.items():
        page = f"operations/{stem(topic)}.md"
        links = [f"[{shown(name, topic)}]({page}#{anchor(name)})" for name in sorted(entries)]
        lines.append(f"## [{title(topic)}]({page})\n\n{introduction(topic, 'operations/')}\n")
        lines.append(" · ".join(links) + "\n")
    return "\n".join(lines)


def shown(name: str, topic: str) -> str:
    """Give a name as the index shows it: a subpackage's name stands above."""
    return heading(name.removeprefix(f"{topic}."))


def heading(name: str) -> str:
    """Give a name as text: two underscores would make it bold."""
    return name.replace("__", r"\_\_")


def anchor(name: str) -> str:
    """Give the anchor of a heading, as GitHub and MkDocs make it."""
    return name.replace(".", "").lower()


def operations_pages() -> dict[str, str]:
    """Give every page and picture of the reference, by its path."""
    assert _core.isa()  # the pages are made with the build that they describe
    namespace.load()
    found = topics()
    pages = {f"docs/operations/{stem(topic)}.md": topic_page(topic, entries)
             for topic, entries in found.items()}  # fmt: skip
    pictures = {f"docs/operations/{name_of_picture(each)}": picture_of(each)
                for each in namespace.declared() if has_picture(each)}  # fmt: skip
    return {"docs/operations.md": index_page(found), **pages, **pictures}
