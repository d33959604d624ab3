"""Times the contenders of a case, interleaved: rounds of A B C, B C A, … and medians of blocks.

A block runs one statement many times in a compiled loop, as timeit does; the cost of the empty
loop is subtracted from everybody. Nothing here knows what is being timed.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache
from itertools import repeat
from typing import Any

from bench.cases import PEAK, Case, Work
from bench.libraries import SETTINGS, Libraries
from bench.neighbour import neighbour

# A case runs rounds for about CASE_SECONDS, but at least and at most this many.
CASE_SECONDS = 0.8
FEWEST_ROUNDS, MOST_ROUNDS = 7, 21
BLOCK_SECONDS = 0.006
LONG_SECONDS = 0.05  # a call beside which it is nothing what the caches and threads did before

Loop = Callable[[Iterator[None]], None]


def compile_loop(work: Work) -> Loop:
    """A function that runs the statement once for each tick, with its names as locals."""
    parameters = "".join(f", {name}={name}" for name in work.names)
    source = f"def loop(_ticks{parameters}):\n    for _ in _ticks:\n        {work.statement}\n"
    scope = dict(work.names)
    exec(source, scope)
    loop: Loop = scope["loop"]
    return loop


def time_block(loop: Loop, calls: int) -> float:
    """Seconds for `calls` runs."""
    ticks = repeat(None, calls)
    start = time.perf_counter()
    loop(ticks)
    return time.perf_counter() - start


def calls_per_block(loop: Loop) -> int:
    """How many calls fill a block; the doubling also warms caches, pools and jits."""
    calls = 1
    time_block(loop, 1)
    while (seconds := time_block(loop, calls)) < BLOCK_SECONDS / 2:
        calls *= 2
    return max(1, round(calls * BLOCK_SECONDS / seconds))


@cache
def empty_loop() -> float:
    """Seconds of one tick of a loop that does nothing."""
    loop = compile_loop(Work("pass", {}))
    calls = calls_per_block(loop)
    return statistics.median(time_block(loop, calls) / calls for _ in range(MOST_ROUNDS))


def wait_until_idle() -> None:
    """Lets the last contender's workers stop spinning: OpenBLAS's go on for some 90 ms.

    One quiet window may only mean that the spinning thread was not scheduled, so three must follow
    each other.
    """
    deadline, quiet = time.perf_counter() + 0.5, 0
    while quiet < 3 and time.perf_counter() < deadline:
        wall, cpu = time.perf_counter(), time.process_time()
        time.sleep(0.002)
        is_quiet = time.process_time() - cpu < 0.1 * (time.perf_counter() - wall)
        quiet = quiet + 1 if is_quiet else 0


def warmed_calls(work: Work, loop: Loop) -> int:
    """How many calls fill a block of this work, which has then run."""
    with work.around():
        return calls_per_block(loop)


def run_rounds(
    works: dict[str, Work], loops: dict[str, Loop], calls: dict[str, int]
) -> dict[str, list[float]]:
    """Seconds for each call, block by block; each round begins with another contender."""
    names = list(works)
    times: dict[str, list[float]] = {name: [] for name in names}
    deadline = time.perf_counter() + CASE_SECONDS
    for turn in range(MOST_ROUNDS):
        if turn >= FEWEST_ROUNDS and time.perf_counter() > deadline:
            break
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            wait_until_idle()
            with works[name].around():
                if not times[name] or times[name][-1] < LONG_SECONDS:
                    time_block(loops[name], calls[name] // 8 + 1)
                seconds = time_block(loops[name], calls[name]) / calls[name]
            times[name].append(max(seconds - empty_loop(), 1e-10))
    return times


def summarise(
    times: list[float], calls: int, work: Work, is_yardstick: bool = False
) -> dict[str, Any]:
    """Median seconds of a call, the spread of the middle half, and the speed.

    That of a yardstick is its best block's.
    """
    median = statistics.median(times)
    low, _, high = statistics.quantiles(times, n=4)
    return {
        "median_s": median,
        "spread": (high - low) / median,
        "blocks": len(times),
        "calls_in_block": calls,
        "amount_per_s": work.amount / (min(times) if is_yardstick else median),
    }


def measure(case: Case, libraries: Libraries) -> dict[str, Any]:
    """One case at this process's setting: a summary for each contender."""
    works = case.build(libraries)
    if libraries.setting != SETTINGS[0] and len(works) > 1:
        works.pop(PEAK, None)  # it has no setting, and counts in the first
    check_agreement(case, works, libraries)
    loops = {name: compile_loop(work) for name, work in works.items()}
    with neighbour() if case.is_busy else nullcontext():
        calls = {name: warmed_calls(works[name], loop) for name, loop in loops.items()}
        gc.collect()
        gc.disable()
        try:
            times = run_rounds(works, loops, calls)
        finally:
            gc.enable()
    return {
        "statements": {name: work.statement for name, work in works.items()},
        "contenders": {
            name: summarise(times[name], calls[name], work, is_yardstick=name == PEAK)
            for name, work in works.items()
        },
    }


def check_agreement(case: Case, works: dict[str, Work], libraries: Libraries) -> None:
    """Raises when contenders do not compute the same thing: a race between them means nothing."""
    if case.tolerance is None:
        return
    results = {
        name: libraries.to_numpy(evaluate(work)) for name, work in works.items() if name != PEAK
    }
    reference = results.get("numpy", next(iter(results.values())))
    scale = abs(reference).max()
    for name, result in results.items():
        if result.shape != reference.shape:
            raise ValueError(f"{name} has shape {result.shape}, the others {reference.shape}")
        error = abs(result - reference).max()
        if not error <= case.tolerance * scale:
            raise ValueError(f"{name} is off by {error:g} where values reach {scale:g}")


def evaluate(work: Work) -> Any:
    """What a work says is compared: else its value, or its output operand if it returns nothing."""
    value = eval(work.statement, dict(work.names))
    if work.compared:
        return eval(work.compared, {**work.names, "value": value})
    return work.names["out"] if value is None else value
