"""Written by `make generate` from imports.PLACES; change that, not this."""

from tessella.nn.parameters import Buffer as Buffer, Parameter as Parameter
