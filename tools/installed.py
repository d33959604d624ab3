"""The package as a wheel installs it: plain files, and no finder that looks for changed sources.

An editable install rebuilds the core at import. Where an import is timed or its instructions are
counted, that is not what is measured.
"""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

import tessella
from tessella import _core


def lay_out(folder: Path) -> dict[str, str]:
    """Lay the package out by links; give the environment in which `python -S` finds it.

    Without -S the editable install's own finder would stand before the folder.
    """
    package = folder / "tessella"
    package.mkdir()
    core = Path(_core.__file__)
    (package / core.name).symlink_to(core)
    for path in Path(tessella.__file__).parent.iterdir():
        if path.name != core.name:
            (package / path.name).symlink_to(path)
    # NumPy is there: what is not loaded could have been.
    others = sysconfig.get_path("purelib")
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), others))}
