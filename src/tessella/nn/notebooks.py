"""What notebooks show of modules: a tree that folds, with the parameters of each part."""

from __future__ import annotations

from tessella.hints import Any
from tessella.nn import walks
from tessella.notebooks import framed, line
from tessella.sizes import counted, to_text


def tree(module: Any) -> str:
    """Show a module with all below it; one that is in several places is unfolded in the first."""
    return framed(_branch("", module, 0, set()))


def _branch(name: str, module: Any, depth: int, seen: set[int]) -> str:
    """Write a module: its line, and within it what folds."""
    children = walks.children_of(module)
    own = [*walks.parameters_of(module), *walks.buffers_of(module)]
    again = ", as above" if id(module) in seen and (children or own) else ""
    head = f"{name}{type(module).__name__}({module.extra_repr()})"
    own_line = line(head, (_count(module) + again).strip(", "))
    seen.add(id(module))
    if depth == walks.DEEPEST or again or not (children or own):
        return f"<div>{own_line}</div>"
    inside = [f"<div>{line(f'{key}: {x.dtype} {x.shape}')}</div>" for key, x in own]
    inside += [_branch(f"({key}): ", child, depth + 1, seen) for key, child in children]
    return (
        f"<details{'' if depth else ' open'}><summary>{own_line}</summary>"
        f'<div style="margin-left:1.5em">{"".join(inside)}</div></details>'
    )


def _count(module: Any) -> str:
    """Say how many parameters there are in a module, those that are shared once, and the bytes."""
    found = list(module.parameters())
    numbers = sum(x.size for x in found)
    trained = sum(x.size for x in found if x.requires_grad)
    buffers = sum(x.nbytes for x in module.buffers())
    texts = [counted(numbers, "parameter")] if found else []
    texts += [f"{trained:,} trained"] if trained != numbers else []
    texts += [to_text(sum(x.nbytes for x in found))] if found else []
    return ", ".join([*texts, f"buffers {to_text(buffers)}"] if buffers else texts)
