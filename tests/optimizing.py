"""The trainings and schedules that are compared with torch: the same for both libraries."""

from __future__ import annotations

import inspect
from typing import Any

STEPS = 20
SHOWN = (3, 20)  # after how many steps parameters are looked at
CHANGE, FACTOR = 12, 0.5  # before which step the learning rate is changed, and how
STARTS = [[0.5, -1.25, 2.0, 0.0, -0.75], [[1.5, -0.25], [0.125, 3.0]]]


def gradient(which: int, step: int, size: int) -> list[float] | None:
    """Give the gradient of a parameter: eighths of both signs. The second has none at times."""
    if which == 1 and step % 5 == 2:
        return None
    return [((7 * i + 3 * step + 5 * which) % 11 - 4) / 8 for i in range(size)]


def varied(name: str, *options: dict[str, Any], **always: Any) -> dict[str, Any]:
    """Give an optimizer with each of some options, by a label."""
    found = {}
    for each in options:
        words = [f"{key}={value}" for key, value in each.items()]
        found[" ".join([name, *words])] = (name, {**always, **each})
    return found


def adams(name: str, *more: dict[str, Any]) -> dict[str, Any]:
    """Give one of Adam's kin with the options that all of them have."""
    return varied(name, {}, {"betas": (0.5, 0.75)}, {"eps": 0.125}, {"weight_decay": 0.125},
                  {"maximize": True}, {"maximize": True, "weight_decay": 0.125}, *more,
                  lr=0.0625)  # fmt: skip


OPTIMIZERS: dict[str, tuple[str, dict[str, Any]]] = {
    **varied("SGD", {}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.25},
             {"momentum": 0.9, "nesterov": True}, {"weight_decay": 0.125}, {"maximize": True},
             {"momentum": 0.5, "weight_decay": 0.25, "nesterov": True, "maximize": True},
             lr=0.125),
    **adams("Adam", {"amsgrad": True}, {"amsgrad": True, "weight_decay": 0.125},
            {"decoupled_weight_decay": True, "weight_decay": 0.125}),
    **adams("AdamW", {"amsgrad": True}, {"weight_decay": 0.0}),
    **adams("Adamax"),
    **adams("NAdam", {"momentum_decay": 0.125},
            {"decoupled_weight_decay": True, "weight_decay": 0.125}),
    **adams("RAdam", {"decoupled_weight_decay": True, "weight_decay": 0.125}),
    **varied("RMSprop", {}, {"alpha": 0.5}, {"eps": 0.125}, {"momentum": 0.9}, {"centered": True},
             {"centered": True, "momentum": 0.5}, {"weight_decay": 0.125}, {"maximize": True},
             lr=0.0625),
    **varied("Adagrad", {}, {"lr_decay": 0.125}, {"initial_accumulator_value": 0.5},
             {"weight_decay": 0.125}, {"eps": 0.125}, {"maximize": True}, lr=0.125),
    **varied("Adadelta", {}, {"rho": 0.5}, {"eps": 0.125}, {"weight_decay": 0.125},
             {"maximize": True}, lr=0.5),
}  # fmt: skip

FIRST_RATE, SECOND_RATE = 0.5, 0.125
SCHEDULED = 30  # steps of a schedule


def by_epoch(epoch: int) -> float:
    """Give the factor of a LambdaLR."""
    return 0.9**epoch


