"""The examples run and reach what they state: shortened here where they take long."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import FULL

FOLDER = Path(__file__).resolve().parent.parent / "examples"


@pytest.fixture(autouse=True)
def _see_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))


def load(name: str) -> Any:
    """Import an example."""
    sys.modules.pop(name, None)
    return __import__(name)


def test_xor_is_learned_from_nine_seeds_of_ten() -> None:
    assert load("xor").main() >= 9


def test_digits_are_recognised() -> None:
    assert load("digits").main() >= 0.98


def test_regression_explains_the_variance() -> None:
    assert load("regression").main() >= 0.4


def test_autoencoder_gives_images_back() -> None:
    assert load("autoencoder").main() <= 0.02


def test_lstm_goes_on_with_waves() -> None:
    steps, most = (600, 0.002) if FULL else (150, 0.05)
    assert load("lstm").main(steps) <= most


def test_convolutions_recognise_digits() -> None:
    epochs, least = (20, 0.985) if FULL else (4, 0.95)
    assert load("convolution").main(epochs) >= least


def test_gpt_learns_to_write() -> None:
    sizes, most = ((), 2.0) if FULL else ((150, 64, 2, 32), 2.7)
    assert load("gpt").main(*sizes) <= most


def test_examples_are_short() -> None:
    long = [path.name for path in FOLDER.glob("*.py") if len(path.read_text().splitlines()) > 150]
    assert not long
