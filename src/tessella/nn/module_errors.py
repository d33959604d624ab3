"""The messages about modules."""

from __future__ import annotations

from tessella.errors import (
    ArgumentError,
    IllegalState,
    InvalidArgument,
    ShapeError,
    TessellaError as TessellaError,
    UnknownKey,
    UnknownName,
    brief,
    type_name as type_name,
)
from tessella.hints import Sequence
from tessella.sizes import counted

MOST = 8  # lines of a list in a message
NO_TENSOR = ", not a tensor"  # how the line of a state's value ends that is none


def no_forward(kind: type) -> IllegalState:
    """A module that does not say what it computes."""
    name = kind.__name__
    return IllegalState(f"{name} has no forward", f"class {name}(nn.Module): def forward(self, x):")


def not_parameter(name: str, value: object) -> ArgumentError:
    """Something else, put in the place of a parameter."""
    return ArgumentError(
        f"{name} is a parameter, and {type_name(value)} is none",
        f"nn.Parameter(value), or `with ts.no_grad(): module.{name}.copy_(value)`",
    )


def not_buffer(name: str, value: object) -> ArgumentError:
    """Something else, put in the place of a buffer."""
    return ArgumentError(
        f"{name} is a buffer: it must be a tensor or None, got {type_name(value)}",
        f"module.{name}.copy_(value) changes its numbers",
    )


def hidden_parts(name: str, value: object, count: int) -> ArgumentError:
    """Modules or parameters in a plain container, where nobody would find them."""
    wrapper = "nn.ModuleDict" if isinstance(value, dict) else "nn.ModuleList"
    return ArgumentError(
        f"{name} is a {type(value).__name__} with {counted(count, 'module or parameter')}, "
        "which would not be trained, saved or moved",
        f"self.{name} = {wrapper}(…), or nn.ParameterList(…) for parameters",
    )


def wrong_name(name: object, why: str) -> InvalidArgument:
    """A name that no part of a module can have."""
    hint = "a name is a word without a dot that nothing else has"
    return InvalidArgument(f"the name {brief(name)} {why}", hint)


def not_module(name: str, value: object) -> ArgumentError:
    """Something else, where a module is asked for."""
    hint = "an nn.Module or None"
    if isinstance(value, list | tuple):
        hint = "modules one by one: nn.Sequential(*layers)"
    elif callable(value):
        hint = "a function stands in forward, or is a module: nn.ReLU() for ts.relu"
    return ArgumentError(f"{name} must be a module, got {type_name(value)}", hint)


def no_part(path: str, found: str, kind: str) -> UnknownName:
    """A path that leads to nothing."""
    return UnknownName(
        f"{path!r} names no {kind}: {found or 'the module'} has none of that name",
        f"[name for name, _ in module.named_{kind}s()] lists them",
    )


def no_key(key: object, kind: str, keys: Sequence[str]) -> UnknownKey:
    """A key that a dict of parts does not have."""
    hint = f"it has {listed(keys)}" if keys else "it is empty"
    return UnknownKey(f"{brief(key)} names no {kind}", hint)


def _extra_prefix(missing: Sequence[str], unexpected: Sequence[str]) -> str:
    """Give what all keys of a state begin with, if they are those of the module but for it."""
    for name in missing:
        prefix = unexpected[0].removesuffix(name) if unexpected else ""
        if prefix.endswith(".") and {prefix + each for each in missing} == set(unexpected):
            return prefix
    return ""


def state_mismatch(
    missing: Sequence[str], unexpected: Sequence[str], others: Sequence[str]
) -> InvalidArgument:
    """A state dict that does not fit the module: all that is wrong with it."""
    lines = []
    for what, names in (("missing", missing), ("unexpected", unexpected)):
        if names:
            lines.append(f"{what}: {listed(names)}")
    lines += list(others[:MOST])
    if len(others) > MOST:
        lines.append(f"and {len(others) - MOST} more that do not fit")
    strict = "; strict=False passes over missing and unexpected keys" if not others else ""
    cure = f"build the model with the sizes of the saved one{strict}"
    if prefix := _extra_prefix(missing, unexpected):
        cure = f"{{name.removeprefix({prefix!r}): x for name, x in state.items()}} has its names"
    if others and all(each.endswith(NO_TENSOR) for each in others):
        cure = "{name: ts.asarray(value) for name, value in state.items()} makes tensors of arrays"
    error = InvalidArgument(
        f"the state does not fit: {len(missing)} missing, {len(unexpected)} unexpected, "
        f"{len(others)} of another shape or dtype; nothing was loaded",
        cure,
    )
    error.operands = lines
    return error


def listed(names: Sequence[str]) -> str:
    """Show names, the first few of many."""
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return ", ".join(names[:MOST]) + more


def hook_result(hook: object, value: object) -> ArgumentError:
    """A backward hook that gives something else than gradients."""
    return ArgumentError(
        f"the hook {brief(hook)} gave {type_name(value)}",
        "return None, or a tuple with one gradient, or None, for each of the inputs",
    )


def not_dict(value: object) -> ArgumentError:
    """A state that is no dict."""
    return ArgumentError(
        f"state_dict must be a dict of tensors, got {type_name(value)}",
        "module.state_dict() gives one; ts.load(path) reads one",
    )


def wrong_vector(shape: object, count: int) -> ShapeError:
    """A vector that does not fill the parameters."""
    return ShapeError(f"vec is {shape}, and the parameters have {count} numbers", f"({count},)")
