"""The text of src/tessella/catalogue.py, from the table of operations."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable

from tessella import namespace
from tessella.composites import Composite
from tessella.records import Op

HEAD = '''"""The names that each module of ops/ brings when it is loaded: at the first use of one.

Written by tools/generate.py from the table of operations; change that, not this.
"""
'''


def catalogue() -> str:
    """Give the text of the file."""
    tables = (
        listing("FUNCTIONS", namespace.functions_of),
        listing("METHODS", namespace.methods_of),
    )
    return "\n".join([HEAD, *tables])


def listing(title: str, names_of: Callable[[Op | Composite], Iterable[str]]) -> str:
    """Give one table: modules with their names."""
    found: dict[str, list[str]] = {}
    eager = {module.__name__ for module in namespace.TABLES}
    for each in namespace.declared():
        if each.module.startswith("tessella.ops.") and each.module not in eager:
            found.setdefault(each.module.rpartition(".")[2], []).extend(names_of(each))
    lines = [f"{title} = {{"]
    for module, names in sorted(found.items()):
        text = textwrap.fill(" ".join(sorted(names)), 92, break_on_hyphens=False)
        lines += [f'    "{module}": """', textwrap.indent(text, "        "), '    """,']
    return "\n".join([*lines, "}", ""])
