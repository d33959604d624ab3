"""The state of a training run in one file: modules, optimizers, schedulers, loaders, generators.

Whatever has `state_dict()` and `load_state_dict()` can take part; other values are kept as they
are. The default random generator always takes part, so that a run that goes on draws what it would
have drawn. Loading checks everything that can be checked before it writes anything.
"""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.hints import Any, File, Iterator, Saved
from tessella.io import file_errors, sources
from tessella.io.objects import read_object, write_object
from tessella.located import located
from tessella.ops.creation import copy_of
from tessella.ops.random import default_generator

_RANDOM = "random"  # the part of the default generator


@located("save_checkpoint")
def save_checkpoint(path: File, /, **parts: object) -> None:
    """Save the state of a training run: objects with `state_dict()`, and plain values.

    The names are the caller's: model, optimizer, scheduler, loader, generator, step, or any other.
    The state of the default random generator is saved too. The file is replaced as a whole or
    stays as it is; `ts.load` reads it as a dict.

    >>> generator = ts.Generator(7)
    >>> ts.io.save_checkpoint("run.ts", generator=generator, step=100)
    >>> ts.load("run.ts")["step"]
    100
    """
    if _RANDOM in parts:
        raise file_errors.reserved_name("parts", _RANDOM)
    states = {name: _state_of(part, name) for name, part in parts.items()}
    write_object({**states, _RANDOM: default_generator.state_dict()}, path)


def _state_of(part: Any, name: str) -> Any:
    """Give what is saved of an object: its state, or the value itself."""
    return _check_dict(part.state_dict(), name) if hasattr(part, "state_dict") else part


def _check_dict(state: Any, name: str) -> dict[Any, Any]:
    if not isinstance(state, dict):
        raise errors.wrong_type(f"{name}.state_dict()", state, "a dict")
    return state


@located("load_checkpoint")
def load_checkpoint(path: File, /, **parts: object) -> dict[str, Saved]:
    """Restore the state of a training run, into the objects given and the default generator.

    All or nothing: the file must have a state for each object, for modules and optimizers with
    tensors of the names, shapes and dtypes that they have, or nothing is restored. Gives what the
    file holds beyond that: plain values, and the states of objects that were not given.

    >>> generator = ts.Generator(7)
    >>> ts.io.save_checkpoint("run.ts", generator=generator, step=100)
    >>> again = ts.Generator()
    >>> ts.io.load_checkpoint("run.ts", generator=again)
    {'step': 100}
    >>> again.seed
    7
    """
    # What an object keeps of the file must be writable; the file itself stays as it is.
    access = None if sources.is_file(path) else sources.PRIVATE
    source = sources.open_source(path, access)
    saved = read_object(source)
    if not isinstance(saved, dict) or _RANDOM not in saved:
        raise file_errors.no_checkpoint(source.name)
    objects = {**parts, _RANDOM: default_generator}
    _check(objects, saved, source.name)
    _restore(objects, saved)
    # The rest is the caller's to keep: in memory of its own.
    return {name: owned(value) for name, value in saved.items() if name not in objects}


def _check(objects: dict[str, Any], saved: dict[str, Any], name: str) -> None:
    """Refuse a file that does not fit the objects, before anything is written."""
    for part, target in objects.items():
        if not hasattr(target, "load_state_dict") or not hasattr(target, "state_dict"):
            raise file_errors.no_state(part, target)
        if part not in saved:
            raise file_errors.missing_part(name, part, sorted(saved))
        if not isinstance(saved[part], dict):
            raise file_errors.part_differs(name, part, "it is no state of an object")
        here = _check_dict(target.state_dict(), part)
        if _is_large(target):
            _check_tensors(dict(_tensors(here)), dict(_tensors(saved[part])), part, name)


def _is_large(target: Any) -> bool:
    """Tell whether an object is a module, or an optimizer whose states are made with it.

    Their tensors are many and always the same: they are compared before anything is written, and
    restored last, so that no copy need be kept to go back to.
    """
    is_optimizer = hasattr(target, "param_groups") and getattr(target, "has_fixed_states", True)
    return is_optimizer or hasattr(target, "named_parameters")


def _tensors(state: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Tensor]]:
    """Give the tensors of a state with their places."""
    if isinstance(state, Tensor):
        yield path, state
    elif isinstance(state, dict):
        for key, value in state.items():
            yield from _tensors(value, (*path, key))
    elif isinstance(state, list | tuple):
        for i, value in enumerate(state):
            yield from _tensors(value, (*path, i))


def _check_tensors(here: dict[Any, Tensor], there: dict[Any, Tensor], part: str, name: str) -> None:
    """Refuse tensors that one side lacks, or of another shape or dtype."""
    for key in here | there:
        why = ""
        if key not in there:
            why = "the object has it, the file has not"
        elif key not in here:
            why = "the file has it, the object has not"
        elif (here[key].shape, here[key].dtype) != (there[key].shape, there[key].dtype):
            x, y = here[key], there[key]
            why = f"it is {x.dtype} {x.shape} here, {y.dtype} {y.shape} in the file"
        if why:
            raise file_errors.part_differs(name, file_errors.where((part, *key)), why)


def _restore(objects: dict[str, Any], saved: dict[str, Any]) -> None:
    """Load every state; if an object refuses, put back those that were loaded before it."""
    done: list[tuple[Any, Any]] = []
    try:
        for part in sorted(objects, key=lambda part: _is_large(objects[part])):
            if not _is_large(objects[part]):
                done.append((objects[part], owned(objects[part].state_dict())))
            objects[part].load_state_dict(saved[part])
    except BaseException:
        for target, state in reversed(done):
            target.load_state_dict(state)
        raise


def owned(value: Any) -> Any:
    """Copy nested containers and their tensors."""
    if isinstance(value, Tensor):
        return copy_of(value)
    if isinstance(value, dict):
        return type(value)((key, owned(item)) for key, item in value.items())
    if type(value) in (list, tuple):
        return type(value)(map(owned, value))
    return value
