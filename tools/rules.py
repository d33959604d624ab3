"""The gradient of an operation as text: what the rules of its record say, from their source.

A composite has no rule: the calls that its tests make show what it records.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

import tessella as ts
from tessella import _core, trees
from tessella.composites import Composite
from tessella.declarations import Case
from tessella.fusions import Fused
from tessella.records import OPS, Op

PARTS = "gradient: of its parts"
KERNEL = "gradient: by a kernel of its own"


@lru_cache
def lambdas(file: str) -> list[ast.Lambda]:
    """Give the lambdas of a file."""
    tree = ast.parse(Path(file).read_text())
    return [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]


@lru_cache
def constants(file: str) -> dict[str, str]:
    """Give the source of what the names of a module are set to."""
    return {
        target.id: ast.unparse(node.value)
        for node in ast.parse(Path(file).read_text()).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def is_within(code: CodeType, node: ast.Lambda) -> bool:
    """Tell whether every instruction comes from the node's body."""
    body = node.body
    start, end = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
    places = [place for place in code.co_positions() if place[3]]  # but for where it begins
    first = min((line or 0, column or 0) for line, _, column, _ in places)
    last = max((line or 0, column or 0) for _, line, _, column in places)
    return start <= first and last <= end


def first_line(function: Any) -> str:
    """Give the first line of a docstring: what "Give …" is about, without its full stop."""
    return (inspect.getdoc(function) or "").partition("\n")[0].removeprefix("Give ").rstrip(".")


def rule_text(rule: Callable[..., Any]) -> str:
    """Write what a rule gives: its expression, and what the names in it mean that users lack."""
    if rule.__name__ != "<lambda>":
        return first_line(rule)
    found = [node for node in lambdas(rule.__code__.co_filename) if is_within(rule.__code__, node)]
    body = max(found, key=lambda node: (node.body.lineno, node.body.col_offset)).body
    called = [node.func.id for node in ast.walk(body)
              if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]  # fmt: skip
    told = [f"`{name}`: {doc}" for name in dict.fromkeys(called)
            if (doc := meaning(rule.__globals__.get(name)))]  # fmt: skip
    named = [node.id for node in ast.walk(body) if isinstance(node, ast.Name)]
    told += [f"`{name}`: `{constants(rule.__code__.co_filename)[name]}`"
             for name in dict.fromkeys(named)
             if isinstance(rule.__globals__.get(name), float)]  # fmt: skip
    return "; ".join([f"`{ast.unparse(body)}`", *told])


def meaning(function: Any) -> str:
    """Say what a function does that users do not have; nothing of one that they have."""
    record = getattr(function, "record", None)
    if record is not None:
        return "" if record.is_function else record.doc.rstrip(".")
    is_ours = str(getattr(function, "__module__", "")).startswith("tessella.")
    is_told = inspect.isfunction(function) and is_ours
    return first_line(function) if is_told else ""


def gradient_facts(each: Op | Composite) -> list[str]:
    """Say what the gradient is: one line for each operand that has a rule, or one for all."""
    if each.no_gradient:
        return [f"no gradient: {each.no_gradient}"]
    if isinstance(each, Composite):
        return [gradient_of_composite(each)]
    rules = zip(each.operands, each.vjp, strict=False)
    told = [f"gradient of {name}: {rule_text(rule)}" for name, rule in rules if rule]
    return told or ["no gradient: the result is not continuous"]


# --- composites ----------------------------------------------------------------------------------

# Those that no sample shows. Others without samples make tensors that hold no operand's numbers.
UNSHOWN = {
    **dict.fromkeys(("asarray", "put_along_axis", "to"), PARTS),
    "bitwise_count": "no gradient: the result is uint8",
    "matmul_into": "no gradient: the result is written into a tensor that is there",
    **dict.fromkeys(
        ("element_size", "result_type", "storage_offset", "stride"),
        "no gradient: the result is no tensor",
    ),
    **dict.fromkeys(("multinomial", "searchsorted"), "no gradient: the result is int64"),
}


def gradient_of_composite(each: Composite) -> str:
    """Say where the gradient comes from, by the samples of the tests."""
    if each.name in UNSHOWN:
        return UNSHOWN[each.name]
    if not each.operands and not any(has_shapes(sample) for sample in each.samples):
        return "no gradient: it takes no tensor"
    generator = ts.Generator(0)
    told = "no gradient: the result is not made of the operands' numbers"
    for sample in each.samples:
        names = [*each.operands, *[""] * len(sample.shapes)]
        pairs = zip(names, sample.shapes, strict=False)
        operands = [operand(name, shape, each.domain, generator) for name, shape in pairs]
        try:
            leaves, _ = trees.flatten(each.function(*operands, **sample.params))
        except ts.errors.TessellaError:  # a sample of integers
            continue
        found = [x for x in leaves if isinstance(x, ts.Tensor)]
        if any(x.requires_grad for x in found):
            names_of_nodes = {node.name for x in found for node in nodes_of(x)}
            return KERNEL if any(has_kernel(name) for name in names_of_nodes) else PARTS
        told = f"no gradient: {reason(found)}"
    return told


def operand(name: str, shape: Any, domain: tuple[float, float], generator: ts.Generator) -> Any:
    """Make an operand that asks for its gradient; what is no shape stays itself."""
    if isinstance(shape, list):
        return [operand(name, one, domain, generator) for one in shape]
    if not isinstance(shape, tuple):
        return shape
    low, high = domain
    x = ts.rand(shape, generator=generator) * (high - low) + low
    return x > x.mean() if name == "mask" else x.requires_grad_()


def nodes_of(x: ts.Tensor) -> Iterator[_core.Node]:
    """Give the operations that a result was recorded with."""
    seen: set[int] = set()
    waiting: list[Any] = [x.grad_fn]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _core.Node) and id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting += [getattr(each, "grad_fn", each) for each in node.inputs]


def has_kernel(name: str) -> bool:
    """Tell whether the gradient of what was recorded has a kernel; no record: a whole call."""
    return name not in OPS or isinstance(OPS.get(f"{name}_back"), Fused)


def has_shapes(sample: Case) -> bool:
    """Tell whether a call of the tests has tensors."""
    return any(isinstance(shape, list | tuple) for shape in sample.shapes)


def reason(results: list[ts.Tensor]) -> str:
    """Say why results have no gradient."""
    if not results:
        return "the result is no tensor"
    dtype = results[0].dtype
    return "none reaches the operands" if dtype.is_floating else f"the result is {dtype}"
