"""The state of a run in one file: it goes on bit by bit, and comes back wholly or not at all."""

from __future__ import annotations

import copy
import io
from pathlib import Path
from typing import Any

import pytest

import tessella as ts
from tessella import nn
from tessella.ops.random import default_generator


class Momentum:
    """An optimizer: a velocity for each parameter, and the number of steps as a tensor."""

    def __init__(self, parameters: Any, rate: float = 0.1) -> None:
        self.parameters = list(parameters)
        self.velocities = [ts.zeros_like(x.detach()) for x in self.parameters]
        self.steps = ts.tensor(0)
        self.param_groups = [{"rate": rate}]

    def step(self) -> None:
        """Update all parameters in place."""
        with ts.no_grad():
            for x, velocity in zip(self.parameters, self.velocities, strict=True):
                assert x.grad is not None
                velocity.copy_(velocity * 0.9 + x.grad)
                x -= velocity * self.param_groups[0]["rate"]
                x.grad = None
            self.steps += 1

    def state_dict(self) -> dict[str, Any]:
        """Give the state."""
        state = {i: {"velocity": x} for i, x in enumerate(self.velocities)}
        return {"state": state, "steps": self.steps, "groups": self.param_groups}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take a state."""
        for i, x in enumerate(self.velocities):
            x.copy_(state["state"][i]["velocity"])
        self.steps.copy_(state["steps"])
        self.param_groups = state["groups"]


class Position:
    """A loader or scheduler: plain numbers, and one that may refuse a state."""

    def __init__(self, place: int = 0, refuses: bool = False) -> None:
        self.place = place
        self.refuses = refuses
        self.order = ts.arange(3)

    def state_dict(self) -> dict[str, Any]:
        """Give the state."""
        return {"place": self.place, "order": self.order}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take a state, or leave it half taken."""
        self.order = state["order"]
        if self.refuses and state["place"] == 7:
            raise RuntimeError("not this one")
        self.place = state["place"]


class Run:
    """A training run with everything in it."""

    def __init__(self, seed: int) -> None:
        ts.manual_seed(seed)
        self.model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        self.optimizer = Momentum(self.model.parameters())
        self.loader = Position()
        self.generator = ts.Generator(seed)

    @property
    def parts(self) -> dict[str, Any]:
        """Give what takes part in a checkpoint."""
        return dict(vars(self))

    def train(self, steps: int) -> list[float]:
        """Train on random batches, of both generators."""
        losses = []
        for _ in range(steps):
            x = ts.randn(16, 4, generator=self.generator) + ts.rand(16, 4)
            loss = (self.model(x) - x.sum(axis=1, keepdims=True)).square().mean()
            loss.backward()
            self.optimizer.step()
            self.loader.place += 1
            losses.append(loss.item())
        return losses


def frozen(run: Run) -> Any:
    """Give all of a run's state as plain values."""
    file = io.BytesIO()
    ts.io.save_checkpoint(file, **run.parts)
    return file.getvalue()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.ts"


def test_a_run_that_goes_on_is_the_run_that_did_not_stop(path: Path) -> None:
    run = Run(3)
    run.train(5)
    ts.io.save_checkpoint(path, **run.parts, step=5, note="half way")
    whole = run.train(5)
    other = Run(99)
    ts.rand(17)
    assert ts.io.load_checkpoint(path, **other.parts) == {"step": 5, "note": "half way"}
    assert other.optimizer.steps.item() == 5 and other.loader.place == 5
    assert other.train(5) == whole and frozen(other) == frozen(run)


def test_restored_state_can_be_written(path: Path) -> None:
    """Objects may keep the tensors that they are given: those must be theirs to write."""
    run = Run(1)
    ts.io.save_checkpoint(path, **run.parts, table=ts.zeros(3))
    before = path.read_bytes()
    rest: Any = ts.io.load_checkpoint(path, **run.parts)
    run.loader.order += 1
    rest["table"] += 1
    assert run.loader.order.tolist() == [1, 2, 3] and path.read_bytes() == before
    assert ts.memory.stats().foreign >= 24  # the loader's, over the file
    assert rest["table"].allocator is not None


