"""The exclusive or, learned by a network of 16 hidden units: a training loop by hand."""

from __future__ import annotations

import argparse

import tessella as ts
from tessella import nn
from tessella.nn import functional as F

INPUTS = ts.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
TARGETS = ts.tensor([[0.0], [1.0], [1.0], [0.0]])


def train(seed: int, compile: bool, epochs: int = 2000) -> float:
    """Train from a seed; give the last loss."""
    ts.manual_seed(seed)
    model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())
    optimizer = ts.optim.Adam(model.parameters(), lr=0.01)

    def step() -> ts.Tensor:
        optimizer.zero_grad()
        loss = F.mse_loss(model(INPUTS), TARGETS)
        loss.backward()
        optimizer.step()
        return loss

    if compile:
        step = ts.compile(step)
    for _ in range(epochs):
        loss = step()
    return float(loss)


def main(seeds: int = 10, compile: bool = True) -> int:
    """Train from several seeds; give how many end below 1e-4."""
    losses = [train(seed, compile) for seed in range(seeds)]
    for seed, loss in enumerate(losses):
        print(f"seed {seed}: loss {loss:.2e}")
    return sum(loss < 1e-4 for loss in losses)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--eager", action="store_true", help="do not compile the steps")
    print(f"{main(compile=not arguments.parse_args().eager)} of 10 seeds end below 1e-4")
