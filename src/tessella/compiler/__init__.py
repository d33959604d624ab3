"""compile: a function of tensors, recorded and repeated as one program with the same bits.

capture → simplify → fuse → recompute → plan → run, each one file. See docs/compile.md.
"""

from __future__ import annotations

from tessella.compiler.run import Compiled, compile

__all__ = ["Compiled", "compile"]
__dir__ = __all__.copy
