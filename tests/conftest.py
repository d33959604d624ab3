"""How the tests draw their cases.

TESSELLA_TEST_SEED decides which cases of the large families run and what Hypothesis draws, so that
a run can be repeated; TESSELLA_TEST_FULL=1 runs all of them. Whoever runs pytest without a seed
gets a fresh one, which the header shows.
"""

from __future__ import annotations

import gc
import os
import random
import zlib
from collections.abc import Iterable, Iterator
from typing import TypeVar

import hypothesis
import pytest

from tessella import _core, namespace
from tessella.compiler import lower

Case = TypeVar("Case")

namespace.load()  # the tables are whole before any test reads them
# Random sizes may ask for all memory that the machine has; several workers share it.
_core.set_memory_limit(3 << 30)
lower.VERIFIES = True

# Workers of pytest-xdist inherit the environment, so that all of them collect the same cases.
os.environ.setdefault("TESSELLA_TEST_SEED", str(random.SystemRandom().randrange(1 << 31)))
SEED = int(os.environ["TESSELLA_TEST_SEED"])
FULL = os.environ.get("TESSELLA_TEST_FULL", "") == "1"

hypothesis.settings.register_profile("sampled", deadline=None, max_examples=20, database=None)
hypothesis.settings.register_profile("full", deadline=None, max_examples=300, database=None)
hypothesis.settings.load_profile("full" if FULL else "sampled")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Give Hypothesis the seed, before its own plugin reads the option."""
    if config.getoption("hypothesis_seed", None) is None:
        config.option.hypothesis_seed = str(SEED)


def pytest_report_header() -> str:
    """Show how to repeat the run."""
    return f"TESSELLA_TEST_SEED={SEED}" + (", full counts" if FULL else "")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
    """Show the seed beside a failure, where quiet runs have no header."""
    if exitstatus != 0:
        terminalreporter.write_line(f"repeat with TESSELLA_TEST_SEED={SEED}")


def sampled(cases: Iterable[Case], k: int) -> list[Case]:
    """Give all cases under full counts, else k of them chosen by the seed, in their order."""
    pool = list(cases)
    if FULL or len(pool) <= k:
        return pool
    # The pool is part of the seed: lists of equal length do not always keep the same places.
    generator = random.Random(SEED ^ zlib.crc32(repr(pool).encode()))
    return [pool[i] for i in sorted(generator.sample(range(len(pool)), k))]


def sampled_each(names: Iterable[str], cases: Iterable[Case], k: int) -> list[tuple[str, Case]]:
    """Give each name with k of the cases, which are other ones for other names."""
    pool = list(cases)
    return [pair for name in names for pair in sampled([(name, case) for case in pool], k)]


@pytest.fixture(autouse=True)
def still_collector() -> Iterator[None]:
    """Keep the garbage of other tests (tracebacks in cycles) from being freed within a test.

    Many tests compare the bytes that live before and after a step.
    """
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def live() -> int:
    """Give the bytes of tensors that live before a test, without other tests' garbage."""
    gc.collect()
    return _core.memory_counts()[0]


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """Give a generator that depends on the seed and the test's name."""
    return random.Random(f"{SEED} {request.node.nodeid}")
