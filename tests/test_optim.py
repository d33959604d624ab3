"""Optimizers: torch's trajectories, parameter groups, states, hooks, copies and errors."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessella as ts
from optimizing import OPTIMIZERS, STEPS, signature
from tessella import changes, nn, optim
from trainings import CLASSES, give_gradients, make, start, train

FIGURES = json.loads((Path(__file__).parent / "figures" / "optim.json").read_text())
# In units of the rounding of 1: twenty steps of a few roundings each. The figures have 9 and 15
# digits, which for float64 is the larger part.
ROUNDINGS = {"float32": 12 * 2.0**-24, "float64": 60 * 2.0**-53}


def close(found: Any, wanted: Any, dtype: str) -> None:
    """Compare with figures, relative to 1 or the number if that is larger."""
    rounding = ROUNDINGS[dtype]
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=rounding, atol=rounding)


# --- torch's numbers ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FIGURES["signatures"])
def test_arguments_are_those_of_torch(name: str) -> None:
    home = optim if hasattr(optim, name) else optim.lr_scheduler
    assert signature(getattr(home, name).__init__) == FIGURES["signatures"][name]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("label", OPTIMIZERS)
def test_trajectory_is_that_of_torch(label: str, dtype: str) -> None:
    wanted = FIGURES["trajectories"][f"{label} {dtype}"]
    params = start(dtype)
    optimizer = make(label, params)
    for step in range(STEPS):
        train(optimizer, params, range(step, step + 1))
        if str(step + 1) in wanted:
            for p, figures in zip(params, wanted[str(step + 1)], strict=True):
                close(p.tolist(), figures, dtype)
    for p, states in zip(params, wanted.get("state", []), strict=False):
        for name, figures in states.items():
            close(optimizer.state[p][name].tolist(), figures, dtype)


# --- groups ---------------------------------------------------------------------------------------


def test_a_number_written_to_a_rate_is_written_into_its_tensor() -> None:
    group = optim.SGD(start(), lr=0.5, momentum=0.5).param_groups[0]
    rate, momentum, count = group["lr"], group["momentum"], changes.count()
    group["lr"] = 0.25
    assert group["lr"] is rate and rate.item() == 0.25
    group["lr"] *= 0.5
    group["lr"] = group["lr"] * 2
    group["momentum"] = ts.tensor(0.75)
    group.update(lr=np.float32(0.125))
    assert group["lr"] is rate and rate.item() == 0.125
    assert group["momentum"] is momentum and momentum.item() == 0.75
    assert changes.count() == count


def test_betas_are_written_into_their_tensors() -> None:
    group = optim.Adam(start()).param_groups[0]
    tensors = group["betas"]
    group["betas"] = (0.5, tensors[1])
    group["betas"] = [0.25, 0.75]
    assert group["betas"] is tensors and [x.item() for x in tensors] == [0.25, 0.75]
    with pytest.raises(ts.errors.ArgumentError, match=r"betas must be 2 numbers, got 0\.5"):
        group["betas"] = 0.5
    with pytest.raises(ts.errors.ArgumentError, match="betas must be a number or a 0-d tensor"):
        group["betas"] = (0.5, "x")
    assert [x.item() for x in tensors] == [0.25, 0.75]


def test_options_are_written_all_or_none() -> None:
    optimizer = optim.Adam(start(), lr=0.5)
    group = optimizer.param_groups[0]
    before = group.plain()
    wrong: list[dict[str, Any]] = [
        {"lr": 0.7, "betas": 3}, {"lr": 0.7, "params": [3]},
        {"lr": 0.7, "note": 1, "eps": 1e-3, "betas": (0.5, "x")},
    ]  # fmt: skip
    for options in wrong:
        with pytest.raises(ts.errors.ArgumentError, match=r"^group\['(betas|params)'\]: "):
            group.update(**options)
        with pytest.raises(ts.errors.ArgumentError):
            group |= options
        assert group.plain() == before
    group.update([("lr", 0.25)], amsgrad=True, betas=(0.5, 0.75))
    assert group["lr"].item() == 0.25 and group["amsgrad"] is True
    assert [x.item() for x in group["betas"]] == [0.5, 0.75]
    assert all("max_exp_avg_sq" in optimizer.state[p] for p in group["params"])


@pytest.mark.parametrize("wrong", [None, "fast", True, 1j, ts.ones(2), [0.1]], ids=repr)
def test_what_is_no_number_is_not_written(wrong: Any) -> None:
    group = optim.SGD(start(), lr=0.5).param_groups[0]
    match = r"^group\['lr'\]: lr must be a number or a 0-d tensor, got"
    with pytest.raises(ts.errors.ArgumentError, match=match) as caught:
        group["lr"] = wrong
    assert "  at test_optim.py:" in str(caught.value) and "  hint: it is written" in str(
        caught.value
    )
    assert group["lr"].item() == 0.5


def test_writes_to_the_structure_are_counted_and_seen() -> None:
    params = start()
    optimizer = optim.Adam(params[:1], lr=0.5)
    group = optimizer.param_groups[0]

    def counted(change: Any) -> bool:
        before = changes.count()
        change()
        return changes.count() > before

    assert counted(lambda: group.__setitem__("weight_decay", 0.5))
    assert counted(lambda: group.setdefault("note", 1)) and counted(lambda: group.pop("note"))
    assert counted(lambda: group.__ior__({"eps": 1e-6}))
    assert counted(lambda: group["params"].append(params[1]))
    assert counted(lambda: optimizer.register_step_pre_hook(lambda *call: None))
    assert "exp_avg" in optimizer.state[params[1]], "made with the parameter"
    give_gradients(params, 0)
    before = [p.tolist() for p in params]
    optimizer.step()
    assert all(p.tolist() != old for p, old in zip(params, before, strict=True))
    with pytest.raises(ts.errors.ArgumentError, match=r"params\[2\] must be a tensor, got int"):
        group["params"].append(3)  # type: ignore[arg-type]
    with pytest.raises(ts.errors.InvalidArgument, match=r"params\[2\] is there already"):
        group["params"] += [params[0]]
    assert len(group["params"]) == 2
    handle = optimizer.register_step_post_hook(lambda *call: None)
    assert counted(handle.remove)
    group["params"] = [params[1]]
    before = [p.tolist() for p in params]
    optimizer.step()
    assert params[0].tolist() == before[0] and params[1].tolist() != before[1]


def test_options_that_ask_for_states_make_them_when_they_are_written() -> None:
    params = start()
    optimizer, wanted = optim.SGD(params, lr=0.125), start()
    reference = optim.SGD(wanted, lr=0.125, momentum=0.5)
    assert not optimizer.state[params[0]]
    optimizer.param_groups[0]["momentum"] = 0.5
    assert optimizer.state[params[0]]["momentum_buffer"].tolist() == [0.0] * 5
    for each, tensors in ((optimizer, params), (reference, wanted)):
        train(each, tensors, range(5))
    assert [p.tolist() for p in params] == [p.tolist() for p in wanted]
    adam = optim.Adam(params)
    adam.param_groups[0]["amsgrad"] = True
    assert "max_exp_avg_sq" in adam.state[params[0]]


def test_groups_have_options_of_their_own() -> None:
    x, y = (ts.zeros(2, requires_grad=True) for _ in range(2))
    optimizer = optim.SGD([{"params": [x], "lr": 1.0}, {"params": y}], lr=0.5)  # type: ignore[arg-type]
    z = ts.zeros(2, requires_grad=True)
    optimizer.add_param_group({"params": z, "lr": 0.25, "weight_decay": 0.5})
    for p in (x, y, z):
        p.grad = ts.ones(2)
    optimizer.step()
    assert [p[0].item() for p in (x, y, z)] == [-1.0, -0.5, -0.25]
    assert optimizer.param_groups[2]["weight_decay"] == 0.5
    assert optimizer.param_groups[0]["lr"] is not optimizer.param_groups[1]["lr"]


def test_names_of_parameters_are_kept() -> None:
    model = nn.Linear(2, 3)
    optimizer = optim.SGD(model.named_parameters(), lr=0.5)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    assert optimizer.param_groups[0]["params"][0] is model.weight
    model(ts.ones(1, 2)).sum().backward()
    optimizer.step()


def test_rates_may_be_tensors_from_the_start() -> None:
    rate = ts.tensor(0.5)
    optimizer = optim.SGD(start(), lr=rate)
    assert optimizer.param_groups[0]["lr"].item() == 0.5
    rate.fill_(7)
    assert optimizer.param_groups[0]["lr"].item() == 0.5


def test_an_optimizer_shows_its_groups() -> None:
    shown = repr(optim.SGD(start(), lr=0.5)).splitlines()
    assert shown[:2] == ["SGD (", "Parameter Group 0"] and shown[-1] == ")"
    assert "    lr: 0.5" in shown


# --- steps ----------------------------------------------------------------------------------------


def test_a_closure_gives_the_loss() -> None:
    x = ts.tensor([3.0], requires_grad=True)
    optimizer = optim.SGD([x], lr=0.25)

    def closure() -> ts.Tensor:
        optimizer.zero_grad()
        loss = x.square().sum()
        loss.backward()
        return loss

    with ts.no_grad():
        loss = optimizer.step(closure)
    assert loss.item() == 9.0 and x.item() == 1.5  # type: ignore[union-attr]


def test_zero_grad_forgets_or_clears() -> None:
    x = ts.ones(2, requires_grad=True)
    optimizer = optim.SGD([x])
    x.sum().backward()
    held = x.grad
    optimizer.zero_grad(set_to_none=False)
    assert x.grad is not None and held is not None and held.tolist() == [0.0, 0.0]
    assert x.grad.tolist() == [0.0, 0.0]
    optimizer.zero_grad()
    assert x.grad is None
    optimizer.zero_grad(False)


def test_hooks_see_steps() -> None:
    x = ts.ones(2, requires_grad=True)
    seen = []

    class Twice(optim.SGD):
        def step(self, closure: Any = None) -> Any:
            super().step(closure)
            return super().step(closure)

    for kind, wanted in ((optim.SGD, [("before", ()), ("after", ())] * 2), (Twice, [])):
        optimizer = kind([x])
        before = optimizer.register_step_pre_hook(lambda o, args, kw: seen.append(("before", args)))
        optimizer.register_step_post_hook(lambda o, args, kw: seen.append(("after", args)))
        seen.clear()
        optimizer.step()
        optimizer.step()
        before.remove()
        optimizer.step()
        assert [name for name, _ in seen] == ["before", "after"] * 2 + ["after"], wanted


def test_hooks_may_change_the_arguments() -> None:
    optimizer = optim.SGD([ts.ones(2, requires_grad=True)])
    optimizer.register_step_pre_hook(lambda o, args, kw: ((lambda: 7,), {}))
    assert optimizer.step() == 7


def test_users_write_optimizers() -> None:
    class Signs(optim.Optimizer):
        def __init__(self, params: Any, lr: float = 0.5) -> None:
            super().__init__(params, {"lr": lr})

        @ts.no_grad()
        def step(self, closure: Any = None) -> Any:
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self.state[p].setdefault("steps", 0)  # type: ignore[arg-type]
                        self.state[p]["steps"] += 1
                        p -= group["lr"] * p.grad.sign()

    x = ts.tensor([1.0, -1.0], requires_grad=True)
    optimizer = Signs([x])
    x.square().sum().backward()
    optimizer.step()
    assert x.tolist() == [0.5, -0.5] and optimizer.state[x]["steps"] == 1
    optimizer.load_state_dict(optimizer.state_dict())
    with pytest.raises(NotImplementedError):
        optim.Optimizer([x], {"lr": 1.0}).step()


def test_a_failed_step_changes_no_group() -> None:
    x, y = (ts.zeros(2, requires_grad=True) for _ in range(2))
    optimizer = optim.Adam([{"params": [x]}, {"params": [y]}])
    x.grad, y.grad = ts.ones(2), ts.ones(2)
    optimizer.state[y]["exp_avg"] = ts.zeros(3)
    with pytest.raises(ts.errors.ShapeError) as caught:
        optimizer.step()
    text = str(caught.value)
    assert text.startswith(r"Adam.step: exp_avg[0] is float32 (3,), params[0] float32 (2,)")
    assert "    group 1  1 tensor" in text and "  at test_optim.py:" in text
    assert "  hint: gradients and states are like their parameter; make the optimizer after" in text
    assert x.tolist() == [0.0, 0.0] and optimizer.state[x]["step"].item() == 0


def test_a_model_that_changes_its_dtype_says_so() -> None:
    model = nn.Linear(2, 2)
    optimizer = optim.Adam(model.parameters())
    model.to(ts.float64)
    model(ts.ones(1, 2, dtype=ts.float64)).sum().backward()
    with pytest.raises(ts.errors.ShapeError, match=r"make the optimizer after model.to"):
        optimizer.step()


# --- errors ---------------------------------------------------------------------------------------

X = ts.ones(2, requires_grad=True)
ONE: Any = 1
NONE: Any = None
WORD: Any = "yes"
REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "tensor": (lambda: optim.SGD(X), TypeError, "tensors or dicts in a list, got one tensor"),
    "dict": (lambda: optim.SGD({"params": [X]}), TypeError, "in a list, got dict"),  # type: ignore[arg-type]
    "number": (lambda: optim.SGD(3), TypeError, "in a list, got int"),  # type: ignore[arg-type]
    "empty": (lambda: optim.SGD([]), ValueError, "there are no parameters"),
    "item": (lambda: optim.SGD([X, 3]), TypeError, r"params\[1\] must be a tensor, got int"),  # type: ignore[arg-type]
    "result": (lambda: optim.SGD([X * 2]), ValueError, r"params\[0\] is the result of an"),
    "integers": (lambda: optim.SGD([ts.arange(3)]), TypeError, r"params\[0\] is int64"),
    "twice": (lambda: optim.SGD([X, X]), ValueError, r"params\[1\] is there already"),
    "groups": (lambda: optim.SGD([{"params": [X]}, {"params": [X]}]), ValueError,
               r"params\[0\] is there already"),
    "group": (lambda: optim.SGD([{"lr": 1.0}]), TypeError, "a parameter group must be a dict"),
    "set": (lambda: optim.SGD([{"params": {X}}]), TypeError, "params must be a list: a set has no"),
    "nothing": (lambda: optim.SGD([{"params": 3}]), TypeError, "in a list, got int"),
    "names": (lambda: optim.SGD([("x", X), ts.ones(1, requires_grad=True)]), ValueError,  # type: ignore[arg-type]
              "some parameters have names and some have none"),
    "lr": (lambda: optim.SGD([X], lr=-1), ValueError, "lr is -1"),
    "lr type": (lambda: optim.SGD([X], lr="x"), TypeError, "lr must be a real number, got str"),  # type: ignore[arg-type]
    "nan": (lambda: optim.SGD([X], lr=math.nan), ValueError, "lr is nan"),
    "momentum": (lambda: optim.SGD([X], momentum=-1), ValueError, "momentum is -1"),
    "decay": (lambda: optim.SGD([X], weight_decay=-1), ValueError, "weight_decay is -1"),
    "nesterov": (lambda: optim.SGD([X], nesterov=True), ValueError, "nesterov needs momentum"),
    "maximize": (lambda: optim.SGD([X], maximize=ONE), TypeError, "maximize must be True or False"),
    "beta": (lambda: optim.Adam([X], betas=(0.9, 1.0)), ValueError, r"betas\[1\] is 1.0"),
    "betas": (lambda: optim.Adam([X], betas=0.9), TypeError, "betas must be two numbers, got"),  # type: ignore[arg-type]
    "eps": (lambda: optim.Adam([X], eps=-1), ValueError, "eps is -1"),
    "amsgrad": (lambda: optim.Adam([X], amsgrad=NONE), TypeError, "amsgrad must be True or False"),
    "differentiable": (lambda: optim.Adam([X], differentiable=True), TypeError,
                       "differentiable=True has no meaning here"),
    "group betas": (lambda: optim.Adam([{"params": [X], "betas": 0.9}]), TypeError,
                    "betas must be 2 numbers, got 0.9"),
    "fused": (lambda: optim.Adam([X], fused=WORD), TypeError, "fused must be True or False"),
    "rho": (lambda: optim.Adadelta([X], rho=2), ValueError, "rho is 2"),
    "alpha": (lambda: optim.RMSprop([X], alpha=-1), ValueError, "alpha is -1"),
    "lr_decay": (lambda: optim.Adagrad([X], lr_decay=-1), ValueError, "lr_decay is -1"),
    "accumulator": (lambda: optim.Adagrad([X], initial_accumulator_value=-1), ValueError,
                    "initial_accumulator_value is -1"),
    "momentum_decay": (lambda: optim.NAdam([X], momentum_decay=-1), ValueError,
                       "momentum_decay is -1"),
}  # fmt: skip


@pytest.mark.parametrize("label", REFUSED)
def test_wrong_arguments_are_refused(label: str) -> None:
    call, kind, match = REFUSED[label]
    with pytest.raises(kind, match=match) as caught:
        call()
    first, *rest = str(caught.value).splitlines()
    assert first.split(":")[0] in {each.__name__ for each in CLASSES}
    assert any(line.startswith("  at test_optim.py:") for line in rest)
    assert any(line.startswith("  hint: ") and len(line) > 12 for line in rest)


def test_a_step_refuses_what_is_no_closure_and_hooks_that_are_none() -> None:
    optimizer = optim.SGD([X])
    with pytest.raises(TypeError, match=r"SGD.step: closure must be a function .*, got int"):
        optimizer.step(ONE)
    with pytest.raises(TypeError, match=r"SGD.register_step_pre_hook: hook must be a function"):
        optimizer.register_step_pre_hook(ONE)
    optimizer.register_step_pre_hook(lambda *call: WORD)
    with pytest.raises(TypeError, match="a hook gave str, not the arguments of a step"):
        optimizer.step()


def test_what_chooses_an_implementation_is_accepted() -> None:
    optim.SGD([X], foreach=True, fused=True)
    optim.Adam([X], foreach=False, fused=True, capturable=True)
    optim.RMSprop([X], capturable=True)
