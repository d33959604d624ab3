"""Figures of torch's losses: every reduction and option, values and gradients.

.bench-venv/bin/python tools/figures_losses.py
"""

from __future__ import annotations

from typing import Any

import torch

from torch_figures import figure, save

REDUCTIONS = ("none", "mean", "sum")


def draw(*shape: int) -> torch.Tensor:
    """Draw from the normal distribution, numbers of few digits."""
    return (torch.randn(*shape) * 64).round() / 64


def share(*shape: int) -> torch.Tensor:
    """Draw probabilities."""
    return (torch.rand(*shape) * 60 + 2).round() / 64


def signs(*shape: int) -> torch.Tensor:
    """Draw 1 and -1."""
    return (torch.randint(0, 2, shape) * 2 - 1).float()


def pairs() -> list[dict[str, Any]]:
    """Losses of pairs of numbers."""
    found = []
    for reduction in REDUCTIONS:
        both = {"reduction": reduction}
        x, y = draw(2, 3), draw(2, 3)
        found += [figure(name, x, y, **both) for name in ("mse_loss", "l1_loss")]
        found += [
            figure(name, x, y, weight=share(2, 3), **both) for name in ("mse_loss", "l1_loss")
        ]
        found += [figure("smooth_l1_loss", x, y, beta=beta, **both) for beta in (1.0, 0.3, 0.0)]
        found += [figure("huber_loss", x, y, delta=delta, **both) for delta in (1.0, 0.3)]
        found.append(figure("huber_loss", x, y, delta=0.7, weight=share(2, 3), **both))
        p, t = share(2, 3), share(2, 3)
        found += [
            figure("binary_cross_entropy", p, t, **both),
            figure("binary_cross_entropy", p, t, weight=share(3), **both),
            figure(
                "binary_cross_entropy",
                torch.tensor([0.0, 1.0, 0.0, 1.0]),
                target=torch.tensor([0.0, 1.0, 1.0, 0.0]),
                **both,
            ),
        ]
        logits = torch.cat([draw(1, 3), torch.tensor([[60.0, -60.0, 1e4]])])
        found += [
            figure("binary_cross_entropy_with_logits", logits, t.round(), **both),
            figure("binary_cross_entropy_with_logits", x, t, weight=share(2, 1), **both),
            figure("binary_cross_entropy_with_logits", x, t, pos_weight=3 * share(3), **both),
        ]
        found += [
            figure("kl_div", x.log_softmax(1), t, log_target=False, **both),
            figure("kl_div", x.log_softmax(1), y.log_softmax(1), log_target=True, **both),
        ]
        found += [figure("soft_margin_loss", x, target=signs(2, 3), **both)]
        found += [
            figure("hinge_embedding_loss", x, target=signs(2, 3), margin=m, **both)
            for m in (1.0, 0.2)
        ]
        found += [
            figure("poisson_nll_loss", x, 4 * t, log_input=True, full=True, **both),
            figure("poisson_nll_loss", t, 4 * p, log_input=False, **both),
            figure("gaussian_nll_loss", x, y, p, full=True, **both),
            figure("gaussian_nll_loss", x, y, share(2, 1), **both),
        ]
    x, t = draw(2, 3).log_softmax(1), draw(2, 3).softmax(1)
    found.append(figure("kl_div", x, t, reduction="batchmean"))
    return found  # fmt: skip


def classes() -> list[dict[str, Any]]:
    """Losses of lines of classes."""
    found = []
    for reduction in REDUCTIONS:
        both: dict[str, Any] = {"reduction": reduction}
        x, t = draw(5, 4), torch.tensor([0, 3, 2, 3, 1])
        weight = share(4)
        for options in (
            {},
            {"weight": weight},
            {"ignore_index": 3},
            {"label_smoothing": 0.2},
            {"weight": weight, "ignore_index": 3, "label_smoothing": 0.2},
        ):
            found.append(figure("cross_entropy", x, t, **options, **both))
        for options in ({}, {"weight": weight}, {"ignore_index": 3}):
            found.append(figure("nll_loss", x.log_softmax(1), t, **options, **both))
        grid, places = draw(2, 3, 2, 2), torch.randint(0, 3, (2, 2, 2))
        found += [
            figure("cross_entropy", grid, places, weight=share(3), **both),
            figure("cross_entropy", grid, places, label_smoothing=0.1, **both),
            figure("nll_loss", grid.log_softmax(1), places, **both),
            figure("cross_entropy", draw(3), torch.tensor(2), **both),
        ]
        soft = draw(5, 4).softmax(1)
        found += [
            figure("cross_entropy", x, soft, **both),
            figure("cross_entropy", x, soft, weight=weight, label_smoothing=0.2, **both),
            figure("cross_entropy", grid, draw(2, 3, 2, 2).softmax(1), **both),
        ]
        for p, margin in ((1, 1.0), (2, 0.5)):
            found.append(figure("multi_margin_loss", x, t, p=p, margin=margin, **both))
        found.append(figure("multi_margin_loss", x, t, weight=weight, **both))
        huge = torch.tensor([[1e4, -1e4, 0.0], [-1e4, 1e4, 3e38], [1.0, float("-inf"), 2.0]])
        found.append(figure("cross_entropy", huge, torch.tensor([0, 2, 2]), **both))
    return found  # fmt: skip


def vectors() -> list[dict[str, Any]]:
    """Losses of pairs of vectors and of triplets."""
    found = []
    for reduction in REDUCTIONS:
        both: dict[str, Any] = {"reduction": reduction}
        a, b, c = draw(4, 3), draw(4, 3), draw(4, 3)
        found += [
            figure("margin_ranking_loss", a, b, target=signs(4, 3), margin=m, **both)
            for m in (0.0, 0.5)
        ]
        found += [
            figure("cosine_embedding_loss", a, b, target=signs(4), margin=m, **both)
            for m in (0.0, 0.3)
        ]
        found += [
            figure("triplet_margin_loss", a, b, c, **both),
            figure("triplet_margin_loss", a, b, c, margin=2.0, p=1.0, **both),
            figure("triplet_margin_loss", a, b, c, swap=True, **both),
        ]
    return found  # fmt: skip


if __name__ == "__main__":
    torch.manual_seed(6)
    save("pair_losses", pairs())
    save("class_losses", classes())
    save("margin_losses", vectors())
