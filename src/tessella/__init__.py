"""Tessella: a tensor library with automatic differentiation.

>>> x = ts.tensor([[1.0, 2.0], [3.0, 4.0]])
>>> (x @ x.T).sum().item()
52.0
"""

try:
    from tessella._core import Tensor
except ImportError as error:  # what is wrong with a setting stands in its cause
    raise error.__cause__ or error from None

from tessella import dtypes, errors, layouts
from tessella.namespace import find, install, names

__all__ = ["Tensor", "dtypes", "errors", "layouts"]
__getattr__ = find
__dir__ = names

install(globals())
