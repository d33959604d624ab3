"""The text of docs/from_pytorch.md: which calls of PyTorch mean something else, and what to write.

The rows are those that the errors show: refusals of declarations, and the names in spellings.py.
"""

from __future__ import annotations

from collections.abc import Iterable

from tessella import namespace, spellings
from tessella.declarations import KEYWORDS, Refusal

HEAD = """\
# From PyTorch

Written by tools/generate.py from the errors themselves: change those, not this page.

A page of PyTorch runs here, or an error says what to change. Its imports work with the name of the
package changed: `from tessella.utils.data import DataLoader`, `import tessella.backends.cudnn`.
Tensors follow the array API standard; PyTorch's spellings work wherever they do not contradict it:
`dim` and `keepdim`, an axis by position, sizes and axes as separate arguments, methods that end in
`_`, `x.float()`, `x.view(…)`. The calls below would give something else than in PyTorch, or nothing
that is here, so they raise, and the error shows the row.
"""
STANDARD = """
## Calls that the standard defines

These the standard gives a meaning of its own, so they run, with that meaning.
"""
STATE = """
## Numbers that training changes

`group["lr"]` of an optimizer is a tensor that schedules write into, as are `momentum` and the other
numbers of a group: `rates.append(group["lr"].item())` keeps today's, the tensor shows tomorrow's.
Writing a number to `group["lr"]` works as in PyTorch.
"""
KEYWORD = """
## Keywords

What PyTorch calls a parameter works too.
"""


def table(rows: Iterable[Refusal]) -> str:
    """Write rows as a table."""
    lines = ["| in PyTorch | here | because there it |", "|---|---|---|"]
    for row in rows:
        here = " or ".join(f"`{text}`" for text in row.here)
        lines.append(f"| `{row.torch}` | {here} | {row.why} |")
    return "\n".join(lines) + "\n"


def keyword_lines() -> Iterable[str]:
    """Write PyTorch's keywords: those that work everywhere, then those of single functions."""
    everywhere = ", ".join(f"`{theirs}` for `{ours}`" for theirs, ours in KEYWORDS.items())
    yield f"- everywhere: {everywhere}"
    for each in sorted(namespace.declared(), key=lambda each: each.name):
        own = {k: v for k, v in each.keywords.items() if KEYWORDS.get(k) != v}
        if own:
            shown = ", ".join(f"`{theirs}` for `{ours}`" for theirs, ours in own.items())
            yield f"- `{each.name}`: {shown}"


def migration_page() -> str:
    """Give the whole page."""
    standard = [STANDARD, table(spellings.STANDARD)]
    parts = [HEAD, table(namespace.refusals()), *standard, STATE, KEYWORD, *keyword_lines()]
    return "\n".join(parts) + "\n"
