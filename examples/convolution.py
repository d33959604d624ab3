"""A small convolutional network on the digits: fewer parameters, better than the dense one."""

from __future__ import annotations

import argparse

import tessella as ts
from tessella import data, nn
from tessella.nn import functional as F


def make() -> nn.Sequential:
    """Two convolutions with pooling, then a linear layer: (B, 1, 8, 8) to (B, 10)."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.3), nn.Linear(128, 10),
    )  # fmt: skip


def main(epochs: int = 20, seed: int = 0, compile: bool = True) -> float:
    """Train; give the share of test images that are recognised."""
    ts.manual_seed(seed)
    sets = []
    for part in ("train", "test"):
        x, y = data.load_digits(split=part)
        sets.append(data.TensorDataset(x.reshape(-1, 1, 8, 8) / 16, y))
    model = make()
    optimizer = ts.optim.AdamW(model.parameters(), lr=3e-3)
    loader = data.DataLoader(sets[0], 64, shuffle=True)
    history = ts.fit(
        model, loader, F.cross_entropy, optimizer, epochs=epochs,
        validation=data.DataLoader(sets[1], 500), metrics={"accuracy": ts.metrics.accuracy},
        scheduler=ts.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs), compile=compile,
    )  # fmt: skip
    return history["accuracy"][-1]


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--eager", action="store_true", help="do not compile the steps")
    print(f"accuracy {main(compile=not arguments.parse_args().eager):.1%}")
