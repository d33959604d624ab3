"""Written by `make generate` from imports.PLACES; change that, not this."""

from tessella.utils import checkpoint as checkpoint, data as data
