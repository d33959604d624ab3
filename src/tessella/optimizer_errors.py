"""The messages about optimizers and schedules; errors.py has the rest."""

from __future__ import annotations

from tessella.errors import (
    ArgumentError,
    DTypeMismatch,
    IllegalState,
    InvalidArgument,
    ShapeError,
    brief,
    type_name,
)
from tessella.sizes import counted

# --- parameters -----------------------------------------------------------------------------------


def one_parameter() -> ArgumentError:
    """A tensor in place of several."""
    return ArgumentError(
        "params must be tensors or dicts in a list, got one tensor",
        "pass model.parameters(), or [x]",
    )


def not_parameters(value: object) -> ArgumentError:
    """Something that is no list of parameters."""
    return ArgumentError(
        f"params must be tensors or dicts in a list, got {type_name(value)}",
        "pass model.parameters(), a list of tensors, or a list of dicts with 'params'",
    )


def module_given(name: str) -> ArgumentError:
    """A module, where its parameters are asked for."""
    return ArgumentError(f"{name} is a module", f"pass {name}=model.parameters()")


def readonly(name: str) -> InvalidArgument:
    """A tensor to be changed in memory that may not be written, such as a file that is mapped."""
    return InvalidArgument(
        f"{name} is read-only",
        "weights of mapped files are: read them with mmap=False, as in load_folder(path, "
        "mmap=False), train beside them with nn.add_lora(model), or take copies: x.clone()",
    )


def no_parameters() -> InvalidArgument:
    """An optimizer without anything to optimize."""
    return InvalidArgument(
        "there are no parameters",
        "model.parameters() gives an iterator, which is empty when it was used before",
    )


def no_group(value: object) -> ArgumentError:
    """A parameter group that is none."""
    return ArgumentError(
        f"a parameter group must be a dict with 'params', got {brief(value)}",
        "for example {'params': model.head.parameters(), 'lr': 1e-3}",
    )


def not_parameter(name: str, value: object) -> ArgumentError:
    """Something among the parameters that is no tensor."""
    return ArgumentError(
        f"{name} must be a tensor, got {type_name(value)}", f"{name} is {brief(value)}"
    )


def not_leaf(name: str) -> InvalidArgument:
    """A parameter that an operation made."""
    return InvalidArgument(
        f"{name} is the result of an operation, not a leaf",
        "optimize the tensors that it was made from, or x.detach().requires_grad_()",
    )


def integer_parameter(name: str, dtype: object) -> DTypeMismatch:
    """A parameter that has no gradients."""
    return DTypeMismatch(
        f"{name} is {dtype}", "only floats and complex numbers have gradients; use astype first"
    )


def repeated_parameter(name: str) -> InvalidArgument:
    """One parameter in several places."""
    return InvalidArgument(
        f"{name} is there already", "give each parameter once, in one group only"
    )


def mixed_names() -> InvalidArgument:
    """Parameters with names beside some without."""
    return InvalidArgument(
        "some parameters have names and some have none",
        "pass model.named_parameters() for all groups, or model.parameters() for all",
    )


# --- options --------------------------------------------------------------------------------------


def no_option(owner: str, name: str) -> ArgumentError:
    """An option that cannot be had here."""
    return ArgumentError(
        f"{name}=True has no meaning here",
        f"leave it out: {owner} writes parameters in place, and no gradient flows through a step",
    )


def nesterov() -> InvalidArgument:
    """Nesterov's momentum without momentum."""
    return InvalidArgument(
        "nesterov needs momentum above 0 and dampening 0", "SGD(params, lr, momentum=0.9, ...)"
    )


def not_number(name: str, value: object) -> ArgumentError:
    """A value that cannot be written into a number that varies."""
    return ArgumentError(
        f"{name} must be a number or a 0-d tensor, got {brief(value)}",
        "it is written into the tensor that the group has",
    )


def not_numbers(name: str, count: int, value: object) -> ArgumentError:
    """A value that cannot be written into several numbers that vary."""
    return ArgumentError(
        f"{name} must be {count} numbers, got {brief(value)}",
        "they are written into the tensors that the group has",
    )


def needs_closure() -> ArgumentError:
    """A step that evaluates the loss itself, without knowing how."""
    return ArgumentError(
        "a closure is needed that gives the loss",
        "def closure(): optimizer.zero_grad(); loss = ...; loss.backward(); return loss",
    )


def not_closure(value: object) -> ArgumentError:
    """A closure that cannot be called."""
    return ArgumentError(
        f"closure must be a function that gives the loss, got {type_name(value)}",
        "optimizer.step() needs none: gradients are those of loss.backward()",
    )


def odd_call(value: object) -> ArgumentError:
    """Something that a hook gave in place of a step's arguments."""
    return ArgumentError(
        f"a hook gave {type_name(value)}, not the arguments of a step",
        "it gives a pair (args, kwargs) of a tuple and a dict, or None to leave them as they are",
    )


def one_group() -> InvalidArgument:
    """Several groups for an optimizer that knows one."""
    return InvalidArgument(
        "there can be one parameter group only", "pass all parameters in one list"
    )


# --- updates --------------------------------------------------------------------------------------


def not_list(name: str, value: object) -> ArgumentError:
    """An operand of an update that is no list."""
    return ArgumentError(f"{name} must be a list of tensors, got {type_name(value)}", "pass a list")


