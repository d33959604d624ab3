"""Writes what is derived: stubs, the catalogue, the reference, a drawing, the tour's page and more.

``python tools/generate.py`` writes the files, ``--check`` only names those that are stale and then
exits with 1. The texts are made in the modules that it imports: the catalogue of operations, stubs
of the package and of PyTorch's other places, docs/operations.md with the pages under it, the arena
of a compiled step as the planner lays it out, the page of the tour, and that of PyTorch's users.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import catalogue
import drawings
import migration
import operations
import stub_places
import stubs
import tour_page
from tessella import namespace

ROOT = Path(__file__).resolve().parent.parent
FILES: dict[str, Callable[[], str]] = {
    "src/tessella/catalogue.py": catalogue.catalogue,
    "src/tessella/_core.pyi": stubs.core_stub,
    "src/tessella/__init__.pyi": stubs.package_stub,
    **{
        f"src/tessella/{home.replace('.', '/')}/__init__.pyi": partial(stubs.subpackage_stub, home)
        for home in namespace.load()
    },
    "docs/design/arena.svg": drawings.arena_drawing,
    "docs/design/tour.md": tour_page.tour_page,
    "docs/from_pytorch.md": migration.migration_page,
}
REFERENCE = "docs/operations"  # a folder in which nothing else lies


def tidy(text: str, name: str) -> str:
    """Sort imports and lay out a stub as `make lint` wants it."""
    if not name.endswith((".py", ".pyi")):
        return text
    ruff = [sys.executable, "-m", "ruff"]
    fix = [*ruff, "check", "-q", "--fix", "--exit-zero", "--select", "I,F401,UP"]
    for command in (fix, [*ruff, "format", "-q"]):
        command = [*command, "--stdin-filename", str(ROOT / name), "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        text = done.stdout
    return text


def main() -> int:
    """Write the files, or compare them; 1 if one is stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only")
    is_check = parser.parse_args().check
    stale = []
    texts = {name: make() for name, make in FILES.items()}
    texts |= stub_places.place_stubs() | operations.operations_pages()
    for name in texts:
        path, text = ROOT / name, tidy(texts[name], name)
        if path.is_file() and path.read_text() == text:
            continue
        stale.append(name)
        if not is_check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for path in sorted((ROOT / REFERENCE).iterdir()):
        if f"{REFERENCE}/{path.name}" not in texts:
            stale.append(f"{REFERENCE}/{path.name}")
            if not is_check:
                path.unlink()
    word = "stale" if is_check else "written"
    print("\n".join(f"{word}: {name}" for name in stale) or "up to date")
    return 1 if is_check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
