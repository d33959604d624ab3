"""Code for PyTorch or NumPy runs with the same result, or raises and says what to write.

Every row of docs/from_pytorch.md is run: PyTorch's spelling must raise and show ours, ours must
run.
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import tessella as ts
from cases import fast_path_off
from tessella import spellings
from tessella.declarations import Refusal
from tessella.namespace import refusals


def names() -> dict[str, Any]:
    """Give what the rows' expressions are about."""
    x = ts.tensor([[0.0, 2.0, 1.0], [5.0, 4.0, 3.0]])
    return {"ts": ts, "torch": ts, "x": x, "y": x + 1, "i": ts.tensor([0, 1]), "mask": x > 1}


def text(row: Refusal) -> str:
    """Name a row by its call."""
    return row.torch


@pytest.mark.parametrize("row", refusals(), ids=text)
def test_call_that_means_something_else_shows_both_spellings(row: Refusal) -> None:
    for is_slow in (False, True):
        with pytest.raises((ts.errors.ArgumentError, ts.errors.UnknownName)) as caught:
            run(row.torch, is_slow)
        message = str(caught.value)
        assert f"in PyTorch {row.torch} {row.why}" in message
        assert all(here in message for here in row.here)
        assert "  at test_spellings.py:" in message or "  at <string>:" in message


def run(expression: str, is_slow: bool = False) -> Any:
    """Evaluate an expression, on the fast path or by the records."""
    if not is_slow:
        return eval(expression, names())
    with fast_path_off():
        return eval(expression, names())


@pytest.mark.parametrize("row", [*refusals(), *spellings.STANDARD], ids=text)
def test_spelling_that_is_shown_runs(row: Refusal) -> None:
    for here in row.here:
        run(here)


@pytest.mark.parametrize("row", spellings.STANDARD, ids=text)
def test_call_that_the_standard_defines_runs(row: Refusal) -> None:
    run(row.torch)


# --- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        ("x.unsqeeze(0)", "did you mean unsqueeze"),
        ("ts.concatenat", "did you mean concatenate"),
        ("x.concat", r"it is a function: ts.concat(x, …)"),
        ("ts.view", r"call it as x.view(…)"),
        ("x.nothing_like_it", "docs/operations.md lists the names"),
    ],
)
def test_unknown_name_suggests_ours(expression: str, hint: str) -> None:
    with pytest.raises(ts.errors.UnknownName) as caught:
        run(expression)
    owner = "tessella" if expression.startswith("ts") else "Tensor"
    assert str(caught.value).startswith(f"{owner} has no attribute '")
    assert f"  hint: {hint}" in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_hasattr_is_false_and_looks_for_no_suggestion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spellings, "suggest", lambda *_: pytest.fail("looked for a suggestion"))
    assert not hasattr(ts.ones(2), "unsqeeze")
    assert not hasattr(ts, "concatenat")
    assert getattr(ts.ones(2), "unsqeeze", 3) == 3


def test_names_of_protocols_give_the_plain_error() -> None:
    with pytest.raises(AttributeError) as caught:
        ts.ones(2).__nothing__  # type: ignore[attr-defined]  # noqa: B018
    assert type(caught.value) is AttributeError


class Broken(ts.Tensor):
    """A subclass with a property that fails."""

    @property
    def secret(self) -> int:
        raise AttributeError("my own")


def test_property_of_a_subclass_keeps_its_own_error() -> None:
    x = Broken(ts.ones(2))
    with pytest.raises(AttributeError, match=r"^my own$"):
        _ = x.secret
    with pytest.raises(ts.errors.UnknownName, match=r"^Broken has no attribute 'secrt'"):
        _ = x.secrt  # type: ignore[attr-defined]  # it is not there


# --- properties that are called ------------------------------------------------------------------


def test_size_is_an_int_wherever_one_is_wanted() -> None:
    x = ts.zeros(2, 3)
    assert isinstance(x.size, int) and x.size == 6 and repr(x.size) == "6"
    assert ts.zeros(x.size).shape == (6,) and x.reshape(x.size).shape == (6,)
    assert type(x.size + 1) is int and type(copy.copy(x.size)) is int
    assert type(pickle.loads(pickle.dumps(x.size))) is int
