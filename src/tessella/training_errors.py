"""The messages about training."""

from __future__ import annotations

from tessella.errors import (
    ArgumentError,
    DTypeMismatch,
    FormatError,
    IllegalState,
    InvalidArgument,
    PreconditionFailed,
    ShapeError,
    type_name,
)

_COMPARED = "compare it first: probability > 0.5, logit > 0, of the target's shape"


def not_finite(loss: float, epoch: int, step: int, odd: int, count: int) -> IllegalState:
    """A loss that no step can make smaller; `odd` of `count` numbers of the batch are as bad."""
    hint = (
        "a smaller lr, clip=1.0, or `with ts.autograd.detect_anomaly():` around fit to see "
        "which operation made it"
    )
    if odd:
        hint = (
            f"{odd} of the {count} numbers in the batch are NaN or infinite: fill them before, as "
            "x = ts.where(x.isfinite(), x, 0.0), or leave their samples out"
        )
    return IllegalState(
        f"the loss is {loss} in epoch {epoch}, step {step}; the parameters are those before it",
        hint,
    )


def odd_batch(batch: object) -> ArgumentError:
    """A batch that is not inputs and targets."""
    return ArgumentError(
        f"a batch is a {type_name(batch)} of {len(batch)}"
        if isinstance(batch, list | tuple)
        else f"a batch is {type_name(batch)}",
        "batches are pairs (inputs, targets), or tensors that are their own targets; several inputs"
        " are one: ((a, b), targets)",
    )


def one_tensor(name: str) -> ArgumentError:
    """A tensor where batches should be: its rows would be taken for them."""
    return ArgumentError(
        f"{name} is one tensor, whose rows are not batches",
        "data.DataLoader(data.TensorDataset(x, y), 32) makes batches; [(x, y)] is one",
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


def no_data(name: str, data: object) -> InvalidArgument:
    """An epoch without a batch."""
    if hasattr(type(data), "__next__"):
        return InvalidArgument(
            f"{name} is an iterator, which is used up: it can be walked through once",
            f"{name}=list(batches), or a data.DataLoader, begins anew in each epoch",
        )
    return InvalidArgument(f"{name} has no batches", "with drop_last a set may give none")


def one_score() -> ShapeError:
    """One number for each sample where there is one for each class."""
    return ShapeError(
        "prediction has one score for each sample, and a class is chosen among two or more",
        _COMPARED,
    )


def column_of_classes(shape: object) -> ShapeError:
    """One class for each sample, on an axis of its own."""
    return ShapeError(f"target is {shape}, and has one axis too many", "target.squeeze(1)")


def no_classes(dtype: object) -> DTypeMismatch:
    """Probabilities where classes are wanted."""
    return DTypeMismatch(f"prediction is {dtype} and has no axis of classes", _COMPARED)


def other_parameters() -> InvalidArgument:
    """An optimizer that would train something else."""
    return InvalidArgument(
        "the optimizer has none of the model's parameters",
        "make it of this model: ts.optim.Adam(model.parameters()); a model that was made again "
        "needs a new optimizer",
    )


def samples_for_batches(name: str) -> ArgumentError:
    """A set of samples where batches should be."""
    return ArgumentError(
        f"{name} is a data set, which gives samples and not batches",
        f"{name}=data.DataLoader(dataset, 32, shuffle=True)",
    )


def class_for_object(name: str, kind: type, made: str) -> ArgumentError:
    """A class where an object of it should be."""
    return ArgumentError(f"{name} is the class {kind.__name__}", f"make one: {name}={made}")


def compiled_model() -> ArgumentError:
    """A compiled function where a module should be."""
    return ArgumentError(
        "model is a compiled function", "pass the module itself: fit compiles the whole step"
    )


def resume_without_file() -> InvalidArgument:
    """Nothing to take a run up from."""
    return InvalidArgument(
        "resume=True without a checkpoint", 'name the file: checkpoint="run.safetensors"'
    )


def no_run(path: str) -> FormatError:
    """A checkpoint that fit has not written."""
    return FormatError(
        f"{path} has no run of fit in it",
        "resume=True goes on with what fit saved; io.load_checkpoint loads what is there",
    )


def metrics_without_data() -> InvalidArgument:
    """Metrics that nobody would measure."""
    return InvalidArgument(
        "metrics are measured on validation data, and there are none", "validation=batches"
    )


def no_matplotlib() -> PreconditionFailed:
    """A plot without what draws it."""
    return PreconditionFailed("matplotlib is not installed", "pip install matplotlib")
