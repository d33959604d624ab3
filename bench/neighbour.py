"""A process that keeps one core busy beside what is timed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# It ends by itself when whoever started it is gone.
CODE = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"


@contextmanager
def neighbour() -> Iterator[None]:
    """Run it for as long as the block lasts; the system chooses its core."""
    process = subprocess.Popen([sys.executable, "-I", "-c", CODE])
    try:
        yield
    finally:
        process.kill()
        process.wait()