def test_parts_that_are_not_given_come_back_as_their_states(path: Path) -> None:
    run = Run(1)
    ts.io.save_checkpoint(path, **run.parts, step=7)
    rest: Any = ts.io.load_checkpoint(path, model=run.model)
    assert set(rest) == {"optimizer", "loader", "generator", "step"}
    assert rest["generator"] == run.generator.state_dict()
    assert ts.load(path)["model"].keys() == run.model.state_dict().keys()  # type: ignore[call-overload, index, union-attr]


def test_the_default_generator_takes_part(path: Path) -> None:
    ts.manual_seed(5)
    ts.io.save_checkpoint(path)
    drawn = ts.rand(3).tolist()
    ts.manual_seed(6)
    assert ts.io.load_checkpoint(path) == {}
    assert ts.rand(3).tolist() == drawn


# --- all or nothing ------------------------------------------------------------------------------


def other_shape(run: Run) -> None:
    run.model = nn.Sequential(nn.Linear(4, 9), nn.Tanh(), nn.Linear(9, 1))


def other_dtype(run: Run) -> None:
    run.optimizer.steps = ts.tensor(0.0)


def more_layers(run: Run) -> None:
    run.model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1), nn.Linear(1, 1))


def fewer_tensors(run: Run) -> None:
    run.optimizer.velocities.pop()


def refusing_loader(run: Run) -> None:
    run.loader = Position(0, refuses=True)


def no_object(run: Run) -> None:
    run.loader = 3  # type: ignore[assignment]


def unknown_part(run: Run) -> None:
    run.scheduler = Position()  # type: ignore[attr-defined]


MISFITS = {
    other_shape: (ts.errors.FormatError, "['model']['0.", "does not fit: it is float32 (9"),
    other_dtype: (ts.errors.FormatError, "['optimizer']['steps']", "float32 () here, int64 () in"),
    more_layers: (ts.errors.FormatError, "['model']['3.", "the object has it, the file has not"),
    fewer_tensors: (ts.errors.FormatError, "['optimizer']['state'][3]", "the object has not"),
    refusing_loader: (RuntimeError, "not this one", ""),
    no_object: (ts.errors.ArgumentError, "loader has no state_dict() and load_state_dict()", "int"),
    unknown_part: (ts.errors.FormatError, "it has no 'scheduler'", ""),
}  # fmt: skip


@pytest.mark.parametrize("change", MISFITS, ids=lambda change: change.__name__)
def test_a_checkpoint_that_does_not_fit_changes_nothing(change: Any, path: Path) -> None:
    run = Run(3)
    run.train(7)
    ts.io.save_checkpoint(path, **run.parts, step=7)
    other = Run(4)
    change(other)
    state = {name: part.state_dict() for name, part in other.parts.items() if part != 3}
    before = copy.deepcopy((state, default_generator.state_dict()))
    kind, *words = MISFITS[change]
    with pytest.raises(kind) as error:
        ts.io.load_checkpoint(path, **other.parts)
    assert all(word in str(error.value) for word in words)
    state = {name: part.state_dict() for name, part in other.parts.items() if part != 3}
    assert repr((state, default_generator.state_dict())) == repr(before)


def test_other_files_are_no_checkpoints(path: Path) -> None:
    for obj in ([1], {"model": 1}):
        ts.save(obj, path)
        with pytest.raises(
            ts.errors.FormatError, match=r"no state of io\.save_checkpoint"
        ) as error:
            ts.io.load_checkpoint(path)
        assert error.value.hint == "ts.load gives what it holds"


def test_what_cannot_be_saved_saves_nothing(path: Path) -> None:
    ts.io.save_checkpoint(path, step=1)
    with pytest.raises(ts.errors.InvalidArgument, match="'random', which is taken"):
        ts.io.save_checkpoint(path, random=1)
    with pytest.raises(ts.errors.ArgumentError, match=r"\['thing'\] is object"):
        ts.io.save_checkpoint(path, thing=object())
    broken = Position()
    broken.state_dict = lambda: [1]  # type: ignore[assignment, method-assign, return-value]
    with pytest.raises(ts.errors.ArgumentError, match=r"loader\.state_dict\(\) must be a dict"):
        ts.io.save_checkpoint(path, loader=broken)
    assert ts.load(path)["step"] == 1  # type: ignore[call-overload, index]
