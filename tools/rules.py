"""The gradient of an operation as text: what the rules of its record say, from their source."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

from tessella.records import Op


@lru_cache
def lambdas(file: str) -> list[ast.Lambda]:
    """Give the lambdas of a file."""
    tree = ast.parse(Path(file).read_text())
    return [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]


def is_within(code: CodeType, node: ast.Lambda) -> bool:
    """Tell whether every instruction comes from the node's body."""
    body = node.body
    start, end = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
    places = [place for place in code.co_positions() if place[3]]  # but for where it begins
    first = min((line or 0, column or 0) for line, _, column, _ in places)
    last = max((line or 0, column or 0) for _, line, _, column in places)
    return start <= first and last <= end


def first_line(function: Any) -> str:
    """Give the first line of a docstring, without its full stop."""
    return (inspect.getdoc(function) or "").partition("\n")[0].rstrip(".")


def rule_text(rule: Callable[..., Any]) -> str:
    """Write what a rule gives: its expression, and what the docstrings of private functions say."""
    if rule.__name__ != "<lambda>":
        return first_line(rule)
    found = [node for node in lambdas(rule.__code__.co_filename) if is_within(rule.__code__, node)]
    body = max(found, key=lambda node: (node.body.lineno, node.body.col_offset)).body
    called = [node.func.id for node in ast.walk(body)
              if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]  # fmt: skip
    docs = {name: first_line(rule.__globals__[name]) for name in called if name[0] == "_"}
    told = [f"`{name}`: {doc}" for name, doc in docs.items() if doc]
    return "; ".join([f"`{ast.unparse(body)}`", *told])


def gradient_lines(op: Op) -> list[str]:
    """Write the gradient of each operand, for a gradient g of the result."""
    rules = zip(op.operands, op.vjp, strict=False)
    return [f"- gradient of {name}: {rule_text(rule)}" for name, rule in rules if rule]
