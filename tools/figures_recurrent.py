"""Figures of torch's recurrent networks: every option, results and all gradients.

.bench-venv/bin/python tools/figures_recurrent.py
"""

from __future__ import annotations

from typing import Any

from torch_figures import module_figure, save

STEPS, BATCH, INPUTS, HIDDEN = 3, 2, 2, 3
X = (STEPS, BATCH, INPUTS)
NAMES = ("RNN", "LSTM", "GRU")


def made(name: str, x: Any, hx: Any = None, **options: Any) -> dict[str, Any]:
    """Call a network of the sizes above."""
    sizes = {"input_size": INPUTS, "hidden_size": HIDDEN}
    figure: dict[str, Any] = module_figure(name, {**sizes, **options}, x, *[hx] * (hx is not None))
    return figure


def states(name: str, *shape: int) -> Any:
    """Give the first states that a network takes: a pair for an LSTM."""
    return (shape, shape) if name.startswith("LSTM") else shape


def layers() -> list[dict[str, Any]]:
    """Networks over sequences."""
    found = []
    for name in NAMES:
        found += [
            made(name, X),
            made(name, X, states(name, 1, BATCH, HIDDEN)),
            made(name, (BATCH, STEPS, INPUTS), batch_first=True, bias=False),
            made(name, (STEPS, INPUTS), states(name, 2, HIDDEN), num_layers=2, batch_first=True),
            made(name, X, states(name, 2, BATCH, HIDDEN), bidirectional=True),
            made(name, X, num_layers=2, bidirectional=True, bias=False),
            made(name, (1, BATCH, INPUTS)),
        ]
    found.append(made("RNN", X, (1, BATCH, HIDDEN), nonlinearity="relu"))
    pair = ((2, BATCH, 2), (2, BATCH, HIDDEN))
    found.append(made("LSTM", X, pair, proj_size=2, bidirectional=True))
    return found


def cells() -> list[dict[str, Any]]:
    """Single steps."""
    found = []
    for name in ("RNNCell", "LSTMCell", "GRUCell"):
        found += [
            made(name, (BATCH, INPUTS)),
            made(name, (BATCH, INPUTS), states(name, BATCH, HIDDEN)),
            made(name, (INPUTS,), states(name, HIDDEN), bias=False),
        ]
    found.append(made("RNNCell", (BATCH, INPUTS), (BATCH, HIDDEN), nonlinearity="relu"))
    return found


if __name__ == "__main__":
    save("recurrent", layers() + cells())
