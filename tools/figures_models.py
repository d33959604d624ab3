"""Figures of transformers' models: logits of small configurations, whole, and padded on the left.

.bench-venv/bin/pip install transformers && .bench-venv/bin/python tools/figures_models.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from torch_figures import rounded, save

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))
from model_files import CONFIGS, tokens, weight

PLACES, PADDING = 12, (0, 3)


def model_of(config: dict[str, Any]) -> Any:
    """Make a model of transformers whose weights are drawn from their names."""
    given = dict(config)
    made = AutoConfig.for_model(given.pop("model_type"), **given)
    model = AutoModelForCausalLM.from_config(made, attn_implementation="eager").eval()
    with torch.no_grad():
        for name, x in model.named_parameters():
            x.copy_(torch.from_numpy(weight(name, x.shape)))
    return model


def figure(name: str, config: dict[str, Any]) -> dict[str, Any]:
    """Give the names and shapes of a model's tensors, and its logits."""
    model = model_of(config).requires_grad_(False)
    shapes = {key: list(x.shape) for key, x in model.named_parameters()}
    whole = torch.from_numpy(tokens(1, PLACES))
    rows = torch.from_numpy(tokens(2, PLACES))
    mask = torch.from_numpy(np.arange(PLACES) >= np.array(PADDING)[:, None]).long()
    numbers = (mask.cumsum(-1) - 1).clamp(min=0)
    padded = model(rows, attention_mask=mask, position_ids=numbers).logits
    return {
        "name": name,
        "shapes": shapes,
        "logits": rounded(model(whole).logits[0].tolist()),
        "padded": rounded([padded[i, n:].tolist() for i, n in enumerate(PADDING)]),
    }


if __name__ == "__main__":
    save("models", [figure(name, config) for name, config in CONFIGS.items()])
