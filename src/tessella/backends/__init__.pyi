"""Written by `make generate` from imports.PLACES; change that, not this."""

from tessella.backends import cudnn as cudnn, mps as mps
