"""The messages about training."""

from __future__ import annotations

from tessella.errors import ArgumentError, IllegalState, InvalidArgument, type_name


def not_finite(loss: float, epoch: int, step: int) -> IllegalState:
    """A loss that no step can make smaller."""
    return IllegalState(
        f"the loss is {loss} in epoch {epoch}, step {step}; the parameters are those before it",
        "a smaller lr, clip=1.0, or `with ts.autograd.detect_anomaly():` around fit to see "
        "which operation made it",
    )


def odd_batch(batch: object) -> ArgumentError:
    """A batch that is not inputs and targets."""
    return ArgumentError(
        f"a batch is {type_name(batch)}",
        "batches are pairs (inputs, targets), or tensors that are their own targets",
    )


def one_batch(name: str, count: int) -> ArgumentError:
    """Inputs and targets where batches should be."""
    return ArgumentError(
        f"{name} is a tuple of {count} tensors, which is one batch and not several",
        f"{name}=[(inputs, targets)] is one batch for each epoch; "
        "data.DataLoader(data.TensorDataset(inputs, targets), 32, shuffle=True) makes many",
    )


def odd_loss(value: object) -> ArgumentError:
    """A loss that is not one number."""
    return ArgumentError(
        f"the loss is {type_name(value)}, not a tensor of one number",
        "loss(prediction, target) reduces over the batch: nn.functional.mse_loss, say",
    )


def no_data(name: str) -> InvalidArgument:
    """An epoch without a batch."""
    return InvalidArgument(f"{name} has no batches", "with drop_last a set may give none")


def no_matplotlib() -> IllegalState:
    """A plot without what draws it."""
    return IllegalState("matplotlib is not installed", "pip install matplotlib")
