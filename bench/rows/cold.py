"""Row `cold`: new processes that import, build the digits network, compile and train ten times.

The whole wall time of a process counts. Tessella's and PyTorch's is one text, which loads nothing
else; PyTorch stays eager, since its compiler takes seconds.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from bench.cases import SUBJECT, Once, Row, ahead
from bench.fresh import ROOT, seconds_of

MODULES = """
import {library} as library
nn, functional = library.nn, library.nn.functional
model = nn.Sequential(
    nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)
)
optimizer = library.optim.Adam(model.parameters(), lr=1e-3{options})
x, y = library.randn(64, 64), library.randint(0, 10, (64,))
def step(x, y):
    optimizer.zero_grad()
    loss = functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss
{compile}
for _ in range(10):
    loss = step(x, y)
loss.item()
"""
JITTED = """
import sys
sys.path.insert(0, {root!r})
import jax, numpy
from bench.programs.steps import PROGRAMS
step = PROGRAMS["digits"].jax_step(jax, numpy)
for _ in range(10):
    loss = step()
loss.item()
"""
CODES = {
    SUBJECT: MODULES.format(library="tessella", options="", compile="step = library.compile(step)"),
    "torch": MODULES.format(library="torch", options=", fused=True", compile=""),
    "jax": JITTED.format(root=str(ROOT)),
}
ROUNDS = {SUBJECT: 15, "torch": 4, "jax": 4}


def measure() -> Iterator[Once]:
    """Interleaved; a first, unmeasured round fills the file cache and writes byte code."""
    times: dict[str, list[float]] = {name: [] for name in CODES}
    for turn in range(-1, max(ROUNDS.values())):
        for name, code in CODES.items():
            if turn < ROUNDS[name]:
                taken = seconds_of(code)
                times[name] += [taken] if turn >= 0 else []
    values = {name: statistics.median(taken) * 1000 for name, taken in times.items()}
    yield Once("digits", values, "ms", (ahead(10, "torch"),))


ROW = Row("cold", "a new process: import, build, compile, train ten times", once=measure)
