"""Programs that need gradients: two networks against each other, a fit through a simulation.

The same text for both libraries, which share these names; each run begins with the same numbers.
"""

from __future__ import annotations

import itertools
from typing import Any

from bench.programs.dynamics import table

NOISE, REAL = table(64, 8), [[2 + x, y - 1] for x, y in table(64, 2, 0.5)]
WEIGHTS = [number for (number,) in table(64 * 64, 1)]
ORBIT, MASSES, PUSH = table(16, 2), table(16, 1, 0.2), [[0.05, -0.03]]


def layers(library: Any, *widths: int) -> Any:
    """A network of linear layers with leaky ReLUs between, from a fixed table of numbers."""
    nn = library.nn
    parts: list[Any] = []
    for inputs, outputs in itertools.pairwise(widths):
        parts += [nn.Linear(inputs, outputs), nn.LeakyReLU(0.2)]
    network = nn.Sequential(*parts[:-1])
    with library.no_grad():
        for x in network.parameters():
            numbers = library.tensor(WEIGHTS[: x.numel()]).reshape(x.shape)
            x.copy_(numbers * x.shape[-1] ** -0.5)
    return network


def gan(library: Any) -> float:
    """A generator and a discriminator of 64 units, batch 64: ten rounds of both, Adam."""
    binary = library.nn.functional.binary_cross_entropy_with_logits
    makes, judges = layers(library, 8, 64, 64, 2), layers(library, 2, 64, 64, 1)
    noise, real = library.tensor(NOISE), library.tensor(REAL)
    ones, zeros = library.ones(64, 1), library.zeros(64, 1)
    options = {"lr": 1e-3, "betas": (0.5, 0.999)}
    making = library.optim.Adam(makes.parameters(), **options)
    judging = library.optim.Adam(judges.parameters(), **options)
    for _ in range(10):
        fake = makes(noise)
        judging.zero_grad()
        loss = binary(judges(real), ones) + binary(judges(fake.detach()), zeros)
        loss.backward()
        judging.step()
        making.zero_grad()
        deceived = binary(judges(fake), ones)
        deceived.backward()
        making.step()
    return float((loss + deceived).item())


def trajectory(library: Any) -> float:
    """Masses of 16 bodies fitted to where 60 steps of their pull take them: five descents."""
    places, target = library.tensor(ORBIT), library.tensor(ORBIT) * 0.9
    masses = library.tensor(MASSES).abs().requires_grad_()
    total = 0.0
    for _ in range(5):
        at, speed = places, library.tensor(PUSH)
        for _ in range(60):
            apart = at[None, :, :] - at[:, None, :]  # (16, 16, 2)
            near = (apart * apart).sum(2, keepdim=True) + 0.1
            speed = speed + 0.01 * (masses * apart / (near * near.sqrt())).sum(1)
            at = at + 0.01 * speed
        loss = ((at - target) ** 2).sum()
        loss.backward()
        with library.no_grad():
            masses -= 0.1 * masses.grad
        masses.grad = None
        total += float(loss.item())
    return total
