"""States of optimizers: when they are made, saving and loading them, copies."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from pathlib import Path
from typing import Any

import pytest

import tessella as ts
from optimizing import OPTIMIZERS, STEPS
from tessella import changes, errors, nn, optim
from trainings import CLASSES, bits, give_gradients, make, start, train


@pytest.mark.parametrize(
    "label", ["SGD momentum=0.9", "Adam amsgrad=True", "RMSprop centered=True"]
)
def test_a_state_of_torch_goes_on_as_there(label: str) -> None:
    """Torch's dict after 3 steps: counts are float32 there, and SGD has none."""
    params = start("float64")
    optimizer = make(label, params)
    train(optimizer, params, range(3))
    saved = optimizer.state_dict()
    for state in saved["state"].values():
        state["step"] = state["step"].astype(ts.float32).numpy()
        if label.startswith("SGD"):
            del state["step"]
    saved["param_groups"][0] |= {"foreach": None, "capturable": False, "differentiable": False}
    copies = [p.detach().clone().requires_grad_() for p in params]
    other = make(label.split()[0] + " weight_decay=0.125", copies)
    other.load_state_dict(saved)
    for each, tensors in ((optimizer, params), (other, copies)):
        train(each, tensors, range(3, STEPS))
    assert [p.tolist() for p in copies] == [p.tolist() for p in params]
    assert other.param_groups[0]["weight_decay"] == 0 and other.param_groups[0]["foreach"] is None


@pytest.mark.parametrize("label", OPTIMIZERS)
def test_a_resumed_training_is_one_that_never_stopped(label: str) -> None:
    whole = start()
    first = make(label, whole)
    train(first, whole)
    parts = start()
    second = make(label, parts)
    train(second, parts, range(9))
    saved = pickle.loads(pickle.dumps(second.state_dict()))
    copies = [p.detach().clone().requires_grad_() for p in parts]
    third = make(label, copies)
    third.load_state_dict(saved)
    train(third, copies, range(9, STEPS))
    assert bits(third, copies) == bits(first, whole)


@pytest.mark.parametrize("kind", CLASSES)
def test_states_are_made_in_the_constructor_and_never_rebound(kind: Any) -> None:
    params = start()
    optimizer = kind(params, **({"momentum": 0.9} if kind is optim.SGD else {}))
    tensors = {id(x) for p in params for x in optimizer.state[p].values()}
    rates = [group["lr"] for group in optimizer.param_groups]
    assert tensors and all(x.dtype is ts.float64 and x.ndim == 0 for x in rates)
    train(optimizer, params)
    optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    assert {id(x) for p in params for x in optimizer.state[p].values()} == tensors
    assert optimizer.param_groups[0]["lr"] is rates[0]


def test_a_step_counts_no_change_and_reads_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    params = start()
    optimizer = optim.Adam(params, amsgrad=True)
    give_gradients(params, 0)
    before = changes.count()
    monkeypatch.setattr(ts.Tensor, "item", lambda x: pytest.fail("a value was read"))
    monkeypatch.setattr(ts.Tensor, "__float__", lambda x: pytest.fail("a value was read"))
    optimizer.step()
    optimizer.param_groups[0]["lr"] = 0.5
    optimizer.step()
    optimizer.zero_grad()
    assert changes.count() == before


def test_gradients_are_as_they_were() -> None:
    params = start()
    optimizer = optim.Adam(params)
    give_gradients(params, 0)
    grads = [p.grad for p in params]
    values = [g.tolist() for g in grads if g is not None]
    optimizer.step()
    assert all(p.grad is g for p, g in zip(params, grads, strict=True))
    assert [g.tolist() for g in grads if g is not None] == values


