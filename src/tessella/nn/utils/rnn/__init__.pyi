"""Written by `make generate` from imports.PLACES; change that, not this."""

from tessella.nn.ragged import pad_sequence as pad_sequence
