"""Runs tests/pages/network.txt with PyTorch and stores what it gives: tests/figures/network.*.

    python tools/figures_networks.py

Run it where PyTorch and safetensors are installed: the benchmark environment.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "tests" / "figures"
STEPS = 10


def main() -> None:
    """Write the initial state, and outputs, gradients and losses that follow from it."""
    page: dict[str, Any] = {}
    exec((ROOT / "tests" / "pages" / "network.txt").read_text(), page)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = page["Net"]()
    state = {name: x.clone() for name, x in model.state_dict().items()}
    save_file(state, FIGURES / "network.safetensors")
    image, words, target = page["make_inputs"]()
    out = model(image, words)
    torch.nn.functional.cross_entropy(out, target).backward()
    figures = {
        "shapes": {name: list(x.shape) for name, x in state.items()},
        "training_output": out.tolist(),
        "gradients": {name: p.grad.tolist() for name, p in model.named_parameters()},
        "running_mean": model.state_dict()["features.1.running_mean"].tolist(),
    }
    model.load_state_dict(state)
    model.zero_grad()
    figures["output"], figures["accuracy"] = page["evaluate"](model)
    figures["output"] = figures["output"].tolist()
    figures["losses"] = page["train"](model, STEPS)
    figures["trained"] = {name: x.tolist() for name, x in model.state_dict().items()}
    text = json.dumps(figures)
    (FIGURES / "network.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