def test_state_dict_is_arranged_as_in_torch() -> None:
    x, y, z = (ts.ones(2, requires_grad=True) for _ in range(3))
    groups = [{"params": [x, y]}, {"params": z, "lr": 0.5, "betas": (0.5, 0.5)}]
    saved = optim.Adam(groups, lr=0.25).state_dict()  # type: ignore[arg-type]
    assert [group["params"] for group in saved["param_groups"]] == [[0, 1], [2]]
    assert saved["param_groups"][1]["betas"] == (0.5, 0.5)
    assert saved["param_groups"][1]["lr"] == 0.5 and saved["param_groups"][0]["lr"] == 0.25
    assert list(saved["state"]) == [0, 1, 2]
    assert sorted(saved["state"][0]) == ["exp_avg", "exp_avg_sq", "step"]
    assert set(saved["param_groups"][0]) >= {"lr", "betas", "eps", "weight_decay", "amsgrad"}


def test_loading_a_fresh_state_starts_again() -> None:
    params = start()
    optimizer = optim.Adam(params)
    train(optimizer, params, range(4))
    empty = {"state": {}, "param_groups": optimizer.state_dict()["param_groups"]}
    optimizer.load_state_dict(empty)
    assert optimizer.state[params[0]]["step"].item() == 0
    assert not optimizer.state[params[0]]["exp_avg"].any()


def test_a_state_may_be_loaded_into_itself_in_another_order() -> None:
    params = [ts.ones(2, requires_grad=True), ts.zeros(2, requires_grad=True)]
    optimizer = optim.Adam(params)
    params[0].grad, params[1].grad = ts.ones(2), ts.ones(2) * 3
    optimizer.step()
    saved = optimizer.state_dict()
    first, second = (saved["state"][i]["exp_avg"].tolist() for i in range(2))
    saved["state"] = {0: saved["state"][1], 1: saved["state"][0]}
    optimizer.load_state_dict(saved)
    assert optimizer.state[params[0]]["exp_avg"].tolist() == second
    assert optimizer.state[params[1]]["exp_avg"].tolist() == first


def test_what_users_keep_in_a_state_travels() -> None:
    x = ts.ones(2, requires_grad=True)
    optimizer, other = optim.SGD([x]), optim.SGD([ts.ones(2, requires_grad=True)])
    optimizer.state[x]["seen"] = ts.arange(3)
    optimizer.state[x]["name"] = "x"  # type: ignore[assignment]
    other.load_state_dict(optimizer.state_dict())
    (entry,) = other.state.values()
    assert entry["seen"].tolist() == [0, 1, 2] and entry["name"] == "x"
    assert entry["seen"] is not optimizer.state[x]["seen"]


def test_dropped_states_are_made_again() -> None:
    params = start()
    optimizer = optim.Adam(params)
    train(optimizer, params, range(3))
    optimizer.state = {}
    give_gradients(params, 0)
    optimizer.step()
    assert optimizer.state[params[0]]["step"].item() == 1
    optimizer.state[params[0]]["step"] = ts.tensor(5.0, dtype=ts.float64)
    optimizer.step()
    assert optimizer.state[params[0]]["step"].item() == 6


@pytest.mark.parametrize("kind", CLASSES)
def test_copies_and_pickles_go_on_alone(kind: Any) -> None:
    params = start()
    optimizer = kind(params, lr=0.25)
    train(optimizer, params, range(4))
    for made in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        copies = [p for group in made.param_groups for p in group["params"]]
        assert bits(made, copies) == bits(optimizer, params)
        before = bits(optimizer, params)
        train(made, copies, range(4, 8))
        assert bits(optimizer, params) == before != bits(made, copies)


def test_an_optimizer_goes_with_its_last_reference() -> None:
    optimizer = optim.Adam(start())
    gone = weakref.ref(optimizer)
    gc.disable()
    try:
        del optimizer
        assert gone() is None
    finally:
        gc.enable()


# --- errors ---------------------------------------------------------------------------------------

