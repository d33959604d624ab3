"""Prints how often the core allocates in five calls of a compiled step, from the fourth call on.

Needs the environment of `bench.allocations.preloaded`.
"""

from __future__ import annotations

import sys

import numpy as np

import tessella as ts
from bench.allocations import count_allocations
from bench.programs.steps import PROGRAMS

step = PROGRAMS[sys.argv[1]].step(ts, np, ts.compile)
for _ in range(3):
    step()
print(count_allocations(step, 5))
