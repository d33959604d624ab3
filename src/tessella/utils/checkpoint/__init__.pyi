"""Written by `make generate` from imports.PLACES; change that, not this."""

from tessella.checkpoints import Again as Again, checkpoint as checkpoint
