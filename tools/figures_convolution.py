"""Figures of torch's convolutions and pools: values and gradients over a matrix of parameters.

.bench-venv/bin/python tools/figures_convolution.py
"""

from __future__ import annotations

import itertools
from typing import Any

import torch

from figures_losses import draw
from torch_figures import figure, listed, save

Figures = list[dict[str, Any]]


def convolutions() -> Figures:
    """Every parameter alone, and some together."""
    found = []
    options: list[dict[str, Any]] = [
        {}, {"stride": 2}, {"padding": 1}, {"dilation": 2}, {"groups": 2}, {"padding": "same"},
        {"padding": "valid"}, {"stride": (2, 1), "padding": (0, 2)}, {"stride": 3, "padding": 2},
        {"stride": 2, "dilation": 2, "padding": 2}, {"padding": "same", "dilation": (1, 2)},
        {"stride": (1, 2), "padding": 1, "dilation": (2, 1), "groups": 2},
    ]  # fmt: skip
    for each in options:
        ins = 2 // each.get("groups", 1)
        found.append(figure("conv2d", draw(1, 2, 5, 6), draw(4, ins, 3, 2), draw(4), **each))
        line = {k: v if not isinstance(v, tuple) else v[1] for k, v in each.items()}
        found.append(figure("conv1d", draw(2, 2, 8), draw(2, ins, 3), draw(2), **line))
    found.append(figure("conv2d", draw(2, 5, 6), draw(2, 2, 2, 2)))
    return found


def transposed() -> Figures:
    """The same of transposed convolutions."""
    found = []
    options: list[dict[str, Any]] = [
        {}, {"stride": 2}, {"padding": 1}, {"dilation": 2}, {"groups": 2},
        {"stride": 2, "output_padding": 1}, {"stride": (3, 2), "padding": (1, 0)},
        {"stride": 4, "dilation": 2, "padding": 1}, {"dilation": 3, "output_padding": 2},
        {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2, "dilation": (1, 2)},
    ]  # fmt: skip
    for each in options:
        outs = 2 // each.get("groups", 1)
        operands = (draw(2, 2, 3, 4), draw(2, outs, 3, 2), draw(2))
        found.append(figure("conv_transpose2d", *operands, **each))
        line = {k: v if not isinstance(v, tuple) else v[1] for k, v in each.items()}
        found.append(figure("conv_transpose1d", draw(2, 2, 4), draw(2, outs, 3), draw(2), **line))
    return found


def means() -> Figures:
    """Pools of means and norms, and columns."""
    found = []
    for ceil_mode, count_include_pad in itertools.product((False, True), repeat=2):
        both = {"ceil_mode": ceil_mode, "count_include_pad": count_include_pad}
        for window, stride, padding in ((2, None, 0), (3, 2, 1), (3, 1, 1), (2, 3, 1)):
            each = {"kernel_size": window, "stride": stride, "padding": padding, **both}
            found.append(figure("avg_pool2d", draw(1, 2, 5, 6), **each))
            found.append(figure("avg_pool1d", draw(1, 2, 8), **each))
    found.append(figure("avg_pool2d", draw(1, 1, 4, 4), kernel_size=2, divisor_override=3))
    for size in (1, 2, 3, 4, 9, (2, 5), (None, 2)):
        found.append(figure("adaptive_avg_pool2d", draw(1, 2, 6, 7), output_size=size))
    found += [figure("adaptive_avg_pool1d", draw(2, 7), output_size=n) for n in (1, 3, 7, 10)]
    positive = draw(1, 2, 5, 6).abs() + 0.5
    found += [figure("lp_pool2d", positive, float(p), 2, stride=1) for p in (1, 2, 3)]
    found.append(figure("lp_pool1d", positive[0], 2.0, 3, ceil_mode=True))
    steps: list[dict[str, Any]] = [
        {}, {"padding": 1, "stride": 2}, {"dilation": 2}, {"stride": (2, 1)}
    ]  # fmt: skip
    for step in steps:
        found.append(figure("unfold", draw(1, 2, 5, 6), kernel_size=(2, 3), **step))
        columns = torch.nn.functional.unfold(draw(1, 2, 5, 6), (2, 3), **step)
        found.append(figure("fold", columns, output_size=(5, 6), kernel_size=(2, 3), **step))
    return found


def chosen(name: str, x: torch.Tensor, **keywords: Any) -> dict[str, Any]:
    """Record a pool that chooses, with the places it gives."""
    one = figure(name, x, **keywords)
    _, places = getattr(torch.nn.functional, name)(x, **keywords, return_indices=True)
    return {**one, "places": listed(places)}


def largest() -> Figures:
    """Pools that choose, with equal elements, NaN and infinities among others."""
    nan, inf = float("nan"), float("inf")
    image = draw(1, 2, 5, 6).round()
    image[0, 0, 1, 1:4] = nan
    image[0, 1, :3, :3] = -inf
    image[0, 1, 4, 5] = inf
    found = []
    for ceil_mode in (False, True):
        windows = ((2, None, 0, 1), (3, 2, 1, 1), (3, 1, 1, 1), (2, 3, 1, 1), (2, 1, 0, 2))
        for window, stride, padding, dilation in windows:
            each = {"kernel_size": window, "stride": stride, "padding": padding,
                    "dilation": dilation, "ceil_mode": ceil_mode}  # fmt: skip
            found.append(chosen("max_pool2d", image, **each))
            found.append(chosen("max_pool1d", image[0].reshape(1, 2, 30)[..., :9], **each))
    for size in (1, 2, 3, 4, 9, (2, 5)):
        found.append(chosen("adaptive_max_pool2d", image, output_size=size))
    found += [chosen("adaptive_max_pool1d", image[0, :, 1], output_size=n) for n in (1, 2, 4)]
    return found


if __name__ == "__main__":
    torch.manual_seed(0)
    save("convolutions", convolutions())
    save("transposed", transposed())
    save("pools", means())
    save("largest", largest())