def list_length(name: str, length: int, wanted: int) -> InvalidArgument:
    """Lists of an update that do not fit together."""
    return InvalidArgument(
        f"{name} has {counted(length, 'tensor')}, params {wanted}", "one for each parameter"
    )


def unlike(name: str, found: str, parameter: str, wanted: str) -> ShapeError:
    """A gradient or state of another shape or dtype than its parameter."""
    return ShapeError(
        f"{name} is {found}, {parameter} {wanted}",
        "gradients and states are like their parameter; make the optimizer after model.to(...)",
    )


def shared_memory(name: str, other: str) -> InvalidArgument:
    """A parameter whose gradient or state lies in its own memory."""
    return InvalidArgument(f"{name} and {other} share memory", f"give {other} memory of its own")


def not_count(name: str, found: str) -> DTypeMismatch:
    """A counter or number of another dtype or shape."""
    return DTypeMismatch(f"{name} is {found}", "it must be a 0-d tensor of float64")


# --- state dicts ----------------------------------------------------------------------------------


def not_state(value: object) -> ArgumentError:
    """Something that is no state of an optimizer."""
    return ArgumentError(
        f"state_dict must be a dict with 'state' and 'param_groups', got {brief(value)}",
        "pass what optimizer.state_dict() gave",
    )


def group_count(found: int, wanted: int) -> InvalidArgument:
    """A state of another number of groups."""
    return InvalidArgument(
        f"the state has {found} parameter groups, the optimizer {wanted}",
        "make the optimizer with the groups that it had when its state was saved",
    )


def group_size(group: int, found: int, wanted: int) -> InvalidArgument:
    """A state of another number of parameters."""
    return InvalidArgument(
        f"group {group} of the state has {counted(found, 'parameter')}, "
        f"that of the optimizer {wanted}",
        "make the optimizer with the parameters that it had when its state was saved",
    )


def state_shape(name: str, found: object, wanted: object) -> ShapeError:
    """A saved tensor that is none of this parameter."""
    return ShapeError(
        f"{name} has shape {found}, its parameter needs {wanted}",
        "the state is that of a model with other sizes, or with parameters in another order",
    )


def other_state(name: str, kind: str, known: tuple[str, ...]) -> InvalidArgument:
    """A saved tensor that this optimizer has no use for."""
    return InvalidArgument(
        f"{name} is no state of {kind}, which has {', '.join(known)}",
        "load it into an optimizer of the class that saved it",
    )


def not_history() -> InvalidArgument:
    """A state of LBFGS whose parts do not belong together."""
    return InvalidArgument(
        "this is no state of LBFGS",
        "old_stps, old_dirs and ro are lists of as many tensors; d, t and prev_flat_grad belong "
        "together; pass what optimizer.state_dict() gave",
    )


# --- schedules ------------------------------------------------------------------------------------


def not_optimizer(value: object) -> ArgumentError:
    """A schedule of something else."""
    return ArgumentError(
        f"optimizer must be an optimizer, got {type_name(value)}", "pass optim.Adam(...), say"
    )


def not_schedule(value: object) -> ArgumentError:
    """Something that is no state of a schedule."""
    return ArgumentError(
        f"state_dict is not that of such a schedule: {brief(value)}",
        "pass what schedule.state_dict() gave, to a schedule that is made in the same way",
    )


def list_for_groups(name: str, found: int, wanted: int) -> InvalidArgument:
    """A list with another number of values than there are groups."""
    return InvalidArgument(
        f"{name} has {found} values for {wanted} parameter groups", "give one for each, or one"
    )


def later_group(group: int, known: int) -> InvalidArgument:
    """A group that was added to the optimizer of a schedule."""
    return InvalidArgument(
        f"group {group} was added after the schedule was made, for {known} groups",
        "add parameter groups first, then make the schedule",
    )


def no_initial_rate(group: int) -> InvalidArgument:
    """A schedule that is to go on, without the rate that it began with."""
    return InvalidArgument(
        f"group {group} has no 'initial_lr', and last_epoch is given",
        "load the optimizer's state first, or leave last_epoch out and use load_state_dict",
    )


def no_momentum(owner: str) -> InvalidArgument:
    """Momentum that is to be cycled where there is none."""
    return InvalidArgument(
        f"{owner} has neither momentum nor betas to cycle", "pass cycle_momentum=False"
    )


def unknown_length() -> InvalidArgument:
    """A cycle whose length cannot be told."""
    return InvalidArgument(
        "neither total_steps nor epochs and steps_per_epoch are given",
        "pass total_steps=, or epochs= and steps_per_epoch=len(loader)",
    )


def other_optimizer(which: int) -> InvalidArgument:
    """Schedules in a row that do not belong together."""
    return InvalidArgument(
        f"schedulers[{which}] belongs to another optimizer", "make all of them with the same one"
    )


# --- clipping -------------------------------------------------------------------------------------


def nonfinite_norm(norm: float) -> IllegalState:
    """Gradients that cannot be clipped, where that is an error."""
    return IllegalState(
        f"the norm of the gradients is {norm}, and they were not clipped",
        "autograd.detect_anomaly() shows who made it; or pass error_if_nonfinite=False",
    )
