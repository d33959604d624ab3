"""Training steps of a small network of each kind, large enough for threads to share their work.

What they compute is tested elsewhere; here they stand for what users train, where a test is about
all of a step: its bits at each thread count, its memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tessella as ts
import tessella.nn.functional as F
from tessella import nn, optim
from worlds import some

B, T, C, V = 32, 48, 96, 96  # rows of a batch, places, features, classes


class Training(NamedTuple):
    """A network, its step, and the batch of the i-th step."""

    network: nn.Module
    step: Callable[[ts.Tensor, ts.Tensor], ts.Tensor]
    batch: Callable[[int], tuple[ts.Tensor, ts.Tensor]]


class Residual(nn.Module):
    """A block of two convolutions that is added to what it is given."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(channels)

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        h = F.relu(self.first_norm(self.first(x)))
        return F.relu(x + self.second_norm(self.second(h)))


class Recurrent(nn.Module):
    """An LSTM, and classes of its last place."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(C, C, batch_first=True)
        self.head = nn.Linear(C, V)

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        out, _ = self.lstm(x)
        return self.head(out[:, -1])


def training(
    network: nn.Module, optimizer: Any, batch: Callable[[int], tuple[ts.Tensor, ts.Tensor]]
) -> Training:
    """Give the step that lowers the cross entropy of classes."""

    def step(x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
        optimizer.zero_grad()
        logits = network(x)
        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), y.reshape(-1))
        loss.backward()
        optimizer.step()
        return loss.detach()

    return Training(network, step, batch)


def classes(i: int, *shape: int, most: int = V) -> ts.Tensor:
    """Give classes that depend on i alone."""
    return ts.randint(0, most, shape, generator=ts.Generator(1000 + i))


def mlp() -> Training:
    layers = [nn.Linear(256, 512), nn.ReLU(), nn.LayerNorm(512), nn.Linear(512, V)]
    network = nn.Sequential(*layers)
    adam = optim.Adam(network.parameters(), lr=1e-2)
    return training(network, adam, lambda i: (some(i, 256, 256), classes(i, 256)))


def convolution() -> Training:
    network = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Flatten(),
        nn.Linear(32 * 12 * 12, 10),
    )  # fmt: skip
    sgd = optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
    return training(network, sgd, lambda i: (some(i, B, 3, 24, 24), classes(i, B, most=10)))


def lstm() -> Training:
    network = Recurrent()
    rmsprop = optim.RMSprop(network.parameters(), lr=1e-3)
    return training(network, rmsprop, lambda i: (some(i, B, T, C), classes(i, B)))


def gpt() -> Training:
    config = ts.models.GPTConfig(vocab_size=V, n_positions=T, n_embd=C, n_layer=2, n_head=4)
    network = ts.models.GPT(config)
    adamw = optim.AdamW(network.parameters(), lr=1e-2)
    return training(network, adamw, lambda i: (classes(i, B, T), classes(i + 50, B, T)))


def encoder() -> Training:
    layer = nn.TransformerEncoderLayer(C, 4, 2 * C, dropout=0.1, batch_first=True)
    network = nn.Sequential(nn.TransformerEncoder(layer, 3), nn.Linear(C, V))
    adam = optim.Adam(network.parameters(), lr=1e-2)
    return training(network, adam, lambda i: (some(i, B, T, C), classes(i, B, T)))


def residual() -> Training:
    network = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), Residual(16), Residual(16), nn.AvgPool2d(4), nn.Flatten(),
        nn.Linear(16 * 6 * 6, 10),
    )  # fmt: skip
    sgd = optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
    return training(network, sgd, lambda i: (some(i, B, 3, 24, 24), classes(i, B, most=10)))


TRAININGS: dict[str, Callable[[], Training]] = {
    each.__name__: each for each in (mlp, convolution, lstm, gpt, encoder, residual)
}