SCHEDULES: dict[str, tuple[str, dict[str, Any]]] = {
    "StepLR": ("StepLR", {"step_size": 4, "gamma": 0.5}),
    "StepLR default": ("StepLR", {"step_size": 7}),
    "MultiStepLR": ("MultiStepLR", {"milestones": [3, 8, 8, 20], "gamma": 0.5}),
    "ConstantLR": ("ConstantLR", {}),
    "ConstantLR long": ("ConstantLR", {"factor": 0.25, "total_iters": 9}),
    "LinearLR": ("LinearLR", {}),
    "LinearLR down": ("LinearLR", {"start_factor": 1.0, "end_factor": 0.25, "total_iters": 12}),
    "ExponentialLR": ("ExponentialLR", {"gamma": 0.75}),
    "PolynomialLR": ("PolynomialLR", {"total_iters": 11, "power": 2.0}),
    "PolynomialLR default": ("PolynomialLR", {}),
    "CosineAnnealingLR": ("CosineAnnealingLR", {"T_max": 10}),
    "CosineAnnealingLR floor": ("CosineAnnealingLR", {"T_max": 7, "eta_min": 0.0625}),
    "Restarts": ("CosineAnnealingWarmRestarts", {"T_0": 7}),
    "Restarts longer": ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2, "eta_min": 0.01}),
    "OneCycleLR": ("OneCycleLR", {"max_lr": 1.0, "total_steps": 31}),
    "OneCycleLR linear": (
        "OneCycleLR",
        {"max_lr": [1.0, 0.5], "epochs": 8, "steps_per_epoch": 4, "anneal_strategy": "linear",
         "pct_start": 0.4, "div_factor": 10.0, "final_div_factor": 100.0},
    ),
    "OneCycleLR three": (
        "OneCycleLR",
        {"max_lr": 2.0, "total_steps": 31, "three_phase": True, "base_momentum": 0.8,
         "max_momentum": 0.99},
    ),
    "OneCycleLR still": (
        "OneCycleLR", {"max_lr": 1.0, "total_steps": 31, "cycle_momentum": False},
    ),
    "LambdaLR": ("LambdaLR", {"lr_lambda": by_epoch}),
    "LambdaLR two": ("LambdaLR", {"lr_lambda": [by_epoch, lambda epoch: 1 / (1 + epoch)]}),
    "MultiplicativeLR": ("MultiplicativeLR", {"lr_lambda": lambda epoch: 0.5 + 0.01 * epoch}),
    "Plateau": ("ReduceLROnPlateau", {"patience": 2, "factor": 0.5}),
    "Plateau max": (
        "ReduceLROnPlateau",
        {"mode": "max", "patience": 1, "cooldown": 2, "threshold_mode": "abs", "threshold": 0.25,
         "min_lr": [0.01, 0.02]},
    ),
    "Plateau min": ("ReduceLROnPlateau", {"patience": 0, "threshold": 0.5, "min_lr": 0.05,
                                          "factor": 0.25}),
    "Sequential": ("SequentialLR", {"milestones": [5, 14], "parts": [
        ("LinearLR", {"start_factor": 0.25, "total_iters": 5}),
        ("CosineAnnealingLR", {"T_max": 9, "eta_min": 0.01}), ("StepLR", {"step_size": 3})]}),
    "Sequential restarts": ("SequentialLR", {"milestones": [4], "parts": [
        ("ConstantLR", {"factor": 0.5, "total_iters": 2}),
        ("CosineAnnealingWarmRestarts", {"T_0": 5, "T_mult": 2})]}),
    "Sequential exponential": ("SequentialLR", {"milestones": [6], "parts": [
        ("PolynomialLR", {"total_iters": 6}), ("ExponentialLR", {"gamma": 0.5})]}),
    "Sequential late": ("SequentialLR", {"milestones": [6, 12], "parts": [
        ("MultiStepLR", {"milestones": [2, 4]}), ("ConstantLR", {"total_iters": 3}),
        ("LinearLR", {"total_iters": 4})]}),
    "Chained": ("ChainedScheduler", {"parts": [
        ("ConstantLR", {"factor": 0.1, "total_iters": 6}), ("ExponentialLR", {"gamma": 0.9})]}),
}  # fmt: skip


def signature(function: Any) -> str:
    """Show the parameters of a method with their defaults, in one form for both libraries."""
    shown, by_keyword = [], False
    for name, each in list(inspect.signature(function).parameters.items())[1:]:
        if each.kind is each.KEYWORD_ONLY and not by_keyword:
            shown.append("*")
            by_keyword = True
        has_none = each.default is each.empty
        shown.append(name if has_none else f"{name}={each.default!r}")
    return ", ".join(shown)


def make_schedule(library: Any, name: str, options: dict[str, Any], optimizer: Any) -> Any:
    """Make a schedule of either library; those that have parts make them first."""
    if "parts" not in options:
        return getattr(library, name)(optimizer, **options)
    parts = [make_schedule(library, part, given, optimizer) for part, given in options["parts"]]
    rest = {key: value for key, value in options.items() if key != "parts"}
    if name == "ChainedScheduler":
        return library.ChainedScheduler(parts)
    return getattr(library, name)(optimizer, parts, **rest)


def metric(step: int) -> float:
    """Give what a plateau is looked for in."""
    return [3.0, 2.0, 1.5, 1.4999, 1.6, 1.2, 1.25, 1.3, 0.5, 0.75][step % 10] + step // 10


def advance(schedule: Any, step: int) -> None:
    """Make one step of a schedule."""
    is_plateau = type(schedule).__name__ == "ReduceLROnPlateau"
    schedule.step(metric(step)) if is_plateau else schedule.step()
