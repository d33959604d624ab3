"""Programs of plain numerics: a cellular automaton, an eigenvalue, a simulation, a fractal."""

from __future__ import annotations

from bench.programs.dynamics import table
from bench.programs.namespace import Namespace

CELLS = [[float(x > 0.5) for x in row] for row in table(64, 64)]
SQUARE = table(128, 128)
NEIGHBOURS = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]


def life(xp: Namespace) -> float:
    """Conway's game on a torus of 64 x 64, 60 generations."""
    cells, one, zero = xp.array(CELLS), xp.ones(()), xp.zeros(())
    for _ in range(60):
        count = xp.zeros((64, 64))
        for i, j in NEIGHBOURS:
            count = count + xp.roll(xp.roll(cells, i, 0), j, 1)
        cells = xp.where((count == 3) | ((count == 2) & (cells == 1)), one, zero)
    return float(cells.sum().item())


def power_iteration(xp: Namespace) -> float:
    """The largest eigenvalue of a Gram matrix of 128 x 128, in 300 iterations."""
    half = xp.array(SQUARE)
    matrix = half.T @ half / 128
    vector = xp.ones((128,))
    for _ in range(300):
        vector = matrix @ vector
        vector = vector / xp.sqrt((vector * vector).sum())
    return float((vector @ (matrix @ vector)).item())


def option_price(xp: Namespace) -> float:
    """An Asian call by Monte Carlo: 20000 paths of 25 steps of geometric Brownian motion."""
    xp.seed(0)
    price = 100.0 * xp.ones((20000,))
    mean = xp.zeros((20000,))
    drift, volatility = 0.05 / 25 - 0.2 * 0.2 / 50, 0.2 / 5
    for _ in range(25):
        price = price * xp.exp(drift + volatility * xp.normal((20000,)))
        mean = mean + price / 25
    return float(xp.relu(mean - 100.0).mean().item())


def mandelbrot(xp: Namespace) -> float:
    """Escape times on 160 x 120 points, 40 iterations on a masked plane."""
    c_real = xp.linspace(-2.0, 0.6, 160)[None, :]
    c_imaginary = xp.linspace(-1.2, 1.2, 120)[:, None]
    real, imaginary = xp.zeros((120, 160)), xp.zeros((120, 160))
    steps = xp.zeros((120, 160))
    for _ in range(40):
        inside = real * real + imaginary * imaginary < 4.0
        next_real = real * real - imaginary * imaginary + c_real
        next_imaginary = 2.0 * real * imaginary + c_imaginary
        real = xp.where(inside, next_real, real)
        imaginary = xp.where(inside, next_imaginary, imaginary)
        steps = xp.where(inside, steps + 1, steps)
    return float(steps.sum().item())