LOADED: dict[str, tuple[Any, str]] = {
    "nothing": (lambda saved: 3, "state_dict must be a dict with 'state' and 'param_groups'"),
    "parts": (lambda saved: {"state": {}}, "state_dict must be a dict with 'state'"),
    "groups": (lambda saved: {**saved, "param_groups": [3]}, "state_dict must be a dict"),
    "more": (lambda saved: {**saved, "param_groups": saved["param_groups"] * 2},
             "the state has 2 parameter groups, the optimizer 1"),
    "fewer": (lambda saved: {**saved, "param_groups": [{"params": [0]}]},
              "group 0 of the state has 1 parameter, that of the optimizer 2"),
    "shape": (lambda saved: {**saved, "state": {1: {"exp_avg": ts.ones(3)}}},
              r"state\[1\]\['exp_avg'\] has shape \(3,\), its parameter needs \(2, 2\)"),
    "complex": (lambda saved: {**saved, "state": {0: {"exp_avg": ts.ones(5, dtype=ts.complex64)}}},
                "complex64 to float32 would drop imaginary parts"),
    "entry": (lambda saved: {**saved, "state": {0: 3}}, "state_dict must be a dict"),
    "numbers": (lambda saved: {**saved, "param_groups": [{"params": [{}, 1]}]},
                "state_dict must be a dict"),
    "text": (lambda saved: {**saved, "state": {0: {"exp_avg": "x"}}},
             r"state\[0\]\['exp_avg'\] must be a tensor or a number, got str"),
    "amsgrad": (lambda saved: {**saved, "param_groups": [{"params": [0, 1], "amsgrad": "x"}]},
                "amsgrad must be True or False, got str"),
    "large": (lambda saved: {**saved, "param_groups": [{"params": [0, 1], "lr": 10**400}]},
              "lr must be a real number, got int"),
    "rate": (lambda saved: {**saved, "param_groups": [{"params": [0, 1], "lr": "x"}]},
             "lr must be a number or a 0-d tensor"),
}  # fmt: skip


@pytest.mark.parametrize("label", LOADED)
def test_states_that_do_not_fit_are_refused_and_nothing_changes(label: str) -> None:
    change, match = LOADED[label]
    params = start()
    optimizer = optim.Adam(params)
    train(optimizer, params, range(2))
    before = bits(optimizer, params)
    with pytest.raises(ts.errors.TessellaError, match=match) as caught:
        optimizer.load_state_dict(change(optimizer.state_dict()))
    assert "Adam.load_state_dict: " in str(caught.value) and "  hint: " in str(caught.value)
    assert bits(optimizer, params) == before


@pytest.mark.parametrize("name", ["Adam", "SGD", "LBFGS"])
def test_a_run_that_was_saved_as_a_file_goes_on(name: str, tmp_path: Path) -> None:
    def make_run() -> tuple[Any, Any, Any]:
        ts.manual_seed(3)
        model = nn.Linear(3, 2)
        options = {"momentum": 0.9} if name == "SGD" else {}
        optimizer = getattr(optim, name)(model.parameters(), lr=0.1, **options)
        return model, optimizer, optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)

    def go_on(run: tuple[Any, Any, Any], steps: int) -> None:
        model, optimizer, schedule = run

        def closure() -> ts.Tensor:
            optimizer.zero_grad()
            loss: ts.Tensor = (model(ts.ones(4, 3)) - 1).square().mean()
            loss.backward()
            return loss

        for _ in range(steps):
            schedule.step(optimizer.step(closure))

    whole, parts, rest = make_run(), make_run(), make_run()
    go_on(whole, 12)
    go_on(parts, 5)
    path = tmp_path / "run.ts"
    ts.io.save_checkpoint(path, model=parts[0], optimizer=parts[1], schedule=parts[2])
    ts.io.load_checkpoint(path, model=rest[0], optimizer=rest[1], schedule=rest[2])
    go_on(rest, 7)
    assert [p.tolist() for p in rest[0].parameters()] == [p.tolist() for p in whole[0].parameters()]
    assert rest[2].state_dict() == whole[2].state_dict()


@pytest.mark.parametrize("kind", [optim.SGD, optim.RMSprop])
def test_a_state_of_another_optimizer_is_refused(kind: Any) -> None:
    model = nn.Linear(2, 1)
    saved = optim.Adam(model.parameters(), lr=0.1).state_dict()
    optimizer = kind(model.parameters(), lr=0.2)
    with pytest.raises(errors.InvalidArgument, match=r"'exp_avg'\] is no state of") as caught:
        optimizer.load_state_dict(saved)
    assert "hint: load it into an optimizer of the class that saved it" in str(caught.value)
    assert optimizer.param_groups[0]["lr"].item() == 0.2
