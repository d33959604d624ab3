"""Dropout: some of the numbers become 0 in training, and the others larger by as much.

Which ones is a function of the generator's state and of their places, the same for any number of
threads: for the gradient it is drawn again, and nothing is saved.
"""

from __future__ import annotations

import math

from tessella import _core, errors
from tessella._core import Function, Tensor
from tessella.composites import composite
from tessella.declarations import case
from tessella.dtypes import boolean
from tessella.fusions import Fused, need_float, settled
from tessella.hints import Any
from tessella.ops.creation import ones
from tessella.ops.elementwise import where
from tessella.ops.random import Generator, bernoulli, default_generator, taking


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

# Outside of training all give x itself; what they draw is tested in tests/test_dropout.py.
_DRAWS: dict[str, Any] = {
    "home": "nn.functional", "is_method": False, "gives": "view", "ulps": 0,
    "ref": lambda np, x, *rest, **options: x,
}  # fmt: skip
_NO_SHARE = case((2, 3, 4, 5), 1.5, match="p is 1.5")

# SELU's value for large negative numbers: what alpha dropout puts in the place of what it drops.
_LOWEST = -1.0507009873554804934193349852946 * 1.6732632423543772848170429916717


def _check(x: Tensor, p: float) -> None:
    need_float("x", x)
    if not 0 <= p <= 1:
        raise errors.wrong_value("p", p, "from 0 to 1: the share that becomes 0")


def _result(x: Tensor, out: Tensor, inplace: bool) -> Tensor:
    return x.copy_(out) if inplace else out


def _drawn(x: Tensor, p: float, generator: Generator | None) -> Tensor:
    """Drop elements, and move the generator on."""
    source = generator or default_generator
    with taking(source, _core.dropout_counters(x.size)) as start:
        out: Tensor = drop(x, source.seed, start, p)
    return out


def _dropped(x: Tensor, shape: tuple[int, ...], p: float, inplace: bool,
             generator: Generator | None) -> Tensor:  # fmt: skip
    """Drop what a mask of a shape, which broadcasts to that of x, says."""
    if p == 0:
        return x
    if shape == x.shape:
        return _result(x, _drawn(x, p, generator), inplace)
    mask = _drawn(ones(shape, dtype=x.dtype), p, generator)
    return _result(x, where(mask == 0, 0, x * mask), inplace)


def _channels(name: str, x: Tensor, spatial: int) -> tuple[int, ...]:
    """Give the shape of a mask of whole channels: of (N, C, …), or of (C, …)."""
    if x.ndim not in (spatial + 1, spatial + 2):
        rule = f"{spatial + 1} or {spatial + 2}: (C, …) or (N, C, …)"
        raise errors.wrong_value("x.ndim", x.ndim, rule)
    return (*x.shape[: x.ndim - spatial], *(1,) * spatial)


@composite(**_DRAWS, samples=[case((3, 4), training=False), case((), 0.0)], errors=[_NO_SHARE])
def dropout(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, *,
            generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Set a share p of the numbers to 0 and divide the others by 1 - p, in training.

    >>> _ = ts.manual_seed(0)
    >>> ts.nn.functional.dropout(ts.ones(6), 0.5).tolist()
    [2.0, 0.0, 2.0, 0.0, 0.0, 2.0]
    >>> ts.nn.functional.dropout(ts.ones(6), 0.5, training=False).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    _check(x, p)
    return _dropped(x, x.shape, p, inplace, generator) if training else x


@composite(
    **_DRAWS, samples=[case((2, 3, 4), training=False)],
    errors=[case((3,), match="x.ndim is 1")],
)  # fmt: skip
def dropout1d(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, *,
            generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Drop whole channels of (N, C, L) or (C, L).

    >>> _ = ts.manual_seed(0)
    >>> ts.nn.functional.dropout1d(ts.ones(4, 2), 0.5).tolist()
    [[2.0, 2.0], [0.0, 0.0], [2.0, 2.0], [0.0, 0.0]]
    """
    _check(x, p)
    shape = _channels("dropout1d", x, 1)
    return _dropped(x, shape, p, inplace, generator) if training else x


@composite(
    **_DRAWS, samples=[case((2, 3, 4, 5), training=False)],
    errors=[case((3, 4), match="x.ndim is 2")],
)  # fmt: skip
def dropout2d(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, *,
            generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Drop whole channels of (N, C, H, W) or (C, H, W).

    >>> _ = ts.manual_seed(0)
    >>> ts.nn.functional.dropout2d(ts.ones(4, 1, 2), 0.5).tolist()
    [[[2.0, 2.0]], [[0.0, 0.0]], [[2.0, 2.0]], [[0.0, 0.0]]]
    """
    _check(x, p)
    shape = _channels("dropout2d", x, 2)
    return _dropped(x, shape, p, inplace, generator) if training else x


@composite(**_DRAWS, samples=[case((3, 4)), case((2,), 0.0, True)], errors=[_NO_SHARE])
def alpha_dropout(
    x: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False, *,
    generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Drop to SELU's lowest value, and keep mean 0 and variance 1: after SELU.

    >>> ts.nn.functional.alpha_dropout(ts.ones(2), 0.5, training=False).tolist()
    [1.0, 1.0]
    """
    _check(x, p)
    if not training or p == 0:
        return x
    if p == 1:
        return _dropped(x, x.shape, p, inplace, generator)
    kept = bernoulli(1 - p, x.shape, dtype=boolean, generator=generator)
    scale = 1 / math.sqrt((1 - p) * (1 + p * _LOWEST**2))
    shift = -scale * p * _LOWEST
    return _result(x, where(kept, x * scale + shift, _LOWEST * scale + shift), inplace)
