"""The layout algebra: shape, strides in elements and offset, and what views do to them.

The arithmetic is the core's. A `Layout` never changes: what views do gives a new one; `reshape`
gives None where the strides do not allow a view.

>>> ts.layouts.Layout((2, 3)).permute((1, 0))
Layout(shape=(3, 2), strides=(1, 3), offset=0)
"""

from tessella._core import Layout

__all__ = ["Layout"]
__dir__ = __all__.copy
