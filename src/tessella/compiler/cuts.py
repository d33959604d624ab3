"""cuts: where the graph of a recorded call begins, and which of its results share parts of it.

A call that is repeated has one node for all results that share an operation, so that a backward of
one of them uses up what it would without compile, and leaves the others alone.
"""

from __future__ import annotations

from itertools import combinations

from tessella import _core
from tessella.checkpoints import Again
from tessella.compiler.capture_errors import AsWritten
from tessella.exceptions import TessellaError
from tessella.functions import Call
from tessella.hints import Any


def is_open(x: Any) -> bool:
    """Tell whether gradients can still flow into a result."""
    return bool(x.requires_grad) and not (x.grad_fn is not None and x.grad_fn.is_used)


def sources_of(results: list[Any], since: int, tensors: list[Any]) -> list[Any]:
    """Find what gradients flow to: the number of an argument, or a leaf."""
    found: list[Any] = []
    try:
        sources = _core.sources_of(tuple(results), since)
    except TessellaError:
        raise AsWritten("a part of the graph of its results is used up inside") from None
    for source in sources:
        if source.grad_fn is None and _core.leaf_hooks(source) is not None:
            raise AsWritten("a tensor that gradients flow to has a hook")
        numbers = [i for i, x in enumerate(tensors) if _is_same(x, source)]
        if not numbers and source.grad_fn is not None:
            raise AsWritten("gradients flow on into a graph that is no argument's")
        found.append(numbers[0] if numbers else source)
    return found


def _is_same(x: Any, source: Any) -> bool:
    """Tell whether a source is an argument: the leaf itself, or what stands for a result."""
    if source.grad_fn is None:
        return x is source
    return x.grad_fn is source.grad_fn and _core.output_of(x) == _core.output_of(source)


class Group:
    """Results that share operations, and the operations: all that one node stands for."""

    def __init__(self, number: int, result: Any, since: int) -> None:
        self.numbers = [number]
        self.nodes: set[int] = set()
        self.last = result.grad_fn.sequence  # of its operations, in the order of recording
        self.feeds: dict[int, list[int]] = {}  # for each source the operations that lead there
        stack = [result.grad_fn]
        while stack:
            node = stack.pop()
            if id(node) in self.nodes:
                continue
            if node.hooks is not None or isinstance(node.function.record, Call | Again):
                # What the user wrote may do anything, and is to do it when asked.
                raise AsWritten(
                    "a hook, a Function of the user or a checkpoint is part of the gradients of "
                    "its results, which are asked for outside"
                )
            self.nodes.add(id(node))
            for target in node.inputs:
                if isinstance(target, _core.Node) and target.sequence > since:
                    stack.append(target)
                elif target is not None:
                    self.feeds.setdefault(id(target), []).append(node.sequence)

    def must_join(self, other: Group) -> bool:
        """Tell whether two groups must be one node.

        They must if they share an operation; also if sums of gradients would be added up in
        another order: sources are to get all of what one gives before what the other gives.
        """
        if not self.nodes.isdisjoint(other.nodes):
            return True
        early, late = sorted((self, other), key=lambda group: group.last)
        shared = early.feeds.keys() & late.feeds.keys()
        return any(min(late.feeds[each]) < max(early.feeds[each]) for each in shared)

    def join(self, other: Group) -> None:
        """Take another group in."""
        self.numbers = sorted([*self.numbers, *other.numbers])
        self.nodes |= other.nodes
        self.last = max(self.last, other.last)
        for each, sequences in other.feeds.items():
            self.feeds[each] = [*self.feeds.get(each, ()), *sequences]


def inside(results: list[Any], since: int) -> set[int]:
    """Give the places of results that others of them are made of."""
    groups = [Group(i, x, since) for i, x in enumerate(results)]
    return {
        group.numbers[0] for group, x in zip(groups, results, strict=True) for other in groups
        if id(x.grad_fn) in other.nodes and results[other.numbers[0]].grad_fn is not x.grad_fn
    }  # fmt: skip


def groups_of(results: dict[int, Any], since: int) -> list[list[int]]:
    """Give the numbers of results that are to be one node each, in the order of recording."""
    places = [(x.grad_fn, _core.output_of(x)) for x in results.values()]
    if any(node is None for node, _ in places):
        raise AsWritten("a result is a new leaf that asks for gradients")
    if len(set(places)) < len(places):
        raise AsWritten("two results are one in the graph")
    groups = [Group(number, x, since) for number, x in results.items()]
    is_done = False
    while not is_done:
        is_done = True
        for one, other in combinations(groups, 2):
            if one.must_join(other):
                one.join(other)
                groups.remove(other)
                is_done = False
                break
    return [group.numbers for group in sorted(groups, key=lambda group: group.last)]
