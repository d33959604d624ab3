"""Compiled modules as parts of modules: the same parameters, keys and modes as without compile."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import tessella as ts
from tessella import nn, optim
from worlds import Wrap, same, some


class Net(nn.Module):
    """A network with a part that may be compiled."""

    def __init__(self, wrap: Any) -> None:
        super().__init__()
        self.first = wrap(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5)))
        self.last = nn.Linear(4, 2)

    def forward(self, x: ts.Tensor) -> Any:
        return self.last(self.first(x).tanh())


def plain(module: Any) -> Any:
    return module


def test_parts_keys_and_text_are_those_of_the_module() -> None:
    compiled, other = Net(ts.compile), Net(plain)
    assert list(compiled.state_dict()) == list(other.state_dict())
    assert [name for name, _ in compiled.named_modules()] == [n for n, _ in other.named_modules()]
    assert [x.shape for x in compiled.parameters()] == [x.shape for x in other.parameters()]
    assert repr(compiled) == repr(other)
    compiled.load_state_dict(other.state_dict())
    compiled.eval(), other.eval()
    for i in range(5):
        assert compiled(some(i, 5, 3)).tolist() == other(some(i, 5, 3)).tolist()
    assert compiled.first.programs and compiled.get_submodule("first") is compiled.first.function


def test_training_with_compiled_parts() -> None:
    def play(wrap: Wrap) -> Any:
        net = Net(wrap) if wrap is ts.compile else Net(lambda module: counted(wrap, module))
        optimizer, losses = optim.SGD(net.parameters(), lr=0.1, momentum=0.9), []
        for i in range(12):
            net.train(i % 6 < 4)
            optimizer.zero_grad()
            loss = net(some(i, 5, 3)).square().sum()
            loss.backward()
            optimizer.step()
            gradients = [p.grad for p in net.parameters()]
            losses.append((loss, [g if g is None else g.clone() for g in gradients]))
        return losses, net

    same(play)


def counted(wrap: Wrap, module: Any) -> Any:
    """Count calls of a module as worlds.same asks for, and leave it a part."""
    call = wrap(lambda: None)
    module.register_forward_pre_hook(lambda *_: call())
    return module


def test_containers_call_what_is_compiled() -> None:
    layer = ts.compile(nn.Linear(3, 3))
    model = nn.Sequential(layer, nn.Tanh())
    assert model[0] is layer and next(iter(model)) is layer and len(model) == 2
    assert list(model.state_dict()) == ["0.weight", "0.bias"]
    for i in range(4):
        with ts.no_grad():
            assert model(some(i, 2, 3)).tolist() == layer.function(some(i, 2, 3)).tanh().tolist()
    assert layer.programs
    model.insert(0, ts.compile(nn.Dropout()))
    assert model[1] is layer and not model.eval()[0].function.training  # type: ignore[attr-defined]
    assert nn.ModuleList([layer])[0] is layer and nn.ModuleDict({"a": layer})["a"] is layer
    assert nn.Sequential({"a": layer}).a is layer  # type: ignore[comparison-overlap]
    assert model.to(ts.float64)[1].weight.dtype is ts.float64


def test_functions_are_no_parts() -> None:
    net = nn.Sequential(nn.Tanh())
    net.helper = ts.compile(lambda x: x * 100)
    assert len(net) == 1 and net(ts.zeros(2)).tolist() == [0.0, 0.0]
    with pytest.raises(ts.errors.ArgumentError, match="module must be a module, got"):
        nn.Sequential(ts.compile(lambda x: x))  # type: ignore[call-overload]


def test_a_list_that_hides_compiled_parts_is_refused() -> None:
    net = nn.Module()
    with pytest.raises(ts.errors.ArgumentError, match="layers"):
        net.layers = [ts.compile(nn.Linear(2, 2))]


@pytest.mark.parametrize("how", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_begin_without_programs(how: Any) -> None:
    net = Net(ts.compile).eval()
    for i in range(4):
        net(some(i, 5, 3))
    other = how(net)
    assert net.first.programs and not other.first.programs
    assert other.first.function is not net.first.function
    for i in range(4):
        assert other(some(i, 5, 3)).tolist() == net(some(i, 5, 3)).tolist()
    assert other.first.programs
