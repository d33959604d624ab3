"""Rows `step-…`, `step-eager`, `busy` and `anomaly`: whole training steps.

`step-xor` to `step-lstm` are compiled, and race PyTorch's eager mode with its fused optimizer, JAX,
and torch.compile twice: with the update compiled, too, and with the fused optimizer. `step-eager`
is the same steps without a compiler, against PyTorch's. In `busy` all share the machine with a
process that keeps one core; torch.compile is left out, for it would take minutes more. In `anomaly`
Tessella watches for NaN and infinities, and `unwatched` is Tessella without.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from bench.cases import ONCE, Bar, Case, Row, Work, ahead, within
from bench.libraries import COMPILED_LOSS, COMPILED_TORCH, Libraries
from bench.programs.stepping import ByParts, Step
from bench.programs.steps import PROGRAMS, Program

TRAIN = "step()"
WARM = 4  # steps before the first that counts: Tessella records three of them
BEST = ("torch", COMPILED_TORCH, COMPILED_LOSS, "jax")
COMPILED: dict[str, tuple[Bar, ...]] = {
    "xor": (ahead(50, "torch"), ahead(20, "jax")),
    "digits": (ahead(2, *BEST),),
    "mnist": (ahead(1.1, *BEST),),
    "gpt": (ahead(1.2, *BEST),),
    "conv": (ahead(1, *BEST),),
    "lstm": (ahead(1, *BEST),),
}
EAGER_AHEAD = {"xor": 3, "digits": 3, "mnist": 1, "gpt": 1, "conv": 1, "lstm": 1}
WATCHED = {"xor": 2, "mnist": 1.15}


def eager_steps(libs: Libraries, program: Program) -> dict[str, Step]:
    """The same network, numbers and optimizer for both."""
    return {
        "tessella": program.step(libs.ts, libs.np),
        "torch": program.step(libs.torch, libs.np, fused=True),
    }


def compiled_steps(libs: Libraries, program: Program) -> dict[str, Step]:
    """Tessella and JAX compiled, PyTorch eager."""
    return eager_steps(libs, program) | {
        "tessella": program.step(libs.ts, libs.np, libs.ts.compile),
        "jax": program.jax_step(libs.jax, libs.np),
    }


def all_steps(libs: Libraries, program: Program) -> dict[str, Step]:
    """PyTorch compiled, too, in both ways."""
    torch = libs.torch
    torch.compiler.reset()
    only_loss = ByParts(torch.compile, has_update=False)
    return compiled_steps(libs, program) | {
        COMPILED_TORCH: program.step(torch, libs.np, ByParts(torch.compile)),
        COMPILED_LOSS: program.step(torch, libs.np, only_loss, fused=True),
    }


def build(
    libs: Libraries,
    program: Program,
    make: Callable[[Libraries, Program], dict[str, Step]],
    amount: float = 1.0,
) -> dict[str, Work]:
    """Steps that have begun, so that it is compiled ones whose losses must agree."""
    steps = make(libs, program)
    for step in steps.values():
        for _ in range(WARM):
            step()
    return {who: Work(TRAIN, {"step": step}, amount) for who, step in steps.items()}


def compiled_row(name: str) -> Row:
    """A row with one case."""
    program = PROGRAMS[name]
    case = Case(program.what, partial(build, program=program, make=all_steps), COMPILED[name])
    return Row(f"step-{name}", "a whole training step, compiled", (case,))


STEPS = tuple(map(compiled_row, COMPILED))
EAGER = Row(
    "step-eager",
    "the same training steps without compile",
    tuple(
        Case(
            name,
            partial(build, program=PROGRAMS[name], make=eager_steps),
            (ahead(bar, "torch"),),
        )
        for name, bar in EAGER_AHEAD.items()
    ),
)


def busy_case(name: str, is_compiled: bool) -> Case:
    """A step beside a busy process."""
    make, peers = (compiled_steps, ("torch", "jax")) if is_compiled else (eager_steps, ("torch",))
    return Case(
        name if is_compiled else f"{name}, eager",
        partial(build, program=PROGRAMS[name], make=make),
        (ahead(1, *peers),),
        is_busy=True,
    )


BUSY = Row(
    "busy",
    "the same training steps while another process keeps one core busy",
    tuple(busy_case(name, is_compiled) for is_compiled in (True, False) for name in PROGRAMS),
)


# --- anomaly --------------------------------------------------------------------------------------


def watched(ts: Any, step: Step) -> Step:
    """Train once under the watch, entering and leaving it."""

    def train() -> Any:
        with ts.autograd.detect_anomaly():
            return step()

    return train


def build_watched(libs: Libraries, name: str) -> dict[str, Work]:
    """Two trainings that begin alike."""
    steps = [PROGRAMS[name].step(libs.ts, libs.np) for _ in range(2)]
    return {
        "tessella": Work(TRAIN, {"step": watched(libs.ts, steps[0])}),
        "unwatched": Work(TRAIN, {"step": steps[1]}),
    }


ANOMALY = Row(
    "anomaly",
    "training steps under detect_anomaly",
    tuple(
        Case(
            name,
            partial(build_watched, name=name),
            (within(bar, "unwatched"),),
            "",
            0.0,
            settings=ONCE,
        )
        for name, bar in WATCHED.items()
    ),
)
