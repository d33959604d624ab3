"""What steps of compiled programs could gain if two that need nothing of each other ran at once.

`python -m bench.pairing` measures each step of the trainings on one thread and on all, and works
out the best time of a schedule that may run two ready steps beside each other, a thread each,
where that beats one after the other on all threads. It is a bound: caches that two steps share,
and arena memory that could no longer be used twice, are left out.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy

import tessella
from bench.programs.steps import PROGRAMS

WARM, REPEATS = 6, 60
MEETING = 0.7e-6  # seconds to hand a step to a thread that spins, and to wait for it


def needs(steps: list[Any]) -> list[set[int]]:
    """Give for each step the earlier ones that must have ended: by what it reads and writes."""
    writer: dict[int, int] = {}
    readers: dict[int, set[int]] = {}
    needed: list[set[int]] = []
    for at, step in enumerate(steps):
        reads = {operand.slot for each in step for operand in each.reads()}
        writes = {operand.slot for each in step for operand in each.writes()}
        before = {writer[slot] for slot in reads | writes if slot in writer}
        before = before.union(*(readers.get(slot, set()) for slot in writes))
        needed.append(before - {at})
        for slot in reads:
            readers.setdefault(slot, set()).add(at)
        for slot in writes:
            writer[slot], readers[slot] = at, set()
    return needed


def paired(needed: list[set[int]], alone: list[float], shared: list[float]) -> float:
    """Give the seconds of a schedule: always the pair that gains most, else the next step."""
    best = list(map(min, alone, shared))
    done: set[int] = set()
    seconds = 0.0
    while len(done) < len(best):
        ready = [at for at in range(len(best)) if at not in done and needed[at] <= done]
        gains = {
            (i, j): best[i] + best[j] - max(alone[i], alone[j]) - MEETING
            for i, j in combinations(ready, 2)
        }
        pair = max(gains, key=lambda pair: gains[pair], default=())
        chosen = pair if pair and gains[pair] > 0 else ready[:1]
        seconds += sum(best[at] for at in chosen) - (gains[pair] if chosen is pair else 0)
        done.update(chosen)
    return seconds


def measure(step: Any, threads: int) -> list[float]:
    """Give the seconds of each step of a training's program at a number of threads."""
    with tessella.num_threads(threads):
        for _ in range(WARM):
            step()
        return [row.seconds for row in step.func.profile(*step.args, repeats=REPEATS).rows]


def main() -> None:
    """Print a line for each training."""
    print("training  one thread  all threads  with pairs  gain at most")
    for name, program in PROGRAMS.items():
        step: Any = program.step(tessella, numpy, tessella.compile)
        shared, alone = (measure(step, n) for n in (tessella.get_num_threads(), 1))
        seconds = paired(needs(step.func.program.steps), alone, shared)
        best = sum(map(min, alone, shared))
        columns = [f"{1e6 * each:.1f} µs" for each in (sum(alone), sum(shared), seconds)]
        print(f"{name:8} {columns[0]:>11} {columns[1]:>12} {columns[2]:>11} {best / seconds:13.3f}")


if __name__ == "__main__":
    main()
