"""Names that a network does not have: the error suggests, and Python's protocols go on."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import tessella as ts


class Failing(ts.nn.Linear):
    """A module of a user: a property that fails, and a name that is found by code."""

    @property
    def secret(self) -> int:
        raise AttributeError("my own")

    def __getattr__(self, name: str) -> Any:
        return 7 if name == "seven" else super().__getattr__(name)


def test_unknown_name_of_a_network_suggests_its_own() -> None:
    model = ts.nn.Linear(3, 2)
    with pytest.raises(ts.errors.UnknownName, match="Linear has no attribute 'wieght'") as caught:
        _ = model.wieght
    assert "  hint: did you mean weight?" in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    with pytest.raises(ts.errors.UnknownName, match=r"hint: dir\(model\) lists the names"):
        _ = model.nothing_like_it
    assert not hasattr(model, "wieght") and getattr(model, "_modules", 3) == 3
    with pytest.raises(AttributeError) as plain:
        _ = model.__nothing__
    assert type(plain.value) is AttributeError


class Asking(ts.nn.Linear):
    """A module that asks for a part that it may not have."""

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        return super().forward(x) * 2 if getattr(self, "scale", None) is None else x


def test_function_that_asks_for_a_name_is_compiled() -> None:
    model, x = Asking(2, 2), ts.ones(3, 2)
    compiled = ts.compile(model)
    for _ in range(3):
        ts.testing.assert_close(compiled(x), model(x))
    compiled.plan(x)  # refuses a function that is run as it is written


def test_modules_of_users_find_names_as_before() -> None:
    model = Failing(3, 2)
    for each in (model, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert each.seven == 7 and each.weight.shape == (2, 3)
        with pytest.raises(AttributeError, match=r"^my own$"):
            _ = each.secret
        with pytest.raises(ts.errors.UnknownName, match=r"^Failing has no attribute 'wieght'"):
            _ = each.wieght
    model._modules = 3
    assert model._modules == 3
