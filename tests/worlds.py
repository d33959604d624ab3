"""Plays that run twice, eagerly and compiled, and must come out the same, bit for bit.

A play takes `wrap`, which is ts.compile or a function that changes nothing: it builds its world,
calls what it wrapped at least five times, and returns all that is compared.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

import tessella as ts
from tessella import nn, optim
from tessella.errors import CaptureError
from tessella.ops.random import default_generator

Wrap = Callable[[Any], Any]
Play = Callable[[Wrap], Any]


def frozen(value: Any) -> Any:
    """Give what can be compared: repr tells -0.0 from 0.0, holds all bits, and NaN equals NaN."""
    if isinstance(value, ts.Tensor):
        text = f"{value.dtype} {value.shape} {value.strides} {value.requires_grad} {value.tolist()}"
        return type(value), text, frozen(value.grad) if value.is_leaf else None
    if isinstance(value, nn.Module):
        parts = [*value.named_parameters(), *value.named_buffers()]
        return [frozen(part) for part in parts], [m.training for m in value.modules()]
    if isinstance(value, optim.Optimizer):
        return frozen(value.state_dict())
    if isinstance(value, ts.Generator):
        return frozen(value.get_state())
    if isinstance(value, dict):
        return type(value), [(key, frozen(part)) for key, part in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value), [frozen(part) for part in value]
    return type(value), repr(value)


def outcome(play: Play, wrap: Wrap) -> Any:
    """Run a play from the same seed, and add the numbers that the seed would give next."""
    ts.manual_seed(3)
    result = play(wrap)
    return frozen(result), frozen(default_generator)


def same(play: Play, may_refuse: bool = False) -> None:
    """Check that a play comes out compiled as it does eagerly, or refuses where that is right."""
    calls: list[None] = []

    def eager(function: Any) -> Any:
        @functools.wraps(function, updated=())
        def called(*args: Any, **kwargs: Any) -> Any:
            calls.append(None)
            return function(*args, **kwargs)

        return called

    wanted = outcome(play, eager)
    assert len(calls) >= 5, "too few calls to see a replay"
    try:
        found = outcome(play, ts.compile)
    except CaptureError:
        if not may_refuse:
            raise
    else:
        assert found == wanted, difference(found, wanted)


def difference(found: Any, wanted: Any, place: str = "") -> str:
    """Give the first place where two frozen values differ."""
    if isinstance(found, (list, tuple)) and type(found) is type(wanted):
        for i, (one, other) in enumerate(zip(found, wanted, strict=False)):
            if one != other:
                return difference(one, other, f"{place}[{i}]")
    return f"at {place} compiled gives {found}, eager {wanted}"


def attempt(function: Callable[..., Any], *args: Any) -> Any:
    """Give the result, or the kind of error that eager raises too."""
    try:
        return function(*args)
    except CaptureError:
        raise
    except ts.errors.TessellaError as error:
        return type(error)


def some(i: int, *shape: int, dtype: Any = ts.float32) -> ts.Tensor:
    """Give numbers that depend on i alone."""
    return ts.randn(shape, dtype=dtype, generator=ts.Generator(i))


def training(model: Any, optimizer: Any, *after: Callable[[], Any]) -> Any:
    """Give the step of a training, with what is called after the update."""

    def step(x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        for act in after:
            act()
        return cast(ts.Tensor, loss.detach())

    return step


def network(*parts: nn.Module) -> nn.Sequential:
    """Give a network from 3 numbers to 2."""
    return nn.Sequential(nn.Linear(3, 4), *parts, nn.Tanh(), nn.Linear(4, 2))


def batch(i: int) -> tuple[ts.Tensor, ts.Tensor]:
    """Give a batch for such a network."""
    return some(i, 5, 3), some(100 + i, 5, 2)
