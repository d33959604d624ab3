"""An LSTM that goes on with a wave after it has seen a part of it.

Each wave has its own frequency and phase, which the network must find out from what it sees.
"""

from __future__ import annotations

import argparse
import math

import tessella as ts
from tessella import nn
from tessella.nn import functional as F


class Forecaster(nn.Module):
    """Reads numbers one by one and says each time what comes next."""

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.memory = nn.LSTM(1, width, batch_first=True)
        self.head = nn.Linear(width, 1)

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        """Give the number after each of x (B, T, 1)."""
        states, _ = self.memory(x)
        return self.head(states)


def waves(count: int, length: int = 40) -> ts.Tensor:
    """Give waves (count, length, 1) of random frequencies and phases."""
    frequency = ts.rand(count, 1) * 0.5 + 0.2
    phase = ts.rand(count, 1) * (2 * math.pi)
    return ts.sin(frequency * ts.arange(length) + phase).unsqueeze(-1)


def main(steps: int = 600, seed: int = 0, compile: bool = True) -> float:
    """Train; give the mean square error after the first ten numbers of waves not seen before."""
    ts.manual_seed(seed)
    model = Forecaster()
    optimizer = ts.optim.Adam(model.parameters(), lr=5e-3)

    def step() -> ts.Tensor:
        x = waves(64)
        optimizer.zero_grad()
        loss = F.mse_loss(model(x[:, :-1]), x[:, 1:])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    if compile:
        step = ts.compile(step)
    for i in range(steps):
        loss = step()
        if i % 100 == 0:
            print(f"step {i}: loss {loss.item():.4f}")
    x = waves(256)
    with ts.no_grad():
        return float(F.mse_loss(model(x[:, :-1])[:, 10:], x[:, 11:]))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--eager", action="store_true", help="do not compile the steps")
    print(f"error {main(compile=not arguments.parse_args().eager):.5f}")
