"""Calls that would go on with something else than what was meant: they do it right, or refuse."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import tessella as ts
import tessella.nn.functional as F
from tessella import data, errors, nn, optim
from tessella.optim.lr_scheduler import (
    ChainedScheduler,
    CosineAnnealingWarmRestarts,
    ExponentialLR,
    LambdaLR,
    SequentialLR,
)

ANY: Any = ts


def optimizer() -> optim.SGD:
    """Give one whose rate is 1."""
    return optim.SGD([ts.ones(2, requires_grad=True)], lr=1.0)


@pytest.mark.parametrize("smoothing", [2.0, -1.0, float("nan")])
@pytest.mark.parametrize("dtype", [ts.int64, ts.int32])
def test_labels_are_smoothed_by_a_part_of_one(smoothing: float, dtype: ts.dtype) -> None:
    with pytest.raises(errors.InvalidArgument, match="label_smoothing is"):
        F.cross_entropy(ts.ones(2, 3), ts.zeros(2, dtype=dtype), label_smoothing=smoothing)


def test_what_is_inserted_among_parameters_is_one() -> None:
    parts = nn.ParameterList([ts.zeros(2)])
    parts.insert(0, ts.zeros(3))
    assert [x.shape for x in parts] == [(3,), (2,)]
    assert all(isinstance(x, nn.Parameter) for x in parts) and len(parts.state_dict()) == 2


def test_warm_restarts_go_on_from_a_part_of_an_epoch() -> None:
    schedule = CosineAnnealingWarmRestarts(optimizer(), 4)
    schedule.step(1.5)
    again = CosineAnnealingWarmRestarts(optimizer(), 4)
    again.load_state_dict(schedule.state_dict())
    for each in (schedule, again):
        each.step()
    assert again.get_last_lr() == schedule.get_last_lr()


def test_warm_restarts_have_the_cycles_that_are_loaded() -> None:
    schedule, again = (CosineAnnealingWarmRestarts(optimizer(), n, m) for n, m in ((3, 2), (5, 3)))
    for _ in range(4):
        schedule.step()
    again.load_state_dict(schedule.state_dict())
    for each in (schedule, again):
        each.step()
    assert again.get_last_lr() == schedule.get_last_lr()
    with pytest.raises(errors.InvalidArgument, match="T_0 is 0"):
        again.load_state_dict({**schedule.state_dict(), "T_0": 0})


def test_a_state_with_freed_memory_is_loaded_not_at_all() -> None:
    model, arena = nn.Linear(2, 2), ts.memory.Arena("64KiB")
    before = model.weight.clone()
    with ts.memory.use(arena):
        state = {"weight": ts.ones(2, 2), "bias": ts.ones(2)}
    kept = {"weight": ts.ones(2, 2), "bias": state["bias"]}
    arena.reset()
    with pytest.raises(errors.TessellaError, match="is freed in the state"):
        model.load_state_dict(kept)
    assert ts.array_equal(model.weight, before)


def test_a_column_of_one_number_is_only_shifted() -> None:
    scale = data.Standardize().fit(ts.full((100, 1), 0.1, dtype=ts.float64))
    assert abs(scale(ts.tensor([[0.2]], dtype=ts.float64)).item() - 0.1) < 1e-9


def test_integers_that_a_table_cannot_hold_are_refused() -> None:
    large = ts.tensor([2**63 + 5], dtype=ts.uint64)
    with pytest.raises(errors.InvalidArgument, match="column 'a'"):
        data.Table({"a": large})
    assert data.Table({"a": ts.tensor([7], dtype=ts.uint64)})["a"].tolist() == [7]


def test_a_checkpoint_without_a_run_is_not_resumed(tmp_path: Path) -> None:
    model = nn.Linear(1, 1)
    own = optim.SGD(model.parameters(), lr=0.1)
    path = tmp_path / "states"
    ts.io.save_checkpoint(path, model=model, optimizer=own)
    model.weight.detach().fill_(7.0)
    pair = (ts.ones(1, 1), ts.ones(1, 1))
    with pytest.raises(errors.FormatError, match="has no run of fit in it"):
        ts.fit(model, [pair], F.mse_loss, own, checkpoint=path, resume=True, progress=False)
    assert model.weight.item() == 7.0


class _Full(io.BytesIO):
    """A file that takes nothing."""

    def write(self, data: Any) -> int:
        return 0


def _of_functions(own: optim.SGD) -> SequentialLR:
    parts = [LambdaLR(own, lambda epoch: 0.5**epoch), ExponentialLR(own, 0.5)]
    return SequentialLR(own, parts, [2])


REFUSED: list[tuple[Any, type[errors.TessellaError], str]] = [
    (lambda: ChainedScheduler([ExponentialLR(optimizer(), 0.5)]).step(5),
     errors.InvalidArgument, "ChainedScheduler.step: epoch is 5"),
    (lambda: _of_functions(optimizer()).step(3), errors.InvalidArgument,
     "SequentialLR.step: epoch is 3"),
    (lambda: ts.save(ts.ones(3), _Full()), errors.InvalidArgument, "_Full.write took no byte"),
    (lambda: nn.utils.clip_grad_norm_([ts.ones(2, requires_grad=True)], -1.0),
     errors.InvalidArgument, "max_norm is -1.0"),
    (lambda: nn.utils.clip_grad_norm_([ts.ones(2, requires_grad=True)], float("nan")),
     errors.InvalidArgument, "max_norm is nan"),
    (lambda: data.split(ts.arange(4.0), stratify=ts.tensor([0, 0, 1, 1]), shuffle=False),
     errors.InvalidArgument, "shuffle is False"),
    (lambda: nn.Linear(1, 1).get_submodule(ANY.float32), errors.ArgumentError,
     "target must be text"),
    (lambda: ts.models.GPT(ts.models.GPTConfig(n_head=0)), errors.InvalidArgument, "n_head is 0"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED)
def test_it_is_refused(call: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize("name", ["epoch", "loss", "val_loss", "memory"])
def test_metrics_do_not_take_the_names_of_figures(name: str) -> None:
    model, pair = nn.Linear(1, 1), (ts.ones(1, 1), ts.ones(1, 1))
    own = optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(errors.InvalidArgument, match="a name of metrics is"):
        ts.fit(model, [pair], F.mse_loss, own, validation=[pair], metrics={name: F.mse_loss})


def test_fractions_of_a_set_may_be_rounded_up() -> None:
    parts = data.random_split(range(100), [0.05] * 20)
    assert [len(part) for part in parts] == [5] * 20


@pytest.mark.parametrize("value", [0, float("nan")])
@pytest.mark.parametrize(("name", "divisor", "settings"), [
    ("StepLR", "step_size", {"step_size": 2}),
    ("LinearLR", "total_iters", {}),
    ("LinearLR", "start_factor", {}),
    ("PolynomialLR", "total_iters", {}),
    ("CosineAnnealingLR", "T_max", {"T_max": 3}),
    ("CosineAnnealingWarmRestarts", "T_0", {"T_0": 3}),
])  # fmt: skip
def test_a_schedule_takes_no_state_that_it_would_divide_by_in_vain(
    name: str, divisor: str, settings: dict[str, int], value: float
) -> None:
    optimizer = ts.optim.SGD([ts.ones(2, requires_grad=True)], lr=0.5)
    schedule = getattr(ts.optim.lr_scheduler, name)(optimizer, **settings)
    before = schedule.state_dict()
    with pytest.raises(ts.errors.InvalidArgument, match=f"{divisor} is {value}"):
        schedule.load_state_dict({**before, divisor: value})
    assert schedule.state_dict() == before


def test_items_of_a_users_dtype_are_no_numbers() -> None:
    pair = ts.dtypes.register("mistaken_pair", fmt="<qd")
    for items in (ts.zeros((), dtype=pair), ts.zeros(3, dtype=pair)):
        with pytest.raises(errors.TessellaError, match=r"quantile: q is \(0, 0.0\)"):
            ts.quantile(ts.ones(3), items)
        with pytest.raises(errors.TessellaError, match="argwhere: 0 is no item of mistaken_pair"):
            ts.argwhere(items)
