"""Optimizers' updates in NumPy, one line for each line of the papers: what the kernels must give.

A formula takes the parameter, its gradient after decay and sign, the states and counters by their
names, and the numbers; it gives the new parameter and states. What is not there is None.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def sgd(p: Any, g: Any, s: Any, c: Any) -> tuple[Any, dict[str, Any]]:
    """Gradient descent."""
    if s["momentum_buffer"] is None:
        return p - c["lr"] * g, {}
    is_first = s["step"] == 0
    buffer = g if is_first else c["momentum"] * s["momentum_buffer"] + (1 - c["dampening"]) * g
    way = g + c["momentum"] * buffer if c["nesterov"] else buffer
    return p - c["lr"] * way, {"momentum_buffer": buffer}


def means(g: Any, s: Any, c: Any) -> tuple[Any, Any]:
    """Give the running means of gradients and of their squares."""
    mean = c["beta1"] * s["exp_avg"] + (1 - c["beta1"]) * g
    return mean, c["beta2"] * s["exp_avg_sq"] + (1 - c["beta2"]) * g * g


def adam(p: Any, g: Any, s: Any, c: Any) -> tuple[Any, dict[str, Any]]:
    """Adam, AMSGrad."""
    t = s["step"] + 1
    mean, square = means(g, s, c)
    found = {"exp_avg": mean, "exp_avg_sq": square}
    below = square
    if s["max_exp_avg_sq"] is not None:
        found["max_exp_avg_sq"] = below = np.maximum(s["max_exp_avg_sq"], square)
    root = np.sqrt(below / (1 - c["beta2"] ** t)) + c["eps"]
    return p - c["lr"] * mean / (1 - c["beta1"] ** t) / root, found


def rmsprop(p: Any, g: Any, s: Any, c: Any) -> tuple[Any, dict[str, Any]]:
    """RMSprop."""
    found = {"square_avg": c["alpha"] * s["square_avg"] + (1 - c["alpha"]) * g * g}
    square = found["square_avg"]
    if s["grad_avg"] is not None:
        found["grad_avg"] = c["alpha"] * s["grad_avg"] + (1 - c["alpha"]) * g
        square = np.maximum(square - found["grad_avg"] ** 2, 0)
    way = g / (np.sqrt(square) + c["eps"])
    if s["momentum_buffer"] is not None:
        found["momentum_buffer"] = way = c["momentum"] * s["momentum_buffer"] + way
    return p - c["lr"] * way, found


def adagrad(p: Any, g: Any, s: Any, c: Any) -> tuple[Any, dict[str, Any]]:
    """Adagrad."""
    total = s["sum"] + g * g
    rate = c["lr"] / (1 + s["step"] * c["lr_decay"])
    return p - rate * g / (np.sqrt(total) + c["eps"]), {"sum": total}


def adadelta(p: Any, g: Any, s: Any, c: Any) -> tuple[Any, dict[str, Any]]:
    """Adadelta."""
    square = c["rho"] * s["square_avg"] + (1 - c["rho"]) * g * g
    way = np.sqrt((s["acc_delta"] + c["eps"]) / (square + c["eps"])) * g
    past = c["rho"] * s["acc_delta"] + (1 - c["rho"]) * way * way
    return p - c["lr"] * way, {"square_avg": square, "acc_delta": past}


def adamax(p: Any, g: Any, s: Any, c: Any) -> tuple[Any, dict[str, Any]]:
    """Adamax."""
    mean = c["beta1"] * s["exp_avg"] + (1 - c["beta1"]) * g
    most = np.maximum(c["beta2"] * s["exp_inf"], np.abs(g) + c["eps"])
    rate = c["lr"] / (1 - c["beta1"] ** (s["step"] + 1))
    return p - rate * mean / most, {"exp_avg": mean, "exp_inf": most}


def nadam(p: Any, g: Any, s: Any, c: Any) -> tuple[Any, dict[str, Any]]:
    """NAdam."""
    t = s["step"] + 1
    now, after = (c["beta1"] * (1 - 0.5 * 0.96 ** (k * c["momentum_decay"])) for k in (t, t + 1))
    product = s["mu_product"] * now
    mean, square = means(g, s, c)
    root = np.sqrt(square / (1 - c["beta2"] ** t)) + c["eps"]
    p = p - c["lr"] * (1 - now) / (1 - product) * g / root
    p = p - c["lr"] * after / (1 - product * after) * mean / root
    return p, {"exp_avg": mean, "exp_avg_sq": square, "mu_product": product}


def radam(p: Any, g: Any, s: Any, c: Any) -> tuple[Any, dict[str, Any]]:
    """RAdam."""
    t = s["step"] + 1
    mean, square = means(g, s, c)
    most, decayed = 2 / (1 - c["beta2"]) - 1, c["beta2"] ** t
    length = most - 2 * t * decayed / (1 - decayed)
    way = mean / (1 - c["beta1"] ** t)
    if length > 5:
        above = (length - 4) * (length - 2) * most
        way = way * np.sqrt(above / ((most - 4) * (most - 2) * length))
        way = way * np.sqrt(1 - decayed) / (np.sqrt(square) + c["eps"])
    return p - c["lr"] * way, {"exp_avg": mean, "exp_avg_sq": square}


def update(name: str, p: Any, g: Any, s: Any, c: Any) -> tuple[Any, dict[str, Any]]:
    """Do what updates have in common, and the formula of one."""
    g = -g if c["maximize"] else g
    if c.get("decoupled_weight_decay"):
        p = p * (1 - c["lr"] * c["weight_decay"])
    else:
        g = g + c["weight_decay"] * p
    p, found = globals()[name](p, g, s, c)
    return p, {**found, "step": s["step"] + 1 if s["step"] is not None else None}
