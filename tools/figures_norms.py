"""Figures of torch's normalisation: functions with their gradients, and batch norm over steps.

.bench-venv/bin/python tools/figures_norms.py
"""

from __future__ import annotations

from typing import Any

import torch

from torch_figures import figure, listed, save


def draw(*shape: int) -> torch.Tensor:
    """Draw from the normal distribution, numbers of few digits."""
    return (torch.randn(*shape) * 64).round() / 64


def functions() -> list[dict[str, Any]]:
    """Calls of functions."""
    found = []
    for eps in (1e-5, 0.1):
        x, w, b = draw(4, 6), draw(6), draw(6)
        found += [
            figure("layer_norm", x, [6], eps=eps),
            figure("layer_norm", x, [6], w, b, eps=eps),
            figure("layer_norm", draw(2, 3, 4), [3, 4], draw(3, 4), draw(3, 4), eps=eps),
            figure("rms_norm", x, [6], w, eps=eps),
            figure("rms_norm", x, [6], eps=eps),
            figure("rms_norm", draw(2, 3, 4), [3, 4], draw(3, 4), eps=eps),
        ]
        x = draw(2, 4, 3)
        found += [
            figure("group_norm", x, 2, draw(4), draw(4), eps=eps),
            figure("group_norm", x, 4, eps=eps),
            figure("group_norm", draw(3, 4), 2, eps=eps),
            figure("instance_norm", x, weight=draw(4), bias=draw(4), eps=eps),
        ]
        for shape in ((5, 3), (2, 3, 4), (2, 3, 2, 2)):
            x = draw(*shape)
            found += [
                figure("batch_norm", x, None, None, draw(3), draw(3), training=True, eps=eps),
                figure("batch_norm", x, None, None, training=True, eps=eps),
                figure(
                    "batch_norm",
                    x,
                    weight=draw(3),
                    bias=draw(3),
                    running_mean=draw(3),
                    running_var=draw(3).abs() + 0.5,
                    eps=eps,
                ),
            ]
    x = draw(3, 4)
    found += [
        figure("rms_norm", x, [4]),
        figure("normalize", x),
        figure("normalize", x, p=1.0, dim=0),
    ]
    return found  # fmt: skip


def steps(name: str, shape: tuple[int, ...], **options: Any) -> dict[str, Any]:
    """Three steps of training, and one of evaluation, with the statistics after each."""
    module = getattr(torch.nn, name)(shape[1], **options)
    inputs = [draw(*shape) for _ in range(4)]
    outputs, states = [], []
    for i, x in enumerate(inputs):
        module.train(i < 3)
        outputs.append(listed(module(x).detach()))
        states.append({key: listed(value) for key, value in module.state_dict().items()})
    return {"name": name, "options": options, "features": shape[1],
            "inputs": [listed(x) for x in inputs], "outputs": outputs,
            "states": states}  # fmt: skip


if __name__ == "__main__":
    torch.manual_seed(7)
    save("norms", functions())
    save("batch_norms", [
        steps("BatchNorm1d", (4, 2)), steps("BatchNorm1d", (2, 2, 3), momentum=None),
        steps("BatchNorm1d", (4, 2), momentum=0.5, affine=False),
        steps("BatchNorm2d", (2, 2, 2, 2)), steps("BatchNorm2d", (2, 2, 2, 2), momentum=None),
        steps("BatchNorm2d", (2, 2, 2, 2), track_running_stats=False),
        steps("InstanceNorm1d", (2, 2, 3), track_running_stats=True, affine=True),
        steps("InstanceNorm2d", (2, 2, 2, 2)),
    ])  # fmt: skip
