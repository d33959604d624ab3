"""Plugging in a BLAS for large products: off by default, outside the promise of the same bits."""

from __future__ import annotations

import os

from tessella import _core, errors
from tessella.composites import composite
from tessella.hints import Any


@composite(is_method=False, tested="tests/test_blas.py")
def set_blas(path: Any) -> None:
    """Compute large products of float32 and float64 with a BLAS library; None: with our kernels.

    The library brings its own order of summation and its own threads: the same product may have
    other bits on another machine, with another number of threads or in another layout.

    >>> ts.set_blas(None)
    """
    if path is not None and not isinstance(path, str | os.PathLike):
        raise errors.wrong_type("path", path, "a path, or None")
    text = "" if path is None else os.fspath(path)
    if not isinstance(text, str) or "\0" in text:
        raise errors.wrong_value("path", path, "text without NUL")
    why = _core.use_blas(text)
    if why:
        raise errors.no_blas(text, why)


@composite(is_method=False, tested="tests/test_blas.py")
def get_blas() -> str | None:
    """Give the path of the BLAS library that computes large products, or None.

    >>> ts.get_blas() is None
    True
    """
    return _core.blas_path() or None
