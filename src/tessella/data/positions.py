"""Where in an epoch a loader is, as plain numbers that can be stored.

An order is not stored: the state of its generator when the epoch began makes the same one again.
"""

from __future__ import annotations

from typing import Any

from tessella import data_errors, errors
from tessella.data.samplers import OrderedSampler
from tessella.ops.random import Generator

State = dict[str, int]  # of a generator


def state_of(generator: Generator | None) -> State | None:
    """Give the state of a generator, if there is one."""
    return None if generator is None else generator.state_dict()


class Position:
    """How many batches of an epoch were given, and what its order was drawn from."""

    def __init__(self) -> None:
        self.batches = 0
        self.start: State | None = None
        self.is_over = False
        self.is_resumed = False  # it was loaded: the next iteration goes on from here
        self.stream: Any = None  # the state of a stream that keeps one

    def next(self) -> Position:
        """Give the position that the next iteration begins at."""
        if not self.is_resumed or self.is_over:
            return Position()
        self.is_resumed = False
        return self

    def source_of(self, sampler: OrderedSampler) -> Generator | None:
        """Give the generator that the order of this epoch is drawn from."""
        if self.start is not None:
            source = Generator()  # another one: the sampler's own is where it was
            source.load_state_dict(self.start)
            return source
        drawn = sampler.source()
        self.start = state_of(drawn)
        return drawn

    def rewind(self, generator: Generator | None) -> None:
        """Bring a generator to where it was when the epoch began: something draws it again."""
        if generator is not None and self.start is not None:
            generator.load_state_dict(self.start)
        self.start = state_of(generator)

    def state(self) -> dict[str, Any]:
        """Give it as a dict of numbers."""
        state = {"batches": self.batches, "is_over": self.is_over, "start": self.start}
        return state if self.stream is None else {**state, "stream": self.stream}

    @staticmethod
    def from_state(state: dict[str, Any]) -> Position:
        """Make it of what state() gave."""
        position = Position()
        position.batches = _number(state, "batches")
        position.is_over = bool(state["is_over"])
        position.start = generator_state(state, "start")
        position.stream = state.get("stream")
        position.is_resumed = True
        return position


def _number(state: dict[str, Any], name: str) -> int:
    value = state[name]
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise data_errors.wrong_state(f"{name} is {value!r}")
    return value


def generator_state(state: dict[str, Any], name: str) -> State | None:
    """Read the state of a generator, or None."""
    try:
        if state[name] is not None:
            Generator().load_state_dict(state[name])
    except errors.TessellaError as error:
        raise data_errors.wrong_state(f"{name}: {error.what}") from None
    value: State | None = state[name]
    return value
