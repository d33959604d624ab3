"""Dropout: elements, channels, and what keeps mean and variance of SELU.

Which elements stay is a function of the generator's state, so that nothing is kept for the gradient
but two numbers; it is drawn again.
"""

from __future__ import annotations

import math

from tessella import _core, errors
from tessella._core import Function, Tensor
from tessella.composites import composite
from tessella.declarations import case
from tessella.fusions import Fused, need_float, settled
from tessella.hints import Any
from tessella.inplace import copy_
from tessella.ops.creation import ones
from tessella.ops.elementwise import where
from tessella.ops.random import Generator, bernoulli, default_generator

_WORD = (1 << 64) - 1


def _normal(x: Tensor, key: int, counter: int, p: float) -> list[Any]:
    """Require floats."""
    return [settled(x, need_float("x", x))]


drop: Function = Fused(
    "drop", operands=("x",), params=("key", "counter", "p"), normal=_normal,
    vjp=lambda g, key, counter, p: drop(g, key, counter, p),
    doc="x / (1 - p), and 0 for elements that a stream of random numbers chooses.",
    tested="tests/test_dropout.py",
    samples=[case((3, 5), key=7, counter=0, p=0.5), case((200,), key=1, counter=16, p=0.25),
             case((2, 3, 4), key=7, counter=3, p=1.0), case((), key=7, counter=3, p=0.0)],
    errors=[case((3,), key=1, counter=0, p=0.5, dtype="int64", match="not defined for int64")],
).function  # fmt: skip


def _check_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise errors.wrong_value("p", p, "between 0 and 1")


def _dropped(x: Tensor, p: float, generator: Generator | None) -> Tensor:
    """Drop elements, and advance the generator."""
    source = generator or default_generator
    out = drop(x, source.seed, source.counter, p)
    source.counter = (source.counter + _core.dropout_counters(x.size)) & _WORD
    return out


def _given(x: Tensor, out: Tensor, inplace: bool) -> Tensor:
    """Give the result, written into x if asked."""
    return copy_(x, out) if inplace else out


_DROPOUT: dict[str, Any] = {
    "home": "nn.functional", "is_method": False, "gives": "view", "tested": "tests/test_dropout.py",
}  # fmt: skip
_ERRORS = [case((3, 4, 5), 1.5, match="p is 1.5"), case((3, 4, 5), -0.5, match="p is -0.5"),
           case((3, 4, 5), dtype="int64", match="not defined for int64")]  # fmt: skip


@composite(**_DROPOUT, errors=[*_ERRORS, case((3,), 2.0, False, match="p is 2.0")])
def dropout(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, *,
            generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Set elements to 0 with probability p, and divide the others by 1 - p; x without training.

    >>> x = ts.nn.functional.dropout(ts.ones(1000), 0.5)
    >>> sorted(set(x.tolist()))
    [0.0, 2.0]
    """
    if not 0 <= p <= 1:
        _check_probability(p)
    if not training or p == 0:
        return x
    out = _dropped(x, p, generator)
    return copy_(x, out) if inplace else out


def _features(x: Tensor, p: float, inplace: bool, channels: int,
              generator: Generator | None) -> Tensor:  # fmt: skip
    """Drop whole channels: those of the first `channels` axes."""
    shape = (*x.shape[:channels], *(1,) * (x.ndim - channels))
    mask = _dropped(ones(shape, dtype=need_float("x", x)), p, generator)
    return _given(x, x * mask, inplace)


@composite(**_DROPOUT, errors=[*_ERRORS, case((3,), match="x.ndim is 1")])
def dropout1d(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, *,
              generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Set channels of (N, C, L) or (C, L) to 0 with probability p, and divide others by 1 - p.

    >>> ts.nn.functional.dropout1d(ts.ones(2, 3, 4), 1.0).sum().item()
    0.0
    """
    _check_probability(p)
    if x.ndim not in (2, 3):
        raise errors.wrong_value("x.ndim", x.ndim, "2 or 3: (C, L) or (N, C, L)")
    return _features(x, p, inplace, x.ndim - 1, generator) if training and p else x


@composite(**_DROPOUT, errors=[case((3, 4, 5), match="x.ndim is 3"),
                               case((2, 3, 4, 5), 1.5, match="p is 1.5")])  # fmt: skip
def dropout2d(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, *,
              generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Set channels of (N, C, H, W) to 0 with probability p, and divide others by 1 - p.

    >>> ts.nn.functional.dropout2d(ts.ones(2, 3, 4, 4), 1.0).sum().item()
    0.0
    """
    _check_probability(p)
    if x.ndim != 4:
        rule = "4: (N, C, H, W); for (N, C, L) there is dropout1d"
        raise errors.wrong_value("x.ndim", x.ndim, rule)
    return _features(x, p, inplace, 2, generator) if training and p else x


# What SELU gives for -infinity, where its constants are those of Klambauer and others (2017).
_LEAST = -1.0507009873554804934193349852946 * 1.6732632423543772848170429916717


@composite(**_DROPOUT, errors=_ERRORS)
def alpha_dropout(x: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False, *,
                  generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Set elements to SELU's least value with probability p, and keep mean 0 and variance 1.

    Without training, the default, it gives x.

    >>> ts.nn.functional.alpha_dropout(ts.zeros(3), 0.5).tolist()
    [0.0, 0.0, 0.0]
    """
    _check_probability(p)
    dtype = need_float("x", x)
    if not training or p == 0:
        return x
    if p == 1:
        return _given(x, x * 0.0, inplace)
    stays = bernoulli(1 - p, x.shape, generator=generator)
    scale = 1 / math.sqrt((1 - p) * (1 + p * _LEAST * _LEAST))
    out = (where(stays, x, _LEAST) * scale - scale * _LEAST * p).astype(dtype, copy=False)
    return _given(x, out, inplace)
