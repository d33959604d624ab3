"""Draws time against size, Tessella and its peers: one picture for each group of ladders.

Both axes are logarithmic, so that work that takes eight times as long at eight times the size is a
straight line. Written as SVG without a date, so that the same results give the same file.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from bench.report import Json, better_time

COLUMNS = 3
PANEL = (3.6, 2.7)  # inches
COLOURS = {"tessella": "#c0392b", "numpy": "#7f8c8d", "torch": "#d68910", "jax": "#2471a3"}
PREFIX = "growth-"


def pictures(results: Json) -> dict[str, list[Json]]:
    """The ladders of some results, by the picture that each is drawn in."""
    found: dict[str, list[Json]] = {}
    for row in results["rows"]:
        if row.get("picture"):
            found.setdefault(row["picture"], []).append(row)
    return found


def draw_ladder(axes: Any, row: Json) -> None:
    """One panel: milliseconds at each size, a line for each contender."""
    positions = range(len(row["cases"]))
    for name, colour in COLOURS.items():
        times = [better_time(case, name) for case in row["cases"]]
        if all(time is not None for time in times):
            milliseconds = [1000 * time for time in times if time is not None]
            axes.plot(positions, milliseconds, "o-", label=name, color=colour, markersize=3)
    axes.set_yscale("log")
    axes.set_xticks(positions, [case["name"] for case in row["cases"]], fontsize=7)
    axes.tick_params(axis="y", labelsize=7)
    axes.set_title(row["name"].removeprefix(PREFIX), fontsize=9)
    axes.set_ylabel("ms", fontsize=8)
    axes.grid(visible=True, which="major", alpha=0.3)


def draw(rows: list[Json], path: Path) -> None:
    """One picture of some ladders."""
    pyplot = importlib.import_module("matplotlib.pyplot")
    height = -(-len(rows) // COLUMNS)
    size = (PANEL[0] * COLUMNS, PANEL[1] * height)
    figure, grid = pyplot.subplots(height, COLUMNS, figsize=size, squeeze=False)
    panels = list(grid.flat)
    for axes, row in zip(panels, rows, strict=False):
        draw_ladder(axes, row)
    for axes in panels[len(rows) :]:
        axes.set_visible(False)
    panels[0].legend(fontsize=7)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def draw_all(results: Json, folder: Path) -> None:
    """Every picture whose ladders were measured."""
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "tessella"
    for picture, rows in pictures(results).items():
        draw(rows, folder / f"{picture}.svg")
