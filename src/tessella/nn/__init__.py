"""Networks: modules with parameters, and the functions that they are made of."""

from tessella.nn import functional

__all__ = ["functional"]
