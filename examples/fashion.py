"""Fashion-MNIST, from a folder of IDX files: a dense network at 88%, a convolutional one at 91%.

    python examples/fashion.py FOLDER [--model dense|convolutional] [--epochs N] [--eager]

Debian's package dataset-fashion-mnist has the files: `apt-get download dataset-fashion-mnist`, then
`dpkg -x dataset-fashion-mnist_*.deb .` puts them under usr/share/datasets/fashion-mnist.
"""

from __future__ import annotations

import argparse

import tessella as ts
from tessella import data, nn
from tessella.nn import functional as F


def make_dense() -> nn.Sequential:
    """Two hidden layers."""
    return nn.Sequential(
        nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Dropout(0.2),
        nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10),
    )  # fmt: skip


def make_convolutional() -> nn.Sequential:
    """Two convolutions with pooling, and a hidden layer."""
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.3), nn.Linear(64 * 49, 128), nn.ReLU(), nn.Linear(128, 10),
    )  # fmt: skip


MODELS = {"dense": make_dense, "convolutional": make_convolutional}


def main(
    folder: str,
    model: str = "dense",
    epochs: int = 10,
    most: int = 60_000,
    compile: bool = True,
) -> float:
    """Train on `most` images; give the share of test images that are recognised."""
    ts.manual_seed(0)
    network = MODELS[model]()
    sets = []
    for part in ("train", "test"):
        x, y = data.load_mnist(folder, split=part)
        sets.append(data.TensorDataset(x[:most].unsqueeze(1).float() / 255, y[:most]))
    loader = data.DataLoader(sets[0], 128, shuffle=True)
    optimizer = ts.optim.AdamW(network.parameters(), lr=1e-3)
    history = ts.fit(
        network, loader, F.cross_entropy, optimizer, epochs=epochs,
        validation=data.DataLoader(sets[1], 500), metrics={"accuracy": ts.metrics.accuracy},
        scheduler=ts.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs), compile=compile,
    )  # fmt: skip
    return history["accuracy"][-1]


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description="Train on Fashion-MNIST.")
    arguments.add_argument("folder", help="that holds the four IDX files")
    arguments.add_argument("--model", choices=sorted(MODELS), default="dense")
    arguments.add_argument("--epochs", type=int, default=10)
    arguments.add_argument("--eager", action="store_true", help="do not compile the steps")
    given = arguments.parse_args()
    print(f"accuracy {main(given.folder, given.model, given.epochs, compile=not given.eager):.1%}")
