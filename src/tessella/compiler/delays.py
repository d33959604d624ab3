"""delays: why calls of a function go on being recorded, and the warnings about it.

Such a function gives what it should, at the speed of eager and less. Nobody would notice.
"""

from __future__ import annotations

from tessella import changes
from tessella.declarations import describe
from tessella.hints import Any
from tessella.trees import flatten

PATIENCE = 8  # calls of a kind that are recorded, with no repeated one between them


class Streak:
    """Calls of one kind that were recorded one after the other."""

    def __init__(self) -> None:
        self._count = 0
        self._runs = 0  # of programs, when the last call was recorded
        self.why = ""  # the last call could not be repeated, or needed to be recorded

    def is_long(self, programs: list[Any]) -> bool:
        """Count a call that is about to be recorded; tell whether there were many before."""
        runs = sum(each.core.runs for each in programs)
        self._count = self._count + 1 if runs == self._runs else 1
        self._runs = runs
        return self._count > PATIENCE

    def note(self, captured: Any, programs: list[Any]) -> None:
        """Keep why the next call will be recorded too, unless it is repeated."""
        if captured.why is not None or self._count >= PATIENCE:
            self.why = reason_of(captured, programs)

    def text(self, name: str) -> str:
        """Say that a function never gets fast, and why."""
        return (
            f"{name} was recorded at each of {PATIENCE} calls and is not faster than without "
            f"compile: {self.why}"
        )


def reason_of(captured: Any, programs: list[Any]) -> str:
    """Say why a call that was recorded is not repeated."""
    why = captured.why
    if why is not None:
        return f"{why.why} (at {why.line})" if why.line else str(why.why)
    changed = captured.watch.changed("by the call itself")
    if changed:
        return f"it reads {changed}"
    for each in reversed(programs):
        changed = each.watch.changed("from call to call")
        if changed:
            return f"it reads {changed}"
        if each.changes != changes.count():
            return "modules, parameter groups or hooks change from call to call"
    return "where arguments lie, which gradients are there, or requires_grad changes at each call"


def shown_arguments(args: Any, keywords: Any) -> dict[str, str]:
    """Show the arguments of a call, each by its name; what a container holds one by one."""
    found: dict[str, str] = {}
    named = [(f"argument {i}", x) for i, x in enumerate(args)]
    for name, argument in [*named, *keywords.items()]:
        leaves = flatten(argument)[0]
        is_container = len(leaves) != 1 or leaves[0] is not argument
        for i, x in enumerate(leaves):
            found[f"{name}, item {i}" if is_container else name] = describe(x)
    return found


def changed_arguments(before: dict[str, str], now: dict[str, str]) -> str:
    """Say which arguments of two calls differ."""
    changed = [f"{x}: {before[x]}, then {now[x]}" for x in now if before.get(x, now[x]) != now[x]]
    if changed:
        return "; ".join(changed)
    if before.keys() != now.keys():
        return "how many arguments there are, or items in them, changed"
    return "strides, shared memory, requires_grad, forms of containers or the mode changed"
