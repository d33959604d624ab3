"""An autoencoder: 64 pixels through 8 numbers and back. Its targets are its inputs."""

from __future__ import annotations

import argparse

import tessella as ts
from tessella import data, nn
from tessella.nn import functional as F


class Autoencoder(nn.Module):
    """An encoder to a few numbers, and a decoder back."""

    def __init__(self, pixels: int = 64, code: int = 8) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, 64), nn.ReLU(), nn.Linear(64, code))
        self.decoder = nn.Sequential(
            nn.Linear(code, 64), nn.ReLU(), nn.Linear(64, pixels), nn.Sigmoid()
        )

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        """Give the images as they come back."""
        return self.decoder(self.encoder(x))


def main(epochs: int = 60, seed: int = 0, compile: bool = True) -> float:
    """Train; give the mean square error of a pixel of test images, of values from 0 to 1."""
    ts.manual_seed(seed)
    train, test = (data.load_digits(split=part).x / 16 for part in ("train", "test"))
    model = Autoencoder()
    history = ts.fit(
        model,
        data.DataLoader(train, 64, shuffle=True),
        F.mse_loss,
        ts.optim.Adam(model.parameters(), lr=3e-3),
        epochs=epochs,
        validation=[test],
        compile=compile,
    )
    return history["val_loss"][-1]


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--eager", action="store_true", help="do not compile the steps")
    print(f"error {main(compile=not arguments.parse_args().eager):.4f}")
