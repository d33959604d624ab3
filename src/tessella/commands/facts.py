"""`python -m tessella info`: what this installation is and what it found."""

from __future__ import annotations

import platform
from importlib import metadata

from tessella import _core, info, memory, threads
from tessella.sizes import to_text

# Packages that are used where they are installed, and what for.
EXTRAS = {
    "numpy": "linear algebra, Fourier transforms, arrays",
    "tqdm": "progress bars",
    "rich": "progress bars",
    "matplotlib": "plots",
    "tokenizers": "tokenizer.json of language models",
    "jinja2": "templates of chats",
}


def version_of(package: str) -> str:
    """Give the version of an installed package, or that it is none."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def describe() -> str:
    """Give the facts, a line each."""
    isas = ", ".join(_core.supported_isas())
    blas = _core.blas_path()
    rows = {
        "tessella": info.version(),
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "instruction set": f"{_core.isa()} (of {isas})",
        "threads": str(threads.get_num_threads()),
        "memory limit": to_text(memory.stats().limit),
        **{name: f"{version_of(name)} ({use})" for name, use in EXTRAS.items()},
        "other bits": f"BLAS {blas}" if blas else "linalg's decompositions and fft: NumPy's bits",
    }
    width = max(map(len, rows))
    return "\n".join(f"{name:<{width}}  {text}" for name, text in rows.items())
