"""Handwritten digits, 8 x 8 pixels: a classifier trained with `fit`, at 98% of the test images.

The training images are few; copies that are moved by one pixel make them more.
"""

from __future__ import annotations

import argparse

import tessella as ts
from tessella import data, nn
from tessella.nn import functional as F


def shifted(images: ts.Tensor) -> ts.Tensor:
    """Give images (n, 64), and copies moved by one pixel each way: (5 n, 64)."""
    wide = F.pad(images.reshape(-1, 8, 8), (1, 1, 1, 1))
    moves = ((1, 1), (0, 1), (2, 1), (1, 0), (1, 2))
    return ts.concat([wide[:, i : i + 8, j : j + 8].reshape(-1, 64) for i, j in moves])


def main(epochs: int = 20, seed: int = 0, compile: bool = True) -> float:
    """Train; give the share of test images that are recognised."""
    ts.manual_seed(seed)
    x, y = data.load_digits(split="train")
    train = data.TensorDataset(shifted(x / 16), ts.concat([y] * 5))
    test_x, test_y = data.load_digits(split="test")
    model = nn.Sequential(
        nn.Linear(64, 256), nn.ReLU(), nn.Dropout(0.3),
        nn.Linear(256, 128), nn.ReLU(), nn.Dropout(0.3),
        nn.Linear(128, 10),
    )  # fmt: skip
    optimizer = ts.optim.AdamW(model.parameters(), lr=2e-3)
    history = ts.fit(
        model,
        data.DataLoader(train, 128, shuffle=True),
        F.cross_entropy,
        optimizer,
        epochs=epochs,
        validation=[(test_x / 16, test_y)],
        metrics={"accuracy": ts.metrics.accuracy},
        scheduler=ts.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs),
        compile=compile,
    )
    return history["accuracy"][-1]


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--eager", action="store_true", help="do not compile the steps")
    print(f"accuracy {main(compile=not arguments.parse_args().eager):.1%}")
