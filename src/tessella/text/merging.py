"""Merging neighbours, the best pair first: what both kinds of tokenizer do with a piece of text."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush

Rank = Callable[[str, str], float | None]  # of a pair: smaller is merged earlier, None never


def merge(parts: list[str], rank: Rank) -> list[str]:
    """Merge neighbours until no pair has a rank; of equal ranks the leftmost pair is first.

    A heap holds the pairs, and two lists say who is whose neighbour: n parts take n log n steps.
    A pair is out of date when one of its parts has been merged into another or has grown.
    """
    count = len(parts)
    parts = [*parts]
    before = list(range(-1, count - 1))
    after = list(range(1, count + 1))
    heap: list[tuple[float, int, int, int]] = []
    for left in range(count - 1):
        order = rank(parts[left], parts[left + 1])
        if order is not None:
            heap.append((order, left, left + 1, len(parts[left]) + len(parts[left + 1])))
    heapify(heap)
    while heap:
        _, left, right, size = heappop(heap)
        if not parts[left] or not parts[right] or len(parts[left]) + len(parts[right]) != size:
            continue
        parts[left] += parts[right]
        parts[right] = ""
        following = after[left] = after[right]
        if following < count:
            before[following] = left
        for first, second in ((before[left], left), (left, following)):
            if first < 0 or second >= count:
                continue
            order = rank(parts[first], parts[second])
            if order is not None:
                size = len(parts[first]) + len(parts[second])
                heappush(heap, (order, first, second, size))
    return [part for part in parts if part]
