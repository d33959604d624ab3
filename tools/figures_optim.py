"""Writes tests/figures/optim.json: what torch's optimizers and schedules give.

Run where torch is installed: ``.bench-venv/bin/python tools/figures_optim.py``. Gradients are
numbers that every float holds exactly, the same for both libraries: tests/optimizing.py has them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import optimizing  # noqa: E402

SCHEDULES = torch.optim.lr_scheduler
DIGITS = {"float32": 9, "float64": 15}
TARGET = ROOT / "tests" / "figures" / "optim.json"


def shortened(value: Any, digits: int) -> Any:
    """Give numbers with so many digits: enough to tell neighbours of the dtype apart."""
    if isinstance(value, list):
        return [shortened(each, digits) for each in value]
    return float(f"{value:.{digits}g}")


def trajectory(name: str, options: dict[str, Any], dtype: str) -> dict[str, Any]:
    """Give the parameters after some steps, and the states after the last."""
    kind = getattr(torch, dtype)
    torch.set_default_dtype(kind)  # that of counters, which are float64 here
    params = [torch.tensor(start, dtype=kind, requires_grad=True) for start in optimizing.STARTS]
    optimizer = getattr(torch.optim, name)(params, **options)
    found: dict[str, Any] = {}
    for step in range(optimizing.STEPS):
        for i, p in enumerate(params):
            gradient = optimizing.gradient(i, step, p.numel())
            p.grad = None if gradient is None else torch.tensor(gradient, dtype=kind).view_as(p)
        if step == optimizing.CHANGE:
            optimizer.param_groups[0]["lr"] *= optimizing.FACTOR
        optimizer.step()
        if step + 1 in optimizing.SHOWN:
            found[str(step + 1)] = [shortened(p.tolist(), DIGITS[dtype]) for p in params]
    if dtype == "float64":
        found["state"] = [
            {key: shortened(value.tolist(), 15) for key, value in optimizer.state[p].items()
             if value is not None}
            for p in params
        ]  # fmt: skip
    return found


def rates(name: str, options: dict[str, Any]) -> list[list[float]]:
    """Give the learning rates of two groups, before the first step and after each, and momenta."""
    torch.set_default_dtype(torch.float32)
    params = [torch.zeros(1, requires_grad=True) for _ in range(2)]
    groups = [{"params": [params[0]]}, {"params": [params[1]], "lr": optimizing.SECOND_RATE}]
    optimizer = torch.optim.SGD(groups, lr=optimizing.FIRST_RATE, momentum=0.9)
    schedule = optimizing.make_schedule(torch.optim.lr_scheduler, name, options, optimizer)
    found = []
    for step in range(optimizing.SCHEDULED + 1):
        first, second = optimizer.param_groups
        momentum = [first["momentum"]] if name == "OneCycleLR" else []
        found.append(shortened([float(first["lr"]), float(second["lr"]), *momentum], 15))
        optimizer.step()
        if step < optimizing.SCHEDULED:
            optimizing.advance(schedule, step)
    return found


def main() -> None:
    """Write the file."""
    figures = {
        "torch": torch.__version__,
        "signatures": {
            name: optimizing.signature(getattr(home, name).__init__)
            for home, table in (
                (torch.optim, optimizing.OPTIMIZERS),
                (SCHEDULES, optimizing.SCHEDULES),
            )
            for name in sorted({row[0] for row in table.values()})
        }
        | {"LBFGS": optimizing.signature(torch.optim.LBFGS.__init__)},
        "trajectories": {
            f"{label} {dtype}": trajectory(name, options, dtype)
            for label, (name, options) in optimizing.OPTIMIZERS.items()
            for dtype in ("float32", "float64")
        },
        "rates": {
            label: rates(name, options) for label, (name, options) in optimizing.SCHEDULES.items()
        },
    }
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(json.dumps(figures, separators=(",", ":")) + "\n")
    print(f"{TARGET.relative_to(ROOT)}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
