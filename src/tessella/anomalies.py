"""detect_anomaly: the first operation that makes NaN or an infinity, named where it does.

While a thread watches, the core looks at every result (tensor/anomaly.h) and asks here about those
that are not finite. An operation that passes on what its operands had made nothing.
"""

from __future__ import annotations

from tessella import _core, changes, gradient_errors
from tessella._core import Tensor
from tessella.arguments import to_bool
from tessella.declarations import Declared, describe
from tessella.hints import Any
from tessella.modes import no_grad
from tessella.trees import flatten


class set_detect_anomaly:  # noqa: N801 - used like a function
    """Watch for NaN and infinities from now on, or no longer; as a context, until its end.

    >>> with ts.autograd.set_detect_anomaly(False):
    ...     ts.log(ts.zeros(1)).item()
    -inf
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        wanted = to_bool("mode", mode) and to_bool("check_nan", check_nan)
        self._wanted, self._before = wanted, _core.watches_values()
        _watch(wanted)

    def __enter__(self) -> None:
        _watch(self._wanted)

    def __exit__(self, *error: object) -> None:
        _watch(self._before)


def _watch(is_wanted: bool) -> None:
    """Watch this thread or no longer: a change, which repeated calls do not make."""
    if is_wanted != _core.watches_values():
        changes.switch(detect_anomaly, is_wanted)
        _core.set_watches_values(is_wanted)


class detect_anomaly:  # noqa: N801 - used like a function
    """Raise AnomalyError where an operation makes NaN or an infinity, forward or backward.

    What operands have already (a mask of -inf, say) is passed on. Threads watch for themselves.

    >>> with ts.autograd.detect_anomaly():
    ...     ts.log(ts.tensor([1.0, 0.0]))
    Traceback (most recent call last):
    tessella.exceptions.AnomalyError: log: made -inf of operands that have none...
    """

    def __init__(self, check_nan: bool = True) -> None:
        self._wanted = to_bool("check_nan", check_nan)
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(_core.watches_values())
        _watch(self._wanted)

    def __exit__(self, *error: object) -> None:
        _watch(self._before.pop())


def judge(op: Declared, args: tuple[Any, ...], out: Tensor) -> None:
    """Raise the error of a result that is not finite, unless an operand had such numbers."""
    before = _core.watches_values()
    _core.set_watches_values(False)
    _core.pause_recording()  # that a value is looked at here is no part of a function
    try:
        with no_grad():
            made = _made(args, out)
            if made:
                error = gradient_errors.anomaly(made, _where(out, made))
                raise error.locate(op.name, _described(op, args, out))
    finally:
        _core.resume_recording()
        _core.set_watches_values(before)


def _made(args: tuple[Any, ...], out: Tensor) -> str:
    """Name the number that the operation made: NaN of no NaN, an infinity of finite numbers."""
    values = [x for x in flatten(list(args))[0] if x is not out]  # overwritten: unknown
    if _has_nan(out):
        return "" if any(_has_nan(x) for x in values) else "nan"
    if any(_has_nan(x) or _has_infinity(x) for x in values):
        return ""
    return "inf" if _count(out, "inf") else "-inf"


def _has_nan(x: Any) -> bool:
    return _count(x, "nan") > 0


def _has_infinity(x: Any) -> bool:
    return _count(x, "inf") + _count(x, "-inf") > 0


def _count(x: Any, which: str) -> int:
    if isinstance(x, Tensor):
        return int(_marked(x, which).sum().item())
    if not isinstance(x, float | complex):
        return 0
    parts = [x.real, x.imag]
    return sum(p != p if which == "nan" else p == float(which) for p in parts)


def _marked(x: Tensor, which: str) -> Tensor:
    """Tell for each element whether it is such a number; a complex one by its parts."""
    if x.dtype.is_complex:
        return _marked(x.real, which) | _marked(x.imag, which)
    if not x.dtype.is_floating:
        return x != x
    return x != x if which == "nan" else x == float(which)


def _where(out: Tensor, which: str) -> str:
    marked = _marked(out, which).reshape(-1)
    count = int(marked.sum().item())
    flat, index = int(marked.argmax().item()), []
    for size in reversed(out.shape):
        index.append(flat % size)
        flat //= size
    place = tuple(reversed(index))
    return f"has {count} of {out.size} elements {which}, the first at {place}"


def _described(op: Declared, args: tuple[Any, ...], out: Tensor) -> list[str]:
    names = [*op.parameters, *("x" for _ in args)]
    return [
        f"{name}  {describe(x) + ', overwritten' if x is out else _range(x)}"
        for name, x in zip(names, args, strict=False)
    ]


def _range(x: Any) -> str:
    if not isinstance(x, Tensor) or x.dtype.is_complex or not x.dtype.is_floating or not x.size:
        return describe(x)
    low, high = x.min().item(), x.max().item()
    return f"{describe(x)}  from {low:.6g} to {high:.6g}"
