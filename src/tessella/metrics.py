"""Measures of predictions that are no losses."""

from __future__ import annotations

import functools

from tessella import errors, spellings, training_errors
from tessella._core import Tensor
from tessella.arguments import to_count
from tessella.declarations import describe
from tessella.dtypes import float32, int64
from tessella.hints import TYPE_CHECKING, Callable, ParamSpec
from tessella.modes import no_grad
from tessella.ops.creation import ones, zeros
from tessella.ops.elementwise import equal
from tessella.ops.reduce import any, argmax, mean

P = ParamSpec("P")

__all__ = ["accuracy", "confusion_matrix", "r2_score"]
__dir__ = __all__.copy

if not TYPE_CHECKING:  # for a type checker there are the names above only
    __getattr__ = spellings.refuser(__name__)


def _measure(function: Callable[P, Tensor]) -> Callable[P, Tensor]:
    """Measure two tensors without recording; an error names the function and both."""

    @functools.wraps(function)
    def measure(*args: P.args, **keywords: P.kwargs) -> Tensor:
        given = {**dict(zip(("prediction", "target"), args, strict=False)), **keywords}
        pair = {name: given[name] for name in ("prediction", "target") if name in given}
        try:
            for name, x in pair.items():
                if not isinstance(x, Tensor):
                    raise errors.not_tensor(name, x, "a tensor")
            with no_grad():
                return function(*args, **keywords)
        except errors.TessellaError as error:
            shown = [f"{name:<12}{describe(x)}" for name, x in pair.items()]
            raise error.relocate(function.__name__, shown) from None

    return measure


def _classes(prediction: Tensor, target: Tensor) -> Tensor:
    """Give the class of each sample: of scores (n, classes, …), or of classes themselves."""
    has_scores = prediction.ndim == target.ndim + 1
    axis = min(1, prediction.ndim - 1)  # as in cross_entropy
    if has_scores and prediction.shape[axis] == 1:
        raise training_errors.one_score()
    if not has_scores and prediction.shape == target.shape and prediction.dtype.is_floating:
        raise training_errors.no_classes(prediction.dtype)
    found = argmax(prediction, axis=axis) if has_scores else prediction
    if prediction.ndim and target.shape == (prediction.shape[0], 1) != found.shape:
        raise training_errors.column_of_classes(target.shape)
    if found.shape != target.shape:
        raise errors.wrong_value("target.shape", target.shape, f"{found.shape}: one class each")
    return found


@_measure
def accuracy(prediction: Tensor, target: Tensor) -> Tensor:
    """Give the share of samples whose largest score, or whose class, is that of the target.

    Scores are (n, classes, …), as those of cross_entropy. Classes are integers or bools: of one
    probability or logit for each sample, compare it first.

    >>> ts.metrics.accuracy(ts.tensor([[0.1, 0.9], [0.8, 0.2]]), ts.tensor([1, 1])).item()
    0.5
    >>> ts.metrics.accuracy(ts.tensor([-1.2, 0.3]) > 0, ts.tensor([0, 1])).item()
    1.0
    """
    return mean(equal(_classes(prediction, target), target).astype(float32))


@_measure
def confusion_matrix(prediction: Tensor, target: Tensor, classes: int) -> Tensor:
    """Count samples by their class (rows) and the class that was predicted (columns).

    >>> ts.metrics.confusion_matrix(ts.tensor([0, 1, 1]), ts.tensor([0, 0, 1]), 2).tolist()
    [[1, 1], [0, 1]]
    """
    classes = to_count("classes", classes)
    found = _classes(prediction, target).reshape(-1).astype(int64)
    wanted = target.reshape(-1).astype(int64)
    for name, each in (("prediction", found), ("target", wanted)):
        if any(outside := (each < 0) | (each >= classes)):
            first = each[argmax(outside)].item()
            raise errors.wrong_value(f"a class of {name}", first, f"from 0 to {classes - 1}")
    counts = zeros((classes, classes), dtype=int64)
    counts.reshape(-1).index_add_(0, wanted * classes + found, ones(found.shape, dtype=int64))
    return counts


@_measure
def r2_score(prediction: Tensor, target: Tensor) -> Tensor:
    """Give the share of the target's variance that the prediction explains.

    >>> ts.metrics.r2_score(ts.tensor([1.0, 2.0, 3.0]), ts.tensor([1.0, 2.0, 3.0])).item()
    1.0
    """
    if prediction.shape != target.shape:
        raise errors.wrong_value("target.shape", target.shape, f"{prediction.shape}")
    rest = (target - prediction).square().sum()
    return 1 - rest / (target - target.mean()).square().sum()
