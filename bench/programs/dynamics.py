"""Programs that step a system through time: a rollout, a filter, an ODE and a PDE."""

from __future__ import annotations

import math
import random
from typing import Any

from bench.programs.namespace import Namespace

NUMBERS = random.Random(1)


def table(rows: int, columns: int, scale: float = 1.0) -> list[list[float]]:
    """Normal numbers as nested lists, the same for every library."""
    return [[NUMBERS.gauss(0, scale) for _ in range(columns)] for _ in range(rows)]


HIDDEN, STARTS, OUTPUT = table(4, 16, 0.5), table(32, 4, 0.05), table(16, 1, 0.5)
MEASURED = [0.5 * i + NUMBERS.gauss(0, 1.0) for i in range(200)]
CLOUD = table(64, 3)


def rollout(xp: Namespace) -> float:
    """32 cart-poles for 100 steps under a policy of one hidden layer; Barto, Sutton, Anderson."""
    w1, w2 = xp.array(HIDDEN), xp.array(OUTPUT)
    state = xp.array(STARTS)  # (32, 4): position, speed, angle, angular speed
    alive = xp.ones((32,))
    reward, push = xp.zeros((32,)), xp.ones((32,)) * 10.0
    for _ in range(100):
        action = (xp.tanh(state @ w1) @ w2)[:, 0]
        force = xp.where(action > 0, push, -push)
        x, v, angle, spin = state[:, 0], state[:, 1], state[:, 2], state[:, 3]
        sine, cosine = xp.sin(angle), xp.cos(angle)
        thrust = (force + 0.05 * spin * spin * sine) / 1.1
        bend = (9.8 * sine - cosine * thrust) / (0.5 * (4 / 3 - 0.1 * cosine * cosine / 1.1))
        push_back = thrust - 0.05 * bend * cosine / 1.1
        state = state + 0.02 * xp.stack([v, push_back, spin, bend], axis=1)
        fallen = (angle > 0.2) | (angle < -0.2) | (x > 2.4) | (x < -2.4)
        alive = xp.where(fallen, 0.0 * alive, alive)
        reward = reward + alive
    return float(reward.sum().item())


def kalman(xp: Namespace) -> float:
    """Constant-acceleration motion seen through noise: 200 predictions and updates."""
    step = xp.array([[1.0, 0.1, 0.005], [0.0, 1.0, 0.1], [0.0, 0.0, 1.0]])
    noise = xp.array([[0.01, 0.0, 0.0], [0.0, 0.01, 0.0], [0.0, 0.0, 0.01]])
    identity = xp.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    seen = xp.array([[1.0, 0.0, 0.0]])  # (1, 3)
    state, spread = xp.zeros((3, 1)), identity
    for measured in MEASURED:
        state = step @ state
        spread = step @ spread @ step.T + noise
        gain = spread @ seen.T / (seen @ spread @ seen.T + 1.0)  # (3, 1)
        state = state + gain * (measured - seen @ state)
        spread = (identity - gain @ seen) @ spread
    return float(state[0, 0].item())


def lorenz(xp: Namespace) -> float:
    """64 points on the Lorenz attractor, 100 steps of the classical Runge-Kutta method."""

    def slope(p: Any) -> Any:
        x, y, z = p[:, 0], p[:, 1], p[:, 2]
        return xp.stack([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8 / 3 * z], axis=1)

    points, dt = xp.array(CLOUD), 0.01
    for _ in range(100):
        k1 = slope(points)
        k2 = slope(points + dt / 2 * k1)
        k3 = slope(points + dt / 2 * k2)
        k4 = slope(points + dt * k3)
        points = points + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return float((points * points).sum().item())


def heat(xp: Namespace) -> float:
    """Heat on a plate of 128 x 128 with one hot edge, 200 explicit steps."""
    u = xp.zeros((128, 128))
    u[0, :] = xp.sin(xp.linspace(0, math.pi, 128))
    for _ in range(200):
        middle = u[1:-1, 1:-1]
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] = middle + 0.2 * (around - 4 * middle)
    return float(u.sum().item())
