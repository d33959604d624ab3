"""Functions that never get fast: they give what they should, and one warning says why."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import tessella as ts
from tessella import nn
from tessella.compiler.delays import PATIENCE
from worlds import Wrap, same, some

log: list[int] = []
many = list(range(2000))
model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
w = ts.ones(3).requires_grad_()


def appending(x: ts.Tensor) -> ts.Tensor:
    log.append(len(log))
    return x * 2


def switching(x: ts.Tensor) -> ts.Tensor:
    model.eval()
    y = model(x)
    model.train()
    return y.detach()


def toggling(x: ts.Tensor) -> ts.Tensor:
    y = x * w
    w.requires_grad_(False)
    return (y + x * w).detach()


def renaming(x: ts.Tensor) -> ts.Tensor:
    model.note = x.shape
    return x * 2


DELAYS: dict[str, tuple[Callable[..., Any], str]] = {
    "a list": (appending, "it reads log, which is changed by the call itself"),
    "a long list": (lambda x: x * len(many), "it reads many, which holds more than 1000 items"),
    "eval()": (switching, r"by train\(\), eval\(\), … \(at test_compile_delays.py:\d+: model.eval"),
    "an attribute": (renaming, r"it changes a module, .* \(at test_compile_delays.py:\d+: model."),
    "views": (lambda x: list((x * 2 + w).split(1)), "several results that gradients flow into sh"),
}


@pytest.mark.parametrize("label", DELAYS)
def test_a_function_that_never_gets_fast_is_warned_about_once(label: str) -> None:
    function, why = DELAYS[label]
    w.requires_grad_()
    call = ts.compile(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(PATIENCE):
            call(some(i, 3))
    with pytest.warns(RuntimeWarning, match=f"recorded at each of 8 calls .*{why}") as caught:
        call(some(1, 3))
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(2 * PATIENCE):
            call(some(i, 3))
    with pytest.raises(ts.errors.CaptureError, match="profile: such a call is run as it is wri"):
        call.profile(some(1, 3))


def test_requires_grad_that_is_toggled_inside_is_warned_about() -> None:
    w.requires_grad_()
    call = ts.compile(toggling)
    with pytest.warns(RuntimeWarning, match="requires_grad of a tensor that it uses is changed"):
        for i in range(PATIENCE + 1):
            w.requires_grad_()
            call(some(i, 3))


def test_repeated_calls_between_recorded_ones_are_no_delay() -> None:
    names = [1.0]
    call, model = ts.compile(lambda x: x * len(names)), nn.Dropout()
    for i in range(40):
        if i % 3 == 0:
            names[0] += 1
        call(some(i, 3))
    forward = ts.compile(model)
    for i in range(40):
        model.train(i % 2 == 0)
        forward(some(i, 3))
    (kind,) = forward._compiled_kinds.values()
    assert [each.core.runs for each in kind.programs] == [18, 17]


@pytest.mark.filterwarnings("ignore:.* was recorded at each:RuntimeWarning")
def test_modes_that_a_function_changes() -> None:
    def play(wrap: Wrap) -> Any:
        net, seen = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)), []

        def flip(x: ts.Tensor) -> Any:
            net.train(not net.training)
            return net(x).detach()

        def infer(x: ts.Tensor) -> Any:
            net.eval()
            return net(x).detach()

        def new(x: ts.Tensor) -> Any:
            return nn.Sequential(nn.Dropout(0.5), nn.Dropout(0.5).eval())(x)

        calls = [wrap(each) for each in (flip, infer, new, net)]
        for i in range(40):
            seen.append((calls[i // 2 % 4](some(i, 3)), net.training))
            if i % 7 == 0:
                net.train()
        return seen

    same(play)


def test_modules_that_are_made_inside_are_no_change() -> None:
    call = ts.compile(lambda x, y: nn.MSELoss()(x, y) + nn.Sequential(nn.Tanh())(x).sum())
    for i in range(12):
        call(some(i, 3), some(i + 1, 3))
    assert len(call.programs) == 1
