"""Where boxes stand and edges run: a layered drawing, for directed graphs without cycles.

Boxes stand in layers by their longest path, so that every edge runs downwards. An edge that passes
layers runs through a place of its own in each; edges that leave one box share their way, as a
trunk, so that a weight used in every layer is one line. The order within layers comes from sweeps
of barycentres, the positions from least squares. Everything is a function of the sizes and edges.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass, field
from itertools import pairwise

from tessella.hints import Callable, Sequence

GAP = 18.0  # between neighbours in a layer
TRUNK = 8.0  # the width of an edge that passes a layer
LEVEL_GAP = 44.0  # between layers
SWEEPS = 8


@dataclass
class Cell:
    """A box, or the place where an edge passes a layer."""

    level: int
    width: float
    height: float
    above: list[int] = field(default_factory=list)  # cells of the layer above that lead here
    below: list[int] = field(default_factory=list)
    x: float = 0.0  # of the middle
    top: float = 0.0


@dataclass
class Plan:
    """Cells by their numbers (boxes first), and the top and bottom of each layer."""

    cells: list[Cell]
    layers: list[list[int]]
    tops: list[float]
    bottoms: list[float]
    entries: list[list[int]]  # for each box, the cell above that each of its edges comes from


def arrange(sizes: Sequence[tuple[float, float]], sources: Sequence[Sequence[int]]) -> Plan:
    """Place boxes of given widths and heights; the sources of a box stand before it."""
    levels = levels_of(sources)
    cells = [Cell(level, *size) for level, size in zip(levels, sizes, strict=True)]
    entries = add_trunks(cells, sources)
    layers: list[list[int]] = [[] for _ in range(max(levels, default=-1) + 1)]
    for i, cell in enumerate(cells):
        layers[cell.level].append(i)
    layers = ordered(cells, layers)
    place_across(cells, layers)
    tops, bottoms = place_down(cells, layers)
    return Plan(cells, layers, tops, bottoms, entries)


def levels_of(sources: Sequence[Sequence[int]]) -> list[int]:
    """Give the layer of each box: below all its sources, and as near to its first user as it can.

    Boxes that nobody uses stand as high as they can; they say how low the others may stand.
    """
    levels: list[int] = []
    for own in sources:
        levels.append(max((levels[i] + 1 for i in own), default=0))
    first: dict[int, int] = {}  # the layer of the first user
    for target in reversed(range(len(sources))):
        levels[target] = first.get(target, levels[target] + 1) - 1
        for i in sources[target]:
            first[i] = min(first.get(i, levels[target]), levels[target])
    return levels


def add_trunks(cells: list[Cell], sources: Sequence[Sequence[int]]) -> list[list[int]]:
    """Add the cells of edges that pass layers; give where each box's edges come in from."""
    ways: dict[int, list[int]] = {}  # a box, then its trunk, downwards
    entries: list[list[int]] = []
    for target, own in enumerate(sources):
        entries.append([])
        for source in own:
            way = ways.setdefault(source, [source])
            while cells[way[-1]].level < cells[target].level - 1:
                cells.append(Cell(cells[way[-1]].level + 1, TRUNK, 0.0))
                join(cells, way[-1], len(cells) - 1)
                way.append(len(cells) - 1)
            entry = way[cells[target].level - 1 - cells[source].level]
            join(cells, entry, target)
            entries[-1].append(entry)
    return entries


def join(cells: list[Cell], upper: int, lower: int) -> None:
    """Make two cells neighbours."""
    cells[upper].below.append(lower)
    cells[lower].above.append(upper)


# --- the order within layers ----------------------------------------------------------------------


def ordered(cells: list[Cell], layers: list[list[int]]) -> list[list[int]]:
    """Sort layers by the barycentres of their neighbours; keep what crosses least."""
    best, fewest = layers, crossings(cells, layers)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        layers = swept(cells, layers, is_down=sweep % 2 == 0)
        count = crossings(cells, layers)
        if count < fewest:
            best, fewest = layers, count
    return best


def swept(cells: list[Cell], layers: list[list[int]], is_down: bool) -> list[list[int]]:
    """Sort each layer after the one that was sorted before it."""
    result = [list(layer) for layer in layers]
    places = {i: float(place) for layer in result for place, i in enumerate(layer)}

    def centre(i: int) -> float:
        near = cells[i].above if is_down else cells[i].below
        return sum(places[j] for j in near) / len(near) if near else places[i]

    for layer in result if is_down else reversed(result):
        layer.sort(key=centre)
        places.update((i, float(place)) for place, i in enumerate(layer))
    return result


def crossings(cells: list[Cell], layers: list[list[int]]) -> int:
    """Count the pairs of edges that cross."""
    total = 0
    for upper, lower in pairwise(layers):
        places = {i: place for place, i in enumerate(lower)}
        seen: list[int] = []
        for i in upper:
            ends = sorted(places[j] for j in cells[i].below)
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


# --- positions ------------------------------------------------------------------------------------


def place_across(cells: list[Cell], layers: list[list[int]]) -> None:
    """Give each cell its x: near its neighbours, and no two on each other; from 0 on."""
    for layer in layers:
        settle(cells, layer, lambda cell: 0.0)
    for _ in range(SWEEPS):
        for layer in layers:
            settle(cells, layer, lambda cell: middle(cells, cell.above, cell.x))
        for layer in reversed(layers):
            settle(cells, layer, lambda cell: middle(cells, cell.below, cell.x))
    left = min((cell.x - cell.width / 2 for cell in cells), default=0.0)
    for cell in cells:
        cell.x -= left


def middle(cells: list[Cell], near: list[int], default: float) -> float:
    """Give the mean position of some cells."""
    return sum(cells[i].x for i in near) / len(near) if near else default


def settle(cells: list[Cell], layer: list[int], wanted: Callable[[Cell], float]) -> None:
    """Move the cells of a layer as near as they can to where they want to be.

    Less the room that the cells to their left take, positions must not fall: the least squares of
    that are means, of neighbours pooled while they would.
    """
    pools: list[tuple[float, int]] = []  # sum and number
    offsets: list[float] = []
    for place, i in enumerate(layer):
        room = (cells[layer[place - 1]].width + cells[i].width) / 2 + GAP if place else 0.0
        offsets.append(offsets[-1] + room if place else 0.0)
        total, count = wanted(cells[i]) - offsets[-1], 1
        while pools and pools[-1][0] * count >= total * pools[-1][1]:
            before = pools.pop()
            total, count = total + before[0], count + before[1]
        pools.append((total, count))
    means = (total / count for total, count in pools for _ in range(count))
    for i, mean, offset in zip(layer, means, offsets, strict=True):
        cells[i].x = mean + offset


def place_down(cells: list[Cell], layers: list[list[int]]) -> tuple[list[float], list[float]]:
    """Give each cell its top, in the middle of its layer; give the layers' tops and bottoms."""
    tops: list[float] = []
    bottoms: list[float] = []
    top = 0.0
    for layer in layers:
        height = max(cells[i].height for i in layer)
        for i in layer:
            cells[i].top = top + (height - cells[i].height) / 2
        tops.append(top)
        bottoms.append(top + height)
        top += height + LEVEL_GAP
    return tops, bottoms
