"""Measures of predictions that are no losses."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.declarations import describe
from tessella.dtypes import float32, int64
from tessella.modes import no_grad
from tessella.ops.creation import ones, zeros
from tessella.ops.reduce import argmax, mean

__all__ = ["accuracy", "confusion_matrix", "r2_score"]


def _classes(prediction: Tensor, target: Tensor, name: str) -> Tensor:
    """Give the class of each sample: of scores (n, classes), or of classes themselves."""
    shown = [f"prediction  {describe(prediction)}", f"target      {describe(target)}"]
    found = argmax(prediction, axis=-1) if prediction.ndim == target.ndim + 1 else prediction
    if found.shape != target.shape:
        error = errors.wrong_value("target.shape", target.shape, f"{found.shape}: one class each")
        raise error.locate(name, shown)
    return found


def accuracy(prediction: Tensor, target: Tensor) -> Tensor:
    """Give the share of samples whose largest score, or whose class, is that of the target.

    >>> ts.metrics.accuracy(ts.tensor([[0.1, 0.9], [0.8, 0.2]]), ts.tensor([1, 1])).item()
    0.5
    """
    with no_grad():
        return mean((_classes(prediction, target, "accuracy") == target).astype(float32))


def confusion_matrix(prediction: Tensor, target: Tensor, classes: int) -> Tensor:
    """Count samples by their class (rows) and the class that was predicted (columns).

    >>> ts.metrics.confusion_matrix(ts.tensor([0, 1, 1]), ts.tensor([0, 0, 1]), 2).tolist()
    [[1, 1], [0, 1]]
    """
    with no_grad():
        found = _classes(prediction, target, "confusion_matrix").reshape(-1)
        places = target.reshape(-1).astype(int64) * classes + found.astype(int64)
        counts = zeros((classes * classes,), dtype=int64)
        counts.index_add_(0, places, ones(places.shape, dtype=int64))
        return counts.reshape(classes, classes)


def r2_score(prediction: Tensor, target: Tensor) -> Tensor:
    """Give the share of the target's variance that the prediction explains.

    >>> ts.metrics.r2_score(ts.tensor([1.0, 2.0, 3.0]), ts.tensor([1.0, 2.0, 3.0])).item()
    1.0
    """
    if prediction.shape != target.shape:
        error = errors.wrong_value("target.shape", target.shape, f"{prediction.shape}")
        shown = [f"prediction  {describe(prediction)}", f"target      {describe(target)}"]
        raise error.locate("r2_score", shown)
    with no_grad():
        rest = (target - prediction).square().sum()
        return 1 - rest / (target - target.mean()).square().sum()
