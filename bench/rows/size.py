"""Row `size`: the wheel in dist/, and what the packages take when installed. MB is 10**6 bytes."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

from bench.cases import SUBJECT, Once, Row, at_most

DIST = Path(__file__).parents[2] / "dist"

# What a user has to install for each, without the dependencies they share with others.
PACKAGES = {
    SUBJECT: ("tessella",),
    "numpy": ("numpy",),
    "torch": ("torch",),
    "jax": ("jax", "jaxlib"),
}


def wheel_megabytes() -> float:
    """The newest wheel that was built."""
    wheels = sorted(DIST.glob("tessella-*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        raise FileNotFoundError("no wheel in dist/: run `make wheel`")
    return wheels[-1].stat().st_size / 1e6


def installed_megabytes(package: str) -> float:
    """The files that the installer recorded, byte code included."""
    paths = [Path(str(path.locate())) for path in distribution(package).files or ()]
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def measure() -> Iterator[Once]:
    """The wheel, then everybody as installed."""
    yield Once("wheel", {SUBJECT: wheel_megabytes()}, "MB", (at_most(5, "MB"),))
    installed = {name: sum(map(installed_megabytes, parts)) for name, parts in PACKAGES.items()}
    yield Once("installed", installed, "MB", (at_most(15, "MB"),))


ROW = Row("size", "the wheel, and the installed package", once=measure)
